"""Everything that can happen to a page while it is annotated, as plain data.

Events are msgspec structs that convert to the journal's JSON arrays: ``Moved(5)`` becomes ``["m", 5]``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Literal, NamedTuple, Self

from msgspec import Struct

from victorpy.document import Label

CONFIRM, CLEAR, TAKE_FIRST, TAKE_SECOND = "confirm", "clear", "take-1", "take-2"
"""Actions on blocks. The name of a label is an action, too: it gives blocks that label."""

Letter = Literal["?", "h", "p", "l", "c", "o"]
"""A label in the journal: its first letter, or a question mark for no label."""
LETTER_OF: dict[Label | None, Letter] = {
    None: "?",
    Label.HEADER: "h",
    Label.PARAGRAPH: "p",
    Label.LIST: "l",
    Label.CONTINUATION: "c",
    Label.OTHER: "o",
}
LABEL_OF: dict[str, Label | None] = {letter: label for label, letter in LETTER_OF.items()}


def write_labels(labels: Iterable[Label | None]) -> str:
    """Write one letter per label.

    >>> write_labels([Label.HEADER, None, Label.OTHER])
    'h?o'
    """
    return "".join(map(LETTER_OF.__getitem__, labels))


def read_labels(letters: str) -> tuple[Label | None, ...]:
    """Read what `write_labels` wrote. Raises KeyError for unknown letters."""
    return tuple(map(LABEL_OF.__getitem__, letters))


class Scope(StrEnum):
    """Which blocks an action applies to."""

    ONE = "one"
    RANGE = "range"
    CONTAINER = "container"  # from here to the end of an element
    PATH = "path"  # all blocks in elements of the same tags and classes
    PLACE = "place"  # all blocks at the same position in their list item, table row or post
    TEXT = "text"  # all blocks with the same text
    REST = "rest"  # all blocks that no person has decided


class Action(NamedTuple):
    """Something done to blocks, in a form that can be repeated elsewhere."""

    scope: Scope
    what: str
    """A label, or one of confirm, clear, take-1 and take-2."""
    size: int = 1
    """Number of blocks of a range, or of containers counted outwards."""


class Run(NamedTuple):
    """Consecutive blocks whose label a person changed in the same way."""

    start: int
    stop: int
    old: Letter
    new: Letter


def join_runs(changes: Iterable[tuple[int, Label | None, Label | None]]) -> Iterator[Run]:
    """Join consecutive blocks that change in the same way, and skip blocks that keep their label."""
    start = stop = -1
    run_old: Label | None = None
    run_new: Label | None = None
    for number, old, new in changes:
        if number == stop and old is run_old and new is run_new:
            stop += 1
            continue
        if run_old is not run_new:
            yield Run(start, stop, LETTER_OF[run_old], LETTER_OF[run_new])
        start, stop, run_old, run_new = number, number + 1, old, new
    if run_old is not run_new:
        yield Run(start, stop, LETTER_OF[run_old], LETTER_OF[run_new])


class Prediction(Struct, frozen=True, array_like=True, dict=True):
    """A model's labels for all blocks of a page."""

    letters: str
    probabilities: tuple[float | None, ...]
    """None for blocks without a prediction."""
    model: str = "?"
    """Identifies the model. Empty if there is none, a question mark in old journals."""

    @classmethod
    def of(
        cls, labels: Sequence[Label | None], probabilities: Sequence[float | None] | None = None, model: str = ""
    ) -> Self:
        """Make a prediction of labels; None for blocks without a prediction."""
        return cls(write_labels(labels), tuple(probabilities or [None] * len(labels)), model)

    @cached_property
    def labels(self) -> tuple[Label | None, ...]:
        return read_labels(self.letters)


class Moved(Struct, frozen=True, array_like=True, tag="m"):
    """The cursor moved."""

    cursor: int


class Change(Struct, frozen=True, array_like=True, tag="c"):
    """Labels were given or removed: one step of undo."""

    runs: tuple[Run, ...]
    before: int
    """Position of the cursor before the change."""
    after: int
    """Position of the cursor after the change."""
    action: Action | None
    """The action, so that it can be repeated. None for changes made outside the program."""

    @property
    def size(self) -> int:
        """Number of blocks that changed."""
        return sum(run.stop - run.start for run in self.runs)


class Undone(Struct, frozen=True, array_like=True, tag="u"):
    """The last change was undone."""


class Redone(Struct, frozen=True, array_like=True, tag="r"):
    """The last undone change was redone."""


class Refreshed(Prediction, frozen=True, array_like=True, tag="p", dict=True):
    """Another model predicted the labels of the undecided blocks."""


Event = Moved | Change | Undone | Redone | Refreshed
