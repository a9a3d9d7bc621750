"""The commands: ``victor NAME ...``. The scripts clean.py, learn.py and annotate.py run three of them."""

from __future__ import annotations

import argparse
import importlib
import io
import os
import pkgutil
import re
import signal
import sys
import warnings
from collections.abc import Sequence
from contextlib import nullcontext, redirect_stderr, redirect_stdout
from itertools import pairwise
from types import ModuleType
from typing import Any, NoReturn

from victorpy import native
from victorpy.base.terminal import SafeStream
from victorpy.base.version import __version__
from victorpy.batch.local.signals import stopping_signals
from victorpy.errors import DISTRIBUTION, VictorError, suggest, visible

EXIT_FAILED, EXIT_USAGE, EXIT_PIPE = 1, 2, 141


class Arguments(argparse.Namespace):
    """Parsed arguments of a command, and functions that print messages."""

    command: str
    program: str  # the program as the user typed it: ``victor clean`` or ``clean.py``
    options: dict[str, str]  # maps the attribute of each option to the option: ``read_only`` to ``--read-only``
    quiet = False

    def say(self, message: str) -> None:
        """Print a message on stderr, after the command's name."""
        line = visible(f"{self.command}: {self.as_typed(message)}")
        if "tqdm" in sys.modules:  # do not write into a progress bar
            sys.modules["tqdm"].tqdm.write(line, file=sys.stderr)
        else:
            print(line, file=sys.stderr, flush=True)

    def note(self, message: str) -> None:
        """Print a message on stderr unless --quiet was given."""
        if not self.quiet:
            self.say(message)

    def as_typed(self, text: str) -> str:
        """Replace the names of parameters and programs with the ones that the user typed.

        Library messages put parameters in backquotes: `read_only` becomes ``--read-only``. If the user ran
        ``clean.py``, ``victor learn`` becomes ``learn.py``.
        """
        text = re.sub(r"`(\w+)`", lambda match: self.options.get(match[1], match[0]), text)
        is_script = self.program.endswith(".py")
        return re.sub(r"\bvictor (annotate|clean|learn)\b", r"\1.py", text) if is_script else text


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Shows an option's value once: ``-o, --output OUT``."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        return f"{', '.join(action.option_strings)} {self._format_args(action, action.dest.upper())}"


