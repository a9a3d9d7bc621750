"""A test collection for replicas, made of gold pages: the same content in other templates, other content in the same.

The content of a page, which its gold names, is taken out with the markup that it stands in, and put in the place of the
content of another page.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from pages import read_pages

from victorpy.config import load_config
from victorpy.document import Block, Document
from victorpy.errors import VictorError
from victorpy.gold import LabelledPage, label_page
from victorpy.markup import TagWriter, escape, pieces
from victorpy.methods import CONFIG
from victorpy.replicas.minhash import MinHash

SEED = 8
FEWEST_WORDS = 100
"""Of content: a page with fewer has no topic to speak of."""

LONG_WORDS = 30
"""A block of so many words is no label, link or notice, but somebody's text."""
MOST_OTHERS = 0.2
"""So much of such text, measured by the content, may be on a page beside its content."""
MOST_SHARED = 0.1
"""So much of the runs of words of the shorter of two contents may be in the other."""
TOPIC_TYPES = frozenset({"article", "documentation", "service", "product"})

# Elements that whole articles stand in. Content is put into the innermost of them around the content that it replaces.
HOLDERS = frozenset("html body main article section div td center form".split())


class Collection(NamedTuple):
    """Three sets as in the paper; pages with the same number belong together."""

    base: list[str]
    near: list[str]
    """The content of the base page in another page's template: a replica."""
    non: list[str]
    """Another page's content in the template of the base page: no replica."""


def topic_pages(specs: Sequence[str], most: int | None = None, seed: int = SEED) -> list[LabelledPage]:
    """Pages with a topic whose template is one, drawn at random, each different from all others."""
    config = load_config(CONFIG)
    sampled = list(read_pages(specs, 1))
    random.Random(seed).shuffle(sampled)
    found: list[LabelledPage] = []
    seen: dict[str, list[set[str]]] = {}
    for each in sampled:
        try:
            page = label_page(each.gold, each.data, config)
        except VictorError:
            continue
        if _has_topic(page) and _is_new(page, seen):
            found.append(page)
        if most is not None and len(found) == most:
            break
    return found


def _has_topic(page: LabelledPage) -> bool:
    """Whether a page has content enough, and beside it a template rather than texts of others.

    Readers' comments and other articles are no noise of a template: a cleaner may well keep them. Where they have many
    words, the page says more than its gold does, and no two pages made of it would be what they are taken for.
    """
    content = sum(map(word_count, _content(page)))
    others = sum(count for block in noise(page) if (count := word_count(block)) >= LONG_WORDS)
    return page.page_type in TOPIC_TYPES and content >= FEWEST_WORDS and others <= MOST_OTHERS * content


def _is_new(page: LabelledPage, seen: dict[str, list[set[str]]]) -> bool:
    """Whether no page before has this content, by exact counting: sets of news hold some articles twice."""
    shingles = MinHash(shingle=4).shingles(content_text(page).lower().split())
    others = {id(other): other for shingle in shingles for other in seen.get(shingle, [])}.values()
    if any(len(shingles & other) > MOST_SHARED * min(len(shingles), len(other)) for other in others):
        return False
    for shingle in shingles:
        seen.setdefault(shingle, []).append(shingles)
    return True


def content_text(page: LabelledPage) -> str:
    """The text of the blocks that the gold calls content."""
    return "\n".join(block.text for block in _content(page))


