"""The Site Style Tree (Yi, Liu and Li, "Eliminating Noisy Information in Web Pages for Data Mining", KDD 2003).

Pages of a site are merged into one tree from the top down (3.2). An element node has a style for each different
sequence of children that pages show. A style consists of element nodes and the set of pages that have it. Leaves hold
the content of pages.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence

from victorpy.base.words import simple_words
from victorpy.document import Document
from victorpy.errors import ConfigError, suggest
from victorpy.sites.content import Content, link_features
from victorpy.sites.page_tree import ROOT, STYLES, Key, PageNode, page_tree

ALIKE = 0.5  # minimum share of common names for elements of different pages to count as the same

MOST_KNOWN = 500
"""If a parent has more names, each new name becomes a new element, because comparing all would take too long.

Typical sites have fifty.
"""

FREQ = 0.85  # minimum share of a node's pages with a characteristic feature
LAM = 0.85  # minimum overlap of characteristic features for two nodes to be merged
MOST_COMPARED = 500  # maximum number of siblings that an element is compared with


class ElementNode:
    """E = (TAG, Attr, Ss): an element of the site's pages, and the styles below it."""

    __slots__ = ("content", "display", "known", "pages", "styles", "tag")

    def __init__(self, tag: str, display: str) -> None:
        self.tag = tag
        self.display = display
        self.pages = 0  # bit set of the pages with the element
        self.styles: dict[tuple[Key, ...], StyleNode] = {}
        self.known: dict[Key, ElementNode] = {}  # the element nodes of all styles by name, if the tree is aligned
        self.content: Content | None = None  # the content of the pages on which it is a leaf

    @property
    def page_count(self) -> int:
        """Number of pages that have the element, called m in equation 1."""
        return self.pages.bit_count()

    def children(self) -> list[ElementNode]:
        """Return the element nodes of all styles, each once."""
        return list(dict.fromkeys(child for style in self.styles.values() for child in style.elements))

    def walk(self) -> Iterator[ElementNode]:
        """Yield the node and all nodes below, from the top down. A node in several styles is yielded several times."""
        yield self
        for child in self.children():
            yield from child.walk()


class StyleNode:
    """S = (Es, n): a sequence of elements, and the pages that have it."""

    __slots__ = ("elements", "pages")

    def __init__(self, elements: list[ElementNode]) -> None:
        self.elements = elements
        self.pages = 0  # bit set of the pages with this style at this place

    @property
    def page_count(self) -> int:
        """Number of pages that show the element in this style."""
        return self.pages.bit_count()


_Leaves = dict[ElementNode, Counter[str]]  # the features of a page at its leaves


class StyleTree:
    """The style tree of a site. Pages are added one by one."""

    def __init__(self, styles: str = "modern", virtual_leaves: bool = True) -> None:
        if styles not in STYLES:
            raise ConfigError(f"styles must be one of {', '.join(STYLES)}, not {styles!r}{suggest(styles, STYLES)}")
        self.styles = styles
        self.virtual_leaves = virtual_leaves
        self.root = ElementNode(ROOT, "")
        self.page_count = 0
        self.seen: set[str] = set()
        """Fingerprints of the pages. If a page were counted twice, all its text would look repeated."""
        self.t: float | None = None  # the threshold that was chosen for the site when the tree was built

    @property
    def aligned(self) -> bool:
        """Whether children of an element with the same name are always one node, regardless of their order."""
        return self.styles != "paper"

    def page(self, document: Document) -> PageNode:
        """Return the tree of a page for merging and mapping."""
        return page_tree(document, self.styles, self.virtual_leaves)

    def add(self, document: Document) -> bool:
        """Merge a page into the tree. Return False for a page without text or a page that was added before."""
        fingerprint = page_fingerprint(document)
        if not document.blocks or fingerprint in self.seen:
            return False
        self.seen.add(fingerprint)
        leaves: _Leaves = {}
        self._merge(self.root, self.page(document), document, leaves)
        for element, features in leaves.items():
            if element.content is None:
                element.content = Content()
            element.content.add(self.page_count, features)
        self.page_count += 1
        return True

    def _merge(self, element: ElementNode, node: PageNode, document: Document, leaves: _Leaves) -> None:
        """Merge a page's node, and all nodes below, into an element node. A leaf may occur several times on a page."""
        bit = 1 << self.page_count
        element.pages |= bit
        if node.children:
            groups: dict[object, list[PageNode]] = {}  # in an aligned tree, siblings with the same name are merged
            for number, below in enumerate(node.children):
                groups.setdefault(below.key if self.aligned else number, []).append(below)
            style = self._style(element, tuple(group[0].key for group in groups.values()))
            style.pages |= bit
            for child, group in zip(style.elements, groups.values(), strict=True):
                for below in group:
                    self._merge(child, below, document, leaves)
            return
        features = leaves.setdefault(element, Counter())
        for number in node.blocks:
            block = document.blocks[number]
            features.update(simple_words(block.text))
            features.update(link_features(document, block))
        attributes = document.elements.attributes
        features.update(f"image {attributes[image]['src']}" for image in node.images if "src" in attributes[image])

    def _style(self, element: ElementNode, keys: tuple[Key, ...]) -> StyleNode:
        """Return the style of an element with these children. Creates the style if it is new."""
        style = element.styles.get(keys)
        if style is None:
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
        """Return the element node that matches each child of an element on a page, or None."""
        elements = [parent.known.get(key) for key in keys]
        if None not in elements or self.styles == "paper" or len(parent.known) > MOST_KNOWN:
            return elements
        tags_on_page = Counter(tag for tag, _ in dict.fromkeys(keys))
        for number, key in enumerate(keys):
            if elements[number] is None:
                # Match the most similar element, or the only element with this tag both on the site and on the page.
                elements[number] = _most_alike(parent, key)
                if elements[number] is None and tags_on_page[key[0]] == 1:
                    with_tag = {element for (tag, _), element in parent.known.items() if tag == key[0]}
                    elements[number] = with_tag.pop() if len(with_tag) == 1 else None
        return elements


