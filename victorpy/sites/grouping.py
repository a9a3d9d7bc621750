"""Group pages by site, divide them into folds by group, and sample them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any, TypeVar
from urllib.parse import urlsplit

from victorpy.errors import ConfigError, suggest

Item = TypeVar("Item")

SITE_KEYS = ("domain", "host")  # the part of an address that identifies a site: the registered domain or the host
SITE_KEY = SITE_KEYS[0]  # the default
SAMPLE = 500  # default for the maximum number of pages of a site that a method learns from

SEED = 1


def site_of(url: str, by: str = "domain") -> str:
    """Return the site of an address, or an empty string if the address has no host.

    A site is a registered domain with all its hosts, or with ``by="host"`` a single host.

    >>> site_of("http://news.bbc.co.uk:80/1"), site_of("https://tea.blogspot.com/"), site_of("http://[x/")
    ('bbc.co.uk', 'tea.blogspot.com', '')
    >>> site_of("http://news.bbc.co.uk:80/1", by="host"), site_of("http://127.0.0.1/")
    ('news.bbc.co.uk', '127.0.0.1')
    """
    if by not in SITE_KEYS:
        raise ConfigError(f"a site must be one of {', '.join(SITE_KEYS)}, not {by!r}{suggest(by, SITE_KEYS)}")
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:  # links may be malformed
        return ""
    is_ip_address = ":" in host or host.rpartition(".")[2].isdigit()
    if by == "host" or is_ip_address or not host:
        return host
    return _suffixes().privatesuffix(host) or host


@cache
def _suffixes() -> Any:
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList()


def make_folds(groups: Sequence[str], folds: int, seed: int, labels: Sequence[str] | None = None) -> list[int]:
    """Return a fold for each page. All pages of a group are in the same fold, and folds have about the same size.

    With labels, the pages of every label are spread over the folds.

    >>> make_folds(["a", "a", "b", "c"], 2, seed=1)
    [0, 0, 1, 1]
    >>> make_folds(["1", "2", "1", "3"], 2, seed=1, labels=["tea", "tea", "pot", "pot"])
    [0, 1, 0, 1]
    """
    sizes: dict[str, Counter[str]] = {}
    for group, label in zip(groups, labels or [""] * len(groups), strict=True):
        sizes.setdefault(group, Counter())[label] += 1
    order = sorted(sizes)
    random.Random(seed).shuffle(order)
    order.sort(key=lambda group: -sizes[group].total())
    loads = [Counter[str]() for _ in range(folds)]
    fold_of = {}
    for group in order:
        crowding = [(sum(load[label] * count for label, count in sizes[group].items()), load.total()) for load in loads]
        fold_of[group] = crowding.index(min(crowding))
        loads[fold_of[group]] += sizes[group]
    return [fold_of[group] for group in groups]


def draw_sample(items: Sequence[Item], size: int, chance: random.Random | None = None) -> list[Item]:
    """Sample `size` items and keep their order. Return all items if there are fewer.

    Without a random generator, the same number of items always gives the same sample.
    """
    if len(items) <= size:
        return list(items)
    chance = chance or random.Random(SEED)
    return [items[index] for index in sorted(chance.sample(range(len(items)), size))]
