"""Replicas: hits and errors of the fingerprint (the paper's Table 2) and of MinHash, before cleaning and after it.

    python -m benchmarks.replicas --data wcxb:DIR dragnet:DIR l3s:DIR [--size 500] [--pages DIR] [-o docs]

The test collection is made of the gold pages, see replica_pages.py. Cleaning is that of the bundled model. A batch of
many pages with planted replicas: benchmarks/planted_replicas.py.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from benchmarks.lib import pages
from benchmarks.lib.replica_pages import SEED, Collection, make_collection, topic_pages, write_pages
from victorpy.cleaner import Cleaner
from victorpy.dedup.base import Detector
from victorpy.dedup.fingerprint import Fingerprint
from victorpy.dedup.index import Index, open_database
from victorpy.dedup.minhash import MinHash
from victorpy.description.language import language_of
from victorpy.description.terms import terms
from victorpy.document import Label
from victorpy.outputs import OUTPUTS, CleanPage

ROOT = Path(__file__).parents[1]
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
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    pages.add_arguments(parser)
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
    table = {}
    for interval in INTERVALS:
        for percentage in PERCENTAGES:
            method = Fingerprint(percentage, interval)
            table[interval, percentage] = compare(method, [[method.digest(text) for text in side] for side in words])
    return table


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


def shown(table: Table) -> str:
    """Return a table as Markdown."""
    head = ["", *(f"P={percentage:.0%}" for percentage in PERCENTAGES)]
    rows = [
        [f"I={interval}", *("{}/{}".format(*table[interval, percentage]) for percentage in PERCENTAGES)]
        for interval in INTERVALS
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows])


def shown_curves(curves: dict[str, dict[float, Found]], size: int) -> str:
    """Return hits and errors of MinHash over thresholds as Markdown."""
    lines = ["| threshold | before: hits | errors | after: hits | errors |", "|---|---|---|---|---|"]
    for threshold in THRESHOLDS:
        cells = [f"{100 * value / size:.1f}" for state in STATES for value in curves[state][threshold]]
        lines.append(f"| {threshold:.2f} | {' | '.join(cells)} |")
    return "\n".join(lines)


def plot(tables: dict[str, Table], curves: dict[str, dict[float, Found]], size: int, path: Path) -> None:
    """Plot hits and errors over the parameter of each method, before cleaning and after it."""
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
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
    figure.savefig(path, dpi=110)


def _draw(axes: object, values: Sequence[float], found: Sequence[Found], size: int, state: str, color: str) -> None:
    hits = [100 * point.hits / size for point in found]
    errors = [100 * point.errors / size for point in found]
    axes.plot(values, hits, color=color, marker="o", markersize=3, label=f"hits {state} cleaning")  # type: ignore[attr-defined]
    axes.plot(  # type: ignore[attr-defined]
        values, errors, color=color, marker="x", markersize=4, linestyle="--", label=f"errors {state} cleaning"
    )


if __name__ == "__main__":
    main()
