"""The Markdown output format, for CommonMark and GitHub."""

from __future__ import annotations

import json
import re
import string
import unicodedata
from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeGuard

from victorpy.document import Label
from victorpy.outputs.base import CleanPage, Segment, facts, output
from victorpy.outputs.images import Image
from victorpy.outputs.structure import PLAIN, Place, Places, Run, Structure, count_shared
from victorpy.outputs.tables import Cell, Table

# Matches characters with a meaning anywhere in a line, such as an underscore at the edge of a word, or a tilde that may
# end GitHub's strikethrough. Every alternative starts with a literal character, which makes the search fast.
_SPECIAL = re.compile(r"\\|`|\*|\[|\]|<|&(?=#?\w+;)|_(?:(?![^\W_])|(?<![^\W_]_))|~(?:(?=~)|(?<=\w~)|(?<=\S~)(?!\w))")
_UNESCAPED_PIPE = re.compile(r"(?<!\\)((?:\\\\)*)\|")
# Matches the start of a heading, quotation, list item, rule or table, or of the underline of a heading.
_LINE_START = re.compile(
    r"^(?:(?=#{1,6}(\s|$)|>|[-+](\s|$)|(-\s*){2,}$|=+$|\|\s*:?-|:?-+:?\s*\|)|\d+(?=[.)](\s|$)))",
)
# Matches TeX between dollar signs or \\( and \\). A dollar sign before a space or a digit does not end a formula: $5 or
# $10. A formula cannot contain the start of another one, so that the time is linear if no formula ends.
_FORMULA = re.compile(
    r"\$\$[^$`]++\$\$|\$(?![\s$])[^$`\n]*+(?<![\s\\])\$(?!\d)|(?<!\\)\\\((?:[^\\`\n]|\\[^()`\n])++\\\)"
    r"|(?<!\\)\\\[(?:[^\\`\n]|\\[^\[\]`\n])++\\\]"
)
_NOT_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")  # characters that YAML requires to be escaped
_SURROGATE = re.compile("[\ud800-\udfff]")
# Start of a tag, a character reference or the address of a link. A space makes it harmless, and TeX ignores the space.
_MARKUP_IN_FORMULA = re.compile(r"(<(?=[A-Za-z/!?])|&(?=#?\w+;)|\](?=\())")
_LAST_HASHES = re.compile(r"(?<!\S)(?=#+$)")  # would close the heading
_BRACKET = re.compile(r"(?<!\\)((?:\\\\)*)([\[\]])")
_QUOTE = "> "
_MAX_ITEM_NUMBER = 999_999_999
_HARD_BREAK = "  \n"  # supported by all Markdown dialects, and invisible, unlike a backslash
_DELIMITERS = {"bold": "**", "italic": "*"}
_WRAPPED = {"sub": "<sub>{}</sub>", "sup": "<sup>{}</sup>", "strike": "~~{}~~"}  # innermost first
_CODE = frozenset(["code"])
_NO_STYLES: frozenset[str] = frozenset()
_FACTS = ("title", "author", "date", "language", "url", "site_name", "description")  # fields of the front matter

_Span = tuple[str, frozenset[str]]
"""A stretch of text in one style."""

_Markers = dict[Place, str]
"""The marker at the start of each quotation and list item."""


def yaml_header(fields: Mapping[str, Any]) -> str:
    r"""Write fields as YAML between lines of hyphens. Strings are in JSON's syntax, which YAML includes.

    >>> yaml_header({"title": 'Tea: "hot" #1\n---'})
    '---\ntitle: "Tea: \\"hot\\" #1\\n---"\n---\n\n'
    """
    values = (json.dumps(value, ensure_ascii=False) for value in fields.values())
    safe = (_NOT_YAML.sub(lambda char: f"\\u{ord(char[0]):04x}", _SURROGATE.sub("\ufffd", value)) for value in values)
    return "\n".join(["---", *(f"{name}: {value}" for name, value in zip(fields, safe, strict=True)), "---", "", ""])


