"""Every output format on small labelled pages, each page a directory of tests/cases/outputs.

labels.txt has a line ``label | text`` for each block; a first line ``config: NAME`` says how the page is cut.
"""

import html
import json
import re
import time
from pathlib import Path

import pytest
from lxml import etree

from victorpy.cleaner import read_document
from victorpy.config import load_config
from victorpy.document import Label
from victorpy.errors import VictorError
from victorpy.methods import load_method
from victorpy.outputs import OUTPUTS, CleanPage, segments
from victorpy.outputs.anno import load_anno, write_anno
from victorpy.outputs.base import safe_link
from victorpy.outputs.offsets import find_offsets
from victorpy.page.decode import decode

ROOT = Path(__file__).parents[2]
SAMPLES = sorted((ROOT / "data").glob("*/*.anno"))
CASES = sorted(path for path in (Path(__file__).parents[1] / "cases" / "outputs").iterdir() if path.is_dir())
FILES = {
    "text": "expected.txt",
    "cleaneval": "expected.cleaneval.txt",
    "markdown": "expected.md",
    "html": "expected.html",
    "jsonl": "expected.jsonl",
}


def read_case(case):
    lines = (case / "labels.txt").read_text(encoding="utf-8").splitlines()
    config = lines.pop(0).removeprefix("config: ") if lines and lines[0].startswith("config: ") else "default"
    document = read_document((case / "page.html").read_bytes(), load_config(config), source="page.html")
    labels, texts = zip(*(line.split(" | ", 1) for line in lines), strict=True) if lines else ((), ())
    assert [block.text for block in document.blocks] == list(texts)
    return CleanPage(document, tuple(map(Label, labels)))


def page_of(markup, *labels, config="default", **more):
    document = read_document(markup, load_config(config))
    return CleanPage(document, tuple(Label(label) for label in labels), **more)


def render(format, page):
    return OUTPUTS.get(format).render(page)


@pytest.mark.parametrize("format", FILES)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_labelled_page_is_written_as_expected(case, format):
    assert render(format, read_case(case)) == (case / FILES[format]).read_bytes().decode()


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_sample_page_has_the_text_of_its_annotation_and_its_html_runs_nothing(path):
    page = load_anno(path, load_config("default").cuts)
    text = render("text", page)
    assert text.encode() == path.with_suffix(".txt").read_bytes()
    tree = etree.HTML(render("html", page))
    written = "".join(tree.find("body").itertext())  # without the arrows that lead back from notes
    assert [*filter(str.isalnum, written)] == [*filter(str.isalnum, text)]
    assert not tree.findall(".//script")
    assert not [link for link in tree.iter("a") if link.get("href").lower().startswith("javascript:")]


def test_every_format_has_a_suffix_and_a_description_for_users():
    assert set(OUTPUTS) >= {*FILES, "anno"}
    for name in OUTPUTS:
        assert OUTPUTS.get(name).suffix.startswith(".")
        assert len(OUTPUTS.get(name).description) > 20


def test_error_for_an_unknown_format_suggests_the_nearest():
    with pytest.raises(VictorError, match=r"no output format 'markdwon' \(did you mean 'markdown'\?\); choose from"):
        OUTPUTS.get("markdwon")


# CleanEval


def test_address_cannot_add_lines_to_the_cleaneval_format():
    page = page_of('<link rel="canonical" href="http://a.example/\n<p> not content"><p>Tea</p>', "other")
    assert render("cleaneval", page).count("\n<p>") == 0


# JSON lines


def test_page_is_always_one_line_of_json():
    text = 'line \u2028 \u2029 \x85 "quotes" \\ \x1b \U0001f375'
    readable = 'line \n \n \u2026 "quotes" \\  \U0001f375'
    line = render("jsonl", page_of(f"<title>a\nb</title><pre>{text}\nsecond</pre>", "paragraph", "paragraph"))
    assert line.count("\n") == 1
    assert line.endswith("\n")
    record = json.loads(line)
    assert record["text"] == f"{readable}\nsecond\n"
    assert record["blocks"][0]["text"] == text
    assert record["title"] == "a b"


