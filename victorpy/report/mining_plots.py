"""The plots of mining."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from victorpy.report.plots import figure

_COLOURS = (
    "#8d96a3",
    "#c9702a",
    "#2f6db5",
    "#3a8f5c",
    "#8d5bb0",
    "#b5404f",
    "#1f9aa6",
    "#a58a1f",
    "#3b3f46",
    "#d484b0",
)
_MARKERS = "osD^vP*X<>"


def distribution(results: Sequence[Mapping[str, Any]]) -> str:
    """Figure 9: how many runs of clustering have an F in each of ten bins, a line for each method."""

    def draw(axes: Any) -> None:
        for at, result in enumerate(results):
            bins = result["clustering"]["bins"]
            middles = [(number + 0.5) / len(bins) for number in range(len(bins))]
            axes.plot(middles, bins, label=result["method"], **_look(at), markersize=4, linewidth=1.4)
        axes.set_xticks([number / 10 for number in range(11)])
        axes.set_xlabel("F of a run")
        axes.set_ylabel("runs")
        axes.set_xlim(0, 1)
        axes.set_ylim(bottom=0)
        axes.grid(axis="y", color="#c9ced6", linewidth=0.5)
        axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))

    return figure(draw, (7.6, 3.6))


def trade(results: Sequence[Mapping[str, Any]]) -> str:
    """Words removed against values that survive: a large mark for a method, small ones for its verticals."""

    def draw(axes: Any) -> None:
        for at, result in enumerate(results):
            survival, look = result["survival"], _look(at)
            mark = {"color": look["color"], "marker": look["marker"], "linestyle": "none"}
            axes.plot(*_points(survival["verticals"].values()), markersize=4, alpha=0.45, **mark)
            axes.plot(*_points([survival["all"]]), markersize=9, label=result["method"], **mark)
        axes.set_xlabel("share of words removed")
        axes.set_ylabel("share of values that survive")
        axes.set_xlim(-0.03, 1.03)
        axes.set_ylim(-0.03, 1.03)
        axes.grid(color="#c9ced6", linewidth=0.5)
        axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))

    return figure(draw, (7.0, 3.8))


def _points(found: Any) -> tuple[list[float], list[float]]:
    known = [each for each in found if each["removed_share"] is not None and each["survived_share"] is not None]
    return [each["removed_share"] for each in known], [each["survived_share"] for each in known]


def _look(at: int) -> dict[str, str]:
    return {"color": _COLOURS[at % len(_COLOURS)], "marker": _MARKERS[at % len(_MARKERS)]}
