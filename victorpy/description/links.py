"""Find the links to relevant pages, and the links and images that are a page's content (section 6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import urldefrag

from victorpy.description.tag_tree import Node, TagTree, Thresholds, Type
from victorpy.description.terms import terms
from victorpy.description.weights import Vector, normalised, similarity
from victorpy.outputs.structure import safe_link


class Link(NamedTuple):
    """A link or an image: its address and its text."""

    url: str
    text: str


def relevant_links(whole: TagTree, content: TagTree, topic: Vector, beta: float, language: str = "") -> list[Link]:
    """Return the links of hub blocks whose text is similar to the content.

    `whole` is the tree of the page, `content` that of its kept blocks. Blocks with kept text and menus are left out:
    a shop's menu names the topics of all its pages.
    """
    thresholds = Thresholds()
    accepted = []
    for node, kept, is_menu in zip(whole.nodes, content.nodes, whole.in_menu, strict=True):
        if node.is_leaf and not kept.texts and not is_menu and node.type(thresholds) is Type.HUB:
            counts = Counter(terms(whole.text(node), language))
            if similarity(topic, normalised(counts)) > beta:
                accepted.append(node)
    return node_links(whole, accepted)


def node_links(tree: TagTree, nodes: Iterable[Node]) -> list[Link]:
    """Return the links of some blocks, each address once, without links to the page itself or without text."""
    elements, base = tree.page.elements, tree.page.document.url
    link_of = elements.links_around()
    link_texts: dict[int, list[str]] = {}
    for text in tree.page.texts:
        if text.shown and text.text and link_of[text.element] >= 0:
            link_texts.setdefault(link_of[text.element], []).append(text.text)
    links: dict[str, Link] = {}
    for node in nodes:
        for element in node.links:
            url = safe_link(elements.attributes[element]["href"], base)
            link_text = " ".join(" ".join(link_texts.get(element, [])).split())
            is_same_page = urldefrag(url).url in {"", urldefrag(base).url}
            if link_text and url and not is_same_page:
                links.setdefault(url, Link(url, link_text))
    return list(links.values())


def node_images(tree: TagTree, nodes: Iterable[Node]) -> list[Link]:
    """Return the images of some blocks with their alt texts, each address once."""
    images: dict[str, Link] = {}
    for node in nodes:
        for element in node.images:
            attributes = tree.page.elements.attributes[element]
            url = safe_link(attributes.get("src", ""), tree.page.document.url)
            if url:
                images.setdefault(url, Link(url, attributes.get("alt", "").strip()))
    return list(images.values())
