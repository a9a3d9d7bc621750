"""A directory of pages: the progress of each, and how much a model could learn from it.

The results are kept in a file in the directory, so that a directory of a thousand pages opens at once: pages whose
files have not changed are not read again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from victorpy.annotation.lock import is_locked
from victorpy.annotation.naming import SUFFIX, is_page, name_annotations
from victorpy.annotation.opening import lock_of, read_page
from victorpy.annotation.predictor import Predictor
from victorpy.base.files import write_atomically
from victorpy.config import Config
from victorpy.errors import DataError, VictorError
from victorpy.outputs.anno import load_annotation

INDEX = ".victor-annotate.json"
FORMAT = 1


@dataclass
class PageStatus:
    """The progress of a page, and the state of its files when it was determined."""

    stamp: str = ""
    """Sizes and times of the page's files; empty if nobody has looked at them yet."""
    blocks: int = 0
    """Number of blocks."""
    decided: int = 0
    """Number of blocks that a person decided on."""
    uncertainty: float | None = None
    model: str = ""
    """Name of the model that is uncertain."""
    problem: str = ""
    """Why the page cannot be opened."""

    @property
    def is_counted(self) -> bool:
        return bool(self.stamp) and not self.problem


@dataclass
class Entry:
    """A page of the directory."""

    name: str
    page: Path | None
    """None if there is only an annotation."""
    anno: Path
    status: PageStatus = field(default_factory=PageStatus)

    @property
    def is_finished(self) -> bool:
        """Whether a person decided on all blocks; a page without text is finished, too."""
        return self.status.is_counted and self.status.decided == self.status.blocks

    @property
    def progress(self) -> float:
        """Share of blocks that a person decided on."""
        return self.status.decided / self.status.blocks if self.status.blocks else float(self.is_finished)

    @property
    def is_open(self) -> bool:
        """Whether somebody has it open."""
        return is_locked(lock_of(self.anno))

    def stamp(self) -> str:
        """Return sizes and times of the files, which differ whenever one of them has changed."""
        stamps = []
        for path in (self.page, self.anno):
            if path is not None:
                try:
                    file = path.stat()
                    stamps.append(f"{file.st_size}:{file.st_mtime_ns}")
                except OSError:
                    stamps.append("-")
        return " ".join(stamps)


class Pages:
    """The pages of a directory, in an order."""

    def __init__(self, directory: Path, config: Config, predictor: Predictor | None, keep: bool = True) -> None:
        self.directory = directory
        self.entries = find_entries(directory)
        self._config = config
        self._predictor = predictor
        self._keep = keep
        """Whether to write the results into the directory."""
        self._changed = False
        self._read_index()
        self._todo = [entry for entry in self.entries if not self._is_current(entry)]

    def _read_index(self) -> None:
        try:
            index = json.loads((self.directory / INDEX).read_bytes())
            pages = index["pages"] if index["victor-annotate"] == FORMAT else {}
            for entry in self.entries:
                if entry.name in pages:
                    entry.status = PageStatus(**pages[entry.name])
        except (OSError, ValueError, KeyError, TypeError):
            pass  # it only saves time

    @property
    def left(self) -> int:
        """Number of pages that nobody has looked at yet."""
        return len(self._todo)

    def sort(self, order: str) -> None:
        """Sort by name, uncertainty or progress; the latter two put finished pages last."""
        keys: dict[str, Callable[[Entry], Any]] = {
            "name": lambda entry: entry.name,
            "uncertainty": lambda entry: (entry.is_finished, -(entry.status.uncertainty or 0), entry.name),
            "progress": lambda entry: (entry.is_finished, -entry.progress, entry.name),
        }
        self.entries.sort(key=keys[order])

    def work(self, seconds: float) -> bool:
        """Look at new or changed pages for about `seconds`. Return whether there are new results."""
        stop = time.monotonic() + seconds
        has_looked = False
        while self._todo and time.monotonic() < stop:
            self._look_at(self._todo.pop(0))
            has_looked = True
        if has_looked and not self._todo:
            self.save()
        return has_looked

    def look_again(self, entry: Entry) -> None:
        """Update a page after it was worked on."""
        if not self._is_current(entry):
            self._look_at(entry)
            self.save()

    def use(self, predictor: Predictor) -> None:
        """Use another model; all pages have to be looked at again."""
        self._predictor = predictor
        self._todo = [entry for entry in self.entries if not self._is_current(entry)]

    def save(self) -> None:
        """Keep the results in the directory, if it can be written."""
        if not (self._changed and self._keep):
            return
        pages = {entry.name: asdict(entry.status) for entry in self.entries if entry.status.stamp}
        content = json.dumps({"victor-annotate": FORMAT, "pages": pages}, indent=0).encode()
        try:
            write_atomically(self.directory / INDEX, content)
            self._changed = False
        except OSError:
            self._keep = False

    def _is_current(self, entry: Entry) -> bool:
        model = self._predictor.name if self._predictor is not None else entry.status.model
        return entry.status.stamp == entry.stamp() and entry.status.model == model

    def _look_at(self, entry: Entry) -> None:
        status = PageStatus(stamp=entry.stamp(), model=self._predictor.name if self._predictor is not None else "")
        try:
            if entry.anno.exists():
                annotation = load_annotation(entry.anno, self._config.cuts)
                document, status.decided = annotation.document, sum(annotation.decided)
            elif entry.page is not None:
                document = read_page(entry.page, self._config)
            else:
                raise DataError(f"{entry.name}: is gone")
            status.blocks = len(document.blocks)
            if self._predictor is not None:
                status.uncertainty = round(self._predictor.uncertainty(document), 4)
        except VictorError as error:
            status.problem = str(error).removeprefix(f"{entry.page or entry.anno}: ")
        entry.status = status
        self._changed = True


def find_entries(directory: Path) -> list[Entry]:
    """Find the pages below a directory, and the annotations that have no page beside them."""
    pages_by_stem: dict[Path, list[Path]] = {}
    page_of_anno: dict[Path, Path | None] = {}
    for path in sorted(directory.rglob("*")):
        if is_page(path) and path.is_file():
            pages_by_stem.setdefault(path.with_suffix(""), []).append(path)
        elif path.suffix == SUFFIX and path.is_file():
            page_of_anno[path] = None
    for pages in pages_by_stem.values():
        page_of_anno |= {anno: page for page, anno in name_annotations(pages).items()}
    if not page_of_anno:
        raise DataError(f"{directory}: no pages (*.html, *.anno) in this directory")
    return [
        Entry(str((page or anno).relative_to(directory)), page, anno) for anno, page in sorted(page_of_anno.items())
    ]
