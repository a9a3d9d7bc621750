"""Merge the parts that `victor clean --part` has written: check that all are there, and write one manifest.

examples:
  victor clean @paths.txt --part 1/2 -o corpus.jsonl.gz/     on one machine
  victor clean @paths.txt --part 2/2 -o corpus.jsonl.gz/     on another one with the same file system
  victor merge corpus.jsonl.gz/ --summary s.json

exit codes: 0 success, 1 some pages failed (listed in failed.jsonl), 2 a part is missing or not complete
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from victorpy.batch.local.progress import summary_table
from victorpy.batch.store import merge_splits
from victorpy.commands import EXIT_FAILED, Arguments, _shared


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("output", type=Path, metavar="OUT", help="the output directory of all parts")
    parser.add_argument("--summary", type=Path, metavar="FILE", help="write the counts of all parts to a JSON file")
    parser.add_argument("-q", "--quiet", action="store_true", help="print no summary")


def run(arguments: Arguments) -> int:
    _shared.check_written("--summary", arguments.summary)
    summary = merge_splits(arguments.output)
    _shared.write_summary(arguments, summary)
    if not arguments.quiet:
        print(summary_table(summary), file=sys.stderr)
    return EXIT_FAILED if summary["failed"] else 0
