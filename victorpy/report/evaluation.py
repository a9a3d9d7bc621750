"""An evaluation as one HTML page with plots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from victorpy.evaluate import MEASURES
from victorpy.report import plots
from victorpy.report.shell import page, picture, text
from victorpy.report.shell import table as html_table
from victorpy.report.tables import Table, evaluation_tables, how_scored, percent

_CURVE = {name: MEASURES[name] for name in ("words_f1", "label_accuracy", "content_accuracy")}


def render(scores: Mapping[str, Any], title: str, views: Mapping[str, str]) -> str:
    """Write the report; `views` gives the file of a page's view by the page's name."""
    parts = [f"<h1>{text(title)}</h1>", _lead(scores)]
    for found in evaluation_tables(scores):
        parts += [f"<h2>{text(found.title)}</h2>", _table(found), *_plots(found.title, scores)]
    parts += ["<h2>Calibration</h2>", *_calibration(scores), "<h2>Worst pages</h2>", _worst(scores, views)]
    return page(title, "\n".join(part for part in parts if part))


def _lead(scores: Mapping[str, Any]) -> str:
    settings = scores["settings"]
    counts = f"{scores['pages_count']:,} pages, {scores['blocks_count']:,} blocks"
    folds = f"{settings['folds']} folds grouped by {settings['group']}, " if settings["folds"] else ""
    how = f"{folds}seed {settings['seed']}, config {scores['config']}. {how_scored(scores)}".strip()
    left_out = f" {len(scores['warnings'])} pages could not be used." if scores["warnings"] else ""
    return f'<p class="note">{text(f"{counts}, {how}{left_out}")}</p>'


def _table(found: Table) -> str:
    note = f'<p class="note">{text(found.note)}</p>' if found.note else ""
    return note + html_table(found.head, found.rows)


def _plots(title: str, scores: Mapping[str, Any]) -> list[str]:
    if title == "Labels":
        return [picture(plots.label_bars(scores["labels"]), "Precision, recall and F1 of each label")]
    if title == "Confusion":
        return [
            picture(plots.confusion_matrix(scores["confusion"]), "Confusion of labels, in percent of each gold label")
        ]
    if title == "Learning curve":
        return [picture(plots.learning_curve(scores["learning_curve"], _CURVE), "Scores by number of training pages")]
    if title == "Page types":
        rows = [(kind, found["words_f1"], None) for kind, found in scores["by_type"].items()]
        return [
            picture(plots.bars(rows, scores["mean"]["words_f1"]), "Words F1 by page type; the line is the mean of all")
        ]
    if title == "Ablation":
        rows = [
            (row["variant"], row["mean"]["words_f1"], row["interval"].get("words_f1")) for row in scores["ablation"]
        ]
        caption = "Words F1 with fewer features, with 95 % intervals; the line has all features"
        return [picture(plots.bars(rows, scores["mean"]["words_f1"]), caption)]
    return []


def _calibration(scores: Mapping[str, Any]) -> list[str]:
    if not scores["calibration"]:
        return ['<p class="note">The labeller gives no probabilities.</p>']
    caption = "Predicted probability of content against the share that is; on the line the model is honest"
    return [picture(plots.reliability(scores["calibration"]), caption)]


def _worst(scores: Mapping[str, Any], views: Mapping[str, str], count: int = 20) -> str:
    worst = sorted(scores["pages"], key=lambda found: found["scores"]["words_f1"])[:count]
    rows = []
    for found in worst:
        name = text(found["name"])
        view = views.get(f"{found['data']}/{found['name']}")
        link = f'<a href="{text(quote(view))}">{name}</a>' if view else name
        cells = [link, text(found["site"]), text(found["type"]), percent(found["scores"]["words_f1"])]
        cells += [percent(found["scores"]["words_precision"]), percent(found["scores"]["words_recall"])]
        rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    head = "".join(f"<th>{cell}</th>" for cell in ("page", "site", "type", "words F1", "precision", "recall"))
    body = f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody>"
    return f'<div class="scroll"><table class="pages">{body}</table></div>'
