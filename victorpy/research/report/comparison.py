"""The report of a comparison."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from victorpy.errors import plural
from victorpy.research.report import plots
from victorpy.research.report.base import Report, Scores, Section, interval, percent

_TRAINED, _UNKNOWN = "†", "?"  # marks of a model that was, or may have been, trained on a data set
_MARKS = {True: f" {_TRAINED}", None: f" {_UNKNOWN}", False: ""}
_MEASURE_TITLES = {"words_f1": "Words F1", "value_recall": "Share of values kept"}
_NEEDS = {
    "labels": "training on labelled pages",
    "site": "other pages of the site",
    "nothing": "only the page",
    "peer": "another program",
}


class Column(NamedTuple):
    """A column in tables of scores."""

    name: str  # its name in scores.json
    title: str
    show: Callable[[Any], str]
    meaning: str


def _milliseconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


_HELD_OUT = {True: "no", False: "yes", None: _UNKNOWN}.__getitem__
_MAIN = (
    Column("trained_on", "held out", _HELD_OUT, "whether the method was not trained on these pages"),
    Column("words_f1", "words F1", percent, "overlap of the words of output and gold, as multisets; mean over pages"),
    Column("words_f1_interval", "95 % interval", interval, "of that mean, by resampling pages"),
    Column("words_precision", "precision", percent, "share of the output's words that are in the gold"),
    Column("words_recall", "recall", percent, "share of the gold's words that are in the output"),
    Column("words_f1_pooled", "pooled F1", percent, "words F1 with the words of all pages counted together"),
    Column("value_recall", "values kept", percent, "share of a page's values that occur in the output"),
    Column("value_recall_interval", "95 % interval", interval, "of that mean, by resampling pages"),
    Column("words_removed", "words removed", percent, "share of a page's words that were removed; mean over pages"),
    Column("empty", "empty", str, "pages without a word in the output although the gold has some"),
    Column("failed", "failed", str, "pages that the method could not clean; they count as empty output"),
    Column("cpu_ms", "CPU ms per page", _milliseconds, "CPU time of cleaning a page, from bytes to text"),
    Column("site_ms", "CPU ms to learn, per page", _milliseconds, "CPU time of learning a site, per page learned from"),
)
_MORE = (
    Column("cleaneval_words_f1", "CleanEval words F1", percent, "words in order: the longest common subsequence"),
    Column("shingle_f1", "4-word shingles F1", percent, "overlap of runs of four words"),
    Column("content_accuracy", "content/noise right", percent, "share of blocks correctly kept or dropped"),
    Column("label_accuracy", "labels right", percent, "share of blocks with the right label"),
)
_NOT_IN_TERMINAL = ("words_precision", "words_recall", "words_f1_pooled")


def report(scores: Scores) -> Report:
    """Build the report."""
    sections = [_all_sets(scores)] if len(scores["sets"]) > 1 else []
    for data in scores["sets"]:
        name, measure = _short(data), data["measure"]
        results = [row for row in scores["results"] if row["data"] == data["data"]]
        results.sort(key=lambda row: -(row[measure] or 0.0))  # best result first
        heading = f"{name}: {data['pages']:,} pages of {plural(data['sites'], 'site')}"
        table = _table(heading, _MAIN, results, _note(scores, data, results))
        sections.append(replace(table, plots=_plots(measure, results)))
        sections.append(_differences(scores, data, results))
        sections.append(_table(f"More measures on {name}", _MORE, results))
        measures = [measure] + ["words_removed"] * (measure == "value_recall")
        sections += [_by_group(scores, data, group, column) for group in ("type", "site") for column in measures]
        sections.append(_disputed(scores, data))
    learning = {row["method"] for row in scores["results"] if row["site_ms"] is not None}
    methods = []
    for method in scores["methods"]:
        needs = _NEEDS[method["needs"]]
        needs += "; other pages of the site" if method["needs"] == "labels" and method["method"] in learning else ""
        methods.append((method["method"], needs, method["run_as"]))
    sections.append(Section("Methods", ("method", "needs", "run as"), methods, look="words"))
    meanings = [(column.title, column.meaning) for column in _used((*_MAIN, *_MORE), scores["results"])]
    sections.append(Section("What the columns mean", ("column", "meaning"), meanings, look="words"))
    title = f"{plural(len(scores['methods']), 'method')} on {', '.join(map(_short, scores['sets']))}"
    return Report(title, _lead(scores), tuple(section for section in sections if section.rows))


def summary(scores: Scores) -> Report:
    """Build the table for a terminal: all methods on all data sets."""
    columns = [column for column in _used(_MAIN, scores["results"]) if column.name not in _NOT_IN_TERMINAL]
    rows = [
        (_marked(row), row["data"], str(row["pages"]), *(column.show(row[column.name]) for column in columns))
        for row in scores["results"]
    ]
    head = ("method", "data", "pages", *(column.title for column in columns))
    return Report(sections=(Section("", head, rows, " ".join(_legend(scores["results"]))),))


def _lead(scores: Scores) -> tuple[str, str]:
    settings = scores["settings"]
    lead = "All methods cleaned the same pages in one process, page by page in turn. Times are CPU times."
    if any(row["site_ms"] is not None for row in scores["results"]):
        sample = f"at most {settings['sample']} of each, seed {settings['seed']}"
        lead += f" Methods that learn from sites first saw pages of each site ({sample}), without their labels"
        lead += f" except for {settings['tune']} pages per site." if settings["tune"] else "."
    if scores["failures"]:
        lead += f" Methods failed {len(scores['failures'])} times on a page; scores.json lists where and why."
    if scores["warnings"]:
        lead += f" There were {plural(len(scores['warnings']), 'warning')} about the data, listed in scores.json."
    versions = ", ".join(f"{name} {number}" for name, number in scores["versions"].items())
    return lead, f"Versions: {versions}."


def _short(data: Scores) -> str:
    """Return a data set's name, or only its kind if its directory has the same name."""
    kind, _, name = data["source"].partition(":")
    return str(kind if kind == name else data["source"])


