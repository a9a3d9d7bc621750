"""Methods that drop parts that many pages of a site share: pagelets, DOM templates and text templates.

docs/explanation/methods.md explains the decisions that the papers leave open.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import Self

import numpy as np
import numpy.typing as npt

from victorpy.base.hashes import MASK, Hashes, PageCounts, hash_texts, min_template_pages, mix, windows
from victorpy.base.parameters import check_count
from victorpy.base.words import words_and_signs
from victorpy.document import Document, Labelling
from victorpy.labellers.base import LABELLERS, NOISE, Labels, SiteLabeller, label_kept, no_pages, not_fitted
from victorpy.page.tree import PageTree


class Repeated(SiteLabeller):
    """Counts the pages of a site that contain each part. Parts are represented by hashes."""

    counts_: PageCounts | None = None

    @abstractmethod
    def _hashes(self, tree: PageTree) -> Hashes:
        """Return the hashes of a page's parts."""

    @abstractmethod
    def _noise(self, tree: PageTree, counts: PageCounts) -> Sequence[bool]:
        """Return whether each block of a page is in a template."""

    def _has_enough(self, pages: int) -> bool:
        """Whether no more pages are needed."""
        return False

    def fit(self, documents: Iterable[Document], labels: Labels = None) -> Self:
        counts = PageCounts()
        for document in documents:
            tree = PageTree(document)
            counts.add(tree.number, self._hashes(tree))
            if self._has_enough(len(counts)):
                break
        if not len(counts):
            raise no_pages(type(self).__name__)
        self.counts_ = counts
        return self

    def label(self, document: Document) -> Labelling:
        if self.counts_ is None:
            raise not_fitted(self)
        noise = self._noise(PageTree(document), self.counts_)
        return label_kept(document, [not is_noise for is_noise in noise])


@LABELLERS.register("pagelets")
@dataclass(eq=False, repr=False)
class Pagelets(Repeated):
    """Drops pagelets that another page of the site has too.

    Z. Bar-Yossef and S. Rajagopalan, Template Detection via Data Mining and its Applications (2002), as the papers on
    the Site Style Tree describe it (Yi, Liu and Li 2003, sections 4.1 and 4.2.2). An element is a pagelet if none of
    its children contains at least k links and none of its ancestors is a pagelet. Pagelets of two or more pages with
    the same fingerprint are a template. A fingerprint consists of the smallest runs of `w` words by `s` independent
    hashes: Broder's single smallest run is not strict enough for sites with hundreds of pages.
    """

    k: int = 3
    w: int = 4
    s: int = 6

    def __post_init__(self) -> None:
        check_count("pagelets", 1, k=self.k, w=self.w, s=self.s)

    def _hashes(self, tree: PageTree) -> Hashes:
        return np.array(list(self._fingerprints(tree).values()), dtype=np.uint64)

    def _noise(self, tree: PageTree, counts: PageCounts) -> Sequence[bool]:
        fingerprints = self._fingerprints(tree)
        pages = counts.spread(tree.number, np.array(list(fingerprints.values()), dtype=np.uint64))
        repeated = [pagelet for pagelet, count in zip(fingerprints, pages.tolist(), strict=True) if count >= 2]
        return tree.blocks_with([text for pagelet in repeated for text in tree.text_ranges[pagelet]], NOISE)

    def pagelets(self, tree: PageTree) -> Iterator[int]:
        is_small = [True] * len(tree.elements)
        for parent, links in zip(tree.elements.parent, tree.links, strict=True):
            if parent >= 0 and links >= self.k:
                is_small[parent] = False
        return tree.topmost(is_small)

    def _fingerprints(self, tree: PageTree) -> dict[int, int]:
        """Return the pagelets that have text, with their fingerprints."""
        words = [words_and_signs(text.text) for text in tree.texts]
        hashes = np.array(hash_texts(chain.from_iterable(words)), dtype=np.uint64)
        words_before = [0, *accumulate(map(len, words))]
        pagelets = [pagelet for pagelet in self.pagelets(tree) if tree.text_ranges[pagelet]]
        ranges = [tree.text_ranges[pagelet] for pagelet in pagelets]
        stretches = [(words_before[texts.start], words_before[texts.stop]) for texts in ranges]
        return dict(zip(pagelets, fingerprints(hashes, stretches, self.w, self.s), strict=True))


