"""Parse a page's text into a pruned tree, and record what the parser lost."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass

from lxml import etree

from victorpy.errors import ParseError

# libxml2 gives up on a page below 2,048 levels; browsers flatten what is deeper than 512.
FLATTEN_DEPTH = 512

# libxml2 compares each attribute of a tag with all the others, so thousands of them take seconds.
MOST_ATTRIBUTES = 2_000
_STRETCH = 5 * MOST_ATTRIBUTES
_MANY_VALUES = 10 * MOST_ATTRIBUTES
_RAW_TAGS = ("script", "SCRIPT", "style", "STYLE")

# Elements without content or closing tag.
VOID = frozenset("area base basefont br col frame hr img input isindex link meta param".split())

# Void elements that libxml2 does not know: it would put the rest of their parent inside them.
UNKNOWN_VOID = frozenset("bgsound command embed image keygen menuitem source track wbr".split())

_RAW = r"<!--.*?(?:-->|\Z)|<(?P<raw>script|style|textarea|title)\b.*?(?:</(?P=raw)|\Z)"
_TAGS = re.compile(
    rf"{_RAW}|<(?P<tag>[a-zA-Z][^\s/>=]*+)(?:[^>=]++|=\s*+(?:\"[^\"]*+\"?|'[^']*+'?)?)*+>?", re.DOTALL | re.IGNORECASE
)
_QUOTED = re.compile(r"\"[^\"]*+\"|'[^']*+'")
_MARKUP = re.compile(
    rf"{_RAW}|<(?P<close>/?)(?P<tag>[a-zA-Z][^\s/>]*)[^>]*(?:>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_C1_REFERENCE = re.compile(b"&#(1[2-5][0-9]);")
_CLEANEVAL_WRAPPER = re.compile(r"\s*<text\b(?P<attributes>[^>]*\bid\s*=[^>]*)>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"(\w+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|(\S+))")


@dataclass(frozen=True, slots=True)
class Tree:
    """A parsed page, whole or pruned. `root` is None if the page has neither markup nor text."""

    root: etree._Element | None
    url: str = ""
    title: str = ""
    losses: tuple[str, ...] = ()


def parse(text: str, delete: Iterable[str] = (), utf8: bytes | None = None) -> Tree:
    """Parse a page's text and remove the elements named in `delete` with their content.

    Pass `utf8` if the text is already available in UTF-8, to save encoding it again.
    """
    return prune(parse_whole(text, utf8), delete)


def parse_whole(text: str, utf8: bytes | None = None) -> Tree:
    """Parse a page's text with its head, its scripts and everything else that pruning removes."""
    wrapper = _cleaneval_wrapper(text)
    root, losses = _parse_without_loss(text, utf8 or text.encode())
    if root is None:
        return Tree(None, wrapper.get("id", ""), wrapper.get("title", ""), losses)
    head = next(iter(root), root)
    title = next(head.iter("title"), None) if head.tag == "head" else None
    if title is None:  # searching the whole page is slow, since lxml looks ahead for a second match
        title = next(root.iter("title"), None)
    title_text = (title.text if title is not None else "") or wrapper.get("title", "")
    url = wrapper.get("id", "")
    if not url.strip():
        canonical = (link for link in root.iter("link") if link.get("rel", "").lower() == "canonical")
        link = next(canonical, None)
        url = link.get("href") or "" if link is not None else ""
    etree.strip_tags(root, *UNKNOWN_VOID, *(["text"] if wrapper else []))
    return Tree(root, "".join(url.split()), " ".join(title_text.split()), losses)


def prune(tree: Tree, delete: Iterable[str]) -> Tree:
    """Remove the named elements from a tree, with their content. Changes the tree in place."""
    if tree.root is not None:
        etree.strip_elements(tree.root, *delete, with_tail=False)
    return tree


def _parse_without_loss(text: str, utf8: bytes) -> tuple[etree._Element | None, tuple[str, ...]]:
    """Parse so that no text is lost; where that fails, describe the loss."""
    losses = []
    if _may_hold_attribute_flood(text):
        text, dropped = _drop_attribute_floods(text)
        if dropped:
            losses.append(f"the attributes of {dropped} tags with more than {MOST_ATTRIBUTES:,} of them were dropped")
            utf8 = text.encode()
    if _C1_REFERENCE.search(utf8):
        # Browsers read a reference to a control character as the same byte of Windows-1252.
        utf8 = _C1_REFERENCE.sub(lambda match: bytes([int(match[1])]).decode("cp1252", "ignore").encode(), utf8)
        text = utf8.decode()
    root, error = _lxml_tree(utf8)
    if error:
        root, error = _lxml_tree(_flatten(text).encode())
        losses.append(error or f"elements nested deeper than {FLATTEN_DEPTH} levels were flattened; no text was lost")
    return root, tuple(losses)


