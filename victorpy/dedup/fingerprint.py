"""The paper's fingerprint: the most frequent words of a page as one digest. Replicas are pages with the same digest."""

from __future__ import annotations

import hashlib
from collections import Counter

from victorpy.dedup.base import DETECTORS, Detector
from victorpy.description.terms import language_of, terms
from victorpy.errors import ConfigError

_ROUNDING = 1e-9  # a product such as 100 * 0.29 may be slightly below the whole number that is meant


@DETECTORS.register("fingerprint")
class Fingerprint(Detector):
    """The digest of a text's most frequent words.

    >>> Fingerprint(percentage=0.5, interval=2).selected(["tea", "leaf", "tea", "cup", "pot", "milk", "leaf"])
    ['leaf', 'tea']
    """

    name = "fingerprint"

    def __init__(self, percentage: float = 0.4, interval: int = 5) -> None:
        if not 0 < percentage <= 1:
            raise ConfigError(f"fingerprint: percentage={percentage:g}: a share above 0 and up to 1 is wanted, as 0.4")
        if interval < 1:
            raise ConfigError(f"fingerprint: interval={interval}: a whole number of at least 1 is wanted")
        self.percentage = percentage
        self.interval = interval

    def sign(self, text: str, language: str = "") -> bytes:
        return self.digest(terms(text, language_of(text, language)))

    def digest(self, words: list[str]) -> bytes:
        """Return the MD5 digest of the words that represent a text, or nothing if fewer than `interval` are selected.

        Otherwise all such short texts would have the digest of no words, and repeat each other.
        """
        selected = self.selected(words)
        return hashlib.md5("\n".join(selected).encode(), usedforsecurity=False).digest() if selected else b""

    def selected(self, words: list[str]) -> list[str]:
        """Return the words that represent a text, in the paper's steps."""
        frequencies = Counter(words)
        ranked = sorted(frequencies, key=lambda word: (-frequencies[word], word))
        most_frequent = sorted(ranked[: int(len(ranked) * self.percentage + _ROUNDING)])
        return most_frequent[: len(most_frequent) // self.interval * self.interval]

    def keys(self, signature: bytes) -> list[bytes]:
        return [signature[:8]]

    def similar(self, one: bytes, other: bytes) -> bool:
        return one == other