def fingerprints(words: Hashes, stretches: Sequence[tuple[int, int]], w: int, s: int) -> list[int]:
    """Return a hash for each stretch of a page's words: its smallest run of `w` words, by each of `s` hashes."""
    salts = np.arange(1, s + 1, dtype=np.uint64)[:, np.newaxis]
    end = np.full((s, 1), np.iinfo(np.uint64).max)  # because a stretch may end after the last run
    hashes = np.append(mix(windows(words, w) + mix(salts)), end, axis=1)
    long = [(start, stop - w + 1) for start, stop in stretches if stop - start >= w]
    # The borders are start, stop, start, stop ..., so every second minimum belongs to a gap and is skipped.
    borders = np.array(long, dtype=np.int64).ravel()
    smallest = iter(np.minimum.reduceat(hashes, borders, axis=1)[:, ::2].T.tolist() if long else ())
    return [
        hash(tuple(next(smallest) if stop - start >= w else words[start:stop].tolist())) & MASK
        for start, stop in stretches
    ]


# D. Gibson, K. Punera and A. Tomkins, The Volume and Evolution of Web Page Templates (2005), as the paper on sentence
# entropy describes it (section 2, and 5.2 for the parameters). In both algorithms, text is a template if at least F
# pages of the site have it. On a site with fewer than 2 F pages, half of the pages (at least two) are enough, since
# otherwise the method would not work at all.


@LABELLERS.register("dom-template")
@dataclass(eq=False, repr=False)
class DomTemplate(Repeated):
    """Drops nodes that many pages of the site have (the DOM-based algorithm, with F = 100).

    A node is a template if enough pages have a node with the same tag, attributes, texts and descendants, in order.
    The same pages have the texts of such a node, so it is enough to count texts. Offsets are ignored, since otherwise
    footers below articles of different lengths would never be equal.
    """

    F: int = 100

    def __post_init__(self) -> None:
        check_count("dom-template", 2, F=self.F)

    def _hashes(self, tree: PageTree) -> Hashes:
        return np.array(hash_texts(text.text for text in tree.texts), dtype=np.uint64)

    def _noise(self, tree: PageTree, counts: PageCounts) -> Sequence[bool]:
        pages = counts.spread(tree.number, self._hashes(tree))
        is_template = pages >= min_template_pages(self.F, counts.with_page(tree.number))
        return tree.blocks_with(np.flatnonzero(is_template).tolist(), NOISE)


@LABELLERS.register("text-template")
@dataclass(eq=False, repr=False)
class TextTemplate(Repeated):
    """Drops stretches of text that many pages have (the text-based algorithm, W = 32, F = 50, D = 0, P = 1000).

    A window of W characters slides over the text, and fragments that enough pages have are templates. Template
    fragments with at most D characters between them are joined. Only the first P pages of a site are used.
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

    def _hashes(self, tree: PageTree) -> Hashes:
        """Return the hash of the fragment in the window at each position."""
        text = " ".join(block.text for block in tree.document.blocks)
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
        return windows(codes.astype(np.uint64), self.W)

    def _noise(self, tree: PageTree, counts: PageCounts) -> Sequence[bool]:
        pages = counts.spread(tree.number, self._hashes(tree))
        starts = np.flatnonzero(pages >= min_template_pages(self.F, counts.with_page(tree.number)))
        lengths = np.array([len(block.text) for block in tree.document.blocks], dtype=np.int64)
        covered = cover(starts, self.W, self.D, int(lengths.sum()) + len(lengths))
        # Running totals of covered characters give the covered share of every block.
        covered_before = np.append(0, np.cumsum(covered))
        first = np.cumsum(lengths + 1) - lengths - 1
        noise: list[bool] = (covered_before[first + lengths] - covered_before[first] >= NOISE * lengths).tolist()
        return noise


def cover(starts: npt.NDArray[np.int64], width: int, gap: int, length: int) -> npt.NDArray[np.bool_]:
    """Return which positions are in a window that begins at one of the starts, or in a gap between windows that are
    joined.

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
