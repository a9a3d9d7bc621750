"""Make the sample of general pages that keeps adapted models from forgetting them.

    python -m tools.replay --data wcxb:DIR dragnet:DIR l3s:DIR --model default --pages 120

Run it after training a new bundled model, with data that the model was trained on. It takes about a minute. The file
victorpy/data/models/replay.npz contains the inputs of the model's trees and the labels of about 50 blocks per page, and
the hashes of words and names that occur on several pages.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from victorpy.base.resources import shipped
from victorpy.columns import NEAR, Columns, Counts
from victorpy.columns.tokens import Hashes
from victorpy.config import Config
from victorpy.errors import DataError, VictorError
from victorpy.model.evidence.replay import REPLAY_FILE, Replay
from victorpy.model.evidence.stage import sample_blocks, training_weights
from victorpy.model.store import DEFAULT, Model, load_model
from victorpy.research.datasets import parse_data, read_dataset
from victorpy.research.gold import LabelledPage, label_page
from victorpy.sites.grouping import draw_sample

BLOCKS = 50  # number of blocks that are sampled from a page

FEWEST_PAGES = 2  # tokens on fewer pages are left out


def read_sample(specs: Sequence[str], count: int, config: Config) -> list[LabelledPage]:
    """Read and label a random sample of pages, the same number from each data set, at most one per site."""
    pages = []
    for spec in specs:
        kind, directory = parse_data(spec)
        by_site = {page.site: page for page in read_dataset(kind, directory, lambda _: None)}
        sampled = draw_sample(list(by_site.values()), count // len(specs), random.Random(1))
        pages += [label_page(page, spec, config) for page in sampled]
    return [page for page in pages if page.document.blocks and page.weights is None]


def make_replay(pages: Sequence[LabelledPage], model: Model) -> Replay:
    """Judge the pages, and join the arrays of sampled blocks."""
    stages = model.labeller.stages_
    if stages is None or stages.evidence is None:
        raise DataError("the model has no trees")
    chance = np.random.default_rng(1)
    rows: list[tuple[Any, ...]] = []
    names, words, totals = [], [], []
    name_count = block_count = 0
    for number, page in enumerate(pages):
        columns = Columns(page.document, model.config)
        findings = stages.evidence.judge(columns)
        blocks, weights = sample_blocks(training_weights(columns), BLOCKS, chance)
        content = np.array([label.is_content for label in page.labels])[blocks]
        ancestors = columns.near_names[1][columns.ancestors[:NEAR, blocks]] + name_count
        own_page = np.full(len(blocks), number)
        rows.append((findings.inputs[:, blocks], findings.log_odds[blocks], content, weights, own_page, ancestors))
        hashes, name = columns.near_name_tokens
        used = np.isin(name + name_count, ancestors)
        names.append((hashes[used], (name + name_count)[used]))
        hashes, block = columns.word_tokens
        place = np.full(columns.count, -1)
        place[blocks] = np.arange(len(blocks)) + block_count
        sampled = place[block] >= 0
        words.append((hashes[sampled], place[block][sampled]))
        totals.append((used.sum(), sampled.sum()))
        name_count += len(columns.near_names[0])
        block_count += len(blocks)
    arrays: list[Any] = [np.concatenate(parts, axis=-1) for parts in zip(*rows, strict=True)]
    inputs, log_odds, content, weights, page_of_block, ancestors = arrays
    tokens = frequent(names), frequent(words), np.array(totals).T
    return Replay(inputs, log_odds, content, weights, page_of_block, ancestors, *tokens)


def frequent(tokens: Sequence[tuple[Hashes, Counts]]) -> tuple[Hashes, Counts]:
    """Join the tokens of pages without those on few pages. The tokens of a block are sorted."""
    distinct, pages = np.unique(np.concatenate([np.unique(hashes) for hashes, _ in tokens]), return_counts=True)
    known = distinct[pages >= FEWEST_PAGES]
    hashes, owner = (np.concatenate(parts) for parts in zip(*tokens, strict=True))
    kept = np.isin(hashes, known)
    order = np.lexsort([hashes[kept], owner[kept]])
    return hashes[kept][order], owner[kept][order]


def main() -> None:
    """Make the sample and show its size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", required=True, metavar="KIND:DIR")
    parser.add_argument("--model", default=DEFAULT, metavar="NAME")
    parser.add_argument("--pages", type=int, default=120, metavar="N")
    parser.add_argument("-o", "--output", type=Path, default=shipped("models") / REPLAY_FILE, metavar="FILE")
    arguments = parser.parse_args()
    try:
        model = load_model(arguments.model)
        replay = make_replay(read_sample(arguments.data, arguments.pages, model.config), model)
    except VictorError as error:
        sys.exit(f"replay: {error}")
    replay.save(arguments.output, model.meta)
    pages, size = len(np.unique(replay.page)), arguments.output.stat().st_size
    print(f"{arguments.output}: {replay.count:,} blocks of {pages} pages, {size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
