"""Distinguish the central area of a page from its margins by the attributes of blocks (section 4.1)."""

from __future__ import annotations

import re
from collections.abc import Set

from victorpy.document import Elements

_MARGINAL_TAGS = frozenset(["nav", "aside", "footer", "header", "form"])
_MARGINAL_ROLES = frozenset(["navigation", "banner", "contentinfo", "complementary", "search", "menu", "menubar"])
_MARGINAL_NAMES = frozenset(
    "ad ads advert advertisement breadcrumb breadcrumbs comments cookie cookies copyright footer masthead menu nav "
    "navbar navigation newsletter popup share sharing sidebar social sponsor toolbar topbar".split()
)
"""Whole names only: names that contain such a word, such as ``elementor-widget-nav``, occur anywhere in a page."""
_MENU_TAGS = frozenset(["nav", "header", "footer"])
_MENU_ROLES = frozenset(["navigation", "banner", "contentinfo", "menu", "menubar"])
_MENU_NAMES = frozenset("breadcrumb breadcrumbs footer masthead menu nav navbar navigation topbar".split())
_CENTRAL_TAGS = frozenset(["html", "body", "main", "article"])
_WIDTH = re.compile(r"(\d{1,4})(%?)")
_NARROW_SHARE, _NARROW_PIXELS = 25, 200


def is_marginal(elements: Elements, element: int) -> bool:
    """Whether a container's tag, role, name or width puts it at the margin of the page."""
    width = _WIDTH.match(elements.attributes[element].get("width", ""))
    is_column = elements.tag[element] in {"td", "th"} and width is not None
    if is_column and width and int(width[1]) <= (_NARROW_SHARE if width[2] else _NARROW_PIXELS):
        return True  # a column of a layout table beside the content
    return _is_called(elements, element, _MARGINAL_TAGS, _MARGINAL_ROLES, _MARGINAL_NAMES)


def is_menu(elements: Elements, element: int) -> bool:
    """Whether a container's tag, role or name makes it navigation: a menu, the page's header or footer."""
    return _is_called(elements, element, _MENU_TAGS, _MENU_ROLES, _MENU_NAMES)


def _is_called(elements: Elements, element: int, tags: Set[str], roles: Set[str], names: Set[str]) -> bool:
    """Whether a container outside the page's main part has one of these tags, roles or whole names."""
    tag, attributes = elements.tag[element], elements.attributes[element]
    if tag in _CENTRAL_TAGS or attributes.get("role") == "main":
        return False
    if tag in tags:
        parent = elements.parent[element]
        while parent >= 0 and elements.tag[parent] not in {"article", "main"}:
            parent = elements.parent[parent]
        if tag != "header" or parent < 0:  # the header of an article belongs to it
            return True
    whole_names = f"{attributes.get('id', '')} {attributes.get('class', '')}".lower().split()
    return attributes.get("role", "").lower() in roles or not names.isdisjoint(whole_names)
