"""Divide a page with very many blocks into sections, so that labelling a page takes a limited amount of memory."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import replace

from victorpy.document import Block, Document, Elements

MOST_BLOCKS = 10_000
"""Maximum number of blocks of a section. Few web pages have more than 7,000 blocks."""


def sections(document: Document) -> Iterator[Document]:
    """Yield the page, or sections of about the same size if it has more than `MOST_BLOCKS` blocks."""
    count = len(document.texts)
    parts = -(-count // MOST_BLOCKS)
    if parts <= 1:
        yield document
        return
    for part in range(parts):
        yield section(document, count * part // parts, count * (part + 1) // parts)


def section(document: Document, first: int, stop: int) -> Document:
    """Return a document with the blocks from `first` to before `stop`, and the elements in and around them."""
    if document.arrays is not None:
        values = {name: value for name, value in vars(document).items() if name not in {"blocks", "elements", "arrays"}}
        return Document.from_arrays(document.arrays.section(first, stop), **values | {"trailing": ()})
    elements, parent = document.elements, document.elements.parent
    begin = bisect_left(elements.first_block, first) if first else 0
    end = bisect_right(elements.first_block, stop)
    around = set()
    for innermost in (document.blocks[first].pieces[0].element, begin if begin < end else -1):
        element = innermost
        while element >= 0:
            if element < begin:
                around.add(element)
            element = parent[element]
    kept = [*sorted(around), *range(begin, end)]
    number_of = {-1: -1} | {old: new for new, old in enumerate(kept)}

    def place(block: int) -> int:
        return min(max(block - first, 0), stop - first)

    def moved(block: Block) -> Block:
        pieces = tuple([piece._replace(element=number_of[piece.element]) for piece in block.pieces])
        return block._replace(index=block.index - first, element=number_of[block.element], pieces=pieces)

    kept_elements = Elements(
        [elements.tag[element] for element in kept],
        [number_of[parent[element]] for element in kept],
        [elements.attributes[element] for element in kept],
        [bisect_left(kept, elements.stop[element]) for element in kept],
        [place(elements.first_block[element]) for element in kept],
        [place(elements.stop_block[element]) for element in kept],
    )
    blocks = tuple(map(moved, document.blocks[first:stop]))
    return replace(document, blocks=blocks, elements=kept_elements, trailing=())
