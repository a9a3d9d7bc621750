"""The state of a page while it is annotated: a plain object that needs no terminal and no file.

Everything that happens is an `Event`, passed to a listener, and every labelling is one `Change`. A session that applies
the same events again ends up in the same state. The journal, undo and redo are built on that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from victorpy.annotation.events import (
    CLEAR,
    CONFIRM,
    LABEL_OF,
    TAKE_FIRST,
    TAKE_SECOND,
    Action,
    Change,
    Choice,
    Event,
    Moved,
    Prediction,
    Redone,
    Refreshed,
    Run,
    Scope,
    Selection,
    State,
    Undone,
    join_runs,
)
from victorpy.annotation.kin import Kin
from victorpy.document import Document, Label

UNCERTAIN = 0.8
"""Predictions with a lower probability are worth a look."""
DOUBTFUL = 0.95
"""If there are few of those, predictions below this probability are, too."""


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
        count = len(document.blocks)
        self.document = document
        self.predicted = prediction or Prediction.none(count)
        self.given: list[Label | None] = list(given) if given else [None] * count
        self.decided = sum(label is not None for label in self.given)
        """Number of blocks that a person decided on."""
        self.choices = choices
        """The two annotations of an adjudication; empty otherwise."""
        self.cursor = 0
        self.pattern = ""
        self.last: Action | None = None
        self.version = 0
        """Increases with every change of labels, so that views can cache what they show."""
        self.listener: Callable[[Event], None] = lambda event: None
        self._kin = Kin(document, block_level)
        self._mark: int | None = None
        self._picked: Selection | None = None
        self._done: list[Change] = []
        self._undone: list[Change] = []

    # Reading the state

    def __len__(self) -> int:
        return len(self.given)

    def label(self, number: int) -> Label | None:
        """Return a block's label: the person's, or else the model's."""
        return self.given[number] or self.predicted.labels[number]

    def labels(self) -> list[Label | None]:
        return [given or predicted for given, predicted in zip(self.given, self.predicted.labels, strict=True)]

    def probabilities(self) -> list[float | None]:
        """Return the model's probability for each label; None for labels that a person decided on."""
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

    @property
    def history(self) -> tuple[tuple[Change, ...], tuple[Change, ...]]:
        """The changes that can be undone, latest last, and those that can be redone, next one last."""
        return tuple(self._done), tuple(self._undone)

    def is_uncertain(self, number: int) -> bool:
        probability = self.predicted.probabilities[number]
        return self.given[number] is None and probability is not None and probability < UNCERTAIN

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

    def is_undecided(self, number: int) -> bool:
        return self.given[number] is None

    def differs(self, number: int) -> bool:
        """Whether the person disagrees with the model; in an adjudication, whether the two annotators differ."""
        if self.choices:
            first, second = (choice.decision(number) for choice in self.choices)
            return first is None or first is not second
        return self.state(number) is State.CHANGED

    # Moving

    def move(self, number: int) -> None:
        """Put the cursor on a block, or on the nearest one if there is no such block."""
        number = max(0, min(number, len(self) - 1))
        self._picked = None
        if number != self.cursor:
            self.cursor = number
            self.listener(Moved(number))

    def find(self, wanted: Callable[[int], bool], step: int = 1) -> int | None:
        """Find the next matching block after the cursor (before it if `step` is -1), wrapping around the page."""
        count = len(self)
        numbers = ((self.cursor + step * distance) % count for distance in range(1, count + 1)) if count else ()
        return next((number for number in numbers if wanted(number)), None)

    def find_text(self, step: int = 1) -> int | None:
        """Find the next block that contains the search pattern, ignoring case."""
        wanted = self.pattern.casefold()
        return self.find(lambda number: wanted in self._kin.folded_texts[number], step) if wanted else None

    def find_other_label(self, step: int = 1) -> int | None:
        """Find the next block with a different label."""
        here = self.label(self.cursor) if len(self) else None
        return self.find(lambda number: self.label(number) is not here, step)

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
        """Whether more than the cursor's block is selected."""
        return self._mark is not None or self._picked is not None

    def toggle_mark(self) -> None:
        """Start a range here, or drop it."""
        self._mark = None if self._mark is not None else self.cursor
        self._picked = None

    def extend(self, step: int) -> None:
        """Move the cursor and extend the range."""
        if self._mark is None:
            self._mark = self.cursor
        self.move(self.cursor + step)

    def unselect(self) -> None:
        """Select only the cursor's block."""
        self._mark = self._picked = None

    def select(self, scope: Scope, size: int = 1) -> Selection:
        """Select blocks that belong with the cursor's block."""
        self._mark = None
        self._picked = self._pick(scope, size) if len(self) else None
        return self.selection

    def select_container(self) -> Selection:
        """Select up to the end of the enclosing element; called again, of the next one outwards."""
        picked = self._picked
        size = picked.size + 1 if picked is not None and picked.scope is Scope.CONTAINER else 1
        return self.select(Scope.CONTAINER, size)

    def _pick(self, scope: Scope, size: int) -> Selection:
        here = self.cursor
        if scope is Scope.CONTAINER:
            stops = self._kin.container_stops(here) or [here + 1]
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
        return Selection(scope, self._without_decided(self._kin.like(here, scope)))

    def _without_decided(self, numbers: Iterable[int]) -> list[int]:
        """Drop blocks that a person has decided on, except the cursor's own."""
        return [number for number in numbers if number == self.cursor or self.given[number] is None]

    # Labelling

    def give(self, label: Label) -> int:
        """Give the selected blocks a label and move on. Return how many of them changed."""
        return self._act(str(label))

    def confirm(self) -> int:
        """Confirm the labels of the selected blocks and move on."""
        return self._act(CONFIRM)

    def clear(self) -> int:
        """Remove a person's labels from the selected blocks."""
        return self._act(CLEAR)

    def take(self, choice: int) -> int:
        """Give the selected blocks the labels of one of the two annotations."""
        return self._act((TAKE_FIRST, TAKE_SECOND)[choice])

    def give_alike(self, label: Label, scope: Scope = Scope.PATH) -> int:
        """Give a label to all blocks like this one, by tags and classes or by their place in a record."""
        self.select(scope)
        return self._act(str(label))

    def confirm_rest(self) -> int:
        """Confirm the labels of all undecided blocks."""
        self.select(Scope.REST)
        return self._act(CONFIRM)

    def repeat(self) -> int:
        """Repeat the last action here."""
        if self.last is None or not len(self):
            return 0
        if not (self.last.scope is Scope.ONE and self.has_selection):
            self.select(self.last.scope, self.last.size)
        return self._act(self.last.what)

    def _act(self, what: str) -> int:
        selection = self.selection
        self.unselect()
        if not len(self):
            return 0
        self.last = Action(selection.scope, what, selection.size)
        changes = [(number, self.given[number], self._new_label(number, what)) for number in selection.numbers]
        runs = tuple(join_runs(changes))
        if not runs:
            self.move(self._next_place(selection, what))
            return 0
        self._put(runs)  # before the next place is looked for
        change = Change(runs, self.cursor, self._next_place(selection, what), self.last)
        self._done.append(change)
        self._undone.clear()
        self.cursor = change.after
        self.listener(change)
        return _count_blocks(runs)

    def _new_label(self, number: int, what: str) -> Label | None:
        """Return the label that an action gives a block; None takes a person's label away."""
        if what == CONFIRM:
            return self.label(number)
        if what == CLEAR:
            return None
        if what in {TAKE_FIRST, TAKE_SECOND}:  # without the two annotations nothing can be taken
            chosen = self.choices[what == TAKE_SECOND].labels[number] if self.choices else None
            return chosen or self.given[number]
        return Label(what)

    def _next_place(self, selection: Selection, what: str) -> int:
        """Return the block where the cursor goes after an action."""
        if what == CLEAR:
            return self.cursor
        if selection.scope is Scope.REST:
            undecided = next((number for number, label in enumerate(self.given) if label is None), None)
            return self.cursor if undecided is None else undecided
        if what in {TAKE_FIRST, TAKE_SECOND}:
            to_decide = self.find(lambda number: self.differs(number) and self.is_undecided(number))
            return self.cursor if to_decide is None else to_decide
        return min(selection.stop or self.cursor + 1, len(self) - 1)

    def _put(self, runs: Iterable[Run], back: bool = False) -> None:
        """Give blocks their new labels, or give them their old labels back."""
        given = self.given
        for run in runs:
            label = LABEL_OF[run.old if back else run.new]
            for number in range(run.start, run.stop):
                self.decided += (label is not None) - (given[number] is not None)
                given[number] = label
        self.version += 1

    # Undo and redo

    def undo(self) -> Change | None:
        return self._step(self._done, self._undone, Undone())

    def redo(self) -> Change | None:
        return self._step(self._undone, self._done, Redone())

    def _step(self, source: list[Change], target: list[Change], event: Undone | Redone) -> Change | None:
        """Undo or redo the last change of `source`, and move it to `target`."""
        if not source:
            return None
        change = source.pop()
        target.append(change)
        is_undo = isinstance(event, Undone)
        self._put(change.runs, back=is_undo)
        self.unselect()
        self.cursor = change.before if is_undo else change.after
        self.listener(event)
        return change

    # Changes from outside

    def refresh(self, prediction: Prediction) -> int:
        """Take another prediction for the undecided blocks. Return how many labels changed."""
        old = self.predicted
        labels, probabilities = list(prediction.labels), list(prediction.probabilities)
        for number, given in enumerate(self.given):
            if given is not None:
                labels[number], probabilities[number] = old.labels[number], old.probabilities[number]
        self.predicted = Prediction(tuple(labels), tuple(probabilities), prediction.model)
        self.version += 1
        self.listener(Refreshed.of(self.predicted))
        return sum(new_label is not old_label for new_label, old_label in zip(labels, old.labels, strict=True))

    def set_outside(self, labels: Sequence[Label | None]) -> int:
        """Take over labels that were changed in the file by other means, as one change."""
        runs = tuple(join_runs((number, self.given[number], label) for number, label in enumerate(labels)))
        if runs:
            change = Change(runs, self.cursor, self.cursor, None)
            self.apply(change)
            self.listener(change)
        return _count_blocks(runs)

    def apply(self, event: Event) -> None:
        """Apply an event that happened before."""
        match event:
            case Moved(cursor):
                self.cursor = max(0, min(cursor, len(self) - 1))
            case Change():
                self._put(event.runs)
                self._done.append(event)
                self._undone.clear()
                self.unselect()
                self.cursor = event.after
                self.last = event.action or self.last
            case Undone():
                self.undo()
            case Redone():
                self.redo()
            case Refreshed():
                self.predicted = event.read()
                self.version += 1


def _count_blocks(runs: Iterable[Run]) -> int:
    return sum(run.stop - run.start for run in runs)
