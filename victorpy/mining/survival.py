"""What is removed and what survives: the share of words that a method drops, beside the values that are left.

Either number alone is worthless: keeping everything saves all values, dropping everything removes all noise.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any


def occurring(values: Iterable[str], words: Sequence[str]) -> tuple[bool, ...]:
    """Whether the words of each value stand in a text, one after the other and in their order.

    >>> occurring(["canon eos", "eos canon", "can"], ["the", "canon", "eos", "7d"])
    (True, False, False)
    """
    text = f" {' '.join(words)} "
    return tuple(f" {value} " in text for value in values)


@dataclass(frozen=True, slots=True)
class Survival:
    """Counts of pages, their values and their words, before cleaning and after it."""

    pages: int = 0
    empty: int = 0
    """Pages of which nothing is left, though there was something."""
    values: int = 0
    present: int = 0
    """Values that occur in the text before cleaning; the others are in attributes, titles or pictures, or reworded."""
    survived: int = 0
    """Those of them that still occur after it."""
    words: int = 0
    kept: int = 0

    @classmethod
    def of(cls, before: Sequence[bool], after: Sequence[bool], words: int, kept: int) -> Survival:
        """Count one page: which of its values occur before and after cleaning, and how many words there are."""
        survived = sum(first and second for first, second in zip(before, after, strict=True))
        return cls(1, int(words > 0 and not kept), len(before), sum(before), survived, words, kept)

    @classmethod
    def sum(cls, counts: Iterable[Survival]) -> Survival:
        """Count many pages together."""
        found = list(counts)
        return cls(*(sum(getattr(each, column.name) for each in found) for column in fields(cls)))

    def scores(self) -> dict[str, Any]:
        """The counts, and the two shares; a share of nothing is None."""
        counts: dict[str, Any] = {column.name: getattr(self, column.name) for column in fields(self)}
        survived = self.survived / self.present if self.present else None
        removed = 1 - self.kept / self.words if self.words else None
        return counts | {"survived_share": survived, "removed_share": removed}
