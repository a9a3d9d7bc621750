"""Write the pages of a gold standard as annotation files.

examples:
  victor convert --from cleaneval cleaneval/dev annotated/ --config cleaneval
  victor annotate annotated/                                 review and correct the labels

`victor learn --data cleaneval:DIR` trains on a gold standard without converting it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tqdm import tqdm

from victorpy.commands import Arguments
from victorpy.config import load_config
from victorpy.errors import VictorError
from victorpy.outputs import find_output
from victorpy.research.datasets import read_dataset
from victorpy.research.gold import convert_page


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("directory", type=Path, metavar="DIR", help="directory of the gold standard")
    add("output", type=Path, metavar="OUT", help="output directory")
    kind = "kind of gold standard; victor list datasets shows all"
    add("--from", dest="kind", required=True, metavar="KIND", help=kind)
    add("--to", dest="format", default="anno", metavar="FORMAT", help="output format (default: anno)")
    config = "config that splits pages (default: default; annotation files keep their blocks)"
    add("-c", "--config", metavar="NAME", help=config)


def run(arguments: Arguments) -> int:
    config = load_config(arguments.config) if arguments.config else None
    output = find_output(arguments.format)
    written, left_out = 0, 0

    def warn(message: str) -> None:
        nonlocal left_out
        left_out += 1
        arguments.say(message)

    for page in tqdm(read_dataset(arguments.kind, arguments.directory, warn), unit="page", disable=None):
        try:
            text = convert_page(page, output, config)
        except VictorError as error:
            warn(f"{page.name}: {error}")
            continue
        target = arguments.output / f"{page.name}{output.suffix}"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8", errors="backslashreplace", newline="")
        written += 1
    arguments.say(f"{written} pages written to {arguments.output}, {left_out} left out")
    return 0
