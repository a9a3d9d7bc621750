"""The state of a page while it is annotated. It needs no terminal and no file.

Everything that happens is an event, which is passed to a listener. Giving labels is a single `Change`, for any number
of blocks. Applying the same events again leads to the same state; the journal relies on this. Events are msgspec
structs that convert to the journal's JSON arrays: ``Moved(5)`` becomes ``["m", 5]``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Literal, NamedTuple, Self, get_args

from msgspec import Struct

from victorpy.document import Document, Label

UNCERTAIN = 0.8  # predictions with a lower probability are uncertain
DOUBTFUL = 0.95  # blocks whose prediction has a lower probability get a key, the least certain ones first
CONFIRM, CLEAR, TAKE_FIRST, TAKE_SECOND = "confirm", "clear", "take-1", "take-2"
"""Actions on blocks. The name of a label is an action, too: it gives blocks that label."""

Letter = Literal["?", "h", "p", "l", "c", "o"]
"""A label in the journal: its first letter, or a question mark for no label."""
LABEL_OF: dict[str, Label | None] = dict(zip(get_args(Letter), (None, *Label), strict=True))
LETTER_OF: dict[Label | None, Letter] = dict(zip((None, *Label), get_args(Letter), strict=True))


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
    """The blocks that an action applies to."""

    ONE = "one"
    RANGE = "range"
    CONTAINER = "container"  # from the cursor to the end of an element
    PATH = "path"  # all blocks in elements of the same tags and classes
    PLACE = "place"  # all blocks at the same position in their list item, table row or post
    TEXT = "text"  # all blocks with the same text
    REST = "rest"  # all blocks that no person has decided


class Action(NamedTuple):
    """An action on blocks, which can be repeated elsewhere."""

    scope: Scope
    what: str  # a label, or one of confirm, clear, take-1 and take-2
    size: int = 1  # number of blocks in a range, or number of enclosing elements up to the container


class Run(NamedTuple):
    """Consecutive blocks whose label a person changed in the same way."""

    start: int
    stop: int
    old: Letter
    new: Letter


class Prediction(Struct, frozen=True, array_like=True, dict=True):
    """A model's labels for all blocks of a page."""

    letters: str
    probabilities: tuple[float | None, ...]  # None for blocks without a prediction
    model: str = "?"
    """Identifies the model. Empty without a model, a question mark in old journals."""

    @classmethod
    def of(
        cls, labels: Sequence[Label | None], probabilities: Sequence[float | None] | None = None, model: str = ""
    ) -> Self:
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
    cursor_before: int
    cursor_after: int
    action: Action | None
    """The action, so that it can be repeated. None for changes by another program."""

    @property
    def size(self) -> int:
        return sum(run.stop - run.start for run in self.runs)


class Undone(Struct, frozen=True, array_like=True, tag="u"):
    """The last change was undone."""


class Redone(Struct, frozen=True, array_like=True, tag="r"):
    """The last undone change was redone."""


class Refreshed(Prediction, frozen=True, array_like=True, tag="p", dict=True):
    """Another model predicted the labels of the undecided blocks."""


Event = Moved | Change | Undone | Redone | Refreshed


def fits(event: Event, count: int) -> bool:
    """Whether an event is possible on a page with `count` blocks."""
    match event:
        case Change(runs, _, after):
            return all(0 <= run.start < run.stop <= count for run in runs) and 0 <= after < count
        case Refreshed(letters, probabilities):
            return len(letters) == len(probabilities) == count and set(letters) <= LABEL_OF.keys()
    return True


class State(StrEnum):
    """The origin of a block's label."""

    EMPTY = "empty"  # nobody: there is no label
    PREDICTED = "predicted"  # predicted by the model, not confirmed
    CHANGED = "changed"  # a person who disagrees with the model
    CONFIRMED = "confirmed"  # a person who agrees with the model, or there is no model


class Selection(NamedTuple):
    """The blocks that the next action applies to."""

    scope: Scope
    numbers: Sequence[int]
    size: int = 1
    stop: int | None = None  # the block that the cursor moves to next; None for the following block


class Choice(NamedTuple):
    """One of the two annotations to adjudicate."""

    name: str
    labels: tuple[Label | None, ...]
    decided: tuple[bool, ...]
    """Whether a person gave each label. All other labels were predicted by a model or are None."""


