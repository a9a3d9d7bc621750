"""DocView records: JSON, TEI, Markdown with front matter, and rows of CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from victorpy.about.record import DocView, Parameters, category_model, describe
from victorpy.about.terms import check_packages
from victorpy.document import CleanPage
from victorpy.outputs.base import OUTPUTS, Output
from victorpy.outputs.markdown import render_markdown
from victorpy.outputs.tei import render_tei
from victorpy.settings import parse_settings

Writer = Callable[[DocView, CleanPage], str]
"""Writes a record down; the page is there for the markup of its content."""

FIELDS = tuple(each.name for each in fields(DocView))
_ELSEWHERE = frozenset(["content", "title", "language", "confidence", "losses"])
COLUMNS = tuple(name for name in FIELDS if name not in _ELSEWHERE)
"""What a record adds to a row of a batch, which has the rest already; its title and language are the record's then."""


@dataclass(frozen=True, slots=True)
class RecordFormat:
    """A way to write records, with the parameters they are made by."""

    name: str
    suffix: str
    description: str
    write: Writer
    joins: bool = False
    header: str = ""
    parameters: Parameters = field(default_factory=Parameters)

    def output(self) -> Output:
        """The format as all others are."""
        return Output(
            self.name,
            self.suffix,
            self.description,
            self.render,
            joins=self.joins,
            wants_metadata=True,
            header=self.header,
            columns=COLUMNS,
            tabulate=self.tabulate,
            configure=self.configure,
            check=check_packages,
        )

    def configure(self, settings: Sequence[str]) -> Output:
        """The same format with other parameters."""
        chosen = Parameters(**parse_settings(self.name, Parameters, settings))
        if chosen.categories:
            category_model(chosen.categories)  # a wrong one is told now, not once a page
        return RecordFormat(
            self.name, self.suffix, self.description, self.write, self.joins, self.header, chosen
        ).output()

    def render(self, page: CleanPage) -> str:
        """Write the record of a page."""
        return self.write(describe(page, self.parameters), page)

    def tabulate(self, page: CleanPage) -> tuple[str, dict[str, Any]]:
        """The record of a page, written down and as the columns of a row."""
        record = describe(page, self.parameters)
        return self.write(record, page), record.fields()


def write_json(record: DocView, page: CleanPage) -> str:
    """A line of JSON."""
    return json.dumps(record.fields(), ensure_ascii=False) + "\n"


def write_markdown(record: DocView, page: CleanPage) -> str:
    """The content as Markdown below the other fields as YAML, of which every JSON value is one."""
    about = {name: value for name, value in record.fields().items() if name != "content"}
    lines = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in about.items()]
    return "\n".join(["---", *lines, "---", "", render_markdown(page)])


def write_csv(record: DocView, page: CleanPage) -> str:
    """A row; lists are joined by semicolons, of links and images the addresses alone."""
    return csv_row([_cell(value) for value in record.fields().values()])


def csv_row(cells: Sequence[str]) -> str:
    """Write cells as RFC 4180 has it, but with the line ends of Unix."""
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerow(cells)
    return written.getvalue()


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return "; ".join(each["url"] if isinstance(each, dict) else each for each in value)
    return "" if value is None else str(value)


FORMATS = [
    RecordFormat("docview", ".jsonl", "DocView: what a page is about, as JSON, a page a line", write_json, joins=True),
    RecordFormat("docview-tei", ".xml", "DocView as TEI: the record in the header, the content below", render_tei),
    RecordFormat("docview-markdown", ".md", "DocView as Markdown, the record in its front matter", write_markdown),
    RecordFormat("docview-csv", ".csv", "DocView as CSV, a page a row", write_csv, joins=True, header=csv_row(FIELDS)),
]
for each in FORMATS:
    OUTPUTS.add(each.name, each.output())
