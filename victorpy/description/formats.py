"""Formats of DocView records: JSON, TEI, Markdown with front matter, and CSV."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from typing import Any

from lxml import etree

from victorpy.base.parameters import parse_settings
from victorpy.base.unicode import xml_text
from victorpy.description.record import DocView, Parameters, category_model, describe
from victorpy.description.terms import check_packages
from victorpy.document import STRIDE, Label
from victorpy.errors import visible
from victorpy.outputs import CleanPage
from victorpy.outputs.base import OUTPUTS, Output
from victorpy.outputs.markdown import front_matter, render_markdown
from victorpy.outputs.tables import Part, Table, parts

Writer = Callable[[DocView, CleanPage, Sequence[Part] | None], str]
"""Writes a record. Receives the parts of the content, unless the page is so large that they are created when used."""

_FIELDS = tuple(field.name for field in fields(DocView))
_ELSEWHERE = frozenset(["content", "title", "language", "confidence", "losses"])
_COLUMNS = tuple(name for name in _FIELDS if name not in _ELSEWHERE)
"""Columns that a record adds to a batch row. The other fields replace columns that every row has."""

_TEI = "http://www.tei-c.org/ns/1.0"
_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]")  # spreadsheets accept wide signs too
_NOT_ADDRESS = re.compile(r"[\s<>\"{}|\\^`]")


def record_output(
    name: str,
    suffix: str,
    description: str,
    write: Writer,
    header: str = "",
    parameters: Parameters | None = None,
) -> Output:
    """Make an output format from a function that writes records."""

    def tabulate(page: CleanPage) -> tuple[str, dict[str, Any]]:
        page_parts = [*parts(page)] if len(page.labels) <= STRIDE else None
        record = describe(page, parameters, page_parts)
        return write(record, page, page_parts), record.fields()

    def configure(settings: Sequence[str]) -> Output:
        chosen = Parameters(**parse_settings(name, Parameters, settings))
        if chosen.categories:
            category_model(chosen.categories)  # raise now, not once per page
        return record_output(name, suffix, description, write, header, chosen)

    return Output(
        name,
        suffix,
        description,
        render=lambda page: tabulate(page)[0],
        joins=suffix in {".jsonl", ".csv"},
        wants_metadata=True,
        header=header,
        columns=_COLUMNS,
        tabulate=tabulate,
        configure=configure,
        check=check_packages,
    )


def write_json(record: DocView, page: CleanPage, page_parts: Sequence[Part] | None) -> str:
    """Write a line of JSON."""
    return json.dumps(record.fields(), ensure_ascii=False) + "\n"


def write_markdown(record: DocView, page: CleanPage, page_parts: Sequence[Part] | None) -> str:
    """Write the content as Markdown below the other fields as YAML."""
    about = {name: value for name, value in record.fields().items() if name != "content"}
    return front_matter(about) + render_markdown(page, page_parts)


def write_csv(record: DocView, page: CleanPage, page_parts: Sequence[Part] | None) -> str:
    """Write a row. Lists are joined by semicolons, and links and images are given by their addresses only."""
    cells = []
    for value in record.fields().values():
        if isinstance(value, list):
            cells.append("; ".join(item["url"] if isinstance(item, dict) else item for item in value))
        else:
            cells.append("" if value is None else str(value))
    return _csv_row(cells)


def _csv_row(cells: Sequence[str]) -> str:
    """Write cells as in RFC 4180, but with Unix line ends.

    Spreadsheet programs run a cell that begins with one of =+-@ as a formula, so such a cell begins with an apostrophe.
    """
    stream = io.StringIO()
    shown = (visible(cell, keep_lines=True) for cell in cells)
    safe = [f"'{cell}" if _FORMULA.match(cell) else cell for cell in shown]
    csv.writer(stream, lineterminator="\n").writerow(safe)
    return stream.getvalue()


def write_tei(record: DocView, page: CleanPage, page_parts: Sequence[Part] | None) -> str:
    """Write a TEI document (P5): the facts about the page in the header, its content in the body."""
    root = etree.Element(f"{{{_TEI}}}TEI", nsmap={None: _TEI})  # type: ignore[dict-item]  # the stubs lack the default namespace
    if record.language:
        root.set(_LANG, record.language)
    _add_header(_add(root, "teiHeader"), record)
    text = _add(root, "text")
    _add_body(_add(text, "body"), parts(page) if page_parts is None else page_parts)
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


def _add_body(body: etree._Element, page_parts: Iterable[Part]) -> None:
    """Add the content, with a division per heading: TEI allows a head only at the beginning of a division."""
    division = _add(body, "div")
    items: etree._Element | None = None
    for part in page_parts:
        if part.label is Label.LIST:
            items = _add(division, "list") if items is None else items
            _add(items, "item", part.text)
            continue
        items = None
        if isinstance(part, Table):
            rows = _add(division, "table")
            for number, cells in enumerate(part.rows):
                # TEI marks the names of rows and columns with the role "label".
                is_header = part.has_header and number == 0
                row = _add(rows, "row", **({"role": "label"} if is_header else {}))
                for cell in cells:
                    attributes = {"role": "label"} if cell.is_heading and not is_header else {}
                    spans = {"cols": cell.width, "rows": cell.height}
                    attributes |= {name: str(size) for name, size in spans.items() if size > 1}
                    _add(row, "cell", cell.text, **attributes)
        elif part.label is Label.HEADER:
            division = _add(body, "div") if len(division) else division
            _add(division, "head", part.text)
        else:
            _add(division, "p", part.text)
    for division in body:
        if not len(division) or division[-1].tag == f"{{{_TEI}}}head":
            _add(division, "p")


def _add(parent: etree._Element, tag: str, text: str = "", **attributes: str) -> etree._Element:
    """Add an element, without characters that XML does not allow."""
    valid = {name: xml_text(value) for name, value in attributes.items()}
    added = etree.SubElement(parent, f"{{{_TEI}}}{tag}", valid)
    if text:
        added.text = xml_text(text)
    return added


def _address(url: str) -> str:
    """Escape characters that are not allowed in addresses."""
    return _NOT_ADDRESS.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), url)


for _name, _suffix, _description, _write, _header in (
    (
        "docview",
        ".jsonl",
        "DocView: type, keywords, abstract and metadata, as one JSON object per line.",
        write_json,
        "",
    ),
    ("docview-tei", ".xml", "DocView as TEI: the record in the header, the content below.", write_tei, ""),
    ("docview-markdown", ".md", "DocView as Markdown, the record in its front matter.", write_markdown, ""),
    ("docview-csv", ".csv", "DocView as CSV, one row per page.", write_csv, _csv_row(_FIELDS)),
):
    OUTPUTS.add(_name, record_output(_name, _suffix, _description, _write, _header))
