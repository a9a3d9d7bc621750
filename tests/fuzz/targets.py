"""Fuzz targets: for each a function of bytes that checks invariants, and the seeds that are mutated.

A check returns text that must be the same in every process and under every hash seed. It may raise VictorError; any
other exception is a finding. Files in seeds/TARGET/ are seeds too: inputs that once failed.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import html5lib
import pytest
from fuzz.run import LONGEST
from lxml import etree
from native.test_twins import CONFIGS, HOSTILE, assert_twins, without_core
from support.batchpages import response, warc_record
from support.htmlpages import SOUP, parsed_texts, squeezed, words_of

from victorpy import Cleaner, VictorError, read_document
from victorpy.base import digests
from victorpy.batch.inputs import InputFile, read_file
from victorpy.batch.record import ProblemError, Record
from victorpy.batch.sources import ReadOptions
from victorpy.config import read_config
from victorpy.document import Label
from victorpy.methods import load_method
from victorpy.model.encode import make_encoders
from victorpy.model.store import find_model, load_model
from victorpy.model.template import read_template
from victorpy.outputs import OUTPUTS
from victorpy.outputs.anno import AnnotationWriter, read_anno, read_annotation, write_anno
from victorpy.outputs.base import CleanPage, KeptBlocks
from victorpy.outputs.tables import without_controls
from victorpy.page.decode import decode

TOP = Path(__file__).resolve().parents[2]


class Target(NamedTuple):
    check: Callable[[bytes], str]
    seeds: Callable[[], Sequence[bytes]]
    words: Sequence[bytes] = ()  # pieces that mutations insert


TARGETS: dict[str, Target] = {}


def target(seeds: Callable[[], Sequence[bytes]], words: Sequence[bytes] = ()) -> Callable[[Any], Any]:
    """Register a check under the name of its function."""

    def register(check: Callable[[bytes], str]) -> Callable[[bytes], str]:
        def checked(data: bytes) -> str:
            try:
                return check(data)
            except VictorError as error:
                return f"{type(error).__name__}: {error}"

        found = sorted((Path(__file__).parent / "seeds" / check.__name__).glob("*"))
        TARGETS[check.__name__] = Target(checked, lambda: [*seeds(), *(path.read_bytes() for path in found)], words)
        return check

    return register


# Pages.

ABOUT = b"""<html lang=en><head><title>Tea - The Courier</title><meta name=author content="A. Leaf"><meta charset=utf-8>
<meta property="og:title" content=Tea><meta property="article:published_time" content="2024-05-06T07:08:09Z">
<script type="application/ld+json">{"@context":"https://schema.org","@type":"NewsArticle","author":{"name":"A. Leaf"},
"datePublished":"2024-05-06","publisher":{"@id":"#p"}}</script><link rel=canonical href="/tea?a=1&amp;b=2"></head>
<body itemscope itemtype="https://schema.org/Article"><h1 itemprop=headline>Tea</h1><p class=byline>By <a rel=author
href=/a>A. Leaf</a>, <time datetime=2024-05-06>May 6, 2024</time></p><p>Tea is made by pouring hot water over leaves."""
RICH = b"""<h2>List</h2><ol start=3><li>one<ul><li><b>two</b></ul><li value=9>nine</ol><dl><dt>t<dd>d<dd>e</dl><table>
<caption>c</caption><tr><th>a<th>b<tr><td colspan=2>c|d<td rowspan=3><p>e<p>f</table><blockquote><p>q<blockquote>r
</blockquote></blockquote><pre><code class=language-py>if a &lt; b:\n\tpass</code></pre><p>a<br>b <i>c <b>d</i> e</b>
<a href="javascript:f()">x</a> <a href="//h/p)q">y</a><img alt=" a*b " src=x.png><math><mi>x</mi></math><sup>2</sup>"""
TEXTS = [*SOUP, "*", "_", "`", "~~~", "|", "#", "1. ", "- ", "\\", "![", "](", "\u202e", "\ud800", "İ", "ß", "𝔗", "。"]
TEXTS += ["<td colspan=9>", "<li value=-1>", "<pre><code>", "<blockquote>", "<dd>", "<meta charset=", "itemprop=name "]
TEXTS += ['"@type":"Article"', '"datePublished":"', "<time datetime=", "<base href=", "javascript:", "http://[", "%00"]
TEXTS += ["\x01", "\x0b", "<q>", "<picture><source srcset=", "<ruby>"]
MARKUP = [text.encode("utf-8", "surrogatepass") for text in TEXTS]


@cache
def pages() -> list[bytes]:
    hostile = [text.encode("utf-8", "surrogatepass")[:LONGEST] for text in HOSTILE.values()]
    samples = [path.read_bytes()[:LONGEST] for path in sorted((TOP / "data").rglob("*.html"))[::8]]
    return [ABOUT, RICH, *hostile, *samples]


@target(
    lambda: (
        [b"text/html; charset=gb2312\n<meta charset=utf-8>\xce\xd2", b"\xff\xfet\0e\0a\0", "café".encode("cp1252")]
        + [f"\n<meta charset={name}>tea".encode(name) + b"\xe9\x93" for name in ("utf-16", "shift_jis", "koi8-r", "hz")]
    ),
    [
        b"charset=",
        b"utf-7",
        b"iso-2022-jp",
        b"\x1b$B",
        b"~{",
        b"\xed\xa0\x80",
        b"\xef\xbb\xbf",
        b"\0",
        b"<text encoding=",
    ],
)
def decoding(data: bytes) -> str:
    """The first line is the Content-Type header."""
    header, _, page = data.partition(b"\n")
    decoded = decode(page, header.decode("latin-1") or None)
    assert "\0" not in decoded.text
    decoded.text.encode()  # raises if a surrogate is left
    return f"{decoded.encoding} {decoded.source} {decoded.loss} {decoded.text}".encode().hex()


@target(pages, MARKUP)
def splitting(data: bytes) -> str:
    """No text is lost, both engines give the same blocks and columns, and annotation files restore the page."""
    written = []
    for name, config in CONFIGS.items():
        assert_twins(data, name)
        document, texts = read_document(data, config), parsed_texts(data, config)
        assert squeezed(document) == "".join("".join(texts).split())
        if name == "cleaneval":  # every word is in exactly one block
            assert words_of(document) == [word for text in texts for word in text.split()]
        page = CleanPage(document, (Label.OTHER,) * len(document.blocks))
        written.append(write_anno(page))
        assert read_anno(written[-1], config.cuts) == page
    return "".join(written)


@cache
def cleaners() -> tuple[Cleaner, Cleaner]:
    return Cleaner.load(), load_method("everything")


@target(pages, MARKUP)
def cleaning(data: bytes) -> str:
    """Both engines give the same labels, with probabilities that differ by less than 1e-5."""
    cleaner = cleaners()[0]
    page = cleaner.document(data)
    with pytest.MonkeyPatch.context() as patch:
        without_core(patch)
        twin = cleaner.document(data)
    assert (page.document, page.labels, page.text) == (twin.document, twin.labels, twin.text)
    assert page.probabilities == pytest.approx(twin.probabilities, abs=1e-5)
    assert len(page.labels) == len(page.document.blocks)
    return page.text


@target(pages, MARKUP)
def outputs(data: bytes) -> str:
    """Every format without metadata is well-formed, of the model's choice and of the whole page."""
    return write(data, [name for name in OUTPUTS if not OUTPUTS.get(name).wants_metadata])


