"""The commands: ``victor NAME ...``, and clean.py, learn.py and annotate.py, which are three of them."""

from __future__ import annotations

import argparse
import importlib
import io
import os
import pkgutil
import re
import signal
import sys
from collections.abc import Sequence
from typing import Any

from victorpy.base.version import __version__
from victorpy.errors import DISTRIBUTION, VictorError, suggest

EXIT_FAILED, EXIT_USAGE, EXIT_INTERRUPTED, EXIT_PIPE = 1, 2, 130, 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``victor COMMAND ...``."""
    modules = [module.name for module in pkgutil.iter_modules(__path__)]
    names = [name.replace("_", "-") for name in modules if not name.startswith("_")]  # others are shared by commands
    arguments = sys.argv[1:] if arguments is None else arguments
    epilog = "victor COMMAND --help says more of each; victor list shows models, methods, formats and more."
    if not arguments or arguments[0] in {"-h", "--help"}:  # only then, because every command has to be imported
        lines = (f"  {name:<12} {_description(name)[0].partition(chr(10))[0]}" for name in names)
        epilog = "\n".join(["commands:", *lines, "", epilog])
    parser = argparse.ArgumentParser(
        prog="victor",
        description="Clean web pages: keep the text that somebody wrote.",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"victor {__version__} (distribution {DISTRIBUTION})")
    parser.add_argument("command", metavar="COMMAND", help="one of those below")
    parser.add_argument("rest", nargs=argparse.REMAINDER, metavar="...", help="its arguments")
    parsed = parser.parse_args(arguments)
    if parsed.command not in names:
        parser.error(f"no command {parsed.command!r}{suggest(parsed.command, names)}; there are: {', '.join(names)}")
    return run(parsed.command, parsed.rest, program=f"victor {parsed.command}")


class Arguments(argparse.Namespace):
    """The parsed arguments of a command, and how it speaks to the user."""

    command: str
    program: str
    """What the user typed: ``victor clean`` or ``clean.py``."""
    options: dict[str, str]
    """The options of the command, by the name of their value."""
    quiet = False

    def say(self, message: str) -> None:
        """Print a line on stderr, after the name of the command."""
        line = f"{self.command}: {self.as_typed(message)}"
        if "tqdm" in sys.modules:  # there may be a progress bar, which has to make room
            sys.modules["tqdm"].tqdm.write(line, file=sys.stderr)
        else:
            print(line, file=sys.stderr, flush=True)

    def note(self, message: str) -> None:
        """Print a line on stderr, except with --quiet."""
        if not self.quiet:
            self.say(message)

    def as_typed(self, text: str) -> str:
        """Name options and programs in a text as the user does.

        Messages of the library have parameters in backquotes: `read_only` becomes ``--read-only``. If ``clean.py`` was
        typed, ``victor learn`` becomes ``learn.py``.
        """
        text = re.sub(r"`(\w+)`", lambda match: self.options.get(match[1], match[0]), text)
        is_script = self.program.endswith(".py")
        return re.sub(r"\bvictor (annotate|clean|learn)\b", r"\1.py", text) if is_script else text


def run(name: str, arguments: Sequence[str] | None = None, program: str | None = None) -> int:
    """Run one command. `program` is what the user typed, ``NAME.py`` by default."""
    parsed = Arguments(command=name, program=program or f"{name}.py", options={})
    if name == "clean" and "numpy" not in sys.modules:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy's threads take longer to start than a page takes
    try:
        description, epilog = _description(name)
        parser = argparse.ArgumentParser(
            prog=parsed.program,
            description=description,
            epilog=parsed.as_typed(epilog),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command = _module(name)
        command.configure(parser)
        parsed.options = {action.dest: action.option_strings[-1] for action in parser._actions if action.option_strings}
        parser.parse_intermixed_args(arguments, parsed)
        return _run_parsed(command, parsed)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED


def _module(name: str) -> Any:
    return importlib.import_module(f"{__name__}.{name.replace('-', '_')}")


def _description(name: str) -> tuple[str, str]:
    """Return what a command does and its examples, the two parts of its module's docstring."""
    doc = _module(name).__doc__ or ""
    description, _, epilog = doc.strip().partition("\n\n")
    return description, epilog


def _run_parsed(command: Any, parsed: Arguments) -> int:
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
        return int(command.run(parsed))
    except VictorError as error:
        parsed.say(str(error))
        return EXIT_USAGE
    except BrokenPipeError:  # if SIGPIPE had to be ignored
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # discard what is still buffered
        return EXIT_PIPE
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        parsed.say(f"{place}{error.strerror or error}")
        return EXIT_USAGE
