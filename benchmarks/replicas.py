"""Replicas: hits and errors of the fingerprint (the paper's Table 2) and of `pages`, before cleaning and after it.

    python -m benchmarks.replicas --data wcxb:DIR dragnet:DIR l3s:DIR [--size 500] [--pages DIR]

The test collection is made from gold pages (lib/replica_pages.py) and cleaned with the bundled model. For pages that
share one form see planted_replicas.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from benchmarks.lib.command import make_parser, run
from benchmarks.lib.replica_pages import SEED, Collection, make_collection, topic_pages, write_pages
from benchmarks.lib.tables import table
from victorpy.base.language import language_of
from victorpy.cleaner import Cleaner
from victorpy.dedup import find_replicas
from victorpy.dedup.fingerprint import Fingerprint
from victorpy.description.terms import terms
from victorpy.document import Label
from victorpy.outputs import OUTPUTS, CleanPage

PERCENTAGES = tuple(number / 10 for number in range(1, 11))
INTERVALS = tuple(range(1, 11))
STATES = ("before", "after")


class Found(NamedTuple):
    """Number of near-replicas that were found, and of other pages that were taken for replicas."""

    hits: int
    errors: int


class Texts(NamedTuple):
    """The texts of a collection in one state."""

    base: list[str]
    near: list[str]
    non: list[str]


def main() -> None:
    """Build the collection, measure, and print tables."""
    parser = make_parser(__doc__, step=False)
    parser.add_argument("--size", type=int, default=500, help="pages in each of the three sets (default: 500)")
    parser.add_argument("--seed", type=int, default=SEED, help="seed of the random choice of pages")
    parser.add_argument("--pages", type=Path, help="write the collection's pages there, to look at them")
    arguments = parser.parse_args()
    chosen = topic_pages(arguments.data, 3 * arguments.size, arguments.seed)
    collection = make_collection(chosen, arguments.size, arguments.seed)
    if arguments.pages:
        write_pages(collection, arguments.pages)
    states = dict(zip(STATES, cleaned(collection), strict=True))
    tables = {state: fingerprint_table(texts) for state, texts in states.items()}
    size = len(collection.base)
    for state in STATES:
        print(f"\nfingerprint, {state} cleaning: hits/errors of {size}\n\n{shown(tables[state])}")
    for rule in rules(tables["after"]):
        print(rule)
    for state in STATES:
        print("\npages, {} cleaning: {}/{}".format(state, *pages_found(states[state])))


def cleaned(collection: Collection) -> tuple[Texts, Texts]:
    """Return all text of the pages, and what cleaning leaves of it."""
    cleaner = Cleaner.load()
    render = OUTPUTS.get("text").render
    before, after = Texts([], [], []), Texts([], [], [])
    for side, html_pages in enumerate(collection):
        for html in html_pages:
            page = cleaner.document(html)
            everything = CleanPage(page.document, (Label.PARAGRAPH,) * len(page.labels))
            before[side].append(render(everything))
            after[side].append(render(page))
    return before, after


Table = dict[tuple[int, float], Found]


def fingerprint_table(texts: Texts) -> Table:
    """Compute the paper's Table 2; the words of texts are the same for all cells."""
    words = [[terms(text, language_of(text)) for text in side] for side in texts]
    results = {}
    for interval in INTERVALS:
        for percentage in PERCENTAGES:
            method = Fingerprint(percentage, interval)
            results[interval, percentage] = compare(*([method.digest(text) for text in side] for side in words))
    return results


def compare(base: Sequence[bytes], near: Sequence[bytes], non: Sequence[bytes]) -> Found:
    """Look digests up among the base pages: a near-replica that is found for its own base page is a hit."""
    hits = sum(bool(digest) and digest == other for digest, other in zip(near, base, strict=True))
    return Found(hits, sum(bool(digest) and digest in base for digest in non))


def pages_found(texts: Texts) -> Found:
    """Compute hits and errors of the method `pages`, for pages of different sites."""
    size = len(texts.base)
    repeats = find_replicas([*texts.base, *texts.near, *texts.non])
    hits = sum(repeats[size + number] == number for number in range(size))
    return Found(hits, sum(repeated is not None for repeated in repeats[2 * size :]))


def rules(table: Table) -> Iterator[str]:
    """Check the paper's two rules: how many of the comparisons hold."""
    for name in ("hits", "errors"):
        rows = [[getattr(table[interval, share], name) for share in PERCENTAGES] for interval in INTERVALS]
        steps = [(one, other) for row in rows for one, other in pairwise(row)]
        held = sum(one >= other for one, other in steps)
        yield f"rule 1, {name} do not rise with percentage: {held} of {len(steps)} steps"
    best = {share: max(INTERVALS, key=lambda interval: table[interval, share].hits) for share in PERCENTAGES}
    yield "rule 2, the interval with most hits: " + ", ".join(f"{share:.0%} {best[share]}" for share in PERCENTAGES)


def shown(results: Table) -> str:
    """Return a table as Markdown."""
    rows = [
        [f"I={interval}", *("{}/{}".format(*results[interval, share]) for share in PERCENTAGES)]
        for interval in INTERVALS
    ]
    return table(["", *(f"P={share:.0%}" for share in PERCENTAGES)], rows)


if __name__ == "__main__":
    run(main)
