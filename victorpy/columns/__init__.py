"""Compute counts over a page's blocks, as arrays with one entry per block.

Features are computed from `Columns`. Each array is computed when it is first used.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from victorpy import native
from victorpy.base import unicode
from victorpy.columns.elements import ElementColumns, Sums
from victorpy.columns.text import Column, Counts, Flags, Floats
from victorpy.columns.tokens import Hashes, Tokens, fold, split_words, tokens_of_names, tokens_of_words
from victorpy.config import Config
from victorpy.document import Document

_native = native.load("columns")

NEAR = 8  # number of levels above a block whose element names are used
_SEQUENCE_FACTOR = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True)
class SiteColumns:
    """Statistics of what a page's blocks share with other pages of the site, as arrays with one entry per block."""

    pages: int  # number of pages seen
    importance: Floats
    entropy: Floats
    text_share: Floats
    place_share: Floats


class Columns(ElementColumns):
    """All arrays of a page: texts, elements, tokens, looks, the headline, the trunk and runs of lines."""

    def __init__(self, document: Document, config: Config, site: SiteColumns | None = None) -> None:
        super().__init__(document, config)
        if _native and document.arrays is not None:
            flags = unicode.flags_table()
            self.__dict__ |= _native.page_columns(document.arrays, flags, document.title, unicode.CLOSING, Sums)
        self.site = site  # site statistics, if other pages of the site were seen
        self.evidence: Floats | None = None  # log-odds that each block is content, if the model has trees

    def with_evidence(self, log_odds: Floats) -> Columns:
        """Return a copy with the log-odds of its blocks. The arrays computed so far are shared."""
        page = Columns.__new__(Columns)
        page.__dict__ |= self.__dict__ | {"evidence": log_odds}  # faster than copy.copy
        return page

    # Tokens of words and of element names.

    @cached_property
    def word_tokens(self) -> tuple[Hashes, Counts]:
        """The hash of each word of the page, and the word's block."""
        if not self.count:
            return np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int64)
        tokens = split_words(self._joined, self._codes, self._flags)
        return tokens.hashes, self._block_of_char[tokens.starts]

    @cached_property
    def names(self) -> tuple[list[str], Counts]:
        """The distinct element names (tag, class, id, role, itemprop), and each element's name."""
        return self._names_of(range(len(self.parent)))

    @cached_property
    def near_names(self) -> tuple[list[str], Counts]:
        """The names of elements up to `NEAR` levels above a block. Other elements get the root's name."""
        is_near = np.zeros(len(self.parent), dtype=bool)
        is_near[self.ancestors[:NEAR]] = True
        is_near[:1] = True
        return self._names_of(np.flatnonzero(is_near).tolist())

    @cached_property
    def near_names_text(self) -> str:
        """The near names in lower case, one per line, for searches in all of them."""
        return "\n".join(self.near_names[0]).lower()

    def _names_of(self, elements: Iterable[int]) -> tuple[list[str], Counts]:
        numbers: dict[tuple[str | None, ...], int] = {}
        name_of_element = [0] * len(self.parent)
        for element in elements:
            tag, get = self.elements.tag[element], self.elements.attributes[element].get
            key = (tag, get("class"), get("id"), get("role"), get("itemprop"))
            name_of_element[element] = numbers.setdefault(key, len(numbers))
        names = [" ".join(filter(None, key)).replace("\n", " ") for key in numbers]
        return names, np.array(name_of_element, dtype=np.int64)

    @cached_property
    def named_share(self) -> float:
        """The share of blocks whose element has a class, id, role or itemprop."""
        names, name_of_element = self.near_names
        is_named = np.array([" " in name for name in names], dtype=bool)
        return float(is_named[name_of_element[self.element]].mean()) if self.count else 0.0

    @cached_property
    def near_name_tokens(self) -> tuple[Hashes, Counts]:
        """The hash of each token of the near names, and the token's name."""
        tokens = tokens_of_names(self.near_names[0])
        name_of_char = np.cumsum(tokens.codes == ord("\n"))
        return tokens.hashes, name_of_char[tokens.starts]

    def spelled_tokens(self) -> tuple[Tokens, Tokens]:
        """Return the tokens of near names and of words with their spelling."""
        return tokens_of_names(self.near_names[0]), tokens_of_words(self._joined)

    # Looks. Two blocks look alike if their elements, and the parents of these elements, have the same names.

    @cached_property
    def look(self) -> Counts:
        """A group number for each block. Blocks that look alike have the same number."""
        _, name = self.near_names
        pair = name[self.element] * (int(name.max(initial=0)) + 1) + name[self.ancestor(1)]
        return np.unique(pair, return_inverse=True)[1].reshape(-1)

    @cached_property
    def look_sums(self) -> Sums:
        """The totals of all blocks that look like each block."""
        look = self.look
        words, link_words = (np.bincount(look, column).astype(np.float64) for column in (self.words, self.link_words))
        return Sums(words[look], link_words[look], np.bincount(look)[look])

    def share_of_look(self, column: Column) -> Floats:
        """Return the mean of a column over the blocks that look like each block."""
        if not self.count:
            return np.zeros(0)
        return np.asarray((np.bincount(self.look, column) / np.bincount(self.look))[self.look])

    # Title, headline and trunk.

    @cached_property
    def title_share(self) -> Floats:
        """Share of the block's words that are in the page title."""
        hashes, block = self.word_tokens
        in_title = np.isin(hashes, tokens_of_words(self.document.title).hashes)
        counts = np.bincount(block, minlength=self.count)
        return np.bincount(block, in_title, self.count) / np.maximum(counts, 1)

    @cached_property
    def headline(self) -> int:
        """The number of the block most like a headline, or 0."""
        if not self.count:
            return 0
        heading = 0.5 * self.within("h1") + 0.2 * (self.within("h2") | self.within("h3"))
        score = self.title_share * np.minimum(self.words, 8) / 8 + heading
        score[self.words > 40] = 0
        return int(score.argmax())

    @cached_property
    def since_headline(self) -> Counts:
        """Number of blocks since the headline, the heading most like the page title. Negative before the headline."""
        return np.arange(self.count) - self.headline

    @cached_property
    def words_since_headline(self) -> Floats:
        """Number of words between the headline and the block. Negative before the headline."""
        return self.words_before - self.words_before[self.headline] if self.count else np.zeros(0)

    @cached_property
    def totals(self) -> dict[str, Floats]:
        """Counts and shares of the whole page, as columns with the same value for every block."""
        words = float(self.words.sum())
        totals = {
            "blocks": self.count,
            "words": words,
            "block-words": words / max(self.count, 1),
            "prose-share": float(self.prose.sum()) / self.all_words,
            "link-share": float(self.link_words.sum()) / self.all_words,
            "named-share": self.named_share,
        }
        return {name: np.full(self.count, float(total)) for name, total in totals.items()}

    @cached_property
    def prose(self) -> Floats:
        """The number of words outside links, 0 for blocks with fewer than ten."""
        plain_words = self.words - self.link_words
        return np.where(plain_words >= 10, plain_words, 0.0)

    @cached_property
    def trunk(self) -> dict[str, Floats]:
        """Describe the trunk: the element with most prose directly inside it or its children.

        ``inside`` is the number of levels from a block up to an element that contains the trunk.
        """
        if not self.count:
            return dict.fromkeys(("inside", "words", "link-share"), np.zeros(0))
        weight = np.minimum(self.prose, 100)
        in_parent, in_grandparent = (np.bincount(self.ancestor(n), weight, len(self.parent)) for n in (1, 2))
        trunk = int((in_parent + 0.6 * in_grandparent).argmax())
        first, stop = self.block_range
        words, link_words = (total[stop[trunk]] - total[first[trunk]] for total in self._running_words)
        holds_trunk = (self.ancestors <= trunk) & (trunk < np.take(self.stop, self.ancestors))
        levels_to_trunk = np.where(holds_trunk.any(axis=0), holds_trunk.argmax(axis=0), len(holds_trunk))
        return {
            "inside": levels_to_trunk.astype(np.float64),
            "words": np.full(self.count, words / self.all_words),
            "link-share": np.full(self.count, link_words / max(float(words), 1.0)),
        }

    # Repetitions: word sequences that other blocks also contain, as in quotations.

    def repeated(self, length: int) -> tuple[Floats, Floats]:
        """Return the shares of each block's sequences of `length` words that earlier and later blocks contain."""
        hashes, block = self.word_tokens
        count = max(len(hashes) - length + 1, 0)
        sequence = np.zeros(count, dtype=np.uint64)
        for offset in range(length):
            sequence = sequence * _SEQUENCE_FACTOR + hashes[offset : offset + count]
        is_whole = block[:count] == block[length - 1 :][:count]
        sequence, owner = sequence[is_whole], block[:count][is_whole]
        _, first, number = np.unique(sequence, return_index=True, return_inverse=True)
        last = np.zeros(len(first), dtype=np.int64)
        np.maximum.at(last, number, owner)
        totals = np.maximum(np.bincount(owner, minlength=self.count), 1)
        is_earlier, is_later = owner[first][number] < owner, last[number] > owner
        return np.bincount(owner, is_earlier, self.count) / totals, np.bincount(owner, is_later, self.count) / totals

    @cached_property
    def letter_surprise(self) -> Floats:
        """Average number of bits to predict a letter from the previous letter, as in the other blocks of the page.

        Text in another language and gibberish have high values.
        """
        block = self._block_of_char
        # Characters are hashed to six bits, so that most counts do not need sorting.
        letter = (fold(self._joined, self._flags) * np.uint32(0x9E3779B1) >> np.uint32(26)).astype(np.int64)
        is_pair = block[1:] == block[:-1]
        block, first, second = block[1:][is_pair], letter[:-1][is_pair], letter[1:][is_pair]
        pair = first * 64 + second
        first_in_block = np.bincount(first * self.count + block, minlength=64 * self.count)[first * self.count + block]
        _, number, counts = np.unique(pair * self.count + block, return_inverse=True, return_counts=True)
        pairs_elsewhere = np.bincount(pair, minlength=64 * 64)[pair] - counts[number]
        firsts_elsewhere = np.bincount(first, minlength=64)[first] - first_in_block
        bits = -np.log2((pairs_elsewhere + 0.5) / (firsts_elsewhere + 15))
        return np.bincount(block, bits, self.count) / np.maximum(self.lengths, 1)

    # Runs of lines: consecutive blocks in one element.

    @cached_property
    def run(self) -> Counts:
        """The number of each block's run."""
        begins = np.ones(self.count, dtype=bool)
        begins[1:] = self.element[1:] != self.element[:-1]
        return np.cumsum(begins) - 1

    @cached_property
    def run_blocks(self) -> Counts:
        """Number of blocks in the run: consecutive blocks in one element, separated by line breaks only."""
        return np.bincount(self.run)[self.run]

    @cached_property
    def run_place(self) -> Counts:
        """Number of blocks before this block in its run."""
        return np.arange(self.count) - np.searchsorted(self.run, self.run)

    @cached_property
    def run_longest(self) -> Counts:
        """Number of characters of the longest block in the run, which is the width of wrapped text."""
        longest = np.zeros(int(self.run.max(initial=0)) + 1, dtype=np.int64)
        np.maximum.at(longest, self.run, self.lengths)
        return longest[self.run]

    @cached_property
    def run_mean(self) -> Floats:
        """Average number of characters per block in the run."""
        return np.bincount(self.run, self.lengths)[self.run] / np.maximum(self.run_blocks, 1)


__all__ = ["Column", "Columns", "Counts", "Flags", "Floats", "SiteColumns"]
