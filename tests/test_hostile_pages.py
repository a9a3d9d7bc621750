"""Hostile pages: the work of every stage grows in proportion to the size of a page."""

import sys
import time

import pytest

from benchmarks.hostile import SHAPES
from victorpy import Cleaner
from victorpy.outputs import OUTPUTS

FORMATS = ("text", "markdown", "html", "jsonl", "page", "docview")
SIZE = 2_000
MOST_GROWTH = 5  # when the size grows by 4
FEW_CALLS = 100_000  # a small page may be empty where a large one is kept
MOST_SECONDS = 5.0


@pytest.fixture(scope="module")
def cleaner():
    loaded = Cleaner.load()
    count_calls(loaded, "<title>Tea</title><p>Tea is hot.")  # what is imported and cached does not count
    return loaded


def count_calls(cleaner, page):
    """Clean a page with metadata, and write it in all formats. Return the number of calls."""
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    try:
        cleaned = cleaner.document(page, "http://tea.example/a/b.html", metadata=True, layout=True)
        for format in FORMATS:
            cleaned.to(format)
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("shape", SHAPES)
def test_work_is_linear(cleaner, shape):
    small = count_calls(cleaner, SHAPES[shape](SIZE))
    started = time.process_time()
    large = count_calls(cleaner, SHAPES[shape](4 * SIZE))
    assert large <= MOST_GROWTH * small + FEW_CALLS
    assert time.process_time() - started < MOST_SECONDS  # regular expressions and libraries do their work in one call


NUMBERS = "width height colspan rowspan start value datetime size span".split()


@pytest.mark.parametrize("digit", ["9", "٩", "0"])
def test_numbers_may_have_any_length(cleaner, digit):
    """Python refuses to read numbers of more than 4,300 digits."""
    number = digit * 5_000
    attributes = " ".join(f'{name}="{number}"' for name in NUMBERS)
    page = cleaner.document(
        f"<p {attributes}>Tea is hot.<ol {attributes}><li {attributes}>Tea</ol><img src=a.png {attributes}>"
        f"<table><tr><td {attributes}>a<td>b<tr><td>c<td>d</table><time {attributes}>{number}</time>"
        f"<p>&#{number};<meta name=date content={number}><sup><a href=#n{number}>{number}</a></sup>"
        f'<script type="application/ld+json">{{"@type":"Article","datePublished":{number}}}</script>',
        metadata=True,
        layout=True,
    )
    for format in OUTPUTS:
        assert page.to(format)
