"""Split a pruned tree into blocks of text.

In the thesis (Marek 2007, 3.2 and 3.3), text is cut at every tag, and in ``<pre>`` at every line, as if lines ended
with ``<br>``. ``split: block`` cuts only at block-level tags and ``<br>``, so that a paragraph with links is one block
of several pieces. An image's ``alt`` text and hidden elements are always separate blocks.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import partial
from sys import intern
from typing import Any

from lxml import etree

from victorpy import native
from victorpy.config import Cuts
from victorpy.document import Block, Document, Elements, Piece
from victorpy.page.parse import VOID, Tree, prune

# Maximum depth of containers, so that pages with thousands of levels take no more time than others. Images are kept at
# every level, because their `alt` is text.
DEEPEST = 256

# Maximum number of lines in <pre> elements. Every line is a block, and blocks take much more memory than lines.
MOST_LINES = 100_000
_JOINED = 64

# Pages with more tags or attributes are split in Python, because the native core numbers tags with 32 bits.
MOST_TAGS = 1 << 29

_HIDING_STYLE = re.compile(r"display\s*:\s*none", re.IGNORECASE)
_MAY_HIDE = frozenset(["hidden", "aria-hidden", "style"])
_SPECIAL = frozenset(["pre", "img"])
DIVIDING = frozenset(["a", "button", "label", "small", "span", "time"])
"""Inline elements that pages also use for separate boxes."""
STYLING = frozenset(["b", "cite", "dfn", "em", "i", "strong"])
"""Inline elements that rarely are separate boxes."""
PRICING = frozenset(["del", "ins", "s", "strike"])
"""Inline elements around old and new prices."""
LISTING = frozenset(["code", "kbd", "pre", "samp"])
"""Elements in which markup never divides words."""
_BOX = re.compile(
    r"(?<![\w-])display\s*:\s*(?:inline-block|block|table-cell|(?P<row>(?:inline-)?(?:flex|grid)))(?![\w-])", re.I
)
_CURRENCIES = "$€£¥₹"
_NONE: dict[str, str] = {}
_ODD = re.compile(r"[^\w:.-]+")  # characters that broken markup such as <br<p> puts into tag names
_LINE_END = re.compile(r"\r\n?|\n")

_Text = tuple[str, int, int, bool, bool, str | None]
"""A text with visible characters, or a line of a ``<pre>``.

