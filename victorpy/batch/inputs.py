"""The inputs of a run: find the input files in a fixed order, and read their records."""

from __future__ import annotations

import glob
import hashlib
import json
import os
import re
import shlex
import stat
from array import array
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from io import TextIOWrapper
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from victorpy.base.files import open_regular
from victorpy.batch.record import (
    PAGE_SUFFIXES,
    STDIN,
    Kind,
    Origin,
    Problem,
    Record,
    broken_record,
    file_size,
    page_record,
)
from victorpy.batch.sources import SOURCES, ReadOptions, source_of
from victorpy.errors import DataError, require

LIST_MARK = "@"
HIDDEN = ".victor"
"""Directory in an output folder in which plain runs record the files that they have cleaned."""
BESIDE = ".run"
"""Suffix of the directory for the manifest and lists of a run, if the output directory may contain only parts."""

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_MISSING = 0
"""Stamp that represents a missing file."""
GROUP_FILES, GROUP_BYTES = 64, 32_000_000
"""Maximum number and size of the small files that are read together."""
_NEVER = 1 << 62  # larger than any record number
_UNREAD_WORDS = ("the file was not read: ", "the rest of the file was not read: ")


class InputFile(NamedTuple):
    """A page, a file with many pages, or the records from `start` to `end` of such a file."""

    path: Path
    place: Path
    """Path relative to the input directory."""
    name: str
    start: int = 0
    end: int | None = None
    offset: int = 0
    """Byte offset of the first record, or 0 if unknown."""
    base: str = ""
    """Directory that `path` is relative to. Set if another machine reads the file."""
    number: int = 0
    """Number of the file among all inputs."""


class Group(NamedTuple):
    """Some consecutive input files. A stretch of records never extends beyond a group."""

    number: int
    files: tuple[InputFile, ...]
    records: int
    """Number of records in a stretch."""
    model: str | Problem | None = None
    """File with the model of the pages' site, or the problem that prevented learning it."""


# Finding files.


def find_files(inputs: Sequence[str]) -> Iterator[InputFile]:
    """Find all input files. Inputs are files, directories, patterns, and ``@LIST``, a file that lists inputs."""
    for name in inputs:
        if name.startswith(LIST_MARK) and not Path(name).exists():
            path = Path(name.removeprefix(LIST_MARK))
            with TextIOWrapper(open_regular(path), encoding="utf-8", errors="surrogateescape") as lines:
                for line in lines:
                    if line.strip():
                        yield from _find(line.strip())
        else:
            yield from _find(name)


def group_files(files: Iterable[InputFile], records: int) -> Iterator[Group]:
    """Divide files into groups of up to `GROUP_FILES` or `GROUP_BYTES`. Each table is a separate group."""
    number, size = 0, 0
    group: list[InputFile] = []
    for file_number, file in enumerate(files):
        source = source_of(file.path)
        is_table = source is not None and source.cut is not None
        try:
            file_bytes = file.path.stat().st_size
        except OSError:
            file_bytes = 0
        if group and (is_table or len(group) == GROUP_FILES or size + file_bytes > GROUP_BYTES):
            yield Group(number, tuple(group), records)
            number, group, size = number + 1, [], 0
        group.append(file._replace(number=file_number))
        size += GROUP_BYTES if is_table else file_bytes
    if group:
        yield Group(number, tuple(group), records)


def find_records(inputs: Iterable[str]) -> Iterator[Record]:
    """Find page files, also below directories. Standard input is ``-``."""
    for name in inputs:
        yield from (page_record(*file[:3]) for file in _find(name, pages_only=True))


def names_one_page(inputs: Sequence[str]) -> bool:
    """Whether the input is a single named page or standard input, not a directory, pattern or list."""
    found = list(islice(find_files(inputs), 2)) if inputs else []
    names = [file.name for file in found if source_of(file.path) is None]
    return len(found) == 1 and names in ([inputs[0]], ["standard input"])


