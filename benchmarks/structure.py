"""Score the structure that Markdown keeps: code, formulas, tables, images, notes, links, headings and lists.

    python -m benchmarks.structure
    python -m benchmarks.structure --show note-pandoc

The pages in ``structured_pages/pages`` were written for this benchmark. Each has an article, its Markdown, and the
frame of a site around it. A kind of structure is scored by the F1 of its items over all pages, so that both lost items
and items of menus count. Other programs are compared if they are installed; pages are converted as a whole by programs
that do not look for the main content.
"""

from __future__ import annotations

import difflib
import importlib.util
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.lib.command import make_parser, run
from benchmarks.lib.tables import table
from victorpy import Cleaner
from victorpy.errors import VictorError, require
from victorpy.peers import PEERS, NodeProgram
from victorpy.research.scores import word_f1

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode

PAGES = Path(__file__).parent / "structured_pages"
_HEAD = re.compile(r"<!-- frame: (?P<frame>\w+); title: (?P<title>.*) -->\n")
_ADMONITION = re.compile(r"\[!(\w+)\]\s*")
_FLOATING = re.compile(r"\\(?:displaystyle|textstyle|left|right)\b|\\[,;!:> ]|[{}\s]")

_SPACES = frozenset(["inline", "softbreak", "hardbreak", "html_inline"])

Converter = Callable[[str, str], str]  # a function from a page and its address to Markdown


class Page(NamedTuple):
    """A page with its gold Markdown."""

    name: str
    url: str
    html: str
    gold: str


def read_pages(names: Sequence[str] = ()) -> list[Page]:
    """Put each article into the frame that it names."""
    pages = []
    for path in sorted((PAGES / "pages").glob("*.html")):
        text = path.read_text()
        head = _HEAD.match(text)
        if head is None:
            raise VictorError(f"{path}:1: expected <!-- frame: NAME; title: TITLE -->")
        frame = (PAGES / "frames" / f"{head['frame']}.html").read_text()
        url = f"https://structure.example/{path.stem}/"
        values = {"title": head["title"], "url": url, "article": text[head.end() :].strip()}
        if not names or path.stem in names:
            pages.append(Page(path.stem, url, frame.format_map(values), path.with_suffix(".md").read_text()))
    if not pages:
        raise VictorError(f"no page is named {' or '.join(names)}; the pages are in {PAGES / 'pages'}")
    return pages


def items(markdown: str) -> dict[str, Counter[Any]]:
    """Return the items of each kind in a Markdown text."""
    found: dict[str, Counter[Any]] = {kind: Counter() for kind in KINDS}
    for kind, item in _items(_parse(markdown)):
        found[kind][item] += 1
    return found


KINDS = {
    "code": "text of listings",
    "language": "listings with their language",
    "inline code": "",
    "formulas": "TeX without spaces and braces",
    "rows": "rows of tables",
    "images": "addresses",
    "links": "text and address",
    "notes": "footnotes with their text",
    "headings": "level and text",
    "items": "list items with their number",
    "quotations": "",
    "admonitions": "type and text",
}


def _items(tree: SyntaxTreeNode) -> Iterator[tuple[str, Any]]:
    for node in tree.walk():
        match node.type:
            case "fence" | "code_block":
                yield "code", node.content.strip("\n")
                if node.info.strip():
                    yield "language", (node.info.split()[0].lower(), node.content.strip("\n"))
            case "code_inline":
                yield "inline code", node.content.strip()
            case "math_inline" | "math_block" | "math_inline_double" | "math_block_label":
                yield "formulas", _FLOATING.sub("", node.content).replace("''", "″")
            case "tr":
                yield "rows", tuple(_words(cell) for cell in node.children)
            case "image":
                yield "images", str(node.attrs["src"])
            case "link":
                yield "links", (_words(node), str(node.attrs["href"]))
            case "heading":
                yield "headings", (node.tag, _words(node))
            case "list_item":
                first = [child for child in node.children if not child.type.endswith("_list")][:1]
                number = node.info if node.parent and node.parent.type == "ordered_list" else ""
                yield "items", (number, " ".join(map(_words, first)))
            case "footnote":
                yield "notes", _words(node)
            case "blockquote":
                text = "\n".join(_words(child) for child in node.children if child.type != "blockquote")
                admonition = _ADMONITION.match(text)
                if admonition:
                    yield "admonitions", (admonition[1].upper(), text[admonition.end() :])
                else:
                    yield "quotations", text


