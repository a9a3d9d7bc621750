"""Features of the markup around and between blocks (Marek 2007, 4.1)."""

from __future__ import annotations

from victorpy.columns import Column, Columns
from victorpy.features.base import feature


@feature("container.*")
def container(page: Columns, name: str) -> Column:
    """1 if the block is inside an element with this tag or a tag of this class."""
    return page.within(name)


@feature("split.*")
def split(page: Columns, name: str) -> Column:
    """Number of opening and closing tags of this name or class since the previous block."""
    return page.passed(page.tags_of(name))
