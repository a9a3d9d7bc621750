"""The data types of a page: its blocks of text, its elements and its labels.

Everything here is plain, immutable and picklable, and imports nothing from the package.
"""

from __future__ import annotations

import re
import string
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import accumulate, chain
from typing import Any, ClassVar, NamedTuple, Protocol, Self
from urllib.parse import urljoin

_LONGEST_NAME = 80
HEADINGS = frozenset(["h1", "h2", "h3", "h4", "h5", "h6"])

_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)

STRIDE = 4_000
"""Number of blocks that are created at a time. Creating all blocks of a large page would take most of its memory."""

STRIDE_CHARACTERS = 200_000
"""Number of characters of their texts. Every piece of a block is an object too."""

MOST_PATHS = 10_000_000
"""Maximum number of characters of all paths of a page together.

Only pages with thousands of deeply nested blocks reach it.
"""

Spans = tuple[tuple[int, int], ...]
"""The kept parts of a block's text in order, each as a start and a stop offset."""


class Label(StrEnum):
    """Label of a block: three kinds of segment, the continuation of a segment, or noise.

    >>> Label("list").is_content, Label.OTHER.is_content
    (True, False)
    """

    HEADER = "header"
    PARAGRAPH = "paragraph"
    LIST = "list"
    CONTINUATION = "continuation"
    OTHER = "other"

    @property
    def is_content(self) -> bool:
        """Whether blocks with this label are kept."""
        return self is not Label.OTHER


class Role(StrEnum):
    """Role of a block on its page. In contrast to a label, a role says what a block is, not whether it is kept.

    >>> Role("byline"), len(Role)
    (<Role.BYLINE: 'byline'>, 15)
    """

    HEADLINE = "headline"
    SUBTITLE = "subtitle"
    """A line or lead below the headline."""
    BYLINE = "byline"
    """Author, date and place of an article."""
    BODY = "body"
    """The text itself, with its section headings and lists. The posts of a thread are body, not comments."""
    CAPTION = "caption"
    """Caption or credit of a picture or table."""
    TABLE = "table"
    """A cell of a data table."""
    CODE = "code"
    FACTS = "facts"
    """A name and its value: specifications, addresses, opening hours, ratings."""
    NOTE = "note"
    """Footnote, endnote or reference."""
    COMMENT = "comment"
    """A reader's comment below the text, with its author and date."""
    RELATED = "related"
    """Link or teaser that leads to another page."""
    TAGS = "tags"
    """Keywords and categories of the page."""
    NAVIGATION = "navigation"
    """Menus, breadcrumbs, page numbers, buttons and forms."""
    LEGAL = "legal"
    """Copyright, terms, privacy and cookie notices."""
    OTHER = "other"
    """Everything else, such as advertisements and newsletter boxes."""


class Piece(NamedTuple):
    """A part of a block's text that is directly inside one element.

    >>> from victorpy import load_config, read_document
    >>> document = read_document("<p>Tea is <b>hot</b>.", load_config("blocks"))
    >>> [(piece.start, document.elements.tag[piece.element]) for piece in document.blocks[0].pieces]
    [(0, 'p'), (6, 'b'), (10, 'p')]
    """

    start: int
    """Offset of the piece in the block's text."""
    element: int
    """Number of the element that contains it."""
    distance: tuple[str, ...]
    """The tags since the previous piece."""


class Block(NamedTuple):
    """The text between two cuts of a page, and its position in the page.

    >>> from victorpy import load_config, read_document
    >>> block = read_document("<h1>Tea</h1><p>Tea is <b>hot</b>.", load_config("blocks")).blocks[1]
    >>> block.index, block.text, block.containers, block.distance
    (1, 'Tea is hot.', ('html', 'body', 'p'), ('/h1', 'p'))
    """

    index: int  # type: ignore[assignment]  # hides tuple.index, which is of no use here
    text: str
    element: int
    """Number of the innermost element that contains the whole block."""
    containers: tuple[str, ...]
    """The tags around the block, from outermost to innermost."""
    distance: tuple[str, ...]
    """The tags since the previous block: ``"p"`` opens, ``"/p"`` closes."""
    spaced: bool
    """Whether white space or a break separates this block from the previous text."""
    hidden: bool
    """Whether an element around the block is hidden by ``hidden``, ``aria-hidden`` or ``display:none``."""
    pieces: tuple[Piece, ...]

    @property
    def preformatted(self) -> bool:
        """Whether the block is a line of a ``<pre>``, where white space matters."""
        return "pre" in self.containers

    def each_piece(self) -> Iterator[tuple[Piece, str]]:
        """Return the pieces in order, each with its text."""
        text, starts = self.text, [piece.start for piece in self.pieces]
        texts = [text[start:stop] for start, stop in zip(starts, [*starts[1:], len(text)], strict=True)]
        return zip(self.pieces, texts, strict=True)

    def keeping(self, spans: Spans) -> Block:
        """Return a copy of the block with only some spans of its text.

        Dropped text becomes a space if it contains white space.

        >>> from victorpy import load_config, read_document
        >>> block = read_document("<p>Log in. Tea is <b>hot</b>. Bye.", load_config("blocks")).blocks[0]
        >>> block.keeping(((8, 19),)).text, block.keeping(((0, 7), (20, 24))).text
        ('Tea is hot.', 'Log in. Bye.')
        """
        text, pieces = "", []
        own_pieces = [*self.each_piece()]
        previous_stop = 0
        for start, stop in spans:
            gap = " " if text and any(map(str.isspace, self.text[previous_stop:start])) else ""
            for piece, piece_text in own_pieces:
                kept = self.text[max(piece.start, start) : min(piece.start + len(piece_text), stop)]
                if kept:
                    pieces.append(piece._replace(start=len(text)))
                    text += gap + kept
                    gap = ""
            previous_stop = stop
        return self._replace(text=text, pieces=tuple(pieces))


