"""The output directory of a run: complete parts and their manifest.

A part is written under a temporary name, renamed, and then added to the manifest, together with its failed records. A
resumed run continues after the last part in the manifest. Segments that are not in a part yet wait in a hidden
directory. The same records give the same bytes, so the result does not depend on interruptions.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, suppress
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, TypedDict

from victorpy.base.files import open_regular, write_atomically
from victorpy.base.plain import Inside, checked
from victorpy.batch.inputs import Stamps, beside
from victorpy.batch.outcome import Counts
from victorpy.batch.sinks import SINKS, as_line
from victorpy.errors import OutputError

FORMAT = 2
MANIFEST = "manifest.jsonl"
SPARK_SETTINGS = "_settings.json"
"""File with the settings of a Spark run."""


class _Failure(TypedDict):
    source: str
    position: int
    place: str


class _Part(TypedDict):
    """The line of a manifest about a part, without fields that are only shown."""

    part: Inside
    next: list[int] | None
    last: tuple[int, int]
    failures: list[_Failure]
    repeats: list[dict[str, Any]]
    kinds: dict[str, int]
    bytes: int


class Store:
    """An output directory with its manifest, locked for one run."""

    def __init__(
        self,
        directory: Path,
        settings: Mapping[str, Any],
        label: str = "",
        shared: bool = False,
        side: Path | None = None,
    ) -> None:
        """Read the manifest of an earlier run. Call `begin` if there is none.

        All file names begin with `label`. A `shared` directory contains the output of several independent runs. Files
        that are not parts are in `side`, which may be another directory.
        """
        self.directory = directory
        self.side = side or directory
        self.label = label
        self.settings = dict(settings)
        self._is_shared = shared
        self._made_directory = not directory.exists()
        self.manifest_path = self.side / f"{label}{MANIFEST}"
        head = read_head(self.manifest_path) or read_head(directory / MANIFEST)
        if head.get("format", FORMAT) != FORMAT:
            raise OutputError(f"{directory}: an older version has written this output; choose another directory")
        for place in (directory, self.side):
            place.mkdir(parents=True, exist_ok=True)
        self._opened = directory.stat()
        self.stamps_path = self.side / f".{label}inputs"
        """File with the stamps of the input files."""
        self.previous = self.side / f".{label}previous"
        """Directory for the parts of an earlier run, until a new run has replaced them."""
        self.segments = self.side / f".{label}segments"
        """Directory for finished stretches that are not in a part yet."""
        self.runs_path = self.side / f".{label}runs"
        """Seconds, pages and bytes of every run into this directory."""
        self._is_new = False
        self._manifest = self._lock()
        try:
            self._read_manifest()
        except BaseException:
            self._manifest.close()
            raise

    def _lock(self) -> BinaryIO:
        file = self.manifest_path.open("r+b" if self.manifest_path.exists() else "w+b")
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:
            pass
        except OSError as error:
            file.close()
            raise OutputError(f"{self.directory}: another run is writing there; wait for it to finish") from error
        return file

    def _read_manifest(self) -> None:
        self.counts = Counts()
        """Counts of the records in the parts."""
        self.parts: list[str] = []
        self.next: list[int] | None = None
        """Where the next part begins."""
        self.last = (0, 0)
        """Number of the file and of the record in it after the last part."""
        self.complete = False
        self.is_begun = False
        self.earlier: dict[str, Any] | None = None
        """Settings of the earlier run that wrote the manifest or the parts in `previous`."""
        self._size = 0  # size of the manifest's complete lines
        for entry, end in read_entries(self.manifest_path):
            self._size = end
            if not self.is_begun:
                self.is_begun, self.earlier = True, dict(entry.get("settings", {}))
            elif entry.get("complete"):
                self.complete = True
            elif "part" in entry:
                self._count(entry)
            else:
                raise OutputError(f"{self.manifest_path}: damaged: an entry without a part; choose another directory")
        self._manifest.truncate(self._size)
        if not self.is_begun and (self.previous / MANIFEST).exists():
            self.earlier = read_head(self.previous / MANIFEST).get("settings")

    def begin(self, notes: Mapping[str, Any], stamps: bytes = b"") -> None:
        """Start a run. The manifest also records `notes`, which may differ when the run is resumed."""
        unknown_part = next(self.directory.glob("part-*"), None) if not self.label else None
        if unknown_part is not None and not self.previous.exists():
            raise OutputError(f"{unknown_part}: this file exists, but there is no manifest; choose another directory")
        self._is_new = True
        if stamps:
            write_atomically(self.stamps_path, stamps, alone=True)
        self._append({"format": FORMAT, "settings": self.settings, **notes})

    def set_aside(self, reuse: bool) -> None:
        """Move the parts of the earlier run to `previous`. With `reuse`, unchanged rows will be used again.

        If the program is killed during this, the next run completes it.
        """
        self.delete_temporary()
        self.runs_path.unlink(missing_ok=True)
        is_update = (self.previous / MANIFEST).exists()  # true if the earlier run was an unfinished update
        number = len(list(self.previous.rglob("*"))) if is_update else 0
        for part in self.finished_parts():
            name = f"{number}-{part.name}" if is_update else part.relative_to(self.directory)
            (self.previous / name).parent.mkdir(parents=True, exist_ok=True)
            if not reuse and (self.earlier or {}).get("to") != "folder":
                part.unlink(missing_ok=True)
            elif part.exists():
                part.replace(self.previous / name)
        self.previous.mkdir(exist_ok=True)
        if not is_update:
            if self.stamps_path.exists():
                self.stamps_path.replace(self.previous / "inputs")
            write_atomically(self.previous / MANIFEST, self.manifest_path.read_bytes(), alone=True)
        if not reuse:
            (self.previous / "inputs").unlink(missing_ok=True)
        if not self._is_shared:
            for pattern in ("retry-*.jsonl", "failed.jsonl", "replicas.jsonl", ".replicas.sqlite"):
                for path in self.side.glob(pattern):
                    path.unlink()
            folder = "_index/" if (self.earlier or {}).get("to") == "folder" else ""
            for path in self.directory.glob(f"{folder}part-*"):  # written by a killed run, but not listed
                path.unlink()
        self._manifest.truncate(0)
        self._read_manifest()

    def delete_temporary(self) -> None:
        """Delete the temporary directories of the run."""
        for name in ("segments", "spill"):
            shutil.rmtree(self.side / f".{self.label}{name}", ignore_errors=True)

    def previous_stamps(self) -> Stamps:
        """Return the stamps of the earlier run's input files."""
        moved = self.previous / "inputs"
        path = moved if (self.previous / MANIFEST).exists() else self.stamps_path
        return Stamps(path.read_bytes() if path.exists() else b"")

    def previous_parts(self) -> tuple[list[Path], tuple[int, int] | None]:
        """Return the parts that were set aside, and the position at which an incomplete run stopped."""
        entries = [entry for entry, _ in read_entries(self.previous / MANIFEST)][1:]
        parts = [entry for entry in entries if "part" in entry]
        is_complete = any(entry.get("complete") for entry in entries)
        file, position = parts[-1]["last"] if parts else (0, 0)
        return [self.previous / part["part"] for part in parts], None if is_complete else (file, position)

    def failures(self) -> Iterator[dict[str, Any]]:
        """Yield the failed records of the finished parts."""
        for entry, _ in read_entries(self.manifest_path):
            yield from entry.get("failures", ())

    def _count(self, entry: Mapping[str, Any]) -> None:
        self.parts.append(entry["part"])
        self.next, self.last = entry["next"], tuple(entry["last"])
        self.counts.add_stored(entry)

    def _append(self, entry: Mapping[str, Any]) -> None:
        self.check_directory()
        self._manifest.seek(self._size)
        self._manifest.write(json.dumps(entry).encode() + b"\n")
        self._manifest.flush()
        os.fsync(self._manifest.fileno())
        self._size = self._manifest.tell()

    def check_directory(self) -> None:
        """Raise an error if the output directory or the manifest was removed or replaced during the run."""
        try:
            is_there = os.path.samestat(self.manifest_path.stat(), os.fstat(self._manifest.fileno()))
            is_there = is_there and os.path.samestat(self.directory.stat(), self._opened)
        except OSError:
            is_there = False
        if not is_there:
            raise OutputError(f"{self.directory}: the directory was removed or replaced during the run; start again")

    def finished_parts(self) -> list[Path]:
        """Return all parts in this directory, except those of other runs that share it."""
        manifests = [path for path in sorted(self.side.glob("*manifest.jsonl")) if not path.name.startswith(".")]
        entries = chain.from_iterable(map(read_entries, [self.manifest_path] if self._is_shared else manifests))
        return [self.directory / entry["part"] for entry, _ in entries if "part" in entry]

    def part_path(self, number: int, folder: str, suffix: str) -> tuple[Path, Path]:
        """Return the path of a part, and the temporary path under which it is written."""
        self.check_directory()
        place = self.directory if self._is_shared else self.directory / folder
        place.mkdir(exist_ok=True)
        name = f"{self.label}part-{number:07d}{suffix}"
        return place / name, self.segments / f"{name}.tmp"

    def commit(self, path: Path, temporary: Path, digest: str, entry: Mapping[str, Any]) -> None:
        """Rename a part and add it to the manifest."""
        self.check_directory()
        temporary.replace(path)
        self.add_entry({"part": path.relative_to(self.directory).as_posix(), "sha256": digest, **entry})

    def add_entry(self, entry: Mapping[str, Any]) -> None:
        """Add a part to the manifest."""
        self._append(entry)
        self._count(entry)

    def finish(self) -> None:
        """Mark the run as complete."""
        if not self._is_shared:
            self._write_lists()
        if not self.complete:
            self._append({"complete": True, **self.counts.as_dict()})
            self.complete = True
        self.delete_temporary()

    def _write_lists(self) -> None:
        """Write failed.jsonl, and replicas.jsonl if there are any, from the manifest."""
        for name, field in (("failed", "failures"), ("replicas", "repeats")):
            path = self.side / f"{self.label}{name}.jsonl"
            temporary = path.with_name(f".{path.name}.tmp")
            with temporary.open("wb") as file:
                for entry, _ in read_entries(self.manifest_path):
                    file.writelines(as_line(record) for record in entry.get(field, ()))
                is_needed = file.tell() > 0 or name == "failed"
            if is_needed:
                temporary.replace(path)
            else:
                temporary.unlink()

    def close(self) -> None:
        """Unlock the directory. An incomplete run writes failed.jsonl."""
        if not self.complete and not self._is_shared:
            with suppress(OSError):  # on a full disk, the resumed run writes the file
                self._write_lists()
        with suppress(OSError):
            self._manifest.close()

    def add_run(self, run: Mapping[str, Any]) -> None:
        """Store the seconds, pages and bytes of this run so far."""
        with self.runs_path.open("a", encoding="ascii") as file:
            file.write(json.dumps(run) + "\n")

    def runs(self) -> list[dict[str, Any]]:
        """Return the seconds, pages and bytes of every run, from the last line about each."""
        entries = read_entries(self.runs_path) if self.runs_path.exists() else ()
        return list({entry["began"]: entry for entry, _ in entries}.values())

    def discard(self) -> None:
        self.delete_temporary()
        own_files = (self.stamps_path, self.runs_path, self.manifest_path)
        for path in [*(self.directory / part for part in self.parts), *own_files]:
            path.unlink(missing_ok=True)
        self.complete = True  # keep `close` from writing failed.jsonl
        if self._made_directory or self._is_shared:
            for place in (self.directory, self.side):
                with suppress(OSError):  # not empty, or removed already
                    place.rmdir()

    def give_back(self) -> None:
        """Undo the start of a run that has written nothing, so that other commands can use the directory."""
        finished = chain.from_iterable(self.side.glob(f".{self.label}*/*.{suffix}") for suffix in ("log", "spill"))
        is_empty = not (self.parts or self.previous.exists() or any(path.stat().st_size for path in finished))
        if self._is_new and is_empty:
            self.discard()


