"""Gold pages as labelled documents, for training and measuring."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from victorpy.cleaner import read_document
from victorpy.config import Config, load_config
from victorpy.document import Document, Label, Labelling
from victorpy.errors import VictorError
from victorpy.outputs import CleanPage, Output
from victorpy.outputs.anno import AnnotationWriter, load_anno, load_annotation
from victorpy.outputs.text import render_cleaneval
from victorpy.page.same_blocks import find_difference
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

    def output_text(self, labelling: Labelling) -> str:
        """Return the text that a labeller keeps, in CleanEval's format."""
        page = CleanPage(self.document, labelling.labels, spans=labelling.spans)
        return render_cleaneval(page).partition("\n")[2]


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
    """Split a page into blocks according to a config, and label them.

    An annotated page keeps its labels. The blocks of other pages are labelled by aligning them with the gold.
    """
    if page.annotation:
        annotated = load_anno(page.annotation, config.cuts)
        document, labels = annotated.document, annotated.labels
    else:
        document = read_document(page.html, config, page.url or None, source=page.name)
        labels = align(document, page.gold, config.cuts.block_level)
    return LabelledPage(page.name, data, page.site, page.page_type, document, labels, page.gold)


def gold_labels(page: GoldPage, document: Document, config: Config) -> tuple[Label, ...]:
    """Return the gold labels of a document that was read from a page's HTML.

    They are the labels of the page's annotation if it has the same blocks.
    """
    if page.annotation:
        annotated = load_anno(page.annotation, config.cuts)
        if find_difference(annotated.document, document) is None:
            return annotated.labels
    return align(document, page.gold, config.cuts.block_level)


def convert_page(page: GoldPage, output: Output, config: Config | None = None) -> str:
    """Return a gold page in an output format, split by a config.

    An annotation file stays as it is, unless the config splits the page into other blocks.
    """
    if page.annotation and output.name == "anno":
        cuts = (config or load_config("default")).cuts
        as_written = load_annotation(page.annotation, cuts)
        recut = load_annotation(page.annotation, cuts, recut=True) if config else as_written
        if find_difference(recut.document, as_written.document) is None:
            return page.annotation.read_bytes().decode()
        return AnnotationWriter(recut.document).write(recut.labels, recut.probabilities)
    return output.render(label_page(page, "", config or load_config("default")).annotated)
