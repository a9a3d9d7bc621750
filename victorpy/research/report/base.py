"""Reports for people: written for a terminal, as Markdown, and as one self-contained HTML page with plots.

HTML pages are safe against the web pages that they show: all texts are escaped, and the Content-Security-Policy allows
only the page's own style and script, by their digests, and images from data URLs.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from victorpy.errors import DataError, visible
from victorpy.research.report.plots import NO_PLOTS, Plot, can_draw, draw_svg

Scores = Mapping[str, Any]  # the content of scores.json


@dataclass(frozen=True, slots=True)
class Section:
    """A titled table with its plots."""

    title: str
    head: tuple[str, ...] = ()
    rows: Sequence[tuple[str, ...]] = ()
    note: str = ""  # how to read the table
    verdict: str = ""  # the conclusion from the table
    plots: tuple[Plot, ...] = ()
    look: str = ""
    """Class of the HTML table in page.css. Without a class, the first column is text and the others are numbers."""
    links: Sequence[str] = ()  # for each row, the link of its first cell in HTML, or an empty string
    in_markdown: bool = True


@dataclass(frozen=True, slots=True)
class Report:
    """A title, the paragraphs below it, and sections."""

    title: str = ""
    lead: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()


def percent(value: float | None) -> str:
    """Format a share in percent, or a dash for None.

    >>> percent(0.7445), percent(None)
    ('74.45', '–')
    """
    return "–" if value is None else f"{100 * value:.2f}"


def score(value: float | None) -> str:
    """Format a score from 0 to 1 with three digits, or a dash for None.

    >>> score(0.7514), score(None)
    ('0.751', '–')
    """
    return "–" if value is None else f"{value:.3f}"


def interval(ends: Sequence[float] | None, show: Callable[[float], str] = percent) -> str:
    """Format an interval of shares in percent, or of other numbers."""
    return f"{show(ends[0])} to {show(ends[1])}" if ends else "–"


def text(value: str) -> str:
    """Escape text for HTML, and replace control characters with their code points."""
    return html.escape(visible(value, keep_lines=True))


# Terminal


def aligned(head: Sequence[str], rows: Sequence[Sequence[str]], all_left: bool = False) -> str:
    """Format a table for a terminal. The first column is left-aligned, all others are right-aligned.

    >>> print(aligned(["page", "F1"], [["a", "97.50"], ["tea", "5.00"]]))
    page     F1
    a     97.50
    tea    5.00
    """
    lines = [head, *rows] if head else rows
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    written = []
    for line in lines:
        first, *others = zip(line, widths, strict=True)
        cells = [cell.ljust(width) if all_left else cell.rjust(width) for cell, width in others]
        written.append("  ".join([first[0].ljust(first[1]), *cells]))
    return "\n".join(line.rstrip() if all_left else line for line in written)


def to_text(report: Report) -> str:
    """Format a report for a terminal. In a section with a `look`, all columns are text."""
    parts = [visible(paragraph, keep_lines=True) for paragraph in report.lead]
    for section in report.sections:
        head, *rows = [[visible(cell) for cell in row] for row in (section.head, *section.rows)]
        table = aligned(head, rows, all_left=bool(section.look))
        parts.append("\n".join(filter(None, [visible(section.title), table, textwrap.fill(section.note, 120)])))
    return "\n\n".join(parts) + "\n"


# Markdown


def to_markdown(report: Report) -> str:
    """Format a report as Markdown, without plots."""
    paragraphs = [f"# {report.title}", *report.lead] if report.title else report.lead
    written = "\n\n".join(map(_markdown, paragraphs)) + "\n" * bool(paragraphs)
    for section in report.sections:
        if section.in_markdown:
            lines = [f"\n## {_markdown(section.title)}\n"]
            lines += [f"{_markdown(section.note)}\n"] if section.note else []
            head, *rows = ["| " + " | ".join(map(_markdown, row)) + " |" for row in (section.head, *section.rows)]
            lines += [head, "|---" + "|---:" * (len(section.head) - 1) + "|", *rows]
            lines += [f"\n{_markdown(section.verdict)}"] if section.verdict else []
            written += "\n".join(lines) + "\n"
    return written


def _markdown(value: str) -> str:
    """Escape text. A ``<`` is escaped only if it could start a tag, so that ``F < 0.5`` stays readable."""
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", visible(value, keep_lines=True)).replace("|", "\\|").replace("\n", " ")


# HTML


def to_html(report: Report) -> str:
    """Format a report as one HTML page. Without matplotlib, a note replaces the plots."""
    lead = list(report.lead)
    has_plots = can_draw()
    if not has_plots and any(section.plots for section in report.sections):
        lead.append(f"This report is {NO_PLOTS}")
    parts = [f"<h1>{text(report.title)}</h1>", *(f'<p class="note">{text(paragraph)}</p>' for paragraph in lead)]
    for section in report.sections:
        parts.append(f"<h2>{text(section.title)}</h2>")
        parts += [f'<p class="note">{text(section.note)}</p>'] if section.note else []
        parts += [_html_table(section)] if section.head else []
        parts += [f"<p>{text(section.verdict)}</p>"] if section.verdict else []
        for plot in section.plots if has_plots else ():
            data, caption = base64.b64encode(draw_svg(plot).encode()).decode(), text(plot.caption)
            image = f'<img class="plot" alt="{caption}" src="data:image/svg+xml;base64,{data}">'
            parts.append(f"<figure>{image}<figcaption>{caption}</figcaption></figure>")
    return html_page(report.title, "\n".join(parts))


def _html_table(section: Section) -> str:
    """Build a table. In a narrow window, rows become lists in which each cell shows the title of its column."""
    heads = [text(cell) for cell in section.head]
    rows = []
    for row, link in zip(section.rows, section.links or [""] * len(section.rows), strict=True):
        first, *others = map(text, row)
        first = f'<a href="{text(link)}">{first}</a>' if link else first
        cells = [f'<td data-head="{head}">{cell}</td>' for head, cell in zip(heads[1:], others, strict=True)]
        rows.append(f"<tr><td>{first}</td>{''.join(cells)}</tr>\n")
    look = f' class="{section.look}"' if section.look else ""
    head = "".join(f"<th>{cell}</th>" for cell in heads)
    table = f"<table{look}><thead><tr>{head}</tr></thead>\n<tbody>\n{''.join(rows)}</tbody></table>"
    return f'<div class="scroll">{table}</div>'


def html_page(title: str, body: str, style: str = "", script: str = "") -> str:
    """Build a complete HTML page. `title` is plain text, and `body` is HTML."""
    css = read_asset("page.css") + style
    css_digest, script_digest = (
        "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode() for content in (css, script)
    )
    policy = f"default-src 'none'; img-src data:; style-src '{css_digest}'; base-uri 'none'; form-action 'none'"
    policy += f"; script-src '{script_digest}'" if script else ""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{html.escape(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{text(title)}</title>
<style>{css}</style>
</head>
<body>
{body}
{f"<script>{script}</script>" if script else ""}
</body>
</html>
"""


