"""Read a page's metadata, each field from its most trustworthy source."""

from __future__ import annotations

from victorpy.description.metadata.author import find_author
from victorpy.description.metadata.dates import find_date
from victorpy.description.metadata.page import Page
from victorpy.description.metadata.plain import (
    find_description,
    find_image,
    find_keywords,
    find_kind,
    find_language,
    find_url,
)
from victorpy.description.metadata.sites import Site, find_site_name
from victorpy.description.metadata.title import find_title
from victorpy.document import Metadata
from victorpy.page.parse import Tree

__all__ = ["read_metadata"]


def read_metadata(tree: Tree, url: str = "") -> Metadata:
    """Read the metadata of a parsed page that is not yet pruned. `url` is where it was read from."""
    page = Page(tree, url)
    site = Site(page)
    language = find_language(page)
    keywords = find_keywords(page)
    candidates = {
        "title": find_title(page, site),
        "author": find_author(page, site),
        "date": find_date(page, language.value if language else ""),
        "site_name": find_site_name(page),
        "description": find_description(page),
        "language": language,
        "url": find_url(page),
        "image": find_image(page),
        "kind": find_kind(page),
    }
    values = {name: candidate.value for name, candidate in candidates.items() if candidate}
    sources = {name: candidate.source for name, candidate in candidates.items() if candidate}
    if keywords:
        sources["keywords"] = keywords[1]
    return Metadata(**values, keywords=keywords[0] if keywords else (), sources=sources)
