"""JSON lines, one record per line, plain or compressed."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import IO, Any

from victorpy.batch.outcome import Outcome, row
from victorpy.batch.record import Record
from victorpy.batch.sinks.base import SINKS, Sink
from victorpy.errors import missing

# The main process compresses, and all workers wait for it: gzip's usual level 6 takes more than twice the
# time for files that are 5 % smaller.
GZIP_LEVEL = 4
ZSTD_LEVEL = 3


def as_line(content: dict[str, Any]) -> bytes:
    """Return a line of JSON in UTF-8. Lone surrogates from a page are written as escapes."""
    text = json.dumps(content, ensure_ascii=False) + "\n"
    return text.encode("utf-8", "backslashreplace")


@SINKS.register("jsonl")
@SINKS.register("jsonl.gz")
@SINKS.register("jsonl.zst")
class JsonLines(Sink):
    """JSON lines; a compressed part is one gzip member without a timestamp, or one zstd frame."""

    def open(self, path: Path) -> None:
        zstandard: Any = None
        if self.suffix.endswith(".zst"):
            try:
                import zstandard
            except ImportError as error:
                raise missing("zstandard", "batch", f"writing {path}") from error
        self._file: IO[bytes] = path.open("wb")
        self._stream: Any = self._file
        if zstandard:
            compressor = zstandard.ZstdCompressor(level=ZSTD_LEVEL, threads=0)
            self._stream = compressor.stream_writer(self._file, closefd=False)
        elif self.suffix.endswith(".gz"):
            self._stream = gzip.GzipFile("", "wb", GZIP_LEVEL, self._file, mtime=0)

    def write(self, record: Record, outcome: Outcome) -> None:
        self._stream.write(as_line(row(record, outcome, self.output.columns)))

    def close(self) -> None:
        self._stream.close()
        self._file.close()
