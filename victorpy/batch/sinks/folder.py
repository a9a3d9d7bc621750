"""A folder of files, one per page, that mirrors where the pages were; and an index of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

from victorpy.base.files import write_atomically
from victorpy.batch.inputs import find_files
from victorpy.batch.names import Names, safe_place
from victorpy.batch.outcome import Outcome, Status, row
from victorpy.batch.record import PAGE_SUFFIXES, Record
from victorpy.batch.sinks.base import SINKS, Sink
from victorpy.batch.sinks.jsonl import as_line
from victorpy.errors import DataError
from victorpy.outputs import Output

INDEX = "_index"


@SINKS.register("folder")
class Folder(Sink):
    """Texts as files. The parts are the index: a row for each record, with the file that has its text."""

    folder = INDEX

    def __init__(self, kind: str, directory: Path, output: Output, inputs: Sequence[str] = ()) -> None:
        super().__init__("jsonl", directory, output)
        self.names = Names(("manifest.jsonl", "failed.jsonl", "replicas.jsonl", INDEX))
        self._inputs: set[Path] = set()
        """Pages to clean that are in the folder: they must not be overwritten."""
        if output.suffix in PAGE_SUFFIXES:
            root = directory.resolve()
            pages = (file.path.resolve() for file in find_files(inputs))
            self._inputs = {page for page in pages if page.is_relative_to(root)}

    def resume(self, parts: Iterable[Path]) -> None:
        for part in parts:
            with part.open("rb") as lines:
                for line in lines:
                    place = json.loads(line)["file"]
                    if place:
                        self.names.take(PurePosixPath(place))

    def open(self, path: Path) -> None:
        self._index = path.open("wb")

    def write(self, record: Record, outcome: Outcome) -> None:
        is_saved = outcome.status in {Status.KEPT, Status.EMPTY}
        place = str(self.save(record, outcome.text)) if is_saved else ""
        values = row(record, outcome, self.output.columns)
        del values["text"]
        self._index.write(as_line({"file": place, **values}))

    def close(self) -> None:
        self._index.close()

    def save(self, record: Record, text: str) -> PurePosixPath:
        """Write a page's text to a file of its own, atomically, and return its place in the folder."""
        wanted = safe_place(record.place, self.output.suffix)
        if wanted.parts[0].casefold() == INDEX or (len(wanted.parts) == 1 and wanted.name.startswith("retry-")):
            wanted = PurePosixPath(f"_{wanted}")  # these names are the run's own
        place = self.names.unique(wanted)
        path = self.directory / place
        if self._inputs and path.resolve() in self._inputs:
            raise DataError(f"{path}: is a page to clean; it would be overwritten: choose another output")
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, (self.output.header + text).encode("utf-8", "backslashreplace"), alone=True)
        return place
