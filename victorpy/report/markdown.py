"""An evaluation as Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from victorpy.report.tables import Table, evaluation_tables


def render(scores: Mapping[str, Any], title: str) -> str:
    """Write the tables of an evaluation."""
    head = f"# {_cell(title)}\n\n{scores['pages_count']:,} pages, {scores['blocks_count']:,} blocks.\n"
    return head + "".join(_table(table) for table in evaluation_tables(scores))


def _table(table: Table) -> str:
    lines = [f"\n## {table.title}\n"]
    if table.note:
        lines.append(f"{table.note}\n")
    lines.append("| " + " | ".join(map(_cell, table.head)) + " |")
    lines.append("|---" + "|---:" * (len(table.head) - 1) + "|")
    lines += ["| " + " | ".join(map(_cell, row)) + " |" for row in table.rows]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
