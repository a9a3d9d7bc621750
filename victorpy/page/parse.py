"""Parse a page's text into a pruned tree, and record what the parser lost."""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from lxml import etree

from victorpy import native
from victorpy.errors import ParseError
from victorpy.page.formulas import FORMULA_ATTRIBUTES, write_formulas
from victorpy.page.repairs import RENDERED, clean_listings, mark_media, write_quotation_marks

# libxml2 drops everything below 2,048 levels; browsers flatten elements below 512.
FLATTEN_DEPTH = 512

# An element takes up to 460 bytes of memory, so pages with very many tags would take a hundred times their size.
# Ordinary pages have one element per 100 bytes, dense tables one per 10 bytes.
MOST_ELEMENTS = 100_000
_BYTES_PER_ELEMENT = 16

# Inline tags between two other tags. A paragraph is written at once, and takes about 600 bytes of memory for each.
MOST_INLINE = 10_000

# libxml2 compares each attribute of a tag with all the others, so thousands of them take seconds.
MOST_ATTRIBUTES = 2_000
_STRETCH = 5 * MOST_ATTRIBUTES
_MANY_VALUES = 10 * MOST_ATTRIBUTES
_RAW_TAGS = ("script", "SCRIPT", "style", "STYLE")

# Maximum number of characters of a title that metadata uses, because it tries all ways to split a title in two.
MOST_TITLE = 1_000

# Elements without content or closing tag.
VOID = frozenset("area base basefont br col frame hr img input isindex link meta param".split())

# Void elements that libxml2 does not know. It would put the rest of their parent inside them.
UNKNOWN_VOID = frozenset("bgsound command embed image keygen menuitem source track wbr".split())