Fields: the text as on the page, its element, the number of tags before it, whether white space precedes it, whether it
always starts a block, and its indent in a ``<pre>`` (None elsewhere).
"""

_Part = tuple[str, int, tuple[str, ...], bool, str | None]
"""A text of a block: the text, its element, the tags before it, whether white space precedes it, and its indent."""

# Make named tuples from plain tuples, which is faster than calling the class.
_piece: Callable[[tuple[int, int, tuple[str, ...]]], Piece] = partial(tuple.__new__, Piece)
_block: Callable[[tuple[Any, ...]], Block] = partial(tuple.__new__, Block)


def split(tree: Tree, cuts: Cuts, delete: Collection[str] = (), **values: Any) -> Document:
    """Split a page into blocks, without the elements named in `delete`. `values` are further fields of the document."""
    values = {"url": tree.url, "title": tree.title, "losses": tree.losses, "base": tree.base} | values
    if tree.root is not None and _native:
        lines = Lines()
        tags = DIVIDING, STYLING, PRICING, LISTING
        rules = VOID, tags, delete, tree.unwrap, DEEPEST, MOST_TAGS, hides, boxes, _ODD.sub, lines.take
        with suppress(OverflowError):
            arrays = _native.split_tree(tree.root, cuts, *rules)
            how = "every" if cuts.every else "block"
            values["losses"] += lines.losses
            return Document.from_arrays(arrays, trailing=arrays.trailing, split=how, **values)
    splitter = Splitter(cuts)
    if tree.root is not None:
        prune(tree, delete)
        splitter.walk(tree.root)
    values["losses"] += splitter.lines.losses
    return splitter.document(**values)


_native = native.load("split")


def hides(attributes: dict[str, str]) -> bool:
    """Whether an element with these attributes is hidden."""
    return (
        "hidden" in attributes
        or attributes.get("aria-hidden") == "true"
        or ("style" in attributes and _HIDING_STYLE.search(attributes["style"]) is not None)
    )


def divides(before: str, tags: Sequence[str], after: str) -> bool:
    """Whether the tags between two texts separate words, although there is no white space.

    Style sheets often separate labels, credits and links visually. This is assumed if a capital letter, number or price
    follows. If elements only end or only begin between the texts, or only change the style, one of them must have
    several words or a colon. Otherwise the two texts may be halves of a name.

    >>> divides("Position", ["/span", "span"], "Forward"), divides("Java", ["b"], "Script")
    (True, False)
    >>> divides("the bridge of Nadeschdin", ["span"], "Photo: AP"), divides("Kim wrote:", ["/cite"], "Yes")
    (True, True)
    """
    names = {tag.lstrip("/") for tag in tags}
    if not names or not names <= DIVIDING | STYLING:
        return False
    ends, begins = any(tag[0] == "/" for tag in tags), any(tag[0] != "/" for tag in tags)
    is_word = before[-1].islower() and before[-2:-1].isalpha()
    if before[-1] in ".!?:":
        is_sentence = before[-1] != "." or before[-2:-1].isdecimal() or len(before.split(None, 1)) > 1
        is_word = is_sentence and before[-2:-1].isalnum() and after[1:2].islower()
    if not (ends and begins and names <= DIVIDING):
        inside = [before] * ends + [after] * begins
        is_label = any(text[-1] == ":" or len(text.split(None, 1)) > 1 for text in inside)
        return is_word and after[0].isupper() and is_label
    if before[-1].isdecimal():
        return after[0].isupper() and after[1:2].islower()
    if before[-1] in ":]":
        return before[-2:-1].isalnum() and after[0].isupper()
    if len(before) > 3 and before[-4:].isalpha() and before[-4:].isupper() and after[0].isdecimal():
        return True
    return is_word and (after[0].isupper() or after[0].isdecimal() or after[0] in _CURRENCIES)


def boxes(style: str) -> int:
    """Return 1 if a style makes a box of an element, 2 if it makes boxes of its children too, and 0 otherwise."""
    match = _BOX.search(style)
    return 0 if match is None else 2 if match["row"] else 1


def stand_apart(before: str, tags: Sequence[str], after: str, elements: Elements, first: int, second: int) -> bool:
    """Whether markup sets two texts without white space between them apart, whatever their letters are.

    It does so between a price and the next one, and at a box of an inline style. It also does so between siblings
    with the same tag and class, unless they may be the halves of a word. `first` and `second` are the elements.
    """
    last, start = before[-1:], after[:1]
    if not (tags and last and (start.isalnum() or start in f"{_CURRENCIES}#@(") and last not in "-–(/'’"):
        return False
    if last.isdecimal() and start in _CURRENCIES and after[1:2].isdecimal():
        return True
    ends, begins = any(tag[0] == "/" for tag in tags), any(tag[0] != "/" for tag in tags)
    if ends and begins and not PRICING.isdisjoint(tag.lstrip("/") for tag in tags):
        return not (last.isalpha() and start.isalpha())
    if min(len(before), len(after)) < 2:  # animations put every letter into a box
        return False
    around, parent = first, elements.parent
    while around >= 0 and not around <= second < elements.stop[around]:
        around = parent[around]
    sides = [_path(element, around, parent) for element in (first, second)]
    attributes = elements.attributes
    if any(boxes(attributes[element].get("style", "")) for side in sides for element in side):
        return True
    if any(sides) and around >= 0 and boxes(attributes[around].get("style", "")) == 2:
        return True
    if not all(sides):
        return False
    left, right = (side[-1] for side in sides)
    names = attributes[left].get("class", "")
    if not names or names != attributes[right].get("class", "") or elements.tag[left] != elements.tag[right]:
        return False
    if elements.tag[left] == "a":
        may_be_word = attributes[left].get("href") == attributes[right].get("href")
    else:
        may_be_word = last.isalpha() and start.islower()
    is_code = any(elements.tag[element] in LISTING for side in (first, second) for element in _path(side, -1, parent))
    return not may_be_word and not is_code


def _path(element: int, stop: int, parent: Sequence[int]) -> list[int]:
    """Return an element and those around it, from the inside out, to before `stop`."""
    path = []
    while element != stop:
        path.append(element)
        element = parent[element]
    return path


class Lines:
    """Cuts the text of ``<pre>`` elements into lines. Beyond `MOST_LINES` lines, further lines are joined."""

    def __init__(self) -> None:
        self._room = MOST_LINES
        self.losses: tuple[str, ...] = ()

    def take(self, text: str) -> list[str]:
        """Return the lines of a text, and add them to the count."""
        lines = self.peek(text)
        self._room -= len(lines)
        if self._room < 0 and len(lines) < len(_LINE_END.findall(text)) + 1:
            self.losses = (f"lines in <pre> after the first {MOST_LINES:,} were joined; no text was lost",)
        return lines

    def peek(self, text: str) -> list[str]:
        """Return the lines of a text without counting them."""
        lines = _LINE_END.split(text)
        room = max(self._room, 0)
        if len(lines) > room:
            joined = (" ".join(lines[start : start + _JOINED]) for start in range(room, len(lines), _JOINED))
            lines[room:] = list(joined)
        return lines


class TextCounter:
    """Counts the texts of a page like `Splitter`, but records nothing, which takes less memory."""

    def __init__(self) -> None:
        self.texts = 0
        self.lines = Lines()
        self.preformatted = 0
        """Number of open ``<pre>`` elements in which every line is a text."""
        self._is_pre: list[bool] = []  # for each open element

    def start(self, tag: str, alt: str) -> None:
        """Open an element. An image's `alt` is a text."""
        self._is_pre.append(tag == "pre" and len(self._is_pre) < DEEPEST)
        self.preformatted += self._is_pre[-1]
        self.texts += tag == "img" and bool(alt.strip())

    def end(self) -> None:
        """Close the innermost element."""
        self.preformatted -= self._is_pre.pop()

    def text(self, text: str) -> None:
        """Add text."""
        lines = self.lines.take(text) if self.preformatted else [text]
        self.texts += sum(bool(line.strip()) for line in lines)


