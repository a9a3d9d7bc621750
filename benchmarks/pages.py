"""The pages that benchmarks run on, and which of them a model was trained on."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from victorpy.datasets import GoldPage, read_dataset
from victorpy.gold import parse_data
from victorpy.model import load_model

SAMPLE = f"anno:{Path(__file__).parents[1] / 'data'}"

TRAINED_ON = {"default": ("wcxb", "dragnet", "l3s", "cleaneval"), "cleaneval": ("cleaneval",)}
"""The kinds of data that bundled models were trained on, where their meta.json does not say it ..."""

KEPT_ASIDE = "test"
"""... except for a directory of this name."""


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


def set_name(spec: str) -> str:
    """Name a data set without saying where on this machine it lies: ``wcxb:/somewhere/wcxb/dev`` is wcxb:dev."""
    kind, directory = parse_data(spec)
    return f"{kind}:{directory.resolve().name}"


def training_sets(model: str, sets: Sequence[str]) -> list[str]:
    """Find which of the data sets a model was trained on, as far as that is known."""
    named = load_model(model).meta.get("training", {}).get("data") or TRAINED_ON.get(model, ())
    return [data for data in sets if is_among(data, named)]


def is_among(data: str, named: Sequence[str]) -> bool:
    """Whether a data set is named, or its whole kind is.

    >>> [is_among(data, ["wcxb", "cleaneval:dev"]) for data in ("wcxb:dev", "wcxb:test", "cleaneval:final")]
    [True, False, False]
    """
    kind, _, name = data.partition(":")
    return data in named or (kind in named and name != KEPT_ASIDE)
