"""Train a model on annotated pages or gold standards.

examples:
  victor learn --config cleaneval pages/*.anno            write models/cleaneval
  victor learn --config my.conf annotated/ -o my-model    read every .anno file below a directory
  victor learn --config crf --data cleaneval:DIR          train on a gold standard
  victor clean --model my-model page.html                 clean with the new model

`victor annotate` writes .anno files. Unconfirmed predictions in them are used as labels, with a warning. To leave out
files with unconfirmed predictions, give --only-confirmed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tqdm import tqdm

from victorpy.commands import Arguments
from victorpy.commands._shared import add_data, add_site_key
from victorpy.config import Config, load_config
from victorpy.errors import DataError
from victorpy.model.evidence.stage import Weights
from victorpy.model.store import check_target
from victorpy.model.train import find_annotations, find_unconfirmed, load_pages, train
from victorpy.outputs import CleanPage
from victorpy.research.datasets import parse_data, set_name
from victorpy.research.gold import load_gold
from victorpy.sites.grouping import SITE_KEYS

FEW_ITERATIONS = 50
"""Outside a terminal, one of this many iterations is reported."""


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("pages", nargs="*", metavar="FILE.anno", type=Path, help="annotation files or directories")
    add_data(parser, required=False)
    add("-c", "--config", metavar="NAME", default="default", help="a shipped config or a file (default: default)")
    add("-o", "--output", metavar="MODEL", type=Path, help="model directory (default: models/CONFIG)")
    add("--only-confirmed", action="store_true", help="leave out files with unconfirmed labels")
    add_site_key(parser)
    add("-q", "--quiet", action="store_true", help="print no progress and no summary")


def run(arguments: Arguments) -> int:
    config = load_config(arguments.config)
    target: Path = arguments.output or Path("models") / config.name
    check_target(target)
    began = time.perf_counter()
    pages, weights, counts = _load(arguments, config)
    if arguments.quiet:
        trained = train(pages, config, site_key=arguments.site_key, weights=weights)
    else:
        with tqdm(desc="CRF", unit=" iterations", bar_format="{desc}: {n_fmt}{unit}{postfix}", disable=None) as bar:

            def show_iteration(info: Mapping[str, Any]) -> None:
                loss = f"loss {info['loss']:.1f}" if "loss" in info else ""
                bar.set_postfix_str(loss, refresh=False)
                bar.update()
                if bar.disable and info["num"] % FEW_ITERATIONS == 1:  # not a terminal
                    print(f"iteration {info['num']:>4}  {loss}", file=sys.stderr, flush=True)

            show = partial(tqdm.write, file=sys.stderr)
            trained = train(pages, config, show_iteration, show, arguments.site_key, weights)
    story = trained.training
    if arguments.data:
        story["data"] = [set_name(spec) for spec in arguments.data if ":" in spec]
    if arguments.site_key != SITE_KEYS[0]:
        story["site_key"] = arguments.site_key
    trained.save(target)
    _warn_about(arguments, pages)
    if not arguments.quiet:
        stages = trained.labeller.stages_
        labels = ", ".join(f"{count:,} {label}" for label, count in story["labels"].items())
        sources = ", ".join(f"{count:,} from {source}" for source, count in counts.items())
        attributes = len(stages.crf.numbers) if stages else 0
        scores = story["scores"]
        print(f"trained on {story['pages']:,} pages, {story['blocks']:,} blocks ({labels})")
        print(f"pages: {sources}")
        print(f"{attributes:,} attributes have weights; training took {time.perf_counter() - began:.1f} s")
        print(
            f"on the training pages, {scores['label_accuracy']:.2%} of labels are right, "
            f"and {scores['content_accuracy']:.2%} if only content and noise count"
        )
        print(arguments.as_typed(f"saved {target}; to clean with it: victor clean --model {target} PAGE.html"))
    return 0


def _load(arguments: Arguments, config: Config) -> tuple[list[CleanPage], Weights, dict[str, int]]:
    """Return the training pages, the weights of their blocks, and the number of pages from each source."""
    specs = [spec for spec in arguments.data if ":" in spec or not Path(spec).exists()]
    typed_after_data = [Path(name) for name in arguments.data if name not in specs]
    kinds = {spec: parse_data(spec) for spec in specs}
    paths = arguments.pages + typed_after_data + [path for kind, path in kinds.values() if kind == "anno"]
    if not (paths or specs):
        raise DataError("nothing to learn from; give annotation files, or gold standards with --data KIND:DIR")
    pages = _load_annotations(arguments, find_annotations(paths), config) if paths else []
    weights: list[Sequence[float] | None] = [None] * len(pages)
    counts = {"annotation files": len(pages)} if paths else {}

    def warn(message: str) -> None:
        arguments.say(f"left out: {message}")

    for spec in [spec for spec in specs if kinds[spec][0] != "anno"]:
        for page in load_gold([spec], config, warn, arguments.site_key):
            if page.document.blocks:
                pages.append(page.annotated)
                weights.append(page.weights)
            else:
                warn(f"{kinds[spec][0]}: {page.name}: the page has no text")
        counts[spec] = len(pages) - sum(counts.values())
    if not pages:
        raise DataError(f"{', '.join(specs)}: no usable page")
    return pages, weights, counts


def _warn_about(arguments: Arguments, pages: Sequence[CleanPage]) -> None:
    """Warn if there is only one page, or if a page occurs with different labels."""
    if len(pages) == 1:
        arguments.note(
            "there is only one page to learn from; the model will hardly work on others, so annotate more pages"
        )
    labels_by_page: dict[int, set[tuple[str, ...]]] = {}
    for page in pages:
        texts = hash(tuple(block.text for block in page.document.blocks))
        labels_by_page.setdefault(texts, set()).add(tuple(page.labels))
    disputed = sum(len(labellings) > 1 for labellings in labels_by_page.values())
    if disputed:
        arguments.note(f"pages that occur several times with different labels: {disputed:,}; keep one version of each")


def _load_annotations(arguments: Arguments, files: Sequence[Path], config: Config) -> list[CleanPage]:
    """Read annotation files. Skip unconfirmed ones with --only-confirmed, else warn."""
    unconfirmed = find_unconfirmed(files)
    if not unconfirmed:
        return load_pages(files, config)
    first = unconfirmed[0]
    blocks = sum(file.blocks for file in unconfirmed)
    problem = (
        f"{len(unconfirmed):,} of {len(files):,} files have unconfirmed labels, {blocks:,} in all "
        f"(the first: {first.path}, {first.blocks:,} of {first.of:,})"
    )
    if not arguments.only_confirmed:
        pages = load_pages(files, config)
        arguments.say(f"{problem}; skip these files with --only-confirmed, or confirm labels with victor annotate")
        return pages
    left_out = {file.path for file in unconfirmed}
    confirmed = [file for file in files if file not in left_out]
    if not confirmed:
        raise DataError(f"--only-confirmed leaves nothing to learn from: {problem}; finish some with victor annotate")
    arguments.note(f"left out: {problem}")
    return load_pages(confirmed, config)
