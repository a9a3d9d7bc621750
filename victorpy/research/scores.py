"""Measure a cleaned page against its gold. All tables are built from the resulting rows.

Scores are from 0 to 1. Two empty texts have the score 1; an empty and a non-empty text have the score 0.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rapidfuzz.distance import LCSseq, Levenshtein

from victorpy.base.score import Score
from victorpy.base.words import SEGMENT_TAG, cleaneval_tokens, simple_words
from victorpy.document import Label, Labelling
from victorpy.research.statistics import mean

SHINGLE = 4
_URL_LINE = re.compile(r"\A\s*URL:.*")
_TAGS = frozenset(["<p>", "<h>", "<l>"])


def word_f1(output: str, gold: str) -> Score:
    """Score the overlap of words as multisets, the measure of WCXB.

    >>> word_f1("the cat sat", "The cat sat down").f1
    0.8571428571428571
    """
    return _overlap(simple_words(output), simple_words(gold))


def shingle_f1(output: str, gold: str) -> Score:
    """Score the overlap of runs of four words as multisets. A shorter text is one run."""
    runs = []
    for words in (simple_words(output), simple_words(gold)):
        count = max(len(words) - SHINGLE + 1, min(len(words), 1))
        runs.append([tuple(words[start : start + SHINGLE]) for start in range(count)])
    return _overlap(*runs)


def _overlap(output: Sequence[Hashable], gold: Sequence[Hashable]) -> Score:
    return Score((Counter(output) & Counter(gold)).total(), len(output), len(gold))


def occurring(values: Iterable[str], words: Sequence[str]) -> tuple[bool, ...]:
    """Whether the words of each value occur consecutively in a text.

    >>> occurring(["canon eos", "eos canon", "can"], ["the", "canon", "eos", "7d"])
    (True, False, False)
    """
    text = f" {' '.join(words)} "
    return tuple(f" {value} " in text for value in values)


def cleaneval_words(output: str, gold: str, tags: bool = False) -> Score:
    """Score the words of the longest common subsequence (Evert 2008). With `tags`, segment tags are words too."""
    ours, theirs = _numbered(cleaneval_tokens(output, tags), cleaneval_tokens(gold, tags))
    return Score(LCSseq.similarity(ours, theirs), len(ours), len(theirs))


def cleaneval_segments(output: str, gold: str, labelled: bool) -> Score:
    """Score the segment tags at the same position of the aligned words.

    Unless `labelled`, every tag counts as ``<p>``.
    """
    ours, theirs = (cleaneval_tokens(text, tags=True) for text in (output, gold))
    if not labelled:
        ours, theirs = (["<p>" if token in _TAGS else token for token in tokens] for tokens in (ours, theirs))
    matches = [code for code in LCSseq.opcodes(*_numbered(ours, theirs)) if code.tag == "equal"]
    matched = sum(token in _TAGS for code in matches for token in ours[code.src_start : code.src_end])
    return Score(matched, *(sum(token in _TAGS for token in tokens) for tokens in (ours, theirs)))


def cleaneval_edit(output: str, gold: str) -> float:
    """Return 1 minus the edit distance in words over the length of the longer text, as CleanEval did."""
    ours, theirs = _numbered(*(cleaneval_tokens(text, tags=False) for text in (output, gold)))
    return Levenshtein.normalized_similarity(ours, theirs)


def _numbered(*sequences: Sequence[Hashable]) -> list[list[int]]:
    """Replace items with integers, which can be aligned many times faster than strings."""
    numbers: dict[Hashable, int] = {}
    return [[numbers.setdefault(item, len(numbers)) for item in sequence] for sequence in sequences]


class BlockCounts(NamedTuple):
    """Number of blocks by gold label and predicted label."""

    confusion: Mapping[tuple[Label, Label], int]

    @classmethod
    def of(cls, output: Sequence[Label], gold: Sequence[Label]) -> BlockCounts:
        return cls(Counter(zip(gold, output, strict=True)))

    @classmethod
    def sum(cls, pages: Iterable[BlockCounts | None]) -> BlockCounts:
        total: Counter[tuple[Label, Label]] = Counter()
        for page in pages:
            total.update(page.confusion if page else {})
        return cls(total)

    @property
    def total(self) -> int:
        return sum(self.confusion.values())

    @property
    def label_accuracy(self) -> float:
        """Share of blocks with the right label, or 1 if there are no blocks."""
        right = sum(count for (gold, ours), count in self.confusion.items() if gold is ours)
        return right / self.total if self.total else 1.0

    @property
    def content_accuracy(self) -> float:
        """Share of blocks that are correctly kept or dropped, or 1 if there are no blocks."""
        right = sum(count for (gold, ours), count in self.confusion.items() if gold.is_content == ours.is_content)
        return right / self.total if self.total else 1.0

    def label_score(self, label: Label) -> Score:
        shared = self.confusion.get((label, label), 0)
        output = sum(count for (_, ours), count in self.confusion.items() if ours is label)
        gold = sum(count for (theirs, _), count in self.confusion.items() if theirs is label)
        return Score(shared, output, gold)


@dataclass(frozen=True, slots=True)
class PageResult:
    """The result of one method on one page. Evaluations and comparisons build their tables from these rows."""

    name: str
    data: str
    site: str
    page_type: str
    scores: dict[str, float]
    """Measures by name. Measures that do not apply to the page are missing."""
    counts: dict[str, Score] = field(repr=False)  # counts of words or values, for scores that are pooled over pages
    blocks: BlockCounts | None = None
    method: str = ""
    fold: int = 0
    error: str = ""
    labelling: Labelling = field(default=Labelling(()), repr=False)
    gold_content: tuple[bool, ...] = field(default=(), repr=False)
    """Whether each block is content according to the gold."""
    fingerprint: str = ""  # identifies the page if the method labels blocks


def values_of(rows: Iterable[PageResult], measure: str) -> list[float]:
    """Return the values of a measure for the pages that have it."""
    return [row.scores[measure] for row in rows if measure in row.scores]


def mean_of(rows: Iterable[PageResult], measure: str) -> float | None:
    """Return the mean of a measure over pages, or None if no page has it."""
    return mean(values_of(rows, measure))


def pooled(rows: Iterable[PageResult], count: str) -> Score:
    """Score the texts of all pages as one text, so that long pages weigh more."""
    return Score.pool(row.counts[count] for row in rows if count in row.counts)


def measure_texts(output: str, gold: str) -> tuple[dict[str, float], dict[str, Score]]:
    """Return all measures of a text against the gold, and its word counts for pooled scores.

    Both texts may have CleanEval's tags, which only some measures read.
    """
    plain, plain_gold = (SEGMENT_TAG.sub(" ", _URL_LINE.sub("", text)) for text in (output, gold))
    counts = {
        "words": word_f1(plain, plain_gold),
        "cleaneval_words": cleaneval_words(output, gold),
        "shingle": shingle_f1(plain, plain_gold),
    }
    text, markup = cleaneval_edit(output, gold), cleaneval_segments(output, gold, labelled=True).f1
    scores: dict[str, Any] = {
        f"{name}_{part}": getattr(counts[name], part)
        for name in ("words", "cleaneval_words")
        for part in ("f1", "precision", "recall")
    }
    scores |= {
        "cleaneval_words_tags_f1": cleaneval_words(output, gold, tags=True).f1,
        "cleaneval_segments_f1": markup,
        "cleaneval_segments_unlabelled_f1": cleaneval_segments(output, gold, labelled=False).f1,
        "cleaneval_text": text,
        "cleaneval_markup": markup,
        "cleaneval_total": (text + markup) / 2,
        "shingle_f1": counts["shingle"].f1,
        "empty": float(not counts["words"].output and bool(counts["words"].gold)),
    }
    return scores, counts
