"""Text to a pruned tree, and what the parser lost on the way."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass

from lxml import etree

from victorpy.errors import ParseError

# libxml2 gives up on a page below 2,048 levels; browsers flatten what is deeper than 512.
FLATTEN_DEPTH = 512

# libxml2 compares each attribute of a tag with all others: so many would take seconds, and say nothing of the text.
MOST_ATTRIBUTES = 2_000
_STRETCH = 5 * MOST_ATTRIBUTES
_MANY_VALUES = 10 * MOST_ATTRIBUTES
_RAW_TAGS = ("script", "SCRIPT", "style", "STYLE")

# Elements that hold nothing and have no closing tag ...
VOID = frozenset("area base basefont br col frame hr img input isindex link meta param".split())

# ... and those of which libxml2 does not know it: they would swallow the rest of their parent.
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
    """A parsed page, whole or pruned; `root` is None for a page without any markup or text."""

    root: etree._Element | None
    url: str = ""
    title: str = ""
    losses: tuple[str, ...] = ()


def parse(text: str, delete: Iterable[str] = (), utf8: bytes | None = None) -> Tree:
    """Parse a page's text and take out the elements named in `delete` with all that is in them.

    Whoever has the text in UTF-8 already may give that too.
    """
    return prune(parse_whole(text, utf8), delete)


def parse_whole(text: str, utf8: bytes | None = None) -> Tree:
    """Parse a page's text with its head, scripts and all else that is pruned before it is split."""
    wrapper = _cleaneval_wrapper(text)
    root, losses = _parse_whole(text, utf8 or text.encode())
    if root is None:
        return Tree(None, wrapper.get("id", ""), wrapper.get("title", ""), losses)
    title = " ".join((_title(root) or wrapper.get("title", "")).split())
    url = "".join(wrapper.get("id", "").split()) or _canonical_url(root)
    etree.strip_tags(root, *UNKNOWN_VOID, *(["text"] if wrapper else []))
    return Tree(root, url, title, losses)


def prune(tree: Tree, delete: Iterable[str]) -> Tree:
    """Take the elements named out of a tree, with all that is in them; the tree that was given is changed."""
    if tree.root is not None:
        etree.strip_elements(tree.root, *delete, with_tail=False)
    return tree


def _parse_whole(text: str, utf8: bytes) -> tuple[etree._Element | None, tuple[str, ...]]:
    """Parse so that no text is lost; where that fails, say what was."""
    losses = []
    shortened, dropped = _drop_attribute_floods(text)
    if dropped:
        losses.append(f"the attributes of {dropped} tags with more than {MOST_ATTRIBUTES:,} of them were dropped")
        text, utf8 = shortened, shortened.encode()
    if _C1_REFERENCE.search(utf8):
        utf8 = _C1_REFERENCE.sub(_as_browsers_read, utf8)
        text = utf8.decode()
    root, error = _lxml_tree(utf8)
    if error:
        root, error = _lxml_tree(_flatten(text).encode())
        losses.append(error or f"elements nested deeper than {FLATTEN_DEPTH} levels were flattened; no text was lost")
    return root, tuple(losses)


def _as_browsers_read(reference: re.Match[bytes]) -> bytes:
    """A reference to a control character means what the byte means in Windows-1252."""
    return bytes([int(reference[1])]).decode("cp1252", "ignore").encode()


def _drop_attribute_floods(text: str) -> tuple[str, int]:
    """Take the attributes from tags that have too many; a long one, an image's data say, is no harm."""
    if not _may_hold_flood(text):
        return text, 0
    dropped = 0

    def shorten(found: re.Match[str]) -> str:
        nonlocal dropped
        if found["tag"] is None or len(found[0]) < MOST_ATTRIBUTES or _attributes(found[0]) <= MOST_ATTRIBUTES:
            return found[0]
        dropped += 1
        return f"<{found['tag']}>"

    return _TAGS.sub(shorten, text), dropped


def _may_hold_flood(text: str) -> bool:
    """Look for more values, or a longer stretch of words without any ``>``, than ordinary pages have in a tag."""
    if text.count("=") > _MANY_VALUES and _values_in_tags(text) > _MANY_VALUES:
        return True
    at = 0
    while at < len(text) - _STRETCH:
        if text.find(">", at, at + _STRETCH) >= 0:
            at += _STRETCH
            continue
        tag = _tag_around(text, at)
        if tag and _attributes(tag[0]) > MOST_ATTRIBUTES:
            return True
        after = tag.end() if tag else text.find(">", at)
        at = max(after, at + _STRETCH) if after >= 0 else len(text)
    return False


def _values_in_tags(text: str) -> int:
    """Count the ``=`` of a page, but for those of its scripts and styles."""
    return sum(part.count("=") for part in text.split("<") if not part.startswith(_RAW_TAGS) or ">" not in part)


def _tag_around(text: str, at: int) -> re.Match[str] | None:
    """The tag that a place lies in; none in a script or a comment."""
    opened = max(text.rfind("<", 0, at + 1), 0)
    if text.startswith(_RAW_TAGS, opened + 1) and text.find(">", opened, at) >= 0:
        return None
    tag = _TAGS.match(text, opened)
    return tag if tag and tag["tag"] is not None and tag.end() > at else None


def _attributes(tag: str) -> int:
    """Count a tag's attributes; what stands in quotes is their values."""
    return _separators(_QUOTED.sub("", tag))


def _separators(text: str) -> int:
    return len(text.replace("/", " ").split())


def _lxml_tree(utf8: bytes) -> tuple[etree._Element | None, str]:
    """Parse once; the error is what libxml2 dropped text for, which it says nowhere but in its log."""
    parser = etree.HTMLParser(
        encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True, collect_ids=False
    )
    try:
        root = etree.fromstring(utf8, parser)
    except etree.XMLSyntaxError as error:
        if utf8.strip() and "Document is empty" not in str(error):
            raise ParseError(f"the page cannot be parsed: {error}") from error
        return None, ""
    while root is not None and (more := root.getnext()) is not None:
        root.append(more)  # libxml2 puts what comes after </html> beside the root
    for entry in parser.error_log.filter_from_fatals():
        if entry.type_name in {"ERR_RESOURCE_LIMIT", "ERR_NO_MEMORY"}:
            return root, f"the parser gave up at line {entry.line}: {entry.message}"
    return root, ""


def _flatten(text: str) -> str:
    """Leave out the tags that lie deeper than a browser would nest them; the text between them stays."""
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
    """Read the attributes of the ``<text id= title=>`` that CleanEval puts around a page."""
    wrapper = _CLEANEVAL_WRAPPER.match(text)
    if not wrapper:
        return {}
    found = _ATTRIBUTE.findall(wrapper["attributes"])
    return {name.lower(): html.unescape(double or single or bare) for name, double, single, bare in found}


def _title(root: etree._Element) -> str:
    head = next(iter(root), root)  # lxml looks for the next one too before it gives the first: in the head it is near
    found = next(head.iter("title"), None) if head.tag == "head" else None
    if found is None:
        found = next(root.iter("title"), None)
    return found.text or "" if found is not None else ""


def _canonical_url(root: etree._Element) -> str:
    for link in root.iter("link"):
        if link.get("rel", "").lower() == "canonical":
            return "".join((link.get("href") or "").split())
    return ""
