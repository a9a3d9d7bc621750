"""The longest run of text: one page, one stretch.

The idea of the Body Text Extractor (A. Finn, N. Kushmerick and B. Smyth, Fact or fiction: content classification for
digital libraries, 2001). A page is a sequence of words and tags; its content is the stretch from i to j that has the
most words inside and the most tags outside:

    words in [i, j]  +  tags before i  +  tags after j

All tags of the page are a constant, so this is the stretch where words less tags are most: the maximum subarray, found
in one pass. In scripts without spaces two letters are counted as a word. An image's ``alt`` is part of its tag.
"""

from __future__ import annotations

from collections.abc import Sequence

from victorpy.document import Document, Labelling
from victorpy.labellers.base import LABELLERS, PageLabeller
from victorpy.labellers.kinds import label_kept
from victorpy.sites.tree import PageTree
from victorpy.unicode import count_words


@LABELLERS.register("longest-run")
class LongestRun(PageLabeller):
    """Keeps the stretch of the page with most words and fewest tags."""

    def label(self, document: Document) -> Labelling:
        """Keep one stretch of the page."""
        tree = PageTree(document)
        words = count_words([text.text if text.shown else "" for text in tree.texts])
        best = best_run(words, [len(text.tags) for text in tree.texts])
        kept = [len(text.text) if place in best and text.shown else 0 for place, text in enumerate(tree.texts)]
        return label_kept(document, tree.blocks_with(kept, 0.5))


def best_run(words: Sequence[float], tags: Sequence[int]) -> range:
    """The texts from i to j for which words less tags are most; `tags` stand before each text.

    >>> best_run([1, 9, 8, 1], [3, 4, 2, 5])
    range(1, 3)
    """
    best, found = 0.0, range(0)
    so_far, start = 0.0, 0
    for place, (gained, lost) in enumerate(zip(words, tags, strict=True)):
        so_far -= lost
        if so_far <= 0:
            so_far, start = 0.0, place
        so_far += gained
        if so_far > best:
            best, found = so_far, range(start, place + 1)
    return found
