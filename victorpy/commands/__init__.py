"""The commands: ``victor NAME ...``, and clean.py, learn.py and annotate.py, which are three of them."""

from __future__ import annotations

import argparse
import importlib
import io
import os
import pkgutil
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Any

from victorpy.base.version import __version__
from victorpy.errors import DISTRIBUTION, VictorError, suggest

EXIT_FAILED, EXIT_USAGE, EXIT_INTERRUPTED, EXIT_PIPE = 1, 2, 130, 141


class Parser(argparse.ArgumentParser):
    """Makes some parts of its help only if help is shown: to list what exists, all of it must be imported."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings, formatter_class=argparse.RawDescriptionHelpFormatter)
        self.commands: Sequence[str] = ()
        self.late_help: dict[argparse.Action, Callable[[], str]] = {}

    def format_help(self) -> str:
        for action, text in self.late_help.items():
            action.help = text()
        if self.commands:
            lines = [f"  {name:<12} {_description(name)[0].partition(chr(10))[0]}" for name in self.commands]
            self.epilog = "\n".join(["commands:", *lines, "", "victor COMMAND --help says more of each."])
        return super().format_help()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``victor COMMAND ...``."""
    modules = [module.name for module in pkgutil.iter_modules(__path__)]
    names = [name.replace("_", "-") for name in modules if not name.startswith("_")]  # others are shared by commands
    parser = Parser(prog="victor", description="Clean web pages: keep the text that somebody wrote.")
    parser.commands = names
    parser.add_argument("--version", action="version", version=f"victor {__version__} (distribution {DISTRIBUTION})")
    parser.add_argument("command", metavar="COMMAND", help="one of those below")
    parser.add_argument("rest", nargs=argparse.REMAINDER, metavar="...", help="its arguments")
    parsed = parser.parse_args(arguments)
    if parsed.command not in names:
        parser.error(f"no command {parsed.command!r}{suggest(parsed.command, names)}; there are: {', '.join(names)}")
    return run(parsed.command, parsed.rest, program=f"victor {parsed.command}")


def run(name: str, arguments: Sequence[str] | None = None, program: str | None = None) -> int:
    """Run one command. `program` is the name shown in its help, ``NAME.py`` by default."""
    try:
        description, epilog = _description(name)
        parser = Parser(prog=program or f"{name}.py", description=description, epilog=epilog)
        _module(name).configure(parser)
        parser.set_defaults(command=name)
        return _run_parsed(parser.parse_intermixed_args(arguments))
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED


def _module(name: str) -> Any:
    return importlib.import_module(f"{__name__}.{name.replace('-', '_')}")


def _description(name: str) -> tuple[str, str]:
    """Return what a command does and its examples, the two parts of its module's docstring."""
    doc = _module(name).__doc__ or ""
    description, _, epilog = doc.strip().partition("\n\n")
    return description, epilog


def _run_parsed(parsed: argparse.Namespace) -> int:
    """Run a command. A user's mistake gives one line on stderr, never a traceback."""
    for mode, name in (("r", "stdin"), ("w", "stdout"), ("w", "stderr")):
        if getattr(sys, name) is None:  # closed by the caller: the next file that is opened would get its number
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # if the reader of a pipe goes away, exit quietly
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # UTF-8 whatever the locale; writing to stderr never fails
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="")
    try:
        return int(parsed.run(parsed))
    except VictorError as error:
        print(f"{parsed.command}: {error}", file=sys.stderr)
        return EXIT_USAGE
    except BrokenPipeError:  # if SIGPIPE had to be ignored
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # discard what is still buffered
        return EXIT_PIPE
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        print(f"{parsed.command}: {place}{error.strerror or error}", file=sys.stderr)
        return EXIT_USAGE
