"""Save and load a site's style tree as compressed JSON.

Element nodes are numbered from the root, 0, with parents before children. A style refers to its elements by number,
because an element may be in several styles. Sets of pages are written as bit sets in hexadecimal.
"""

from __future__ import annotations

import gzip
import io
import json
import math
import sys
import zlib
from pathlib import Path
from typing import Any

from victorpy.base.files import open_regular, read_bounded, write_atomically
from victorpy.errors import ModelError
from victorpy.sites.content import Content
from victorpy.sites.page_tree import STYLES
from victorpy.sites.style_tree import ElementNode, StyleNode, StyleTree

FORMAT = "victorpy style tree 3"
MOST_BYTES = 64_000_000  # maximum size of a tree before compression
_MOST_PAGES = 1_000_000
_MOST_WORDS = 10**12
_DEEPEST = 300  # maximum levels of elements; pages have at most 256


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
    content = json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()
    if len(content) > MOST_BYTES:
        raise ModelError(f"{path}: a tree has at most {MOST_BYTES:,} bytes; build it from fewer pages")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, gzip.compress(content, mtime=0))


def load_tree(path: Path) -> StyleTree:
    """Read a tree. Raises ModelError if the file is not a tree or is damaged."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(read_bounded(path, MOST_BYTES))) as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise ValueError(f"it has more than {MOST_BYTES:,} bytes")
        data = json.loads(content)
        if data["format"] != FORMAT or data["styles"] not in STYLES:
            raise ModelError(f"{path}: written by another version of victorpy; build the tree again")
        tree = StyleTree(data["styles"], bool(data["virtual_leaves"]))
        tree.page_count = int(data["pages"])
        tree.seen = {str(fingerprint) for fingerprint in data["seen"]}
        tree.t = None if data.get("t") is None else float(data["t"])  # missing in older files
        if not 0 < tree.page_count <= _MOST_PAGES or not (tree.t is None or 0 <= tree.t <= 1):
            raise ValueError("its number of pages or its threshold is out of range")
        tree.root = _read_elements(data["elements"], (1 << tree.page_count) - 1)
        if tree.root.page_count != tree.page_count:
            raise ValueError("every page has the root")
    except FileNotFoundError:
        raise
    except (
        *(OSError, EOFError, LookupError, ValueError, TypeError, AttributeError, RecursionError, OverflowError),
        zlib.error,
    ) as error:
        reason = type(error).__name__
        raise ModelError(f"{path}: not a site's style tree, or damaged ({reason}); build it again") from error
    return tree


def is_tree(path: Path) -> bool:
    """Whether a file looks like a saved tree, which is compressed, unlike a page."""
    try:
        with open_regular(path, sys.maxsize) as file:
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


def _read_elements(entries: list[dict[str, Any]], all_pages: int) -> ElementNode:
    """Rebuild the tree from its entries and return the root. Raises ValueError if it is not a tree."""
    elements = [ElementNode(str(entry["tag"]), str(entry["display"])) for entry in entries]
    parents = [-1] * len(elements)
    depths = [0] * len(elements)

    def child_of(parent: int, child: int) -> ElementNode:
        if child <= parent or parents[child] not in {-1, parent} or depths[parent] >= _DEEPEST:
            raise ValueError(f"element {child} is not below {parent} alone, or is nested too deeply")
        parents[child], depths[child] = parent, depths[parent] + 1
        return elements[child]

    def pages_of(bits: str) -> int:
        pages = int(bits, 16)
        if not 0 < pages <= all_pages:
            raise ValueError("an element has no pages, or pages that are not in the tree")
        return pages

    for number, (element, entry) in enumerate(zip(elements, entries, strict=True)):
        element.pages = pages_of(entry["pages"])
        for keys, pages, children in entry["styles"]:
            if len(keys) != len(children):
                raise ValueError("a style names each of its elements")
            style = StyleNode([child_of(number, child) for child in children])
            style.pages = pages_of(pages)
            element.styles[tuple((str(tag), str(display)) for tag, display in keys)] = style
        element.known = {(str(tag), str(display)): child_of(number, child) for tag, display, child in entry["known"]}
        if entry["content"] is not None:
            pages, sums = entry["content"]
            element.content = Content()
            element.content.pages = pages_of(pages)
            for feature, (bits, total, logs) in sums.items():
                if not (0 < total <= _MOST_WORDS and 0 <= logs <= total * math.log(total) + 1):
                    raise ValueError("the number of words is out of range")
                element.content.sums[feature] = [pages_of(bits), total, logs]
    return elements[0]