class Splitter:
    """Records a page's tags and texts in order, and then cuts the texts into blocks."""

    def __init__(self, cuts: Cuts) -> None:
        self._cuts = cuts
        self.lines = Lines()
        self._texts: list[_Text] = []
        self._passed: list[str] = []
        """The tags so far, closing tags with a slash."""
        # Until the texts are cut, `first_block` and `stop_block` count texts, not blocks.
        self._elements = Elements()
        # The open elements, outermost first. -1 stands for the page itself.
        self._tags: list[str] = []
        self._numbers = [-1]
        self._too_deep = 0
        self._preformatted = 0
        self._special = False
        """Whether an open element is too deep, preformatted or hidden."""
        # Hidden elements, and the positions of their tags in `_passed`.
        self._hidden = False
        self._hiding: set[int] = set()
        self._hiding_tags: list[int] = []
        # State since the last text.
        self._gap = True
        self._cut = False
        self._indent = ""

    def walk(self, root: etree._Element) -> None:
        """Record a whole tree.

        This loop, `start` and `end` are optimised, because they run for every element of every page.
        """
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
                for name, value in items:  # faster than a comprehension
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
        """Open an element. An image's ``alt`` becomes its text."""
        self._passed.append(tag)
        self._tags.append(tag)
        numbers = self._numbers
        if len(numbers) > DEEPEST and tag != "img":
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
            self._passed.append(intern("/" + tag))
        number = -1
        if not self._too_deep or tag == "img":
            number = self._numbers.pop()
            elements = self._elements
            elements.stop[number] = len(elements.tag)
            elements.stop_block[number] = len(self._texts)
        if self._special:
            self._end_special(tag, number)

    def text(self, text: str) -> None:
        """Add text. In a ``<pre>``, every line is added as if it ended with ``<br>``."""
        if not self._preformatted:
            if text.isspace():
                self._gap = True
            elif text:
                self._texts.append((text, self._numbers[-1], len(self._passed), self._gap, self._cut, None))
                self._gap = self._cut = False
            return
        for number, line in enumerate(self.lines.take(text)):
            if number:
                self.start("br", _NONE)
                self.end()
                self._indent = ""
            if line.strip():
                self._texts.append((line, self._numbers[-1], len(self._passed), self._gap, self._cut, self._indent))
                self._gap = self._cut = False
                self._indent = ""
            else:
                self._indent += line  # belongs to the next text on the same line

    def cut(self) -> None:
        """End the current block, regardless of the tags that follow."""
        self._cut = True

    @property
    def innermost(self) -> str:
        """Tag of the innermost open element, or an empty string."""
        return self._tags[-1] if self._tags else ""

    @property
    def texts(self) -> int:
        """Number of texts so far."""
        return len(self._texts)

    def _start_special(self, tag: str, attributes: dict[str, str]) -> None:
        """Handle hidden elements, ``<pre>`` and images with an ``alt`` text."""
        if self._preformatted and tag in self._cuts.block_level:
            self._indent = ""
        if tag == "img" and attributes.get("alt", "").strip():
            self._texts.append((attributes["alt"], self._numbers[-1], len(self._passed), True, True, None))
            self._gap = self._cut = True
        if not self._too_deep:
            self._preformatted += tag == "pre"
            if not self._hidden and hides(attributes):
                self._hidden = True
                self._hiding.add(self._numbers[-1])
                self._hiding_tags.append(len(self._passed) - 1)
        self._special = bool(self._too_deep or self._preformatted or self._hidden)

    def _end_special(self, tag: str, number: int) -> None:
        """Close an element while an open element is too deep, preformatted or hidden."""
        if self._preformatted and tag in self._cuts.block_level and tag not in VOID:
            self._indent = ""
        if self._too_deep and tag != "img":
            self._too_deep -= 1
        else:
            self._preformatted -= tag == "pre"
            if number in self._hiding:
                self._hidden = False
                self._hiding_tags.append(len(self._passed) - 1)
        self._special = bool(self._too_deep or self._preformatted or self._hidden)

    def document(self, **values: Any) -> Document:
        """Close open elements, cut the texts into blocks and return the page with further values."""
        while self._tags:
            self.end()
        elements = self._elements
        blocks = self._blocks()
        blocks_started = [0]  # blocks started before each text
        for block in blocks:
            blocks_started += [block.index + 1] * len(block.pieces)
        elements.first_block[:] = [blocks_started[texts] for texts in elements.first_block]
        elements.stop_block[:] = [blocks_started[texts] for texts in elements.stop_block]
        tags_before_last_text = self._texts[-1][2] if self._texts else 0
        return Document(
            blocks=tuple(blocks),
            elements=elements,
            trailing=tuple(self._passed[tags_before_last_text:]),
            split="every" if self._cuts.every else "block",
            **values,
        )

    def _blocks(self) -> list[Block]:
        """Join the texts between two cuts."""
        every, breaking, passed = self._cuts.every, self._cuts.breaking, self._passed
        stop = self._elements.stop
        hidden = frozenset(number for first in self._hiding for number in range(first, stop[first]))
        hiding_tags = sorted(self._hiding_tags)
        maker = _BlockMaker(self._elements, hidden)
        parts: list[_Part] = []
        previous_place, previous_text, previous = 0, "", -1
        gap = True
        for text, element, place, follows_gap, cut, indent in self._texts:
            tags = tuple(passed[previous_place:place])
            breaks = not breaking.isdisjoint(tags)
            if parts and (
                breaks
                or cut
                or (every and tags)
                or (hiding_tags and bisect_left(hiding_tags, previous_place) < bisect_left(hiding_tags, place))
            ):
                maker.make(parts, breaks)
                parts = []
            gap = gap or breaks or follows_gap or (indent is None and text[0].isspace())
            if not gap and indent is None:
                before, after = previous_text.strip(), text.strip()
                gap = divides(before, tags, after)
                gap = gap or stand_apart(before, tags, after, self._elements, previous, element)
            parts.append((text, element, tags, gap, indent))
            gap = indent is None and text[-1].isspace()
            previous_place, previous_text, previous = place, text, element
        if parts:
            maker.make(parts, breaks=True)
        return maker.blocks