def test_json_has_the_offsets_of_blocks_on_request():
    page = """<title>Tea</title><script>Tea</script><!-- Tea --><p>Tea &amp; <b title=">">milk</b>&nbsp;!</p>
<img src=a.png alt="Tea"><p>Tea\n is  &#104;ot</p><p>$x$</p><math alttext="y"></math><ul><li>Tea</ul>"""
    method = load_method("everything")
    blocks = json.loads(method.clean(page, format="jsonl(offsets=yes)"))["blocks"]
    found = [block["offsets"] and page[slice(*block["offsets"])] for block in blocks]
    assert found == ['Tea &amp; <b title=">">milk</b>&nbsp;!', None, "Tea\n is  &#104;ot", "$x$", None, "Tea"]
    assert "offsets" not in json.loads(method.clean(page, format="jsonl"))["blocks"][0]


def test_offsets_of_texts_that_are_not_in_the_source_take_linear_time():
    source = "tea " * 100_000
    start = time.process_time()
    assert find_offsets(source, ["milk"] * 100_000 + ["tea"])[-1] is None
    assert time.process_time() - start < 5


@pytest.mark.parametrize("path", SAMPLES[::4], ids=lambda path: path.stem)
def test_offsets_of_sample_pages_lead_to_their_blocks(path):
    source = path.with_suffix(".html")
    content = source.read_bytes()
    blocks = json.loads(load_method("everything").clean(content, format="jsonl(offsets=yes)"))["blocks"]
    text = decode(content).text
    known = [block for block in blocks if block["offsets"]]
    assert len(known) > 0.95 * sum("/img[" not in block["path"] for block in blocks)
    for block in known:
        root = etree.HTML(f"<div>{text[slice(*block['offsets'])]}</div>")
        assert [*filter(str.isalnum, "".join(root.itertext()))][:3] == [*filter(str.isalnum, block["text"])][:3]


def test_json_has_label_probability_and_path_of_every_block():
    page = page_of("<div><p>Menu</p><p>Tea</p></div>", "other", "paragraph", probabilities=(0.75, 0.5))
    assert json.loads(render("jsonl", page))["blocks"] == [
        {"label": "other", "probability": 0.75, "path": "/html[1]/body[1]/div[1]/p[1]", "text": "Menu"},
        {"label": "paragraph", "probability": 0.5, "path": "/html[1]/body[1]/div[1]/p[2]", "text": "Tea"},
    ]


def test_json_reports_losses():
    page = page_of("<p>A \ud800 surrogate</p>", "paragraph")
    assert json.loads(render("jsonl", page))["losses"] == ["not readable as unicode: 1 lone surrogates"]


# Invisible characters

CONTROLS = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff]")


@pytest.mark.parametrize("format", ["text", "markdown", "html"])
def test_control_characters_are_removed_or_read_as_windows_1252(format):
    markup = "<title>a\x07\x96</title><p>5\x80 \x1b[1m<b>\x93hot\x94</b>tea\x7f</p><pre>one\u2028two\ufffe\tthree</pre>"
    written = render(format, page_of(markup, "paragraph", "paragraph"))
    assert not CONTROLS.search(written)
    expected = {"text": "5€ [1m“hot”tea", "markdown": r"5€ \[1m“**hot**”tea", "html": "5€ [1m<strong>“hot”</strong>tea"}
    assert expected[format] in written
    assert "one\ntwo\tthree" in written
    assert "<title>a–</title>" in written or format != "html"


def test_headings_and_items_with_control_characters_stay_what_they_are():
    page = page_of("<h2>Tea\x07 cup</h2><ul><li>hot\x1b</ul>", "header", "list")
    assert render("markdown", page) == "## Tea cup\n\n- hot\n"


def test_control_characters_stay_in_formats_that_show_blocks():
    page = page_of("<p>5\x80 \x01</p>", "paragraph")
    assert "5\x80" in render("cleaneval", page)
    assert json.loads(render("jsonl", page))["blocks"][0]["text"] == page.document.blocks[0].text


@pytest.mark.parametrize("format", ["text", "markdown", "html"])
def test_invisible_paragraph_is_left_out(format):
    markup = "<p>tea</p><p>\u200b</p><ul><li>\ufeff\u00ad<li>\u2060\u200d\xa0\u200c</ul><p>a\u200bb</p>"
    written = render(format, page_of(markup, "paragraph", "paragraph", "list", "list", "paragraph"))
    assert written == render(format, page_of("<p>tea</p><p>a\u200bb</p>", "paragraph", "paragraph"))


