"""Readers of gold standards, on small made-up folders in their layouts."""

from __future__ import annotations

import gzip
import json

import pytest

from victorpy.align import Gold
from victorpy.datasets import DATASETS, GoldPage, read_dataset
from victorpy.datasets.cleaneval import parse_gold
from victorpy.document import Label
from victorpy.errors import DataError, VictorError

PAGE = '<text id="http://tea.example/{n}" title="Tea" encoding="utf-8"><p>Tea {n}</p></text>'


def write(directory, **files):
    """Write files whose names are given with __ for / and _ for the dot."""
    for name, content in files.items():
        path = directory / name.replace("__", "/")
        path = path.with_name(path.name.replace("_", "."))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return directory


def truth(text, url="http://www.tea.example/a", **more):
    return json.dumps({"url": url, "ground_truth": {"main_content": text}, **more})


def read(kind, directory):
    warnings = []
    pages = list(read_dataset(kind, directory, warnings.append))
    return pages, warnings


# CleanEval


def test_cleaneval_pages_come_with_their_gold_in_the_order_of_their_numbers(tmp_path):
    for number in (10, 9, 1):
        page, gold = PAGE.replace("{n}", str(number)), f"URL: http://tea.example/{number}\n<p>Tea {number}\n"
        write(tmp_path, **{f"input__{number}_html": page, f"gold__{number}_txt": gold})
    pages, warnings = read("cleaneval", tmp_path)
    assert warnings == []
    assert [page.name for page in pages] == ["input/1", "input/9", "input/10"]
    assert pages[1].gold == (Gold("Tea 9", Label.PARAGRAPH),)
    assert pages[1].url == "http://tea.example/9"
    assert pages[1].html == PAGE.replace("{n}", "9").encode()


def test_parts_of_cleaneval_are_read_together(tmp_path):
    for part in ("dev", "test"):
        write(tmp_path / part, input__1_html="<p>Tea", gold__1_txt="<p>Tea")
    assert [page.name for page in read("cleaneval", tmp_path)[0]] == ["dev/input/1", "test/input/1"]


def test_a_page_without_gold_or_with_an_empty_one_is_warned_of_and_left_out(tmp_path):
    write(
        tmp_path,
        input__1_html="<p>Tea",
        input__2_html="<p>Tea",
        input__3_html="<p>Tea",
        gold__2_txt="URL: http://tea.example/\n \n",
        gold__3_txt="<p>Tea",
    )
    pages, warnings = read("cleaneval", tmp_path)
    assert [page.name for page in pages] == ["input/3"]
    assert len(warnings) == 2
    assert warnings[0].endswith("1.html: no gold 1.txt")
    assert warnings[1].endswith("2.txt: the gold is empty")


def test_where_gold_has_no_address_the_page_says_it(tmp_path):
    write(tmp_path, input__1_html=PAGE.replace("{n}", "x"), gold__1_txt="<p>Tea x")
    (page,), _ = read("cleaneval", tmp_path)
    assert page.url == "http://tea.example/x"


def test_gold_in_another_encoding_is_read(tmp_path):
    write(tmp_path, input__1_html="<p>Caf\u00e9", gold__1_txt="<p>Le caf\u00e9 est prêt à être bu.".encode("cp1252"))
    (page,), _ = read("cleaneval", tmp_path)
    assert page.gold[0].text == "Le café est prêt à être bu."


@pytest.mark.parametrize(
    ("text", "url", "segments"),
    [
        ("", "", []),
        ("URL: http://x.example/", "http://x.example/", []),
        ("url: http://x.example/\r\n<H>Tea\r\n", "http://x.example/", [("Tea", "header")]),
        ("<h>Tea<p>Hot.<l>one<l>two", "", [("Tea", "header"), ("Hot.", "paragraph"), ("one", "list"), ("two", "list")]),
        ("before any tag\n<p>after", "", [("before any tag", "paragraph"), ("after", "paragraph")]),
        ("<p>\n\n<p> \n<p>only this", "", [("only this", "paragraph")]),
        ("<p>a <b>bold</b> claim", "", [("a <b>bold</b> claim", "paragraph")]),
        ("\n\nURL: http://x.example/\n<p>late", "http://x.example/", [("late", "paragraph")]),
    ],
)
def test_a_gold_file_is_an_address_and_tagged_segments(text, url, segments):
    found_url, found = parse_gold(text)
    assert found_url == url
    assert [(segment.text, str(segment.label)) for segment in found] == segments


# WCXB