def split_label(number: int, count: int) -> str:
    """Return the prefix of the files of a part of the inputs.

    >>> split_label(3, 100)
    'split-003-of-100-'
    """
    return f"split-{number:0{len(str(count))}d}-of-{count}-"


def merge_splits(directory: Path) -> dict[str, Any]:
    """Merge the manifests of all parts of the inputs. Returns the summary.

    Raises an error if a part is missing or incomplete, or has other settings.
    """
    side = beside(directory) if beside(directory).is_dir() else directory
    with ExitStack() as stack:
        splits: list[Store] = []
        for manifest in sorted(side.glob(f"split-*-{MANIFEST}")):
            settings, label = read_head(manifest).get("settings", {}), manifest.name.removesuffix(MANIFEST)
            splits.append(stack.enter_context(closing(Store(directory, settings, label, shared=True, side=side))))
        if not splits:
            raise OutputError(f"{directory}: there are no parts to merge; victor clean --part 1/2 writes one")
        head = read_head(side / MANIFEST)
        if head and "merged" not in head:
            refuse_mixed_parts(directory, side, is_part=True)
        settings = {name: value for name, value in splits[0].settings.items() if name != "part"}
        count = splits[0].settings["part"][1]
        complete = [split.settings["part"] for split in splits if split.complete]
        absent = [f"{number}/{count}" for number in range(1, count + 1) if [number, count] not in complete]
        if absent:
            more = f" and {len(absent) - 10:,} more" if len(absent) > 10 else ""
            raise OutputError(f"{directory}: not complete: --part {', '.join(absent[:10])}{more}; run them, then merge")
        for split in splits:
            refuse_other_settings(directory, {**settings, "part": 0}, {**split.settings, "part": 0})
            if split.settings[INPUT_FILES] != settings[INPUT_FILES]:
                raise OutputError(
                    f"{directory}: the input files have changed between the parts; clean all of them again"
                )
            for part in split.parts:
                if not (directory / part).is_file():
                    raise OutputError(f"{directory / part}: this file is missing")
        (side / MANIFEST).unlink(missing_ok=True)  # a merge that was interrupted
        merged = stack.enter_context(closing(Store(directory, settings, side=side)))
        notes = {"choice": read_head(splits[0].manifest_path).get("choice"), "merged": count}
        merged.begin(notes, splits[0].stamps_path.read_bytes())
        for split in splits:
            for entry, _ in read_entries(split.manifest_path):
                if "part" in entry:
                    merged.add_entry(entry)
        merged.finish()
        runs = [run for split in splits for run in split.runs()]
        for run in runs:
            merged.add_run(run)
        for split in splits:
            for path in (split.manifest_path, split.stamps_path, split.runs_path):
                path.unlink(missing_ok=True)
    return {**merged.counts.as_dict(), **sum_runs(runs)}