def _most_alike(parent: ElementNode, key: Key) -> ElementNode | None:
    """Return the child with the same tag that has most names in common, which must be at least half of them.

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


class _Last:
    """Cache of the last page and its fingerprint, which all parts of a site's model need."""

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


def merge_alike(tree: StyleTree, freq: float = FREQ, lam: float = LAM) -> None:
    """Merge element nodes of different styles that are the same element, from the top down (3.6, first enhancement).

    Two element nodes below the same parent are merged if their tags and display attributes are equal and their
    characteristic features overlap by `lam`. Characteristic features are those below a node that at least the share
    `freq` of its pages have. No page has two styles of one element, so merged nodes have no page in common.
    """
    open_nodes = [tree.root]
    while open_nodes:
        element = open_nodes.pop()
        if len(element.styles) > 1:
            _merge_children(element, freq, lam)
        open_nodes += element.children()


def _merge_children(parent: ElementNode, freq: float, lam: float) -> None:
    features = {child: _characteristic(child, freq) for child in parent.children()}
    merged_into: dict[ElementNode, ElementNode] = {}
    different: dict[Key, list[ElementNode]] = {}
    for child in parent.children():
        candidates = different.setdefault((child.tag, child.display), [])
        theirs = features[child]
        for first in candidates[:MOST_COMPARED]:
            if first.pages & child.pages:  # both nodes are in one style
                continue
            ours = features[first]
            if ours and theirs and len(ours & theirs) / len(ours | theirs) >= lam:
                _merge_element(first, child)
                features[first] = _characteristic(first, freq)
                merged_into[child] = first
                break
        else:
            candidates.append(child)
    for style in parent.styles.values():
        style.elements = [merged_into.get(element, element) for element in style.elements]


def _characteristic(element: ElementNode, freq: float) -> set[str]:
    """Return the characteristic features I of an element: the features of its leaves that enough pages have."""
    pages_with: dict[str, int] = {}
    for node in element.walk():
        if node.content is not None:
            for feature, (pages, _, _) in node.content.sums.items():
                pages_with[feature] = pages_with.get(feature, 0) | pages
    least = freq * element.page_count
    return {feature for feature, pages in pages_with.items() if pages.bit_count() >= least}


def _merge_element(first: ElementNode, second: ElementNode) -> None:
    """Merge the second element node into the first, with everything below."""
    first.pages |= second.pages
    for keys, theirs in second.styles.items():
        ours = first.styles.setdefault(keys, theirs)
        if ours is not theirs:
            ours.pages |= theirs.pages
            for our_element, their_element in zip(ours.elements, theirs.elements, strict=True):
                if our_element is not their_element:
                    _merge_element(our_element, their_element)
    if second.content is not None:
        first.content = first.content or Content()
        first.content.merge(second.content)
