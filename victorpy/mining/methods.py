"""The methods that are held against each other, as a command names them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from victorpy.cleaner import Cleaner
from victorpy.methods import load_method
from victorpy.settings import split_names

NONE = "none"
"""No cleaning: all text of a page."""


@dataclass(frozen=True, slots=True)
class Method:
    """A method, with parameters as NAME=VALUE."""

    method: str
    settings: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What it is called in tables: ``sst(t=0.3)``."""
        return f"{self.method}({','.join(self.settings)})" if self.settings else self.method

    def load(self) -> Cleaner:
        """Make it ready."""
        return _load(self)


@cache
def _load(method: Method) -> Cleaner:
    """Load a method once in every process."""
    return load_method("everything" if method.method == NONE else method.method, method.settings)


def parse_methods(names: str) -> list[Method]:
    """Read ``none,sst(t=0.3)``; no cleaning always comes first, for all is held against it."""
    wanted = dict.fromkeys([(NONE, ()), *((name, tuple(settings)) for name, settings in split_names(names))])
    methods = [Method(*entry) for entry in wanted]
    for method in methods:
        method.load()  # a wrong name or parameter should show before the pages are read
    return methods
