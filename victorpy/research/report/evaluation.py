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
    """Build the report; `views` has the file of a page's view by data set and name of the page."""
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
    return Report(title, (lead,), (*_tables(scores), _calibration(scores), _worst_pages(scores, views)))


def summary(scores: Scores) -> Report:
    """Build what a terminal shows."""
    shown = [section for section in _tables(scores) if section.title in _IN_TERMINAL]
    heads = [tuple(name.replace("CleanEval ", "CE ") for name in section.head) for section in shown]
    return Report(
        sections=tuple(replace(section, head=head, note="") for section, head in zip(shown, heads, strict=True))
    )


def _tables(scores: Scores) -> list[Section]:
    """Build the tables that have something to show."""
    fold_rows = [(f"fold {number}", *_measures(fold)) for number, fold in enumerate(scores["folds"], 1)]
    grouping = "by page: sites may be on both sides, which flatters"
    if scores["settings"]["group"] == "site":
        grouping = "by site: no site is on both sides"
    grid_rows = [
        (" ".join(f"{name}={value:g}" for name, value in row["parameters"].items()), *_measures(row["mean"]))
        for row in scores["grid"]
    ]
    sections = [
        _overview(scores),
        Section("Folds", ("fold", *MEASURES.values()), fold_rows, f"Pages are shared out {grouping}."),
        _labels(scores),
        _confusion(scores),
        _page_types(scores),
        _learning_curve(scores),
        _ablation(scores),
        Section("Grid", ("parameters", *MEASURES.values()), grid_rows),
    ]
    return [section for section in sections if section.rows]


def _measures(means: Mapping[str, float | None]) -> list[str]:
    return [percent(means.get(name)) for name in MEASURES]


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
        "The interval resamples pages. Keeping everything is what a cleaner has to beat."
    )
    folds = ("lowest and highest fold",) if scores["folds"] else ()
    return Section("Scores", ("measure", "mean", "95 % interval", *folds, "keep everything"), rows, note)


def _labels(scores: Scores) -> Section:
    labels = scores["labels"]
    rows = [(name, *(percent(label[part]) for part in ("precision", "recall", "f1"))) for name, label in labels.items()]
    plot = plots.label_bars(labels, "Precision, recall and F1 of each label")
    return Section("Labels", ("label", "precision", "recall", "F1"), rows, plots=(plot,))


def _confusion(scores: Scores) -> Section:
    confusion = scores["confusion"]
    rows = [(gold, *(f"{counts[ours]:,}" for ours in confusion)) for gold, counts in confusion.items()]
    note = "Blocks by their gold label and the one they got."
    plot = plots.confusion_matrix(confusion, "Confusion of labels, in percent of each gold label")
    return Section("Confusion", ("gold \\ ours", *confusion), rows, note, plots=(plot,))


def _page_types(scores: Scores) -> Section:
    by_type = scores["by_type"]
    counts = {kind: sum(page["type"] == kind for page in scores["pages"]) for kind in by_type}
    rows = [(kind, str(counts[kind]), *_measures(means)) for kind, means in by_type.items()]
    values = [(kind, means["words_f1"], None) for kind, means in by_type.items()]
    plot = plots.bars(values, "Words F1 by page type; the line is the mean of all", scores["mean"]["words_f1"])
    return Section("Page types", ("type", "pages", *MEASURES.values()), rows, plots=(plot,))


def _learning_curve(scores: Scores) -> Section:
    curve = scores["learning_curve"]
    measures = {name: MEASURES[name] for name in _IN_CURVE}
    plot = plots.learning_curve(curve, measures, "Scores by number of training pages")
    return _variants("Learning curve", "training pages", "pages", curve, plot)


def _ablation(scores: Scores) -> Section:
    variants = scores["ablation"]
    values = [(row["variant"], row["mean"]["words_f1"], row["interval"].get("words_f1")) for row in variants]
    caption = "Words F1 with fewer features, with 95 % intervals; the line has all features"
    plot = plots.bars(values, caption, scores["mean"]["words_f1"])
    return _variants("Ablation", "features", "variant", variants, plot)


def _variants(title: str, column: str, key: str, variants: Sequence[Scores], plot: plots.Plot) -> Section:
    """Build a table of variants; some have the difference from the whole on the same pages, and its p-value."""
    rows = []
    for row in variants:
        cells = [str(row[key]), *_measures(row["mean"])]
        if "difference" in row:
            cells.append(f"{100 * row['difference']['mean']:+.2f} ({row['difference']['p_value']:.3f})")
        rows.append(tuple(cells))
    extra = ("words F1 difference (p)",) if any("difference" in row for row in variants) else ()
    return Section(title, (column, *MEASURES.values(), *extra), rows, plots=(plot,))


def _calibration(scores: Scores) -> Section:
    if not scores["calibration"]:
        return Section("Calibration", note="The labeller gives no probabilities.", in_markdown=False)
    caption = "Predicted probability of content against the share that is; on the line the model is honest"
    plot = plots.reliability(scores["calibration"], caption)
    return Section("Calibration", plots=(plot,), in_markdown=False)


def _worst_pages(scores: Scores, views: Mapping[str, str]) -> Section:
    worst = sorted(scores["pages"], key=lambda page: page["scores"]["words_f1"])[:_MOST_PAGES]
    measures = ("words_f1", "words_precision", "words_recall")
    return Section(
        "Worst pages",
        ("page", "site", "type", "words F1", "precision", "recall"),
        [
            (page["name"], page["site"], page["type"], *(percent(page["scores"][name]) for name in measures))
            for page in worst
        ],
        look="pages",
        links=[quote(views.get(f"{page['data']}/{page['name']}", "")) for page in worst],
        in_markdown=False,
    )
