"""The methods that `victor mine` compares; the first is always no cleaning."""

from __future__ import annotations

from victorpy.base.parameters import split_names
from victorpy.methods import Method

NONE = "none"
"""Name of no cleaning: all text of a page."""


def parse_methods(names: str) -> list[Method]:
    """Read ``sst,sst(t=0.3)``. No cleaning always comes first, since all others are compared with it."""
    methods = [
        Method("everything" if name == NONE else name, tuple(parameters), label=name)
        for name, parameters in [(NONE, []), *split_names(names)]
    ]
    for method in methods:
        method.load()  # a wrong name or parameter should show before the pages are read
    return list(dict.fromkeys(methods))
