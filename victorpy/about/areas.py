"""The central area of a page and its margins, told by the attributes of blocks (section 4.1)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Set

from victorpy.document import Elements

_MARGINAL_TAGS = frozenset(["nav", "aside", "footer", "header", "form"])
_MARGINAL_ROLES = frozenset(["navigation", "banner", "contentinfo", "complementary", "search", "menu", "menubar"])
_MARGINAL_NAMES = frozenset(
    "ad ads advert advertisement breadcrumb breadcrumbs comments cookie cookies copyright footer masthead menu nav "
    "navbar navigation newsletter popup share sharing sidebar social sponsor toolbar topbar".split()
)
"""Whole names: what only holds such a word, ``elementor-widget-nav`` say, is found in all places of today's pages."""
_MENU_TAGS = frozenset(["nav", "header", "footer"])
_MENU_ROLES = frozenset(["navigation", "banner", "contentinfo", "menu", "menubar"])
_MENU_NAMES = frozenset("breadcrumb breadcrumbs footer masthead menu nav navbar navigation topbar".split())
_CENTRAL_TAGS = frozenset(["html", "body", "main", "article"])
_WIDTH = re.compile(r"(\d{1,4})(%?)")
_NARROW_SHARE, _NARROW_PIXELS = 25, 200


def is_marginal(elements: Elements, element: int) -> bool:
    """Whether a container's tag, role, name or width says that it stands at the margin of the page."""
    tag, attributes = elements.tag[element], elements.attributes[element]
    is_column = tag in {"td", "th"} and _is_narrow(attributes)
    return is_column or _is_called(elements, element, _MARGINAL_TAGS, _MARGINAL_ROLES, _MARGINAL_NAMES)


def is_menu(elements: Elements, element: int) -> bool:
    """Whether a container's tag, role or name says that it leads through the site: a menu, the page's head or foot."""
    return _is_called(elements, element, _MENU_TAGS, _MENU_ROLES, _MENU_NAMES)


def _is_called(elements: Elements, element: int, tags: Set[str], roles: Set[str], names: Set[str]) -> bool:
    """Whether a container that is not the page's main part has one of these tags, roles or whole names."""
    tag, attributes = elements.tag[element], elements.attributes[element]
    if tag in _CENTRAL_TAGS or attributes.get("role") == "main":
        return False
    if tag in tags and not _heads_article(elements, element):
        return True
    return attributes.get("role", "").lower() in roles or not names.isdisjoint(_names(attributes))


def _heads_article(elements: Elements, element: int) -> bool:
    """Whether a header is that of an article, and not that of the page."""
    if elements.tag[element] != "header":
        return False
    parent = elements.parent[element]
    while parent >= 0:
        if elements.tag[parent] in {"article", "main"}:
            return True
        parent = elements.parent[parent]
    return False


def _names(attributes: Mapping[str, str]) -> list[str]:
    return f"{attributes.get('id', '')} {attributes.get('class', '')}".lower().split()


def _is_narrow(attributes: Mapping[str, str]) -> bool:
    """Whether a cell of a layout table is a column beside the content."""
    width = _WIDTH.match(attributes.get("width", ""))
    return width is not None and int(width[1]) <= (_NARROW_SHARE if width[2] else _NARROW_PIXELS)
