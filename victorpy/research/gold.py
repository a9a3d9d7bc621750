"""Gold pages as labelled documents: what training and measuring start from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from victorpy.cleaner import read_document
from victorpy.config import Config
from victorpy.document import Document, Label
from victorpy.errors import DataError, VictorError
from victorpy.outputs import CleanPage
from victorpy.outputs.text import render_cleaneval
from victorpy.research.align import Gold, align
from victorpy.research.datasets import DATASETS, GoldPage, read_dataset
from victorpy.research.datasets.base import Warn
from victorpy.sites.grouping import SITE_KEYS

_TAGS = {Label.HEADER: "<h>", Label.PARAGRAPH: "<p>", Label.LIST: "<l>"}

VALUE_KINDS = frozenset(["swde"])
"""Data sets whose gold is values that a cleaner must keep, not the text that it should return."""


@dataclass(frozen=True, slots=True)
class LabelledPage:
    """A page of a gold standard, cut into blocks that have the labels of its gold."""

    name: str
    data: str
    """The data set that it is of, as it was asked for."""
    site: str
    page_type: str
    document: Document
    labels: tuple[Label, ...]
    gold: tuple[Gold, ...]

    @property
    def has_segments(self) -> bool:
        """Whether the gold says which text is header, paragraph or list."""
        return any(segment.label is not None for segment in self.gold)

    @property
    def annotated(self) -> CleanPage:
        """The page with its gold labels, as an annotation file would have it."""
        return CleanPage(self.document, self.labels)

    @property
    def gold_text(self) -> str:
        """The gold in CleanEval's format, a segment a line."""
        return "\n".join(
            f"{_TAGS[segment.label or Label.PARAGRAPH]} {' '.join(segment.text.split())}" for segment in self.gold
        )

    def output_text(self, labels: Sequence[Label]) -> str:
        """A labeller's text in the same format as the gold's."""
        text = render_cleaneval(CleanPage(self.document, tuple(labels)))
        return text.partition("\n")[2]


def parse_data(spec: str) -> tuple[str, Path]:
    """Take ``cleaneval:DIR`` apart."""
    kind, colon, directory = spec.partition(":")
    if not colon or not directory:
        raise DataError(f"{spec!r}: give a data set as KIND:DIR; kinds are {', '.join(DATASETS)}")
    DATASETS.get(kind)
    return kind, Path(directory)


def load_gold(specs: Iterable[str], config: Config, warn: Warn, site_key: str = SITE_KEYS[0]) -> list[LabelledPage]:
    """Read data sets, cut their pages by a config, and align each with its gold."""
    pages = []
    for spec in specs:
        kind, directory = parse_data(spec)
        for page in read_dataset(kind, directory, warn, site_key):
            try:
                pages.append(label_page(page, spec, config))
            except VictorError as error:
                warn(f"{kind}: {page.name}: {error}")
    return pages


def label_page(page: GoldPage, data: str, config: Config) -> LabelledPage:
    """Cut a gold page into blocks and align it with its gold."""
    document = read_document(page.html, config, page.url or None, source=page.name)
    labels = align(document, page.gold, config.cuts.block_level)
    return LabelledPage(page.name, data, page.site, page.page_type, document, labels, page.gold)