def _find(name: str, pages_only: bool = False) -> Iterator[InputFile]:
    path = Path(name)
    if path == STDIN:
        yield InputFile(path, Path("stdin"), "standard input")
    elif path.is_dir():
        yield from _find_below(path, pages_only)
    elif _ADDRESS.match(name) and not path.exists():
        typed = shlex.quote(name)
        raise DataError(
            f"{name}: this is an address, not a file; fetch the page first: "
            f"curl -sL {typed} | victor clean --url {typed}"
        )
    elif path.exists() or not glob.has_magic(name):
        yield InputFile(path, Path(path.name), name)  # a missing file fails when it is read
    else:
        matches = sorted(glob.glob(name, recursive=True))  # noqa: PTH207  (Path.glob takes no absolute pattern)
        if not matches:
            raise DataError(f"{name}: no file matches this pattern")
        for match in matches:
            yield from _find(match, pages_only)


def _find_below(directory: Path, pages_only: bool = False) -> Iterator[InputFile]:
    """Find pages and archives below a directory. If there are none, find lines and tables, which may be results."""
    archives = () if pages_only else [suffix for suffix in SOURCES if SOURCES.get(suffix).archive]
    suffix_choices = [(*PAGE_SUFFIXES, *archives), () if pages_only else tuple(SOURCES)]
    for suffixes in suffix_choices:
        paths = _files_below(directory, suffixes)
        first = next(paths, None)
        if first is not None:
            for path in chain([first], paths):
                yield InputFile(path, path.relative_to(directory), str(path))
            return
    kinds = ", ".join(f"*{suffix}" for suffix in dict.fromkeys(chain(*suffix_choices)))
    raise DataError(f"{directory}: no pages ({kinds}) in this directory")


def _files_below(directory: Path, suffixes: tuple[str, ...]) -> Iterator[Path]:
    """Find files in the order of their paths, except in output directories of batch runs and linked directories."""
    with os.scandir(directory) as entries:
        ordered = sorted(entries, key=lambda entry: entry.name)
    for entry in ordered:
        path = directory / entry.name
        if entry.is_dir(follow_symlinks=False):
            if entry.name != HIDDEN and not is_output(path):
                yield from _files_below(path, suffixes)
        elif entry.name.lower().endswith(suffixes) and path.suffix and not (entry.is_symlink() and path.is_dir()):
            yield path  # a pipe or a broken link fails when it is read


def is_output(directory: Path) -> bool:
    """Whether a batch run has written a directory, also for a part of its inputs or on Spark."""
    for place in (directory, beside(directory)):
        with suppress(OSError):  # there is no run, or the name is too long
            for path in sorted(place.glob("*manifest.jsonl")) or [place / "_settings.json"]:
                with open_regular(path) as settings:
                    if re.match(rb'\{("format": \d+, )?"settings": ', settings.readline(200)):
                        return True
    return False


def beside(directory: Path) -> Path:
    """Return the directory for the side files of an output directory.

    >>> str(beside(Path("out/corpus.parquet")))
    'out/corpus.parquet.run'
    """
    named = directory if directory.name else directory.resolve()
    return named.with_name(f"{named.name}{BESIDE}")


