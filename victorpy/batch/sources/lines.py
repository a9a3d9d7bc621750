"""Lines of bytes from plain and compressed files, with damage told apart from the end."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol

from victorpy.batch.sources.expanded import GZIP, find_bytes
from victorpy.errors import missing

_CHUNK = 1 << 18


class Line(NamedTuple):
    """A line, a stretch of a file that is not cut yet, or what is wrong instead."""

    content: bytes
    reached: int
    """How far the file has been read, in its own bytes."""
    problem: str = ""
    too_long: bool = False
    length: int = 0
    """How many bytes a line has, kept or not."""


class _Expander(Protocol):
    """What a decompressor does; both kinds do it alike."""

    def decompress(self, data: bytes, /) -> bytes: ...

    @property
    def unused_data(self) -> bytes: ...

    @property
    def eof(self) -> bool: ...


def read_lines(path: Path, most_bytes: int, start: int = 0) -> Iterator[Line]:
    """Read lines; one that is longer than the limit is not kept, of a damaged file what is whole is."""
    name = path.name.lower()
    with path.open("rb") as file:
        file.seek(start)
        chunks = _expanded(file, name) if name.endswith((".gz", ".zst")) else _plain(file)
        yield from _cut(chunks, most_bytes)


def _plain(file: BinaryIO) -> Iterator[Line]:
    while chunk := file.read(_CHUNK):
        yield Line(chunk, file.tell())


def _cut(chunks: Iterator[Line], most_bytes: int) -> Iterator[Line]:
    """Cut chunks into lines, with no more than a line in memory."""
    pieces: list[bytes] = []
    size = reached = 0
    for chunk in chunks:
        reached = chunk.reached
        if chunk.problem:
            pieces, size = [], 0  # of the line that it broke nothing is whole
            yield chunk
            continue
        *lines, rest = chunk.content.split(b"\n")
        for line in lines:
            length = size + len(line)
            too_long = length > most_bytes
            whole = b"" if too_long else b"".join([*pieces, line])
            yield Line(whole, reached, too_long=too_long, length=length)
            pieces, size = [], 0
        size += len(rest)
        pieces = [*pieces, rest] if size <= most_bytes else []
    if size:
        yield Line(b"".join(pieces), reached, too_long=size > most_bytes, length=size)


def _expanded(file: BinaryIO, name: str) -> Iterator[Line]:
    """Expand member after member; behind a damaged one go on with gzip's next.

    The bites are so small that even a bomb's never expand to more than some megabytes.
    """
    is_gzip = name.endswith(".gz")
    size = 1 << 12 if is_gzip else 1 << 8
    expander: _Expander | None = None
    bite = b""
    while bite := bite or file.read(size):
        expander = expander or (_gzip_expander() if is_gzip else _zstd_expander(name))
        try:
            part = expander.decompress(bite)
        except (zlib.error, _zstd_error()) as error:
            at = file.tell() - len(bite)
            yield Line(b"", at, f"damaged compressed data near offset {at:,}: {error}")
            following = find_bytes(file, GZIP, at + 1) if is_gzip else None
            if following is None:
                return
            file.seek(following)
            expander, bite = None, b""
            continue
        yield Line(part, file.tell())
        bite = expander.unused_data if expander.eof else b""
        if expander.eof:
            expander = None
    if expander is not None:
        yield Line(b"", file.tell(), f"the file ends, at offset {file.tell():,}, within a compressed member")


def _gzip_expander() -> _Expander:
    return zlib.decompressobj(16 + zlib.MAX_WBITS)


def _zstd_expander(name: str) -> _Expander:
    try:
        import zstandard
    except ImportError as error:
        raise missing("zstandard", "batch", f"reading {name}") from error
    return zstandard.ZstdDecompressor().decompressobj()


def _zstd_error() -> type[Exception]:
    try:
        import zstandard
    except ImportError:
        return zlib.error
    return zstandard.ZstdError
