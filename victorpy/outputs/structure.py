"""The structure of a cleaned page. Markdown, HTML, XML and TEI are written from it.

Labels decide which blocks are kept, and whether they are headings, paragraphs or list items. The markup decides
everything else: quotations, lists, notes and images around the text, and styles and links inside it.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

from victorpy.document import HEADINGS, Block, Document, Elements, Label, Piece
from victorpy.outputs.base import CleanPage, KeptBlocks, Segment, blocks_of, joint, safe_link
from victorpy.outputs.boxes import find_boxes, is_title, names_type
from victorpy.outputs.images import Image, captioned, find_captions, find_images
from victorpy.outputs.notes import NO_NOTES, Notes, find_notes
from victorpy.outputs.tables import Table, parts

Part = Segment | Table | Image

_ITEMS = frozenset(["li", "dt", "dd"])
_PLACES = _ITEMS | {"blockquote"}
_BYLINE = re.compile(r"(?<![\w-])(?:p-)?(?:author|by-?line)(?![\w-])", re.IGNORECASE)
_COMMENT_TAGS = frozenset(["article", "div", "li", "section"])
_COMMENT = re.compile(r"(?<!\S)comment(?!\S)")
_NO_BOXES = HEADINGS | {"html", "body", "p", "span", "a", "button", "ul", "ol", "tbody", "tr"}
_COMMENT_AUTHOR = re.compile(r"(?<!\S)(?:comment-author|comment__author|author|fn|user-?name)(?!\S)")
_MAX_COMMENT_HEAD = 40  # elements
_MAX_AUTHOR = 80  # characters
_START = re.compile("[+-]?[0-9]{1,9}")
_MOST_KNOWN = 10_000  # maximum number of elements whose surroundings are cached
_MAX_CAPTION = 1_000  # characters
_MAX_DEPTH = 16  # deeper nesting would fill Markdown lines with indentation

_STYLES = {
    **dict.fromkeys(["b", "strong", "summary"], "bold"),
    **dict.fromkeys(["i", "em"], "italic"),
    **dict.fromkeys(["code", "kbd", "samp", "tt"], "code"),
    **dict.fromkeys(["del", "s", "strike"], "strike"),
    "sub": "sub",
    "sup": "sup",
    "a": "link",
}

# Matches class names with the language of a listing, as in the HTML standard, GitHub, SyntaxHighlighter and Sphinx.
_LANGUAGE = re.compile(
    r"(?<!\S)(?:(?:language|lang|gatsby-code|highlight-source)-|brush:\s*+|highlight-(?=\S+ notranslate)"
    r"|(?:hljs|sourceCode)\s++(?!language-|numberSource))"
    r"(?P<name>[A-Za-z][A-Za-z0-9+#.-]{0,19})(?!\S*[^\s;])"
)
_FIGURE_LANGUAGE = re.compile(r"highlight\s+(?P<name>\S+)")  # of Hexo
_LANGUAGE_ATTRIBUTES = ("data-lang", "data-language")
_LANGUAGE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9+#.-]{0,19}")
_NO_LANGUAGES = frozenset(["default", "none", "plain", "plaintext", "text", "txt", "undefined", "unknown"])
_ELEMENTS_ABOVE_LISTING = 2  # not counting the listing and a table with line numbers
_MAX_LISTING_STEPS = 32  # maximum number of elements around the first line
_LISTING_TAGS = frozenset(["td", "tr", "tbody", "table", "pre", "code"])


class Place(NamedTuple):
    """A quotation, a list item, a note or a reader's comment."""

    element: int
    """Number of its element. Below -1 for an item without an element."""
    kind: str
    """``quote``, ``item``, ``note`` or ``comment``."""
    list: int = -1
    """Number of the list element."""
    number: int | None = None
    """Item number in a numbered list."""
    mark: str = ""
    """Label of a note, type of a box (``WARNING``), state of a task (``x`` or a space), or author of a comment."""
    date: str = ""
    """Date of a comment."""

    @property
    def is_item(self) -> bool:
        """Whether this is a list item."""
        return self.kind == "item"


Places = tuple[Place, ...]


