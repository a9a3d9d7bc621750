"""A page as the tree that methods without training look at: elements and the texts in them, in document order.

A Document's blocks may hold several texts of several elements; the papers speak of text nodes. So a tree has the
texts, knows which block each is of, and turns what is found of texts into what is said of blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import NamedTuple, TypeVar

from victorpy.document import Block, Document, Elements
from victorpy.sites.hashes import number_of

Number = TypeVar("Number", int, float)


class Text(NamedTuple):
    """A text node: what lies directly in one element, between two tags."""

    text: str
    element: int
    block: int
    tags: tuple[str, ...]
    """The tags since the text before; those that close an element have a slash."""
    shown: bool
    """Whether it is text of the page, and not an image's ``alt``."""
    spaced: bool
    """Whether white space stands between it and the text before."""


class PageTree:
    """The elements of a page and the texts in them."""

    def __init__(self, document: Document) -> None:
        self.document = document
        # An annotation file may have text in no element at all: it then lies in a root made up for it.
        self.elements = document.elements if document.elements.tag else Elements(["html"], [-1], [{}], [1], [0], [0])
        self.texts = [text for block in document.blocks for text in _texts(block, self.elements.tag)]

    @cached_property
    def content(self) -> list[list[int]]:
        """What lies directly in each element, in order: e is the element e, and ~t the text t."""
        found: list[list[int]] = [[] for _ in self.elements.tag]
        # So many elements had been opened before each text.
        opened = list(accumulate(sum(tag[0] != "/" for tag in text.tags) for text in self.texts))
        at = 0
        for element, parent in enumerate(self.elements.parent):
            while at < len(opened) and opened[at] <= element:
                found[self.texts[at].element].append(~at)
                at += 1
            if parent >= 0:
                found[parent].append(element)
        for number in range(at, len(opened)):
            found[self.texts[number].element].append(~number)
        return found

    @cached_property
    def text_ranges(self) -> list[range]:
        """The texts in each element and in the elements in it."""
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
        """Add up, for each element, a number of the texts in it."""
        running = list(accumulate(of_texts, initial=0))
        return [running[texts.stop] - running[texts.start] for texts in self.text_ranges]

    @cached_property
    def links(self) -> list[int]:
        """How many links each element has in it; a link has one, itself."""
        pairs = zip(self.elements.tag, self.elements.attributes, strict=True)
        running = [0, *accumulate(tag == "a" and "href" in attributes for tag, attributes in pairs)]
        return [running[stop] - running[element] for element, stop in enumerate(self.elements.stop)]

    @cached_property
    def in_link(self) -> list[bool]:
        """Whether each text is that of a link."""
        inside: list[bool] = []
        for tag, parent in zip(self.elements.tag, self.elements.parent, strict=True):
            inside.append(tag == "a" or (parent >= 0 and inside[parent]))
        return [inside[text.element] for text in self.texts]

    def ancestor(self, element: int, generations: int) -> int:
        """The element so many generations above, or the outermost one."""
        for _ in range(generations):
            if self.elements.parent[element] < 0:
                break
            element = self.elements.parent[element]
        return element

    def topmost(self, wanted: Sequence[bool]) -> Iterator[int]:
        """Those of the wanted elements that lie in no other wanted one."""
        stop = 0
        for element, is_wanted in enumerate(wanted):
            if is_wanted and element >= stop:
                stop = self.elements.stop[element]
                yield element

    def subtree_numbers(self, labels: Sequence[int], texts: Sequence[int]) -> list[int]:
        """A number for what each element holds: equal ones hold equal labels and texts in equal order."""
        numbers = [0] * len(self.elements)
        for element in reversed(range(len(numbers))):
            held = [numbers[each] if each >= 0 else texts[~each] for each in self.content[element]]
            numbers[element] = hash((labels[element], *held))
        return numbers

    @cached_property
    def number(self) -> int:
        """A number for the page: pages with the same text have the same."""
        return number_of("\n".join(text.text for text in self.texts))

    def blocks_with(self, characters: Sequence[int], share: float) -> list[bool]:
        """Which blocks have that share of their characters among those found, whose count is given for each text."""
        found, all_of = [0] * len(self.document.blocks), [0] * len(self.document.blocks)
        for text, count in zip(self.texts, characters, strict=True):
            found[text.block] += count
            all_of[text.block] += len(text.text)
        return [some > 0 and some >= share * total for some, total in zip(found, all_of, strict=True)]


def _texts(block: Block, tags: Sequence[str]) -> Iterator[Text]:
    """The text nodes of a block."""
    starts = [*(piece.start for piece in block.pieces), len(block.text)]
    for piece, (start, stop) in zip(block.pieces, pairwise(starts), strict=True):
        element = max(piece.element, 0)
        spaced = any(map(str.isspace, block.text[start - 1 : start + 1])) if start else block.spaced
        yield Text(block.text[start:stop].strip(), element, block.index, piece.distance, tags[element] != "img", spaced)
