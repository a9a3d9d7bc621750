"""Save and load a site's style tree as compressed JSON.

Element nodes are numbered from the root, 0, with parents before children. A style refers to its elements by number,
because an element may be in several styles. Sets of pages are bits in hexadecimal.
"""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path
from typing import Any

from victorpy.base.files import write_atomically
from victorpy.errors import ModelError
from victorpy.sites.content import Content
from victorpy.sites.page_tree import STYLES
from victorpy.sites.style_tree import ElementNode, StyleNode, StyleTree

FORMAT = "victorpy style tree 3"


def save_tree(tree: StyleTree, path: Path) -> None:
    """Write a tree atomically."""
    data = {
        "format": FORMAT,
        "styles": tree.styles,
        "virtual_leaves": tree.virtual_leaves,
        "pages": tree.page_count,
        "t": tree.t,
        "seen": sorted(tree.seen),
        "elements": _element_entries(tree.root),
    }
    content = gzip.compress(json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode(), mtime=0)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, content)


def load_tree(path: Path) -> StyleTree:
    """Read a tree. Raises ModelError if the file is not a tree or is damaged."""
    try:
        data = json.loads(gzip.decompress(path.read_bytes()))
        if data["format"] != FORMAT or data["styles"] not in STYLES:
            raise ModelError(f"{path}: written by another version of victorpy; build the tree again")
        tree = StyleTree(data["styles"], data["virtual_leaves"])
        tree.page_count = int(data["pages"])
        tree.seen = {str(fingerprint) for fingerprint in data["seen"]}
        tree.t = None if data.get("t") is None else float(data["t"])  # older files have none
        tree.root = _read_elements(data["elements"])
        if tree.root.page_count != tree.page_count:
            raise ValueError("every page has the root")
    except FileNotFoundError:
        raise
    except (OSError, EOFError, LookupError, ValueError, TypeError, AttributeError, RecursionError, zlib.error) as error:
        reason = type(error).__name__
        raise ModelError(f"{path}: not a site's style tree, or damaged ({reason}); build it again") from error
    return tree


def is_tree(path: Path) -> bool:
    """Whether a file looks like a saved tree: unlike a page, it is compressed."""
    try:
        with path.open("rb") as file:
            return file.read(2) == b"\x1f\x8b"
    except OSError:
        return False


def _element_entries(root: ElementNode) -> list[Any]:
    """Number the element nodes and return an entry for each."""
    numbers = {root: 0}
    elements = [root]

    def number_of(element: ElementNode) -> int:
        if element not in numbers:
            numbers[element] = len(elements)
            elements.append(element)
        return numbers[element]

    entries = []
    for element in elements:  # the list grows in the loop
        content = element.content
        entry: dict[str, Any] = {
            "tag": element.tag,
            "display": element.display,
            "pages": f"{element.pages:x}",
            "styles": [
                [keys, f"{style.pages:x}", [number_of(child) for child in style.elements]]
                for keys, style in element.styles.items()
            ],
            "known": [[*key, number_of(child)] for key, child in element.known.items()],
            "content": None,
        }
        if content is not None:
            sums = {feature: [f"{pages:x}", total, logs] for feature, (pages, total, logs) in content.sums.items()}
            entry["content"] = [f"{content.pages:x}", sums]
        entries.append(entry)
    return entries


def _read_elements(entries: list[dict[str, Any]]) -> ElementNode:
    """Rebuild the tree from its entries and return the root."""
    elements = [ElementNode(entry["tag"], entry["display"]) for entry in entries]

    def child_of(parent: int, child: int) -> ElementNode:
        if child <= parent:  # an element would be below itself
            raise ValueError(f"element {child} is below {parent}")
        return elements[child]

    for number, (element, entry) in enumerate(zip(elements, entries, strict=True)):
        element.pages = int(entry["pages"], 16)
        for keys, pages, children in entry["styles"]:
            if len(keys) != len(children):
                raise ValueError("a style names each of its elements")
            style = StyleNode([child_of(number, child) for child in children])
            style.pages = int(pages, 16)
            element.styles[tuple((tag, display) for tag, display in keys)] = style
        element.known = {(tag, display): child_of(number, child) for tag, display, child in entry["known"]}
        if entry["content"] is not None:
            pages, sums = entry["content"]
            element.content = Content()
            element.content.pages = int(pages, 16)
            element.content.sums = {feature: [int(bits, 16), *both] for feature, (bits, *both) in sums.items()}
    return elements[0]
