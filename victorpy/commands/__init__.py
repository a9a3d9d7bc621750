"""The commands: ``victor NAME ...``, and clean.py, learn.py and annotate.py, which are the same."""

from __future__ import annotations

import argparse
import importlib
import io
import pkgutil
import signal
import sys
from collections.abc import Sequence

from victorpy.errors import VictorError

EXIT_FAILED, EXIT_USAGE, EXIT_INTERRUPTED = 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``victor``."""
    names = [module.name for module in pkgutil.iter_modules(__path__)]
    parser = argparse.ArgumentParser(prog="victor", description="Clean web pages: keep the text that somebody wrote.")
    from victorpy import __version__

    parser.add_argument("--version", action="version", version=f"victorpy {__version__}")
    commands = parser.add_subparsers(title="commands", dest="command", required=True, metavar="COMMAND")
    for name in names:
        module = importlib.import_module(f"{__name__}.{name}")
        module.configure(_subparser(commands, name, module.__doc__ or ""))
    return _guarded(parser.parse_args(arguments))


def run(name: str, arguments: Sequence[str] | None = None) -> int:
    """Run one command as a program of its own, ``NAME.py``."""
    module = importlib.import_module(f"{__name__}.{name}")
    description, _, epilog = (module.__doc__ or "").strip().partition("\n\n")
    parser = argparse.ArgumentParser(
        prog=f"{name}.py",
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.configure(parser)
    parser.set_defaults(command=name)
    return _guarded(parser.parse_args(arguments))


def _subparser(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, doc: str
) -> argparse.ArgumentParser:
    description, _, epilog = doc.strip().partition("\n\n")
    return commands.add_parser(
        name,
        help=description.partition("\n")[0],
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _guarded(parsed: argparse.Namespace) -> int:
    """Run a command; a user's mistake is one line on stderr, never a traceback."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # a reader that goes away ends us quietly
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # text is UTF-8 whatever the locale; what stderr shows never fails
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="")
    try:
        return int(parsed.run(parsed))
    except (VictorError, OSError) as error:
        print(f"{parsed.command}: {error}", file=sys.stderr)
        return EXIT_USAGE
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
