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

_UNDEFINED = "A dash means that kappa is not defined, because everybody put all blocks into one class."


def report(scores: Scores, title: str, most: int | None) -> Report:
    """Build the report with the first `most` disagreements, or all of them."""
    sections = [_kappas(scores, "All annotators: Fleiss' kappa", None), _pairs(scores)]
    names = _pair_names(scores)
    sections += [_kappas(scores, f"{pair}: Cohen's kappa", number) for number, pair in enumerate(names)]
    sections.append(_labels_given(scores))
    for number in range(len(names)):
        sections += [_confusion(scores, number, weight, task) for weight in scores["agreement"] for task in _MAIN_TASKS]
    if scores["pages_count"] > 1:
        sections.append(_pages(scores))
    disagreements = scores["disagreements"][:most]
    if disagreements:
        head = ("page", "block", *scores["annotators"], "text")
        rows = [(row["page"], str(row["block"]), *row["labels"], _cut(row["text"], _IN_TABLE)) for row in disagreements]
        sections.append(Section("Disagreements", head, rows, _how_many(scores, most), look="blocks"))
    return Report(title, (_lead(scores),), tuple(sections))


def summary(scores: Scores, most: int | None) -> Report:
    """Build the report for a terminal: the main tables and the first disagreements."""
    sections = [_kappas(scores, "All annotators: Fleiss' kappa", None), _pairs(scores)]
    pairs = len(_pair_names(scores))
    if pairs <= _MOST_PAIRS:
        sections += [_confusion(scores, number, "blocks", task) for number in range(pairs) for task in _MAIN_TASKS]
    disagreements = scores["disagreements"][:most]
    if disagreements:
        rows = [(f"{row['page']}:{row['block']}", *row["labels"], _cut(row["text"], _IN_LINE)) for row in disagreements]
        sections.append(Section(f"Disagreements: {_how_many(scores, most)}", (), rows, look="blocks"))
    return Report("", (_lead(scores),), tuple(sections))


def _lead(scores: Scores) -> str:
    lead = (
        f"{len(scores['annotators'])} annotators, {plural(scores['pages_count'], 'page')}, "
        f"{scores['blocks_count']:,} blocks that all of them labelled, {scores['words_count']:,} words."
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


def _pair_names(scores: Scores) -> list[str]:
    return [" – ".join(pair["annotators"]) for pair in scores["agreement"]["blocks"]["labels"]["pairs"]]


def _kappas(scores: Scores, title: str, pair: int | None) -> Section:
    """Build a table with a row for each task, for one pair of annotators or for all annotators."""
    rows = []
    for task, task_name in _TASKS.items():
        by_weight = [scores["agreement"][weight][task] for weight in ("blocks", "words")]
        blocks, words = (kappas["fleiss"] if pair is None else kappas["pairs"][pair] for kappas in by_weight)
        shares = (percent(blocks["observed"]), percent(blocks["expected"]))
        by_words = (score(words["kappa"]), interval(words["interval"], score))
        rows.append((task_name, score(blocks["kappa"]), interval(blocks["interval"], score), *shares, *by_words))
    head = ("", "kappa", "95 % interval", "observed, %", "expected, %", "kappa by words", "95 % interval")
    notes = [_UNDEFINED] if any(row[1] == "–" for row in rows) else []
    notes += ["A single page has no interval."] if scores["pages_count"] == 1 else []
    return Section(title, head, rows, " ".join(notes))


def _pairs(scores: Scores) -> Section:
    rows = []
    for number, pair in enumerate(_pair_names(scores)):
        labels, *others = (scores["agreement"]["blocks"][task]["pairs"][number] for task in _TASKS)
        kappas = [score(other["kappa"]) for other in others]
        rows.append((pair, score(labels["kappa"]), interval(labels["interval"], score), *kappas))
    first, *names = _TASKS.values()
    return Section("Pairs: Cohen's kappa", ("pair", first, "95 % interval", *names), rows)


def _labels_given(scores: Scores) -> Section:
    """Count the labels of each annotator, from the confusion tables of the first annotator with the others."""
    first, *others = scores["annotators"]
    confusions = [pair["confusion"] for pair in scores["agreement"]["blocks"]["labels"]["pairs"][: len(others)]]
    counts = {first: [sum(row.values()) for row in confusions[0].values()]}
    for annotator, confusion in zip(others, confusions, strict=True):
        counts[annotator] = [sum(row[label] for row in confusion.values()) for label in Label]
    rows = [(who, *(f"{count:,}" for count in given)) for who, given in counts.items()]
    return Section("Labels given", ("annotator", *Label), rows, "Number of blocks.")


def _confusion(scores: Scores, number: int, weight: str, task: str) -> Section:
    pair = scores["agreement"][weight][task]["pairs"][number]
    one, other = pair["annotators"]
    rows = [(label, *(f"{count:,}" for count in counts.values())) for label, counts in pair["confusion"].items()]
    return Section(f"{one} – {other}: {_TASKS[task]}, {weight}", (f"{one} \\ {other}", *pair["confusion"]), rows)


def _pages(scores: Scores) -> Section:
    observed = [page["labels"]["fleiss"]["observed"] for page in scores["pages"]]
    order = sorted(range(len(observed)), key=lambda number: 1.0 if observed[number] is None else observed[number])
    pages = [scores["pages"][number] for number in order]
    rows = []
    for page in pages[:_MOST_PAGES]:
        cells = [page["name"], f"{page['blocks']:,}", f"{page['disagreements']:,}"]
        for task in _MAIN_TASKS:
            cells += [percent(page[task]["fleiss"]["observed"]), score(page[task]["fleiss"]["kappa"])]
        rows.append(tuple(cells))
    head = ("page", "blocks", "disagreements", "observed, %", "kappa", "content/noise observed, %", "kappa")
    which = f"The {_MOST_PAGES} with the least agreement." if len(pages) > _MOST_PAGES else "Least agreement first."
    return Section("Pages", head, rows, f"{which} Fleiss' kappa, by blocks.")


def _how_many(scores: Scores, most: int | None) -> str:
    count = len(scores["disagreements"])
    about_content = sum(row["about_content"] for row in scores["disagreements"])
    first = f"; these are the first {most:,}" if most is not None and most < count else ""
    return f"{plural(count, 'block')}, {about_content:,} between content and noise{first}."


def _cut(text: str, most: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[:most]}…"
