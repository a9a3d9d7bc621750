"""The rows of an earlier run over inputs that have changed since. Unchanged files are not cleaned again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, TypedDict

from msgspec import Meta

from victorpy.base.plain import checked
from victorpy.batch.inputs import InputFile, Stamps, is_unread, read_file
from victorpy.batch.local.logs import EXPANSION_ERRORS
from victorpy.batch.outcome import Outcome, stored_outcome
from victorpy.batch.plan import Plan
from victorpy.batch.record import Kind, Origin, Record, Status
from victorpy.batch.sinks import Sink, make_sink
from victorpy.batch.sources import place_of, source_of
from victorpy.batch.store import Store
from victorpy.errors import DataError

Item = tuple[Record, Outcome | None]
"""A record, and its outcome if it is known already."""
Read = Callable[[InputFile], Iterator[Item]]


class _Row(TypedDict):
    """The columns of a row that this run reads."""

    url: str
    name: str
    source: str
    position: int
    crawled: str
    text: str | None
    status: Status
    kind: Annotated[str, Meta(pattern=f"^({'|'.join(Kind)})?$")]
    reason: str
    losses: list[str]
    labels: dict[str, int]
    size: int
    digest: str
    title: str | None
    author: str | None
    date: str | None
    site_name: str | None
    language: str | None
    probability: float | None
    confidence: float | None
    repeats: dict[str, Any] | None


class Previous:
    """The parts of an earlier run. Each worker reads them in the order of its inputs."""

    def __init__(self, store: Store, stamps: Stamps) -> None:
        self._stamps = store.previous_stamps()
        self._numbers = stamps.unchanged_from(self._stamps)
        """The earlier number of each input file, or -1 if it is new or has changed."""
        parts, self._last, failures = store.previous_parts()
        self._parts = parts if len(self._stamps) else []
        self._places = {(line["source"], line["position"]): Path(line["place"]) for line in failures}
        """Output paths of the failed records."""
        self._rows: Iterator[dict[str, Any]] = iter(())
        self._row: dict[str, Any] | None = None
        self._key = -1, -1
        """Number of the file of the row, and of the record in it."""

    def open(self, plan: Plan) -> Read:
        """Return a function that reads a file. Records that need not be cleaned come with their outcome."""
        sink = make_sink(plan)

        def read(file: InputFile) -> Iterator[Item]:
            start = file.start
            number, last = int(self._numbers[file.number]), self._last
            is_complete = last is None or number < last[0]
            if number >= 0 and (is_complete or (last is not None and number == last[0])):
                for fields in self._rows_of(sink, number, start):
                    position = fields["position"]
                    if file.end is not None and position >= file.end:
                        return
                    start = position + 1
                    if fields["text"] is None or (plan.plain and fields["status"] == Status.FAILED):
                        yield from ((record, None) for record in islice(read_file(file, plan.read, position), 1))
                    else:
                        yield self._record(file, fields), stored_outcome(fields, sink.output.columns)
                if is_complete:
                    return
                start = max(start, last[1] if last else 0)
            offset = file.offset if start == file.start else 0
            yield from ((record, None) for record in read_file(file._replace(offset=offset), plan.read, start))

        return read

    def _rows_of(self, sink: Sink, number: int, start: int) -> Iterator[dict[str, Any]]:
        if self._row is None or self._key > (number, start):
            self._rows = self._all_rows(sink)
            self._advance()
        while self._row is not None and self._key < (number, start):
            self._advance()
        while self._row is not None and self._key[0] == number:
            yield self._row
            self._advance()

    def _all_rows(self, sink: Sink) -> Iterator[dict[str, Any]]:
        for part in self._parts:
            try:
                for fields in sink.rows(part):
                    checked(fields, _Row, part)
                    yield fields
            except EXPANSION_ERRORS as error:
                raise DataError(f"{part}: damaged: {error}") from error

    def _advance(self) -> None:
        source = self._row and self._row["source"]
        self._row = next(self._rows, None)
        if self._row is not None:
            is_same = self._row["source"] == source
            number = self._key[0] if is_same else self._stamps.number_of(self._row["source"])
            self._key = number, self._row["position"]

    def _record(self, file: InputFile, fields: dict[str, Any]) -> Record:
        name, source, position = fields["name"], fields["source"], fields["position"]
        url = fields["url"] if fields["url"] == name else ""  # otherwise the page itself has named its address
        place, reached = file.place, 0
        if source_of(file.path) is not None:
            by_url = place_of(url, f"{Path(source).name}-{position}")
            place, reached = self._places.get((source, position), by_url), file.path.stat().st_size
        origin = Origin(source, position, is_unread(fields["reason"]))
        return Record(name, place, url=url, origin=origin, date=fields["crawled"], reached=reached)
