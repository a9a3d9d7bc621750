"""Reproduce table 6.1 of the thesis (Marek 2007): label accuracy and cleaning performance of Exp-1, Exp-2 and Exp-3.

example:
  python -m benchmarks.thesis --data cleaneval:cleaneval/dev -j 2

As in the thesis, pages are distributed over six folds at random, and a page gets its best label sequence (Viterbi).
The models with markup features or content features alone are those of chapter 6. Intervals come from resampling pages.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace

from benchmarks.lib.command import make_parser, run
from benchmarks.lib.tables import table
from victorpy import load_config
from victorpy.config import Config
from victorpy.errors import DataError
from victorpy.research.evaluate import Settings, evaluate, feature_sets, intervals, means
from victorpy.research.gold import load_gold
from victorpy.research.scores import PageResult, values_of
from victorpy.research.statistics import compare

MEASURES = {
    "label_accuracy": "labels right",
    "content_accuracy": "content/noise right",
    "cleaneval_markup": "markup-only",
    "cleaneval_text": "text-only",
    "cleaneval_total": "total",
    "cleaneval_segments_unlabelled_f1": "boundaries",
    "boundaries_total": "total with boundaries",
}
"""The first five are the columns of the table. Boundaries are the markup score without the kinds of tags."""

THESIS: Mapping[str, Sequence[float | None]] = {
    "Exp-1": (74.45, 82.60, 66.71, 81.11, 73.92),
    "Exp-2": (75.09, 83.09, 67.31, 81.68, 74.50),
    "Exp-3": (75.01, 82.88, 68.46, 81.83, 75.15),
    "markup features only": (None, None, None, None, 65.3),
    "content features only": (None, None, None, None, 66.5),
}

_OFF_2 = ("div-group.word-ratio", "td-group.word-ratio", "token.num-abs", "token.mix-abs", "token.other-abs")
_OFF_3 = (*_OFF_2, "regexp.url", "document.word-count")


def experiments(config: Config) -> dict[str, Config]:
    """Return the config of every experiment: the best label sequence, with some features disabled."""
    families = feature_sets(config.features, "family")
    disabled = {"Exp-1": (), "Exp-2": _OFF_2, "Exp-3": _OFF_3}
    for family in ("markup", "content"):
        kept = families[f"only {family}"]
        disabled[f"{family} features only"] = tuple(name for name in config.features if name not in kept)
    values = {**config.values, "decode": ("viterbi",)}
    return {name: replace(config, values={**values, "crf-features-off": off}) for name, off in disabled.items()}


def add_boundaries(page: PageResult) -> PageResult:
    """Add the mean of text and boundaries, which is nearest to the total of the thesis."""
    text, boundaries = (page.scores[name] for name in ("cleaneval_text", "cleaneval_segments_unlabelled_f1"))
    return replace(page, scores=page.scores | {"boundaries_total": (text + boundaries) / 2})


def score_table(results: Mapping[str, Sequence[PageResult]]) -> str:
    """Return all scores with their intervals, below the figures of the thesis."""
    rows = []
    for name, pages in results.items():
        figures = ["–" if figure is None else f"{figure:.2f}" for figure in THESIS[name]]
        rows.append([f"{name}, thesis", *figures, *["–"] * (len(MEASURES) - len(figures))])
        averages, bounds = means(pages), intervals(pages, MEASURES)
        cells = []
        for measure in MEASURES:
            low, high = bounds[measure]
            cells.append(f"{100 * (averages[measure] or 0.0):.2f} ({100 * low:.1f} to {100 * high:.1f})")
        rows.append([f"**{name}, here**", *cells])
    return table(["", *MEASURES.values()], rows)


def difference_table(results: Mapping[str, Sequence[PageResult]]) -> str:
    """Return the differences of the totals from Exp-1 on the same pages."""
    first = values_of(results["Exp-1"], "cleaneval_total")
    rows = []
    for name, pages in results.items():
        if name != "Exp-1":
            difference = compare(values_of(pages, "cleaneval_total"), first)
            numbers = [f"{100 * value:+.2f}" for value in (difference.mean, difference.low, difference.high)]
            rows.append([name, numbers[0], f"{numbers[1]} to {numbers[2]}", f"{difference.p_value:.3f}"])
    return table(["total minus that of Exp-1", "points", "95 % interval", "p"], rows)


def main() -> None:
    """Cross-validate all experiments and print the tables."""
    parser = make_parser(__doc__, step=False)
    parser.add_argument("--folds", type=int, default=6)
    parser.add_argument("--group", choices=["page", "site"], default="page", help="default: page, as in the thesis")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-j", "--jobs", type=int, default=1)
    arguments = parser.parse_args()
    settings = Settings(arguments.folds, arguments.group, arguments.seed, arguments.jobs)
    config = load_config("cleaneval")
    pages = load_gold(arguments.data, config, lambda message: print(f"left out: {message}", file=sys.stderr))
    for page in pages:
        if not page.has_segments:
            raise DataError(
                f"{page.data}: the gold has no segment tags to score markup with; use cleaneval or anno data"
            )
    results = {}
    for name, variant in experiments(config).items():

        def show(_: str, fold: int, folds: int, name: str = name) -> None:
            print(f"{name}: {fold} of {folds} folds done", file=sys.stderr, flush=True)

        evaluation = evaluate(pages, variant, settings, show)
        results[name] = [add_boundaries(page) for page in evaluation.pages]
    blocks = sum(len(page.labels) for page in pages)
    print(f"{len(pages)} pages, {blocks:,} blocks, {settings.folds} folds by {settings.group}, in percent\n")
    print(score_table(results) + "\n\n" + difference_table(results))


if __name__ == "__main__":
    run(main)
