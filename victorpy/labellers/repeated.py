"""Base class of methods that drop the parts that many pages of a site have."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Self

from victorpy.base.hashes import Numbers, PageCounts
from victorpy.document import Document, Labelling
from victorpy.errors import DataError, VictorError
from victorpy.labellers.base import Labels, SiteLabeller, label_kept
from victorpy.page.tree import PageTree

NOISE = 0.75
"""Share of a block's characters in a template from which the block is noise. Less may be a label before a value."""


class Repeated(SiteLabeller):
    """Counts the parts of pages, which are represented by numbers."""

    counts_: PageCounts | None = None

    @abstractmethod
    def _numbers(self, tree: PageTree) -> Numbers:
        """Return the numbers of a page's parts."""

    @abstractmethod
    def _noise(self, tree: PageTree, counts: PageCounts) -> Sequence[bool]:
        """Return whether each block of a page is in a template."""

    def _has_enough(self, pages: int) -> bool:
        """Whether the pages counted so far are enough."""
        return False

    def fit(self, documents: Iterable[Document], labels: Labels = None) -> Self:
        """Count the parts of a site's pages."""
        counts = PageCounts()
        for document in documents:
            tree = PageTree(document)
            counts.add(tree.number, self._numbers(tree))
            if self._has_enough(len(counts)):
                break
        if not len(counts):
            raise DataError(f"{type(self).__name__} learns from pages of a site, but there were none")
        self.counts_ = counts
        return self

    def label(self, document: Document) -> Labelling:
        if self.counts_ is None:
            raise not_fitted(self)
        noise = self._noise(PageTree(document), self.counts_)
        return label_kept(document, [not is_noise for is_noise in noise])


def not_fitted(labeller: SiteLabeller) -> VictorError:
    """Return the error for a page that is labelled before `fit`."""
    name = type(labeller).__name__
    return VictorError(f"{name} has seen no pages of the site: call fit or at_site with some of them first")
