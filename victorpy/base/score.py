"""Precision, recall and F1."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Score:
    """Number of units of the output and of the gold, and of those they share; unpacks into precision, recall, F1."""

    shared: int
    output: int
    gold: int

    @classmethod
    def pool(cls, scores: Iterable[Score]) -> Score:
        """Count the units of many texts as if they were one."""
        texts = list(scores)
        return cls(*(sum(getattr(score, name) for score in texts) for name in ("shared", "output", "gold")))

    def __iter__(self) -> Iterator[float]:
        return iter((self.precision, self.recall, self.f1))

    @property
    def precision(self) -> float:
        """Share of the output that is gold."""
        if not self.output:
            return float(not self.gold)
        return self.shared / self.output

    @property
    def recall(self) -> float:
        """Share of the gold that was found."""
        if not self.gold:
            return float(not self.output)
        return self.shared / self.gold

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        if not self.output and not self.gold:
            return 1.0
        return 2 * self.shared / (self.output + self.gold)

    def shares(self) -> dict[str, float]:
        """Return precision, recall and F1 by name."""
        return {"precision": self.precision, "recall": self.recall, "f1": self.f1}
