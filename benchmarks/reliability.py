"""Whether `confidence`, the word F1 that is expected of a cleaned page, is calibrated: does .9 mean .9?

    python -m benchmarks.reliability                                        the sample pages in data/
    python -m benchmarks.reliability --data wcxb:DIR --model my-model       data that the model was not trained on
    python -m benchmarks.reliability --data wcxb:DIR --folds 5              cross-validate a config, sites kept apart
    python -m benchmarks.reliability --results pages.json -o reliability.png

Pages are put in bins by confidence; the mean word F1 of each bin should be its mean confidence. Printed are the
bins, the expected calibration error (how far the two are apart, weighted by pages) and Spearman's rank correlation
of confidence and F1 over pages; -o draws the reliability diagram. --save writes, and --results reads,
[{"name": "wcxb:dev/0001", "confidence": 0.93, "word_f1": 0.95}, ...].
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from tqdm import tqdm

from benchmarks.lib.calibration import (
    Bin,
    Judged,
    expected_calibration_error,
    load_judged,
    make_bins,
    save_judged,
    spearman,
)
from benchmarks.lib.pages import add_arguments, read_pages
from benchmarks.lib.results import table
from victorpy import Cleaner, load_config
from victorpy.errors import DataError, VictorError
from victorpy.outputs import OUTPUTS
from victorpy.research.compare.provenance import set_name, training_sets
from victorpy.research.crossval import crf_maker, cross_validate
from victorpy.research.gold import label_page
from victorpy.research.scores import word_f1


def judge_by_model(arguments: argparse.Namespace) -> Iterator[Judged]:
    """Clean pages with a model."""
    cleaner = Cleaner.load(arguments.model)
    known = training_sets(arguments.model, [set_name(spec) for spec in arguments.data])
    if known:
        print(f"reliability: {arguments.model} was trained on {', '.join(known)}: no measure", file=sys.stderr)
    render = OUTPUTS.get("text").render
    for data, gold in tqdm(read_pages(arguments.data, arguments.step), unit=" pages", disable=None):
        page = cleaner.document(gold.html)
        if page.confidence is not None:
            yield Judged(f"{data}/{gold.name}", page.confidence, word_f1(render(page), gold.text).f1)


def judge_by_folds(arguments: argparse.Namespace) -> Iterator[Judged]:
    """Clean each fold's pages with a model of the other folds, which has seen none of their sites."""
    config = load_config(arguments.config)
    pages = [label_page(gold, data, config) for data, gold in read_pages(arguments.data, arguments.step)]
    for number, fold in enumerate(cross_validate(pages, crf_maker(config), arguments.folds, jobs=arguments.jobs), 1):
        print(f"reliability: fold {number} of {arguments.folds} done", file=sys.stderr, flush=True)
        for page in fold:
            if page.labelling.confidence is not None:
                yield Judged(f"{page.data}/{page.name}", page.labelling.confidence, page.scores["words_f1"])


def judge(arguments: argparse.Namespace) -> list[Judged]:
    """Come by pages in the way that is asked for."""
    if arguments.results:
        pages = load_judged(arguments.results)
    else:
        pages = list(judge_by_folds(arguments) if arguments.folds else judge_by_model(arguments))
    if not pages:
        raise DataError("there is no page with a confidence")
    return pages


def describe(pages: list[Judged], bins: list[Bin]) -> str:
    """The bins as a table, and what they come to."""
    rows = [
        [
            f"{row.low:.2f} to {row.high:.2f}",
            str(row.f1.count),
            f"{row.confidence:.3f}",
            f"{row.f1.mean:.3f} [{row.f1.low:.3f}, {row.f1.high:.3f}]",
            f"{row.gap:+.3f}",
        ]
        for row in bins
    ]
    shown = table(["confidence", "pages", "mean confidence", "mean word F1", "difference"], rows)
    return f"{shown}\n\n{sum_up(pages, bins)}"


def sum_up(pages: list[Judged], bins: list[Bin]) -> str:
    """All in one line."""
    confidence, f1 = [page.confidence for page in pages], [page.word_f1 for page in pages]
    return (
        f"{len(pages)} pages: expected calibration error {expected_calibration_error(bins):.3f}, "
        f"Spearman's rank correlation {spearman(confidence, f1):.3f}, "
        f"mean confidence {sum(confidence) / len(pages):.3f}, mean word F1 {sum(f1) / len(pages):.3f}"
    )


def name_source(arguments: argparse.Namespace) -> str:
    """Say of what the diagram is."""
    if arguments.results:
        return str(arguments.results.stem)
    sets = ", ".join(map(set_name, arguments.data))
    how = f"{arguments.folds}-fold cross-validation" if arguments.folds else f"model {Path(arguments.model).name}"
    return f"{sets} – {how}"


def main() -> None:
    """Print the table, and write what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser)
    parser.add_argument("--model", default="default", help="a model by name or path (default: default)")
    parser.add_argument("--folds", type=int, default=0, help="cross-validate a config with so many folds")
    parser.add_argument("--config", default="default", help="the config to cross-validate (default: default)")
    parser.add_argument("--jobs", type=int, default=1, help="folds that are run at the same time (default: 1)")
    parser.add_argument("--results", type=Path, metavar="FILE", help="read what --save wrote")
    parser.add_argument("--bins", type=int, default=10, help="how many bins (default: 10)")
    parser.add_argument("--save", type=Path, metavar="FILE", help="write every page's confidence and word F1")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE.png", help="draw the reliability diagram")
    arguments = parser.parse_args()
    try:
        pages = judge(arguments)
    except VictorError as error:
        parser.error(str(error))
    bins = make_bins(pages, arguments.bins)
    print(describe(pages, bins))
    if arguments.save:
        save_judged(pages, arguments.save)
    if arguments.output:
        from benchmarks.lib.pictures import draw_reliability

        draw_reliability(bins, f"{name_source(arguments)}, {len(pages)} pages", arguments.output)


if __name__ == "__main__":
    main()
