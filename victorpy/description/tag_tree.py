"""Build the markup tag tree: a page as nested content blocks (section 3.1).

A node is a container tag. Texts, links and images are attached to the innermost container around them, and their counts
determine the type of the node.

The paper names TABLE, TR, TD, P and DIV as typical containers and gives no thresholds. Modern container tags are added
here. A list is one container, so that its links are judged together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from victorpy.base.unicode import count_words
from victorpy.document import Document, Elements
from victorpy.outputs.base import CleanPage
from victorpy.page.markup import begins_segment
from victorpy.page.tree import PageTree

CONTAINERS = frozenset(
    "html body table tr td th p div "
    "article aside blockquote caption center dl fieldset figure footer form header main nav ol pre section ul".split()
)
WEIGHTY = {
    **{"h1": 6.0, "h2": 2.0, "h3": 1.5, "h4": 1.3, "h5": 1.2, "h6": 1.1},
    **{"b": 1.2, "strong": 1.2, "big": 1.2, "mark": 1.2, "em": 1.1, "i": 1.1, "u": 1.1, "font": 1.1},
}
"""Force of each weighty tag.

The paper only says that H1 has more force than H3. A node without weighty tags has force 1.
"""
MOST_NODES = 10_000
"""Maximum number of nodes of a page. Further containers belong to the container around them."""
_NEARLY_ALL = 0.9  # minimum share of a page's words
_ICON = 32  # pixels
_LEAST_IMAGES = 0.001  # smallest threshold of images per word; avoids a division by 0

_CENTRAL_TAGS = frozenset(["html", "body", "main", "article"])
_SMALL = re.compile(r"\d{1,2}")
_WIDTH = re.compile(r"(\d{1,4})(%?)")
_NARROW_SHARE, _NARROW_PIXELS = 25, 200


class _Region(NamedTuple):
    """Tags, roles and names that mark a region of a page.

    Only whole names count, because longer names, such as ``elementor-widget-nav``, occur anywhere in a page.
    """

    tags: Set[str]
    roles: Set[str]
    names: Set[str]

    def marks(self, elements: Elements, element: int) -> bool:
        """Whether an element outside the page's main part has one of the tags, roles or names."""
        tag, attributes = elements.tag[element], elements.attributes[element]
        if tag in _CENTRAL_TAGS or attributes.get("role") == "main":
            return False
        # The header of an article belongs to the article.
        if tag in self.tags and (tag != "header" or elements.ancestor(element, ("article", "main")) < 0):
            return True
        whole_names = f"{attributes.get('id', '')} {attributes.get('class', '')}".lower().split()
        return attributes.get("role", "").lower() in self.roles or not self.names.isdisjoint(whole_names)


# Attributes of blocks distinguish the central area of a page from its margins (section 4.1).
_MENU = _Region(
    {"nav", "header", "footer"},
    {"navigation", "banner", "contentinfo", "menu", "menubar"},
    set("breadcrumb breadcrumbs footer masthead menu nav navbar navigation topbar".split()),
)
_MARGIN = _Region(
    _MENU.tags | {"aside", "form"},
    _MENU.roles | {"complementary", "search"},
    _MENU.names
    | set("ad ads advert advertisement comments cookie cookies copyright newsletter popup share sharing".split())
    | set("sidebar social sponsor toolbar".split()),
)


