"""Annotation files: format, exact round trips, and error messages."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.htmlpages import pages

from victorpy.cleaner import read_document
from victorpy.config import load_config
from victorpy.document import Label
from victorpy.errors import AnnotationError
from victorpy.outputs import CleanPage
from victorpy.outputs.anno import AnnotationWriter, load_anno, read_anno, read_annotation, write_anno
from victorpy.page.markup import unescape

ROOT = Path(__file__).parents[2]
ERRORS = sorted((Path(__file__).parents[1] / "cases" / "anno-errors").glob("*.anno"))
SAMPLES = sorted((ROOT / "data").glob("*/*.anno"))

BLOCK = load_config("default")
EVERY = load_config("cleaneval")
CONFIGS = {"block": BLOCK, "every": EVERY}


def page_of(html, config=BLOCK, labels=None):
    document = read_document(html, config, source="made-up.html")
    return CleanPage(document, labels or (Label.PARAGRAPH,) * len(document.blocks))


def names(path):
    return path.stem


# The format


def test_probabilities_are_from_0_to_1():
    text = "%victor-anno 1\nsplit: block\n\nother\t0\t<p>\t Menu\nother\t1\t</p><p>\t Home\nend\t-\t</p>\t\n"
    assert read_anno(text, BLOCK.cuts).probabilities == (0.0, 1.0)


def test_blocks_of_another_split_have_the_lowest_probability_of_their_parts():
    html = "<p>Tea <b>is</b> hot<p>Milk <b>not</b><p>Water"
    labels = [Label.PARAGRAPH, Label.CONTINUATION, Label.CONTINUATION, Label.OTHER, Label.OTHER, Label.PARAGRAPH]
    page = replace(page_of(html, EVERY, tuple(labels)), probabilities=(0.9, 0.7, 0.8, 0.6, 0.5, 0.4))
    text = re.sub(r"(?m)^(paragraph)\t0\.4", r"\1\t-", write_anno(page))  # a person chose the last label
    read = read_annotation(text, BLOCK.cuts, recut=True)
    assert read.labels == (Label.PARAGRAPH, Label.OTHER, Label.PARAGRAPH)
    assert read.probabilities == (0.7, 0.5, None)


def test_a_page_is_a_header_and_a_line_for_each_block():
    html = '<title>Tea</title><link rel="canonical" href="http://tea.example/"><h1>Tea</h1><p>Hot <b>water</b>.</p>'
    page = page_of(html, labels=(Label.HEADER, Label.PARAGRAPH))
    assert write_anno(page) == (
        "%victor-anno 1\nurl: http://tea.example/\ntitle: Tea\nsource: made-up.html\nencoding: unicode\n"
        "split: block\n\n"
        "header\t-\t<html><head></head><body><h1>\t Tea\n"
        "paragraph\t-\t</h1><p>\t Hot<b> water</b>.\n"
        "end\t-\t</p></body></html>\t\n"
    )


def test_probabilities_losses_and_attributes_read_back():
    page = replace(page_of("<p>One<p>Two<p>Three"), probabilities=(1.0, 0.1 + 0.2, 1e-06))
    assert read_anno(write_anno(page), BLOCK.cuts).probabilities == (1.0, 0.1 + 0.2, 1e-06)
    document = replace(page_of("<p>Tea").document, losses=("5 characters", "a tag: <b>, dropped"))
    attributes = page_of('<p class="a &quot;b&quot; &lt;c&gt;" onclick="x()"><a href="/?a=1&amp;b=2">Tea</a>')
    for page in (CleanPage(document, (Label.OTHER,)), attributes):
        written = write_anno(page)
        assert "onclick" not in written  # the config keeps the other attributes
        assert read_anno(written, BLOCK.cuts) == page


def test_features_comments_and_line_ends_are_ignored():
    page = page_of("<p>One<p>Two")
    written = write_anno(replace(page, features=({"position": "0", "words": "1"}, {"position": "1", "words": "1"})))
    assert "\n# position=0 words=1\nparagraph\t" in written
    head, _, blocks = write_anno(page).partition("\n\n")
    commented = f"{head}\n\n# by hand\n\n" + blocks.replace("\n", "\n#\n")
    for text in (written, commented, commented.replace("\n", "\r\n")):
        assert read_anno(text, BLOCK.cuts) == page


def test_comments_after_the_last_line_are_kept():
    text = "%victor-anno 1\nsplit: block\n\n# a\nheader\t-\t<p>\t Tea\n# b\nend\t-\t</p>\t\n# c\n"
    read = read_annotation(text, BLOCK.cuts)
    assert read.comments == {0: ["# a"], 1: ["# b"], 2: ["# c"]}
    written = AnnotationWriter(read.document, read.comments).write(read.labels, read.probabilities)
    assert read_annotation(written, BLOCK.cuts) == read


@pytest.mark.parametrize("split", CONFIGS)
@pytest.mark.parametrize(
    "html",
    [
        "<p>a \x1b[31mred\x1b[0m bell\x07 \x7f and \x85 \u2028 \u2029 end</p>",
        "<p>tab\there, &#9; there</p><pre>\tindented\tby tabs\n\n  and spaces  \nx</pre>",
        "<p>1 &lt; 2 &gt; 0 &amp; &amp;lt; &quot;'</p>",
        "<p>&lt;b&gt;not a tag&lt;/b&gt;</p>",
        "<p># not a comment</p><p>%victor-anno 1</p>",
        "<p>other\t-\t&lt;p&gt;\tnot a line</p>",
        "<pre>if (a &lt; b) {\r\n\tgo();\r\n}</pre>",
        "<p>zero\u200bwidth\u00a0no-break \u202eesrever\u202c \ufffd \U0001f375</p>",
        '<p>A<img alt="  a   cup\tof &lt;tea&gt; "> and <img alt=" "> more<img></p>',
        '<p title="one\ntwo\ttabs \x1b">Text</p>',
        "<p>Wa<b>ter</b> <i> boils </i>.</p>",
        "<p>seen <span hidden>not seen</span> seen</p>",
        "<br><br>a<br>b<hr>",
        "<custom-tag><x:y>odd tags</x:y></custom-tag><br<p>broken",
        "<div>" * 300 + "deep" + "</div>" * 300 + "after",
        *("<div>" * levels + 'a<img alt="cup">b<i hidden><img alt="pot">' for levels in (251, 252, 255, 256, 400)),
        "just text",
        "",
    ],
    ids=lambda html: re.sub(r"[^ -~]", "?", html)[:30] or "empty",
)
def test_odd_texts_read_back_exactly(html, split):
    page = page_of(html, CONFIGS[split])
    written = write_anno(page)
    assert read_anno(written, CONFIGS[split].cuts) == page
    assert write_anno(read_anno(written, CONFIGS[split].cuts)) == written


def test_nothing_in_a_text_can_break_a_line_or_a_column():
    hostile = "".join(map(chr, range(1, 0x100))) + "\u2028\u2029"
    html = f"<title>{hostile}</title><p>{hostile}</p><pre>{hostile}</pre>".replace("\r", "")
    written = write_anno(page_of(html))
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]", written)
    lines = written.partition("\n\n")[2].splitlines()
    assert {line.count("\t") for line in lines} == {3}


# Round trips


@settings(max_examples=100)
@given(pages, st.lists(st.sampled_from(Label), min_size=1), st.none() | st.floats(0, 1))
def test_any_page_reads_back_exactly_and_can_be_cut_at_every_tag(html, labels, probability):
    written = {}
    for split, config in CONFIGS.items():
        count = len(read_document(html, config).blocks)
        page = page_of(html, config, tuple(labels[at % len(labels)] for at in range(count)))
        page = page if probability is None else replace(page, probabilities=(probability,) * count)
        written[split] = write_anno(page)
        assert read_anno(written[split], config.cuts) == page
        assert write_anno(read_anno(written[split], config.cuts)) == written[split]
    recut, whole = (read_anno(written[split], EVERY.cuts).document for split in ("block", "every"))
    assert [block.text.split() for block in recut.blocks] == [block.text.split() for block in whole.blocks]


@pytest.mark.parametrize("path", SAMPLES, ids=names)
def test_a_sample_annotation_reads_and_writes_to_the_same_bytes(path):
    assert write_anno(load_anno(path, BLOCK.cuts)).encode() == path.read_bytes()


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
@pytest.mark.parametrize("path", SAMPLES, ids=names)
def test_sample_page_is_the_document_of_its_annotation(path, config):
    document = load_anno(path, config.cuts).document
    html = path.with_suffix(".html")
    # Not every page names its address, the annotation does.
    assert read_document(html.read_bytes(), config, url=document.url, source=html.name) == document


@pytest.mark.parametrize("path", SAMPLES, ids=names)
def test_a_sample_annotation_cut_at_every_tag_and_back_is_unchanged(path):
    page = load_anno(path, BLOCK.cuts)
    again = read_anno(write_anno(load_anno(path, EVERY.cuts)), BLOCK.cuts)
    if "<pre" in path.read_text(encoding="utf-8"):  # spaces in a listing may change the piece that they belong to
        assert (texts_of(again), again.labels) == (texts_of(page), page.labels)
    else:
        assert again == page


def texts_of(page):
    return [(block.text, block.element) for block in page.document.blocks]


def test_blocks_cut_again_at_every_tag():
    html = "<p>See <a href='/x'>this</a> page.</p><p><b>Menu</b> item</p>"
    again = read_anno(write_anno(page_of(html, labels=(Label.PARAGRAPH, Label.OTHER))), EVERY.cuts)
    assert [block.text for block in again.document.blocks] == ["See", "this", "page.", "Menu", "item"]
    assert " ".join(again.labels) == "paragraph continuation continuation other other"
    listing = page_of("<pre>ls  <b>-l</b>   /tmp\n  total <i>0</i></pre>")  # its spaces survive
    again = read_anno(write_anno(listing), EVERY.cuts)
    assert texts_of(read_anno(write_anno(again), BLOCK.cuts)) == texts_of(listing)


# Errors with file and line


def test_case_files_are_found():
    assert len(ERRORS) > 20
    assert len(SAMPLES) >= 40


@pytest.mark.parametrize("path", ERRORS, ids=names)
def test_wrong_annotation_is_refused_with_file_and_line(path):
    expected = path.with_suffix(".expected").read_text(encoding="utf-8").rstrip("\n")
    with pytest.raises(AnnotationError) as caught:
        load_anno(path, BLOCK.cuts)
    assert str(caught.value).startswith(f"{path}{expected}")
    assert "<Label." not in str(caught.value)


def test_missing_or_wrongly_encoded_annotation_is_refused(tmp_path):
    with pytest.raises(AnnotationError, match=r"gone\.anno: cannot be read: No such file"):
        load_anno(tmp_path / "gone.anno", BLOCK.cuts)
    path = tmp_path / "latin.anno"
    path.write_bytes("%victor-anno 1\n\nother\t-\t<p>\tCafé\n".encode("latin-1"))
    with pytest.raises(AnnotationError, match=r"latin\.anno: not an annotation file: it is not UTF-8"):
        load_anno(path, BLOCK.cuts)


@pytest.mark.parametrize("code", [0xD7FF, 0xE000])
def test_references_beside_halves_of_pairs_are_characters(code):
    assert unescape(f"&#{code};") == chr(code)


@pytest.mark.parametrize("code", [0xD800, 0xDFFF])
def test_references_to_halves_of_pairs_stay(code):
    assert unescape(f"&#{code};") == f"&#{code};"