def _marked(row: Scores) -> str:
    return f"{row['method']}{_MARKS[row['trained_on']]}"


def _used(columns: Sequence[Column], rows: Sequence[Scores]) -> list[Column]:
    return [column for column in columns if any(row[column.name] is not None for row in rows)]


def _table(title: str, columns: Sequence[Column], results: Sequence[Scores], note: str = "") -> Section:
    used = _used(columns, results)
    rows = [(_marked(row), *(column.show(row[column.name]) for column in used)) for row in results]
    return Section(title, ("method", *(column.title for column in used)), rows if used else (), note)


def _all_sets(scores: Scores) -> Section:
    results = {(row["method"], row["data"]): row for row in scores["results"]}
    rows = []
    for method in scores["methods"]:
        by_set = [(data, results[method["method"], data["data"]]) for data in scores["sets"]]
        cells = [percent(row[data["measure"]]) + _MARKS[row["trained_on"]] for data, row in by_set]
        rows.append((method["method"], *cells))
    titles = {"words_f1": "words F1", "value_recall": "values kept"}
    head = [f"{_short(data)}, {titles[data['measure']]}" for data in scores["sets"]]
    return Section("All data sets", ("method", *head), rows)


def _note(scores: Scores, data: Scores, results: Sequence[Scores]) -> str:
    is_values = data["measure"] == "value_recall"
    order = "methods that keep most values" if is_values else "the best methods"
    sentences = [f"Shares are in percent; {order} come first."]
    if data["tuned_pages"]:
        pages = f"{data['tuned_pages']} further pages ({scores['settings']['tune']} per site, at most half of it)"
        sentences.append(
            f"Methods that learn from sites were given the labels of {pages}; no method is scored on them."
        )
    if is_values:
        share = percent(data["values_in_pages"])
        sentences.append(
            f"The gold is {data['values']:,} values, not texts; {share} % of them are in the pages' text at all."
        )
    if any(row["site_ms"] is not None for row in results) and data["single_page_sites"]:
        sentences.append(f"{data['single_page_sites']} sites have only one page, which is not enough to learn a site.")
    return " ".join([*sentences, *_legend(results)])


