"""What is removed and what survives: the share of words that a method drops, and the values that are left.

Either number alone is worthless: keeping everything keeps all values, dropping everything removes all noise.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any


def occurring(values: Iterable[str], words: Sequence[str]) -> tuple[bool, ...]:
    """Whether the words of each value follow one another in a text.

    >>> occurring(["canon eos", "eos canon", "can"], ["the", "canon", "eos", "7d"])
    (True, False, False)
    """
    text = f" {' '.join(words)} "
    return tuple(f" {value} " in text for value in values)


@dataclass(frozen=True, slots=True)
class Survival:
    """Counts of pages, their values and their words, before and after cleaning."""

    pages: int = 0
    empty: int = 0
    """Pages of which nothing is left, although they had words."""
    values: int = 0
    present: int = 0
    """Values that occur in the text before cleaning. Others are in attributes, titles or pictures, or reworded."""
    survived: int = 0
    """Those that still occur after cleaning."""
    words: int = 0
    kept: int = 0

    @classmethod
    def of(cls, before: Sequence[bool], after: Sequence[bool], words: int, kept: int) -> Survival:
        """Count one page, given which of its values occur before and after cleaning, and its numbers of words."""
        survived = sum(first and second for first, second in zip(before, after, strict=True))
        return cls(1, int(words > 0 and not kept), len(before), sum(before), survived, words, kept)

    @classmethod
    def sum(cls, counts: Iterable[Survival]) -> Survival:
        """Add up the counts of many pages."""
        pages = list(counts)
        return cls(*(sum(getattr(page, column.name) for page in pages) for column in fields(cls)))

    def scores(self) -> dict[str, Any]:
        """Return the counts and the two shares; a share of nothing is None."""
        survived = self.survived / self.present if self.present else None
        removed = 1 - self.kept / self.words if self.words else None
        return asdict(self) | {"survived_share": survived, "removed_share": removed}
