"""Gold pages as labelled documents, for training and measuring."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from victorpy.base.words import aligned_words
from victorpy.cleaner import read_document
from victorpy.columns import Columns
from victorpy.config import Config, load_config
from victorpy.document import Document, Label, Labelling, Role
from victorpy.errors import VictorError
from victorpy.labellers.site_style_tree import SiteStyleTree
from victorpy.outputs import CleanPage, Output
from victorpy.outputs.anno import AnnotationWriter, load_anno, load_annotation
from victorpy.outputs.text import render_cleaneval
from victorpy.page.same_blocks import find_difference
from victorpy.research.align import Gold, align
from victorpy.research.datasets import VALUE_KINDS, GoldPage, Warn, parse_data, read_dataset
from victorpy.sites.grouping import SITE_KEY

# Pages whose gold is only a part of the content
_FRAME_TAGS = ("nav", "header", "footer", "aside")
"""If the gold is partial, text of these elements is noise, unless it is in the gold or in an `<article>`."""
_PARTIAL_WEIGHT = 0.2

# Pages with gold values, such as the title and price of a book
_TREE_PAGES = 60  # number of pages of a site for building its style tree
_TREE_THRESHOLD = 0.4
_VALUE_PAGES = 10
"""Maximum number of labelled pages per site. Pages of one site are similar, so more pages add little."""
_FRAME_WEIGHT = 0.3
_FIELD_NAMES = 5  # maximum number of blocks of noise between two values that may be names of fields

LEAST_FOUND = 0.5
"""Minimum share of the gold's words that must be on the page. Otherwise it may be the gold of another page."""

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
    weights: tuple[float, ...] | None = None  # weight of each block in training, or None if all are equal
    roles: tuple[Role, ...] = ()  # the role of each block, if the annotation file has roles

    @property
    def has_segments(self) -> bool:
        """Whether the gold distinguishes headers, paragraphs and lists."""
        return any(segment.label is not None for segment in self.gold)

    @property
    def annotated(self) -> CleanPage:
        return CleanPage(self.document, self.labels)

    @property
    def gold_text(self) -> str:
        """The gold in CleanEval's format, one segment per line."""
        lines = (f"{_TAGS[part.label or Label.PARAGRAPH]} {' '.join(part.text.split())}" for part in self.gold)
        return "\n".join(lines)

    def output_text(self, labelling: Labelling) -> str:
        """Return the text that a labeller keeps, in CleanEval's format."""
        return render_cleaneval(CleanPage.of(self.document, labelling)).partition("\n")[2]


def load_gold(specs: Iterable[str], config: Config, warn: Warn, site_key: str = SITE_KEY) -> list[LabelledPage]:
    """Read data sets, given as KIND:DIR, and label their pages."""
    pages: list[LabelledPage] = []
    for spec in specs:
        kind, directory = parse_data(spec)
        if kind in VALUE_KINDS:
            by_site = itertools.groupby(read_dataset(kind, directory, warn), lambda page: (page.page_type, page.site))
            for _, its_pages in by_site:
                pages += label_values(list(its_pages), spec, config)
            continue
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
    roles: tuple[Role, ...] = ()
    if page.annotation:
        annotated = load_anno(page.annotation, config.cuts)
        document, labels, roles = annotated.document, annotated.labels, annotated.roles
    else:
        document = read_document(page.html, config, page.url or None, source=page.name)
        labels = align(document, page.gold, config.cuts.block_level)
    weights = None
    if page.partial:  # blocks outside the gold are unknown, except in the frame of the page
        columns = Columns(document, config)
        is_frame = columns.within_any(*_FRAME_TAGS) & ~columns.within("article")
        is_used = [label.is_content or frame for label, frame in zip(labels, is_frame, strict=True)]
        weights = tuple(_PARTIAL_WEIGHT * used for used in is_used)
    return LabelledPage(page.name, data, page.site, page.page_type, document, labels, page.gold, weights, roles)


def label_values(pages: Sequence[GoldPage], data: str, config: Config) -> Iterator[LabelledPage]:
    """Label some pages with gold values, using a style tree of many pages of their site.

    Blocks with a value are content. Blocks that the tree drops are noise. Short runs of such blocks between two values
    are an exception, because they may be names of fields. All other blocks are unknown.
    """
    read = [(page, read_document(page.html, config, page.url, source=page.name)) for page in pages[:_TREE_PAGES]]
    tree = SiteStyleTree(t=_TREE_THRESHOLD).fit([document for _, document in read])
    for page, document in read[:: -(-len(read) // _VALUE_PAGES)]:
        is_kept = [label.is_content for label in tree.label(document).labels]
        values = [f" {' '.join(words)} " for part in page.gold if (words := aligned_words(part.text))]
        texts = (f" {' '.join(aligned_words(block.text))} " for block in document.blocks)
        is_value = [kept and any(value in text for value in values) for kept, text in zip(is_kept, texts, strict=True)]
        weights = [
            1.0 if value else 0.0 if kept else _FRAME_WEIGHT for value, kept in zip(is_value, is_kept, strict=True)
        ]
        inside = range(is_value.index(True), len(is_value) - is_value[::-1].index(True)) if any(is_value) else range(0)
        for weight, run in itertools.groupby(inside, weights.__getitem__):
            blocks = list(run)
            if weight == _FRAME_WEIGHT and len(blocks) <= _FIELD_NAMES:
                weights[blocks[0] : blocks[-1] + 1] = [0.0] * len(blocks)
        labels = tuple(Label.PARAGRAPH if value else Label.OTHER for value in is_value)
        yield LabelledPage(page.name, data, page.site, page.page_type, document, labels, page.gold, tuple(weights))


def is_gold_of(document: Document, labels: Sequence[Label], gold: Sequence[Gold]) -> bool:
    """Whether a gold text seems to belong to a page: the aligned blocks have at least half as many words."""
    content = (text for text, label in zip(document.texts, labels, strict=True) if label.is_content)
    found, wanted = ("\n".join(texts) for texts in (content, (part.text for part in gold)))
    return len(aligned_words(found)) >= LEAST_FOUND * len(aligned_words(wanted))


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
