"""Precision, recall and F1."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Score:
    """Counts of units in the output, in the gold standard and in both. Unpacks to precision, recall and F1."""

    shared: int
    output: int
    gold: int

    @classmethod
    def pool(cls, scores: Iterable[Score]) -> Score:
        """Add up the counts of several texts."""
        texts = list(scores)
        return cls(*(sum(getattr(score, name) for score in texts) for name in ("shared", "output", "gold")))

    def __iter__(self) -> Iterator[float]:
        return iter((self.precision, self.recall, self.f1))

    @property
    def precision(self) -> float:
        """Share of the output that is in the gold standard."""
        if not self.output:
            return float(not self.gold)
        return self.shared / self.output

    @property
    def recall(self) -> float:
        """Share of the gold standard that is in the output."""
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
        return {"precision": self.precision, "recall": self.recall, "f1": self.f1}