@output("markdown", ".md", joins=True, is_titled=True, changes={"wants_metadata": True})
def render_markdown(page: CleanPage, front_matter: bool = False) -> str:
    """Markdown: headings, lists, tables, links, emphasis, code and quotes."""
    structure = Structure.of(page)
    header = ""
    if front_matter:
        about = facts(page, _FACTS) | {"confidence": page.confidence}
        header = yaml_header({name: value for name, value in about.items() if value not in {"", None}})
    written: list[str] = []
    previous: Places = ()
    markers: _Markers = {}
    has_listings = page.document.has_tag("pre")
    for part, places in structure.outline():
        if places and any(place.mark for place in places if place.kind == "quote") and structure.names_box(part):
            continue  # the type is written as the first line of the box
        shared = count_shared(previous, places)
        if shared < len(places):
            _add_markers(markers, previous, places, shared)
        if written:
            written.append(_gap(previous, places, shared, markers) if previous and places else "\n\n")
        if isinstance(part, Table):
            text = _table(part, structure)
        elif isinstance(part, Image):
            text = "\n\n".join([_picture(part), *(_inline(segment, structure) for segment in part.caption)])
        elif has_listings and part.preformatted:
            fence = "`" * max(3, _longest_backticks(part.text) + 1)
            text = f"{fence}{structure.code_language(part)}\n{part.text}\n{fence}"
        elif part.label is Label.HEADER:
            text = _heading(part, structure)
        else:
            text = _inline(part, structure)
        written.append(_in_places(text, places, shared, markers) if places else text)
        previous = places
    return "".join([header, *written, "\n"]) if written else header


def _in_places(text: str, places: Places, shared: int, markers: _Markers) -> str:
    """Write markers before the lines of a part. Only those of open quotations are repeated."""
    own = [markers[place] for place in places]
    first, prefix = "", "".join(map(_indent, own[:shared]))
    for level, place in enumerate(places[shared:], shared):
        prefix += own[level]
        if place.kind == "quote" and place.mark:
            first += f"{prefix}[!{place.mark}]\n"
            prefix = "".join(map(_indent, own[: level + 1]))
    if "\n" not in text:
        return first + prefix + text  # most parts
    indent = "".join(map(_indent, own))
    lines = text.split("\n")
    rest = [indent + line if line else indent.rstrip() for line in lines[1:]]
    return "\n".join([first + prefix + lines[0], *rest])


def _add_markers(markers: _Markers, previous: Places, places: Places, shared: int) -> None:
    """Choose markers for the quotations and list items that start here.

    Markdown renumbers the items of a list and joins neighbouring lists. So an item that breaks the sequence gets the
    other delimiter (``3)`` after ``1.``), which starts a new list.
    """
    sibling = previous[shared] if shared < len(previous) else None
    for place in places[shared:]:
        if place.kind in {"quote", "comment"}:
            markers[place] = _QUOTE
        elif place.kind == "note":
            markers[place] = f"[^{place.mark}]: "
        elif place.mark:
            markers[place] = f"- [{place.mark}] "
        elif not _is_valid(place.number):
            markers[place] = "- "
        else:
            delimiter = "."
            if sibling and _is_valid(sibling.number):
                follows = sibling.number == place.number - 1
                last_delimiter = markers[sibling][-2]
                other_delimiter = ")" if last_delimiter == "." else "."
                delimiter = last_delimiter if follows else other_delimiter
            markers[place] = f"{place.number}{delimiter} "
        sibling = None


def _is_valid(number: int | None) -> TypeGuard[int]:
    """Whether Markdown accepts the number of an item."""
    return number is not None and 0 <= number <= _MAX_ITEM_NUMBER


def _gap(previous: Places, places: Places, shared: int, markers: _Markers) -> str:
    """Return the separator between two parts in places: a line break between list items, or else a blank line."""
    if shared < len(places) and places[-1].kind == "note" and previous[-1].kind == "note":
        return "\n"
    open_lists = [place.list for place in previous if place.kind == "item"]
    if shared < len(places) and places[-1].kind == "item" and open_lists:
        *around, item = places
        if item.list in open_lists:
            return "\n"
        # Without a blank line before it, a bullet list may follow anything except a numbered list. A numbered list may
        # only follow the item that contains it, and only if it starts at 1.
        if item.number is None:
            may_follow = shared == len(previous) or previous[shared].number is None
        else:
            may_follow = item.number == 1 and bool(around) and around[-1].is_item
        if may_follow:
            return "\n"
    while shared and places[shared - 1].kind not in {"quote", "comment"}:
        shared -= 1
    return f"\n{''.join(_indent(markers[place]) for place in places[:shared]).rstrip()}\n"


