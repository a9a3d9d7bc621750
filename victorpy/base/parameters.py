"""Parse names of methods and formats with parameters, such as ``sst(t=0.4, gamma=0.9)``."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from math import inf
from typing import Any, Final

from victorpy.errors import ConfigError, suggest

_NAMED = re.compile(r"([^()]+)(?:\(([^()]*)\))?")
_SHAPES = {
    "method": "names separated by commas, with parameters as in 'sst(t=0.4)'",
    "format": "a name, with parameters as in 'docview(keywords=5)'",
}
AUTO: Final = "auto"
"""Default of parameters whose value the method chooses itself. The user can also give a number."""

_TRUTHS = {"true": True, "yes": True, "false": False, "no": False}
_COMMA = re.compile(r",(?![^()]*\))")  # outside parentheses


def split_names(names: str, kind: str = "method") -> list[tuple[str, list[str]]]:
    """Split a comma-separated list of methods or formats with parameters.

    >>> split_names("crf, sst(t=0.4, gamma=0.9)")
    [('crf', []), ('sst', ['t=0.4', 'gamma=0.9'])]
    """
    return [split_name(entry.strip(), kind) for entry in _COMMA.split(str(names))]


def split_name(entry: str, kind: str = "method") -> tuple[str, list[str]]:
    """Split a name from its parameters."""
    match = _NAMED.fullmatch(entry)
    if not match:
        raise ConfigError(f"{entry!r} is not a {kind}; give {_SHAPES[kind]}")
    settings = [setting.strip() for setting in (match[2] or "").split(",")]
    return match[1].strip(), [setting for setting in settings if setting]


def parse_settings(name: str, make: Callable[..., Any], settings: Sequence[str]) -> dict[str, Any]:
    """Convert settings such as ``t=0.4`` to arguments of a function, with the types of the parameters' defaults."""
    parameters = inspect.signature(make).parameters
    values: dict[str, Any] = {}
    for setting in settings:
        parameter, equals, value = setting.partition("=")
        if not equals or parameter not in parameters:
            defaults = ", ".join(f"{key}={value.default}" for key, value in parameters.items()) or "none"
            hint = "; use NAME=VALUE" if parameter in parameters else suggest(parameter, parameters)
            raise ConfigError(f"{name}: {setting!r} is not a parameter{hint}; parameters: {defaults}")
        default = parameters[parameter].default
        try:
            if isinstance(default, bool):
                values[parameter] = _TRUTHS[value.lower()]
            elif default == AUTO:
                values[parameter] = AUTO if value == AUTO else float(value)
            else:
                values[parameter] = float(value) if default is None else type(default)(value)
        except (KeyError, ValueError):
            expected = f"{AUTO} or a number" if default == AUTO else f"a value like {default}"
            if isinstance(default, bool):
                expected = "yes or no"
            raise ConfigError(f"{name}: {parameter}={value}: expected {expected}") from None
    return values


def check_range(method: str, lowest: float, highest: float = inf, **parameters: float) -> None:
    """Raise ConfigError if a parameter is out of range or not a number."""
    for name, value in parameters.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not lowest <= value <= highest:
            to = "or more" if highest == inf else f"to {highest:g}"
            raise ConfigError(f"{method}: {name}={value}: expected a number from {lowest:g} {to}")


def check_count(method: str, lowest: int, **parameters: int) -> None:
    """Raise ConfigError if a parameter is too small or not a whole number."""
    for name, value in parameters.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < lowest:
            raise ConfigError(f"{method}: {name}={value}: expected a whole number, {lowest} or more")
