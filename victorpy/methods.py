"""Methods by name: whatever cleans a page, trained or not, ready to run.

``crf`` is the bundled model and ``hybrid`` the one for several pages of a site; a model may also be named by its
directory. Every other name is that of a labeller that needs no training.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from victorpy.cleaner import Cleaner
from victorpy.config import load_config
from victorpy.errors import ConfigError, VictorError, suggest
from victorpy.labellers.base import LABELLERS, LearnsFrom
from victorpy.model import DEFAULT

_METHOD = re.compile(r"([^()]+)(?:\(([^()]*)\))?")
_COMMA = re.compile(r",(?![^()]*\))")  # none inside parentheses

MODELS = {"crf": DEFAULT, "hybrid": "site"}
"""Methods that are bundled models."""

CONFIG = "blocks"
"""How pages are cut for methods that have no config of their own."""


def method_names() -> list[str]:
    """The names of all methods that need no directory."""
    untrained = [name for name in LABELLERS if LABELLERS.get(name).learns_from is not LearnsFrom.LABELS]
    return sorted([*MODELS, *untrained])


def split_names(names: str) -> list[tuple[str, list[str]]]:
    """Take a list of methods apart: names between commas, each with its parameters in parentheses.

    >>> split_names("crf, sst(t=0.4, gamma=0.9)")
    [('crf', []), ('sst', ['t=0.4', 'gamma=0.9'])]
    """
    return [split_name(entry.strip()) for entry in _COMMA.split(names)]


def split_name(entry: str) -> tuple[str, list[str]]:
    """Take one method and its parameters apart."""
    found = _METHOD.fullmatch(entry)
    if not found:
        raise ConfigError(f"{entry!r} is no method: give names between commas, parameters as in 'sst(t=0.4)'")
    settings = [setting.strip() for setting in (found[2] or "").split(",")]
    return found[1].strip(), [setting for setting in settings if setting]


def load_method(name: str, settings: Sequence[str] = ()) -> Cleaner:
    """Make a method ready; `settings` are its parameters, each as ``NAME=VALUE``."""
    if name not in MODELS and name in LABELLERS:
        labeller = LABELLERS.get(name)
        return Cleaner(labeller(**parse_settings(name, labeller, settings)), load_config(CONFIG))
    if name not in MODELS and not (Path(name) / "meta.json").exists():
        known = method_names()
        raise VictorError(f"no method {name!r}{suggest(name, known)}; there are: {', '.join(known)}, or a model's path")
    if settings:
        raise ConfigError(f"the method {name!r} is a trained model and has no parameters to set: {' '.join(settings)}")
    return Cleaner.load(MODELS.get(name, name))


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
