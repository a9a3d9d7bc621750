"""The exact limits of what is dropped after the cut: copies, buttons, filters and dialogs."""

import numpy as np
import pytest

from victorpy import load_config, read_document
from victorpy.columns import Columns
from victorpy.model.evidence import Keeping

TEXT = "Tea is hot, and it is drunk all over the world, with milk or without it."
OTHERS = "<section>menu</section><address>x y</address><h6>z</h6>"


def dropped(html):
    """Return the texts that are dropped although all are most probable."""
    config = load_config("default")
    page = Columns(read_document(html, config), config)
    kept = Keeping().kept(np.full(page.count, 0.99), page)
    return [text for text, is_kept in zip(page.texts, kept, strict=True) if not is_kept]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        # Copies of the headline
        ("<h1>My tea</h1><p>My tea!<p>x", ["My tea!"]),
        ("<h1>My tea</h1><p>My tea<p>My tea!", ["My tea", "My tea!"]),
        ("<h1>My tea</h1>" + "<p>x<p>y<p>z<p>a<p>b" + "<p>My tea", ["My tea"]),
        ("<h1>My tea</h1>" + "<p>x<p>y<p>z<p>a<p>b<p>c" + "<p>My tea", []),  # seven blocks away
        ("<p>My tea" + "<p>x<p>y<p>z<p>a<p>b" + "<h1>My tea</h1>", ["My tea"]),
        ("<p>My tea" + "<p>x<p>y<p>z<p>a<p>b<p>c" + "<h1>My tea</h1>", []),
        # Cloned slides
        ("<p>a b c d e</p><p class=cloned>a b c d e</p>", ["a b c d e"]),
        ("<p>a b c d</p><p class=cloned>a b c d</p>", []),
        (f"<p>{'w ' * 17}</p><div class=clone><p>{'w ' * 17}<p>x y z</div>", ["w " * 16 + "w"]),
        (f"<p>{'w ' * 17}</p><div class=clone><p>{'w ' * 17}<p>x y z a</div>", []),
        # Shares and jumps
        ("<p>tea<div class=share><div><div><a href=/x>Go</a></div></div></div>", ["Go"]),
        ("<p>tea<div class=share><div><div><div><a href=/x>Go</a></div></div></div></div>", []),  # too far up
        ("<p>tea<p><a href='/x?share=1'>Go</a> now", []),
        ("<p>tea<p><a href='/x?share=1'>Go</a>", ["Go"]),
        # Buttons, contents and filters
        ("<p>tea<p>CLOSE…<p>Share »<p>Sharing", ["CLOSE…", "Share »"]),
        ("<p>tea<p>" + "Advertisements:::" + "<p>Advertisements::::", ["Advertisements:::", "Advertisements::::"]),
        ("<p>tea<p>Contents", ["Contents"]),
        ("<p>tea<p>Contents<p>hot", []),
        ("<p>tea<p>A (1)<p>B (12)<p>C (123)<p>D (1,234)", ["A (1)", "B (12)", "C (123)", "D (1,234)"]),
        ("<p>tea<p>A (1)<p>B (12)<p>C (123)<p>D (1234)", []),
        (f"<p>tea<p>A (1)<p>B (12)<p>C (123)<p>{'D' * 40} (1)", ["A (1)", "B (12)", "C (123)", "D" * 40 + " (1)"]),
        (f"<p>tea<p>A (1)<p>B (12)<p>C (123)<p>{'D' * 41} (1)", []),
        # Dialogs
        (f"<p>{TEXT}<div role=dialog><p>Cookies<p>Privacy</div>", ["Cookies", "Privacy"]),
        (f"<p>{TEXT}<div role=dialog><p>Cookies<p>Cookies</div>", []),
        (f"<p>{TEXT}<div class=cookie-bar><p>Cookies and partners</div>", ["Cookies and partners"]),
        (f"<p>{TEXT}<div class=cookies><p>Cookies and partners</div>", []),
        ("<p>a<div class=consent><p>cookie consent b c</div>", ["cookie consent b c"]),
        ("<p>a<div class=consent><p>cookie consent b c d</div>", []),
    ],
)
def test_what_is_dropped_at_a_limit(html, expected):
    assert dropped(html) == expected
