"""What is known while a page is annotated: a plain object that needs no terminal and no file.

Every labelling is one `Change`, and everything that happens is one `Event`, told to a listener; a session that is
given the same events again stands where it stood. The journal lives on that, and so do undo and redo.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from victorpy.annotate.events import (
    CLEAR,
    CONFIRM,
    TAKE_FIRST,
    TAKE_SECOND,
    Action,
    Change,
    Changed,
    Choice,
    Event,
    Moved,
    Prediction,
    Redone,
    Refreshed,
    Scope,
    Selection,
    State,
    Undone,
    join_runs,
)
from victorpy.annotate.kin import Kin
from victorpy.document import Document, Label

T = TypeVar("T")

UNCERTAIN = 0.8
"""A label that the model gives with a lower probability is worth a look."""
DOUBTFUL = 0.95
"""Where there are few of those, one with a lower probability than this is too."""


class Session:
    """A page, what the model says of it, what a person decided, and how it came to that."""

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
        self.choices = choices
        """Two annotations, where somebody decides between them."""
        self.cursor = 0
        self.pattern = ""
        self.last: Action | None = None
        self.version = 0
        """Counts up whenever a label changes, so that what is shown of them can be kept until then."""
        self.listener: Callable[[Event], None] = lambda event: None
        self._kin = Kin(document, block_level)
        self._mark: int | None = None
        self._picked: Selection | None = None
        self._done: list[Change] = []
        self._undone: list[Change] = []
        self._decided = sum(label is not None for label in self.given)

    # What there is

    def __len__(self) -> int:
        return len(self.given)

    def label(self, number: int) -> Label | None:
        """A block's label: the person's, else the model's."""
        return self.given[number] or self.predicted.labels[number]

    def labels(self) -> list[Label | None]:
        """The labels of all blocks."""
        return [ours or theirs for ours, theirs in zip(self.given, self.predicted.labels, strict=True)]

    def probabilities(self) -> list[float | None]:
        """How sure the model is of each label that nobody has decided on."""
        return [
            None if ours else probability
            for ours, probability in zip(self.given, self.predicted.probabilities, strict=True)
        ]

    def state(self, number: int) -> State:
        """What stands behind a block's label."""
        ours, theirs = self.given[number], self.predicted.labels[number]
        if ours is None:
            return State.EMPTY if theirs is None else State.PREDICTED
        return State.CONFIRMED if theirs is None or ours is theirs else State.CHANGED

    @property
    def decided(self) -> int:
        """How many blocks a person decided on."""
        return self._decided

    @property
    def is_finished(self) -> bool:
        """Whether a person decided on every block."""
        return self._decided == len(self)

    @property
    def history(self) -> tuple[tuple[Change, ...], tuple[Change, ...]]:
        """The changes that can be undone, the last one last, and those that can be redone, the next one last."""
        return tuple(self._done), tuple(self._undone)

    def is_uncertain(self, number: int) -> bool:
        """Whether the model is not sure, and nobody has decided."""
        probability = self.predicted.probabilities[number]
        return self.given[number] is None and probability is not None and probability < UNCERTAIN

    def most_doubtful(self, numbers: Iterable[int], count: int) -> list[int]:
        """Of some blocks that nobody has decided on those that the model is least sure of, in their order."""
        sure = self.predicted.probabilities
        found = [
            (chance, number)
            for number in numbers
            if self.given[number] is None and (chance := sure[number]) is not None and chance < DOUBTFUL
        ]
        return sorted(number for _, number in sorted(found)[:count])

    def is_undecided(self, number: int) -> bool:
        """Whether nobody has decided on the block."""
        return self.given[number] is None

    def differs(self, number: int) -> bool:
        """Whether the person thinks otherwise than the model; in adjudication, whether the two are not agreed."""
        if self.choices:
            first, second = (choice.decision(number) for choice in self.choices)
            return first is None or first is not second
        return self.state(number) is State.CHANGED

    # Moving

    def move(self, number: int) -> None:
        """Put the cursor on a block, or on the nearest that there is."""
        number = max(0, min(number, len(self) - 1))
        self._picked = None
        if number != self.cursor:
            self.cursor = number
            self.listener(Moved(number))

    def find(self, wanted: Callable[[int], bool], step: int = 1) -> int | None:
        """Find the next block of a kind after the cursor, or before it with a step of -1, all around the page."""
        count = len(self)
        numbers = ((self.cursor + step * distance) % count for distance in range(1, count + 1)) if count else ()
        return next((number for number in numbers if wanted(number)), None)

    def find_text(self, step: int = 1) -> int | None:
        """Find the next block that holds what was searched for, whatever the case of its letters."""
        wanted = self.pattern.casefold()
        return self.find(lambda number: wanted in self._kin.folded_texts[number], step) if wanted else None

    def find_other_label(self, step: int = 1) -> int | None:
        """Find the next block that has another label than this one."""
        here = self.label(self.cursor) if len(self) else None
        return self.find(lambda number: self.label(number) is not here, step)

    # Selecting

    @property
    def selection(self) -> Selection:
        """The blocks that the next action is for."""
        if self._mark is not None and len(self):
            first, last = sorted((self._mark, self.cursor))
            return Selection(Scope.RANGE, range(first, last + 1), last + 1 - first, last + 1)
        return self._picked or Selection(Scope.ONE, range(self.cursor, min(self.cursor + 1, len(self))))

    @property
    def has_selection(self) -> bool:
        """Whether more than the cursor's block was asked for."""
        return self._mark is not None or self._picked is not None

    def toggle_mark(self) -> None:
        """Begin a range here, or give it up."""
        self._mark = None if self._mark is not None else self.cursor
        self._picked = None

    def extend(self, step: int) -> None:
        """Move with the range open."""
        if self._mark is None:
            self._mark = self.cursor
        self.move(self.cursor + step)

    def unselect(self) -> None:
        """Select nothing but the cursor's block."""
        self._mark = self._picked = None

    def select(self, scope: Scope, size: int = 1) -> Selection:
        """Select blocks that belong to the cursor's."""
        self._mark = None
        self._picked = self._found(scope, size) if len(self) else None
        return self.selection

    def select_container(self) -> Selection:
        """Select to the end of the element around; asked again, to the end of the next one outwards."""
        picked = self._picked
        wider = picked is not None and picked.scope is Scope.CONTAINER
        return self.select(Scope.CONTAINER, picked.size + 1 if wider and picked is not None else 1)

    def _found(self, scope: Scope, size: int) -> Selection:
        here = self.cursor
        if scope is Scope.CONTAINER:
            stops = self._kin.container_stops(here) or [here + 1]
            size = min(size, len(stops))
            stop = stops[size - 1]
            return Selection(scope, self._free(range(here, stop)), size, stop)
        if scope is Scope.RANGE:
            stop = min(here + size, len(self))
            return Selection(scope, range(here, stop), size, stop)
        if scope is Scope.REST:
            return Selection(scope, [number for number in range(len(self)) if self.given[number] is None])
        if scope is Scope.ONE:
            return Selection(scope, range(here, here + 1))
        return Selection(scope, self._free(self._kin.like(here, scope)))

    def _free(self, numbers: Iterable[int]) -> list[int]:
        """Of blocks that the program picks, those that nobody has decided on, and the cursor's own."""
        return [number for number in numbers if number == self.cursor or self.given[number] is None]

    # Labelling

    def give(self, label: Label) -> int:
        """Give the selected blocks a label and go on to the next; the answer is how many of them changed."""
        return self._act(str(label))

    def confirm(self) -> int:
        """Say that the selected blocks' labels are right, and go on to the next."""
        return self._act(CONFIRM)

    def clear(self) -> int:
        """Take back what a person said of the selected blocks."""
        return self._act(CLEAR)

    def take(self, choice: int) -> int:
        """Give the selected blocks the label that one of two people gave."""
        return self._act((TAKE_FIRST, TAKE_SECOND)[choice])

    def give_alike(self, label: Label, scope: Scope = Scope.PATH) -> int:
        """Give a label to all blocks that are like this one: by tags and classes, or by their place in a record."""
        self.select(scope)
        return self._act(str(label))

    def confirm_rest(self) -> int:
        """Say that all labels that nobody has decided on are right."""
        self.select(Scope.REST)
        return self._act(CONFIRM)

    def repeat(self) -> int:
        """Do the last action again, here."""
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
        wanted = [(number, self._wanted(number, what)) for number in selection.numbers]
        runs = tuple(join_runs((number, self.given[number], new) for number, new in wanted))
        if not runs:
            self.move(self._next_place(selection, what))
            return 0
        before = self.cursor
        self._put((run.start, run.stop, run.new) for run in runs)
        change = Change(runs, before, self._next_place(selection, what), self.last)
        self._done.append(change)
        self._undone.clear()
        self.cursor = change.after
        self.listener(Changed(change))
        return sum(run.stop - run.start for run in runs)

    def _wanted(self, number: int, what: str) -> Label | None:
        """What a person's label of a block becomes by an action."""
        if what == CONFIRM:
            return self.label(number)
        if what == CLEAR:
            return None
        if what in {TAKE_FIRST, TAKE_SECOND}:  # where there are no two annotations any more, nothing can be taken
            return (self.choices[what == TAKE_SECOND].labels[number] if self.choices else None) or self.given[number]
        return Label(what)

    def _next_place(self, selection: Selection, what: str) -> int:
        """Where the cursor goes after an action."""
        if what == CLEAR:
            return self.cursor
        if selection.scope is Scope.REST:
            undecided = next((number for number, label in enumerate(self.given) if label is None), None)
            return self.cursor if undecided is None else undecided
        if what in {TAKE_FIRST, TAKE_SECOND}:
            after = self.find(lambda number: self.differs(number) and self.is_undecided(number))
            return self.cursor if after is None else after
        return min(selection.stop or self.cursor + 1, len(self) - 1)

    def _put(self, runs: Iterable[tuple[int, int, Label | None]]) -> None:
        given = self.given
        for start, stop, label in runs:
            for number in range(start, stop):
                self._decided += (label is not None) - (given[number] is not None)
                given[number] = label
        self.version += 1

    # Undo and redo

    def undo(self) -> Change | None:
        """Take the last change back."""
        if not self._done:
            return None
        change = self._done.pop()
        self._undone.append(change)
        self._put((run.start, run.stop, run.old) for run in change.runs)
        self._go(change.before)
        self.listener(Undone())
        return change

    def redo(self) -> Change | None:
        """Make the last change again that was taken back."""
        if not self._undone:
            return None
        change = self._undone.pop()
        self._done.append(change)
        self._put((run.start, run.stop, run.new) for run in change.runs)
        self._go(change.after)
        self.listener(Redone())
        return change

    def _go(self, number: int) -> None:
        self.unselect()
        self.cursor = number

    # A model that has learned more

    def refresh(self, prediction: Prediction) -> int:
        """Take another prediction for the blocks that nobody has decided on; the answer is how many labels changed."""
        old = self.predicted
        kept = [label is not None for label in self.given]
        labels = _merge(kept, old.labels, prediction.labels)
        probabilities = _merge(kept, old.probabilities, prediction.probabilities)
        self.predicted = Prediction(labels, probabilities, prediction.model)
        self.version += 1
        self.listener(Refreshed(self.predicted))
        return sum(ours is not theirs for ours, theirs in zip(labels, old.labels, strict=True))

    # The same again

    def apply(self, event: Event) -> None:
        """Let something happen that happened before."""
        match event:
            case Moved(cursor):
                self.cursor = max(0, min(cursor, len(self) - 1))
            case Changed(change):
                self._put((run.start, run.stop, run.new) for run in change.runs)
                self._done.append(change)
                self._undone.clear()
                self._go(change.after)
                self.last = change.action or self.last
            case Undone():
                self.undo()
            case Redone():
                self.redo()
            case Refreshed(prediction):
                self.predicted = prediction
                self.version += 1

    def set_outside(self, labels: Sequence[Label | None]) -> int:
        """Take over what was changed in the file by other means, as one change."""
        pairs = [(number, self.given[number], new) for number, new in enumerate(labels)]
        runs = tuple(join_runs(pairs))
        if runs:
            changed = Changed(Change(runs, self.cursor, self.cursor, None))
            self.apply(changed)
            self.listener(changed)
        return sum(run.stop - run.start for run in runs)


def _merge(kept: Sequence[bool], old: Sequence[T], new: Sequence[T]) -> tuple[T, ...]:
    return tuple(before if keep else after for keep, before, after in zip(kept, old, new, strict=True))
