"""Lines of JSON, a record a line, plain or compressed."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from victorpy.batch.outcome import Outcome, row
from victorpy.batch.records import Record
from victorpy.batch.sinks.base import SINKS, PartWriter, Sink
from victorpy.errors import missing

# The main process compresses, and all workers wait for it: gzip's usual 6 would take more than twice the
# time for files that are a twentieth smaller.
GZIP_LEVEL = 4
ZSTD_LEVEL = 3


class _Lines:
    """A part of lines."""

    def __init__(self, columns: Sequence[str], stream: Any, file: IO[bytes] | None = None) -> None:
        self._columns = columns
        self._stream = stream
        self._file = file

    def write(self, record: Record, outcome: Outcome) -> None:
        self._stream.write(as_line(row(record, outcome, self._columns)))

    def close(self) -> None:
        self._stream.close()
        if self._file is not None:
            self._file.close()


def as_line(content: dict[str, Any]) -> bytes:
    """A line of JSON in UTF-8; half a character that a page smuggled in is written as an escape is."""
    text = json.dumps(content, ensure_ascii=False) + "\n"
    return text.encode("utf-8", "backslashreplace")


@SINKS.register("jsonl")
class JsonLines(Sink):
    """Plain lines."""

    suffix = ".jsonl"

    def open(self, path: Path) -> PartWriter:
        """Begin a part."""
        return _Lines(self.output.columns, path.open("wb"))


@SINKS.register("jsonl.gz")
class GzipLines(Sink):
    """Lines in one gzip member, without a time in its head."""

    suffix = ".jsonl.gz"

    def open(self, path: Path) -> PartWriter:
        """Begin a part."""
        file = path.open("wb")
        return _Lines(self.output.columns, gzip.GzipFile("", "wb", GZIP_LEVEL, file, mtime=0), file)


@SINKS.register("jsonl.zst")
class ZstdLines(Sink):
    """Lines in one zstd frame."""

    suffix = ".jsonl.zst"

    def open(self, path: Path) -> PartWriter:
        """Begin a part."""
        try:
            import zstandard
        except ImportError as error:
            raise missing("zstandard", "batch", f"writing {path}") from error
        file = path.open("wb")
        compressor = zstandard.ZstdCompressor(level=ZSTD_LEVEL, threads=0)
        return _Lines(self.output.columns, compressor.stream_writer(file, closefd=False), file)
