"""The HTML output format, and the writer that formats with tags share."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from itertools import groupby
from operator import attrgetter
from typing import ClassVar

from victorpy.document import Label
from victorpy.outputs.base import CleanPage, Segment, output
from victorpy.outputs.images import Image
from victorpy.outputs.structure import PLAIN, Part, Place, Places, Run, Structure, count_shared
from victorpy.outputs.tables import Cell, Table, without_controls


@output("html", ".html")
def render_html(page: CleanPage) -> str:
    """HTML: a complete page with headings, paragraphs, lists, tables, links and emphasis."""
    title = html.escape(without_controls(page.document.title))
    head = f'<!DOCTYPE html>\n<html>\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n</head>\n<body>\n'
    lines = MarkupWriter(Structure.of(page)).flow()
    return head + "".join(line + "\n" for line in lines) + "</body>\n</html>\n"


def start_tag(name: str, attributes: Mapping[str, object]) -> str:
    """Write a start tag. Attributes without a value are left out.

    >>> start_tag("cell", {"cols": 2, "role": ""})
    '<cell cols="2">'
    """
    if not attributes:
        return f"<{name}>"
    given = {key: without_controls(str(value)) for key, value in attributes.items() if value not in {"", None}}
    written = [f' {key}="{html.escape(value)}"' for key, value in given.items()]
    return f"<{name}{''.join(written)}>"


class MarkupWriter:
    """Writes the structure of a page as lines of HTML. Subclasses write other languages with tags."""

    quote, note, item, comment = "blockquote", "aside", "li", "article"
    line_break = "<br>\n"
    styles: ClassVar = {"bold": "strong", "italic": "em", "code": "code", "strike": "del", "sub": "sub", "sup": "sup"}

    def __init__(self, structure: Structure) -> None:
        self.structure = structure

    def flow(self, flow: Iterable[Part] | None = None, within: int = -1) -> list[str]:
        """Write parts inside their quotations, lists and notes."""
        lines: list[str] = []
        previous: Places = ()
        has_listings = self.structure.document.has_tag("pre")
        for part, places in self.structure.outline(flow, within):
            starts_item = False
            if places is not previous:
                starts_item = len(places) > count_shared(previous, places) and places[-1].is_item
                self._move(lines, previous, places)
            if isinstance(part, Table):
                lines += self.table(part)
            elif isinstance(part, Image):
                lines.append(self.image(part))
            elif has_listings and part.preformatted:
                lines.append(self.listing(part))
            elif part.label is Label.HEADER:
                lines.append(self.heading(part, places))
            elif starts_item:
                lines[-1] += self.inline(part)
            else:
                lines.append(f"<p>{self.inline(part)}</p>")
            previous = places
        self._move(lines, previous, ())
        return lines

    def _move(self, lines: list[str], previous: Places, places: Places) -> None:
        """Close the quotations, items and notes of the previous part, and open those of the next part."""
        shared = count_shared(previous, places)
        sibling = None  # the previous item of the list
        if shared < min(len(previous), len(places)):
            old, new = previous[shared], places[shared]
            if old.is_item and new.is_item and old.list == new.list:
                sibling = old
        for level in range(len(previous) - 1, shared - 1, -1):
            place = previous[level]
            if not place.is_item:
                lines.append(f"</{getattr(self, place.kind)}>")
                continue
            if lines[-1].startswith(f"<{self.item}"):
                lines[-1] += f"</{self.item}>"
            else:
                lines.append(f"</{self.item}>")
            if level > shared or not sibling:
                lines.append(f"</{self.list_tag(place)[0]}>")
        for place in places[shared:]:
            if place.is_item:
                if not sibling:
                    lines.append(start_tag(*self.list_tag(place)))
                lines.append(self.start_item(place, (sibling.number or 0) + 1 if sibling else 1))
            else:
                lines.append(self.start_place(place))
            sibling = None

    def start_place(self, place: Place) -> str:
        """Open a quotation, a box with its type, a note, or a reader's comment."""
        attributes: dict[str, dict[str, object]] = {
            "quote": {"class": place.mark.lower()},
            "note": {"id": f"fn{place.mark}", "role": "doc-footnote"},
            "comment": {"class": "comment", "data-author": place.mark, "data-date": place.date},
        }
        return start_tag(getattr(self, place.kind), attributes[place.kind])

    def list_tag(self, place: Place) -> tuple[str, dict[str, object]]:
        """Return the name and attributes of the list around an item."""
        return "ul" if place.number is None else "ol", {}

    def start_item(self, place: Place, expected_number: int) -> str:
        """Open an item. If its number is not the expected one, previous items were dropped."""
        value = "" if place.number in {None, expected_number} else place.number
        checked = ' checked=""' if place.mark == "x" else ""
        box = f'<input type="checkbox" disabled=""{checked} /> ' if place.mark else ""
        return start_tag(self.item, {"value": value}) + box

    def heading(self, segment: Segment, places: Places) -> str:
        tag = f"h{segment.heading_level}"
        return f"<{tag}>{self.inline(segment)}</{tag}>"

    def listing(self, segment: Segment) -> str:
        runs = self.structure.runs(segment)
        text = self.links(Run(text, look._replace(styles=look.styles - {"code"})) for text, look in runs)
        language = self.structure.code_language(segment)
        if language:
            text = f'<code class="language-{language}">{text}</code>'
        elif any("code" in look.styles for _, look in runs):
            text = f"<code>{text}</code>"
        return f"<pre>{text}</pre>"

    def table(self, table: Table) -> list[str]:
        rows = [f"<tr>{''.join(map(self._cell, row))}</tr>" for row in table.rows]
        height = max((cell.height for cell in table.rows[0]), default=1)  # a header cell cannot extend beyond <thead>
        if table.has_header and all(cell.is_heading for row in table.rows[1:height] for cell in row):
            rows[:height] = ["<thead>", *rows[:height], "</thead>"]
        return ["<table>", *rows, "</table>"]

    def _cell(self, cell: Cell) -> str:
        tag = "th" if cell.is_heading else "td"
        spans = {"colspan": cell.width, "rowspan": cell.height}
        attributes = {name: size for name, size in spans.items() if size > 1}
        return f"{start_tag(tag, attributes)}{self.cell_content(cell)}</{tag}>"

    def cell_content(self, cell: Cell) -> str:
        """Write the content of a cell: a line of text, or several parts."""
        if len(cell.segments) == 1 and not cell.segments[0].preformatted:
            return self.inline(cell.segments[0])
        return "\n".join(self.flow(cell.segments, cell.element))

    def image(self, image: Image) -> str:
        """Write an image with its caption."""
        if not image.caption:
            return f"<p>{self.picture(image)}</p>"
        return f"<figure>\n{self.picture(image)}\n<figcaption>{self.caption(image)}</figcaption>\n</figure>"

    def picture(self, image: Image) -> str:
        """Write an image without its caption."""
        alt = html.escape(image.alt)
        if image.is_embedded:
            return self.link(alt, image.address)
        picture = f'<img src="{html.escape(image.address)}" alt="{alt}" />'
        return self.link(picture, image.link) if image.link else picture

    def caption(self, image: Image) -> str:
        return self.line_break.join(map(self.inline, image.caption))

    def inline(self, segment: Segment) -> str:
        """Write the text of a segment with its styles and links."""
        runs = self.structure.runs(segment)
        is_plain = len(runs) == 1 and runs[0].look is PLAIN  # most are
        text = html.escape(runs[0].text, quote=False) if is_plain else self.links(runs)
        return text.strip().replace("\n", self.line_break)

    def links(self, runs: Iterable[Run]) -> str:
        """Write runs with their styles and links."""
        written = []
        for _, group in groupby(runs, attrgetter("look.link")):
            texts = []
            href = ""
            for run_text, look in group:
                href = look.href
                text = self.picture(look.image) if look.image else html.escape(run_text, quote=False)
                if look.note:
                    text = self.reference(text, look.note)
                for style in sorted(look.styles, key=lambda style: (style != "code", style)):  # code comes last
                    name = self.styles[style]
                    text = f"<{name}>{text}</{name.partition(' ')[0]}>"
                texts.append(text)
            written.append(self.link("".join(texts), href) if href else "".join(texts))
        return "".join(written)

    def reference(self, text: str, note: str) -> str:
        return f'<sup><a href="#fn{html.escape(note)}" role="doc-noteref">{text}</a></sup>'

    def link(self, text: str, address: str) -> str:
        """Write a link around markup."""
        return f'<a href="{html.escape(address)}">{text}</a>'
