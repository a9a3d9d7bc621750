"""The page format: a page in its original layout, without its noise (DocView's topic content page, section 4.2).

Pages are untrusted. Only known tags and attributes are written, all texts and values are escaped, and addresses and
style sheets are filtered, so the result has no active content. Elements whose content browsers parse by special rules
(svg, math, noscript, template, textarea) are not written, so parsing the result again gives the same elements. As a
second defence, the result has a content security policy that allows pictures, fonts and style sheets only.
"""

from __future__ import annotations

import html
import re
import sys
from array import array
from collections.abc import Iterator
from itertools import accumulate, islice
from typing import NamedTuple

from lxml import etree

from victorpy.config import Cuts
from victorpy.document import STRIDE
from victorpy.errors import DataError
from victorpy.outputs.base import CleanPage, output, safe_link
from victorpy.outputs.tables import without_controls
from victorpy.page.parse import VOID, Tree
from victorpy.page.split import TextCounter

_TAGS = frozenset(
    "a abbr acronym address article aside b bdi bdo big blockquote br caption center cite code col colgroup dd del "
    "details dfn dir div dl dt em figcaption figure font footer h1 h2 h3 h4 h5 h6 header hgroup hr i img ins kbd li "
    "main mark menu nav ol p pre q rp rt ruby s samp section small span strike strong sub summary sup table tbody td "
    "tfoot th thead time tr tt u ul var wbr".split()
)
_BLOCKS = frozenset(["html", "body", "form", "fieldset", "legend", "noscript", "object", "dialog", "search", "label"])
"""Tags that are replaced with a div. All other unknown tags are replaced with a span."""
_VALUES = frozenset(
    "abbr align alt bgcolor border cellpadding cellspacing class clear color colspan compact datetime dir face frame "
    "headers height hspace id lang noshade nowrap reversed role rowspan rules scope size span start title type valign "
    "value vspace width".split()
)
_LAZY_SOURCES = ("data-src", "data-original", "data-lazy-src")
_PICTURE = re.compile(r"data:image/(?:png|gif|jpeg|webp|avif);base64,[A-Za-z0-9+/=\s]*", re.IGNORECASE)
_CELLS = frozenset(["td", "th"])
_COLUMNS = frozenset(["col", "colgroup"])
_DOCTYPE = re.compile(r"[\w ./:+-]*", re.ASCII)

_POLICY = (
    "default-src 'none'; img-src http: https: data:; style-src 'unsafe-inline' http: https:; "
    "font-src http: https: data:; form-action 'none'; base-uri 'none'"
)

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|<!--|-->", re.DOTALL)
_ESCAPED_LETTER = re.compile(r"\\(?:0{0,4}([4-7][0-9a-fA-F])(?![0-9a-fA-F])\s?|([g-zG-Z]))")
_AT_RULE = re.compile(r"@(?:import|charset|namespace)[^;{}]*;?", re.IGNORECASE)
# Uses possessive quantifiers, so that no text is read twice even if the address never ends.
_URL = re.compile(r"url\(\s*+(?:\"([^\"\n]*+)(?:\"|())|'([^'\n]*+)(?:'|())|([^)\"'\n]*+))\s*+(?:\)|())", re.IGNORECASE)
_LONGEST_URL = 9_999  # maximum length; longer addresses are embedded files
_ACTIVE = re.compile(r"expression\s*\(|(?:java|vb)script\s*:|behaviou?r\s*:|-moz-binding\s*:", re.IGNORECASE)


class Layout(NamedTuple):
    """The markup of a page, without active content."""

    doctype: str  # document type, which determines whether browsers use quirks mode
    styles: str
    root: str  # attributes of the html element
    body: str  # attributes of the body element
    events: Events
    source: str = ""  # the decoded page


class Events:
    """The tags, texts and white space of a page in document order.

    Stored as columns, which take less memory than objects.
    """

    def __init__(self) -> None:
        self.markup: list[str] = []
        self.tags: list[str] = []
        """The name of each opening tag, and of each closing tag with a slash. Empty for text."""
        self.texts = array("i")  # the number of the piece that each text is, or -1

    def add(self, markup: str, tag: str = "", text: int = -1) -> None:
        """Add a tag, a text or white space. Equal tags share their strings."""
        self.markup.append(sys.intern(markup) if tag else markup)
        self.tags.append(sys.intern(tag))
        self.texts.append(text)

    def stops(self) -> array[int]:
        """Return, for each opening tag, the number of its closing tag, and for everything else its own number."""
        stops = array("i", range(len(self.tags)))
        opened: list[int] = []
        for number, tag in enumerate(self.tags):
            if tag.startswith("/"):
                stops[opened.pop()] = number
            elif tag and tag not in VOID:
                opened.append(number)
        return stops