def _indent(marker: str) -> str:
    """Return the start of further lines below a marker."""
    if marker == _QUOTE:
        return marker
    if marker.startswith("[^"):
        return "    "
    return "  " if marker.startswith("- ") else " " * len(marker)


def _picture(image: Image) -> str:
    """Write an image without its caption."""
    link = f"[{_escape(image.alt)}]({_address(image.address)})"
    if image.is_embedded:
        return link
    return f"[!{link}]({_address(image.link)})" if image.link else f"!{link}"


def _heading(segment: Segment, structure: Structure) -> str:
    """Write a heading. In contrast to a paragraph, it may start like a list item, but a last ``#`` needs an escape."""
    text = " ".join(map(str.strip, _with_markup(segment, structure).split("\n")))
    return f"{'#' * segment.heading_level} " + _LAST_HASHES.sub(r"\\", text)


def _inline(segment: Segment, structure: Structure) -> str:
    written = _with_markup(segment, structure)
    if written[:1].isalpha() and "\n" not in written:
        return written  # most segments
    lines = []
    for line in written.split("\n"):
        stripped = line.strip()
        start = None if stripped[:1].isalpha() else _LINE_START.match(stripped)
        lines.append(f"{start[0]}\\{stripped[start.end() :]}" if start else stripped)
    return _HARD_BREAK.join(lines)


def _with_markup(segment: Segment, structure: Structure) -> str:
    """Write the text of a segment with emphasis, code and links."""
    segment_runs = structure.runs(segment)
    if len(segment_runs) == 1 and segment_runs[0].look is PLAIN:
        return _escape(segment_runs[0].text.strip())  # most segments
    is_header = segment.label is Label.HEADER
    if is_header and all("bold" in look.styles or text.isspace() for text, look in segment_runs):
        # headings are bold
        segment_runs = [Run(text, look._replace(styles=look.styles - {"bold"})) for text, look in segment_runs]
    return _write_runs(segment_runs).strip()


def _write_runs(segment_runs: Sequence[Run]) -> str:
    """Write runs with emphasis, code and links."""
    written: list[str] = []
    for _, runs in groupby(segment_runs, _target):
        group = [*runs]
        text, (styles, href, _, note, image) = group[0]
        if note:
            written += [f"[^{note}]"] * len(group)
            continue
        if image:
            written.append(_picture(image))
            continue
        if len(group) == 1 and ("code" in styles or styles.isdisjoint(_DELIMITERS)):
            text = _write_span(text, styles)
        else:
            # Markdown cannot emphasise code. Adjacent code is joined, since otherwise delimiters would mix.
            plain = [(text, _CODE if "code" in look.styles else look.styles) for text, look in group]
            joined = groupby(plain, itemgetter(1))
            text = _emphasise([("".join([text for text, _ in alike]), styles) for styles, alike in joined])
        if href:
            text = _link(text, href)
            if text.strip() and written and written[-1].endswith("!"):
                written[-1] = written[-1][:-1] + "\\!"  # "![" would start an image
        written.append(text)
    return "".join(written)


def _target(run: Run) -> tuple[object, ...]:
    """Return the link, the note and the image of a run."""
    return run.look[2:]


def _link(text: str, href: str) -> str:
    """Write a link with its text, which is Markdown already."""
    if "$" in text:
        text = _BRACKET.sub(r"\1\\\2", text)  # brackets in formulas; an unbalanced one would end the link
    return _with_space_of(text, f"[{text.strip()}]({_address(href)})") if text.strip() else text


def _address(address: str) -> str:
    return address.replace("(", "%28").replace(")", "%29").replace("|", "%7C").replace("<", "%3C").replace("\\", "%5C")