class Session:
    """A page, the model's labels, a person's decisions, and their history."""

    def __init__(
        self,
        document: Document,
        prediction: Prediction | None = None,
        given: Sequence[Label | None] = (),
        block_level: frozenset[str] = frozenset(),
        choices: tuple[Choice, ...] = (),
    ) -> None:
        nothing: list[Label | None] = [None] * len(document.blocks)
        self.document = document
        self.predicted = prediction or Prediction.of(nothing)
        self.given: list[Label | None] = list(given) or nothing  # the labels that a person gave; None for other blocks
        self.decided = sum(label is not None for label in self.given)  # number of blocks that a person has labelled
        self.choices = choices  # the two annotations to adjudicate; usually empty
        self.cursor = 0
        self.pattern = ""
        self.last: Action | None = None
        self.done: list[Change] = []  # changes that can be undone, latest last
        self.undone: list[Change] = []  # changes that can be redone, the next one last
        self.listener: Callable[[Event], None] = lambda event: None
        self._block_level = block_level
        self._mark: int | None = None  # the other end of the range that is being marked
        self._picked: Selection | None = None

    # Reading the state

    def __len__(self) -> int:
        return len(self.given)

    def label(self, number: int) -> Label | None:
        """Return the label that a person gave a block, or else the predicted label."""
        return self.given[number] or self.predicted.labels[number]

    def labels(self) -> list[Label | None]:
        return [given or predicted for given, predicted in zip(self.given, self.predicted.labels, strict=True)]

    def probabilities(self) -> list[float | None]:
        """Return the model's probability for each label; None for labels that a person gave."""
        pairs = zip(self.given, self.predicted.probabilities, strict=True)
        return [None if label else probability for label, probability in pairs]

    def state(self, number: int) -> State:
        given, predicted = self.given[number], self.predicted.labels[number]
        if given is None:
            return State.EMPTY if predicted is None else State.PREDICTED
        return State.CONFIRMED if predicted is None or given is predicted else State.CHANGED

    @property
    def is_finished(self) -> bool:
        return self.decided == len(self)

    def most_doubtful(self, numbers: Iterable[int], count: int) -> list[int]:
        """Return the `count` undecided blocks that the model is least sure of, in page order."""
        probabilities = self.predicted.probabilities
        doubtful = [
            (probability, number)
            for number in numbers
            if self.given[number] is None and (probability := probabilities[number]) is not None
            if probability < DOUBTFUL
        ]
        return sorted(number for _, number in sorted(doubtful)[:count])

    # Moving

    def move(self, number: int) -> None:
        """Move the cursor to a block, or to the nearest one if there is no such block."""
        number = max(0, min(number, len(self) - 1))
        self._picked = None
        if number != self.cursor:
            self._do(Moved(number))

    def find(self, is_wanted: Callable[[int], bool], step: int = 1) -> int | None:
        """Find the next matching block after the cursor (before it if `step` is -1), wrapping around the page."""
        count = len(self)
        numbers = ((self.cursor + step * distance) % count for distance in range(1, count + 1))
        return next((number for number in numbers if is_wanted(number)), None)

    def is_undecided(self, number: int) -> bool:
        return self.given[number] is None

    def is_uncertain(self, number: int) -> bool:
        probability = self.predicted.probabilities[number]
        return self.given[number] is None and probability is not None and probability < UNCERTAIN

    def differs(self, number: int) -> bool:
        """Whether the person disagrees with the model; in an adjudication, whether the two annotators disagree."""
        if self.choices:
            first, second = (c.labels[number] if c.decided[number] else None for c in self.choices)
            return first is None or first is not second
        return self.state(number) is State.CHANGED

    def has_other_label(self, number: int) -> bool:
        """Whether a block's label differs from that of the block at the cursor."""
        return self.label(number) is not self.label(self.cursor)

    def has_pattern(self, number: int) -> bool:
        """Whether a block contains the text that was last searched for, ignoring case."""
        return self.pattern.casefold() in self.document.blocks[number].text.casefold()

    # Selecting

    @property
    def selection(self) -> Selection:
        if self._mark is not None and len(self):
            first, last = sorted((self._mark, self.cursor))
            return Selection(Scope.RANGE, range(first, last + 1), last + 1 - first, last + 1)
        return self._picked or Selection(Scope.ONE, range(self.cursor, min(self.cursor + 1, len(self))))

    @property
    def has_selection(self) -> bool:
        """Whether blocks were selected. Otherwise actions apply to the block at the cursor."""
        return self._mark is not None or self._picked is not None

    def toggle_mark(self) -> None:
        """Start a range at the cursor, or cancel it."""
        self._mark = None if self._mark is not None else self.cursor
        self._picked = None

    def extend(self, step: int) -> None:
        if self._mark is None:
            self._mark = self.cursor
        self.move(self.cursor + step)

    def unselect(self) -> None:
        self._mark = self._picked = None

    def select(self, scope: Scope, size: int | None = None) -> Selection:
        """Select blocks that belong with the block at the cursor. Except in a range, other decided blocks are left out.

        Without a size, the innermost container is selected. Selecting again extends the selection to the next container
        outwards.
        """
        previous, document, here = self._picked, self.document, self.cursor
        self.unselect()
        if not len(self):
            return self.selection
        if size is None:
            is_again = previous is not None and previous.scope is scope is Scope.CONTAINER
            size = previous.size + 1 if previous is not None and is_again else 1
        stop: int | None = None
        numbers: Sequence[int] = range(len(self))
        if scope in {Scope.ONE, Scope.RANGE}:
            stop = min(here + size, len(self))
            numbers = range(here, stop)
        elif scope is Scope.CONTAINER:
            stops = container_stops(document, here, self._block_level) or [here + 1]
            size = min(size, len(stops))
            stop = stops[size - 1]
            numbers = range(here, stop)
        elif scope is Scope.PATH:
            numbers = same_path(document, here)
        elif scope is Scope.PLACE:
            numbers = same_place(document, here)
        elif scope is Scope.TEXT:
            text = document.blocks[here].text
            numbers = [number for number in numbers if document.blocks[number].text == text]
        if scope is not Scope.RANGE:
            numbers = [number for number in numbers if number == here or self.given[number] is None]
        self._picked = Selection(scope, numbers, size, stop)
        return self._picked

    # Labelling

    def act(self, what: str, scope: Scope | None = None) -> int:
        """Label, confirm or clear the selected blocks, or take the label of an annotator, and move the cursor.

        A `scope` selects blocks first. Return how many blocks changed.
        """
        if scope is not None:
            self.select(scope, 1)
        selection = self.selection
        self.unselect()
        if not len(self):
            return 0
        self.last = Action(selection.scope, str(what), selection.size)
        new_labels = {number: self._new_label(number, what) for number in selection.numbers}
        next_cursor = self._next_cursor(selection, what, new_labels)
        count = self.relabel(new_labels, next_cursor, self.last)
        self.move(next_cursor)
        return count

    def repeat(self) -> int:
        if self.last is None or not len(self):
            return 0
        if not (self.last.scope is Scope.ONE and self.has_selection):
            self.select(self.last.scope, self.last.size)
        return self.act(self.last.what)

    def _new_label(self, number: int, what: str) -> Label | None:
        if what == CONFIRM:
            return self.label(number)
        if what == CLEAR:
            return None
        if what in {TAKE_FIRST, TAKE_SECOND}:  # only possible while adjudicating two annotations
            chosen = self.choices[what == TAKE_SECOND].labels[number] if self.choices else None
            return chosen or self.given[number]
        return Label(what)

    def _next_cursor(self, selection: Selection, what: str, new_labels: Mapping[int, Label | None]) -> int:
        if what == CLEAR:
            return self.cursor
        if selection.scope is Scope.REST:
            return next((number for number, label in new_labels.items() if label is None), self.cursor)
        if what in {TAKE_FIRST, TAKE_SECOND}:
            to_decide = self.find(lambda n: self.differs(n) and new_labels.get(n, self.given[n]) is None)
            return self.cursor if to_decide is None else to_decide
        return min(selection.stop or self.cursor + 1, len(self) - 1)

    def relabel(self, labels: Mapping[int, Label | None], cursor: int, action: Action | None) -> int:
        """Label blocks as one change, if any label is new. Return how many blocks changed."""
        runs: list[Run] = []
        for number, label in labels.items():
            old, new = LETTER_OF[self.given[number]], LETTER_OF[label]
            if runs and runs[-1][1:] == (number, old, new):
                runs[-1] = runs[-1]._replace(stop=number + 1)
            elif old != new:
                runs.append(Run(number, number + 1, old, new))
        change = Change(tuple(runs), self.cursor, cursor, action)
        if runs:
            self._do(change)
        return change.size

    def undo(self) -> Change | None:
        if not self.done:
            return None
        self._do(Undone())
        return self.undone[-1]

    def redo(self) -> Change | None:
        if not self.undone:
            return None
        self._do(Redone())
        return self.done[-1]

    def refresh(self, prediction: Prediction) -> int:
        """Use another prediction for the undecided blocks. Return how many labels changed."""
        old = self.predicted
        labels, probabilities = list(prediction.labels), list(prediction.probabilities)
        for number, given in enumerate(self.given):
            if given is not None:
                labels[number], probabilities[number] = old.labels[number], old.probabilities[number]
        self._do(Refreshed.of(labels, probabilities, prediction.model))
        return sum(new_label is not old_label for new_label, old_label in zip(labels, old.labels, strict=True))

    # Events

    def _do(self, event: Event) -> None:
        self.apply(event)
        self.listener(event)

    def apply(self, event: Event) -> None:
        """Apply an event, for example from the journal, without notifying the listener."""
        match event:
            case Moved(cursor):
                self.cursor = max(0, min(cursor, len(self) - 1))
            case Change():
                self.undone.clear()
                self._change(event)
                self.last = event.action or self.last
            case Undone() if self.done:
                self._change(self.done.pop(), back=True)
            case Redone() if self.undone:
                self._change(self.undone.pop())
            case Refreshed():
                self.predicted = Prediction(event.letters, event.probabilities, event.model)

    def _change(self, change: Change, back: bool = False) -> None:
        """Apply a change of labels, or undo it if `back`."""
        (self.undone if back else self.done).append(change)
        for run in change.runs:
            label = LABEL_OF[run.old if back else run.new]
            for number in range(run.start, run.stop):
                self.decided += (label is not None) - (self.given[number] is not None)
                self.given[number] = label
        self.unselect()
        self.cursor = change.cursor_before if back else change.cursor_after


