"""The pictures of benchmarks, as PNG files. matplotlib is imported here and nowhere else."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.lib.calibration import Bin
from benchmarks.lib.cleaners import EVERYTHING
from benchmarks.lib.results import Page, Results, milliseconds, quality, short
from victorpy.research.report.plots import BLUE, GREY, INK, ORANGE, SOFT, require_matplotlib
from victorpy.research.statistics import Summary

COLUMNS = 2
PANEL = (5.2, 3.5)
TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)

# Sizes of what is drawn, in points.
LINE, LETTER, MARKER, NEAR = 11.0, 5.2, 6.0, 4.0

_STYLE: Any = {
    "font.family": "sans-serif",
    "font.size": 9.5,
    "axes.edgecolor": SOFT,
    "axes.labelcolor": INK,
    "axes.titlesize": 10.5,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "figure.dpi": 150,
}


def draw_quality_and_speed(results: Results, path: Path) -> None:
    """Draw mean word F1 against CPU ratio, a panel for each data set."""
    columns = min(len(results.sets), COLUMNS)
    rows = math.ceil(len(results.sets) / columns)

    def draw(figure: Any) -> None:
        panels = list(figure.subplots(rows, columns, squeeze=False).flat)
        for axes, data in zip(panels, results.sets, strict=False):
            _draw_set(axes, results, data)
        for axes in panels[len(results.sets) :]:
            axes.set_axis_off()
        figure.supxlabel(f"CPU time, {results.base} = 1 (further left is faster)", fontsize=10)
        figure.supylabel("mean word F1", fontsize=10)
        figure.draw_without_rendering()  # so that places are known
        for axes, data in zip(panels, results.sets, strict=False):
            _label_points(axes, _points(results, results.of(data)))

    _save(draw, (PANEL[0] * columns + 0.4, PANEL[1] * rows + 0.3), path)


class Point(NamedTuple):
    """Where a cleaner stands."""

    name: str
    ratio: float
    found: Summary

    @property
    def colour(self) -> str:
        """Blue for victorpy, pale for what every cleaner has to beat."""
        if self.name.startswith("victorpy"):
            return BLUE
        return GREY if self.name == EVERYTHING else ORANGE


def _points(results: Results, pages: Sequence[Page]) -> list[Point]:
    base = milliseconds(pages, results.base)
    return [Point(name, milliseconds(pages, name) / base, quality(pages, name)) for name in results.cleaners]


def _draw_set(axes: Any, results: Results, data: str) -> None:
    """Draw the points of a data set with their intervals."""
    pages = results.of(data)
    points = _points(results, pages)
    for point in points:
        axes.plot([point.ratio] * 2, [point.found.low, point.found.high], color=point.colour, linewidth=1.4, alpha=0.6)
        axes.plot(point.ratio, point.found.mean, "o", color=point.colour, markersize=MARKER)
    least, most = min(point.ratio for point in points) / 1.5, max(point.ratio for point in points) * 3
    axes.set_xscale("log")
    axes.set_xlim(least, most)  # with room for names on the right
    ticks = [tick for tick in TICKS if least < tick < most]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.margins(y=0.15)
    axes.grid(color=SOFT, linewidth=0.5, alpha=0.6)
    axes.set_axisbelow(True)
    known = " – victorpy's training data" if results.was_trained_on(data) else ""
    axes.set_title(f"{short(data)}, {len(pages)} pages{known}")


def _label_points(axes: Any, points: Sequence[Point]) -> None:
    """Write each point's name beside it, where it covers least of what is there already; victorpy's go first."""
    scale = 72 / axes.figure.dpi

    def place(ratio: float, f1: float) -> tuple[float, float]:
        across, up = axes.transData.transform((ratio, f1)) * scale
        return float(across), float(up)

    panel = Box(*(float(side) * scale for side in axes.bbox.extents))
    markers = {point: Box.around(*place(point.ratio, point.found.mean)) for point in points}
    bars = [Box(*place(point.ratio, point.found.low), *place(point.ratio, point.found.high)) for point in points]
    labels: list[Box] = []
    for point in sorted(points, key=lambda point: (point.colour != BLUE, -point.found.mean)):
        others = [marker for other, marker in markers.items() if other is not point]

        def cost(label: Label, others: list[Box] = others) -> float:
            """How bad a place is: names on names worst, then markers, then intervals; the nearer the better."""
            inside = label.box.left > panel.left and label.box.right < panel.right
            covered = (100 * label.box.count_touched(labels), 80 * label.box.count_touched(others))
            return sum(covered) + 8 * label.box.count_touched(bars) + abs(label.up) + 1000 * (not inside)

        label = min(_choices(point.name, markers[point]), key=cost)
        labels.append(label.box)
        _write_label(axes, point, label)


class Box(NamedTuple):
    """A rectangle of a picture, in points."""

    left: float
    bottom: float
    right: float
    top: float

    @classmethod
    def around(cls, across: float, up: float) -> Box:
        """The square that a marker fills."""
        return cls(across - MARKER / 2, up - MARKER / 2, across + MARKER / 2, up + MARKER / 2)

    def count_touched(self, others: Iterable[Box]) -> int:
        """How many other rectangles share room with this one."""
        return sum(
            self.left <= other.right
            and other.left <= self.right
            and self.bottom <= other.top
            and other.bottom <= self.top
            for other in others
        )


class Label(NamedTuple):
    """A place for a name: to the left or to the right of its marker, so far up, and the room that it takes."""

    to_left: bool
    up: float
    box: Box


def _choices(name: str, marker: Box) -> list[Label]:
    """All places for a name; how wide it is need not be known exactly."""
    width, found = LETTER * len(name), []
    for up in (step * LINE for step in (0, 0.5, -0.5, 1, -1, 1.5, -1.5, 2, -2, 3, -3)):
        middle = (marker.bottom + marker.top) / 2 + up
        for to_left in (False, True):
            left = marker.left - NEAR - width if to_left else marker.right + NEAR
            found.append(Label(to_left, up, Box(left, middle - LINE / 2, left + width, middle + LINE / 2)))
    return found


def _write_label(axes: Any, point: Point, label: Label) -> None:
    beside = MARKER / 2 + NEAR
    text = axes.annotate(
        point.name,
        (point.ratio, point.found.mean),
        (-beside if label.to_left else beside, label.up),
        textcoords="offset points",
        ha="right" if label.to_left else "left",
        va="center",
        color=INK if point.colour == GREY else point.colour,
        fontweight="bold" if point.colour == BLUE else "normal",
        path_effects=_halo(),
    )
    text.set_in_layout(False)


def _halo() -> list[Any]:
    """White around letters, so that they can be read across lines."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=2.5, foreground="white")]


