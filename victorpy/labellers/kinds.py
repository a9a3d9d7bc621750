"""Which kind of content a block is, told from its markup alone: for methods that know only content from noise."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from victorpy.config import load_config
from victorpy.document import Block, Document, Label, Labelling

_HEADERS = frozenset(["h1", "h2", "h3", "h4", "h5", "h6"])
_ITEMS = frozenset(["li", "dt", "dd"])


def label_kept(document: Document, kept: Sequence[bool]) -> Labelling:
    """Label what is kept by its markup, and the rest as noise."""
    labels: list[Label] = []
    for block, keep in zip(document.blocks, kept, strict=True):
        follows = bool(labels) and labels[-1].is_content
        labels.append(_kind(block, follows) if keep else Label.OTHER)
    return Labelling(tuple(labels))


def _kind(block: Block, follows: bool) -> Label:
    """A heading, a list's item or a paragraph; what goes on in the line of kept text before continues it."""
    if follows and not begins_segment(block.distance):
        return Label.CONTINUATION
    if not _HEADERS.isdisjoint(block.containers):
        return Label.HEADER
    return Label.PARAGRAPH if _ITEMS.isdisjoint(block.containers) else Label.LIST


def begins_segment(distance: Sequence[str]) -> bool:
    """Whether the tags before a block part it from the text before: one line break does not, two do."""
    breaks = [tag for tag in distance if tag.lstrip("/") in _block_level()]
    return breaks != ["br"] and bool(breaks)


@cache
def _block_level() -> frozenset[str]:
    return load_config("base").cuts.block_level
