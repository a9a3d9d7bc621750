"""Find similar blocks: in the same element, with the same tags and classes, or at the same place of a record."""

from __future__ import annotations

import re

from victorpy.document import Document


def container_stops(document: Document, number: int, block_level: frozenset[str]) -> list[int]:
    """Return the stop blocks of the block-level elements around a block, innermost first, without duplicates."""
    elements, element = document.elements, document.blocks[number].element
    stops: list[int] = []
    while element >= 0:
        stop = elements.stop_block[element]
        if elements.tag[element] in block_level and stop > (stops[-1] if stops else number + 1):
            stops.append(stop)
        element = elements.parent[element]
    return stops


def same_path(document: Document, number: int) -> list[int]:
    """Return the blocks in elements of the same tags and classes."""
    elements = document.elements
    paths: dict[tuple[int, str, str], int] = {}
    path_of_element: list[int] = []
    for tag, parent, attributes in zip(elements.tag, elements.parent, elements.attributes, strict=True):
        outer = path_of_element[parent] if parent >= 0 else -1
        path_of_element.append(paths.setdefault((outer, tag, attributes.get("class", "")), len(paths)))
    path_of_element.append(-1)  # for blocks outside all elements, whose element is -1
    path = path_of_element[document.blocks[number].element]
    return [other for other, block in enumerate(document.blocks) if path_of_element[block.element] == path]


def same_place(document: Document, number: int) -> list[int]:
    """Return the blocks whose XPath differs in one position only, such as a column of a table.

    For ``/table[1]/tr[2]/td[1]`` these are the blocks ``/table[1]/tr[*]/td[1]`` or ``/table[1]/tr[2]/td[*]``, whichever
    group is larger. Classes are ignored, since they often alternate from record to record.
    """
    paths = document.paths()
    steps = paths[number].split("/")
    largest = [other for other, path in enumerate(paths) if path == paths[number]]
    for level in range(1, len(steps)):
        tag = steps[level].rpartition("[")[0]
        outer, inner = "/".join([*steps[:level], tag]), "/".join(["", *steps[level + 1 :]])
        pattern = re.compile(rf"{re.escape(outer)}\[\d+\]{re.escape(inner)}")
        group = [other for other, path in enumerate(paths) if pattern.fullmatch(path)]
        largest = max(largest, group, key=len)
    return largest
