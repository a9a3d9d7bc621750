"""Measure whether confidence is calibrated: compare it with the true word F1 of pages, in bins.

    python -m benchmarks.reliability --data wcxb:DIR                  pages cleaned with a model
    python -m benchmarks.reliability --data wcxb:DIR --folds 5        cross-validate a config, sites kept apart
    python -m benchmarks.reliability --results pages.json -o reliability.png

The mean word F1 of each bin should be its mean confidence. The output contains the bins, the expected calibration error
(the difference of the two, weighted by pages) and Spearman's rank correlation of confidence and F1. -o draws the
diagram. --save writes the confidence and score of every page, and --results reads them.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tqdm import tqdm

from benchmarks.lib.command import make_parser, run
from benchmarks.lib.pages import read_pages
from benchmarks.lib.pictures import save_picture
from benchmarks.lib.tables import table
from victorpy import Cleaner, load_config
from victorpy.errors import DataError
from victorpy.model.labeller import ModelLabeller
from victorpy.research.compare import training_sets
from victorpy.research.datasets import set_name
from victorpy.research.evaluate import Settings, cross_validate
from victorpy.research.gold import label_page
from victorpy.research.report.plots import BLUE, GREY, SOFT
from victorpy.research.scores import word_f1
from victorpy.research.statistics import Summary, mean, summarise


@dataclass(frozen=True, slots=True)
class Judged:
    """A page with the word F1 that was expected of its cleaned text, and the true one."""

    name: str
    confidence: float
    word_f1: float


@dataclass(frozen=True, slots=True)
class Bin:
    """The pages whose confidence is in a range."""

    low: float
    high: float
    confidence: float  # their mean confidence
    f1: Summary  # their true word F1

    @property
    def gap(self) -> float:
        """How much better the pages are than expected; negative if they are worse."""
        return self.f1.mean - self.confidence


def judge_by_model(arguments: argparse.Namespace) -> Iterator[Judged]:
    """Clean pages with a model."""
    cleaner = Cleaner.load(arguments.model)
    known = training_sets(arguments.model, [set_name(spec) for spec in arguments.data])
    if known:
        print(
            f"{arguments.model} was trained on {', '.join(known)}: the result does not hold for new pages",
            file=sys.stderr,
        )
    for data, gold in tqdm(read_pages(arguments.data, arguments.step), unit=" pages", disable=None):
        page = cleaner.document(gold.html)
        if page.confidence is not None:
            yield Judged(f"{data}/{gold.name}", page.confidence, word_f1(page.text, gold.text).f1)


def judge_by_folds(arguments: argparse.Namespace) -> Iterator[Judged]:
    """Clean each fold's pages with a model of the other folds, which has seen none of their sites."""
    config = load_config(arguments.config)
    pages = [label_page(gold, data, config) for data, gold in read_pages(arguments.data, arguments.step)]
    settings = Settings(arguments.folds, jobs=arguments.jobs)
    for number, fold in enumerate(cross_validate(pages, partial(ModelLabeller, config), settings), 1):
        print(f"fold {number} of {arguments.folds} done", file=sys.stderr, flush=True)
        for page in fold:
            if page.labelling.confidence is not None:
                yield Judged(f"{page.data}/{page.name}", page.labelling.confidence, page.scores["words_f1"])


def load_judged(path: Path) -> list[Judged]:
    """Read what --save wrote."""
    try:
        rows = json.loads(path.read_bytes())
        return [Judged(row["name"], float(row["confidence"]), float(row["word_f1"])) for row in rows]
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path}: not a list of name, confidence and word_f1: {error}") from error


def make_bins(pages: Sequence[Judged], count: int) -> list[Bin]:
    """Sort pages by confidence into bins of equal width; bins without pages are left out."""
    bins: dict[int, list[Judged]] = {}
    for page in pages:
        bins.setdefault(min(int(page.confidence * count), count - 1), []).append(page)
    return [
        Bin(
            number / count,
            (number + 1) / count,
            sum(page.confidence for page in inside) / len(inside),
            summarise([page.word_f1 for page in inside]),
        )
        for number, inside in sorted(bins.items())
    ]


