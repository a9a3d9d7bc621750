"""The methods that compare words: replicas of pages, and repeated paragraphs.

Pages of one template share most of their words, so a high share of common words does not make a page a replica. A page
is a replica if all words of its text are on another page. If the pages are from different sites, the words that most
pages of a site have (its frame) are ignored.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

import numpy as np

from victorpy.base.hashes import mix
from victorpy.dedup.base import (
    DETECTORS,
    MOST_WORDS,
    Detector,
    Frame,
    Keys,
    Signature,
    Signed,
    Words,
    as_words,
    is_in,
    word_hashes,
)
from victorpy.errors import ConfigError

FEWEST_PARTICULAR, FEWEST_ELSEWHERE = 3, 5
"""Minimum number of particular words, for pages of one site and of different sites.

With fewer, both texts must have the same words.
"""
LEAST_SHARE = 0.25
"""Minimum length of the shorter text, as a share of the words of the longer text."""
LEAST_KEPT, LEAST_REST = 0.5, 0.9
"""Minimum share of a replica's particular words in the other text.

Because a cleaner may keep other parts of a changed page, the second share is enough: that of the particular words
outside its text that are on the other page.
"""
FEW_WORDS = 16
"""Number of words that are looked up first."""
TEXT_KEYS, PAGE_KEYS, WORD_KEYS = 12, 6, 8
"""Number of keys made from two words of the text, from two words of the page, and from one word of the text."""


@DETECTORS.register("pages")
class Pages(Detector):
    """Pages whose text has no particular word that the other page lacks."""

    name = "pages"
    uses_sites = True
    uses_page = True

    def sign(self, text: str, title: str = "", rest: str = "", language: str = "") -> bytes:
        hashes, in_title = word_hashes(text), word_hashes(title)
        if not hashes:
            return b""
        words = as_words(hashes)
        others = as_words(word_hashes(rest))
        others = others[~is_in(others, words)]
        return Signature(_digest(in_title, hashes), as_words(in_title), words, others).as_bytes()

    def keys(self, signature: Signature, frame: Frame) -> Keys:
        text, rest = frame.particular(signature.text), frame.particular(signature.rest)
        page = frame.rarest(np.append(text, rest))
        text = frame.rarest(text)
        single = np.sort(mix(text.astype(np.uint64)))[:WORD_KEYS]
        return np.concatenate([single, _min_keys(text, TEXT_KEYS, 0), _min_keys(page, PAGE_KEYS, TEXT_KEYS)])

    def is_replica(self, one: Signature, other: Signature, frames: tuple[Frame, Frame], same_site: bool) -> bool:
        own_titles = [_has_own_title(one, other, frames[0]), _has_own_title(other, one, frames[1])]
        if all(own_titles) or (same_site and any(own_titles)):
            return False
        return _is_inside(one, other, frames[0], same_site) or _is_inside(other, one, frames[1], same_site)


def _has_own_title(one: Signature, other: Signature, frame: Frame) -> bool:
    """Whether a page's title has a word that the other title lacks.

    Words that most titles of the site have are ignored.
    """
    own = one.title[~is_in(one.title, other.title)]
    return len(other.title) > 0 and not is_in(own, frame.title).all()


def _is_inside(one: Signature, other: Signature, frame: Frame, same_site: bool) -> bool:
    """Whether the other page contains all words of a page's text."""
    if len(one.text) < LEAST_SHARE * len(other.text):
        return False
    samples = [words[-1] for words in (other.text, other.rest) if len(words) == MOST_WORDS]
    elsewhere = () if same_site else (frame.always,)
    texts = [words[words <= min(samples)] if samples else words for words in (one.text, one.title)]
    known = np.sort(np.concatenate([*other[1:], *elsewhere]), kind="stable")  # fast, because its parts are sorted
    # Most candidates already differ in the first few words, so these are looked up first.
    if any(not is_in(words, known).all() for words in (texts[0][:FEW_WORDS], *texts)):
        return False
    particular = frame.particular(np.union1d(*texts))
    if len(particular) < (FEWEST_PARTICULAR if same_site else FEWEST_ELSEWHERE):
        return False
    rest = frame.particular(one.rest)
    is_whole_page = is_in(rest, np.sort(np.concatenate(other[1:]))).sum() >= LEAST_REST * len(rest)
    return bool(is_whole_page or np.mean(is_in(particular, other.text)) >= LEAST_KEPT)


@DETECTORS.register("paragraphs")
class Paragraphs(Detector):
    """Paragraphs of at least `shortest` words that share at least `share` of their words with an earlier paragraph."""

    name = "paragraphs"

    def __init__(self, share: float = 0.9, shortest: int = 10) -> None:
        if not 0 < share <= 1:
            raise ConfigError(f"paragraphs: share={share:g}: give a number above 0 and up to 1, such as 0.9")
        if shortest < 1:
            raise ConfigError(f"paragraphs: shortest={shortest}: give a whole number of at least 1")
        self.share = share
        self.shortest = shortest

    def signed(self, text: str, title: str = "", rest: str = "", language: str = "") -> list[Signed]:
        return [Signed(self.sign(paragraph), len(paragraph)) for paragraph in split_paragraphs(text)]

    def sign(self, text: str, title: str = "", rest: str = "", language: str = "") -> bytes:
        hashes = word_hashes(text)
        if len(hashes) < self.shortest:
            return b""
        return Signature(_digest([], hashes), text=as_words(hashes)).as_bytes()

    def keys(self, signature: Signature, frame: Frame) -> Keys:
        return _min_keys(signature.text, TEXT_KEYS, 0)

    def is_replica(self, one: Signature, other: Signature, frames: tuple[Frame, Frame], same_site: bool) -> bool:
        common = int(is_in(one.text, other.text).sum())
        return common >= self.share * (len(one.text) + len(other.text) - common)


_FENCE = re.compile(r"[\s>]*(?:(?:[-*]|\d+[.)])\s+)*(```+)")  # also in quotations and list items


def split_paragraphs(text: str) -> Iterator[str]:
    r"""Split a text at blank lines. Listings in fences stay whole.

    >>> list(split_paragraphs("Tea.\n\n- hot\n- cold\n"))
    ['Tea.', '- hot\n- cold']
    """
    listing: list[str] = []
    fence = ""  # fence of the open listing
    for chunk in text.strip("\n").split("\n\n"):
        for line in chunk.split("\n") if "```" in chunk else ():
            ticks = _FENCE.match(line)
            if ticks and not fence:
                fence = ticks[1]
            elif ticks and ticks[1].startswith(fence) and not line[ticks.end() :].strip():
                fence = ""
        listing.append(chunk)
        if not fence:
            yield "\n\n".join(listing)
            listing = []
    if listing:
        yield "\n\n".join(listing)


def _digest(title: list[int], text: list[int]) -> int:
    """Return a digest of words in any order."""
    content = np.array([*sorted(title), 0, *sorted(text)], dtype="<u4").tobytes()
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little")


def _min_keys(words: Words, count: int, first: int) -> Keys:
    """Return keys of two words each: the words with the smallest hashes, for pairs of hash functions."""
    if not len(words):
        return np.zeros(0, dtype=np.uint64)
    numbers = np.arange(2 * first, 2 * (first + count), dtype=np.uint64)
    hashes = mix(words.astype(np.uint64)[:, None] + (numbers << np.uint64(32)))
    smallest = hashes.min(axis=0)
    return mix(smallest[::2] ^ (smallest[1::2] << np.uint64(1)))
