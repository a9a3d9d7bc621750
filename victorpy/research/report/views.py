"""Views of pages: HTML pages that show every block in its position, coloured by label."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from victorpy.config import Config
from victorpy.document import Block, Label, Spans
from victorpy.model.labeller import ModelLabeller
from victorpy.outputs import CleanPage
from victorpy.research.gold import LabelledPage
from victorpy.research.report.base import html_page, read_asset, text
from victorpy.research.scores import PageResult

_MOST_PAGES = 20
_BREAKING = re.compile(
    r"/?(?:address|article|aside|blockquote|br|dd|div|dl|dt|fig\w+|footer|form|h\d|header|hr|li|main"
    r"|nav|ol|option|p|pre|section|select|summary|table|td|th|tr|ul|button|body|html)$"
)


def render_view(title: str, pages: Mapping[str, CleanPage], gold: Sequence[Label] | None = None) -> str:
    """Build an HTML view of a page cleaned by one or two cleaners, compared with the gold labels if given.

    `pages` contains the column titles with the cleaned pages. A block is marked if only one of two cleaners keeps it.
    """
    document = next(iter(pages.values())).document
    paths = document.paths()
    sections = ""
    for name, page in pages.items():
        other = next((rival.labels for rival in pages.values() if rival is not page), None)
        lines: list[str] = []
        for block in document.blocks:
            written = _block(block, page, paths[block.index], gold, other)
            if lines and not any(_BREAKING.match(tag) for tag in block.distance):
                lines[-1] += (" " if block.spaced else "") + written  # append to the same line of the page
            else:
                lines.append(written)
        blocks = "".join(f'<div class="line">{line}</div>\n' for line in lines)
        counts = f'<p class="soft">{text(_counts(page, gold))}</p>'
        sections += f"<section><h2>{text(name)}</h2>{counts}{blocks}</section>"
    losses = "".join(f'<p class="soft">lost: {text(loss)}</p>' for loss in document.losses)
    legend = _legend(gold is not None, len(pages) > 1) + losses
    body = (
        f'<header><h1>{text(title)}</h1><p class="soft">{text(document.url)}</p>{legend}</header>\n'
        f'<main><div class="columns">{sections}</div>'
        '<aside aria-live="polite"><h2>Block</h2><dl><dd>Point at a block, or press j and k.</dd></dl>'
        "<table><tbody></tbody></table></aside></main>"
    )
    return html_page(title, body, read_asset("view.css"), read_asset("view.js"))


def _legend(has_gold: bool, has_other: bool) -> str:
    names = "".join(f'<span class="{label} s4">{label}</span>' for label in Label)
    keys = "keys: j, k next and previous block"
    if has_gold:
        names += '<span class="missed">dropped, but gold</span><span class="extra">kept, but not gold</span>'
    if has_other:
        names += '<span class="differs">the other cleaner differs</span>'
    if has_gold or has_other:
        keys += ", n, p next and previous disagreement"
    return f'<p class="legend">{names} <span class="soft">stronger colour: higher probability; {keys}</span></p>'


def _counts(page: CleanPage, gold: Sequence[Label] | None) -> str:
    counts = Counter(page.labels)
    shown = ", ".join(f"{counts[label]} {label}" for label in Label if counts[label])
    if gold is not None:
        pairs = list(zip(page.labels, gold, strict=True))
        missed = sum(wanted.is_content and not ours.is_content for ours, wanted in pairs)
        extra = sum(ours.is_content and not wanted.is_content for ours, wanted in pairs)
        shown += f"; {missed} dropped although gold, {extra} kept although not gold"
    return shown


def _block(
    block: Block, page: CleanPage, path: str, gold: Sequence[Label] | None, other: Sequence[Label] | None
) -> str:
    label = page.labels[block.index]
    classes = ["block", str(label)]
    data = {"number": str(block.index), "label": str(label), "path": path}
    if page.probabilities:
        probability = page.probabilities[block.index]
        classes.append(f"s{min(int(10 * probability), 9)}")
        data["probability"] = f"{probability:.4f}"
    if gold is not None:
        wanted = gold[block.index]
        data["gold"] = str(wanted)
        if wanted.is_content != label.is_content:
            classes.append("missed" if wanted.is_content else "extra")
    marks = {
        "differs": other is not None and other[block.index].is_content != label.is_content,
        "pre": block.preformatted,
        "hidden-text": block.hidden,
        "head": any(re.fullmatch("h[1-6]", tag) for tag in block.containers),
    }
    classes += [name for name, is_set in marks.items() if is_set]
    if page.features:
        data["features"] = json.dumps(page.features[block.index], ensure_ascii=False)
    attributes = "".join(f' data-{name}="{text(value)}"' for name, value in data.items())
    spans = page.spans[block.index] if page.spans else None
    shown = text(block.text) if spans is None else _with_deletions(block.text, spans)
    return f'<span class="{" ".join(classes)}" tabindex="0"{attributes}>{shown}</span>'


def _with_deletions(block_text: str, spans: Spans) -> str:
    """Strike through the parts of a block's text that are not kept."""
    shown, offset = "", 0
    for start, stop in (*spans, (len(block_text), len(block_text))):
        deleted = block_text[offset:start]
        shown += (f"<del>{text(deleted)}</del>" if deleted else "") + text(block_text[start:stop])
        offset = stop
    return shown


def write_views(
    results: Sequence[PageResult], pages: Sequence[LabelledPage], config: Config, directory: Path, method: str = ""
) -> dict[str, str]:
    """Write views of the worst pages, and return the path of each, relative to the report, by data set and name.

    `method` is the name of a method that is scored without training, and so has no folds and features.
    """
    by_name = {(page.data, page.name): page for page in pages}
    worst = sorted(results, key=lambda result: result.scores["words_f1"])[:_MOST_PAGES]
    directory.mkdir(parents=True, exist_ok=True)
    labeller = ModelLabeller(config) if not method else None
    files = {}
    for number, result in enumerate(worst, 1):
        page = by_name[result.data, result.name]
        features = labeller.features(page.document) if labeller else ()
        clean = CleanPage.of(page.document, result.labelling, features=features)
        safe_name = re.sub(r"[^\w.-]+", "-", result.name)[-60:]
        file = f"{number:02}-{safe_name}.html"
        column = method or f"fold {result.fold + 1}"
        view = render_view(page.document.title or result.name, {column: clean}, page.labels)
        (directory / file).write_text(view, encoding="utf-8")
        files[f"{result.data}/{result.name}"] = f"{directory.name}/{file}"
    return files
