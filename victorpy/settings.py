"""Names with parameters in parentheses, ``sst(t=0.4, gamma=0.9)``: how methods and formats are asked for."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any

from victorpy.errors import ConfigError, suggest

_NAMED = re.compile(r"([^()]+)(?:\(([^()]*)\))?")
_SHAPES = {
    "method": "names between commas, parameters as in 'sst(t=0.4)'",
    "format": "a name, parameters as in 'docview(keywords=5)'",
}
_COMMA = re.compile(r",(?![^()]*\))")  # none inside parentheses


def split_names(names: str) -> list[tuple[str, list[str]]]:
    """Take a list of methods apart: names between commas, each with its parameters in parentheses.

    >>> split_names("crf, sst(t=0.4, gamma=0.9)")
    [('crf', []), ('sst', ['t=0.4', 'gamma=0.9'])]
    """
    return [split_name(entry.strip()) for entry in _COMMA.split(names)]


def split_name(entry: str, kind: str = "method") -> tuple[str, list[str]]:
    """Take the name of one thing and its parameters apart."""
    found = _NAMED.fullmatch(entry)
    if not found:
        raise ConfigError(f"{entry!r} is no {kind}: give {_SHAPES[kind]}")
    settings = [setting.strip() for setting in (found[2] or "").split(",")]
    return found[1].strip(), [setting for setting in settings if setting]


def parse_settings(name: str, make: Callable[..., Any], settings: Sequence[str]) -> dict[str, Any]:
    """Read ``t=0.4`` and the like; a value is of the kind that the parameter has by default."""
    known = inspect.signature(make).parameters
    found = {}
    for setting in settings:
        parameter, equals, value = setting.partition("=")
        if not equals or parameter not in known:
            names = ", ".join(f"{each}={known[each].default}" for each in known) or "none"
            meant = "; a parameter is set as NAME=VALUE" if parameter in known else suggest(parameter, known)
            raise ConfigError(f"{name}: {setting!r} sets no parameter{meant}; it has: {names}")
        found[parameter] = _converted(name, parameter, value, known)
    return found


def _converted(name: str, parameter: str, value: str, known: Mapping[str, inspect.Parameter]) -> Any:
    default = known[parameter].default
    if isinstance(default, bool):
        truths = {"true": True, "yes": True, "false": False, "no": False}
        if value.lower() in truths:
            return truths[value.lower()]
    else:
        kind = float if default is None else type(default)
        try:
            return kind(value)
        except ValueError:
            pass
    wanted = "yes or no" if isinstance(default, bool) else f"a value like {default}"
    raise ConfigError(f"{name}: {parameter}={value}: expected {wanted}")


def check_range(method: str, lowest: float, highest: float = inf, **parameters: float) -> None:
    """Raise ConfigError for a parameter that is out of its range or not a number."""
    for name, value in parameters.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not lowest <= value <= highest:
            to = "or more" if highest == inf else f"to {highest:g}"
            raise ConfigError(f"{method}: {name}={value}: expected a number from {lowest:g} {to}")


def check_count(method: str, lowest: int, **parameters: int) -> None:
    """Raise ConfigError for a parameter that is not a whole number or too small."""
    for name, value in parameters.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < lowest:
            raise ConfigError(f"{method}: {name}={value}: expected a whole number, {lowest} or more")
