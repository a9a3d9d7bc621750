"""Agree: measure how far annotators of the same pages agree, and show where they do not.

examples:
  victor agree alice/tea.anno bob/tea.anno               one page, two annotators
  victor agree alice/ bob/ carol/                        files with the same name belong together
  victor agree alice/ bob/ --disagreements all --json agreement.json -o report/

Cohen's kappa is computed for every pair and Fleiss' kappa for all: for five labels, for content and noise, and for each
label against the rest. Only blocks that everybody labelled count. Labels that only a model gave (they have a number in
the file) do not count, unless you give --with-models. --json writes every number and every disagreement; -o writes
report.md, report.html and scores.json.

exit codes: 0 all well, 1 some pages of the folders do not fit together or cannot be read (named on stderr and left
out), 2 wrong usage, or nothing to compare
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from victorpy.commands import EXIT_FAILED, Arguments
from victorpy.config import load_config
from victorpy.errors import DataError
from victorpy.research.agreement import compare_annotators
from victorpy.research.annotators import read_annotators
from victorpy.research.report import agreement
from victorpy.research.report.base import check_directory, to_text, write_json, write_report
from victorpy.research.report.shell import visible

SHOWN = 10


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    add = parser.add_argument
    add("annotations", nargs="+", type=Path, metavar="ANNOTATOR", help="an .anno file, or a folder of them, of each")
    shown = f"show the first N blocks that are labelled differently (default: {SHOWN})"
    add("--disagreements", type=_count, default=SHOWN, metavar="N|all", help=shown)
    add("--with-models", action="store_true", help="let labels count that only a model gave, as an annotator's")
    add("-c", "--config", help="cut all pages anew by this config; labels follow their text")
    add("--seed", type=int, default=1, help="for the intervals (default: 1)")
    add("--json", type=Path, metavar="FILE", help="where to write every number")
    add("-o", "--output", type=Path, metavar="DIR", help="where to write the report")


def _count(text: str) -> int | None:
    """Read a number of disagreements; None means all."""
    if text == "all":
        return None
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"a number or all, not {text!r}")
    return int(text)


def run(arguments: Arguments) -> int:
    """Read the pages, measure, print, write."""
    _check_targets(arguments)
    config = load_config(arguments.config) if arguments.config else None
    annotators = read_annotators(arguments.annotations, config, arguments.with_models)
    for message in (*annotators.unpaired, *annotators.refused):
        arguments.say(f"left out: {visible(message)}")
    unconfirmed = dict(zip(annotators.names, annotators.unconfirmed, strict=True))
    try:
        scores = compare_annotators(annotators.names, annotators.pages, arguments.seed)
    except DataError as error:
        if arguments.with_models or not any(unconfirmed.values()):
            raise
        names = ", ".join(name for name, count in unconfirmed.items() if count)
        raise DataError(f"{error}: those of {names} are a model's; --with-models lets them count") from error
    scores |= {
        "config": arguments.config,
        "unpaired": list(annotators.unpaired),
        "refused": list(annotators.refused),
        "with_models": arguments.with_models,
        "unconfirmed": unconfirmed,
    }
    print(to_text(agreement.summary(scores, arguments.disagreements)), end="")
    if arguments.json:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        write_json(arguments.json, scores)
    if arguments.output:
        title = f"Agreement of {', '.join(annotators.names)}"
        message = write_report(arguments.output, agreement.report(scores, title, arguments.disagreements), scores)
        print(f"\n{message}", file=sys.stderr)
    return EXIT_FAILED if annotators.refused else 0


def _check_targets(arguments: Arguments) -> None:
    """Raise an error for wrong arguments before any work is done."""
    if arguments.seed < 0:
        raise DataError(f"--seed is 0 or more, not {arguments.seed}")
    if arguments.output:
        check_directory(arguments.output)
    if arguments.json:
        check_directory(arguments.json.parent)
        if arguments.json.is_dir():
            raise DataError(f"{arguments.json}: is a folder; --json wants a file")
