"""A Document back to a stream of tags and texts, with the attributes of the tags."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator

from victorpy.document import Block, Document
from victorpy.parse import VOID
from victorpy.split import DEEPEST

_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "#x27": "'"}
_ESCAPED = re.compile(r"&(#x27|#\d{1,6}|amp|lt|gt|quot);")
_NOT_PLAIN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_ESCAPABLE = re.compile("[&<>\"'\x00-\x1f\x7f-\x9f\u2028\u2029]")


def escape(text: str) -> str:
    r"""Write text so that it stands in markup, on one line, without control characters.

    >>> escape("a < b\t\x1b[0m")
    'a &lt; b&#9;&#27;[0m'
    """
    if not _ESCAPABLE.search(text):
        return text
    return _NOT_PLAIN.sub(lambda found: f"&#{ord(found[0])};", html.escape(text))


def unescape(text: str) -> str:
    r"""Undo `escape`, exactly; `html.unescape` would mend characters that no page should have.

    >>> unescape(escape("<\x8e\x1a&")) == "<\x8e\x1a&"
    True
    """
    return _ESCAPED.sub(lambda found: _NAMED.get(found[1]) or chr(int(found[1][1:])), text) if "&" in text else text


class TagWriter:
    """Writes a document's tags in order, each opening one with the attributes of its element."""

    def __init__(self, document: Document) -> None:
        self._elements = document.elements
        self._next = 0
        self._depth = 0

    def write(self, tags: Iterable[str]) -> str:
        """Write the next tags of the document, given as in `Block.distance`."""
        return "".join(self._close(tag) if tag.startswith("/") else self._open(tag) for tag in tags)

    def _open(self, tag: str) -> str:
        kept = self._depth < DEEPEST
        attributes = self._elements.attributes[self._next] if kept else {}
        self._next += kept
        self._depth += tag not in VOID
        written = "".join(f' {name}="{escape(value)}"' for name, value in attributes.items())
        return f"<{tag}{written}>"

    def _close(self, tag: str) -> str:
        self._depth -= 1
        return f"<{tag}>"


def to_html(document: Document) -> str:
    """Write a document as the HTML that it was made of, without what was deleted from it."""
    writer = TagWriter(document)
    parts = []
    for block in document.blocks:
        for number, (tags, text) in enumerate(pieces(block)):
            shown_by_image = tags and tags[-1] == "img"
            parts += [writer.write(tags), " " if block.spaced and not number and not block.preformatted else ""]
            parts.append("" if shown_by_image else escape(text))
    return "".join(parts) + writer.write(document.trailing)


def pieces(block: Block) -> Iterator[tuple[tuple[str, ...], str]]:
    """Give a block's pieces: the tags passed before each, and its text."""
    stops = [*(piece.start for piece in block.pieces[1:]), len(block.text)]
    for piece, stop in zip(block.pieces, stops, strict=True):
        yield piece.distance, block.text[piece.start : stop]
