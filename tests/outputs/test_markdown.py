"""Markdown is read by a reference parser, and has the words of the text and no markup of the page."""

import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from markdown_it import MarkdownIt

from benchmarks.structure import read_pages
from victorpy import CleanPage, Label, clean, load_config, read_document
from victorpy.methods import load_method
from victorpy.outputs.anno import load_anno

SAMPLES = sorted((Path(__file__).parents[2] / "data").glob("*/*.anno"))
PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
OWN_TAGS = {"<br>", "<sub>", "</sub>", "<sup>", "</sup>"}

TEXTS = st.text(st.sampled_from('ab1 \n*_`~<>[]()!#+-.=|&;:$\\"^é茶'), min_size=1, max_size=12)
FRAGMENTS = st.sampled_from(
    [
        *("<script>alert(1)</script>", "[x](javascript:alert(1))", "![x](data:x,y)", "<http://t.example>", "&lt;b&gt;"),
        *(
            "$x <img src=a onerror=b> y$",
            "$[x](javascript:alert(1))$",
            "$$a</p><script>$$",
            "\\(<b>\\)",
            "- a",
            "    a",
        ),
        *("[^1]: a", "[a]: b", "***", "===", "---", "| a | b |", "```", "~~~", "> a", "# a", "<!--", "&amp;", "1. a"),
        "http://t.example",
    ]
)
INLINE_TAGS = st.sampled_from(
    ["b", "i", "code", "a href='javascript:alert(1)'", "a href='/x)|(y'", "sub", "del", "span"]
)
BLOCK_TAGS = st.sampled_from(
    ["p", "div", "blockquote", "ul", "li", "ol", "pre", "h2", "table", "tr", "td", "th", "div class=alert-warning"]
)


def escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;")


INLINE = st.recursive(
    st.one_of(TEXTS, FRAGMENTS).map(escape),
    lambda inner: st.builds(
        lambda tag, parts: f"<{tag}>{''.join(parts)}</{tag.split()[0]}>", INLINE_TAGS, st.lists(inner, max_size=3)
    ),
    max_leaves=5,
)
BLOCKS = st.recursive(
    INLINE,
    lambda inner: st.builds(
        lambda tag, parts: f"<{tag}>{''.join(parts)}</{tag.split()[0]}>", BLOCK_TAGS, st.lists(inner, max_size=4)
    ),
    max_leaves=12,
)


def letters(text):
    return [*filter(str.isalnum, text)]


def check(page):
    """Check that Markdown without notes and images has the letters of the text, and no tags but those of the format."""
    plain = replace(page, without=frozenset(["notes", "images"]))
    written = plain.to("markdown")
    tokens = PARSER.parse(written)
    inner = [token for block in tokens for token in block.children or ()]
    assert not [token for token in tokens if token.type == "html_block"]
    assert {token.content for token in inner if token.type == "html_inline"} <= OWN_TAGS
    assert not [token for token in inner if token.type == "image"]
    links = [str(token.attrs["href"]) for token in inner if token.type == "link_open"]
    assert not [link for link in links if link.lower().startswith(("javascript:", "data:"))]
    root = etree.HTML(PARSER.render(written) or "<p>")
    if "[!" not in written and "- [" not in written:  # the type of a box, which may replace its title, or a task
        assert letters("".join(root.itertext())) == letters(plain.text)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_sample_page_gives_back_its_words(path):
    check(load_anno(path, load_config("default").cuts))


def test_pages_of_the_benchmark_give_back_their_words():
    method = load_method("everything")
    for page in read_pages():
        check(method.document(page.html, url=page.url))


@given(st.lists(BLOCKS, min_size=1, max_size=4), st.lists(st.sampled_from(list(Label)), min_size=1, max_size=6))
def test_generated_page_gives_back_its_words(blocks, labels):
    document = read_document("".join(blocks), load_config("default"))
    chosen = [labels[number % len(labels)] for number in range(len(document.blocks))]
    check(CleanPage(document, tuple(chosen)))


@pytest.mark.parametrize("start", [r"\[ ", r"\( \[ ", r"\\[ ", "$$ ", "$a "])
def test_formulas_without_an_end_take_linear_time(start):
    began = time.process_time()
    clean("<p>" + start * 60_000, format="markdown")
    assert time.process_time() - began < 20  # minutes if every start is followed to the end of the text


@pytest.mark.parametrize(
    ("heading", "written"),
    [
        ("1. Tea", "1. Tea"),
        ("1) Tea", "1) Tea"),
        ("- Tea", "- Tea"),
        ("# Tea", "# Tea"),
        ("Tea #", r"Tea \#"),
        ("Tea ##", r"Tea \##"),
        ("#", r"\#"),
        ("Tea#", "Tea#"),
        ("*Tea*", r"\*Tea\*"),
        ("1. Tea<br>- wet", "1. Tea - wet"),
    ],
)
def test_heading_is_escaped_only_where_markdown_needs_it(heading, written):
    document = read_document(f"<h2>{heading}</h2>", load_config("default"))
    labels = (Label.HEADER, Label.CONTINUATION)[: len(document.blocks)]
    markdown = CleanPage(document, labels).to("markdown")
    assert markdown == f"## {written}\n"
    assert PARSER.render(markdown) == f"<h2>{heading.replace('<br>', ' ')}</h2>\n"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("1. Tea", r"1\. Tea"),
        ("12) Tea", r"12\) Tea"),
        ("1.5 Tea", "1.5 Tea"),
        ("+ Tea", r"\+ Tea"),
        ("0+", "0+"),
        ("0+ Tea", "0+ Tea"),
        ("2024-", "2024-"),
        ("2024- Tea", "2024- Tea"),
        ("5> Tea", "5> Tea"),
        ("10=", "10="),
        ("3# Tea", "3# Tea"),
        ("> Tea", r"\> Tea"),
    ],
)
def test_start_of_a_line_is_escaped_only_where_markdown_needs_it(text, written):
    document = read_document(f"<p>{escape(text)}</p>", load_config("default"))
    markdown = CleanPage(document, (Label.PARAGRAPH,)).to("markdown")
    assert markdown == f"{written}\n"
    assert PARSER.render(markdown) == f"<p>{text.replace('>', '&gt;')}</p>\n"
