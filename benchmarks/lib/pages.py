"""The pages that benchmarks run on."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from victorpy.research.compare.provenance import set_name
from victorpy.research.datasets import GoldPage, read_dataset
from victorpy.research.gold import parse_data

SAMPLE = f"anno:{Path(__file__).parents[2] / 'data'}"


class Sampled(NamedTuple):
    """A gold page and the short name of its data set."""

    data: str
    gold: GoldPage


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Let a benchmark be told what pages to take."""
    parser.add_argument("--data", nargs="+", default=[SAMPLE], metavar="KIND:DIR", help="gold standards")
    parser.add_argument("--step", type=int, default=1, help="take every so many pages of each set (default: 1)")


def read_pages(specs: Sequence[str], step: int) -> Iterator[Sampled]:
    """Read every so many pages of data sets; what is wrong with a page leaves it out."""
    for spec in specs:
        kind, directory = parse_data(spec)
        for number, gold in enumerate(read_dataset(kind, directory, lambda _: None)):
            if number % step == 0:
                yield Sampled(set_name(spec), gold)
