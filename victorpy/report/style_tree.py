"""A site's style tree drawn for a person: what the site repeats, and what only single pages say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from victorpy.report.shell import page, text
from victorpy.sites.importance import Judgement
from victorpy.sites.style_tree import ElementNode, StyleTree

MOST_CHILDREN = 60
"""Further children of an element are only counted."""
OPEN_LEVELS = 14
"""How deep the tree is open at first."""
EXAMPLES = 8
"""Words shown of what pages say at a leaf."""

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


@dataclass(frozen=True, slots=True)
class Branch:
    """An element node as it is shown."""

    name: str
    pages: int
    styles: int
    node: float
    composite: float
    mark: str
    words: str
    children: tuple[Branch, ...]
    hidden: int
    """How many children are not shown."""


def branches(tree: StyleTree, judgement: Judgement, full: bool = False) -> Branch:
    """Return what is drawn: the simplified tree (3.4), which ends at maximal noisy and meaningful nodes, or all."""

    def branch(element: ElementNode) -> Branch:
        importance = judgement.of(element)
        is_end = (importance.noisy or importance.meaningful) and not full
        children = [] if is_end else sorted(element.children(), key=lambda child: -child.page_count)
        return Branch(
            f"{element.tag} {element.display}".strip() if element.tag != "#root" else "site",
            element.page_count,
            len(element.styles),
            importance.node,
            importance.composite,
            "noise" if importance.noisy else "content" if importance.meaningful else "mixed",
            _words(element),
            tuple(map(branch, children[:MOST_CHILDREN])),
            max(len(children) - MOST_CHILDREN, 0),
        )

    return branch(tree.root)


def _words(element: ElementNode) -> str:
    """Return what most pages say at the first leaf below an element."""
    for node in element.walk():
        if node.content is not None and node.content.sums:
            sums = node.content.sums
            words = [feature for feature in sums if " " not in feature]
            words.sort(key=lambda word: -int(sums[word][0]).bit_count())
            return " ".join(words[:EXAMPLES])
    return ""


def as_text(root: Branch) -> str:
    """Write the tree as indented lines."""

    def lines(branch: Branch, depth: int) -> Iterator[str]:
        words = "" if branch.children else f"  {branch.words}"
        facts = f"{_SIGNS[branch.mark]} {branch.composite:.2f} {branch.pages:>5}"
        yield f"{facts}  {'  ' * depth}{branch.name[:70]}{words}".rstrip()
        for child in branch.children:
            yield from lines(child, depth + 1)
        if branch.hidden:
            yield f"  {'':>10}  {'  ' * (depth + 1)}... {branch.hidden} more"

    return "\n".join(lines(root, 0)) + "\n"


def as_html(root: Branch, title: str) -> str:
    """Write the tree as a page in which branches open and close, coloured by importance from red to green."""
    note = (
        "Red is what the site repeats, green what its pages say of their own. Numbers: composite importance, "
        "importance of the node's own styles, pages that have it, styles. A branch that does not open is noise or "
        "content as a whole; noise is struck through."
    )
    body = f'<h1>{text(title)}</h1><p class="note">{text(note)}</p><div class="tree">{_html(root, 0)}</div>'
    return page(title, body, style=_STYLE)


def _html(branch: Branch, depth: int) -> str:
    step = min(int(branch.composite * 10 + 0.5), 10)
    styles = "1 style" if branch.styles == 1 else f"{branch.styles} styles"
    facts = f"{branch.composite:.2f} · {branch.node:.2f} · {branch.pages} pages · {styles}"
    label = f'<code>{text(branch.name[:120])}</code> <span class="facts">{text(facts)} · {branch.mark}</span>'
    if not branch.children:
        words = f' <span class="words">{text(branch.words)}</span>' if branch.words else ""
        return f'<div class="leaf i{step} {branch.mark}">{label}{words}</div>\n'
    rest = f'<div class="leaf">... {branch.hidden} more</div>' if branch.hidden else ""
    below = "".join(_html(child, depth + 1) for child in branch.children)
    opened = " open" if depth < OPEN_LEVELS else ""
    return f'<details{opened}><summary class="i{step}">{label}</summary>{below}{rest}</details>\n'
