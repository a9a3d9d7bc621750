"""Find the blocks that belong together: by enclosing element, tags and classes, place in a record, or text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property

from victorpy.annotation.events import Scope
from victorpy.document import Document


class SimilarBlocks:
    """Finds similar blocks of a page. What takes long is computed when it is first needed."""

    def __init__(self, document: Document, block_level: frozenset[str]) -> None:
        self._document = document
        self._block_level = block_level

    def like(self, number: int, scope: Scope) -> list[int]:
        """Return the blocks with the same path, at the same place of their records, or with the same text."""
        if scope is Scope.PLACE:
            return self._same_place(number)
        kinds: Sequence[object] = self._paths if scope is Scope.PATH else [b.text for b in self._document.blocks]
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
    def _paths(self) -> list[int]:
        """A number per block, equal for blocks in elements of the same tags and classes."""
        elements = self._document.elements
        numbers: dict[tuple[int, str, str], int] = {}
        of_element: list[int] = []
        for tag, parent, attributes in zip(elements.tag, elements.parent, elements.attributes, strict=True):
            outer = of_element[parent] if parent >= 0 else -1
            of_element.append(numbers.setdefault((outer, tag, attributes.get("class", "")), len(numbers)))
        of_element.append(-1)  # for blocks outside all elements, whose element is -1
        return [of_element[block.element] for block in self._document.blocks]

    def _same_place(self, number: int) -> list[int]:
        """Return the blocks whose path differs only in the position of the record.

        A page may have nested kinds of records, for example rows and columns. The kind with most blocks is chosen, and
        the outermost of equals. Classes are ignored, since they often alternate from record to record.
        """
        levels = self._differing_levels(self._ancestors(number))
        blocks_by_level: dict[int, list[int]] = defaultdict(list)
        for other, block in enumerate(self._document.blocks):
            if block.element in levels:
                blocks_by_level[levels[block.element]].append(other)
        same_path = blocks_by_level.pop(-1)
        _, largest = max(blocks_by_level.items(), key=lambda item: (len(item[1]), -item[0]), default=(0, []))
        return sorted(same_path + largest)

    def _ancestors(self, number: int) -> list[int]:
        """Return the elements around a block, outermost first."""
        chain: list[int] = []
        element = self._document.blocks[number].element
        while element >= 0:
            chain.append(element)
            element = self._document.elements.parent[element]
        return chain[::-1]

    def _differing_levels(self, chain: list[int]) -> dict[int, int]:
        """Find the elements whose path has the same tags as a chain of elements, but another position at one level.

        For the chain html, body, table, tr 2, td 1 these are td 1 of every other row, at level 3, and every other td
        of row 2, at level 4. The end of the chain itself has level -1; it may be outside all elements (-1).
        """
        elements = self._document.elements
        counts: dict[tuple[int, str], int] = defaultdict(int)
        positions: list[int] = []  # of each element among its siblings with the same tag
        depth_and_level: dict[int, tuple[int, int]] = {-1: (-1, -1)}
        for sibling in zip(elements.parent, elements.tag, strict=True):
            counts[sibling] += 1
            positions.append(counts[sibling])
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
