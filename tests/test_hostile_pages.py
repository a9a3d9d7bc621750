"""Hostile pages: the work of every stage grows in proportion to the size of a page."""

import sys
import time

import pytest

from benchmarks.hostile import SHAPES
from victorpy import Cleaner

FORMATS = ("text", "markdown", "html", "jsonl", "page")
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
