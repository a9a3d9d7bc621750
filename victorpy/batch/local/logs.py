"""Logs of cleaned records, and spill files of records that wait until their site is complete.

Both consist of frames with a checksum, one per record, so a crash loses only the page that caused it. The last frame of
a finished file describes its stretch.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import chain, takewhile
from pathlib import Path
from typing import Any, NamedTuple, Self

from victorpy.base.plain import from_json, to_json
from victorpy.batch.inputs import InputFile
from victorpy.batch.outcome import Outcome, Tally
from victorpy.batch.plan import Dedup
from victorpy.batch.record import Record
from victorpy.batch.replicas import open_decisions
from victorpy.errors import DataError

zstandard: Any = None
EXPANSION_ERRORS: tuple[type[Exception], ...] = (zlib.error, ValueError, EOFError)
"""Exceptions that libraries raise if compressed data is damaged."""
with suppress(ImportError):
    import zstandard

    EXPANSION_ERRORS += (zstandard.ZstdError,)

PIECE = ".piece"
"""Suffix of a file with a piece of output."""
SPILL = ".spill"
_FRAME = struct.Struct("<II")  # length and checksum
_END = b"end "  # begins the last frame of a finished file


class Stretch(NamedTuple):
    """Where a stretch begins: a file of a group, and a record of this file."""

    group: int
    number: int = 0
    """Number of the stretch in its group."""
    file: int = 0
    start: int = 0
    offset: int = 0
    """Byte offset of the first record, or 0 if unknown."""

    @property
    def name(self) -> str:
        return f"{self.group:09d}-{self.number:07d}"


class Entry(NamedTuple):
    """A cleaned record."""

    record: Record
    outcome: Outcome


class Segment(NamedTuple):
    """A finished stretch, whose records are in a log or a spill file."""

    stretch: Stretch
    following: Stretch | None
    """The next stretch of the group, or None if this was the last."""
    last: tuple[int, int]
    """Where the inputs continue: number of the file among all inputs, and of the record in it."""
    row_bytes: int
    tally: dict[str, Any]
    checksum: int | None = None
    """Checksum of the piece of output that contains the records. None if the log contains them."""

    @classmethod
    def load(cls, path: Path) -> Self | None:
        """Return the segment at the end of a file, or None if the file is missing, damaged or not finished."""
        content = b""
        with suppress(FileNotFoundError), path.open("rb") as file:
            for content, _ in _read_frames(file):  # noqa: B007
                pass
        if not content.startswith(_END):
            return None
        segment = from_json(content.removeprefix(_END), cls, path)
        return segment if segment.checksum in {None, piece_checksum(path)} else None


def piece_checksum(log: Path) -> int | None:
    """Return the checksum of the piece beside a log, or None if there is none."""
    try:
        return zlib.crc32(log.with_suffix(PIECE).read_bytes())
    except FileNotFoundError:
        return None


def _read_frames(file: Any) -> Iterator[tuple[bytes, int]]:
    """Read the complete frames of a file, and the offset of the end of each. An incomplete last frame is ignored."""
    end = 0
    while len(head := file.read(_FRAME.size) or b"") == _FRAME.size:
        length, checksum = _FRAME.unpack(head)
        content = file.read(length) or b""
        if len(content) < length or zlib.crc32(content) != checksum:
            return
        end += _FRAME.size + length
        yield content, end


class _Frames:
    """A file to which frames are added."""

    def __init__(self, path: Path, mode: str) -> None:
        self.path = path
        self._file: Any = path.open(mode, buffering=0)

    def write(self, content: bytes) -> None:
        self._file.write(_FRAME.pack(len(content), zlib.crc32(content)) + content)

    def end(self, segment: Segment) -> Segment:
        """Mark the file as finished."""
        self.write(_END + to_json(segment))
        return segment

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


class Spill(_Frames):
    """A file of packed records, each of which can be read separately."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "wb")

    def add(self, packed: bytes) -> InputFile:
        """Add a record, and return it as a file to be read."""
        place = spilled_page(self.path, self._file.tell())
        self.write(packed)
        return place


class Log(_Frames):
    """A file of cleaned records. The log of a killed run is continued after its last complete record."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "r+b" if path.exists() else "w+b")
        self.tally, end = Tally(), 0
        for content, end in _read_records(self._file):  # noqa: B007
            self.tally.add(*from_json(content, Entry, path))
        self._go_to(end)

    def _go_to(self, end: int) -> None:
        self._file.truncate(end)
        self._file.seek(end)

    def end(self, segment: Segment) -> Segment:
        """Mark the log as finished. Records that are in a piece of output are removed from it."""
        if segment.checksum is not None:
            self._go_to(0)
        return super().end(segment)

    def add(self, record: Record, outcome: Outcome) -> None:
        self.write(to_json((replace(record, payload=b""), outcome)))
        self.tally.add(record, outcome)


def _read_records(file: Any) -> Iterator[tuple[bytes, int]]:
    return takewhile(lambda frame: not frame[0].startswith(_END), _read_frames(file))


def read_log(path: Path) -> Iterator[tuple[Record, Outcome]]:
    """Read the complete records of a log."""
    with path.open("rb") as file:
        yield from (from_json(content, Entry, path) for content, _ in _read_records(file))


def log_length(path: Path) -> int:
    """Return the number of complete records of a log, or of its piece of output."""
    segment = Segment.load(path)
    if segment is not None:
        return int(segment.tally["pages"])
    with path.open("rb") as file:
        return sum(1 for _ in _read_records(file))


def read_logs(
    paths: Iterable[Path], dedup: Dedup | None = None, decisions: Path | None = None, first: int = 0
) -> Iterator[tuple[Record, Outcome]]:
    """Read the records of logs, and apply the decisions about replicas. The first record has the number `first`."""
    records = chain.from_iterable(map(read_log, paths))
    if dedup is None or decisions is None:
        yield from records
        return
    with open_decisions(dedup, decisions) as final:
        for number, (record, outcome) in enumerate(records, first):
            yield record, final(number, outcome)


def pack(record: Record) -> bytes:
    """Return a record as compressed bytes."""
    compress = zlib.compress if zstandard is None else zstandard.ZstdCompressor(level=1).compress
    packed: bytes = compress(to_json(replace(record, payload=b"")) + b"\n" + record.payload)
    return packed


def unpack(content: bytes) -> Record:
    """Return the record from the bytes that `pack` returned."""
    expand = zlib.decompress if content.startswith(b"x") else zstandard.ZstdDecompressor().decompress
    try:
        fields, _, payload = expand(content).partition(b"\n")
    except EXPANSION_ERRORS as error:
        raise DataError(f"a spilled record: damaged: {error}") from error
    return replace(from_json(fields, Record, "a spilled record"), payload=payload)


def spilled_page(path: Path, offset: int) -> InputFile:
    """Return a spilled record as an input file."""
    return InputFile(path, path, path.name, offset=offset)


def read_spilled(page: InputFile) -> bytes:
    """Read a packed record."""
    with page.path.open("rb") as file:
        file.seek(page.offset)
        for content, _ in _read_frames(file):
            return content
    raise DataError(f"{page.path}: damaged: there is no record at byte {page.offset:,}")
