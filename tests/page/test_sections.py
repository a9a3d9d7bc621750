"""Very large pages: sections, bounds, and blocks that are created a few at a time."""

import json
import pickle
from pathlib import Path

import pytest

from victorpy import Cleaner, load_config, read_document
from victorpy import document as documents
from victorpy.outputs import anno, base, tables
from victorpy.outputs.anno import read_anno
from victorpy.page import parse, sections, split

SAMPLES = sorted((Path(__file__).parents[2] / "data").rglob("*.html"))
CONFIG = load_config("default")
PAGES = {
    "nested": "<div>a<p>b<i>c</i></p>d<div hidden>e</div></div>f<ul><li>g<li>h</ul>i",
    "pre": "<pre>a\n b\n\nc<b>d\ne</b>f</pre>",
    "straddling": "a<b>b<p>c</p>d</b>e<img alt=f>g",
    "sample": SAMPLES[0].read_text(encoding="utf-8"),
}


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("config", ["default", "cleaneval"])
def test_sections_have_the_blocks_of_the_page_and_the_elements_around_them(name, config):
    document = read_document(PAGES[name], load_config(config))
    plain = pickle.loads(pickle.dumps(document))
    count = len(document.texts)
    paths = [block.containers for block in document.blocks]
    for first in range(0, count, max(count // 7, 1)):
        for stop in {first + 1, min(first + 5, count), count}:
            part = sections.section(document, first, stop)
            assert part.texts == document.texts[first:stop]
            assert [block.containers for block in part.blocks] == paths[first:stop]
            for block in part.blocks:
                around, element = [], block.element
                while element >= 0:
                    around.append(part.elements.tag[element])
                    element = part.elements.parent[element]
                assert tuple(reversed(around)) == block.containers
            assert part == sections.section(plain, first, stop)


def test_a_page_of_many_blocks_is_labelled_in_sections(monkeypatch):
    cleaner, page = Cleaner.load(), "<p>Tea is made by pouring hot water over the leaves.</p>" * 100
    whole = cleaner.document(page)
    monkeypatch.setattr(sections, "MOST_BLOCKS", 30)
    cut = cleaner.document(page, features=True)
    assert [len(part.texts) for part in sections.sections(cut.document)] == [25, 25, 25, 25]
    assert [label.is_content for label in cut.labels] == [label.is_content for label in whole.labels]
    assert len(cut.probabilities) == len(cut.content) == 100
    assert cut.confidence == pytest.approx(whole.confidence, abs=0.1)
    assert len(cut.features) == 25


@pytest.mark.parametrize("format", ["text", "markdown", "html", "jsonl", "cleaneval", "anno", "page", "docview-tei"])
def test_blocks_made_a_few_at_a_time_give_the_same_output(monkeypatch, format):
    page = "<table><tr><td>a<td>b<tr><td>c<td>d</table>" + SAMPLES[0].read_text(encoding="utf-8") + "<pre>e\nf</pre>"
    cleaner = Cleaner.load(favor="recall")
    expected = cleaner.clean(page, format=format)
    for module in (documents, base, anno):
        monkeypatch.setattr(module, "STRIDE", 2)
    assert cleaner.clean(page, format=format) == expected


def test_very_many_lines_are_joined(monkeypatch):
    monkeypatch.setattr(split, "MOST_LINES", 10)
    page = "<pre>" + "\n".join(f"line {number}" for number in range(150)) + "</pre><p>x<pre>y\nz</pre>"
    document = read_document(page, CONFIG)
    assert len(document.texts) == 10 + 3 + 2
    assert " ".join(document.texts).split() == [*" ".join(f"line {n}" for n in range(150)).split(), "x", "y", "z"]
    assert document.losses == ("lines in <pre> after the first 10 were joined; no text was lost",)
    monkeypatch.setattr(split, "_native", None)
    assert read_document(page, CONFIG) == document
    written = Cleaner.load().clean(page, format="anno")
    assert read_anno(written, CONFIG.cuts).document == document
    assert Cleaner.load(favor="recall").clean(page, format="page").count("line 149") == 1


@pytest.mark.parametrize(("lines", "losses"), [(11, 0), (12, 1)])
def test_a_page_with_few_lines_keeps_them(monkeypatch, lines, losses):
    monkeypatch.setattr(split, "MOST_LINES", 10)
    assert len(read_document("<pre>" + "x\n" * (lines - 1) + "x</pre>", CONFIG).losses) == losses


@pytest.mark.parametrize(("tags", "losses"), [(100, 0), (101, 1)])
def test_very_many_tags_are_dropped_without_their_text(monkeypatch, tags, losses):
    monkeypatch.setattr(parse, "MOST_ELEMENTS", 100)
    monkeypatch.setattr(parse, "_BYTES_PER_ELEMENT", 1_000_000)
    document = read_document("<!-- <b> --><p>x</p>" + "<i>y</i>" * (tags - 1), CONFIG)
    assert "".join("".join(document.texts).split()) == "x" + "y" * (tags - 1)
    assert document.elements.tag.count("i") == 99
    assert len(document.losses) == losses


@pytest.mark.parametrize(("tags", "losses"), [(10, 0), (11, 1)])
def test_very_many_inline_tags_in_a_paragraph_are_dropped_without_their_text(monkeypatch, tags, losses):
    monkeypatch.setattr(parse, "MOST_INLINE", 10)
    page = "<p>" + "<b>x</b>y" * tags + "<img alt=tea><i>c</i><p><i>z</i>"
    document = read_document(page, CONFIG)
    assert document.texts == ["xy" * tags, "tea", "c", "z"]
    assert document.elements.tag.count("b") == 10
    assert document.elements.tag.count("i") == 2
    dropped = "inline tags after the first 10 of a paragraph were dropped; no text was lost"
    assert document.losses == (dropped,) * losses
    assert read_anno(Cleaner.load().clean(page, format="anno"), CONFIG.cuts).document.texts == document.texts


def test_end_tags_of_dropped_inline_tags_are_dropped_too(monkeypatch):
    monkeypatch.setattr(parse, "MOST_INLINE", 2)
    [block] = read_document("<p><b>a<i>b<u>c<s>d</s>e</u>f</i>g</b>h<wbr>k", CONFIG).blocks
    assert [text for _, text in block.each_piece()] == ["a", "bcdef", "g", "hk"]


@pytest.mark.parametrize(
    ("line", "rest"), [('<span class="line"><b>{}</b></span>', 1), ("<b>{}</b><i></i>\n", 3)], ids=["spans", "lines"]
)
def test_every_line_of_a_listing_may_have_inline_tags(monkeypatch, line, rest):
    monkeypatch.setattr(parse, "MOST_INLINE", 3)
    lines = "".join(map(line.format, range(9)))
    document = read_document(f"<p><i>a</i><pre>{lines}" + "<u>c</u>" * 9 + "</pre>" + "<u>b</u>" * 5, CONFIG)
    assert document.elements.tag.count("b") == 9
    assert document.elements.tag.count("u") == rest + 3
    assert "".join(document.texts) == "a012345678" + "c" * 9 + "b" * 5


def test_what_is_deleted_stays_deleted_after_very_many_inline_tags(monkeypatch):
    monkeypatch.setattr(parse, "MOST_INLINE", 2)
    page = "<p>" + "<b>x</b>" * 5 + "<svg><text>secret</text></svg><script>'<b>'</script><!-- <b> --> y"
    for format in ("text", "page"):
        written = Cleaner.load(favor="recall").clean(page, format=format)
        assert "secret" not in written
        assert "xxxxx y" in written.replace("<b>", "").replace("</b>", "")


@pytest.mark.parametrize("format", ["markdown", "html", "jsonl", "anno", "page", "vertical", "docview-tei"])
def test_stretches_by_characters_do_not_change_formats(monkeypatch, format):
    page = "<ul><li>a <b>b</b><li>c</ul>" + "<p>Tea is <i>hot</i> and <b>good</b> for all the people.</p>" * 5
    cleaner = Cleaner.load(favor="recall")
    expected = cleaner.clean(page, format=format)
    monkeypatch.setattr(documents, "STRIDE_CHARACTERS", 30)
    assert cleaner.clean(page, format=format) == expected


def test_stretches_contain_every_block_once(monkeypatch):
    document = read_document("<p>a<p>" + "b" * 9 + "<p>cc<p>dd<p>e<p>f", CONFIG)
    assert [*document.stretches(range(6))] == [range(6)]
    assert not document.is_large
    monkeypatch.setattr(documents, "STRIDE_CHARACTERS", 4)
    assert [[*numbers] for numbers in document.stretches(range(6))] == [[0], [1], [2, 3], [4, 5]]
    assert [*document.stretches([0, 2, 5])] == [[0, 2, 5]]
    assert document.is_large
    monkeypatch.setattr(documents, "STRIDE_CHARACTERS", 99)
    monkeypatch.setattr(documents, "STRIDE", 4)
    assert [[*numbers] for numbers in document.stretches(range(6))] == [[0, 1, 2, 3], [4, 5]]
    assert document.is_large
    assert [*document.stretches([])] == []


def test_a_table_of_very_many_cells_is_written_as_several(monkeypatch):
    page = "<table>" + "".join(f"<tr><td>a{n}<td>b{n}" for n in range(6)) + "</table>"
    cleaner = Cleaner.load(favor="recall")
    assert cleaner.clean(page, format="html").count("<table>") == 1
    monkeypatch.setattr(tables, "MOST_CELLS", 4)
    written = cleaner.clean(page, format="html")
    assert written.count("<table>") == 3
    assert written.count("<td>") == 12
    monkeypatch.setattr(tables, "MOST_CELLS", 1)
    assert "<table>" not in cleaner.clean(page, format="html")


@pytest.mark.parametrize(("more", "last"), [(0, 1), (1, 2)])
def test_paths_are_left_out_after_very_many_characters(monkeypatch, more, last):
    document = read_document("<p>a<p>b<p>c", CONFIG)
    most = len("/html[1]" + "/html[1]/body[1]" + "/html[1]/body[1]/p[1]") + more
    monkeypatch.setattr(documents, "MOST_PATHS", most)
    paths = [f"/html[1]/body[1]/p[{number}]" if number <= last else "" for number in (1, 2, 3)]
    assert document.paths() == paths


def test_paths_of_blocks_are_left_out_after_very_many_characters(monkeypatch):
    page = "<p>a<br>b<br>c"
    document = read_document(page, CONFIG)
    path = "/html[1]/body[1]/p[1]"
    assert documents.paths_and_loss(document) == ([path] * 3, "")
    all_paths = ["/html[1]", "/html[1]/body[1]", path, f"{path}/br[1]", f"{path}/br[2]"]
    monkeypatch.setattr(documents, "MOST_PATHS", len("".join(all_paths)) + 1)
    assert documents.paths_and_loss(document) == ([path] * 3, "")
    monkeypatch.setattr(documents, "MOST_PATHS", len("".join(all_paths)))
    assert documents.paths_and_loss(document) == ([path] * 3, "paths after the first 99 characters of them are empty")
    monkeypatch.setattr(documents, "MOST_PATHS", 2 * len(path))
    loss = "paths after the first 42 characters of them are empty"
    assert documents.paths_and_loss(document) == ([path, path, ""], loss)
    row = json.loads(Cleaner.load().clean(page, format="jsonl"))
    assert [block["path"] for block in row["blocks"]] == [path, path, ""]
    assert row["losses"] == [loss]
