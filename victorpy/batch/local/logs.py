"""Logs of cleaned records, and spill files of records that wait until the pages of their site are known.

Both consist of frames with a checksum. Cleaned records are added to a log one by one, so that a crash loses nothing but
the page that caused it.
"""

from __future__ import annotations

import pickle
import struct
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, Self

from victorpy.batch.counts import Tally
from victorpy.batch.inputs import InputFile
from victorpy.batch.outcome import Outcome
from victorpy.batch.plan import Dedup
from victorpy.batch.record import Record
from victorpy.batch.replicas import Decisions

zstandard: Any = None
with suppress(ImportError):
    import zstandard

SPILL = ".spill"
_FRAME = struct.Struct("<II")  # length and checksum


def _frame(content: bytes) -> bytes:
    return _FRAME.pack(len(content), zlib.crc32(content)) + content


def _read_frames(file: BinaryIO | Any) -> Iterator[tuple[bytes, int]]:
    """Read the complete frames of a file, and the offset of the end of each. A torn end is ignored."""
    end = 0
    while len(head := file.read(_FRAME.size) or b"") == _FRAME.size:
        length, checksum = _FRAME.unpack(head)
        content = file.read(length) or b""
        if len(content) < length or zlib.crc32(content) != checksum:
            return
        end += _FRAME.size + length
        yield content, end


class Log:
    """Cleaned records in a file. A log that a kill has left is continued after its last complete record."""

    def __init__(self, path: Path) -> None:
        self.tally, end = Tally(), 0
        self._file = path.open("r+b" if path.exists() else "w+b", buffering=0)
        for content, end in _read_frames(self._file):  # noqa: B007
            self.tally.add(*pickle.loads(content))
        self._file.truncate(end)
        self._file.seek(end)

    def add(self, record: Record, outcome: Outcome) -> None:
        record = replace(record, payload=b"")
        self._file.write(_frame(pickle.dumps((record, outcome), pickle.HIGHEST_PROTOCOL)))
        self.tally.add(record, outcome)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def read_log(path: Path) -> Iterator[tuple[Record, Outcome]]:
    """Read the complete records of a log."""
    with path.open("rb") as file:
        yield from (pickle.loads(content) for content, _ in _read_frames(file))  # written by `Log`


def read_logs(
    paths: Iterable[Path], dedup: Dedup | None = None, decisions: Path | None = None, first: int = 0
) -> Iterator[tuple[Record, Outcome]]:
    """Read the records of logs, and apply the decisions about replicas. The first record has the number `first`."""
    records = chain.from_iterable(map(read_log, paths))
    if dedup is None or decisions is None:
        yield from records
        return
    with Decisions(dedup, decisions) as decided:
        for number, (record, outcome) in enumerate(records, first):
            yield record, decided.apply(number, outcome)


def pack(record: Record) -> bytes:
    """Return a record as compressed bytes."""
    compress = zlib.compress if zstandard is None else zstandard.ZstdCompressor(level=1).compress
    packed: bytes = compress(pickle.dumps(record, pickle.HIGHEST_PROTOCOL))
    return packed


def unpack(content: bytes) -> Record:
    """Return the record that `pack` has made bytes of. Never unpack untrusted bytes."""
    expand = zlib.decompress if content.startswith(b"x") else zstandard.ZstdDecompressor().decompress
    record: Record = pickle.loads(expand(content))
    return record


class Spill:
    """A file of packed records, each of which can be read alone."""

    def __init__(self, path: Path) -> None:
        self._path, self._file = path, path.open("wb")

    def add(self, packed: bytes) -> InputFile:
        """Add a record, and return its place."""
        offset = self._file.tell()
        self._file.write(_frame(packed))
        return spilled_page(self._path, offset)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def spilled_page(path: Path, offset: int) -> InputFile:
    """Return the place of a spilled record as a file to be read."""
    return InputFile(path, path, path.name, offset=offset)


def read_spilled(page: InputFile) -> bytes:
    """Read a packed record."""
    with page.path.open("rb") as file:
        file.seek(page.offset)
        return next(content for content, _ in _read_frames(file))
