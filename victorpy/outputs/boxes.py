"""Boxes with notes and warnings, recognised by the classes that site generators use."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from victorpy.document import Document

_BOX = re.compile(
    r"(?<!\S)(?:[\w-]*(?:admonition|template-box)|admonitionblock|markdown-alert|(?:bs-|kg-)?callout(?:-card)?"
    r"|(?:alert|notice)(?:-+\w+)?|notecard|hint|custom-block|confluence-information-macro)(?!\S)"
    r"|^(?:note|tip|important|warning|caution)$"
)
BOX_HINTS = (
    *("admonition", "template-box", "alert", "callout", "notecard", "hint", "notice", "custom-block", "confluence-"),
    *("note", "tip", "important", "warning", "caution"),
)
"""The class of every box contains one of these."""
_ALWAYS = re.compile(r"(?<!\S)(?:admonition|callout|kg-callout-card)(?!\S)")  # these are boxes even without a type
_TITLE = re.compile(
    r"(?<!\S)(?:(?:admonition-|markdown-alert-|callout-|custom-block-)?title|alert-heading|admonitionHeading\w*)(?!\S)"
)
_TYPES = {
    **dict.fromkeys(["note", "info", "seealso", "abstract", "summary", "secondary", "primary"], "NOTE"),
    **dict.fromkeys(["tip", "hint", "success"], "TIP"),
    **dict.fromkeys(["important", "attention"], "IMPORTANT"),
    "warning": "WARNING",
    **dict.fromkeys(["caution", "danger", "error", "bug"], "CAUTION"),
}
_TYPE = re.compile(rf"(?<![a-zA-Z])({'|'.join(_TYPES)})(?![a-zA-Z])")


@lru_cache(maxsize=10_000)
def box_type(name: str) -> str:
    """Return GitHub's type of a box with this class, or an empty string if it is not a box.

    >>> box_type("admonition danger"), box_type("callout"), box_type("note-list")
    ('CAUTION', 'NOTE', '')
    """
    if not _BOX.search(name):
        return ""
    named = _TYPE.search(name)
    return _TYPES[named[1]] if named else "NOTE" if _ALWAYS.search(name) else ""


def find_boxes(document: Document, elements: Iterable[int]) -> dict[int, str]:
    """Return the type of each box among some elements."""
    candidates = document.mentioning(elements, "class", BOX_HINTS)
    types = {element: box_type(document.attributes_of(element)["class"]) for element in candidates}
    return {element: type for element, type in types.items() if type}


def is_title(name: str) -> bool:
    """Whether an element with this class contains the title of a box."""
    return _TITLE.search(name) is not None


def names_type(text: str) -> bool:
    """Whether a title only names the type of its box, as in ``Warning:``."""
    return text.strip(" :").lower() in _TYPES
