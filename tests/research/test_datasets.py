"""Readers of gold standards, on small made-up folders in their layouts; and all layouts converted to annotations."""

import gzip
import json

import pytest
from support.cases import read_cases
from support.commands import JPEG, ROOT, names_in, refused, victor, write_files

from victorpy.cleaner import read_document
from victorpy.config import load_config
from victorpy.document import Label
from victorpy.errors import DataError
from victorpy.outputs import CleanPage
from victorpy.outputs.anno import load_anno, load_progress, write_anno
from victorpy.research.align import Gold
from victorpy.research.datasets import DATASETS, GoldPage, parse_cleaneval, read_dataset
from victorpy.research.gold import label_page, load_gold

TEXT = "Tea is a drink that is made by pouring hot water over leaves."
HTML = f"<title>Tea</title><ul><li><a href='/'>Home</a></ul><h1>Tea</h1><p>{TEXT}</p><p>Nobody asked for this.</p>"


def read(kind, directory, files=None):
    """Read a data set, after writing the given files, and return its pages and warnings."""
    warnings = []
    return list(read_dataset(kind, write_files(directory, files or {}), warnings.append)), warnings


def names(pages):
    return [page.name for page in pages]


def texts(page):
    return [segment.text for segment in page.gold]


def content(page):
    """Texts of the blocks that are labelled as content."""
    return [block.text for block, label in zip(page.document.blocks, page.labels, strict=True) if label.is_content]


# CleanEval


def cleaneval(number, gold="<p>Tea", page="<p>Tea"):
    return {f"input/{number}.html": page, f"gold/{number}.txt": gold}


def test_cleaneval_pages_come_with_their_gold_in_the_order_of_their_numbers(tmp_path):
    html = {
        n: f'<text id="http://tea.example/x{n}" title="Tea" encoding="utf-8"><p>Tea {n}</p></text>' for n in (10, 9, 1)
    }
    files = cleaneval(10, page=html[10]) | cleaneval(1, "<p>Tea 1", html[1])
    files |= cleaneval(9, "URL: http://tea.example/9\n<p>Tea 9\n", html[9])
    pages, warnings = read("cleaneval", tmp_path, files)
    assert warnings == []
    assert names(pages) == ["input/1", "input/9", "input/10"]
    assert pages[1].gold == (Gold("Tea 9", Label.PARAGRAPH),)
    assert pages[1].html == html[9].encode()
    # Where the gold has no address, the page gives it.
    assert [page.url for page in pages[:2]] == ["http://tea.example/x1", "http://tea.example/9"]


def test_parts_of_cleaneval_are_read_together(tmp_path):
    files = {f"{part}/{name}": text for part in ("dev", "test") for name, text in cleaneval(1).items()}
    assert names(read("cleaneval", tmp_path, files)[0]) == ["dev/input/1", "test/input/1"]


def test_cleaneval_page_without_gold_or_with_empty_gold_is_left_out_with_a_warning(tmp_path):
    files = {"input/1.html": "<p>Tea"} | cleaneval(2, "URL: http://tea.example/\n \n") | cleaneval(3)
    pages, warnings = read("cleaneval", tmp_path, files)
    assert names(pages) == ["input/3"]
    endings = [warning.removeprefix(f"{tmp_path}/") for warning in warnings]
    assert endings == ["input/1.html: no gold file gold/1.txt", "gold/2.txt: the gold is empty"]


def test_cleaneval_gold_in_another_encoding_is_read(tmp_path):
    text = "Le café est prêt à être bu."
    (page,), _ = read("cleaneval", tmp_path, cleaneval(1, f"<p>{text}".encode("cp1252"), "<p>Café"))
    assert texts(page) == [text]


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
        ("<p>It&#8217;s &#x201c;hot&rdquo; &lt;p&gt; &nbsp;", "", [("It’s “hot” <p>", "paragraph")]),
        (
            "<p>AT&T &copy 2012 &nonsense; &#99999999; a&b;",
            "",
            [("AT&T &copy 2012 &nonsense; &#99999999; a&b;", "paragraph")],
        ),
    ],
)
def test_cleaneval_gold_is_an_address_and_tagged_segments(text, url, segments):
    parsed_url, parsed = parse_cleaneval(text)
    assert parsed_url == url
    assert [(segment.text, str(segment.label)) for segment in parsed] == segments


