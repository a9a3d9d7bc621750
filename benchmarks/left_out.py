"""Compare configs with trees on data sets that are left out whole.

    python -m benchmarks.left_out --data wcxb:DIR dragnet:DIR l3s:DIR --configs default mine.conf --step 4

For each data set, the trees of each config are trained on the other sets and score its pages. Differences to the
first config are means over pages with their standard errors. To try features, write a config with `include default`
and an `evidence-template` that adds them.
"""

from __future__ import annotations

import sys
from functools import partial

import numpy as np

from benchmarks.lib.command import make_parser, run
from benchmarks.lib.tables import table
from victorpy.columns import Columns, Floats
from victorpy.config import Config, load_config
from victorpy.errors import DataError
from victorpy.model.evidence import Keeping, fit_evidence, probabilities
from victorpy.research.gold import LabelledPage, load_gold
from victorpy.research.scores import word_f1


def scores_by_set(data: list[str], config: Config, step: int) -> dict[str, Floats]:
    """Return the word F1 of every page of each set, by trees that were trained on the other sets."""
    pages = [page for page in load_gold(data, config, lambda message: None)[::step] if page.document.blocks]
    columns = [Columns(page.document, config) for page in pages]
    scores = {}
    for left_out in data:
        training = [number for number, page in enumerate(pages) if page.data != left_out]
        fitted = fit_evidence(
            [columns[number] for number in training],
            [np.array([label.is_content for label in pages[number].labels]) for number in training],
            [pages[number].site for number in training],
            config,
            partial(print, f"without {left_out}:", file=sys.stderr, flush=True),
        )
        judged = [(page, its) for page, its in zip(pages, columns, strict=True) if page.data == left_out]
        scores[left_out] = np.array(
            [score(page, its, fitted.evidence.judge(its).log_odds, config) for page, its in judged]
        )
    return scores


def score(page: LabelledPage, columns: Columns, log_odds: Floats, config: Config) -> float:
    """Return the word F1 of a page."""
    kept = Keeping.of(config).kept(probabilities(log_odds), columns)
    text = "\n".join(block.text for block, keep in zip(page.document.blocks, kept, strict=True) if keep)
    return word_f1(text, "\n".join(segment.text for segment in page.gold)).f1


def main() -> None:
    """Print one line per config and one column per data set."""
    parser = make_parser(__doc__)
    parser.add_argument("--configs", nargs="+", default=["default"], metavar="CONFIG")
    arguments = parser.parse_args()
    if len(arguments.data) < 2:
        raise DataError("--data needs at least two data sets, because one is left out")
    results = {name: scores_by_set(arguments.data, load_config(name), arguments.step) for name in arguments.configs}
    first = results[arguments.configs[0]]
    rows = []
    for name, scores in results.items():
        cells = []
        for data, f1 in scores.items():
            difference = f1 - first[data]
            error = difference.std() / np.sqrt(len(difference))
            cells.append(f"{f1.mean():.4f} ({difference.mean():+.4f} ± {error:.4f})")
        rows.append([name, *cells])
    print(table(["config", *(data.partition(":")[0] for data in first)], rows))


if __name__ == "__main__":
    run(main)
