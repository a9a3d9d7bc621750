"""The data that flows: a page as blocks of text, and the labels beside them.

Everything here is plain and immutable, pickles, and imports nothing of the package.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple


class Label(StrEnum):
    """What a block is: three kinds of segment, the rest of a segment, or noise."""

    HEADER = "header"
    PARAGRAPH = "paragraph"
    LIST = "list"
    CONTINUATION = "continuation"
    OTHER = "other"

    @property
    def is_content(self) -> bool:
        """Whether a block with this label is kept."""
        return self is not Label.OTHER


class Piece(NamedTuple):
    """A stretch of a block's text that lies directly in one element."""

    start: int
    """Where in the block's text the piece begins."""
    element: int
    """The number of the element that holds it."""
    distance: tuple[str, ...]
    """The tags seen since the piece before."""


class Block(NamedTuple):
    """A stretch of text between two cuts, and where it stands in the page."""

    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody asks of a block
    text: str
    element: int
    """The number of the innermost element that holds the whole block."""
    containers: tuple[str, ...]
    """The tags around the block, from outermost to innermost."""
    distance: tuple[str, ...]
    """The tags seen since the block before: ``"p"`` an opening one, ``"/p"`` a closing one."""
    spaced: bool
    """Whether white space or a break stands between this block's text and the text before."""
    hidden: bool
    """Whether an element around the block is hidden by ``hidden``, ``aria-hidden`` or ``display:none``."""
    pieces: tuple[Piece, ...]

    @property
    def preformatted(self) -> bool:
        """Whether the block is a line of a ``<pre>``, whose white space counts."""
        return "pre" in self.containers


@dataclass(frozen=True, slots=True)
class Elements:
    """The page's elements in document order, one list for each property; element number e is row e."""

    tag: list[str] = field(default_factory=list)
    parent: list[int] = field(default_factory=list)
    """The number of the parent element, -1 for the root."""
    attributes: list[dict[str, str]] = field(default_factory=list)
    stop: list[int] = field(default_factory=list)
    """One more than the number of the last element inside."""
    first_block: list[int] = field(default_factory=list)
    """How many blocks had begun when the element opened ..."""
    stop_block: list[int] = field(default_factory=list)
    """... and when it closed. A block may straddle either end; `Block.element` decides who holds it."""

    def __len__(self) -> int:
        return len(self.tag)


@dataclass(frozen=True, slots=True)
class Document:
    """A page, split into blocks."""

    blocks: tuple[Block, ...]
    elements: Elements
    url: str = ""
    title: str = ""
    source: str = ""
    """Where the page was read from, a file's name say."""
    encoding: str = ""
    losses: tuple[str, ...] = ()
    """What was lost or guessed on the way from bytes to blocks, in words; empty when nothing was."""
    trailing: tuple[str, ...] = ()
    """The tags after the last block."""
    split: str = "every"
    """How the page was cut: ``every`` tag, or ``block``-level tags only."""

    def paths(self) -> list[str]:
        """Where each block stands, as an XPath of the pruned page: ``/html/body/div[2]/p[1]``."""
        steps = _steps(self.elements)
        known: dict[int, str] = {-1: ""}
        return [_path(block.element, steps, self.elements.parent, known) for block in self.blocks]


def _steps(elements: Elements) -> list[str]:
    """Give each element's own step of a path, counted among siblings of the same tag."""
    seen: dict[tuple[int, str], int] = {}
    steps = []
    for tag, parent in zip(elements.tag, elements.parent, strict=True):
        number = seen[parent, tag] = seen.get((parent, tag), 0) + 1
        steps.append(f"/{tag}[{number}]")
    return steps


def _path(element: int, steps: list[str], parents: list[int], known: dict[int, str]) -> str:
    missing = []
    while element not in known:
        missing.append(element)
        element = parents[element]
    path = known[element]
    for inner in reversed(missing):
        path = known[inner] = path + steps[inner]
    return path


@dataclass(frozen=True, slots=True)
class Labelling:
    """A labeller's answer for one page: a label for each block and how sure it is."""

    labels: tuple[Label, ...]
    probabilities: tuple[float, ...] = ()
    """How probable each block's label is; empty where the labeller does not know."""
    content: tuple[float, ...] = ()
    """How probable it is that each block is content of any kind; empty where not known."""
    confidence: float | None = None
    """The word F1 that may be expected of what is kept; None where not known."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a page says of itself; a field is empty where it says nothing that can be believed."""

    title: str = ""
    """The title of what stands on the page, without the site's name."""
    author: str = ""
    """Who wrote it; several are joined by ``"; "``."""
    date: str = ""
    """The day of publication, as ``2024-05-17``."""
    site_name: str = ""
    description: str = ""
    language: str = ""
    """The language that the page claims to be in, as ``en`` or ``pt-BR``."""
    url: str = ""
    """The address that the page gives itself, else the one it was read from."""
    image: str = ""
    """The address of the picture that stands for the page."""
    kind: str = ""
    """What the page says it is, in schema.org's or OpenGraph's words: ``NewsArticle``, ``product``."""
    keywords: tuple[str, ...] = ()
    sources: dict[str, str] = field(default_factory=dict)
    """Where in the page each field that is not empty was found: ``{"author": "json-ld"}``."""


@dataclass(frozen=True, slots=True)
class CleanPage:
    """A page with its labels: what every output is made from."""

    document: Document
    labels: tuple[Label, ...]
    probabilities: tuple[float, ...] = ()
    content: tuple[float, ...] = ()
    confidence: float | None = None
    """The word F1 that may be expected of the cleaned text; None where not known."""
    features: tuple[dict[str, Any], ...] = ()
    """The features of each block by name, where they were asked for."""
    metadata: Metadata | None = None
    """What the page says of itself, where that was asked for."""
    by_method: bool = field(default=False, compare=False)
    """Whether a method gave the labels, so that they are not taken for a person's."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing of the page is content."""
        return not any(label.is_content for label in self.labels)
