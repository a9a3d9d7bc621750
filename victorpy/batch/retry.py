"""Retries: find the records again that an earlier run failed on."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from victorpy.batch.inputs import InputFile, Read
from victorpy.batch.record import Kind, Origin, Record, broken_record
from victorpy.batch.sources import ReadOptions
from victorpy.errors import DataError

_SAME_UNITS = (None, "", "row")
"""Values of `unit` in files of version 0.1.0 whose positions are record numbers."""

_NEVER = 1 << 62  # larger than any record number


class Failed(NamedTuple):
    """A line of a failed.jsonl."""

    origin: Origin
    place: Path
    url: str


def read_failed(path: Path) -> Iterator[Failed]:
    """Read a failed.jsonl."""
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                fields = json.loads(line)
                origin = Origin(fields["source"], int(fields["position"]), bool(fields.get("rest")))
                failed = Failed(origin, Path(fields["place"]), fields.get("url") or "")
            except (ValueError, KeyError, TypeError) as error:
                raise DataError(f"{path}:{number}: not a line of a failed.jsonl") from error
            if fields.get("unit") not in _SAME_UNITS:
                raise DataError(
                    f"{path}:{number}: an older version wrote this file, with offsets instead of record numbers; "
                    "clean the inputs again"
                )
            yield failed


class Wanted:
    """The records that are cleaned again."""

    def __init__(self, failed: Iterable[Failed]) -> None:
        self.failed = tuple(failed)
        self.rests: dict[str, int] = {}
        """Files to be read to their end, with the number of the first record to read."""
        self._positions: dict[str, set[int]] = {}
        for (source, position, rest), _, _ in self.failed:
            positions = self._positions.setdefault(source, set())
            if rest:
                self.rests[source] = min(position, self.rests.get(source, position))
            else:
                positions.add(position)

    def __contains__(self, record: Record) -> bool:
        source, position, _ = record.origin
        return position in self._positions.get(source, ()) or position >= self.rests.get(source, _NEVER)

    def files(self) -> list[InputFile]:
        """Return the files with records to clean again."""
        places = {failed.origin.source: failed.place for failed in self.failed}
        return [InputFile(Path(source), place, source) for source, place in places.items()]

    def select(self, read: Read) -> Read:
        """Return a function that reads only the wanted records of a file.

        Wanted records that no longer exist become failed records.
        """

        def read_wanted(file: InputFile, options: ReadOptions, start: int = 0) -> Iterator[Record]:
            source = str(file.path)

            def lost(position: int) -> Record:
                return broken_record(Origin(source, position), Kind.READ, f"there is no record {position:,} any more")

            waiting = deque(sorted(position for position in self._positions.get(source, ()) if position >= start))
            rest = max(self.rests.get(source, _NEVER), start)
            first = min([*waiting, rest])
            unread = None
            for record in read(file, options, first) if first < _NEVER else ():
                position = record.origin.position
                if record.origin.rest:
                    unread = replace(record, origin=Origin(source, max(position, rest), rest=True))
                    break
                while waiting and waiting[0] < position:
                    yield lost(waiting.popleft())
                is_waiting = bool(waiting) and waiting[0] == position
                if is_waiting:
                    waiting.popleft()
                if is_waiting or position >= rest:
                    yield record
                if not waiting and rest == _NEVER:
                    break
            yield from map(lost, waiting)
            if unread is not None and rest < _NEVER:
                yield unread

        return read_wanted
