"""Repair listings, pictures, embedded players and quotes in a page's tree, before it is split."""

from __future__ import annotations

import re
from itertools import islice

from lxml import etree

from victorpy.base.unicode import xml_text

_NUMBERS = re.compile(
    r"(?<!\S)(?:linenos?|linenumber|line-numbers?|line-numbers-rows|linenodiv|lnt?|gutter|rouge-gutter|blob-num"
    r"|hljs-ln-(?:numbers|n)|react-syntax-highlighter-line-number)(?!\S)"
)
_ONLY_NUMBERS = re.compile(r"\s*(?:[0-9]+\s+)+[0-9]+\s*")
_TOOLS = re.compile(r"(?<!\S)(?:toolbar|code-header|copy|copy-(?:button|btn)|btn-clipboard)(?!\S)")
_LINE = re.compile(r"(?<!\S)(?:line|code-line|token-line|gatsby-highlight-code-line)(?!\S)")
_LINES = re.compile(r"(?<!\S)(?:linenums|code-lines)(?!\S)")
_BLOCK_STYLE = re.compile(r"white-space\s*:\s*pre|display\s*:\s*block")
RENDERED = "syntaxhighlighter"
"""Prefix of the class of rendered listings."""
_BUTTONS = frozenset(["button", "clipboard-copy"])
_MAX_LEVELS = 6
_DEEPEST_QUOTE = 3  # deeper quotes get no marks, since searching their texts takes long
_QUOTATION_MARKS = "\"'“”„‘’‚«»‹›「『"
_SETS = ("srcset", "data-srcset", "data-lazy-srcset")
_PLAYER = re.compile(
    r"(?:https?:)?//(?:[\w-]+\.)*(?:youtube(?:-nocookie)?\.com/embed|player\.vimeo\.com|dailymotion\.com/embed"
    r"|w\.soundcloud\.com/player|open\.spotify\.com/embed|bandcamp\.com/EmbeddedPlayer|embed\.ted\.com"
    r"|player\.twitch\.tv|archive\.org/embed|[\w.-]+/videos/embed)/?"
)


def clean_listings(root: etree._Element, has_rendered: bool) -> None:
    """Remove line numbers, gutters and toolbars from listings, and separate their lines.

    Listings that are lists of lines become a ``<pre>``. So do listings rendered by SyntaxHighlighter, if the page may
    have any.
    """
    divs = root.iter("div") if has_rendered else ()
    for rendered in [div for div in divs if div.get("class", "").startswith(RENDERED)]:
        code = next((cell for cell in rendered.iter("td") if cell.get("class") == "code"), rendered)
        rows = [div for div in code.iter("div") if div.get("class", "").startswith("line ")]
        texts = ["".join(map(str, row.itertext())).rstrip() for row in rows]
        name = rendered.get("class", "").split()[-1]
        _empty(rendered)
        rendered.tag, rendered.text = "pre", xml_text("\n".join(texts))
        rendered.set("class", xml_text(f"brush: {name}"))
    around: dict[etree._Element, re.Pattern[str]] = {}
    for listing in [*root.iter("pre")]:
        if next(listing.iterancestors("pre"), None) is not None:
            continue
        cell = next(listing.iterancestors("td"), None)
        beside = cell.getnext() if cell is not None else None
        has_listing_beside = beside is not None and beside.find(".//pre") is not None
        if has_listing_beside and _ONLY_NUMBERS.fullmatch("".join(map(str, listing.itertext()))):
            _empty(listing)
        for element in [*listing.iterdescendants()]:
            if element.tag in _BUTTONS or _NUMBERS.search(element.get("class", "")):
                _empty(element)
        line_spans = {span for span in listing.iter("span") if _LINE.search(span.get("class", ""))}
        for line in line_spans:
            is_followed = not line.tail and line.getnext() in line_spans
            if is_followed and not "".join(map(str, line.itertext())).endswith("\n") and line.find(".//br") is None:
                line.tail = "\n"  # lines are separated only by a style sheet
        ancestors = [*islice(listing.iterancestors(), _MAX_LEVELS)]
        around |= {ancestor: _NUMBERS for ancestor in ancestors if ancestor.tag == "tr"}
        around |= dict.fromkeys(ancestors[:1], _TOOLS)
    for parent, unwanted in around.items():
        for element in parent:
            if element.tag != "pre" and unwanted.search(element.get("class", "")):
                _empty(element)
    for lines in [*root.iter("ol")]:
        if _LINES.search(lines.get("class", "")) and next(lines.iterancestors("pre"), None) is None:
            text = "\n".join("".join(map(str, item.itertext())).rstrip("\n") for item in lines)
            del lines[:]
            lines.tag, lines.text = "pre", xml_text(text)
    for code in [*root.iter("code")]:
        if _BLOCK_STYLE.search(code.get("style", "")) and next(code.iterancestors("pre"), None) is None:
            code.tag = "pre"


def _empty(element: etree._Element) -> None:
    element.clear(keep_tail=True)  # type: ignore[call-arg]


def mark_media(root: etree._Element) -> None:
    """Replace videos, sounds and frames of known players with images with ``data-embed``, which formats write as links.

    An image without an address gets the address of the first source of its ``<picture>``.
    """
    elements = [*root.iter("picture", "iframe", "video", "audio")]
    for image in [image for picture in elements if picture.tag == "picture" for image in picture.iter("img")]:
        if image.get("src", "data:").startswith("data:") and not any(map(image.get, _SETS)):
            candidates = next(image.iterancestors("picture")).iter("source")
            addresses = (value for node in candidates for name in _SETS if (value := node.get(name)))
            image.set("srcset", xml_text(next(addresses, "")))
    for element in elements:
        if element.tag == "picture":
            continue
        sources = [element, *element.iter("source")]
        address = next((value for node in sources for value in (node.get("src"), node.get("data-src")) if value), "")
        if not address or (element.tag == "iframe" and not _PLAYER.match(address)):
            continue
        title = element.get("title") or element.get("aria-label") or ""
        kind = "audio" if element.tag == "audio" else "video"
        _empty(element)
        element.tag = "img"
        for name, value in {"src": address, "title": title or kind, "data-embed": kind}.items():
            element.set(name, xml_text(value))


def write_quotation_marks(root: etree._Element) -> None:
    """Write the quotation marks that browsers show around a ``<q>``, unless the page has them already."""
    depth_of: dict[etree._Element, int] = {}
    for quote in root.iter("q"):
        outer = next(quote.iterancestors("q"), None)
        depth = depth_of[quote] = 0 if outer is None else depth_of[outer] + 1
        if depth > _DEEPEST_QUOTE:
            continue
        first_text = next((text for text in map(str, quote.itertext()) if not text.isspace()), "").lstrip()
        if not first_text or first_text[0] in _QUOTATION_MARKS:
            continue
        first, last = "‘’" if depth else "“”"
        quote.text = first + xml_text(quote.text or "")
        if len(quote):
            quote[-1].tail = xml_text(quote[-1].tail or "") + last
        else:
            quote.text += last