def _words(node: SyntaxTreeNode) -> str:
    """Return the text of a node with single spaces, without notes."""
    texts = [
        " " if child.type in _SPACES else child.content
        for child in node.walk()
        if child.type != "footnote_anchor" and (child.type in _SPACES or not child.children)
    ]
    return " ".join("".join(texts).split())


def _parse(markdown: str) -> SyntaxTreeNode:
    from markdown_it.tree import SyntaxTreeNode

    return SyntaxTreeNode(_parser().parse(markdown))


@cache
def _parser() -> Any:
    require(["markdown_it", "mdit_py_plugins"], "dev", "reading Markdown")
    from markdown_it import MarkdownIt
    from mdit_py_plugins.dollarmath import dollarmath_plugin
    from mdit_py_plugins.footnote import footnote_plugin

    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"]).use(footnote_plugin)
    return parser.use(dollarmath_plugin, allow_space=False, allow_digits=False, double_inline=True)


def converters() -> dict[str, Converter]:
    """Return victorpy and the installed peers."""
    cleaner = Cleaner.load()
    found: dict[str, Converter] = {"victorpy": lambda html, url: cleaner.clean(html, format="markdown", url=url)}
    if importlib.util.find_spec("trafilatura"):
        found["trafilatura"] = _trafilatura
    if importlib.util.find_spec("html_to_markdown"):
        found["html-to-markdown"] = _html_to_markdown
    if importlib.util.find_spec("markdownify"):
        found["markdownify"] = _markdownify
    if PEERS["defuddle"].is_installed:
        found["defuddle"] = NodeProgram("defuddle", "markdown")
    return found


def _trafilatura(html: str, url: str) -> str:
    import trafilatura

    wanted: Any = {"include_formatting": True, "include_links": True, "include_images": True, "include_tables": True}
    return trafilatura.extract(html, url=url, output_format="markdown", include_comments=False, **wanted) or ""


def _html_to_markdown(html: str, url: str) -> str:
    import html_to_markdown

    return str(html_to_markdown.convert(html).content)


def _markdownify(html: str, url: str) -> str:
    import markdownify

    return str(markdownify.markdownify(html, heading_style="ATX"))


def score(pages: Sequence[Page], convert: Converter) -> dict[str, float]:
    """Return the F1 of each kind of item over all pages, and the mean word F1."""
    hits: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    words = []
    for page in pages:
        markdown = convert(page.html, page.url)
        gold, found = items(page.gold), items(markdown)
        for kind in KINDS:
            hits[kind] += (gold[kind] & found[kind]).total()
            sizes[kind] += gold[kind].total() + found[kind].total()
        words.append(word_f1(_words(_parse(markdown)), _words(_parse(page.gold))).f1)
    scores = {kind: 2 * hits[kind] / sizes[kind] for kind in KINDS if sizes[kind]}
    return scores | {"words": sum(words) / len(words)}


def show(page: Page, convert: Converter) -> None:
    """Print how the Markdown differs from the gold."""
    written = convert(page.html, page.url)
    lines = difflib.unified_diff(page.gold.splitlines(), written.splitlines(), "gold", "written", lineterm="", n=1)
    print(f"== {page.name}", *lines, sep="\n")


def main() -> None:
    """Print a table of scores, or the differences of some pages."""
    parser = make_parser(__doc__, data=False)
    parser.add_argument(
        "--show", nargs="*", metavar="NAME", help="show how these pages (default: all) differ from gold"
    )
    arguments = parser.parse_args()
    pages = read_pages(arguments.show or ())
    methods = converters()
    if arguments.show is not None:
        for page in pages:
            show(page, methods["victorpy"])
        return
    scores = {name: score(pages, convert) for name, convert in methods.items()}
    rows = [[kind, *(f"{of.get(kind, 0):.3f}" for of in scores.values())] for kind in [*KINDS, "words"]]
    print(table(["", *scores], rows))


if __name__ == "__main__":
    run(main)