def make_collection(pages: Sequence[LabelledPage], size: int, seed: int = SEED) -> Collection:
    """Choose base pages, and for each a page of another site as template and a third as other content.

    No page has two parts: what is other content or another template here is not a base page there.
    """
    chosen = random.Random(seed).sample(list(pages), len(pages))
    size = min(size, len(chosen) // 3)
    base, templates, others = chosen[:size], chosen[size : 2 * size], chosen[2 * size : 3 * size]
    for number, page in enumerate(base):  # the template is of another site
        if templates[number].site == page.site:
            other = next(at for at in range(size) if page.site not in {templates[at].site, base[at].site})
            templates[number], templates[other] = templates[other], templates[number]
    return Collection(
        [transplant(page, page) for page in base],
        [transplant(page, template) for page, template in zip(base, templates, strict=True)],
        [transplant(other, page) for page, other in zip(base, others, strict=True)],
    )


def transplant(page: LabelledPage, template: LabelledPage) -> str:
    """The content of one page in the place of another's, as HTML."""
    return page_with(fragment(page), template)


def page_with(content: str, template: LabelledPage) -> str:
    """A page whose own content has been replaced by this, as HTML."""
    writer = TagWriter(template.document)
    parts = []
    place = max(_content(template), key=word_count)  # not the first: that may be a stray match in a menu
    for block, label in zip(template.document.blocks, template.labels, strict=True):
        for number, (tags, text) in enumerate(pieces(block)):
            if block is place and not number:
                cut = _innermost_holder(tags)
                parts += [writer.write(tags[:cut]), content, writer.write(tags[cut:])]
                continue
            parts += [writer.write(tags), " " if block.spaced and not number else ""]
            if not label.is_content and not (tags and tags[-1] == "img"):
                parts.append(escape(text))
    return "".join(parts) + writer.write(template.document.trailing)


def _innermost_holder(tags: Sequence[str]) -> int:
    """Where in the tags before a text the elements end that hold whole articles."""
    at = len(tags)
    while at and not tags[at - 1].startswith("/") and tags[at - 1] not in HOLDERS:
        at -= 1
    return at


def fragment(page: LabelledPage) -> str:
    """A page's content in its own markup: the elements around each text, from the one around all of them down."""
    elements = page.document.elements
    content = _content(page)
    path = _shared_path(page.document, content)
    outside = len(path)
    open_now: list[int] = list(path)
    parts = []
    for block in content:
        for piece, (_, text) in zip(block.pieces, pieces(block), strict=True):
            wanted = _path(page.document, piece.element)
            shared = max(_shared(open_now, wanted), outside)
            parts += [f"</{elements.tag[element]}>" for element in reversed(open_now[shared:])]
            for element in wanted[shared:]:
                written = "".join(f' {name}="{escape(value)}"' for name, value in elements.attributes[element].items())
                parts.append(f"<{elements.tag[element]}{written}>")
            if elements.tag[piece.element] != "img":
                parts.append((" " if block.spaced and piece is block.pieces[0] else "") + escape(text))
            open_now = wanted
    parts += [f"</{elements.tag[element]}>" for element in reversed(open_now[outside:])]
    return "<div>" + "".join(parts) + "</div>"


def _content(page: LabelledPage) -> list[Block]:
    return [block for block, label in zip(page.document.blocks, page.labels, strict=True) if label.is_content]


def noise(page: LabelledPage) -> list[Block]:
    """The blocks that the gold does not call content."""
    return [block for block, label in zip(page.document.blocks, page.labels, strict=True) if not label.is_content]


def word_count(block: Block) -> int:
    """How many words a block has."""
    return len(block.text.split())


def _shared_path(document: Document, blocks: Sequence[Block]) -> list[int]:
    """The elements around all of the blocks."""
    path = _path(document, blocks[0].element)
    for block in blocks:
        path = path[: _shared(path, _path(document, block.element))]
    return path


def _path(document: Document, element: int) -> list[int]:
    path: list[int] = []
    while element >= 0:
        path.append(element)
        element = document.elements.parent[element]
    return path[::-1]


def _shared(one: Sequence[int], other: Sequence[int]) -> int:
    """How many elements two paths begin with in common."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def write_pages(collection: Collection, directory: Path) -> None:
    """Write the pages as files, to be looked at."""
    for name, pages in collection._asdict().items():
        (directory / name).mkdir(parents=True, exist_ok=True)
        for number, page in enumerate(pages):
            (directory / name / f"{number:04d}.html").write_text(page, encoding="utf-8", errors="replace")
