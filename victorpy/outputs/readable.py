"""What readers cannot see, and formats for them leave out: control characters and text that looks empty.

Pages have control characters by accident, mostly from bytes of Windows-1252 that were taken for Latin-1; browsers show
nothing for them, or what the byte means there. Terminals obey them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from victorpy.document import Block
from victorpy.outputs.base import LabelledBlock, Segment
from victorpy.page.markup import pieces

_CONTROLS = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff]")
_BREAKS = "\x0b\x0c\r\u2028\u2029"
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_VISIBLE = re.compile(rf"[^\s{_INVISIBLE}]")


def without_controls(text: str, line_end: str = " ") -> str:
    r"""Remove control characters, or replace them with what they mean: line ends, characters of Windows-1252.

    >>> without_controls("\x1b[1mtea\x07 \x96 5\x80\u2028")
    '[1mtea – 5€ '
    """

    def meaning(match: re.Match[str]) -> str:
        control = match[0]
        if control in _BREAKS:
            return line_end
        return bytes([ord(control)]).decode("cp1252", "ignore") if "\x80" <= control <= "\x9f" else ""

    return _CONTROLS.sub(meaning, text)


def readable(labelled: Sequence[LabelledBlock], suspects: Sequence[str]) -> Sequence[LabelledBlock]:
    """Return blocks without control characters; only the texts in `suspects` may have some."""
    if not _CONTROLS.search("\n".join(suspects)):
        return labelled
    return [(_clean_block(block), label) for block, label in labelled]


def _clean_block(block: Block) -> Block:
    """Clean a block's text piece by piece, so that each piece still begins at the right character."""
    line_end = "\n" if block.preformatted else " "
    texts, moved, start = [], [], 0
    for piece, (_, text) in zip(block.pieces, pieces(block), strict=True):
        moved.append(piece._replace(start=start))
        texts.append(without_controls(text, line_end))
        start += len(texts[-1])
    return block._replace(text="".join(texts), pieces=tuple(moved))


def is_visible(segment: Segment) -> bool:
    """Whether a segment has a visible character."""
    return segment.blocks[0].text[:1].isalnum() or any(_VISIBLE.search(block.text) for block in segment.blocks)
