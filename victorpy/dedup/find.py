"""Decides which texts are replicas of others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from victorpy.dedup.base import KEEP, Keep, load_detector
from victorpy.dedup.index import Index, open_database
from victorpy.errors import ConfigError, suggest

RowId = TypeVar("RowId")


def decide(rows: Iterable[tuple[RowId, bytes, str]], index: Index) -> Iterator[tuple[RowId, str]]:
    """Yield the rows that are replicas, each with the description of the kept row that it repeats.

    A row is an id, a signature and a description. Rows come in order of preference: each is compared with those that
    were kept before it, never with replicas. So a replica of a replica is dropped only if it repeats a kept row too.
    """
    for row_id, signature, description in rows:
        repeated = index.find(signature)
        if repeated is None:
            index.add(signature, description)
        else:
            yield row_id, repeated


def find_replicas(
    texts: Iterable[str | tuple[str, str]], method: str = "minhash", keep: str = "first", **parameters: Any
) -> list[int | None]:
    """Return for every text the number of the text that it repeats, or None if it is kept.

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
    pairs = ((text, "") if isinstance(text, str) else text for text in texts)
    signed = [detector.signed(text, language) for text, language in pairs]
    numbers = list(range(len(signed)))
    if keep == Keep.LONGEST:
        numbers.sort(key=lambda number: -signed[number].length)
    rows = ((number, signed[number].signature, str(number)) for number in numbers)
    repeats: list[int | None] = [None] * len(signed)
    with open_database(None) as database:
        for number, repeated in decide(rows, Index(detector, database)):
            repeats[number] = int(repeated)
    return repeats
