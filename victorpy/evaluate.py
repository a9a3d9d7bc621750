"""Experiments on gold pages: cross-validation, learning curve, ablation and grid, as one plain result.

`Evaluation.scores()` is what scores.json holds; reports draw it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from victorpy.config import Config
from victorpy.crossval import PageResult, crf_maker, cross_validate, keep_everything
from victorpy.document import Label
from victorpy.errors import ConfigError, DataError
from victorpy.features import find_feature
from victorpy.gold import LabelledPage
from victorpy.scores import BlockCounts, Score
from victorpy.statistics import compare, summarise

MEASURES = {
    "label_accuracy": "labels right",
    "content_accuracy": "content/noise right",
    "words_f1": "words F1",
    "cleaneval_words_f1": "CleanEval words F1",
    "cleaneval_text": "CleanEval text-only",
    "cleaneval_markup": "CleanEval text and markup",
    "cleaneval_total": "CleanEval total",
    "shingle_f1": "4-word shingles F1",
    "empty": "pages left empty",
}
"""The measures that tables show, with their names."""

CURVE_SHARES = (0.1, 0.25, 0.5, 0.75, 1.0)

Progress = Callable[[str, int, int], None]
"""Told what is being done, how many folds are done, and how many there are."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How pages are shared out."""

    folds: int = 6
    group: str = "site"
    seed: int = 1
    jobs: int = 1


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All results of an evaluation."""

    settings: Settings
    config: Config
    pages: tuple[PageResult, ...]
    everything: tuple[PageResult, ...]
    """The same pages with everything kept: what there is to beat."""
    curve: tuple[dict[str, Any], ...] = ()
    ablation: tuple[dict[str, Any], ...] = ()
    grid: tuple[dict[str, Any], ...] = ()
    warnings: tuple[str, ...] = field(default=())
    method: Mapping[str, Any] = field(default_factory=dict)
    """Of a method that was not trained: its name, and what it learned from."""

    def scores(self) -> dict[str, Any]:
        """Give every number by name; shares are in 0..1."""
        return {
            "config": self.config.name,
            "settings": {name: getattr(self.settings, name) for name in ("folds", "group", "seed")} | dict(self.method),
            "pages_count": len(self.pages),
            "blocks_count": BlockCounts.sum(page.blocks for page in self.pages).total,
            "mean": means(self.pages),
            "interval": intervals(self.pages),
            "median": medians(self.pages),
            "page_mean": {name: _mean(self.pages, name) for name in _OF_BLOCKS},
            "pooled": pooled(self.pages),
            "keep_everything": means(self.everything),
            "folds": [means(self.fold(number)) for number in range(self.settings.folds)],
            "by_type": {kind: means(found) for kind, found in self.by_type().items()},
            "labels": label_scores(self.pages),
            "confusion": confusion(self.pages),
            "calibration": calibration(self.pages),
            "learning_curve": list(self.curve),
            "ablation": list(self.ablation),
            "grid": list(self.grid),
            "pages": [_page_record(page) for page in self.pages],
            "warnings": list(self.warnings),
        }

    def fold(self, number: int) -> list[PageResult]:
        """The pages that one fold was tested on."""
        return [page for page in self.pages if page.fold == number]

    def by_type(self) -> dict[str, list[PageResult]]:
        """The pages by their kind, where the data says what it is."""
        kinds = sorted({page.page_type for page in self.pages if page.page_type})
        return {kind: [page for page in self.pages if page.page_type == kind] for kind in kinds}


def evaluate(pages: Sequence[LabelledPage], config: Config, settings: Settings, progress: Progress) -> Evaluation:
    """Cross-validate a config."""
    _check(pages, settings)
    results = run(pages, config, settings, "cross-validation", progress)
    return Evaluation(settings, config, results, tuple(keep_everything(page) for page in pages))


def _check(pages: Sequence[LabelledPage], settings: Settings) -> None:
    if settings.folds < 2:
        raise DataError("cross-validation needs at least 2 folds")
    if settings.jobs < 1:
        raise DataError(f"jobs must be at least 1, not {settings.jobs}")
    groups = len({page.site for page in pages}) if settings.group == "site" else len(pages)
    if groups < settings.folds:
        other = ", or --group page" if settings.group == "site" else ""
        raise DataError(f"{groups} {settings.group}s do not fill {settings.folds} folds: use fewer{other}")


def run(
    pages: Sequence[LabelledPage],
    config: Config,
    settings: Settings,
    what: str,
    progress: Progress,
    share: float = 1.0,
    **parameters: float,
) -> tuple[PageResult, ...]:
    """Run all folds and give their pages in order."""
    results: list[PageResult] = []
    progress(what, 0, settings.folds)
    folds = cross_validate(
        pages, crf_maker(config, **parameters), settings.folds, settings.group, settings.seed, settings.jobs, share
    )
    for number, fold in enumerate(folds, 1):
        results += fold
        progress(what, number, settings.folds)
    return tuple(results)


def learning_curve(
    pages: Sequence[LabelledPage], config: Config, settings: Settings, progress: Progress
) -> tuple[dict[str, Any], ...]:
    """Score models that were trained on growing shares of the training pages; the test pages are always all."""
    points = []
    for share in CURVE_SHARES:
        name = f"learning curve, {share:.0%} of the training pages"
        try:
            results = run(pages, config, settings, name, progress, share=share)
        except DataError:  # so few pages may have one label only
            continue
        training = round(share * len(pages) * (settings.folds - 1) / settings.folds)
        points.append({"pages": training, "mean": means(results), "interval": intervals(results)})
    return tuple(points)


def ablation(
    pages: Sequence[LabelledPage],
    config: Config,
    settings: Settings,
    kind: str,
    whole: Sequence[PageResult],
    progress: Progress,
) -> tuple[dict[str, Any], ...]:
    """Score with fewer features: each family alone and left out, or each single one left out; `whole` has all."""
    features = config.features
    families: dict[str, list[str]] = {}
    for name in features:
        found = find_feature(name)
        families.setdefault(found.family if found else "own", []).append(name)
    variants: list[tuple[str, list[str]]] = []
    if kind == "family":
        variants += [(f"only {family}", names) for family, names in families.items()]
        variants += [
            (f"without {family}", [f for f in features if f not in names]) for family, names in families.items()
        ]
    else:
        variants += [(f"without {name}", [f for f in features if f != name]) for name in features]
    rows = [_row("all features", len(features), whole, whole)]
    for name, kept in variants:
        if not kept:
            continue
        off = tuple(name for name in config.get("crf-features") if name not in kept)
        smaller = replace(config, values={**config.values, "crf-features-off": off})
        rows.append(_row(name, len(kept), run(pages, smaller, settings, name, progress), whole))
    return tuple(rows)


def _row(name: str, features: int, results: Sequence[PageResult], whole: Sequence[PageResult]) -> dict[str, Any]:
    return {
        "variant": name,
        "features": features,
        "mean": means(results),
        "interval": intervals(results),
        "difference": difference(results, whole),
    }


def difference(results: Sequence[PageResult], others: Sequence[PageResult]) -> dict[str, float]:
    """Words F1 of one run less that of another on the same pages, with its interval and its p-value."""
    theirs = {(page.data, page.name): page.scores["words_f1"] for page in others}
    found = compare([page.scores["words_f1"] for page in results], [theirs[page.data, page.name] for page in results])
    return {"mean": found.mean, "low": found.low, "high": found.high, "p_value": found.p_value}


def grid_search(
    pages: Sequence[LabelledPage], config: Config, settings: Settings, grid: dict[str, list[float]], progress: Progress
) -> tuple[dict[str, Any], ...]:
    """Score every combination of training parameters."""
    rows = []
    for combination in itertools.product(*grid.values()):
        parameters = dict(zip(grid, combination, strict=True))
        name = " ".join(f"{key}={value:g}" for key, value in parameters.items())
        results = run(pages, config, settings, name, progress, **parameters)
        rows.append({"parameters": parameters, "mean": means(results), "interval": intervals(results)})
    return tuple(rows)


def parse_grid(specs: Sequence[str]) -> dict[str, list[float]]:
    """Read ``c1=0,0.1,1`` and the like."""
    grid = {}
    for spec in specs:
        name, equals, values = spec.partition("=")
        try:
            grid[name] = [float(value) for value in values.split(",")]
        except ValueError:
            equals = ""
        highest = 1.0 if name == "threshold" else float("inf")
        if not all(0 <= value <= highest and value < float("inf") for value in grid.get(name, ())):
            equals = ""
        if not equals or name not in {"c1", "c2", "max_iterations", "threshold"}:
            raise ConfigError(
                f"{spec!r}: a grid is c1=0,0.1,1 or c2=..., max_iterations=..., threshold=..., all from 0"
            )
    return grid


def means(pages: Sequence[PageResult]) -> dict[str, float | None]:
    """The mean of every measure over pages; None where no page has it. Accuracies are shares of all blocks."""
    found: dict[str, float | None] = {}
    for name in _names(pages):
        values = [page.scores[name] for page in pages if name in page.scores]
        found[name] = sum(values) / len(values) if values else None
    blocks = BlockCounts.sum(page.blocks for page in pages)
    return found | {"label_accuracy": blocks.label_accuracy, "content_accuracy": blocks.content_accuracy}


def intervals(pages: Sequence[PageResult]) -> dict[str, list[float]]:
    """The 95 % interval of every measure's mean, by resampling pages; accuracies are shares of all blocks."""
    found = {}
    for name in MEASURES:
        values = [page.scores[name] for page in pages if name in page.scores]
        weights = [page.blocks.total if name in _OF_BLOCKS else 1 for page in pages if name in page.scores]
        if values:
            summary = summarise(values, weights)
            found[name] = [summary.low, summary.high]
    return found


