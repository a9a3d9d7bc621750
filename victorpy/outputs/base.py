"""Cleaned pages, the registry of output formats, and the segments that most formats write."""

from __future__ import annotations

import inspect
import json
import re
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import quote, urljoin

from victorpy.base.parameters import parse_settings, split_names
from victorpy.base.registry import Registry
from victorpy.document import HEADINGS, STRIDE, Block, Document, Label, Labelling, Metadata, Role, Spans
from victorpy.errors import ConfigError

if TYPE_CHECKING:
    from victorpy.outputs.layout import Layout

# Elements that some highlighters put around each line of code.
_LINES = frozenset(["div", "li", "p", "tr"])
# Matches classes of links from a heading to itself or to an editor, and from a note back to the text.
_PERMALINK = re.compile(r"(?<!\S)(?:headerlink|hash-link|head(?:er|ing)-?anchor|anchor(?:js)?-link|permalink)\b")
_BACK_SIGNS = ("↩", "↩\ufe0e", "↩\ufe0f", "⤴", "↑", "^")
LINK_SIGNS = ("¶", "#", "§", "🔗", *_BACK_SIGNS)
_EDIT_LINK = re.compile(r"(?<!\S)mw-editsection(?!\S)")

MAGIC = "%victor-anno 1"
"""First line of an annotation file."""

_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*):")
# Match addresses that `urljoin` does not change, or to which it only adds the start of another address.
_CHARS = r"\w%!$&'()*+,:=@~\-"
_REST = rf"(?:\?[{_CHARS}./?;]+)?(?:#[{_CHARS}./?;]+)?"
_SEGMENT = rf"[{_CHARS}][{_CHARS}.]*"
_PLAIN_PATH = re.compile(rf"(?![^/?#]*:)(?!\?)/?(?:{_SEGMENT}/)*(?:{_SEGMENT})?{_REST}", re.ASCII)  # no dot segments
_PLAIN_ADDRESS = re.compile(rf"https?://[\w.-]+(?::\d+)?(?:/[{_CHARS}./]*)?{_REST}", re.ASCII)
_SAFE_SCHEMES = frozenset(["http", "https", "mailto", "tel", "ftp"])

LabelledBlock = tuple[Block, Label]


