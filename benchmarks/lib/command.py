"""The command line of a benchmark."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.lib.pages import SAMPLE
from victorpy.errors import VictorError


def make_parser(description: str | None, data: bool = True, step: bool = True) -> argparse.ArgumentParser:
    """Return a parser that shows a module's docstring; `data` and `step` add options that choose pages."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    if data:
        parser.add_argument("--data", nargs="+", default=[SAMPLE], metavar="KIND:DIR", help="gold standards")
    if data and step:
        parser.add_argument("--step", type=int, default=1, metavar="N", help="use every N-th page (default: all)")
    return parser


def run(main: Callable[[], None]) -> None:
    """Run a benchmark; errors of the user are printed without a traceback."""
    try:
        main()
    except VictorError as error:
        sys.exit(f"{Path(sys.argv[0]).stem}: {error}")