def test_wcxb_pages_come_plain_or_packed(tmp_path):
    kind = {"page_type": {"primary": "article"}}
    write(
        tmp_path,
        **{
            "html__0001_html": "<p>Plain tea",
            "html__0002_html_gz": gzip.compress(b"<p>Packed tea"),
            "ground-truth__0001_json": truth("Plain tea", _internal=kind),
            "ground-truth__0002_json": truth("Packed tea", url=""),
        },
    )
    (plain, packed), warnings = read("wcxb", tmp_path)
    assert warnings == []
    assert (plain.name, plain.html, plain.page_type) == ("0001", b"<p>Plain tea", "article")
    assert plain.gold == (Gold("Plain tea", None),)
    assert (packed.html, packed.page_type, packed.url) == (b"<p>Packed tea", "", "")


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "null",
        "{}",
        '{"ground_truth": null}',
        '{"ground_truth": {}}',
        '{"ground_truth": "text"}',
        b"\xff",
    ],
)
def test_broken_json_is_warned_of_and_left_out(tmp_path, content):
    write(
        tmp_path,
        **{
            "html__1_html": "<p>Tea",
            "html__2_html": "<p>Tea",
            "ground-truth__1_json": content,
            "ground-truth__2_json": truth("Tea"),
        },
    )
    pages, warnings = read("wcxb", tmp_path)
    assert [page.name for page in pages] == ["2"]
    assert len(warnings) == 1
    assert "1.json: cannot be read" in warnings[0]


@pytest.mark.parametrize("content", [1, ["Tea"], {"text": "Tea"}])
def test_gold_that_is_no_text_is_warned_of_and_left_out(tmp_path, content):
    files = {"html__1_html": "<p>Tea", "ground-truth__1_json": truth(content)}
    write(tmp_path, **files, **{"html__2_html": "<p>Tea", "ground-truth__2_json": truth("Tea")})
    pages, warnings = read("wcxb", tmp_path)
    assert [page.name for page in pages] == ["2"]
    assert len(warnings) == 1


def test_a_truth_without_its_page_is_warned_of(tmp_path):
    write(
        tmp_path,
        **{"html__2_html": "<p>Tea", "ground-truth__1_json": truth("Tea"), "ground-truth__2_json": truth("Tea")},
    )
    pages, warnings = read("wcxb", tmp_path)
    assert [page.name for page in pages] == ["2"]
    assert warnings[0].endswith("1.json: no page 1.html or 1.html.gz")


@pytest.mark.parametrize(
    "packed", [b"not gzip at all", gzip.compress(b"<p>Tea" * 500)[:-20]], ids=["not gzip", "cut off"]
)
def test_a_damaged_archive_is_warned_of_and_left_out(tmp_path, packed):
    write(
        tmp_path,
        **{
            "html__1_html_gz": packed,
            "html__2_html": "<p>Tea",
            "ground-truth__1_json": truth("Tea"),
            "ground-truth__2_json": truth("Tea"),
        },
    )
    pages, warnings = read("wcxb", tmp_path)
    assert [page.name for page in pages] == ["2"]
    assert len(warnings) == 1
    assert "1.html.gz" in warnings[0]


def test_a_page_whose_gold_says_that_nothing_is_content_is_kept(tmp_path):
    write(tmp_path, **{"html__1_html": "<p>Menu", "ground-truth__1_json": truth(None)})
    (page,), _ = read("wcxb", tmp_path)
    assert page.text == ""


# All of them


def test_an_unknown_data_set_is_answered_with_the_nearest_name(tmp_path):
    with pytest.raises(VictorError, match=r"no data set 'cleanval' \(did you mean 'cleaneval'\?\)"):
        read("cleanval", tmp_path)


@pytest.mark.parametrize("kind", ["cleaneval", "wcxb"])
def test_a_directory_without_pages_is_an_error(tmp_path, kind):
    with pytest.raises(DataError, match=f"no pages in the layout of '{kind}'"):
        read(kind, tmp_path)


@pytest.mark.parametrize("kind", ["cleaneval", "wcxb"])
def test_a_directory_that_is_not_there_is_an_error(tmp_path, kind):
    with pytest.raises(DataError, match="gone: no such directory"):
        read(kind, tmp_path / "gone")


def test_the_readers_are_registered():
    assert {"cleaneval", "wcxb"} <= set(DATASETS)


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("http://www.tea.example/a", "tea.example"),
        ("https://WWW.Tea.example/b?c", "tea.example"),
        ("http://shop.tea.example:8080/", "tea.example"),
        ("", "1"),
        ("no address", "1"),
    ],
)
def test_pages_of_one_host_are_of_one_site(url, site):
    assert GoldPage("1", b"", (), url).site == site


def test_the_text_of_a_gold_page_is_its_segments_in_lines():
    gold = (Gold("Tea", Label.HEADER), Gold("A drink."))
    assert GoldPage("1", b"", gold).text == "Tea\nA drink."
