"""Dragnet, L3S-GN1, SWDE and our own annotation folders, made up small; and all layouts converted to annotations."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from victorpy.align import Gold
from victorpy.anno import load_anno, write_anno
from victorpy.cleaner import read_document
from victorpy.config import load_config
from victorpy.datasets import DATASETS, GoldPage, read_dataset
from victorpy.document import CleanPage, Label
from victorpy.errors import DataError
from victorpy.gold import label_page, load_gold

ROOT = Path(__file__).parents[1]
JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00" + bytes(range(256)) * 40
TEXT = "Tea is a drink that is made by pouring hot water over leaves."
HTML = f"<title>Tea</title><ul><li><a href='/'>Home</a></ul><h1>Tea</h1><p>{TEXT}</p><p>Nobody asked for this.</p>"


def write(directory, files):
    for name, content in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return directory


def read(kind, directory):
    warnings = []
    return list(read_dataset(kind, directory, warnings.append)), warnings


def texts(page):
    return [segment.text for segment in page.gold]


# Dragnet


def dragnet(number, gold=TEXT, page=HTML):
    return {f"HTML/{number}.html": page, f"Corrected/{number}.html.corrected.txt": gold}


def test_dragnet_pages_come_in_the_order_of_their_numbers_with_text_as_gold(tmp_path):
    pages, warnings = read("dragnet", write(tmp_path, dragnet(10) | dragnet(9) | dragnet(1)))
    assert warnings == []
    assert [page.name for page in pages] == ["1", "9", "10"]
    assert (pages[0].html, pages[0].gold, pages[0].page_type) == (HTML.encode(), (Gold(TEXT),), "article")


def test_comments_of_readers_are_no_content(tmp_path):
    gold = f"{TEXT}\n\n!@#$%^&*()  COMMENTS\n\nFirst! I never drink tea.\n"
    (page,), _ = read("dragnet", write(tmp_path, dragnet(1, gold)))
    assert page.text == TEXT


def test_dragnet_pages_without_gold_or_with_nothing_in_it_are_warned_of(tmp_path):
    files = dragnet(1) | dragnet(2, " \n") | dragnet(3, "!@#$%^&*()  COMMENTS\nFirst!") | {"HTML/4.html": HTML}
    pages, warnings = read("dragnet", write(tmp_path, files))
    assert [page.name for page in pages] == ["1"]
    assert [warning.rpartition("/")[2] for warning in warnings] == [
        "2.html.corrected.txt: the gold is empty",
        "3.html.corrected.txt: the gold is empty",
        "4.html: no gold 4.html.corrected.txt",
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_dragnet_gold_is_read_in_its_encoding(tmp_path, encoding):
    told = "Le café est prêt à être bu par l’équipe."
    (page,), _ = read("dragnet", write(tmp_path, dragnet(1, told.encode(encoding))))
    assert page.text == told


@pytest.mark.parametrize(
    ("page", "site"),
    [
        ('<link rel="canonical" href="http://www.tea.example/a">', "tea.example"),
        ("<meta property='og:url' content='https://milk.example/b'>", "milk.example"),
        ("<base href=http://beer.example/>", "beer.example"),
        ('<a href="/here">x</a><a href="http://wine.example/c">y</a>', "wine.example"),
        ("<p>no address</p>", "1"),
    ],
)
def test_the_site_of_a_page_without_address_is_guessed_from_its_markup(tmp_path, page, site):
    (found,), _ = read("dragnet", write(tmp_path, dragnet(1, page=page)))
    assert found.site == site


@pytest.mark.parametrize("address", ["http://[broken/", "http://[::1/", "http://a]b/", "http://[x].example/"])
def test_a_broken_address_does_not_stop_the_reading(tmp_path, address):
    files = dragnet(1, page=f'<link rel="canonical" href="{address}">{HTML}') | dragnet(2)
    pages = load_gold([f"dragnet:{write(tmp_path, files)}"], load_config("default"), lambda _: None)
    assert len(pages) == 2
    assert pages[0].site


# L3S-GN1

MARKED = (
    '<span class="x-nc-sel0">Menu</span><h1><span class="x-nc-sel1">A headline</span></h1>'
    '<p><span class="x-nc-sel2">Full <b>text</b> of it</span></p><i><span class="x-nc-sel3">A caption</span></i>'
    '<span class="x-nc-sel4">Related</span><span class="x-nc-sel5">A comment</span>unmarked'
)


def l3s(name, annotated=MARKED, page=HTML):
    return {f"original/{name}.html": page, f"annotated/{name}.html": annotated}


def test_l3s_content_is_headline_text_and_supplement(tmp_path):
    (page,), warnings = read("l3s", write(tmp_path, l3s("one")))
    assert warnings == []
    assert page.text.split("\n") == ["A headline", "Full", "text", "of it", "A caption"]
    assert (page.name, page.html, page.page_type) == ("one", HTML.encode(), "article")


def test_the_innermost_mark_of_l3s_counts(tmp_path):
    marked = '<div class="a x-nc-sel2 b">kept <span class="x-nc-sel0">dropped</span> kept too</div> not kept'
    (page,), _ = read("l3s", write(tmp_path, l3s("one", marked)))
    assert page.text.split("\n") == ["kept", "kept too"]


def test_scripts_and_comments_in_marked_text_are_no_content(tmp_path):
    marked = '<span class="x-nc-sel2">text<script>alert(1)</script><style>b{}</style><!-- remark --> more</span>'
    (page,), _ = read("l3s", write(tmp_path, l3s("one", marked)))
    assert page.text.split() == ["text", "more"]


@pytest.mark.parametrize(
    "annotated",
    ["", '<span class="x-nc-sel0">Menu</span>', "<p>no marks", JPEG],
    ids=["empty", "noise", "no marks", "no page"],
)
def test_l3s_pages_without_marked_content_are_warned_of(tmp_path, annotated):
    pages, warnings = read("l3s", write(tmp_path, l3s("bad", annotated) | l3s("good")))
    assert [page.name for page in pages] == ["good"]
    assert len(warnings) == 1
    assert "bad.html" in warnings[0]


def test_an_l3s_page_without_its_annotated_twin_is_warned_of(tmp_path):
    pages, warnings = read("l3s", write(tmp_path, l3s("good") | {"original/alone.html": HTML}))
    assert [page.name for page in pages] == ["good"]
    assert warnings[0].endswith("alone.html: no annotated page of the same name")


# SWDE

HEAD = "auto\tmsn\tmodel\n3\t3\t3\t3\n"


def swde(values="0000\t1\tTea Car\n", attribute="model", head=HEAD, page="<h1>Tea Car</h1><p>Engine: 2 litres"):
    return {"auto/auto-msn(3)/0000.htm": page, f"groundtruth/auto/auto-msn-{attribute}.txt": head + values}


def test_swde_values_are_segments_of_the_gold(tmp_path):
    files = swde() | swde("0000\t2\t2 litres\tV8 &amp; more\n", "engine")
    (page,), warnings = read("swde", write(tmp_path, files))
    assert warnings == []
    assert sorted(texts(page)) == ["2 litres", "Tea Car", "V8 & more"]
    assert (page.name, page.site, page.page_type) == ("auto-msn/0000", "msn.example", "auto")


def test_pages_of_one_swde_site_share_it(tmp_path):
    files = swde("0000\t1\tTea\n0001\t1\tMilk\n") | {"auto/auto-msn(3)/0001.htm": "<p>Milk"}
    files |= {"auto/auto-aol(1)/0000.htm": "<p>Beer", "groundtruth/auto/auto-aol-model.txt": HEAD + "0000\t1\tBeer\n"}
    pages, _ = read("swde", write(tmp_path, files))
    assert [(page.site, texts(page)) for page in pages] == [
        ("aol.example", ["Beer"]),
        ("msn.example", ["Tea"]),
        ("msn.example", ["Milk"]),
    ]


def test_swde_values_that_are_missing_are_no_text(tmp_path):
    files = swde("0000\t1\tTea\n0001\t0\t<NULL>\n") | {"auto/auto-msn(3)/0001.htm": "<p>Milk"}
    pages, warnings = read("swde", write(tmp_path, files))
    assert [page.name for page in pages] == ["auto-msn/0000"]
    assert len(warnings) == 1
    assert warnings[0].endswith("0001.htm: no attribute values")


def test_a_short_line_of_swde_is_told_with_its_place(tmp_path):
    pages, warnings = read("swde", write(tmp_path, swde("0000\t1\tTea\n0001\n")))
    assert texts(pages[0]) == ["Tea"]
    assert warnings[0].endswith("auto-msn-model.txt:4: expected page, count and values between tabs")


def test_swde_gold_with_a_byte_order_mark_is_read(tmp_path):
    files = swde()
    name = "groundtruth/auto/auto-msn-model.txt"
    (page,), _ = read("swde", write(tmp_path, files | {name: b"\xef\xbb\xbf" + files[name].encode()}))
    assert texts(page) == ["Tea Car"]


def test_swde_gold_in_another_encoding_is_read_or_warned_of(tmp_path):
    files = swde("0000\t1\tTea\n") | {
        "groundtruth/auto/auto-msn-engine.txt": (HEAD + "0000\t1\tcafé crème\n").encode("cp1252")
    }
    (page,), warnings = read("swde", write(tmp_path, files))
    assert "Tea" in texts(page)
    assert "café crème" in texts(page) or len(warnings) == 1


def test_a_swde_value_may_hold_odd_separators(tmp_path):
    (page,), warnings = read("swde", write(tmp_path, swde("0000\t1\tTea\u2028Car\x0c2\n")))
    assert warnings == []
    assert page.text.split() == ["Tea", "Car", "2"]


def test_swde_values_are_found_in_whatever_order_the_page_shows_them(tmp_path):
    # engine.txt is read before model.txt, and the page shows the model first.
    shown = "<h1>Tea Car</h1><p>Menu</p><p>2 litres</p>"
    files = swde("0000\t1\tTea Car\n", page=shown) | swde("0000\t1\t2 litres\n", "engine", page=shown)
    (page,), _ = read("swde", write(tmp_path, files))
    page = label_page(page, "swde", load_config("default"))
    kept = [block.text for block, label in zip(page.document.blocks, page.labels, strict=True) if label.is_content]
    assert kept == ["Tea Car", "2 litres"]


# Our own annotation folders


def annotated(page=HTML, keep=("Tea", TEXT)):
    document = read_document(page, load_config("default"), url="http://www.tea.example/1")
    labels = tuple(
        (Label.HEADER if "h1" in block.containers else Label.PARAGRAPH) if block.text in keep else Label.OTHER
        for block in document.blocks
    )
    return write_anno(CleanPage(document, labels))


def anno(name, page=HTML, **options):
    return {f"{name}.html": page, f"{name}.anno": annotated(page, **options)}


def test_annotated_pages_come_with_their_segments_address_and_kind(tmp_path):
    (page, loose), warnings = read("anno", write(tmp_path, anno("article/one") | anno("two")))
    assert warnings == []
    assert (page.name, page.page_type, page.site) == ("article/one", "article", "tea.example")
    assert page.gold == (Gold("Tea", Label.HEADER), Gold(TEXT, Label.PARAGRAPH))
    assert page.html == HTML.encode()
    assert (loose.name, loose.page_type) == ("two", "")


def test_annotated_blocks_get_their_labels_back(tmp_path):
    for page in load_gold([f"anno:{write(tmp_path, anno('one'))}"], load_config("default"), pytest.fail):
        assert [str(label) for label in page.labels] == ["other", "header", "paragraph", "other"]


def test_an_annotation_without_its_page_is_read_with_the_page_that_is_in_it(tmp_path):
    files = anno("lonely")
    del files["lonely.html"]
    (lonely,), _ = read("anno", write(tmp_path / "one", files))
    (beside,), _ = read("anno", write(tmp_path / "two", anno("lonely")))
    config = load_config("default")
    texts = [[block.text for block in label_page(page, "anno", config).document.blocks] for page in (lonely, beside)]
    assert texts[0] == texts[1]


def test_damaged_annotations_are_warned_of(tmp_path):
    files = anno("good") | anno("a-damaged") | anno("c-not-text")
    files["a-damaged.anno"] = files["a-damaged.anno"].replace("paragraph\t", "paragraf\t")
    files["c-not-text.anno"] = JPEG
    pages, warnings = read("anno", write(tmp_path, files))
    assert [page.name for page in pages] == ["good"]
    assert len(warnings) == 2
    assert "a-damaged.anno:" in warnings[0]
    assert "did you mean 'paragraph'?" in warnings[0]
    assert "it is not UTF-8" in warnings[1]


def test_a_page_of_which_nothing_is_content_is_kept(tmp_path):
    (page,), _ = read("anno", write(tmp_path, anno("one", keep=())))
    assert page.gold == ()


def test_the_shipped_pages_are_read_without_a_warning():
    pages, warnings = read("anno", ROOT / "data")
    assert warnings == []
    assert len(pages) >= 48
    assert {"article", "forum", "product"} <= {page.page_type for page in pages}


# All of them


def truth(text):
    return json.dumps({"url": "http://tea.example/1", "ground_truth": {"main_content": text}})


FOLDERS = {
    "anno": anno("good") | {"bad.anno": "no annotation"},
    "cleaneval": {"input/1.html": HTML, "gold/1.txt": f"<h>Tea\n<p>{TEXT}", "input/2.html": HTML},
    "dragnet": dragnet(1, f"Tea\n{TEXT}") | {"HTML/2.html": HTML},
    "l3s": l3s("one", f'<span class="x-nc-sel1">Tea</span><span class="x-nc-sel2">{TEXT}</span>')
    | {"original/two.html": HTML},
    "swde": {
        "tea/tea-shop(2)/0000.htm": HTML,
        "tea/tea-shop(2)/0001.htm": HTML,
        "groundtruth/tea/tea-shop-name.txt": f"tea\tshop\tname\n2\t1\t1\t1\n0000\t2\tTea\t{TEXT}\n",
    },
    "wcxb": {"html/1.html": HTML, "ground-truth/1.json": truth(f"Tea\n{TEXT}"), "ground-truth/2.json": "{"},
}
FOLDERS["cleanportaleval"] = FOLDERS["cleaneval"]  # the same layout


def victor(*arguments):
    command = [sys.executable, "-m", "victorpy", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, capture_output=True, check=False, timeout=60, env=environment, text=True)


def test_every_layout_has_a_folder_here():
    assert set(FOLDERS) == set(DATASETS)


@pytest.mark.parametrize("kind", FOLDERS)
def test_every_layout_is_converted_to_annotations_and_what_is_broken_counted(tmp_path, kind):
    source = write(tmp_path / "in", FOLDERS[kind])
    ended = victor("convert", "--from", kind, source, "--to", "anno", tmp_path / "out")
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.endswith(f"convert: 1 pages written to {tmp_path / 'out'}, 1 left out\n")
    (written,) = (tmp_path / "out").glob("**/*.anno")
    page = load_anno(written, load_config("default").cuts)
    kept = [block.text for block, label in zip(page.document.blocks, page.labels, strict=True) if label.is_content]
    assert kept == ["Tea", TEXT]


def test_converted_annotations_are_something_to_learn_from(tmp_path):
    source = write(tmp_path / "in", FOLDERS["cleaneval"])
    victor("convert", "--from", "cleaneval", source, "--to", "anno", tmp_path / "out")
    ended = victor("learn", "-c", "crf", tmp_path / "out", "-o", tmp_path / "model")
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "model").is_dir()


def test_pages_are_converted_to_other_formats(tmp_path):
    source = write(tmp_path / "in", FOLDERS["cleaneval"])
    assert victor("convert", "--from", "cleaneval", source, "--to", "text", tmp_path / "out").returncode == 0
    (written,) = (tmp_path / "out").glob("**/*.txt")
    assert TEXT in written.read_text(encoding="utf-8")
    assert "Nobody" not in written.read_text(encoding="utf-8")


def test_a_page_that_is_no_page_is_left_out_and_counted(tmp_path):
    source = write(tmp_path / "in", dragnet(1) | dragnet(2, page=JPEG))
    ended = victor("convert", "--from", "dragnet", source, "--to", "anno", tmp_path / "out")
    assert ended.returncode == 0
    assert "convert: 2: this is binary data, not a web page\n" in ended.stderr
    assert ended.stderr.endswith("1 left out\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--from", "dragnt", "."], "no data set 'dragnt' (did you mean 'dragnet'?)"),
        (["--from", "dragnet", "gone"], "gone: no such directory"),
        (["--from", "dragnet", "."], "no pages in the layout of 'dragnet'"),
        (["--from", "dragnet", ".", "--to", "pdf"], "no output format 'pdf'"),
        (["--from", "dragnet", ".", "--config", "defualt"], "no config 'defualt' (did you mean 'default'?)"),
    ],
)
def test_mistakes_in_converting_are_one_line_and_exit_2(tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    ended = victor("convert", *arguments, "out")
    assert ended.returncode == 2
    assert ended.stderr.startswith("convert: ")
    assert ended.stderr.count("\n") == 1
    assert message in ended.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", ["anno", "dragnet", "l3s", "swde"])
def test_a_directory_without_pages_is_an_error(tmp_path, kind):
    with pytest.raises(DataError, match=f"no pages in the layout of '{kind}'"):
        read(kind, tmp_path)


@pytest.mark.parametrize("kind", ["cleaneval", "dragnet"])
def test_gold_that_is_no_text_is_warned_of_and_left_out(tmp_path, kind):
    files = {"cleaneval": {"gold/1.txt": JPEG, "input/3.html": HTML, "gold/3.txt": "<p>Tea"}}
    files["dragnet"] = {"Corrected/1.html.corrected.txt": JPEG} | dragnet(3)
    pages, warnings = read(kind, write(tmp_path, {**FOLDERS[kind], **files[kind]}))
    assert [page.name.rpartition("/")[2] for page in pages] == ["3"]
    assert len(warnings) == 2
    assert any("1" in warning.rpartition("/")[2] for warning in warnings)


def test_the_site_of_a_gold_page_never_fails():
    for url in ("http://[", "http://[1]:x/", "//", "\0", "http://\u2100.example/"):
        assert GoldPage("name", b"", (), url).site
