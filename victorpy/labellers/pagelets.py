"""Template pagelets: parts of pages that a site repeats.

Z. Bar-Yossef and S. Rajagopalan, Template Detection via Data Mining and its Applications (2002), as the papers on the
Site Style Tree describe it (Yi, Liu and Li 2003, sections 4.1 and 4.2.2). An element is a pagelet if none of its
children contains at least k links and none of its ancestors is a pagelet. Pagelets with the same shingle are a
template; a group of two or more is deleted.

Our decisions. A *shingle* is "a text fingerprint that is invariant under small perturbations". Broder's shingle is the
run with the smallest hash among all runs of `w` words. Two texts have the same one with a probability equal to their
resemblance, the share of runs that they have in common. On a site with hundreds of pages that is not strict enough:
some other page always has the same smallest run. So a fingerprint consists of the smallest runs by `s` independent
hashes, which are equal with probability resemblance^s: hardly ever for 50 %, mostly for 95 %. Words are compared
without case, and a pagelet of fewer than `w` words is one run. A group must be of different pages: a pagelet that one
page repeats is not a template of the site. Text beside a child with k links is in no pagelet and is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain

import numpy as np

from victorpy.base.hashes import MASK, Numbers, PageCounts, mixed, numbers_of, windows
from victorpy.base.parameters import check_count
from victorpy.base.words import words_and_signs
from victorpy.labellers.base import LABELLERS
from victorpy.labellers.repeated import NOISE, Repeated
from victorpy.page.tree import PageTree


@LABELLERS.register("pagelets")
@dataclass(eq=False, repr=False)
class Pagelets(Repeated):
    """Drops pagelets that another page of the site has too."""

    k: int = 3
    w: int = 4
    s: int = 6

    def __post_init__(self) -> None:
        check_count("pagelets", 1, k=self.k, w=self.w, s=self.s)

    def _numbers(self, tree: PageTree) -> Numbers:
        return np.array(list(self._fingerprints(tree).values()), dtype=np.uint64)

    def _noise(self, tree: PageTree, counts: PageCounts) -> Sequence[bool]:
        fingerprints = self._fingerprints(tree)
        pages = counts.spread(tree.number, np.array(list(fingerprints.values()), dtype=np.uint64))
        repeated = [pagelet for pagelet, count in zip(fingerprints, pages.tolist(), strict=True) if count >= 2]
        return tree.blocks_with([text for pagelet in repeated for text in tree.text_ranges[pagelet]], NOISE)

    def pagelets(self, tree: PageTree) -> Iterator[int]:
        """Yield the elements that are pagelets."""
        is_small = [True] * len(tree.elements)
        for parent, links in zip(tree.elements.parent, tree.links, strict=True):
            if parent >= 0 and links >= self.k:
                is_small[parent] = False
        return tree.topmost(is_small)

    def _fingerprints(self, tree: PageTree) -> dict[int, int]:
        """Return the pagelets that have text, with their fingerprints."""
        words = [words_and_signs(text.text) for text in tree.texts]
        numbers = np.array(numbers_of(chain.from_iterable(words)), dtype=np.uint64)
        words_before = [0, *accumulate(map(len, words))]
        pagelets = [pagelet for pagelet in self.pagelets(tree) if tree.text_ranges[pagelet]]
        ranges = [tree.text_ranges[pagelet] for pagelet in pagelets]
        stretches = [(words_before[texts.start], words_before[texts.stop]) for texts in ranges]
        return dict(zip(pagelets, fingerprints(numbers, stretches, self.w, self.s), strict=True))


def fingerprints(words: Numbers, stretches: Sequence[tuple[int, int]], w: int, s: int) -> list[int]:
    """Return a number for each stretch of a page's words: its smallest run of `w` words, by each of `s` hashes."""
    salts = np.arange(1, s + 1, dtype=np.uint64)[:, np.newaxis]
    end = np.full((s, 1), np.iinfo(np.uint64).max)  # a stretch may end after the last run
    hashes = np.append(mixed(windows(words, w) + mixed(salts)), end, axis=1)
    long = [(start, stop - w + 1) for start, stop in stretches if stop - start >= w]
    # With the borders start, stop, start, stop ... every second minimum is that of a stretch; the others lie between.
    borders = np.array(long, dtype=np.int64).ravel()
    smallest = iter(np.minimum.reduceat(hashes, borders, axis=1)[:, ::2].T.tolist() if long else ())
    return [
        hash(tuple(next(smallest) if stop - start >= w else words[start:stop].tolist())) & MASK
        for start, stop in stretches
    ]
