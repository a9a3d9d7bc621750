"""A page that a person can look at: every block in its place, coloured by its label."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from victorpy.config import Config
from victorpy.crossval import PageResult
from victorpy.document import Block, CleanPage, Document, Label
from victorpy.gold import LabelledPage
from victorpy.labellers.crf import CRFLabeller
from victorpy.report.shell import page as html_page
from victorpy.report.shell import read_asset, text


@dataclass(frozen=True, slots=True)
class Column:
    """One cleaner's labels of a page."""

    title: str
    page: CleanPage


def render_view(title: str, columns: Sequence[Column], gold: Sequence[Label] | None = None) -> str:
    """Write a page with the labels of one cleaner, or of several side by side, and what the gold says of them."""
    document = columns[0].page.document
    paths = document.paths()
    sections = "".join(
        f"<section><h2>{text(column.title)}</h2>"
        f"{_counts(column.page, gold)}{_blocks(column.page, gold, paths, _others(column, columns))}</section>"
        for column in columns
    )
    legend = _legend(gold is not None, len(columns) > 1) + _losses(document)
    body = (
        f'<header><h1>{text(title)}</h1><p class="soft">{text(document.url)}</p>{legend}</header>\n'
        f'<main><div class="columns">{sections}</div>'
        '<aside aria-live="polite"><h2>Block</h2><dl><dd>Point at a block, or step with j and k.</dd></dl>'
        "<table><tbody></tbody></table></aside></main>"
    )
    return html_page(title, body, read_asset("view.css"), read_asset("view.js"))


def _others(column: Column, columns: Sequence[Column]) -> Sequence[Label] | None:
    """The labels of the cleaner beside this one, where there is one."""
    return next((other.page.labels for other in columns if other is not column), None)


def _legend(has_gold: bool, has_other: bool) -> str:
    names = "".join(f'<span class="{label} s4">{label}</span>' for label in Label)
    marks = (
        '<span class="missed">dropped, but gold</span><span class="extra">kept, but not gold</span>' if has_gold else ""
    )
    if has_other:
        marks += '<span class="differs">the other cleaner differs</span>'
    keys = "keys: j, k step" + (", n, p step through disagreements" if has_gold or has_other else "")
    return f'<p class="legend">{names}{marks} <span class="soft">stronger: surer; {keys}</span></p>'


def _losses(document: Document) -> str:
    return "".join(f'<p class="soft">lost: {text(loss)}</p>' for loss in document.losses)


def _counts(page: CleanPage, gold: Sequence[Label] | None) -> str:
    counts = Counter(page.labels)
    shown = ", ".join(f"{counts[label]} {label}" for label in Label if counts[label])
    if gold is not None:
        pairs = list(zip(page.labels, gold, strict=True))
        missed = sum(wanted.is_content and not ours.is_content for ours, wanted in pairs)
        extra = sum(ours.is_content and not wanted.is_content for ours, wanted in pairs)
        shown += f"; {missed} dropped that are gold, {extra} kept that are not"
    return f'<p class="soft">{text(shown)}</p>'


def _blocks(page: CleanPage, gold: Sequence[Label] | None, paths: Sequence[str], others: Sequence[Label] | None) -> str:
    """Write the blocks; those that stood in one line of the page share one."""
    lines: list[list[str]] = []
    for block in page.document.blocks:
        written = _block(block, page, gold, paths[block.index], others[block.index] if others else None)
        if lines and not _breaks(block):
            lines[-1].append((" " if block.spaced else "") + written)
        else:
            lines.append([written])
    return "".join(f'<div class="line">{"".join(line)}</div>\n' for line in lines)


_BREAKING = re.compile(
    r"/?(?:address|article|aside|blockquote|br|dd|div|dl|dt|fig\w+|footer|form|h\d|header|hr|li|main"
    r"|nav|ol|option|p|pre|section|select|summary|table|td|th|tr|ul|button|body|html)$"
)


def _breaks(block: Block) -> bool:
    return any(_BREAKING.match(tag) for tag in block.distance)


def _block(block: Block, page: CleanPage, gold: Sequence[Label] | None, path: str, other: Label | None) -> str:
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
    classes += ["differs"] if other is not None and other.is_content != label.is_content else []
    classes += ["pre"] if block.preformatted else []
    classes += ["hidden-text"] if block.hidden else []
    classes += ["head"] if any(re.fullmatch("h[1-6]", tag) for tag in block.containers) else []
    if page.features:
        data["features"] = json.dumps(page.features[block.index], ensure_ascii=False)
    written = "".join(f' data-{name}="{text(value)}"' for name, value in data.items())
    return f'<span class="{" ".join(classes)}" tabindex="0"{written}>{text(block.text)}</span>'


def write_views(
    results: Sequence[PageResult],
    pages: Sequence[LabelledPage],
    config: Config,
    directory: Path,
    count: int = 20,
    method: str = "",
) -> dict[str, str]:
    """Write views of the worst pages; the answer is the file of each, beside the directory, by data set and name.

    `method` names one that is not trained: it has no folds, and no features to show.
    """
    by_name = {(page.data, page.name): page for page in pages}
    worst = sorted(results, key=lambda result: result.scores["words_f1"])[:count]
    directory.mkdir(parents=True, exist_ok=True)
    labeller = CRFLabeller(config) if not method else None
    files = {}
    for number, result in enumerate(worst, 1):
        page = by_name[result.data, result.name]
        found = result.labelling
        features = labeller.features(page.document) if labeller else ()
        clean = CleanPage(page.document, found.labels, found.probabilities, found.content, found.confidence, features)
        title = page.document.title or result.name
        safe = re.sub(r"[^\w.-]+", "-", result.name)[-60:]
        name = f"{number:02}-{safe}.html"
        view = render_view(title, [Column(method or f"fold {result.fold + 1}", clean)], page.labels)
        (directory / name).write_text(view, encoding="utf-8")
        files[f"{result.data}/{result.name}"] = f"{directory.name}/{name}"
    return files
