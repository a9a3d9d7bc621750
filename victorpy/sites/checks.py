"""Parameters of methods that make no sense, said in words."""

from __future__ import annotations

from math import inf

from victorpy.errors import ConfigError


def check_range(method: str, lowest: float, highest: float = inf, **parameters: float) -> None:
    """Complain about a parameter that is out of its range, or no number."""
    for name, value in parameters.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not lowest <= value <= highest:
            to = "or more" if highest == inf else f"to {highest:g}"
            raise ConfigError(f"{method}: {name}={value}: expected a number from {lowest:g} {to}")


def check_count(method: str, lowest: int, **parameters: int) -> None:
    """Complain about a parameter that is not a whole number, or too small a one."""
    for name, value in parameters.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < lowest:
            raise ConfigError(f"{method}: {name}={value}: expected a whole number, {lowest} or more")
