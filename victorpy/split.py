"""A pruned tree to a Document: where the text is cut, and what each block knows of its place.

The thesis (Marek 2007, 3.2 and 3.3) cuts at every tag, and inside ``<pre>`` at every line as if a
``<br>`` stood there. ``split: block`` cuts at block-level tags and ``<br>`` only, so that a paragraph
with links in it stays one block of several pieces; an image's ``alt`` and hidden elements still stand alone.
"""

from __future__ import annotations

import re

from lxml import etree

from victorpy.config import Cuts
from victorpy.document import Block, Document, Elements, Piece
from victorpy.parse import VOID, Tree

# Deeper elements are not kept as containers: a page nested for thousands of levels costs no more than another.
DEEPEST = 256

_HIDING_STYLE = re.compile(r"display\s*:\s*none", re.IGNORECASE)
_NONE: dict[str, str] = {}
_ODD = re.compile(r"[^\w:.-]+")  # what broken markup such as <br<p> puts into the names of tags
_LINE_END = re.compile(r"\r\n?|\n")


def split(tree: Tree, cuts: Cuts) -> Document:
    """Split a page into blocks."""
    splitter = Splitter(cuts)
    keep = cuts.attributes
    tags: list[str] = []
    if tree.root is not None:
        for event, element in etree.iterwalk(tree.root, events=("start", "end")):
            if event == "start":
                tag = element.tag if element.tag.isalnum() else _ODD.sub("_", element.tag)
                tags.append(tag)
                attributes = element.items()
                splitter.start(
                    tag, {name: value for name, value in attributes if name in keep} if attributes else _NONE
                )
                text = element.text
            else:
                splitter.end(tags.pop())
                text = element.tail
            if text:
                splitter.text(text)
    return splitter.document(url=tree.url, title=tree.title, losses=tree.losses)


