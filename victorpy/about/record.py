"""A DocView: the record of a page, with the eight elements of the paper (section 2) and what the web has besides."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from victorpy.about.abstract import abstract
from victorpy.about.categories import CategoryModel, load_categories
from victorpy.about.language import language_of
from victorpy.about.links import Link, node_images, node_links, relevant_links
from victorpy.about.tag_tree import Node, TagTree, Thresholds, Type, type_by_shares
from victorpy.about.weights import SPREAD, Vector, feature_vector, keywords
from victorpy.document import CleanPage, Metadata
from victorpy.outputs.text import render_text
from victorpy.settings import check_count, check_range

PAGE_HUB = 0.13
"""From which share of words in hub blocks on a page is a hub: the mean of that around the content and that in it."""
_MOST_OF_CONTENT = 0.8  # of its words


@dataclass(frozen=True, slots=True)
class Parameters:
    """What can be chosen of a record, by the paper's names where it has one."""

    keywords: int = 10
    """λ: how many keywords."""
    sentences: int = 15
    """δ: how many sentences an abstract has at most."""
    theta: int = 15
    """θ: by how many keywords sentences are chosen."""
    beta: float = 0.2
    """β: how similar to the content the text of a block of links has to be."""
    spread: float = SPREAD
    """How much of a block's force goes to the blocks around it."""
    categories: str = ""
    """The directory of a model that tells categories; without one records have none."""

    def __post_init__(self) -> None:
        check_count("docview", 0, keywords=self.keywords, sentences=self.sentences, theta=self.theta)
        check_range("docview", 0, 1, beta=self.beta, spread=self.spread)


@dataclass(frozen=True, slots=True)
class DocView:
    """What a page is about."""

    identifier: str
    """The page's address; without one, the name of the file it was read from."""
    type: str
    """topic, hub or image."""
    category: str
    """What a classifier of the user's says; empty without one."""
    title: str
    keywords: tuple[str, ...]
    abstract: str
    content: str
    """The topic content, as text."""
    links: tuple[Link, ...]
    """Relevant hyperlinks: those beside the content that lead to pages about the same."""
    main_links: tuple[Link, ...]
    """The topic content of a hub page, as links."""
    images: tuple[Link, ...]
    """The topic content of an image page, as images and what they show."""
    author: str
    date: str
    """The day of publication, as ``2024-05-17``."""
    language: str
    """What the text reads like; of too short a text, what the page claims."""
    site_name: str
    description: str
    """What the page says of itself."""
    confidence: float | None
    """The word F1 that may be expected of the content; None where not known."""
    losses: tuple[str, ...]
    """What was lost or guessed on the way from bytes to blocks."""

    def fields(self) -> dict[str, Any]:
        """The record as plain data, ready for JSON or a table."""
        found: dict[str, Any] = {name: getattr(self, name) for name in self.__slots__}
        for name in ("keywords", "losses"):
            found[name] = list(found[name])
        for name in ("links", "main_links", "images"):
            found[name] = [link._asdict() for link in found[name]]
        return found


def describe(page: CleanPage, parameters: Parameters | None = None) -> DocView:
    """Make the record of a cleaned page."""
    chosen = parameters or Parameters()
    metadata = page.metadata or Metadata(title=page.document.title, url=page.document.url)
    text = render_text(page)
    language = language_of(text, metadata.language)
    kept = [label.is_content for label in page.labels]
    whole = TagTree(page.document)
    content = TagTree(whole.page, kept)
    vector = feature_vector(content, language, chosen.spread)
    kind = page_type(whole, content)
    holding = [node for node, part in zip(whole.nodes, content.nodes, strict=True) if part.texts]
    return DocView(
        identifier=page.document.url or metadata.url or page.document.source,
        type=str(kind),
        category=category_model(chosen.categories).category(page) if chosen.categories else "",
        title=metadata.title or title_of_keywords(vector),
        keywords=tuple(keywords(vector, chosen.keywords)),
        abstract=" ".join(abstract(content, vector, chosen.sentences, chosen.theta, language)),
        content=text,
        links=() if kind is Type.HUB else tuple(relevant_links(whole, content, vector, chosen.beta, language)),
        main_links=tuple(node_links(whole, holding)) if kind is Type.HUB else (),
        images=tuple(node_images(whole, _central_nodes(whole))) if kind is Type.IMAGE else (),
        author=metadata.author,
        date=metadata.date,
        language=language,
        site_name=metadata.site_name,
        description=metadata.description,
        confidence=page.confidence,
        losses=page.document.losses,
    )


def _central_nodes(tree: TagTree) -> list[Node]:
    return [node for node, is_central in zip(tree.nodes, tree.central, strict=True) if is_central]


@cache
def category_model(directory: str) -> CategoryModel:
    """A model that tells categories, loaded once in a process."""
    return load_categories(directory)


def page_type(whole: TagTree, content: TagTree) -> Type:
    """What a page tells by, from the area around what was kept of it and from that itself: each alone errs more often.

    Images are never kept, and may stand beside what was: they are looked for in all of the central area.
    """
    thresholds = Thresholds()
    around = whole.shares(thresholds, area_of_content(whole, content))
    kept = content.shares(thresholds, [True] * len(content.nodes))
    mean_of_hubs = (around[Type.HUB] + kept[Type.HUB]) / 2
    return type_by_shares({**whole.shares(thresholds), Type.HUB: mean_of_hubs}, PAGE_HUB, thresholds.page_image)


def area_of_content(whole: TagTree, content: TagTree) -> list[bool]:
    """Which nodes lie around the content: in the smallest node that holds most of it, and at no margin.

    Pages without tags or names that tell a menu from the rest, those of twenty years ago above all, have no other
    central area.
    """
    totals, _ = content.word_totals()
    if not totals[0]:
        return whole.central
    enough = _MOST_OF_CONTENT * totals[0]
    holding = [number for number, node in enumerate(content.nodes) if totals[node.element] >= enough]
    first = holding[-1]  # each of them lies in the one before
    stop = first + sum(1 for _ in whole.inside(first))
    return [first <= number < stop and is_central for number, is_central in enumerate(whole.central)]


def title_of_keywords(vector: Vector) -> str:
    """A title for a page that has none: its two heaviest keywords, as the paper has it."""
    return " ".join(keywords(vector, 2))