class Type(StrEnum):
    """Type of a block or page: mainly text, links or images."""

    TOPIC = "topic"
    HUB = "hub"
    IMAGE = "image"


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Minimum proportions of each type of block and page."""

    hub: float = 0.45  # share of a block's words that are in links
    image: float = 0.2  # images per word of a block
    page_hub: float = 0.25  # share of the central area's words that are in hub blocks
    page_image: float = 0.5  # share of words in image blocks of the central area, where images count as words


@dataclass(slots=True)
class Node:
    """A content block: a container with the texts, links and images attached to it."""

    element: int
    parent: int  # number of the parent node, -1 for the outermost
    children: list[int] = field(default_factory=list)
    texts: list[int] = field(default_factory=list)  # numbers of the attached texts in the page tree
    words: float = 0.0
    link_words: float = 0.0
    links: list[int] = field(default_factory=list)
    images: list[int] = field(default_factory=list)  # elements of the attached links and images

    def type(self, thresholds: Thresholds) -> Type:
        if self.words and self.link_words > thresholds.hub * self.words:
            return Type.HUB
        if len(self.images) > thresholds.image * self.words:
            return Type.IMAGE
        return Type.TOPIC


class TagTree:
    """The containers of a page in document order, outermost first."""

    def __init__(self, page: Document | PageTree, kept: Sequence[bool] | None = None) -> None:
        """Build the tree from all texts or, with `kept`, from the kept blocks."""
        self.page = page if isinstance(page, PageTree) else PageTree(page)
        self.kept = kept
        self.nodes: list[Node] = []
        self.node_of: list[int] = []  # the innermost container around each element, which may be the element itself
        elements = self.page.elements
        for element, (tag, parent) in enumerate(zip(elements.tag, elements.parent, strict=True)):
            container = self.node_of[parent] if parent >= 0 else -1
            if (tag in CONTAINERS and len(self.nodes) < MOST_NODES) or container < 0:
                self.node_of.append(len(self.nodes))
                if container >= 0:
                    self.nodes[container].children.append(len(self.nodes))
                self.nodes.append(Node(element, container))
                continue
            self.node_of.append(container)
            attributes = elements.attributes[element] if tag in {"img", "a"} else {}
            if tag == "img":
                sizes = (attributes.get(name, "").strip().removesuffix("px") for name in ("width", "height"))
                # ignore spacers, counters and icons
                if not any(_SMALL.fullmatch(size) and int(size) <= _ICON for size in sizes):
                    self.nodes[container].images.append(element)
            elif tag == "a" and attributes.get("href"):
                self.nodes[container].links.append(element)
        for number, count in enumerate(self.words):
            if count is not None:
                node = self.nodes[self.node_of[self.page.texts[number].element]]
                node.texts.append(number)
                node.words += count
                node.link_words += count if self.page.in_link[number] else 0

    @cached_property
    def words(self) -> list[float | None]:
        """Number of words of each text of the page, or None for texts that are left out."""
        texts = self.page.texts
        counts = count_words([text.text if text.shown else "" for text in texts])
        kept = [text.shown and (self.kept is None or self.kept[text.block]) for text in texts]
        return [count if keep else None for count, keep in zip(counts, kept, strict=True)]

    def word_totals(self) -> tuple[list[float], list[float]]:
        """Return the number of words and the number of linked words in each element of the page."""
        words = [count or 0.0 for count in self.words]
        in_links = [count if is_link else 0.0 for count, is_link in zip(words, self.page.in_link, strict=True)]
        return self.page.totals(words), self.page.totals(in_links)

    def text(self, texts: Iterable[int]) -> str:
        """Join texts of a node, with a line break where a paragraph begins."""
        parts: list[str] = []
        previous = -1
        for number in texts:
            text = self.page.texts[number]
            before_break = text.tags[: text.tags.index("br")] if "br" in text.tags else ()
            # Some pages without heading tags write <b>Heading</b><br>.
            follows_heading = any(tag[0] == "/" and tag[1:] in WEIGHTY for tag in before_break)
            if begins_segment(text.tags) or follows_heading:
                separator = "\n"
            else:
                separator = " " if text.spaced or number != previous + 1 else ""
            parts += [separator, text.text]
            previous = number
        return "".join(parts[1:])

    def inside(self, number: int) -> Iterator[Node]:
        """Yield a node and all nodes in it."""
        stop = self.page.elements.stop[self.nodes[number].element]
        while number < len(self.nodes) and self.nodes[number].element < stop:
            yield self.nodes[number]
            number += 1

    @cached_property
    def central(self) -> list[bool]:
        """Whether each node belongs to the page's central area.

        An element that contains nearly the whole page is never a margin, because some pages are a single form, or never
        close their header.
        """
        totals, _ = self.word_totals()
        elements, most = self.page.elements, _NEARLY_ALL * totals[0]

        def is_marginal(element: int) -> bool:
            width = _WIDTH.match(elements.attributes[element].get("width", ""))
            # It is a column of a layout table beside the content.
            is_narrow = width and int(width[1]) <= (_NARROW_SHARE if width[2] else _NARROW_PIXELS)
            is_column = is_narrow and elements.tag[element] in {"td", "th"}
            return totals[element] <= most and (is_column or _MARGIN.marks(elements, element))

        return [not is_inside for is_inside in self._inherit(is_marginal)]

    @cached_property
    def in_menu(self) -> list[bool]:
        """Whether each node belongs to the site's navigation."""
        return self._inherit(lambda element: _MENU.marks(self.page.elements, element))

    def _inherit(self, condition: Callable[[int], bool]) -> list[bool]:
        """Whether the element of each node, or of one of its ancestors, meets a condition."""
        flags: list[bool] = []
        for node in self.nodes:
            flags.append((node.parent >= 0 and flags[node.parent]) or condition(node.element))
        return flags

    def shares(self, thresholds: Thresholds, central: Sequence[bool] | None = None) -> dict[Type, float]:
        """Return the share of each type of block in the words of the central area (section 4.1).

        Most images are in blocks without words. So an image in an image block counts as several words: as many as the
        threshold of image blocks allows per image. The shares may therefore add up to more than 1.
        """
        words = dict.fromkeys(Type, 0.0)
        images = 0.0
        for node, is_central in zip(self.nodes, central or self.central, strict=True):
            if is_central:
                kind = node.type(thresholds)
                words[kind] += node.words
                images += len(node.images) if kind is Type.IMAGE else 0
        total = sum(words.values())
        image_words = images / max(thresholds.image, _LEAST_IMAGES)
        shares = {kind: count / total if total else 0.0 for kind, count in words.items()}
        if total + image_words:
            shares[Type.IMAGE] = (words[Type.IMAGE] + image_words) / (total + image_words)
        return shares

    def page_type(self, thresholds: Thresholds) -> Type:
        return type_by_shares(self.shares(thresholds), thresholds.page_hub, thresholds.page_image)


def content_tree(page: CleanPage, page_tree: PageTree | None = None) -> TagTree:
    """Return the tree of a page's kept text. It has the same nodes as the tree of the whole page."""
    if page.spans or page_tree is None:
        page_tree = PageTree(page.document, page.spans)
    return TagTree(page_tree, [label.is_content for label in page.labels])


def type_by_shares(shares: Mapping[Type, float], page_hub: float, page_image: float) -> Type:
    """Return the type of a page from the shares of the types of its blocks."""
    if shares[Type.HUB] > page_hub:
        return Type.HUB
    return Type.IMAGE if shares[Type.IMAGE] > page_image else Type.TOPIC
