"""What an output is, and the segments of text that most of them are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from victorpy.document import Block, CleanPage, Label
from victorpy.errors import ConfigError
from victorpy.registry import Registry
from victorpy.settings import split_name

HEADINGS = frozenset(["h1", "h2", "h3", "h4", "h5", "h6"])


@dataclass(frozen=True, slots=True)
class Output:
    """A way to write a cleaned page down."""

    name: str
    suffix: str
    """How files of it are named."""
    description: str
    render: Callable[[CleanPage], str]
    wants_features: bool = False
    """Whether it shows the features of blocks."""
    joins: bool = False
    """Whether many pages may stand one after the other in a file of it."""
    wants_metadata: bool = False
    """Whether it shows what a page says of itself."""
    header: str = ""
    """What stands once above all pages of a file."""
    columns: tuple[str, ...] = ()
    """What tables of pages have besides the text ..."""
    tabulate: Callable[[CleanPage], tuple[str, dict[str, Any]]] | None = None
    """... and how that is found together with the text."""
    configure: Callable[[Sequence[str]], Output] | None = None
    """The same format with parameters, each as ``NAME=VALUE``; None for one that has none."""
    check: Callable[[], None] | None = None
    """Raises an error where a package that the format needs is not installed."""

    def alone(self, page: CleanPage) -> str:
        """Write a file of one page."""
        return self.header + self.render(page)


OUTPUTS: Registry[Output] = Registry("output format", "victorpy.outputs")


def find_output(format: str) -> Output:
    """Find a format by its name, which may have parameters behind it: ``docview(keywords=5)``."""
    name, settings = split_name(format, "format")
    found = OUTPUTS.get(name)
    if found.check is not None:
        found.check()
    if not settings:
        return found
    if found.configure is None:
        raise ConfigError(f"the format {name!r} has no parameters to set: {' '.join(settings)}")
    return found.configure(settings)


Renderer = Callable[[CleanPage], str]


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
        """The segment's text, its blocks joined as they stood in the page."""
        text = self.blocks[0].text
        for before, block in zip(self.blocks, self.blocks[1:], strict=False):
            text += joint(before, block) + block.text
        return text

    @property
    def preformatted(self) -> bool:
        """Whether the segment is lines of a ``<pre>``."""
        return self.blocks[0].preformatted


def joint(before: Block, after: Block) -> str:
    """What stands between two blocks of one segment: line breaks in ``<pre>``, else a space or nothing."""
    breaks = after.distance.count("br")
    if before.preformatted and after.preformatted and breaks:
        return "\n" * breaks
    return " " if after.spaced or after.index != before.index + 1 else ""


LabelledBlock = tuple[Block, Label]


def segments(page: CleanPage) -> list[Segment]:
    """Join continuations to the segment before them; one that has none is a paragraph.

    Lines of one ``<pre>`` belong together whatever their labels.
    """
    return join_blocks(zip(page.document.blocks, page.labels, strict=True))


def join_blocks(labelled: Iterable[LabelledBlock]) -> list[Segment]:
    """Make segments of those blocks that are content."""
    found: list[tuple[Label, list[Block]]] = []
    for block, label in labelled:
        if not label.is_content:
            continue
        if found and (label is Label.CONTINUATION or _same_listing(found[-1][1][-1], block)):
            found[-1][1].append(block)
        else:
            found.append((Label.PARAGRAPH if label is Label.CONTINUATION else label, [block]))
    return [Segment(label, tuple(blocks)) for label, blocks in found]


def heading_level(segment: Segment) -> int:
    """The level of the heading that a segment stands in; 2 where the markup has none."""
    headings = [tag for tag in segment.blocks[0].containers if tag in HEADINGS]
    return int(headings[-1][1]) if headings else 2


def _same_listing(before: Block, after: Block) -> bool:
    return before.preformatted and after.preformatted and "pre" not in after.distance
