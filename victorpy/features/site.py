"""What the site of a page repeats: known where several of its pages are cleaned together, -1 where not."""

from __future__ import annotations

import numpy as np

from victorpy.columns import Column, Columns
from victorpy.features.base import feature

UNKNOWN = -1.0


def _known(page: Columns, name: str) -> Column:
    return np.full(page.count, UNKNOWN) if page.site is None else getattr(page.site, name)


@feature("site.pages")
def pages(page: Columns) -> Column:
    """How many pages of the site were seen."""
    return np.full(page.count, 1.0 if page.site is None else float(page.site.pages))


@feature("site.importance")
def importance(page: Columns) -> Column:
    """Importance of what pages say at the block's place in the site's style tree (Yi, Liu and Li 2003)."""
    return _known(page, "importance")


@feature("site.entropy")
def entropy(page: Columns) -> Column:
    """Mean entropy of the block's words over the pages that have its place: 1 where all say the same."""
    return _known(page, "entropy")


@feature("site.text-share")
def text_share(page: Columns) -> Column:
    """Share of the site's other pages that have the same text."""
    return _known(page, "text_share")


@feature("site.place-share")
def place_share(page: Columns) -> Column:
    """Share of the site's pages that have the block's place."""
    return _known(page, "place_share")
