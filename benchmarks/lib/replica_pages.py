"""A test collection for replicas, made of gold pages: the same content in other templates, other content in the same.

The gold standard says what the content of a page is. It is cut out with its markup, and replaces the content of another
page.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.lib.pages import read_pages
from victorpy.config import load_config
from victorpy.document import Block, Document
from victorpy.errors import VictorError
from victorpy.methods import CONFIG
from victorpy.page.markup import TagWriter, escape
from victorpy.research.gold import LabelledPage, label_page

SEED = 8
FEWEST_WORDS = 100  # a page with less content has no clear topic

LONG_WORDS = 30  # a block of this many words is not a label, link or notice, but a text that somebody wrote
MOST_OTHERS = 0.2  # maximum amount of such text outside the content, as a share of the content
MOST_SHARED = 0.1  # two contents may have this share of their runs of words in common, relative to the shorter one
RUN = 4  # words in a run
TOPIC_TYPES = frozenset({"article", "documentation", "service", "product"})

# Elements that contain whole articles. Content goes into the innermost of them around the content that it replaces.
HOLDERS = frozenset("html body main article section div td center form".split())


class Collection(NamedTuple):
    """Three sets as in the paper; pages with the same number belong together."""

    base: list[str]
    near: list[str]  # the content of the base page in another page's template: a replica
    non: list[str]  # another page's content in the template of the base page: no replica


def topic_pages(specs: Sequence[str], most: int | None = None, seed: int = SEED) -> list[LabelledPage]:
    """Draw pages with a topic and a real template at random, each different from all others."""
    config = load_config(CONFIG)
    sampled = list(read_pages(specs, 1))
    random.Random(seed).shuffle(sampled)
    chosen: list[LabelledPage] = []
    seen: dict[str, list[set[str]]] = {}
    for sample in sampled:
        try:
            page = label_page(sample.gold, sample.data, config)
        except VictorError:
            continue
        if _has_topic(page) and _is_new(page, seen):
            chosen.append(page)
        if most is not None and len(chosen) == most:
            break
    return chosen


def _has_topic(page: LabelledPage) -> bool:
    """Whether a page has enough content, and a template rather than other texts around it.

    Readers' comments and other articles do not belong to a template: a cleaner may well keep them. A page with many of
    them has more text than its gold, so pages made from it would get wrong labels.
    """
    content = sum(map(word_count, _content(page)))
    others = sum(count for block in noise(page) if (count := word_count(block)) >= LONG_WORDS)
    return page.page_type in TOPIC_TYPES and content >= FEWEST_WORDS and others <= MOST_OTHERS * content


def _is_new(page: LabelledPage, seen: dict[str, list[set[str]]]) -> bool:
    """Whether no earlier page has this content, by exact counting: sets of news have some articles twice."""
    words = " ".join(block.text for block in _content(page)).lower().split()
    shingles = {" ".join(words[at : at + RUN]) for at in range(max(len(words) - RUN + 1, 1))}
    others = {id(other): other for shingle in shingles for other in seen.get(shingle, [])}.values()
    if any(len(shingles & other) > MOST_SHARED * min(len(shingles), len(other)) for other in others):
        return False
    for shingle in shingles:
        seen.setdefault(shingle, []).append(shingles)
    return True


def make_collection(pages: Sequence[LabelledPage], size: int, seed: int = SEED) -> Collection:
    """Choose base pages, and for each a page of another site as template and a third one as other content.

    No page is used in two of these roles.
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
    """Return the content of one page in the place of another's, as HTML."""
    return page_with(fragment(page), template)


def page_with(content: str, template: LabelledPage) -> str:
    """Return a page with its content replaced, as HTML."""
    writer = TagWriter(template.document)
    parts = []
    place = max(_content(template), key=word_count)  # not the first: that may be a stray match in a menu
    for block, label in zip(template.document.blocks, template.labels, strict=True):
        for number, (piece, text) in enumerate(block.each_piece()):
            tags = piece.distance
            if block is place and not number:
                cut = _innermost_holder(tags)
                parts += [writer.write(tags[:cut]), content, writer.write(tags[cut:])]
                continue
            parts += [writer.write(tags), " " if block.spaced and not number else ""]
            if not label.is_content and not (tags and tags[-1] == "img"):
                parts.append(escape(text))
    return "".join(parts) + writer.write(template.document.trailing)


def _innermost_holder(tags: Sequence[str]) -> int:
    """Return the position after the last tag that is closing or in HOLDERS."""
    at = len(tags)
    while at and not tags[at - 1].startswith("/") and tags[at - 1] not in HOLDERS:
        at -= 1
    return at


def fragment(page: LabelledPage) -> str:
    """Return a page's content in its own markup, without the elements that are around all of it."""
    elements = page.document.elements
    content = _content(page)
    path = _shared_path(page.document, content)
    outside = len(path)
    open_now: list[int] = list(path)
    parts = []
    for block in content:
        for piece, text in block.each_piece():
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
    """Return the blocks that are not content by the gold standard."""
    return [block for block, label in zip(page.document.blocks, page.labels, strict=True) if not label.is_content]


def word_count(block: Block) -> int:
    """Return the number of words of a block."""
    return len(block.text.split())


def _shared_path(document: Document, blocks: Sequence[Block]) -> list[int]:
    """Return the elements around all of the blocks."""
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
    """Return the number of elements that two paths have in common at their beginning."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def write_pages(collection: Collection, directory: Path) -> None:
    """Write the pages as files for inspection."""
    for name, pages in collection._asdict().items():
        (directory / name).mkdir(parents=True, exist_ok=True)
        for number, page in enumerate(pages):
            (directory / name / f"{number:04d}.html").write_text(page, encoding="utf-8", errors="replace")
