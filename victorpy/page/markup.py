"""Write a Document as HTML."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from functools import cache

from victorpy.config import load_config
from victorpy.document import Document
from victorpy.page.parse import VOID
from victorpy.page.split import DEEPEST

_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "#x27": "'"}
_ESCAPED = re.compile(r"&(#x27|#\d{1,6}|amp|lt|gt|quot);")
_NOT_PLAIN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_ESCAPABLE = re.compile("[&<>\"'\x00-\x1f\x7f-\x9f\u2028\u2029]")


def escape(text: str) -> str:
    r"""Escape text for markup, on one line and without control characters.

    >>> escape("a < b\t\x1b[0m")
    'a &lt; b&#9;&#27;[0m'
    """
    if not _ESCAPABLE.search(text):
        return text
    return _NOT_PLAIN.sub(lambda match: f"&#{ord(match[0])};", html.escape(text))


def unescape(text: str) -> str:
    r"""Undo `escape` exactly. `html.unescape` would replace control characters.

    >>> unescape(escape("<\x8e\x1a&")) == "<\x8e\x1a&"
    True
    """
    if "&" not in text:
        return text
    return _ESCAPED.sub(_character, text)


def _character(match: re.Match[str]) -> str:
    code = 0 if match[1] in _NAMED else int(match[1][1:])
    return match[0] if 0xD800 <= code < 0xE000 else _NAMED.get(match[1]) or chr(code)  # a half of a pair stays as it is


class TagWriter:
    """Writes a document's tags in order, with their attributes."""

    def __init__(self, document: Document) -> None:
        self._attributes = document.elements.attributes
        self._next = 0
        self._depth = 0

    def write(self, tags: Iterable[str]) -> str:
        """Write the next tags of the document, in the form of `Block.distance`."""
        written = []
        for tag in tags:
            attributes = ""
            if tag.startswith("/"):
                self._depth -= 1
            else:
                if self._depth < DEEPEST or tag == "img":  # other elements are not kept
                    values = self._attributes[self._next]
                    attributes = "".join(f' {name}="{escape(value)}"' for name, value in values.items())
                    self._next += 1
                self._depth += tag not in VOID
            written.append(f"<{tag}{attributes}>")
        return "".join(written)


def to_html(document: Document) -> str:
    """Write the HTML of a document, without deleted elements."""
    writer = TagWriter(document)
    parts = []
    for block in document.each_block():
        for number, (piece, text) in enumerate(block.each_piece()):
            gap = " " if block.spaced and not number and not block.preformatted else ""
            is_alt_text = piece.distance[-1:] == ("img",)
            parts += [writer.write(piece.distance), gap, "" if is_alt_text else escape(text)]
    return "".join(parts) + writer.write(document.trailing)


def begins_segment(distance: Sequence[str]) -> bool:
    """Whether the tags before a block start a new segment. A single ``<br>`` does not."""
    breaks = [tag for tag in distance if tag.lstrip("/") in block_level()]
    return breaks != ["br"] and bool(breaks)


@cache
def block_level() -> frozenset[str]:
    """Return the tags that separate the text before them from the text after them."""
    return load_config("base").cuts.block_level
