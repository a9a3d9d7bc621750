"""CSV that spreadsheet programs open safely."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence

from victorpy.errors import visible
from victorpy.outputs.base import CleanPage, facts, output
from victorpy.outputs.text import render_text

_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]")  # spreadsheets also accept full-width signs
_FACTS = ("url", "title", "author", "date", "language", "site_name")


def csv_row(cells: Sequence[str]) -> str:
    """Write cells as in RFC 4180, but with Unix line ends.

    Spreadsheet programs treat a cell that begins with one of =+-@ as a formula, so an apostrophe is put before it.

    >>> csv_row(["tea", "=1+1"])
    "tea,'=1+1\\n"
    """
    stream = io.StringIO()
    shown = (visible(cell, keep_lines=True) for cell in cells)
    safe = [f"'{cell}" if _FORMULA.match(cell) else cell for cell in shown]
    csv.writer(stream, lineterminator="\n").writerow(safe)
    return stream.getvalue()


@output("csv", ".csv", joins=True, wants_metadata=True, header=csv_row([*_FACTS, "confidence", "text"]))
def render_csv(page: CleanPage) -> str:
    """CSV: one row per page with its facts and text, safe in spreadsheets."""
    confidence = "" if page.confidence is None else f"{page.confidence:.3f}"
    return csv_row([*facts(page, _FACTS).values(), confidence, render_text(page)])