@dataclass(frozen=True, slots=True, repr=False)
class CleanPage:
    r"""A cleaned page: its blocks, and a label for each block.

    >>> from victorpy import Cleaner
    >>> page = Cleaner.load().document("<ul><li><a href='/'>Home</a></ul><p>Tea is <b>hot</b>. It is made by pouring "
    ...                                "water over the leaves of the tea bush.</p>", source="tea.html")
    >>> page
    <CleanPage 'tea.html', blocks=2, kept=1, confidence=0.9...>
    >>> page.text
    'Tea is hot. It is made by pouring water over the leaves of the tea bush.\n'
    >>> page.to("markdown")
    'Tea is **hot**. It is made by pouring water over the leaves of the tea bush.\n'
    """

    document: Document
    labels: tuple[Label, ...]
    probabilities: tuple[float, ...] = ()
    """Probability of each block's label. Empty if unknown."""
    content: tuple[float, ...] = ()
    """Probability that each block is content of any kind. Empty if unknown."""
    confidence: float | None = None
    """Expected word F1 of the cleaned text. None if unknown."""
    features: tuple[dict[str, Any], ...] = ()
    """The features of each block by name, if they were requested."""
    metadata: Metadata | None = None
    """The page's metadata, if it was requested."""
    spans: tuple[Spans | None, ...] = ()
    """Kept spans of blocks that are kept in part, and None for other blocks. Empty if there are none."""
    layout: Layout | None = field(default=None, compare=False)
    """The page's markup, if it was requested."""
    by_method: bool = field(default=False, compare=False)
    """Whether a method assigned the labels, rather than a person."""
    roles: tuple[Role, ...] = ()
    """The role of each block, if roles were requested."""
    without: frozenset[str] = frozenset()
    """Parts that formats leave out, among ``images``, ``links``, ``formatting``, ``captions`` and ``notes``."""
    language: str = ""
    """Detected language of the kept text, if metadata was requested."""
    image_labels: tuple[Label, ...] = ()
    """Labels that decide which images are content, if they differ from `labels`."""

    @classmethod
    def of(cls, document: Document, labelling: Labelling, **values: Any) -> CleanPage:
        """Return a page with a labeller's result. `values` sets further fields."""
        result = labelling.labels, labelling.probabilities, labelling.content, labelling.confidence
        return cls(document, *result, spans=labelling.spans, **values)

    def __repr__(self) -> str:
        kept = sum(label.is_content for label in self.labels)
        confidence = "" if self.confidence is None else f", confidence={self.confidence:.2f}"
        return f"<CleanPage {self.document.name!r}, blocks={len(self.labels)}, kept={kept}{confidence}>"

    @property
    def is_empty(self) -> bool:
        """Whether nothing was kept."""
        other = Label.OTHER
        return all(label is other for label in self.labels)

    @property
    def text(self) -> str:
        """The kept text, with a blank line between paragraphs. An empty string if nothing was kept."""
        return self.to("text")

    def to(self, format: str) -> str:
        """Write the page in a format, such as ``markdown`` or ``docview(keywords=5)``.

        ``victor list formats`` shows all formats. The result contains features and metadata only if you requested them
        when cleaning the page: ``cleaner.document(page, features=True, metadata=True)``. Warns if a format writes
        metadata and the page has none.
        """
        output = find_output(format)
        if output.wants_metadata and self.metadata is None and self.by_method:
            warnings.warn(
                f"the format {format} writes metadata, but the page has none; use document(..., metadata=True)",
                stacklevel=2,
            )
        return output.alone(self)


Renderer = Callable[..., str]
"""A function that writes a page. Its further parameters, with defaults, are the parameters of the format."""
AnyRenderer = TypeVar("AnyRenderer", bound=Renderer)


