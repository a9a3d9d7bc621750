"""Where the parts of a page stand: in which quotations and in which items of lists.

Labels say what is an item of a list, markup says which list it is of, how deep and with which number. A part that is no
item stands in one only where it goes on an item that has begun, as a listing between two steps does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from victorpy.document import Document, Label
from victorpy.outputs.base import Segment
from victorpy.outputs.tables import Part, Table

_ITEMS = frozenset(["li", "dt", "dd"])
_PLACES = _ITEMS | {"blockquote"}
_START = re.compile("[+-]?[0-9]{1,9}")
_DEEPEST = 16  # what nobody could follow is not shown, lest a line of Markdown be mostly signs


class Place(NamedTuple):
    """A quotation, or an item of a list."""

    element: int
    """Its element; a number below -1 stands for an item by its label alone."""
    is_quote: bool
    list: int = -1
    """The list that it is an item of."""
    number: int | None = None
    """The number of an item in a list that has them."""


Places = tuple[Place, ...]


def outline(parts: Iterable[Part], document: Document, within: int = -1) -> Iterator[tuple[Part, Places]]:
    """Give every part with its places, the outermost first; only those inside the element `within`."""
    outliner = _Outliner(document, within)
    for part in parts:
        yield part, outliner.places(part)


def count_shared(before: Places, places: Places) -> int:
    """How many places, from the outermost, two parts have in common."""
    shared = 0
    for one, other in zip(before, places, strict=False):
        if one != other:
            break
        shared += 1
    return shared


class _Outliner:
    """Follows the parts of a page and knows which items have begun."""

    def __init__(self, document: Document, within: int) -> None:
        self._elements = document.elements
        self._within = within
        self._begun: Places = ()
        self._last_items: dict[int, tuple[int, int]] = {}
        """The item of each numbered list that was counted last, and its number."""

    def places(self, part: Part) -> Places:
        """Where a part stands."""
        self._begun = self._find(part)
        return self._begun

    def _find(self, part: Part) -> Places:
        label = part.label
        if label is Label.HEADER:
            return ()
        if isinstance(part, Segment):
            element = part.blocks[0].element
            if label is not Label.LIST and not self._begun and "blockquote" not in part.blocks[0].containers:
                return ()  # as most parts of most pages
        else:
            element = part.element
        found = self._along(self._around(element), label is Label.LIST, isinstance(part, Table))
        if label is Label.LIST and isinstance(part, Segment) and all(place.is_quote for place in found):
            found.append(Place(-2 - part.blocks[0].index, is_quote=False))
        return tuple(found)

    def _along(self, around: list[int], is_item: bool, is_table: bool) -> list[Place]:
        """The quotations among some elements, the items among them that have begun, and those that begin now.

        An item begins its innermost element. Where a numbered list has begun, its next item begins with a table or a
        list in it as well, lest their number be lost and the list end.
        """
        tag, parent = self._elements.tag, self._elements.parent
        begun = {place.element: place for place in self._begun}
        terms = {parent[each]: place for each, place in begun.items() if each >= 0 and tag[each] == "dt"}
        innermost = next((number for number in reversed(around) if tag[number] in _ITEMS), -1) if is_item else -1
        numbered = {place.list for place in self._begun if place.number is not None and (is_item or is_table)}
        found: list[Place] = []
        for number in around:
            if tag[number] == "blockquote":
                found.append(Place(number, is_quote=True))
            elif number in begun or number == innermost or parent[number] in numbered:
                if tag[number] == "dd" and parent[number] in terms:
                    found.append(terms[parent[number]])
                found.append(begun.get(number) or self._item(number))
        return found

    def _around(self, element: int) -> list[int]:
        """The quotations and items around an element, the outermost first."""
        tag, parent = self._elements.tag, self._elements.parent
        found = []
        while element > self._within:
            if tag[element] in _PLACES:
                found.append(element)
            element = parent[element]
        return found[::-1][:_DEEPEST]

    def _item(self, element: int) -> Place:
        around = self._elements.parent[element]
        numbered = around >= 0 and self._elements.tag[around] == "ol"
        return Place(element, False, around, self._number(element, around) if numbered else None)

    def _number(self, element: int, numbered: int) -> int:
        """Count the items of a list up to one of them, from the one that was counted last."""
        tag, parent = self._elements.tag, self._elements.parent
        last, number = self._last_items.get(numbered, (numbered, self._start(numbered) - 1))
        number += sum(tag[each] == "li" and parent[each] == numbered for each in range(last + 1, element + 1))
        self._last_items[numbered] = element, number
        return number

    def _start(self, numbered: int) -> int:
        start = self._elements.attributes[numbered].get("start", "").strip()
        return int(start) if _START.fullmatch(start) else 1
