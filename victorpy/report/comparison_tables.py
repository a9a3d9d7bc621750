"""The tables of a comparison, as rows of text: what Markdown, HTML and a terminal show alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from victorpy.report.tables import Table, interval, percent

TRAINED, UNKNOWN = "†", "?"
"""What stands behind the name of a model that was trained on a data set, or may have been."""


class Column(NamedTuple):
    """A column of a table of scores."""

    name: str
    """Its name in scores.json."""
    title: str
    show: Callable[[Any], str]
    meaning: str


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def _held_out(trained_on: bool | None) -> str:
    return {True: "no", False: "yes", None: UNKNOWN}[trained_on]


_HELD_OUT = Column("trained_on", "held out", _held_out, "whether no model of the method was trained on these pages")
_VALUES = (
    Column("value_recall", "values kept", percent, "share of a page's values whose words stand in the output in a row"),
    Column("value_recall_interval", "95 % interval", interval, "of that mean, by resampling pages"),
)
_TEXTS = (
    Column("words_f1", "words F1", percent, "overlap of the words of output and gold, as multisets; mean over pages"),
    Column("words_f1_interval", "95 % interval", interval, "of that mean, by resampling pages"),
    Column("words_precision", "precision", percent, "share of the output's words that are in the gold"),
    Column("words_recall", "recall", percent, "share of the gold's words that are in the output"),
    Column("words_f1_pooled", "pooled F1", percent, "words F1 with the words of all pages counted together"),
)
_COSTS = (
    Column("words_removed", "words removed", percent, "share of a page's words that are gone; mean over pages"),
    Column("empty", "empty", str, "pages of which not a word is left although the gold has some"),
    Column("failed", "failed", str, "pages that the method could not clean at all; they count as empty output"),
    Column("cpu_ms", "CPU ms a page", _number, "CPU time of cleaning a page, from bytes to text"),
    Column("site_ms", "CPU ms to learn, a page", _number, "CPU time of learning a site, by pages learned from"),
)
_MORE = (
    Column("cleaneval_words_f1", "CleanEval words F1", percent, "words in order: the longest common subsequence"),
    Column("shingle_f1", "4-word shingles F1", percent, "overlap of runs of four words"),
    Column("content_accuracy", "content/noise right", percent, "share of blocks rightly kept or dropped"),
    Column("label_accuracy", "labels right", percent, "share of blocks whose kind is right too"),
)
COLUMNS = (_HELD_OUT, *_TEXTS, *_VALUES, *_COSTS, *_MORE)


def comparison_tables(scores: Mapping[str, Any]) -> list[Table]:
    """All tables of a comparison that have something to show in them."""
    tables = [_overview(scores)] if len(scores["sets"]) > 1 else []
    for data in scores["sets"]:
        tables += set_tables(scores, data)
    tables += [_methods(scores), _columns(scores)]
    return [table for table in tables if table.rows]


def set_tables(scores: Mapping[str, Any], data: Mapping[str, Any]) -> list[Table]:
    """The tables of one data set, that of the scores first."""
    tables = [_scores(scores, data), _differences(scores, data), _more(scores, data)]
    for what, found in (("type", "by_type"), ("site", "by_site")):
        measures = [data["measure"]] + (["words_removed"] if data["measure"] == "value_recall" else [])
        tables += [_groups(scores, data, scores[found], what, measure) for measure in measures]
    return [table for table in tables if table.rows]


def summary_table(scores: Mapping[str, Any]) -> Table:
    """All methods on all data sets in one table, for a terminal."""
    wanted = ("words_f1", "words_f1_interval", "value_recall", "value_recall_interval")
    columns = [column for column in (*_TEXTS, *_VALUES) if column.name in wanted]
    columns = _used([_HELD_OUT, *columns, *_COSTS], scores["results"])
    rows = [
        (mark(row), row["data"], str(row["pages"]), *(column.show(row[column.name]) for column in columns))
        for row in scores["results"]
    ]
    return Table("Scores", ("method", "data", "pages", *(column.title for column in columns)), tuple(rows))


def mark(row: Mapping[str, Any]) -> str:
    """A method's name, with a mark where it was trained on the data, or may have been."""
    marks = {True: f" {TRAINED}", None: f" {UNKNOWN}", False: ""}
    return str(row["method"]) + marks[row["trained_on"]]


def _marked(scores: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, str]:
    """The methods as they are shown on a data set, in the order in which they were given."""
    return {row["method"]: mark(row) for row in scores["results"] if row["data"] == data["data"]}