@target(pages, MARKUP)
def metadata(data: bytes) -> str:
    return write(data, [name for name in OUTPUTS if OUTPUTS.get(name).wants_metadata])


RAW = ("anno", "cleaneval", "jsonl")  # formats that contain the blocks as they are on the page
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def write(data: bytes, formats: Sequence[str]) -> str:
    written = []
    wants_metadata = OUTPUTS.get(formats[0]).wants_metadata
    for cleaner in cleaners():
        whole = cleaner.document(data, "http://tea.example/a/", features=True, metadata=wants_metadata, layout=True)
        for name in formats:
            page = whole if OUTPUTS.get(name).wants_layout else replace(whole, layout=None)
            text = page.to(name)
            text.encode()  # raises if a surrogate is left
            assert name in RAW or not CONTROLS.search(text)
            CHECKS[OUTPUTS.get(name).suffix](text, page)
            written.append(text)
    return "".join(written)


def check_html(text: str, page: CleanPage) -> None:
    """Browsers close and move nothing."""
    if page.layout is None:
        html5lib.HTMLParser(strict=True).parse(text)
    else:
        tree = html5lib.parse(text, namespaceHTMLElements=False)
        assert not [element.tag for element in tree.iter() if element.tag in {"script", "iframe", "object", "form"}]


def check_lines(text: str, page: CleanPage) -> None:
    lines = text.removesuffix("\n").split("\n")
    assert len(lines) == 1
    assert isinstance(json.loads(text, parse_constant=pytest.fail), dict)


def check_table(text: str, page: CleanPage) -> None:
    header, *rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    assert [len(row) for row in rows] == [len(header)]


def check_text(text: str, page: CleanPage) -> None:
    """All kept letters are there, in order. There may be marks between them."""
    rest = iter(without_controls(text))
    assert page.document.has_tag("img") or all(char in rest for char in kept_text(page) if char.isalnum())