def test_invisible_line_stays_with_the_text_that_continues_it():
    page = page_of("<p>tea</p><p>\u200b<br>milk</p>", "paragraph", "paragraph", "continuation")
    assert render("text", page).split() == ["tea", "\u200b", "milk"]


# HTML


def test_html_of_a_hostile_page_has_only_our_elements():
    hostile = html.escape("</title></p></li></pre><script>alert(1)</script><b onclick=x>")
    markup = (
        f"<title>{hostile}</title><p>{hostile}</p><ul><li>{hostile}</li></ul><pre>{hostile}</pre><h1>{hostile}</h1>"
    )
    tree = etree.HTML(render("html", page_of(markup, "paragraph", "list", "paragraph", "header")))
    assert {element.tag for element in tree.iter()} == set("html head meta title body p ul li pre h1".split())
    assert {name for element in tree.iter() for name in element.attrib} == {"charset"}


@pytest.mark.parametrize("format", ["html", "markdown"])
def test_link_over_two_blocks_is_a_link_in_both(format):
    page = page_of("<p><a href='/x'>one<br>two</a></p>", "paragraph", "continuation")
    assert render(format, page).count("/x") == 2


@pytest.mark.parametrize(
    ("href", "base", "expected"),
    [
        ("a.html", "http://x.example/b/c.html", "http://x.example/b/a.html"),
        ("a.html", "", "a.html"),
        ("//cdn.example/x", "https://x.example/", "https://cdn.example/x"),
        ("?q=a:b", "", "?q=a:b"),
        ("a/b:c.html", "", "a/b:c.html"),
        ("HTTP://X.example/", "", "HTTP://X.example/"),
        ("tel:+431234", "http://x.example/", "tel:+431234"),
        ("javascript:alert(1)", "", ""),
        ("javascript:alert(1)", "http://x.example/", ""),
        ("\tjava\nscript:alert(1)", "", ""),
        ("\u00adjavascript:alert(1)", "", ""),
        ("view-source:javascript:alert(1)", "", ""),
        ("ms-msdt:/id", "", ""),
        ("x+y:z", "http://x.example/", ""),
        ("file:///etc/passwd", "", ""),
        ("blob:https://x.example/1", "", ""),
        ("http://[broken", "http://x.example/", ""),
        ("", "http://x.example/", ""),
        ("", "", ""),
        ("a.html", "http://x.example/b\u00ad c/d", "http://x.example/b%C2%AD%20c/a.html"),  # signs that are not shown
        ("../é", "http://x.example/b\n/c", "http://x.example/é"),
        ("a.html", "http://x.example/~b,c;d=é/x", "http://x.example/~b,c;d=é/a.html"),
    ],
)
def test_links_are_made_absolute_and_unsafe_ones_removed(href, base, expected):
    assert safe_link(href, base) == expected


# Segments


def test_lines_of_one_listing_belong_together():
    page = page_of("<pre>a\nb</pre><pre>c</pre>", "paragraph", "paragraph", "paragraph")
    assert [segment.text for segment in segments(page)] == ["a\nb", "c"]
    [around_noise] = segments(page_of("<pre>a\nnoise\nb</pre>", "paragraph", "other", "paragraph"))
    assert around_noise.text.split() == ["a", "b"]
    assert "\n" in around_noise.text


def test_spaces_before_a_tag_in_a_listing_are_kept_when_every_tag_cuts():
    page = page_of("<pre>ls <b>-l</b></pre>", "paragraph", "continuation", config="cleaneval")
    assert render("text", page) == "ls -l\n"


def test_page_without_content_is_empty():
    assert page_of("<p>a<p>b", "other", "other").is_empty
    assert page_of("").is_empty
    assert not page_of("<p>a<p>b", "other", "continuation").is_empty


def test_anno_output_is_the_annotation_format():
    page = page_of("<p>a<p>b", "other", "paragraph")
    assert render("anno", page) == write_anno(page)


@pytest.mark.parametrize("name", ["markdown", "html"])
def test_crossed_emphasis_is_written_in_linear_time(name):
    page = "<b><i>tea</b>pot</i>" * 12_000
    started = time.process_time()
    written = load_method("everything").clean(page, format=name)
    assert written.count("tea") == 12_000
    assert time.process_time() - started < 20  # half a second; a quadratic writer took minutes
