"""Data sets, site by site: a method may learn from a site's pages before it cleans them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from victorpy.compare.provenance import set_name
from victorpy.datasets import GoldPage, read_dataset
from victorpy.datasets.base import Warn
from victorpy.errors import DataError
from victorpy.gold import LabelledPage, parse_data

VALUE_KINDS = frozenset(["swde"])
"""Data sets whose gold is values that a cleaner must keep, and not the text that it should give."""


@dataclass(frozen=True, slots=True)
class DataSet:
    """A data set, looked through once: which sites it has, and how many pages of each."""

    name: str
    """What results call it: its kind, or with the name of its directory where several are of a kind."""
    source: str
    """Its kind and the name of its directory."""
    kind: str
    directory: Path
    sites: dict[str, int]

    @property
    def pages(self) -> int:
        """How many pages it has."""
        return sum(self.sites.values())

    @property
    def has_values(self) -> bool:
        """Whether its gold is values instead of texts."""
        return self.kind in VALUE_KINDS

    def read_sites(self) -> Iterator[tuple[str, list[GoldPage]]]:
        """Read the pages again and give each site's as soon as all are there, so that few are held at a time."""
        waiting: dict[str, list[GoldPage]] = {}
        for page in read_dataset(self.kind, self.directory, lambda _: None):
            site = site_name(self.kind, page)
            pages = waiting.setdefault(site, [])
            pages.append(page)
            if len(pages) == self.sites.get(site):
                yield site, waiting.pop(site)


def site_name(kind: str, page: GoldPage | LabelledPage) -> str:
    """The site of a page; SWDE's are of one vertical each, for it has shops in several, with other templates."""
    return f"{page.page_type}-{page.site}" if kind in VALUE_KINDS else page.site


def open_sets(specs: Sequence[str], warn: Warn) -> list[DataSet]:
    """Look through data sets given as ``KIND:DIR``; what is wrong with a page is told once, here."""
    sources = [set_name(spec) for spec in specs]
    twice = [source for source, times in Counter(sources).items() if times > 1]
    if twice:
        raise DataError(f"two data sets have the same name, {', '.join(twice)}: compare them one after the other")
    kinds = Counter(parse_data(spec)[0] for spec in specs)
    sets = []
    for spec, source in zip(specs, sources, strict=True):
        kind, directory = parse_data(spec)
        sites = Counter(site_name(kind, page) for page in read_dataset(kind, directory, warn))
        sets.append(DataSet(kind if kinds[kind] == 1 else source, source, kind, directory, dict(sites)))
    return sets