class Look(NamedTuple):
    """How a stretch of text is written."""

    styles: frozenset[str] = frozenset()
    href: str = ""
    link: int = -1
    """Number of the link element."""
    note: str = ""
    """Label of the note that the text refers to."""
    image: Image | None = None
    """An image inside the text, which has its ``alt`` text."""


PLAIN = Look()
"""Text without styles and links."""


class Run(NamedTuple):
    """A stretch of text with one look. Its line breaks are those of the page."""

    text: str
    look: Look


_run: Callable[[Iterable[Any]], Run] = partial(tuple.__new__, Run)  # faster than calling the class

_PlacesAround = tuple[tuple[int, ...], Places | None]
"""The elements of places around an element, and the places themselves, unless an item is among them."""
_NO_PLACES: _PlacesAround = (), ()


class _Around(NamedTuple):
    """The surroundings of an element."""

    element: int
    """The innermost element that changes how text is written, or -1."""
    outer: _Around | None
    """The surroundings of that element."""
    look: Look
    """The styles and the innermost link."""
    reference: int
    """The element of the reference to a note, or -1."""
    is_hidden: bool


_NOTHING = _Around(-1, None, PLAIN, -1, False)


@dataclass(frozen=True)
class Structure:
    """A cleaned page with its parts in order."""

    page: CleanPage
    """The page, with a label for every block that is written."""
    notes: Notes
    images: Mapping[int, Image]
    """The images of the content by their elements."""
    parts: Iterable[Part]

    @classmethod
    def of(cls, page: CleanPage) -> Structure:
        """Build the structure of a page, with its notes and images.

        Unless a person labelled the page, notes are added to kept references, and captions to kept images. The parts of
        large pages are created one after another.
        """
        document = page.document
        without = page.without
        notes = find_notes(document, page.labels, complete=page.by_method) if "notes" not in without else NO_NOTES
        images: list[tuple[int, Image]] = []
        captions: dict[int, int] = {}
        if document.has_tag("img") and "images" not in without:
            caption_elements = find_captions(document)
            images = find_images(document, page.image_labels or page.labels, caption_elements)
            captions = captioned(caption_elements, [image.element for _, image in images], document)
        if "links" in without:
            images = [(place, image._replace(link="")) for place, image in images]
        attached = set(notes.blocks)
        if page.by_method and "captions" not in without:
            for caption in captions:
                blocks = range(document.elements.first_block[caption], document.elements.stop_block[caption])
                if sum(len(document.texts[number]) for number in blocks) <= _MAX_CAPTION:
                    attached.update(blocks)
        attached = {number for number in attached if not page.labels[number].is_content}
        if attached:
            labels = (Label.PARAGRAPH if number in attached else label for number, label in enumerate(page.labels))
            page = replace(page, labels=tuple(labels))
        found: Iterable[Part] = parts(page)
        if notes.inline:
            found = _without_inline_notes(found, notes, document.elements)
        if images:
            found = _with_images(found, images, captions, page)
        by_element = {image.element: image for _, image in images}
        return cls(page, notes, by_element, found if document.is_large else tuple(found))

    @cached_property
    def document(self) -> Document:
        """The page's blocks and elements."""
        return self.page.document

    def outline(self, flow: Iterable[Part] | None = None, within: int = -1) -> Iterator[tuple[Part, Places]]:
        """Yield every part with the quotations, list items and notes around it, outermost first.

        `flow` are parts inside the element `within`, such as the contents of a cell.
        """
        open_places: Places = ()
        last_items: dict[int, tuple[int, int]] = {}
        known: dict[int, _PlacesAround] = {-1: _NO_PLACES}
        in_notes = self.notes.blocks
        for part in self.parts if flow is None else flow:
            is_in_note = in_notes and isinstance(part, Segment) and part.blocks[0].index in in_notes
            if is_in_note and isinstance(part, Segment) and not any(run.text.strip() for run in self.runs(part)):
                continue  # this is only the mark of the note
            if len(known) > _MOST_KNOWN:
                known.clear()
                known[-1] = _NO_PLACES
            open_places = self._places(part, within, open_places, last_items, known)
            yield part, open_places

    def _places(
        self,
        part: Part,
        within: int,
        previous: Places,
        last_items: dict[int, tuple[int, int]],
        known: dict[int, _PlacesAround],
    ) -> Places:
        """Return the places of a part.

        A part without an item label belongs to an item only if it continues an open item, such as a listing between two
        steps. In an open numbered list, a table or an inner list also starts an item, so that the numbering continues.
        """
        is_item = part.label is Label.LIST
        elements = self.document.elements
        element = part.blocks[0].element if isinstance(part, Segment) else part.element
        if element in self.notes.inline:
            return (Place(element, "note", mark=self.notes.definitions[element]),)
        if self._has_listings and isinstance(part, Segment) and part.preformatted:  # items inside a listing are lines
            element = elements.ancestor(element, ["pre"])
            is_item = is_item and elements.ancestor(element, ["li"]) >= 0
        around, fixed = known.get(self._place_around[element]) or self._places_around(element, within, known)
        if fixed is not None and not is_item:
            return fixed  # the usual case
        tag, parent = elements.tag, elements.parent
        open_items = {place.element: place for place in previous}
        terms: dict[int, Place] = {}
        if self.document.has_tag("dt"):
            terms = {parent[number]: open_items[number] for number in open_items if number >= 0 and tag[number] == "dt"}
        innermost = -1
        if is_item or part.label is Label.HEADER:
            innermost = next((number for number in reversed(around) if tag[number] in _ITEMS), -1)
        if part.label is Label.HEADER and innermost >= 0 and parent[innermost] not in self._lists_with_headings:
            innermost = -1
        numbered_lists = set()
        if is_item or isinstance(part, Table):
            numbered_lists = {place.list for place in previous if place.number is not None}
        places: list[Place] = []
        for number in around:
            if number in self._fixed_places:
                places.append(self._fixed_places[number])
            elif number in open_items or number == innermost or parent[number] in numbered_lists:
                if tag[number] == "dd" and parent[number] in terms:
                    places.append(terms[parent[number]])
                places.append(open_items.get(number) or self._item(number, last_items))
            elif tag[number] == "dd" and parent[number] in terms:
                places.append(terms[parent[number]])
        if is_item and isinstance(part, Segment) and all(place.kind in {"quote", "comment"} for place in places):
            places.append(Place(-2 - part.blocks[0].index, "item"))
        return tuple(places)

    @cached_property
    def _fixed_places(self) -> dict[int, Place]:
        """Cache of notes, comments and boxes. Items are not cached, because they depend on the parts inside."""
        return {}

    def _fixed_place(self, element: int) -> Place | None:
        """Return the place of a note, a comment or a box."""
        if element in self.notes.definitions:
            return Place(element, "note", mark=self.notes.definitions[element])
        if element in self._comments:
            is_part = self.document.elements.parent[element] in self._comments
            return None if is_part else self._comment(element)
        tag, box = self.document.elements.tag[element], self._boxes.get(element, "")
        is_quote = tag == "blockquote" or (box and tag not in _NO_BOXES)
        return Place(element, "quote", mark=box) if is_quote else None

    @cached_property
    def _around_parts(self) -> list[int]:
        """The elements around the parts of the page."""
        return self.document.around(KeptBlocks(self.page).numbers, self.images)

    @cached_property
    def _boxes(self) -> dict[int, str]:
        return find_boxes(self.document, self._around_parts)

    @cached_property
    def _place_around(self) -> list[int]:
        """The innermost element around each element that may be a place, or -1. The last entry is that of -1."""
        others = [*self._boxes, *self._comments, *self.notes.definitions]
        return [*self.document.elements.innermost(_PLACES, others), -1]

    def _places_around(self, element: int, within: int, known: dict[int, _PlacesAround]) -> _PlacesAround:
        """Return the items, quotations and notes around an element, outermost first. `known` caches results."""
        elements, place_around = self.document.elements, self._place_around
        inner = []
        element = place_around[element]
        while element > within and element not in known:
            inner.append(element)
            element = place_around[elements.parent[element]]
        around, fixed = known.get(element, _NO_PLACES)
        for element in reversed(inner):
            place = self._fixed_place(element)
            if place is not None:
                self._fixed_places[element] = place
            if (place is not None or elements.tag[element] in _ITEMS) and len(around) < _MAX_DEPTH:
                around = (*around, element)
                fixed = None if fixed is None or place is None else (*fixed, place)
            known[element] = around, fixed
        return around, fixed

    def _item(self, element: int, last_items: dict[int, tuple[int, int]]) -> Place:
        """Make a list item. `last_items` has the last item of each numbered list and its number."""
        elements = self.document.elements
        tag, parent, attributes_of = elements.tag, elements.parent, self.document.attributes_of
        list_element = parent[element]
        if list_element < 0 or tag[list_element] != "ol":
            return Place(element, "item", list_element, mark=self._tasks.get(element, ""))
        step = -1 if "reversed" in attributes_of(list_element) else 1
        if list_element in last_items:
            last, number = last_items[list_element]
        else:
            start = attributes_of(list_element).get("start", "").strip()
            first = int(start) if _START.fullmatch(start) else 1
            if step < 0 and not _START.fullmatch(start):
                inside = range(list_element + 1, elements.stop[list_element])
                first = sum(tag[other] == "li" and parent[other] == list_element for other in inside)
            last, number = list_element, first - step
        for other in range(last + 1, element + 1):
            if tag[other] == "li" and parent[other] == list_element:
                value = attributes_of(other).get("value", "").strip()
                number = int(value) if _START.fullmatch(value) else number + step
        last_items[list_element] = element, number
        return Place(element, "item", list_element, number)

    @cached_property
    def _has_listings(self) -> bool:
        return self.document.has_tag("pre")

    @cached_property
    def _comments(self) -> frozenset[int]:
        """The elements that contain a reader's comment, if a part of the page is in one."""
        return self._comments_among(None) if self._comments_among(self._around_parts) else frozenset()

    def _comments_among(self, elements: Iterable[int] | None) -> frozenset[int]:
        document = self.document
        typed = document.mentioning(elements, "itemtype", ["/comment"])
        named = document.elements_named(_COMMENT, ["comment"], elements)
        candidates = [number for number in typed if document.attributes_of(number)["itemtype"].endswith("/Comment")]
        return frozenset(number for number in [*candidates, *named] if document.elements.tag[number] in _COMMENT_TAGS)

    def _comment(self, comment: int) -> Place:
        """Return the place of a reader's comment, with the first author and date in it."""
        elements = self.document.elements
        author, date = -1, ""  # the innermost element that names the author
        for number in range(comment + 1, min(elements.stop[comment], comment + _MAX_COMMENT_HEAD)):
            if number in self._comments:
                break
            attributes = self.document.attributes_of(number)
            names = " ".join(attributes.get(name, "") for name in ("class", "itemprop", "rel"))
            if (author < 0 or number < elements.stop[author]) and _COMMENT_AUTHOR.search(names):
                author = number
            if elements.tag[number] == "time":
                date = date or attributes.get("datetime", "").strip()
        name = ""
        for block in blocks_of(self.document, [author] if author >= 0 else []):
            for piece, text in block.each_piece():
                if author <= piece.element < elements.stop[author] and len(name) < _MAX_AUTHOR:
                    name += f" {text}"
        return Place(comment, "comment", mark=" ".join(name.split()), date=date)

    @cached_property
    def _tasks(self) -> dict[int, str]:
        """The list items with a check box, and whether the box is checked."""
        elements = self.document.elements
        tasks: dict[int, str] = {}
        types = self.document.elements_by("type") if self.document.has_tag("input") else {}
        boxes = sorted(number for name, numbers in types.items() if name.lower() == "checkbox" for number in numbers)
        for number in boxes:
            if elements.tag[number] == "input":
                item = elements.ancestor(number, ["li"])
                if item >= 0 and number - item <= 3:
                    tasks.setdefault(item, "x" if "checked" in self.document.attributes_of(number) else " ")
        return tasks

    @cached_property
    def _lists_with_headings(self) -> set[int]:
        """The lists in which at least two items contain a heading and other text."""
        elements = self.document.elements
        with_heading: set[int] = set()
        with_text: set[int] = set()
        item_around = elements.innermost(["li"])
        for element, label in zip(self.document.block_elements, self.page.labels, strict=True):
            if label is not Label.OTHER and element >= 0 and item_around[element] >= 0:
                (with_heading if label is Label.HEADER else with_text).add(item_around[element])
        lists = Counter(elements.parent[item] for item in with_heading & with_text)
        return {number for number, count in lists.items() if count > 1}

    def names_box(self, part: Part) -> bool:
        """Whether a part only names the type of the box around it."""
        if not isinstance(part, Segment) or not names_type(part.text):
            return False
        element, elements = part.blocks[0].element, self.document.elements
        while element >= 0 and not is_title(self.document.attributes_of(element).get("class", "")):
            element = elements.parent[element]
        return element >= 0

    def runs(self, segment: Segment) -> list[Run]:
        """Cut a segment into runs. The mark of a note, such as ``1.``, is removed from its first segment."""
        found = self._runs(segment)
        mark = self._note_marks.get(segment.blocks[0].index) if self.notes.definitions else None
        if mark and found:
            written = re.match(rf"[\[(^]?{re.escape(mark)}(?:[\])]?[.:)]?\s+|[\])][.:]?|[.:)]$)", found[0].text)
            text = found[0].text[written.end() :] if written else found[0].text
            found = [found[0]._replace(text=text), *found[1:]] if text else found[1:]
        return found

    @cached_property
    def _note_marks(self) -> dict[int, str]:
        """The label of each note by the number of its first block."""
        first_block = self.document.elements.first_block
        return {
            first_block[note]: mark for note, mark in self.notes.definitions.items() if note not in self.notes.inline
        }

    def _runs(self, segment: Segment) -> list[Run]:
        first = segment.blocks[0]
        is_one_piece = len(segment.blocks) == 1 == len(first.pieces) and first.pieces[0].element == first.element
        if is_one_piece and first.element not in self.images:
            if self._mark_around[first.element] < 0 or _STYLES.keys().isdisjoint(first.containers):
                return [_run((first.text, PLAIN))]  # most segments, and notes inside a paragraph
            around = self._around(first.element)
            if first.text and around.reference < 0 and not around.is_hidden:
                return [_run((first.text, around.look))]
        found: list[tuple[Look, list[str]]] = []  # looks, each with its pieces of text
        previous_block = None
        previous = _NOTHING
        references: set[int] = set()
        follows_hidden = False
        known, mark_around = self._known, self._mark_around
        for block in segment.blocks:
            space, is_preformatted = "", self._has_listings and block.preformatted
            if previous_block is not None:
                follows = block.index == previous_block.index + 1 and not is_preformatted
                space = "\n" if follows and "br" in block.distance else joint(previous_block, block)
            for (_, element, _), text in block.each_piece():
                around = known.get(mark_around[element]) or self._around(element)
                _, _, look, reference, is_hidden = around
                if is_hidden:
                    follows_hidden = True
                    continue
                if not text and element in self.notes.inline:
                    reference = element
                if reference >= 0:
                    label = self.notes.references[reference]
                    if reference in references:
                        found[-1][1].append(text)
                    else:
                        references.add(reference)
                        found.append((PLAIN._replace(note=label), [text or label]))
                    continue
                if not space and not is_preformatted and text[:1] == " ":
                    space = " "
                if space and found:
                    _add(found, PLAIN if space == "\n" else _shared(previous, around), space)
                previous, space = around, ""
                if element in self.images:
                    found.append((PLAIN._replace(image=self.images[element]), [text]))
                elif is_preformatted:
                    _add(found, look, text)
                else:
                    _add(found, look, text.lstrip(" .:)]^" if follows_hidden and not found else " "))  # of "^ 1. "
            previous_block = block
        runs = [_run(("".join(texts), look)) for look, texts in found]
        return _join_links(runs) if len(runs) > 2 else runs

    @cached_property
    def _mark_around(self) -> list[int]:
        """The innermost element around each element that may change how text is written, or -1. The last one is -1."""
        return [*self.document.elements.innermost(_STYLES, [*self.notes.hidden, *self.notes.references]), -1]

    @cached_property
    def _known(self) -> dict[int, _Around]:
        """Cache of the surroundings of elements in `_mark_around`."""
        return {-1: _NOTHING}

    def _around(self, element: int) -> _Around:
        """Return the surroundings of an element."""
        known, mark_around = self._known, self._mark_around
        mark = mark_around[element]
        if len(known) > _MOST_KNOWN:
            known.clear()
            known[-1] = _NOTHING
        inner = []
        while mark not in known:
            inner.append(mark)
            mark = mark_around[self.document.elements.parent[mark]]
        around = known[mark]
        for mark in reversed(inner):
            around = known[mark] = self._inside(mark, around)
        return around

    def _inside(self, element: int, around: _Around) -> _Around:
        """Return the surroundings of an element, given those of its parent."""
        _, _, look, reference, is_hidden = around
        style = _STYLES.get(self.document.elements.tag[element])
        if style == "link":
            look = self._linked(look, element)
        elif style and style not in look.styles and "formatting" not in self.page.without:
            look = Look(look.styles | {style}, look.href, look.link)
        if reference < 0 and element in self.notes.references and element not in self.notes.inline:
            reference = element
        is_hidden = is_hidden or element in self.notes.hidden
        is_same = look is around.look and (reference, is_hidden) == around[3:]
        return around if is_same else _Around(element, around, look, reference, is_hidden)

    def _linked(self, look: Look, element: int) -> Look:
        """Return the look of text inside a link.

        Links to authors in a byline, and from a heading to itself, do not belong to the text.
        """
        elements = self.document.elements
        href = self.document.attributes_of(element).get("href")
        if href is None or (href.startswith("#") and elements.ancestor(element, HEADINGS) >= 0):
            return look
        if element in self._bylines or elements.parent[element] in self._bylines:
            return look
        address = "" if "links" in self.page.without else safe_link(href, self._base_url)
        return Look(look.styles, address, element if address else -1)

    @cached_property
    def _base_url(self) -> str:
        return self.document.base_url

    @cached_property
    def _bylines(self) -> frozenset[int]:
        """The elements that are named after the author of a text."""
        document = self.document
        return frozenset(
            number
            for attribute in ("rel", "class", "itemprop")
            for number in document.mentioning(self._around_parts, attribute, ["author", "byline", "by-line"])
            if _BYLINE.search(document.attributes_of(number)[attribute])
        )

    def code_language(self, segment: Segment) -> str:
        """Return the language of a listing if an attribute on or near it names one, or else an empty string."""
        elements = self.document.elements
        element = segment.blocks[0].element
        levels_above = -1
        for _ in range(_MAX_LISTING_STEPS):
            if element <= 0 or levels_above >= _ELEMENTS_ABOVE_LISTING:
                break  # at the root, it is the language of the page
            attributes = self.document.attributes_of(element)
            language = _LANGUAGE.search(attributes.get("class", ""))
            if elements.tag[element] == "figure":
                language = language or _FIGURE_LANGUAGE.fullmatch(attributes.get("class", ""))
            name = language["name"] if language else next(filter(None, map(attributes.get, _LANGUAGE_ATTRIBUTES)), "")
            if name and _LANGUAGE_NAME.fullmatch(name):
                return "" if name.lower() in _NO_LANGUAGES else name
            tag = elements.tag[element]
            if levels_above < 0:
                levels_above += tag == "pre"
            elif tag not in _LISTING_TAGS:
                levels_above += 1
            element = elements.parent[element]
        return ""


