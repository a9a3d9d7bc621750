"""A report that a person reads, and how it is written: for a terminal, as Markdown, as one HTML page with plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from victorpy.research.report.plots import Plot, draw_svg
from victorpy.research.report.shell import page, picture, text, visible

Scores = Mapping[str, Any]
"""The plain numbers that a report is built from, as in scores.json."""


@dataclass(frozen=True, slots=True)
class Section:
    """A titled table with its plots."""

    title: str
    head: tuple[str, ...] = ()
    rows: Sequence[tuple[str, ...]] = ()
    note: str = ""
    """Says how to read the table."""
    verdict: str = ""
    """Says what follows from the table."""
    plots: tuple[Plot, ...] = ()
    look: str = ""
    """Class of the HTML table (page.css). Without one the first column is text and the others are numbers."""
    links: Sequence[str] = ()
    """For each row the address that its first cell links to in HTML, or an empty string."""
    in_markdown: bool = True


@dataclass(frozen=True, slots=True)
class Report:
    """A title, the paragraphs below it, and sections."""

    title: str = ""
    lead: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()


def percent(value: float | None) -> str:
    """Write a share in percent, or a dash for None.

    >>> percent(0.7445), percent(None)
    ('74.45', '–')
    """
    return "–" if value is None else f"{100 * value:.2f}"


def score(value: float | None) -> str:
    """Write a score from 0 to 1 with three digits, or a dash for None.

    >>> score(0.7514), score(None)
    ('0.751', '–')
    """
    return "–" if value is None else f"{value:.3f}"


def interval(ends: Sequence[float] | None) -> str:
    """Write an interval of shares in percent."""
    return f"{percent(ends[0])} to {percent(ends[1])}" if ends else "–"


def plural(count: int, noun: str) -> str:
    """Write a number with its noun.

    >>> plural(1, "page"), plural(2000, "page")
    ('1 page', '2,000 pages')
    """
    return f"{count:,} {noun}{'s' * (count != 1)}"


def aligned(head: Sequence[str], rows: Sequence[Sequence[str]], all_left: bool = False) -> str:
    """Write a table for a terminal: the first column to the left, numbers to the right.

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
    """Write a report for a terminal. A section with a look has texts in all columns."""
    parts = [visible(paragraph) for paragraph in report.lead]
    for section in report.sections:
        head, *rows = [[visible(cell) for cell in row] for row in (section.head, *section.rows)]
        table = aligned(head, rows, all_left=bool(section.look))
        parts.append("\n".join(filter(None, [visible(section.title), table, section.note])))
    return "\n\n".join(parts) + "\n"


def to_markdown(report: Report) -> str:
    """Write a report as Markdown, without plots."""
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
    return visible(value).replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def to_html(report: Report) -> str:
    """Write a report as one HTML page; all its texts are escaped."""
    parts = [f"<h1>{text(report.title)}</h1>", *(f'<p class="note">{text(said)}</p>' for said in report.lead)]
    for section in report.sections:
        parts.append(f"<h2>{text(section.title)}</h2>")
        parts += [f'<p class="note">{text(section.note)}</p>'] if section.note else []
        parts += [_html_table(section)] if section.head else []
        parts += [f"<p>{text(section.verdict)}</p>"] if section.verdict else []
        parts += [picture(draw_svg(plot), plot.caption) for plot in section.plots]
    return page(report.title, "\n".join(parts))


def _html_table(section: Section) -> str:
    head = "".join(f"<th>{text(cell)}</th>" for cell in section.head)
    rows = []
    for row, link in zip(section.rows, section.links or [""] * len(section.rows), strict=True):
        first, *others = map(text, row)
        first = f'<a href="{text(link)}">{first}</a>' if link else first
        rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in (first, *others)) + "</tr>\n")
    look = f' class="{section.look}"' if section.look else ""
    table = f"<table{look}><thead><tr>{head}</tr></thead>\n<tbody>\n{''.join(rows)}</tbody></table>"
    return f'<div class="scroll">{table}</div>'
