"""Write the pages of a gold standard as annotation files.

examples:
  victor convert --from cleaneval cleaneval/dev annotated/ --config cleaneval
  victor annotate annotated/                                 review and correct the labels
  victor convert --from anno annotated/ tasks/ --to label-studio
  victor convert --from label-studio exported/ annotated/    read annotations exported from Label Studio as JSON

`victor learn --data cleaneval:DIR` trains on a gold standard without converting it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tqdm import tqdm

from victorpy.base.files import read_regular
from victorpy.commands import EXIT_FAILED, Arguments
from victorpy.config import load_config
from victorpy.errors import AnnotationError, ConfigError, DataError, VictorError
from victorpy.outputs import find_output
from victorpy.outputs.label_studio import read_tasks
from victorpy.research.datasets import read_dataset
from victorpy.research.gold import convert_page

LABEL_STUDIO = "label-studio"


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("directory", type=Path, metavar="DIR", help="directory of the gold standard, or an export of Label Studio")
    add("output", type=Path, metavar="OUT", help="output directory")
    kind = f"kind of gold standard, as in victor list datasets, or {LABEL_STUDIO}"
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

    def write(name: str, text: str) -> None:
        nonlocal written
        target = arguments.output / f"{name}{output.suffix}"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8", errors="backslashreplace", newline="")
        written += 1

    if arguments.kind == LABEL_STUDIO:
        if output.name != "anno":
            raise ConfigError(f"--from {LABEL_STUDIO} writes annotation files; leave out --to {arguments.format}")
        named: Path = arguments.directory
        exports = [named] if named.is_file() else sorted(named.glob("*.json"))
        if not exports:
            raise DataError(f"{arguments.directory}: no .json files exported from Label Studio")
        for path in exports:
            try:
                exported = read_regular(path).decode("utf-8", "replace")
                texts = [*read_tasks(exported, load_config("default").cuts, str(path))]
            except AnnotationError as error:
                warn(str(error))
                continue
            for number, text in enumerate(texts, 1):
                write(path.stem if len(texts) == 1 else f"{path.stem}-{number}", text)
        arguments.say(f"{written} pages written to {arguments.output}, {left_out} files left out")
        return EXIT_FAILED if left_out else 0
    for page in tqdm(read_dataset(arguments.kind, arguments.directory, warn), unit="page", disable=None):
        try:
            text = convert_page(page, output, config)
        except VictorError as error:
            warn(f"{page.name}: {error}")
            continue
        write(page.name, text)
    arguments.say(f"{written} pages written to {arguments.output}, {left_out} left out")
    return 0
