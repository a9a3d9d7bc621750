"""A folder of files, one for each page, that mirrors where the pages were; and an index of them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from victorpy.batch.names import Names, safe_place
from victorpy.batch.outcome import Outcome, Status, row
from victorpy.batch.records import PAGE_SUFFIXES, Record
from victorpy.batch.sinks.base import SINKS, PartWriter, Sink
from victorpy.batch.sinks.jsonl import as_line
from victorpy.errors import DataError
from victorpy.files import write_atomically
from victorpy.outputs import Output

INDEX = "_index"


@SINKS.register("folder")
class Folder(Sink):
    """Texts as files; the parts are the index, which says of every record what became of it and where its text is."""

    suffix = ".jsonl"
    folder = INDEX

    def __init__(self, directory: Path, output: Output) -> None:
        super().__init__(directory, output)
        reserved = ("manifest.jsonl", "failed.jsonl", "replicas.jsonl", INDEX)
        self.names = Names(reserved)
        self._root = directory.resolve()

    def open(self, path: Path) -> PartWriter:
        """Begin a part of the index."""
        return _Index(self, path.open("wb"))

    def resume(self, parts: Iterable[Path]) -> None:
        """Take the names that finished parts have given."""
        for part in parts:
            with part.open("rb") as lines:
                for line in lines:
                    place = json.loads(line)["file"]
                    if place:
                        self.names.take(PurePosixPath(place))

    def save(self, record: Record, text: str) -> PurePosixPath:
        """Write a page's text to a file of its own, whole or not at all."""
        wanted = safe_place(record.place, self.output.suffix)
        if wanted.parts[0].casefold() == INDEX or (len(wanted.parts) == 1 and wanted.name.startswith("retry-")):
            wanted = PurePosixPath(f"_{wanted}")  # these names are the run's own
        place = self.names.unique(wanted)
        self._refuse_inputs(record)
        path = self.directory / place
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, (self.output.header + text).encode("utf-8", "backslashreplace"), alone=True)
        return place

    def _refuse_inputs(self, record: Record) -> None:
        """Never write pages among the pages that are read."""
        if self.output.suffix in PAGE_SUFFIXES and record.file and record.file.resolve().is_relative_to(self._root):
            raise DataError(f"{record.file}: is a page to clean; it could be overwritten: choose another output")


class _Index:
    """A part of the index under way."""

    def __init__(self, folder: Folder, file: BinaryIO) -> None:
        self._folder = folder
        self._file = file

    def write(self, record: Record, outcome: Outcome) -> None:
        saved = outcome.status in {Status.KEPT, Status.EMPTY}
        place = str(self._folder.save(record, outcome.text)) if saved else ""
        described = row(record, outcome, self._folder.output.columns)
        del described["text"]
        self._file.write(as_line({"file": place, **described}))

    def close(self) -> None:
        self._file.close()
