"""Markdown, as CommonMark and GitHub read it."""

from __future__ import annotations

import re
from itertools import groupby
from operator import attrgetter
from typing import TypeGuard

from victorpy.document import Document, Label
from victorpy.outputs.base import CleanPage, Segment, heading_level, output
from victorpy.outputs.emphasis import Span, emphasise
from victorpy.outputs.inline import Run, code_language, runs
from victorpy.outputs.outline import Place, Places, count_shared, outline
from victorpy.outputs.tables import Cell, Table, parts

# What means something anywhere: an underscore at the edge of a word, a tilde that may end what GitHub strikes through.
# Every alternative begins with one sign, which lets the search skip from sign to sign.
_SPECIAL = re.compile(r"\\|`|\*|\[|\]|<|&(?=#?\w+;)|_(?:(?![^\W_])|(?<![^\W_]_))|~(?:(?=~)|(?<=\w~)|(?<!\s~)(?!\w))")
_OPEN_PIPE = re.compile(r"(?<!\\)((?:\\\\)*)\|")  # a pipe that is not yet escaped
# What would begin a heading, a quotation, an item, a rule or a table at the start of a line, or underline that above.
_LINE_START = re.compile(
    r"^(\d*)(?=#{1,6}(\s|$)|>|[-+](\s|$)|(-\s*){2,}$|=+$|(?<=\d)[.)](\s|$)|\|\s*:?-|:?-+:?\s*\|)",
)
_CODE = frozenset(["code"])
_QUOTE = "> "
_OTHER_SIGN = {".": ")", ")": "."}
_HIGHEST_NUMBER = 999_999_999  # longer numbers begin no item
_HARD_BREAK = "  \n"  # every kind of Markdown knows it; a backslash would be a sign that is not on the page

_Markers = dict[Place, str]
"""The signs that each quotation and item begins with."""


@output("markdown", ".md")
def render_markdown(page: CleanPage) -> str:
    """Markdown: headings, lists, tables, links, emphasis, code and quotes."""
    written: list[str] = []
    previous: Places = ()
    markers: _Markers = {}
    for part, places in outline(parts(page), page.document):
        shared = count_shared(previous, places)
        if places:
            _add_markers(markers, previous, places, shared)
        if written:
            written.append(_gap(previous, places, shared, markers))
        text = _table(part, page.document) if isinstance(part, Table) else _segment(part, page.document)
        written.append(_indented(text, [markers[place] for place in places], shared) if places else text)
        previous = places
    return "".join([*written, "\n"]) if written else ""


def _add_markers(markers: _Markers, previous: Places, places: Places, shared: int) -> None:
    """Choose markers for the quotations and items that begin.

    Markdown counts on from the first number of a list, and joins lists that follow each other. So an item whose number
    does not follow the previous one has the other sign after its number (``3)`` after ``1.``), which begins a new list.
    """
    sibling = previous[shared] if shared < len(previous) else None
    for place in places[shared:]:
        if place.is_quote:
            markers[place] = _QUOTE
        elif not _is_writable(place.number):
            markers[place] = "- "
        else:
            sign = "."
            if sibling and _is_writable(sibling.number):
                follows = sibling.list == place.list and sibling.number == place.number - 1
                last_sign = markers[sibling][-2]
                sign = last_sign if follows else _OTHER_SIGN[last_sign]
            markers[place] = f"{place.number}{sign} "
        sibling = None


def _is_writable(number: int | None) -> TypeGuard[int]:
    """Whether Markdown can number an item so."""
    return number is not None and 0 <= number <= _HIGHEST_NUMBER


def _gap(previous: Places, places: Places, shared: int, markers: _Markers) -> str:
    """Return the separator of two parts: a blank line (after `>` inside a quotation), or nothing between list items."""
    if not previous or not places:
        return "\n\n"
    begins_item = shared < len(places) and not places[-1].is_quote
    if begins_item and not all(place.is_quote for place in previous) and _may_follow(previous, places, shared):
        return "\n"
    while shared and not places[shared - 1].is_quote:
        shared -= 1
    return f"\n{''.join(_indent(markers[place]) for place in places[:shared]).rstrip()}\n"


def _may_follow(previous: Places, places: Places, shared: int) -> bool:
    """Whether an item may follow the previous part without a blank line.

    The first item of a bullet list may not follow a numbered one. That of a numbered list may only follow a term or an
    item around it, and only if its number is 1.
    """
    *around, item = places
    if any(place.list == item.list for place in previous):
        return True
    if item.number is None:
        return shared == len(previous) or previous[shared].number is None
    return item.number == 1 and bool(around) and not around[-1].is_quote


def _indented(text: str, markers: list[str], shared: int) -> str:
    """Put markers before a text. Those that it shares with the previous part are not repeated, apart from quotes."""
    indents = [*map(_indent, markers)]
    first = "".join([*indents[:shared], *markers[shared:]])
    rest = "".join(indents)
    lines = text.split("\n")
    return "\n".join([first + lines[0], *((rest + line if line else rest.rstrip()) for line in lines[1:])])


