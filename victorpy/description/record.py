"""Describe a page in a DocView record: the eight elements of the paper (section 2) and metadata."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from victorpy.base.language import language_of
from victorpy.base.parameters import check_count, check_range
from victorpy.description.categories import CategoryModel, load_categories
from victorpy.description.integration import Link, abstract, node_images, node_links, relevant_links
from victorpy.description.tag_tree import MOST_NODES, TagTree, Thresholds, Type, content_tree, type_by_shares
from victorpy.description.weights import SPREAD, feature_vector, keywords
from victorpy.document import Metadata
from victorpy.outputs import CleanPage
from victorpy.outputs.base import facts
from victorpy.outputs.text import render_text
from victorpy.page.sections import section

MOST_BLOCKS = 4_000
"""Maximum number of blocks that a record describes. Describing a block takes several times as long as cleaning it."""
MOST_ELEMENTS = 30_000
"""Maximum number of elements in these blocks, except that the last block may contain more."""
PAGE_HUB = 0.13
"""Minimum share of words in hub blocks for a hub page.

The share is averaged over the content and the area around it.
"""
_MOST_OF_CONTENT = 0.8  # minimum share of the kept words


@dataclass(frozen=True, slots=True)
class Parameters:
    """Parameters of a record, with the paper's symbols."""

    keywords: int = 10  # λ: number of keywords
    sentences: int = 15  # δ: maximum number of sentences in an abstract
    theta: int = 15  # θ: number of keywords that choose the sentences of the abstract
    beta: float = 0.2  # β: minimum similarity of a block of links to the content
    spread: float = SPREAD  # how much of a block's force is passed on to neighbouring blocks
    categories: str = ""
    """Directory of a category model. Without one, records have no category."""

    def __post_init__(self) -> None:
        check_count("docview", 0, keywords=self.keywords, sentences=self.sentences, theta=self.theta)
        check_range("docview", 0, 1, beta=self.beta, spread=self.spread)


@dataclass(frozen=True, slots=True)
class DocView:
    """The record of a page."""

    identifier: str  # the page's address, or the name of its file
    type: str  # topic, hub or image
    category: str  # category from the user's model, or an empty string
    title: str
    keywords: tuple[str, ...]
    abstract: str
    content: str  # the topic content as text
    links: tuple[Link, ...]  # relevant links: links beside the content to pages about the same topic
    main_links: tuple[Link, ...]  # the topic content of a hub page
    images: tuple[Link, ...]  # the topic content of an image page, with alt texts
    author: str
    date: str  # date of publication, as ``2024-05-17``
    language: str
    """Detected language. For a short text, the declared language."""
    site_name: str
    description: str  # the description in the page's metadata
    confidence: float | None
    """Expected word F1 of the content. None if unknown."""
    losses: tuple[str, ...]  # descriptions of what was lost or guessed between bytes and blocks

    def fields(self) -> dict[str, Any]:
        """Return the record as plain data for JSON or a table."""
        values: dict[str, Any] = {name: getattr(self, name) for name in self.__slots__}
        for name in ("keywords", "losses"):
            values[name] = list(values[name])
        for name in ("links", "main_links", "images"):
            values[name] = [link._asdict() for link in values[name]]
        return values


def describe(page: CleanPage, parameters: Parameters | None = None, with_content: bool = True) -> DocView:
    """Return the record of a cleaned page.

    Its content may be left out for formats that write the content themselves.
    """
    chosen = parameters or Parameters()
    metadata = page.metadata or Metadata(title=page.document.title)
    text = render_text(page) if with_content or not page.language else ""
    losses = page.document.losses
    starts = page.document.elements.first_block
    within_elements = max(starts[MOST_ELEMENTS], 1) if len(starts) > MOST_ELEMENTS else MOST_BLOCKS
    stop = min(len(page.labels), MOST_BLOCKS, within_elements)
    if stop < len(page.labels):
        losses += (f"keywords, abstract and links come from the first {stop:,} of {len(page.labels):,} blocks",)
        fields = ("labels", "probabilities", "content", "spans", "roles")
        first = {name: getattr(page, name)[:stop] for name in fields}
        page = replace(page, document=section(page.document, 0, stop), **first)
    language = page.language or language_of(text, metadata.language)
    whole = TagTree(page.document)
    if len(whole.nodes) >= MOST_NODES:
        losses += (f"keywords, abstract and links use only the first {MOST_NODES:,} containers",)
    content = content_tree(page, whole.page)
    vector = feature_vector(content, language, chosen.spread)
    kind = page_type(whole, content)
    kept_nodes = [node for node, part in zip(whole.nodes, content.nodes, strict=True) if part.texts]
    central_nodes = [node for node, is_central in zip(whole.nodes, whole.central, strict=True) if is_central]
    return DocView(
        identifier=facts(page, ["url"])["url"] or page.document.source,
        type=str(kind),
        category=category_model(chosen.categories).category(page) if chosen.categories else "",
        title=metadata.title or " ".join(keywords(vector, 2)),  # the paper does the same
        keywords=tuple(keywords(vector, chosen.keywords)),
        abstract=" ".join(abstract(content, vector, chosen.sentences, chosen.theta, language)),
        content=text if with_content else "",
        links=() if kind is Type.HUB else tuple(relevant_links(whole, content, vector, chosen.beta, language)),
        main_links=tuple(node_links(content, kept_nodes)) if kind is Type.HUB else (),
        images=tuple(node_images(whole, central_nodes)) if kind is Type.IMAGE else (),
        author=metadata.author,
        date=metadata.date,
        language=language,
        site_name=metadata.site_name,
        description=metadata.description,
        confidence=page.confidence,
        losses=losses,
    )


@cache
def category_model(directory: str) -> CategoryModel:
    """Load a category model, once per process."""
    return load_categories(directory)


def page_type(whole: TagTree, content: TagTree) -> Type:
    """Return the type of a page.

    It depends on the kept text and on the area around it, because both together are more accurate.

    Images have no text to keep, so they are counted in the whole central area.
    """
    thresholds = Thresholds()
    around = whole.shares(thresholds, area_of_content(whole, content))
    kept = content.shares(thresholds, [True] * len(content.nodes))
    hub_share = (around[Type.HUB] + kept[Type.HUB]) / 2
    return type_by_shares({**whole.shares(thresholds), Type.HUB: hub_share}, PAGE_HUB, thresholds.page_image)


def area_of_content(whole: TagTree, content: TagTree) -> list[bool]:
    """Whether each node is near the content: inside the smallest node that contains most of it, but not in a margin.

    On old pages, tags and names do not mark menus, so only the kept text indicates the central area.
    """
    totals, _ = content.word_totals()
    if not totals[0]:
        return whole.central
    enough = _MOST_OF_CONTENT * totals[0]
    candidates = [number for number, node in enumerate(content.nodes) if totals[node.element] >= enough]
    first = candidates[-1]  # each candidate is inside the previous one
    stop = first + sum(1 for _ in whole.inside(first))
    return [first <= number < stop and is_central for number, is_central in enumerate(whole.central)]
