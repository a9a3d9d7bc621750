"""The exact limits of the cut: short pages, pages without content, thresholds, and what the user favors."""

import numpy as np
import pytest

from victorpy import load_config, read_document
from victorpy.columns import Columns
from victorpy.model.evidence import Keeping

NAMES = "Ann Bob Cid Dan Eve Fay Gil Hal Ida Jan".split()


def page_of(html):
    config = load_config("default")
    return Columns(read_document(html, config), config)


def kept(html, content, **settings):
    return np.flatnonzero(Keeping(**settings).kept(np.array(content), page_of(html))).tolist()


def blocks(count, words=10):
    """Return blocks that look different, so that they do not share their evidence."""
    tags = ["p", "div", "h4", "section", "blockquote", "address"]
    return "".join(f"<{tags[n]} class=c{n}>{'w ' * words}</{tags[n]}>" for n in range(count))


@pytest.mark.parametrize(
    ("count", "empty_below", "expected"),
    [(5, 0.9, []), (4, 0.9, [0, 1, 2, 3]), (5, 0.4, [0, 1, 2, 3, 4]), (4, 0.009, [0, 1, 2, 3])],
)
def test_pages_of_fewer_than_five_blocks_are_hardly_ever_empty(count, empty_below, expected):
    assert kept(blocks(count), [0.3] * count, empty_below=empty_below) == expected


def test_favoring_recall_keeps_something():
    assert kept(blocks(5), [0.3] * 5, empty_below=0.9, favor="recall") == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("content", "expected"),
    [([0.01] * 5, []), ([0.011, 0.0056, 0.0054, 0.01, 0.0], [0, 1, 3]), ([1.0, 0.5, 0.49, 0.0, 0.0], [0, 1])],
)
def test_threshold_is_relative_to_the_best_block(content, expected):
    assert kept(blocks(5), content, threshold=0.5) == expected


@pytest.mark.parametrize(
    ("favor", "expected"), [("precision", [0]), ("balanced", [0, 1, 2]), ("recall", [0, 1, 2, 3, 4])]
)
def test_favors(favor, expected):
    assert kept(blocks(6), [0.95, 0.55, 0.42, 0.3, 0.2, 0.04], favor=favor) == expected


@pytest.mark.parametrize(("words", "expected"), [(53, [0, 1]), (54, [0])])
def test_pages_of_fewer_than_sixty_words_keep_their_main_part(words, expected):
    html = f"<main><p>tea</p><h5>cup</h5></main><div>{'w ' * words}</div><section>x</section><h6>y</h6><pre>z y</pre>"
    page = page_of(html)
    assert page.count == 6
    assert kept(html, [0.95, 0.06, 0.01, 0.01, 0.01, 0.01]) == expected


@pytest.mark.parametrize(
    ("least", "probability", "expected"),
    [(0.1, 0.1, [0, 1, 2]), (0.1, 0.099, [0, 2]), (0.3, 0.29, [0, 2]), (1, 0.5, [0, 2])],
)
def test_least_probability_of_headings(least, probability, expected):
    text = "w " * 40
    html = f"<p>{text}</p><h5>Hot tea cups</h5><div>{text}</div><section>menu menu</section><address>x</address>"
    assert kept(html, [0.9, probability, 0.95, 0.01, 0.01], heading_least=least) == expected
