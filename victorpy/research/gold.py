"""Gold pages as labelled documents, for training and measuring."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from victorpy.cleaner import read_document
from victorpy.config import Config
from victorpy.document import Document, Label
from victorpy.errors import VictorError
from victorpy.outputs import CleanPage
from victorpy.outputs.text import render_cleaneval
from victorpy.research.align import Gold, align
from victorpy.research.datasets import GoldPage, Warn, parse_data, read_dataset
from victorpy.sites.grouping import SITE_KEYS

_TAGS = {Label.HEADER: "<h>", Label.PARAGRAPH: "<p>", Label.LIST: "<l>"}


@dataclass(frozen=True, slots=True)
class LabelledPage:
    """A gold page, split into blocks with gold labels."""

    name: str
    data: str  # the data set as KIND:DIR
    site: str
    page_type: str
    document: Document
    labels: tuple[Label, ...]
    gold: tuple[Gold, ...]

    @property
    def has_segments(self) -> bool:
        """Whether the gold distinguishes headers, paragraphs and lists."""
        return any(segment.label is not None for segment in self.gold)

    @property
    def annotated(self) -> CleanPage:
        """The page with its gold labels."""
        return CleanPage(self.document, self.labels)

    @property
    def gold_text(self) -> str:
        """The gold in CleanEval's format, one segment per line."""
        lines = (f"{_TAGS[part.label or Label.PARAGRAPH]} {' '.join(part.text.split())}" for part in self.gold)
        return "\n".join(lines)

    def output_text(self, labels: Sequence[Label]) -> str:
        """Return the text that `labels` keep, in CleanEval's format."""
        return render_cleaneval(CleanPage(self.document, tuple(labels))).partition("\n")[2]


def load_gold(specs: Iterable[str], config: Config, warn: Warn, site_key: str = SITE_KEYS[0]) -> list[LabelledPage]:
    """Read data sets, given as KIND:DIR, and label their pages."""
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
    """Split a page into blocks according to a config, and label the blocks by aligning them with the gold."""
    document = read_document(page.html, config, page.url or None, source=page.name)
    labels = align(document, page.gold, config.cuts.block_level)
    return LabelledPage(page.name, data, page.site, page.page_type, document, labels, page.gold)
