"""The longest run of text of a page.

The idea of the Body Text Extractor (A. Finn, N. Kushmerick and B. Smyth, Fact or fiction: content classification for
digital libraries, 2001). A page is a sequence of words and tags. Its content is the run from i to j with the most words
inside and the most tags outside:

    words in [i, j]  +  tags before i  +  tags after j

The number of all tags is constant, so this is the run with the highest number of words minus tags: the maximum
subarray, which one pass finds. In scripts without spaces two letters count as a word. An image's ``alt`` is part of its
tag.
"""

from __future__ import annotations

from collections.abc import Sequence

from victorpy.base.unicode import count_words
from victorpy.document import Document, Labelling
from victorpy.labellers.base import LABELLERS, PageLabeller, label_kept
from victorpy.page.tree import PageTree


@LABELLERS.register("longest-run")
class LongestRun(PageLabeller):
    """Keeps the run of text with most words and fewest tags."""

    def label(self, document: Document) -> Labelling:
        tree = PageTree(document)
        words = count_words([text.text if text.shown else "" for text in tree.texts])
        best = best_run(words, [len(text.tags) for text in tree.texts])
        return label_kept(document, tree.blocks_with([number for number in best if tree.texts[number].shown], 0.5))


def best_run(words: Sequence[float], tags: Sequence[int]) -> range:
    """Return the run of texts with the highest number of words minus tags; `tags` counts those before each text.

    >>> best_run([1, 9, 8, 1], [3, 4, 2, 5])
    range(1, 3)
    """
    best_score, best = 0.0, range(0)
    score, start = 0.0, 0
    for number, (gained, lost) in enumerate(zip(words, tags, strict=True)):
        score -= lost
        if score <= 0:
            score, start = 0.0, number
        score += gained
        if score > best_score:
            best_score, best = score, range(start, number + 1)
    return best
