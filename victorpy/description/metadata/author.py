"""Find the author of a page."""

from __future__ import annotations

import re
from collections.abc import Iterator

from victorpy.description.metadata.names import after_by, clean_names, names_in_byline
from victorpy.description.metadata.page import LONGEST_LINE, Candidate, Page, is_around, pieces_of
from victorpy.description.metadata.sites import Site

_META_NAMES = tuple(
    """
    author article:author citation_author dc.creator dcterms.creator dc.creator.author parsely-author sailthru.author
    byl article:author_name og:article:author authors cxenseparse:author
    """.split()
)
_MARKED = re.compile("author|byline|username|writer")
_HANDLES = re.compile("username|nickname|author")
_COMMENT = re.compile(r"comment|related|recommend|footer|sidebar", re.IGNORECASE)
_PROFILE = re.compile(
    r"/(?:authors?|contributors?|people|team|profiles?|users?|staff|by|writers?|autor)/", re.IGNORECASE
)

Found = tuple[list[str], str]
"""Names, and where they were found."""


def find_author(page: Page, site: Site) -> Candidate | None:
    """Return the most trustworthy names. The site itself is accepted as author only if there is nobody else."""
    itself: Candidate | None = None
    for names, source in _candidates(page):
        if names and not all(site.is_name(name) for name in names):
            return Candidate("; ".join(names), source)
        if names and itself is None and source != "byline":
            itself = Candidate("; ".join(names), source)
    return itself


def _candidates(page: Page) -> Iterator[Found]:
    """Yield candidates, most trustworthy first.

    The author in an article's structured data comes from the publishing system. Meta tags often come from a template,
    with the name of the site or a designer. Elements marked as author may belong to others, such as readers who
    comment, and a text after "By" near the headline is a guess.
    """
    for thing in page.written:
        names = clean_names(thing.texts("author") or thing.texts("creator"))
        yield names[:1] if thing.is_a("discussionforumposting", "question") else names, thing.source
    for name in _META_NAMES:
        yield clean_names(page.meta_tags.get(name, [])), f"meta {name}"
    for number in (1, 2):  # the lines below a shared link
        if after_by(page.meta_tags.get(f"twitter:label{number}", [""])[0]) == "":
            yield clean_names(page.meta_tags.get(f"twitter:data{number}", [])), "meta twitter:label"
    if page.is_home:
        return
    yield from _marked(page)
    for line in page.lines:
        rest = after_by(line.text)
        if rest:
            yield names_in_byline([rest]), "headline"
        elif after_by(line.previous) == "":
            yield names_in_byline([line.text]), "headline"
    for line in page.lines:
        link = next(line.element.iterancestors("a"), line.element)
        if link.tag == "a" and _PROFILE.search(link.get("href") or ""):
            yield names_in_byline([line.text]), "headline"


def _marked(page: Page) -> Iterator[Found]:
    """Yield the names in elements marked as author by a relation, a property or the name of a class."""
    marked = [(element, names) for element, names in page.marked if _MARKED.search(names)]
    for attribute in ("rel", "itemprop"):
        for element, _ in marked:
            if "author" not in (element.get(attribute) or ""):
                continue
            around = (element, *element.iterancestors())
            if not any(_COMMENT.search(f"{node.get('class')} {node.get('id')}") for node in around):
                yield names_in_byline(pieces_of(element), handles=True), f"{attribute} author"
    for element, names in marked:
        pieces = pieces_of(element)
        if sum(map(len, pieces)) <= LONGEST_LINE and not is_around(element):
            yield names_in_byline(pieces, handles=bool(_HANDLES.search(names))), "byline"
