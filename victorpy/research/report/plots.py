"""The plots of reports, drawn as SVG when a report is written. Only this module imports matplotlib."""

from __future__ import annotations

import importlib.util
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from victorpy.errors import missing

INK, SOFT, GREY, BLUE, ORANGE = "#3b3f46", "#c9ced6", "#8d96a3", "#2f6db5", "#c9702a"
_METHOD_COLOURS = (GREY, ORANGE, BLUE, "#3a8f5c", "#8d5bb0", "#b5404f", "#1f9aa6", "#a58a1f", INK, "#d484b0")
_METHOD_MARKERS = "osD^vP*X<>"
_UNIT = (-0.03, 1.03)  # limits of an axis of shares
_LEGEND_AT_RIGHT: Any = {"frameon": False, "loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
STYLE: Any = {
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


class Plot(NamedTuple):
    """How to draw a plot on one pair of axes."""

    caption: str
    size: tuple[float, float]  # width and height in inches
    draw: Callable[[Any], None]


NO_PLOTS = f"without plots: {missing('matplotlib', 'research', 'drawing them')}"


def can_draw() -> bool:
    """Whether matplotlib is installed."""
    return importlib.util.find_spec("matplotlib") is not None


def draw_svg(plot: Plot) -> str:
    """Draw a plot as an SVG element. The bytes are the same in every run."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        figure = Figure(figsize=plot.size, layout="constrained")
        plot.draw(figure.subplots())
        stream = io.StringIO()
        figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    svg = stream.getvalue()
    svg = svg[svg.index("<svg") :]
    return re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL).strip()


def label_bars(labels: Mapping[str, Mapping[str, float]]) -> Plot:
    """Plot precision, recall and F1 of each label."""

    def draw(axes: Any) -> None:
        for at, (name, colour) in enumerate((("precision", GREY), ("recall", ORANGE), ("F1", BLUE))):
            places = [number + 0.26 * (at - 1) for number in range(len(labels))]
            axes.bar(places, [label[name.lower()] for label in labels.values()], 0.24, color=colour, label=name)
        axes.set_xticks(range(len(labels)), list(labels))
        axes.set_ylim(0, 1)
        axes.legend(frameon=False, ncols=3, loc="upper center", bbox_to_anchor=(0.5, 1.14))

    return Plot("Precision, recall and F1 of each label", (6.4, 2.9), draw)


def confusion_matrix(confusion: Mapping[str, Mapping[str, int]]) -> Plot:
    """Plot the predicted labels of the blocks of each gold label, as shares of the gold label."""
    labels = list(confusion)

    def draw(axes: Any) -> None:
        shares = [[counts[ours] / max(sum(counts.values()), 1) for ours in labels] for counts in confusion.values()]
        axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
        axes.set_xticks(range(len(labels)), labels, rotation=30, ha="right")
        axes.set_yticks(range(len(labels)), labels)
        axes.set(xlabel="ours", ylabel="gold")
        for row, values in enumerate(shares):
            for column, share in enumerate(values):
                colour = "white" if share > 0.5 else INK
                axes.text(column, row, f"{100 * share:.0f}", ha="center", va="center", color=colour)

    return Plot("Confusion of labels, in percent of each gold label", (4.6, 4.0), draw)


def reliability(calibration: Sequence[Mapping[str, float]]) -> Plot:
    """Plot the share of content among blocks of each predicted probability, with the diagonal."""

    def draw(axes: Any) -> None:
        axes.plot([0, 1], [0, 1], color=GREY, linewidth=1)
        most = max((row["blocks"] for row in calibration), default=1)
        sizes = [15 + 150 * row["blocks"] / most for row in calibration]
        predicted, observed = ([row[name] for row in calibration] for name in ("predicted", "observed"))
        axes.plot(predicted, observed, color=BLUE, linewidth=1.2)
        axes.scatter(predicted, observed, s=sizes, color=BLUE, alpha=0.8)
        axes.set(xlabel="predicted probability of content", ylabel="share that is content", xlim=_UNIT, ylim=_UNIT)

    caption = "Share of content by predicted probability of content; a well-calibrated model is on the line"
    return Plot(caption, (4.4, 3.8), draw)


def learning_curve(rows: Sequence[Mapping[str, Any]], measures: Mapping[str, str]) -> Plot:
    """Plot scores against the number of training pages."""

    def draw(axes: Any) -> None:
        for (name, title), colour in zip(measures.items(), (BLUE, ORANGE, INK), strict=False):
            scored = [(row["pages"], row["mean"][name]) for row in rows if row["mean"].get(name) is not None]
            if scored:
                axes.plot(*zip(*scored, strict=True), marker="o", color=colour, label=title)
        axes.set_xlabel("training pages")
        axes.legend(frameon=False)
        axes.grid(axis="y", color=SOFT, linewidth=0.5)

    return Plot("Scores by number of training pages", (6.4, 3.2), draw)


def bars(
    rows: Sequence[tuple[str, float, Sequence[float] | None]],
    caption: str,
    baseline: float | None = None,
    across: str = "words F1",
) -> Plot:
    """Plot a horizontal bar per row, with its interval, and a line at the baseline."""

    def draw(axes: Any) -> None:
        axes.barh(range(len(rows)), [value for _, value, _ in rows], color=BLUE, height=0.62)
        for place, (_, _, interval) in enumerate(rows):
            if interval:
                axes.plot(interval, [place, place], color=INK, linewidth=1.2)
        axes.set_yticks(range(len(rows)), [name for name, _, _ in rows])
        axes.invert_yaxis()
        axes.set_xlim(0, 1)
        axes.set_xlabel(across)
        if baseline is not None:
            axes.axvline(baseline, color=ORANGE, linewidth=1.2)

    return Plot(caption, (6.4, 0.6 + 0.28 * len(rows)), draw)


def points(
    rows: Sequence[tuple[str, float, float]], caption: str, across: str, up: str, logarithmic: bool = False
) -> Plot:
    """Plot one point per row, and connect it by a line with its name at the right edge."""
    height = max(3.2, 0.24 * len(rows) + 0.8)

    def draw(axes: Any) -> None:
        from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

        if logarithmic:
            axes.set_xscale("log")
            axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axes.xaxis.set_minor_formatter(NullFormatter())
        axes.scatter([x for _, x, _ in rows], [y for _, _, y in rows], s=34, color=BLUE, zorder=3)
        axes.margins(x=0.08, y=0.08)
        axes.set(xlabel=across, ylabel=up)
        axes.grid(color=SOFT, linewidth=0.5)
        low, high = axes.get_ylim()
        label_heights = spread([(y - low) / (high - low) for _, _, y in rows], 0.27 / height)
        line = {"arrowstyle": "-", "color": GREY, "linewidth": 0.6, "shrinkA": 0, "shrinkB": 3}
        for (name, x, y), at in zip(rows, label_heights, strict=True):
            axes.annotate(name, (x, y), (1.03, at), textcoords="axes fraction", va="center", arrowprops=line)

    return Plot(caption, (6.4, height), draw)


def spread(heights: Sequence[float], gap: float) -> list[float]:
    """Separate labels that are too close, moving them as little as possible and keeping their order.

    >>> spread([0.5, 0.9, 0.5], 0.1)
    [0.45, 0.9, 0.55]
    """
    # Labels that would overlap form a group, centred on the mean of their heights. Groups that overlap are merged.
    groups: list[list[float]] = []
    order = sorted(range(len(heights)), key=lambda number: heights[number])
    for number in order:
        group = [heights[number]]
        while groups and _bottom(group, gap) < _bottom(groups[-1], gap) + gap * len(groups[-1]):
            group = groups.pop() + group
        groups.append(group)
    placed = [_bottom(group, gap) + gap * place for group in groups for place in range(len(group))]
    return [round(placed[order.index(number)], 6) for number in range(len(heights))]


def _bottom(group: Sequence[float], gap: float) -> float:
    return sum(group) / len(group) - gap * (len(group) - 1) / 2


def distribution(results: Sequence[Mapping[str, Any]]) -> Plot:
    """Plot figure 9 of the SST paper: the number of clustering runs with an F in each of ten bins, by method."""

    def draw(axes: Any) -> None:
        for number, result in enumerate(results):
            bins = result["clustering"]["bins"]
            middles = [(at + 0.5) / len(bins) for at in range(len(bins))]
            axes.plot(middles, bins, label=result["method"], **_method_look(number), markersize=4, linewidth=1.4)
        axes.set_xticks([number / 10 for number in range(11)])
        axes.set(xlabel="F of a run", ylabel="runs", xlim=(0, 1))
        axes.set_ylim(bottom=0)
        axes.grid(axis="y", color=SOFT, linewidth=0.5)
        axes.legend(**_LEGEND_AT_RIGHT)

    return Plot("Number of runs by F (figure 9)", (7.6, 3.6), draw)


def trade(results: Sequence[Mapping[str, Any]]) -> Plot:
    """Plot removed words against surviving values: a large mark per method, and small marks for its verticals."""

    def shares(cells: Iterable[Mapping[str, float | None]]) -> tuple[list[float | None], list[float | None]]:
        pairs = [(cell["removed_share"], cell["survived_share"]) for cell in cells]
        defined = [pair for pair in pairs if None not in pair]
        return [removed for removed, _ in defined], [survived for _, survived in defined]

    def draw(axes: Any) -> None:
        for number, result in enumerate(results):
            survival, look = result["survival"], {**_method_look(number), "linestyle": "none"}
            axes.plot(*shares(survival["verticals"].values()), markersize=4, alpha=0.45, **look)
            axes.plot(*shares([survival["all"]]), markersize=9, label=result["method"], **look)
        axes.set(xlabel="share of words removed", ylabel="share of values that survive", xlim=_UNIT, ylim=_UNIT)
        axes.grid(color=SOFT, linewidth=0.5)
        axes.legend(**_LEGEND_AT_RIGHT)

    caption = "Words removed against values that survive; small marks are verticals. The upper right is best"
    return Plot(caption, (7.0, 3.8), draw)


def _method_look(number: int) -> dict[str, str]:
    colour = _METHOD_COLOURS[number % len(_METHOD_COLOURS)]
    return {"color": colour, "marker": _METHOD_MARKERS[number % len(_METHOD_MARKERS)]}
