"""Formats for corpus managers such as Sketch Engine and NoSketch Engine."""

from __future__ import annotations

import html
from collections.abc import Iterator
from functools import partial

from victorpy.base.words import icu_pieces
from victorpy.document import Label
from victorpy.errors import require
from victorpy.outputs.base import CleanPage, facts, output
from victorpy.outputs.html import start_tag
from victorpy.outputs.images import Image
from victorpy.outputs.structure import Structure
from victorpy.outputs.tables import Table, without_controls

_check_icu = partial(require, ["icu4py"], "docview", "finding words and sentences")
_ATTRIBUTES = {**{name: name for name in ("url", "title", "author", "date")}, "language": "lang", "site_name": "site"}


@output("prevertical", ".prevert", joins=True, wants_metadata=True)
def render_prevertical(page: CleanPage) -> str:
    """Prevertical for Sketch Engine: <doc> with attributes, and <p> around each paragraph or heading."""
    lines = [_document_tag(page)]
    for tag, text in _paragraphs(page):
        lines += [tag, html.escape(text, quote=False), "</p>"]
    return "\n".join([*lines, "</doc>"]) + "\n"


@output("vertical", ".vert", joins=True, wants_metadata=True, check=_check_icu)
def render_vertical(page: CleanPage) -> str:
    """Vertical for Sketch Engine: one word per line, with <doc>, <p> and <s>, and <g/> where there is no space."""
    root = next(iter(page.document.elements.attributes), {})
    language = facts(page, ["language"])["language"] or root.get("lang", "") or "en"
    lines = [_document_tag(page)]
    for tag, text in _paragraphs(page):
        lines.append(tag)
        for sentence in icu_pieces("SentenceBreaker", text, language):
            words = [*_words(sentence, language)]
            if words:
                lines += ["<s>", *words, "</s>"]
        lines.append("</p>")
    return "\n".join([*lines, "</doc>"]) + "\n"


def _words(sentence: str, language: str) -> Iterator[str]:
    """Yield the words and punctuation marks of a sentence, with <g/> if there is no space between two."""
    is_separated = True
    for piece in icu_pieces("WordBreaker", sentence, language):
        word = piece.strip()
        if word:
            if not is_separated:
                yield "<g/>"
            yield html.escape(word, quote=False)
        is_separated = not word


def _document_tag(page: CleanPage) -> str:
    values = facts(page, _ATTRIBUTES).items()
    return start_tag("doc", {_ATTRIBUTES[name]: " ".join(without_controls(value).split()) for name, value in values})


def _paragraphs(page: CleanPage) -> Iterator[tuple[str, str]]:
    """Yield each paragraph with its tag, on one line. References to notes are left out."""
    structure = Structure.of(page)
    first_block = page.document.elements.first_block
    for part, _ in structure.outline():
        if isinstance(part, Table):
            texts = part.text.split("\n")
        else:
            segments = part.caption if isinstance(part, Image) else [part]
            texts = ["".join(run.text for run in structure.runs(segment) if not run.look.note) for segment in segments]
            if isinstance(part, Image) and part.alt and not part.is_embedded:
                is_kept = page.labels[first_block[part.element]].is_content
                texts = [part.alt, *texts] if is_kept else texts
        for text in texts:
            line = " ".join(text.split())
            if line:
                yield '<p heading="1">' if part.label is Label.HEADER else "<p>", line
