"""The exact limits of units: listings, tables of data, figures, terms and items that are kept as a whole."""

import pytest

from victorpy import load_config, read_document
from victorpy.columns import Columns
from victorpy.model.evidence.units import find_units


def units(page):
    config = load_config("default")
    first, stop = find_units(Columns(read_document(page, config), config))
    return [*zip(first.tolist(), stop.tolist(), strict=True)]


def table(*rows, tag="td", head=""):
    return "<table>" + head + "".join("<tr>" + "".join(f"<{tag}>{cell}" for cell in row) for row in rows) + "</table>"


def words(count):
    return "w " * count


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>x<p>y", []),
        ("<pre>a\nb</pre>", [(0, 2)]),
        ("<pre>a</pre>", []),  # a single block
        # Tables
        (table("ab", "cd", "ef"), [(0, 6)]),
        (table("ab", "cd"), []),  # two rows may arrange the page
        (table("ab", "cd", tag="th"), [(0, 4)]),
        (table("ab", tag="th"), []),
        (table("abcd", tag="th"), []),
        (table("a", "b", "c", "d"), []),  # fewer than two cells per row
        (table("ab", "cd", "e"), []),
        (table("ab", "cd", head="<caption>t</caption>"), [(0, 5)]),
        (table("ab", "c", tag="th"), []),  # three blocks
        (table("ab", "cd", ["e", words(40)]), [(0, 6)]),
        (table("ab", "cd", ["e", words(41)]), []),
        (table("ab", ["c", words(80)], tag="th"), [(0, 4)]),
        (table("ab", ["c", words(81)], tag="th"), []),
        (table("ab", ["c", table("ab", "cd", "ef")], "de"), [(3, 9)]),  # only the inner one
        # Figures
        (f"<figure><img alt=a><figcaption>{words(119)}</figcaption></figure>", [(0, 2)]),
        (f"<figure><img alt=a><figcaption>{words(120)}</figcaption></figure>", []),
        # Terms
        ("<dl><dt>a<dd>b<dt>c<dd>d</dl>", [(0, 2), (2, 4)]),
        ("<dl><dt>a<dd>b<dd>c</dl><p>d", [(0, 3)]),
        (f"<dl><dt>a<dd>{words(79)}</dl>", [(0, 2)]),
        (f"<dl><dt>a<dd>{words(80)}</dl>", []),
        ("<dl><dt>a<dd>b</dl><dl><dt>c<dd>d</dl>", [(0, 2), (2, 4)]),
        # Items that begin with a label
        ("<ul><li><p>a<p>b</ul>", [(0, 2)]),
        ("<ul><li><p>a</ul>", []),
        ("<ul><li><p>a<p>b<p>c<p>d</ul>", [(0, 4)]),
        ("<ul><li><p>a<p>b<p>c<p>d<p>e</ul>", []),
        (f"<ul><li><p>{words(8)}<p>{words(8)}</ul>", [(0, 2)]),
        (f"<ul><li><p>{words(9)}<p>{words(9)}</ul>", []),
        (f"<ul><li><p>{words(3)}<p>{words(2)}</ul>", []),  # most of it is the label
        (f"<ul><li><p>{words(3)}<p>{words(3)}</ul>", [(0, 2)]),
        (f"<ul><li><p>a<p>{words(79)}</ul>", [(0, 2)]),
        (f"<ul><li><p>a<p>{words(80)}</ul>", []),
        ("<ul><li><p>a<p>b <a href=/>c</a></ul>", [(0, 2)]),
        ("<ul><li><p>a<p><a href=/>b</a></ul>", []),  # half of it is a link
        ("<ul><li><p>a<p><button>b</button></ul>", []),
        ("<ul><li><button>a</button><p>b</ul>", [(0, 2)]),
    ],
)
def test_units_at_a_limit(html, expected):
    assert units(html) == expected


def test_smaller_units_come_first():
    assert units("<pre>a\nb\nc</pre><ul><li><p>a<p>b</ul><dl><dt>a<dd>b<dd>c<dd>d</dl>") == [(3, 5), (0, 3), (5, 9)]
