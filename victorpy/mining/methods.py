"""The methods that are held against each other, as a command names them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from victorpy.cleaner import Cleaner
from victorpy.errors import DataError
from victorpy.methods import load_method

NONE = "none"
"""No cleaning: all text of a page."""


@dataclass(frozen=True, slots=True)
class Method:
    """A method by name, with parameters as NAME=VALUE."""

    name: str
    settings: tuple[str, ...] = ()

    def load(self) -> Cleaner:
        """Make it ready."""
        return _load(self)


@cache
def _load(method: Method) -> Cleaner:
    """Load a method once in every process."""
    return load_method("everything" if method.name == NONE else method.name, method.settings)


def parse_methods(names: str, settings: Sequence[str]) -> list[Method]:
    """Read ``none,sst`` and settings ``sst:t=0.3``; no cleaning always comes first, for all is held against it."""
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    twice = sorted({name for name in wanted if wanted.count(name) > 1})
    if twice:
        raise DataError(f"methods named twice: {', '.join(twice)}")
    given = _settings_of(wanted, settings)
    methods = [Method(name, tuple(given.get(name, ()))) for name in dict.fromkeys([NONE, *wanted])]
    for method in methods:
        method.load()  # a wrong name or parameter should show before the pages are read
    return methods


def _settings_of(wanted: Sequence[str], settings: Sequence[str]) -> dict[str, list[str]]:
    """The parameters of each method, as NAME=VALUE."""
    found: dict[str, list[str]] = {name: [] for name in wanted if name != NONE}
    for setting in settings:
        name, colon, parameter = setting.partition(":")
        if not colon or name not in found:
            raise DataError(f"{setting!r}: give a parameter as METHOD:NAME=VALUE; methods are {', '.join(wanted)}")
        found[name].append(parameter)
    return found
