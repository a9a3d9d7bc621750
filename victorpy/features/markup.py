"""Features of the markup around and between blocks (Marek 2007, 4.1)."""

from __future__ import annotations

from victorpy.columns import Column, Columns
from victorpy.features.base import feature


@feature("container.*")
def container(page: Columns, what: str) -> Column:
    """1 where an element with this tag, or with a tag of this class, is around the block."""
    return page.within(what)


@feature("split.*")
def split(page: Columns, what: str) -> Column:
    """How many opening or closing tags of this name or class were passed since the block before."""
    return page.passed(page.tags_of(what))
