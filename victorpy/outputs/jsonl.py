"""JSON, a page a line."""

from __future__ import annotations

import json
from typing import Any

from victorpy.document import CleanPage
from victorpy.outputs.base import output
from victorpy.outputs.text import render_text


@output("jsonl", ".jsonl", joins=True)
def render_jsonl(page: CleanPage) -> str:
    """JSON, a page a line: url, title, text, confidence, and every block with label, probability and path."""
    document = page.document
    record: dict[str, Any] = {
        "url": document.url,
        "title": document.title,
        "source": document.source,
        "text": render_text(page),
        "confidence": page.confidence,
        "blocks": _blocks(page),
        "losses": list(document.losses),
    }
    return json.dumps(record, ensure_ascii=False) + "\n"


def _blocks(page: CleanPage) -> list[dict[str, Any]]:
    probabilities = page.probabilities or (None,) * len(page.labels)
    return [
        {"label": str(label), "probability": probability, "path": path, "text": block.text}
        for block, label, probability, path in zip(
            page.document.blocks, page.labels, probabilities, page.document.paths(), strict=True
        )
    ]
