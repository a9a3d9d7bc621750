"""Links and images of a page: those to relevant pages, and those that are a page's content (section 6)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import urldefrag

from victorpy.about.tag_tree import Node, TagTree, Thresholds, Type
from victorpy.about.terms import terms
from victorpy.about.weights import Vector, normalised, similarity
from victorpy.document import Elements
from victorpy.outputs.inline import safe_link


class Link(NamedTuple):
    """A link or an image: where it goes, and what it says."""

    url: str
    text: str


def relevant_links(whole: TagTree, content: TagTree, topic: Vector, beta: float, language: str = "") -> list[Link]:
    """The links of hub blocks whose text is similar to the content, block by block.

    `whole` is the tree of the page, `content` that of its kept blocks: what is content is not beside it. Menus are no
    such blocks, where the page says that they are menus: a shop's names what all its pages are about.
    """
    thresholds = Thresholds()
    accepted = []
    for node, kept, is_menu in zip(whole.nodes, content.nodes, whole.in_menu, strict=True):
        beside = node.is_leaf and not kept.texts and not is_menu and node.type(thresholds) is Type.HUB
        if beside and similarity(topic, _vector(whole.text(node), language)) > beta:
            accepted.append(node)
    return node_links(whole, accepted)


def node_links(tree: TagTree, nodes: Iterable[Node]) -> list[Link]:
    """The links of some blocks, each address once; those to the page itself, and without text or target, are none."""
    base = tree.page.document.url
    found: dict[str, Link] = {}
    texts = _texts_by_link(tree)
    for node in nodes:
        for element in node.links:
            url = safe_link(tree.page.elements.attributes[element]["href"], base)
            text = texts.get(element, "")
            if text and url and not _same_page(url, base):
                found.setdefault(url, Link(url, text))
    return list(found.values())


def node_images(tree: TagTree, nodes: Iterable[Node]) -> list[Link]:
    """The images of some blocks, each address once, with what stands for them."""
    found: dict[str, Link] = {}
    for node in nodes:
        for element in node.images:
            attributes = tree.page.elements.attributes[element]
            url = safe_link(attributes.get("src", ""), tree.page.document.url)
            if url:
                found.setdefault(url, Link(url, attributes.get("alt", "").strip()))
    return list(found.values())


def _texts_by_link(tree: TagTree) -> dict[int, str]:
    """The text of every link that has any."""
    link_of = _links_around(tree.page.elements)
    found: dict[int, list[str]] = {}
    for text in tree.page.texts:
        if text.shown and text.text and link_of[text.element] >= 0:
            found.setdefault(link_of[text.element], []).append(text.text)
    return {element: " ".join(" ".join(parts).split()) for element, parts in found.items()}


def _links_around(elements: Elements) -> list[int]:
    """The link that each element lies in, or is; -1 where there is none."""
    around: list[int] = []
    for element, (tag, parent) in enumerate(zip(elements.tag, elements.parent, strict=True)):
        around.append(element if tag == "a" else around[parent] if parent >= 0 else -1)
    return around


def _same_page(url: str, base: str) -> bool:
    without = urldefrag(url).url
    return not without or without == urldefrag(base).url


def _vector(text: str, language: str) -> Vector:
    counts: dict[str, float] = {}
    for term in terms(text, language):
        counts[term] = counts.get(term, 0.0) + 1
    return normalised(counts)
