"""The plots of a report, as SVG text. matplotlib is imported here and nowhere else."""

from __future__ import annotations

import importlib.util
import io
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from victorpy.errors import VictorError

INK, SOFT, GREY, BLUE, ORANGE = "#3b3f46", "#c9ced6", "#8d96a3", "#2f6db5", "#c9702a"
_STYLE: Any = {
    "font.family": "sans-serif",
    "font.size": 9.5,
    "axes.edgecolor": SOFT,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "svg.fonttype": "none",
    "svg.hashsalt": "victorpy",
    "figure.facecolor": "none",
    "axes.facecolor": "none",
}


def require_matplotlib() -> None:
    """Say what to install where the library that draws is missing."""
    if importlib.util.find_spec("matplotlib") is None:
        raise VictorError("HTML reports need matplotlib: pip install 'victorpy[research]'")


def label_bars(labels: Mapping[str, Mapping[str, float]]) -> str:
    """Precision, recall and F1 of each label."""

    def draw(axes: Any) -> None:
        for at, (name, colour) in enumerate((("precision", GREY), ("recall", ORANGE), ("F1", BLUE))):
            places = [number + 0.26 * (at - 1) for number in range(len(labels))]
            axes.bar(places, [found[name.lower()] for found in labels.values()], 0.24, color=colour, label=name)
        axes.set_xticks(range(len(labels)), list(labels))
        axes.set_ylim(0, 1)
        axes.legend(frameon=False, ncols=3, loc="upper center", bbox_to_anchor=(0.5, 1.14))

    return figure(draw, (6.4, 2.9))


def confusion_matrix(confusion: Mapping[str, Mapping[str, int]]) -> str:
    """How gold labels were labelled, each row as shares of its sum."""
    labels = list(confusion)

    def draw(axes: Any) -> None:
        shares = [[found[ours] / max(sum(found.values()), 1) for ours in labels] for found in confusion.values()]
        axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
        axes.set_xticks(range(len(labels)), labels, rotation=30, ha="right")
        axes.set_yticks(range(len(labels)), labels)
        axes.set_xlabel("ours")
        axes.set_ylabel("gold")
        for row, values in enumerate(shares):
            for column, share in enumerate(values):
                colour = "white" if share > 0.5 else INK
                axes.text(column, row, f"{100 * share:.0f}", ha="center", va="center", color=colour)

    return figure(draw, (4.6, 4.0))


def reliability(calibration: Sequence[Mapping[str, float]]) -> str:
    """How often blocks of each predicted probability are content, beside the line of perfect honesty."""

    def draw(axes: Any) -> None:
        axes.plot([0, 1], [0, 1], color=GREY, linewidth=1)
        most = max((row["blocks"] for row in calibration), default=1)
        sizes = [15 + 150 * row["blocks"] / most for row in calibration]
        predicted, observed = ([row[name] for row in calibration] for name in ("predicted", "observed"))
        axes.plot(predicted, observed, color=BLUE, linewidth=1.2)
        axes.scatter(predicted, observed, s=sizes, color=BLUE, alpha=0.8)
        axes.set_xlabel("predicted probability of content")
        axes.set_ylabel("share that is content")
        axes.set_xlim(-0.03, 1.03)
        axes.set_ylim(-0.03, 1.03)

    return figure(draw, (4.4, 3.8))


def learning_curve(points: Sequence[Mapping[str, Any]], measures: Mapping[str, str]) -> str:
    """Scores against the number of training pages."""

    def draw(axes: Any) -> None:
        for (name, title), colour in zip(measures.items(), (BLUE, ORANGE, INK), strict=False):
            found = [(point["pages"], point["mean"][name]) for point in points if point["mean"].get(name) is not None]
            if found:
                axes.plot(*zip(*found, strict=True), marker="o", color=colour, label=title)
        axes.set_xlabel("training pages")
        axes.legend(frameon=False)
        axes.grid(axis="y", color=SOFT, linewidth=0.5)

    return figure(draw, (6.4, 3.2))


def points(rows: Sequence[tuple[str, float, float]], across: str, up: str, logarithmic: bool = False) -> str:
    """A point a row, its name at the right edge at about its height, with a line that leads to it."""

    def draw(axes: Any) -> None:
        from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

        if logarithmic:
            axes.set_xscale("log")
            axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axes.xaxis.set_minor_formatter(NullFormatter())
        axes.scatter([x for _, x, _ in rows], [y for _, _, y in rows], s=34, color=BLUE, zorder=3)
        axes.margins(x=0.08, y=0.08)
        axes.set_xlabel(across)
        axes.set_ylabel(up)
        axes.grid(color=SOFT, linewidth=0.5)
        low, high = axes.get_ylim()
        heights = spread([(y - low) / (high - low) for _, _, y in rows], 0.27 / size[1])
        for (name, x, y), height in zip(rows, heights, strict=True):
            line = {"arrowstyle": "-", "color": GREY, "linewidth": 0.6, "shrinkA": 0, "shrinkB": 3}
            axes.annotate(name, (x, y), (1.03, height), textcoords="axes fraction", va="center", arrowprops=line)

    size = (6.4, max(3.2, 0.24 * len(rows) + 0.8))
    return figure(draw, size)


def spread(heights: Sequence[float], gap: float) -> list[float]:
    """Move labels apart that stand closer than a gap, and as little as that takes; their order stays.

    >>> spread([0.5, 0.9, 0.5], 0.1)
    [0.45, 0.9, 0.55]
    """
    order = sorted(range(len(heights)), key=lambda number: heights[number])
    groups: list[list[float]] = []  # of each: the sum of its labels' heights less their places in it, and their number
    for number in order:
        groups.append([heights[number], 1.0])
        while len(groups) > 1 and _bottom(groups[-1], gap) < _bottom(groups[-2], gap) + gap * groups[-2][1]:
            total, count = groups.pop()
            groups[-1][0] += total
            groups[-1][1] += count
    placed = [_bottom(group, gap) + gap * place for group in groups for place in range(int(group[1]))]
    return [round(placed[order.index(number)], 6) for number in range(len(heights))]


def _bottom(group: Sequence[float], gap: float) -> float:
    """Where the lowest label of a group goes, so that the group's middle is the mean of where its labels belong."""
    total, count = group
    return total / count - gap * (count - 1) / 2


def bars(
    rows: Sequence[tuple[str, float, Sequence[float] | None]], baseline: float | None = None, across: str = "words F1"
) -> str:
    """A horizontal bar a row, with its interval; a line where the whole model stands."""

    def draw(axes: Any) -> None:
        places = range(len(rows))
        axes.barh(places, [value for _, value, _ in rows], color=BLUE, height=0.62)
        for place, (_, _, interval) in zip(places, rows, strict=True):
            if interval:
                axes.plot(interval, [place, place], color=INK, linewidth=1.2)
        axes.set_yticks(places, [name for name, _, _ in rows])
        axes.invert_yaxis()
        axes.set_xlim(0, 1)
        axes.set_xlabel(across)
        if baseline is not None:
            axes.axvline(baseline, color=ORANGE, linewidth=1.2)

    return figure(draw, (6.4, 0.6 + 0.28 * len(rows)))


def figure(draw: Callable[[Any], None], size: tuple[float, float]) -> str:
    """Draw on one pair of axes and give the SVG element, without anything that changes from run to run."""
    require_matplotlib()
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=size, layout="constrained")
        draw(figure.subplots())
        stream = io.StringIO()
        figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    svg = stream.getvalue()
    svg = svg[svg.index("<svg") :]
    # Only the drawing is wanted: no styles that would need a laxer policy, no metadata.
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    return svg.strip()
