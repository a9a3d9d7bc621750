"""Templates of a site by the nodes of its pages.

D. Gibson, K. Punera and A. Tomkins, The Volume and Evolution of Web Page Templates (2005), the DOM-based algorithm, as
the paper on sentence entropy describes it (section 2, and 5.2 for F = 100): a hash is computed of the content of every
node, and nodes are templates by how often their hashes occur.

What we decided. A node's content is its tag, attributes, texts and everything in it, in order: the page between its
start and end offset. The offsets themselves are not hashed, or a footer below articles of different lengths would
never be the same. Text nodes are nodes too. Occurrences are counted in pages: a node is a template if its hash is on
at least F pages. On a site with fewer than 2 F pages half of the pages are enough, but at least two, or the method
could not work there at all.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from victorpy.labellers.base import LABELLERS
from victorpy.labellers.repeated import NOISE, Repeated
from victorpy.settings import check_count
from victorpy.sites.counts import PageCounts, enough
from victorpy.sites.hashes import MASK, Numbers, numbers_of
from victorpy.sites.tree import PageTree


@LABELLERS.register("dom-template")
class DomTemplate(Repeated):
    """Drops nodes that many pages of the site have."""

    def __init__(self, F: int = 100) -> None:  # noqa: N803
        check_count("dom-template", 2, F=F)
        self.F = F

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
