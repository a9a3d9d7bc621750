"""The report of an evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from urllib.parse import quote

from victorpy.research.evaluate import MEASURES
from victorpy.research.report import plots
from victorpy.research.report.base import Report, Scores, Section, interval, percent

_IN_CURVE = ("words_f1", "label_accuracy", "content_accuracy")
_IN_TERMINAL = ("Scores", "Learning curve", "Ablation", "Grid")
_MOST_PAGES = 20


def report(scores: Scores, title: str, views: Mapping[str, str]) -> Report:
    """Build the report. `views` contains the file of each page's view by data set and page name."""
    settings = scores["settings"]
    lead = f"{scores['pages_count']:,} pages, {scores['blocks_count']:,} blocks, "
    if settings["folds"]:
        lead += f"{settings['folds']} folds grouped by {settings['group']}, "
    lead += f"seed {settings['seed']}, config {scores['config']}."
    if "method" in settings:
        is_model = settings["learns_from"] == "labels"
        what = "is a trained model, scored as it is" if is_model else "is not trained"
        lead += f" The method {settings['method']} {what}: there are no folds, and all pages are scored."
        if settings["learns_from"] == "site":
            pages = f"at most {settings['sample']} pages of each, without labels"
            lead += f" It learned from the pages of the {settings['sites']} sites themselves, {pages}."
    if scores["warnings"]:
        lead += f" {len(scores['warnings'])} pages could not be used."
    calibration = Section("Calibration", note="The labeller gives no probabilities.", in_markdown=False)
    if scores["calibration"]:
        calibration = replace(calibration, note="", plots=(plots.reliability(scores["calibration"]),))
    worst = sorted(scores["pages"], key=lambda page: page["scores"]["words_f1"])[:_MOST_PAGES]
    measures = ("words_f1", "words_precision", "words_recall")
    rows = [
        (page["name"], page["site"], page["type"], *(percent(page["scores"][name]) for name in measures))
        for page in worst
    ]
    links = [quote(views.get(f"{page['data']}/{page['name']}", "")) for page in worst]
    head = ("page", "site", "type", "words F1", "precision", "recall")
    worst_pages = Section("Worst pages", head, rows, look="pages", links=links, in_markdown=False)
    return Report(title, (lead,), (*_tables(scores), calibration, worst_pages))


def summary(scores: Scores) -> Report:
    """Build the tables for a terminal."""
    sections = []
    for section in _tables(scores):
        if section.title in _IN_TERMINAL:
            head = tuple(name.replace("CleanEval ", "CE ") for name in section.head)
            sections.append(replace(section, head=head, note=""))
    return Report(sections=tuple(sections))


def _tables(scores: Scores) -> list[Section]:
    grouping = "by page: a site may be in both training and test pages, which makes scores too high"
    if scores["settings"]["group"] == "site":
        grouping = "by site: no site is in both training and test pages"
    folds = [((f"fold {number}",), means) for number, means in enumerate(scores["folds"], 1)]
    confusion = scores["confusion"]
    curve = [((str(row["pages"]),), row["mean"]) for row in scores["learning_curve"]]
    curve_plot = plots.learning_curve(scores["learning_curve"], {name: MEASURES[name] for name in _IN_CURVE})
    grid = [
        ((" ".join(f"{name}={value:g}" for name, value in row["parameters"].items()),), row["mean"])
        for row in scores["grid"]
    ]
    sections = [
        _overview(scores),
        _by_measure("Folds", ("fold",), folds, f"Pages are divided {grouping}."),
        replace(_by_class("Labels", "label", scores["labels"]), plots=(plots.label_bars(scores["labels"]),)),
        _by_class("Roles", "role", scores.get("roles", {}), "Blocks of annotated pages that have roles."),
        Section(
            "Confusion",
            ("gold \\ ours", *confusion),
            [(gold, *(f"{counts[ours]:,}" for ours in confusion)) for gold, counts in confusion.items()],
            "Number of blocks by gold label and predicted label.",
            plots=(plots.confusion_matrix(confusion),),
        ),
        _page_types(scores),
        _by_measure("Learning curve", ("training pages",), curve, plot=curve_plot),
        _ablation(scores),
        _by_measure("Grid", ("parameters",), grid),
    ]
    return [section for section in sections if section.rows]


def _by_class(title: str, what: str, scores: Mapping[str, Scores], note: str = "") -> Section:
    measures = ("precision", "recall", "f1")
    rows = [(name, *(percent(score[measure]) for measure in measures)) for name, score in scores.items()]
    return Section(title, (what, "precision", "recall", "F1"), rows, note)


def _by_measure(
    title: str,
    columns: tuple[str, ...],
    rows: Sequence[tuple[tuple[str, ...], Scores]],
    note: str = "",
    plot: plots.Plot | None = None,
) -> Section:
    """Build a table of all measures. Each row is given as its first cells and its means."""
    cells = [(*first, *(percent(means.get(name)) for name in MEASURES)) for first, means in rows]
    return Section(title, (*columns, *MEASURES.values()), cells, note, plots=(plot,) if plot else ())


def _overview(scores: Scores) -> Section:
    rows = []
    for name, title in MEASURES.items():
        cells = [title, percent(scores["mean"][name]), interval(scores["interval"].get(name))]
        if scores["folds"]:
            by_fold = [fold[name] for fold in scores["folds"] if fold.get(name) is not None]
            cells.append(interval([min(by_fold), max(by_fold)] if by_fold else None))
        rows.append((*cells, percent(scores["keep_everything"][name])))
    note = (
        "Means over pages, in percent; labels and content/noise are shares of all blocks. "
        "Intervals come from resampling pages. A cleaner has to beat keeping everything."
    )
    folds = ("lowest and highest fold",) if scores["folds"] else ()
    return Section("Scores", ("measure", "mean", "95 % interval", *folds, "keep everything"), rows, note)


def _page_types(scores: Scores) -> Section:
    by_type = scores["by_type"]
    counts = {kind: sum(page["type"] == kind for page in scores["pages"]) for kind in by_type}
    values = [(kind, means["words_f1"], None) for kind, means in by_type.items()]
    plot = plots.bars(values, "Words F1 by page type; the line is the mean of all pages", scores["mean"]["words_f1"])
    rows = [((kind, str(counts[kind])), means) for kind, means in by_type.items()]
    return _by_measure("Page types", ("type", "pages"), rows, plot=plot)


def _ablation(scores: Scores) -> Section:
    """Build a table with a row per set of features, and its difference to using all features on the same pages."""
    variants = scores["ablation"]
    values = [(row["variant"], row["mean"]["words_f1"], row["interval"].get("words_f1")) for row in variants]
    caption = "Words F1 with fewer features, with 95 % intervals; the line is the score with all features"
    plot = plots.bars(values, caption, scores["mean"]["words_f1"])
    table = _by_measure("Ablation", ("features",), [((row["variant"],), row["mean"]) for row in variants], plot=plot)
    differences = [f"{100 * row['difference']['mean']:+.2f} ({row['difference']['p_value']:.3f})" for row in variants]
    rows = [(*cells, difference) for cells, difference in zip(table.rows, differences, strict=True)]
    return replace(table, head=(*table.head, "words F1 difference (p)"), rows=rows)
