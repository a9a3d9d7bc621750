"""Use victorpy as a step of a datatrove pipeline: it replaces the HTML of each document with clean text.

    pip install . datatrove orjson
    python examples/datatrove_step.py pages.jsonl.gz clean/        # without arguments it cleans two pages of its own

The lines of the input have `html` and `url`. Pages that are empty or fail are dropped and counted by reason. A page
that hangs or crashes stops its datatrove task. For untrusted pages use `victor clean` or `victor spark-clean`, which
guard every page.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.base import PipelineStep
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers import JsonlWriter

from victorpy import clean_record

PAGE = (
    "<title>Tea</title><ul><li><a href='/'>Home</a></ul><p>Tea is made by pouring hot water over the cured leaves of "
    "the tea bush, and it is drunk all over the world.</p>"
)


class VictorCleaner(PipelineStep):  # type: ignore[misc]  # datatrove is not typed
    name = "victorpy"
    type = "🧹 - CLEANER"

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.options = options  # options of clean_record: format, model, method, favor

    def run(self, data: Any, rank: int = 0, world_size: int = 1) -> Iterator[Any]:
        for document in data:
            with self.track_time():
                row = clean_record({"html": document.text, "url": document.metadata.get("url")}, **self.options)
            self.stat_update(f"{row['status']} {row['kind']}".strip())
            if row["status"] == "kept":
                document.text = row["text"]
                document.metadata.update({name: row[name] for name in ("title", "language", "confidence", "digest")})
                yield document


def main(source: Path, target: Path) -> None:
    pipeline = [
        JsonlReader(str(source.parent), glob_pattern=source.name, text_key="html"),
        VictorCleaner(format="text"),
        JsonlWriter(str(target), compression=None),
    ]
    LocalPipelineExecutor(pipeline, tasks=1, logging_dir=str(target / "logs")).run()


if __name__ == "__main__":
    if len(sys.argv) > 2:
        main(Path(sys.argv[1]), Path(sys.argv[2]))
    else:
        with tempfile.TemporaryDirectory() as place:
            source, target = Path(place, "in", "pages.jsonl"), Path(place, "out")
            source.parent.mkdir()
            lines = [{"url": "http://tea.example/", "html": PAGE}, {"url": "http://tea.example/empty", "html": "<p>"}]
            source.write_text("\n".join(map(json.dumps, lines)))
            main(source, target)
            print(*(path.read_text() for path in target.glob("*.jsonl")))