@dataclass(frozen=True, slots=True)
class Output:
    """An output format."""

    name: str
    suffix: str  # file name suffix
    description: str
    render: Renderer
    wants_features: bool = False  # whether the format writes block features
    joins: bool = False  # whether one file may contain several pages
    is_titled: bool = False  # whether the name of each page is written above it in a file with several pages
    around: tuple[str, str] = ("", "")  # text at the start and at the end of a file with several pages
    together: tuple[str, ...] = ()  # names of the formats, if several are written together
    wants_metadata: bool = False  # whether the format writes page metadata
    header: str = ""  # text at the start of each file
    columns: tuple[str, ...] = ()  # additional columns in tables of pages
    tabulate: Callable[[CleanPage], tuple[str, dict[str, Any]]] | None = None
    """Returns a page's text and the values of `columns`."""
    configure: Callable[[Sequence[str]], Output] | None = None
    """Returns the format with other parameters, each given as ``NAME=VALUE``. None if `render` takes them."""
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Changes of fields for each parameter of `render` that is switched on."""
    wants_layout: bool = False  # whether the format needs the page's markup
    check: Callable[[], None] | None = None  # raises an error if a required package is not installed
    wants_facts: bool = False  # whether the format writes some metadata by default
    writes_roles: bool = False  # whether the format writes the roles of blocks, if they were requested

    @property
    def omits_empty(self) -> bool:
        """Whether a file with several pages leaves out pages without content. Rows are never left out."""
        return self.joins and self.suffix not in {".csv", ".jsonl"}

    def alone(self, page: CleanPage) -> str:
        """Return the content of a file that contains only this page."""
        return self.header + self.render(page)


OUTPUTS: Registry[Output] = Registry("output format", "victorpy.outputs", "victorpy.description.formats")


def find_output(format: str) -> Output:
    """Find a format by name, with optional parameters: ``docview(keywords=5)``.

    Several names, such as ``text,markdown``, give one format with a column for each.
    """
    if isinstance(format, str) and format.isidentifier():
        return _find_one(format, ())
    found = [_find_one(*named) for named in split_names(format, "format")]
    names = [output.name for output in found]
    if len(set(names)) < len(names):
        raise ConfigError(f"{format!r} contains a format twice")
    if len(found) == 1:
        return found[0]

    def tabulate(page: CleanPage) -> tuple[str, dict[str, Any]]:
        """Return the first format as text, and all other formats as columns."""
        first, *others = [output.render(page) for output in found]
        return first, dict(zip(names[1:], others, strict=True))

    def render(page: CleanPage) -> str:
        texts = {output.name: output.render(page) for output in found}
        fields = {**page_fields(page, texts), "losses": list(page.document.losses)}
        return json.dumps(fields, ensure_ascii=False) + "\n"

    return Output(
        format,
        ".jsonl",
        "Several formats in one JSON object per page.",
        render=render,
        joins=True,
        together=tuple(names),
        columns=tuple(names[1:]),
        tabulate=tabulate,
        wants_features=any(output.wants_features for output in found),
        wants_metadata=any(output.wants_metadata for output in found),
        wants_layout=any(output.wants_layout for output in found),
        wants_facts=True,
        writes_roles=any(output.writes_roles for output in found),
    )


def json_items(items: Iterable[Any]) -> Iterator[str]:
    """Yield pieces of a JSON list without its brackets. On large pages, all items as objects would take much memory."""
    rest, separator = iter(items), ""
    while some := [*islice(rest, STRIDE)]:
        yield separator + json.dumps(some, ensure_ascii=False)[1:-1]
        separator = ", "


def _find_one(name: str, settings: Sequence[str]) -> Output:
    output = OUTPUTS.get(name)
    if output.check is not None:
        output.check()
    if not settings:
        return output
    if output.configure is not None:
        return output.configure(settings)
    render_page = partial(output.render, None)  # only the parameters of the format are left
    if not inspect.signature(render_page).parameters:
        raise ConfigError(f"the format {name!r} has no parameters; remove {', '.join(settings)}")
    chosen = parse_settings(name, render_page, settings)
    changes = output.changes if any(chosen.values()) else {}
    return replace(output, render=partial(output.render, **chosen), **changes)


def output(name: str, suffix: str, **options: Any) -> Callable[[AnyRenderer], AnyRenderer]:
    """Register a function as an output format, described by the first line of its docstring.

    The options are fields of `Output`.
    """

    def register(function: AnyRenderer) -> AnyRenderer:
        description = (function.__doc__ or "").strip().partition("\n")[0]
        OUTPUTS.add(name, Output(name, suffix, description, function, **options))
        return function

    return register


class Segment(NamedTuple):
    """A heading, paragraph or list item: a block and its continuations."""

    label: Label
    blocks: tuple[Block, ...]

    @property
    def text(self) -> str:
        """The segment's text. Its blocks are joined as on the page."""
        text = self.blocks[0].text
        if len(self.blocks) == 1:
            return text
        for previous, block in pairwise(self.blocks):
            text += joint(previous, block) + block.text
        return text

    @property
    def preformatted(self) -> bool:
        """Whether the segment contains lines of a ``<pre>``."""
        return self.blocks[0].preformatted

    @property
    def heading_level(self) -> int:
        """Level of the heading element around the segment, or 2 if there is none."""
        headings = [tag for tag in self.blocks[0].containers if tag in HEADINGS]
        return int(headings[-1][1]) if headings else 2


def joint(previous: Block, block: Block) -> str:
    """Return the text between two blocks of a segment: line breaks in ``<pre>``, or else a space or nothing."""
    breaks = block.distance.count("br") or (not _LINES.isdisjoint(block.distance))
    if breaks and previous.preformatted and block.preformatted:
        return "\n" * breaks
    return " " if block.spaced or block.index != previous.index + 1 else ""


