"""Which blocks of a page belong together: by the elements around them, by their tags and classes, by their text."""

from __future__ import annotations

from functools import cached_property

from victorpy.document import Document


class Kin:
    """What the blocks of a page have in common; found out when it is first asked for."""

    def __init__(self, document: Document, block_level: frozenset[str]) -> None:
        self._document = document
        self._block_level = block_level

    def container_stops(self, number: int) -> list[int]:
        """Where the block-level elements around a block end, innermost first, each with more in it than the last."""
        elements = self._document.elements
        element = self._document.blocks[number].element
        stops: list[int] = []
        while element >= 0:
            stop = elements.stop_block[element]
            if elements.tag[element] in self._block_level and stop > (stops[-1] if stops else number + 1):
                stops.append(stop)
            element = elements.parent[element]
        return stops

    @cached_property
    def patterns(self) -> list[int]:
        """A number for each block that is the same for all that stand in elements of the same tags and classes."""
        elements = self._document.elements
        known: dict[tuple[int, str, str], int] = {}
        of_element: list[int] = []
        for tag, parent, attributes in zip(elements.tag, elements.parent, elements.attributes, strict=True):
            outer = of_element[parent] if parent >= 0 else -1
            of_element.append(known.setdefault((outer, tag, attributes.get("class", "")), len(known)))
        of_element.append(-1)  # for blocks outside all elements, whose number is -1
        return [of_element[block.element] for block in self._document.blocks]

    @cached_property
    def texts(self) -> list[str]:
        """The blocks' texts."""
        return [block.text for block in self._document.blocks]

    @cached_property
    def folded_texts(self) -> list[str]:
        """The same, whatever the case of the letters."""
        return [text.casefold() for text in self.texts]
