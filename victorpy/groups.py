"""Pages that belong together, those of a site above all, and folds that keep them together."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from typing import Any
from urllib.parse import urlsplit


def site_of(url: str) -> str:
    """The domain that an address is registered under, or nothing: hosts of one site are one site.

    >>> site_of("http://news.bbc.co.uk:80/1"), site_of("https://tea.blogspot.com/"), site_of("http://[x/")
    ('bbc.co.uk', 'tea.blogspot.com', '')
    """
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:  # pages have broken addresses
        return ""
    return _suffixes().privatesuffix(host) or host


@cache
def _suffixes() -> Any:
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList()


def make_folds(groups: Sequence[str], folds: int, seed: int) -> list[int]:
    """Give every page a fold so that a group is in one fold only and folds are of about the same size.

    >>> make_folds(["a", "a", "b", "c"], 2, seed=1)
    [0, 0, 1, 1]
    """
    sizes: dict[str, int] = {}
    for group in groups:
        sizes[group] = sizes.get(group, 0) + 1
    order = sorted(sizes)
    random.Random(seed).shuffle(order)
    order.sort(key=lambda group: -sizes[group])
    loads = [0] * folds
    fold_of = {}
    for group in order:
        fold = loads.index(min(loads))
        fold_of[group] = fold
        loads[fold] += sizes[group]
    return [fold_of[group] for group in groups]