def pooled(pages: Sequence[PageResult]) -> dict[str, float]:
    """Word scores with the words of all pages counted together, so that long pages weigh more."""
    found: dict[str, float] = {}
    for name, kind in (("words", "words"), ("cleaneval_words", "aligned"), ("shingle", "shingles")):
        score = Score.pool(getattr(page.texts, kind) for page in pages)
        found |= {f"{name}_{part}": value for part, value in score.shares().items()}
    return found


def medians(pages: Sequence[PageResult]) -> dict[str, float]:
    """The median of every measure over pages."""
    found = {}
    for name in _names(pages):
        values = [page.scores[name] for page in pages if name in page.scores]
        if values:
            found[name] = summarise(values).median
    return found


_OF_BLOCKS = ("label_accuracy", "content_accuracy")


def _names(pages: Sequence[PageResult]) -> list[str]:
    """All measures that some page has, those of the tables first."""
    return list(dict.fromkeys([*MEASURES, *(name for page in pages for name in page.scores)]))


def _mean(pages: Sequence[PageResult], name: str) -> float:
    return sum(page.scores[name] for page in pages) / max(len(pages), 1)


def label_scores(pages: Sequence[PageResult]) -> dict[str, dict[str, float]]:
    """Precision, recall and F1 of each label over all blocks."""
    blocks = BlockCounts.sum(page.blocks for page in pages)
    return {str(label): blocks.label_score(label).shares() for label in Label}


def confusion(pages: Sequence[PageResult]) -> dict[str, dict[str, int]]:
    """How often each gold label got each of ours."""
    blocks = BlockCounts.sum(page.blocks for page in pages)
    return {str(gold): {str(ours): blocks.confusion.get((gold, ours), 0) for ours in Label} for gold in Label}


def calibration(pages: Sequence[PageResult], bins: int = 10) -> list[dict[str, float]]:
    """How often blocks of each predicted probability of content are content."""
    counts = [[0, 0, 0.0] for _ in range(bins)]
    for page in pages:
        for predicted, is_content in zip(page.labelling.content, page.gold_content, strict=False):
            row = counts[min(int(predicted * bins), bins - 1)]
            row[0] += 1
            row[1] += is_content
            row[2] += predicted
    return [
        {"predicted": total / blocks, "observed": content / blocks, "blocks": blocks}
        for blocks, content, total in counts
        if blocks
    ]


def _page_record(page: PageResult) -> dict[str, Any]:
    return {
        "name": page.name,
        "data": page.data,
        "site": page.site,
        "type": page.page_type,
        "fold": page.fold,
        "scores": page.scores,
    }
