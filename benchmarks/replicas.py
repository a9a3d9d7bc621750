"""Replicas: hits and errors of the fingerprint (the paper's Table 2) and of MinHash, before cleaning and after it.

    python -m benchmarks.replicas --data wcxb:DIR dragnet:DIR l3s:DIR [--size 500] [--pages DIR] [-o DIR]

The test collection is made from gold pages (lib/replica_pages.py) and cleaned with the bundled model. For a batch of
many pages with planted replicas see planted_replicas.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.lib.command import make_parser, run
from benchmarks.lib.pictures import save_picture
from benchmarks.lib.replica_pages import SEED, Collection, make_collection, topic_pages, write_pages
from benchmarks.lib.tables import table
from victorpy.base.language import language_of
from victorpy.cleaner import Cleaner
from victorpy.dedup.base import Detector
from victorpy.dedup.find import Index, open_database
from victorpy.dedup.fingerprint import Fingerprint
from victorpy.dedup.minhash import MinHash
from victorpy.description.terms import terms
from victorpy.document import Label
from victorpy.outputs import OUTPUTS, CleanPage

PERCENTAGES = tuple(number / 10 for number in range(1, 11))
INTERVALS = tuple(range(1, 11))
THRESHOLDS = tuple(number / 20 for number in range(4, 20))
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
    """Build the collection, measure, and write tables and plot."""
    parser = make_parser(__doc__, step=False)
    parser.add_argument("--size", type=int, default=500, help="pages in each of the three sets (default: 500)")
    parser.add_argument("--seed", type=int, default=SEED, help="seed of the random choice of pages")
    parser.add_argument("--pages", type=Path, help="write the collection's pages there, to look at them")
    parser.add_argument("-o", "--output", type=Path, help="where the plot goes, replicas.png")
    arguments = parser.parse_args()
    chosen = topic_pages(arguments.data, 3 * arguments.size, arguments.seed)
    collection = make_collection(chosen, arguments.size, arguments.seed)
    if arguments.pages:
        write_pages(collection, arguments.pages)
    states = dict(zip(STATES, cleaned(collection), strict=True))
    tables = {state: fingerprint_table(texts) for state, texts in states.items()}
    curves = {state: minhash_curve(texts) for state, texts in states.items()}
    size = len(collection.base)
    for state in STATES:
        print(f"\nfingerprint, {state} cleaning: hits/errors of {size}\n\n{shown(tables[state])}")
    for rule in rules(tables["after"]):
        print(rule)
    print(f"\nminhash: hits and errors in percent of {size}\n\n{shown_curves(curves, size)}")
    if arguments.output:
        plot(tables, curves, size, arguments.output / "replicas.png")


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
            results[interval, percentage] = compare(method, [[method.digest(text) for text in side] for side in words])
    return results


def minhash_curve(texts: Texts) -> dict[float, Found]:
    """Compute hits and errors of MinHash over thresholds; signatures are the same for all."""
    signer = MinHash()
    signatures = [[signer.sign(text) for text in side] for side in texts]
    return {threshold: compare(MinHash(threshold), signatures) for threshold in THRESHOLDS}


def compare(method: Detector, signatures: Sequence[Sequence[bytes]]) -> Found:
    """Look pages up among the base pages: a near-replica that is found for its own base page is a hit."""
    base, near, non = signatures
    with open_database(None) as database:
        index = Index(method, database)
        for number, signature in enumerate(base):
            index.add(signature, str(number))
        hits = sum(index.find(signature) == str(number) for number, signature in enumerate(near))
        return Found(hits, sum(index.find(signature) is not None for signature in non))


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


def shown_curves(curves: dict[str, dict[float, Found]], size: int) -> str:
    """Return hits and errors of MinHash over thresholds as Markdown."""
    rows = [
        [f"{limit:.2f}", *(f"{100 * value / size:.1f}" for state in STATES for value in curves[state][limit])]
        for limit in THRESHOLDS
    ]
    return table(["threshold", "before: hits", "errors", "after: hits", "errors"], rows)


def plot(tables: dict[str, Table], curves: dict[str, dict[float, Found]], size: int, path: Path) -> None:
    """Plot hits and errors over the parameter of each method, before cleaning and after it."""
    save_picture(lambda figure: _draw_panels(figure, tables, curves, size), (10, 4), path)


def _draw_panels(figure: Any, tables: dict[str, Table], curves: dict[str, dict[float, Found]], size: int) -> None:
    left, right = figure.subplots(1, 2, sharey=True)
    interval = Fingerprint().interval
    for state, color in zip(STATES, ("tab:gray", "tab:blue"), strict=True):
        points = [tables[state][interval, share] for share in PERCENTAGES]
        _draw(left, PERCENTAGES, points, size, state, color)
        _draw(right, THRESHOLDS, [curves[state][threshold] for threshold in THRESHOLDS], size, state, color)
    left.set(title=f"fingerprint, interval {interval}", xlabel="percentage", ylabel="% of pages", ylim=(-2, 102))
    right.set(title="minhash", xlabel="threshold")
    left.axvline(Fingerprint().percentage, color="black", linewidth=0.5)
    right.axvline(MinHash().threshold, color="black", linewidth=0.5)
    left.legend(loc="upper right")  # where the fingerprint leaves room


def _draw(axes: Any, values: Sequence[float], found: Sequence[Found], size: int, state: str, color: str) -> None:
    hits = [100 * point.hits / size for point in found]
    errors = [100 * point.errors / size for point in found]
    axes.plot(values, hits, color=color, marker="o", markersize=3, label=f"hits {state} cleaning")
    axes.plot(values, errors, color=color, marker="x", markersize=4, linestyle="--", label=f"errors {state} cleaning")


if __name__ == "__main__":
    run(main)
