"""A DocView record as a TEI document (P5): what is known of the page in the header, its content in the body."""

from __future__ import annotations

import re

from lxml import etree

from victorpy.about.links import Link
from victorpy.about.record import DocView
from victorpy.document import CleanPage, Label
from victorpy.outputs.tables import Table, parts

_TEI = "http://www.tei-c.org/ns/1.0"
_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NOT_ADDRESS = re.compile(r"[\s<>\"{}|\\^`]")


def render_tei(record: DocView, page: CleanPage) -> str:
    """Write a whole document."""
    root = etree.Element(f"{{{_TEI}}}TEI", nsmap={None: _TEI})  # type: ignore[dict-item]  # the stubs know no default
    if record.language:
        root.set(_LANG, record.language)
    header = etree.SubElement(root, f"{{{_TEI}}}teiHeader")
    _file_description(header, record)
    _profile(header, record)
    text = _add(root, "text")
    _body(text, page)
    _back(text, record)
    etree.indent(root)
    return etree.tostring(root, encoding="unicode", xml_declaration=False) + "\n"


def _file_description(header: etree._Element, record: DocView) -> None:
    described = _add(header, "fileDesc")
    titles = _add(described, "titleStmt")
    _add(titles, "title", record.title, type="main")
    for author in filter(None, record.author.split("; ")):
        _add(titles, "author", author)
    published = _add(described, "publicationStmt")
    _add(published, "publisher", record.site_name or "unknown")
    if record.date:
        _add(published, "date", record.date, when=record.date)
    source = _add(_add(described, "sourceDesc"), "bibl")
    _add(source, "title", record.title)
    _add(source, "ptr", target=_address(record.identifier))


def _profile(header: etree._Element, record: DocView) -> None:
    profile = _add(header, "profileDesc")
    if record.abstract:
        _add(_add(profile, "abstract"), "p", record.abstract)
    if record.language:
        _add(_add(profile, "langUsage"), "language", record.language, ident=record.language)
    classes = _add(profile, "textClass")
    _terms(classes, "type", [record.type])
    _terms(classes, "category", [record.category] if record.category else [])
    _terms(classes, "keywords", record.keywords)


def _terms(classes: etree._Element, scheme: str, terms: list[str] | tuple[str, ...]) -> None:
    if terms:
        keywords = _add(classes, "keywords", scheme=f"#{scheme}")
        for term in terms:
            _add(keywords, "term", term)


def _body(text: etree._Element, page: CleanPage) -> None:
    body = _add(text, "body")
    division = _add(body, "div")
    items: etree._Element | None = None
    for part in parts(page):
        if isinstance(part, Table):
            items = None
            _table(division, part)
            continue
        if part.label is Label.LIST:
            items = _add(division, "list") if items is None else items
            _add(items, "item", part.text)
            continue
        items = None
        if part.label is Label.HEADER:  # a head may stand at the beginning of a division alone
            division = _add(body, "div") if len(division) else division
            _add(division, "head", part.text)
        else:
            _add(division, "p", part.text)
    for empty in [each for each in body if not len(each) or each[-1].tag == f"{{{_TEI}}}head"]:
        _add(empty, "p")


def _table(division: etree._Element, table: Table) -> None:
    """Add a table; what names a row or a column has the role that TEI gives to labels."""
    added = _add(division, "table")
    for number, cells in enumerate(table.rows):
        is_header = table.has_header and number == 0
        row = _add(added, "row", **({"role": "label"} if is_header else {}))
        for cell in cells:
            _add(row, "cell", cell.text, **({"role": "label"} if cell.is_heading and not is_header else {}))


def _back(text: etree._Element, record: DocView) -> None:
    """Links and images stand behind the text."""
    kinds = {"relevant": record.links, "content": record.main_links, "images": record.images}
    if any(kinds.values()):
        back = _add(text, "back")
        for kind, links in kinds.items():
            _links(back, kind, links)


def _links(back: etree._Element, kind: str, links: tuple[Link, ...]) -> None:
    if links:
        listed = _add(_add(back, "div", type=kind), "list")
        for link in links:
            _add(_add(listed, "item"), "ref", link.text, target=_address(link.url))


def _add(parent: etree._Element, tag: str, text: str = "", **attributes: str) -> etree._Element:
    added = etree.SubElement(parent, f"{{{_TEI}}}{tag}", {key: _sound(value) for key, value in attributes.items()})
    if text:
        added.text = _sound(text)
    return added


def _sound(text: str) -> str:
    """Leave out the characters that XML cannot hold."""
    return _NOT_XML.sub("", text)


def _address(url: str) -> str:
    """An address without the characters that none may have."""
    return _NOT_ADDRESS.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), url)