def count_shared(previous: Places, places: Places) -> int:
    """Count the outermost places that two parts have in common."""
    if previous is places:
        return len(places)
    shared = 0
    for old, new in zip(previous, places, strict=False):
        if old != new:
            break
        shared += 1
    return shared


def _add(found: list[tuple[Look, list[str]]], look: Look, text: str) -> None:
    """Add a piece of text to the last run if their looks are the same, or else as a new run."""
    if found and (found[-1][0] is look or found[-1][0] == look):
        found[-1][1].append(text)
    elif text:
        found.append((look, [text]))


def _shared(first: _Around, second: _Around) -> Look:
    """Return the styles and the link that two texts share. A space between them gets these."""
    while first.element != second.element:
        if first.element < second.element:
            first, second = second, first
        first = first.outer or _NOTHING
    return first.look


def _join_links(found: list[Run]) -> list[Run]:
    """Join neighbouring links to the same address."""
    for number in range(2, len(found)):
        first, second = found[number - 2].look, found[number].look
        is_same = second.href and first.href == second.href and first.link != second.link
        if is_same and found[number - 1].text.isspace():
            space = found[number - 1]
            found[number - 1] = Run(space.text, space.look._replace(href=first.href, link=first.link))
            found[number] = Run(found[number].text, second._replace(link=first.link))
    return found


