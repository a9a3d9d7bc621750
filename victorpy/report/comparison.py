"""A comparison as Markdown, and as one HTML page with plots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from victorpy.report import markdown, plots
from victorpy.report.comparison_tables import comparison_tables, mark, ranked, short, title_of
from victorpy.report.shell import page, picture, text
from victorpy.report.shell import table as html_table
from victorpy.report.tables import Table

_STYLE = ".words td, .words th { text-align: left; } .words td:last-child { white-space: normal; }\n"


def render_markdown(scores: Mapping[str, Any]) -> str:
    """Write all tables."""
    return markdown.write(_title(scores), _lead(scores), comparison_tables(scores))


def render_html(scores: Mapping[str, Any]) -> str:
    """Write all tables, and the plots of each data set below its scores."""
    plots_of = {title_of(data): _plots(scores, data) for data in scores["sets"]}
    parts = [f"<h1>{text(_title(scores))}</h1>"]
    parts += [f'<p class="note">{text(said)}</p>' for said in _lead(scores)]
    for found in comparison_tables(scores):
        parts += [_table(found), *plots_of.get(found.title, [])]
    return page(_title(scores), "\n".join(parts), _STYLE)


def _title(scores: Mapping[str, Any]) -> str:
    methods = len(scores["methods"])
    return f"{methods} method{'s' if methods != 1 else ''} on {', '.join(map(short, scores['sets']))}"


def _lead(scores: Mapping[str, Any]) -> list[str]:
    """How the numbers were come by."""
    settings = scores["settings"]
    said = ["All methods cleaned the same pages in one process, page by page in turn; times are CPU times."]
    if any(row["site_ms"] is not None for row in scores["results"]):
        sample = f"at most {settings['sample']} of each, seed {settings['seed']}"
        said.append(f"Methods that learn from sites saw each site's own pages first ({sample}), without their labels")
        said[-1] += f" but for {settings['tune']} pages a site." if settings["tune"] else "."
    if scores["failures"]:
        said.append(f"{len(scores['failures'])} times a method failed on a page: scores.json says where and why.")
    if scores["warnings"]:
        said.append(f"{len(scores['warnings'])} warnings on data were given: scores.json has them.")
    versions = ", ".join(f"{name} {number}" for name, number in scores["versions"].items())
    return [" ".join(said), f"Versions: {versions}."]


def _table(found: Table) -> str:
    note = f'<p class="note">{text(found.note)}</p>' if found.note else ""
    words = ' class="words"' if found.title in {"Methods", "What the columns mean"} else ""
    return f"<h2>{text(found.title)}</h2>{note}<div{words}>{html_table(found.head, found.rows)}</div>"


def _plots(scores: Mapping[str, Any], data: Mapping[str, Any]) -> list[str]:
    rows = ranked(scores, data)
    name = data["measure"]
    title = {"words_f1": "Words F1", "value_recall": "Share of values kept"}[name]
    found = [(mark(row), row[name], row[f"{name}_interval"]) for row in rows]
    drawn = [picture(plots.bars(found, across=title), f"{title}, with 95 % intervals")]
    if name == "value_recall":
        kept = [(mark(row), row["words_removed"], row[name]) for row in rows]
        caption = "Values kept against words removed: up and to the right is better"
        drawn.append(picture(plots.points(kept, "Share of words removed", title), caption))
    costs = [(mark(row), row["cpu_ms"], row[name]) for row in rows if row["cpu_ms"]]
    caption = f"{title} against CPU time of cleaning a page: up and to the left is better"
    drawn.append(picture(plots.points(costs, "CPU ms a page", title, logarithmic=True), caption))
    return drawn
