"""The commands: ``victor NAME ...``, and clean.py, learn.py and annotate.py, which are three of them."""

from __future__ import annotations

import argparse
import importlib
import io
import os
import pkgutil
import signal
import sys
from collections.abc import Sequence
from typing import Any

from victorpy.errors import VictorError, suggest

EXIT_FAILED, EXIT_USAGE, EXIT_INTERRUPTED, EXIT_PIPE = 1, 2, 130, 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``victor COMMAND ...``."""
    modules = [module.name for module in pkgutil.iter_modules(__path__)]
    names = [name.replace("_", "-") for name in modules if not name.startswith("_")]  # others are shared by commands
    listed = "\n".join(f"  {name:<12} {_description(name)[0].partition(chr(10))[0]}" for name in names)
    parser = argparse.ArgumentParser(
        prog="victor",
        description="Clean web pages: keep the text that somebody wrote.",
        epilog=f"commands:\n{listed}\n\nvictor COMMAND --help says more of each.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    from victorpy import __version__

    parser.add_argument("--version", action="version", version=f"victorpy {__version__}")
    parser.add_argument("command", metavar="COMMAND", help="one of those below")
    parser.add_argument("rest", nargs=argparse.REMAINDER, metavar="...", help="its arguments")
    parsed = parser.parse_args(arguments)
    if parsed.command not in names:
        parser.error(f"no command {parsed.command!r}{suggest(parsed.command, names)}; there are: {', '.join(names)}")
    return run(parsed.command, parsed.rest, program=f"victor {parsed.command}")


def run(name: str, arguments: Sequence[str] | None = None, program: str | None = None) -> int:
    """Run one command; by itself it is a program ``NAME.py``."""
    try:
        return _guarded(_parsed(name, arguments, program))
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED


def _parsed(name: str, arguments: Sequence[str] | None, program: str | None) -> argparse.Namespace:
    description, epilog = _description(name)
    parser = argparse.ArgumentParser(
        prog=program or f"{name}.py",
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _module(name).configure(parser)
    parser.set_defaults(command=name)
    return parser.parse_intermixed_args(arguments)


def _module(name: str) -> Any:
    """The module of a command; where its name has a hyphen, the module's has an underscore."""
    return importlib.import_module(f"{__name__}.{name.replace('-', '_')}")


def _description(name: str) -> tuple[str, str]:
    """A command's docstring: what it does, and the examples."""
    doc = _module(name).__doc__ or ""
    description, _, epilog = doc.strip().partition("\n\n")
    return description, epilog


def _guarded(parsed: argparse.Namespace) -> int:
    """Run a command; a user's mistake is one line on stderr, never a traceback."""
    _open_closed_streams()
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # a reader that goes away ends us quietly
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # text is UTF-8 whatever the locale; what stderr shows never fails
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="")
    try:
        return int(parsed.run(parsed))
    except VictorError as error:
        print(f"{parsed.command}: {error}", file=sys.stderr)
        return EXIT_USAGE
    except BrokenPipeError:  # where the signal had to be ignored
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what Python still has to write goes nowhere
        return EXIT_PIPE
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        print(f"{parsed.command}: {place}{error.strerror or error}", file=sys.stderr)
        return EXIT_USAGE


def _open_closed_streams() -> None:
    """Where the caller has closed a standard stream, let it lead nowhere: another file would get its number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            mode = "r" if number == 0 else "w"
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115  (as long as we run)