def _legend(results: Sequence[Scores]) -> list[str]:
    """Explain the marks after the names of models."""
    meanings = {
        True: f"{_TRAINED} was trained on these pages: the score does not show how it does on new ones.",
        None: f"{_UNKNOWN} does not record its training data; it may have been trained on these pages.",
    }
    trained_on = {row["trained_on"] for row in results}
    return [meaning for mark, meaning in meanings.items() if mark in trained_on]


def _plots(measure: str, results: Sequence[Scores]) -> tuple[plots.Plot, ...]:
    title = _MEASURE_TITLES[measure]
    values = [(_marked(row), row[measure], row[f"{measure}_interval"]) for row in results]
    drawn = [plots.bars(values, f"{title}, with 95 % intervals", across=title)]
    if measure == "value_recall":
        removed = [(_marked(row), row["words_removed"], row[measure]) for row in results]
        caption = "Values kept against words removed: up and to the right is better"
        drawn.append(plots.points(removed, caption, "Share of words removed", title))
    costs = [(_marked(row), row["cpu_ms"], row[measure]) for row in results if row["cpu_ms"]]
    caption = f"{title} against CPU time of cleaning a page: up and to the left is better"
    return (*drawn, plots.points(costs, caption, "CPU ms per page", title, logarithmic=True))


def _differences(scores: Scores, data: Scores, results: Sequence[Scores]) -> Section:
    pairs = {(row["method"], row["against"]): row for row in scores["differences"] if row["data"] == data["data"]}
    others = list(dict.fromkeys(other for _, other in pairs))
    names = {row["method"]: _marked(row) for row in results}
    rows = []
    for name, marked in names.items():
        cells = [marked]
        for other in others:
            pair = pairs.get((name, other))
            if pair is None:
                cells += ["–", "–"]
                continue
            mean, low, high = (f"{100 * pair[part]:+.2f}" for part in ("mean", "low", "high"))
            p_value = f"{pair['p_value']:.3f}" if pair["p_value"] >= 0.001 else "<0.001"
            cells += [f"{mean} ({low} to {high})", p_value]
        rows.append(tuple(cells))
    head = [cell for other in others for cell in (f"minus {names[other]}", "p")]
    note = (
        "Differences on the same pages, in points, with 95 % intervals, from the first method and from the best one. "
        "p is the probability of a difference as large if the two were swapped at random on each page."
    )
    return Section(f"Differences on {_short(data)}", ("method", *head), rows if others else (), note)


def _by_group(scores: Scores, data: Scores, group: str, measure: str) -> Section:
    results = [row for row in scores[f"by_{group}"] if row["data"] == data["data"]]
    values = {(row[group], row["method"]): row[measure] for row in results}
    pages = {row[group]: row["pages"] for row in results}
    methods = {row["method"]: _marked(row) for row in scores["results"] if row["data"] == data["data"]}
    title = next(column.title for column in _MAIN if column.name == measure)
    return Section(
        f"{title[0].upper()}{title[1:]} by {group} on {_short(data)}",
        (group, "pages", *methods.values()),
        [(name, str(pages[name]), *(percent(values[name, method]) for method in methods)) for name in pages],
    )


def _disputed(scores: Scores, data: Scores) -> Section:
    methods = [method["method"] for method in scores["methods"]]
    rows = [
        (row["page"], row["site"], percent(row["difference"]), *(percent(row["scores"][name]) for name in methods))
        for row in scores["disputed"]
        if row["data"] == data["data"]
    ]
    note = f"{_MEASURE_TITLES[data['measure']]} by method, with the largest difference first."
    title = f"Pages on which methods differ most, {_short(data)}"
    return Section(title, ("page", "site", "difference", *methods), rows, note, look="pages")