# Blocks that belong together


def container_stops(document: Document, number: int, block_level: frozenset[str]) -> list[int]:
    """Return the distinct end positions of the block-level elements around a block, innermost first."""
    elements, element = document.elements, document.blocks[number].element
    stops: list[int] = []
    while element >= 0:
        stop = elements.stop_block[element]
        if elements.tag[element] in block_level and stop > (stops[-1] if stops else number + 1):
            stops.append(stop)
        element = elements.parent[element]
    return stops


def same_path(document: Document, number: int) -> list[int]:
    """Return the blocks in elements with the same tags and classes."""
    elements = document.elements
    paths: dict[tuple[int, str, str], int] = {}
    path_of_element: list[int] = []
    for tag, parent, attributes in zip(elements.tag, elements.parent, elements.attributes, strict=True):
        outer = path_of_element[parent] if parent >= 0 else -1
        path_of_element.append(paths.setdefault((outer, tag, attributes.get("class", "")), len(paths)))
    path_of_element.append(-1)  # for blocks outside all elements, whose element is -1
    path = path_of_element[document.blocks[number].element]
    return [other for other, block in enumerate(document.blocks) if path_of_element[block.element] == path]


def same_place(document: Document, number: int) -> list[int]:
    """Return the blocks whose XPath differs in a single position, such as the cells of a table column.

    For ``/table[1]/tr[2]/td[1]`` these are the blocks ``/table[1]/tr[*]/td[1]`` or ``/table[1]/tr[2]/td[*]``, whichever
    group is larger. Classes are ignored, since they often alternate from record to record.
    """
    paths = document.paths()
    steps = paths[number].split("/")
    largest = [other for other, path in enumerate(paths) if path == paths[number]]
    for level in range(1, len(steps)):
        tag = steps[level].rpartition("[")[0]
        outer, inner = "/".join([*steps[:level], tag]), "/".join(["", *steps[level + 1 :]])
        pattern = re.compile(rf"{re.escape(outer)}\[\d+\]{re.escape(inner)}")
        group = [other for other, path in enumerate(paths) if pattern.fullmatch(path)]
        largest = max(largest, group, key=len)
    return largest