# WCXB


def truth(text, url="http://www.tea.example/a", **more):
    return json.dumps({"url": url, "ground_truth": {"main_content": text}, **more})


def own_pages(gold, *records):
    """Return an index with these records, and a page with a gold for the record 1."""
    index = "\n".join(record if isinstance(record, str) else json.dumps(record) for record in records)
    return {"pages.jsonl": index, "html/1.html": "<p>Tea", "gold/1.txt": gold}


def test_own_pages_have_addresses_sites_types_and_partial_gold(tmp_path):
    records = [{"id": "1", "url": "http://tea.example/1", "site": "tea.example", "type": "article"}]
    files = {f"a/{name}": text for name, text in own_pages("Tea", *records).items()}
    files |= {
        f"b/{name}": text for name, text in own_pages("Tea", {"id": "1", "site": "Org/x", "partial": True}).items()
    }
    (first, second), warnings = read("pages", tmp_path, files)
    assert warnings == []
    assert (first.name, first.url, first.page_type, first.partial) == ("a/1", "http://tea.example/1", "article", False)
    assert (second.name, second.site, second.partial) == ("b/1", "org-x.example", True)


def test_own_pages_may_be_texts_beside_pages(tmp_path):
    files = {
        "tea.html": "<link rel=canonical href=http://tea.example/1><p>Tea",
        "tea.txt": "Tea",
        "notes.txt": "no page",
        "shop/pot.HTM": "<p>Pot",
        "shop/pot.txt": "URL: http://pot.example/\n<h>Pot",
        "shop/cup.html": "<p>Cup",
        "shop/empty.html": "<p>Empty",
        "shop/empty.txt": " \n",
        "void.html": "",
        "void.txt": "Void",
    }
    (pot, tea), warnings = read("pages", tmp_path, files)
    assert (pot.name, pot.url, pot.page_type, str(pot.gold[0].label)) == (
        "shop/pot",
        "http://pot.example/",
        "shop",
        "header",
    )
    assert (tea.name, tea.site, tea.text) == ("tea", "tea.example", "Tea")
    for part in ("cup.html: no gold file shop/cup.txt", "empty.txt: the gold is empty", "void.html: the page is empty"):
        assert any(part in warning for warning in warnings)


@pytest.mark.parametrize(
    ("record", "warning"),
    [
        ("{", "pages.jsonl:2: left out; expected a JSON object"),
        ("[]", "pages.jsonl:2: left out; expected a JSON object"),
        ({"url": "http://x.example/"}, "pages.jsonl:2: left out; expected a JSON object"),
        ({"id": 2}, "pages.jsonl:2: left out; id, url, site and type must be strings"),
        ({"id": "../../1"}, "pages.jsonl:2: left out; an id is the name of a file in html/, without .."),
        ({"id": "/etc/1"}, "pages.jsonl:2: left out; an id is the name of a file in html/, without .."),
        ({"id": "1\0"}, "pages.jsonl:2: left out; an id is the name of a file in html/, without .."),
        ({"id": "2"}, "2.html: no gold file gold/2.txt"),
    ],
)
def test_broken_record_of_own_pages_is_left_out_with_a_warning(tmp_path, record, warning):
    pages, (warned,) = read("pages", tmp_path, own_pages("Tea", {"id": "1"}, record))
    assert names(pages) == ["1"]
    assert warning in warned


def wcxb(number, gold, page="<p>Tea"):
    return {f"html/{number}.html": page, f"ground-truth/{number}.json": gold}


def test_wcxb_pages_come_plain_or_packed(tmp_path):
    files = wcxb("0001", truth("Plain tea", _internal={"page_type": {"primary": "article"}}), "<p>Plain tea")
    files |= {"html/0002.html.gz": gzip.compress(b"<p>Packed tea"), "ground-truth/0002.json": truth("Packed", url="")}
    (plain, packed), warnings = read("wcxb", tmp_path, files)
    assert warnings == []
    assert (plain.name, plain.html, plain.page_type) == ("0001", b"<p>Plain tea", "article")
    assert plain.gold == (Gold("Plain tea", None),)
    assert (packed.html, packed.page_type, packed.url) == (b"<p>Packed tea", "", "")


