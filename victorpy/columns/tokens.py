"""Words and names as numbers: every token of a page hashed at once, in any script."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from victorpy.base import unicode
from victorpy.columns.elements import ElementColumns, Sums
from victorpy.columns.text import Counts, Flags, Floats

Hashes = npt.NDArray[np.uint64]

# Elements farther above a block than this say nothing of it.
NEAR = 8

# A token's characters behind these count like the last of them.
_LONGEST = 64
_POWERS = np.multiply.accumulate(np.full(_LONGEST, 0x100000001B3, dtype=np.uint64))
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_NEW_LINE = ord("\n")


class TokenColumns(ElementColumns):
    """The tokens of a page's blocks and of its elements' names."""

    @cached_property
    def word_tokens(self) -> tuple[Hashes, Counts]:
        """The page's words, in order, and the block of each.

        A word is a run of letters and digits of which case and the digits themselves do not count; a letter of a
        script without spaces and a sign such as © or € are words of their own.
        """
        if not self.count:
            return np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int64)
        tokens = _words_in(self._joined, self._codes, self._flags)
        return tokens.hashes, self._block_of_char[tokens.starts]

    @cached_property
    def names(self) -> tuple[list[str], Counts]:
        """The different names of elements (tag, class, id, role, itemprop), and the number of each element's."""
        return self._names_of(range(len(self.parent)))

    @cached_property
    def near_names(self) -> tuple[list[str], Counts]:
        """The same for the elements that are not too far above a block; all others have the first name, the root's."""
        near = np.zeros(len(self.parent), dtype=bool)
        near[self.ancestors[:NEAR]] = True
        near[:1] = True
        return self._names_of(np.flatnonzero(near).tolist())

    def _names_of(self, elements: Iterable[int]) -> tuple[list[str], Counts]:
        numbers: dict[tuple[str | None, ...], int] = {}
        name_of_element = [0] * len(self.parent)
        tag, attributes = self.elements.tag, self.elements.attributes
        for element in elements:
            given = attributes[element]
            if given:
                get = given.get
                key = (tag[element], get("class"), get("id"), get("role"), get("itemprop"))
            else:
                key = (tag[element], None, None, None, None)
            name_of_element[element] = numbers.setdefault(key, len(numbers))
        names = [" ".join(filter(None, key)).replace("\n", " ") for key in numbers]
        return names, np.array(name_of_element, dtype=np.int64)

    @cached_property
    def near_name_tokens(self) -> tuple[Hashes, Counts]:
        """The tokens of the near names, and the name that each is of."""
        tokens = tokens_of_names(self.near_names[0])
        line = np.cumsum(tokens.codes == _NEW_LINE)
        return tokens.hashes, line[tokens.starts]

    def spelled_tokens(self) -> tuple[Tokens, Tokens]:
        """The tokens of the names and those of the words, to be written out."""
        return tokens_of_names(self.near_names[0]), tokens_of_words(self._joined)

    # Looks: elements of the same names, in parents of the same names.

    @cached_property
    def look(self) -> Counts:
        """The number of the look that each block has."""
        _, name = self.near_names
        own = name[self.element]
        above = name[self.ancestor(1)]
        _, number = np.unique(own * (int(name.max(initial=0)) + 1) + above, return_inverse=True)
        return number.reshape(-1)

    @cached_property
    def look_sums(self) -> Sums:
        """What all blocks of each block's look hold together."""
        look = self.look
        words, link_words = (np.bincount(look, column).astype(np.float64) for column in (self.words, self.link_words))
        return Sums(words[look], link_words[look], np.bincount(look)[look])

    # The headline.

    @cached_property
    def title_share(self) -> Floats:
        """The share of each block's words that are words of the page's title."""
        if not self.count:
            return np.zeros(0)
        hashes, owner = self.word_tokens
        known = np.isin(hashes, tokens_of_words(self.document.title).hashes)
        counted = np.bincount(owner, minlength=self.count)
        return np.bincount(owner, known, minlength=self.count) / np.maximum(counted, 1)

    @cached_property
    def headline(self) -> int:
        """The block that is the page's headline, the first where nothing looks like one."""
        if not self.count:
            return 0
        rank = 0.5 * self.within("h1") + 0.2 * (self.within("h2") | self.within("h3"))
        score = self.title_share * np.minimum(self.words, 8) / 8 + rank
        score[self.words > 40] = 0
        return int(score.argmax())

    # The trunk.

    @cached_property
    def prose(self) -> Floats:
        """The words of each block that stand outside links, where they are ten or more."""
        plain = self.words - self.link_words
        return np.where(plain >= 10, plain, 0.0)

    @cached_property
    def trunk(self) -> dict[str, Floats]:
        """What the element with most prose directly in it or in its children holds, and where blocks lie to it."""
        if not self.count:
            return dict.fromkeys(("inside", "words", "link-share"), np.zeros(0))
        weight = np.minimum(self.prose, 100)
        own = np.bincount(self.ancestor(1), weight, len(self.parent)) + 0.6 * np.bincount(
            self.ancestor(2), weight, len(self.parent)
        )
        trunk = int(own.argmax())
        first, stop = self.block_range
        words, link_words = (total[stop[trunk]] - total[first[trunk]] for total in self._running_words)
        holds_trunk = (self.ancestors <= trunk) & (trunk < np.take(self.stop, self.ancestors))
        levels_to_trunk = np.where(holds_trunk.any(axis=0), holds_trunk.argmax(axis=0), len(holds_trunk))
        return {
            "inside": levels_to_trunk.astype(np.float64),
            "words": np.full(self.count, words / self.all_words),
            "link-share": np.full(self.count, link_words / max(float(words), 1.0)),
        }


