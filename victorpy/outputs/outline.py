"""The quotations and list items around the parts of a page.

Labels say what is an item of a list; markup says which list, how deep and with which number. A part that is no item is
placed inside one only if it continues an item that has begun, such as a listing between two steps.
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
_DEEPEST = 16  # deeper nesting is not shown, or a line of Markdown would be mostly signs


class Place(NamedTuple):
    """A quotation, or an item of a list."""

    element: int
    """Number of its element. An item that has only a label gets a number below -1."""
    is_quote: bool
    list: int = -1
    """Element of the list that it is an item of."""
    number: int | None = None
    """Number of an item in a numbered list."""


Places = tuple[Place, ...]


def outline(parts: Iterable[Part], document: Document, within: int = -1) -> Iterator[tuple[Part, Places]]:
    """Yield every part with its places, the outermost first; only those inside the element `within`."""
    outliner = _Outliner(document, within)
    for part in parts:
        outliner.open_places = outliner.places(part)
        yield part, outliner.open_places


def count_shared(previous: Places, places: Places) -> int:
    """Count the places, from the outermost, that two parts have in common."""
    shared = 0
    for one, other in zip(previous, places, strict=False):
        if one != other:
            break
        shared += 1
    return shared


class _Outliner:
    """Finds the places of a page's parts, one after the other."""

    def __init__(self, document: Document, within: int) -> None:
        self._elements = document.elements
        self._within = within
        self.open_places: Places = ()
        """Places of the previous part."""
        self._last_items: dict[int, tuple[int, int]] = {}
        """For each numbered list the item that was counted last, and its number."""

    def places(self, part: Part) -> Places:
        """Return the places of the next part.

        An item begins with its innermost element. If its list is numbered and has begun, an item also begins with a
        table or a list inside it; otherwise the number would be lost and the list would end.
        """
        is_item = part.label is Label.LIST
        if part.label is Label.HEADER:
            return ()
        if isinstance(part, Table):
            element = part.element
        else:
            first_block = part.blocks[0]
            element = first_block.element
            if not is_item and not self.open_places and "blockquote" not in first_block.containers:
                return ()  # as for most parts of most pages
        tag, parent = self._elements.tag, self._elements.parent
        around = []
        while element > self._within:
            if tag[element] in _PLACES:
                around.append(element)
            element = parent[element]
        around = around[::-1][:_DEEPEST]

        open_items = {place.element: place for place in self.open_places}
        terms = {parent[number]: place for number, place in open_items.items() if number >= 0 and tag[number] == "dt"}
        innermost = next((number for number in reversed(around) if tag[number] in _ITEMS), -1) if is_item else -1
        numbered_lists = set()
        if is_item or isinstance(part, Table):
            numbered_lists = {place.list for place in self.open_places if place.number is not None}
        places: list[Place] = []
        for number in around:
            if tag[number] == "blockquote":
                places.append(Place(number, is_quote=True))
            elif number in open_items or number == innermost or parent[number] in numbered_lists:
                if tag[number] == "dd" and parent[number] in terms:
                    places.append(terms[parent[number]])
                places.append(open_items.get(number) or self._item(number))
        if is_item and isinstance(part, Segment) and all(place.is_quote for place in places):
            places.append(Place(-2 - part.blocks[0].index, is_quote=False))
        return tuple(places)

    def _item(self, element: int) -> Place:
        """Make an item, numbered by counting on from the item of its list that was counted last."""
        tag, parent = self._elements.tag, self._elements.parent
        list_element = parent[element]
        if list_element < 0 or tag[list_element] != "ol":
            return Place(element, False, list_element)
        if list_element in self._last_items:
            last, number = self._last_items[list_element]
        else:
            start = self._elements.attributes[list_element].get("start", "").strip()
            last, number = list_element, int(start) - 1 if _START.fullmatch(start) else 0
        number += sum(tag[each] == "li" and parent[each] == list_element for each in range(last + 1, element + 1))
        self._last_items[list_element] = element, number
        return Place(element, False, list_element, number)
