"""The terms that a page is about (section 6): those of the highest weight."""

from __future__ import annotations

from victorpy.about.weights import Vector

_DIGITS = 9  # what differs behind them differs by rounding


def keywords(vector: Vector, count: int) -> list[str]:
    """The `count` (the paper's λ) heaviest terms, the heaviest first; numbers are none.

    Of equally heavy ones those that come first on the page, which is the order of a vector.

    >>> keywords({"tea": 0.8, "1848": 0.5, "leaf": 0.2, "bush": 0.2}, 3)
    ['tea', 'leaf', 'bush']
    """
    named = (term for term in vector if not term[0].isdigit())
    return sorted(named, key=lambda term: -round(vector[term], _DIGITS))[:count]
