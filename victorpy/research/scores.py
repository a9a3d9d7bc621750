"""Measures of a cleaned page against its gold: numbers only, no printing.

Shares are in 0..1. Two empty texts agree perfectly; an empty one and another not at all.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from rapidfuzz.distance import LCSseq, Levenshtein

from victorpy.base.score import Score
from victorpy.document import Label

SHINGLE = 4
_WORD = re.compile(r"\w+")
_URL_LINE = re.compile(r"^[ \t]*URL.*$", re.MULTILINE)
_FIRST_LINE = re.compile(r"\A\s*URL:.*")  # of a file in CleanEval's format
_CONTROL = re.compile(r"[\x00-\x1f]+")
_TAG = re.compile(r"<([phl])>", re.IGNORECASE)
_TAGS = frozenset(["<p>", "<h>", "<l>"])


def word_f1(output: str, gold: str) -> Score:
    """Score the overlap of words as multisets, the measure of WCXB.

    >>> word_f1("the cat sat", "The cat sat down").f1
    0.8571428571428571
    """
    return _overlap(*(Counter(_WORD.findall(text.lower())) for text in (output, gold)))


def shingle_f1(output: str, gold: str) -> Score:
    """Score the overlap of runs of four words as multisets; a text of fewer words is one run."""
    return _overlap(_shingles(output), _shingles(gold))


def _overlap(output: Counter[Any], gold: Counter[Any]) -> Score:
    return Score((output & gold).total(), output.total(), gold.total())


def _shingles(text: str) -> Counter[tuple[str, ...]]:
    words = _WORD.findall(text.lower())
    if not words:
        return Counter()
    return Counter(tuple(words[start : start + SHINGLE]) for start in range(max(len(words) - SHINGLE + 1, 1)))


def cleaneval_tokens(text: str, tags: bool) -> list[str]:
    """Split a text in CleanEval's format into words as Evert's scorer does; tags are words, or are dropped.

    >>> cleaneval_tokens("URL: http://x.example/\\n<p>One two\\n<l> three", tags=True)
    ['<p>', 'One', 'two', '<l>', 'three']
    """
    text = _CONTROL.sub(" ", _URL_LINE.sub("", text))
    text = _TAG.sub(lambda tag: f" <{tag[1].lower()}> " if tags else " ", text)
    return text.split()


def cleaneval_words(output: str, gold: str, tags: bool = False) -> Score:
    """Score the words of the longest common subsequence; with `tags`, segment tags are words too (Evert 2008)."""
    ours, theirs = _numbered(cleaneval_tokens(output, tags), cleaneval_tokens(gold, tags))
    return Score(LCSseq.similarity(ours, theirs), len(ours), len(theirs))


def cleaneval_segments(output: str, gold: str, labelled: bool) -> Score:
    """Score the segment tags at the same place in the aligned words; unlabelled, every tag counts as ``<p>``."""
    ours, theirs = (cleaneval_tokens(text, tags=True) for text in (output, gold))
    if not labelled:
        ours, theirs = (["<p>" if token in _TAGS else token for token in tokens] for tokens in (ours, theirs))
    matches = [code for code in LCSseq.opcodes(*_numbered(ours, theirs)) if code.tag == "equal"]
    matched = sum(token in _TAGS for code in matches for token in ours[code.src_start : code.src_end])
    return Score(matched, *(sum(token in _TAGS for token in tokens) for tokens in (ours, theirs)))


def cleaneval_edit(output: str, gold: str, tags: bool) -> float:
    """Return CleanEval's own measure: 1 minus the edit distance in words over the length of the longer text."""
    ours, theirs = _numbered(cleaneval_tokens(output, tags), cleaneval_tokens(gold, tags))
    return Levenshtein.normalized_similarity(ours, theirs)