class Splitter:
    """Makes blocks of a stream of start tags, texts and end tags.

    Every page goes through `start`, `end` and `text` thousands of times; they are written for that.
    """

    def __init__(self, cuts: Cuts) -> None:
        self._block_level = cuts.block_level
        self._every = cuts.every
        self._elements = Elements()
        self._blocks: list[Block] = []
        # The open elements, outermost first; -1 stands for the page around them.
        self._tags: list[str] = []
        self._numbers = [-1]
        # What holds for the text directly in each element, that of element e at e + 1.
        self._div_group = [-1]
        self._td_group = [-1]
        self._hidden: set[int] = set()
        self._preformatted = 0
        self._too_deep: list[str] = []
        # What came since the last text.
        self._distance: list[str] = []
        self._gap = True
        self._indent = ""
        self._lowest = 0
        # The block that is growing; none while it has no parts.
        self._parts: list[str] = []
        self._pieces: list[Piece] = []
        self._length = 0
        self._depth = 0
        self._containers: tuple[str, ...] = ()
        self._holder = -1
        self._spaced = False

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Open an element; an image's ``alt`` becomes its text."""
        hides = False
        if attributes:
            hides = ("hidden" in attributes or "aria-hidden" in attributes or "style" in attributes) and _hides(
                attributes
            )
        if tag in self._block_level:
            if self._parts:
                self._finish_block()
            self._gap = True
            self._indent = ""
        elif self._parts and (self._every or hides):
            self._finish_block()
        self._distance.append(tag)
        if len(self._tags) < DEEPEST:
            self._open_element(tag, attributes, hides)
        else:
            self._too_deep.append(tag)
        if tag == "img" and attributes.get("alt"):
            self._add_alone(attributes["alt"].split())

    def end(self, tag: str) -> None:
        """Close the innermost element."""
        number = self._numbers[-1]
        if tag in self._block_level:
            if self._parts:
                self._finish_block()
            if tag not in VOID:
                self._distance.append("/" + tag)
                self._gap = True
                self._indent = ""
        else:
            if self._parts and (self._every or number in self._hidden):
                self._finish_block()
            if tag not in VOID:
                self._distance.append("/" + tag)
        if self._too_deep:
            self._too_deep.pop()
            return
        elements = self._elements
        elements.stop[number] = len(elements.tag)
        elements.stop_block[number] = len(self._blocks) + bool(self._parts)
        tags = self._tags
        tags.pop()
        self._numbers.pop()
        if tag == "pre":
            self._preformatted -= 1
        if self._lowest > len(tags):
            self._lowest = len(tags)

    def text(self, text: str) -> None:
        """Add text; white space is collapsed, except in ``<pre>``, where every line is a block."""
        if self._preformatted:
            self._add_lines(_LINE_END.split(text))
            return
        if text.isspace():
            self._gap = True
            return
        words = text.split()
        self._gap = self._gap or text[0].isspace()
        self._add_words(words)
        self._gap = text[-1].isspace()

    def cut(self) -> None:
        """End the block, whatever comes next."""
        self._finish_block()

    @property
    def innermost(self) -> str:
        """The tag of the innermost open element, or nothing."""
        return (self._too_deep or self._tags or [""])[-1]

    @property
    def begun(self) -> int:
        """How many blocks have begun."""
        return len(self._blocks) + bool(self._parts)

    def document(self, url: str = "", title: str = "", losses: tuple[str, ...] = ()) -> Document:
        """Finish the last block and return the page."""
        while self._tags:
            self.end(self._tags[-1])
        self._finish_block()
        return Document(
            blocks=tuple(self._blocks),
            elements=self._elements,
            url=url,
            title=title,
            losses=losses,
            trailing=tuple(self._distance),
            split="every" if self._every else "block",
        )

    def _open_element(self, tag: str, attributes: dict[str, str], hides: bool) -> None:
        elements, parent = self._elements, self._numbers[-1]
        number, begun = len(elements.tag), len(self._blocks) + bool(self._parts)
        elements.tag.append(tag)
        elements.parent.append(parent)
        elements.attributes.append(attributes)
        elements.stop.append(number + 1)
        elements.first_block.append(begun)
        elements.stop_block.append(begun)
        self._tags.append(tag)
        self._numbers.append(number)
        self._div_group.append(number if tag == "div" else self._div_group[parent + 1])
        self._td_group.append(number if tag == "td" else self._td_group[parent + 1])
        if hides or parent in self._hidden:
            self._hidden.add(number)
        if tag == "pre":
            self._preformatted += 1

    def _add_lines(self, lines: list[str]) -> None:
        for number, line in enumerate(lines):
            if number:
                self.start("br", {})
                self.end("br")
            if line.strip():
                self._add(self._indent + line)
                self._indent = ""
            else:
                self._indent += line  # goes before what comes next on the line, if anything does

    def _add_words(self, words: list[str]) -> None:
        if words:
            self._add((" " if self._parts and self._gap else "") + " ".join(words))

    def _add_alone(self, words: list[str]) -> None:
        """Make a block of words that belong to nothing around them."""
        self._finish_block()
        self._gap = True
        self._add_words(words)
        self._finish_block()
        self._gap = True

    def _add(self, text: str) -> None:
        """Let the growing block go on with a piece of text, or begin one."""
        if not self._parts:
            self._spaced = self._gap
            self._settle(len(self._tags))
        elif self._lowest < self._depth:
            self._settle(self._lowest)  # the block has left an element that it began in
        self._pieces.append(Piece(self._length, self._numbers[-1], tuple(self._distance)))
        self._parts.append(text)
        self._length += len(text)
        self._distance.clear()
        self._lowest = len(self._tags)
        self._gap = False

    def _settle(self, depth: int) -> None:
        """Remember what holds the growing block: the innermost of the outer `depth` open elements."""
        self._depth = depth
        self._containers = tuple(self._tags[:depth])
        self._holder = self._numbers[depth]

    def _finish_block(self) -> None:
        if not self._parts:
            return
        text = "".join(self._parts)
        if self._preformatted:
            self._indent = text[len(text.rstrip()) :]  # belongs to what comes next on the line, if anything does
            text = text.rstrip()
        holder, pieces = self._holder, tuple(self._pieces)
        self._blocks.append(
            Block(
                len(self._blocks),
                text,
                holder,
                self._containers,
                pieces[0].distance,
                self._div_group[holder + 1],
                self._td_group[holder + 1],
                self._spaced,
                holder in self._hidden,
                pieces,
            )
        )
        self._parts.clear()
        self._pieces.clear()
        self._length = 0


def _hides(attributes: dict[str, str]) -> bool:
    """Whether an element's attributes say that nobody sees it."""
    return (
        "hidden" in attributes
        or attributes.get("aria-hidden") == "true"
        or ("style" in attributes and _HIDING_STYLE.search(attributes["style"]) is not None)
    )
