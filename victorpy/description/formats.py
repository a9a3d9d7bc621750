"""DocView records: JSON, TEI, Markdown with front matter, and rows of CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

from victorpy.base.parameters import parse_settings
from victorpy.description.record import DocView, Parameters, category_model, describe
from victorpy.description.tei import render_tei
from victorpy.description.terms import check_packages
from victorpy.outputs import CleanPage
from victorpy.outputs.base import OUTPUTS, Output
from victorpy.outputs.markdown import render_markdown

Writer = Callable[[DocView, CleanPage], str]
"""Writes a record; the page is there for the markup of its content."""

FIELDS = tuple(field.name for field in fields(DocView))
_ELSEWHERE = frozenset(["content", "title", "language", "confidence", "losses"])
COLUMNS = tuple(name for name in FIELDS if name not in _ELSEWHERE)
"""What a record adds to a row of a batch, which has the rest already; its title and language are the record's then."""
_DEFAULTS = Parameters()


def record_output(
    name: str,
    suffix: str,
    description: str,
    write: Writer,
    joins: bool = False,
    header: str = "",
    parameters: Parameters = _DEFAULTS,
) -> Output:
    """Make an output format from a function that writes records."""

    def render(page: CleanPage) -> str:
        return write(describe(page, parameters), page)

    def tabulate(page: CleanPage) -> tuple[str, dict[str, Any]]:
        record = describe(page, parameters)
        return write(record, page), record.fields()

    def configure(settings: Sequence[str]) -> Output:
        chosen = Parameters(**parse_settings(name, Parameters, settings))
        if chosen.categories:
            category_model(chosen.categories)  # raise an error now, not once a page
        return record_output(name, suffix, description, write, joins, header, chosen)

    return Output(
        name,
        suffix,
        description,
        render,
        joins=joins,
        wants_metadata=True,
        header=header,
        columns=COLUMNS,
        tabulate=tabulate,
        configure=configure,
        check=check_packages,
    )


def write_json(record: DocView, page: CleanPage) -> str:
    """Write a line of JSON."""
    return json.dumps(record.fields(), ensure_ascii=False) + "\n"


def write_markdown(record: DocView, page: CleanPage) -> str:
    """Write the content as Markdown below the other fields as YAML, in which every JSON value is valid."""
    about = {name: value for name, value in record.fields().items() if name != "content"}
    lines = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in about.items()]
    return "\n".join(["---", *lines, "---", "", render_markdown(page)])


def write_csv(record: DocView, page: CleanPage) -> str:
    """Write a row; lists are joined by semicolons, and only addresses are given of links and images."""
    cells = []
    for value in record.fields().values():
        if isinstance(value, list):
            cells.append("; ".join(item["url"] if isinstance(item, dict) else item for item in value))
        else:
            cells.append("" if value is None else str(value))
    return _csv_row(cells)


def _csv_row(cells: Sequence[str]) -> str:
    """Write cells as in RFC 4180, but with Unix line ends."""
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerow(cells)
    return stream.getvalue()


for _output in (
    record_output(
        "docview", ".jsonl", "DocView: what a page is about, as one JSON object per line", write_json, joins=True
    ),
    record_output("docview-tei", ".xml", "DocView as TEI: the record in the header, the content below", render_tei),
    record_output("docview-markdown", ".md", "DocView as Markdown, the record in its front matter", write_markdown),
    record_output(
        "docview-csv", ".csv", "DocView as CSV, one row per page", write_csv, joins=True, header=_csv_row(FIELDS)
    ),
):
    OUTPUTS.add(_output.name, _output)