def kept_text(page: CleanPage) -> str:
    return "".join(without_controls("".join(block.text for block, _ in KeptBlocks(page))).split())


def check_vertical(text: str, page: CleanPage) -> None:
    """Every line is a tag or a token, and every tag but `<g/>` is closed."""
    lines = text.splitlines()
    assert lines[0].startswith("<doc ")
    assert lines[-1] == "</doc>"


CHECKS: dict[str, Callable[[str, CleanPage], None]] = {
    ".anno": lambda text, page: None,  # `splitting` reads them back
    ".html": check_html,
    ".xml": lambda text, page: etree.fromstring(text.encode()),
    ".json": lambda text, page: json.loads(text),
    ".jsonl": check_lines,
    ".csv": check_table,
    ".md": check_text,
    ".txt": check_text,
    ".prevert": check_vertical,
    ".vert": check_vertical,
}


# Files that users write.


@target(
    lambda: (
        [path.read_bytes() for path in sorted((TOP / "tests" / "cases" / "anno-errors").glob("*.anno"))]
        + [write_anno(cleaners()[0].document(page, features=True)).encode() for page in pages()[:2]]
    ),
    [
        b"\t",
        b"header\t-\t",
        b"?\t",
        b"<p>",
        b"</p>",
        b'<img alt="x">',
        b"end\t-\t\t\n",
        b"&#10;",
        b"split: every",
        b"# x",
    ],
)
def anno(data: bytes) -> str:
    """What can be read is written and read again without a change."""
    text = data.decode("utf-8", "replace")
    cuts = CONFIGS["default"].cuts
    read = read_annotation(text, cuts)
    written = AnnotationWriter(read.document, read.comments).write(read.labels, read.probabilities)
    assert read_annotation(written, cuts) == read
    return written + repr(read_anno(text, cuts).labels)


@target(
    lambda: (
        [path.read_bytes()[:LONGEST] for path in sorted((TOP / "configs").glob("*.conf"))]
        + [b"class-x: {a,b}{1..9}\nclass-y: $class-x 'q'\ninclude crf\n"]
    ),
    [
        b"include default\n",
        b"$",
        b"{a,b}",
        b"{1..99}",
        b"class-",
        b"crf-features: ",
        b"threshold: ",
        b"labels: ",
        b"'",
        b"#",
    ],
)
def config(data: bytes) -> str:
    """A config that can be read has features that can be made, and its text reads back."""
    Path("fuzz.conf").write_bytes(data)
    read = read_config(Path("fuzz.conf"))
    Path("again.conf").write_text(read.text(), encoding="utf-8")
    assert read_config(Path("again.conf")).values == read.values
    make_encoders(read)
    return read.text()


@target(
    lambda: [path.read_bytes()[:LONGEST] for path in sorted((TOP / "templates").glob("*.tpl"))],
    [b"%x[0,position]", b"{-1..1}", b"{a,b}", b"include default\n", b"B\n", b"U01:", b"/", b"#"],
)
def template(data: bytes) -> str:
    Path("fuzz.tpl").write_bytes(data)
    read = read_template(Path("fuzz.tpl"), None)
    Path("again.tpl").write_text(read.text, encoding="utf-8")
    assert read_template(Path("again.tpl"), None).lines == read.lines
    return repr(read.lines)


# Models: an input changes one file of a bundled model. Digests are right, so that loading goes on.


@cache
def model_files() -> dict[str, dict[str, bytes]]:
    return {
        name: {file.name: file.read_bytes() for file in find_model(name).iterdir()} for name in ("cleaneval", "default")
    }


def edit(model: int, file: int, at: int, removed: int, inserted: bytes) -> bytes:
    return bytes([model, file]) + at.to_bytes(3, "big") + removed.to_bytes(2, "big") + inserted


@target(
    lambda: [edit(model, file, at, 3, b"nan") for model in (0, 0, 1) for file in range(9) for at in (0, 60, 999)],
    [
        b"'shape': (99999999999,)",
        b"'descr': '|O'",
        b"\xff\xff\xff\x7f",
        b"\0\0\xc0\x7f",
        b"nan",
        b"/dev/zero",
        b"../",
        b"\t",
        b"1e999",
    ],
)
def model(data: bytes) -> str:
    data = data.ljust(7, b"\0")
    files = dict(list(model_files().values())[data[0] % 2])
    name = sorted(files)[data[1] % len(files)]
    content = files[name]
    at = int.from_bytes(data[2:5], "big") % (len(content) + 1)
    files[name] = content[:at] + data[7:] + content[at + int.from_bytes(data[5:7], "big") :]
    shutil.rmtree("model", ignore_errors=True)
    Path("model").mkdir()
    for name, content in files.items():
        (Path("model") / name).write_bytes(content)
    sign(files)
    loaded = load_model(Path("model"))
    cleaner = Cleaner(loaded.labeller, loaded.config)
    return cleaner.clean(ABOUT + RICH)