def describe(pages: Sequence[Judged], bins: Sequence[Bin]) -> str:
    """Return the bins as a table, and a line that sums them up."""
    from scipy.stats import spearmanr

    rows = []
    for row in bins:
        f1 = f"{row.f1.mean:.3f} [{row.f1.low:.3f}, {row.f1.high:.3f}]"
        gap = f"{row.gap:+.3f}"
        rows.append([f"{row.low:.2f} to {row.high:.2f}", row.f1.count, f"{row.confidence:.3f}", f1, gap])
    confidence, f1s = [page.confidence for page in pages], [page.word_f1 for page in pages]
    error = sum(row.f1.count * abs(row.gap) for row in bins) / len(pages)
    return (
        f"{table(['confidence', 'pages', 'mean confidence', 'mean word F1', 'difference'], rows)}\n\n"
        f"{len(pages)} pages: expected calibration error {error:.3f}, Spearman's rank correlation "
        f"{spearmanr(confidence, f1s).statistic:.3f}, mean confidence {mean(confidence):.3f}, "
        f"mean word F1 {mean(f1s):.3f}"
    )


def draw_reliability(figure: Any, rows: Sequence[Bin], title: str) -> None:
    """Draw the mean word F1 of pages by confidence beside the diagonal, and below it the number of pages."""
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3.4, 1))
    above.plot([0, 1], [0, 1], color=GREY, linewidth=1, linestyle="--")
    for row in rows:
        above.plot([row.confidence] * 2, [row.f1.low, row.f1.high], color=BLUE, linewidth=1.4, alpha=0.6)
    above.plot([row.confidence for row in rows], [row.f1.mean for row in rows], "o-", color=BLUE, linewidth=1.2)
    above.set(ylim=(-0.02, 1.02), ylabel="mean word F1", title=title)
    above.grid(color=SOFT, linewidth=0.5, alpha=0.6)
    for row in rows:
        middle, width = (row.low + row.high) / 2, row.high - row.low
        below.bar(middle, row.f1.count, width * 0.9, color=SOFT)
        below.annotate(str(row.f1.count), (middle, row.f1.count), (0, 2), textcoords="offset points", ha="center")
    below.margins(y=0.3)
    below.set(xlim=(-0.02, 1.02), ylabel="pages", xlabel="confidence (expected word F1)")
    figure.align_ylabels()


def main() -> None:
    """Print the table, and write what is asked for."""
    parser = make_parser(__doc__)
    parser.add_argument("--model", default="default", help="a model by name or path (default: default)")
    parser.add_argument("--folds", type=int, default=0, help="cross-validate a config with this many folds")
    parser.add_argument("--config", default="default", help="the config to cross-validate (default: default)")
    parser.add_argument("--jobs", type=int, default=1, help="folds that run at the same time (default: 1)")
    parser.add_argument("--results", type=Path, metavar="FILE", help="read what --save wrote")
    parser.add_argument("--bins", type=int, default=10, help="number of bins (default: 10)")
    parser.add_argument("--save", type=Path, metavar="FILE", help="write every page's confidence and word F1")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE.png", help="draw the reliability diagram")
    arguments = parser.parse_args()
    if arguments.results:
        pages, source = load_judged(arguments.results), arguments.results.stem
    else:
        pages = list(judge_by_folds(arguments) if arguments.folds else judge_by_model(arguments))
        how = f"{arguments.folds}-fold cross-validation" if arguments.folds else f"model {Path(arguments.model).name}"
        source = f"{', '.join(map(set_name, arguments.data))} – {how}"
    if not pages:
        raise DataError("there is no page with a confidence")
    bins = make_bins(pages, arguments.bins)
    print(describe(pages, bins))
    if arguments.save:
        rows = [asdict(page) for page in pages]
        arguments.save.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if arguments.output:
        title = f"{source}, {len(pages)} pages"
        save_picture(lambda figure: draw_reliability(figure, bins, title), (5.2, 5.4), arguments.output)


if __name__ == "__main__":
    run(main)
