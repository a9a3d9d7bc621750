"""Numbers that stand for texts, the same in every process, and for all stretches of a sequence at once."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.uint64]

MASK = (1 << 64) - 1
"""Reduces any whole number to 64 bits."""

_BASE = 0x9E3779B97F4A7C15
_INVERSE = pow(_BASE, -1, 1 << 64)


def number_of(text: str) -> int:
    """Return a number of 64 bits for a text. Python's own hash of a text differs from process to process."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def numbers_of(texts: Iterable[str]) -> list[int]:
    """Return the numbers of texts, hashing equal texts once."""
    texts = list(texts)
    numbers = {text: number_of(text) for text in dict.fromkeys(texts)}
    return [numbers[text] for text in texts]


def mixed(numbers: Numbers) -> Numbers:
    """Scatter numbers, so that their order is random."""
    for shift, factor in ((33, 0xFF51AFD7ED558CCD), (33, 0xC4CEB9FE1A85EC53)):
        numbers = (numbers ^ (numbers >> np.uint64(shift))) * np.uint64(factor)
    return numbers ^ (numbers >> np.uint64(33))


def windows(sequence: Numbers, size: int) -> Numbers:
    """Return a number for each stretch of `size` members. A shorter sequence is one stretch, an empty one none.

    The stretch at i is the polynomial of its members: the difference of two running sums of member · base^place,
    divided by base^i. All of it is modulo 2^64, where an odd base has an inverse.

    >>> found = windows(np.array([7, 8, 9, 7, 8], dtype=np.uint64), 2)
    >>> len(found), bool(found[0] == found[3]), bool(found[0] == found[1])
    (4, True, False)
    """
    size = min(size, len(sequence))
    if not size:
        return sequence[:0]
    places = len(sequence) - size + 1
    sums = np.append(np.uint64(0), np.add.accumulate(mixed(sequence + np.uint64(1)) * _powers(_BASE, len(sequence))))
    return mixed((sums[size:] - sums[:-size]) * _powers(_INVERSE, places))


def _powers(base: int, count: int) -> Numbers:
    powers = np.full(count, base, dtype=np.uint64)
    powers[0] = 1
    return np.multiply.accumulate(powers)
