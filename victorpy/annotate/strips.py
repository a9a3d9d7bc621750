"""Which blocks share a line: short neighbours that the model is sure are noise, such as the entries of a menu.

That depends on the model alone, not on what a person decides, so that nothing moves while one works.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from victorpy.annotate.session import DOUBTFUL, Session
from victorpy.document import Label

SHORT = 40
"""Columns of the longest text that shares a line."""
_MOST = 64
"""A line begins anew with every block of a number that this divides: so what shares a line is known by looking near."""


class Strips:
    """Lines that are shared; found out where they are asked for."""

    def __init__(self, session: Session, breaks: Collection[int], columns: Callable[[int], int | None]) -> None:
        self._session = session
        self._breaks = breaks
        """Blocks that a line begins with."""
        self._columns = columns
        """How many columns a block takes on a line that it shares; None where it cannot share one."""
        self._known: dict[int, range] = {}
        self._width = 0

    def forget(self, width: int) -> None:
        """Lines are so wide from now on, or something else has changed."""
        self._known.clear()
        self._width = width

    def around(self, number: int) -> range:
        """The blocks on the line of a block; most have one for themselves."""
        if number not in self._known:
            self._find(number)
        return self._known[number]

    def _find(self, number: int) -> None:
        """Fill lines with what may share one, from the first block around that has to begin a line."""
        start, stop = number, number + 1
        while self._joins(start):
            start -= 1
        while self._joins(stop):
            stop += 1
        line = [start]
        room = self._width - (self._columns(start) or 0)
        for at in range(start + 1, stop):
            columns = self._columns(at) or 0
            if columns > room:
                self._note(line)
                line, room = [], self._width
            line.append(at)
            room -= columns
        self._note(line)

    def _note(self, line: list[int]) -> None:
        shared = range(line[0], line[-1] + 1)
        self._known.update((number, shared) for number in line)

    def _joins(self, number: int) -> bool:
        """Whether a block may stand on the line of the one before it."""
        if not 0 < number < len(self._session) or number % _MOST == 0 or number in self._breaks:
            return False
        return self._may_share(number - 1) and self._may_share(number)

    def _may_share(self, number: int) -> bool:
        predicted = self._session.predicted
        sure = predicted.probabilities[number]
        if predicted.labels[number] is not Label.OTHER or sure is None or sure < DOUBTFUL:
            return False
        return self._columns(number) is not None
