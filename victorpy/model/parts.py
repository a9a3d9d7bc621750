"""The parts of a page that users can keep or drop.

After a labeller has decided what is content, `choose_parts` adds and drops whole parts of the page, such as comments.
So the text is the same in every format. Parts that are only markup, such as links, are left out when a format is
written.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Self

import numpy as np

from victorpy.columns import Columns
from victorpy.document import Block, Document, Label, Role, Spans
from victorpy.errors import ConfigError, suggest
from victorpy.model.evidence.removals import hidden_twins
from victorpy.model.role_trees import RoleTrees
from victorpy.model.roles import assign_roles, columns_of, find_bylines, find_comments, kept_flags
from victorpy.outputs.base import CleanPage, Segment
from victorpy.outputs.notes import find_notes
from victorpy.outputs.tables import Table
from victorpy.outputs.tables import parts as text_parts

PARTS = {
    "headline": "the headline of the page",
    "byline": "author, date and place, next to the headline",
    "tags": "keywords and categories, unless they are the page",
    "comments": "comments of readers, unless they are the page, as in a forum",
    "captions": "captions and credits of pictures and tables",
    "notes": "footnotes, lists of references, and the marks that refer to them",
    "tables": "tables of data with their captions",
    "code": "listings",
    "images": "images and videos, and their alternative texts",
    "links": "addresses of links; their text stays",
    "formatting": "bold, italic and other styles; their text stays",
    "roles": "the role of each block, in jsonl and anno; --with roles adds them",
    "facts": "title, author, date, site name and language, in JSON lines and tables",
}
"""The parts of a page and their descriptions."""

ROLES = {
    "headline": Role.HEADLINE,
    "byline": Role.BYLINE,
    "tags": Role.TAGS,
    "comments": Role.COMMENT,
    "captions": Role.CAPTION,
    "notes": Role.NOTE,
    "code": Role.CODE,
}
"""The roles of the blocks that belong to a part."""

LEFT_OUT = frozenset(["images", "links", "formatting", "captions", "notes"])
"""Parts that formats leave out. Otherwise they would add captions of images and notes of references."""

HEADLINES = ("always", "never", "model")
"""Values of `headline`."""

_LEAST_SURE = 0.9  # minimum confidence for dropping bylines; otherwise they may be facts about a product
_LONE_WORDS = 8  # maximum words of a text at the end of the page whose list was dropped
_AFTER_CONTENT = 12  # maximum number of blocks after the last kept block that may be tags
_BUTTON = re.compile(
    r"[^\w+]*(?:reply|report|like|share|permalink|edit|quote|flag|(?:log|sign) in\b.*|antworten|melden|répondre|"
    r"responder|rispondi|odpowiedz|ответить|回复|举报|返信|\d*)\W*",
    re.IGNORECASE,
)
# Matches headings of links and comments, which are useless alone.
_LONE_HEADING = re.compile(
    r"\W*(?:see also|related(?!:)|read (?:more|next|also)|(?:more|recommended) (?:for you|articles|posts|stories)"
    r"|more like this|similar (?:products|items|articles|posts|movies)|recently viewed|(?:customers|people) also"
    r"|you (?:may|might) also|siehe auch|mehr zum thema|voir aussi|lire aussi|v[ée]ase tambi[ée]n|vedi anche|zie ook"
    r"|см\. также|参见|参考文章|関連|(?:\d+|no|leave a|add a|post a) (?:comments?|repl(?:y|ies)|responses?|thoughts?)\b"
    r"|comments?\W*(?:\d+\W*)?$|kommentare?\b|commentaires?\b|comentarios?\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Parts:
    """A user's choice of parts. All other parts are kept or dropped by default.

    >>> Parts.of(include="comments", exclude="links, images").excluded == {"links", "images"}
    True
    >>> Parts.of(exclude=["link"])
    Traceback (most recent call last):
    victorpy.errors.ConfigError: unknown part 'link' (did you mean 'links'?); the parts are headline, byline, ...
    """

    included: frozenset[str] = frozenset()
    excluded: frozenset[str] = frozenset()
    headline: str = ""
    """``always``, ``never`` or ``model``; empty if the user did not choose. See `of`."""
    defaults: bool = True
    """Whether bylines and comments are dropped by default. If not, labels are kept except for the chosen parts."""

    @classmethod
    def of(cls, include: str | Iterable[str] = (), exclude: str | Iterable[str] = (), headline: str = "") -> Self:
        """Check the names of parts, given as a list or separated by commas.

        `headline` is ``always``, ``never`` or ``model``. With ``model``, the model decides whether the headline is
        kept. Raises ConfigError if a name does not exist, or if a part is both included and excluded.
        """
        included, excluded = _names(include), _names(exclude)
        if included & excluded:
            raise ConfigError(f"{min(included & excluded)} cannot be both included and excluded")
        if headline and headline not in HEADLINES:
            names = ", ".join(HEADLINES)
            raise ConfigError(f"headline must be one of {names}, not {headline!r}{suggest(headline, HEADLINES)}")
        by_name = "always" if "headline" in included else "never" if "headline" in excluded else headline
        if headline and by_name != headline:
            raise ConfigError(f"headline={headline} contradicts the choice of parts; leave one of them out")
        return cls(included - {"headline"}, excluded - {"headline"}, by_name)

    def identity(self) -> dict[str, Any]:
        """Return the choice as plain data."""
        return {"include": sorted(self.included), "exclude": sorted(self.excluded), "headline": self.headline}


DEFAULT_PARTS = Parts()
AS_LABELLED = Parts(defaults=False)
"""All parts as labelled. Used for comparisons with gold standards, because these treat parts differently."""


def _names(names: str | Iterable[str]) -> frozenset[str]:
    entries = [names] if isinstance(names, str) or not isinstance(names, Iterable) else names
    found = frozenset(name.strip() for entry in entries for name in str(entry).split(",") if name.strip())
    for name in sorted(found - PARTS.keys()):
        raise ConfigError(f"unknown part {name!r}{suggest(name, PARTS)}; the parts are {', '.join(PARTS)}")
    return found


def drop_by_default(
    page: CleanPage, parts: Parts, columns: Columns | None = None, trees: RoleTrees | None = None
) -> CleanPage:
    """Return the page without bylines and comments, unless the user wants them.

    Bylines stay if the confidence of the page is low, since an author or a date may be a fact about a book or a job.
    Headings such as "See also" and "3 comments" are dropped if there is no kept text below them, and so are texts that
    the page repeats for screen readers. The lines around these stay whole, because all blocks have labels already.
    Pass the columns of the page and the model's trees for roles if available.
    """
    if not parts.defaults or page.is_empty:
        return page
    drops_bylines = page.confidence is None or page.confidence >= _LEAST_SURE
    bylines: list[int] = []
    comments: list[int] = []
    twins: list[int] = []
    all_kept = kept_flags(page.labels)
    first = 0
    for section in columns_of(page.document, columns):
        is_kept = all_kept[first : first + section.count]
        if drops_bylines:
            bylines += (np.flatnonzero(find_bylines(section, is_kept, is_kept)) + first).tolist()
        if "comments" not in parts.included:
            comments += (np.flatnonzero(find_comments(section, is_kept, is_kept, trees)) + first).tolist()
        twins += [first + number for number in hidden_twins(is_kept, section)]
        first += section.count
    all_kept[[*bylines, *comments, *twins]] = False
    dropped = {*comments, *twins, *_lone_headings(page, np.flatnonzero(all_kept).tolist())}
    if not bylines and not dropped:
        return page
    labels = _relabelled(page.labels, {}, {*bylines, *dropped})
    if "byline" not in parts.included:
        return _with_labels(page, labels)
    return replace(_with_labels(page, _relabelled(page.labels, {}, dropped)), image_labels=labels)


def _lone_headings(page: CleanPage, kept: list[int]) -> Iterator[int]:
    """Yield kept headings of links and comments without kept text below them.

    At the end of the page, any short text with such words counts as a heading, whatever its label is. So does a text
    ending in a colon if its list was dropped.
    """
    labels, texts = page.labels, page.document.texts
    header = Label.HEADER  # accessing an enum member is slow
    for number, following in pairwise(kept):
        is_lone = labels[number] is header and labels[following] is header
        if is_lone and _LONE_HEADING.match(texts[number]):
            blocks = page.document.select([number, following])
            levels = [Segment(Label.HEADER, (block,)).heading_level for block in blocks]
            if levels[1] <= levels[0]:
                yield number
    last = kept[-1] if kept else 0
    is_short = len(texts[last].split(None, _LONE_WORDS)) <= _LONE_WORDS
    is_open = texts[last].endswith(":") and last + 1 < len(texts)
    is_heading = _LONE_HEADING.match(texts[last]) and (is_short or labels[last] is Label.HEADER)
    if len(kept) > 1 and (is_heading or (is_short and is_open)):
        yield last


def choose_parts(
    page: CleanPage, parts: Parts, columns: Columns | None = None, trees: RoleTrees | None = None
) -> CleanPage:
    """Return the page with the parts that the user has chosen.

    All other blocks keep their labels. Images of dropped comments and tables are dropped, and images of added comments
    and captions are added.
    """
    if not (parts.included or parts.excluded or parts.headline):
        return page
    document = page.document
    roles = page.roles
    if not roles and (parts.headline or not ROLES.keys().isdisjoint(parts.included | parts.excluded)):
        roles = assign_roles(document, page.labels, columns, trees)
    dropped = {number for part in parts.excluded & ROLES.keys() for number in _numbers(roles, ROLES[part])}
    added = dict.fromkeys(_additions(page, roles, parts), Label.PARAGRAPH)
    image_labels = _relabelled(
        page.image_labels or page.labels,
        {number: label for number, label in added.items() if roles[number] in {Role.COMMENT, Role.CAPTION}},
        {number for number in dropped if roles[number] is Role.COMMENT},
    )
    headline = _numbers(roles, Role.HEADLINE)
    if parts.headline == "always":
        followed = [number for number in headline if any(label.is_content for label in page.labels[number:])]
        added |= dict.fromkeys(followed, Label.HEADER)
    elif parts.headline == "never" or (parts.headline == "model" and page.content):
        dropped |= {number for number in headline if parts.headline == "never" or not _is_likely(number, page)}
    if "tables" in parts.excluded and document.has_tag("table"):
        elements = document.elements
        tables = [part.element for part in text_parts(page) if isinstance(part, Table)]
        in_tables = {n for table in tables for n in range(elements.first_block[table], elements.stop_block[table])}
        dropped |= in_tables
        image_labels = _relabelled(image_labels, {}, in_tables)
    hidden = set()  # elements inside blocks
    if "images" in parts.excluded and document.has_tag("img"):
        hidden |= {number for number, tag in enumerate(document.elements.tag) if tag == "img"}
    if "notes" in parts.excluded:
        notes = find_notes(document, page.labels, complete=True)
        tag, parent = document.elements.tag, document.elements.parent
        raised = {parent[number] for number in notes.references if tag[parent[number]] == "sup"}
        hidden |= raised | notes.references.keys() | notes.definitions.keys()
        dropped |= set(_empty_headings(page, dropped, notes.blocks.union(_numbers(roles, Role.NOTE))))
    spans: dict[int, Spans] = {}
    if hidden:
        spans = dict(_spans_outside(document, hidden, page))
        dropped |= {number for number, kept in spans.items() if not kept}
    if spans.keys() - dropped:
        old_spans = page.spans or (None,) * len(page.labels)
        page = replace(page, spans=tuple(spans.get(number, old_spans[number]) for number in range(len(old_spans))))
    chosen = _with_labels(page, _relabelled(page.labels, added, dropped))
    return replace(chosen, without=parts.excluded & LEFT_OUT, image_labels=image_labels)


def _with_labels(page: CleanPage, labels: tuple[Label, ...]) -> CleanPage:
    """Return the page with other labels, and their probabilities."""
    probabilities = page.probabilities
    if page.content and probabilities:
        rows = zip(probabilities, page.content, page.labels, labels, strict=True)
        probabilities = tuple(
            old_probability if old.is_content == new.is_content else content if new.is_content else 1 - content
            for old_probability, content, old, new in rows
        )
    return replace(page, labels=labels, probabilities=probabilities)


def _numbers(roles: tuple[Role, ...], wanted: Role) -> list[int]:
    return [number for number, role in enumerate(roles) if role is wanted]


def _additions(page: CleanPage, roles: tuple[Role, ...], parts: Parts) -> set[int]:
    """Return the blocks of included parts that are in or next to the content."""
    kept = [number for number, label in enumerate(page.labels) if label.is_content]
    if not kept:
        return set()
    first, last = kept[0], kept[-1]
    headline = next(iter(_numbers(roles, Role.HEADLINE)), first)
    ranges = {
        "byline": range(len(roles)),
        "tags": range(min(headline, first), last + _AFTER_CONTENT),
        "captions": range(first, last),
        "notes": range(first, len(roles)),
        "comments": range(first, len(roles)),
        "code": range(first, last),
    }
    return {
        number
        for part in parts.included & ranges.keys()
        for number in _numbers(roles, ROLES[part])
        if number in ranges[part] and not _BUTTON.fullmatch(page.document.texts[number])
    }


def _empty_headings(page: CleanPage, dropped: Collection[int], notes: Collection[int]) -> Iterator[int]:
    """Yield the headings of sections that contain notes and no other text."""
    headings = [number for number, label in enumerate(page.labels) if label is Label.HEADER and number not in dropped]
    levels = [Segment(Label.HEADER, (block,)).heading_level for block in page.document.select(headings)]
    kept = [number for number, label in enumerate(page.labels) if label is not Label.OTHER and number not in dropped]
    texts = sorted({*kept}.difference(headings, notes))
    all_notes = sorted(notes)
    open_until: dict[int, int] = {}  # for each level, the next heading of the same or a higher level
    for heading, level in zip(reversed(headings), reversed(levels), strict=True):
        stop = min((number for other, number in open_until.items() if other <= level), default=len(page.labels))
        open_until[level] = heading
        has_text = bisect_left(texts, stop) > bisect_left(texts, heading)
        if not has_text and bisect_left(all_notes, stop) > bisect_left(all_notes, heading):
            yield heading


def _is_likely(number: int, page: CleanPage) -> bool:
    """Whether a block is at least as probable as the least probable kept block (without headings)."""
    others = [
        probability
        for probability, label in zip(page.content, page.labels, strict=True)
        if label.is_content and label is not Label.HEADER
    ]
    return page.content[number] >= min(others, default=0.0)


def _spans_outside(document: Document, hidden: Collection[int], page: CleanPage) -> Iterator[tuple[int, Spans]]:
    """Yield the kept blocks with text inside hidden elements, each with the stretches of text outside them."""
    parent = document.elements.parent
    is_hidden: dict[int, bool] = {-1: False}
    for number in range(len(parent)):
        is_hidden[number] = number in hidden or is_hidden[parent[number]]

    def stretches(block: Block) -> Iterator[tuple[int, int]]:
        old = (page.spans[block.index] if page.spans else None) or ((0, len(block.text)),)
        for piece, text in block.each_piece():
            for old_start, old_stop in () if is_hidden[piece.element] else old:
                start, end = max(piece.start, old_start), min(piece.start + len(text), old_stop)
                if block.text[start:end].strip():
                    yield start, end

    kept = [number for number, label in enumerate(page.labels) if label.is_content]
    for numbers in document.stretches(kept):
        for block in document.select(numbers):
            if any(is_hidden[piece.element] for piece in block.pieces):
                yield block.index, tuple(stretches(block))


def _relabelled(labels: tuple[Label, ...], added: Mapping[int, Label], dropped: Collection[int]) -> tuple[Label, ...]:
    """Return labels with blocks added and dropped.

    If a segment loses its first block, its next block becomes the first.
    """
    result: list[Label] = []
    start: Label | None = None  # label of the segment's first block, if that block was dropped
    continuation, other = Label.CONTINUATION, Label.OTHER
    for number, label in enumerate(labels):
        if number in dropped:
            if label is not continuation and label is not other:
                start = label
            result.append(other)
            continue
        new = added.get(number, label) if label is other else label
        if new is continuation and start is not None:
            new = start
        if new is not other:
            start = None
        result.append(new)
    return tuple(result)
