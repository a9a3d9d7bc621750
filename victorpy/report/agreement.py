"""Agreement of annotators as tables, for a terminal, as Markdown and as HTML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from victorpy.document import Label
from victorpy.report import markdown
from victorpy.report.mining_tables import score
from victorpy.report.shell import page, text, visible
from victorpy.report.shell import table as html_table
from victorpy.report.tables import Table, aligned, percent

Scores = Mapping[str, Any]
_TOLD_APART = {
    "labels": "five labels",
    "content": "content/noise",
    **{str(label): f"{label}/rest" for label in Label},
}
_MOST_PAGES = 20
_IN_LINE, _IN_TABLE = 70, 300  # characters of a block's text that are shown
_MANY = 3
"""A terminal shows the confusion tables of so many pairs, reports those of all."""

_STYLE = """
.blocks td, .blocks th { text-align: left; vertical-align: top; }
.blocks td:first-child, .blocks td:last-child { white-space: normal; overflow-wrap: anywhere; }
.blocks td:first-child { min-width: 8rem; } .blocks td:last-child { min-width: 20rem; }
"""

_UNDEFINED = (
    "A dash where everybody put all blocks into one class: chance alone would agree on everything then, and kappa "
    "says nothing."
)


def lead(scores: Scores) -> str:
    """Say what was compared."""
    pages = scores["pages_count"]
    said = (
        f"{len(scores['annotators'])} annotators, {pages:,} page{'s' * (pages != 1)}, "
        f"{scores['blocks_count']:,} blocks that all have labelled, {scores['words_count']:,} words."
    )
    if scores["blocks_left_out"]:
        said += f" Blocks left out because somebody gave no label: {scores['blocks_left_out']:,}."
    said += _models_share(scores)
    if scores.get("unpaired"):
        said += f" Pages left out that not all annotators have: {len(scores['unpaired']):,}."
    if scores.get("refused"):
        said += f" Pages left out that do not fit together or cannot be read: {len(scores['refused']):,}."
    return said


def _models_share(scores: Scores) -> str:
    """Say whose labels only a model gave, and whether they count."""
    of_models = [f"{count:,} of {who}" for who, count in scores.get("unconfirmed", {}).items() if count]
    if not of_models:
        return ""
    what = "count" if scores.get("with_models") else "are nobody's and do not count (--with-models lets them)"
    return f" Labels that only a model gave {what}: {', '.join(of_models)}."


def render_text(scores: Scores, most: int | None) -> str:
    """Write the main tables and the first disagreements for a terminal."""
    tables = [_all(scores), _pairs(scores)]
    if len(_pair_names(scores)) <= _MANY:
        tables += [table for table in _confusions(scores) if table.title.endswith(_BY_BLOCKS)]
    parts = [lead(scores)]
    for table in tables:
        rows = [[visible(cell) for cell in row] for row in (table.head, *table.rows)]
        parts.append("\n".join(filter(None, [visible(table.title), aligned(rows[0], rows[1:]), table.note])))
    parts += ["\n".join(_disagreement_lines(scores, most))]
    return "\n\n".join(part for part in parts if part) + "\n"


def render_markdown(scores: Scores, title: str, most: int | None) -> str:
    """Write the report as Markdown."""
    tables = [*_tables(scores), *_disagreements(scores, most)]
    shown = [
        Table(visible(each.title), _visible(each.head), tuple(map(_visible, each.rows)), each.note) for each in tables
    ]
    return markdown.write(visible(title), [lead(scores)], shown)


def render_html(scores: Scores, title: str, most: int | None) -> str:
    """Write the report as one HTML page."""
    body = [f"<h1>{text(title)}</h1>", f'<p class="note">{text(lead(scores))}</p>']
    for table in _tables(scores):
        body += _section(table, html_table(table.head, table.rows))
    for table in _disagreements(scores, most):
        body += _section(table, f'<div class="blocks">{html_table(table.head, table.rows)}</div>')
    return page(title, "\n".join(body), _STYLE)


def _visible(cells: Sequence[str]) -> tuple[str, ...]:
    return tuple(map(visible, cells))


def _section(table: Table, written: str) -> list[str]:
    note = [f'<p class="note">{text(table.note)}</p>'] if table.note else []
    return [f"<h2>{text(table.title)}</h2>", *note, written]


def _tables(scores: Scores) -> Iterator[Table]:
    yield _all(scores)
    yield _pairs(scores)
    for number, pair in enumerate(_pair_names(scores)):
        yield _kappas(scores, f"{pair}: Cohen's kappa", number)
    yield _given(scores)
    yield from _confusions(scores)
    if scores["pages_count"] > 1:
        yield _pages(scores)


def _pair_names(scores: Scores) -> list[str]:
    return [" – ".join(pair["annotators"]) for pair in scores["agreement"]["blocks"]["labels"]["pairs"]]


def _all(scores: Scores) -> Table:
    return _kappas(scores, "All annotators: Fleiss' kappa", None)


def _kappas(scores: Scores, title: str, pair: int | None) -> Table:
    """One row for all that is told apart: of the pair with this number, or of all annotators."""
    rows = []
    for name, told_apart in _TOLD_APART.items():
        both = [scores["agreement"][weight][name] for weight in ("blocks", "words")]
        blocks, words = (found["fleiss"] if pair is None else found["pairs"][pair] for found in both)
        shares = (percent(blocks["observed"]), percent(blocks["expected"]))
        rows.append(
            (told_apart, score(blocks["kappa"]), _interval(blocks), *shares, score(words["kappa"]), _interval(words))
        )
    head = ("", "kappa", "95 % interval", "observed, %", "expected, %", "kappa by words", "95 % interval")
    return Table(title, head, tuple(rows), _note([row[1] for row in rows], scores))


def _note(kappas: Sequence[str], scores: Scores) -> str:
    told = [_UNDEFINED] if "–" in kappas else []
    told += ["There is no interval for a single page."] if scores["pages_count"] == 1 else []
    return " ".join(told)


def _interval(found: Scores) -> str:
    low_high = found["interval"]
    return "–" if low_high is None else f"{score(low_high[0])} to {score(low_high[1])}"


def _pairs(scores: Scores) -> Table:
    found = scores["agreement"]["blocks"]
    rows = []
    for number, pair in enumerate(_pair_names(scores)):
        kappas = [found[name]["pairs"][number] for name in _TOLD_APART]
        labels, *others = (score(kappa["kappa"]) for kappa in kappas)
        rows.append((pair, labels, _interval(kappas[0]), *others))
    first, *names = _TOLD_APART.values()
    return Table("Pairs: Cohen's kappa", ("pair", first, "95 % interval", *names), tuple(rows))


def _given(scores: Scores) -> Table:
    """How often each annotator gave each label."""
    pairs = scores["agreement"]["blocks"]["labels"]["pairs"]
    first = scores["annotators"][0]
    given = {first: [sum(row.values()) for row in pairs[0]["confusion"].values()]}
    for pair in pairs[: len(scores["annotators"]) - 1]:  # those of the first annotator and everyone else
        given[pair["annotators"][1]] = [sum(row[label] for row in pair["confusion"].values()) for label in Label]
    rows = tuple((who, *(f"{count:,}" for count in counts)) for who, counts in given.items())
    return Table("Labels given", ("annotator", *Label), rows, "Blocks.")


_BY_BLOCKS = "blocks"


def _confusions(scores: Scores) -> Iterator[Table]:
    for number, pair in enumerate(_pair_names(scores)):
        for weight, found in scores["agreement"].items():
            for name in ("labels", "content"):
                one, other = found[name]["pairs"][number]["annotators"]
                confusion = found[name]["pairs"][number]["confusion"]
                rows = tuple((row, *(f"{count:,}" for count in counts.values())) for row, counts in confusion.items())
                yield Table(f"{pair}: {_TOLD_APART[name]}, {weight}", (f"{one} \\ {other}", *confusion), rows)


def _pages(scores: Scores) -> Table:
    worst = sorted(scores["pages"], key=_agreement_of)
    rows = tuple(
        (
            found["name"],
            f"{found['blocks']:,}",
            f"{found['disagreements']:,}",
            percent(found["labels"]["fleiss"]["observed"]),
            score(found["labels"]["fleiss"]["kappa"]),
            percent(found["content"]["fleiss"]["observed"]),
            score(found["content"]["fleiss"]["kappa"]),
        )
        for found in worst[:_MOST_PAGES]
    )
    head = ("page", "blocks", "disagreements", "observed, %", "kappa", "content/noise observed, %", "kappa")
    count = f"The {_MOST_PAGES} with the least agreement." if len(worst) > _MOST_PAGES else "Least agreement first."
    return Table("Pages", head, rows, f"{count} Fleiss' kappa, by blocks.")


def _agreement_of(found: Scores) -> float:
    observed = found["labels"]["fleiss"]["observed"]
    return 1.0 if observed is None else float(observed)


def _disagreements(scores: Scores, most: int | None) -> Iterator[Table]:
    """The disagreements as a table, if there are any and any are wanted."""
    found = scores["disagreements"][:most]
    if found:
        rows = tuple(
            (each["page"], str(each["block"]), *each["labels"], _cut(each["text"], _IN_TABLE)) for each in found
        )
        head = ("page", "block", *scores["annotators"], "text")
        yield Table("Disagreements", head, rows, _how_many(scores, most))


def _disagreement_lines(scores: Scores, most: int | None) -> Iterator[str]:
    """The disagreements, one a line; texts come last, as wide as they may be."""
    found = scores["disagreements"][:most]
    if not found:
        return
    yield f"Disagreements: {_how_many(scores, most)}"
    rows = [(f"{each['page']}:{each['block']}", *each["labels"]) for each in found]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row, each in zip(rows, found, strict=True):
        cells = [visible(cell).ljust(width) for cell, width in zip(row, widths, strict=True)]
        yield "  ".join([*cells, visible(_cut(each["text"], _IN_LINE))])


def _how_many(scores: Scores, most: int | None) -> str:
    count = len(scores["disagreements"])
    about_content = sum(each["about_content"] for each in scores["disagreements"])
    shown = f"; these are the first {most:,}" if most is not None and most < count else ""
    return f"{count:,} block{'s' * (count != 1)}, {about_content:,} between content and noise{shown}."


def _cut(words: str, most: int) -> str:
    flat = " ".join(words.split())
    return flat if len(flat) <= most else f"{flat[:most]}…"
