"""WCXB: html/N.html or N.html.gz, ground-truth/N.json."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path

from victorpy.align import Gold
from victorpy.datasets.base import DATASETS, GoldPage, Warn


@DATASETS.register("wcxb")
def read_wcxb(directory: Path, warn: Warn) -> Iterator[GoldPage]:
    """Read ground-truth/N.json with html/N.html or html/N.html.gz."""
    for truth in sorted(directory.glob("**/ground-truth/*.json")):
        record = _record(truth, warn)
        if record is None:
            continue
        try:
            html = _html(truth.parents[1] / "html", truth.stem)
        except (OSError, EOFError, zlib.error) as error:
            warn(f"{truth.stem}.html.gz: cannot be read: {error}")
            continue
        if html is None:
            warn(f"{truth}: no page {truth.stem}.html or {truth.stem}.html.gz")
            continue
        yield GoldPage(truth.stem, html, (Gold(record["text"]),), record["url"], record["type"])
    for page in sorted(directory.glob("**/html/*.html*")):
        if not (page.parents[1] / "ground-truth" / f"{page.name.partition('.')[0]}.json").is_file():
            warn(f"{page}: no ground truth of it")


def _record(truth: Path, warn: Warn) -> dict[str, str] | None:
    """Read what is said of a page; what is no text there is as good as missing."""
    try:
        record = json.loads(truth.read_bytes())
        text = record["ground_truth"]["main_content"] or ""
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        warn(f"{truth}: cannot be read: {type(error).__name__}: {error}")
        return None
    if not isinstance(text, str):
        warn(f"{truth}: main_content is no text")
        return None
    try:
        kind = record["_internal"]["page_type"]["primary"]
    except (KeyError, TypeError):
        kind = ""
    url = record.get("url")
    return {
        "text": text,
        "url": url if isinstance(url, str) else "",
        "type": kind if isinstance(kind, str) else "",
    }


def _html(directory: Path, name: str) -> bytes | None:
    plain, packed = directory / f"{name}.html", directory / f"{name}.html.gz"
    if plain.is_file():
        return plain.read_bytes()
    return gzip.decompress(packed.read_bytes()) if packed.is_file() else None
