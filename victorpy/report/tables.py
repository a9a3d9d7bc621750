"""The tables of an evaluation, as rows of text: what Markdown and HTML show alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from victorpy.evaluate import MEASURES


@dataclass(frozen=True, slots=True)
class Table:
    """A titled table; the first column is text, the others are numbers."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def percent(value: float | None) -> str:
    """Write a share in percent; a dash where there is none.

    >>> percent(0.7445), percent(None)
    ('74.45', '–')
    """
    return "–" if value is None else f"{100 * value:.2f}"


def interval(found: Sequence[float] | None) -> str:
    """Write an interval of shares in percent."""
    return f"{percent(found[0])} to {percent(found[1])}" if found else "–"


def aligned(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a table for a terminal: the first column to the left, numbers to the right.

    >>> print(aligned(["page", "F1"], [["a", "97.50"], ["tea", "5.00"]]))
    page     F1
    a     97.50
    tea    5.00
    """
    lines = [head, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    written = []
    for line in lines:
        first, *others = (cell.rjust(width) for cell, width in zip(line, widths, strict=True))
        written.append("  ".join([line[0].ljust(len(first)), *others]))
    return "\n".join(written)


def evaluation_tables(scores: Mapping[str, Any]) -> list[Table]:
    """All tables of an evaluation that has something to show in them."""
    tables = [_overview(scores), _folds(scores), _labels(scores), _confusion(scores)]
    tables += [_types(scores)] if scores["by_type"] else []
    tables += [_variants("Learning curve", "training pages", scores["learning_curve"], "pages")]
    tables += [_variants("Ablation", "features", scores["ablation"], "variant")]
    tables += [_grid(scores["grid"])]
    return [table for table in tables if table.rows]


def how_scored(scores: Mapping[str, Any]) -> str:
    """Say of a method that is not trained that there are no folds, and what it learned from instead."""
    settings = scores["settings"]
    if "method" not in settings:
        return ""
    said = f"The method {settings['method']} is not trained: there are no folds, and all pages are scored."
    if settings["learns_from"] == "site":
        pages = f"at most {settings['sample']} pages of each, without labels"
        said += f" It learned from the pages of the {settings['sites']} sites themselves, {pages}."
    return said


def _overview(scores: Mapping[str, Any]) -> Table:
    rows = []
    for name, title in MEASURES.items():
        shown = [percent(scores["mean"][name]), interval(scores["interval"].get(name))]
        if scores["folds"]:
            spread = [fold[name] for fold in scores["folds"] if fold.get(name) is not None]
            shown.append(interval([min(spread), max(spread)] if spread else None))
        rows.append((title, *shown, percent(scores["keep_everything"][name])))
    note = (
        "Means over pages, in percent; labels and content/noise are shares of all blocks. "
        "The interval resamples pages. Keeping everything is what a cleaner has to beat."
    )
    folds = ("lowest and highest fold",) if scores["folds"] else ()
    return Table("Scores", ("measure", "mean", "95 % interval", *folds, "keep everything"), tuple(rows), note)


def _folds(scores: Mapping[str, Any]) -> Table:
    rows = [
        (f"fold {number}", *(percent(fold.get(name)) for name in MEASURES))
        for number, fold in enumerate(scores["folds"], 1)
    ]
    how = (
        "by site: no site is on both sides"
        if scores["settings"]["group"] == "site"
        else "by page: sites may be on both sides, which flatters"
    )
    return Table("Folds", ("fold", *MEASURES.values()), tuple(rows), f"Pages are shared out {how}.")


def _labels(scores: Mapping[str, Any]) -> Table:
    rows = [
        (label, percent(found["precision"]), percent(found["recall"]), percent(found["f1"]))
        for label, found in scores["labels"].items()
    ]
    return Table("Labels", ("label", "precision", "recall", "F1"), tuple(rows))


def _confusion(scores: Mapping[str, Any]) -> Table:
    labels = list(scores["confusion"])
    rows = [(gold, *(f"{found[ours]:,}" for ours in labels)) for gold, found in scores["confusion"].items()]
    return Table(
        "Confusion", ("gold \\ ours", *labels), tuple(rows), "Blocks by their gold label and the one they got."
    )


def _types(scores: Mapping[str, Any]) -> Table:
    rows = [
        (
            kind,
            str(sum(page["type"] == kind for page in scores["pages"])),
            *(percent(found.get(name)) for name in MEASURES),
        )
        for kind, found in scores["by_type"].items()
    ]
    return Table("Page types", ("type", "pages", *MEASURES.values()), tuple(rows))


def _variants(title: str, column: str, found: Sequence[Mapping[str, Any]], key: str) -> Table:
    rows = [(str(row[key]), *(percent(row["mean"].get(name)) for name in MEASURES), *_difference(row)) for row in found]
    extra = ("words F1 difference (p)",) if any("difference" in row for row in found) else ()
    return Table(title, (column, *MEASURES.values(), *extra), tuple(rows))


def _difference(row: Mapping[str, Any]) -> tuple[str, ...]:
    """A variant's difference from the whole on the same pages, and how often chance makes one as large."""
    if "difference" not in row:
        return ()
    return (f"{100 * row['difference']['mean']:+.2f} ({row['difference']['p_value']:.3f})",)


def _grid(found: Sequence[Mapping[str, Any]]) -> Table:
    rows = [
        (
            " ".join(f"{name}={value:g}" for name, value in row["parameters"].items()),
            *(percent(row["mean"].get(name)) for name in MEASURES),
        )
        for row in found
    ]
    return Table("Grid", ("parameters", *MEASURES.values()), tuple(rows))
