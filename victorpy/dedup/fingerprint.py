"""The fingerprint method: texts are replicas if their most frequent words have the same digest."""

from __future__ import annotations

import hashlib
from collections import Counter

from victorpy.base.language import language_of
from victorpy.dedup.base import DETECTORS, Detector, Signature
from victorpy.description.terms import terms
from victorpy.errors import ConfigError

_ROUNDING = 1e-9  # in floating point, 100 * 0.29 is slightly below 29


@DETECTORS.register("fingerprint")
class Fingerprint(Detector):
    """The digest of a text's most frequent words, as in the paper on DocView.

    >>> Fingerprint(percentage=0.5, interval=2).selected(["tea", "leaf", "tea", "cup", "pot", "milk", "leaf"])
    ['leaf', 'tea']
    """

    name = "fingerprint"

    def __init__(self, percentage: float = 0.4, interval: int = 5) -> None:
        if not 0 < percentage <= 1:
            raise ConfigError(f"fingerprint: percentage={percentage:g}: give a number above 0 and up to 1, such as 0.4")
        if interval < 1:
            raise ConfigError(f"fingerprint: interval={interval}: give a whole number of at least 1")
        self.percentage = percentage
        self.interval = interval

    def sign(self, text: str, title: str = "", rest: str = "", language: str = "") -> bytes:
        digest = self.digest(terms(text, language_of(text, language)))
        return Signature(int.from_bytes(digest[:8], "little")).as_bytes() if digest else b""

    def digest(self, words: list[str]) -> bytes:
        """Return the MD5 digest of the selected words. A short text without selected words has no digest."""
        selected = self.selected(words)
        return hashlib.md5("\n".join(selected).encode(), usedforsecurity=False).digest() if selected else b""

    def selected(self, words: list[str]) -> list[str]:
        """Select the words that represent a text, as in the paper."""
        frequencies = Counter(words)
        ranked = sorted(frequencies, key=lambda word: (-frequencies[word], word))
        most_frequent = sorted(ranked[: int(len(ranked) * self.percentage + _ROUNDING)])
        return most_frequent[: len(most_frequent) // self.interval * self.interval]
