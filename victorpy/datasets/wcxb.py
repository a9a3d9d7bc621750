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
        try:
            record = json.loads(truth.read_bytes())
            text = record["ground_truth"]["main_content"] or ""
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            warn(f"{truth}: cannot be read: {type(error).__name__}: {error}")
            continue
        if not isinstance(text, str):
            warn(f"{truth}: main_content is no text")
            continue
        try:
            html = _html(truth.parents[1] / "html", truth.stem)
        except (OSError, EOFError, zlib.error) as error:
            warn(f"{truth.stem}.html.gz: cannot be read: {error}")
            continue
        if html is None:
            warn(f"{truth}: no page {truth.stem}.html or {truth.stem}.html.gz")
            continue
        kind = ((record.get("_internal") or {}).get("page_type") or {}).get("primary") or ""
        yield GoldPage(truth.stem, html, (Gold(text),), record.get("url") or "", kind)


def _html(directory: Path, name: str) -> bytes | None:
    plain, packed = directory / f"{name}.html", directory / f"{name}.html.gz"
    if plain.is_file():
        return plain.read_bytes()
    return gzip.decompress(packed.read_bytes()) if packed.is_file() else None
