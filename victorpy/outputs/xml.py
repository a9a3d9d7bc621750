"""XML formats: a simple one, and TEI. Both use the element names of TEI."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar
from urllib.parse import quote

from victorpy.base.unicode import xml_text
from victorpy.outputs.base import CleanPage, Segment, facts, output
from victorpy.outputs.html import MarkupWriter, start_tag
from victorpy.outputs.images import Image
from victorpy.outputs.structure import Place, Places, Structure
from victorpy.outputs.tables import Cell, Table, without_controls

_TEI = "http://www.tei-c.org/ns/1.0"
_NEXT_DIVISION = "</div>\n<div>\n"
_ALLOWED = "%/:?#@!$&'()*+,;=~"  # allowed in addresses, in addition to letters and digits
_LONE_PERCENT = re.compile("%(?![0-9A-Fa-f]{2})")
_LANGUAGE = re.compile("[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}")
_DATE = re.compile("[0-9]{4}(?:-[0-9]{2}){0,2}")


CORPUS = (
    f'<teiCorpus xmlns="{_TEI}">\n<teiHeader><fileDesc><titleStmt><title>Web pages</title></titleStmt>'
    "<publicationStmt><publisher>unknown</publisher></publicationStmt>"
    "<sourceDesc><bibl>Web pages</bibl></sourceDesc></fileDesc></teiHeader>\n",
    "</teiCorpus>\n",
)
"""The text before and after the documents in a file of several pages."""


@output("xml", ".xml", wants_metadata=True, joins=True, around=("<docs>\n", "</docs>\n"))
def render_xml(page: CleanPage) -> str:
    """XML: paragraphs, headings, lists, tables, figures and notes, with the names of TEI but without its header."""
    about = facts(page, ("url", "title", "author", "date", "language", "site_name"))
    root = start_tag("doc", {name.replace("_", "-"): value for name, value in about.items()})
    lines = [root, *XmlWriter(Structure.of(page)).flow(), "</doc>"]
    return xml_text("\n".join(lines)) + "\n"


@output("tei", ".xml", wants_metadata=True, joins=True, around=CORPUS)
def render_tei(page: CleanPage) -> str:
    """TEI: the facts about the page in the header, its content in the body."""
    names = ("title", "author", "site_name", "date", "url", "language", "description")
    title, author, site, day, url, language, abstract = facts(page, names).values()
    authors = tuple(filter(None, author.split("; ")))
    header = Header(title, authors, site, day, url or page.document.source, language, abstract)
    return write_tei(header, Structure.of(page))


@dataclass(frozen=True)
class Header:
    """The facts in the header of a TEI document."""

    title: str
    authors: Sequence[str] = ()
    publisher: str = ""
    date: str = ""
    url: str = ""
    language: str = ""
    abstract: str = ""
    terms: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Words that classify the page, by the name of their scheme."""
    links: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict)
    """Addresses and texts of links after the content, by the kind of link."""


def write_tei(header: Header, structure: Structure) -> str:
    """Write a TEI document (P5)."""
    language = header.language if _LANGUAGE.fullmatch(header.language) else ""
    lines = [start_tag("TEI", {"xmlns": _TEI, "xml:lang": language}), "<teiHeader>", "<fileDesc>", "<titleStmt>"]
    lines.append(_element("title", header.title, type="main"))
    lines += [_element("author", author) for author in header.authors]
    lines += ["</titleStmt>", "<publicationStmt>", _element("publisher", header.publisher or "unknown")]
    if header.date:
        lines.append(_element("date", header.date, when=header.date if _DATE.fullmatch(header.date) else ""))
    pointer = start_tag("ptr", {"target": _address(header.url)})[:-1] + "/>" if header.url else ""
    lines += ["</publicationStmt>", f"<sourceDesc><bibl>{_element('title', header.title)}{pointer}</bibl></sourceDesc>"]
    lines += ["</fileDesc>", "<profileDesc>"]
    if header.abstract:
        lines.append(f"<abstract>{_element('p', header.abstract)}</abstract>")
    if language:
        lines.append(f"<langUsage>{_element('language', language, ident=language)}</langUsage>")
    lines.append("<textClass>")
    for scheme, terms in header.terms.items():
        if terms:
            lines += [start_tag("keywords", {"scheme": f"#{scheme}"}), *(_element("term", term) for term in terms)]
            lines.append("</keywords>")
    lines += ["</textClass>", "</profileDesc>", "</teiHeader>", "<text>", "<body>", "<div>"]
    lines += ["\n".join(TeiWriter(structure).flow()).removeprefix(_NEXT_DIVISION), "</div>", "</body>"]
    if any(header.links.values()):
        lines.append("<back>")
        for kind, links in header.links.items():
            items = [f"<item>{_element('ref', text, target=_address(url))}</item>" for url, text in links]
            lines += [f'<div type="{kind}">', "<list>", *items, "</list>", "</div>"] if items else []
        lines.append("</back>")
    lines += ["</text>", "</TEI>"]
    return xml_text("\n".join(lines)) + "\n"