def draw_reliability(rows: Sequence[Bin], title: str, path: Path) -> None:
    """Draw the mean word F1 of pages by confidence, beside the line of perfect honesty, and how many they are."""

    def draw(figure: Any) -> None:
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3.4, 1))
        above.plot([0, 1], [0, 1], color=GREY, linewidth=1, linestyle="--")
        for row in rows:
            above.plot([row.confidence] * 2, [row.f1.low, row.f1.high], color=BLUE, linewidth=1.4, alpha=0.6)
        above.plot([row.confidence for row in rows], [row.f1.mean for row in rows], "o-", color=BLUE, linewidth=1.2)
        above.set_ylim(-0.02, 1.02)
        above.set_ylabel("mean word F1")
        above.set_title(title)
        above.grid(color=SOFT, linewidth=0.5, alpha=0.6)
        for row in rows:
            middle, width = (row.low + row.high) / 2, row.high - row.low
            below.bar(middle, row.f1.count, width * 0.9, color=SOFT)
            below.annotate(str(row.f1.count), (middle, row.f1.count), (0, 2), textcoords="offset points", ha="center")
        below.set_xlim(-0.02, 1.02)
        below.margins(y=0.3)
        below.set_ylabel("pages")
        below.set_xlabel("confidence (expected word F1)")
        figure.align_ylabels()

    _save(draw, (5.2, 5.4), path)


def _save(draw: Callable[[Any], None], size: tuple[float, float], path: Path) -> None:
    """Draw on a figure and write it as PNG."""
    require_matplotlib()
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Software": None})
