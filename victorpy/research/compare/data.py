"""Data sets site by site, since a method may learn from a site before it cleans it; and what models were trained on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from victorpy.errors import DataError
from victorpy.model.store import load_model
from victorpy.research.datasets import GoldPage, read_dataset
from victorpy.research.datasets.base import Warn
from victorpy.research.gold import VALUE_KINDS, parse_data
from victorpy.sites.grouping import SITE_KEYS

TRAINED_ON = {"default": ("wcxb", "dragnet", "l3s", "cleaneval"), "cleaneval": ("cleaneval",)}
"""Kinds of data that bundled models were trained on, if their meta.json does not say so ..."""

KEPT_ASIDE = "test"
"""... except for a directory of this name."""


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
    site_key: str = SITE_KEYS[0]

    @property
    def has_values(self) -> bool:
        """Whether the gold is values instead of texts."""
        return self.kind in VALUE_KINDS

    @property
    def measure(self) -> str:
        """Name of the deciding measure: word F1, or the share of values kept."""
        return "value_recall" if self.has_values else "words_f1"

    def read_sites(self) -> Iterator[tuple[str, list[GoldPage]]]:
        """Read the pages again, and yield each site as soon as it is complete, so that few pages are held."""
        incomplete: dict[str, list[GoldPage]] = {}
        for page in read_dataset(self.kind, self.directory, lambda _: None, self.site_key):
            site = _site_name(self.kind, page)
            pages = incomplete.setdefault(site, [])
            pages.append(page)
            if len(pages) == self.sites.get(site):
                yield site, incomplete.pop(site)


def _site_name(kind: str, page: GoldPage) -> str:
    """Return the site of a page. A shop of SWDE is one site per vertical, since its templates differ."""
    return f"{page.page_type}-{page.site}" if kind in VALUE_KINDS else page.site


def open_sets(specs: Sequence[str], warn: Warn, site_key: str = SITE_KEYS[0]) -> list[DataSet]:
    """Read data sets given as ``KIND:DIR`` once. Warnings about pages are given here and not again."""
    sources = [set_name(spec) for spec in specs]
    repeated = [source for source, times in Counter(sources).items() if times > 1]
    if repeated:
        raise DataError(f"two data sets have the same name, {', '.join(repeated)}: compare them one after the other")
    kinds = Counter(parse_data(spec)[0] for spec in specs)
    sets = []
    for spec, source in zip(specs, sources, strict=True):
        kind, directory = parse_data(spec)
        sites = Counter(_site_name(kind, page) for page in read_dataset(kind, directory, warn, site_key))
        sets.append(DataSet(kind if kinds[kind] == 1 else source, source, kind, directory, dict(sites), site_key))
    return sets


def set_name(spec: str) -> str:
    """Name a data set without its path on this machine: ``wcxb:/somewhere/wcxb/dev`` is wcxb:dev."""
    kind, directory = parse_data(spec)
    return f"{kind}:{directory.resolve().name}"


def training_sets(model: str, sets: Sequence[str]) -> list[str]:
    """Return the data sets that a model is known to have been trained on."""
    meta = load_model(model).meta
    return [data for data in sets if was_trained_on(model, meta, data)]


def was_trained_on(model: str, meta: Mapping[str, Any], data: str) -> bool | None:
    """Whether a model was trained on a data set; None if its training data is not recorded.

    >>> meta = {"training": {"data": ["wcxb", "cleaneval:dev"]}}
    >>> [was_trained_on("my", meta, data) for data in ("wcxb:dev", "wcxb:test", "cleaneval:final")]
    [True, False, False]
    """
    recorded = meta.get("training", {}).get("data") or TRAINED_ON.get(model)
    if recorded is None:
        return None
    kind, _, name = data.partition(":")
    return data in recorded or (kind in recorded and name != KEPT_ASIDE)
