"""What readers cannot see, and what formats for them are better off without: control characters and empty-looking text.

Pages have control characters by accident, mostly from bytes of Windows-1252 that were taken for Latin-1; browsers show
nothing for them, or what the byte means there. Terminals obey them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from victorpy.document import Block
from victorpy.markup import pieces
from victorpy.outputs.base import LabelledBlock, Segment

_CONTROLS = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff]")
_BREAKS = "\x0b\x0c\r\u2028\u2029"
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_VISIBLE = re.compile(rf"[^\s{_INVISIBLE}]")


def without_controls(text: str, line_end: str = " ") -> str:
    r"""Leave control characters out, but those that mean a character in Windows-1252, and line ends of other systems.

    >>> without_controls("\x1b[1mtea\x07 \x96 5\x80\u2028")
    '[1mtea – 5€ '
    """
    return _CONTROLS.sub(lambda found: _meant(found[0], line_end), text)


def _meant(control: str, line_end: str) -> str:
    if control in _BREAKS:
        return line_end
    return bytes([ord(control)]).decode("cp1252", "ignore") if "\x80" <= control <= "\x9f" else ""


def suspects(labelled: Iterable[LabelledBlock]) -> list[str]:
    """The texts that may have something of all this; to ask so is many times faster than to search for it."""
    return [block.text for block, _ in labelled if not block.text.isprintable()]


def readable(labelled: Sequence[LabelledBlock], suspected: Iterable[str]) -> Sequence[LabelledBlock]:
    """Blocks without control characters."""
    if not _CONTROLS.search("\n".join(suspected)):
        return labelled
    return [(_readable(block), label) for block, label in labelled]


def _readable(block: Block) -> Block:
    """Clean a block's text piece by piece, so that each begins where it should."""
    line_end = "\n" if block.preformatted else " "
    texts = [without_controls(text, line_end) for _, text in pieces(block)]
    starts = [sum(map(len, texts[:number])) for number in range(len(texts))]
    moved = (piece._replace(start=start) for piece, start in zip(block.pieces, starts, strict=True))
    return block._replace(text="".join(texts), pieces=tuple(moved))


def is_visible(segment: Segment) -> bool:
    """Whether a segment has a character to be seen."""
    return segment.blocks[0].text[:1].isalnum() or any(_VISIBLE.search(block.text) for block in segment.blocks)
