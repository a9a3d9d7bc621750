"""Replicas among texts, in plain Python."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from victorpy.errors import ConfigError, suggest
from victorpy.replicas.base import KEEP, Keep, load_detector
from victorpy.replicas.index import Index


def find_replicas(
    texts: Iterable[str | tuple[str, str]], method: str = "minhash", keep: str = "first", **parameters: Any
) -> list[int | None]:
    """For every text the number of the one that it repeats, or None where it is to be kept.

    A text may come with its language, as a pair. Texts are taken in order, or with ``keep="longest"`` the longest
    first; each is compared with those that were kept before it. Parameters are those of the method: percentage and
    interval of fingerprint; threshold, shingle and num_perm of minhash.

    >>> tea = "Tea is made by pouring hot water over the cured leaves of the tea bush, and drunk all over the world."
    >>> find_replicas([tea, "Coffee is brewed from roasted beans of another plant.", f"{tea} Have a cup!"])
    [None, None, 0]
    >>> find_replicas([tea, f"{tea} Have a cup!"], keep="longest")
    [1, None]
    """
    if keep not in KEEP:
        raise ConfigError(f"keep is one of {', '.join(KEEP)}, not {keep!r}{suggest(keep, KEEP)}")
    detector = load_detector(method, **parameters)
    pairs = ((each, "") if isinstance(each, str) else each for each in texts)
    found = [detector.signed(text, language) for text, language in pairs]
    order = range(len(found))
    index = Index(detector)
    repeats: list[int | None] = [None] * len(found)
    for number in sorted(order, key=lambda each: -found[each].length) if keep == Keep.LONGEST else order:
        told = index.repeated(found[number].signature, str(number))
        repeats[number] = None if told is None else int(told)
    return repeats
