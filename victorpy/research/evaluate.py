"""Experiments on gold pages: cross-validation, learning curve, ablation and grid.

`Evaluation.scores()` returns the content of scores.json, which reports show.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

from victorpy.base.parameters import split_name
from victorpy.base.score import Score
from victorpy.cleaner import Cleaner
from victorpy.config import Config
from victorpy.document import Label, Labelling, Role
from victorpy.errors import ConfigError, DataError
from victorpy.features import find_feature
from victorpy.labellers.base import Labeller
from victorpy.methods import find_method
from victorpy.model.labeller import ModelLabeller, role_trees_of
from victorpy.model.role_trees import RoleTrees
from victorpy.model.roles import assign_roles
from victorpy.research.datasets import VALUE_KINDS
from victorpy.research.gold import LabelledPage
from victorpy.research.scores import BlockCounts, PageResult, mean_of, measure_texts, pooled, values_of
from victorpy.research.site_runs import Plan, label_by_site, map_in_jobs
from victorpy.research.statistics import compare, interval, summarise
from victorpy.sites.grouping import SITE_KEY, make_folds

MEASURES = {
    "label_accuracy": "labels right",
    "content_accuracy": "content/noise right",
    "words_f1": "words F1",
    "cleaneval_words_f1": "CleanEval words F1",
    "cleaneval_text": "CleanEval text-only",
    "cleaneval_markup": "CleanEval markup-only",
    "cleaneval_total": "CleanEval total",
    "cleaneval_segments_unlabelled_f1": "CleanEval boundaries",
    "shingle_f1": "4-word shingles F1",
    "empty": "pages left empty",
}
"""The measures in tables, with their titles."""

_BLOCK_MEASURES = ("label_accuracy", "content_accuracy")
_NEED_SEGMENTS = frozenset(
    "cleaneval_text cleaneval_markup cleaneval_total cleaneval_words_tags_f1 cleaneval_segments_f1 "
    "cleaneval_segments_unlabelled_f1".split()
)
"""Measures that are only meaningful if the gold has tags."""

CURVE, ABLATION, GRID = "learning_curve", "ablation", "grid"
CURVE_SHARES = (0.1, 0.25, 0.5, 0.75, 1.0)
GRID_PARAMETERS = frozenset(["c1", "c2", "max_iterations", "threshold"])
_ALL_FEATURES = "all features"
_BINS = 10  # number of bins of predicted probabilities

Progress = Callable[[str, int, int], None]
"""Called with the name of the experiment, the number of finished folds and the number of folds."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How pages are divided into folds."""

    folds: int = 6
    group: str = "site"
    seed: int = 1
    jobs: int = 1
    site_key: str = SITE_KEY


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All results of an evaluation."""

    settings: Settings
    config: Config
    pages: tuple[PageResult, ...]
    everything: tuple[PageResult, ...]
    """Results of keeping every block as a paragraph, the baseline that every cleaner has to beat."""
    experiments: Mapping[str, Sequence[dict[str, Any]]] = field(default_factory=dict)
    """The tables of the learning curve, the ablation and the grid."""
    warnings: tuple[str, ...] = ()
    method: Mapping[str, Any] = field(default_factory=dict)
    """Name of a method that is scored without training, and the kind of data that it learned from."""

    def scores(self) -> dict[str, Any]:
        """Return all results by name. Shares are from 0 to 1."""
        pages, settings = self.pages, self.settings
        blocks = BlockCounts.sum(page.blocks for page in pages)
        types = sorted({page.page_type for page in pages if page.page_type})
        pooled_scores = {
            f"{name}_{part}": value
            for name in ("words", "cleaneval_words", "shingle")
            for part, value in pooled(pages, name).shares().items()
        }
        roles = {str(role): score for role in Role if (score := pooled(pages, f"role {role}")).gold}
        medians = {name: summarise(values).median for name in _measures(pages) if (values := values_of(pages, name))}
        return {
            "config": self.config.name,
            "settings": {"folds": settings.folds, "group": settings.group, "seed": settings.seed} | dict(self.method),
            "pages_count": len(pages),
            "blocks_count": blocks.total,
            "mean": means(pages),
            "interval": intervals(pages),
            "median": medians,
            "page_mean": {name: mean_of(pages, name) or 0.0 for name in _BLOCK_MEASURES},
            "pooled": pooled_scores,
            "keep_everything": means(self.everything),
            "folds": [means([page for page in pages if page.fold == number]) for number in range(settings.folds)],
            "by_type": {kind: means([page for page in pages if page.page_type == kind]) for kind in types},
            "labels": {str(label): blocks.label_score(label).shares() for label in Label},
            "confusion": {
                str(gold): {str(ours): blocks.confusion.get((gold, ours), 0) for ours in Label} for gold in Label
            },
            "calibration": _calibration(pages),
            **({"roles": {role: score.shares() for role, score in roles.items()}} if roles else {}),
            **{name: list(self.experiments.get(name, ())) for name in (CURVE, ABLATION, GRID)},
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


def _measures(pages: Sequence[PageResult]) -> list[str]:
    """Return the measures of the pages. Measures that are shown in tables come first."""
    return list(dict.fromkeys([*MEASURES, *(name for page in pages for name in page.scores)]))


def means(pages: Sequence[PageResult]) -> dict[str, float | None]:
    """Return the mean of every measure over pages, or None if no page has the measure.

    Accuracies are shares of all blocks.
    """
    blocks = BlockCounts.sum(page.blocks for page in pages)
    averages = {name: mean_of(pages, name) for name in _measures(pages)}
    return averages | {name: getattr(blocks, name) for name in _BLOCK_MEASURES}


def intervals(pages: Sequence[PageResult], measures: Iterable[str] = MEASURES) -> dict[str, list[float]]:
    """Return the 95 % interval of every mean, by resampling pages."""
    bounds = {}
    for name in measures:
        scored = [page for page in pages if name in page.scores]
        weights = [page.blocks.total if page.blocks and name in _BLOCK_MEASURES else 1 for page in scored]
        if scored:
            bounds[name] = interval(values_of(scored, name), weights) or []
    return bounds


def _calibration(pages: Sequence[PageResult]) -> list[dict[str, float]]:
    counts = [[0, 0, 0.0] for _ in range(_BINS)]
    for page in pages:
        for predicted, is_content in zip(page.labelling.content, page.gold_content, strict=False):
            row = counts[min(int(predicted * _BINS), _BINS - 1)]
            row[0] += 1
            row[1] += is_content
            row[2] += predicted
    return [
        {"predicted": total / blocks, "observed": content / blocks, "blocks": blocks}
        for blocks, content, total in counts
        if blocks
    ]


# Cross-validation


def cross_validate(
    pages: Sequence[LabelledPage],
    make_labeller: Callable[[], Labeller],
    settings: Settings,
    share: float = 1.0,
) -> Iterator[list[PageResult]]:
    """Yield the results of each fold, labelled by a model that was trained on the other folds.

    With a `share` below 1, models are trained on only that share of the groups. Test pages stay the same.
    """
    groups = [page.site if settings.group == "site" else f"{page.data}/{page.name}" for page in pages]
    fold_of = make_folds(groups, settings.folds, settings.seed)
    order = sorted(set(groups))
    random.Random(settings.seed).shuffle(order)  # use the same order for every share
    trained_groups = frozenset(order[: max(round(share * len(order)), 1)])
    rows = list(zip(pages, fold_of, groups, strict=True))
    splits = []
    for fold in range(settings.folds):
        training = [page for page, own_fold, name in rows if own_fold != fold and name in trained_groups]
        splits.append((fold, training, [page for page, own_fold, _ in rows if own_fold == fold]))
    yield from map_in_jobs(partial(_run_fold, make_labeller), splits, settings.jobs)


def _run_fold(
    make_labeller: Callable[[], Labeller], split: tuple[int, list[LabelledPage], list[LabelledPage]]
) -> list[PageResult]:
    fold, training, tests = split
    labeller = make_labeller().fit([page.document for page in training], [page.labels for page in training])
    labellings: dict[int, Labelling] = {}
    for site in label_by_site(labeller, tests):
        labellings |= site
    return [score_page(page, labellings[index], fold) for index, page in enumerate(tests)]


def score_page(page: LabelledPage, labelling: Labelling, fold: int = 0, trees: RoleTrees | None = None) -> PageResult:
    """Score the labels of a gold page, and its roles if the gold has roles."""
    scores, counts = measure_texts(page.output_text(labelling), page.gold_text)
    if not page.has_segments:
        scores = {name: value for name, value in scores.items() if name not in _NEED_SEGMENTS}
    blocks = BlockCounts.of(labelling.labels, page.labels)
    scores |= {name: getattr(blocks, name) for name in _BLOCK_MEASURES}
    if page.roles:
        ours = assign_roles(page.document, labelling.labels, trees=trees)
        right = Counter(own for own, role in zip(ours, page.roles, strict=True) if own is role)
        found, gold = Counter(ours), Counter(page.roles)
        counts = counts | {f"role {role}": Score(right[role], found[role], gold[role]) for role in Role}
    return PageResult(
        *(page.name, page.data, page.site, page.page_type, scores, counts, blocks),
        fold=fold,
        labelling=labelling,
        gold_content=tuple(label.is_content for label in page.labels),
    )


def keep_everything(page: LabelledPage) -> PageResult:
    """Return the scores of keeping every block as a paragraph."""
    return score_page(page, Labelling((Label.PARAGRAPH,) * len(page.document.blocks)))


class Variant(NamedTuple):
    """A cross-validation with another config, other training parameters, or fewer training pages."""

    experiment: str
    name: str
    row: dict[str, Any]  # the first cells of the variant's row in the table of the experiment
    config: Config
    parameters: Mapping[str, float] = {}
    share: float = 1.0


def evaluate(
    pages: Sequence[LabelledPage],
    config: Config,
    settings: Settings,
    progress: Progress,
    curve: bool = False,
    ablate: str | None = None,
    grid: Mapping[str, Sequence[float]] | None = None,
) -> Evaluation:
    """Cross-validate a config. On request, repeat this with fewer pages, fewer features and other parameters."""
    if settings.folds < 2:
        raise DataError("cross-validation needs at least 2 folds")
    if settings.jobs < 1:
        raise DataError(f"jobs must be at least 1, not {settings.jobs}")
    groups = len({page.site for page in pages}) if settings.group == "site" else len(pages)
    if groups < settings.folds:
        other = ", or `group` page" if settings.group == "site" else ""
        raise DataError(f"{settings.folds} folds need as many {settings.group}s, not {groups}; use fewer folds{other}")

    def run(variant: Variant) -> list[PageResult]:
        results: list[PageResult] = []
        progress(variant.name, 0, settings.folds)
        make_labeller = partial(
            ModelLabeller,
            variant.config,
            site_key=settings.site_key,
            **variant.parameters,  # type: ignore[arg-type]
        )
        for number, fold in enumerate(cross_validate(pages, make_labeller, settings, variant.share), 1):
            results += fold
            progress(variant.name, number, settings.folds)
        return results

    whole = run(Variant("", "cross-validation", {}, config))
    whole_f1 = {(page.data, page.name): page.scores["words_f1"] for page in whole}
    experiments: dict[str, list[dict[str, Any]]] = {}
    for variant in _variants(config, len(pages), settings.folds, curve, ablate, grid or {}):
        try:
            results = whole if variant.name == _ALL_FEATURES else run(variant)
        except DataError:
            if variant.experiment != CURVE:  # a small share of the pages may contain a single label
                raise
            continue
        row = variant.row | {"mean": means(results), "interval": intervals(results)}
        if variant.experiment == ABLATION:
            difference = compare(values_of(results, "words_f1"), [whole_f1[page.data, page.name] for page in results])
            row["difference"] = asdict(difference)
        experiments.setdefault(variant.experiment, []).append(row)
    return Evaluation(settings, config, tuple(whole), tuple(map(keep_everything, pages)), experiments)


def _variants(
    config: Config, pages: int, folds: int, curve: bool, ablate: str | None, grid: Mapping[str, Sequence[float]]
) -> Iterator[Variant]:
    """Yield the requested experiments: growing shares of pages, fewer features, all combinations of parameters."""
    for share in CURVE_SHARES if curve else ():
        name = f"learning curve, {share:.0%} of the training pages"
        yield Variant(CURVE, name, {"pages": round(share * pages * (folds - 1) / folds)}, config, share=share)
    for name, kept in feature_sets(config.features, ablate).items() if ablate else ():
        off = tuple(feature for feature in config.get("crf-features") if feature not in kept)
        smaller = replace(config, values={**config.values, "crf-features-off": off})
        yield Variant(ABLATION, name, {"variant": name, "features": len(kept)}, smaller)
    for combination in itertools.product(*grid.values()) if grid else ():
        parameters = dict(zip(grid, combination, strict=True))
        name = " ".join(f"{key}={value:g}" for key, value in parameters.items())
        yield Variant(GRID, name, {"parameters": parameters}, config, parameters)


def feature_sets(features: Sequence[str], kind: str) -> dict[str, list[str]]:
    """Return the sets of features of an ablation: each family alone and left out, or each feature left out."""
    families: dict[str, list[str]] = {}
    for name in features:
        feature = find_feature(name)
        families.setdefault(feature.family if feature else "own", []).append(name)
    sets = {_ALL_FEATURES: list(features)}
    if kind == "family":
        sets |= {f"only {family}": names for family, names in families.items()}
    for what, names in (families if kind == "family" else {name: [name] for name in features}).items():
        sets[f"without {what}"] = [name for name in features if name not in names]
    return {name: kept for name, kept in sets.items() if kept}


def parse_grid(specs: Sequence[str]) -> dict[str, list[float]]:
    """Read parameters with their values, given as ``c1=0,0.1,1``."""
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
                f"{spec!r}: give a grid as c1=0,0.1,1; the parameters are c1, c2, max_iterations and threshold, from 0"
            )
        grid[name] = values
    return grid


# Methods without training


def load_as_is(entry: str, allow_code: bool = False) -> Cleaner:
    """Load a method that labels blocks, given as ``sst(t=0.4)``."""
    method = find_method(*split_name(entry), allow_code)
    if method.is_peer:
        raise ConfigError(f"{method.name} is another program, which labels no blocks; use victor compare")
    return method.load()


def evaluate_as_is(
    pages: Sequence[LabelledPage], cleaner: Cleaner, name: str, plan: Plan, progress: Callable[[int], object]
) -> Evaluation:
    """Score a method on all pages without training. `progress` is called with the number of newly finished pages.

    A method that learns from a site learns from the pages that it labels, as in real use.
    """
    if not pages:
        raise DataError("no pages are left to evaluate on")
    values = sorted({page.data for page in pages if page.data.partition(":")[0] in VALUE_KINDS})
    if values:
        raise DataError(f"{values[0]}: the gold lists values, not texts; use victor compare or victor mine")
    results: dict[int, PageResult] = {}
    trees = role_trees_of(cleaner.labeller)
    sites = 0
    for labellings in label_by_site(cleaner.labeller, pages, plan):
        results |= {index: score_page(pages[index], label, trees=trees) for index, label in labellings.items()}
        sites += 1
        progress(len(labellings))
    learns_from = str(cleaner.labeller.learns_from)
    return Evaluation(
        Settings(folds=0, seed=plan.seed),
        cleaner.config,
        tuple(results[index] for index in range(len(pages))),
        tuple(map(keep_everything, pages)),
        method={"method": name, "learns_from": learns_from, "sites": sites, "sample": plan.sample},
    )