def sign(files: dict[str, bytes]) -> None:
    """Write the digests of the changed files."""
    try:
        meta = json.loads(files["meta.json"])
        listed = {name: digests._digest(files.get(name, b"")) for name in meta["files"]}
    except (ValueError, KeyError, TypeError):
        return
    meta["files"] = listed
    meta["digest"] = digests._meta_digest(meta)
    (Path("model") / "meta.json").write_text(json.dumps(meta))


# Archives, lines and tables. The first byte chooses the suffix.

OPTIONS = ReadOptions(most_bytes=100_000)


def read(file: InputFile, start: int = 0) -> list[Record]:
    return list(read_file(file, OPTIONS, start))


def read_all(suffixes: Sequence[str], data: bytes) -> str:
    """Reading never raises, numbers ascend, and reading from the middle gives the same records."""
    file = Path(f"fuzz{suffixes[data[0] % len(suffixes) if data else 0]}")
    file.write_bytes(data[1:])
    found = InputFile(file, file, file.name)
    records = read(found)
    positions = [record.origin.position for record in records]
    assert positions == sorted(set(positions))
    if records:
        middle = len(records) // 2
        assert read(found, positions[middle]) == records[middle:]
        if records[middle].offset:
            later = read(found._replace(start=positions[middle], offset=records[middle].offset), positions[middle])
            assert list(map(describe, later)) == list(map(describe, records[middle:]))
    return "\n".join(map(describe, records))


def describe(record: Record) -> str:
    try:
        page = record.read(OPTIONS.most_bytes)
    except ProblemError as error:
        page = str(error)
    return f"{record.name} {record.place} {record.url} {record.content_type} {record.origin} {page!r}"


@cache
def archives() -> list[bytes]:
    body = b"5\r\n<p>te\r\n1\r\na\r\n0\r\n\r\n"
    chunked = response("http://tea.example/1", body, more="Transfer-Encoding: chunked\r\n")
    packed = response("http://tea.example/2", gzip.compress(b"<p>tea", mtime=0), more="Content-Encoding: gzip\r\n")
    broken = response("http://tea.example/3", b"\x0b\x02\x80tea\x03", more="Content-Encoding: br, deflate\r\n")
    others = warc_record("resource", "ftp://x/", b"<p>tea", "text/html") + warc_record("request", "x", b"GET", "x")
    whole = chunked + packed + broken + others
    return [
        b"\0" + whole,
        b"\1" + b"".join(gzip.compress(record, mtime=0) for record in (chunked, others)),
        b"\1" + whole,
    ]


@target(
    archives,
    [
        b"WARC/1.0\r\n",
        b"Content-Length: ",
        b"ffffffff\r\n",
        b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n",
        b"\x1f\x8b\x08",
        b"chunked, gzip",
    ],
)
def warc(data: bytes) -> str:
    return read_all([".warc", ".warc.gz"], data)


LINES = b'{"url": "http://tea.example/", "html": "<p>tea \\ud800"}\n\n{"html": null}\n[1]\n{"html": "x", "url": 3}\n{no'


@target(
    lambda: [b"\0" + LINES, b"\1" + gzip.compress(LINES, mtime=0), b"\2" + zstd(LINES)],
    [b'"html": "', b"\n", b"{", b"[" * 99, b"\\u0000", b"1e999", b"\x28\xb5\x2f\xfd"],
)
def lines(data: bytes) -> str:
    return read_all([".jsonl", ".jsonl.gz", ".jsonl.zst"], data)


def zstd(data: bytes) -> bytes:
    import zstandard

    return zstandard.compress(data)


def tables() -> list[bytes]:
    import pyarrow
    import pyarrow.parquet

    written = []
    for html in (["<p>tea", None, "x" * 300], [b"<p>tea", b"\xff", b""], [1, 2, 3]):
        table = pyarrow.table({"url": ["http://tea.example/", None, ""], "html": html})
        file = io.BytesIO()
        pyarrow.parquet.write_table(table, file, row_group_size=2)
        written.append(b"\0" + file.getvalue())
    return written


@target(tables, [b"PAR1", b"html", b"\xff\xff\xff\x7f", b"\0\0\0\0"])
def parquet(data: bytes) -> str:
    return read_all([".parquet"], data)
