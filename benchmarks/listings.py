"""Count the code listings and data tables that a model keeps only in part.

    python -m benchmarks.listings --data wcxb:DIR

A listing is a ``<pre>`` with two or more lines of text, and a table is a ``<table>`` with header cells. A unit of which
some blocks are kept and others are dropped is worse than a unit that is kept or dropped as a whole.
"""

from __future__ import annotations

from collections import Counter

from benchmarks.lib.command import make_parser, run
from benchmarks.lib.pages import read_pages
from benchmarks.lib.tables import table
from victorpy import Cleaner
from victorpy.outputs import CleanPage


def count_units(page: CleanPage) -> Counter[tuple[str, str]]:
    """Count the listings and tables of a page by whether they are kept whole, in part or not at all."""
    elements, counts = page.document.elements, Counter[tuple[str, str]]()
    for number, tag in enumerate(elements.tag):
        is_table = tag == "table" and "th" in elements.tag[number : elements.stop[number]]
        blocks = page.labels[elements.first_block[number] : elements.stop_block[number]]
        if (tag == "pre" or is_table) and len(blocks) > 1:
            kept = sum(label.is_content for label in blocks)
            outcome = "whole" if kept == len(blocks) else "in part" if kept else "dropped"
            counts["listings" if tag == "pre" else "tables", outcome] += 1
    return counts


def main() -> None:
    """Print one line for listings and one for tables."""
    parser = make_parser(__doc__)
    parser.add_argument("--model", default="default")
    arguments = parser.parse_args()
    cleaner, counts = Cleaner.load(arguments.model), Counter[tuple[str, str]]()
    for page in read_pages(arguments.data, arguments.step):
        counts += count_units(cleaner.document(page.gold.html))
    outcomes = ("whole", "in part", "dropped")
    rows = []
    for unit in ("listings", "tables"):
        numbers = [counts[unit, outcome] for outcome in outcomes]
        rows.append([unit, *numbers, f"{numbers[1] / max(sum(numbers), 1):.1%}"])
    print(table(["units", *outcomes, "in part"], rows))


if __name__ == "__main__":
    run(main)
