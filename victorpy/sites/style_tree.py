"""The Site Style Tree (Yi, Liu and Li, "Eliminating Noisy Information in Web Pages for Data Mining", KDD 2003).

Pages of a site are merged into one tree from the top down (3.2). An element node has the styles in which pages show
it. A style is a sequence of element nodes, with the pages that have it. Leaves hold the content of pages.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence

from victorpy.base.words import simple_words
from victorpy.document import Document
from victorpy.errors import ConfigError, suggest
from victorpy.sites.content import Content, image_features, link_features
from victorpy.sites.page_tree import ROOT, STYLES, Key, PageNode, page_tree

ALIKE = 0.5
"""Share of common names from which elements of different pages count as the same."""

MOST_KNOWN = 500
"""Below a parent with more names than this, a new name is a new element, since comparing it with all would take too
long. Typical sites have fifty."""


class ElementNode:
    """E = (TAG, Attr, Ss): an element of the site's pages, and the styles below it."""

    __slots__ = ("content", "display", "known", "pages", "styles", "tag")

    def __init__(self, tag: str, display: str) -> None:
        self.tag = tag
        self.display = display
        self.pages = 0
        """A bit for each page that has it."""
        self.styles: dict[tuple[Key, ...], StyleNode] = {}
        self.known: dict[Key, ElementNode] = {}
        """The element nodes of all styles by name, if the tree is aligned."""
        self.content: Content | None = None
        """The content of pages here, if it is a leaf on any of them."""

    @property
    def page_count(self) -> int:
        """Number of pages that have it: the m of equation 1."""
        return self.pages.bit_count()

    def children(self) -> Iterator[ElementNode]:
        """Iterate over the element nodes below it, each once."""
        return iter({id(child): child for style in self.styles.values() for child in style.elements}.values())

    def walk(self) -> Iterator[ElementNode]:
        """Yield it and all element nodes below, from the top down."""
        yield self
        for child in self.children():
            yield from child.walk()


class StyleNode:
    """S = (Es, n): a sequence of elements, and the pages that have it."""

    __slots__ = ("elements", "pages")

    def __init__(self, elements: list[ElementNode]) -> None:
        self.elements = elements
        self.pages = 0
        """A bit for each page that has this style here."""

    @property
    def page_count(self) -> int:
        """Number of pages that show the element in this style."""
        return self.pages.bit_count()


_Leaves = dict[int, tuple[ElementNode, Counter[str]]]
"""The leaves of a page, by id, with the page's features there."""


class StyleTree:
    """The style tree of a site. Pages are added one by one."""

    def __init__(self, styles: str = "modern", virtual_leaves: bool = True) -> None:
        if styles not in STYLES:
            raise ConfigError(f"styles is one of {', '.join(STYLES)}, not {styles!r}{suggest(styles, STYLES)}")
        self.styles = styles
        self.virtual_leaves = virtual_leaves
        self.root = ElementNode(ROOT, "")
        self.page_count = 0
        self.seen: set[str] = set()
        """Fingerprints of the pages. A page that was added twice would count as repeated text."""

    @property
    def aligned(self) -> bool:
        """Whether elements with the same name below a parent are the same, whatever comes before and after them."""
        return self.styles != "paper"

    def page(self, document: Document) -> PageNode:
        """Return the tree of a page for merging and mapping."""
        return page_tree(document, self.styles, self.virtual_leaves)

    def add(self, document: Document) -> None:
        """Merge a page into the tree. Pages without text, and pages that were added before, are ignored."""
        fingerprint = page_fingerprint(document)
        if not document.blocks or fingerprint in self.seen:
            return
        self.seen.add(fingerprint)
        leaves: _Leaves = {}
        self._merge(self.root, self.page(document), document, leaves)
        for element, features in leaves.values():
            if element.content is None:
                element.content = Content()
            element.content.add(self.page_count, features)
        self.page_count += 1

    def _merge(self, element: ElementNode, node: PageNode, document: Document, leaves: _Leaves) -> None:
        """Merge a page's node, with all nodes below, into an element node. A page may have a leaf more than once."""
        bit = 1 << self.page_count
        element.pages |= bit
        if node.children:
            style = self.style(element, node)
            style.pages |= bit
            for child, group in zip(style.elements, self.groups(node), strict=True):
                for below in group:
                    self._merge(child, below, document, leaves)
            return
        _, features = leaves.setdefault(id(element), (element, Counter()))
        for number in node.blocks:
            block = document.blocks[number]
            features.update(simple_words(block.text))
            features.update(link_features(document, block))
        features.update(image_features(document, node.images))

    def style(self, element: ElementNode, node: PageNode) -> StyleNode:
        """Return the style in which a page shows an element. Creates the style if it is new."""
        keys = tuple(group[0].key for group in self.groups(node))
        style = element.styles.get(keys)
        if style is not None:
            return style
        if self.aligned:
            for key, match in zip(keys, self.find(element, keys), strict=True):
                if key not in element.known:
                    element.known[key] = match or ElementNode(*key)
            children = [element.known[key] for key in keys]
        else:
            children = [ElementNode(*key) for key in keys]
        style = element.styles[keys] = StyleNode(children)
        return style

    def find(self, parent: ElementNode, keys: Sequence[Key]) -> list[ElementNode | None]:
        """Find the elements below a parent that match its children on a page, by name; None if there is no match."""
        elements = [parent.known.get(key) for key in keys]
        if None not in elements or self.styles == "paper" or len(parent.known) > MOST_KNOWN:
            return elements
        tags_on_page = Counter(tag for tag, _ in dict.fromkeys(keys))
        for number, key in enumerate(keys):
            if elements[number] is None:
                # A new name of the most similar element, or of the only one with this tag on the site and on the page.
                elements[number] = _most_alike(parent, key)
                if elements[number] is None and tags_on_page[key[0]] == 1:
                    with_tag = {id(element): element for (tag, _), element in parent.known.items() if tag == key[0]}
                    elements[number] = next(iter(with_tag.values())) if len(with_tag) == 1 else None
        return elements

    def groups(self, node: PageNode) -> list[list[PageNode]]:
        """Return the children of a node, one by one or, if the tree is aligned, grouped by name."""
        if not self.aligned:
            return [[child] for child in node.children]
        groups: dict[Key, list[PageNode]] = {}
        for child in node.children:
            groups.setdefault(child.key, []).append(child)
        return list(groups.values())


class _Last:
    """The page whose fingerprint was asked for last: all parts of a site's model ask for it."""

    page: tuple[Document, str] | None = None


def page_fingerprint(document: Document) -> str:
    """Identify a page by its elements and its text."""
    last = _Last.page
    if last is not None and last[0] is document:
        return last[1]
    elements = document.elements
    text = "\n".join([*map(str, elements.attributes), *elements.tag, *(block.text for block in document.blocks)])
    fingerprint = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    _Last.page = document, fingerprint
    return fingerprint


def _most_alike(parent: ElementNode, key: Key) -> ElementNode | None:
    """Return the element below a parent with the same tag and the most common names, if any shares half of them.

    Pages add their own names to the same element, such as the page's topic or the current item of a menu.
    """
    tag, display = key
    names = set(display.split())
    best, highest = None, ALIKE
    for (other_tag, other_display), element in parent.known.items():
        others = set(other_display.split())
        if other_tag == tag and names and others and len(names & others) / len(names | others) >= highest:
            best, highest = element, len(names & others) / len(names | others)
    return best
