"""What can happen while a page is annotated, as plain data: actions, changes of labels, and predictions of a model.

Events are msgspec structs that convert to the journal's JSON arrays: ``Moved(5)`` becomes ``["m", 5]``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, NamedTuple, Self

from msgspec import Struct

from victorpy.document import Label

CONFIRM, CLEAR, TAKE_FIRST, TAKE_SECOND = "confirm", "clear", "take-1", "take-2"
"""Actions on blocks, besides giving them a label."""

Letter = Literal["?", "h", "p", "l", "c", "o"]
"""A label in the journal: its first letter, or a question mark for none."""
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
    """Read what `write_labels` wrote; unknown letters are a KeyError."""
    return tuple(map(LABEL_OF.__getitem__, letters))


class State(StrEnum):
    """Who gave a block its label."""

    EMPTY = "empty"  # nobody: it has none
    PREDICTED = "predicted"  # the model alone
    CHANGED = "changed"  # a person who disagrees with the model
    CONFIRMED = "confirmed"  # a person, in agreement with the model if there is one

    @property
    def is_decided(self) -> bool:
        return self in {State.CHANGED, State.CONFIRMED}


class Scope(StrEnum):
    """Which blocks an action applies to."""

    ONE = "one"
    RANGE = "range"
    CONTAINER = "container"  # from here to the end of an element
    PATH = "path"  # all blocks in elements of the same tags and classes
    PLACE = "place"  # all blocks at the same position in their list item, table row or post
    TEXT = "text"  # all blocks with the same text
    REST = "rest"  # all blocks that no person has decided on


class Action(NamedTuple):
    """Something done to blocks, in a form that can be repeated elsewhere."""

    scope: Scope
    what: str
    """A label, or one of confirm, clear, take-1 and take-2."""
    size: int = 1
    """Number of blocks of a range, or of containers counted outwards."""


class Run(NamedTuple):
    """Neighbouring blocks whose label a person changed in the same way."""

    start: int
    stop: int
    old: Letter
    new: Letter


def join_runs(changes: Iterable[tuple[int, Label | None, Label | None]]) -> Iterator[Run]:
    """Join neighbouring blocks that change in the same way, and skip blocks that keep their label."""
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


@dataclass(frozen=True, slots=True)
class Prediction:
    """A model's labels for the blocks of a page; None for blocks without a prediction."""

    labels: tuple[Label | None, ...]
    probabilities: tuple[float | None, ...]
    model: str = ""
    """Identifies the model; empty if there is none."""

    @classmethod
    def none(cls, count: int) -> Prediction:
        return cls((None,) * count, (None,) * count)


class Moved(Struct, frozen=True, array_like=True, tag="m"):
    """The cursor moved."""

    cursor: int


class Change(Struct, frozen=True, array_like=True, tag="c"):
    """Labels were given or taken back: one step of undo."""

    runs: tuple[Run, ...]
    before: int
    """Position of the cursor before the change."""
    after: int
    """Position of the cursor after it."""
    action: Action | None
    """The action, to repeat it elsewhere; None for changes made outside the program."""


class Undone(Struct, frozen=True, array_like=True, tag="u"):
    """The last change was undone."""


class Redone(Struct, frozen=True, array_like=True, tag="r"):
    """The last undone change was made again."""


class WrittenPrediction(Struct, frozen=True, array_like=True):
    """A prediction in the journal's form."""

    letters: str
    probabilities: tuple[float | None, ...]
    model: str = "?"
    """Old journals do not name it."""

    @classmethod
    def of(cls, prediction: Prediction) -> Self:
        return cls(write_labels(prediction.labels), prediction.probabilities, prediction.model)

    def read(self) -> Prediction:
        return Prediction(read_labels(self.letters), self.probabilities, self.model)


class Refreshed(WrittenPrediction, frozen=True, array_like=True, tag="p"):
    """A retrained model predicted other labels for the undecided blocks."""


Event = Moved | Change | Undone | Redone | Refreshed


class Selection(NamedTuple):
    """Blocks that the next action applies to."""

    scope: Scope
    numbers: Sequence[int]
    size: int = 1
    stop: int | None = None
    """The block where the cursor goes next, if that is not the one after the cursor."""


class Choice(NamedTuple):
    """One of two annotations of a page in an adjudication."""

    name: str
    labels: tuple[Label | None, ...]
    decided: tuple[bool, ...]
    """Which labels a person gave; other blocks have a model's label or none."""

    def decision(self, number: int) -> Label | None:
        return self.labels[number] if self.decided[number] else None