UNREADABLE = [
    "",
    "{",
    "[]",
    "null",
    "{}",
    '{"ground_truth": null}',
    '{"ground_truth": {}}',
    '{"ground_truth": "x"}',
    b"\xff",
]


@pytest.mark.parametrize(
    ("bad", "warning"),
    [
        *((wcxb(1, gold), "1.json: cannot be read") for gold in UNREADABLE),
        *((wcxb(1, truth(gold)), "1.json") for gold in (1, ["Tea"], {"text": "Tea"})),
        ({"ground-truth/1.json": truth("Tea")}, "1.json: no page 1.html or 1.html.gz"),
        *(
            ({"html/1.html.gz": packed, "ground-truth/1.json": truth("Tea")}, "1.html.gz")
            for packed in (b"not gzip at all", gzip.compress(b"<p>Tea" * 500)[:-20])
        ),
    ],
)
def test_broken_wcxb_page_is_left_out_with_a_warning(tmp_path, bad, warning):
    pages, (warned,) = read("wcxb", tmp_path, bad | wcxb(2, truth("Tea")))
    assert names(pages) == ["2"]
    assert warning in warned


def test_wcxb_page_of_which_nothing_is_content_is_kept(tmp_path):
    (page,), _ = read("wcxb", tmp_path, wcxb(1, truth(None), "<p>Menu"))
    assert page.text == ""


# Dragnet


def dragnet(number, gold=TEXT, page=HTML):
    return {f"HTML/{number}.html": page, f"Corrected/{number}.html.corrected.txt": gold}


def test_dragnet_pages_come_in_the_order_of_their_numbers_with_text_as_gold(tmp_path):
    pages, warnings = read("dragnet", tmp_path, dragnet(10) | dragnet(9) | dragnet(1))
    assert warnings == []
    assert names(pages) == ["1", "9", "10"]
    assert (pages[0].html, pages[0].gold, pages[0].page_type) == (HTML.encode(), (Gold(TEXT),), "article")


def test_comments_of_readers_are_no_content(tmp_path):
    gold = f"{TEXT}\n\n!@#$%^&*()  COMMENTS\n\nFirst! I never drink tea.\n"
    (page,), _ = read("dragnet", tmp_path, dragnet(1, gold))
    assert page.text == TEXT


