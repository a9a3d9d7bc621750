"""A site's style tree in a file: compressed JSON, written whole, to be loaded, updated with more pages and drawn.

Element nodes are numbered from the root, 0; a style names its elements by number, because one may be in several. Sets
of pages are bits in hexadecimal.
"""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path
from typing import Any

from victorpy.errors import ModelError
from victorpy.files import write_atomically
from victorpy.sites.content import Content
from victorpy.sites.page_tree import STYLES
from victorpy.sites.style_tree import ElementNode, StyleNode, StyleTree

FORMAT = "victorpy style tree 3"


def save_tree(tree: StyleTree, path: Path) -> None:
    """Write a tree; the file appears whole or not at all."""
    written = {
        "format": FORMAT,
        "styles": tree.styles,
        "virtual_leaves": tree.virtual_leaves,
        "pages": tree.page_count,
        "seen": sorted(tree.seen),
        "elements": _Writer().write(tree.root),
    }
    content = gzip.compress(json.dumps(written, ensure_ascii=False, separators=(",", ":")).encode(), mtime=0)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, content)


def load_tree(path: Path) -> StyleTree:
    """Read a tree."""
    try:
        written = json.loads(gzip.decompress(path.read_bytes()))
        if written["format"] != FORMAT or written["styles"] not in STYLES:
            raise ModelError(f"{path}: written by another version of victorpy: build the tree again")
        tree = StyleTree(written["styles"], written["virtual_leaves"])
        tree.page_count = int(written["pages"])
        tree.seen = {str(fingerprint) for fingerprint in written["seen"]}
        tree.root = _read(written["elements"])
        if tree.root.page_count != tree.page_count:
            raise ValueError("every page has the root")
    except (OSError, EOFError, LookupError, ValueError, TypeError, AttributeError, RecursionError, zlib.error) as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise ModelError(
            f"{path}: not a site's style tree, or damaged ({type(error).__name__}): build it again"
        ) from error
    return tree


def is_tree(path: Path) -> bool:
    """Whether a file looks like a saved tree: it is compressed, as no page is."""
    try:
        with path.open("rb") as file:
            return file.read(2) == b"\x1f\x8b"
    except OSError:
        return False


class _Writer:
    """Numbers element nodes as they are met, parents before children, and writes each once."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._met: list[ElementNode] = []

    def write(self, root: ElementNode) -> list[Any]:
        self._number(root)
        return [self._element(element) for element in self._met]  # more are met on the way

    def _number(self, element: ElementNode) -> int:
        if id(element) not in self._numbers:
            self._numbers[id(element)] = len(self._met)
            self._met.append(element)
        return self._numbers[id(element)]

    def _element(self, element: ElementNode) -> dict[str, Any]:
        return {
            "tag": element.tag,
            "display": element.display,
            "pages": f"{element.pages:x}",
            "styles": [
                [keys, f"{style.pages:x}", [self._number(child) for child in style.elements]]
                for keys, style in element.styles.items()
            ],
            "known": [[*key, self._number(child)] for key, child in element.known.items()],
            "content": _content(element.content),
        }


def _content(content: Content | None) -> Any:
    if content is None:
        return None
    sums = {feature: [f"{int(pages):x}", total, logs] for feature, (pages, total, logs) in content.sums.items()}
    return [f"{content.pages:x}", sums]


def _read(written: list[dict[str, Any]]) -> ElementNode:
    elements = [ElementNode(entry["tag"], entry["display"]) for entry in written]
    for number, (element, entry) in enumerate(zip(elements, written, strict=True)):
        element.pages = int(entry["pages"], 16)
        for keys, pages, children in entry["styles"]:
            if len(keys) != len(children):
                raise ValueError("a style names each of its elements")
            style = StyleNode([_below(number, child, elements) for child in children])
            style.pages = int(pages, 16)
            element.styles[tuple((tag, display) for tag, display in keys)] = style
        element.known = {(tag, display): _below(number, child, elements) for tag, display, child in entry["known"]}
        if entry["content"] is not None:
            element.content = _read_content(*entry["content"])
    return elements[0]


def _below(number: int, child: int, elements: list[ElementNode]) -> ElementNode:
    """A child; they are numbered behind their parents, so that no element can be below itself."""
    if child <= number:
        raise ValueError(f"element {child} is below {number}")
    return elements[child]


def _read_content(pages: str, sums: dict[str, Any]) -> Content:
    content = Content()
    content.pages = int(pages, 16)
    content.sums = {feature: [int(bits, 16), total, logs] for feature, (bits, total, logs) in sums.items()}
    return content