def ranked(scores: Mapping[str, Any], data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The results of a data set, the best first."""
    rows = [row for row in scores["results"] if row["data"] == data["data"]]
    return sorted(rows, key=lambda row: -(row[data["measure"]] or 0.0))


def short(data: Mapping[str, Any]) -> str:
    """A data set's name; one that lies in a directory of its own name is named once."""
    kind, _, name = data["source"].partition(":")
    return str(kind if kind == name else data["source"])


def title_of(data: Mapping[str, Any]) -> str:
    """A data set's name, and how large it is."""
    return f"{short(data)}: {data['pages']:,} pages of {data['sites']:,} site{'s' if data['sites'] != 1 else ''}"


def _used(columns: Sequence[Column], rows: Sequence[Mapping[str, Any]]) -> list[Column]:
    """The columns in which some row has something."""
    return [column for column in columns if any(row[column.name] is not None for row in rows)]


def _overview(scores: Mapping[str, Any]) -> Table:
    found = {(row["method"], row["data"]): row for row in scores["results"]}
    rows = []
    for method in scores["methods"]:
        cells = [found[method["method"], data["data"]] for data in scores["sets"]]
        shown = [
            percent(cell[data["measure"]]) + mark(cell).removeprefix(cell["method"])
            for cell, data in zip(cells, scores["sets"], strict=True)
        ]
        rows.append((method["method"], *shown))
    titles = {"words_f1": "words F1", "value_recall": "values kept"}
    head = [f"{short(data)}, {titles[data['measure']]}" for data in scores["sets"]]
    return Table("All data sets", ("method", *head), tuple(rows))


def _scores(scores: Mapping[str, Any], data: Mapping[str, Any]) -> Table:
    found = ranked(scores, data)
    return _columns_of(title_of(data), (_HELD_OUT, *_TEXTS, *_VALUES, *_COSTS), found, _note(scores, data, found))


def _more(scores: Mapping[str, Any], data: Mapping[str, Any]) -> Table:
    return _columns_of(f"More measures on {short(data)}", _MORE, ranked(scores, data))


def _columns_of(title: str, columns: Sequence[Column], found: Sequence[Mapping[str, Any]], note: str = "") -> Table:
    used = _used(columns, found)
    rows = [(mark(row), *(column.show(row[column.name]) for column in used)) for row in found]
    return Table(title, ("method", *(column.title for column in used)), tuple(rows) if used else (), note)


def _note(scores: Mapping[str, Any], data: Mapping[str, Any], found: Sequence[Mapping[str, Any]]) -> str:
    """What a reader has to know of this data set, and of methods on it."""
    first = "what keeps most values" if data["measure"] == "value_recall" else "the best"
    said = [f"Shares are in percent; {first} first."]
    if data["tuned_pages"]:
        told = f"{data['tuned_pages']} further pages ({scores['settings']['tune']} of a site, at most half of it)"
        said.append(f"The labels of {told} were told to methods that learn from sites; no method is scored on them.")
    if data["measure"] == "value_recall":
        share = percent(data["values_in_pages"])
        said.append(
            f"The gold is {data['values']:,} values, not texts; {share} % of them are in the pages' text at all."
        )
    if any(row["site_ms"] is not None for row in found) and data["single_page_sites"]:
        said.append(f"{data['single_page_sites']} sites have one page only, from which no site can be learned.")
    if any(row["trained_on"] for row in found):
        said.append(f"{TRAINED} was trained on these pages: the score says nothing of how it does on new ones.")
    if any(row["trained_on"] is None for row in found):
        said.append(f"{UNKNOWN} does not say what it was trained on; it may have been these pages.")
    return " ".join(said)


def _differences(scores: Mapping[str, Any], data: Mapping[str, Any]) -> Table:
    found = {(row["method"], row["against"]): row for row in scores["differences"] if row["data"] == data["data"]}
    against = list(dict.fromkeys(other for _, other in found))
    rows = []
    for row in ranked(scores, data):
        cells = [_difference(found.get((row["method"], other))) for other in against]
        rows.append((mark(row), *(cell for pair in cells for cell in pair)))
    names = _marked(scores, data)
    head = [cell for other in against for cell in (f"less {names[other]}", "p")]
    note = (
        "Differences on the same pages, in points, with 95 % intervals, from the first method and from the best one; "
        "p is how often chance alone, swapping the two on each page at will, makes a difference as large."
    )
    return Table(f"Differences on {short(data)}", ("method", *head), tuple(rows) if against else (), note)


def _difference(found: Mapping[str, Any] | None) -> tuple[str, str]:
    if found is None:
        return "–", "–"
    low, high = (f"{100 * found[name]:+.2f}" for name in ("low", "high"))
    p_value = f"{found['p_value']:.3f}" if found["p_value"] >= 0.001 else "<0.001"
    return f"{100 * found['mean']:+.2f} ({low} to {high})", p_value


def _groups(
    scores: Mapping[str, Any], data: Mapping[str, Any], found: Sequence[Mapping[str, Any]], what: str, measure: str
) -> Table:
    """One measure of every method by page type or by site, a row each."""
    rows = [row for row in found if row["data"] == data["data"]]
    methods = _marked(scores, data)
    cells = {(row[what], row["method"]): row[measure] for row in rows}
    pages = {row[what]: row["pages"] for row in rows}
    title = next(column.title for column in COLUMNS if column.name == measure)
    return Table(
        f"{title[0].upper()}{title[1:]} by {what} on {short(data)}",
        (what, "pages", *methods.values()),
        tuple((name, str(pages[name]), *(percent(cells[name, method]) for method in methods)) for name in pages),
    )


_NEEDS = {
    "labels": "trained on labelled pages",
    "site": "other pages of the site",
    "nothing": "nothing but the page",
    "peer": "another program",
}


def _methods(scores: Mapping[str, Any]) -> Table:
    learns = {row["method"] for row in scores["results"] if row["site_ms"] is not None}
    rows = []
    for method in scores["methods"]:
        needs = _NEEDS[method["needs"]]
        needs += "; other pages of the site" if method["needs"] == "labels" and method["method"] in learns else ""
        rows.append((method["method"], needs, method["run_as"]))
    return Table("Methods", ("method", "needs", "run as"), tuple(rows))


def _columns(scores: Mapping[str, Any]) -> Table:
    rows = tuple((column.title, column.meaning) for column in _used(COLUMNS, scores["results"]))
    return Table("What the columns mean", ("column", "meaning"), rows)
