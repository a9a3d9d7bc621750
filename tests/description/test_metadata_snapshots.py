"""Snapshots of the metadata of random pages, and where each field was found."""

import pytest
from support.randomfacts import RandomFacts
from support.snapshots import check, digest

from victorpy import Metadata
from victorpy.description.metadata import read_metadata
from victorpy.page.parse import parse_whole

PAGES = 50


@pytest.mark.parametrize("number", range(20))
def test_random_pages(number):
    made = (RandomFacts(seed).page() for seed in range(PAGES * number, PAGES * (number + 1)))
    found = [read_metadata(parse_whole(html), url, html) for html, url in made]
    fields = {name: digest("\n".join(str(getattr(each, name)) for each in found)) for name in Metadata.__annotations__}
    check("metadata", f"pages {number}", fields | {"titles": "; ".join(each.title for each in found[:5])})
