"""Formats of DocView records: JSON, TEI, Markdown with front matter, and CSV."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

from victorpy.base.parameters import parse_settings
from victorpy.description.record import DocView, Parameters, category_model, describe
from victorpy.description.terms import check_packages
from victorpy.outputs import CleanPage
from victorpy.outputs.base import OUTPUTS, Output
from victorpy.outputs.csv import csv_row
from victorpy.outputs.markdown import render_markdown, yaml_header
from victorpy.outputs.structure import Structure
from victorpy.outputs.tables import without_controls
from victorpy.outputs.xml import CORPUS, Header, write_tei

Writer = Callable[[DocView, CleanPage], str]
"""Writes a record."""

_FIELDS = tuple(field.name for field in fields(DocView))
_ELSEWHERE = frozenset(["content", "title", "language", "confidence", "losses"])
_COLUMNS = tuple(name for name in _FIELDS if name not in _ELSEWHERE)
"""Columns that a record adds to a batch row. All other fields replace columns that every row has."""


def record_output(
    name: str, suffix: str, description: str, write: Writer, header: str, parameters: Parameters | None = None
) -> Output:
    """Make an output format from a function that writes records."""

    def tabulate(page: CleanPage) -> tuple[str, dict[str, Any]]:
        record = describe(page, parameters, with_content=write in {write_json, write_csv})
        return write(record, page), record.fields()

    def configure(settings: Sequence[str]) -> Output:
        chosen = Parameters(**parse_settings(name, Parameters, settings))
        if chosen.categories:
            category_model(chosen.categories)  # raise errors now, not once per page
        return record_output(name, suffix, description, write, header, chosen)

    return Output(
        name,
        suffix,
        description,
        render=lambda page: tabulate(page)[0],
        joins=True,
        is_titled=suffix == ".md",
        around=CORPUS if suffix == ".xml" else ("", ""),
        wants_metadata=True,
        header=header,
        columns=_COLUMNS,
        tabulate=tabulate,
        configure=configure,
        check=check_packages,
    )


def write_json(record: DocView, page: CleanPage) -> str:
    """Write a line of JSON."""
    return without_controls(json.dumps(record.fields(), ensure_ascii=False)) + "\n"


def write_markdown(record: DocView, page: CleanPage) -> str:
    """Write the content as Markdown, below the other fields as YAML."""
    about = {name: value for name, value in record.fields().items() if name != "content"}
    return yaml_header(about) + render_markdown(page)


def write_csv(record: DocView, page: CleanPage) -> str:
    """Write a row. Lists are joined by semicolons. Links and images are represented by their addresses."""
    cells = []
    for value in record.fields().values():
        if isinstance(value, list):
            cells.append("; ".join(item["url"] if isinstance(item, dict) else item for item in value))
        else:
            cells.append("" if value is None else str(value))
    return csv_row(cells)


def write_tei_record(record: DocView, page: CleanPage) -> str:
    """Write a TEI document with the record in its header."""
    terms = {
        "type": [record.type],
        "category": [record.category] if record.category else [],
        "keywords": record.keywords,
    }
    header = Header(
        record.title,
        tuple(filter(None, record.author.split("; "))),
        record.site_name,
        record.date,
        record.identifier,
        record.language,
        record.abstract,
        terms,
        {"relevant": record.links, "content": record.main_links, "images": record.images},
    )
    return write_tei(header, Structure.of(page))


for _name, _suffix, _description, _write, _header in (
    (
        "docview",
        ".jsonl",
        "DocView: type, keywords, abstract and metadata, as one JSON object per line.",
        write_json,
        "",
    ),
    ("docview-tei", ".xml", "DocView as TEI: the record in the header, the content below.", write_tei_record, ""),
    ("docview-markdown", ".md", "DocView as Markdown, the record in its front matter.", write_markdown, ""),
    ("docview-csv", ".csv", "DocView as CSV, one row per page.", write_csv, csv_row(_FIELDS)),
):
    OUTPUTS.add(_name, record_output(_name, _suffix, _description, _write, _header))
