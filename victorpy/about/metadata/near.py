"""What stands near a page's headline: there the byline and the date are, marked as such or not."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from lxml import etree

BEHIND, BEFORE = 60, 40
"""How many elements are looked at."""
LONGEST = 150
"""Longer texts are no bylines."""
_NO_TEXT = frozenset(["script", "style", "noscript", "svg", "template"])


class Line(NamedTuple):
    """A short text near the headline, and the short text before it."""

    text: str
    before: str
    element: etree._Element
    """That which the text stands in or behind."""


def lines_near(headline: etree._Element) -> Iterator[Line]:
    """The short texts in and behind a headline, then those before it, from near to far."""
    yield from _lines(islice(_from(headline), BEHIND))
    yield from reversed(list(_lines(reversed(list(islice(_before(headline), BEFORE))))))


def _lines(elements: Iterator[etree._Element]) -> Iterator[Line]:
    before = ""
    for element in elements:
        inside = "" if element.tag in _NO_TEXT else element.text
        for raw in (element.get("datetime"), inside, element.tail):
            text = " ".join((raw or "")[: 4 * LONGEST].split())
            if 1 < len(text) <= LONGEST:
                yield Line(text, before, element)
                before = text
            elif text:
                before = ""


def _from(element: etree._Element) -> Iterator[etree._Element]:
    """An element, what is in it, and what comes behind it."""
    yield from element.iter("*")
    node: etree._Element | None = element
    while node is not None:
        for sibling in node.itersiblings("*"):
            yield from sibling.iter("*")
        node = node.getparent()


def _before(element: etree._Element) -> Iterator[etree._Element]:
    """What comes before an element, the nearest first."""
    node: etree._Element | None = element
    while node is not None:
        for sibling in node.itersiblings("*", preceding=True):
            yield from reversed(list(islice(sibling.iter("*"), BEFORE)))
        node = node.getparent()