class LayoutReader:
    """Reads the layout of a page in two steps: the head before the page is pruned, and everything else afterwards."""

    def __init__(self, tree: Tree, url: str) -> None:
        self._base = url or tree.url
        self._doctype = "<!DOCTYPE html>"
        if tree.root is not None:  # without a document type, libxml2 assumes HTML 4, as browsers do
            names = tree.root.getroottree().docinfo
            public, system = names.public_id or "", names.system_url or ""  # type: ignore[attr-defined]
            if public and _DOCTYPE.fullmatch(public + system):
                self._doctype = f'<!DOCTYPE html PUBLIC "{public}"' + (f' "{system}">' if system else ">")
        self._styles: list[str] = []
        for node in tree.root.iter("base", "style", "link") if tree.root is not None else ():
            media = _attribute("media", node.get("media") or "")
            if node.tag == "base":
                base = safe_link(node.get("href") or "", url or tree.url)
                self._base = base if base.startswith(("http://", "https://")) else self._base
            elif node.tag == "style":
                self._styles.append(f"<style{media}>{safe_css(node.text or '', self._base)}</style>\n")
            elif {"stylesheet", "alternate"}.intersection((node.get("rel") or "").lower().split()) == {"stylesheet"}:
                address = _attribute("href", _resource(node.get("href") or "", self._base))
                self._styles.append(f'<link rel="stylesheet"{address}{media}>\n' if address else "")

    def read(self, tree: Tree, cuts: Cuts) -> Layout:
        """Read the pruned page. Its texts are numbered as the pieces of the Document that `split` returns."""
        counter = TextCounter()
        has_alternatives = "alt" in cuts.attributes
        events = Events()
        frames: dict[str, str] = {}  # attributes of html and body
        around: list[tuple[etree._Element, str]] = []  # open elements, each with the tag that replaces it
        open_pre = 0

        def add_text(text: str) -> None:
            number = counter.texts
            lines = counter.lines.peek(text) if open_pre else [text]
            counter.text(text)
            for line_number, line in enumerate(lines):
                if line_number:
                    events.add("\n")
                is_text = bool(line.strip()) and number < counter.texts
                if line:
                    events.add(html.escape(without_controls(line, "\n")), text=number if is_text else -1)
                number += is_text

        def close() -> None:
            nonlocal open_pre
            node, tag = around.pop()
            counter.end()
            open_pre -= node.tag == "pre"
            if tag:
                events.add(f"</{tag}>", "/" + tag)
            add_text(node.tail or "")

        for node in tree.root.iter("*") if tree.root is not None else ():
            while around and around[-1][0] is not node.getparent():
                close()
            number = counter.texts
            counter.start(node.tag, (node.get("alt") or "") if has_alternatives else "")
            open_pre += node.tag == "pre"
            tag = node.tag if node.tag in _TAGS else "div" if node.tag in _BLOCKS else "span"
            if node.tag in {"html", "body"} and node.tag not in frames:
                frames[node.tag] = self._attributes(node)
                tag = ""
            elif node.tag in VOID:
                tag = ""
                if node.tag in _TAGS:
                    alt = number if counter.texts > number else -1
                    events.add(f"<{node.tag}{self._attributes(node)}>", node.tag, alt)
            else:
                events.add(f"<{tag}{self._attributes(node)}>", tag)
            around.append((node, tag))
            add_text(node.text or "")
        while around:
            close()
        return Layout(self._doctype, "".join(self._styles), frames.get("html", ""), frames.get("body", ""), events)

    def _attributes(self, node: etree._Element) -> str:
        """Write the harmless attributes of an element, with absolute addresses."""
        base = self._base
        values = {name: str(value) for name, value in node.items() if name in _VALUES}
        if "style" in node.attrib:
            values["style"] = safe_css(node.get("style") or "", base)
        if "background" in node.attrib:
            values["background"] = _resource(node.get("background") or "", base)
        if node.tag == "a":
            href = (node.get("href") or "").strip()
            values["href"] = href if href.startswith("#") else safe_link(href, base)
            values["id"] = node.get("id") or node.get("name") or ""  # keep targets of links within the page
        elif node.tag == "img":
            first_of_set = (node.get("srcset") or "").strip().partition(" ")[0]
            sources = [*(node.get(name) or "" for name in _LAZY_SOURCES), node.get("src") or "", first_of_set]
            values["src"] = next(filter(None, (_resource(source, base) for source in sources)), "")
        elif node.tag == "details":
            values["open"] = "open"
        return "".join(_attribute(name, value) for name, value in values.items())


def _attribute(name: str, value: str) -> str:
    return f' {name}="{html.escape(without_controls(value))}"' if value else ""


def _resource(address: str, base: str) -> str:
    """Return the absolute address of a picture or style sheet, or an empty string if it is not safe."""
    if _PICTURE.fullmatch(address.strip()):
        return address.strip()
    absolute = safe_link(address, base)
    scheme = absolute.partition(":")[0].lower() if ":" in absolute.partition("/")[0] else ""
    return absolute if scheme in {"", "http", "https"} else ""


