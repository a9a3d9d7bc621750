"""Show a site's style tree: what the site repeats, and what is specific to single pages."""

from __future__ import annotations

from collections.abc import Iterator

from victorpy.errors import plural
from victorpy.research.report.base import html_page, text
from victorpy.sites.importance import Judged, Judgement
from victorpy.sites.style_tree import ElementNode, StyleTree

MOST_CHILDREN = 60  # maximum number of children shown below an element; further ones are only counted
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


def as_text(tree: StyleTree, judgement: Judgement, full: bool = False) -> str:
    """Format the tree as indented lines: all of it, or the simplified tree."""

    def lines(element: ElementNode, depth: int) -> Iterator[str]:
        importance = judgement.of(element)
        children, hidden = _children(element, importance, full)
        words = "" if children else f"  {_words(element, judgement)}"
        facts = f"{_SIGNS[_mark(importance)]} {importance.composite:.2f} {element.page_count:>5}"
        yield f"{facts}  {'  ' * depth}{_name(element)[:70]}{words}".rstrip()
        content = element.content if children else None
        if content is not None:  # some pages have text here instead of elements
            facts = f"{_SIGNS[_content_mark(importance, judgement.t)]} {importance.leaf:.2f} {content.page_count:>5}"
            yield f"{facts}  {'  ' * (depth + 1)}#text  {_content_words(element, judgement)}".rstrip()
        for child in children:
            yield from lines(child, depth + 1)
        if hidden:
            yield f"  {'':>10}  {'  ' * (depth + 1)}... {hidden} more"

    return "\n".join(lines(tree.root, 0)) + "\n"


def as_html(tree: StyleTree, judgement: Judgement, title: str, full: bool = False) -> str:
    """Format the tree as a page in which branches open and close, coloured by importance from red to green."""

    def draw(element: ElementNode, depth: int) -> str:
        importance = judgement.of(element)
        children, hidden = _children(element, importance, full)
        colour, mark = f"i{min(int(importance.composite * 10 + 0.5), 10)}", _mark(importance)
        numbers = f"{importance.composite:.2f} · {importance.node:.2f}"
        facts = f"{numbers} · {element.page_count} pages · {plural(len(element.styles), 'style')} · {mark}"
        label = f'<code>{text(_name(element)[:120])}</code> <span class="facts">{facts}</span>'
        if not children:
            words = _words(element, judgement)
            label += f' <span class="words">{text(words)}</span>' if words else ""
            return f'<div class="leaf {colour} {mark}">{label}</div>\n'
        below = ""
        if element.content is not None:  # some pages have text here instead of elements
            mark = _content_mark(importance, judgement.t)
            facts = f"{importance.leaf:.2f} · {element.content.page_count} pages · {mark}"
            words = f'<span class="words">{text(_content_words(element, judgement))}</span>'
            colour_of_text = f"i{min(int(importance.leaf * 10 + 0.5), 10)}"
            label_of_text = f'<code>#text</code> <span class="facts">{facts}</span> {words}'
            below = f'<div class="leaf {colour_of_text} {mark}">{label_of_text}</div>\n'
        below += "".join(draw(child, depth + 1) for child in children)
        below += f'<div class="leaf">... {hidden} more</div>' if hidden else ""
        is_open = " open" if depth < OPEN_LEVELS else ""
        return f'<details{is_open}><summary class="{colour}">{label}</summary>{below}</details>\n'

    note = (
        "Red is repeated by the site, green is specific to single pages. Numbers: composite importance, importance "
        "of the node's own styles, number of pages that have it, number of styles. A branch that does not open is "
        "noise or content as a whole; noise is struck through. Words in brackets are on every page, and parts of a "
        "block that consist of them are deleted."
    )
    body = f'<h1>{text(title)}</h1><p class="note">{text(note)}</p><div class="tree">{draw(tree.root, 0)}</div>'
    return html_page(title, body, style=_STYLE)


def _children(element: ElementNode, importance: Judged, full: bool) -> tuple[list[ElementNode], int]:
    """Return the children that are shown, and the number of those that are not.

    The simplified tree (3.4) ends at maximal noisy and meaningful nodes.
    """
    if (importance.noisy or importance.meaningful) and not full:
        return [], 0
    children = sorted(element.children(), key=lambda child: -child.page_count)
    return children[:MOST_CHILDREN], max(len(children) - MOST_CHILDREN, 0)


def _content_mark(importance: Judged, t: float) -> str:
    return "noise" if importance.leaf <= t else "content"


def _mark(importance: Judged) -> str:
    return "noise" if importance.noisy else "content" if importance.meaningful else "mixed"


def _name(element: ElementNode) -> str:
    return f"{element.tag} {element.display}".strip() if element.tag != "#root" else "site"


def _words(element: ElementNode, judgement: Judgement) -> str:
    """Return the words that most pages have at the first leaf below an element."""
    leaves = (node for node in element.walk() if node.content is not None and node.content.sums)
    first = next(leaves, None)
    return "" if first is None else _content_words(first, judgement)


def _content_words(element: ElementNode, judgement: Judgement) -> str:
    """Return the words that most pages have at a leaf. In a leaf that is kept, deleted words are in brackets."""
    content, judged = element.content, judgement.of(element)
    assert content is not None
    words = [feature for feature in content.sums if " " not in feature]
    words.sort(key=lambda word: -content.pages_with(word))
    if judged.leaf <= judgement.t:
        return " ".join(words[:EXAMPLES])
    deleted = [word for word in words if word in judged.repeated][: EXAMPLES // 2]
    kept = [word for word in words if word not in judged.repeated][: EXAMPLES - len(deleted)]
    return " ".join([f"[{' '.join(deleted)}]", *kept] if deleted else kept)
