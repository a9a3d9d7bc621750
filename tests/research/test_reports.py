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

from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from victorpy.research.report import agreement, comparison, evaluation, mining
from victorpy.research.report.base import Report, aligned, to_html, to_markdown, to_text
from victorpy.research.report.plots import Plot, draw_svg, spread, trade

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
    """Return what a plot shows, with its colours and without its fonts."""
    axes = Figure(figsize=plot.size).subplots()
    plot.draw(axes)
    looks = [
        f"{to_hex(line.get_color())} {line.get_linewidth():g} {line.get_linestyle()} {line.get_marker()} "
        f"{line.get_markersize():g} {line.get_alpha()} {line.get_label()}"
        for line in axes.lines
    ]
    lines = [
        f"line: {np.asarray(line.get_xydata(), float).round(3).tolist()}, {look}"
        for line, look in zip(axes.lines, looks, strict=True)
    ]
    bars = [
        f"bar: {np.round(bar.get_bbox().bounds, 3).tolist()}, {to_hex(bar.get_facecolor())}" for bar in axes.patches
    ]
    dots = [
        f"dots: {dots.get_offsets().round(3).tolist()}, {np.round(dots.get_sizes(), 3).tolist()}, "
        f"{to_hex(dots.get_facecolor()[0])}, {dots.get_alpha()}, {dots.get_zorder()}"
        for dots in axes.collections
    ]
    texts = [
        f"text: {text.get_text()}, {np.round(text.get_position(), 3).tolist()}, {to_hex(text.get_color())}, "
        f"{text.get_ha()}, {text.get_va()}"
        for text in axes.texts
    ]
    limits = [np.round(ends, 3).tolist() for ends in (axes.get_xlim(), axes.get_ylim())]
    head = f"--- {plot.caption}\n{axes.get_xlabel()}, {axes.get_ylabel()}, {limits}, {axes.get_xscale()}"
    marks = [
        f"size: {list(plot.size)}",
        *(f"{name}: {ticks_of(axis)}" for name, axis in (("across", axes.xaxis), ("up", axes.yaxis))),
    ]
    legend = axes.get_legend()
    shown = [text.get_text() for text in legend.get_texts()] if legend else []
    anchor = axes.transAxes.inverted().transform(legend.get_bbox_to_anchor().p0).round(3).tolist() if legend else []
    place = [f"legend: {shown}, {legend._ncols}, {legend._loc}, {legend.get_frame_on()}, {anchor}"] if legend else []
    images = [f"image: {image.get_cmap().name}, {image.get_clim()}" for image in axes.images]
    arrows = {
        f"arrow: {to_hex(arrow.get_edgecolor())} {arrow.get_linewidth():g} {arrow.shrinkA} {arrow.shrinkB}"
        for text in axes.texts
        if (arrow := getattr(text, "arrow_patch", None))
    }
    return "\n".join([head, *marks, *place, *images, *lines, *bars, *dots, *texts, *sorted(arrows), ""])


def ticks_of(axis: Any) -> str:
    labels = axis.get_ticklabels()
    grid = [line for line in axis.get_gridlines() if line.get_visible()]
    looks = sorted({f", grid {to_hex(line.get_color())} {line.get_linewidth():g}" for line in grid})
    texts = [label.get_text() for label in labels]
    places = np.round(axis.get_ticklocs(), 3).tolist()
    return f"{places}, {texts}, {labels[0].get_rotation():g}, {labels[0].get_ha()}{''.join(looks)}"


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


def test_plot_is_the_same_drawing_in_every_run() -> None:
    plot = Plot("Tea", (2.0, 1.5), lambda axes: axes.set(xlabel="cups", ylabel="pots"))
    drawing = draw_svg(plot)
    assert drawing == draw_svg(plot)
    assert drawing.startswith("<svg")
    assert drawing.endswith("</svg>")
    assert 'width="144pt" height="108pt"' in drawing  # 72 points are an inch
    assert "metadata" not in drawing
    for look in ("9.5px", "sans-serif", "fill: #3b3f46", "stroke: #c9ced6", ">cups</text>"):
        assert look in drawing
    assert drawing.count("stroke: #c9ced6") == 2  # the edges at the left and at the bottom
    assert "#ffffff" not in drawing


@pytest.mark.parametrize(
    ("heights", "gap", "placed"),
    [
        ([], 0.1, []),
        ([0.5], 0.1, [0.5]),
        ([0.5, 0.6], 0.1, [0.5, 0.6]),
        ([0.5, 0.59], 0.1, [0.495, 0.595]),
        ([0.6, 0.5, 0.52], 0.1, [0.64, 0.44, 0.54]),
        ([0.2, 0.9, 0.9, 0.2, 0.55], 0.2, [0.1, 0.8, 1.0, 0.3, 0.55]),
        ([0.5, 0.5, 0.65], 0.1, [0.45, 0.55, 0.65]),
        ([0.5, 0.5, 0.64], 0.1, [0.446667, 0.546667, 0.646667]),
    ],
)
def test_labels_are_moved_apart(heights: list[float], gap: float, placed: list[float]) -> None:
    assert spread(heights, gap) == placed


def test_each_of_ten_methods_has_a_colour_and_a_mark_of_its_own() -> None:
    survival = {"all": {"removed_share": 0.5, "survived_share": 0.9}, "verticals": {}}
    axes = Figure().subplots()
    trade([{"method": f"method {number}", "survival": survival} for number in range(11)]).draw(axes)
    looks = [(to_hex(line.get_color()), line.get_marker()) for line in axes.lines if len(line.get_xdata())]
    colours = "#8d96a3 #c9702a #2f6db5 #3a8f5c #8d5bb0 #b5404f #1f9aa6 #a58a1f #3b3f46 #d484b0 #8d96a3"
    assert looks == [*zip(colours.split(), "osD^vP*X<>o", strict=True)]
