"""What a method made of one page, measured.

Where the gold is a text, the words of the two are compared. Where it is values (SWDE), what counts is how many of them
survive; as keeping everything keeps them all, how much of the page was removed always stands beside it.
"""

from __future__ import annotations

from typing import NamedTuple

from victorpy.align import align, words
from victorpy.cleaner import read_document
from victorpy.compare.methods import Cleaned
from victorpy.config import Config, load_config
from victorpy.datasets import GoldPage
from victorpy.document import CleanPage, Label
from victorpy.errors import VictorError
from victorpy.methods import CONFIG
from victorpy.scores import BlockCounts, Score, cleaneval_words, shingle_f1, word_f1


class Measured(NamedTuple):
    """The measures of one page; those of texts are None where the gold is values, and the other way round."""

    removed: float
    """The share of the page's words that are gone."""
    empty: bool
    """Whether not a word came out although the gold has some."""
    words: Score | None = None
    aligned: Score | None = None
    """Words of the longest common subsequence, CleanEval's measure."""
    shingles: Score | None = None
    values: Score | None = None
    """How many of the values survive: the gold is all of them, the output those that are found."""
    blocks: BlockCounts | None = None
    """How blocks were labelled, where the method labels any."""


class Ruler:
    """Measures what methods make of one page; what they share is found once."""

    def __init__(self, gold: GoldPage, has_values: bool) -> None:
        self._gold = gold
        self._values = [f" {' '.join(found)} " for found in map(_words_of, gold.gold) if found] if has_values else None
        page = page_words(gold)
        self._page_words = len(page)
        self._labels: dict[object, tuple[Label, ...]] = {}
        self.ceiling = self._count_values(page)
        """What keeping every word of the page scores: not all values need be in its text."""

    def measure(self, cleaned: Cleaned, config: Config | None) -> Measured:
        """Measure a text, and the labels that it was made by; `config` is how the page was cut."""
        found = words(cleaned.text)
        removed = 1 - min(len(found) / max(self._page_words, 1), 1.0)
        values = self._count_values(found)
        if values is not None:
            return Measured(removed, not found and values.gold > 0, values=values)
        gold = self._gold.text
        score = word_f1(cleaned.text, gold)
        return Measured(
            removed,
            not score.output and score.gold > 0,
            score,
            cleaneval_words(cleaned.text, gold),
            shingle_f1(cleaned.text, gold),
            blocks=self._count_blocks(cleaned.page, config) if cleaned.page and config else None,
        )

    def _count_values(self, found: list[str]) -> Score | None:
        """Count the values whose words stand one after the other in a text; one without words is none."""
        if self._values is None:
            return None
        text = f" {' '.join(found)} "
        kept = sum(value in text for value in self._values)
        return Score(kept, kept, len(self._values))

    def _count_blocks(self, page: CleanPage, config: Config) -> BlockCounts:
        """Hold labels against the gold's, which are the same for all methods that cut pages in the same way."""
        cut = (config.cuts, config.get("tag-delete"))
        if cut not in self._labels:
            self._labels[cut] = align(page.document, self._gold.gold, config.cuts.block_level)
        return BlockCounts.of(page.labels, self._labels[cut])


def _words_of(segment: tuple[str, object]) -> list[str]:
    return words(segment[0])


def page_words(gold: GoldPage) -> list[str]:
    """All words of a page; what is no page has none."""
    try:
        document = read_document(gold.html, load_config(CONFIG))
    except VictorError:
        return []
    return words("\n".join(block.text for block in document.blocks))