def _write_span(text: str, styles: frozenset[str]) -> str:
    """Write a span without emphasis delimiters."""
    inner = text.strip()
    if not inner:
        return _space(text)
    written = _code(inner) if "code" in styles else _escape(inner)
    if styles and "code" not in styles:
        for style, wrapped in _WRAPPED.items():
            if style in styles:
                written = wrapped.format(written)
    return written if len(inner) == len(text) else _with_space_of(text, written)


def _escape(text: str) -> str:
    """Escape special characters outside formulas."""
    if not _SPECIAL.search(text):
        return text  # most texts
    written, done = "", 0
    for formula in _FORMULA.finditer(text) if "$" in text or "\\" in text else ():
        harmless = _MARKUP_IN_FORMULA.sub(r"\1 ", formula[0])
        written += _SPECIAL.sub(r"\\\g<0>", text[done : formula.start()]) + harmless
        done = formula.end()
    return written + _SPECIAL.sub(r"\\\g<0>", text[done:])


def _with_space_of(text: str, written: str) -> str:
    """Surround the written form of a text with the same white space."""
    if "\n" in text:
        return _space(text[: len(text) - len(text.lstrip())]) + written + _space(text[len(text.rstrip()) :])
    return " " * text[0].isspace() + written + " " * text[-1].isspace()


def _space(space: str) -> str:
    return "\n" if "\n" in space else space and " "


def _code(text: str) -> str:
    delimiter = "`" * (_longest_backticks(text) + 1)
    return f"{delimiter} {text} {delimiter}" if "`" in text else f"`{text}`"


