"""Whether confidence is worth its name: pages in bins of confidence, and how well the bins keep their word."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from victorpy.errors import DataError
from victorpy.research.statistics import Summary, summarise


@dataclass(frozen=True, slots=True)
class Judged:
    """A page, the word F1 that was expected of its cleaned text, and the one that it has."""

    name: str
    confidence: float
    word_f1: float


@dataclass(frozen=True, slots=True)
class Bin:
    """The pages whose confidence is in a range."""

    low: float
    high: float
    confidence: float
    """Their mean confidence."""
    f1: Summary
    """Their true word F1."""

    @property
    def gap(self) -> float:
        """How much better they are than was expected; below 0, how much worse."""
        return self.f1.mean - self.confidence


def make_bins(pages: Sequence[Judged], count: int) -> list[Bin]:
    """Share pages out by confidence into so many bins of equal width; those without pages are left out."""
    found: dict[int, list[Judged]] = {}
    for page in pages:
        found.setdefault(min(int(page.confidence * count), count - 1), []).append(page)
    return [
        Bin(
            number / count,
            (number + 1) / count,
            sum(page.confidence for page in inside) / len(inside),
            summarise([page.word_f1 for page in inside]),
        )
        for number, inside in sorted(found.items())
    ]


def expected_calibration_error(bins: Sequence[Bin]) -> float:
    """How far confidence and truth are apart, the mean over bins by their pages."""
    return sum(row.f1.count * abs(row.gap) for row in bins) / sum(row.f1.count for row in bins)


def spearman(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """The correlation of ranks; not a number where one side is all the same.

    >>> round(spearman([0.1, 0.2, 0.3, 0.4], [10.0, 30.0, 20.0, 40.0]), 3)
    0.8
    """
    if min(len(set(ours)), len(set(theirs))) < 2:
        return float("nan")
    return float(np.corrcoef(ranks(ours), ranks(theirs))[0, 1])


def ranks(values: Sequence[float]) -> npt.NDArray[np.float64]:
    """Rank values from 1; equal ones share the mean of their ranks.

    >>> ranks([0.5, 0.1, 0.5]).tolist()
    [2.5, 1.0, 2.5]
    """
    _, number, size = np.unique(values, return_inverse=True, return_counts=True)
    mean_rank = np.cumsum(size) - (size - 1) / 2
    return np.asarray(mean_rank[number.reshape(-1)], dtype=np.float64)


def load_judged(path: Path) -> list[Judged]:
    """Read ``[{"name": ..., "confidence": ..., "word_f1": ...}, ...]``."""
    try:
        return [
            Judged(row["name"], float(row["confidence"]), float(row["word_f1"]))
            for row in json.loads(path.read_bytes())
        ]
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path}: no list of name, confidence and word_f1: {type(error).__name__}: {error}") from error


def save_judged(pages: Sequence[Judged], path: Path) -> None:
    """Write what `load_judged` reads."""
    rows = [asdict(page) for page in pages]
    path.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
