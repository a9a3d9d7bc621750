"""What a sink is: it writes parts, each a file that is whole or not there; the same outcomes give the same bytes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar, Protocol

from victorpy.batch.outcome import Outcome
from victorpy.batch.records import Record
from victorpy.outputs import Output
from victorpy.registry import Registry


class PartWriter(Protocol):
    """One part under way."""

    def write(self, record: Record, outcome: Outcome) -> None:
        """Add a record."""

    def close(self) -> None:
        """Write what is left; the file is whole then."""


class Sink(ABC):
    """Makes the parts of a run's output."""

    suffix: ClassVar[str]
    """How the files of parts are named."""
    folder: ClassVar[str] = ""
    """Where in the output directory parts are."""

    def __init__(self, directory: Path, output: Output) -> None:
        self.directory = directory
        self.output = output

    @abstractmethod
    def open(self, path: Path) -> PartWriter:
        """Begin a part in a file of this name."""

    def resume(self, parts: Iterable[Path]) -> None:  # noqa: B027  (most have nothing to learn)
        """Learn from parts that were finished before, where later ones depend on them."""


SINKS: Registry[type[Sink]] = Registry("kind of output (--to)", "victorpy.batch.sinks")


def sink_name(target: str) -> str | None:
    """The kind of output that a directory's name asks for: ``corpus.jsonl.gz/`` is made of such files."""
    endings = [name for name in SINKS if target.rstrip("/").lower().endswith(f".{name}")]
    return max(endings, key=len, default=None)
