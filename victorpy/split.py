"""A pruned tree to a Document: where the text is cut, and what each block knows of its place.

The thesis (Marek 2007, 3.2 and 3.3) cuts at every tag, and inside ``<pre>`` at every line as if a
``<br>`` stood there. ``split: block`` cuts at block-level tags and ``<br>`` only, so that a paragraph
with links in it stays one block of several pieces; an image's ``alt`` and hidden elements still stand alone.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from lxml import etree

from victorpy.config import Cuts
from victorpy.document import Block, Document, Elements, Piece
from victorpy.parse import VOID, Tree

# Deeper elements are not kept as containers: a page nested for thousands of levels costs no more than another.
DEEPEST = 256

_HIDING_STYLE = re.compile(r"display\s*:\s*none", re.IGNORECASE)
_MAY_HIDE = frozenset(["hidden", "aria-hidden", "style"])
_NONE: dict[str, str] = {}
_ODD = re.compile(r"[^\w:.-]+")  # what broken markup such as <br<p> puts into the names of tags
_LINE_END = re.compile(r"\r\n?|\n")


def split(tree: Tree, cuts: Cuts) -> Document:
    """Split a page into blocks."""
    splitter = Splitter(cuts)
    if tree.root is not None:
        splitter.walk(etree.iterwalk(tree.root, events=("start", "end")))
    return splitter.document(url=tree.url, title=tree.title, losses=tree.losses)


class Node(Protocol):
    """What is asked of an element; lxml's have it."""

    tag: str
    text: str | None
    tail: str | None

    def items(self) -> Sequence[tuple[str, str]]:
        """The attributes."""


Event = tuple[str, Any]
"""``("start", node)``, ``("end", node)``, ``("text", text)`` of a source whose nodes have none, or ``("cut", None)``
where a block ends whatever the tags say."""


class _Text(NamedTuple):
    """A text of the page that is not all white space."""

    text: str
    """As it stands in the page; in a ``<pre>`` one line of it."""
    element: int
    passed: int
    """How many tags were passed before it."""
    gap: bool
    """Whether white space alone stands before it."""
    cut: bool
    """Whether a block begins with it whatever the tags say."""
    indent: str | None
    """The white space before it on its line of a ``<pre>``; None elsewhere."""


