"""A DocView record as a TEI document (P5): the facts about the page in the header, its content in the body."""

from __future__ import annotations

import re

from lxml import etree

from victorpy.description.record import DocView
from victorpy.document import Label
from victorpy.outputs import CleanPage
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
    _add_header(_add(root, "teiHeader"), record)
    text = _add(root, "text")
    _add_body(_add(text, "body"), page)
    link_lists = {"relevant": record.links, "content": record.main_links, "images": record.images}
    if any(link_lists.values()):
        back = _add(text, "back")
        for kind, links in link_lists.items():
            items = _add(_add(back, "div", type=kind), "list") if links else back
            for link in links:
                _add(_add(items, "item"), "ref", link.text, target=_address(link.url))
    etree.indent(root)
    return etree.tostring(root, encoding="unicode", xml_declaration=False) + "\n"


def _add_header(header: etree._Element, record: DocView) -> None:
    file = _add(header, "fileDesc")
    titles = _add(file, "titleStmt")
    _add(titles, "title", record.title, type="main")
    for author in filter(None, record.author.split("; ")):
        _add(titles, "author", author)
    publication = _add(file, "publicationStmt")
    _add(publication, "publisher", record.site_name or "unknown")
    if record.date:
        _add(publication, "date", record.date, when=record.date)
    source = _add(_add(file, "sourceDesc"), "bibl")
    _add(source, "title", record.title)
    _add(source, "ptr", target=_address(record.identifier))

    profile = _add(header, "profileDesc")
    if record.abstract:
        _add(_add(profile, "abstract"), "p", record.abstract)
    if record.language:
        _add(_add(profile, "langUsage"), "language", record.language, ident=record.language)
    classes = _add(profile, "textClass")
    categories = [record.category] if record.category else []
    for scheme, terms in {"type": [record.type], "category": categories, "keywords": record.keywords}.items():
        keywords = _add(classes, "keywords", scheme=f"#{scheme}") if terms else classes
        for term in terms:
            _add(keywords, "term", term)


def _add_body(body: etree._Element, page: CleanPage) -> None:
    """Add the content: a division for each heading, since TEI allows a head only at the beginning of one."""
    division = _add(body, "div")
    items: etree._Element | None = None
    for part in parts(page):
        if part.label is Label.LIST:
            items = _add(division, "list") if items is None else items
            _add(items, "item", part.text)
            continue
        items = None
        if isinstance(part, Table):
            _add_table(division, part)
        elif part.label is Label.HEADER:
            division = _add(body, "div") if len(division) else division
            _add(division, "head", part.text)
        else:
            _add(division, "p", part.text)
    for empty in [each for each in body if not len(each) or each[-1].tag == f"{{{_TEI}}}head"]:
        _add(empty, "p")


def _add_table(division: etree._Element, table: Table) -> None:
    """Add a table; what names a row or a column has the role that TEI gives to labels."""
    rows = _add(division, "table")
    for number, cells in enumerate(table.rows):
        is_header = table.has_header and number == 0
        row = _add(rows, "row", **({"role": "label"} if is_header else {}))
        for cell in cells:
            _add(row, "cell", cell.text, **({"role": "label"} if cell.is_heading and not is_header else {}))


def _add(parent: etree._Element, tag: str, text: str = "", **attributes: str) -> etree._Element:
    """Add an element, without characters that XML cannot hold."""
    valid = {name: _NOT_XML.sub("", value) for name, value in attributes.items()}
    added = etree.SubElement(parent, f"{{{_TEI}}}{tag}", valid)
    if text:
        added.text = _NOT_XML.sub("", text)
    return added


def _address(url: str) -> str:
    """Escape the characters that no address may have."""
    return _NOT_ADDRESS.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), url)
