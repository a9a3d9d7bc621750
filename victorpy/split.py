"""A pruned tree to a Document: where the text is cut, and what each block knows of its place.

The thesis (Marek 2007, 3.2 and 3.3) cuts at every tag, and inside ``<pre>`` at every line as if a
``<br>`` stood there. ``split: block`` cuts at block-level tags and ``<br>`` only, so that a paragraph
with links in it stays one block of several pieces; an image's ``alt`` and hidden elements still stand alone.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable
from functools import partial
from typing import Any

from lxml import etree

from victorpy.config import Cuts
from victorpy.document import Block, Document, Elements, Piece
from victorpy.parse import VOID, Tree

# Deeper elements are not kept as containers: a page nested for thousands of levels costs no more than another.
DEEPEST = 256

_HIDING_STYLE = re.compile(r"display\s*:\s*none", re.IGNORECASE)
_MAY_HIDE = frozenset(["hidden", "aria-hidden", "style"])
_SPECIAL = frozenset(["pre", "img"])
_NONE: dict[str, str] = {}
_ODD = re.compile(r"[^\w:.-]+")  # what broken markup such as <br<p> puts into the names of tags
_LINE_END = re.compile(r"\r\n?|\n")

_Text = tuple[str, int, int, bool, bool, str | None]
"""A text of the page that is not all white space: as it stands in the page, in a ``<pre>`` one line of it; its element;
how many tags were passed before it; whether white space alone stands before it; whether a block begins with it
whatever the tags say; and the white space before it on its line of a ``<pre>``, None elsewhere."""

# Named tuples made of plain ones, which is faster than by calling them.
_piece: Callable[[tuple[int, int, tuple[str, ...]]], Piece] = partial(tuple.__new__, Piece)
_block: Callable[[tuple[Any, ...]], Block] = partial(tuple.__new__, Block)


def split(tree: Tree, cuts: Cuts) -> Document:
    """Split a page into blocks."""
    splitter = Splitter(cuts)
    if tree.root is not None:
        splitter.walk(tree.root)
    return splitter.document(url=tree.url, title=tree.title, losses=tree.losses)


class Splitter:
    """Makes blocks of the elements of a page: it notes their tags and texts, and cuts the texts at the end."""

    def __init__(self, cuts: Cuts) -> None:
        self._cuts = cuts
        self._texts: list[_Text] = []
        self._passed: list[str] = []
        """The tags passed so far, those that close with a slash."""
        # The elements, in plain lists: tuples would keep Python's garbage collector busy. Blocks are counted in texts
        # until they are known.
        self._elements = Elements()
        # The open elements, outermost first; -1 stands for the page around them.
        self._tags: list[str] = []
        self._numbers = [-1]
        self._too_deep = 0
        self._preformatted = 0
        self._special = False
        """Whether elements are open that are too deep, preformatted or hidden."""
        # Elements that nobody sees, and where in `_passed` their tags are.
        self._hidden = False
        self._hiding: set[int] = set()
        self._hiding_tags: list[int] = []
        # What came since the last text.
        self._gap = True
        self._cut = False
        self._indent = ""

    def walk(self, root: etree._Element) -> None:
        """Take a tree. Every element of every page passes here, in `start` and in `end`."""
        keep, start, end, add_text = self._cuts.attributes, self.start, self.end, self.text
        around: list[etree._Element] = []
        for node in root.iter():
            parent = node.getparent()
            while around and around[-1] is not parent:
                end()
                text = around.pop().tail
                if text:
                    add_text(text)
            tag = node.tag
            attributes = _NONE
            items: Any = node.items()
            if items:
                attributes = {}
                for name, value in items:  # faster than a comprehension, which is a call
                    if name in keep:
                        attributes[name] = value
            start(tag if tag.isalnum() else _ODD.sub("_", tag), attributes)
            around.append(node)
            text = node.text
            if text:
                add_text(text)
        for node in reversed(around):
            end()
            add_text(node.tail or "")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Open an element; an image's ``alt`` becomes its text."""
        self._passed.append(tag)
        self._tags.append(tag)
        numbers = self._numbers
        if len(numbers) > DEEPEST:
            self._too_deep += 1
            self._special = True
        else:
            elements = self._elements
            number, texts = len(elements.tag), len(self._texts)
            elements.tag.append(tag)
            elements.parent.append(numbers[-1])
            elements.attributes.append(attributes)
            elements.stop.append(number + 1)
            elements.first_block.append(texts)
            elements.stop_block.append(texts)
            numbers.append(number)
        if tag in _SPECIAL or self._preformatted or not _MAY_HIDE.isdisjoint(attributes):
            self._start_special(tag, attributes)

    def end(self) -> None:
        """Close the innermost element."""
        tag = self._tags.pop()
        if tag not in VOID:
            self._passed.append("/" + tag)
        number = -1
        if not self._too_deep:
            number = self._numbers.pop()
            elements = self._elements
            elements.stop[number] = len(elements.tag)
            elements.stop_block[number] = len(self._texts)
        if self._special:
            self._end_special(tag, number)

    def text(self, text: str) -> None:
        """Add text; white space is collapsed, except in ``<pre>``, where every line is a block."""
        if self._preformatted:
            self._add_lines(text)
        elif text.isspace():
            self._gap = True
        elif text:
            self._texts.append((text, self._numbers[-1], len(self._passed), self._gap, self._cut, None))
            self._gap = self._cut = False

    def cut(self) -> None:
        """End the block, whatever comes next."""
        self._cut = True

    @property
    def innermost(self) -> str:
        """The tag of the innermost open element, or nothing."""
        return self._tags[-1] if self._tags else ""

    @property
    def texts(self) -> int:
        """How many texts there are so far."""
        return len(self._texts)

    def _start_special(self, tag: str, attributes: dict[str, str]) -> None:
        """Look at an element that may hide its text, keep its white space, or be an image with a text of its own."""
        if self._preformatted and tag in self._cuts.block_level:
            self._indent = ""
        if tag == "img" and attributes.get("alt", "").strip():
            self._add_alone(attributes["alt"])
        if not self._too_deep:
            self._preformatted += tag == "pre"
            if not self._hidden and _hides(attributes):
                self._hidden = True
                self._hiding.add(self._numbers[-1])
                self._hiding_tags.append(len(self._passed) - 1)
        self._special = bool(self._too_deep or self._preformatted or self._hidden)

    def _end_special(self, tag: str, number: int) -> None:
        """Leave an element where something is special."""
        if self._preformatted and tag in self._cuts.block_level and tag not in VOID:
            self._indent = ""
        if self._too_deep:
            self._too_deep -= 1
        else:
            self._preformatted -= tag == "pre"
            if number in self._hiding:
                self._hidden = False
                self._hiding_tags.append(len(self._passed) - 1)
        self._special = bool(self._too_deep or self._preformatted or self._hidden)

    def document(self, url: str = "", title: str = "", losses: tuple[str, ...] = ()) -> Document:
        """Close what is open, cut the texts into blocks and return the page."""
        while self._tags:
            self.end()
        elements = self._elements
        blocks = self._blocks(elements)
        begun = [0]
        for block in blocks:
            begun += [block.index + 1] * len(block.pieces)
        elements.first_block[:] = [begun[texts] for texts in elements.first_block]
        elements.stop_block[:] = [begun[texts] for texts in elements.stop_block]
        last = self._texts[-1][2] if self._texts else 0
        return Document(
            blocks=tuple(blocks),
            elements=elements,
            url=url,
            title=title,
            losses=losses,
            trailing=tuple(self._passed[last:]),
            split="every" if self._cuts.every else "block",
        )

    def _add_alone(self, text: str) -> None:
        """Add text that belongs to nothing around it."""
        self._texts.append((text, self._numbers[-1], len(self._passed), True, True, None))
        self._gap = self._cut = True

    def _add_lines(self, text: str) -> None:
        """Add the lines of a ``<pre>``, as if a ``<br>`` stood between them."""
        element = self._numbers[-1]
        for number, line in enumerate(_LINE_END.split(text)):
            if number:
                self.start("br", _NONE)
                self.end()
                self._indent = ""
            if line.strip():
                self._texts.append((line, element, len(self._passed), self._gap, self._cut, self._indent))
                self._gap = self._cut = False
                self._indent = ""
            else:
                self._indent += line  # goes before what comes next on the line, if anything does

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
        self._containers = [*_paths(elements), ()]  # the last one is that of no element, whose number is -1
        self._indent = ""

    def make(self, parts: list[_Part], breaks: bool) -> None:
        """Make a block of the texts that belong together; what ends it may be a break, or a tag within a line."""
        text, holder, tags, spaced, indent = parts[0]
        if len(parts) == 1 and indent is None:
            text = " ".join(text.split())
            pieces: tuple[Piece, ...] = (_piece((0, holder, tags)),)
        else:
            text, pieces = _joined(parts) if indent is None else self._preformatted(parts, breaks)
            for piece in pieces:
                if piece.element != holder:
                    holder = self._common(holder, piece.element)
        hidden = holder in self._hidden
        containers = self._containers[holder]
        self.blocks.append(_block((len(self.blocks), text, holder, containers, tags, spaced, hidden, pieces)))

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


def _paths(elements: Elements) -> list[tuple[str, ...]]:
    """The tags from the outermost element to each one; items of a list say share theirs."""
    different: list[tuple[str, ...]] = [()]
    numbers: dict[tuple[int, str], int] = {}
    number_of: list[int] = []
    for tag, parent in zip(elements.tag, elements.parent, strict=True):
        step = (number_of[parent] if parent >= 0 else 0, tag)
        number = numbers.get(step)
        if number is None:
            number = numbers[step] = len(different)
            different.append((*different[step[0]], tag))
        number_of.append(number)
    return [different[number] for number in number_of]


def _joined(parts: list[_Part]) -> tuple[str, tuple[Piece, ...]]:
    """Join texts to a line, with a space where there is a gap."""
    words: list[str] = []
    pieces = []
    length = 0
    for text, element, tags, gap, _ in parts:
        pieces.append(_piece((length, element, tags)))
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
