"""The exact limits of headings and headlines that are added after the cut."""

import numpy as np
import pytest

from victorpy import load_config, read_document
from victorpy.columns import Columns
from victorpy.model.evidence.additions import STRONG, headings_above, headline_above, units_between

LEAST = 0.2


def columns_of(html):
    config = load_config("default")
    return Columns(read_document(html, config), config)


def flags_of(page, texts):
    return np.array([text in texts for text in page.texts], dtype=bool)


def added(html, kept, probability):
    """Return the headings that are added if some texts are kept. All headings have the same probability."""
    page = columns_of(html)
    is_kept = flags_of(page, kept.split(","))
    found = headings_above(is_kept, np.where(is_kept, 0.9, probability), page, LEAST)
    return ",".join(page.texts[number] for number in sorted(set(found)) if not is_kept[number])


SECTION = "<h1>H</h1><p>k</p><h2>K</h2><p>k</p><h2>A</h2><p>x x</p><p>k k k</p>"
"""The heading K of a kept section, and the heading A of a section that is mostly kept."""


@pytest.mark.parametrize(
    ("html", "kept", "probability", "expected"),
    [
        # Directly above kept text
        ("<h2>A</h2><p>k", "k", LEAST, "A"),
        ("<h2>A</h2><p>k", "k", LEAST - 0.001, ""),
        ("<h2>A</h2><p>x<p>k", "k", LEAST, ""),
        ("<p>A</p><p>k", "k", 0.9, ""),
        ("<p>k</p><h2>A</h2>", "k", 0.9, ""),
        # Above headings of lower levels
        ("<h2>A</h2><h3>B</h3><p>k", "k", LEAST, "A,B"),
        ("<h2>A</h2><h2>B</h2><p>k", "k", LEAST, "B"),
        ("<h3>A</h3><h2>B</h2><p>k", "k", LEAST, "B"),
        ("<h1>A</h1><p>x</p><h2>B</h2><p>x</p><h6>C</h6><p>k", "k", LEAST, "A,B,C"),
        ("<h2>A</h2><p>x</p><h5>K</h5><p>k", "k,K", LEAST, "A"),
        ("<h2>A</h2><p>x</p><h5>K</h5><p>k", "k,K", LEAST - 0.001, ""),
        ("<h2>A</h2><p>x</p><h3>B</h3><p>x</p><h2>C</h2><p>k", "k", LEAST, "C"),
        # Boxes end their sections
        ("<div><h2>A</h2><p>x</div><h3>B</h3><p>k", "k", LEAST, "B"),
        ("<div><h2>A</h2></div><p>x<h3>B</h3><p>k", "k", LEAST, "A,B"),  # a box around nothing but the heading
        # Sections that are mostly kept, with half of the probability
        (SECTION, "k,K,k k k", LEAST / 2, "A"),
        (SECTION, "k,K,k k k", LEAST / 2 - 0.001, ""),
        (SECTION.replace("x x", "x x x"), "k,K,k k k", LEAST / 2, ""),  # half of it is kept
        (SECTION, "k,k k k", LEAST / 2, ""),  # no heading is kept
        (SECTION.replace("<h2>K</h2>", "<h3>K</h3>"), "k,K,k k k", LEAST / 2, ""),  # of another level
        (SECTION.removeprefix("<h1>H</h1>"), "k,K,k k k", LEAST / 2, ""),  # K is the headline
        ("<p>z</p><h2>A</h2><p>x x</p><p>k k k</p><h2>K</h2>", "K,k k k", LEAST / 2, ""),  # no text above
        ("<p>k</p><h2>A</h2><p>x x</p><p>k k k</p><h2>K</h2>", "k,K,k k k", LEAST / 2, "A"),
        (SECTION + "<h2>B</h2><p>x", "k,K,k k k", LEAST / 2, "A"),
        (SECTION + "<h2>B</h2><h3>C</h3><p>x</p><p>k k k</p>", "k,K,k k k", LEAST / 2, "A,B"),
        ("<p>k</p><h2>K</h2><p>k</p><div><h2>A</h2><p>x x</div><p>k k k</p>", "k,K,k k k", LEAST / 2, ""),
        # unless several similar headings in boxes are kept
        *(
            (
                "<p>k</p>" + "<div><h2>K</h2><p>k</div>" * count + "<div><h2>A</h2><p>x x</div><p>k k k</p>",
                "k,K,k k k",
                LEAST / 2,
                expected,
            )
            for count, expected in ((1, ""), (2, "A"))
        ),
    ],
)
def test_headings_above_kept_text(html, kept, probability, expected):
    assert added(html, kept, probability) == expected


@pytest.mark.parametrize(
    ("title", "html", "kept", "probability", "is_added"),
    [
        ("", "<h1>A</h1><p>k", "k", 0.03, True),
        ("", "<h1>A</h1><p>k", "k", 0.029, False),
        ("", "<p>k</p><h1>A</h1><p>x", "k", 0.9, False),  # no kept text below
        ("", "<h1>A</h1><p>k", "", 0.9, False),
        ("", "<h2>A</h2><p>k", "k", 0.9, False),
        ("A b", "<h2>A b</h2><p>k", "k", 0.03, True),
        ("A b", "<h2>A b c</h2><p>k", "k", 0.03, True),
        ("A b", "<h2>A b c d</h2><p>k", "k", 0.03, False),  # only half of its words are in the title
    ],
)
def test_headline_above_kept_text(title, html, kept, probability, is_added):
    page = columns_of(f"<title>{title}</title>{html}")
    is_kept = flags_of(page, kept.split(","))
    found = headline_above(is_kept, np.full(page.count, probability), page)
    assert [page.texts[number][0] for number in found] == ["A"] * is_added


@pytest.mark.parametrize(("probability", "expected"), [(STRONG, [1]), (STRONG - 0.001, [])])
def test_box_between_kept_blocks(probability, expected):
    page = columns_of("<p>k</p><div class=admonition>A</div><p>k")
    assert units_between([(1, 2)], np.array([0.9, probability, 0.9]), page) == expected


@pytest.mark.parametrize("html", ["", "<p>x"])
def test_small_pages_have_no_headings(html):
    page = columns_of(html)
    nothing, content = np.zeros(page.count, dtype=bool), np.full(page.count, 0.9)
    assert not headings_above(nothing, content, page, LEAST)