def _indent(marker: str) -> str:
    return marker if marker == _QUOTE else " " * len(marker)


def _segment(segment: Segment, document: Document) -> str:
    if segment.preformatted:
        fence = "`" * max(3, _most_ticks(segment.text) + 1)
        return f"{fence}{code_language(segment, document)}\n{segment.text}\n{fence}"
    text = _inline(segment, document)
    if segment.label is Label.HEADER:
        return f"{'#' * heading_level(segment)} {text.replace(_HARD_BREAK, ' ')}"
    return text


def _inline(segment: Segment, document: Document) -> str:
    segment_runs = runs(segment, document)
    if len(segment_runs) == 1 and not segment_runs[0].styles and not segment_runs[0].href:
        text = _escaped(segment_runs[0].text).strip()
    else:
        if segment.label is Label.HEADER and all("bold" in run.styles or run.text.isspace() for run in segment_runs):
            segment_runs = [run._replace(styles=run.styles - {"bold"}) for run in segment_runs]  # it is bold anyway
        text = _linked(segment_runs).strip()
    if "\n" not in text:
        return _escaped_start(text)
    return _HARD_BREAK.join([_escaped_start(line.strip()) for line in text.split("\n")])


def _escaped_start(line: str) -> str:
    """Escape the beginning of a line if it would mean something."""
    start = None if line[:1].isalpha() else _LINE_START.match(line)
    return f"{start[0]}\\{line[start.end() :]}" if start else line


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text) if _SPECIAL.search(text) else text  # most have none, and to search is faster


def _linked(segment_runs: list[Run]) -> str:
    """Write runs, those of a link together. The signs of a link are the neighbours of the text around it."""
    groups = [[*linked] for _, linked in groupby(segment_runs, attrgetter("link"))]
    written = ""
    for number, group in enumerate(groups):
        spans = _spans(group)
        if not group[0].href:
            before, after = ")" if number else " ", "[" if number + 1 < len(groups) else " "
            written += emphasise(spans, _span, before, after)
            continue
        text = emphasise(spans, _span, "[", "]")
        if text.strip():
            if written.endswith("!"):
                written = written[:-1] + "\\!"  # or it would be an image
            address = group[0].href.replace("(", "%28").replace(")", "%29").replace("|", "%7C")
            text = _with_space_of(text, f"[{text.strip()}]({address})")
        written += text
    return written


def _spans(linked: list[Run]) -> list[Span]:
    """Remove all other styles from code, and join what looks the same then: the signs of two codes would mix."""
    plain = [Span(run.text, _CODE if "code" in run.styles else run.styles) for run in linked]
    if len(plain) == 1:
        return plain
    return [
        Span("".join(span.text for span in alike), styles) for styles, alike in groupby(plain, attrgetter("styles"))
    ]


def _span(span: Span) -> str:
    """Write a text without the signs of its emphasis."""
    inner = span.text.strip()
    if not inner:
        return _space(span.text)
    return _with_space_of(span.text, _code(inner) if "code" in span.styles else _escaped(inner))


def _code(text: str) -> str:
    ticks = "`" * (_most_ticks(text) + 1)
    return f"{ticks} {text} {ticks}" if "`" in text else f"`{text}`"


def _most_ticks(text: str) -> int:
    """Count the backticks in the longest row of them."""
    return max(map(len, re.findall("`+", text)), default=0)


def _with_space_of(text: str, written: str) -> str:
    """Put the white space around a text also around its written form."""
    if not text[0].isspace() and not text[-1].isspace():
        return written
    return _space(text[: len(text) - len(text.lstrip())]) + written + _space(text[len(text.rstrip()) :])


def _space(space: str) -> str:
    return "\n" if "\n" in space else space and " "


def _table(table: Table, document: Document) -> str:
    """Write a table as GitHub has it.

    It must have a header as wide as its widest row; other rows may end early. If the page has no header, that row is
    empty: most such tables are of names and values, and their first row is no header.
    """
    width = max(len(row) for row in table.rows)
    rows = [[_cell(cell, document) for cell in row] for row in table.rows]
    header, body = (rows[0], rows[1:]) if table.has_header else ([], rows)
    header += [""] * (width - len(header))
    return "\n".join(f"| {' | '.join(row)} |" for row in [header, ["---"] * width, *body])


def _cell(cell: Cell, document: Document) -> str:
    """Write a cell on one line."""
    written = []
    for segment in cell.segments:
        if segment.preformatted:
            lines = [_code(line) for line in segment.text.split("\n") if line.strip()]
        else:
            lines = _inline(segment, document).split(_HARD_BREAK)
        is_item = segment.label is Label.LIST and len(cell.segments) > 1
        written.append(("- " if is_item else "") + "<br>".join(lines))
    return _OPEN_PIPE.sub(r"\1\|", "<br>".join(written))
