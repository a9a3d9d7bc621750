"""Snapshots of what users call: the options of all commands, and the signatures of the public names."""

import inspect
import pkgutil

import pytest
from support.snapshots import check

import victorpy
from victorpy import commands
from victorpy.commands import Parser, _load_command

COMMANDS = [each.name for each in pkgutil.iter_modules(commands.__path__) if not each.name.startswith("_")]
SHOWN = ("nargs", "const", "default", "choices", "required", "metavar")
USUAL = (None, False, "==SUPPRESS==")


@pytest.mark.parametrize("name", COMMANDS)
def test_options(name):
    parser = Parser(name, "")
    _load_command(name.replace("_", "-")).configure(parser)
    found = {}
    for action in parser._actions:
        values = {each: getattr(action, each) for each in SHOWN}
        values["choices"] = action.choices and [*action.choices]
        values["type"] = getattr(action.type, "__name__", None)
        shown = [f"{each}={value}" for each, value in values.items() if value not in USUAL]
        found[", ".join(action.option_strings) or action.dest] = f"{type(action).__name__} {' '.join(shown)}"
    check("commands", name, found)


def members(value):
    """Yield the public functions of a class, or the function itself."""
    if not inspect.isclass(value):
        yield "", value
    elif not issubclass(value, Exception):
        for name, member in inspect.getmembers(value):
            if not name.startswith("_") and (inspect.isfunction(member) or inspect.ismethod(member)):
                yield f".{name}", member


@pytest.mark.parametrize("name", [name for name in victorpy.__all__ if callable(getattr(victorpy, name))])
def test_signatures(name):
    value = getattr(victorpy, name)
    if found := {name + part: str(inspect.signature(member)) for part, member in members(value)}:
        check("signatures", name, found)
