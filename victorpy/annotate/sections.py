"""Where the sections of a page begin and end among its blocks, for the rules that are drawn between them."""

from __future__ import annotations

from victorpy.annotate.show import visible
from victorpy.document import Document

END = "end"
"""The name of a rule where a section ends and none begins."""
_LISTS = frozenset("table ul ol dl figure".split())
"""Sections that may begin within a line that blocks share."""
_SECTIONS = _LISTS | frozenset("nav header footer aside main article section form dialog".split())


def find_rules(document: Document) -> dict[int, str]:
    """Find before which blocks a section begins or ends, and its name."""
    elements = document.elements
    rules: dict[int, str] = {}
    ends: set[int] = set()
    for number, tag in enumerate(elements.tag):
        if tag in _SECTIONS and elements.stop_block[number] > elements.first_block[number]:
            first = elements.first_block[number]
            name = _name_of(tag, elements.attributes[number])
            rules[first] = f"{rules[first]} › {name}" if first in rules else name
            ends.add(elements.stop_block[number])
    for end in ends - rules.keys():
        rules[end] = END
    return rules


def find_breaks(document: Document) -> frozenset[int]:
    """Find the blocks that begin a section other than a list."""
    elements = document.elements
    return frozenset(
        first
        for tag, first, stop in zip(elements.tag, elements.first_block, elements.stop_block, strict=True)
        if tag in _SECTIONS - _LISTS and stop > first
    )


def _name_of(tag: str, attributes: dict[str, str]) -> str:
    names = attributes.get("id", "").split() or attributes.get("class", "").split()
    sign = "#" if attributes.get("id", "").split() else "."
    return visible(f"{tag}{sign}{names[0][:24]}" if names else tag)