_RAW = r"<!--.*?(?:-->|\Z)|<(?P<raw>script|style|textarea|title)\b.*?(?:</(?P=raw)|\Z)"
_TAGS = re.compile(
    rf"{_RAW}|<(?P<tag>[a-zA-Z][^\s/>=]*+)(?:[^>=]++|=\s*+(?:\"[^\"]*+\"?|'[^']*+'?)?)*+>?", re.DOTALL | re.IGNORECASE
)
_QUOTED = re.compile(r"\"[^\"]*+\"|'[^']*+'")
_MARKUP = re.compile(rf"{_RAW}|<(?P<close>/?)(?P<tag>[a-zA-Z][^\s/>]*)[^>]*(?:>|\Z)", re.DOTALL | re.IGNORECASE)
_LINE_TAG = re.compile(r"<[a-zA-Z]+\s[^>]*?(?<![\w-])(?:code-|token-|-)?line(?![\w-])", re.IGNORECASE)
_native = native.load("scan")
_CAN_SKIP = etree.LIBXML_VERSION >= (2, 14)  # older versions parse tags differently from the native core
_SCRIPT_TAG = re.compile(rb"<(?P<close>/?)script(?=[\s/>])", re.IGNORECASE)
# Matches a </script> in a JavaScript string. The rest of the string, a quote and punctuation follow on the same line,
# as in "</script><br class='x'>");
_SCRIPT_END_IN_STRING = re.compile(
    rb"</(?i:script)\s*>(?=[^\n\"'`=<]*+"
    rb"(?:(?:<(?!(?i:script)\b)|=\\?(?:\"[^\"\n]*\"|'[^'\n]*')?)[^\n\"'`=<]*+){0,20}+"
    rb"(?P<quote>[\"'`])\s*?(?:[;,.:?+)\]}&|\n]|</(?i:script)))"
)
_OPEN_TITLE = re.compile(rb"<title\b[^>]*>[^<]*", re.IGNORECASE)
# Match rare tags: formulas, listings, media, base addresses, ruby text, quotes, and tags that may state the address.
_RARE_TAGS = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rb"<(?:math(?![a-z0-9])|img(?![a-z0-9])[^>]{0,199}?(?-i:math|latex|data-tex)"
        rb"|(?:span(?![a-z0-9])|scri(?=pt(?![a-z0-9]))|div(?![a-z0-9]))[^>]{0,59}?(?-i:math|latex|data-tex))",
        rb"<(?:pre|code)(?![a-z0-9])",
        rb"<(?:iframe|video|audio|picture)(?![a-z0-9])",
        rb"<base(?![a-z0-9])",
        rb"<rt(?![a-z0-9])",
        rb"<q(?![a-z0-9])",
        rb"<(?:link|meta)(?![a-z0-9])",
    )
]
_C1_REFERENCE = re.compile(b"&#(1[2-5][0-9]);")
_CLEANEVAL_WRAPPER = re.compile(rb"\s*<text\b(?=[^>]*+>)(?P<attributes>[^>]*\bid\s*=[^>]*)>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"(\w+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|(\S+))")


METADATA_ATTRIBUTES = ("class", "rel", "itemprop", "data-testid")
"""Attributes whose values name authors and dates."""

Survey = tuple[bytes, bool, bool, bool, int, tuple[bool, ...] | None]


@dataclass(frozen=True, slots=True)
class Tree:
    """A parsed page, whole or pruned. `root` is None if the page has neither markup nor text."""

    root: etree._Element | None
    url: str = ""
    title: str = ""
    losses: tuple[str, ...] = ()
    base: str = ""
    """Address of the ``<base>`` element."""
    unwrap: frozenset[str] = frozenset()
    """Tags that are not elements. Their content belongs to the parent."""


def parse(page: str | bytes, delete: Collection[str] = ()) -> Tree:
    """Parse a page's text, or its bytes in UTF-8, and remove the elements named in `delete` with their content."""
    return prune(parse_whole(page, delete), delete)


def parse_whole(
    page: str | bytes,
    unread: Collection[str] = (),
    read: frozenset[str] | None = None,
    not_inline: frozenset[str] = frozenset(),
    metadata: bool = False,
) -> Tree:
    """Parse a page's text, or its bytes in UTF-8, including the elements that pruning removes.

    For speed, elements named in `unread` may be empty in the tree or missing, and so may attributes that begin with
    ``data-`` and are not in `read`. With `metadata`, the tree still contains what the functions for metadata read. The
    number of tags between two of those in `not_inline` is limited, unless there are none.
    """
    utf8 = page if isinstance(page, bytes) else page.encode()
    wrapper = {}  # attributes of the <text> element that CleanEval puts around a page
    wrapper_tag = _CLEANEVAL_WRAPPER.match(utf8)
    if wrapper_tag:
        for name, double, single, bare in _ATTRIBUTE.findall(wrapper_tag["attributes"].decode()):
            wrapper[name.lower()] = html.unescape(double or single or bare)
    root, losses, rare = _parse_without_loss(utf8, unread, read, not_inline, metadata)
    title = next(_each(root, "title"), None)
    if title is not None and "<" in (title.text or "") and b"</title" not in utf8.lower():
        # The title has no end tag, so the parser treated the whole page as a title. End it before the next tag.
        utf8 = _OPEN_TITLE.sub(rb"\g<0></title>", utf8, count=1)
        root, losses, rare = _parse_without_loss(utf8, unread, read, not_inline, metadata)
        title = next(_each(root, "title"), None)
    if root is None:
        return Tree(None, wrapper.get("id", ""), wrapper.get("title", ""), losses)
    title_text = (title.text if title is not None else "") or wrapper.get("title", "")
    has_formulas, has_listings, has_media, has_base, has_ruby, has_quotes, has_links = rare
    url = wrapper.get("id", "")
    if has_links and not url.strip():
        url = _own_address(root)
    if has_formulas:
        write_formulas(root)
    if has_listings:
        clean_listings(root, RENDERED.encode() in utf8)
    if has_media:
        mark_media(root)
    if has_ruby:  # ruby annotations are not part of the text
        etree.strip_elements(root, "rt", "rp", with_tail=False)
    if has_quotes:
        write_quotation_marks(root)
    tags = UNKNOWN_VOID | {"text"} if wrapper else UNKNOWN_VOID
    bases = root.iter("base") if has_base else ()
    base = next((href for element in bases if (href := element.get("href"))), "")
    return Tree(root, "".join(url.split()), " ".join(title_text.split()), losses, base, tags)


def _own_address(root: etree._Element) -> str:
    """Return the absolute address that a page states for itself: its canonical link, else ``og:url``."""
    og_url = ""
    for element in _each(root, "link", "meta"):
        if "canonical" in element.get("rel", "").lower().split():
            address = element.get("href") or ""
        elif not og_url and "og:url" in (element.get("property"), element.get("name")):
            address = element.get("content") or ""
        else:
            continue
        address = "".join(address.split())
        address = f"https:{address}" if address.startswith("//") else address
        if not address.lower().startswith(("http://", "https://")):
            continue
        if element.tag == "link":
            return address
        og_url = address
    return og_url


def _each(root: etree._Element | None, *tags: str) -> Iterator[etree._Element]:
    """Yield the elements with these tags, elements in the head first.

    Searching the whole page is slow, since lxml looks ahead for another match.
    """
    if root is None:
        return
    head = next(iter(root), root)
    if head.tag == "head":
        yield from head.iter(*tags)
    yield from root.iter(*tags)


def prune(tree: Tree, delete: Iterable[str]) -> Tree:
    """Remove the named elements from a tree, with their content. Changes the tree in place."""
    if tree.root is not None:
        etree.strip_tags(tree.root, *tree.unwrap)
        etree.strip_elements(tree.root, *delete, with_tail=False)
    return tree


def _parse_without_loss(
    utf8: bytes, unread: Collection[str], read: frozenset[str] | None, not_inline: frozenset[str], metadata: bool
) -> tuple[etree._Element | None, tuple[str, ...], tuple[bool, ...]]:
    """Parse without losing text, or describe what was lost. Also return which rare tags the page may contain."""
    losses = []
    read_part, may_have_flood, may_have_script_end, may_have_reference, tags, rare = _survey(
        utf8, unread, read, metadata
    )
    changed = utf8
    if may_have_flood and _may_have_attribute_flood(text := utf8.decode()):
        text, dropped = _drop_attribute_floods(text)
        if dropped:
            losses.append(f"the attributes of {dropped} tags with more than {MOST_ATTRIBUTES:,} of them were dropped")
            changed = text.encode()
    if may_have_script_end:
        changed = _drop_script_remainders(changed)
    if may_have_reference:
        # Browsers treat a reference to a control character as the Windows-1252 character with that number.
        changed = _C1_REFERENCE.sub(lambda match: bytes([int(match[1])]).decode("cp1252", "ignore").encode(), changed)
    most = MOST_ELEMENTS + len(changed) // _BYTES_PER_ELEMENT
    if changed is not utf8:
        tags = changed.count(b"<")
    if tags > most:
        shorter = _drop_tags(changed.decode(), most).encode()
        if len(shorter) < len(changed):
            losses.append(f"the page has too many tags: those after the first {most:,} were dropped; no text was lost")
            changed = shorter
    if not_inline and tags > MOST_INLINE and _may_have_inline_flood(changed, not_inline):
        shorter = _drop_inline_floods(changed.decode(), not_inline).encode()
        if len(shorter) < len(changed):
            which = f"inline tags after the first {MOST_INLINE:,} of a paragraph"
            losses.append(f"{which} were dropped; no text was lost")
            changed = shorter
    if changed is not utf8:
        read_part, *_, rare = _survey(changed, unread, read, metadata)
    root, error = _lxml_tree(read_part)
    if error:
        root, error = _lxml_tree(_flatten(changed.decode()).encode())
        lost = "no text was lost, only breaks between paragraphs there"
        losses.append(error or f"elements nested deeper than {FLATTEN_DEPTH} levels were flattened; {lost}")
    return root, tuple(losses), rare or (_native.rare_tags if _native else _rare_tags)(read_part)


def _survey(utf8: bytes, unread: Collection[str], read: frozenset[str] | None, metadata: bool) -> Survey:
    """Return the page without unused markup, if possible, and the results of quick checks.

    The checks: whether the page may have tags with too many attributes, script ends in strings, and references to
    control characters; the number of ``<``; and its rare tags if they are known.
    """
    if not _native:
        return utf8, True, True, True, utf8.count(b"<"), None
    skipped = [tag in unread and _CAN_SKIP for tag in ("script", "style", "svg")]
    may_drop = read is not None and _CAN_SKIP
    may_drop_head = may_drop and "meta" in unread and "link" in unread and not metadata
    read_data = _data_attributes(read, metadata) if read else []
    survey: Survey = _native.survey(utf8, *skipped, may_drop_head, may_drop, read_data, metadata, MOST_ATTRIBUTES)
    return survey


@cache
def _data_attributes(read: frozenset[str], metadata: bool) -> list[bytes]:
    """Return the attributes beginning with ``data-`` that are needed later, including those of formulas."""
    names = read | FORMULA_ATTRIBUTES | {*(METADATA_ATTRIBUTES if metadata else ())}
    return [name.encode() for name in sorted(names) if name.startswith("data-")]


def _rare_tags(utf8: bytes) -> tuple[bool, ...]:
    """Return which of the rare tags a page may contain: formulas, listings, media, base, ruby, quotes, addresses."""
    return tuple(pattern.search(utf8) is not None for pattern in _RARE_TAGS)


def _drop_script_remainders(utf8: bytes) -> bytes:
    """Remove the code after a ``</script>`` in a JavaScript string, where HTML parsers end the script.

    The code ends at another, unmatched ``</script>``. Both tags are kept, because in a script with ``<!--`` and a
    nested ``<script>``, HTML parsers end the script at the second one.

    >>> _drop_script_remainders(b"<script>s = '</script>'; f()</script>")
    b"<script>s = '</script></script>"
    """
    kept_parts = []
    kept_until = len(utf8)
    dropped_after = set()
    for end in reversed([*_SCRIPT_END_IN_STRING.finditer(utf8)]):
        stop = _SCRIPT_TAG.search(utf8, end.end())
        if stop and not stop["close"]:  # the next string contains another script
            close = _SCRIPT_TAG.search(utf8, stop.end())
            stop = stop if close and close.start() in dropped_after else None
        line_before = utf8[max(end.start() - 1_000, 0) : end.start()].rpartition(b"\n")[2]
        if not stop or (end["quote"] != b"`" and end["quote"] not in line_before):
            continue
        _, comment_end, after_comment = utf8[end.end() : stop.start()].rpartition(b"-->")
        if not comment_end or not after_comment.strip():
            kept_parts.append(utf8[stop.start() : kept_until])
            kept_until = end.end()
            dropped_after.add(end.start())
    return b"".join([utf8[:kept_until], *reversed(kept_parts)]) if kept_parts else utf8


def _may_have_attribute_flood(text: str) -> bool:
    """Check quickly whether a tag could have too many attributes.

    It could if there are very many values in tags, or a long stretch without ``>``.
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
        start = max(text.rfind("<", 0, position + 1), 0)
        in_script = text.startswith(_RAW_TAGS, start + 1) and text.find(">", start, position) >= 0
        tag = None if in_script else _TAGS.match(text, start)
        if tag and (tag["tag"] is None or tag.end() <= position):
            tag = None
        if tag and _attribute_count(tag[0]) > MOST_ATTRIBUTES:
            return True
        end = tag.end() if tag else text.find(">", position)
        position = max(end, position + _STRETCH) if end >= 0 else len(text)
    return False


def _drop_attribute_floods(text: str) -> tuple[str, int]:
    """Remove all attributes of tags that have too many. A single long attribute, such as image data, is harmless."""
    dropped = 0

    def shorten(tag: re.Match[str]) -> str:
        nonlocal dropped
        if tag["tag"] is None or len(tag[0]) < MOST_ATTRIBUTES or _attribute_count(tag[0]) <= MOST_ATTRIBUTES:
            return tag[0]
        dropped += 1
        return f"<{tag['tag']}>"

    return _TAGS.sub(shorten, text), dropped


def _attribute_count(tag: str) -> int:
    """Count a tag's attributes. Quoted values may contain white space."""
    return len(_QUOTED.sub("", tag).replace("/", " ").split())


def _lxml_tree(utf8: bytes) -> tuple[etree._Element | None, str]:
    """Parse once. Also return why libxml2 dropped text (from its log), or an empty string."""
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
        root.append(sibling)  # libxml2 makes elements after </html> siblings of the root
    for entry in parser.error_log.filter_from_fatals():
        if entry.type_name in {"ERR_RESOURCE_LIMIT", "ERR_NO_MEMORY"}:
            return root, f"the parser gave up at line {entry.line}: {entry.message}"
    return root, ""


def _drop_tags(text: str, most: int) -> str:
    """Remove the tags after the first `most` opening tags, and keep their text."""
    count = 0

    def keep(match: re.Match[str]) -> str:
        nonlocal count
        count += match["tag"] is not None and not match["close"]
        return " " if count > most and match["tag"] is not None else match[0]

    return _MARKUP.sub(keep, text)


def _may_have_inline_flood(utf8: bytes, not_inline: frozenset[str]) -> bool:
    """Check quickly whether there could be too many inline tags between two other tags.

    Windows between these two contain at least half of the inline tags, because each tag has three bytes or more.
    """
    search, window = _tags_of(not_inline).search, 3 * MOST_INLINE // 4
    inline = 0
    for start in range(0, len(utf8), window):
        stop = start + window
        inline = 0 if search(utf8, start, stop) else inline + utf8.count(b"<", start, stop)
        if inline >= MOST_INLINE // 2:
            return True
    return False


@cache
def _tags_of(names: frozenset[str]) -> re.Pattern[bytes]:
    return re.compile(rf"</?(?:{'|'.join(map(re.escape, sorted(names)))})(?=[\s/>])".encode(), re.IGNORECASE)


def _drop_inline_floods(text: str, not_inline: frozenset[str]) -> str:
    """Remove inline tags after too many of them without another tag, and keep their text.

    In a listing, every line starts anew.
    """
    count = open_dropped = listings = done = 0

    def keep(match: re.Match[str]) -> str:
        nonlocal count, open_dropped, listings, done
        tag, is_end = (match["tag"] or "").lower(), bool(match["close"])
        starts_line = listings and ("\n" in text[done : match.start()] or _LINE_TAG.match(match[0]))
        done = match.end()
        if tag == "pre":
            listings = max(listings + (-1 if is_end else 1), 0)
        if tag in not_inline or starts_line:
            count = 0
        if not tag or tag in not_inline:
            return match[0]
        count += not is_end
        if open_dropped if is_end else count > MOST_INLINE:
            open_dropped += -1 if is_end else tag not in VOID
            return ""
        return match[0]

    return _MARKUP.sub(keep, text)


def _flatten(text: str) -> str:
    """Remove the tags of elements below `FLATTEN_DEPTH`, and keep their text."""
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
