"""Tasks of Label Studio: every block is a paragraph, and labels are ranges of paragraphs, given by XPath.

A range takes 200 characters, so on large pages neighbouring blocks with the same label share a range.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from victorpy.config import Cuts
from victorpy.document import Label
from victorpy.errors import AnnotationError
from victorpy.outputs.anno import AnnotationWriter, read_annotation, write_anno
from victorpy.outputs.base import CleanPage, facts, json_items, output
from victorpy.outputs.tables import without_controls

_PARAGRAPH = re.compile(r"/p\[([0-9]{1,7})\]")
_LARGE = 10_000  # blocks
_TAGS = {"from_name": "label", "to_name": "page", "type": "hypertextlabels"}


@output("label-studio", ".json")
def render_label_studio(page: CleanPage) -> str:
    """Label Studio: a task with every block as a paragraph, and its label as an XPath range."""
    texts = [without_controls(text) for text in page.document.texts]
    data = {
        "html": "".join(f"<p>{html.escape(text, quote=False)}</p>" for text in texts),
        "url": facts(page, ["url"])["url"],
        "title": page.document.title,
        "anno": write_anno(replace(page, features=())),
    }
    kind = "predictions" if page.by_method else "annotations"
    before = f'[{{"data": {json.dumps(data)}, "{kind}": [{{"result": ['
    return "".join([before, *json_items(_ranges(texts, page.labels)), "]}]}]\n"])


def _ranges(texts: Sequence[str], labels: Sequence[Label]) -> Iterator[dict[str, Any]]:
    """Yield a labelled range for each kept block, or on large pages for neighbours with the same label."""
    together = labels if len(labels) > _LARGE else range(len(labels))
    for _, group in groupby(range(len(labels)), together.__getitem__):
        blocks = [*group]
        first, last = blocks[0], blocks[-1]
        if labels[first].is_content:
            length = len(texts[last].encode("utf-16-le", "surrogatepass")) // 2  # browsers count UTF-16 code units
            places = {"start": f"/p[{first + 1}]/text()[1]", "end": f"/p[{last + 1}]/text()[1]"}
            value = {**places, "startOffset": 0, "endOffset": length, "hypertextlabels": [str(labels[first])]}
            yield {"id": f"b{first + 1}", **_TAGS, "value": value}


def read_tasks(text: str, cuts: Cuts, name: str) -> Iterator[str]:
    """Yield the content of an annotation file for each task of an export.

    The last annotation of a task is used. A block gets the label of a range that contains any part of it, and is noise
    otherwise. Raises AnnotationError.
    """
    try:
        tasks = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise AnnotationError(f"{name}: not JSON: {error}") from error
    for number, task in enumerate(tasks if isinstance(tasks, list) else [tasks], 1):
        place = f"{name}, task {number}"
        match task:
            case {"data": {"anno": str(anno)}, "annotations": [*_, {"result": list(results)}]}:
                document = read_annotation(anno, cuts, place).document
                labels = [Label.OTHER] * len(document.texts)
                for result in results:
                    _apply(result, labels, place)
                yield AnnotationWriter(document).write(labels, [None] * len(labels))
            case {"data": {"anno": str()}}:
                raise AnnotationError(f"{place}: it has no annotation; annotate the page and export it as JSON")
            case _:
                raise AnnotationError(f"{place}: not a task that victor has written; data.anno is missing")


def _apply(result: Mapping[str, Any], labels: list[Label], place: str) -> None:
    match result:
        case {"value": {"start": str(start), "end": str(end), "hypertextlabels": [label, *_]}}:
            paragraphs = [_PARAGRAPH.findall(path)[-1:] for path in (start, end)]
            if label not in [*Label] or not all(paragraphs):
                where = f"from {start[:60]!r} to {end[:60]!r}"
                raise AnnotationError(f"{place}: {label!r} {where} is not a label of paragraphs")
            first, last = (int(numbers[0]) for numbers in paragraphs)
            before, last = max(first - 1, 0), min(last, len(labels))
            labels[before:last] = [Label(label)] * (last - before)
        case _:  # relations, choices and other results that do not label text
            pass
