"""Helpers for tests of batch runs: pages, poison, handmade archives, and a model that reacts to poison."""

from __future__ import annotations

import ctypes
import gzip
import json
import re
from pathlib import Path

from support.commands import ROOT, clean
from support.sitepages import site_page
from victorpy.cleaner import Cleaner
from victorpy.config import load_config
from victorpy.document import Label, Labelling
from victorpy.errors import VictorError
from victorpy.labellers.base import SiteLabeller
from victorpy.model.train import load_pages, train

# A feature that fails like C code on a bad page. Every worker loads it with the model.
POISON = '''
import ctypes, os, re
import numpy as np
from victorpy.features import block_feature


@block_feature("poison")
def poison(block):
    """Whether a block is poison; it is not for long."""
    text = block.text
    if "POISON" not in text:
        return 0
    if "RAISES" in text:
        raise RuntimeError("no tea")
    if "HANGS" in text:
        re.match(r"(a|a)*$", "a" * 60 + "b")
    if "CRASHES" in text:
        ctypes.string_at(0)
    if "EATS" in text:
        eaten = []
        while True:
            eaten.append(np.zeros(20_000_000))  # asked for and never touched: it takes no time
    if "LEAVES" in text:
        os._exit(0)
    return 1
'''


def poison_model(directory: Path) -> Path:
    """A small model whose features include the poison."""
    (directory / "poison.py").write_text(POISON)
    conf = directory / "poisoned.conf"
    conf.write_text(
        "include crf\nfeature-modules: poison.py\ncrf-features: poison\ncrf-template: poisoned.tpl\n"
        "crf-param-max_iterations: 40\n"
    )
    template = (ROOT / "templates" / "crf.tpl").read_text()
    (directory / "poisoned.tpl").write_text(f"{template}\n%x[0,poison]\n")
    config = load_config(conf)
    pages = load_pages(sorted((ROOT / "data" / "article").glob("*.anno")), config)
    train(pages, config).save(directory / "model")
    return directory / "model"


class PoisonedSite(SiteLabeller):
    """A method that learns from a site, and reacts to poison while learning and labelling."""

    def fit(self, documents, labels=None):
        self.pages_ = sum(1 for document in documents if not self._swallow(document))
        if self.pages_ < 2:
            raise VictorError("two pages are wanted")
        return self

    def label(self, document):
        self._swallow(document)
        return Labelling(tuple(Label.PARAGRAPH for _ in document.blocks))

    def _swallow(self, document):
        for block in document.blocks:
            if "CRASHES" in block.text:
                ctypes.string_at(0)
            if "HANGS" in block.text:
                re.match(r"(a|a)*$", "a" * 60 + "b")


def poisoned_site():
    return Cleaner(PoisonedSite(), load_config("blocks"))


class CrashingName(str):
    """A field name that crashes the process when it is hashed for the fourth time."""

    uses = 0

    def __hash__(self):
        CrashingName.uses += 1
        if CrashingName.uses > 3:
            ctypes.string_at(0)
        return str.__hash__(self)


def page(number: int, poison: str = "") -> bytes:
    """A page of a made-up newspaper, optionally with poison."""
    html = site_page(number)
    return html.replace("<h1>", f"<p>POISON {poison}</p><h1>").encode() if poison else html.encode()


def response(url: str, body: bytes, kind: str = "text/html", more: str = "", version: str = "WARC/1.0") -> bytes:
    """A WARC record with an HTTP response."""
    block = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n{more}\r\n".encode() + body
    return warc_record("response", url, block, "application/http; msgtype=response", version)


def warc_record(
    kind: str, url: str, block: bytes, content_type: str, version: str = "WARC/1.0", more: str = ""
) -> bytes:
    head = (
        f"{version}\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:test:{url}>\r\nWARC-Target-URI: {url}\r\n"
        f"WARC-Date: 2024-05-06T07:08:09Z\r\n{more}Content-Type: {content_type}\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    return head.encode() + block + b"\r\n\r\n"


def write_warc(path: Path, records: list[bytes]) -> list[int]:
    """Write records, compressed one by one if the name ends in .gz, and return their offsets."""
    path.parent.mkdir(parents=True, exist_ok=True)
    offsets, content = [], b""
    for record in records:
        offsets.append(len(content))
        content += gzip.compress(record, mtime=0) if path.name.endswith(".gz") else record
    path.write_bytes(content)
    return offsets


def crawl(path: Path, count: int, poison: dict[int, str] | None = None) -> list[int]:
    """An archive of pages, some of them poison."""
    poison = poison or {}
    return write_warc(path, [response(url(number), page(number, poison.get(number, ""))) for number in range(count)])


def url(number: int) -> str:
    return f"http://courier.example/news/{number}"


def refused(words: str, *arguments: object, **options: object) -> None:
    """Run a command that fails with one line that contains these words."""
    ended = clean(*arguments, **options)
    stderr = ended.stderr.decode()
    assert (ended.returncode, words in stderr, stderr.count("\n")) == (2, True, 1), stderr


def cut_manifest(directory: Path, lines: int, label: str = "") -> None:
    """Leave a run as if it had been killed when its manifest had this many lines."""
    path = directory / f"{label}manifest.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:lines]))


def rows(directory: Path, label: str = "") -> list[dict]:
    """Return all rows of a run as lines of JSON."""
    found = []
    for part in sorted(directory.glob(f"{label}part-*.jsonl*")):
        content = gzip.decompress(part.read_bytes()) if part.suffix == ".gz" else part.read_bytes()
        found += [json.loads(line) for line in content.splitlines()]
    return found


def tree(directory: Path) -> dict[str, bytes]:
    """All files below a directory, except those with the times of runs."""
    files = (path for path in sorted(directory.rglob("*")) if path.is_file() and not path.name.endswith("runs"))
    return {str(path.relative_to(directory)): path.read_bytes() for path in files}


def failed(directory: Path, label: str = "") -> list[dict]:
    return [json.loads(line) for line in (directory / f"{label}failed.jsonl").read_bytes().splitlines()]