def safe_css(css: str, base: str = "") -> str:
    """Return style rules with absolute addresses, without imports and without rules that old browsers execute.

    >>> safe_css("@import 'x.css'; p {background: url(a.png); width: expression(alert(1))}", "https://tea.example/")
    '  p {background: url("https://tea.example/a.png"); width: removed alert(1))}'
    >>> safe_css("a { content: '</style><script>' }")
    "a { content: '\\\\3c /style>\\\\3c script>' }"
    """

    def absolute(match: re.Match[str]) -> str:
        double, no_double, single, no_single, bare, no_end = match.groups()
        address = double or single or (bare or "").rstrip()
        if "" in (no_double, no_single, no_end) or len(address) > _LONGEST_URL:
            return match[0]
        address = _resource(address, base)
        return 'url("' + re.sub(r"[\"\\\s]", lambda char: f"%{ord(char[0]):02X}", address) + '")'

    def unescaped(match: re.Match[str]) -> str:
        letter = match[2] or chr(int(match[1], 16))
        return letter if letter.isalpha() else match[0]

    css = _ESCAPED_LETTER.sub(unescaped, css)
    css = _AT_RULE.sub(" ", _COMMENT.sub("", css))  # the space prevents that two halves form a new import
    css = _ACTIVE.sub("removed ", _URL.sub(absolute, css))
    return without_controls(css, "\n").replace("<", "\\3c ")


@output("page", ".html", wants_layout=True)
def render_page(page: CleanPage) -> str:
    """HTML: the page in its original layout without its noise, and without scripts, forms and frames."""
    if page.layout is None:
        name = page.document.name or "this page"
        raise DataError(f"{name} has no layout, because annotation files contain none; use the format html instead")
    layout = page.layout
    title = html.escape(without_controls(page.document.title))
    return (
        f'{layout.doctype}\n<html{layout.root}>\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="referrer" content="no-referrer">\n<meta name="viewport" content="width=device-width">\n'
        f"<title>{title}</title>\n{layout.styles}</head>\n"
        f"<body{layout.body}>\n{''.join(_joined(_kept_markup(layout.events, _kept_texts(page))))}\n</body>\n</html>\n"
    )


def _joined(markup: Iterator[str]) -> Iterator[str]:
    """Join stretches of markup. A list of all tags and texts would take more memory than the page."""
    while some := "".join(islice(markup, STRIDE)):
        yield some


def _kept_texts(page: CleanPage) -> list[bool | str]:
    """Return, for each piece, whether it is kept, or its kept text if it is kept in part."""
    kept: list[bool | str] = []
    all_spans = page.spans or (None,) * len(page.labels)
    for block, label, spans in zip(page.document.each_block(), page.labels, all_spans, strict=True):
        for piece, text in block.each_piece():
            if spans is None or not label.is_content:
                kept.append(label.is_content)
            else:
                first, stop = piece.start, piece.start + len(text)
                parts = (block.text[max(start, first) : min(end, stop)] for start, end in spans)
                kept.append(html.escape(without_controls(" ".join(filter(None, parts)))))
    return kept


def _kept_markup(events: Events, kept: list[bool | str]) -> Iterator[str]:
    """Yield the markup of the elements that contain kept text, and the text.

    Dropped cells of kept rows become empty, so that columns keep their positions. Elements without text, such as
    pictures and rules, stay if they are between kept texts, or inside a child with kept text of the element that
    contains all kept text.
    """
    markup, tags, texts, stops = events.markup, events.tags, events.texts, events.stops()
    kept_before = array("i", accumulate((text >= 0 and bool(kept[text]) for text in texts), initial=0))
    shown = (text >= 0 and not tag for tag, text in zip(tags, texts, strict=True))
    shown_before = array("i", accumulate(shown, initial=0))
    total = kept_before[-1]
    elements = ((start, stop) for start, stop in enumerate(stops) if stop > start)
    holding_all = (start for start, stop in elements if kept_before[stop] - kept_before[start] == total)
    topic_root = max(holding_all, default=-1)
    around = [-1]
    number = 0
    while number < len(tags):
        tag, text, stop = tags[number], texts[number], stops[number]
        has_kept = kept_before[stop + 1] > kept_before[number]
        has_text = shown_before[stop + 1] > shown_before[number]
        is_near = 0 < kept_before[number] < total or around[-1] > topic_root
        if text >= 0 and not tag:
            part = kept[text]
            yield part if isinstance(part, str) else markup[number] * part
        elif tag.startswith("/"):
            around.pop()
            yield markup[number]
        elif stop > number and has_kept:
            around.append(number)
            yield markup[number]
        elif tag in _CELLS:
            yield markup[number] + markup[stop]
            number = stop
        elif not tag or has_kept or tag in _COLUMNS or (is_near and not has_text and total):
            yield from markup[number : stop + 1]
            number = stop
        else:
            number = stop
        number += 1
