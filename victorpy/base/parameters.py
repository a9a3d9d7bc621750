"""Names with parameters in parentheses, ``sst(t=0.4, gamma=0.9)``: how methods and formats are named."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from math import inf
from typing import Any

from victorpy.errors import ConfigError, suggest

_NAMED = re.compile(r"([^()]+)(?:\(([^()]*)\))?")
_SHAPES = {
    "method": "names between commas, parameters as in 'sst(t=0.4)'",
    "format": "a name, parameters as in 'docview(keywords=5)'",
}
_TRUTHS = {"true": True, "yes": True, "false": False, "no": False}
_COMMA = re.compile(r",(?![^()]*\))")  # outside parentheses


def split_names(names: str) -> list[tuple[str, list[str]]]:
    """Split a list of methods: names between commas, each with its parameters in parentheses.

    >>> split_names("crf, sst(t=0.4, gamma=0.9)")
    [('crf', []), ('sst', ['t=0.4', 'gamma=0.9'])]
    """
    return [split_name(entry.strip()) for entry in _COMMA.split(names)]


def split_name(entry: str, kind: str = "method") -> tuple[str, list[str]]:
    """Split a name from its parameters."""
    match = _NAMED.fullmatch(entry)
    if not match:
        raise ConfigError(f"{entry!r} is no {kind}: give {_SHAPES[kind]}")
    settings = [setting.strip() for setting in (match[2] or "").split(",")]
    return match[1].strip(), [setting for setting in settings if setting]


def parse_settings(name: str, make: Callable[..., Any], settings: Sequence[str]) -> dict[str, Any]:
    """Read ``t=0.4`` and the like as arguments of a function; a value has the type of the parameter's default."""
    parameters = inspect.signature(make).parameters
    values = {}
    for setting in settings:
        parameter, equals, value = setting.partition("=")
        if not equals or parameter not in parameters:
            known = ", ".join(f"{key}={found.default}" for key, found in parameters.items()) or "none"
            hint = "; a parameter is set as NAME=VALUE" if parameter in parameters else suggest(parameter, parameters)
            raise ConfigError(f"{name}: {setting!r} sets no parameter{hint}; it has: {known}")
        default = parameters[parameter].default
        try:
            values[parameter] = _convert(value, default)
        except ValueError:
            wanted = "yes or no" if isinstance(default, bool) else f"a value like {default}"
            raise ConfigError(f"{name}: {parameter}={value}: expected {wanted}") from None
    return values


def _convert(value: str, default: Any) -> Any:
    if not isinstance(default, bool):
        return float(value) if default is None else type(default)(value)
    if value.lower() not in _TRUTHS:
        raise ValueError(value)
    return _TRUTHS[value.lower()]


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