def _without_inline_notes(found: Iterable[Part], notes: Notes, elements: Elements) -> Iterator[Part]:
    """Move notes out of segments to the position after the segment. An empty piece refers to each note.

    If a segment begins with a note, the previous segment gets the reference.
    """
    previous: list[Part] = []  # a segment and its notes
    for part in found:
        if not isinstance(part, Segment):
            yield from previous
            previous = [part]
            continue
        blocks: list[Block] = []
        taken: dict[int, Block] = {}
        for block in part.blocks:
            text, kept = "", []
            for piece, piece_text in block.each_piece():
                note = piece.element
                while note >= 0 and note not in notes.inline:
                    note = elements.parent[note]
                if note < 0:
                    kept.append(piece._replace(start=len(text)))
                    text += piece_text
                elif note in taken:
                    taken[note] = _extended(taken[note], piece, piece_text)
                else:
                    before = previous[-1] if previous else None
                    if text or blocks or not isinstance(before, Segment):
                        kept.append(Piece(len(text), note, ()))
                    else:
                        last = before.blocks[-1]
                        reference = last._replace(pieces=(*last.pieces, Piece(len(last.text), note, ())))
                        previous[-1] = before._replace(blocks=(*before.blocks[:-1], reference))
                    taken[note] = _extended(block._replace(text="", element=note, pieces=()), piece, piece_text)
            blocks.append(block._replace(text=text, pieces=tuple(kept)))
        yield from previous
        previous = [Segment(part.label, tuple(blocks))] if any(block.pieces for block in blocks) else []
        previous += [Segment(Label.PARAGRAPH, (note_block,)) for note_block in taken.values()]
    yield from previous


