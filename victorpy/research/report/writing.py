"""Write reports into a directory."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from victorpy.errors import DataError
from victorpy.research.report.base import Report, to_html, to_markdown


def check_directory(directory: Path) -> None:
    """Raise an error if no report can be written to a directory. Creates nothing."""
    existing = next(place for place in (directory, *directory.absolute().parents) if place.exists())
    if not existing.is_dir():
        raise DataError(f"{existing}: is a file; a report is a directory")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise DataError(f"{directory}: cannot be written: no permission in {existing}")


def write_text(path: Path, text: str) -> None:
    """Write a text as UTF-8. Names of files in it that are not UTF-8 are written with backslashes."""
    path.write_text(text, encoding="utf-8", errors="backslashreplace")


def write_json(path: Path, data: Any) -> None:
    """Write plain data, indented."""
    write_text(path, json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def write_report(directory: Path, report: Report, scores: Any) -> None:
    """Write scores.json, report.md and report.html."""
    directory.mkdir(parents=True, exist_ok=True)
    write_json(directory / "scores.json", scores)
    write_text(directory / "report.md", to_markdown(report))
    write_text(directory / "report.html", to_html(report))
