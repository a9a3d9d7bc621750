"""The pages that benchmarks run on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from victorpy.research.compare import DataSet, open_sets
from victorpy.research.datasets import GoldPage, parse_data, read_dataset, set_name

ROOT = Path(__file__).parents[2]
SAMPLE = f"anno:{ROOT / 'data'}"


class Sampled(NamedTuple):
    """A gold page and the short name of its data set."""

    data: str
    gold: GoldPage


def read_sites(
    specs: Sequence[str], least: int, most: int | None = None
) -> Iterator[tuple[DataSet, str, list[GoldPage]]]:
    """Yield the sites with at least `least` pages, with the first `most` pages of each."""
    for data in open_sets(specs, lambda _: None):
        yield from ((data, name, pages[:most]) for name, pages in data.read_sites() if len(pages) >= least)


def read_pages(specs: Sequence[str], step: int = 1) -> Iterator[Sampled]:
    """Read every step-th page of data sets; pages that cannot be used are left out."""
    for spec in specs:
        kind, directory = parse_data(spec)
        for number, gold in enumerate(read_dataset(kind, directory, lambda _: None)):
            if number % step == 0:
                yield Sampled(set_name(spec), gold)