class Splitter:
    """Makes blocks of start tags, texts and end tags: it notes them all, and cuts the texts at the end."""

    def __init__(self, cuts: Cuts) -> None:
        self._cuts = cuts
        self._texts: list[_Text] = []
        self._passed: list[str] = []
        """The tags passed so far, those that close with a slash."""
        self._opened: list[tuple[str, int, dict[str, str], int]] = []
        """Of every element its tag, its parent, its attributes and how many texts came before it."""
        self._closed: list[tuple[int, int, int]] = []
        """Of every element its number, how many elements were open or over when it closed, and how many texts."""
        self._hiding: set[int] = set()
        """Elements that nobody sees ..."""
        self._hiding_tags: list[int] = []
        """... and where in `_passed` their tags are."""
        self.cuts_after: list[int] = []
        """How many texts came before each cut that was asked for."""
        # What came since the last text.
        self._gap = True
        self._cut = False
        self._indent = ""

    def walk(self, events: Iterable[Event]) -> None:  # noqa: PLR0912, PLR0915 -- calls would cost half as much again
        """Take a page's elements as they open and close; every element of every page passes this one loop."""
        keep, block_level = self._cuts.attributes, self._cuts.block_level
        passed, opened, texts = self._passed, self._opened, self._texts
        open_elements, tags = [-1], [""]  # outermost first; -1 stands for the page around them
        too_deep = preformatted = 0
        hidden = False
        for event, node in events:
            if event == "start":
                tag = node.tag
                if not tag.isalnum():
                    tag = _ODD.sub("_", tag)
                passed.append(tag)
                tags.append(tag)
                attributes = node.items()
                if attributes:
                    attributes = {name: value for name, value in attributes if name in keep}
                if len(open_elements) > DEEPEST:
                    too_deep += 1
                else:
                    if attributes and not hidden and not _MAY_HIDE.isdisjoint(attributes) and _hides(attributes):
                        hidden = True
                        self._hiding.add(len(opened))
                        self._hiding_tags.append(len(passed) - 1)
                    opened.append((tag, open_elements[-1], attributes or _NONE, len(texts)))
                    open_elements.append(len(opened) - 1)
                    if tag == "pre":
                        preformatted += 1
                if tag == "img" and attributes and attributes.get("alt", "").strip():
                    self._add_alone(attributes["alt"], open_elements[-1])
                if preformatted and tag in block_level:
                    self._indent = ""
                text = node.text
            elif event == "end":
                tag = tags.pop()
                if tag not in VOID:
                    passed.append("/" + tag)
                    if preformatted and tag in block_level:
                        self._indent = ""
                if too_deep:
                    too_deep -= 1
                else:
                    if tag == "pre":
                        preformatted -= 1
                    number = open_elements.pop()
                    self._closed.append((number, len(opened), len(texts)))
                    if hidden:  # whatever closes where nobody sees it cuts
                        self._hiding_tags.append(len(passed) - 1)
                        hidden = number not in self._hiding
                text = node.tail
            elif event == "text":
                text = node
            else:
                self.cuts_after.append(len(texts))
                self._cut = True
                continue
            if text:
                if preformatted:
                    self._add_lines(_LINE_END.split(text), open_elements)
                elif text.isspace():
                    self._gap = True
                else:
                    texts.append(_Text(text, open_elements[-1], len(passed), self._gap, self._cut, None))
                    self._gap = self._cut = False

    def document(self, url: str = "", title: str = "", losses: tuple[str, ...] = ()) -> Document:
        """Cut the texts into blocks and return the page."""
        elements = self._elements()
        blocks = self._blocks(elements)
        begun = [0]
        for block in blocks:
            begun += [block.index + 1] * len(block.pieces)
        elements.first_block[:] = [begun[texts] for texts in elements.first_block]
        elements.stop_block[:] = [begun[texts] for texts in elements.stop_block]
        last = self._texts[-1].passed if self._texts else 0
        return Document(
            blocks=tuple(blocks),
            elements=elements,
            url=url,
            title=title,
            losses=losses,
            trailing=tuple(self._passed[last:]),
            split="every" if self._cuts.every else "block",
        )

    def _add_alone(self, text: str, element: int) -> None:
        """Add text that belongs to nothing around it."""
        self._texts.append(_Text(text, element, len(self._passed), gap=True, cut=True, indent=None))
        self._gap = self._cut = True

    def _add_lines(self, lines: list[str], open_elements: list[int]) -> None:
        """Add the lines of a ``<pre>``, as if a ``<br>`` stood between them."""
        element = open_elements[-1]
        for number, line in enumerate(lines):
            if number:
                self._passed.append("br")
                self._indent = ""
                if len(open_elements) <= DEEPEST:
                    self._opened.append(("br", element, _NONE, len(self._texts)))
                    self._closed.append((len(self._opened) - 1, len(self._opened), len(self._texts)))
            if line.strip():
                self._texts.append(_Text(line, element, len(self._passed), self._gap, self._cut, self._indent))
                self._gap = self._cut = False
                self._indent = ""
            else:
                self._indent += line  # goes before what comes next on the line, if anything does

    def _elements(self) -> Elements:
        """The elements; their blocks are counted in texts, until the blocks are known."""
        columns = [list(column) for column in zip(*self._opened, strict=True)] or [[], [], [], []]
        tag, parent, attributes, first_text = columns
        stop, stop_text = [len(tag)] * len(tag), [len(self._texts)] * len(tag)
        for number, its_stop, its_texts in self._closed:
            stop[number] = its_stop
            stop_text[number] = its_texts
        return Elements(tag, parent, attributes, stop, first_text, stop_text)

    def _blocks(self, elements: Elements) -> list[Block]:
        """Join the texts that nothing cuts apart."""
        every, breaking, passed = self._cuts.every, self._cuts.breaking, self._passed
        hidden = frozenset(number for first in self._hiding for number in range(first, elements.stop[first]))
        hiding_tags = sorted(self._hiding_tags)
        maker = _BlockMaker(elements, hidden)
        parts: list[_Part] = []
        before = 0
        gap = True
        for text, element, place, follows_gap, cut, indent in self._texts:
            tags = tuple(passed[before:place])
            breaks = not breaking.isdisjoint(tags)
            if parts and (
                breaks
                or cut
                or (every and tags)
                or (hiding_tags and bisect_left(hiding_tags, before) < bisect_left(hiding_tags, place))
            ):
                maker.make(parts, breaks)
                parts = []
            gap = gap or breaks or follows_gap or (indent is None and text[0].isspace())
            parts.append((text, element, tags, gap, indent))
            gap = indent is None and text[-1].isspace()
            before = place
        if parts:
            maker.make(parts, breaks=True)
        return maker.blocks


