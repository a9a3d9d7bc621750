"""Show a site's style tree: which parts the site repeats, and which are specific to single pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from victorpy.errors import plural
from victorpy.research.report.base import html_page, text
from victorpy.sites.importance import Judgement
from victorpy.sites.style_tree import ElementNode, StyleTree

MOST_CHILDREN = 60  # maximum number of children shown below an element; the rest are only counted
OPEN_LEVELS = 14  # number of levels that are open initially
EXAMPLES = 8  # number of words shown for a leaf

_SIGNS = {"noise": "-", "content": "+", "mixed": " "}
_STYLE = """
.tree details, .tree .leaf { margin-left: 1.2em; }
.tree summary, .tree .leaf { padding: 1px 4px; border-left: 5px solid transparent; margin-bottom: 1px; }
.tree code { font-weight: 600; }
.tree .noise code { text-decoration: line-through; }
.tree .facts { color: #556; font-size: 85%; }
.tree .words { color: #667; font-style: italic; }
""" + "".join(
    f".tree .i{step} {{ border-left-color: hsl({step * 12}, 60%, 48%); background: hsl({step * 12}, 55%, 95%); }}\n"
    for step in range(11)
)


class _Row(NamedTuple):
    """A line of the tree: an element, or the text of an element on the pages where it is a leaf."""

    name: str
    importance: float
    mark: str  # noise, content or mixed
    pages: int
    facts: str
    words: str = ""  # for a leaf, the words on most pages
    below: tuple[_Row, ...] = ()
    hidden: int = 0  # number of children that are not shown


def as_text(tree: StyleTree, judgement: Judgement, full: bool) -> str:
    """Format the tree as indented lines: all of it, or the simplified tree."""

    def lines(row: _Row, depth: int) -> Iterator[str]:
        facts = f"{_SIGNS[row.mark]} {row.importance:.2f} {row.pages:>5}"
        yield f"{facts}  {'  ' * depth}{row.name[:70]}  {row.words}".rstrip()
        for inner in row.below:
            yield from lines(inner, depth + 1)
        if row.hidden:
            yield f"  {'':>10}  {'  ' * (depth + 1)}... {row.hidden} more"

    return "\n".join(lines(_row(tree.root, judgement, full), 0)) + "\n"


def as_html(tree: StyleTree, judgement: Judgement, title: str, full: bool) -> str:
    """Format the tree as a page in which branches open and close, coloured by importance from red to green."""

    def draw(row: _Row, depth: int) -> str:
        colour = f"i{min(int(row.importance * 10 + 0.5), 10)}"
        label = f'<code>{text(row.name[:120])}</code> <span class="facts">{row.facts}</span>'
        if not row.below:
            label += f' <span class="words">{text(row.words)}</span>' if row.words else ""
            return f'<div class="leaf {colour} {row.mark}">{label}</div>\n'
        below = "".join(draw(inner, depth + 1) for inner in row.below)
        below += f'<div class="leaf">... {row.hidden} more</div>' if row.hidden else ""
        is_open = " open" if depth < OPEN_LEVELS else ""
        return f'<details{is_open}><summary class="{colour}">{label}</summary>{below}</details>\n'

    note = (
        "Red is repeated by the site, green is specific to single pages. Numbers: composite importance, importance "
        "of the node's own styles, number of pages that have it, number of styles. A branch that does not open is "
        "noise or content as a whole; noise is struck through. Words in brackets are on every page, and parts of a "
        "block that consist of them are deleted."
    )
    tree_html = draw(_row(tree.root, judgement, full), 0)
    body = f'<h1>{text(title)}</h1><p class="note">{text(note)}</p><div class="tree">{tree_html}</div>'
    return html_page(title, body, style=_STYLE)


def _row(element: ElementNode, judgement: Judgement, full: bool) -> _Row:
    """Return an element's line with the lines below. The simplified tree (3.4) ends at maximal nodes of one mark."""
    judged = judgement.of(element)
    mark = "noise" if judged.noisy else "content" if judged.meaningful else "mixed"
    numbers = f"{judged.composite:.2f} · {judged.node:.2f} · {element.page_count} pages"
    facts = f"{numbers} · {plural(len(element.styles), 'style')} · {mark}"
    row = _Row(_name(element), judged.composite, mark, element.page_count, facts)
    children = element.children() if mark == "mixed" or full else []
    if not children:
        first_leaf = next((node for node in element.walk() if node.content is not None and node.content.sums), None)
        return row._replace(words=_words(first_leaf, judgement) if first_leaf is not None else "")
    children.sort(key=lambda child: -child.page_count)
    below = [_row(child, judgement, full) for child in children[:MOST_CHILDREN]]
    if element.content is not None:  # on some pages, the element contains text only
        pages, mark = element.content.page_count, "noise" if judged.leaf <= judgement.t else "content"
        facts = f"{judged.leaf:.2f} · {pages} pages · {mark}"
        below.insert(0, _Row("#text", judged.leaf, mark, pages, facts, _words(element, judgement)))
    return row._replace(below=tuple(below), hidden=max(len(children) - MOST_CHILDREN, 0))


def _name(element: ElementNode) -> str:
    return f"{element.tag} {element.display}".strip() if element.tag != "#root" else "site"


def _words(leaf: ElementNode, judgement: Judgement) -> str:
    """Return the words that most pages have at a leaf. In a kept leaf, deleted words are in brackets."""
    content, judged = leaf.content, judgement.of(leaf)
    assert content is not None
    words = [feature for feature in content.sums if " " not in feature]
    words.sort(key=lambda word: -content.pages_with(word))
    if judged.leaf <= judgement.t:
        return " ".join(words[:EXAMPLES])
    deleted = [word for word in words if word in judged.repeated][: EXAMPLES // 2]
    kept = [word for word in words if word not in judged.repeated][: EXAMPLES - len(deleted)]
    return " ".join([f"[{' '.join(deleted)}]", *kept] if deleted else kept)
