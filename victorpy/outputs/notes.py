"""Footnotes: find the elements that refer to notes, and the elements that contain them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import NamedTuple
from urllib.parse import unquote, urljoin

from victorpy.document import Document, Elements, Label
from victorpy.outputs.base import blocks_of

# Matches names of classes, ids, roles and relations around references and notes.
_NOTE_NAME = re.compile(
    r"(?:foot|end|side)[-_]?note|(?<![a-z])fn(?![a-z])|(?<![a-z])fnref|cite[-_](?:ref|note)|noteref", re.IGNORECASE
)
_BACK_NAME = re.compile(r"back[-_]?(?:link|ref)|footnote-back|reversefootnote", re.IGNORECASE)
# Match notes inside a paragraph, and the marks that some programs write beside them.
_INLINE_NOTE = re.compile(
    r"(?<!\S)(?:ltx_note_content|sidenote|marginnote|footnote_tooltip|modern-footnotes-footnote__note)(?!\S)"
)
_INLINE_MARK = re.compile(
    r"(?<!\S)(?:ltx_note_mark|ltx_tag_note|modern-footnotes-footnote|sidenote-number|footnote_plugin_tooltip_text)(?!\S)"
)
_MARK = re.compile(r"[\[(]?\s*(?:note\s*)?[\w*†‡§]{1,4}\s*[\])]?", re.IGNORECASE)
_NUMBER = re.compile("[0-9]+$")  # the number at the end of an id
_NOTE_TAGS = frozenset(["li", "p", "div", "aside", "dd", "section", "tr"])
_MAX_LEVELS = 4
_MAX_NOTE = 4_000
# Bounds that make the work on hostile pages linear
_MAX_NOTE_ELEMENTS = 400
_MAX_REFERENCE_ELEMENTS = 8


class Notes(NamedTuple):
    """The notes of a page, by the numbers of their elements."""

    references: dict[int, str]
    """The label of the note that an element refers to."""
    definitions: dict[int, str]
    """The label of the note that an element contains."""
    hidden: frozenset[int] = frozenset()
    """Elements that contain only a mark or a link back to the text."""
    inline: frozenset[int] = frozenset()
    """Notes inside the paragraph that refers to them. Each is both reference and definition."""
    blocks: frozenset[int] = frozenset()
    """Numbers of the blocks that contain the text of notes."""


NO_NOTES = Notes({}, {})


def find_notes(document: Document, labels: Sequence[Label], complete: bool) -> Notes:
    """Find the notes whose reference is kept. Their labels are the marks on the page.

    Without `complete`, the text of a note must be kept too.
    """
    other = Label.OTHER
    around = document.around([number for number, label in enumerate(labels) if label is not other])
    if not _links_within(document, around) and not document.elements_named(_INLINE_NOTE, ["note"], around):
        return NO_NOTES  # most pages
    elements = document.elements
    links = _links_within(document)
    inline = {
        number
        for number in document.elements_named(_INLINE_NOTE, ["note"])
        if elements.tag[number] == "span" and elements.stop[number] - number <= _MAX_NOTE_ELEMENTS
    }
    named: set[int] = set()
    candidates: dict[int, int] = {}
    for link, target in links.items():
        note = _definition(link, target, elements)
        if note < 0:
            continue
        if any(_has_name(element, _NOTE_NAME, document) for element in (link, elements.parent[link], target)):
            named.add(link)
        if link in named or "sup" in (elements.tag[elements.parent[link]], *elements.tag[link : elements.stop[link]]):
            candidates[link] = note
    if not candidates and not inline:
        return NO_NOTES
    texts, marks, block_of = _texts(document, candidates, inline.union(candidates.values()))
    is_kept = [label is not other for label in labels]
    found = {number: number for number in inline if number in block_of and is_kept[block_of[number]]}
    links_back: dict[int, int] = {}
    for link, note in candidates.items():
        has_text = complete or any(is_kept[elements.first_block[note] : elements.stop_block[note]])
        if not has_text or note not in block_of or link not in block_of or not is_kept[block_of[link]]:
            continue
        if note not in links_back:
            targets = [links[number] for number in range(note, elements.stop[note]) if number in links]
            links_back[note] = min(targets, default=len(elements))
        mark = marks[link].strip()
        number = _NUMBER.search(document.attributes_of(links[link]).get("id", ""))
        is_numbered = number is not None and mark.strip("[]()") == number[0]
        is_note = link in named or links_back[note] <= link or is_numbered
        if is_note and _MARK.fullmatch(mark):
            found[link] = note
    notes = sorted(set(found.values()))
    sections = {note for note, inner in pairwise(notes) if inner < elements.stop[note]}  # sections are not notes
    found = {link: note for link, note in found.items() if note not in sections}
    if not found:
        return NO_NOTES
    labelled = _labelled(found, marks)
    hidden = frozenset(_hidden(labelled, inline, links, texts, document))
    blocks = [range(elements.first_block[note], elements.stop_block[note]) for note in labelled if note not in inline]
    return Notes(
        {link: labelled[note] for link, note in found.items()},
        labelled,
        hidden,
        frozenset(inline & labelled.keys()),
        frozenset(chain.from_iterable(blocks)),
    )


def _labelled(found: dict[int, int], marks: dict[int, str]) -> dict[int, str]:
    """Return the label of each note: its mark on the page, or a free number."""
    labelled: dict[int, str] = {}
    used: set[str] = set()
    free = 1
    for link in sorted(found):
        if found[link] not in labelled:
            mark = re.sub(r"\W", "", marks.get(link, ""))
            while not mark or mark in used:
                mark, free = str(free), free + 1
            labelled[found[link]] = mark
            used.add(mark)
    return labelled


def _links_within(document: Document, among: Iterable[int] | None = None) -> dict[int, int]:
    """Return those of some elements, or of all, that link to another place of the page, each with its target."""
    tag = document.elements.tag
    page = document.url.partition("#")[0]
    page_name = page.rpartition("/")[2]
    fragments: dict[int, str] = {}
    for number in document.mentioning(among, "href", ["#"]):
        address, _, fragment = document.attributes_of(number)["href"].partition("#")
        is_near = not address or (page and address.endswith(page_name or "/"))  # compare first, because urljoin is slow
        if tag[number] == "a" and fragment and is_near and (not address or urljoin(page, address) == page):
            fragments[number] = fragment
    if not fragments:
        return {}
    ids = {name: numbers[0] for name, numbers in document.elements_by("id").items() if name}
    for name, numbers in document.elements_by("name").items():
        anchors = [number for number in numbers if tag[number] == "a" and not document.attributes_of(number).get("id")]
        if name and anchors:
            ids[name] = min(anchors[0], ids.get(name, anchors[0]))
    targets = {number: ids.get(name, ids.get(unquote(name), -1)) for number, name in fragments.items()}
    return {number: target for number, target in targets.items() if target >= 0}


def _definition(link: int, target: int, elements: Elements) -> int:
    """Return the element of the note that a link may refer to, or -1 if its target cannot be a note."""
    if target <= link or elements.stop[link] - link > _MAX_REFERENCE_ELEMENTS:
        return -1
    note = target
    for _ in range(_MAX_LEVELS):
        if elements.tag[note] in _NOTE_TAGS or note <= link:
            break
        note = elements.parent[note]
    is_note = note > link and elements.tag[note] in _NOTE_TAGS and elements.stop[note] - note <= _MAX_NOTE_ELEMENTS
    return note if is_note else -1


def _texts(
    document: Document, links: Collection[int], notes: Collection[int]
) -> tuple[dict[int, str], dict[int, str], dict[int, int]]:
    """Return the text of each note and each link, and the first block of each.

    Notes with too much text have no block.
    """
    elements = document.elements
    texts = {number: "" for note in notes for number in range(note, elements.stop[note])}
    link_around = {number: link for link in links for number in range(link, elements.stop[link])}
    marks = dict.fromkeys(links, "")
    first_blocks: dict[int, int] = {}
    for block in blocks_of(document, [*notes, *links]):
        for piece, text in block.each_piece():
            if piece.element in texts:
                texts[piece.element] += text
                first_blocks.setdefault(piece.element, block.index)
            if piece.element in link_around:
                link = link_around[piece.element]
                marks[link] += text
                first_blocks.setdefault(link, block.index)
    block_of = {link: first_blocks[link] for link in links if link in first_blocks}
    for note in notes:
        inside = range(note, elements.stop[note])
        if 0 < sum(len(texts[number]) for number in inside) <= _MAX_NOTE:
            block_of[note] = min(first_blocks[number] for number in inside if number in first_blocks)
    return texts, marks, block_of


def _has_name(element: int, pattern: re.Pattern[str], document: Document) -> bool:
    attributes = document.attributes_of(element)
    return any(pattern.search(attributes.get(name, "")) for name in ("class", "id", "role", "rel", "name"))


def _hidden(
    notes: dict[int, str], inline: set[int], links: dict[int, int], texts: dict[int, str], document: Document
) -> Iterator[int]:
    """Yield the elements that contain only marks and links back."""
    elements = document.elements
    for note in notes:
        backs = []
        gone_until = 0  # skip elements inside a link back
        texts_before = [0]  # number of texts outside links back before each element
        for number in range(note, elements.stop[note]):
            if links.get(number, note) < note or _has_name(number, _BACK_NAME, document):
                backs.append(number)
                gone_until = max(gone_until, elements.stop[number])
            is_text = number >= gone_until and any(map(str.isalnum, texts[number]))
            texts_before.append(texts_before[-1] + is_text)
        for back in backs:
            outer, parent = back, elements.parent[back]
            while parent > note and texts_before[elements.stop[parent] - note] == texts_before[parent - note]:
                outer, parent = parent, elements.parent[parent]
            yield outer
    if inline:
        yield from document.elements_named(_INLINE_MARK, ["note"])