def summarise(counts: Counts, runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the counts and times of all runs. Those of the last run have names that end in ``-now``."""
    of_now = {f"{name}-now": runs[-1][name] for name in ("pages", "bytes", "seconds", "cpu")}
    return {**counts.as_dict(), **sum_runs(runs), **of_now}


def sum_runs(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the total times of some runs, and the times of each run."""
    return {**{name: round(sum(run[name] for run in runs), 3) for name in ("seconds", "cpu")}, "runs": runs}


def side_of(directory: Path, to: str) -> Path:
    """Return the directory for the manifest and the lists of a run, by its kind of output."""
    return beside(directory) if SINKS.get(to).beside else directory


_OPTIONS = {
    "victorpy": "the version of victorpy",
    "inputs": "the list of inputs",
    "content type": "--charset",
    "records a part": "--shard-records",
    "files a shard": "--shard-files",
    "largest page": "--max-size",
    "parameters": "--param",
    "parts": "--with, --without or --headline",
    "filters": "a filter",
    "buckets": "the number of site groups",
}
"""Options or descriptions of settings whose name in the manifest differs from the option."""
INPUT_FILES = "input files"
"""The setting that identifies the input files, as a digest of their names, sizes and times."""


def other_settings(previous: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, str]:
    """Return the names of settings that differ, with a description for the user, except `INPUT_FILES`."""

    def describe(name: str) -> str:
        option = _OPTIONS.get(name, f"--{name.replace(' ', '-')}")
        values = [previous.get(name), settings.get(name)]
        if name != "model" and all(value is None or (isinstance(value, str) and len(value) < 60) for value in values):
            before, now = ("not given" if value is None else value for value in values)
            return f"{option} was {before} and is {now}"
        return f"{option} differs"

    names = [name for name in {**previous, **settings} if previous.get(name) != settings.get(name)]
    return {name: describe(name) for name in names if name != INPUT_FILES}


def refuse_other_settings(place: Path | str, previous: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    """Raise an error if a directory contains the output of a run with other settings."""
    differing = other_settings(previous, settings)
    if differing:
        raise OutputError(
            f"{place}: contains the output of another command ({'; '.join(differing.values())}); "
            "give the same command to resume that run, choose another directory, or use --force to replace the output"
        )


def refuse_mixed_parts(directory: Path, side: Path, is_part: bool) -> None:
    """Raise an error if a directory has parts of the inputs and the run has none, or the other way round."""
    if is_part and read_head(side / MANIFEST):
        raise OutputError(
            f"{directory}: contains the output of a run without --part, or of merged parts; choose another directory"
        )
    if not is_part and any(side.glob(f"split-*-{MANIFEST}")):
        advice = f"run victor merge {directory}, or choose another directory"
        raise OutputError(f"{directory}: contains parts that are not merged; {advice}")


def refuse_gone_files(place: Path | str, old: Stamps, stamps: Stamps) -> None:
    """Raise an error if input files of the last run no longer exist, because their rows would be lost."""
    gone = stamps.gone_from(old)
    if gone:
        raise OutputError(
            f"{place}: {gone:,} input files of the last run are gone; bring them back, or use --force to start over "
            "without them"
        )


def read_entries(manifest: Path) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield the complete lines of a manifest, and the byte offset of the end of each."""
    end = 0
    with open_regular(manifest) as lines:
        for line in lines:
            try:
                entry = json.loads(line) if line.endswith(b"\n") else None
            except ValueError:
                return
            if not isinstance(entry, dict):
                return
            if "part" in entry:
                checked(entry, _Part, manifest)
            end += len(line)
            yield entry, end


def settings_beside(retry: Path) -> dict[str, Any]:
    """Return the settings of the run that wrote a failed.jsonl. Empty if the file has been moved."""
    manifest = retry.with_name(retry.name.replace("failed.jsonl", MANIFEST))
    head = read_head(manifest) or read_head(retry.with_name(SPARK_SETTINGS))
    return {**head.get("settings", {}), "choice": head.get("choice", {})} if head else {}


def read_head(path: Path) -> dict[str, Any]:
    """Return the first line of a manifest. Empty if there is no manifest."""
    try:
        with open_regular(path) as lines:
            head = json.loads(lines.readline())
    except (OSError, ValueError):
        return {}
    return head if isinstance(head, dict) and isinstance(head.get("settings"), dict) else {}
