"""Who wrote what stands on a page."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree

from victorpy.about.metadata.names import after_by, clean_names, names_in_byline
from victorpy.about.metadata.near import LONGEST
from victorpy.about.metadata.page import Candidate, Page, is_around, pieces_of
from victorpy.about.metadata.sites import Site

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
    """The first candidates that have names. A site that names itself as author is believed if there is nobody else."""
    itself: Candidate | None = None
    for names, source in _candidates(page):
        if names and not all(site.is_name(name) for name in names):
            return Candidate("; ".join(names), source)
        if names and itself is None and source != "byline":
            itself = Candidate("; ".join(names), source)
    return itself


def _candidates(page: Page) -> Iterator[Found]:
    """From trustworthy to less.

    What an article's description names as author is made by the system that knows. Meta tags are often those of a
    template, with the site's or a designer's name. Elements marked as author are about others too, a comment's say,
    and what stands behind "By" near the headline is a guess.
    """
    for thing in page.written:
        names = clean_names(thing.texts("author") or thing.texts("creator"))
        yield names[:1] if thing.is_a("discussionforumposting", "question") else names, thing.source
    for name in _META_NAMES:
        yield clean_names(page.meta_tags.get(name, [])), f"meta {name}"
    yield clean_names(_twitter_label(page)), "meta twitter:label"
    if page.is_home:
        return
    yield from _marked(page)
    yield from _behind_by(page)
    yield from _profile_links(page)


def _twitter_label(page: Page) -> list[str]:
    """What is shown below a link to the page, where its label says "Written by"."""
    labels = {number: page.meta_tags.get(f"twitter:label{number}", [""])[0] for number in (1, 2)}
    return [
        value
        for number, label in labels.items()
        if after_by(label) == ""
        for value in page.meta_tags.get(f"twitter:data{number}", [])
    ]


def _marked(page: Page) -> Iterator[Found]:
    """Elements that are said to hold an author: by a relation, a property or the name of their class."""
    marked = [(element, said) for element, said in page.marked if _MARKED.search(said)]
    for name in ("rel", "itemprop"):
        for element, _ in marked:
            if "author" in (element.get(name) or "") and not _is_of_comment(element):
                yield names_in_byline(pieces_of(element), handles=True), f"{name} author"
    for element, said in marked:
        pieces = pieces_of(element)
        if sum(map(len, pieces)) <= LONGEST and not is_around(element):
            yield names_in_byline(pieces, handles=bool(_HANDLES.search(said))), "byline"


def _is_of_comment(element: etree._Element) -> bool:
    return any(_COMMENT.search(f"{node.get('class')} {node.get('id')}") for node in (element, *element.iterancestors()))


def _behind_by(page: Page) -> Iterator[Found]:
    """Texts near the headline that begin with "By", or follow one that is no more than that."""
    for line in page.lines:
        rest = after_by(line.text)
        if rest:
            yield names_in_byline([rest]), "headline"
        elif after_by(line.before) == "":
            yield names_in_byline([line.text]), "headline"


def _profile_links(page: Page) -> Iterator[Found]:
    """Links near the headline that lead to a person's page."""
    for line in page.lines:
        link = next(line.element.iterancestors("a"), line.element)
        if link.tag == "a" and _PROFILE.search(link.get("href") or ""):
            yield names_in_byline([line.text]), "headline"
