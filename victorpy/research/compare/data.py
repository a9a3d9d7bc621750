"""Data sets, site by site: a method may learn from a site's pages before it cleans them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from victorpy.errors import DataError
from victorpy.research.compare.provenance import set_name
from victorpy.research.datasets import GoldPage, read_dataset
from victorpy.research.datasets.base import Warn
from victorpy.research.gold import VALUE_KINDS, parse_data


@dataclass(frozen=True, slots=True)
class DataSet:
    """A data set that was read once: its sites, and the number of pages of each."""

    name: str
    """Name in results: the kind, with the name of the directory if several sets are of one kind."""
    source: str
    """The kind and the name of the directory."""
    kind: str
    directory: Path
    sites: dict[str, int]

    @property
    def has_values(self) -> bool:
        """Whether the gold is values instead of texts."""
        return self.kind in VALUE_KINDS

    @property
    def measure(self) -> str:
        """Name of the deciding measure: word F1, or the share of values that survive."""
        return "value_recall" if self.has_values else "words_f1"

    def read_sites(self) -> Iterator[tuple[str, list[GoldPage]]]:
        """Read the pages again, and yield each site as soon as it is complete, so that few pages are held."""
        incomplete: dict[str, list[GoldPage]] = {}
        for page in read_dataset(self.kind, self.directory, lambda _: None):
            site = _site_name(self.kind, page)
            pages = incomplete.setdefault(site, [])
            pages.append(page)
            if len(pages) == self.sites.get(site):
                yield site, incomplete.pop(site)


def _site_name(kind: str, page: GoldPage) -> str:
    """Return the site of a page. A shop of SWDE is one site per vertical, since its templates differ."""
    return f"{page.page_type}-{page.site}" if kind in VALUE_KINDS else page.site


def open_sets(specs: Sequence[str], warn: Warn) -> list[DataSet]:
    """Read data sets given as ``KIND:DIR`` once; warnings about pages are given here and not again."""
    sources = [set_name(spec) for spec in specs]
    repeated = [source for source, times in Counter(sources).items() if times > 1]
    if repeated:
        raise DataError(f"two data sets have the same name, {', '.join(repeated)}: compare them one after the other")
    kinds = Counter(parse_data(spec)[0] for spec in specs)
    sets = []
    for spec, source in zip(specs, sources, strict=True):
        kind, directory = parse_data(spec)
        sites = Counter(_site_name(kind, page) for page in read_dataset(kind, directory, warn))
        sets.append(DataSet(kind if kinds[kind] == 1 else source, source, kind, directory, dict(sites)))
    return sets
