"""Experiments on gold pages: cross-validation, learning curve, ablation and grid, as one plain result.

`Evaluation.scores()` is what scores.json contains; reports draw it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from victorpy.base.parameters import split_name
from victorpy.base.score import Score
from victorpy.cleaner import Cleaner
from victorpy.config import Config
from victorpy.document import Label
from victorpy.errors import ConfigError, DataError
from victorpy.features import find_feature
from victorpy.methods import find_method
from victorpy.research.crossval import PageResult, crf_maker, cross_validate, keep_everything, score_page
from victorpy.research.gold import VALUE_KINDS, LabelledPage
from victorpy.research.scores import BlockCounts
from victorpy.research.site_runs import Plan, label_by_site
from victorpy.research.statistics import compare, mean, summarise

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
GRID_PARAMETERS = frozenset(["c1", "c2", "max_iterations", "threshold"])
_OF_BLOCKS = ("label_accuracy", "content_accuracy")

Progress = Callable[[str, int, int], None]
"""Called with the name of the experiment, the number of finished folds and the number of folds."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How pages are divided into folds."""

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
    """The same pages with everything kept: the baseline to beat."""
    curve: tuple[dict[str, Any], ...] = ()
    ablation: tuple[dict[str, Any], ...] = ()
    grid: tuple[dict[str, Any], ...] = ()
    warnings: tuple[str, ...] = field(default=())
    method: Mapping[str, Any] = field(default_factory=dict)
    """For a method that is not trained: its name, and what it learned from."""

    def scores(self) -> dict[str, Any]:
        """Return every number by name; shares are in 0..1."""
        pages, settings = self.pages, self.settings
        blocks = BlockCounts.sum(page.blocks for page in pages)
        types = sorted({page.page_type for page in pages if page.page_type})
        return {
            "config": self.config.name,
            "settings": {"folds": settings.folds, "group": settings.group, "seed": settings.seed} | dict(self.method),
            "pages_count": len(pages),
            "blocks_count": blocks.total,
            "mean": means(pages),
            "interval": intervals(pages),
            "median": {name: summarise(values).median for name, values in _values_by_measure(pages).items() if values},
            "page_mean": {name: mean([page.scores[name] for page in pages]) or 0.0 for name in _OF_BLOCKS},
            "pooled": pooled(pages),
            "keep_everything": means(self.everything),
            "folds": [means([page for page in pages if page.fold == number]) for number in range(settings.folds)],
            "by_type": {kind: means([page for page in pages if page.page_type == kind]) for kind in types},
            "labels": {str(label): blocks.label_score(label).shares() for label in Label},
            "confusion": {
                str(gold): {str(ours): blocks.confusion.get((gold, ours), 0) for ours in Label} for gold in Label
            },
            "calibration": calibration(pages),
            "learning_curve": list(self.curve),
            "ablation": list(self.ablation),
            "grid": list(self.grid),
            "pages": [
                {
                    "name": page.name,
                    "data": page.data,
                    "site": page.site,
                    "type": page.page_type,
                    "fold": page.fold,
                    "scores": page.scores,
                }
                for page in pages
            ],
            "warnings": list(self.warnings),
        }


# Experiments

Run = Callable[..., tuple[PageResult, ...]]
"""Runs all folds of an experiment by name, perhaps with another config, share of pages or parameters."""


def evaluate(
    pages: Sequence[LabelledPage],
    config: Config,
    settings: Settings,
    progress: Progress,
    curve: bool = False,
    ablate: str | None = None,
    grid: Mapping[str, Sequence[float]] | None = None,
) -> Evaluation:
    """Cross-validate a config, on request also with growing shares of pages, fewer features, and other parameters."""
    if settings.folds < 2:
        raise DataError("cross-validation needs at least 2 folds")
    if settings.jobs < 1:
        raise DataError(f"jobs must be at least 1, not {settings.jobs}")
    groups = len({page.site for page in pages}) if settings.group == "site" else len(pages)
    if groups < settings.folds:
        other = ", or `group` page" if settings.group == "site" else ""
        raise DataError(f"{groups} {settings.group}s do not fill {settings.folds} folds: use fewer{other}")

    def run(what: str, config: Config = config, share: float = 1.0, **parameters: float) -> tuple[PageResult, ...]:
        results: list[PageResult] = []
        progress(what, 0, settings.folds)
        make = crf_maker(config, **parameters)
        folds = cross_validate(pages, make, settings.folds, settings.group, settings.seed, settings.jobs, share)
        for number, fold in enumerate(folds, 1):
            results += fold
            progress(what, number, settings.folds)
        return tuple(results)

    results = run("cross-validation")
    return Evaluation(
        settings,
        config,
        results,
        tuple(map(keep_everything, pages)),
        curve=_learning_curve(run, len(pages), settings.folds) if curve else (),
        ablation=_ablation(run, config, ablate, results) if ablate else (),
        grid=_grid_search(run, grid) if grid else (),
    )


def load_as_is(entry: str) -> Cleaner:
    """Load a method that labels blocks, given as ``sst(t=0.4)``."""
    method = find_method(*split_name(entry))
    if method.is_peer:
        raise ConfigError(f"{method.name} is another program, which labels no blocks: use victor compare")
    return method.load()


