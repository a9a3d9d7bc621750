"""Footnotes: the elements that refer to a note, and those that contain it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import count
from typing import NamedTuple
from urllib.parse import unquote, urljoin

from victorpy.document import Block, Document, Elements
from victorpy.page.markup import pieces

# Names of classes, ids, roles and relations around references and notes.
_NOTE_NAME = re.compile(
    r"(?:foot|end|side)[-_]?note|(?<![a-z])fn(?![a-z])|(?<![a-z])fnref|cite[-_](?:ref|note)|noteref", re.IGNORECASE
)
_BACK_NAME = re.compile(r"back[-_]?(?:link|ref)|footnote-back|reversefootnote", re.IGNORECASE)
# Notes that are inside the paragraph, and the marks that some programs write beside them.
_INLINE_NOTE = re.compile(r"(?<!\S)(?:ltx_note_content|sidenote|marginnote|modern-footnotes-footnote__note)(?!\S)")
_INLINE_MARK = re.compile(r"(?<!\S)(?:ltx_note_mark|ltx_tag_note|modern-footnotes-footnote|sidenote-number)(?!\S)")
_MARK = re.compile(r"[\[(]?\s*(?:note\s*)?[\w*†‡§]{1,4}\s*[\])]?", re.IGNORECASE)
_NOTE_TAGS = frozenset(["li", "p", "div", "aside", "dd", "section", "tr"])
_MAX_LEVELS = 4
_MAX_NOTE = 4_000


class Notes(NamedTuple):
    """The notes of a page, by the numbers of their elements."""

    references: dict[int, str]
    """The label of the note that an element refers to."""
    definitions: dict[int, str]
    """The label of the note that an element contains."""
    hidden: frozenset[int] = frozenset()
    """Elements that contain only a mark or a link back to the text."""
    inline: frozenset[int] = frozenset()
    """Notes inside the paragraph that refers to them: both reference and definition."""


NO_NOTES = Notes({}, {})


def find_notes(document: Document, kept: Sequence[Block]) -> Notes:
    """Find the notes of a page whose reference and text are both kept. They are labelled by the marks of the page."""
    elements = document.elements
    links = {link: target for link, target in _links_within(document) if link != target}
    inline = {
        number
        for number, attributes in enumerate(elements.attributes)
        if "class" in attributes and elements.tag[number] == "span" and _INLINE_NOTE.search(attributes["class"])
    }
    if not links and not inline:
        return NO_NOTES
    texts: dict[int, str] = {}
    for block in kept:
        for piece, (_, text) in zip(block.pieces, pieces(block), strict=True):
            texts[piece.element] = texts.get(piece.element, "") + text
    sizes = _sizes(texts, elements)
    found = {number: number for number in inline if sizes[number]}
    for link, target in links.items():
        note = _definition(link, target, links, texts, sizes, elements)
        if note >= 0 and sizes[link]:
            found[link] = note
    if not found:
        return NO_NOTES
    labels: dict[int, str] = {}
    for link in sorted(found):
        mark = "" if link in inline else re.sub(r"\W", "", _text(link, texts, elements))
        free = next(number for number in map(str, count(len(labels) + 1)) if number not in labels.values())
        labels.setdefault(found[link], free if not mark or mark in labels.values() else mark)
    references = {link: labels[note] for link, note in found.items()}
    hidden = frozenset(_hidden(labels, inline, links, texts, elements))
    return Notes(references, labels, hidden, frozenset(inline & labels.keys()))


def _links_within(document: Document) -> Iterator[tuple[int, int]]:
    """Yield the links to other places of the page, each with its target."""
    elements = document.elements
    page = document.url.partition("#")[0]
    fragments = []
    ids: dict[str, int] = {}
    for number, (tag, attributes) in enumerate(zip(elements.tag, elements.attributes, strict=True)):
        if not attributes:
            continue
        name = attributes.get("id") or (attributes.get("name") if tag == "a" else None)
        if name:
            ids.setdefault(name, number)
        if tag == "a" and "#" in attributes.get("href", ""):
            address, _, fragment = attributes["href"].partition("#")
            if fragment and (not address or (page and urljoin(page, address) == page)):
                fragments.append((number, fragment))
    for number, fragment in fragments:
        target = ids.get(fragment, ids.get(unquote(fragment)))
        if target is not None:
            yield number, target


def _sizes(texts: dict[int, str], elements: Elements) -> list[int]:
    """Return the number of kept characters inside each element."""
    sizes = [len(texts.get(number, "")) for number in range(len(elements))]
    for number in range(len(elements) - 1, 0, -1):
        if elements.parent[number] >= 0:
            sizes[elements.parent[number]] += sizes[number]
    return sizes


def _definition(
    link: int, target: int, links: dict[int, int], texts: dict[int, str], sizes: list[int], elements: Elements
) -> int:
    """Return the element of the note that a link refers to, or -1 if the link is no reference."""
    tags, parents = elements.tag, elements.parent
    if target < link or sizes[link] > 12 or not _MARK.fullmatch(_text(link, texts, elements).strip()):
        return -1
    note = target
    for _ in range(_MAX_LEVELS):
        if tags[note] in _NOTE_TAGS or note < 0:
            break
        note = parents[note]
    if note <= link or tags[note] not in _NOTE_TAGS or not 0 < sizes[note] <= _MAX_NOTE:
        return -1
    has_link_back = any(back in links and links[back] <= link for back in range(note, elements.stop[note]))
    is_raised = tags[parents[link]] == "sup" or "sup" in tags[link : elements.stop[link]]
    is_named = any(_has_name(element, _NOTE_NAME, elements) for element in (link, parents[link], target))
    return note if is_named or (is_raised and has_link_back) else -1


def _has_name(element: int, pattern: re.Pattern[str], elements: Elements) -> bool:
    attributes = elements.attributes[element]
    return any(pattern.search(attributes.get(name, "")) for name in ("class", "id", "role", "rel", "name"))


def _text(element: int, texts: dict[int, str], elements: Elements) -> str:
    return "".join(texts.get(number, "") for number in range(element, elements.stop[element]))


def _hidden(
    notes: dict[int, str], inline: set[int], links: dict[int, int], texts: dict[int, str], elements: Elements
) -> Iterator[int]:
    """Yield the elements that contain only marks and links back."""
    for note in notes:
        inside = range(note, elements.stop[note])
        backs = [link for link in inside if link in links and links[link] < note]
        backs += [element for element in inside if _has_name(element, _BACK_NAME, elements)]
        gone = {number for back in backs for number in range(back, elements.stop[back])}
        for back in backs:
            outer = back
            while (parent := elements.parent[outer]) > note:
                rest = (texts.get(number, "") for number in range(parent, elements.stop[parent]) if number not in gone)
                if any(char.isalnum() for text in rest for char in text):
                    break
                outer = parent
            yield outer
    if inline:
        for number, attributes in enumerate(elements.attributes):
            if "class" in attributes and _INLINE_MARK.search(attributes["class"]):
                yield number
