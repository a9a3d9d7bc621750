"""Write the rules of style sheets into the style attributes of elements, so that features can use them.

Selectors may consist of tags, classes and ids, joined by white space or ``>``. Rules with other selectors are ignored,
as are rules for print and for narrow screens. If several rules set a property, CSS's order of precedence applies.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from lxml import etree

from victorpy.base.unicode import xml_text

PROPERTIES = frozenset(["display", "visibility", "float", "position", "font-size"])
"""The properties that are copied."""

MOST_RULES = 4_000
MOST_COMPARISONS = 1_000_000
"""Maximum number of comparisons of rules and elements on a page. Further rules are ignored."""

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|<!--|-->", re.DOTALL)
_PART = re.compile(r"([^{}]*)([{}])")
_COMPOUND = re.compile(r"(?:[a-zA-Z][\w-]*)?(?:[.#][\w-]+)*")
_NAME = re.compile(r"[.#]?[\w-]+")
_OTHER_MEDIA = re.compile(r"print|speech|max-(?:device-)?width|@(?!media|supports|layer)", re.IGNORECASE)


Selector = tuple[tuple[frozenset[str], bool], ...]
"""The parts of a selector, from right to left.

Each has its tag, ``.class`` and ``#id``, and a flag: whether it must be the parent of the previous part.
"""


class Rule(NamedTuple):
    """A selector and the declarations of the properties above."""

    selector: Selector
    declarations: dict[str, str]
    precedence: tuple[bool, int, int, int]
    """Importance, and number of ids, classes and tags. If rules are equal, the last one wins."""


def inline_styles(root: etree._Element, sheets: Iterable[str] = ()) -> None:
    """Copy the styles of the given sheets and of the page's ``<style>`` elements into style attributes."""
    own = [style.text or "" for style in root.iter("style") if not _OTHER_MEDIA.search(style.get("media", ""))]
    rules: dict[str, list[tuple[tuple[int, ...], Rule]]] = {}
    for number, rule in enumerate(islice(read_rules("\n".join([*sheets, *own])), MOST_RULES)):
        rarest = min(rule.selector[0][0])  # ids and classes sort before tags
        rules.setdefault(rarest, []).append(((*rule.precedence, number), rule))
    comparisons = 0
    names: dict[etree._Element, frozenset[str]] = {}  # the tag, classes and id of each element, as in selectors
    for element in root.iter(etree.Element) if rules else ():
        classes = [f".{name}" for name in (element.get("class") or "").split()]
        identifiers = [f"#{identifier}"] if (identifier := element.get("id")) else []
        names[element] = frozenset([str(element.tag), *classes, *identifiers])
        candidates = [rule for name in names[element] & rules.keys() for rule in rules[name]]
        comparisons += len(candidates)
        if comparisons > MOST_COMPARISONS:
            return
        styles: dict[str, str] = {}
        for _, rule in sorted(candidates):
            if _matches(element, rule.selector, names):
                styles |= rule.declarations
        if styles:
            inlined = [f"{name}:{value}" for name, value in styles.items()]
            element.set("style", xml_text(";".join(filter(None, [*inlined, element.get("style")]))))


def read_rules(css: str) -> Iterator[Rule]:
    """Read the rules of a style sheet that apply to a wide screen and set one of the properties."""
    open_blocks: list[str] = []
    for text, brace in _PART.findall(_COMMENT.sub("", css)):
        if brace == "{":
            open_blocks.append(text.rpartition(";")[2].strip())
            continue
        selectors = open_blocks.pop() if open_blocks else ""
        if selectors.startswith("@") or any(_OTHER_MEDIA.search(at_rule) for at_rule in open_blocks):
            continue
        declarations: dict[bool, dict[str, str]] = {False: {}, True: {}}
        for declaration in text.lower().split(";"):
            name, _, value = declaration.partition(":")
            if name.strip() in PROPERTIES:
                declarations["!important" in value][name.strip()] = value.replace("!important", "").strip()
        for is_important, values in declarations.items():
            for selector in filter(None, map(_read_selector, selectors.split(",") if values else ())):
                kinds = Counter(name[0] if name[0] in "#." else "" for names, _ in selector for name in names)
                yield Rule(selector, values, (is_important, kinds["#"], kinds["."], kinds[""]))


def _read_selector(text: str) -> Selector:
    """Return the parts of a selector, or an empty tuple if it is not supported."""
    parts: list[tuple[frozenset[str], bool]] = []
    is_parent = False
    for compound in reversed(text.replace(">", " > ").split()):
        if compound == ">":
            is_parent = True
        elif _COMPOUND.fullmatch(compound):
            names = _NAME.findall(compound)
            parts.append((frozenset(name if name[0] in ".#" else name.lower() for name in names), is_parent))
            is_parent = False
        else:
            return ()
    return tuple(parts)


def _matches(element: etree._Element, selector: Selector, names: dict[etree._Element, frozenset[str]]) -> bool:
    """Check a selector from right to left. Only the nearest matching ancestor is tried for each part."""
    (own, _), *outer = selector
    if not own <= names[element]:
        return False
    ancestor = element.getparent()
    for part, is_parent in outer:
        while ancestor is not None and not is_parent and not part <= names[ancestor]:
            ancestor = ancestor.getparent()
        if ancestor is None or not part <= names[ancestor]:
            return False
        ancestor = ancestor.getparent()
    return True