def _extended(block: Block, piece: Piece, text: str) -> Block:
    return block._replace(text=block.text + text, pieces=(*block.pieces, piece._replace(start=len(block.text))))


def _with_images(
    found: Iterable[Part], images: Sequence[tuple[int, Image]], captions: dict[int, int], page: CleanPage
) -> Iterator[Part]:
    """Insert images with their captions between the other parts.

    An image replaces a paragraph that contains only its ``alt`` text. If the paragraph contains other text, the image
    is put inside it. Data tables contain only images with an ``alt`` text.
    """
    elements, other = page.document.elements, Label.OTHER
    is_kept = [label is not other for label in page.labels]
    with_text = {at.element for place, at in images if any(is_kept[place : elements.stop_block[at.element]])}
    inside: set[int] = set()
    waiting = deque(images)
    tables: set[int] = set()
    last: Image | None = None  # an image that may get a caption
    for part in found:
        if not waiting and not last and not with_text:
            yield part
            continue
        if isinstance(part, Table):
            tables.add(part.element)
        blocks = part.blocks if isinstance(part, Segment) else [*_blocks(part)]
        block = blocks[0] if blocks else None
        is_replaced = isinstance(part, Segment) and len(blocks) == 1 and blocks[0].element in with_text
        if waiting and with_text and not is_replaced:
            inside.update(piece.element for block in blocks for piece in block.pieces)
        while waiting and block and waiting[0][0] <= block.index:
            image = waiting.popleft()[1]
            if image.element not in inside and elements.ancestor(image.element, ["table"]) not in tables:
                if last:
                    yield last
                last = image
        if isinstance(part, Segment) and block:
            if is_replaced:
                continue
            caption = block.element if last and captions else -1
            while caption >= 0 and caption not in captions:
                caption = elements.parent[caption]
            if last and captions.get(caption) == last.element:
                last = last._replace(caption=(*last.caption, part._replace(label=Label.PARAGRAPH)))
                continue
        if last:
            yield last
            last = None
        yield part
    if last:
        yield last
    for _, image in waiting:
        if image.element not in inside and elements.ancestor(image.element, ["table"]) not in tables:
            yield image


def _blocks(part: Part) -> Iterator[Block]:
    if isinstance(part, Segment):
        yield from part.blocks
    elif isinstance(part, Table):
        yield from (block for row in part.rows for cell in row for segment in cell.segments for block in segment.blocks)
