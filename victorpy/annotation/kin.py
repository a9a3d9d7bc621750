"""Which blocks of a page belong together: by enclosing element, tags and classes, place in a record, or text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property

from victorpy.annotation.events import Scope
from victorpy.document import Document


class Kin:
    """What the blocks of a page have in common, computed when it is first needed."""

    def __init__(self, document: Document, block_level: frozenset[str]) -> None:
        self._document = document
        self._block_level = block_level

    def like(self, number: int, scope: Scope) -> list[int]:
        """Return the blocks that are like one: same path, same place in a record, or same text."""
        if scope is Scope.PLACE:
            return self.same_place(number)
        kinds: Sequence[object] = self.patterns if scope is Scope.PATH else self.texts
        return [other for other, kind in enumerate(kinds) if kind == kinds[number]]

    def container_stops(self, number: int) -> list[int]:
        """Return where the block-level elements around a block end, innermost first, each later than the previous."""
        elements = self._document.elements
        stops: list[int] = []
        for element in reversed(self._ancestors(number)):
            stop = elements.stop_block[element]
            if elements.tag[element] in self._block_level and stop > (stops[-1] if stops else number + 1):
                stops.append(stop)
        return stops

    @cached_property
    def patterns(self) -> list[int]:
        """A number per block, equal for blocks in elements of the same tags and classes."""
        elements = self._document.elements
        numbers: dict[tuple[int, str, str], int] = {}
        of_element: list[int] = []
        for tag, parent, attributes in zip(elements.tag, elements.parent, elements.attributes, strict=True):
            outer = of_element[parent] if parent >= 0 else -1
            of_element.append(numbers.setdefault((outer, tag, attributes.get("class", "")), len(numbers)))
        of_element.append(-1)  # for blocks outside all elements, whose element is -1
        return [of_element[block.element] for block in self._document.blocks]

    def same_place(self, number: int) -> list[int]:
        """Return the blocks at the same place of every record: their paths differ only in the position of the record.

        A page may have nested kinds of records, for example rows and columns. The kind with most blocks is chosen, and
        the outermost of equals. Classes do not count, since they often alternate from record to record.
        """
        levels = self._differing_levels(self._ancestors(number))
        blocks_by_level: dict[int, list[int]] = defaultdict(list)
        for other, block in enumerate(self._document.blocks):
            if block.element in levels:
                blocks_by_level[levels[block.element]].append(other)
        same_path = blocks_by_level.pop(-1)
        by_size = max(blocks_by_level.items(), key=lambda item: (len(item[1]), -item[0]), default=(0, []))
        return sorted(same_path + by_size[1])

    def _ancestors(self, number: int) -> list[int]:
        """Return the elements around a block, outermost first."""
        chain: list[int] = []
        element = self._document.blocks[number].element
        while element >= 0:
            chain.append(element)
            element = self._document.elements.parent[element]
        return chain[::-1]

    def _differing_levels(self, chain: list[int]) -> dict[int, int]:
        """Find the elements whose path has the tags of a chain of elements, but another position at one level at most.

        For the chain html, body, table, tr 2, td 1 that is td 1 of every other row, at level 3, and every other td of
        row 2, at level 4. The level is -1 for the end of the chain itself, which may be no element at all (-1).
        """
        elements, positions = self._document.elements, self._positions
        depth_and_level: dict[int, tuple[int, int]] = {-1: (-1, -1)}
        for number, (tag, parent) in enumerate(zip(elements.tag, elements.parent, strict=True)):
            depth, level = depth_and_level.get(parent, (len(chain), -1))
            depth += 1
            if depth >= len(chain) or elements.tag[chain[depth]] != tag:
                continue
            if positions[number] == positions[chain[depth]]:
                depth_and_level[number] = depth, level
            elif level < 0:
                depth_and_level[number] = depth, depth
        return {number: level for number, (depth, level) in depth_and_level.items() if depth + 1 == len(chain)}

    @cached_property
    def _positions(self) -> list[int]:
        """The position of each element among its siblings of the same tag."""
        counts: dict[tuple[int, str], int] = defaultdict(int)
        positions = []
        for sibling in zip(self._document.elements.parent, self._document.elements.tag, strict=True):
            counts[sibling] += 1
            positions.append(counts[sibling])
        return positions

    @cached_property
    def texts(self) -> list[str]:
        return [block.text for block in self._document.blocks]

    @cached_property
    def folded_texts(self) -> list[str]:
        return [text.casefold() for text in self.texts]
