"""The measures of one cleaned page.

If the gold is a text, the words of the two are compared. If it is values (SWDE), what counts is how many of them
survive. Keeping everything keeps them all, so the share of the page that was removed is always measured too.
"""

from __future__ import annotations

from typing import NamedTuple

from victorpy.base.score import Score
from victorpy.cleaner import read_document
from victorpy.config import Config, load_config
from victorpy.document import Label
from victorpy.errors import VictorError
from victorpy.methods import CONFIG
from victorpy.outputs import CleanPage
from victorpy.research.align import align, words
from victorpy.research.datasets import GoldPage
from victorpy.research.scores import BlockCounts, cleaneval_words, shingle_f1, word_f1
from victorpy.research.site_runs import cut_key


class Cleaned(NamedTuple):
    """What a method made of a page: a text, and the blocks if it labels them."""

    text: str
    page: CleanPage | None = None


class Outcome(NamedTuple):
    """The measures of one cleaned page. Those of texts are None if the gold is values, and the other way round."""

    removed: float
    """Share of the page's words that were removed."""
    empty: bool
    """Whether the output has no word although the gold has some."""
    words: Score | None = None
    aligned: Score | None = None
    """Words of the longest common subsequence, CleanEval's measure."""
    shingles: Score | None = None
    values: Score | None = None
    """How many values survive: the gold is all of them, the output those that were found."""
    blocks: BlockCounts | None = None
    """How blocks were labelled, if the method labels any."""
    seconds: float = 0.0
    """CPU time."""
    error: str = ""

    @property
    def deciding(self) -> float:
        """The deciding score: word F1, or the share of values that survive."""
        if self.values is not None:
            return self.values.recall
        return self.words.f1 if self.words else 0.0


class Ruler:
    """Measures what methods make of one page; what all methods share is computed once."""

    def __init__(self, gold: GoldPage, has_values: bool) -> None:
        self._gold = gold
        self._values: list[str] | None = None
        if has_values:  # a value without words cannot be looked for
            self._values = [" ".join(value) for segment in gold.gold if (value := words(segment.text))]
        page_words = _page_words(gold)
        self._word_count = len(page_words)
        self._labels: dict[object, tuple[Label, ...]] = {}
        self.ceiling = self._count_values(page_words)
        """Score of keeping every word of the page: not all values need be in its text."""

    def measure(self, cleaned: Cleaned, config: Config | None) -> Outcome:
        """Measure a text and its labels; `config` is the one that the page was cut by."""
        kept = words(cleaned.text)
        removed = 1 - min(len(kept) / max(self._word_count, 1), 1.0)
        values = self._count_values(kept)
        if values is not None:
            return Outcome(removed, not kept and values.gold > 0, values=values)
        gold = self._gold.text
        score = word_f1(cleaned.text, gold)
        return Outcome(
            removed,
            not score.output and score.gold > 0,
            score,
            cleaneval_words(cleaned.text, gold),
            shingle_f1(cleaned.text, gold),
            blocks=self._count_blocks(cleaned.page, config) if cleaned.page and config else None,
        )

    def _count_values(self, kept: list[str]) -> Score | None:
        """Count the values whose words follow one another in a text."""
        if self._values is None:
            return None
        text = f" {' '.join(kept)} "
        survived = sum(f" {value} " in text for value in self._values)
        return Score(survived, survived, len(self._values))

    def _count_blocks(self, page: CleanPage, config: Config) -> BlockCounts:
        """Compare labels with the gold's, which are the same for all methods that cut pages alike."""
        cut = cut_key(config)
        if cut not in self._labels:
            self._labels[cut] = align(page.document, self._gold.gold, config.cuts.block_level)
        return BlockCounts.of(page.labels, self._labels[cut])


def _page_words(gold: GoldPage) -> list[str]:
    try:
        document = read_document(gold.html, load_config(CONFIG))
    except VictorError:  # not a page
        return []
    return words("\n".join(block.text for block in document.blocks))