class _BlockMaker:
    """Makes blocks in order."""

    def __init__(self, elements: Elements, hidden: frozenset[int]) -> None:
        self.blocks: list[Block] = []
        self._elements = elements
        self._hidden = hidden
        self._containers = [*_paths(elements), ()]  # the last item is for -1, the page itself
        self._indent = ""

    def make(self, parts: list[_Part], breaks: bool) -> None:
        """Make a block of these texts. `breaks` is whether the line ends after them."""
        text, holder, tags, spaced, indent = parts[0]
        if len(parts) == 1 and indent is None:
            text = " ".join(text.split())
            pieces: tuple[Piece, ...] = (_piece((0, holder, tags)),)
        else:
            text, pieces = self._join(parts, breaks)
            stop, parent = self._elements.stop, self._elements.parent
            for piece in pieces:
                while holder >= 0 and not holder <= piece.element < stop[holder]:
                    holder = parent[holder]
        hidden = holder in self._hidden
        containers = self._containers[holder]
        self.blocks.append(_block((len(self.blocks), text, holder, containers, tags, spaced, hidden, pieces)))

    def _join(self, parts: list[_Part], breaks: bool) -> tuple[str, tuple[Piece, ...]]:
        """Join texts into a line, with a space at each gap. Text in a ``<pre>`` keeps all white space."""
        preformatted = parts[0][4] is not None
        text = self._indent if preformatted else ""
        pieces: list[Piece] = []
        for part, element, tags, gap, indent in parts:
            pieces.append(_piece((len(text) if pieces else 0, element, tags)))
            if preformatted:
                text += (indent or "") + part
            else:
                text += (" " if gap and text else "") + " ".join(part.split())
        if preformatted:
            # White space at the end belongs to the next text on the same line.
            self._indent = "" if breaks else text[len(text.rstrip()) :]
            text = text.rstrip()
        return text, tuple(pieces)


def _paths(elements: Elements) -> list[tuple[str, ...]]:
    """Return the tags from the root to each element. Equal paths, such as those of list items, are the same object."""
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
