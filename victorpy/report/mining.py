"""Mining as a report: the papers' tables and figure, beside what is removed and what survives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from victorpy.report import mining_plots as plots
from victorpy.report import mining_tables as tables
from victorpy.report.markdown import table as markdown_table
from victorpy.report.shell import page, picture, text
from victorpy.report.shell import table as html_table
from victorpy.report.tables import Table

_MEASURES = [f"{letter}{number}" for letter in "FA" for number in (1, 2, 3, 4)]
_KEPT_LEFT = " td:first-child { white-space: nowrap; }"


@dataclass(frozen=True, slots=True)
class Part:
    """A table, the plot that goes with it, by name, and what is to be said of it."""

    table: Table
    plot: str = ""
    caption: str = ""
    verdict: str = ""


def parts(scores: Mapping[str, Any]) -> Iterator[Part]:
    """All that a report shows, in order."""
    caption = (
        "Words removed against values that survive; small marks are verticals. The best place is at the upper right"
    )
    yield Part(tables.overview(scores), "trade", caption)
    yield Part(tables.by_vertical(scores))
    caption = "How many runs have which F (figure 9)"
    verdict = tables.order_holds(scores, "clustering F")
    yield Part(tables.clustering(scores), "distribution", caption, verdict)
    yield Part(tables.classification(scores), verdict=tables.order_counts(scores, _MEASURES))
    if any(result["removed"] for result in scores["results"]):
        yield Part(tables.removed(scores))
    for found in tables.classification_details(scores):
        measure = found.title.rpartition(" ")[2]
        yield Part(found, verdict=tables.order_holds(scores, measure))
    if scores["order"]:
        yield Part(tables.order(scores))
    yield Part(tables.by_site(scores))


def summary(scores: Mapping[str, Any]) -> list[Table]:
    """The tables that a terminal shows."""
    return [tables.overview(scores), tables.clustering(scores), tables.classification(scores)]


def render_markdown(scores: Mapping[str, Any], title: str) -> str:
    """Write the report as Markdown."""
    lines = [f"# {title}\n\n{lead(scores)}\n\n{how(scores)}\n"]
    for part in parts(scores):
        lines.append(markdown_table(part.table))
        if part.verdict:
            lines.append(f"\n{part.verdict}\n")
    return "".join(lines)


def render_html(scores: Mapping[str, Any], title: str) -> str:
    """Write the report as one HTML page with plots."""
    body = [f"<h1>{text(title)}</h1>", _note(lead(scores)), _note(how(scores))]
    for part in parts(scores):
        body += [f"<h2>{text(part.table.title)}</h2>", _note(part.table.note)]
        body.append(html_table(part.table.head, part.table.rows))
        if part.verdict:
            body.append(f"<p>{text(part.verdict)}</p>")
        if part.plot:
            body.append(picture(getattr(plots, part.plot)(scores["results"]), part.caption))
    return page(title, "\n".join(body), _KEPT_LEFT)


def _note(words: str) -> str:
    return f'<p class="note">{text(words)}</p>'


def lead(scores: Mapping[str, Any]) -> str:
    """Say what was mined."""
    data = scores["data"]
    left_out = f" {len(scores['warnings'])} pages could not be used." if scores["warnings"] else ""
    return (
        f"{data['pages']:,} pages of {data['sites']} sites in {len(data['verticals'])} verticals "
        f"({', '.join(data['verticals'])}), with {data['values']:,} attribute values.{left_out}"
    )


def how(scores: Mapping[str, Any]) -> str:
    """Say how it was done."""
    given = [f"{name} with {', '.join(found)}" for name, found in scores["parameters"].items() if found]
    words = [
        f"Methods that learn from a site saw at most {scores['settings']['sample']:,} of its pages, without labels.",
        f"Parameters: {'; '.join(given)}." if given else "",
        "Terms are words of at least two characters that are no mere numbers.",
        _how_clustered(scores),
        "Classification is by multinomial naive Bayes; F is the mean over the two classes.",
        "The papers' order is none < template methods (pagelets, dom-template, text-template, rtdm) < sst ≤ "
        "sentence-entropy; other methods have no place in it.",
    ]
    return " ".join(filter(None, words))


def _how_clustered(scores: Mapping[str, Any]) -> str:
    settings = scores["settings"]
    some = min(settings["cluster_pages"], scores["data"]["pages"])
    which = f"{some:,} pages drawn by chance" if some else "All pages"
    reduced = f"; after its first step it goes on in {settings['dimensions']} dimensions" * bool(settings["dimensions"])
    return (
        f"{which} are clustered, as tf-idf vectors of length 1. A run of k-means starts from pages drawn by chance "
        f"(seed {settings['seed']}), the same ones for every method{reduced}. Its F is the mean over the verticals "
        "under the best assignment of clusters to them."
    )
