"""Lines of plain and compressed files, and problems in place of those that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from victorpy.batch.reasons import Kind, Problem
from victorpy.batch.sources.expanding import expand_gzip
from victorpy.errors import missing

_PIECE = 1 << 18
_ZSTD_BITE = 1 << 8  # even a bomb's 256 bytes expand to a few megabytes only


class Line(NamedTuple):
    """A line without its end, or the problem that stands in its place."""

    content: bytes
    problem: Problem | None
    reached: int
    """How far the file has been read, in its own bytes."""


def read_lines(path: Path, most_bytes: int, offset: int = 0) -> Iterator[Line]:
    """Read lines that are not blank, with at most one in memory. Damage and lines over the limit are problems."""
    with path.open("rb") as file:
        file.seek(offset)
        pieces: list[bytes] = []
        size = 0
        for piece in _pieces(file, path.name.lower()):
            if isinstance(piece, str):
                pieces, size = [], 0  # the line that the damage is in is not whole
                yield Line(b"", Problem(Kind.DAMAGED, piece), file.tell())
                continue
            *line_ends, rest = piece.split(b"\n")
            for line_end in line_ends:
                if line := _line([*pieces, line_end], size + len(line_end), most_bytes, file):
                    yield line
                pieces, size = [], 0
            size += len(rest)
            pieces = [*pieces, rest] if size <= most_bytes else []
        if line := _line(pieces, size, most_bytes, file):
            yield line


def _line(pieces: list[bytes], size: int, most_bytes: int, file: BinaryIO) -> Line | None:
    if size > most_bytes:
        problem = Problem(Kind.TOO_LARGE, f"the line is longer than {most_bytes:,} bytes")
        return Line(b"", problem, file.tell())
    content = b"".join(pieces)
    return Line(content, None, file.tell()) if content.strip() else None


def _pieces(file: BinaryIO, name: str) -> Iterator[bytes | str]:
    """Yield the expanded bytes of a file piece by piece, and descriptions of the damage between them."""
    if name.endswith(".gz"):
        for stretch in expand_gzip(file):
            while piece := stretch.read():
                yield piece
            if stretch.damage:
                yield stretch.damage
    elif name.endswith(".zst"):
        yield from _expand_zstd(file, name)
    else:
        while piece := file.read(_PIECE):
            yield piece


def _expand_zstd(file: BinaryIO, name: str) -> Iterator[bytes | str]:
    """Expand frame after frame. Nothing can be read after a damaged one."""
    try:
        import zstandard
    except ImportError as error:
        raise missing("zstandard", "batch", f"reading {name}") from error
    expander: Any = None
    bite = b""
    while bite := bite or file.read(_ZSTD_BITE):
        expander = expander or zstandard.ZstdDecompressor().decompressobj()
        try:
            yield expander.decompress(bite)
        except zstandard.ZstdError as error:
            yield f"damaged compressed data near offset {file.tell() - len(bite):,}: {error}"
            return
        bite = expander.unused_data if expander.eof else b""
        expander = None if expander.eof else expander
    if expander is not None:
        yield f"the file ends, at offset {file.tell():,}, within a compressed member"