def segments(page: CleanPage) -> list[Segment]:
    """Return the kept text of a page as segments."""
    return [segment for segment in join_blocks(KeptBlocks(page)) if segment.text]


class KeptBlocks:
    """The kept blocks of a page, or its blocks with the given numbers, with their labels.

    If a block is kept in part, only its kept text is included. Blocks are created each time they are used.
    """

    def __init__(self, page: CleanPage, numbers: Sequence[int] | None = None) -> None:
        if numbers is None:
            other = Label.OTHER
            numbers = [number for number, label in enumerate(page.labels) if label is not other]
        self.page, self.numbers = page, numbers

    def __iter__(self) -> Iterator[LabelledBlock]:
        return self.stretch(0, len(self.numbers))

    def stretch(self, first: int, stop: int) -> Iterator[LabelledBlock]:
        """Yield the kept blocks at the positions from `first` up to, but not including, `stop`."""
        for numbers in self.page.document.stretches(self.numbers[first:stop]):
            yield from self._make(numbers)

    def _make(self, numbers: Sequence[int]) -> list[LabelledBlock]:
        page = self.page
        blocks: Sequence[Block] = page.document.select(numbers)
        if page.spans:
            pairs = zip(blocks, [page.spans[number] for number in numbers], strict=True)
            blocks = [block if spans is None else block.keeping(spans) for block, spans in pairs]
        if page.by_method:
            document = page.document
            blocks = [
                block if len(block.pieces) == 1 and len(block.text) > 2 else _without_link_signs(block, document)
                for block in blocks
            ]
        return [*zip(blocks, [page.labels[number] for number in numbers], strict=True)]


def _without_link_signs(block: Block, document: Document) -> Block:
    """Remove links from a heading or paragraph to itself or to an editor, and from a note back to the text.

    A block that consists only of such a link to an editor or such a sign becomes empty. Other blocks keep at least one
    link.
    """
    is_heading = not HEADINGS.isdisjoint(block.containers)
    text = block.text
    if not is_heading and not text.rstrip("]").endswith(LINK_SIGNS) and not text.startswith(("^", "↑", "[")):
        return block
    elements = document.elements
    is_only_sign = is_heading and text.strip() in LINK_SIGNS
    spans = []
    is_editor = True
    pieces = [(piece, part, elements.ancestor(piece.element, ["a"])) for piece, part in block.each_piece()]
    linked: defaultdict[int, str] = defaultdict(str)  # the text of a link may have other elements between its signs
    for _, piece_text, link in pieces:
        linked[link] += piece_text
    for piece, piece_text, link in pieces:
        name, href = "", ""
        if link > block.element or (is_only_sign and link >= 0):
            attributes = document.attributes_of(link)
            name, href = attributes.get("class", ""), attributes.get("href", "")
        around = document.attributes_of(elements.parent[piece.element]).get("class", "")
        names = f"{name} {document.attributes_of(piece.element).get('class', '')} {around}"
        sign = piece_text.strip()
        if is_heading:
            is_own_sign = not any(map(str.isalnum, linked[link]))
        else:
            is_own_sign = sign != "#" and sign.strip("[]") in LINK_SIGNS
        is_sign = "#" in href and (is_own_sign or _PERMALINK.search(name))
        is_edit_link = _EDIT_LINK.search(names) is not None
        is_editor = is_editor and is_edit_link
        if not is_sign and not is_edit_link:
            spans.append((piece.start, piece.start + len(piece_text)))
    tidy = block.keeping(tuple(spans)) if len(spans) < len(block.pieces) else block
    if not tidy.text.strip() and not is_editor and not is_only_sign:
        return block
    return tidy._replace(text=tidy.text.rstrip(), pieces=tidy.pieces or block.pieces[:1])