class PageArrays(Protocol):
    """Arrays of a page that was split by the native core. Objects are created from them on demand."""

    texts: list[str]
    block_elements: list[int]

    def create(self, field: str) -> Any: ...
    def blocks(self, numbers: Sequence[int] | None = None) -> tuple[Block, ...]: ...
    def attributes_of(self, element: int) -> dict[str, str]: ...
    def has_tag(self, tag: str) -> bool: ...
    def ancestor(self, element: int, tags: Iterable[str]) -> int: ...
    def innermost(self, tags: Collection[str], others: Collection[int]) -> list[int]: ...
    def mentioning(self, elements: Iterable[int] | None, attribute: str, words: Collection[str]) -> list[int]: ...
    def elements_by(self, attribute: str) -> dict[str, list[int]]: ...
    def around(self, blocks: Sequence[int], elements: Iterable[int]) -> list[int]: ...
    def section(self, first: int, stop: int) -> PageArrays: ...


class OnDemand:
    """A dataclass whose fields are created on first use from the arrays of the native core, if there are any."""

    __dataclass_fields__: ClassVar[dict[str, Any]]
    arrays: ClassVar[PageArrays | None] = None
    """The arrays of the native core, if it split the page."""

    @classmethod
    def from_arrays(cls, arrays: PageArrays, **values: Any) -> Self:
        """Return an object with these arrays, and with the given values for other fields."""
        made = cls.__new__(cls)
        made.__dict__.update(values, arrays=arrays)
        return made

    def __getattr__(self, name: str) -> Any:
        if self.arrays is None or name not in self.__dataclass_fields__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        value = self.__dict__[name] = self.arrays.create(name)
        return value

    def __getstate__(self) -> dict[str, Any]:
        """Return all fields for pickling. Creates fields that were not used yet."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True, repr=False)
class Elements(OnDemand):
    """The page's elements in document order, with one list per property.

    >>> from victorpy import load_config, read_document
    >>> elements = read_document("<ul><li><b>Tea</b>", load_config("blocks")).elements
    >>> elements
    <Elements, count=5>
    >>> elements.tag, elements.parent
    (['html', 'body', 'ul', 'li', 'b'], [-1, 0, 1, 2, 3])
    >>> elements.ancestor(4, ["ul", "ol"])
    2
    """

    tag: list[str] = field(default_factory=list)
    parent: list[int] = field(default_factory=list)
    """Number of the parent element, -1 for the root."""
    attributes: list[dict[str, str]] = field(default_factory=list)
    stop: list[int] = field(default_factory=list)
    """One more than the number of the last descendant."""
    first_block: list[int] = field(default_factory=list)
    """Number of blocks that had started when the element opened."""
    stop_block: list[int] = field(default_factory=list)
    """Number of blocks that had started when the element closed.

    A block may begin before the element or end after it; see `Block.element`.
    """

    def __len__(self) -> int:
        return len(self.tag)

    def __repr__(self) -> str:
        return f"<Elements, count={len(self)}>"

    def ancestor(self, element: int, tags: Collection[str]) -> int:
        """Return the innermost element with one of the tags, starting with `element` itself, or -1."""
        if self.arrays is not None:
            return self.arrays.ancestor(element, tags)
        while element >= 0 and self.tag[element] not in tags:
            element = self.parent[element]
        return element

    def with_tag(self, tag: str) -> list[int]:
        """Return the elements with a tag, in order."""
        found = [-1]
        for _ in range(self.tag.count(tag)):
            found.append(self.tag.index(tag, found[-1] + 1))
        return found[1:]

    def innermost(self, tags: Collection[str], others: Collection[int] = ()) -> list[int]:
        """Return, for each element, the innermost element around it with one of the tags or among `others`, or -1.

        An element is around itself.
        """
        if self.arrays is not None:
            return self.arrays.innermost(tags, others)
        found: list[int] = []
        for element, (tag, parent) in enumerate(zip(self.tag, self.parent, strict=True)):
            is_one = tag in tags or element in others
            found.append(element if is_one else found[parent] if parent >= 0 else -1)
        return found


@dataclass(frozen=True, repr=False)
class Document(OnDemand):
    """A page, split into blocks.

    >>> from victorpy import load_config, read_document
    >>> document = read_document("<h1>Tea</h1><p>Tea is a drink.</p>", load_config("blocks"), url="https://tea.example/")
    >>> document
    <Document 'https://tea.example/', blocks=2>
    >>> [block.text for block in document.blocks]
    ['Tea', 'Tea is a drink.']
    >>> document.paths()
    ['/html[1]/body[1]/h1[1]', '/html[1]/body[1]/p[1]']
    """

    blocks: tuple[Block, ...]
    elements: Elements
    url: str = ""
    title: str = ""
    source: str = ""
    """Where the page was read from, such as a file name."""
    encoding: str = ""
    losses: tuple[str, ...] = ()
    """Descriptions of everything that was lost or guessed while the page was decoded, parsed and split."""
    trailing: tuple[str, ...] = ()
    """The tags after the last block."""
    base: str = field(default="", compare=False)
    """Address of the page's ``<base>`` element, if it has one."""
    split: str = "every"
    """How the page was cut: ``every`` tag, or ``block``-level tags only."""

    def __repr__(self) -> str:
        return f"<Document {self.name!r}, blocks={len(self.texts)}>"

    def has_tag(self, tag: str) -> bool:
        """Whether the page has an element with this tag."""
        return self.arrays.has_tag(tag) if self.arrays is not None else tag in self.elements.tag

    def attributes_of(self, element: int) -> dict[str, str]:
        """Return the attributes of an element. Faster than `elements.attributes`, which loads all elements."""
        if element < 0:
            return {}
        return self.elements.attributes[element] if self.arrays is None else self.arrays.attributes_of(element)

    def mentioning(self, elements: Iterable[int] | None, attribute: str, words: Collection[str]) -> list[int]:
        """Return those of some elements, or of all, whose attribute contains one of the words.

        The words must be in lower case. An element that is given several times is returned once.
        """
        if self.arrays is not None:
            return self.arrays.mentioning(elements, attribute, words)
        elements = range(len(self.elements)) if elements is None else elements
        values = {element: self.attributes_of(element).get(attribute, "").translate(_LOWER) for element in elements}
        return [element for element, value in values.items() if any(word in value for word in words)]

    def elements_by(self, attribute: str) -> dict[str, list[int]]:
        """Return the elements with each value of an attribute, in order."""
        if self.arrays is not None:
            return self.arrays.elements_by(attribute)
        found: dict[str, list[int]] = {}
        for number, attributes in enumerate(self.elements.attributes):
            if attribute in attributes:
                found.setdefault(attributes[attribute], []).append(number)
        return found

    def around(self, blocks: Sequence[int], elements: Iterable[int] = ()) -> list[int]:
        """Return the elements around the texts of some blocks, and some elements with those around them, in order."""
        if self.arrays is not None:
            return self.arrays.around(blocks, elements)
        found: set[int] = set()
        pieces = (piece.element for number in blocks for piece in self.blocks[number].pieces)
        for innermost in chain(pieces, elements):
            element = innermost
            while element >= 0 and element not in found:
                found.add(element)
                element = self.elements.parent[element]
        return sorted(found)

    def elements_named(
        self, pattern: re.Pattern[str], hints: Collection[str], among: Iterable[int] | None = None
    ) -> list[int]:
        """Return those of some elements, or of all, whose class matches a pattern, in order.

        Every match must contain one of the words in `hints`, which are searched first and are in lower case.
        """
        candidates = self.mentioning(among, "class", hints)
        return [number for number in candidates if pattern.search(self.attributes_of(number)["class"])]

    def each_block(self) -> Iterator[Block]:
        """Yield the blocks in order. Takes less memory than `blocks`, which creates all of them and keeps them."""
        if self.arrays is None or "blocks" in self.__dict__:
            yield from self.blocks
            return
        for numbers in self.stretches(range(len(self.texts))):
            yield from self.select(numbers)

    def stretches(self, numbers: Sequence[int]) -> Iterator[Sequence[int]]:
        """Divide numbers of blocks into stretches of blocks that are created at a time."""
        texts = self.texts
        first = length = 0
        for place, number in enumerate(numbers):
            length += len(texts[number])
            if place - first == STRIDE or length > STRIDE_CHARACTERS:
                if place > first:
                    yield numbers[first:place]
                first, length = place, len(texts[number])
        if first < len(numbers):
            yield numbers[first:]

    @property
    def is_large(self) -> bool:
        """Whether the blocks should not all be created at a time."""
        return len(self.texts) > STRIDE or sum(map(len, self.texts)) > STRIDE_CHARACTERS

    def select(self, numbers: Sequence[int]) -> tuple[Block, ...]:
        """Return the blocks with the given numbers."""
        if self.arrays is not None:
            return self.arrays.blocks(numbers)
        return tuple([self.blocks[number] for number in numbers])

    @property
    def texts(self) -> list[str]:
        """The text of each block."""
        return self.arrays.texts if self.arrays is not None else [block.text for block in self.blocks]

    @property
    def block_elements(self) -> list[int]:
        """The element of each block. Takes less time than creating the blocks."""
        return self.arrays.block_elements if self.arrays is not None else [block.element for block in self.blocks]

    @property
    def base_url(self) -> str:
        """The address that the page's links are relative to."""
        if not self.base:
            return self.url
        try:
            return urljoin(self.url, self.base)
        except ValueError:
            return self.url

    @property
    def name(self) -> str:
        """The page's address, or else its file, or else its title. Long names are shortened."""
        name = self.url or self.source or self.title
        return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"

    def paths(self) -> list[str]:
        """Return the XPath of each block in the pruned page: ``/html[1]/body[1]/div[2]/p[1]``.

        After `MOST_PATHS` characters of the elements' paths, or of the blocks' paths, further paths are empty.
        """
        return paths_and_loss(self)[0]


