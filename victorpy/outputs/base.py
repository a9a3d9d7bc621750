"""A cleaned page, the formats that it can be written in, and the segments that most formats are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from victorpy.base.parameters import split_name
from victorpy.base.registry import Registry
from victorpy.document import Block, Document, Label, Metadata
from victorpy.errors import ConfigError

HEADINGS = frozenset(["h1", "h2", "h3", "h4", "h5", "h6"])

MAGIC = "%victor-anno 1"
"""How annotation files begin."""

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
    by_method: bool = field(default=False, compare=False)
    """Whether a method assigned the labels, rather than a person."""

    def __repr__(self) -> str:
        kept = sum(label.is_content for label in self.labels)
        confidence = "" if self.confidence is None else f", confidence={self.confidence:.2f}"
        return f"<CleanPage {self.document.name!r}, blocks={len(self.labels)}, kept={kept}{confidence}>"

    @property
    def is_empty(self) -> bool:
        """Whether nothing was kept."""
        return not any(label.is_content for label in self.labels)

    @property
    def text(self) -> str:
        """The kept text, with a blank line between paragraphs. An empty string if nothing was kept."""
        return self.to("text")

    def to(self, format: str) -> str:
        """Write the page in a format, which may have parameters: ``page.to("docview(keywords=5)")``.

        ``victor list formats`` shows all formats. Features and metadata are in the result only if they were requested
        when the page was cleaned: ``cleaner.document(page, features=True, metadata=True)``.
        """
        return find_output(format).alone(self)


Renderer = Callable[[CleanPage], str]


@dataclass(frozen=True, slots=True)
class Output:
    """A format of cleaned pages."""

    name: str
    suffix: str
    """Suffix of its files."""
    description: str
    render: Renderer
    wants_features: bool = False
    """Whether it shows the features of blocks."""
    joins: bool = False
    """Whether a file may hold many pages, one after the other."""
    wants_metadata: bool = False
    """Whether it shows what a page says about itself."""
    header: str = ""
    """Written once, above all pages of a file."""
    columns: tuple[str, ...] = ()
    """Columns that tables of pages have in addition to the text."""
    tabulate: Callable[[CleanPage], tuple[str, dict[str, Any]]] | None = None
    """Returns the text and the values of these columns."""
    configure: Callable[[Sequence[str]], Output] | None = None
    """Returns the same format with parameters, each as ``NAME=VALUE``; None if it has none."""
    check: Callable[[], None] | None = None
    """Raises an error if a package that the format needs is not installed."""

    def alone(self, page: CleanPage) -> str:
        """Write a file of one page."""
        return self.header + self.render(page)


OUTPUTS: Registry[Output] = Registry("output format", "victorpy.outputs", "victorpy.description.formats")


def find_output(format: str) -> Output:
    """Find a format by its name, which may be followed by parameters: ``docview(keywords=5)``."""
    name, settings = split_name(format, "format")
    output = OUTPUTS.get(name)
    if output.check is not None:
        output.check()
    if not settings:
        return output
    if output.configure is None:
        raise ConfigError(f"the format {name!r} has no parameters to set: {' '.join(settings)}")
    return output.configure(settings)


def output(
    name: str, suffix: str, wants_features: bool = False, joins: bool = False, wants_metadata: bool = False
) -> Callable[[Renderer], Renderer]:
    """Register a function as an output format; the first line of its docstring describes it to users."""

    def register(function: Renderer) -> Renderer:
        description = (function.__doc__ or "").strip().partition("\n")[0]
        OUTPUTS.add(name, Output(name, suffix, description, function, wants_features, joins, wants_metadata))
        return function

    return register


class Segment(NamedTuple):
    """A header, paragraph or list item with the blocks that continue it."""

    label: Label
    blocks: tuple[Block, ...]

    @property
    def text(self) -> str:
        """The segment's text, its blocks joined as on the page."""
        text = self.blocks[0].text
        for previous, block in zip(self.blocks, self.blocks[1:], strict=False):
            text += joint(previous, block) + block.text
        return text

    @property
    def preformatted(self) -> bool:
        """Whether the segment is lines of a ``<pre>``."""
        return self.blocks[0].preformatted


def joint(previous: Block, block: Block) -> str:
    """Return the text between two blocks of one segment: line breaks in ``<pre>``, else a space or nothing."""
    breaks = block.distance.count("br")
    if previous.preformatted and block.preformatted and breaks:
        return "\n" * breaks
    return " " if block.spaced or block.index != previous.index + 1 else ""


def segments(page: CleanPage) -> list[Segment]:
    """Join continuations to the segment before them; one that has none is a paragraph.

    Lines of one ``<pre>`` belong together whatever their labels.
    """
    return join_blocks(zip(page.document.blocks, page.labels, strict=True))


def join_blocks(labelled: Iterable[LabelledBlock]) -> list[Segment]:
    """Make segments of those blocks that are content."""
    joined: list[tuple[Label, list[Block]]] = []
    for block, label in labelled:
        if not label.is_content:
            continue
        continues = label is Label.CONTINUATION
        if joined and not continues and block.preformatted and "pre" not in block.distance:
            continues = joined[-1][1][-1].preformatted  # the next line of a listing
        if joined and continues:
            joined[-1][1].append(block)
        else:
            joined.append((Label.PARAGRAPH if label is Label.CONTINUATION else label, [block]))
    return [Segment(label, tuple(blocks)) for label, blocks in joined]


def heading_level(segment: Segment) -> int:
    """Return the level of the heading around a segment; 2 if the markup has none."""
    headings = [tag for tag in segment.blocks[0].containers if tag in HEADINGS]
    return int(headings[-1][1]) if headings else 2
