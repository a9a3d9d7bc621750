"""Every format contains the same words, and a switch for one part does not change another part."""

import csv
import io
import json
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from markdown_it import MarkdownIt
from mdit_py_plugins.footnote import footnote_plugin

from victorpy import Cleaner, CleanPage, Label, Parts, load_config, read_document
from victorpy.methods import load_method

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"]).use(footnote_plugin)
MARKUP = {
    "heading": '<h2 id="pot">Pots<a class="headerlink" href="#pot">¶</a></h2>',
    "note": 'Tea is hot <sup><a href="#fn1" id="ref1">1</a></sup> and dark.</p>'
    '<ol class="footnotes"><li id="fn1">Or cold. <a href="#ref1">↩</a></li></ol><p>End.',
    "inline note": 'Milk <span class="ltx_note"><sup class="ltx_note_mark">2</sup><span class="ltx_note_content">'
    '<sup class="ltx_note_mark">2</sup>From cows.</span></span> is white.',
    "formula": 'Water has <math alttext="T=100"><mi>T</mi></math> degrees.',
    "image": '<figure><img src="a.jpg" alt="Green pot" width="99" height="99"><figcaption>An old pot</figcaption>'
    "</figure>",
    "image in text": 'See <img src="b.jpg" alt="blue cup" width="99" height="99"> here.',
    "table": "<table><caption>Times</caption><tr><th>Kind<th>Min<tr><td rowspan=2>Oolong<td>two<tr><td>three "
    '<img src="c.jpg" alt="clock" width="99" height="99"></table>',
    "code": '<pre><code class="language-py">boil(x)\n  pour|(`y`)</code></pre>',
    "list": "<ol start=4><li>Four<ul><li>inner</ul><li>Five</ol>",
    "definitions": "<dl><dt>Assam<dd>malty<dd><ul><li>strong</ul></dl>",
    "box": '<div class="admonition warning"><p class="admonition-title">Warning</p><p>Steam burns.</p></div>',
    "verse": "Roses<br>are red<br>violets",
    "details": "<details><summary>More</summary>hidden words</details>",
    "quotation": "<blockquote><p>Said <i>so</i></p><blockquote>inner quote</blockquote></blockquote>",
}
TOGETHER = "".join(f"<p>{markup}</p>" for part, markup in MARKUP.items() if part != "inline note")
# Words of parts that a switch leaves out
GONE = {
    "images": {"green", "pot", "blue", "cup", "clock"},
    "captions": {"an", "old", "pot", "times"},
    "notes": {"or", "cold"},
    "tables": {"kind", "min", "oolong", "two", "three", "clock", "times"},
    "code": {"boil", "x", "pour", "y"},
}
# Words that formats write in another way: the marks of notes, and the type of a box
MARKS = {"1", "2", "↩", "warning"}
TREES = {"html": "body", "xml": "doc", "tei": "text", "prevertical": "doc"}
FORMATS = ["text", "jsonl", "csv", "markdown", *TREES]
URL = "https://tea.example/"
PAGES = sorted((Path(__file__).parents[2] / "data").glob("*/*.html"))[::4]
BEFORE, AFTER = "<p>Words before the part.</p>", "<p>Words after it.</p>"


@pytest.fixture(scope="module")
def cleaner():
    return Cleaner.load()


def page_of(html, label="paragraph"):
    document = read_document(f"<body>{html}</body>", load_config("default"), url=URL)
    return CleanPage(document, (Label(label),) * len(document.texts), by_method=True)


def words(format, page):
    """Return how often each word is in a page that is written in a format. Words of other blocks are separate."""
    written = page.to(format)
    if format in TREES:
        root = etree.HTML(written) if format == "html" else etree.fromstring(written)
        written = text_in(next(root.iter("{*}" + TREES[format])))
    elif format == "markdown":
        rendered = etree.HTML(re.sub(r"\[!(\w+)\]", r"\1", PARSER.render(written)))
        for mark in rendered.xpath("//*[@class='footnote-ref' or @class='footnote-backref']"):
            mark.clear(keep_tail=True)
        written = text_in(rendered)
    elif format == "jsonl":
        written = json.loads(written)["text"]
    elif format == "csv":
        written = next(csv.DictReader(io.StringIO(written)))["text"]
    found = Counter(re.findall(r"\w+", written.lower()))
    for mark in MARKS:
        del found[mark]
    return found


def letters(format, page):
    """Return how often each letter is in a page. Inline markup may divide words, but not letters."""
    return Counter(char for word in words(format, page).elements() for char in word if char.isalpha())


def text_in(tree):
    return " ".join(f"{node.get('alt') or ''} {node.text or ''} {node.tail or ''}" for node in tree.iter())


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("part", MARKUP)
def test_formats_have_the_same_words(part, format):
    page = page_of(f"{BEFORE}<p>{MARKUP[part]}</p>{AFTER}")
    found = words(format, page)
    if part != "inline note" or format not in {"text", "jsonl", "csv"}:  # these leave it where it is
        assert found == words("html" if part == "inline note" else "text", page)
    assert found["before"] == found["after"] == 1
    assert len(found) > 6


@pytest.mark.parametrize("part", ["links", "images", "formatting", "captions", "notes", "tables", "code"])
@pytest.mark.parametrize("format", ["text", "markdown", "html", "tei"])
def test_a_switch_does_not_change_other_parts(format, part):
    """Without a part, each word is as often in the page as before, or is gone with the part."""
    method = load_method("everything")
    whole = words(format, method.document(TOGETHER, url=URL))
    less = words(format, method.document(TOGETHER, url=URL, parts=Parts.of(exclude=part)))
    gone = whole - less
    assert not less - whole
    assert gone.keys() == GONE.get(part, set())


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_real_pages_have_the_same_letters(path, cleaner):
    """No format loses a letter of the text, and switches for markup do not change the text."""
    html = path.read_bytes()
    page = cleaner.document(html, url=URL)
    text = letters("text", page)
    for format in ("markdown", "html", "xml", "tei", "prevertical"):
        assert not text - letters(format, page)
    for part in ("links", "formatting", "facts"):
        assert cleaner.document(html, url=URL, parts=Parts.of(exclude=part)).text == page.text
    for part in ("tables", "code", "captions", "byline", "comments"):
        assert not letters("text", cleaner.document(html, url=URL, parts=Parts.of(exclude=part))) - text


@given(st.sets(st.sampled_from(["links", "images", "formatting", "captions", "notes", "tables", "code"])))
def test_switches_can_be_combined(parts):
    """Dropping several parts drops the words of each of them, and no others."""
    method = load_method("everything")
    page = method.document(TOGETHER, url=URL, parts=Parts.of(exclude=parts))
    for format in ("text", "markdown", "xml"):
        gone = words(format, method.document(TOGETHER, url=URL)) - words(format, page)
        assert gone.keys() == set().union(*(GONE.get(part, set()) for part in parts))