def test_dragnet_page_without_gold_or_with_empty_gold_is_left_out_with_a_warning(tmp_path):
    files = dragnet(1) | dragnet(2, " \n") | dragnet(3, "!@#$%^&*()  COMMENTS\nFirst!") | {"HTML/4.html": HTML}
    pages, warnings = read("dragnet", tmp_path, files)
    assert names(pages) == ["1"]
    assert [warning.removeprefix(f"{tmp_path}/") for warning in warnings] == [
        "Corrected/2.html.corrected.txt: the gold is empty",
        "Corrected/3.html.corrected.txt: the gold is empty",
        "HTML/4.html: no gold file Corrected/4.html.corrected.txt",
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_dragnet_gold_is_read_in_its_encoding(tmp_path, encoding):
    text = "Le café est prêt à être bu par l’équipe."
    (page,), _ = read("dragnet", tmp_path, dragnet(1, text.encode(encoding)))
    assert page.text == text


@pytest.mark.parametrize(
    ("page", "site"),
    [
        ('<link rel="canonical" href="http://www.tea.example/a">', "tea.example"),
        ("<meta property='og:url' content='https://milk.example/b'>", "milk.example"),
        ("<base href=http://beer.example/>", "beer.example"),
        ('<a href="/here">x</a>' + 3 * '<a href="http://wine.example/c">y</a>', "wine.example"),
        (2 * '<a href="http://wine.example/c">y</a>', "1"),
        ("<p>no address</p>", "1"),
    ],
)
def test_site_of_a_page_without_address_is_guessed_from_its_markup(tmp_path, page, site):
    (page,), _ = read("dragnet", tmp_path, dragnet(1, page=page))
    assert page.site == site


@pytest.mark.parametrize("address", ["http://[broken/", "http://[::1/", "http://a]b/", "http://[x].example/"])
def test_broken_address_does_not_stop_the_reading(tmp_path, address):
    files = dragnet(1, page=f'<link rel="canonical" href="{address}">{HTML}') | dragnet(2)
    pages = load_gold([f"dragnet:{write_files(tmp_path, files)}"], load_config("default"), lambda _: None)
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


@pytest.mark.parametrize(
    ("marked", "gold"),
    [
        (MARKED, ["A headline", "Full", "text", "of it", "A caption"]),
        # The innermost mark counts.
        (
            '<div class="a x-nc-sel2 b">kept <span class="x-nc-sel0">dropped</span> kept too</div> not kept',
            ["kept", "kept too"],
        ),
        (
            '<span class="x-nc-sel2">text<script>alert(1)</script><style>b{}</style><!-- remark --> more</span>',
            ["text more"],
        ),
    ],
    ids=["kinds of text", "nested", "scripts and comments"],
)
def test_l3s_content_is_headline_text_and_supplement(tmp_path, marked, gold):
    (page,), warnings = read("l3s", tmp_path, l3s("one", marked))
    assert warnings == []
    assert page.text.split("\n") == gold
    assert (page.name, page.html, page.page_type) == ("one", HTML.encode(), "article")


@pytest.mark.parametrize(
    ("bad", "warning"),
    [
        *((l3s("bad", text), "bad.html") for text in ("", '<span class="x-nc-sel0">Menu</span>', "<p>no marks", JPEG)),
        ({"original/bad.html": HTML}, "bad.html: no gold file annotated/bad.html"),
    ],
    ids=["empty", "noise", "no marks", "no page", "alone"],
)
def test_l3s_page_without_marked_content_is_left_out_with_a_warning(tmp_path, bad, warning):
    pages, (warned,) = read("l3s", tmp_path, bad | l3s("good"))
    assert names(pages) == ["good"]
    assert warning in warned


# SWDE

HEAD = "auto\tmsn\tmodel\n3\t3\t3\t3\n"


def swde(values="0000\t1\tTea Car\n", attribute="model", head=HEAD, page="<h1>Tea Car</h1><p>Engine: 2 litres"):
    return {"auto/auto-msn(3)/0000.htm": page, f"groundtruth/auto/auto-msn-{attribute}.txt": head + values}


def test_swde_values_are_segments_of_the_gold(tmp_path):
    files = swde() | swde("0000\t2\t2 litres\tV8 &amp; more\n", "engine")
    (page,), warnings = read("swde", tmp_path, files)
    assert warnings == []
    assert sorted(texts(page)) == ["2 litres", "Tea Car", "V8 & more"]
    assert (page.name, page.site, page.page_type) == ("auto-msn/0000", "msn.example", "auto")


def test_swde_pages_of_one_site_share_it(tmp_path):
    files = swde("0000\t1\tTea\n0001\t1\tMilk\n") | {"auto/auto-msn(3)/0001.htm": "<p>Milk"}
    files |= {"auto/auto-aol(1)/0000.htm": "<p>Beer", "groundtruth/auto/auto-aol-model.txt": HEAD + "0000\t1\tBeer\n"}
    sites = [(page.site, texts(page)) for page in read("swde", tmp_path, files)[0]]
    assert sites == [("aol.example", ["Beer"]), ("msn.example", ["Tea"]), ("msn.example", ["Milk"])]


@pytest.mark.parametrize(
    ("values", "more", "warning"),
    [
        ("0000\t1\tTea\n0001\t0\t<NULL>\n", {"auto/auto-msn(3)/0001.htm": "<p>Milk"}, "0001.htm: no attribute values"),
        ("0000\t1\tTea\n0001\n", {}, "auto-msn-model.txt:4: expected page, count and values between tabs"),
    ],
    ids=["missing value", "short line"],
)
def test_broken_swde_values_are_left_out_with_a_warning(tmp_path, values, more, warning):
    (page,), (warned,) = read("swde", tmp_path, swde(values) | more)
    assert (page.name, texts(page)) == ("auto-msn/0000", ["Tea"])
    assert warned.endswith(warning)


def test_swde_gold_with_a_byte_order_mark_or_odd_separators_is_read(tmp_path):
    name = "groundtruth/auto/auto-msn-model.txt"
    (page,), _ = read("swde", tmp_path / "one", swde() | {name: b"\xef\xbb\xbf" + swde()[name].encode()})
    assert texts(page) == ["Tea Car"]
    (page,), warnings = read("swde", tmp_path / "two", swde("0000\t1\tTea\u2028Car\x0c2\n"))
    assert warnings == []
    assert page.text.split() == ["Tea", "Car", "2"]


def test_swde_gold_in_another_encoding_is_read_or_warned_of(tmp_path):
    other = (HEAD + "0000\t1\tcafé crème\n").encode("cp1252")
    files = swde("0000\t1\tTea\n") | {"groundtruth/auto/auto-msn-engine.txt": other}
    (page,), warnings = read("swde", tmp_path, files)
    assert "Tea" in texts(page)
    assert "café crème" in texts(page) or len(warnings) == 1


def test_swde_values_are_found_in_any_order(tmp_path):
    # engine.txt is read before model.txt, and the page shows the model first.
    shown = "<h1>Tea Car</h1><p>Menu</p><p>2 litres</p>"
    files = swde("0000\t1\tTea Car\n", page=shown) | swde("0000\t1\t2 litres\n", "engine", page=shown)
    (page,), _ = read("swde", tmp_path, files)
    assert content(label_page(page, "swde", load_config("default"))) == ["Tea Car", "2 litres"]


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
    (page, loose, empty), warnings = read("anno", tmp_path, anno("article/one") | anno("two") | anno("x", keep=()))
    assert warnings == []
    assert (page.name, page.page_type, page.site) == ("article/one", "article", "tea.example")
    assert page.gold == (Gold("Tea", Label.HEADER), Gold(TEXT, Label.PARAGRAPH))
    assert page.html == HTML.encode()
    assert (loose.name, loose.page_type) == ("two", "")
    assert empty.gold == ()  # a page of which nothing is content is kept
    labelled = load_gold([f"anno:{tmp_path}"], load_config("default"), pytest.fail)
    assert [str(label) for label in labelled[0].labels] == ["other", "header", "paragraph", "other"]


def test_annotation_without_its_page_is_read_with_the_page_that_is_in_it(tmp_path):
    files = anno("lonely")
    (beside,), _ = read("anno", tmp_path / "two", files)
    del files["lonely.html"]
    (lonely,), _ = read("anno", tmp_path / "one", files)
    config = load_config("default")
    blocks = [[block.text for block in label_page(page, "anno", config).document.blocks] for page in (lonely, beside)]
    assert blocks[0] == blocks[1]


def test_damaged_annotations_are_left_out_with_a_warning(tmp_path):
    files = anno("good") | anno("a-damaged") | anno("c-not-text")
    files["a-damaged.anno"] = files["a-damaged.anno"].replace("paragraph\t", "paragraf\t")
    files["c-not-text.anno"] = JPEG
    pages, (damaged, not_text) = read("anno", tmp_path, files)
    assert names(pages) == ["good"]
    assert "a-damaged.anno:" in damaged
    assert "did you mean 'paragraph'?" in damaged
    assert "it is not UTF-8" in not_text


def test_shipped_pages_are_read_without_a_warning():
    pages, warnings = read("anno", ROOT / "data")
    assert warnings == []
    assert len(pages) >= 48
    assert {"article", "forum", "product"} <= {page.page_type for page in pages}


# All of them


FOLDERS = {
    "anno": anno("good") | {"bad.anno": "no annotation"},
    "cleaneval": cleaneval(1, f"URL: http://tea.example/\n<h>Tea\n<p>{TEXT}", HTML) | {"input/2.html": HTML},
    "dragnet": dragnet(1, f"Tea\n{TEXT}") | {"HTML/2.html": HTML},
    "l3s": l3s("one", f'<span class="x-nc-sel1">Tea</span><span class="x-nc-sel2">{TEXT}</span>')
    | {"original/two.html": HTML},
    "swde": {
        "tea/tea-shop(2)/0000.htm": HTML,
        "tea/tea-shop(2)/0001.htm": HTML,
        "groundtruth/tea/tea-shop-name.txt": f"tea\tshop\tname\n2\t1\t1\t1\n0000\t2\tTea\t{TEXT}\n",
    },
    "pages": own_pages(f"Tea\n{TEXT}", {"id": "1"}, {"id": "2"}) | {"html/1.html": HTML},
    "wcxb": wcxb(1, truth(f"Tea\n{TEXT}"), HTML) | {"ground-truth/2.json": "{"},
}
FOLDERS["cleanportaleval"] = FOLDERS["cleaneval"]  # the same layout


def test_every_layout_has_a_folder_here():
    assert set(FOLDERS) == set(DATASETS)


def convert(source, to, out):
    ended = victor("convert", *source, "--to", to, out, text=True)
    assert ended.returncode == 0, ended.stderr
    return ended.stderr


@pytest.mark.parametrize("kind", FOLDERS)
def test_every_layout_is_converted_and_broken_pages_are_counted(tmp_path, kind):
    source = write_files(tmp_path / "in", FOLDERS[kind])
    warned = convert(["--from", kind, source], "anno", tmp_path / "out")
    assert warned.endswith(f"convert: 1 pages written to {tmp_path / 'out'}, 1 left out\n")
    (written,) = (tmp_path / "out").glob("**/*.anno")
    page = load_anno(written, load_config("default").cuts)
    assert content(page) == ["Tea", TEXT]
    decided, blocks = load_progress(written)
    assert decided == blocks  # a gold standard is a person's
    if kind == "cleaneval":  # converted pages can be learned from, and written in other formats
        assert "2.html: no gold file gold/2.txt" in warned
        assert page.document.url == "http://tea.example/"
        assert [str(label) for label in page.labels] == ["other", "header", "paragraph", "other"]
        ended = victor("learn", "-q", "-c", "crf", tmp_path / "out", "-o", tmp_path / "model")
        assert ended.returncode == 0, ended.stderr
        assert (tmp_path / "model").is_dir()
        convert(["--from", kind, source], "text", tmp_path / "texts")
        (written,) = (tmp_path / "texts").glob("**/*.txt")
        assert TEXT in written.read_text(encoding="utf-8")
        assert "Nobody" not in written.read_text(encoding="utf-8")


def test_file_that_is_no_page_is_left_out_and_counted(tmp_path):
    source = write_files(tmp_path / "in", dragnet(1) | dragnet(2, page=JPEG))
    warned = convert(["--from", "dragnet", source], "anno", tmp_path / "out")
    assert "convert: 2: this is binary data, not a web page\n" in warned
    assert warned.endswith("1 left out\n")


@pytest.mark.parametrize(("arguments", "message"), read_cases("mistakes.json", "victor-convert"))
def test_mistakes_in_converting_are_one_line_and_exit_2(tmp_path, arguments, message):
    error = refused(victor("convert", *arguments.split(), "out", cwd=tmp_path))
    assert error.startswith("convert: ")
    assert message in error
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("kind", list(DATASETS))
def test_directory_without_pages_and_missing_directory_are_errors(tmp_path, kind):
    with pytest.raises(DataError, match=f"no usable pages in the layout of '{kind}'"):
        read(kind, tmp_path)
    with pytest.raises(DataError, match="gone: no such directory"):
        list(read_dataset(kind, tmp_path / "gone", pytest.fail))


@pytest.mark.parametrize("kind", ["cleaneval", "dragnet"])
def test_gold_that_is_no_text_is_left_out_with_a_warning(tmp_path, kind):
    files = {"cleaneval": {"gold/1.txt": JPEG} | cleaneval(3, page=HTML)}
    files["dragnet"] = {"Corrected/1.html.corrected.txt": JPEG} | dragnet(3)
    pages, warnings = read(kind, tmp_path, {**FOLDERS[kind], **files[kind]})
    assert [page.name.rpartition("/")[2] for page in pages] == ["3"]
    assert len(warnings) == 2
    assert any("1" in warning.rpartition("/")[2] for warning in warnings)


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("http://www.tea.example/a", "tea.example"),
        ("https://WWW.Tea.example/b?c", "tea.example"),
        ("http://shop.tea.example:8080/", "tea.example"),
        ("", "1"),
        ("no address", "1"),
        *((broken, "1") for broken in ("http://[", "http://[1]:x/", "//", "\0")),
    ],
)
def test_pages_of_one_host_are_of_one_site(url, site):
    assert GoldPage("1", b"", (), url).site == site


def test_text_of_a_gold_page_is_its_segments_in_lines():
    gold = (Gold("Tea", Label.HEADER), Gold("A drink."))
    assert GoldPage("1", b"", gold).text == "Tea\nA drink."
