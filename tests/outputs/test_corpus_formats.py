"""Formats for corpora and spreadsheets, several pages in one file, and several formats together."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from lxml import etree
from support.batchpages import response, write_warc
from support.commands import victor

from victorpy import CleanPage, Label, Metadata, VictorError, load_config, read_document
from victorpy.methods import load_method
from victorpy.outputs import find_output

PAGE = "<title>Tea</title><h1>Tea</h1><p>It’s hot (very hot). R&amp;D &lt;b&gt;: 茶很热。</p><ul><li>one</ul>"
OWN = "<title>Tea</title><link rel=canonical href=https://own.example/><p>Tea is hot."
ADDRESSED = (
    *("vertical", "prevertical", "xml", "tei", "csv", "jsonl", "text,markdown", "cleaneval", "label-studio"),
    *("markdown(front_matter=yes)", "docview", "docview-csv", "docview-markdown", "docview-tei"),
)
SCHEMA = etree.RelaxNG(etree.parse(Path(__file__).with_name("tei.rng")))
FACTS = Metadata("Tea <1>", 'Ann "A" Lee', "2024-05-17", url="http://t.example/?a=1&b=2", language="en")


def page_of(html, labels=None, metadata=FACTS):
    document = read_document(html, load_config("default"))
    return CleanPage(document, tuple(labels or [Label.PARAGRAPH] * len(document.blocks)), metadata=metadata)


def test_prevertical_has_attributes_paragraphs_and_headings():
    assert page_of(PAGE, [Label.HEADER, Label.PARAGRAPH, Label.LIST]).to("prevertical") == (
        '<doc url="http://t.example/?a=1&amp;b=2" title="Tea &lt;1&gt;" author="Ann &quot;A&quot; Lee" '
        'date="2024-05-17" lang="en">\n<p heading="1">\nTea\n</p>\n'
        "<p>\nIt’s hot (very hot). R&amp;D &lt;b&gt;: 茶很热。\n</p>\n<p>\none\n</p>\n</doc>\n"
    )


def test_vertical_has_a_word_per_line_sentences_and_glue():
    lines = page_of("<p>It’s hot (very hot). R&amp;D &lt;b&gt;.").to("vertical").splitlines()
    assert lines[1:] == [
        *("<p>", "<s>", "It’s", "hot", "(", "<g/>", "very", "hot", "<g/>", ")", "<g/>", ".", "</s>"),
        *("<s>", "R", "<g/>", "&amp;", "<g/>", "D", "&lt;", "<g/>", "b", "<g/>", "&gt;", "<g/>", ".", "</s>"),
        *("</p>", "</doc>"),
    ]


@pytest.mark.parametrize("format", ["vertical", "prevertical"])
def test_words_cannot_be_taken_for_structures(format):
    hostile = '&lt;/doc&gt;\n&lt;doc url="x"&gt; \u2028</p><pre>\n&lt;s&gt;\n</pre>'
    written = page_of(f"<p>{hostile}", metadata=Metadata(title='"><doc>\n<p>\x0b')).to(format)
    lines = written.splitlines()
    assert [line for line in lines if line.startswith("<doc")] == [lines[0]]
    assert lines.count("</doc>") == 1
    assert lines.count("<s>") == (2 if format == "vertical" else 0)


def test_tables_notes_and_captions_are_paragraphs_without_marks():
    table = "<table><tr><th>a<th>b<tr><td>c<td>d</table>"
    note = '<p>Tea<sup><a class="footnote" href="#n">1</a></sup> is hot.</p><p id="n">Or cold.</p>'
    written = page_of(table + note).to("prevertical").split("\n")
    assert written[1:-2] == [
        line for text in ("a b", "c d", "Tea is hot.", "Or cold.") for line in ("<p>", text, "</p>")
    ]


def test_csv_is_safe_and_has_a_row_per_page():
    page = page_of("<p>=1+1, a</p><p>b", metadata=Metadata(title=' =cmd|" /C calc"!A0', url="http://t.example/"))
    header, row = csv.reader(io.StringIO(page.to("csv")))
    values = dict(zip(header, row, strict=True))
    assert values["url"] == "http://t.example/"
    assert values["title"].startswith("' =cmd")
    assert values["text"] == "'=1+1, a\n\nb\n"


def test_formats_together_are_one_json_object():
    page = page_of(PAGE, [Label.HEADER, Label.PARAGRAPH, Label.LIST])
    record = json.loads(page.to("text,markdown"))
    alone = json.loads(page.to("jsonl"))
    del alone["blocks"]
    assert record == {**alone, "markdown": page.to("markdown")}
    assert (record["title"], record["author"], record["language"]) == ("Tea <1>", 'Ann "A" Lee', "en")
    assert find_output("markdown,docview(keywords=2)").wants_metadata


@pytest.mark.parametrize(
    ("format", "message"), [("text,text", "twice"), ("text,markdwon", "did you mean 'markdown'"), ("text,", "format")]
)
def test_wrong_lists_of_formats_are_reported(format, message):
    with pytest.raises(VictorError, match=message):
        find_output(format)


@pytest.fixture
def pages(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.html").write_text(f"<title>{name}</title><p>Tea {name} is hot. &lt; it is cold</p>")
    return tmp_path


def test_empty_pages_are_rows_but_no_documents_of_a_file(pages):
    (pages / "b.html").write_text("<title>b</title><p>")
    for format, mark in [("vertical", "<doc"), ("prevertical", "<doc"), ("xml", "<doc "), ("tei", "<TEI")]:
        assert clean_to(pages, format, f"corpus.{format}").count(mark) == 1
    assert clean_to(pages, "text", "corpus.txt").count("==>") == 1
    for format, file in [("jsonl", "pages.jsonl"), ("csv", "pages.csv"), ("text,markdown", "more.jsonl")]:
        rows = clean_to(pages, format, file)
        assert len(rows.splitlines() if format != "csv" else [*csv.reader(io.StringIO(rows))][1:]) == 2
    alone = victor("clean", "--method", "everything", "--format", "vertical", pages / "b.html")
    assert alone.stdout == b'<doc title="b">\n</doc>\n'


def test_formats_together_have_the_facts_of_jsonl_in_every_file(pages):
    rows = [json.loads(line) for line in clean_to(pages, "jsonl", "alone.jsonl").splitlines()]
    expected = [{name: value for name, value in row.items() if name != "blocks"} for row in rows]
    assert [row["source"] for row in expected] == [str(pages / "a.html"), str(pages / "b.html")]
    lines = clean_to(pages, "text,markdown", "both.jsonl").splitlines(keepends=True)
    for folder, options in [("plain", []), ("batch", ["--to", "folder"])]:
        command = ("clean", "--method", "everything", "--format", "text,markdown", *options, "-o", f"{pages}/{folder}/")
        ended = victor(*command, pages / "a.html", pages / "b.html")
        assert ended.returncode == 0, ended.stderr
        assert [(pages / folder / f"{name}.jsonl").read_text() for name in "ab"] == lines
    for line, fields in zip(map(json.loads, lines), expected, strict=True):
        assert line.pop("markdown").startswith("Tea")
        assert line == fields


def test_addresses_of_records_are_kept(tmp_path):
    write_warc(tmp_path / "crawl.warc", [response("http://my.example/x", OWN.encode())])
    ended = victor("clean", tmp_path / "crawl.warc", "--method", "everything", "--format", "vertical")
    assert ended.stdout.startswith(b'<doc url="http://my.example/x"')


def clean_to(pages, format, file):
    inputs = [str(pages / "a.html"), str(pages / "b.html")]
    ended = victor("clean", "--method", "everything", "--format", format, *inputs, "-o", pages / file)
    assert ended.returncode == 0, ended.stderr
    return (pages / file).read_text()


def test_one_file_has_several_pages(pages):
    assert clean_to(pages, "vertical", "corpus.vert").count("<doc ") == 2
    text = clean_to(pages, "text", "corpus.txt").split("\n\n")
    assert [page.split("\n")[0].rpartition("/")[2] for page in text] == ["a.html <==", "b.html <=="]
    assert clean_to(pages, "markdown", "corpus.md").count("==> ") == 2
    tei = etree.fromstring(clean_to(pages, "tei", "corpus.xml").encode())
    assert SCHEMA.validate(tei), SCHEMA.error_log
    assert len(tei.findall("{*}TEI")) == 2
    assert len(etree.fromstring(clean_to(pages, "xml", "pages.xml"))) == 2
    assert clean_to(pages, "csv", "pages.csv").count("confidence") == 1


def test_formats_together_in_files_and_tables(pages):
    lines = [*map(json.loads, clean_to(pages, "text,markdown", "pages.jsonl").splitlines())]
    assert [line["markdown"] for line in lines] == [f"Tea {name} is hot. \\< it is cold\n" for name in "ab"]
    ended = victor("clean", "--format", "text,markdown", pages / "a.html", "-o", f"{pages}/out.jsonl/", "--jobs", 1)
    assert ended.returncode == 0, ended.stderr
    (part,) = (pages / "out.jsonl").glob("part*")
    assert json.loads(part.read_text())["markdown"].endswith("Tea a is hot. \\< it is cold\n")


@pytest.mark.parametrize("format", ADDRESSED)
def test_formats_have_the_given_address_or_else_that_of_the_page(format):
    cleaner = load_method("everything")
    given = cleaner.document(OWN, "https://MY.example/x", metadata=True).to(format)
    assert "https://MY.example/x" in given
    assert "own.example" not in given
    assert "https://own.example/" in cleaner.document(OWN, metadata=True).to(format)


@pytest.mark.parametrize(
    ("address", "declared", "expected"),
    [
        ("http://a.example/", "http://b.example/", "http://a.example/"),
        ("", "http://b.example/", "http://b.example/"),
        ("", "", "tea.html"),
    ],
)
def test_tei_points_to_the_address_of_the_page_or_else_to_its_file(address, declared, expected):
    page = page_of("<p>Tea", metadata=Metadata("Tea", url=declared))
    page = replace(page, document=replace(page.document, url=address, source="tea.html"))
    pointer = etree.fromstring(page.to("tei").encode()).find(".//{*}ptr")
    assert pointer is not None
    assert pointer.get("target") == expected