@cache
def read_asset(name: str) -> str:
    """Read a style sheet or script from this directory."""
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


# Files


def check_directory(directory: Path) -> None:
    """Raise an error if a report cannot be written to a directory. The directory is not created."""
    existing = next(place for place in (directory, *directory.absolute().parents) if place.exists())
    if not existing.is_dir():
        raise DataError(f"{existing} is a file; a report needs a directory")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise DataError(f"{directory} cannot be written: no permission in {existing}")


def write_text(path: Path, content: str) -> None:
    """Write UTF-8. File names that are not UTF-8 are written with backslashes."""
    path.write_text(content, encoding="utf-8", errors="backslashreplace")


def write_json(path: Path, data: Any) -> None:
    """Write indented JSON."""
    write_text(path, json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def write_report(directory: Path, report: Report, scores: Any, others: str = "") -> str:
    """Write scores.json, report.md and report.html. Return a message that lists all files, including `others`."""
    directory.mkdir(parents=True, exist_ok=True)
    write_json(directory / "scores.json", scores)
    write_text(directory / "report.md", to_markdown(report))
    write_text(directory / "report.html", to_html(report))
    files = ["report.md", "scores.json", *([others] if others else [])]
    listed = f"{', '.join(files[:-1])} and {files[-1]}"
    missing = "" if can_draw() or not any(section.plots for section in report.sections) else f", {NO_PLOTS}"
    return f"written: {directory / 'report.html'}, {listed}{missing}"
