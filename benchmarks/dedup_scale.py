"""Cost of deduplication for more and more synthetic rows: CPU time, memory and disk space per row.

    python -m benchmarks.dedup_scale [--rows 10000 100000 1000000]

A row is the signature of a page with a frame of 100 words, which all pages of its site have, and 150 random words of a
vocabulary with a long tail. There are 100 pages of each site, and one in ten rows is a copy of the row before it.
"""

from __future__ import annotations

import multiprocessing
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.lib.command import make_parser, run
from benchmarks.lib.tables import table
from victorpy.dedup.base import Signature, Signed, as_words
from victorpy.dedup.find import Index, open_database
from victorpy.dedup.pages import Pages


def main() -> None:
    """Measure each number of rows in a process of its own."""
    parser = make_parser(__doc__, data=False)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000], help="numbers of rows")
    arguments = parser.parse_args()
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        measured = [pool.apply(measure, (count,)) for count in arguments.rows]
    print(table(["rows", "ms per row", "memory, MB", "index, bytes per row", "found"], measured))


def measure(count: int) -> list[str]:
    """Return the figures for a number of rows."""
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary, "index")
        start = time.process_time()
        with open_database(path, Path(temporary, "work")) as database:
            index = Index(database, Pages())
            index.add(rows(count))
            made = time.process_time() - start
            index.decide()
            found = sum(1 for _ in index.replicas())
        seconds = time.process_time() - start - made
        size = path.stat().st_size / count
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    return [f"{count:,}", f"{1000 * seconds / count:.3f}", f"{memory:,.0f}", f"{size:,.0f}", f"{found:,}"]


def rows(count: int) -> Iterator[tuple[int, Signed, str, str]]:
    """Make signed rows."""
    chance = np.random.default_rng(8)
    signature = b""
    for number in range(count):
        if number % 100 == 0:
            site = np.random.default_rng(number // 100).integers(0, 2**32, 100)
        if number % 10 != 9:
            words = (chance.pareto(0.5, 150) * 1000).clip(0, 2**40).astype(np.int64) * 2_654_435_761 % 2**32
            text = as_words(np.append(site[:30], words))
            signature = Signature(number, text=text, rest=as_words(site[30:])).as_bytes()
        yield number, Signed(signature, 1), f"{number // 100}.example", "{}"


if __name__ == "__main__":
    run(main)
