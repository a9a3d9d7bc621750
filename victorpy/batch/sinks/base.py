"""What a sink is: it writes parts, one file after the other. The same outcomes give the same bytes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import ClassVar

from victorpy.base.registry import Registry
from victorpy.batch.outcome import Outcome
from victorpy.batch.record import Record
from victorpy.outputs import Output


class Sink(ABC):
    """Writes the parts of a run's output, one at a time: `open`, `write` for each record, `close`."""

    folder: ClassVar[str] = ""
    """Subdirectory of the output directory that holds the parts."""

    def __init__(self, kind: str, directory: Path, output: Output, inputs: Sequence[str] = ()) -> None:
        self.suffix = f".{kind}"
        self.directory = directory
        self.output = output

    @abstractmethod
    def open(self, path: Path) -> None:
        """Begin a part in this file."""

    @abstractmethod
    def write(self, record: Record, outcome: Outcome) -> None:
        """Add a record to the part."""

    @abstractmethod
    def close(self) -> None:
        """Finish the part: its file is complete after this call."""

    def resume(self, parts: Iterable[Path]) -> None:  # noqa: B027  (most sinks keep no state between parts)
        """Read back the state that earlier parts left, if later parts depend on it."""


SINKS: Registry[type[Sink]] = Registry("kind of output (--to)", "victorpy.batch.sinks")
"""By name. A class may have several names: ``jsonl.gz`` is ``jsonl`` with compression."""


def sink_name(target: str) -> str | None:
    """Return the kind of output that a directory's name asks for: ``corpus.jsonl.gz/`` is made of such files."""
    names = [name for name in SINKS if target.rstrip("/").lower().endswith(f".{name}")]
    return max(names, key=len, default=None)
