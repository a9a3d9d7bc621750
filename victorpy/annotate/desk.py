"""What fills the screen, and what it may ask of the program around it; none of it needs a terminal."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Protocol

from victorpy.annotate.blocks import Row
from victorpy.annotate.keys import Keys

COMFORT = (80, 24)
SMALLEST = (40, 8)
WHEEL = 3
"""A turn of the wheel moves on by so many."""


class Desk(Protocol):
    """What a view may ask of the program around it."""

    keys: Keys
    packs: bool
    """Whether short blocks that the model is sure are noise share lines."""

    def say(self, message: str) -> None:
        """Show a message until the next key."""

    def report(self, failure: str) -> None:
        """Say what went wrong, also after the program has ended."""

    def ask(self, question: str, answer: Callable[[str], None], start: str = "") -> None:
        """Let the person type a line."""

    def close_view(self) -> None:
        """Go back to where this view was opened."""

    def open_view(self, view: View) -> None:
        """Show another view on top."""

    def next_page(self) -> None:
        """Go to the next page that is not finished."""

    def previous_page(self) -> None:
        """Go to the page before."""

    def retrain(self) -> None:
        """Learn from what is finished."""


class View(ABC):
    """Something that fills the screen."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    @abstractmethod
    def top(self, width: int) -> str:
        """The line above."""

    @abstractmethod
    def body(self, width: int, height: int) -> list[Row]:
        """What is between the lines."""

    @abstractmethod
    def hints(self, width: int) -> str:
        """The line below, as long as there is nothing to say."""

    @property
    def trouble(self) -> str:
        """What is wrong as long as it is wrong, for the line below."""
        return ""

    @property
    def is_waiting(self) -> bool:
        """Whether something is shown that will be drawn anew when it has been found out."""
        return False

    @abstractmethod
    def act(self, action: str) -> bool:
        """Do something; the answer is whether it is something that can be done here."""

    def take_key(self, key: str) -> bool:
        """Take a key that stands for itself; the answer is whether it does."""
        return False

    def click(self, column: int, row: int) -> None:  # noqa: B027  (most views have nothing to do)
        """Take a click into the body."""

    def wheel(self, step: int) -> None:
        """Take a turn of the wheel."""
        for _ in range(WHEEL):
            self.act("down" if step > 0 else "up")

    def tick(self, on_top: bool) -> None:  # noqa: B027  (most views have nothing to do)
        """Called a few times a second, also while another view is on top."""

    def close(self) -> None:  # noqa: B027  (most views have nothing to do)
        """The view goes away."""
