"""Pictures of benchmarks as PNG files, in the style of the reports."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from victorpy.errors import require
from victorpy.research.report.plots import STYLE

_STYLE = STYLE | {"axes.titlesize": 10.5, "axes.titlelocation": "left", "figure.dpi": 150}
_STYLE |= {"figure.facecolor": "white", "axes.facecolor": "white"}


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
