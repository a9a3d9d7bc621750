"""The formats xml and tei: valid, and with the words of the other formats."""

import re
from pathlib import Path

import pytest
from lxml import etree

from benchmarks.structure import read_pages
from victorpy import Cleaner, CleanPage, Label, Metadata, load_config, read_document
from victorpy.outputs.anno import load_anno

ROOT = Path(__file__).parents[2]
SAMPLES = sorted((ROOT / "data").glob("*/*.anno"))
SCHEMA = etree.RelaxNG(etree.parse(Path(__file__).with_name("tei.rng")))
TEI = "{http://www.tei-c.org/ns/1.0}"


def page_of(html, label="paragraph", **values):
    document = read_document(html, load_config("default"))
    return CleanPage(document, (Label(label),) * len(document.blocks), **values)


def parse_valid(tei):
    root = etree.fromstring(tei.encode())
    assert SCHEMA.validate(root), SCHEMA.error_log
    return root


def words(element):
    """Return the words of an element and its children, without the descriptions of images."""
    texts = element.xpath(".//text()[not(ancestor::*[local-name() = 'figDesc'])]")
    return re.findall(r"\w+", " ".join(texts))


def check(page):
    in_tei = words(parse_valid(page.to("tei")).find(f".//{TEI}body"))
    assert words(etree.fromstring(page.to("xml").encode())) == in_tei
    body = etree.HTML(page.to("html")).find("body")
    assert in_tei == (words(body) if body is not None else [])


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_sample_page_is_valid_and_has_the_words_of_its_html(path):
    check(load_anno(path, load_config("default").cuts))


def test_pages_of_the_benchmark_are_valid_and_have_the_words_of_their_html():
    cleaner = Cleaner.load()
    for page in read_pages():
        check(cleaner.document(page.html, url=page.url, metadata=True))


@pytest.mark.parametrize(
    ("html", "written"),
    [
        ("<p>a <b>b</b> <a href='http://t.example/x y|z'>c</a><br>d", '<p>a <hi rend="bold">b</hi> '
         '<ref target="http://t.example/x%20y%7Cz">c</ref><lb/>d</p>'),
        ("<p>a <b><code>b<br>c</code></b>", '<p>a <hi rend="bold"><code>b</code></hi><lb/>'
         '<hi rend="bold"><code>c</code></hi></p>'),
        ("<pre class='language-c'>a &lt;\n b</pre>", '<p><code lang="c" xml:space="preserve">a &lt;\n b</code></p>'),
        ('<div class="admonition warning"><p>a</p></div>', '<quote type="warning">\n<p>a</p>\n</quote>'),
        ("<p>a</p><figure><img src='b.png' alt='B'><figcaption>c</figcaption></figure><p>d</p>",
         '<p>a</p>\n<figure><head>c</head><graphic url="b.png"/><figDesc>B</figDesc></figure>\n<p>d</p>'),
        ("<p>a</p><a href='/c'><img src='b.png'></a><p>d</p>",
         '<p>a</p>\n<figure><p><ref target="/c"><graphic url="b.png"/></ref></p></figure>\n<p>d</p>'),
        ("<p>a<sup><a class='footnote' href='#n'>1</a></sup></p><p id='n'>b</p>",
         '<p>a<ref type="note" n="1">1</ref></p>\n<note place="foot" n="1">\n<p>b</p>\n</note>'),
    ],
)  # fmt: skip
def test_markup(html, written):
    page = page_of(html)
    if "<br>" in html:
        page = CleanPage(page.document, (Label.PARAGRAPH, Label.CONTINUATION))
    assert page.to("xml") == f"<doc>\n{written}\n</doc>\n"
    parse_valid(page.to("tei"))


def test_lists_are_nested_and_numbered():
    page = page_of("<ol start=3><li>a<ul><li>b</ul><li><input type=checkbox>c</ol>", "list")
    assert page.to("xml").splitlines()[1:-1] == [
        '<list rend="numbered">', '<item n="3">a', '<list rend="bulleted">', "<item>b</item>", "</list>", "</item>",
        '<item n="4">c</item>', "</list>",
    ]  # fmt: skip
    parse_valid(page.to("tei"))


def test_headings_begin_divisions_except_inside_other_elements():
    page = page_of("<h1>a</h1><h2>b</h2><blockquote><h3>c</h3></blockquote>", "header")
    root = parse_valid(page.to("tei"))
    assert [[child.tag.removeprefix(TEI) for child in division] for division in root.iter(f"{TEI}div")] == [
        ["head"],
        ["head", "quote"],
    ]


@pytest.mark.parametrize("label", ["paragraph", "header", "other"])
def test_hostile_facts_and_texts_are_valid(label):
    hostile = "\x00\x1b<x>&amp;\"'\ud800\ufffe ]]>\u2028"
    metadata = Metadata(hostile, hostile, "17 May", hostile, hostile, "x'y", f"http://t.example/{hostile}#a#b%zz")
    page = page_of(f"<h1>{hostile}</h1><p>a</p><img src='{hostile}.png' alt='{hostile}'><p>b</p>", label)
    page = CleanPage(page.document, page.labels, metadata=metadata)
    parse_valid(page.to("tei"))
    etree.fromstring(page.to("xml").encode())
