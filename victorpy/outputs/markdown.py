"""Markdown, as CommonMark and GitHub read it."""

from __future__ import annotations

import re
from itertools import groupby
from operator import attrgetter
from typing import TypeGuard

from victorpy.document import CleanPage, Document, Label
from victorpy.outputs.base import Segment, heading_level, output
from victorpy.outputs.emphasis import Span, emphasise
from victorpy.outputs.inline import Run, code_language, runs
from victorpy.outputs.outline import Place, Places, count_shared, outline
from victorpy.outputs.tables import Cell, Table, parts

# What means something anywhere: an underscore at the edge of a word, a tilde that may end what GitHub strikes through.
# Every alternative begins with one sign, which lets the search skip from sign to sign.
_SPECIAL = re.compile(r"\\|`|\*|\[|\]|<|&(?=#?\w+;)|_(?:(?![^\W_])|(?<![^\W_]_))|~(?:(?=~)|(?<=\w~)|(?<!\s~)(?!\w))")
_OPEN_PIPE = re.compile(r"(?<!\\)((?:\\\\)*)\|")  # one that no backslash before it closes already
# What would begin a heading, a quotation, an item, a rule or a table at the start of a line, or underline that above.
_LINE_START = re.compile(
    r"^(\d*)(?=#{1,6}(\s|$)|>|[-+](\s|$)|(-\s*){2,}$|=+$|(?<=\d)[.)](\s|$)|\|\s*:?-|:?-+:?\s*\|)",
)
_CODE = frozenset(["code"])
_QUOTE = "> "
_OTHER_SIGN = {".": ")", ")": "."}
_HIGHEST_NUMBER = 999_999_999  # what is longer begins no item
_HARD_BREAK = "  \n"  # every kind of Markdown knows it; a backslash would be a sign that is not on the page


@output("markdown", ".md")
def render_markdown(page: CleanPage) -> str:
    """Markdown: headings, lists, tables, links, emphasis, code and quotes."""
    written: list[str] = []
    before: Places = ()
    markers: _Markers = {}
    for part, places in outline(parts(page), page.document):
        shared = count_shared(before, places)
        if places:
            _mark(markers, before, places, shared)
        if written:
            written.append(_gap(before, places, shared, markers))
        text = _table(part, page.document) if isinstance(part, Table) else _segment(part, page.document)
        written.append(_indented(text, [markers[place] for place in places], shared) if places else text)
        before = places
    return "".join([*written, "\n"]) if written else ""


_Markers = dict[Place, str]
"""What each quotation and item begins with."""


def _mark(markers: _Markers, before: Places, places: Places, shared: int) -> None:
    """Give those that begin their markers.

    Markdown counts on from the first number of a list, and joins lists that follow each other. An item that does not go
    on with the count of the one before has another sign behind its number, which makes it the first of a list.
    """
    for level in range(shared, len(places)):
        place = places[level]
        if place.is_quote:
            markers[place] = _QUOTE
        elif not _has_marker(place.number):
            markers[place] = "- "
        else:
            sign = "."
            sibling = before[shared] if level == shared < len(before) else None
            if sibling and _has_marker(sibling.number):
                goes_on = sibling.list == place.list and sibling.number == place.number - 1
                last_sign = markers[sibling][-2]
                sign = last_sign if goes_on else _OTHER_SIGN[last_sign]
            markers[place] = f"{place.number}{sign} "


def _has_marker(number: int | None) -> TypeGuard[int]:
    """Whether Markdown can say a number."""
    return number is not None and 0 <= number <= _HIGHEST_NUMBER


def _gap(before: Places, places: Places, shared: int, markers: _Markers) -> str:
    """A blank line, which in a quotation has its sign; none between the items of a list."""
    if not before or not places:
        return "\n\n"
    if _is_next_item(before, places, shared):
        return "\n"
    while shared and not places[shared - 1].is_quote:
        shared -= 1
    return f"\n{''.join(_indent(markers[place]) for place in places[:shared]).rstrip()}\n"


def _is_next_item(before: Places, places: Places, shared: int) -> bool:
    """Whether an item may follow without a blank line.

    The first item of a list may not where one of the other kind stands before it. That of a numbered list may below a
    term or an item alone, and there only if it has the number 1.
    """
    if shared == len(places) or places[-1].is_quote or all(place.is_quote for place in before):
        return False
    *around, item = places
    if any(place.list == item.list for place in before):
        return True
    if item.number is None:
        return shared == len(before) or before[shared].number is None
    return item.number == 1 and bool(around) and not around[-1].is_quote


def _indented(text: str, markers: list[str], shared: int) -> str:
    """Put the signs of quotations and items before a text, but no second one of an item that the part before is in."""
    indents = [*map(_indent, markers)]
    first = "".join([*indents[:shared], *markers[shared:]])
    rest = "".join(indents)
    lines = text.split("\n")
    return "\n".join([first + lines[0], *((rest + line if line else rest.rstrip()) for line in lines[1:])])


