"""The report of annotators' agreement."""

from __future__ import annotations

from victorpy.document import Label
from victorpy.errors import plural
from victorpy.research.report.base import Report, Scores, Section, interval, percent, score

_TASKS = {"labels": "five labels", "content": "content/noise", **{str(label): f"{label}/rest" for label in Label}}
_MAIN_TASKS = ("labels", "content")
_MOST_PAGES = 20
_IN_LINE, _IN_TABLE = 70, 300  # maximum characters of a block's text
_MOST_PAIRS = 3  # a terminal shows the confusion tables of at most this many pairs; reports show all


def report(scores: Scores, title: str, most: int | None) -> Report:
    """Build the report with the first `most` disagreements, or all of them."""
    sections = [_all_annotators(scores), _pairs(scores), *_confusions(scores)]
    if scores["pages_count"] > 1:
        sections.append(_pages(scores))
    rows = [
        (row["page"], str(row["block"]), *row["labels"], _cut(row["text"], _IN_TABLE))
        for row in scores["disagreements"][:most]
    ]
    if rows:
        head = ("page", "block", *scores["annotators"], "text")
        sections.append(Section("Disagreements", head, rows, _how_many(scores, most), look="blocks"))
    return Report(title, (_lead(scores),), tuple(sections))


def summary(scores: Scores, most: int | None) -> Report:
    """Build the report for a terminal: the main tables and the first disagreements."""
    sections = [_all_annotators(scores), _pairs(scores)]
    if len(scores["agreement"]["labels"]["pairs"]) <= _MOST_PAIRS:
        sections += _confusions(scores)
    rows = [
        (f"{row['page']}:{row['block']}", *row["labels"], _cut(row["text"], _IN_LINE))
        for row in scores["disagreements"][:most]
    ]
    if rows:
        sections.append(Section(f"Disagreements: {_how_many(scores, most)}", (), rows, look="blocks"))
    return Report("", (_lead(scores),), tuple(sections))


def _lead(scores: Scores) -> str:
    lead = (
        f"{len(scores['annotators'])} annotators, {plural(scores['pages_count'], 'page')}, "
        f"{scores['blocks_count']:,} blocks that all of them labelled."
    )
    if scores["blocks_left_out"]:
        lead += f" Blocks left out because somebody did not label them: {scores['blocks_left_out']:,}."
    by_models = [f"{count:,} of {who}" for who, count in scores.get("unconfirmed", {}).items() if count]
    if by_models:
        what = "are counted" if scores.get("with_models") else "are not counted"
        lead += f" Labels given only by a model {what}: {', '.join(by_models)}."
    if scores.get("unpaired"):
        lead += f" Pages left out because not all annotators have them: {len(scores['unpaired']):,}."
    if scores.get("refused"):
        lead += f" Pages left out because they do not match or cannot be read: {len(scores['refused']):,}."
    return lead


def _all_annotators(scores: Scores) -> Section:
    """Build a table with a row for each task."""
    rows = []
    for task, name in _TASKS.items():
        kappa = scores["agreement"][task]["fleiss"]
        shares = (percent(kappa["observed"]), percent(kappa["expected"]))
        rows.append((name, score(kappa["kappa"]), interval(kappa["interval"], score), *shares))
    notes = []
    if any(row[1] == "–" for row in rows):
        notes.append("A dash means that kappa is not defined, because everybody put all blocks into one class.")
    if scores["pages_count"] == 1:
        notes.append("A single page has no interval.")
    head = ("", "kappa", "95 % interval", "observed, %", "expected, %")
    return Section("All annotators: Fleiss' kappa", head, rows, " ".join(notes))


def _pairs(scores: Scores) -> Section:
    """Build a table with a row for each pair of annotators."""
    rows = []
    for by_task in zip(*(scores["agreement"][task]["pairs"] for task in _TASKS), strict=True):
        labels, *others = by_task
        kappas = [score(other["kappa"]) for other in others]
        names = " – ".join(labels["annotators"])
        rows.append((names, score(labels["kappa"]), interval(labels["interval"], score), *kappas))
    first, *names_of_tasks = _TASKS.values()
    return Section("Pairs: Cohen's kappa", ("pair", first, "95 % interval", *names_of_tasks), rows)


def _confusions(scores: Scores) -> list[Section]:
    """Build two tables for each pair of annotators, with the number of blocks by the labels that the two gave."""
    sections = []
    for pairs in zip(*(scores["agreement"][task]["pairs"] for task in _MAIN_TASKS), strict=True):
        for task, pair in zip(_MAIN_TASKS, pairs, strict=True):
            one, other = pair["annotators"]
            rows = [(label, *(f"{count:,}" for count in row.values())) for label, row in pair["confusion"].items()]
            head = (f"{one} \\ {other}", *pair["confusion"])
            sections.append(Section(f"{one} – {other}: {_TASKS[task]}", head, rows))
    return sections


def _pages(scores: Scores) -> Section:
    observed = [(page["labels"]["fleiss"]["observed"], page) for page in scores["pages"]]
    observed.sort(key=lambda row: 1.0 if row[0] is None else row[0])
    rows = []
    for _, page in observed[:_MOST_PAGES]:
        cells = [page["name"], f"{page['blocks']:,}", f"{page['disagreements']:,}"]
        for task in _MAIN_TASKS:
            cells += [percent(page[task]["fleiss"]["observed"]), score(page[task]["fleiss"]["kappa"])]
        rows.append(tuple(cells))
    head = ("page", "blocks", "disagreements", "observed, %", "kappa", "content/noise observed, %", "kappa")
    which = f"The {_MOST_PAGES} with the least agreement." if len(rows) < len(observed) else "Least agreement first."
    return Section("Pages", head, rows, f"{which} Fleiss' kappa.")


def _how_many(scores: Scores, most: int | None) -> str:
    count = len(scores["disagreements"])
    about_content = sum(row["about_content"] for row in scores["disagreements"])
    first = f"; these are the first {most:,}" if most is not None and most < count else ""
    return f"{plural(count, 'block')}, {about_content:,} between content and noise{first}."


def _cut(text: str, most: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[:most]}…"