def paths_and_loss(document: Document) -> tuple[list[str], str]:
    """Return the paths of the blocks, and a description of their loss if there are too many characters."""
    siblings: dict[tuple[int, str], int] = {}
    paths: list[str] = []
    length = 0
    for tag, parent in zip(document.elements.tag, document.elements.parent, strict=True):
        number = siblings[parent, tag] = siblings.get((parent, tag), 0) + 1
        parent_path = paths[parent] if parent >= 0 else ""
        path = f"{parent_path}/{tag}[{number}]" if length < MOST_PATHS else ""
        length += len(path)
        paths.append(path)
    of_blocks = [paths[element] if element >= 0 else "" for element in document.block_elements]
    lengths = [*accumulate(map(len, of_blocks))]
    if max([length, *lengths[-1:]]) < MOST_PATHS:
        return of_blocks, ""
    written = [path if length <= MOST_PATHS else "" for path, length in zip(of_blocks, lengths, strict=True)]
    return written, f"paths after the first {MOST_PATHS:,} characters of them are empty"


@dataclass(frozen=True, slots=True)
class Labelling:
    """A labeller's result for one page: a label for each block, and probabilities.

    >>> Labelling((Label.HEADER, Label.OTHER), probabilities=(0.9, 0.8)).confidence is None
    True
    """

    labels: tuple[Label, ...]
    probabilities: tuple[float, ...] = ()
    """Probability of each block's label. Empty if the labeller gives none."""
    content: tuple[float, ...] = ()
    """Probability that each block is content of any kind. Empty if unknown."""
    confidence: float | None = None
    """Expected word F1 of the kept text. None if unknown."""
    spans: tuple[Spans | None, ...] = ()
    """The kept spans of each block that is kept in part, and None for other blocks. Empty if there are none.
    """
    warnings: tuple[str, ...] = ()
    """Reasons to doubt the labels, which are reported with the losses of the page."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """Metadata of a page. Fields without a trustworthy value are empty.

    >>> from victorpy import Cleaner
    >>> html = '<html lang="en"><title>Tea | Tea shop</title><meta name="author" content="Ann Lee"><p>Tea is hot.'
    >>> metadata = Cleaner.load().document(html, metadata=True).metadata
    >>> metadata.author, metadata.language, metadata.date
    ('Ann Lee', 'en', '')
    """

    title: str = ""
    """Title of the page without the site's name."""
    author: str = ""
    """Author. Several authors are joined by ``"; "``."""
    date: str = ""
    """Date of publication, as ``2024-05-17``."""
    site_name: str = ""
    description: str = ""
    language: str = ""
    """Declared language, as ``en`` or ``pt-BR``."""
    url: str = ""
    """Address that the page declares, or else the address that it was read from."""
    image: str = ""
    """Address of the picture that represents the page."""
    kind: str = ""
    """Declared type, in the terms of schema.org or OpenGraph: ``NewsArticle``, ``product``."""
    keywords: tuple[str, ...] = ()
    sources: dict[str, str] = field(default_factory=dict)
    """Where each field was found: ``{"author": "json-ld"}``."""
    losses: tuple[str, ...] = ()
    """Metadata that was ignored because the page contains too much of it."""
