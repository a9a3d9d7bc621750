"""Reports as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from victorpy.report.tables import Table, evaluation_tables, how_scored


def render(scores: Mapping[str, Any], title: str) -> str:
    """Write the tables of an evaluation."""
    said = f"{scores['pages_count']:,} pages, {scores['blocks_count']:,} blocks."
    return write(title, [f"{said} {how_scored(scores)}".strip()], evaluation_tables(scores))


def write(title: str, paragraphs: Sequence[str], tables: Sequence[Table]) -> str:
    """Write a report: a title, what is to be said first, and tables."""
    head = "\n\n".join([f"# {_cell(title)}", *map(_cell, paragraphs)]) + "\n"
    return head + "".join(map(table, tables))


def table(found: Table) -> str:
    """Write one table under its title."""
    lines = [f"\n## {found.title}\n"]
    if found.note:
        lines.append(f"{_cell(found.note)}\n")
    lines.append("| " + " | ".join(map(_cell, found.head)) + " |")
    lines.append("|---" + "|---:" * (len(found.head) - 1) + "|")
    lines += ["| " + " | ".join(map(_cell, row)) + " |" for row in found.rows]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
