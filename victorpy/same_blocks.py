"""Whether two pages are cut into the same blocks: the one answer for all who hold annotations against each other."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from itertools import zip_longest

from victorpy.document import Document

_SHOWN = 50
"""Characters of a block's text in a message."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Where the blocks of two pages part for the first time."""

    number: int
    """Of the block, from 1."""
    texts: tuple[str | None, str | None]
    """What the one and the other have there; None where one has no such block."""
    counts: tuple[int, int]
    """How many blocks each has."""
    only_cut: bool
    """Whether the pages say the same and are only cut otherwise."""

    def describe(self, one: str, other: str) -> str:
        """Say it, with names for the two.

        >>> Difference(2, ("Tea", None), (2, 1), only_cut=False).describe("a.anno", "b.anno")
        "block 2 is 'Tea' in a.anno and missing in b.anno"
        """
        ours, theirs = map(_excerpt, self.texts)
        return f"block {self.number:,} is {ours} in {one} and {theirs} in {other}"


def find_difference(one: Document, other: Document) -> Difference | None:
    """Find where two pages part; None where they have the same blocks."""
    ours, theirs = ([block.text for block in document.blocks] for document in (one, other))
    if ours == theirs:
        return None
    pairs = enumerate(zip_longest(ours, theirs), 1)
    number, texts = next((number, texts) for number, texts in pairs if texts[0] != texts[1])
    return Difference(number, texts, (len(ours), len(theirs)), _letters(ours) == _letters(theirs))


def digest_of(document: Document) -> str:
    """A short digest of the blocks' texts: pages with the same blocks have the same."""
    digest = hashlib.blake2b(digest_size=12)
    for block in document.blocks:
        digest.update(block.text.encode("utf-8", "surrogatepass") + b"\0")
    return digest.hexdigest()


def _excerpt(text: str | None) -> str:
    if text is None:
        return "missing"
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")


def _letters(texts: list[str]) -> str:
    return "".join("".join(texts).split())
