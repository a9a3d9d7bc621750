"""The output directory of a run: complete parts, and a manifest that lists them.

A part is written under a temporary name, renamed, and then added to the manifest, together with its failed records.
A resumed run writes all parts again that are not in the manifest. The same records give the same bytes, so the result
does not depend on interruptions.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from victorpy.base.files import write_atomically
from victorpy.batch.inputs import Mark, Stamps, beside
from victorpy.batch.outcome import Outcome, describe_place
from victorpy.batch.record import Record, Status
from victorpy.batch.sinks import SINKS, Sink, Write, as_line
from victorpy.errors import OutputError

FORMAT = 1
MANIFEST = "manifest.jsonl"
SPARK_SETTINGS = "_settings.json"
"""File with the settings of a Spark run."""


class Counts:
    """Number of records by status and by kind of problem, and their total size."""

    def __init__(self, entry: Mapping[str, Any] | None = None) -> None:
        self.statuses: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()
        self.bytes = 0
        if entry:
            self.add_stored(entry)

    def add(self, outcome: Outcome) -> None:
        """Count a record."""
        self.statuses[str(outcome.status)] += 1
        self.bytes += outcome.size
        if outcome.kind is not None:
            self.kinds[str(outcome.kind)] += 1

    def add_stored(self, entry: Mapping[str, Any]) -> None:
        """Add counts that `as_dict` returned."""
        self.statuses.update({str(status): int(entry.get(str(status), 0)) for status in Status})
        self.kinds.update(entry["kinds"])
        self.bytes += int(entry["bytes"])

    @property
    def pages(self) -> int:
        """Number of records."""
        return sum(self.statuses.values())

    def as_dict(self) -> dict[str, Any]:
        """Return the counts by name."""
        by_status = {str(status): self.statuses[str(status)] for status in Status}
        return {"pages": self.pages, **by_status, "bytes": self.bytes, "kinds": dict(sorted(self.kinds.items()))}


@dataclass(slots=True)
class _Part:
    """The part that is being written."""

    path: Path
    temporary: Path
    open: ExitStack
    write: Write
    last: Mark
    counts: Counts = field(default_factory=Counts)
    failures: list[dict[str, Any]] = field(default_factory=list)
    repeats: list[dict[str, Any]] = field(default_factory=list)


class Store:
    """An output directory with its manifest, locked for one run."""

    def __init__(
        self,
        directory: Path,
        settings: Mapping[str, Any],
        label: str = "",
        plain: bool = False,
        side: Path | None = None,
    ) -> None:
        """Read the manifest of an earlier run. Call `begin` if there is none.

        All file names begin with `label`. In a `plain` run, `directory` has nothing but parts and manifests. Files that
        are not parts are in `side`, which may be another directory.
        """
        self.directory = directory
        self.side = side or directory
        if self.side != directory and (directory / MANIFEST).exists():
            raise OutputError(f"{directory}: an older version has written this output; choose another directory")
        self.label = label
        self.settings = dict(settings)
        self._is_plain = plain
        self._made_directory = not directory.exists()
        for place in (directory, self.side):
            place.mkdir(parents=True, exist_ok=True)
        self.manifest_path = self.side / f"{label}{MANIFEST}"
        self.stamps_path = self.side / f".{label}inputs"
        """Stamps of the input files."""
        self.previous = self.side / f".{label}previous"
        """Directory for the parts of an earlier run, until a new run has replaced them."""
        self.aside: Store | None = None
        """Directory for cleaned pages, until replicas are known."""
        self._part: _Part | None = None
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
        self.parts: list[str] = []
        self.last: Mark | None = None
        self.complete = False
        self.is_begun = False
        self.earlier: dict[str, Any] | None = None
        """Settings of the run that has written the manifest, or the parts in `previous`."""
        self._begun: dict[str, Any] | None = None
        """The manifest's line about a part that was interrupted."""
        self._size = 0  # of the lines that stay in the manifest
        for entry, end in _read_entries(self.manifest_path):
            if entry.get("interrupted"):
                is_whole = _digest(self.directory / entry["part"]) == entry["sha256"]
                self._begun = entry if is_whole else None
                break
            self._size = end
            if not self.is_begun:
                self.is_begun, self.earlier = True, dict(entry.get("settings", {}))
            elif entry.get("complete"):
                self.complete = True
            else:
                self._add_entry(entry)
        if self._begun is None:
            self._manifest.truncate(self._size)
        if not self.is_begun and (self.previous / MANIFEST).exists():
            self.earlier = read_head(self.previous / MANIFEST).get("settings")

    def begin(self, notes: Mapping[str, Any], stamps: bytes = b"") -> None:
        """Start a run. The manifest records `notes`, which may change when a run is resumed."""
        unknown_part = next(self.directory.glob("part-*"), None) if not self.label else None
        if unknown_part is not None and not self.previous.exists():
            raise OutputError(f"{unknown_part}: this file exists, but there is no manifest; choose another directory")
        self._is_new = True
        if stamps:
            write_atomically(self.stamps_path, stamps, alone=True)
        self._append({"format": FORMAT, "settings": self.settings, **notes})

    def set_aside(self, reuse: bool) -> None:
        """Move the parts of the earlier run to `previous`. With `reuse`, unchanged rows will be used again.

        If the program is killed meanwhile, the next run does the rest.
        """
        shutil.rmtree(self.side / f".{self.label}spill", ignore_errors=True)
        shutil.rmtree(self.side / f".{self.label}replicas-aside", ignore_errors=True)
        is_update = (self.previous / MANIFEST).exists()  # then the earlier run has replaced some parts of another one
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
        if not self._is_plain:
            for pattern in ("retry-*.jsonl", "failed.jsonl", "replicas.jsonl", ".replicas.sqlite"):
                for path in self.side.glob(pattern):
                    path.unlink()
            folder = "_index/" if (self.earlier or {}).get("to") == "folder" else ""
            for path in self.directory.glob(f"{folder}part-*"):  # written, but not listed before a kill
                path.unlink()
        self._manifest.truncate(0)
        self._read_manifest()

    def previous_stamps(self) -> Stamps:
        """Return the stamps of the earlier run's input files."""
        moved = self.previous / "inputs"
        path = moved if (self.previous / MANIFEST).exists() else self.stamps_path
        return Stamps(path.read_bytes() if path.exists() else b"")

    def previous_parts(self) -> tuple[list[Path], Mark | None, list[dict[str, Any]]]:
        """Return the parts that were set aside, where an incomplete run has stopped, and the failed records."""
        entries = [entry for entry, _ in _read_entries(self.previous / MANIFEST)][1:]
        parts = [entry for entry in entries if "part" in entry]
        is_complete = any(entry.get("complete") for entry in entries)
        last = None if is_complete else Mark(*parts[-1]["last"]) if parts else Mark(0, 0)
        failures = [failure for part in parts for failure in part["failures"]]
        return [self.previous / part["part"] for part in parts], last, failures

    def _add_entry(self, entry: Mapping[str, Any]) -> None:
        self.parts.append(entry["part"])
        self.last = Mark(*entry["last"])
        self.counts.add_stored(entry)

    def _append(self, entry: Mapping[str, Any]) -> None:
        self.check_directory()
        self._manifest.truncate(self._size)
        self._manifest.seek(self._size)
        self._manifest.write(json.dumps(entry).encode() + b"\n")
        self._manifest.flush()
        os.fsync(self._manifest.fileno())
        if not entry.get("interrupted"):
            self._size = self._manifest.tell()

    def check_directory(self) -> None:
        """Raise if the manifest is not in the directory any more."""
        try:
            is_there = os.path.samestat(self.manifest_path.stat(), os.fstat(self._manifest.fileno()))
        except OSError:
            is_there = False
        if not is_there:
            raise OutputError(f"{self.directory}: the directory was removed or replaced during the run; start again")

    @property
    def done(self) -> Counts:
        """Counts of the records in the parts."""
        counts = Counts(self.counts.as_dict())
        if self._begun is not None:
            counts.add_stored(self._begun)
        return counts

    @property
    def safe_pages(self) -> int:
        """Number of pages that a resumed run does not clean again."""
        return max(self.done.pages, self.aside.done.pages if self.aside else 0)

    @property
    def after(self) -> Mark | None:
        """The position in the inputs after which a resumed run reads."""
        return self.last if self._begun is None else Mark(*self._begun["last"])

    def finished_parts(self) -> list[Path]:
        """Return all parts in this directory. In a plain run, other runs have parts of their own."""
        manifests = [path for path in sorted(self.side.glob("*manifest.jsonl")) if not path.name.startswith(".")]
        entries = chain.from_iterable(map(_read_entries, [self.manifest_path] if self._is_plain else manifests))
        return [self.directory / entry["part"] for entry, _ in entries if "part" in entry]

    def resume_part(self, sink: Sink) -> None:
        """Continue the part that was interrupted."""
        if self._begun is not None:
            self._open_part(sink, self._begun)
            self._begun = None

    def _open_part(self, sink: Sink, begun: Mapping[str, Any] | None = None) -> _Part:
        self.check_directory()
        folder = self.directory if self._is_plain else self.directory / sink.folder
        folder.mkdir(exist_ok=True)
        name = f"{self.label}part-{len(self.parts):07d}{sink.suffix}"
        temporary, stack = (folder if self.side == self.directory else self.side) / f".{name}.tmp", ExitStack()
        write = stack.enter_context(sink.part(temporary, folder / name if begun else None))
        self._part = part = _Part(folder / name, temporary, stack, write, Mark(0, 0), Counts(begun))
        if begun:
            part.last, part.failures, part.repeats = Mark(*begun["last"]), begun["failures"], begun["repeats"]
        return part

    def write(self, sink: Sink, mark: Mark, record: Record, outcome: Outcome) -> int:
        """Add a record to the current part or to a new part. Return the number of records in this part."""
        part = self._part or self._open_part(sink)
        part.write(record, outcome)
        part.last = mark
        part.counts.add(outcome)
        if outcome.status is Status.FAILED:
            failure = {
                "name": record.name,
                "url": record.url,
                "source": record.origin.source,
                "position": record.origin.position,
                "rest": record.origin.rest,
                "place": record.place.as_posix(),
                "kind": str(outcome.kind or ""),
                "reason": outcome.reason,
            }
            part.failures.append(failure)
        if outcome.repeats is not None:
            part.repeats.append({**describe_place(record, outcome), "repeats": outcome.repeats})
        return part.counts.pages

    def commit(self, interrupted: bool = False) -> None:
        """Rename the current part and add it to the manifest. A resumed run continues an `interrupted` part."""
        part = self._part
        if part is None:
            return
        part.open.close()
        with part.temporary.open("rb") as file:
            os.fsync(file.fileno())
        digest = _digest(part.temporary)
        self.check_directory()
        part.temporary.replace(part.path)
        entry = {
            "part": part.path.relative_to(self.directory).as_posix(),
            "sha256": digest,
            "last": list(part.last),
            **part.counts.as_dict(),
            "failures": part.failures,
            "repeats": part.repeats,
        }
        self._append({**entry, "interrupted": True} if interrupted else entry)
        self._part = None
        self._add_entry(entry)

    def finish(self) -> None:
        """Mark the run as complete."""
        self.commit()
        if not self._is_plain:
            self._write_lists()
        if not self.complete:
            self._append({"complete": True, **self.counts.as_dict()})
            self.complete = True

    def _write_lists(self) -> None:
        """Write failed.jsonl, and replicas.jsonl if there are any, from the manifest."""
        entries = [entry for entry, _ in _read_entries(self.manifest_path)]
        failures = [json.dumps(record).encode() + b"\n" for entry in entries for record in entry.get("failures", ())]
        repeats = [as_line(record) for entry in entries for record in entry.get("repeats", ())]
        write_atomically(self.side / f"{self.label}failed.jsonl", b"".join(failures), alone=True)
        if repeats:
            write_atomically(self.side / f"{self.label}replicas.jsonl", b"".join(repeats), alone=True)

    def close(self) -> None:
        """Unlock the directory. An incomplete run deletes its unfinished part and writes failed.jsonl."""
        self._abandon_part()
        if not self.complete and not self._is_plain:
            with suppress(OSError):  # on a full disk, the resumed run writes the file
                self._write_lists()
        with suppress(OSError):
            self._manifest.close()

    def discard(self) -> None:
        """Delete the manifest and the parts."""
        shutil.rmtree(self.side / f".{self.label}spill", ignore_errors=True)
        for path in [self.directory / part for part in self.parts] + [self.stamps_path, self.manifest_path]:
            path.unlink(missing_ok=True)
        self.complete = True  # so that `close` does not write failed.jsonl
        if self._made_directory or self._is_plain:
            for place in (self.directory, self.side):
                with suppress(OSError):  # not empty, or removed already
                    place.rmdir()

    def give_back(self) -> None:
        """Undo the start of a run that has written nothing, so that other commands can use the directory."""
        self._abandon_part()
        if self._is_new and not self.parts and not self.previous.exists():
            self.discard()

    def _abandon_part(self) -> None:
        if self._part is not None:
            with suppress(Exception):  # a full disk may make this fail too
                self._part.open.close()
            with suppress(OSError):
                self._part.temporary.unlink(missing_ok=True)
            self._part = None


