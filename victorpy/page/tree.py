"""A page as a tree of elements and text nodes, for methods without training.

The papers work on text nodes, but a block may contain texts of several elements. A tree maps each text to its block,
and a selection of texts to a selection of blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, repeat
from typing import NamedTuple, TypeVar

from victorpy.base.hashes import hash_text
from victorpy.document import Document, Elements, Spans

Number = TypeVar("Number", int, float)


class Text(NamedTuple):
    """A text node: the text directly in one element, between two tags."""

    text: str
    element: int
    block: int
    tags: tuple[str, ...]
    """The tags since the previous text. Closing tags have a slash."""
    shown: bool
    """False for an image's ``alt`` text."""
    spaced: bool
    """Whether white space separates the text from the previous text."""


class PageTree:
    """The elements of a page and the texts in them. With `spans`, texts have only the kept parts of blocks."""

    def __init__(self, document: Document, spans: Sequence[Spans | None] = ()) -> None:
        self.document = document
        # Text outside all elements, which annotation files may contain, gets a root.
        self.elements = document.elements if document.elements.tag else Elements(["html"], [-1], [{}], [1], [0], [0])
        self.texts: list[Text] = []
        for block, kept in zip(document.blocks, spans or repeat(None), strict=False):
            for piece, whole in block.each_piece():
                start, stop, element = piece.start, piece.start + len(whole), max(piece.element, 0)
                spaced = any(map(str.isspace, block.text[start - 1 : start + 1])) if start else block.spaced
                stretches = ((start, stop),) if kept is None else kept
                parts = [block.text[max(start, first) : min(stop, last)].strip() for first, last in stretches]
                text = " ".join(parts).strip()
                shown = self.elements.tag[element] != "img" and (kept is None or bool(text))
                self.texts.append(Text(text, element, block.index, piece.distance, shown, spaced))

    @cached_property
    def content(self) -> list[list[int]]:
        """The children of each element in order: elements as their numbers, texts as the complements ``~number``."""
        content: list[list[int]] = [[] for _ in self.elements.tag]
        opened_before = list(accumulate(sum(tag[0] != "/" for tag in text.tags) for text in self.texts))
        number = 0
        for element, parent in enumerate(self.elements.parent):
            while number < len(self.texts) and opened_before[number] <= element:
                content[self.texts[number].element].append(~number)
                number += 1
            if parent >= 0:
                content[parent].append(element)
        for last in range(number, len(self.texts)):
            content[self.texts[last].element].append(~last)
        return content

    @cached_property
    def text_ranges(self) -> list[range]:
        """The texts in each element and its descendants."""
        first, stop = [len(self.texts)] * len(self.elements), [0] * len(self.elements)
        for number, text in enumerate(self.texts):
            first[text.element] = min(first[text.element], number)
            stop[text.element] = number + 1
        for element in reversed(range(len(first))):
            parent = self.elements.parent[element]
            if parent >= 0:
                first[parent] = min(first[parent], first[element])
                stop[parent] = max(stop[parent], stop[element])
        return [range(start, end) if start < end else range(0) for start, end in zip(first, stop, strict=True)]

    def totals(self, values: Sequence[Number]) -> list[Number]:
        """Return for each element the sum of the values of its texts."""
        running = list(accumulate(values, initial=0))
        return [running[texts.stop] - running[texts.start] for texts in self.text_ranges]

    @cached_property
    def links(self) -> list[int]:
        """Number of links in each element, including the element itself."""
        pairs = zip(self.elements.tag, self.elements.attributes, strict=True)
        running = list(accumulate((tag == "a" and "href" in attributes for tag, attributes in pairs), initial=0))
        return [running[stop] - running[element] for element, stop in enumerate(self.elements.stop)]

    @cached_property
    def in_link(self) -> list[bool]:
        """Whether each text is in a link."""
        link_of = self.elements.innermost(["a"])
        return [link_of[text.element] >= 0 for text in self.texts]

    def ancestor(self, element: int, generations: int) -> int:
        """Return the ancestor `generations` up, or the root."""
        for _ in range(generations):
            if self.elements.parent[element] < 0:
                break
            element = self.elements.parent[element]
        return element

    def topmost(self, wanted: Sequence[bool]) -> Iterator[int]:
        """Yield the selected elements that are not inside another selected element."""
        stop = 0
        for element, is_wanted in enumerate(wanted):
            if is_wanted and element >= stop:
                stop = self.elements.stop[element]
                yield element

    @cached_property
    def number(self) -> int:
        """A hash of the page, equal for pages with the same text."""
        return hash_text("\n".join(text.text for text in self.texts))

    def blocks_with(self, texts: Iterable[int], share: float) -> list[bool]:
        """Return for each block whether at least this share of its characters (and at least one) is in the texts."""
        chosen = set(texts)
        inside, total = [0] * len(self.document.blocks), [0] * len(self.document.blocks)
        for number, text in enumerate(self.texts):
            total[text.block] += len(text.text)
            if number in chosen:
                inside[text.block] += len(text.text)
        return [chars > 0 and chars >= share * all_chars for chars, all_chars in zip(inside, total, strict=True)]
