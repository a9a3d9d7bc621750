"""Learn: train a model on annotated pages or on gold standards.

examples:
  victor learn --config cleaneval pages/*.anno            writes models/cleaneval
  victor learn --config my.conf annotated/ -o my-model    every .anno below a directory
  victor learn --config crf --data cleaneval:DIR          a gold standard; `victor list datasets` has the kinds
  victor clean --model my-model page.html                 clean with it

Annotated pages come from victor annotate. Labels that only a model gave (they have a number in the file) are used too,
with a warning. --only-confirmed leaves out the pages that have such labels.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from victorpy.commands import Arguments
from victorpy.commands._shared import add_data
from victorpy.config import Config, load_config
from victorpy.errors import DataError
from victorpy.model.store import check_target
from victorpy.model.train import find_annotations, find_unconfirmed, load_pages, train
from victorpy.outputs import CleanPage
from victorpy.research.compare.data import set_name
from victorpy.research.gold import VALUE_KINDS, load_gold, parse_data


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument("pages", nargs="*", metavar="FILE.anno", type=Path, help="annotation files or directories")
    add_data(parser, required=False)
    parser.add_argument("-c", "--config", default="default", help="a shipped config or a path (default: default)")
    parser.add_argument("-o", "--output", metavar="MODEL", type=Path, help="a directory (default: models/CONFIG)")
    parser.add_argument("--only-confirmed", action="store_true", help="leave out pages with undecided blocks")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress, no summary")


def run(arguments: Arguments) -> int:
    """Train and save."""
    config = load_config(arguments.config)
    target: Path = arguments.output or Path("models") / config.name
    check_target(target)
    began = time.perf_counter()
    pages, counts = _load(arguments, config)
    trained = train(pages, config, *((None,) if arguments.quiet else (_show_iteration, _show_stage)))
    story = trained.story
    if arguments.data:
        story["data"] = [set_name(spec) for spec in arguments.data if ":" in spec]
    trained.save(target)
    if not arguments.quiet:
        stages = trained.labeller.stages_
        labels = ", ".join(f"{count:,} {label}" for label, count in story["labels"].items())
        seconds = time.perf_counter() - began
        print(f"trained on {story['pages']:,} pages, {story['blocks']:,} blocks ({labels})")
        print(f"pages: {', '.join(f'{count:,} of {source}' for source, count in counts.items())}")
        print(f"{len(stages.crf.numbers) if stages else 0:,} attributes have weights; {seconds:.1f} s")
        print(
            f"on these same pages: {story['scores']['label_accuracy']:.2%} of labels right, "
            f"{story['scores']['content_accuracy']:.2%} of content against noise"
        )
        print(arguments.as_typed(f"saved: {target}; clean with it: victor clean --model {target} PAGE.html"))
    return 0


def _load(arguments: Arguments, config: Config) -> tuple[list[CleanPage], dict[str, int]]:
    """Return the pages to learn from, and the number of pages from each source."""
    specs = [spec for spec in arguments.data if ":" in spec or not Path(spec).exists()]
    typed_after_data = [Path(name) for name in arguments.data if name not in specs]
    kinds = {spec: parse_data(spec) for spec in specs}
    paths = arguments.pages + typed_after_data + [path for kind, path in kinds.values() if kind == "anno"]
    if not (paths or specs):
        raise DataError("what should be learned from? give annotation files, or gold standards with --data KIND:DIR")
    pages = _load_annotations(arguments, find_annotations(paths), config) if paths else []
    counts = {"annotation files": len(pages)} if paths else {}

    def warn(message: str) -> None:
        arguments.say(f"left out: {message}")

    for spec in [spec for spec in specs if kinds[spec][0] != "anno"]:
        if kinds[spec][0] in VALUE_KINDS:
            arguments.say(f"{spec}: its gold is values, not texts: the model will learn to keep these values only")
        for page in load_gold([spec], config, warn):
            if page.document.blocks:
                pages.append(page.annotated)
            else:
                warn(f"{kinds[spec][0]}: {page.name}: there is no text in it")
        counts[spec] = len(pages) - sum(counts.values())
    if not pages:
        raise DataError(f"{', '.join(specs)}: there is no page that can be learned from")
    return pages, counts


def _load_annotations(arguments: Arguments, files: Sequence[Path], config: Config) -> list[CleanPage]:
    """Read annotation files. Leave out unconfirmed ones with --only-confirmed, else warn of them."""
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
        arguments.say(
            f"{problem}: {consequence}; --only-confirmed leaves these files out, victor annotate finishes them"
        )
        return pages
    left_out = {file.path for file in unconfirmed}
    confirmed = [file for file in files if file not in left_out]
    if not confirmed:
        raise DataError(f"--only-confirmed leaves nothing to learn from: {problem}; finish some with victor annotate")
    arguments.note(f"left out: {problem}")
    return load_pages(confirmed, config)


def _show_stage(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def _show_iteration(info: Mapping[str, Any]) -> None:
    loss = f"loss {info['loss']:.1f}" if "loss" in info else ""
    print(f"iteration {info['num']:>4}  {loss}  {info.get('time', 0):.2f} s", file=sys.stderr, flush=True)
