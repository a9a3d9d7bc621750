"""RTDM: the template of a site is what a tree edit distance keeps of its pages.

K. Vieira et al., A Fast and Robust Method for Web Page Template Detection and Removal (2006), after the restricted
top-down mapping of Reis et al. (2004), as the paper on sentence entropy describes it (sections 1 and 2). Pages are
mapped one after the other (victorpy/sites/restricted_mapping.py): the template is what stays mapped to equal nodes
through all sampled pages. A page is then mapped to the template, and what maps to equal nodes is noise.

Nodes are equal if their tags are. As that paper says of the method, texts are not compared: a text is mapped to any
text in the same place. So everything with the same structure on all pages is dropped. This includes much of the
articles on a site that puts them all into the same elements, and the values in table cells. With `text` texts must be
equal too, which keeps these. With `names` an element's class and id must be equal.

What we decided. The first `sample` different pages are mapped. One page alone has no template. A block is noise if at
least three quarters of its characters are mapped.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from victorpy.base.hashes import number_of, numbers_of
from victorpy.base.parameters import check_count
from victorpy.document import Document, Labelling
from victorpy.errors import DataError
from victorpy.labellers.base import LABELLERS, Labels, SiteLabeller, label_kept
from victorpy.labellers.repeated import NOISE, not_fitted
from victorpy.page.tree import PageTree
from victorpy.sites.restricted_mapping import Mapping, Node, node_of

_TEXT = number_of("#text")


@LABELLERS.register("rtdm")
class Rtdm(SiteLabeller):
    """Drops what all pages of the site have in the same place."""

    def __init__(self, sample: int = 30, text: bool = False, names: bool = False) -> None:
        check_count("rtdm", 2, sample=sample)
        self.sample = sample
        self.text = text
        self.names = names
        self.template_: Node | None = None

    def fit(self, documents: Iterable[Document], labels: Labels = None) -> Self:
        """Map page after page to the template so far, and keep what is mapped."""
        template, seen = None, set()
        for document in documents:
            tree = PageTree(document)
            if tree.number in seen:
                continue
            seen.add(tree.number)
            page = self._nodes(tree)
            template = page if template is None else Mapping().common(template, page)
            if len(seen) >= self.sample:
                break
        if template is None:
            raise DataError("rtdm learns from pages of a site, and there were none")
        self.template_ = template if len(seen) > 1 else Node.of(0)
        return self

    def label(self, document: Document) -> Labelling:
        if self.template_ is None:
            raise not_fitted(self)
        tree = PageTree(document)
        noise = tree.blocks_with(Mapping().mapped_texts(self.template_, self._nodes(tree)), NOISE)
        return label_kept(document, [not is_noise for is_noise in noise])

    def _nodes(self, tree: PageTree) -> Node:
        labels: Iterable[str] = tree.elements.tag
        if self.names:
            pairs = zip(tree.elements.tag, tree.elements.attributes, strict=True)
            labels = (f"{tag} {given.get('class', '')} {given.get('id', '')}" for tag, given in pairs)
        texts = numbers_of(text.text for text in tree.texts) if self.text else [_TEXT] * len(tree.texts)
        return node_of(tree, numbers_of(labels), texts)