def side_of(directory: Path, to: str) -> Path:
    """Return the directory for the manifest and the lists of a run, by its kind of output."""
    return beside(directory) if SINKS.get(to).beside else directory


def _digest(path: Path) -> str:
    """Return the SHA-256 of a file, or nothing if it does not exist."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return ""


INPUT_FILES = "input files"
"""The setting that identifies the input files, as a digest of their names, sizes and times."""


def other_settings(previous: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, str]:
    """Return the names of settings that differ, with a description, except `INPUT_FILES`."""

    def short(value: object) -> str:
        text = json.dumps(value, ensure_ascii=False)
        return text if len(text) < 60 else f"{text[:50]}..."

    return {
        name: f"{name} was {short(previous.get(name))} and is {short(settings.get(name))}"
        for name in {**previous, **settings}
        if previous.get(name) != settings.get(name) and name != INPUT_FILES
    }


def refuse_other_settings(place: Path | str, previous: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    """Raise if a directory contains the output of a run with other settings."""
    differing = other_settings(previous, settings)
    if differing:
        raise OutputError(
            f"{place}: contains the output of another command ({'; '.join(differing.values())}); "
            "give the same command to resume that run, choose another directory, or use --force to replace the output"
        )


def refuse_gone_files(place: Path | str, old: Stamps, stamps: Stamps) -> None:
    """Raise if input files of the last run are gone, because their rows would be lost."""
    gone = stamps.gone_from(old)
    if gone:
        raise OutputError(
            f"{place}: {gone:,} input files of the last run are gone; bring them back, or use --force to start over "
            "without them"
        )


def _read_entries(manifest: Path) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield the complete lines of a manifest, and the byte offset of the end of each."""
    end = 0
    with manifest.open("rb") as lines:
        for line in lines:
            try:
                entry = json.loads(line) if line.endswith(b"\n") else None
            except ValueError:
                return
            if entry is None:
                return
            end += len(line)
            yield entry, end


def settings_beside(retry: Path) -> dict[str, Any]:
    """Return the settings of the run that wrote a failed.jsonl, or nothing if the file has been moved."""
    manifest = retry.with_name(retry.name.replace("failed.jsonl", MANIFEST))
    head = read_head(manifest) or read_head(retry.with_name(SPARK_SETTINGS))
    return {**head.get("settings", {}), "choice": head.get("choice", {})} if head else {}


def read_head(path: Path) -> dict[str, Any]:
    """Return the first line of a manifest, or nothing if there is no manifest."""
    try:
        with path.open("rb") as lines:
            head = json.loads(lines.readline())
    except (OSError, ValueError):
        return {}
    return head if isinstance(head, dict) and isinstance(head.get("settings"), dict) else {}
