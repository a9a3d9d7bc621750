"""Which pages have a key: the last ones in memory, all others in sorted files.

A tree on disk, such as a database has, would be written to at another place for every key of every page. Here keys are
collected, sorted and appended; files of like size are merged, so that there are few to look into.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MOST_IN_MEMORY = 1 << 18
"""Keys; some 30 MB."""
_CHUNK = 1 << 18
"""Keys that are merged at a time."""

Numbers = NDArray[np.unsignedinteger]


class _Run(NamedTuple):
    """Keys in order, on disk, and the pages that have them."""

    keys: Numbers
    pages: Numbers


class Keys:
    """Pages by their keys of 8 bytes each."""

    def __init__(self, directory: Path | None = None) -> None:
        self._directory = directory or Path(tempfile.mkdtemp(prefix="victor-replicas-"))
        shutil.rmtree(self._directory, ignore_errors=True)  # of a run that was killed
        self._directory.mkdir(parents=True)
        self._recent: dict[int, list[int]] = {}
        self._count = 0
        self._runs: list[_Run] = []
        self._made = 0

    def add(self, keys: Sequence[bytes], page: int) -> None:
        """Say that a page, with a higher number than all before, has these keys."""
        for key in _as_numbers(keys).tolist():
            self._recent.setdefault(key, []).append(page)
        self._count += len(keys)
        if self._count >= MOST_IN_MEMORY:
            self._put_away()

    def find(self, keys: Sequence[bytes]) -> list[int]:
        """All pages that have one of the keys, in order."""
        wanted = _as_numbers(keys)
        found = {page for key in wanted.tolist() for page in self._recent.get(key, ())}
        for run in self._runs:
            starts, stops = (np.searchsorted(run.keys, wanted, side) for side in ("left", "right"))
            met = starts < stops
            for start, stop in zip(starts[met].tolist(), stops[met].tolist(), strict=True):
                found.update(run.pages[start:stop].tolist())
        return sorted(found)

    def close(self) -> None:
        """Remove the files: they are made anew from what they were made of."""
        self._runs.clear()
        shutil.rmtree(self._directory, ignore_errors=True)

    def _put_away(self) -> None:
        """Write what is in memory to a file, and merge files until each is less than half of the one before."""
        keys = np.fromiter((key for key, pages in self._recent.items() for _ in pages), np.uint64, self._count)
        pages = np.fromiter((page for pages in self._recent.values() for page in pages), np.uint32, self._count)
        order = np.argsort(keys, kind="stable")
        self._runs.append(self._written([_Run(keys[order], pages[order])], self._count))
        self._recent, self._count = {}, 0
        while len(self._runs) > 1 and len(self._runs[-2].keys) < 2 * len(self._runs[-1].keys):
            last, before = self._runs.pop(), self._runs.pop()
            self._runs.append(self._written(_merged(before, last), len(before.keys) + len(last.keys)))
            for run in (before, last):
                for part in run:
                    Path(str(part.filename)).unlink()  # type: ignore[attr-defined]  # of a memmap

    def _written(self, chunks: Iterable[_Run], size: int) -> _Run:
        """Write chunks one after the other, and open what was written."""
        paths = [self._directory / f"{self._made}.{name}" for name in ("keys", "pages")]
        self._made += 1
        with paths[0].open("wb") as keys_file, paths[1].open("wb") as pages_file:
            for keys, pages in chunks:
                keys.tofile(keys_file)
                pages.tofile(pages_file)
        return _Run(np.memmap(paths[0], np.uint64, "r", shape=size), np.memmap(paths[1], np.uint32, "r", shape=size))


def _merged(one: _Run, other: _Run) -> Iterator[_Run]:
    """Two runs as one, a chunk at a time: keys are digests, so that equal shares of both lie between two of them."""
    starts = (0, 0)
    for stop in [*range(_CHUNK, len(one.keys), _CHUNK), len(one.keys)]:
        is_last = stop == len(one.keys)
        stops = (stop, len(other.keys) if is_last else int(np.searchsorted(other.keys, one.keys[stop])))
        cuts = [slice(start, end) for start, end in zip(starts, stops, strict=True)]
        keys = np.concatenate([one.keys[cuts[0]], other.keys[cuts[1]]])
        pages = np.concatenate([one.pages[cuts[0]], other.pages[cuts[1]]])
        order = np.argsort(keys, kind="stable")
        yield _Run(keys[order], pages[order])
        starts = stops


def _as_numbers(keys: Sequence[bytes]) -> Numbers:
    return np.frombuffer(b"".join(keys), np.uint64)