def _element(tag: str, text: str, **attributes: str) -> str:
    return f"{start_tag(tag, attributes)}{html.escape(without_controls(text), quote=False)}</{tag}>"


def _address(url: str) -> str:
    """Escape characters that are not allowed in addresses."""
    address, mark, fragment = url.partition("#")
    fixed = address + mark + fragment.replace("#", "%23")
    return quote(_LONE_PERCENT.sub("%25", fixed), _ALLOWED, errors="replace")


class XmlWriter(MarkupWriter):
    """Writes the structure of a page with the elements of TEI."""

    quote, note, item, comment = "quote", "note", "item", "quote"
    line_break = "<lb/>"
    styles: ClassVar = {
        "code": "code",
        "bold": 'hi rend="bold"',
        "italic": 'hi rend="italic"',
        "strike": 'hi rend="strikethrough"',
        "sub": 'hi rend="subscript"',
        "sup": 'hi rend="superscript"',
    }

    def start_place(self, place: Place) -> str:
        attributes: dict[str, dict[str, object]] = {
            "quote": {"type": place.mark.lower()},
            "note": {"place": "foot", "n": place.mark},
            "comment": {"type": "comment", "n": f"{place.mark} {place.date}".strip()},
        }
        return start_tag(getattr(self, place.kind), attributes[place.kind])

    def list_tag(self, place: Place) -> tuple[str, dict[str, object]]:
        return "list", {"rend": "bulleted" if place.number is None else "numbered"}

    def start_item(self, place: Place, expected_number: int) -> str:
        """Open an item with its number, or with the state of a task."""
        state = {"x": "checked", " ": "unchecked"}.get(place.mark, "")
        return start_tag("item", {"n": place.number, "rend": state})

    def heading(self, segment: Segment, places: Places) -> str:
        """Write a heading. Inside items and quotations it is a label, because TEI allows no other headings there."""
        tag = "label" if places else "head"
        return f'<{tag} rend="h{segment.heading_level}">{self.inline(segment)}</{tag}>'

    def listing(self, segment: Segment) -> str:
        code = start_tag("code", {"lang": self.structure.code_language(segment), "xml:space": "preserve"})
        return f"<p>{code}{html.escape(segment.text, quote=False)}</code></p>"

    def table(self, table: Table) -> list[str]:
        """Write a table. Header cells of rows and columns have the role ``label``."""
        lines = ["<table>"]
        for number, row in enumerate(table.rows):
            is_header = table.has_header and number == 0
            cells = (self._table_cell(cell, is_header) for cell in row)
            lines.append(f"{start_tag('row', {'role': 'label' if is_header else ''})}{''.join(cells)}</row>")
        return [*lines, "</table>"]

    def _table_cell(self, cell: Cell, in_header: bool) -> str:
        spans = {"cols": cell.width, "rows": cell.height}
        attributes: dict[str, object] = {name: size for name, size in spans.items() if size > 1}
        if cell.is_heading and not in_header:
            attributes["role"] = "label"
        return f"{start_tag('cell', attributes)}{self.cell_content(cell)}</cell>"

    def image(self, image: Image) -> str:
        if image.is_embedded:
            return f"<p>{self.link(html.escape(image.alt, quote=False), image.address)}</p>"
        graphic = start_tag("graphic", {"url": _address(image.address)})[:-1] + "/>"
        if image.link:
            graphic = f"<p>{self.link(graphic, image.link)}</p>"
        caption = f"<head>{self.caption(image)}</head>" if image.caption else ""
        description = _element("figDesc", image.alt) if image.alt else ""
        return f"<figure>{caption}{graphic}{description}</figure>"

    def picture(self, image: Image) -> str:
        """Write an image inside text."""
        return self.image(image._replace(caption=()))

    def reference(self, text: str, note: str) -> str:
        return f"{start_tag('ref', {'type': 'note', 'n': note})}{text}</ref>"

    def link(self, text: str, address: str) -> str:
        return f'<ref target="{html.escape(_address(address))}">{text}</ref>'


class TeiWriter(XmlWriter):
    """Writes the content of a division.

    Every heading begins a new division, because TEI allows headings nowhere else.
    """

    def heading(self, segment: Segment, places: Places) -> str:
        return ("" if places else _NEXT_DIVISION) + super().heading(segment, places)
