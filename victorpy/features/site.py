"""Features that measure how much the pages of a site repeat.

Their values are -1 unless several pages of the site are cleaned together.
"""

from __future__ import annotations

import numpy as np

from victorpy.columns import Column, Columns
from victorpy.features.base import feature


def _site_column(page: Columns, name: str) -> Column:
    return np.full(page.count, -1.0) if page.site is None else getattr(page.site, name)


@feature("site.pages")
def pages(page: Columns) -> Column:
    """Number of pages of the site that were seen."""
    return np.full(page.count, 1.0 if page.site is None else float(page.site.pages))


@feature("site.importance")
def importance(page: Columns) -> Column:
    """Importance of the block's node in the site's style tree (Yi, Liu and Li 2003)."""
    return _site_column(page, "importance")


@feature("site.entropy")
def entropy(page: Columns) -> Column:
    """Mean entropy of the block's words over the pages that have its style-tree node. 1 means the same on all pages."""
    return _site_column(page, "entropy")


@feature("site.text-share")
def text_share(page: Columns) -> Column:
    """Share of the site's other pages that contain the same text."""
    return _site_column(page, "text_share")


@feature("site.place-share")
def place_share(page: Columns) -> Column:
    """Share of the site's pages that have the block's style-tree node."""
    return _site_column(page, "place_share")
