"""Markdown."""

from __future__ import annotations

import re

from victorpy.document import CleanPage, Document, Label
from victorpy.outputs.base import Segment, heading_level, join, output
from victorpy.outputs.inline import Run, runs

_SPECIAL = re.compile(r"([\\`*_\[\]<>]|&(?=#?\w+;))")
# What would begin a heading, an item, a rule or a fence at the start of a line.
_LINE_START = re.compile(r"^(\d*)(?=#{1,6}(\s|$)|[-+](\s|$)|(-\s*){3,}$|=+$|~~~|(?<=\d)[.)](\s|$))")


@output("markdown", ".md")
def render_markdown(page: CleanPage) -> str:
    """Markdown: headings, lists, links, emphasis, code and quotes."""
    return join(page, lambda segment: _segment(segment, page.document))


def _segment(segment: Segment, document: Document) -> str:
    containers = segment.blocks[0].containers
    if segment.preformatted:
        fence = "`" * max(3, max((len(run) for run in re.findall("`+", segment.text)), default=0) + 1)
        return f"{fence}\n{segment.text}\n{fence}"
    text = "".join(_run(run) for run in runs(segment, document)).strip()
    text = _LINE_START.sub(lambda found: found[0] + "\\", text)
    if segment.label is Label.HEADER:
        return f"{'#' * heading_level(segment)} {text}"
    if segment.label is Label.LIST:
        return f"{'  ' * max(_depth(containers) - 1, 0)}- {text}"
    return f"> {text}" if "blockquote" in containers else text


def _run(run: Run) -> str:
    text = run.text.strip()
    if not text:
        return " " if run.text else ""
    if "code" in run.styles:
        text = f"`{text}`" if "`" not in text else f"`` {text} ``"
    else:
        text = _SPECIAL.sub(r"\\\1", text)
        text = f"*{text}*" if "italic" in run.styles else text
        text = f"**{text}**" if "bold" in run.styles else text
    if run.href:
        text = f"[{text}]({run.href.replace('(', '%28').replace(')', '%29')})"
    before = " " if run.text[0].isspace() else ""
    return before + text + (" " if run.text[-1].isspace() else "")


def _depth(containers: tuple[str, ...]) -> int:
    return sum(tag in {"ul", "ol", "dir", "menu"} for tag in containers)
