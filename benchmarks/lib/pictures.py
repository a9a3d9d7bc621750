"""Pictures of benchmarks as PNG files, in the style of the reports."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from victorpy.errors import require
from victorpy.research.report.plots import INK, SOFT

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


def save_picture(draw: Callable[[Any], None], size: tuple[float, float], path: Path) -> None:
    """Draw on a figure of a size in inches, and save it."""
    require(["matplotlib"], "research", "drawing")
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Software": None})