def evaluate_as_is(
    pages: Sequence[LabelledPage], cleaner: Cleaner, name: str, plan: Plan, progress: Callable[[int], object]
) -> Evaluation:
    """Score a method as it is on all pages, site by site; `progress` gets the number of finished pages.

    There are no folds, since nothing is trained. A method that learns from a site learns from the very pages that
    it labels, as it would in use.
    """
    if not pages:
        raise DataError("no pages are left to evaluate on")
    values = sorted({page.data for page in pages if page.data.partition(":")[0] in VALUE_KINDS})
    if values:
        raise DataError(f"{values[0]}: its gold is values, not texts: use victor compare or victor mine")
    results: dict[int, PageResult] = {}
    sites = 0
    for labellings in label_by_site(cleaner.labeller, pages, plan):
        results |= {index: score_page(pages[index], labelling) for index, labelling in labellings.items()}
        sites += 1
        progress(len(labellings))
    return Evaluation(
        Settings(folds=0, seed=plan.seed),
        cleaner.config,
        tuple(results[index] for index in range(len(pages))),
        tuple(map(keep_everything, pages)),
        method={
            "method": name,
            "learns_from": str(cleaner.labeller.learns_from),
            "sites": sites,
            "sample": plan.sample,
        },
    )


def _learning_curve(run: Run, pages: int, folds: int) -> tuple[dict[str, Any], ...]:
    """Score models trained on growing shares of the training pages, always on all test pages."""
    points = []
    for share in CURVE_SHARES:
        try:
            results = run(f"learning curve, {share:.0%} of the training pages", share=share)
        except DataError:  # so few pages may have one label only
            continue
        training = round(share * pages * (folds - 1) / folds)
        points.append({"pages": training} | _mean_scores(results))
    return tuple(points)


def _ablation(run: Run, config: Config, kind: str, whole: Sequence[PageResult]) -> tuple[dict[str, Any], ...]:
    """Score with fewer features: each family alone and left out, or each feature left out; `whole` has all."""
    features = config.features
    families: dict[str, list[str]] = {}
    for name in features:
        feature = find_feature(name)
        families.setdefault(feature.family if feature else "own", []).append(name)
    variants = {"all features": list(features)}
    if kind == "family":
        variants |= {f"only {family}": names for family, names in families.items()}
    for what, names in (families if kind == "family" else {name: [name] for name in features}).items():
        variants[f"without {what}"] = [name for name in features if name not in names]
    whole_f1 = {(page.data, page.name): page.scores["words_f1"] for page in whole}
    rows = []
    for variant, kept in variants.items():
        if not kept:
            continue
        results = whole
        if variant != "all features":
            off = tuple(name for name in config.get("crf-features") if name not in kept)
            results = run(variant, replace(config, values={**config.values, "crf-features-off": off}))
        difference = compare(
            [page.scores["words_f1"] for page in results], [whole_f1[page.data, page.name] for page in results]
        )
        row = {"variant": variant, "features": len(kept)} | _mean_scores(results)
        rows.append(row | {"difference": difference.by_name()})
    return tuple(rows)


def _grid_search(run: Run, grid: Mapping[str, Sequence[float]]) -> tuple[dict[str, Any], ...]:
    """Score every combination of training parameters."""
    rows = []
    for combination in itertools.product(*grid.values()):
        parameters = dict(zip(grid, combination, strict=True))
        name = " ".join(f"{key}={value:g}" for key, value in parameters.items())
        rows.append({"parameters": parameters} | _mean_scores(run(name, **parameters)))
    return tuple(rows)


def _mean_scores(results: Sequence[PageResult]) -> dict[str, Any]:
    return {"mean": means(results), "interval": intervals(results)}


def parse_grid(specs: Sequence[str]) -> dict[str, list[float]]:
    """Read ``c1=0,0.1,1`` and the like."""
    grid = {}
    for spec in specs:
        name, _, numbers = spec.partition("=")
        try:
            values = [float(value) for value in numbers.split(",")]
        except ValueError:
            values = []
        highest = 1.0 if name == "threshold" else float("inf")
        in_range = all(0 <= value <= highest and value < float("inf") for value in values)
        if name not in GRID_PARAMETERS or not values or not in_range:
            raise ConfigError(
                f"{spec!r}: a grid is c1=0,0.1,1 or c2=..., max_iterations=..., threshold=..., all from 0"
            )
        grid[name] = values
    return grid


# Numbers


def _values_by_measure(pages: Sequence[PageResult]) -> dict[str, list[float]]:
    """Return the values of every measure that a page has; those of the tables come first."""
    names = dict.fromkeys([*MEASURES, *(name for page in pages for name in page.scores)])
    return {name: [page.scores[name] for page in pages if name in page.scores] for name in names}


def means(pages: Sequence[PageResult]) -> dict[str, float | None]:
    """Return the mean of every measure over pages, or None if no page has it. Accuracies are shares of all blocks."""
    blocks = BlockCounts.sum(page.blocks for page in pages)
    averages = {name: mean(values) for name, values in _values_by_measure(pages).items()}
    return averages | {"label_accuracy": blocks.label_accuracy, "content_accuracy": blocks.content_accuracy}


def intervals(pages: Sequence[PageResult]) -> dict[str, list[float]]:
    """Return the 95 % interval of every mean, by resampling pages. Accuracies are shares of all blocks."""
    bounds = {}
    for name in MEASURES:
        scored = [page for page in pages if name in page.scores]
        weights = [page.blocks.total if name in _OF_BLOCKS else 1 for page in scored]
        if scored:
            summary = summarise([page.scores[name] for page in scored], weights)
            bounds[name] = [summary.low, summary.high]
    return bounds


def pooled(pages: Sequence[PageResult]) -> dict[str, float]:
    """Return word scores of all pages as one text, so that long pages weigh more."""
    scores: dict[str, float] = {}
    for name, kind in (("words", "words"), ("cleaneval_words", "aligned"), ("shingle", "shingles")):
        score = Score.pool(getattr(page.texts, kind) for page in pages)
        scores |= {f"{name}_{part}": value for part, value in score.shares().items()}
    return scores


def calibration(pages: Sequence[PageResult], bins: int = 10) -> list[dict[str, float]]:
    """Return how often blocks of each predicted probability of content are content."""
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
