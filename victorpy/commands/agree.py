"""Measure how well annotators of the same pages agree, and show where they disagree.

examples:
  victor agree alice/tea.anno bob/tea.anno               compare two annotators on one page
  victor agree alice/ bob/ carol/                        compare files with the same name
  victor agree alice/ bob/ --disagreements all --json agreement.json -o report/

The report gives Cohen's kappa for each pair of annotators and Fleiss' kappa for all: for the five labels, for content
and noise, and for each label against the rest. Only blocks that every annotator labelled count. Unconfirmed labels of a
model count only with --with-models.

exit codes: 0 success, 1 some pages cannot be read or compared (named on stderr), 2 wrong usage or nothing to compare
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from victorpy.commands import EXIT_FAILED, Arguments
from victorpy.commands._shared import add_number
from victorpy.config import load_config
from victorpy.errors import DataError
from victorpy.research.agreement import compare_annotators, read_annotators
from victorpy.research.report import agreement
from victorpy.research.report.base import check_directory, to_text, write_json, write_report

SHOWN = 10


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("annotations", nargs="+", type=Path, metavar="ANNOTATOR", help="each annotator's .anno file or folder")
    shown = f"number of disagreements to show (default: {SHOWN})"
    add("--disagreements", default=str(SHOWN), metavar="N|all", help=shown)
    add("--with-models", action="store_true", help="also count unconfirmed labels of a model")
    add("-c", "--config", metavar="NAME", help="split all pages again by this config")
    add_number(parser, "--seed", default=1, help="seed of the confidence intervals")
    add("--json", type=Path, metavar="FILE", help="JSON file for all numbers and disagreements")
    add("-o", "--output", type=Path, metavar="DIR", help="directory for report.html, report.md and scores.json")


def run(arguments: Arguments) -> int:
    if not (arguments.disagreements == "all" or arguments.disagreements.isdecimal()):
        raise DataError(f"--disagreements must be a number or all, not {arguments.disagreements!r}")
    limit = None if arguments.disagreements == "all" else int(arguments.disagreements)
    if arguments.seed < 0:
        raise DataError(f"--seed must be at least 0, not {arguments.seed}")
    if arguments.output:
        check_directory(arguments.output)
    if arguments.json:
        check_directory(arguments.json.parent)
        if arguments.json.is_dir():
            raise DataError(f"--json {arguments.json} is a directory; name a file")
    config = load_config(arguments.config) if arguments.config else None
    annotators = read_annotators(arguments.annotations, config, arguments.with_models)
    for message in (*annotators.unpaired, *annotators.refused):
        arguments.say(f"left out: {message}")
    unconfirmed = dict(zip(annotators.names, annotators.unconfirmed, strict=True))
    try:
        scores = compare_annotators(annotators.names, annotators.pages, arguments.seed)
    except DataError as error:
        if arguments.with_models or not any(unconfirmed.values()):
            raise
        names = ", ".join(name for name, count in unconfirmed.items() if count)
        raise DataError(f"{error}: the labels of {names} are unconfirmed; count them with --with-models") from error
    scores |= {
        "config": arguments.config,
        "unpaired": list(annotators.unpaired),
        "refused": list(annotators.refused),
        "with_models": arguments.with_models,
        "unconfirmed": unconfirmed,
    }
    print(to_text(agreement.summary(scores, limit)), end="")
    if arguments.json:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        write_json(arguments.json, scores)
    if arguments.output:
        title = f"Agreement of {', '.join(annotators.names)}"
        message = write_report(arguments.output, agreement.report(scores, title, limit), scores)
        print(f"\n{message}", file=sys.stderr)
    return EXIT_FAILED if annotators.refused else 0
