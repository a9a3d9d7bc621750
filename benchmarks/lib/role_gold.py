"""Read what gold standards say about the roles of blocks."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from difflib import SequenceMatcher
from pathlib import Path
from typing import NamedTuple

from victorpy.base.words import aligned_words
from victorpy.cleaner import read_document
from victorpy.config import Config
from victorpy.description.metadata.dates import read_date
from victorpy.document import HEADINGS, Document, Role
from victorpy.page.decode import decode
from victorpy.research.align import Gold, align
from victorpy.research.datasets import GoldPage

L3S = {"1": Role.HEADLINE, "4": Role.RELATED, "5": Role.COMMENT}
LONGEST_BYLINE = 12  # words
NEAR_HEADLINE = 15  # blocks
BESIDE = 2  # blocks so close to an author or a date may belong to the byline: "By", a job title, a reading time


class GoldRole(NamedTuple):
    """The blocks of a role."""

    blocks: set[int]
    unknown: frozenset[int] = frozenset()
    """Blocks that may or may not have the role. They are not scored."""


def roles_of_l3s(page: GoldPage, document: Document, directory: Path, config: Config) -> dict[Role, GoldRole]:
    """Find the words of the annotated page in the original page. Only the first headline counts."""
    marked = read_document((directory / "annotated" / f"{page.name}.html").read_bytes(), config)
    elements = marked.elements
    role_of_word: list[Role | None] = []
    words: list[str] = []
    for block in marked.blocks:
        element = block.pieces[0].element
        while element >= 0 and "x-nc-sel" not in elements.attributes[element].get("class", ""):
            element = elements.parent[element]
        name = elements.attributes[element].get("class", "") if element >= 0 else ""
        own = aligned_words(block.text)
        words += own
        role_of_word += [L3S.get(name.partition("x-nc-sel")[2][:1])] * len(own)
    own_words = [aligned_words(text) for text in document.texts]
    block_of_word = [number for number, own in enumerate(own_words) for _ in own]
    votes: dict[int, Counter[Role | None]] = defaultdict(Counter)
    matcher = SequenceMatcher(None, words, [word for own in own_words for word in own], autojunk=False)
    for first, other, count in matcher.get_matching_blocks():
        for offset in range(count):
            votes[block_of_word[other + offset]][role_of_word[first + offset]] += 1
    found: dict[Role | None, set[int]] = defaultdict(set)
    for number, counts in votes.items():
        found[counts.most_common(1)[0][0]].add(number)
    headlines = sorted(found[Role.HEADLINE])
    gold = {role: GoldRole(found[role]) for role in (Role.RELATED, Role.COMMENT)}
    return gold | ({Role.HEADLINE: GoldRole({*headlines[:1]}, frozenset(headlines[1:]))} if headlines else {})


def roles_of_dragnet(page: GoldPage, document: Document, directory: Path, config: Config) -> dict[Role, GoldRole]:
    """Align the comments of a page with its blocks."""
    text = decode((directory / "Corrected" / f"{page.name}.html.corrected.txt").read_bytes()).text
    article, _, comments = text.partition("!@#$%^&*()  COMMENTS")
    of_article = align(document, [Gold(article)], config.cuts.block_level)
    labels = of_article
    if comments.strip():
        labels = align(document, [Gold(article), Gold(comments)], config.cuts.block_level)
    pairs = zip(labels, of_article, strict=True)
    return {
        Role.COMMENT: GoldRole({n for n, (both, own) in enumerate(pairs) if both.is_content and not own.is_content})
    }


def roles_of_wcxb(page: GoldPage, document: Document, directory: Path, config: Config) -> dict[Role, GoldRole]:
    """Find the heading with the title, and the short blocks near it that contain the author or the date.

    Pages where no block is equal to the title say nothing about headlines and bylines.
    """
    path = next(directory.glob(f"**/ground-truth/{page.name}.json"))
    truth = json.loads(path.read_bytes())["ground_truth"]
    title, author, date = (aligned_words(truth.get(name) or "") for name in ("title", "author", "publish_date"))
    words = [aligned_words(text) for text in document.texts]
    tags = document.elements.tag
    is_image = [tags[block.element] == "img" if block.element >= 0 else False for block in document.blocks]
    equal = [number for number, own in enumerate(words) if own and own == title and not is_image[number]]
    if not equal:
        return {}
    headline = max(equal, key=lambda number: (*_heading_rank(document, number), -number))
    gold = {Role.HEADLINE: GoldRole({headline}, frozenset(equal) - {headline})}
    short = [number for number, own in enumerate(words) if 0 < len(own) <= LONGEST_BYLINE and not is_image[number]]
    day = "-".join(date)
    named = {number for number in short if author and " ".join(author) in " ".join(words[number])}
    named |= {number for number in short if day and str(read_date(document.texts[number])) == day}
    bylines = {number for number in named if abs(number - headline) <= NEAR_HEADLINE}
    if bylines:
        beside = {number for number in short if any(abs(number - other) <= BESIDE for other in bylines)}
        gold[Role.BYLINE] = GoldRole(bylines, frozenset((named | beside) - bylines))
    return gold


def _heading_rank(document: Document, number: int) -> tuple[bool, bool]:
    around = {*document.blocks[number].containers}
    return "h1" in around, bool(HEADINGS & around)


READERS = {"l3s": roles_of_l3s, "dragnet": roles_of_dragnet, "wcxb": roles_of_wcxb}
