"""Convert: make annotation files of a gold standard.

examples:
  victor convert --from cleaneval cleaneval/dev --to anno annotated/ --config cleaneval
  victor annotate annotated/                                 look at the labels, and correct them

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
from victorpy.research.gold import label_page


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("directory", type=Path, help="where the data set lies")
    parser.add_argument("--from", dest="kind", required=True, metavar="KIND", help="its layout: victor list datasets")
    parser.add_argument("--to", dest="format", default="anno", metavar="FORMAT", help="what to write (default: anno)")
    parser.add_argument("output", type=Path, metavar="OUT", help="the directory to write to")
    parser.add_argument("-c", "--config", default="default", help="how pages are cut into blocks (default: default)")


def run(arguments: Arguments) -> int:
    """Align every page with its gold and write it."""
    config = load_config(arguments.config)
    output = find_output(arguments.format)
    done, warnings = 0, []

    def warn(message: str) -> None:
        warnings.append(message)
        arguments.say(message)

    for page in tqdm(read_dataset(arguments.kind, arguments.directory, warn), unit="page", disable=None):
        try:
            text = output.render(label_page(page, "", config).annotated)
        except VictorError as error:
            warn(f"{page.name}: {error}")
            continue
        target = arguments.output / f"{page.name}{output.suffix}"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8", errors="backslashreplace", newline="")
        done += 1
    arguments.say(f"{done} pages written to {arguments.output}, {len(warnings)} left out")
    return 0
