"""A page as the tree that methods without training look at: elements and the texts in them, in document order.

A Document's blocks may hold several texts of several elements, while the papers speak of text nodes. So a tree has
the texts, knows the block of each, and turns a choice of texts into a choice of blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import NamedTuple, TypeVar

from victorpy.base.hashes import number_of
from victorpy.document import Block, Document, Elements

Number = TypeVar("Number", int, float)


class Text(NamedTuple):
    """A text node: the text directly in one element, between two tags."""

    text: str
    element: int
    block: int
    tags: tuple[str, ...]
    """The tags since the previous text; closing tags have a slash."""
    shown: bool
    """Whether it is text of the page, not an image's ``alt``."""
    spaced: bool
    """Whether there is white space between it and the previous text."""


class PageTree:
    """The elements of a page and the texts in them."""

    def __init__(self, document: Document) -> None:
        self.document = document
        # An annotation file may have text outside any element: it gets a root.
        self.elements = document.elements if document.elements.tag else Elements(["html"], [-1], [{}], [1], [0], [0])
        self.texts = [text for block in document.blocks for text in _texts(block, self.elements.tag)]

    @cached_property
    def content(self) -> list[list[int]]:
        """What lies directly in each element, in order: e stands for the element e, and ~t for the text t."""
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
        """The texts in each element, at any depth."""
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

    def totals(self, of_texts: Sequence[Number]) -> list[Number]:
        """Add up, for each element, the numbers of the texts in it."""
        running = list(accumulate(of_texts, initial=0))
        return [running[texts.stop] - running[texts.start] for texts in self.text_ranges]

    @cached_property
    def links(self) -> list[int]:
        """How many links each element has in it; a link has itself."""
        pairs = zip(self.elements.tag, self.elements.attributes, strict=True)
        running = [0, *accumulate(tag == "a" and "href" in attributes for tag, attributes in pairs)]
        return [running[stop] - running[element] for element, stop in enumerate(self.elements.stop)]

    @cached_property
    def in_link(self) -> list[bool]:
        """Whether each text is in a link."""
        link_of = self.elements.links_around()
        return [link_of[text.element] >= 0 for text in self.texts]

    def ancestor(self, element: int, generations: int) -> int:
        """Return the ancestor `generations` up, or the root."""
        for _ in range(generations):
            if self.elements.parent[element] < 0:
                break
            element = self.elements.parent[element]
        return element

    def topmost(self, wanted: Sequence[bool]) -> Iterator[int]:
        """Yield the wanted elements that are in no other wanted one."""
        stop = 0
        for element, is_wanted in enumerate(wanted):
            if is_wanted and element >= stop:
                stop = self.elements.stop[element]
                yield element

    def subtree_numbers(self, labels: Sequence[int], texts: Sequence[int]) -> list[int]:
        """Return a number for each element, equal for elements with equal labels and texts in equal order."""
        numbers = [0] * len(self.elements)
        for element in reversed(range(len(numbers))):
            held = [numbers[item] if item >= 0 else texts[~item] for item in self.content[element]]
            numbers[element] = hash((labels[element], *held))
        return numbers

    @cached_property
    def number(self) -> int:
        """A number for the page, equal for pages with the same text."""
        return number_of("\n".join(text.text for text in self.texts))

    def blocks_with(self, texts: Iterable[int], share: float) -> list[bool]:
        """Return which blocks have at least this share of their characters in the given texts, and any at all."""
        chosen = set(texts)
        inside, total = [0] * len(self.document.blocks), [0] * len(self.document.blocks)
        for number, text in enumerate(self.texts):
            total[text.block] += len(text.text)
            if number in chosen:
                inside[text.block] += len(text.text)
        return [some > 0 and some >= share * all_of for some, all_of in zip(inside, total, strict=True)]


def _texts(block: Block, tags: Sequence[str]) -> Iterator[Text]:
    starts = [*(piece.start for piece in block.pieces), len(block.text)]
    for piece, (start, stop) in zip(block.pieces, pairwise(starts), strict=True):
        element = max(piece.element, 0)
        spaced = any(map(str.isspace, block.text[start - 1 : start + 1])) if start else block.spaced
        yield Text(block.text[start:stop].strip(), element, block.index, piece.distance, tags[element] != "img", spaced)
