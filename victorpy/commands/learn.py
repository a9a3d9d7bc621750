"""Learn: train a model on annotated pages.

examples:
  learn.py --config cleaneval pages/*.anno             writes models/cleaneval
  learn.py --config my.conf annotated/ -o my-model     every .anno below a directory
  clean.py --model my-model page.html                  clean with it

Annotated pages come from annotate.py, or from gold standards by `victor convert`. Labels that only a model gave (a
number stands beside them in the file) are learned from too, with a warning that counts them; --only-confirmed leaves
out the pages that have such labels.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from victorpy.config import Config, load_config
from victorpy.errors import DataError
from victorpy.model.store import check_target
from victorpy.model.train import find_annotations, find_unconfirmed, load_pages, train
from victorpy.outputs import CleanPage


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument(
        "pages", nargs="+", metavar="FILE.anno", type=Path, help="annotation files, or directories of them"
    )
    parser.add_argument("-c", "--config", default="default", help="a shipped config or a path (default: default)")
    parser.add_argument(
        "-o", "--output", metavar="MODEL", type=Path, help="the model directory (default: models/CONFIG)"
    )
    parser.add_argument(
        "--only-confirmed", action="store_true", help="leave out pages with blocks that nobody has decided on"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress, no summary")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Train and save."""
    config = load_config(arguments.config)
    target: Path = arguments.output or Path("models") / config.name
    check_target(target)
    began = time.perf_counter()
    pages = _load(arguments, config)
    trained = train(pages, config, *((None,) if arguments.quiet else (_show_iteration, _show_stage)))
    trained.save(target)
    if not arguments.quiet:
        story, tables = trained.story, trained.labeller.tables_
        labels = ", ".join(f"{count:,} {label}" for label, count in story["labels"].items())
        seconds = time.perf_counter() - began
        print(f"trained on {story['pages']:,} pages, {story['blocks']:,} blocks ({labels})")
        print(f"{len(tables.numbers) if tables else 0:,} attributes have weights; {seconds:.1f} s")
        print(
            f"on these same pages: {story['scores']['label_accuracy']:.2%} of labels right, "
            f"{story['scores']['content_accuracy']:.2%} of content against noise"
        )
        print(f"saved: {target}; clean with it: clean.py --model {target} PAGE.html")
    return 0


def _load(arguments: argparse.Namespace, config: Config) -> list[CleanPage]:
    """Read the pages to learn from. Leave out unconfirmed files with --only-confirmed, else warn of them."""
    files = find_annotations(arguments.pages)
    unconfirmed = find_unconfirmed(files)
    if not unconfirmed:
        return load_pages(files, config)
    first = unconfirmed[0]
    blocks = sum(file.blocks for file in unconfirmed)
    problem = (
        f"{len(unconfirmed):,} of {len(files):,} files have blocks that nobody has decided on, {blocks:,} in all "
        f"(the first: {first.path}, {first.blocks:,} of {first.of:,})"
    )
    if not arguments.only_confirmed:
        pages = load_pages(files, config)
        consequence = "what a model said of them is learned as if it were right"
        advice = "--only-confirmed leaves these files out, annotate.py finishes them"
        _show_stage(f"learn: {problem}: {consequence}; {advice}")
        return pages
    left_out = {file.path for file in unconfirmed}
    confirmed = [file for file in files if file not in left_out]
    if not confirmed:
        raise DataError(f"--only-confirmed leaves nothing to learn from: {problem}; finish some with annotate.py")
    if not arguments.quiet:
        _show_stage(f"learn: left out: {problem}")
    return load_pages(confirmed, config)


def _show_stage(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def _show_iteration(info: Mapping[str, Any]) -> None:
    loss = f"loss {info['loss']:.1f}" if "loss" in info else ""
    print(f"iteration {info['num']:>4}  {loss}  {info.get('time', 0):.2f} s", file=sys.stderr, flush=True)