class Parser(argparse.ArgumentParser):
    """A parser whose usage is one line, and whose errors refer to --help."""

    def __init__(self, prog: str, description: str, epilog: str = "") -> None:
        super().__init__(prog, description=description, epilog=epilog, formatter_class=_Formatter)

    def shorten_usage(self) -> None:
        """Show only required options and positional arguments in the usage. Call this after all arguments are added."""
        formatter = self._get_formatter()
        shown = [action for action in self._actions if action.required or not action.option_strings]
        formatter.add_usage(None, shown, [], prefix="")
        self.usage = formatter.format_help().strip().replace(self.prog, f"{self.prog} [options]", 1)

    def check_options(self, arguments: Sequence[str]) -> None:
        """Exit with the closest option if one is unknown. argparse would first complain about missing arguments."""
        known = self._option_string_actions
        for argument in arguments:
            name = argument.partition("=")[0]
            if name == "--":
                break
            if name.startswith("--") and " " not in argument and not any(option.startswith(name) for option in known):
                self.error(f"unknown option {name!r}{suggest(name, known)}")

    def check_empty(self, arguments: Sequence[str]) -> None:
        """Exit if an argument or the value of an option is empty. As a path it would be the current directory."""
        for previous, argument in pairwise(["", *arguments]):
            option, equals, value = argument.partition("=")
            if argument and (value or not equals or not option.startswith("-")):
                continue
            place = next((name for name in (option, previous) if name in self._option_string_actions), "")
            self.error(f"empty argument{f' after {place}' if place else ''} (is a shell variable empty?)")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            choices = [str(choice) for choice in action.choices]
            message = f"invalid choice: {value!r}{suggest(value, choices)}; choose from {', '.join(choices)}"
            raise argparse.ArgumentError(action, message)

    def error(self, message: str) -> NoReturn:
        self.exit(EXIT_USAGE, f"{self.format_usage()}{self.prog}: {message}; see {self.prog} --help\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``victor COMMAND ...``."""
    modules = [module.name for module in pkgutil.iter_modules(__path__)]
    names = [name.replace("_", "-") for name in modules if not name.startswith("_")]
    if arguments is None:  # started as a program: show warnings as messages, without a line of code
        arguments = sys.argv[1:]
        warnings.formatwarning = lambda message, *place, **line: f"victor: {message}\n"
    epilog = ""
    if not arguments or arguments[0] in {"-h", "--help"}:  # listing the commands imports all of them
        lines = [f"  {name:<12} {_description(_load_command(name))[0].partition(chr(10))[0]}" for name in names]
        advice = "`victor COMMAND --help` shows options and examples. `victor list` shows models, methods and formats."
        epilog = "\n".join(["commands:", *lines, "", advice])
    parser = Parser("victor", "Clean web pages: keep the main content, drop menus, advertisements and footers.", epilog)
    engine = native.engine() if "--version" in arguments else ""  # needs an import
    about = f"victor {__version__} (distribution {DISTRIBUTION}, {engine} engine)"
    parser.add_argument("--version", action="version", version=about)
    parser.add_argument("command", metavar="COMMAND", help="a command from the list below")
    parser.add_argument("rest", nargs=argparse.REMAINDER, metavar="...", help="arguments of the command")
    parser.shorten_usage()
    if not arguments:
        parser.exit(EXIT_USAGE, parser.format_help())
    parser.check_options(arguments[:1])
    parsed = parser.parse_args(arguments)
    if parsed.command not in names:
        parser.error(f"no command {parsed.command!r}{suggest(parsed.command, names)}")
    return run(parsed.command, parsed.rest, program=f"victor {parsed.command}")


def run(name: str, arguments: Sequence[str] | None = None, program: str | None = None) -> int:
    """Run one command. `program` is what the user typed, ``NAME.py`` by default.

    Text for people passes through `SafeStream`. Data for other programs and full-screen output do not.
    """
    os.environ.setdefault("PYTHONSAFEPATH", "1")  # child processes import nothing from the current directory
    _prepare_streams()
    is_raw = name == "annotate" or (name in {"clean", "view"} and not sys.stdout.isatty())
    output = sys.stdout if is_raw else SafeStream(sys.stdout)
    with redirect_stdout(output), redirect_stderr(SafeStream(sys.stderr)):
        try:
            with stopping_signals(anywhere=True) if name == "clean" else nullcontext():
                return _run(name, arguments, program)
        except KeyboardInterrupt as error:
            return 128 + getattr(error, "number", signal.SIGINT)


def _prepare_streams() -> None:
    for mode, stream in (("r", "stdin"), ("w", "stdout"), ("w", "stderr")):
        if getattr(sys, stream) is None:  # closed by the caller; the next opened file would get its descriptor
            setattr(sys, stream, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115
    for output in (sys.stdout, sys.stderr):
        if isinstance(output, io.TextIOWrapper):  # UTF-8 in any locale; writing to stderr never fails
            output.reconfigure(encoding="utf-8", errors="backslashreplace", newline="")


def _run(name: str, arguments: Sequence[str] | None, program: str | None) -> int:
    parsed = Arguments(command=name, program=program or f"{name}.py", options={})
    if name == "clean" and "numpy" not in sys.modules:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # starting numpy's threads takes longer than cleaning a page
    try:
        if name == "clean" and _names_many_pages(sys.argv[1:] if arguments is None else arguments):
            from victorpy.batch.local.pool import start_server

            start_server(metadata=True)  # the server starts while this process imports the command
        command = _load_command(name)
        description, epilog = _description(command)
        parser = Parser(parsed.program, description, parsed.as_typed(epilog))
        command.configure(parser)
        parser.shorten_usage()
        parsed.options = {action.dest: action.option_strings[-1] for action in parser._actions if action.option_strings}
        given = sys.argv[1:] if arguments is None else arguments
        parser.check_options(given)
        parser.check_empty(given)
        parser.parse_intermixed_args(arguments, parsed)
        if hasattr(signal, "SIGPIPE"):
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # exit quietly when the reader of a pipe exits
        return int(command.run(parsed))
    except VictorError as error:  # a user's mistake: one line, never a traceback
        parsed.say(str(error))
        return EXIT_USAGE
    except BrokenPipeError:  # only raised if SIGPIPE is ignored
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # discard buffered output
        return EXIT_PIPE
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        parsed.say(f"{place}{reason_of(error)}")
        return EXIT_USAGE
    except RuntimeError as error:
        if not str(error).startswith("Symlink loop"):  # raised by `Path.resolve` before Python 3.13
            raise
        parsed.say(str(error))
        return EXIT_USAGE


def reason_of(error: OSError) -> str:
    """Return the reason for an OSError without the file name."""
    if isinstance(error, FileExistsError):  # creating a directory failed
        return "this is a file, not a directory"
    return error.strerror or str(error)


def _names_many_pages(arguments: Sequence[str]) -> bool:
    """Guess whether this run has workers that read metadata. A wrong guess only costs some time."""
    is_likely = not {"-h", "--help", "facts"}.intersection(arguments)
    pairs = zip(["", *arguments], arguments, strict=False)
    inputs = (name for option, name in pairs if option not in {"-o", "--output"} or name.endswith("/"))
    return is_likely and any(re.search(r"\.(warc|jsonl|ndjson|parquet)\b", name) for name in inputs)


def _load_command(name: str) -> ModuleType:
    return importlib.import_module(f"{__name__}.{name.replace('-', '_')}")


def _description(command: ModuleType) -> tuple[str, str]:
    """Split a command's docstring into what it does and the examples."""
    description, _, examples = (command.__doc__ or "").strip().partition("\n\n")
    return description, examples
