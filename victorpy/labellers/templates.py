"""Templates of a site by the nodes or by the running text of its pages.

D. Gibson, K. Punera and A. Tomkins, The Volume and Evolution of Web Page Templates (2005), as the paper on sentence
entropy describes it (section 2, and 5.2 for the parameters). In both algorithms, text is a template if at least F pages
of the site have it. On a site with fewer than 2 F pages half of the pages are enough, but at least two, since otherwise
the method would not work there at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from victorpy.base.hashes import MASK, Numbers, PageCounts, enough, numbers_of, windows
from victorpy.base.parameters import check_count
from victorpy.labellers.base import LABELLERS
from victorpy.labellers.repeated import NOISE, Repeated
from victorpy.page.tree import PageTree


@LABELLERS.register("dom-template")
@dataclass(eq=False, repr=False)
class DomTemplate(Repeated):
    """Drops nodes that many pages of the site have (the DOM-based algorithm, with F = 100).

    A node is a template if the hash of its content occurs often enough. Our decisions: the content of a node is its
    tag, attributes, texts and everything in it, in order. Offsets are not hashed, since a footer below articles of
    different lengths would never be the same. Text nodes are nodes too. Occurrences are counted in pages.
    """

    F: int = 100

    def __post_init__(self) -> None:
        check_count("dom-template", 2, F=self.F)

    def _numbers(self, tree: PageTree) -> Numbers:
        """Return the hashes of all texts, followed by those of all elements."""
        elements = zip(tree.elements.tag, tree.elements.attributes, strict=True)
        labels = numbers_of(
            "\t".join([tag, *(f"{name}={value}" for name, value in attributes.items())]) for tag, attributes in elements
        )
        texts = numbers_of(text.text for text in tree.texts)
        subtrees = [number & MASK for number in tree.subtree_numbers(labels, texts)]
        return np.array([*texts, *subtrees], dtype=np.uint64)

    def _noise(self, tree: PageTree, counts: PageCounts) -> Sequence[bool]:
        pages = counts.spread(tree.number, self._numbers(tree))
        is_template = (pages >= enough(self.F, counts.with_page(tree.number))).tolist()
        count = len(tree.texts)
        texts = {text for text in range(count) if is_template[text]}
        for element in tree.topmost(is_template[count:]):
            texts.update(tree.text_ranges[element])
        return tree.blocks_with(texts, NOISE)


@LABELLERS.register("text-template")
@dataclass(eq=False, repr=False)
class TextTemplate(Repeated):
    """Drops stretches of text that many pages have (the text-based algorithm, W = 32, F = 50, D = 0, P = 1000).

    Tags, comments and scripts are removed, a window of size W slides over the rest, and fragments that occur often
    enough are templates. Our decisions, since the description leaves them open: W counts characters (32 words would
    be longer than most menus). Two fragments of a template with at most D characters between them are one. Only the
    first P pages of a site are used. White space counts as one space, and a page shorter than W is one fragment.
    """

    W: int = 32
    F: int = 50
    D: int = 0
    P: int = 1000

    def __post_init__(self) -> None:
        check_count("text-template", 1, W=self.W, P=self.P)
        check_count("text-template", 2, F=self.F)
        check_count("text-template", 0, D=self.D)

    def _has_enough(self, pages: int) -> bool:
        return pages >= self.P

    def _numbers(self, tree: PageTree) -> Numbers:
        """Return the hash of the fragment in the window at each position."""
        text = " ".join(block.text for block in tree.document.blocks)
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
        return windows(codes.astype(np.uint64), self.W)

    def _noise(self, tree: PageTree, counts: PageCounts) -> Sequence[bool]:
        pages = counts.spread(tree.number, self._numbers(tree))
        starts = np.flatnonzero(pages >= enough(self.F, counts.with_page(tree.number)))
        lengths = np.array([len(block.text) for block in tree.document.blocks], dtype=np.int64)
        covered = cover(starts, self.W, self.D, int(lengths.sum()) + len(lengths))
        # The number of covered characters before each position gives that of every block.
        covered_before = np.append(0, np.cumsum(covered))
        first = np.cumsum(lengths + 1) - lengths - 1
        noise: list[bool] = (covered_before[first + lengths] - covered_before[first] >= NOISE * lengths).tolist()
        return noise


def cover(starts: npt.NDArray[np.int64], width: int, gap: int, length: int) -> npt.NDArray[np.bool_]:
    """Return which positions lie in a window that begins at one of the starts, or in a gap that is bridged.

    >>> cover(np.array([1, 6]), 3, 2, 10).astype(int).tolist()
    [0, 1, 1, 1, 1, 1, 1, 1, 1, 0]
    """
    ends = starts + width
    if len(starts):
        near = starts[1:] - ends[:-1] <= gap
        ends[:-1] = np.where(near, np.maximum(starts[1:], ends[:-1]), ends[:-1])
    changes = np.bincount(starts, minlength=length + 1)[: length + 1]
    changes = changes - np.bincount(np.minimum(ends, length), minlength=length + 1)
    return np.cumsum(changes)[:length] > 0
