"""What a run before has failed on: the lines of its failed.jsonl, and the settings that it had."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from victorpy.batch.inputs import UNREAD
from victorpy.batch.records import Origin, Record
from victorpy.errors import DataError

SPARK_SETTINGS = "_settings.json"
"""Where a run on Spark leaves its settings."""


class Failed(NamedTuple):
    """A record that failed."""

    origin: Origin
    place: Path
    url: str

    @property
    def is_rest(self) -> bool:
        """Whether it stands for all records of a file behind its position."""
        return self.origin.unit == UNREAD


def read_failed(path: Path) -> Iterator[Failed]:
    """Read the lines of a failed.jsonl."""
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                told = json.loads(line)
                origin = Origin(told["source"], int(told["position"]), told["unit"])
                yield Failed(origin, Path(told["place"]), told.get("url") or "")
            except (ValueError, KeyError, TypeError) as error:
                raise DataError(f"{path}:{number}: not a line of a failed.jsonl") from error


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which records of the inputs are to be cleaned again."""

    places: frozenset[tuple[str, int]]
    rests: dict[str, int]
    """Files of which all behind a position is wanted."""
    failed: tuple[Failed, ...]

    @classmethod
    def of(cls, path: Path) -> Wanted:
        """Those that a failed.jsonl names."""
        failed = tuple(read_failed(path))
        rests = {each.origin.source: each.origin.position for each in failed if each.is_rest}
        return cls(frozenset(each.origin[:2] for each in failed if not each.is_rest), rests, failed)

    def __contains__(self, record: Record) -> bool:
        source, position, _ = record.origin
        return (source, position) in self.places or position > self.rests.get(source, position)


def settings_beside(retry: Path) -> dict[str, Any]:
    """The settings of the run that a failed.jsonl is of; nothing where it has been taken elsewhere."""
    manifest = retry.with_name(retry.name.replace("failed.jsonl", "manifest.jsonl"))
    head = _head(manifest) or _head(retry.with_name(SPARK_SETTINGS))
    return {**head.get("settings", {}), "choice": head.get("choice", {})} if head else {}


def head_settings(manifest: Path) -> dict[str, Any]:
    """The settings that a manifest begins with; none where it does not begin."""
    return dict(_head(manifest).get("settings", {}))


def _head(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as lines:
            head = json.loads(lines.readline())
    except (OSError, ValueError):
        return {}
    return head if isinstance(head, dict) and isinstance(head.get("settings"), dict) else {}