_Part = tuple[str, int, tuple[str, ...], bool, str | None]
"""A text of a block, its element, the tags before it, whether a gap is before it, and its indent in a ``<pre>``."""


class _BlockMaker:
    """Makes blocks, one after the other."""

    def __init__(self, elements: Elements, hidden: frozenset[int]) -> None:
        self.blocks: list[Block] = []
        self._elements = elements
        self._hidden = hidden
        self._containers: dict[int, tuple[str, ...]] = {-1: ()}
        self._indent = ""

    def make(self, parts: list[_Part], breaks: bool) -> None:
        """Make a block of the texts that belong together; what ends it may be a break, or a tag within a line."""
        text, holder, tags, spaced, indent = parts[0]
        if indent is not None:
            text, pieces = self._preformatted(parts, breaks)
        elif len(parts) == 1:
            text = " ".join(text.split())
            pieces = (Piece(0, holder, tags),)
        else:
            text, pieces = _joined(parts)
        for piece in pieces:
            if piece.element != holder:
                holder = self._common(holder, piece.element)
        hidden = holder in self._hidden
        containers = self._tags_to(holder)
        self.blocks.append(Block(len(self.blocks), text, holder, containers, tags, spaced, hidden, pieces))

    def _preformatted(self, parts: list[_Part], breaks: bool) -> tuple[str, tuple[Piece, ...]]:
        """Join the parts of a line as they stand."""
        text = self._indent
        pieces: list[Piece] = []
        for part, element, tags, _, indent in parts:
            pieces.append(Piece(len(text) if pieces else 0, element, tags))
            text += (indent or "") + part
        # White space at the end goes before what comes next on the line, if anything does.
        self._indent = "" if breaks else text[len(text.rstrip()) :]
        return text.rstrip(), tuple(pieces)

    def _common(self, element: int, other: int) -> int:
        """The innermost element that holds both."""
        stop, parent = self._elements.stop, self._elements.parent
        while element >= 0 and not element <= other < stop[element]:
            element = parent[element]
        return element

    def _tags_to(self, element: int) -> tuple[str, ...]:
        """The tags from the outermost element to this one."""
        known = self._containers.get(element)
        if known is None:
            known = (*self._tags_to(self._elements.parent[element]), self._elements.tag[element])
            self._containers[element] = known
        return known


def _joined(parts: list[_Part]) -> tuple[str, tuple[Piece, ...]]:
    """Join texts to a line, with a space where there is a gap."""
    words: list[str] = []
    pieces = []
    length = 0
    for text, element, tags, gap, _ in parts:
        pieces.append(Piece(length, element, tags))
        words.append(("" if not words or not gap else " ") + " ".join(text.split()))
        length += len(words[-1])
    return "".join(words), tuple(pieces)


def _hides(attributes: dict[str, str]) -> bool:
    """Whether an element's attributes say that nobody sees it."""
    return (
        "hidden" in attributes
        or attributes.get("aria-hidden") == "true"
        or ("style" in attributes and _HIDING_STYLE.search(attributes["style"]) is not None)
    )
