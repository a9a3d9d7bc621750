"""The terms that a page is about (section 6): those of the highest weight."""

from __future__ import annotations

from victorpy.about.weights import Vector


def keywords(vector: Vector, count: int) -> list[str]:
    """The `count` (the paper's λ) heaviest terms, the heaviest first; numbers are none.

    >>> keywords({"tea": 0.8, "1848": 0.5, "bush": 0.2, "leaf": 0.2}, 3)
    ['tea', 'bush', 'leaf']
    """
    named = (term for term in vector if not term[0].isdigit())
    return sorted(named, key=lambda term: (-vector[term], term))[:count]
