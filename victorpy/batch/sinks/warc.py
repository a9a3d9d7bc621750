"""Archives of texts: conversion records that refer to the pages they were made from, as in Common Crawl's WET files."""

from __future__ import annotations

import gzip
import uuid
from pathlib import Path

from victorpy.batch.outcome import Outcome, Status
from victorpy.batch.record import Record
from victorpy.batch.sinks.base import SINKS, Sink

NO_DATE = "1970-01-01T00:00:00Z"
"""Date of pages that came without one. With the time of the run, no two runs would give the same bytes."""

_TYPES = {"html": "text/html", "markdown": "text/markdown", "jsonl": "application/json"}


@SINKS.register("warc")
@SINKS.register("warc.gz")
class Warc(Sink):
    """An archive of the kept texts; in ``.warc.gz`` each record is a gzip member of its own."""

    def open(self, path: Path) -> None:
        self._file = path.open("wb")
        about = f"software: victorpy\r\nformat: WARC File Format 1.1\r\ntext: {self.output.name}\r\n"
        headers = {"WARC-Type": "warcinfo", "WARC-Date": NO_DATE, "Content-Type": "application/warc-fields"}
        self._add(headers, about)

    def write(self, record: Record, outcome: Outcome) -> None:
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
            "Content-Type": _TYPES.get(self.output.name, "text/plain"),
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
        self._file.write(gzip.compress(record, mtime=0) if self.suffix.endswith(".gz") else record)


def _one_line(value: str) -> str:
    """Return a header's value without line breaks, which would begin another header."""
    return " ".join(value.split()).encode("utf-8", "backslashreplace").decode()
