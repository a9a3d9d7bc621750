"""Measures of a cleaned page against its gold: numbers only, no printing.

Shares are in 0..1. Two empty texts agree perfectly; an empty one and another not at all.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rapidfuzz.distance import LCSseq, Levenshtein

from victorpy.document import Label

SHINGLE = 4
_WORD = re.compile(r"\w+")
_URL_LINE = re.compile(r"^[ \t]*URL.*$", re.MULTILINE)
_FIRST_LINE = re.compile(r"\A\s*URL:.*")  # of a file in CleanEval's format
_CONTROL = re.compile(r"[\x00-\x1f]+")
_TAG = re.compile(r"<([phl])>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Score:
    """How many units of the output and of the gold there are, and how many they share.

    It unpacks into precision, recall and F1.
    """

    shared: int
    output: int
    gold: int

    @classmethod
    def of(cls, shared: int, output: int, gold: int) -> Score:
        """Score `shared` units of `output` found and `gold` wanted ones."""
        return cls(shared, output, gold)

    @classmethod
    def pool(cls, scores: Iterable[Score]) -> Score:
        """Count the units of many texts as if they were one."""
        found = list(scores)
        return cls(*(sum(getattr(score, name) for score in found) for name in ("shared", "output", "gold")))

    def __iter__(self) -> Iterator[float]:
        return iter((self.precision, self.recall, self.f1))

    @property
    def precision(self) -> float:
        """Share of the output that is gold."""
        if not self.output:
            return float(not self.gold)
        return self.shared / self.output

    @property
    def recall(self) -> float:
        """Share of the gold that was found."""
        if not self.gold:
            return float(not self.output)
        return self.shared / self.gold

    @property
    def f1(self) -> float:
        """The harmonic mean of the two."""
        if not self.output and not self.gold:
            return 1.0
        return 2 * self.shared / (self.output + self.gold)

    def shares(self) -> dict[str, float]:
        """Precision, recall and F1 by name."""
        return {"precision": self.precision, "recall": self.recall, "f1": self.f1}


def word_f1(output: str, gold: str) -> Score:
    """Overlap of words as multisets, the measure of WCXB; an empty gold wants an empty output.

    >>> word_f1("the cat sat", "The cat sat down").f1
    0.8571428571428571
    """
    ours, theirs = Counter(_WORD.findall(output.lower())), Counter(_WORD.findall(gold.lower()))
    return Score.of((ours & theirs).total(), ours.total(), theirs.total())


def shingle_f1(output: str, gold: str) -> Score:
    """Overlap of runs of four words as multisets; a text of fewer words is one run."""
    ours, theirs = _shingles(output), _shingles(gold)
    return Score.of((ours & theirs).total(), ours.total(), theirs.total())


def _shingles(text: str) -> Counter[tuple[str, ...]]:
    words = _WORD.findall(text.lower())
    if not words:
        return Counter()
    return Counter(tuple(words[at : at + SHINGLE]) for at in range(max(len(words) - SHINGLE + 1, 1)))


def cleaneval_tokens(text: str, tags: bool) -> list[str]:
    """Cut a text in CleanEval's format into words as Evert's scorer does: tags are words, or are dropped.

    >>> cleaneval_tokens("URL: http://x.example/\\n<p>One two\\n<l> three", tags=True)
    ['<p>', 'One', 'two', '<l>', 'three']
    """
    text = _CONTROL.sub(" ", _URL_LINE.sub("", text))
    text = _TAG.sub(lambda tag: f" <{tag[1].lower()}> " if tags else " ", text)
    return text.split()


def cleaneval_words(output: str, gold: str, tags: bool = False) -> Score:
    """Words of the longest common subsequence; with `tags` segment tags are words too (Evert 2008)."""
    return _aligned(cleaneval_tokens(output, tags), cleaneval_tokens(gold, tags))


def cleaneval_segments(output: str, gold: str, labelled: bool) -> Score:
    """Segment tags that stand at the same place in the aligned words; unlabelled, every tag reads ``<p>``."""
    ours, theirs = (_unlabelled(cleaneval_tokens(text, tags=True), labelled) for text in (output, gold))
    matched = sum(ours[at].startswith("<") and ours[at] in _TAGS for at in _matched_places(ours, theirs))
    count = [sum(token in _TAGS for token in tokens) for tokens in (ours, theirs)]
    return Score.of(matched, *count)


_TAGS = frozenset(["<p>", "<h>", "<l>"])


def _unlabelled(tokens: list[str], labelled: bool) -> list[str]:
    return tokens if labelled else ["<p>" if token in _TAGS else token for token in tokens]


def cleaneval_edit(output: str, gold: str, tags: bool) -> float:
    """CleanEval's own measure: 1 less the edit distance in words over the length of the longer text."""
    ours, theirs = _numbered(cleaneval_tokens(output, tags), cleaneval_tokens(gold, tags))
    return Levenshtein.normalized_similarity(ours, theirs)


def _aligned(output: Sequence[str], gold: Sequence[str]) -> Score:
    ours, theirs = _numbered(output, gold)
    return Score.of(LCSseq.similarity(ours, theirs), len(ours), len(theirs))


def _matched_places(output: Sequence[str], gold: Sequence[str]) -> list[int]:
    ours, theirs = _numbered(output, gold)
    codes = LCSseq.opcodes(ours, theirs)
    return [at for code in codes if code.tag == "equal" for at in range(code.src_start, code.src_end)]


def _numbered(*sequences: Sequence[Hashable]) -> list[list[int]]:
    """Give equal items equal numbers: alignments of numbers are many times faster than of strings."""
    numbers: dict[Hashable, int] = {}
    return [[numbers.setdefault(item, len(numbers)) for item in sequence] for sequence in sequences]


class BlockCounts(NamedTuple):
    """How the labels of blocks were confused: gold label, our label, how often."""

    confusion: Mapping[tuple[Label, Label], int]

    @classmethod
    def of(cls, output: Sequence[Label], gold: Sequence[Label]) -> BlockCounts:
        """Compare the labels of a page's blocks."""
        return cls(Counter(zip(gold, output, strict=True)))

    @classmethod
    def sum(cls, pages: Iterable[BlockCounts]) -> BlockCounts:
        """Pool the blocks of several pages."""
        total: Counter[tuple[Label, Label]] = Counter()
        for page in pages:
            total.update(page.confusion)
        return cls(total)

    @property
    def total(self) -> int:
        """How many blocks there are."""
        return sum(self.confusion.values())

    @property
    def label_accuracy(self) -> float:
        """Share of blocks whose label is right; 1 for a page without blocks."""
        return self._share(lambda gold, ours: gold is ours)

    @property
    def content_accuracy(self) -> float:
        """Share of blocks that are rightly kept or dropped."""
        return self._share(lambda gold, ours: gold.is_content == ours.is_content)

    def label_score(self, label: Label) -> Score:
        """Precision, recall and F1 of one label."""
        shared = self.confusion.get((label, label), 0)
        ours = sum(count for (_, found), count in self.confusion.items() if found is label)
        gold = sum(count for (wanted, _), count in self.confusion.items() if wanted is label)
        return Score.of(shared, ours, gold)

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
        """Give the measures by the names that reports use."""
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
    """Measure one text against another; both may have CleanEval's tags, which only some measures read."""
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
    """Give every measure of one text against another by name."""
    return measure(output, gold).by_name()
