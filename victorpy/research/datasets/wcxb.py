"""WCXB: html/N.html or N.html.gz, ground-truth/N.json."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path

from victorpy.research.align import Gold
from victorpy.research.datasets.base import DATASETS, GoldPage, Warn


@DATASETS.register("wcxb")
def read_wcxb(directory: Path, warn: Warn) -> Iterator[GoldPage]:
    """Read ground-truth/N.json with html/N.html or html/N.html.gz."""
    for truth in sorted(directory.glob("**/ground-truth/*.json")):
        try:
            record = json.loads(truth.read_bytes())
            text = record["ground_truth"]["main_content"] or ""
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            warn(f"{truth}: cannot be read: {type(error).__name__}: {error}")
            continue
        if not isinstance(text, str):
            warn(f"{truth}: main_content is no text")
            continue
        try:
            page_type = record["_internal"]["page_type"]["primary"]
        except (KeyError, TypeError):
            page_type = ""
        url = record.get("url")
        plain = truth.parents[1] / "html" / f"{truth.stem}.html"
        packed = plain.with_name(f"{plain.name}.gz")
        try:
            if plain.is_file():
                html = plain.read_bytes()
            elif packed.is_file():
                html = gzip.decompress(packed.read_bytes())
            else:
                warn(f"{truth}: no page {plain.name} or {packed.name}")
                continue
        except (OSError, EOFError, zlib.error) as error:
            warn(f"{packed.name}: cannot be read: {error}")
            continue
        url, page_type = (value if isinstance(value, str) else "" for value in (url, page_type))
        yield GoldPage(truth.stem, html, (Gold(text),), url, page_type)
    for page in sorted(directory.glob("**/html/*.html*")):
        if not (page.parents[1] / "ground-truth" / f"{page.name.partition('.')[0]}.json").is_file():
            warn(f"{page}: no ground truth of it")
