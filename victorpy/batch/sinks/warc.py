"""Archives of texts: conversion records that refer to the pages they were made of, as in Common Crawl's WET files."""

from __future__ import annotations

import gzip
import uuid
from pathlib import Path
from typing import BinaryIO

from victorpy.batch.outcome import Outcome, Status
from victorpy.batch.records import Record
from victorpy.batch.sinks.base import SINKS, PartWriter, Sink
from victorpy.outputs import Output

NO_DATE = "1970-01-01T00:00:00Z"
"""For pages that came without one: the time of the run would make every run's bytes others."""

_TYPES = {"html": "text/html", "markdown": "text/markdown", "jsonl": "application/json"}


class _Archive:
    """A part under way."""

    def __init__(self, file: BinaryIO, output: Output, compressed: bool) -> None:
        self._file = file
        self._type = _TYPES.get(output.name, "text/plain")
        self._compressed = compressed
        about = f"software: victorpy\r\nformat: WARC File Format 1.1\r\ntext: {output.name}\r\n"
        self._add({"WARC-Type": "warcinfo", "WARC-Date": NO_DATE, "Content-Type": "application/warc-fields"}, about)

    def write(self, record: Record, outcome: Outcome) -> None:
        """Add the text of a record, where it has any."""
        if outcome.status is not Status.KEPT:
            return
        headers = {
            "WARC-Type": "conversion",
            "WARC-Target-URI": _one_line(record.url or outcome.url or Path(record.name).as_posix()),
            "WARC-Date": _one_line(record.date) or NO_DATE,
            "WARC-Refers-To": _one_line(record.record_id),
            "WARC-Identified-Content-Language": _one_line(outcome.language),
            "X-Input-Digest": outcome.digest,
            "X-Input-Place": _one_line(f"{record.origin.source}@{record.origin.position}"),
            "Content-Type": self._type,
        }
        self._add(headers, outcome.text)

    def close(self) -> None:
        self._file.close()

    def _add(self, headers: dict[str, str], text: str) -> None:
        block = text.encode("utf-8", "backslashreplace")
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items() if value)
        identity = uuid.uuid5(uuid.NAMESPACE_URL, lines + text.encode("ascii", "backslashreplace").decode())
        head = f"WARC/1.1\r\nWARC-Record-ID: <urn:uuid:{identity}>\r\n{lines}Content-Length: {len(block)}\r\n\r\n"
        record = head.encode("utf-8", "backslashreplace") + block + b"\r\n\r\n"
        self._file.write(gzip.compress(record, mtime=0) if self._compressed else record)


def _one_line(value: str) -> str:
    """A header's value: what would begin another header is taken out."""
    return " ".join(value.split()).encode("utf-8", "backslashreplace").decode()


@SINKS.register("warc")
class Warc(Sink):
    """An archive as it is."""

    suffix = ".warc"

    def open(self, path: Path) -> PartWriter:
        """Begin a part."""
        return _Archive(path.open("wb"), self.output, compressed=False)


@SINKS.register("warc.gz")
class WarcGzip(Sink):
    """An archive, each record compressed by itself."""

    suffix = ".warc.gz"

    def open(self, path: Path) -> PartWriter:
        """Begin a part."""
        return _Archive(path.open("wb"), self.output, compressed=True)
