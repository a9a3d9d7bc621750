"""Where a report goes: a directory that can be written to, which is known before the work begins."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from victorpy.errors import DataError


def check_directory(directory: Path) -> None:
    """Refuse a place where no report can be written, without making anything there."""
    existing = next(place for place in (directory, *directory.absolute().parents) if place.exists())
    if not existing.is_dir():
        raise DataError(f"{existing}: is a file; a report is a directory")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise DataError(f"{directory}: cannot be written: no permission in {existing}")


def write_text(path: Path, text: str) -> None:
    """Write a text as UTF-8, though names of files in it need not be."""
    path.write_text(text, encoding="utf-8", errors="backslashreplace")


def write_json(path: Path, found: Any) -> None:
    """Write plain data."""
    write_text(path, json.dumps(found, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