class Tokens(NamedTuple):
    """The tokens of a text."""

    codes: npt.NDArray[np.uint32]
    """The text's characters, folded ..."""
    starts: Counts
    """... where in them each token begins ..."""
    lengths: Counts
    """... and how many characters it has."""
    hashes: Hashes

    def spell(self, number: int) -> str:
        """Write a token out."""
        start = int(self.starts[number])
        return self.codes[start : start + int(self.lengths[number])].tobytes().decode("utf-32-le")


def tokens_of_words(text: str) -> Tokens:
    """Find the words of a text."""
    codes = code_points(text)
    return _words_in(text, codes, unicode.flags_table()[codes])


def _words_in(text: str, codes: npt.NDArray[np.uint32], flags: npt.NDArray[np.uint8]) -> Tokens:
    unspaced = (flags & unicode.UNSPACED) != 0
    wordly = ((flags & (unicode.LETTER | unicode.DIGIT)) != 0) & ~unspaced
    begins = wordly.copy()
    begins[1:] &= ~wordly[:-1]
    alone = unspaced | (flags == 0)
    return _tokens(fold(text, codes, flags), wordly | alone, begins | alone)


def tokens_of_names(names: list[str]) -> Tokens:
    """Find the tokens of elements' names: ``div mainContent-2`` has ``<div``, ``main`` and ``content``."""
    joined = "".join(f"<{name}\n" for name in names)
    codes = code_points(joined)
    flags = unicode.flags_table()[codes]
    letters = (flags & unicode.LETTER) != 0
    upper = (flags & unicode.UPPER) != 0
    bracket = codes == ord("<")
    begins = letters.copy()
    begins[1:] &= (~letters[:-1] | (upper[1:] & ~upper[:-1])) & ~bracket[:-1]  # the tag goes with its bracket
    return _tokens(fold(joined, codes, flags), letters | bracket, begins | bracket)


def hash_words(words: Sequence[str]) -> Hashes:
    """Hash words that are folded already, each of which is one token."""
    codes = code_points("\n".join([*words, ""]))
    inside = codes != _NEW_LINE
    begins = inside.copy()
    begins[1:] &= ~inside[:-1]
    return hash_tokens(codes, inside, begins)


def hash_tokens(codes: npt.NDArray[np.uint32], inside: Flags, begins: Flags) -> Hashes:
    """Hash the tokens of a folded text: runs of characters `inside`, each of which `begins` with one."""
    return _tokens(codes, inside, begins).hashes


def code_points(text: str) -> npt.NDArray[np.uint32]:
    """The characters of a text as numbers."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")


def fold(text: str, codes: npt.NDArray[np.uint32], flags: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint32]:
    """Make characters that count as the same in tokens the same: no capitals, and one digit for all."""
    lower = text.lower()
    if len(lower) != len(text):
        lower = text.replace("İ", "I").lower()  # the only letter whose lower case is two characters
    return np.where((flags & unicode.DIGIT) != 0, ord("0"), code_points(lower)).astype(np.uint32)


def _tokens(codes: npt.NDArray[np.uint32], inside: Flags, begins: Flags) -> Tokens:
    """Hash each token, a run of characters `inside`."""
    where = np.flatnonzero(inside)
    if not len(where):
        return Tokens(codes, where, where, np.zeros(0, dtype=np.uint64))
    starts = np.flatnonzero(begins[where])
    lengths = np.diff(np.append(starts, len(where)))
    rank = np.minimum(np.arange(len(where)) - np.repeat(starts, lengths), _LONGEST - 1)
    spread = codes[where].astype(np.uint64) * _SPREAD
    mixed = (spread ^ (spread >> np.uint64(29))) * _POWERS[rank]
    return Tokens(codes, where[starts], lengths, np.add.reduceat(mixed, starts))
