"""A directory of pages: how far each is, and how much a model would learn from it.

What was found out is kept in a file in the directory, so that a directory of a thousand pages opens at once: of a page
whose files have not changed nothing is read again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from victorpy.anno import load_annotation
from victorpy.annotate.lock import is_locked
from victorpy.annotate.naming import SUFFIX, is_page, name_annotations
from victorpy.annotate.opening import lock_of, read_page
from victorpy.annotate.predictor import Predictor
from victorpy.config import Config
from victorpy.document import Document
from victorpy.errors import DataError, VictorError
from victorpy.files import write_atomically

INDEX = ".victor-annotate.json"
FORMAT = 1


@dataclass
class Known:
    """What was found out of a page, and of which state of its files."""

    stamp: str = ""
    """Sizes and times of the page's files."""
    blocks: int = 0
    """How many blocks it has."""
    decided: int = 0
    uncertainty: float | None = None
    model: str = ""
    """The model that is uncertain."""
    problem: str = ""
    """Why it cannot be opened."""

    @property
    def is_counted(self) -> bool:
        """Whether anybody has looked, and could."""
        return bool(self.stamp) and not self.problem


@dataclass
class Entry:
    """A page of the directory."""

    name: str
    page: Path | None
    anno: Path
    known: Known

    @property
    def is_finished(self) -> bool:
        """Whether a person decided on all of it; on a page without text there is nothing to decide."""
        return self.known.is_counted and self.known.decided == self.known.blocks

    @property
    def progress(self) -> float:
        """Which share of its blocks a person decided on."""
        return self.known.decided / self.known.blocks if self.known.blocks else float(self.is_finished)

    @property
    def is_open(self) -> bool:
        """Whether somebody has it open."""
        return is_locked(lock_of(self.anno))

    def stamp(self) -> str:
        """What changes whenever one of the files does."""
        return " ".join(_stamp(path) for path in (self.page, self.anno) if path is not None)


def _stamp(path: Path) -> str:
    try:
        found = path.stat()
    except OSError:
        return "-"
    return f"{found.st_size}:{found.st_mtime_ns}"


class Pages:
    """The pages of a directory, in an order."""

    def __init__(self, directory: Path, config: Config, predictor: Predictor | None, keep: bool = True) -> None:
        self.directory = directory
        self.entries = find_entries(directory)
        self._config = config
        self._predictor = predictor
        self._keep = keep
        self._changed = False
        for entry, known in self._read_index():
            entry.known = known
        self._todo = [entry for entry in self.entries if not self._is_known(entry)]

    @property
    def left(self) -> int:
        """How many pages nobody has looked at yet."""
        return len(self._todo)

    def sort(self, order: str) -> None:
        """Bring the pages into an order; what is finished comes last, but by name."""
        keys: dict[str, Callable[[Entry], Any]] = {
            "name": lambda entry: entry.name,
            "uncertainty": lambda entry: (entry.is_finished, -(entry.known.uncertainty or 0), entry.name),
            "progress": lambda entry: (entry.is_finished, -entry.progress, entry.name),
        }
        self.entries.sort(key=keys[order])

    def work(self, seconds: float) -> bool:
        """Look at pages that nobody has looked at, for about so long; the answer is whether anything is new."""
        stop = time.monotonic() + seconds
        found = False
        while self._todo and time.monotonic() < stop:
            self._look_at(self._todo.pop(0))
            found = True
        if found and not self._todo:
            self.save()
        return found

    def look_again(self, entry: Entry) -> None:
        """Find out anew how far a page is, after it was worked on."""
        if not self._is_known(entry):
            self._look_at(entry)
            self.save()

    def use(self, predictor: Predictor) -> None:
        """Take another model: what it would learn from has to be found out anew."""
        self._predictor = predictor
        self._todo = [entry for entry in self.entries if not self._is_known(entry)]

    def save(self) -> None:
        """Keep what was found out; a directory that takes no file is no worse for it."""
        if not (self._changed and self._keep):
            return
        kept = {entry.name: asdict(entry.known) for entry in self.entries if entry.known.stamp}
        content = json.dumps({"victor-annotate": FORMAT, "pages": kept}, indent=0).encode()
        try:
            write_atomically(self.directory / INDEX, content)
            self._changed = False
        except OSError:
            self._keep = False

    def _is_known(self, entry: Entry) -> bool:
        model = self._predictor.name if self._predictor is not None else entry.known.model
        return entry.known.stamp == entry.stamp() and entry.known.model == model

    def _look_at(self, entry: Entry) -> None:
        known = Known(stamp=entry.stamp(), model=self._predictor.name if self._predictor is not None else "")
        try:
            document, known.decided = self._read(entry)
            known.blocks = len(document.blocks)
            if self._predictor is not None:
                known.uncertainty = round(self._predictor.uncertainty(document), 4)
        except VictorError as error:
            known.problem = str(error).removeprefix(f"{entry.page or entry.anno}: ")
        entry.known = known
        self._changed = True

    def _read(self, entry: Entry) -> tuple[Document, int]:
        if entry.anno.exists():
            annotation = load_annotation(entry.anno, self._config.cuts)
            return annotation.document, sum(annotation.decided)
        if entry.page is None:
            raise DataError(f"{entry.name}: is gone")
        return read_page(entry.page, self._config), 0

    def _read_index(self) -> Iterator[tuple[Entry, Known]]:
        try:
            kept = json.loads((self.directory / INDEX).read_bytes())
            pages = kept["pages"] if kept["victor-annotate"] == FORMAT else {}
            for entry in self.entries:
                if entry.name in pages:
                    yield entry, Known(**pages[entry.name])
        except (OSError, ValueError, KeyError, TypeError):
            return  # it is only there to save time


def find_entries(directory: Path) -> list[Entry]:
    """Find the pages below a directory, and the annotations that have no page beside them."""
    by_stem: dict[Path, list[Path]] = {}
    annotations: list[Path] = []
    for path in sorted(directory.rglob("*")):
        if is_page(path) and path.is_file():
            by_stem.setdefault(path.with_suffix(""), []).append(path)
        elif path.suffix == SUFFIX and path.is_file():
            annotations.append(path)
    found: dict[Path, Path | None] = {}
    for alike in by_stem.values():
        found |= {anno: page for page, anno in name_annotations(alike).items()}
    found = dict.fromkeys(annotations) | found
    if not found:
        raise DataError(f"{directory}: no pages (*.html, *.anno) in this directory")
    return [
        Entry(str((page or anno).relative_to(directory)), page, anno, Known()) for anno, page in sorted(found.items())
    ]
