"""The Site Style Tree (Yi, Liu and Li, "Eliminating Noisy Information in Web Pages for Data Mining", KDD 2003).

Pages of a site are merged into one tree from the top down (3.2). An element node has the styles in which pages show
it; a style is a sequence of element nodes, and how many pages have it. Leaves hold what pages say there.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence

from victorpy.document import Document
from victorpy.errors import ConfigError, suggest
from victorpy.sites.content import Content, image_features, link_features, words
from victorpy.sites.page_tree import ROOT, STYLES, Key, PageNode, page_tree

ALIKE = 0.5
"""The share of names that elements of different pages must have in common to be the same."""

MOST_KNOWN = 500
"""Below a parent with more names than this (sites that were looked at have fifty) a new name is a new element: every
new one would have to be compared with all."""


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
        """The element nodes of all styles, where equal ones of different styles are the same."""
        self.content: Content | None = None
        """What pages say here, if it is a leaf on any."""

    @property
    def page_count(self) -> int:
        """How many pages have it: the m of equation 1."""
        return self.pages.bit_count()

    def children(self) -> Iterator[ElementNode]:
        """The element nodes below it, each once."""
        return iter({id(child): child for style in self.styles.values() for child in style.elements}.values())

    def walk(self) -> Iterator[ElementNode]:
        """It and all element nodes below, from the top down."""
        yield self
        for child in self.children():
            yield from child.walk()


class StyleNode:
    """S = (Es, n): a sequence of elements, and on how many pages it was seen."""

    __slots__ = ("elements", "pages")

    def __init__(self, elements: list[ElementNode]) -> None:
        self.elements = elements
        self.pages = 0
        """A bit for each page that has this style here."""

    @property
    def page_count(self) -> int:
        """How many pages show the element in this style."""
        return self.pages.bit_count()


class StyleTree:
    """The style tree of a site, to which pages are added one by one."""

    def __init__(self, styles: str = "modern", virtual_leaves: bool = True) -> None:
        if styles not in STYLES:
            raise ConfigError(f"styles is one of {', '.join(STYLES)}, not {styles!r}{suggest(styles, STYLES)}")
        self.styles = styles
        self.virtual_leaves = virtual_leaves
        self.root = ElementNode(ROOT, "")
        self.page_count = 0
        self.seen: set[str] = set()
        """The fingerprints of the pages: one that comes twice would make what it says a thing that pages repeat."""

    @property
    def aligned(self) -> bool:
        """Whether elements of the same name below a parent are the same one, whatever the sequence around them."""
        return self.styles != "paper"

    def page(self, document: Document) -> PageNode:
        """The tree of a page, as it is merged and mapped."""
        return page_tree(document, self.styles, self.virtual_leaves)

    def add(self, document: Document) -> None:
        """Merge a page into the tree; one without text says nothing of the site, and the same page nothing new."""
        fingerprint = page_fingerprint(document)
        if not document.blocks or fingerprint in self.seen:
            return
        self.seen.add(fingerprint)
        said = _Said(document)
        self._merge(self.root, self.page(document), said)
        said.write(self.page_count)
        self.page_count += 1

    def _merge(self, element: ElementNode, node: PageNode, said: _Said) -> None:
        bit = 1 << self.page_count
        element.pages |= bit
        if not node.children:
            said.add(element, node)
            return
        style = self.style(element, node)
        style.pages |= bit
        for child, below in zip(style.elements, self.groups(node), strict=True):
            for each in below:
                self._merge(child, each, said)

    def style(self, element: ElementNode, node: PageNode) -> StyleNode:
        """The style in which a page shows an element; a new one is made where there is none yet."""
        keys = tuple(group[0].key for group in self.groups(node))
        style = element.styles.get(keys)
        if style is None:
            style = element.styles[keys] = StyleNode(self._elements(element, keys))
        return style

    def _elements(self, parent: ElementNode, keys: tuple[Key, ...]) -> list[ElementNode]:
        if not self.aligned:
            return [ElementNode(*key) for key in keys]
        for key, known in zip(keys, self.find(parent, keys), strict=True):
            if key not in parent.known:
                parent.known[key] = known or ElementNode(*key)
        return [parent.known[key] for key in keys]

    def find(self, parent: ElementNode, keys: Sequence[Key]) -> list[ElementNode | None]:
        """The elements that the children of a parent are by their names, None where there is none."""
        found = [parent.known.get(key) for key in keys]
        if None not in found or self.styles == "paper":
            return found
        tags = Counter(tag for tag, _ in dict.fromkeys(keys))
        return [known or _known_as(parent, key, tags[key[0]] == 1) for key, known in zip(keys, found, strict=True)]

    def groups(self, node: PageNode) -> list[list[PageNode]]:
        """The children of a node; where they are aligned siblings with the same name go together."""
        if not self.aligned:
            return [[child] for child in node.children]
        found: dict[Key, list[PageNode]] = {}
        for child in node.children:
            found.setdefault(child.key, []).append(child)
        return list(found.values())


def page_fingerprint(document: Document) -> str:
    """What tells a page from others: its elements and its text."""
    elements = document.elements
    text = "\n".join([*map(str, elements.attributes), *elements.tag, *(block.text for block in document.blocks)])
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _known_as(parent: ElementNode, key: Key, alone: bool) -> ElementNode | None:
    """The element that a page has under a new name: the most alike, or the only one with its tag on either side."""
    if len(parent.known) > MOST_KNOWN:
        return None
    return _most_alike(parent, key) or (_only_one(parent, key[0]) if alone else None)


def _most_alike(parent: ElementNode, key: Key) -> ElementNode | None:
    """The element below a parent that has the same tag and most of the same names, if any has half of them.

    Pages add names of their own to the same element: what the page is about, which item of a menu is current.
    """
    tag, display = key
    names = set(display.split())
    best, alike = None, ALIKE
    for (other_tag, other_display), element in parent.known.items():
        others = set(other_display.split())
        if other_tag == tag and names and others and len(names & others) / len(names | others) >= alike:
            best, alike = element, len(names & others) / len(names | others)
    return best


def _only_one(parent: ElementNode, tag: str) -> ElementNode | None:
    """The only element with a tag below a parent; none where there are several."""
    found = {id(element): element for (other, _), element in parent.known.items() if other == tag}
    return next(iter(found.values())) if len(found) == 1 else None


class _Said:
    """What one page says at each leaf: counted first, because a page may come to a leaf more than once."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._counts: dict[int, tuple[ElementNode, Counter[str]]] = {}

    def add(self, element: ElementNode, node: PageNode) -> None:
        _, counts = self._counts.setdefault(id(element), (element, Counter()))
        for number in node.blocks:
            block = self._document.blocks[number]
            counts.update(words(block.text))
            counts.update(link_features(self._document, block))
        counts.update(image_features(self._document, node.images))

    def write(self, page: int) -> None:
        for element, counts in self._counts.values():
            if element.content is None:
                element.content = Content()
            element.content.add(page, counts)
