"""The pages of a directory, their annotation files, their progress, and how uncertain the model is about them.

The results are stored in the directory, so that unchanged pages are not read again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from victorpy.annotation.learning import Predictor
from victorpy.annotation.opening import load_page
from victorpy.base.files import write_atomically
from victorpy.batch.record import PAGE_SUFFIXES
from victorpy.config import Config
from victorpy.errors import DataError, VictorError
from victorpy.outputs.anno import read_source

INDEX = ".victor-annotate.json"
FORMAT = 1
SUFFIX = ".anno"


def annotation_of(page: Path) -> Path:
    """Return the path of a page's annotation file, which is in the same directory."""
    neighbours = [page.with_suffix(suffix) for suffix in PAGE_SUFFIXES]
    return name_annotations({page, *(path for path in neighbours if path.is_file())})[page]


def name_annotations(pages: Iterable[Path]) -> dict[Path, Path]:
    """Return the annotation files of pages whose names differ only in their suffix.

    For ``a.html`` and ``a.htm`` these are ``a.anno`` and ``a.htm.anno``. If ``a.anno`` exists, it belongs to the page
    that it names as its source.
    """
    ranks = {suffix: rank for rank, suffix in enumerate(PAGE_SUFFIXES)}
    ordered = sorted(pages, key=lambda page: (ranks.get(page.suffix, len(ranks)), page.name))
    short = ordered[0].with_suffix(SUFFIX)
    source = read_source(short) if len(ordered) > 1 else ""
    owner = next((page for page in ordered if page.name == source), ordered[0])
    return {page: short if page == owner else page.with_name(page.name + SUFFIX) for page in ordered}


@dataclass
class PageStatus:
    """The progress of a page when it was last read."""

    stamp: str = ""  # sizes and times of the page's files; empty if it was not read yet
    blocks: int = 0
    decided: int = 0  # number of blocks that a person has labelled
    uncertainty: float | None = None
    model: str = ""  # name of the model that estimated the uncertainty
    problem: str = ""


@dataclass
class Entry:
    """A page of the directory."""

    name: str
    page: Path | None  # None if there is only an annotation
    anno: Path
    status: PageStatus = field(default_factory=PageStatus)

    @property
    def is_finished(self) -> bool:
        """Whether a person has labelled all blocks. A page without text is finished, too."""
        status = self.status
        return bool(status.stamp) and not status.problem and status.decided == status.blocks

    @property
    def progress(self) -> float:
        return self.status.decided / self.status.blocks if self.status.blocks else float(self.is_finished)

    def stamp(self) -> str:
        """Return sizes and times of the files, to detect changes."""
        stamps = []
        for path in filter(None, (self.page, self.anno)):
            try:
                file = path.stat()
                stamps.append(f"{file.st_size}:{file.st_mtime_ns}")
            except OSError:
                stamps.append("-")
        return " ".join(stamps)


def find_entries(directory: Path) -> list[Entry]:
    """Find the pages below a directory, and annotations without a page."""
    pages_by_stem: dict[Path, list[Path]] = {}
    page_of_anno: dict[Path, Path | None] = {}
    for path in sorted(directory.rglob("*")):
        if path.suffix.lower() in PAGE_SUFFIXES and path.is_file():
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


class Pages:
    """The pages of a directory, sorted."""

    def __init__(self, directory: Path, config: Config, predictor: Predictor | None, keep: bool = True) -> None:
        self.directory = directory
        self.entries = find_entries(directory)
        self._config = config
        self._keep = keep  # whether to store the results in the directory
        try:
            index = json.loads((directory / INDEX).read_bytes())
            statuses = index["pages"] if index["victor-annotate"] == FORMAT else {}
            for entry in self.entries:
                if entry.name in statuses:
                    entry.status = PageStatus(**statuses[entry.name])
        except (OSError, ValueError, KeyError, TypeError):
            pass  # the index is only a cache
        self.use(predictor)

    def use(self, predictor: Predictor | None) -> None:
        """Use a model. Pages with results of another model are read again."""
        self._predictor = predictor
        self.unread = [entry for entry in self.entries if not self._is_current(entry)]

    @property
    def finished(self) -> list[Path]:
        """The annotations of finished pages. A page without text may have none."""
        return [entry.anno for entry in self.entries if entry.is_finished and entry.anno.exists()]

    def sort(self, order: str) -> None:
        """Sort by name, uncertainty or progress; the latter two put finished pages last."""
        keys: dict[str, Callable[[Entry], Any]] = {
            "name": lambda entry: entry.name,
            "uncertainty": lambda entry: (entry.is_finished, -(entry.status.uncertainty or 0), entry.name),
            "progress": lambda entry: (entry.is_finished, -entry.progress, entry.name),
        }
        self.entries.sort(key=keys[order])

    def work(self, seconds: float) -> bool:
        """Read new or changed pages for about `seconds`. Return whether there are new results."""
        stop = time.monotonic() + seconds
        has_read = False
        while self.unread and time.monotonic() < stop:
            self._read(self.unread.pop(0))
            has_read = True
        if has_read and not self.unread:
            self.save()
        return has_read

    def update(self, entry: Entry) -> None:
        """Read a page again if its files have changed."""
        if not self._is_current(entry):
            self._read(entry)
            self.save()

    def save(self) -> None:
        """Store the results in the directory, if possible."""
        if not self._keep:
            return
        statuses = {entry.name: asdict(entry.status) for entry in self.entries if entry.status.stamp}
        content = json.dumps({"victor-annotate": FORMAT, "pages": statuses}, indent=0).encode()
        try:
            write_atomically(self.directory / INDEX, content)
        except OSError:
            self._keep = False

    def _is_current(self, entry: Entry) -> bool:
        model = self._predictor.name if self._predictor is not None else entry.status.model
        return entry.status.stamp == entry.stamp() and entry.status.model == model

    def _read(self, entry: Entry) -> None:
        predictor = self._predictor
        entry.status = status = PageStatus(entry.stamp(), model=predictor.name if predictor is not None else "")
        try:
            annotation = load_page(entry.page, entry.anno, self._config)
            status.blocks, status.decided = len(annotation.document.blocks), sum(annotation.decided)
            if predictor is not None:
                status.uncertainty = round(predictor.uncertainty(annotation.document), 4)
        except VictorError as error:
            status.problem = str(error).removeprefix(f"{entry.page or entry.anno}: ")
