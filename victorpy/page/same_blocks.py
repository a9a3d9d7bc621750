"""Compare the blocks of two pages."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from itertools import zip_longest

from victorpy.document import Document

_EXCERPT_LENGTH = 50


@dataclass(frozen=True, slots=True)
class Difference:
    """The first difference between the blocks of two pages."""

    number: int
    """Number of the block, from 1."""
    texts: tuple[str | None, str | None]
    """The block's text in each page, or None."""
    counts: tuple[int, int]
    """Number of blocks in each page."""
    only_cut: bool
    """Whether the pages have the same text but different cuts."""

    def describe(self, one: str, other: str) -> str:
        """Describe the difference, given names for the two pages.

        >>> Difference(2, ("Tea", None), (2, 1), only_cut=False).describe("a.anno", "b.anno")
        "block 2 is 'Tea' in a.anno and missing in b.anno"
        """
        excerpts = [
            "missing" if text is None else repr(text if len(text) <= _EXCERPT_LENGTH else f"{text[:_EXCERPT_LENGTH]}…")
            for text in self.texts
        ]
        return f"block {self.number:,} is {excerpts[0]} in {one} and {excerpts[1]} in {other}"


def find_difference(one: Document, other: Document) -> Difference | None:
    """Return the first difference, or None if the pages have the same blocks."""
    texts, other_texts = ([block.text for block in document.blocks] for document in (one, other))
    if texts == other_texts:
        return None
    pairs = enumerate(zip_longest(texts, other_texts), 1)
    number, pair = next((number, pair) for number, pair in pairs if pair[0] != pair[1])
    letters, other_letters = ("".join("".join(lines).split()) for lines in (texts, other_texts))
    return Difference(number, pair, (len(texts), len(other_texts)), letters == other_letters)


def digest_of(document: Document) -> str:
    """Return a short digest that is equal for pages with the same blocks."""
    digest = hashlib.blake2b(digest_size=12)
    for block in document.blocks:
        digest.update(block.text.encode("utf-8", "surrogatepass") + b"\0")
    return digest.hexdigest()
