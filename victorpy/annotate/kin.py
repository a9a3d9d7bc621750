"""Which blocks of a page belong together: by elements around them, tags and classes, place in what repeats, text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property

from victorpy.annotate.events import Scope
from victorpy.document import Document


class Kin:
    """What the blocks of a page have in common; found out when it is first asked for."""

    def __init__(self, document: Document, block_level: frozenset[str]) -> None:
        self._document = document
        self._block_level = block_level

    def like(self, number: int, scope: Scope) -> list[int]:
        """The blocks that are like one: of its path, at its place of every record, or of its text."""
        if scope is Scope.PLACE:
            return self.same_place(number)
        kinds: Sequence[object] = self.patterns if scope is Scope.PATH else self.texts
        return [other for other, kind in enumerate(kinds) if kind == kinds[number]]

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

    def same_place(self, number: int) -> list[int]:
        """The blocks at the same place of every record: their paths differ in one position, that of the record.

        A page has records of several kinds around each other, rows and columns for example: those that give most blocks
        are meant, of as many the outermost. Classes do not matter, which often alternate from record to record.
        """
        chain = self._chain(number)
        differs = self._differences(chain)
        found: dict[int, list[int]] = defaultdict(list)
        for at, block in enumerate(self._document.blocks):
            level = differs.get(block.element) if chain else -1 if block.element < 0 else None
            if level is not None:
                found[level].append(at)
        same = found.pop(-1)
        records = max(found.items(), key=lambda item: (len(item[1]), -item[0]), default=(0, []))[1]
        return sorted(same + records)

    def _chain(self, number: int) -> list[int]:
        """The elements around a block, outermost first."""
        chain: list[int] = []
        element = self._document.blocks[number].element
        while element >= 0:
            chain.append(element)
            element = self._document.elements.parent[element]
        return chain[::-1]

    def _differences(self, chain: list[int]) -> dict[int, int]:
        """The elements whose path has the tags of a chain: at which level it has another position, -1 for none."""
        elements, positions = self._document.elements, self._positions
        depth_and_level: dict[int, tuple[int, int]] = {-1: (-1, -1)}
        for number, (tag, parent) in enumerate(zip(elements.tag, elements.parent, strict=True)):
            above = depth_and_level.get(parent)
            if above is None or above[0] + 1 == len(chain) or elements.tag[chain[above[0] + 1]] != tag:
                continue
            depth, level = above[0] + 1, above[1]
            if positions[number] == positions[chain[depth]]:
                depth_and_level[number] = depth, level
            elif level < 0:
                depth_and_level[number] = depth, depth
        return {number: level for number, (depth, level) in depth_and_level.items() if depth + 1 == len(chain)}

    @cached_property
    def _positions(self) -> list[int]:
        """Each element's place among its siblings of the same tag."""
        seen: dict[tuple[int, str], int] = {}
        positions = []
        for sibling in zip(self._document.elements.parent, self._document.elements.tag, strict=True):
            seen[sibling] = seen.get(sibling, 0) + 1
            positions.append(seen[sibling])
        return positions

    @cached_property
    def texts(self) -> list[str]:
        """The blocks' texts."""
        return [block.text for block in self._document.blocks]

    @cached_property
    def folded_texts(self) -> list[str]:
        """The same, whatever the case of the letters."""
        return [text.casefold() for text in self.texts]