def _numbered(*sequences: Sequence[Hashable]) -> list[list[int]]:
    """Replace items by numbers: aligning numbers is many times faster than aligning strings."""
    numbers: dict[Hashable, int] = {}
    return [[numbers.setdefault(item, len(numbers)) for item in sequence] for sequence in sequences]


class BlockCounts(NamedTuple):
    """Confusion of the labels of blocks: counts by gold label and our label."""

    confusion: Mapping[tuple[Label, Label], int]

    @classmethod
    def of(cls, output: Sequence[Label], gold: Sequence[Label]) -> BlockCounts:
        """Compare the labels of a page's blocks."""
        return cls(Counter(zip(gold, output, strict=True)))

    @classmethod
    def sum(cls, pages: Iterable[BlockCounts]) -> BlockCounts:
        """Add up the blocks of several pages."""
        total: Counter[tuple[Label, Label]] = Counter()
        for page in pages:
            total.update(page.confusion)
        return cls(total)

    @property
    def total(self) -> int:
        """Number of blocks."""
        return sum(self.confusion.values())

    @property
    def label_accuracy(self) -> float:
        """Share of blocks with the right label; 1 for a page without blocks."""
        return self._share(lambda gold, ours: gold is ours)

    @property
    def content_accuracy(self) -> float:
        """Share of blocks that are correctly kept or dropped."""
        return self._share(lambda gold, ours: gold.is_content == ours.is_content)

    def label_score(self, label: Label) -> Score:
        """Score one label."""
        shared = self.confusion.get((label, label), 0)
        output = sum(count for (_, ours), count in self.confusion.items() if ours is label)
        gold = sum(count for (theirs, _), count in self.confusion.items() if theirs is label)
        return Score(shared, output, gold)

    def _share(self, right: Callable[[Label, Label], bool]) -> float:
        good = sum(count for (gold, ours), count in self.confusion.items() if right(gold, ours))
        return good / self.total if self.total else 1.0


class TextScores(NamedTuple):
    """Every measure of one text against another."""

    words: Score
    shingles: Score
    aligned: Score
    aligned_with_tags: Score
    segments: Score
    segments_unlabelled: Score
    text: float
    markup: float

    def by_name(self) -> dict[str, float]:
        """Return the measures by the names that reports use."""
        return {
            "words_f1": self.words.f1,
            "words_precision": self.words.precision,
            "words_recall": self.words.recall,
            "cleaneval_words_f1": self.aligned.f1,
            "cleaneval_words_precision": self.aligned.precision,
            "cleaneval_words_recall": self.aligned.recall,
            "cleaneval_words_tags_f1": self.aligned_with_tags.f1,
            "cleaneval_segments_f1": self.segments.f1,
            "cleaneval_segments_unlabelled_f1": self.segments_unlabelled.f1,
            "cleaneval_text": self.text,
            "cleaneval_markup": self.markup,
            "cleaneval_total": (self.text + self.markup) / 2,
            "shingle_f1": self.shingles.f1,
            "empty": float(not self.words.output and bool(self.words.gold)),
        }


def measure(output: str, gold: str) -> TextScores:
    """Measure a text against the gold; both may have CleanEval's tags, which only some measures read."""
    plain, plain_gold = (_TAG.sub(" ", _FIRST_LINE.sub("", text)) for text in (output, gold))
    return TextScores(
        words=word_f1(plain, plain_gold),
        shingles=shingle_f1(plain, plain_gold),
        aligned=cleaneval_words(output, gold),
        aligned_with_tags=cleaneval_words(output, gold, tags=True),
        segments=cleaneval_segments(output, gold, labelled=True),
        segments_unlabelled=cleaneval_segments(output, gold, labelled=False),
        text=cleaneval_edit(output, gold, tags=False),
        markup=cleaneval_edit(output, gold, tags=True),
    )


def score_texts(output: str, gold: str) -> dict[str, float]:
    """Return every measure of a text against the gold by name."""
    return measure(output, gold).by_name()
