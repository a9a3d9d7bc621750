"""Reports of fixed scores: cases/reports has the scores, and the report as Markdown, as printed, and its plots.

If a change of a report is intended, run this file as a program to write the reports again, and read the difference:

    PYTHONPATH=.:tests python tests/research/test_reports.py
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matplotlib.figure import Figure

from victorpy.research.report import agreement, comparison, evaluation, mining
from victorpy.research.report.base import Report, aligned, to_html, to_markdown, to_text
from victorpy.research.report.plots import Plot

CASES = Path(__file__).parents[1] / "cases" / "reports"
WRITERS: dict[str, Callable[[Any], list[Report]]] = {
    "agreement": lambda scores: [agreement.report(scores, "Agreement", 2), agreement.summary(scores, 1)],
    "comparison": lambda scores: [comparison.report(scores), comparison.summary(scores)],
    "evaluation": lambda scores: [
        evaluation.report(scores, "Evaluation", {"article/last": "last.html"}), evaluation.summary(scores)
    ],
    "mining": lambda scores: [mining.report(scores, "Mining"), mining.summary(scores)],
}  # fmt: skip


def read_report(name: str) -> list[Report]:
    return WRITERS[name](json.loads((CASES / f"{name}.json").read_text(encoding="utf-8")))


def described(plot: Plot) -> str:
    """Return what a plot shows, without its colours and fonts."""
    axes = Figure(figsize=plot.size).subplots()
    plot.draw(axes)
    lines = [f"line: {np.asarray(line.get_xydata(), float).round(3).tolist()}" for line in axes.lines]
    bars = [f"bar: {np.round(bar.get_bbox().bounds, 3).tolist()}" for bar in axes.patches]
    dots = [f"dots: {dots.get_offsets().round(3).tolist()}" for dots in axes.collections]
    names = [*(text.get_text() for text in axes.texts), *axes.get_legend_handles_labels()[1]]
    limits = [np.round(ends, 3).tolist() for ends in (axes.get_xlim(), axes.get_ylim())]
    head = f"--- {plot.caption}\n{axes.get_xlabel()}, {axes.get_ylabel()}, {limits}, {', '.join(names)}"
    return "\n".join([head, *lines, *bars, *dots, ""])


def written(name: str) -> str:
    report, summary = read_report(name)
    plots = "".join(described(plot) for section in report.sections for plot in section.plots)
    return f"{to_markdown(report)}\n=== printed\n{to_text(summary)}\n=== plots\n{plots}"


@pytest.mark.parametrize("name", WRITERS)
def test_report_of_scores(name: str) -> None:
    assert written(name) == (CASES / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", WRITERS)
def test_html_has_every_table_and_plot(name: str) -> None:
    report, _ = read_report(name)
    page = to_html(report)
    assert page.count("<table") == sum(bool(section.head) for section in report.sections)
    assert page.count("<figure>") == sum(len(section.plots) for section in report.sections)


if __name__ == "__main__":
    for case in WRITERS:
        (CASES / f"{case}.txt").write_text(written(case), encoding="utf-8")


@pytest.mark.parametrize(("text", "shown"), [("tea is hot", "tea is hot"), ("tea is hot!", "tea is hot…")])
def test_long_texts_are_cut(text: str, shown: str) -> None:
    assert agreement._cut(text, 10) == shown


@pytest.mark.parametrize(("all_left", "line"), [(False, "tea    5.00"), (True, "tea   5.00")])
def test_columns_of_numbers_are_aligned_on_the_right(all_left: bool, line: str) -> None:
    assert aligned(["page", "F1"], [["a", "97.50"], ["tea", "5.00"]], all_left).splitlines()[-1] == line
    assert aligned(["page", "F1"], [["tea", "5.00"]]) == aligned(["page", "F1"], [["tea", "5.00"]], all_left=False)
