"""The interface of a deduplication method: signatures of texts, keys to find candidates, and a test of candidates."""

from __future__ import annotations

import re
import struct
from abc import ABC, abstractmethod
from collections.abc import Sequence
from enum import StrEnum
from inspect import signature
from typing import Any, ClassVar, NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt

from victorpy.base.parameters import parse_settings
from victorpy.base.registry import Registry
from victorpy.base.words import paired_words
from victorpy.errors import ConfigError

Words = npt.NDArray[np.uint32]
"""Sorted hashes of distinct words."""
Keys = npt.NDArray[np.uint64]

NO_WORDS: Words = np.zeros(0, dtype=np.uint32)
MOST_WORDS = 1_000
"""Maximum number of words that represent a text.

If it has more distinct words, those with the smallest hashes are used.
"""
COMMON_PAGES = 8
"""A word on at least this many pages of a sample of the crawl is not rare. Few pages have as many near-copies."""
RAREST = 8
"""Number of words that represent a page without rare words."""

_MONTH = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|"
    "aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
DATE = re.compile(
    rf"""(?<![\w.,/-])(?:
      \d{{1,2}}(?:st|nd|rd|th|\.|er|º)?\ (?:de\ |of\ )?[^\W\d_]{{3,12}}\.?,?\ (?:de\ |del\ )?(?:19|20)\d\d
    | [^\W\d_]{{3,12}}\.?\ \d{{1,2}}(?:st|nd|rd|th)?,?\ (?:19|20)\d\d
    | (?:{_MONTH})\.?(?:\ \d{{1,2}}(?:st|nd|rd|th)?)?(?:,?\ (?:19|20)\d\d)
    | (?:{_MONTH})\.?\ \d{{1,2}}(?:st|nd|rd|th)?
    | \d{{1,2}}\ (?:{_MONTH})\.?
    | (?:19|20)\d\d\s?[-/.年년]\s?\d{{1,2}}\s?[-/.月월]\s?\d{{1,2}}[日일]?(?:t\d\d:\d\d(?::\d\d)?\S{{0,6}})?
    | \d{{1,2}}[-/.]\d{{1,2}}[-/.](?:19|20)?\d\d
    | \d{{1,2}}:\d\d(?::\d\d)?(?:\ ?[ap]\.?m\b\.?)?
    | \d{{1,3}}\ (?:second|minute|hour|day|week|month|year)s?\ ago
    )(?![\w/])""",
    re.VERBOSE,
)
"""Matches dates and times in lower-case text with single spaces. Copies of a page often differ in these."""


class Keep(StrEnum):
    """Which of several replicas to keep."""

    FIRST = "first"
    LONGEST = "longest"


KEEP = tuple(map(str, Keep))


class Signed(NamedTuple):
    """The signature of a text, and the length of the text. A text without words has an empty signature."""

    signature: bytes
    length: int


class Signature(NamedTuple):
    """The part of a text and its page that is compared with other pages."""

    digest: int
    """Texts with the same digest are replicas."""
    title: Words = NO_WORDS
    text: Words = NO_WORDS
    rest: Words = NO_WORDS
    """Words of the page outside its title and text."""

    def as_bytes(self) -> bytes:
        lengths = (len(self.title), len(self.text), len(self.rest))
        return _HEAD.pack(self.digest, *lengths) + np.concatenate(self[1:]).astype("<u4").tobytes()

    @classmethod
    def from_bytes(cls, content: bytes) -> Signature:
        digest, title, text, _ = _HEAD.unpack_from(content)
        words = np.frombuffer(content, "<u4", offset=_HEAD.size)
        return cls(digest, words[:title], words[title : title + text], words[title + text :])


_HEAD = struct.Struct("<Q3H")


class Frame(NamedTuple):
    """Words that many pages share."""

    title: Words = NO_WORDS
    """Words that many titles of a site have."""
    site: Words = NO_WORDS
    """Words that many pages of a site have."""
    always: Words = NO_WORDS
    """Words that nearly all pages of a site have."""
    crawl: Words = NO_WORDS
    """Words on several pages of a sample of the crawl."""
    pages: npt.NDArray[np.int64] = np.zeros(0, dtype=np.int64)
    """Number of sampled pages with each word of `crawl`."""

    def particular(self, words: Words) -> Words:
        """Return the words that do not belong to the site."""
        return words[~is_in(words, self.site)]

    def rarest(self, words: Words) -> Words:
        """Return the words that are rare in the crawl. If there are none, return the rarest of the words."""
        if not len(self.crawl) or len(words) <= RAREST:
            return words
        places = np.minimum(self.crawl.searchsorted(words), len(self.crawl) - 1)
        pages = np.where(self.crawl[places] == words, self.pages[places], 0)
        rare = words[pages < COMMON_PAGES]
        return rare if len(rare) >= RAREST else words[np.argsort(pages, kind="stable")[:RAREST]]


NO_FRAME = Frame()


class Detector(ABC):
    """A deduplication method. A text has the same signature on every machine."""

    name: ClassVar[str]
    uses_sites: ClassVar[bool] = False
    """Whether `keys` and `is_replica` need the words that the pages of a site have in common."""
    uses_page: ClassVar[bool] = False
    """Whether signatures contain the words of the whole page."""

    def signed(self, text: str, title: str = "", rest: str = "", language: str = "") -> list[Signed]:
        """Compute the signatures of a text. There are several if its paragraphs are compared.

        `rest` is the text of the page that is not in `text`. `language` is the language that the page declares.
        """
        return [Signed(self.sign(text, title, rest, language), len(text))]

    @abstractmethod
    def sign(self, text: str, title: str = "", rest: str = "", language: str = "") -> bytes:
        """Return the signature of a text. It is empty if the text has too few words."""

    def keys(self, signature: Signature, frame: Frame) -> Keys:
        """Return the keys of a text other than its digest. Only texts that share a key are compared."""
        return np.zeros(0, dtype=np.uint64)

    def is_replica(self, one: Signature, other: Signature, frames: tuple[Frame, Frame], same_site: bool) -> bool:
        """Whether two texts with different digests that share a key are replicas."""
        return False

    def parameters(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in signature(type(self)).parameters}


def word_hashes(text: str) -> list[int]:
    """Return the hashes of a text's words, without dates."""
    plain = DATE.sub(" ", " ".join(text.lower().split()))
    return [crc32(word.encode("utf-8", "surrogatepass")) for word in paired_words(plain)]


def as_words(hashes: npt.ArrayLike) -> Words:
    """Return the distinct hashes in ascending order, at most `MOST_WORDS` of them."""
    return np.unique(np.asarray(hashes, dtype=np.uint32))[:MOST_WORDS]


def is_in(words: Words, others: Words) -> npt.NDArray[np.bool_]:
    """Return, for each word, whether `others` contains it. Both arrays are sorted."""
    if not len(others):
        return np.zeros(len(words), dtype=bool)
    places = np.minimum(others.searchsorted(words), len(others) - 1)
    found: npt.NDArray[np.bool_] = others[places] == words
    return found


DETECTORS: Registry[type[Detector]] = Registry("deduplication method", "victorpy.dedup")


def load_detector(method: str, settings: Sequence[str] = (), **parameters: Any) -> Detector:
    """Create a method. `settings` are parameters in the form ``NAME=VALUE``, as on the command line."""
    if method == "minhash":
        raise ConfigError("the method minhash was removed because it called distinct pages replicas; use pages")
    detector_class = DETECTORS.get(method)
    return detector_class(**{**parse_settings(method, detector_class, settings), **parameters})
