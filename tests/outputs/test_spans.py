"""Blocks that are kept in part: every output has the kept text only, with its markup."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree
from support.sitepages import BLOCKS, document

from victorpy.cleaner import read_document
from victorpy.description.record import describe
from victorpy.document import Label, Labelling
from victorpy.labellers.spans import PART_END, SENTENCE_END, join_kept, link_cuts, split_text
from victorpy.methods import load_method
from victorpy.outputs import OUTPUTS, CleanPage
from victorpy.outputs.anno import read_anno
from victorpy.research.align import Gold
from victorpy.research.evaluate import score_page
from victorpy.research.gold import LabelledPage
from victorpy.research.mining.cleaning import _kept_text
from victorpy.research.report.views import render_view

HTML = (
    '<title>Tea</title><p><a href="/">Home</a> &gt; <a href="/tea"><b>Green</b> tea</a> &gt; Sencha</p>'
    "<p>Log in now. Sencha is <i>hot and <b>green</b></i>. Log out later.</p><p>It is a drink.</p>"
)
PATH = "Home > Green tea > Sencha"
PAGE = document(HTML)
CLEAN = CleanPage(
    PAGE, (Label.PARAGRAPH, Label.PARAGRAPH, Label.OTHER), spans=(((7, 25),), ((12, 36),), None), by_method=True
)


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("text", "Green tea > Sencha\n\nSencha is hot and green.\n"),
        ("markdown", "[**Green** tea](/tea) > Sencha\n\nSencha is *hot and **green***.\n"),
        ("cleaneval", "URL: \n\n<p> Green tea > Sencha\n\n<p> Sencha is hot and green.\n"),
    ],
)
def test_formats_write_the_kept_text_with_its_markup(format, text):
    assert CLEAN.to(format) == text


def test_html_and_tei_are_well_formed():
    html = CLEAN.to("html")
    body = html.partition("<body>\n")[2].partition("</body>")[0]
    assert body.splitlines() == [
        '<p><a href="/tea"><strong>Green</strong> tea</a> &gt; Sencha</p>',
        "<p>Sencha is <em>hot and </em><em><strong>green</strong></em>.</p>",
    ]
    assert "Log" not in "".join(etree.fromstring(CLEAN.to("docview-tei").encode()).itertext())


def test_single_rest_of_a_link_is_a_link():
    page = CleanPage(document('<p>Log in. <a href="/tea">Tea</a></p>'), (Label.PARAGRAPH,), spans=(((8, 11),),))
    assert page.to("markdown") == "[Tea](/tea)\n"


def test_jsonl_has_whole_blocks_and_their_kept_spans():
    record = json.loads(CLEAN.to("jsonl"))
    assert record["text"] == CLEAN.text
    assert [block.get("kept") for block in record["blocks"]] == [[[7, 25]], [[12, 36]], None]
    assert record["blocks"][0]["text"] == PATH


def test_annotation_file_notes_kept_spans_and_reads_whole_blocks():
    written = CLEAN.to("anno")
    assert [line for line in written.splitlines() if line.startswith("#")] == ["# kept=7-25", "# kept=12-36"]
    read = read_anno(written, BLOCKS.cuts)
    assert (read.labels, read.spans) == (CLEAN.labels, ())


def test_descriptions_mined_texts_and_views_have_the_kept_text():
    record = describe(CLEAN)
    assert "log" not in record.keywords
    assert "Log" not in record.content + record.abstract
    assert _kept_text(PAGE, Labelling(CLEAN.labels, spans=CLEAN.spans)) == "Green tea > Sencha Sencha is hot and green."
    view = render_view("Tea", {"sst": CLEAN})
    assert "<del>Home &gt; </del>Green tea &gt; Sencha</span>" in view
    assert "<del>Log in now. </del>Sencha is hot and green.<del> Log out later.</del></span>" in view


@pytest.mark.parametrize("format", sorted(set(OUTPUTS) - {"features", "anno", "jsonl", "label-studio", "page"}))
def test_no_format_writes_deleted_text(format):
    assert "Log" not in CLEAN.to(format)
    assert "Home" not in CLEAN.to(format)


def test_cleaned_layout_has_the_kept_text_only():
    pages = [f"<p><a href=/>Home</a> &gt; <b>{name}</b> tea</p><hr>" for name in ("Green", "Black", "White", "Red")]
    method = load_method("sst")
    at_site = method.at_site([read_document(page, method.config) for page in pages])
    written = at_site.clean(pages[0], format="page")
    assert "<b>Green</b> tea" in written
    assert "Home" not in written


def test_scores_measure_the_kept_text():
    page = LabelledPage("tea", "", "", "", PAGE, CLEAN.labels, (Gold("Green tea > Sencha Sencha is hot and green."),))
    result = score_page(page, Labelling(CLEAN.labels, spans=CLEAN.spans))
    assert (result.scores["words_f1"], result.counts["words"].output) == (1, 8)
    whole = score_page(page, Labelling(CLEAN.labels))
    assert (whole.counts["words"].output, whole.counts["words"].shared) == (15, 8)


# Random markup and random spans.

texts = st.sampled_from(["tea", "Milk.", " ", "a b", "hot! ", "«x»", "<", "*"])
inline = st.recursive(
    texts.map(lambda text: text.replace("<", "&lt;")),
    lambda inner: st.builds(
        lambda tag, parts: f"<{tag}>{''.join(parts)}</{tag.split()[0]}>",
        st.sampled_from(["b", "i", "code", "a href='/x'", "span"]),
        st.lists(inner, max_size=3),
    ),
    max_leaves=8,
)


@pytest.mark.slow
@given(st.lists(inline, min_size=1, max_size=6), st.data())
@settings(max_examples=150)
def test_any_spans_of_any_markup_give_well_formed_output(parts, data):
    page = document(f"<p>{''.join(parts)}</p>")
    spans = []
    for block in page.blocks:
        cuts = data.draw(st.lists(st.integers(0, len(block.text)), min_size=2, max_size=6, unique=True).map(sorted))
        spans.append(tuple(zip(cuts[::2], cuts[1::2], strict=False)))
    clean = CleanPage(page, (Label.PARAGRAPH,) * len(page.blocks), spans=tuple(spans))
    kept = "".join(block.text[a:b] for block, its in zip(page.blocks, spans, strict=True) for a, b in its)
    body = etree.fromstring(f"<body>{clean.to('html').partition('<body>')[2].partition('</body>')[0]}</body>")
    for shown in (clean.text, "".join(body.itertext())):
        assert "".join(shown.split()) == "".join(kept.split())
    assert clean.to("markdown") is not None


# Splitting and joining.


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (PATH, ["Home", "Green tea", "Sencha"]),
        ("Tea | Tea shop", ["Tea", "Tea shop"]),
        ("» Home» Tea", ["Home", "Tea"]),
        ("Tea - A drink – hot", ["Tea", "A drink", "hot"]),
        ("well-known and/or hot: 3.5", ["well-known and/or hot: 3.5"]),
        ("One. Two! 三。四", ["One.", "Two!", "三。", "四"]),
        ("", []),
    ],
)
def test_parts_end_at_signs_and_sentence_ends(text, parts):
    assert [text[start:stop] for start, stop in split_text(text, PART_END)] == parts


@pytest.mark.parametrize(
    ("kept", "expected"),
    [
        ([True, True, True], None),
        ([False, False, False], ()),
        ([True, False, False], ("Home",)),
        ([False, True, True], ("Green tea > Sencha",)),
        ([True, False, True], ("Home", "> Sencha")),
        ([False, True, False], ("Green tea",)),
    ],
)
def test_signs_between_kept_parts_are_kept(kept, expected):
    spans = join_kept(PATH, split_text(PATH, PART_END), kept)
    assert (spans if spans is None else tuple(PATH[start:stop] for start, stop in spans)) == expected


def test_signs_after_the_last_part_belong_to_it():
    text = "» Home > Tea »"
    parts = split_text(text, PART_END)
    assert [text[start:stop] for start, stop in join_kept(text, parts, [True, False])] == ["» Home"]
    assert [text[start:stop] for start, stop in join_kept(text, parts, [False, True])] == ["Tea »"]


def test_scripts_without_spaces_are_joined_without_spaces():
    page = document("<p>一。二。三。</p>")
    text = page.blocks[0].text
    spans = join_kept(text, split_text(text, SENTENCE_END), [True, False, True])
    assert page.blocks[0].keeping(spans).text == "一。三。"


@pytest.mark.parametrize(
    ("paragraph", "cuts"),
    [
        ("<a href=/>Home</a><a href=/tea>Tea</a><a href=/green>Green</a>", [4, 8]),
        ("<a href=/>Home</a> <a href=/tea>Tea</a>", []),  # too few parts for a row
        ("<a href=/>Home</a> or <a href=/tea>tea</a> or <a href=/green>green</a>", []),  # a sentence
        ("<a href=/>Home</a> <a href=/tea>Tea</a> is <a href=/hot>hot</a>", [4, 8, 11]),
        ("<a href=/>Home</a> <a href=/tea>Tea</a> is <b>hot</b>", []),  # half of the parts are links
        ("<b>Home</b> <b>Tea</b> <b>Green</b>", []),
    ],
)
def test_rows_of_links_are_cut_between_links(paragraph, cuts):
    page = document(f"<p>{paragraph}</p>")
    assert link_cuts(page, page.blocks[0]) == cuts
