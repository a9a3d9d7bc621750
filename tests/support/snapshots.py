"""Snapshots of behaviour in tests/cases/snapshots. `make snapshots` writes what victorpy does now."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILES = ROOT / "tests" / "cases" / "snapshots"
SAMPLES = sorted((ROOT / "data").rglob("*.html"))
STRUCTURED = sorted((ROOT / "benchmarks" / "structured_pages" / "pages").glob("*.html"))
SMALL = sorted((ROOT / "tests" / "cases" / "pages").glob("*/*.html"))

Value = str | list[float]


def check(name: str, key: str, found: Mapping[str, Value], tolerance: float = 1e-3) -> None:
    """Compare values with those of a snapshot. Lists of numbers may differ by `tolerance`, relative above 1."""
    path = FILES / f"{name}.json"
    entries: dict[str, dict[str, Value]] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    if os.environ.get("SNAPSHOTS") == "write":
        entries[key] = dict(found)
        path.write_text(_written(entries), encoding="utf-8")
    expected = entries.get(key, {})
    names = [name for name in {**expected, **found} if not _same(expected.get(name), found.get(name), tolerance)]
    changes = "".join(f"\n  {each}: {expected.get(each)!r}\n  {' ' * len(each)}→ {found.get(each)!r}" for each in names)
    assert not names, f"{key} is not as in {path.name}; if that is right, run `make snapshots`:{changes}"


def _same(one: Value | None, other: Value | None, tolerance: float) -> bool:
    if not isinstance(one, list) or not isinstance(other, list):
        return one == other
    pairs = zip(one, other, strict=False)
    return len(one) == len(other) and all(math.isclose(*pair, rel_tol=tolerance, abs_tol=tolerance) for pair in pairs)


def _written(entries: Mapping[str, Mapping[str, Value]]) -> str:
    """Write one line per value."""
    pages = []
    for key in sorted(entries):
        lines = (
            f"  {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in entries[key].items()
        )
        pages.append(f"{json.dumps(key, ensure_ascii=False)}: {{\n" + ",\n".join(lines) + "\n}")
    return "{\n" + ",\n".join(pages) + "\n}\n"


def digest(text: str) -> str:
    """Return the length and a short digest of a text."""
    return f"{len(text)} {hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:10]}"


def kept(labels: Iterable[str]) -> str:
    """Return the kept blocks, each stretch after the first letter of its label.

    >>> kept(["other", "header", "list", "list"])
    'h 1, l 2-3'
    """
    return runs((label[0] for label in labels), without="o")


def runs(values: Iterable[str], without: str) -> str:
    """Return the blocks of each value but one."""
    shown, start = [], 0
    for value, group in groupby(values):
        stop = start + len(list(group)) - 1
        if value != without:
            shown.append(f"{value} {start}" + (f"-{stop}" if stop > start else ""))
        start = stop + 1
    return ", ".join(shown)


def name_of(path: Path) -> str:
    """Return a short name of a page for test ids."""
    return path.parent.name if path.stem == "page" else path.stem
