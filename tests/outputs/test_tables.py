"""Tables, lists and quotations in the outputs. No text is lost or repeated."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from victorpy import CleanPage, Label, load_config, read_document
from victorpy.methods import load_method
from victorpy.outputs import OUTPUTS, segments
from victorpy.outputs.anno import load_anno
from victorpy.outputs.tables import Table, parts

SAMPLES = sorted((Path(__file__).parents[2] / "data").glob("*/*.anno"))
CONFIGS = {name: load_config(name) for name in ("cleaneval", "default")}
FORMATS = ["text", "markdown", "html"]
WORD = re.compile(r"w\d+w")
LETTERS = re.compile(r"\w")

# Markup around texts; every W becomes another word.
TEXTS = ["W", "W W", "<b>W</b> W", "<a href='/x'>W <i>W</i></a>", "W|W", "<code>W | W</code>", "W<br>W", "W\\", "*W_"]
CELLS = ["", "<img src='x.png'>", "<p>W</p>", "<p>W</p><p>W</p>", "<ul><li>W</li><li>W</li></ul>", "<h3>W</h3>"]
CELLS += ["<pre>W\n  W | `W`</pre>", "<img alt='W'>", "<blockquote>W</blockquote>", "<h2>W</h2>W", "<b>W</b>"]
LABELS = st.sampled_from([*Label, Label.PARAGRAPH, Label.PARAGRAPH])
PLACES = [
    "blockquote",
    "ul",
    "ol",
    "ol start='7'",
    "dl",
    "li",
    "dt",
    "dd",
    "div",
    "p",
    "pre",
    "a href='/y'",
    "td",
    "tr",
]


def cell(content):
    tags = st.sampled_from(["td", "td", "td", "th"])
    return st.builds(lambda tag, inside: f"<{tag}>{inside}</{tag}>", tags, content)


def table(content):
    row = st.lists(cell(content), max_size=4).map(lambda cells: f"<tr>{''.join(cells)}</tr>")
    head = st.sampled_from(["", "", "<caption>W</caption>", "<thead><tr><th>W</th><th>W</th></tr></thead>", "W"])
    rows = st.lists(row, max_size=5).map("".join)
    return st.builds(lambda above, body, below: f"<table>{above}{body}{below}</table>", head, rows, head)


def element(inside):
    def write(tag, children):
        return f"<{tag}>{''.join(children)}</{tag.split()[0]}>"

    return table(inside) | st.builds(write, st.sampled_from(PLACES), st.lists(inside, max_size=4))


pages = st.lists(st.recursive(st.sampled_from([*TEXTS, *CELLS]), element, max_leaves=20), max_size=4).map("".join)


@st.composite
def labelled_pages(draw):
    number = iter(range(10_000))
    markup = re.sub("W", lambda _: f"w{next(number)}w", draw(pages))
    document = read_document(markup, CONFIGS[draw(st.sampled_from([*CONFIGS]))])
    labels = draw(st.lists(LABELS, min_size=len(document.blocks), max_size=len(document.blocks)))
    return CleanPage(document, tuple(labels))


def render(format, page):
    return OUTPUTS.get(format).render(page)


def kept_words(page):
    kept = [block.text for block, label in zip(page.document.blocks, page.labels, strict=True) if label.is_content]
    return WORD.findall("\n".join(kept))


def tables_of(page):
    return [part for part in parts(page) if isinstance(part, Table)]


def page_of(markup, label=Label.PARAGRAPH):
    document = read_document(markup, CONFIGS["default"])
    return CleanPage(document, (label,) * len(document.blocks))


@pytest.mark.slow
@given(labelled_pages())
@settings(max_examples=400, deadline=None, derandomize=True, database=None)
def test_kept_words_are_written_once_and_in_order(page):
    for format in FORMATS:
        assert WORD.findall(render(format, page)) == kept_words(page), format


@pytest.mark.slow
@given(labelled_pages())
@settings(max_examples=200, deadline=None, derandomize=True, database=None)
def test_html_is_nested_correctly(page):
    body = re.search(r"<body>.*</body>", render("html", page), re.DOTALL)[0]
    root = etree.fromstring(body.replace("<br>", "<br/>"))
    for parent, children in {"ul": {"li"}, "ol": {"li"}, "table": {"thead", "tr"}, "tr": {"td", "th"}}.items():
        assert {child.tag for each in root.iter(parent) for child in each} <= children


@pytest.mark.slow
@given(labelled_pages())
@settings(max_examples=200, deadline=None, derandomize=True, database=None)
def test_header_of_a_markdown_table_is_as_wide_as_its_widest_row(page):
    for found in tables_of(page):
        alone = CleanPage(page.document, _labels_inside(page, found))
        rows = [line.lstrip("> ") for line in render("markdown", alone).splitlines() if line.lstrip("> ")]
        assert len(rows) == len(found.rows) + 2 - found.has_header
        widths = [len(re.split(r"(?<!\\)\|", row)) - 2 for row in rows]
        assert widths[0] == widths[1] == max(widths) == max(map(len, found.rows))
        assert set(rows[1]) <= set("| -")


def _labels_inside(page, found):
    kept = {block.index for row in found.rows for cell in row for each in cell.segments for block in each.blocks}
    return tuple(label if number in kept else Label.OTHER for number, label in enumerate(page.labels))


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_sample_page_keeps_its_letters_in_order_and_its_tables(path):
    page = load_anno(path, CONFIGS["default"].cuts)
    kept = "".join("".join(LETTERS.findall(segment.text)) for segment in segments(page))
    body = etree.HTML(render("html", page)).find("body")
    assert "".join(LETTERS.findall("".join(body.itertext()))) == kept
    assert "".join(LETTERS.findall(render("text", page))) == kept

    headed = {number for number, tag in enumerate(page.document.elements.tag) if tag == "th"}
    headings = {cell.element for found in tables_of(page) for row in found.rows for cell in row if cell.is_heading}
    kept = {block.element for block, label in zip(page.document.blocks, page.labels, strict=True) if label.is_content}
    assert headings >= headed & kept
    if "table" not in page.document.elements.tag:
        assert [*parts(page)] == segments(page)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("a|b", r"a\|b"),
        ("|-", r"\|-"),
        (r"a\|b", r"a\\\|b"),
        (r"<code>a\|b</code>", r"`a\|b`"),
        ("<code>a||b</code>", r"`a\|\|b`"),
    ],
)
def test_pipe_in_a_markdown_cell_is_escaped_once(cell, expected):
    page = f"<table><tr><th>x<th>y<tr><td>{cell}<td>tea<tr><td>1<td>2</table>"
    written = load_method("everything").clean(page, format="markdown")
    assert written.splitlines()[2] == f"| {expected} | tea |"


def test_long_table_is_read_in_linear_time():
    rows = "".join(f"<tr><td>{number}</td><td>tea</td></tr>" for number in range(5_000))
    (found,) = tables_of(page_of(f"<table>{rows}</table>"))
    assert [row[0].text for row in found.rows] == [str(number) for number in range(5_000)]


def rows_of(*rows, tag="td"):
    return "".join(f"<tr>{''.join(f'<{tag}>{cell}</{tag}>' for cell in row)}</tr>" for row in rows)


FULL, HALF, WIDE, TWO = ["a", "b"], ["a", ""], ["a", "b", "c"], "<p>a</p><p>b</p>"


@pytest.mark.parametrize(
    ("rows", "is_table"),
    [
        (rows_of(FULL, FULL, ["a", "t" * 400]), True),  # the longest cell
        (rows_of(FULL, FULL, ["a", "t" * 401]), False),
        (rows_of(*[FULL] * 9, ["a", "t" * 2_000]), True),  # a twentieth of the cells may be longer
        (rows_of(*[FULL] * 9, ["a", "t" * 2_001]), False),
        (rows_of(*[FULL] * 8, ["a", "t" * 401]), False),
        (rows_of(FULL, ["a", "t" * 2_000], tag="th"), True),
        (rows_of(FULL, ["a", "t" * 2_001], tag="th"), False),
        (rows_of(["t" * 120] * 2, ["t" * 120] * 2), True),  # the median cell
        (rows_of(["t" * 120] * 2, ["t" * 121] * 2), False),
        (rows_of(["t" * 121, "a"], ["a", "t" * 121]), True),
        (rows_of(FULL, FULL, HALF, HALF), True),  # rows with two filled cells
        (rows_of(FULL, FULL, HALF, HALF, HALF), False),
        (rows_of(FULL, HALF, HALF), False),
        (rows_of(FULL, FULL, FULL, WIDE, WIDE), True),  # rows of the same width
        (rows_of(FULL, FULL, FULL, WIDE, WIDE, ["a"]), False),
        (rows_of([TWO, TWO], FULL, HALF), True),  # cells with several paragraphs
        (rows_of([TWO, TWO], [TWO, "b"], HALF), False),
        (rows_of(FULL, ["a", "<h2>b</h2><p>c</p>"]), False),
        (rows_of(FULL, ["a", "<h2>b</h2>"]), True),
    ],
)
def test_exact_limits_of_a_table_of_data(rows, is_table):
    assert bool(tables_of(page_of(f"<table>{rows}</table>"))) == is_table
    for role in ("presentation", "none"):
        assert not tables_of(page_of(f"<table role={role}>{rows}</table>"))


@pytest.mark.parametrize(
    ("widths", "tables"), [([2, 2], 1), ([2, 2, 4], 1), ([2, 2, 5], 0), ([2, 2, 2, 2], 2), ([2, 3, 2], 0)]
)
def test_exact_limit_of_the_cells_of_a_table(monkeypatch, widths, tables):
    monkeypatch.setattr("victorpy.outputs.tables.MOST_CELLS", 4)
    rows = rows_of(*(["a"] * width for width in widths))
    assert len(tables_of(page_of(f"<table>{rows}</table>"))) == tables


@pytest.mark.parametrize(
    ("rows", "has_header"),
    [
        (rows_of(FULL, tag="th") + rows_of(FULL), True),
        ("<tr><th>a</th><td>b</td></tr>" + rows_of(FULL), False),
        ("<tr><td></td><th>b</th></tr>" + rows_of(FULL, FULL), True),  # the corner is empty
        ("<thead>" + rows_of(FULL) + "</thead>" + rows_of(FULL), True),
        (rows_of(["<b>a</b>", "<strong>b</strong>"], FULL), True),
        (rows_of(["<b>a</b>", "b"], FULL), False),
        (rows_of(["<b>a</b>", "<b>b</b>"], ["<b>a</b>", "<b>b</b>"]), False),
        (rows_of(["", "<b>b</b>"], FULL, FULL), False),
    ],
)
def test_header_of_a_table(rows, has_header):
    (found,) = tables_of(page_of(f"<table>{rows}</table>"))
    assert found.has_header is has_header


@pytest.mark.parametrize(("labels", "is_table"), [("pppp", True), ("pppo", False), ("popo", False), ("oooo", False)])
def test_dropped_blocks_can_leave_no_table(labels, is_table):
    markup = "<table><tr><th>a</th><th>b</th></tr><tr><td>c</td><td>d</td></tr></table>"
    document = read_document(markup, CONFIGS["default"])
    kinds = {"p": Label.PARAGRAPH, "o": Label.OTHER}
    tables = tables_of(CleanPage(document, tuple(kinds[label] for label in labels)))
    assert [found.has_header for found in tables] == [True] * is_table


@pytest.mark.parametrize(
    ("nested", "labels", "text"),
    [
        ([["1", "2"]], "oopppp", "a\tb\nc\td\n"),
        ([["1", "2"]], "popppp", "1\na\tb\nc\td\n"),
        ([["1", "2", "3"]], "ppppppp", "1 2 3\na\tb\nc\td\n"),
        ([["1", "2"], ["3", "4"]], "pppppppp", "1\t2\n3\t4\n\na\n\nb\n\nc\n\nd\n"),
    ],
)
def test_table_around_a_nested_table_is_a_table_unless_the_nested_one_may_be(nested, labels, text):
    rows = f"<tr><td colspan='2'><table>{rows_of(*nested)}</table></td></tr>{rows_of('ab', 'cd')}"
    document = read_document(f"<table>{rows}</table>", CONFIGS["default"])
    kinds = {"p": Label.PARAGRAPH, "o": Label.OTHER}
    page = CleanPage(document, tuple(kinds[label] for label in labels))
    assert len(tables_of(page)) == 1
    assert render("text", page) == text


@pytest.mark.slow
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    "markup",
    [
        "<blockquote>" * 240 + "<p>tea</p>" * 1_000,
        "<table><tr><th>a</th><th>b</th></tr><tr>" + "<td>tea" * 2_000 + "</tr>" + "<tr><td>c<td>d" * 2_000,
    ],
    ids=["quotations in quotations", "one long row"],
)
def test_output_of_a_hostile_page_is_not_much_longer_than_the_page(markup, format):
    assert len(render(format, page_of(markup))) < 10 * len(markup)