class Stamps:
    """Hashes of the name, size and time of every input file. Short, because there may be millions of files."""

    def __init__(self, stored: bytes = b"") -> None:
        self._hashes = array("Q", stored[: len(stored) // 16 * 16])

    def add(self, path: Path, status: os.stat_result | None) -> None:
        """Add the next file. Pass no status if the file is missing."""
        self._hashes.append(_hash(str(path)))
        self._hashes.append(_hash(f"{path}\0{status.st_size}\0{status.st_mtime_ns}") if status else _MISSING)

    def __len__(self) -> int:
        return len(self._hashes) // 2

    def as_bytes(self) -> bytes:
        return self._hashes.tobytes()

    @property
    def digest(self) -> str:
        """A digest that identifies these inputs."""
        return hashlib.sha256(self.as_bytes()).hexdigest()

    @cached_property
    def _table(self) -> npt.NDArray[np.uint64]:
        return np.frombuffer(self.as_bytes(), dtype=np.uint64).reshape(-1, 2)

    @cached_property
    def _by_name(self) -> npt.NDArray[np.intp]:
        return np.argsort(self._table[:, 0], kind="stable")

    def find(self, names: npt.NDArray[np.uint64]) -> npt.NDArray[np.intp]:
        """Return the number of the file with each hashed name, or -1."""
        if not len(self):
            return np.full(len(names), -1)
        places = np.searchsorted(self._table[self._by_name, 0], names).clip(max=len(self._table) - 1)
        numbers = self._by_name[places]
        return np.where(self._table[numbers, 0] == names, numbers, -1)

    def number_of(self, source: str) -> int:
        """Return the number of a file by its path, or -1."""
        return int(self.find(np.array([_hash(source)], dtype=np.uint64))[0])

    def unchanged_from(self, old: Stamps) -> npt.NDArray[np.intp]:
        """Return, for each file, its number among the old inputs, or -1 if it is new, has changed or has moved.

        If a file was given twice, all files count as changed.
        """
        numbers = old.find(self._table[:, 0])
        if not len(numbers) or not len(old) or len(np.unique(old._table[:, 0])) < len(old):
            return np.full(len(numbers), -1)
        numbers = np.where(old._table[numbers, 1] == self._table[:, 1], numbers, -1)
        highest_before = np.append(-1, np.maximum.accumulate(numbers)[:-1])
        return np.where(numbers > highest_before, numbers, -1)

    def gone_from(self, old: Stamps) -> int:
        """Return how many of the old files do not exist any more."""
        there = self._table[self._table[:, 1] != _MISSING, 0]
        old_there = old._table[old._table[:, 1] != _MISSING, 0]
        return int(np.count_nonzero(~np.isin(old_there, there)))


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogateescape"), digest_size=8).digest())


@dataclass(slots=True)
class Survey:
    """A summary of the inputs, computed without reading them."""

    pages: int = 0
    """Number of files that are pages."""
    sources: int = 0
    """Number of files that contain many pages."""
    size: int = 0
    """Size of the sources in bytes."""
    stamps: Stamps = field(default_factory=Stamps)
    is_there: bool = False
    """Whether any input exists."""
    empty: list[str] = field(default_factory=list)
    """Sources without any bytes."""


def survey(inputs: Sequence[str]) -> Survey:
    """Count the input files without reading them. Raises an error if a package for reading them is missing."""
    seen = Survey()
    needs: dict[tuple[str, str], str] = {}
    for file in find_files(inputs):
        try:
            status = file.path.stat()
        except OSError:
            status = None
        seen.is_there = seen.is_there or status is not None
        seen.stamps.add(file.path, status)
        source = source_of(file.path)
        if source is None:
            seen.pages += 1
            continue
        seen.sources += 1
        if source.needs:
            needs.setdefault(source.needs, file.name)
        size = status.st_size if status and stat.S_ISREG(status.st_mode) else 0
        seen.size += size
        if status and size == 0:
            seen.empty.append(file.name)
    for (package, extra), name in needs.items():
        require([package], extra, f"reading {name}")
    return seen


def size_before(inputs: Sequence[str], number: int) -> int:
    """Return the total size of the sources among the first `number` input files."""
    paths = (file.path for file in islice(find_files(inputs), number) if source_of(file.path))
    return sum(path.stat().st_size for path in paths if path.is_file())


def input_warnings(inputs: Sequence[str], seen: Survey) -> Iterator[str]:
    """Yield warnings about empty files, and about lines and tables that are ignored because there are also pages."""

    def unread_files() -> Iterator[Path]:
        for directory in (Path(name) for name in inputs if Path(name).is_dir()):
            suffixes = tuple(suffix for suffix in SOURCES if not SOURCES.get(suffix).archive)
            first = next(_find_below(directory)).path
            if not first.name.lower().endswith(suffixes):
                yield from _files_below(directory, suffixes)

    first = next(unread_files(), None)
    if first is not None:
        yield f"{first}: not read, as all lines and tables beside pages or archives; to read them, give their names"
    if seen.empty:
        more = f", and {len(seen.empty) - 1:,} more" if len(seen.empty) > 1 else ""
        yield f"empty files, which have no pages: {seen.empty[0]}{more}"


# Reading records.


def read_file(file: InputFile, options: ReadOptions, start: int = 0) -> Iterator[Record]:
    """Read the records of a file, starting at a record number. A page file has one record."""
    source = source_of(file.path)
    if source is None:
        if start == 0:
            yield page_record(file.path, file.place, file.name)
        return
    position = start = max(start, file.start)
    try:
        file_size(file.path)  # raises OSError for pipes and devices
        for record in source.read(file.path, options, file.start if file.offset else start, file.offset):
            if file.end is not None and record.origin.position >= file.end:
                return
            if record.origin.position >= start:
                yield record
                position = record.origin.position + 1
    except OSError as error:
        yield unread_record(file, position, Kind.READ, error.strerror or str(error))


def unread_record(file: InputFile, position: int, kind: Kind, words: str) -> Record:
    """Return the failed record that represents the unread rest of a file, starting at a record number."""
    source = str(file.path)
    name = "" if position else source
    return broken_record(Origin(source, position, rest=True), kind, _UNREAD_WORDS[position > 0] + words, name=name)


def is_unread(reason: str) -> bool:
    """Whether a failure reason belongs to a record that represents the unread rest of a file."""
    return reason.startswith(_UNREAD_WORDS)


def read_files(files: Iterable[InputFile], options: ReadOptions) -> Iterator[Record]:
    """Read the records of files in this process."""
    for file in files:
        yield from read_file(file, options)


# Retries: the records that an earlier run failed on.


def read_failed(path: Path) -> Iterator[Record]:
    """Read the records in a failed.jsonl, without their pages."""
    with open_regular(path) as lines:
        for number, line in enumerate(lines, start=1):
            try:
                fields = json.loads(line)
                origin = Origin(fields["source"], int(fields["position"]), bool(fields.get("rest")))
                failed = Record("", Path(fields["place"]), url=fields.get("url") or "", origin=origin)
            except (ValueError, KeyError, TypeError) as error:
                raise DataError(f"{path}:{number}: not a line of a failed.jsonl") from error
            if fields.get("unit") not in (None, "", "row"):  # written by version 0.1.0, with offsets instead of numbers
                raise DataError(f"{path}:{number}: an older version wrote this file; clean the inputs again")
            yield failed


class Wanted:
    """The records that a retry cleans again."""

    def __init__(self, failed: Iterable[Record]) -> None:
        self.failed = tuple(failed)
        self.rests: dict[str, int] = {}
        """Files to be read to their end, with the number of the first record to read."""
        self._positions: dict[str, set[int]] = {}
        for record in self.failed:
            source, position, is_rest = record.origin
            if is_rest:
                self.rests[source] = min(position, self.rests.get(source, position))
            else:
                self._positions.setdefault(source, set()).add(position)

    def __contains__(self, record: Record) -> bool:
        source, position, _ = record.origin
        return position in self._positions.get(source, ()) or position >= self.rests.get(source, _NEVER)

    def files(self) -> list[InputFile]:
        """Return the files with records to clean again."""
        places = {record.origin.source: record.place for record in self.failed}
        return [InputFile(Path(source), place, source) for source, place in places.items()]

    def read(self, file: InputFile, options: ReadOptions, start: int) -> Iterator[Record]:
        """Read the wanted records of a file. Those that no longer exist become failed records."""
        source = str(file.path)
        rest = max(self.rests.get(source, _NEVER), start)
        waiting = deque(sorted(position for position in self._positions.get(source, ()) if start <= position < rest))
        unread: list[Record] = []
        first = min([*waiting, rest])

        def lost_record(position: int) -> Record:
            return broken_record(Origin(source, position), Kind.READ, f"there is no record {position:,} any more")

        for record in read_file(file, options, first) if first < _NEVER else ():
            position = record.origin.position
            if record.origin.rest:
                unread = [replace(record, origin=Origin(source, max(position, rest), rest=True))]
                break
            while waiting and waiting[0] < position:
                yield lost_record(waiting.popleft())
            if position >= rest or (waiting and waiting[0] == position):
                yield record
                if waiting:
                    waiting.popleft()
            if not waiting and rest == _NEVER:
                return
        yield from map(lost_record, waiting)
        if rest < _NEVER:
            yield from unread
