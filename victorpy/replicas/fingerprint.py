"""The paper's fingerprint: the most frequent words of a page as one digest. Replicas are pages with the same digest."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Any

from victorpy.about.language import language_of
from victorpy.about.terms import terms
from victorpy.errors import ConfigError
from victorpy.replicas.base import DETECTORS, Detector

_ROUNDING = 1e-9  # a product such as 100 * 0.29 may come out a little below the whole number that it is


@DETECTORS.register("fingerprint")
class Fingerprint(Detector):
    """The digest of a text's most frequent words.

    >>> Fingerprint(percentage=0.5, interval=2).selected(["tea", "leaf", "tea", "cup", "pot", "milk", "leaf"])
    ['leaf', 'tea']
    """

    name = "fingerprint"
    compares = False

    def __init__(self, percentage: float = 0.4, interval: int = 5) -> None:
        if not 0 < percentage <= 1:
            raise ConfigError(f"fingerprint: percentage={percentage:g}: a share above 0 and up to 1 is wanted, as 0.4")
        if interval < 1:
            raise ConfigError(f"fingerprint: interval={interval}: a whole number of at least 1 is wanted")
        self.percentage = percentage
        self.interval = interval

    def sign(self, text: str, language: str = "") -> bytes:
        """The MD5 digest of the words that stand for a text; none where fewer than `interval` are selected.

        All such short texts would have the digest of no words, and repeat each other.
        """
        return self.digest(terms(text, language_of(text, language)))

    def digest(self, words: list[str]) -> bytes:
        """The signature of a text with these words."""
        chosen = self.selected(words)
        return hashlib.md5("\n".join(chosen).encode(), usedforsecurity=False).digest() if chosen else b""

    def selected(self, words: list[str]) -> list[str]:
        """The words that stand for a text, in the paper's steps."""
        frequencies = Counter(words)
        ranked = sorted(frequencies, key=lambda word: (-frequencies[word], word))
        most_frequent = sorted(ranked[: int(len(ranked) * self.percentage + _ROUNDING)])
        return most_frequent[: len(most_frequent) // self.interval * self.interval]

    def keys(self, signature: bytes) -> list[bytes]:
        """The beginning of the digest."""
        return [signature[:8]]

    def similar(self, one: bytes, other: bytes) -> bool:
        """Whether the digests are the same."""
        return one == other

    def parameters(self) -> dict[str, Any]:
        """Both of them."""
        return {"percentage": self.percentage, "interval": self.interval}
