"""What can happen while a page is annotated, as plain data: what is done, to which blocks, and what a model says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from victorpy.document import Label

CONFIRM, CLEAR, TAKE_FIRST, TAKE_SECOND = "confirm", "clear", "take-1", "take-2"
"""What can be done to blocks, besides giving them a label."""


class State(StrEnum):
    """What stands behind a block's label."""

    EMPTY = "empty"
    """Nothing: it has no label."""
    PREDICTED = "predicted"
    """The model alone."""
    CHANGED = "changed"
    """A person, who thinks otherwise than the model."""
    CONFIRMED = "confirmed"
    """A person, and the model if there is one."""

    @property
    def is_decided(self) -> bool:
        """Whether a person gave the label."""
        return self in {State.CHANGED, State.CONFIRMED}


class Scope(StrEnum):
    """Which blocks an action is for."""

    ONE = "one"
    RANGE = "range"
    CONTAINER = "container"
    """From here to the end of an element."""
    PATH = "path"
    """All that stand in elements of the same tags and classes."""
    PLACE = "place"
    """All that stand at the same place of their list item, table row or post."""
    TEXT = "text"
    """All that say the same."""
    REST = "rest"
    """All that nobody has decided on."""


class Action(NamedTuple):
    """Something done to blocks, in a form that can be done again elsewhere."""

    scope: Scope
    what: str
    """A label, or one of confirm, clear, take-1 and take-2."""
    size: int = 1
    """How many blocks a range has; how many containers outwards."""


class Run(NamedTuple):
    """Neighbours whose label a person changed in the same way; None is no label of a person's."""

    start: int
    stop: int
    old: Label | None
    new: Label | None


def join_runs(changes: Iterable[tuple[int, Label | None, Label | None]]) -> Iterator[Run]:
    """Join neighbours that change alike; what stays as it is falls out."""
    start = stop = -1
    before: Label | None = None
    after: Label | None = None
    for number, old, new in changes:
        if number == stop and old is before and new is after:
            stop += 1
            continue
        if before is not after:
            yield Run(start, stop, before, after)
        start, stop, before, after = number, number + 1, old, new
    if before is not after:
        yield Run(start, stop, before, after)


class Change(NamedTuple):
    """One step of undo."""

    runs: tuple[Run, ...]
    before: int
    """Where the cursor was ..."""
    after: int
    """... and where it went."""
    action: Action | None
    """What was done, to do it again elsewhere; None where it was not done here."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a model says of a page's blocks; None where it says nothing."""

    labels: tuple[Label | None, ...]
    probabilities: tuple[float | None, ...]
    model: str = ""
    """Which model, so that another one can be told from it; nothing where there is none."""

    @classmethod
    def none(cls, count: int) -> Prediction:
        """No model."""
        return cls((None,) * count, (None,) * count)


class Moved(NamedTuple):
    """The cursor went elsewhere."""

    cursor: int


class Changed(NamedTuple):
    """Labels were given or taken back."""

    change: Change


class Undone(NamedTuple):
    """The last change was taken back."""


class Redone(NamedTuple):
    """The last change that was taken back was made again."""


class Refreshed(NamedTuple):
    """A model that has learned more says something else of the blocks that nobody has decided on."""

    prediction: Prediction


Event = Moved | Changed | Undone | Redone | Refreshed


class Selection(NamedTuple):
    """Blocks that the next action is for."""

    scope: Scope
    numbers: Sequence[int]
    size: int = 1
    stop: int | None = None
    """Behind which block one goes on, where that is not the one behind the cursor."""


class Choice(NamedTuple):
    """One of two annotations of a page between which somebody decides."""

    name: str
    labels: tuple[Label | None, ...]
    decided: tuple[bool, ...]
    """Where a person gave the label; elsewhere it is a model's, or there is none."""

    def decision(self, number: int) -> Label | None:
        """The label that a person gave a block."""
        return self.labels[number] if self.decided[number] else None
