"""The state of a page while it is annotated. It needs no terminal and no file.

Everything that happens is an `Event`, which is passed to a listener. Every labelling is one `Change`. A session that
applies the same events again ends up in the same state; the journal, undo and redo are built on that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from victorpy.annotation import events
from victorpy.annotation.events import Action, Change, Event, Prediction, Scope
from victorpy.annotation.similar import SimilarBlocks
from victorpy.document import Document, Label

UNCERTAIN = 0.8
"""Predictions with a lower probability are worth a look."""
DOUBTFUL = 0.95
"""If there are few of those, predictions below this probability are worth a look, too."""


class State(StrEnum):
    """Who gave a block its label."""

    EMPTY = "empty"  # nobody: it has none
    PREDICTED = "predicted"  # only the model
    CHANGED = "changed"  # a person who disagrees with the model
    CONFIRMED = "confirmed"  # a person who agrees with the model, or there is no model

    @property
    def is_decided(self) -> bool:
        return self in {State.CHANGED, State.CONFIRMED}


class Selection(NamedTuple):
    """The blocks that the next action applies to."""

    scope: Scope
    numbers: Sequence[int]
    size: int = 1
    stop: int | None = None
    """The block where the cursor goes next, unless that is the one after the cursor."""


class Choice(NamedTuple):
    """One of the two annotations in an adjudication."""

    name: str
    labels: tuple[Label | None, ...]
    decided: tuple[bool, ...]
    """Which labels a person gave. Other blocks have a model's label or none."""


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
        self.given: list[Label | None] = list(given) or nothing
        """The labels that a person gave; None for other blocks."""
        self.decided = sum(label is not None for label in self.given)
        """Number of blocks that a person decided."""
        self.choices = choices
        """The two annotations in an adjudication; empty otherwise."""
        self.cursor = 0
        self.pattern = ""
        """The text that was last searched for."""
        self.last: Action | None = None
        self.version = 0
        """Increases with every change of labels, so that views can cache what they draw."""
        self.done: list[Change] = []
        """Changes that can be undone, latest last."""
        self.undone: list[Change] = []
        """Changes that can be redone, next one last."""
        self.listener: Callable[[Event], None] = lambda event: None
        self._similar = SimilarBlocks(document, block_level)
        self._mark: int | None = None
        """The other end of the range that is being marked."""
        self._picked: Selection | None = None

    # Reading the state

    def __len__(self) -> int:
        return len(self.given)

    def label(self, number: int) -> Label | None:
        """Return the label that a person gave a block, or else the model's."""
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
        """Put the cursor on a block, or on the nearest one if there is no such block."""
        number = max(0, min(number, len(self) - 1))
        self._picked = None
        if number != self.cursor:
            self._do(events.Moved(number))

    def find(self, is_wanted: Callable[[int], bool], step: int = 1) -> int | None:
        """Find the next matching block after the cursor (before it if `step` is -1), wrapping around the page."""
        count = len(self)
        numbers = ((self.cursor + step * distance) % count for distance in range(1, count + 1)) if count else ()
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
        """Whether a block has another label than the cursor's."""
        return self.label(number) is not self.label(self.cursor)

    def has_pattern(self, number: int) -> bool:
        """Whether a block contains the text that was last searched for, ignoring case."""
        return self.pattern.casefold() in self._folded_texts[number]

    @cached_property
    def _folded_texts(self) -> list[str]:
        return [block.text.casefold() for block in self.document.blocks]

    # Selecting

    @property
    def selection(self) -> Selection:
        """The blocks that the next action applies to."""
        if self._mark is not None and len(self):
            first, last = sorted((self._mark, self.cursor))
            return Selection(Scope.RANGE, range(first, last + 1), last + 1 - first, last + 1)
        return self._picked or Selection(Scope.ONE, range(self.cursor, min(self.cursor + 1, len(self))))

    @property
    def has_selection(self) -> bool:
        """Whether something was selected. Otherwise actions apply to the cursor's block."""
        return self._mark is not None or self._picked is not None

    def toggle_mark(self) -> None:
        """Start a range at the cursor, or drop it."""
        self._mark = None if self._mark is not None else self.cursor
        self._picked = None

    def extend(self, step: int) -> None:
        """Move the cursor and extend the range."""
        if self._mark is None:
            self._mark = self.cursor
        self.move(self.cursor + step)

    def unselect(self) -> None:
        self._mark = self._picked = None

    def select(self, scope: Scope, size: int | None = None) -> Selection:
        """Select the blocks that belong with the cursor's block.

        Without a size a container is the innermost one; selected again, it is the next one outwards.
        """
        if size is None:
            is_again = self._picked is not None and self._picked.scope is scope is Scope.CONTAINER
            size = self._picked.size + 1 if self._picked is not None and is_again else 1
        self._mark = None
        self._picked = self._pick(scope, size) if len(self) else None
        return self.selection

    def _pick(self, scope: Scope, size: int) -> Selection:
        here = self.cursor
        if scope is Scope.CONTAINER:
            stops = self._similar.container_stops(here) or [here + 1]
            size = min(size, len(stops))
            stop = stops[size - 1]
            return Selection(scope, self._without_decided(range(here, stop)), size, stop)
        if scope is Scope.RANGE:
            stop = min(here + size, len(self))
            return Selection(scope, range(here, stop), size, stop)
        if scope is Scope.REST:
            return Selection(scope, [number for number in range(len(self)) if self.given[number] is None])
        if scope is Scope.ONE:
            return Selection(scope, range(here, here + 1))
        return Selection(scope, self._without_decided(self._similar.like(here, scope)))

    def _without_decided(self, numbers: Iterable[int]) -> list[int]:
        """Drop blocks that a person decided, except the cursor's own."""
        return [number for number in numbers if number == self.cursor or self.given[number] is None]

    # Labelling

    def act(self, what: str, scope: Scope | None = None) -> int:
        """Give the selected blocks a label, or confirm, clear or take theirs, and move on.

        With a scope those blocks are selected first. Return how many blocks changed.
        """
        if scope is not None:
            self.select(scope, 1)
        selection = self.selection
        self.unselect()
        if not len(self):
            return 0
        self.last = Action(selection.scope, str(what), selection.size)
        new_labels = {number: self._new_label(number, what) for number in selection.numbers}
        runs = tuple(events.join_runs((number, self.given[number], new) for number, new in new_labels.items()))
        place = self._next_place(selection, what, new_labels)
        change = Change(runs, self.cursor, place, self.last)
        if runs:
            self._do(change)
        else:
            self.move(place)
        return change.size

    def repeat(self) -> int:
        """Repeat the last action at the cursor."""
        if self.last is None or not len(self):
            return 0
        if not (self.last.scope is Scope.ONE and self.has_selection):
            self.select(self.last.scope, self.last.size)
        return self.act(self.last.what)

    def _new_label(self, number: int, what: str) -> Label | None:
        """Return the label that a person gives a block by an action."""
        if what == events.CONFIRM:
            return self.label(number)
        if what == events.CLEAR:
            return None
        if what in {events.TAKE_FIRST, events.TAKE_SECOND}:  # without two annotations there is nothing to take
            chosen = self.choices[what == events.TAKE_SECOND].labels[number] if self.choices else None
            return chosen or self.given[number]
        return Label(what)

    def _next_place(self, selection: Selection, what: str, new_labels: Mapping[int, Label | None]) -> int:
        """Return the block where the cursor goes after an action."""
        if what == events.CLEAR:
            return self.cursor
        if selection.scope is Scope.REST:
            return next((number for number, label in new_labels.items() if label is None), self.cursor)
        if what in {events.TAKE_FIRST, events.TAKE_SECOND}:
            to_decide = self.find(lambda n: self.differs(n) and new_labels.get(n, self.given[n]) is None)
            return self.cursor if to_decide is None else to_decide
        return min(selection.stop or self.cursor + 1, len(self) - 1)

    def undo(self) -> Change | None:
        """Undo the last change. Return it, or None if there is nothing to undo."""
        change = self.done[-1] if self.done else None
        if change is not None:
            self._do(events.Undone())
        return change

    def redo(self) -> Change | None:
        """Redo the last undone change. Return it, or None if there is nothing to redo."""
        change = self.undone[-1] if self.undone else None
        if change is not None:
            self._do(events.Redone())
        return change

    # Changes from outside

    def refresh(self, prediction: Prediction) -> int:
        """Use another prediction for the undecided blocks. Return how many labels changed."""
        old = self.predicted
        labels, probabilities = list(prediction.labels), list(prediction.probabilities)
        for number, given in enumerate(self.given):
            if given is not None:
                labels[number], probabilities[number] = old.labels[number], old.probabilities[number]
        self._do(events.Refreshed.of(labels, probabilities, prediction.model))
        return sum(new_label is not old_label for new_label, old_label in zip(labels, old.labels, strict=True))

    def set_outside(self, labels: Sequence[Label | None]) -> int:
        """Take over labels that another program changed in the file. Return how many labels changed."""
        runs = tuple(events.join_runs((number, self.given[number], label) for number, label in enumerate(labels)))
        change = Change(runs, self.cursor, self.cursor, None)
        if runs:
            self._do(change)
        return change.size

    # Events

    def _do(self, event: Event) -> None:
        self.apply(event)
        self.listener(event)

    def apply(self, event: Event) -> None:
        """Apply an event without telling the listener, for example one from the journal."""
        match event:
            case events.Moved(cursor):
                self.cursor = max(0, min(cursor, len(self) - 1))
            case Change():
                self.undone.clear()
                self._change(event)
                self.last = event.action or self.last
            case events.Undone() if self.done:
                self._change(self.done.pop(), back=True)
            case events.Redone() if self.undone:
                self._change(self.undone.pop())
            case events.Refreshed():
                self.predicted = Prediction(event.letters, event.probabilities, event.model)
                self.version += 1

    def _change(self, change: Change, back: bool = False) -> None:
        """Give blocks the labels of a change, or undo it if `back`."""
        (self.undone if back else self.done).append(change)
        for run in change.runs:
            label = events.LABEL_OF[run.old if back else run.new]
            for number in range(run.start, run.stop):
                self.decided += (label is not None) - (self.given[number] is not None)
                self.given[number] = label
        self.version += 1
        self.unselect()
        self.cursor = change.before if back else change.after
