"""Count the listings, tables, figures, descriptions and list items that a model keeps only in part.

    python -m benchmarks.listings --data wcxb:DIR

A unit of which some blocks are kept and others are dropped is worse than a unit that is kept or dropped as a whole. A
listing is a ``<pre>``, a table has header cells, and figures, lists of descriptions and items are those that
`find_units` finds.
"""

from __future__ import annotations

from collections import Counter

from benchmarks.lib.command import make_parser, run
from benchmarks.lib.pages import read_pages
from benchmarks.lib.tables import table
from victorpy import Cleaner
from victorpy.columns import Columns
from victorpy.model.evidence.units import find_units
from victorpy.model.parts import AS_LABELLED
from victorpy.outputs import CleanPage

UNITS = {"pre": "listings", "table": "tables", "figure": "figures", "dt": "descriptions", "li": "items"}


def count_units(page: CleanPage, columns: Columns) -> Counter[tuple[str, str]]:
    """Count the units of a page by whether they are kept whole, in part or not at all."""
    elements, counts = page.document.elements, Counter[tuple[str, str]]()
    ranges = {}
    for number, tag in enumerate(elements.tag):
        if tag == "pre" or (tag == "table" and "th" in elements.tag[number : elements.stop[number]]):
            ranges[elements.first_block[number], elements.stop_block[number]] = tag
    for first, stop in zip(*(numbers.tolist() for numbers in find_units(columns)), strict=True):
        around = page.document.blocks[first].containers
        ranges.setdefault((first, stop), next((tag for tag in reversed(around) if tag in UNITS), "table"))
    for (first, stop), tag in ranges.items():
        kept = sum(label.is_content for label in page.labels[first:stop])
        if stop - first > 1:
            counts[UNITS[tag], "whole" if kept == stop - first else "in part" if kept else "dropped"] += 1
    return counts


def main() -> None:
    """Print one line for each sort of unit."""
    parser = make_parser(__doc__)
    parser.add_argument("--model", default="default")
    arguments = parser.parse_args()
    cleaner, counts = Cleaner.load(arguments.model), Counter[tuple[str, str]]()
    for page in read_pages(arguments.data, arguments.step):
        cleaned = cleaner.document(page.gold.html, parts=AS_LABELLED)
        counts += count_units(cleaned, Columns(cleaned.document, cleaner.config))
    outcomes = ("whole", "in part", "dropped")
    rows = []
    for unit in UNITS.values():
        numbers = [counts[unit, outcome] for outcome in outcomes]
        rows.append([unit, *numbers, f"{numbers[1] / max(sum(numbers), 1):.1%}"])
    print(table(["units", *outcomes, "in part"], rows))


if __name__ == "__main__":
    run(main)