def join_blocks(kept: Iterable[LabelledBlock]) -> Iterator[Segment]:
    """Join each continuation to the previous block. Lines of a ``<pre>`` are joined regardless of their labels.

    A continuation without a previous block becomes a paragraph.
    """
    paragraph, continuation = Label.PARAGRAPH, Label.CONTINUATION
    joined: list[Block] = []
    joined_label = paragraph
    containers: tuple[str, ...] = ()
    is_preformatted = False
    for block, label in kept:
        continues = label is continuation
        if block.containers is not containers:  # siblings share this tuple, and there may be hundreds
            containers = block.containers
            is_preformatted = "pre" in containers
        is_line = is_preformatted and "pre" not in block.distance
        if joined and (continues or (is_line and joined[-1].preformatted)):
            joined.append(block)
            continue
        if joined:
            yield Segment(joined_label, tuple(joined))
        joined, joined_label = [block], paragraph if continues else label
    if joined:
        yield Segment(joined_label, tuple(joined))


def blocks_of(document: Document, elements: Iterable[int]) -> Iterator[Block]:
    """Yield the blocks with text in any of the elements, in order."""
    first, stop = document.elements.first_block, document.elements.stop_block
    count = len(document.texts)  # the annotation tool writes the beginning of a page, with all elements
    numbers: list[int] = []
    for element in sorted(elements):
        begin = max(first[element] - 1, 0)  # the element may begin inside a block
        numbers += range(max(begin, numbers[-1] + 1) if numbers else begin, min(stop[element], count))
    for stretch in document.stretches(numbers):
        yield from document.select(stretch)


def facts(page: CleanPage, names: Iterable[str]) -> dict[str, str]:
    """Return facts about a page: fields of its metadata, or title and address if metadata was not requested.

    The address is the one that the user gave, or else the one that the page states. The language is detected.
    """
    about = page.metadata or Metadata(title=page.document.title)
    declared = "" if page.by_method else about.language  # not used if a method cleaned the page
    known = {"url": page.document.url or about.url, "language": page.language or declared}
    return {name: known.get(name, getattr(about, name)) for name in names}


def page_fields(page: CleanPage, texts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts about a page as fields of a JSON object."""
    names = ("url", "title", *(("author", "date", "site_name", "language") if page.metadata else ()))
    return {**facts(page, names), "source": page.document.source, **texts, "confidence": page.confidence}


def _join(base: str, href: str) -> str:
    """Return the address that a link leads to, or an empty string if it is not valid."""
    try:
        return urljoin(base if base.isprintable() else quote(base, safe="/:?#[]@!$&'()*+,;=%~"), href)
    except ValueError:
        return ""


@lru_cache(maxsize=100)
def _bases(base: str) -> tuple[str, str, str]:
    """Return an address without its fragment, its scheme and host, and the address of its folder.

    They are empty if that address is not valid.
    """
    return _join(base, "#x")[:-2], _join(base, "/")[:-1], _join(base, ".")


def safe_link(href: str, base: str = "") -> str:
    """Return the absolute address of a link, or an empty string if it could run a script.

    >>> safe_link("../a b.html", "http://example.org/x/y.html"), safe_link(" javascript:alert(1)")
    ('http://example.org/a%20b.html', '')
    """
    href = href.strip()
    if _PLAIN_ADDRESS.fullmatch(href):
        return href
    if not href.isprintable():
        href = "".join(char for char in href if char.isprintable())
    href = href.replace(" ", "%20")
    scheme = _SCHEME.match(href)
    if scheme and scheme[1].lower() not in _SAFE_SCHEMES:
        return ""
    if not href or not base.startswith(("http://", "https://")):
        return href
    if _PLAIN_PATH.fullmatch(href):  # most links
        page, origin, folder = _bases(base)
        start = page if href[0] == "#" else origin if href[0] == "/" else folder
        return start + href
    return _join(base, href)