def _longest_backticks(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


def _emphasise(spans: Sequence[_Span]) -> str:
    """Write spans with bold and italic delimiters. They are preceded and followed by white space or punctuation.

    CommonMark does not recognise a start between a letter and punctuation, as in ``tea**(hot)**``, or an end between
    punctuation and a letter, as in ``**Note:**tea``. There, punctuation is moved out of the emphasis.

    >>> bold, plain = frozenset(["bold"]), frozenset()
    >>> _emphasise([("Note:", bold), ("tea is ", plain), ("(very) hot", bold)])
    '**Note**:tea is **(very) hot**'
    """
    styles = _NO_STYLES.union(*[styles for _, styles in spans])
    if styles.isdisjoint(_DELIMITERS):
        written: list[str] = []
        for text, styles in spans:
            _append(written, text, styles)
        return "".join(written)
    for style in _DELIMITERS:
        if style in styles:
            spans = _narrow(spans, style)
    return _write_delimiters(spans)


def _narrow(spans: Sequence[_Span], style: str) -> list[_Span]:
    """Shrink a style at edges where CommonMark would not recognise its delimiter: white space and punctuation."""
    written = "".join(["`" * len(text) if "code" in styles else text for text, styles in spans])
    context = f" {written} "
    narrowed: list[_Span] = []
    offset = 1
    for has_style, stretch in groupby(spans, lambda span: style in span[1]):
        members = [*stretch]
        length = sum([len(text) for text, _ in members])
        if not has_style:
            narrowed += members
            offset += length
            continue
        stripped = context[offset : offset + length].lstrip()
        first = offset + length - len(stripped)
        last = first + len(stripped.rstrip())
        if _may_be_punctuation(context[first]) and not _is_boundary(context[first - 1]):
            first, _ = _strip(context, first, last)
        if _may_be_punctuation(context[last - 1]) and not _is_boundary(context[last]):
            start, stop = _strip(context, first, last)
            last = stop if start < stop else first  # punctuation alone gets no emphasis
        for text, styles in members:
            start = max(first - offset, 0)
            stop = max(last - offset, start)
            offset += len(text)
            if start == 0 and stop == len(text) > 0:
                narrowed.append((text, styles))
                continue
            without = styles - {style} or _NO_STYLES
            cut = [(text[:start], without), (text[start:stop], styles), (text[stop:], without)]
            narrowed += [part for part in cut if part[0]]
    return narrowed


def _strip(text: str, first: int, last: int) -> tuple[int, int]:
    """Return the start and end of a stretch of text without white space and punctuation at its edges."""
    first = next((number for number in range(first, last) if not _is_edge(text[number])), last)
    return first, next((number for number in range(last, first, -1) if not _is_edge(text[number - 1])), first)


def _is_edge(char: str) -> bool:
    return char.isspace() or _may_be_punctuation(char)


def _may_be_punctuation(char: str) -> bool:
    """Whether any CommonMark version treats a character as punctuation. Only new versions include symbols."""
    return not char.isalnum() and unicodedata.category(char)[0] in "PS"


def _is_boundary(char: str) -> bool:
    """Whether all CommonMark versions treat a character as punctuation or white space."""
    return char.isspace() or char in string.punctuation or unicodedata.category(char)[0] == "P"


def _write_delimiters(spans: Sequence[_Span]) -> str:
    """Write spans with delimiters. The longer emphasis is the outer one.

    Markdown cannot express some emphasis, which is dropped:

    - Emphasis that starts where another emphasis ends, since the delimiters would mix: ``**tea***hot*``.
    - Emphasis that starts inside a word while one of two that started together (``***tea``) is open. The rest of
      ``***`` would take its delimiter for an end, as in ``***tea** ho*t*``.
    """
    written: list[str] = []
    open_styles: list[str] = []  # outermost first
    dropped = _NO_STYLES
    two_started_together = False
    for number, (text, styles) in enumerate(spans):
        if not open_styles and styles.isdisjoint(_DELIMITERS):
            dropped = _NO_STYLES
            _append(written, text, styles)
            continue
        wanted = styles.intersection(_DELIMITERS)
        kept = 0
        while kept < len(open_styles) and open_styles[kept] in wanted:
            kept += 1
        ending, open_styles = open_styles[kept:], open_styles[:kept]  # inner styles end together with the outer style
        starting = wanted.difference(open_styles)
        two_started_together = two_started_together and bool(open_styles)
        in_word = two_started_together and not spans[number - 1][0][-1].isspace()
        dropped = starting if ending or in_word else dropped & starting  # ignore it until the style ends
        started = sorted(starting - dropped)
        if len(started) > 1:
            two_started_together = True
            ends = dict.fromkeys(started, number)
            for style in started:
                while ends[style] < len(spans) and style in spans[ends[style]][1]:
                    ends[style] += 1
            started.sort(key=ends.__getitem__, reverse=True)
        open_styles += started
        written += [_DELIMITERS[style] for style in [*reversed(ending), *started]]
        _append(written, text, styles)
    return "".join([*written, *[_DELIMITERS[style] for style in reversed(open_styles)]])


def _append(written: list[str], text: str, styles: frozenset[str]) -> None:
    """Append a span. If the previous span is struck out too, both share their delimiters."""
    text = _write_span(text, styles)
    if text.startswith("~~") and written and written[-1].endswith("~~"):
        written[-1] = written[-1].removesuffix("~~")
        text = text.removeprefix("~~")
    written.append(text)


def _table(table: Table, structure: Structure) -> str:
    """Write a table in GitHub's syntax.

    The header must be as wide as the widest row. If the table has no header on the page, the Markdown header is empty,
    because most such tables consist of names and values.
    """
    rows = [[_cell(cell, structure) if cell else "" for cell in row] for row in table.grid]
    width = max(map(len, rows))
    header, body = (rows[0], rows[1:]) if table.has_header else ([], rows)
    header += [""] * (width - len(header))
    return "\n".join(f"| {' | '.join(row)} |" for row in [header, ["---"] * width, *body])


def _cell(cell: Cell, structure: Structure) -> str:
    """Write a cell on one line."""
    written = []
    for segment in cell.segments:
        if segment.preformatted:
            lines = [_code(line) for line in segment.text.split("\n") if line.strip()]
        else:
            lines = _inline(segment, structure).split(_HARD_BREAK)
        is_item = segment.label is Label.LIST and len(cell.segments) > 1
        written.append(("- " if is_item else "") + "<br>".join(lines))
    return _UNESCAPED_PIPE.sub(r"\1\|", "<br>".join(written))