def _indent(marker: str) -> str:
    return marker if marker == _QUOTE else " " * len(marker)


def _segment(segment: Segment, document: Document) -> str:
    if segment.preformatted:
        return _listing(segment, document)
    text = _inline(segment, document)
    if segment.label is Label.HEADER:
        return f"{'#' * heading_level(segment)} {text.replace(_HARD_BREAK, ' ')}"
    return text


def _listing(segment: Segment, document: Document) -> str:
    fence = _ticks(segment.text, 3)
    return f"{fence}{code_language(segment, document)}\n{segment.text}\n{fence}"


def _inline(segment: Segment, document: Document) -> str:
    found = runs(segment, document)
    if len(found) == 1 and not found[0].styles and not found[0].href:
        text = _escaped(found[0].text)
    else:
        text = _linked(_plain_heading(found) if segment.label is Label.HEADER else found)
    text = text.strip()
    return _HARD_BREAK.join([_as_text(line.strip()) for line in text.split("\n")]) if "\n" in text else _as_text(text)


def _as_text(line: str) -> str:
    """Keep the beginning of a line from meaning something."""
    found = None if line[:1].isalpha() else _LINE_START.match(line)
    return f"{found[0]}\\{line[found.end() :]}" if found else line


def _plain_heading(found: list[Run]) -> list[Run]:
    """A heading is bold anyway: bold says something only on a part of it."""
    if all("bold" in run.styles or run.text.isspace() for run in found):
        return [run._replace(styles=run.styles - {"bold"}) for run in found]
    return found


def _linked(found: list[Run]) -> str:
    """Write runs, those of a link as such; the signs of a link stand beside what is around it."""
    groups = [[*linked] for _, linked in groupby(found, attrgetter("link"))]
    written = ""
    for number, group in enumerate(groups):
        spans = _spans(group)
        href = group[0].href
        if href:
            text = emphasise(spans, _span, "[", "]")
            if text.strip() and written.endswith("!"):
                written = written[:-1] + "\\!"  # or it would be an image
            written += _link(text, href)
        else:
            before, after = ")" if number else " ", "[" if number + 1 < len(groups) else " "
            written += emphasise(spans, _span, before, after)
    return written


def _link(text: str, href: str) -> str:
    if not text.strip():
        return text
    address = href.replace("(", "%28").replace(")", "%29").replace("|", "%7C")
    return _around(text, f"[{text.strip()}]({address})")


def _spans(linked: list[Run]) -> list[Span]:
    """Take all other styles from code, and join what looks the same then: the signs of two codes would mix."""
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
    return _around(span.text, _code(inner) if "code" in span.styles else _escaped(inner))


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text) if _SPECIAL.search(text) else text  # most have none, and to search is faster


def _code(text: str) -> str:
    ticks = _ticks(text, 0)
    return f"{ticks} {text} {ticks}" if "`" in text else f"`{text}`"


def _ticks(text: str, least: int) -> str:
    """More backticks than stand together anywhere in a text."""
    return "`" * max(least, max(map(len, re.findall("`+", text)), default=0) + 1)


def _around(text: str, written: str) -> str:
    """Put the white space around a text around what was written for it."""
    if not text[0].isspace() and not text[-1].isspace():
        return written
    return _space(text[: len(text) - len(text.lstrip())]) + written + _space(text[len(text.rstrip()) :])


def _space(space: str) -> str:
    return "\n" if "\n" in space else space and " "


def _table(table: Table, document: Document) -> str:
    """A table as GitHub has it.

    It must have a header as wide as its widest row; other rows may end early. Where the page gives none, that is empty:
    the first row of a table of names and values, which most of these are, is no header, and nobody should be told so.
    """
    width = max(len(row) for row in table.rows)
    rows = [[_cell(cell, document) for cell in row] for row in table.rows]
    header, body = (rows[0], rows[1:]) if table.has_header else ([], rows)
    header += [""] * (width - len(header))
    return "\n".join(f"| {' | '.join(row)} |" for row in [header, ["---"] * width, *body])


def _cell(cell: Cell, document: Document) -> str:
    """What stands in a cell, on one line."""
    written = []
    for segment in cell.segments:
        if segment.preformatted:
            lines = [_code(line) for line in segment.text.split("\n") if line.strip()]
        else:
            lines = _inline(segment, document).split(_HARD_BREAK)
        is_item = segment.label is Label.LIST and len(cell.segments) > 1
        written.append(("- " if is_item else "") + "<br>".join(lines))
    return _OPEN_PIPE.sub(r"\1\|", "<br>".join(written))
