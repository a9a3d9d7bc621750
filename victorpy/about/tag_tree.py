"""The markup tag tree: a page as nested content blocks (section 3.1).

A node is a container tag; all else is attached to the container around it: the texts, links, images and weighty tags
that lie in it and in no container inside. From their numbers follows a node's type.

The paper names TABLE, TR, TD, P and DIV as typical containers, and gives no thresholds. Pages of today are divided by
further tags, which stand beside those here; a list is one container, so that links listed together are judged together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from victorpy.about.areas import is_marginal, is_menu
from victorpy.document import Document, Elements
from victorpy.labellers.base import begins_segment
from victorpy.sites.tree import PageTree
from victorpy.unicode import count_words

CONTAINERS = frozenset(
    "html body table tr td th p div "
    "article aside blockquote caption center dl fieldset figure footer form header main nav ol pre section ul".split()
)
WEIGHTY = {
    **{"h1": 4.0, "h2": 3.0, "h3": 2.5, "h4": 2.0, "h5": 1.5, "h6": 1.5},
    **{"b": 1.5, "strong": 1.5, "big": 1.5, "mark": 1.5, "em": 1.2, "i": 1.2, "u": 1.2, "font": 1.2},
}
"""The force of weighty tags: the paper gives none but that H1 has more than H3. None is below 1, the force of a node
without any."""
_NEARLY_ALL = 0.9  # of a page's words
_ICON = 32  # pixels
_LEAST_IMAGES = 0.001  # images a word; so that a threshold of 0 is one


class Type(StrEnum):
    """What a block or page tells by: text, links or images."""

    TOPIC = "topic"
    HUB = "hub"
    IMAGE = "image"


@dataclass(frozen=True, slots=True)
class Thresholds:
    """From which proportion on a block, and a page, is of a type."""

    hub: float = 0.45
    """Words in links to all words of a block."""
    image: float = 0.2
    """Images to words of a block."""
    page_hub: float = 0.25
    """Words in hub blocks to all words of the central area."""
    page_image: float = 0.5
    """Images of image blocks, counted as words, and the words there, to all of the central area."""


@dataclass(slots=True)
class Node:
    """A content block: a container with what is attached to it."""

    element: int
    parent: int
    """The node around it; -1 for the outermost."""
    children: list[int] = field(default_factory=list)
    texts: list[int] = field(default_factory=list)
    """Which texts of the page tree are attached."""
    words: float = 0.0
    link_words: float = 0.0
    links: list[int] = field(default_factory=list)
    """The elements of links."""
    images: list[int] = field(default_factory=list)
    """The elements of images."""
    weighty: list[int] = field(default_factory=list)
    """The elements of weighty tags."""

    @property
    def is_leaf(self) -> bool:
        """Whether no other container is in it."""
        return not self.children

    def type(self, thresholds: Thresholds) -> Type:
        """What the block tells by."""
        if self.words and self.link_words > thresholds.hub * self.words:
            return Type.HUB
        if len(self.images) > thresholds.image * self.words:
            return Type.IMAGE
        return Type.TOPIC


class TagTree:
    """The containers of a page, from the outermost on in document order."""

    def __init__(self, page: Document | PageTree, kept: Sequence[bool] | None = None) -> None:
        """Build the tree; where blocks to keep are told, from the texts in them alone."""
        self.page = page if isinstance(page, PageTree) else PageTree(page)
        self.kept = kept
        self.nodes: list[Node] = []
        self.node_of: list[int] = []
        """The innermost container around each element, which may be the element itself."""
        self._add_elements()
        self._add_texts()

    def _add_elements(self) -> None:
        elements = self.page.elements
        for element, (tag, parent) in enumerate(zip(elements.tag, elements.parent, strict=True)):
            around = self.node_of[parent] if parent >= 0 else -1
            if tag in CONTAINERS or around < 0:
                self.node_of.append(len(self.nodes))
                if around >= 0:
                    self.nodes[around].children.append(len(self.nodes))
                self.nodes.append(Node(element, around))
                continue
            self.node_of.append(around)
            if tag == "img" and not _is_tiny(elements.attributes[element]):
                self.nodes[around].images.append(element)
            elif tag == "a" and elements.attributes[element].get("href"):
                self.nodes[around].links.append(element)
            elif tag in WEIGHTY:
                self.nodes[around].weighty.append(element)

    def _add_texts(self) -> None:
        for number, count in enumerate(self.words):
            if count is not None:
                node = self.nodes[self.node_of[self.page.texts[number].element]]
                node.texts.append(number)
                node.words += count
                node.link_words += count if self.page.in_link[number] else 0

    @cached_property
    def words(self) -> list[float | None]:
        """How many words each text of the page has; None for one that is left out."""
        texts = self.page.texts
        counts = count_words([text.text if text.shown else "" for text in texts])
        kept = [text.shown and (self.kept is None or self.kept[text.block]) for text in texts]
        return [count if keep else None for count, keep in zip(counts, kept, strict=True)]

    def word_totals(self) -> tuple[list[float], list[float]]:
        """How many words each element of the page has in it, and how many of them in links."""
        words = [count or 0.0 for count in self.words]
        in_links = [count if is_link else 0.0 for count, is_link in zip(words, self.page.in_link, strict=True)]
        return self.page.totals(words), self.page.totals(in_links)

    def text(self, node: Node) -> str:
        """The text that is attached to a node: a line for each stretch between tags that part paragraphs."""
        parts: list[str] = []
        before = -1
        for number in node.texts:
            text = self.page.texts[number]
            joint = " " if text.spaced or number != before + 1 else ""
            parts += ["\n" if begins_segment(text.tags) or _follows_heading(text.tags) else joint, text.text]
            before = number
        return "".join(parts[1:])

    def inside(self, number: int) -> Iterator[Node]:
        """A node and all nodes in it."""
        stop = self.page.elements.stop[self.nodes[number].element]
        for node in self.nodes[number:]:
            if node.element >= stop:
                break
            yield node

    @cached_property
    def central(self) -> list[bool]:
        """Whether each node is of the page's central area.

        What holds nearly all of the page is no margin, whatever its name: some pages are one form, or never
        end their header.
        """
        totals, _ = self.word_totals()
        most = _NEARLY_ALL * totals[0]
        return [not each for each in self._in_any(lambda page, at: totals[at] <= most and is_marginal(page, at))]

    @cached_property
    def in_menu(self) -> list[bool]:
        """Whether each node is of a part of the page that says that it leads through the site."""
        return self._in_any(is_menu)

    def _in_any(self, wanted: Callable[[Elements, int], bool]) -> list[bool]:
        """Whether each node is such a one or lies in one."""
        found: list[bool] = []
        for node in self.nodes:
            inherited = node.parent >= 0 and found[node.parent]
            found.append(inherited or wanted(self.page.elements, node.element))
        return found

    def shares(self, thresholds: Thresholds, central: Sequence[bool] | None = None) -> dict[Type, float]:
        """How the words of the central blocks are shared out among the types of blocks (section 4.1).

        Images mostly stand in blocks without any word. So where image blocks are weighed against all others, each of
        their images counts as many words as make an image block of one: all shares together may be above 1.
        """
        words = dict.fromkeys(Type, 0.0)
        images = 0.0
        for node, is_central in zip(self.nodes, central or self.central, strict=True):
            if is_central:
                kind = node.type(thresholds)
                words[kind] += node.words
                images += len(node.images) if kind is Type.IMAGE else 0
        total = sum(words.values())
        shown = images / max(thresholds.image, _LEAST_IMAGES)
        shares = {kind: count / total if total else 0.0 for kind, count in words.items()}
        return {**shares, Type.IMAGE: (words[Type.IMAGE] + shown) / (total + shown) if total + shown else 0.0}

    def page_type(self, thresholds: Thresholds) -> Type:
        """What the page tells by."""
        return type_by_shares(self.shares(thresholds), thresholds.page_hub, thresholds.page_image)


def _is_tiny(attributes: Mapping[str, str]) -> bool:
    """Whether an image is said to be so small that it is a spacer, a counter or an icon."""
    sizes = (attributes.get(name, "").strip().removesuffix("px") for name in ("width", "height"))
    return any(size.isdecimal() and int(size) <= _ICON for size in sizes)


def _follows_heading(tags: Sequence[str]) -> bool:
    """Whether a line break stands behind emphasis: ``<b>Heading</b><br>`` is how pages write headings without one."""
    return "br" in tags and any(tag[0] == "/" and tag[1:] in WEIGHTY for tag in tags[: tags.index("br")])


def type_by_shares(shares: Mapping[Type, float], page_hub: float, page_image: float) -> Type:
    """The type of a page of which the types of blocks have these shares."""
    if shares[Type.HUB] > page_hub:
        return Type.HUB
    return Type.IMAGE if shares[Type.IMAGE] > page_image else Type.TOPIC
