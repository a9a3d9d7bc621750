"""Retries: the records that an earlier run failed on, and the settings of that run."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from victorpy.batch.inputs import InputFile, Read
from victorpy.batch.reasons import Kind
from victorpy.batch.record import Origin, Record
from victorpy.batch.sources import ReadOptions
from victorpy.batch.sources.jsonl import broken_record
from victorpy.errors import DataError

_SAME_UNITS = (None, "", "row")
"""Values of `unit` in files of 0.1.0 whose positions mean the same today."""

_NEVER = 1 << 62  # a number that no record has


class Failed(NamedTuple):
    """A record that failed."""

    origin: Origin
    place: Path
    url: str


def read_failed(path: Path) -> Iterator[Failed]:
    """Read the lines of a failed.jsonl."""
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
    """The records that are to be cleaned again."""

    def __init__(self, failed: Iterable[Failed]) -> None:
        self.failed = tuple(failed)
        self.rests: dict[str, int] = {}
        """Files whose rest is wanted, and the number of its first record."""
        self._positions: dict[str, set[int]] = {}
        for (source, position, rest), _, _ in self.failed:
            positions = self._positions.setdefault(source, set())
            if rest:
                self.rests[source] = min(position, self.rests.get(source, position))
            else:
                positions.add(position)

    def __contains__(self, record: Record) -> bool:
        source, position, _ = record.origin
        return position in self._positions.get(source, ()) or position >= self.rests.get(source, position + 1)

    def files(self) -> list[InputFile]:
        """Return the files that have wanted records."""
        places = {failed.origin.source: failed.place for failed in self.failed}
        return [InputFile(Path(source), place, source) for source, place in places.items()]

    def select(self, read: Read) -> Read:
        """Make a function that reads only the wanted records of a file.

        Wanted records that the file no longer has come as failed records.
        """

        def read_wanted(file: InputFile, options: ReadOptions, start: int = 0) -> Iterator[Record]:
            source = str(file.path)
            waiting = deque(sorted(position for position in self._positions.get(source, ()) if position >= start))
            rest = max(self.rests[source], start) if source in self.rests else _NEVER
            first = min([*waiting, rest])
            unread = None
            for record in read(file, options, first) if first < _NEVER else ():
                position = record.origin.position
                if record.origin.rest:
                    unread = replace(record, origin=Origin(source, max(position, rest), rest=True))
                    break
                while waiting and waiting[0] < position:
                    yield _lost(source, waiting.popleft())
                if waiting and waiting[0] == position:
                    waiting.popleft()
                    yield record
                elif position >= rest:
                    yield record
                if not waiting and rest == _NEVER:
                    break
            for position in waiting:
                yield _lost(source, position)
            if unread is not None and rest < _NEVER:
                yield unread

        return read_wanted


def _lost(source: str, position: int) -> Record:
    return broken_record(Origin(source, position), Kind.READ, f"there is no record {position:,} any more")
