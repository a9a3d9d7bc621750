"""A method that has learned from the pages of a site, ready to clean them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from victorpy.anno import load_anno
from victorpy.batch.records import Record
from victorpy.cleaner import Cleaner, read_document
from victorpy.config import Config
from victorpy.document import Document, Elements
from victorpy.errors import ConfigError, DataError, VictorError
from victorpy.labellers.site_style_tree import SAMPLE, SiteStyleTree
from victorpy.sites.store import load_tree
from victorpy.sites.style_tree import StyleTree

SEED = 1

Warn = Callable[[str], None]


def _quiet(said: str) -> None:
    """Say nothing."""


def learn_site(
    cleaner: Cleaner,
    records: Sequence[Record],
    labelled: Sequence[Path] = (),
    sample: int = SAMPLE,
    warn: Warn = _quiet,
) -> Cleaner:
    """Let a method see pages of a site: annotated ones first, then others chosen at random, one after the other."""
    examples = [load_anno(path, cleaner.config.cuts) for path in labelled]
    chosen = sample_records(records, max(sample - len(examples), 0))
    if len(chosen) + len(examples) < 2:
        raise DataError("a method that learns from a site needs at least two of its pages: give more, or --site DIR")
    documents = chain((example.document for example in examples), documents_of(chosen, cleaner.config, warn))
    labels = [*(example.labels for example in examples), *(None for _ in chosen)]
    return seeing(cleaner, sample).at_site(documents, labels)


def seeing(cleaner: Cleaner, sample: int) -> Cleaner:
    """The method with its own limit of pages, where it has the usual one, set to what is asked for."""
    parameters = cleaner.labeller.get_params()
    if parameters.get("sample") != SAMPLE:
        return cleaner
    return Cleaner(type(cleaner.labeller)(**parameters | {"sample": sample}), cleaner.config)


def use_tree(cleaner: Cleaner, path: Path, labelled: Sequence[Path] = ()) -> Cleaner:
    """Give the Site Style Tree a tree that was built before."""
    if not isinstance(cleaner.labeller, SiteStyleTree):
        raise DataError(f"{path}: is a site's style tree, which only --method sst can use; give a directory of pages")
    examples = [load_anno(each, cleaner.config.cuts) for each in labelled]
    labeller, tree = SiteStyleTree(**cleaner.labeller.get_params()), load_tree(path)
    _refuse_late_parameters(labeller, tree, path)
    labeller.with_tree(tree, [(example.document, example.labels) for example in examples])
    return Cleaner(labeller, cleaner.config)


def _refuse_late_parameters(labeller: SiteStyleTree, tree: StyleTree, path: Path) -> None:
    """Complain about parameters of building that differ from what a tree was built with: they would do nothing."""
    usual = SiteStyleTree()
    for name in ("styles", "virtual_leaves"):
        value, built = getattr(labeller, name), getattr(tree, name)
        if value not in {getattr(usual, name), built}:
            raise ConfigError(f"{path}: was built with {name}={built}; for {name}={value} build another tree")


def sample_records(records: Sequence[Record], count: int, seed: int = SEED) -> list[Record]:
    """Choose so many records, the same ones each time; all of them, in order, where there are no more."""
    if len(records) <= count:
        return list(records)
    chosen = sorted(random.Random(seed).sample(range(len(records)), count))
    return [records[number] for number in chosen]


def documents_of(records: Iterable[Record], config: Config, warn: Warn) -> Iterator[Document]:
    """Read pages one after the other; one that cannot be read is said, and has no blocks."""
    for record in records:
        try:
            yield read_document(record.read(), config, source=record.name)
        except (VictorError, OSError) as error:
            words = (error.strerror if isinstance(error, OSError) else None) or error
            warn(f"{record.name}: not learned from: {words}")
            yield Document((), Elements())