def _may_hold_attribute_flood(text: str) -> bool:
    """Check quickly whether some tag could have too many attributes.

    Ordinary pages have neither that many values in their tags nor so long a stretch without any ``>``.
    """
    if text.count("=") > _MANY_VALUES:
        outside_scripts = (part for part in text.split("<") if not part.startswith(_RAW_TAGS) or ">" not in part)
        if sum(part.count("=") for part in outside_scripts) > _MANY_VALUES:
            return True
    position = 0
    while position < len(text) - _STRETCH:
        if text.find(">", position, position + _STRETCH) >= 0:
            position += _STRETCH
            continue
        tag = _tag_around(text, position)
        if tag and _attribute_count(tag[0]) > MOST_ATTRIBUTES:
            return True
        end = tag.end() if tag else text.find(">", position)
        position = max(end, position + _STRETCH) if end >= 0 else len(text)
    return False


def _drop_attribute_floods(text: str) -> tuple[str, int]:
    """Remove all attributes of tags that have too many. One long attribute, such as an image's data, is harmless."""
    dropped = 0

    def shorten(tag: re.Match[str]) -> str:
        nonlocal dropped
        if tag["tag"] is None or len(tag[0]) < MOST_ATTRIBUTES or _attribute_count(tag[0]) <= MOST_ATTRIBUTES:
            return tag[0]
        dropped += 1
        return f"<{tag['tag']}>"

    return _TAGS.sub(shorten, text), dropped


def _tag_around(text: str, position: int) -> re.Match[str] | None:
    """Return the tag that contains a position, or None inside a script or a comment."""
    start = max(text.rfind("<", 0, position + 1), 0)
    if text.startswith(_RAW_TAGS, start + 1) and text.find(">", start, position) >= 0:
        return None
    tag = _TAGS.match(text, start)
    return tag if tag and tag["tag"] is not None and tag.end() > position else None


def _attribute_count(tag: str) -> int:
    """Count a tag's attributes, whose values may stand in quotes."""
    return len(_QUOTED.sub("", tag).replace("/", " ").split())


def _lxml_tree(utf8: bytes) -> tuple[etree._Element | None, str]:
    """Parse once. The error says why libxml2 dropped text, which it reports only in its log."""
    parser = etree.HTMLParser(
        encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True, collect_ids=False
    )
    try:
        root = etree.fromstring(utf8, parser)
    except etree.XMLSyntaxError as error:
        if utf8.strip() and "Document is empty" not in str(error):
            raise ParseError(f"the page cannot be parsed: {error}") from error
        return None, ""
    while root is not None and (sibling := root.getnext()) is not None:
        root.append(sibling)  # libxml2 puts elements after </html> beside the root
    for entry in parser.error_log.filter_from_fatals():
        if entry.type_name in {"ERR_RESOURCE_LIMIT", "ERR_NO_MEMORY"}:
            return root, f"the parser gave up at line {entry.line}: {entry.message}"
    return root, ""


def _flatten(text: str) -> str:
    """Remove the tags nested deeper than in a browser; the text between them stays."""
    depth = 0

    def keep(match: re.Match[str]) -> str:
        nonlocal depth
        tag = match["tag"]
        if tag is None or tag.lower() in VOID:
            return match[0]
        if tag.lower() in UNKNOWN_VOID:
            return ""
        if match["close"]:
            depth = max(depth - 1, 0)
            return match[0] if depth < FLATTEN_DEPTH else " "
        depth += 1
        return match[0] if depth <= FLATTEN_DEPTH else " "

    return _MARKUP.sub(keep, text)


def _cleaneval_wrapper(text: str) -> dict[str, str]:
    """Return the attributes of the ``<text id= title=>`` element that CleanEval puts around a page."""
    wrapper = _CLEANEVAL_WRAPPER.match(text)
    if not wrapper:
        return {}
    attributes = _ATTRIBUTE.findall(wrapper["attributes"])
    return {name.lower(): html.unescape(double or single or bare) for name, double, single, bare in attributes}
