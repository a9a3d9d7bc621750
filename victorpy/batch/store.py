"""The output directory of a run: complete parts, and a manifest that lists them.

A part is written under a temporary name, renamed, and then added to the manifest, together with its failed records.
A resumed run writes all parts again that are not in the manifest. The same records give the same bytes, so the result
does not depend on interruptions.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from victorpy.base.files import write_atomically
from victorpy.batch.inputs import Mark
from victorpy.batch.outcome import Outcome, describe_place
from victorpy.batch.record import Record, Status
from victorpy.batch.sinks import Sink, Write, as_line
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
        self, directory: Path, settings: Mapping[str, Any], label: str = "", notes: Mapping[str, Any] | None = None
    ) -> None:
        """Start or resume a run. Raises if the directory belongs to a different run.

        All file names begin with `label`. The manifest records `notes`, which may change when a run is resumed.
        """
        self.directory = directory
        self.label = label
        self.is_temporary = label.startswith(".")
        """Whether the manifest and the parts are deleted in the end."""
        self.settings = dict(settings)
        self.counts = Counts()
        self.parts: list[str] = []
        self.last: Mark | None = None
        self.complete = False
        self.aside: Store | None = None
        """Directory for cleaned pages, until replicas are known."""
        self._part: _Part | None = None
        self._made_directory = not directory.exists()
        directory.mkdir(parents=True, exist_ok=True)
        self.manifest_path = directory / f"{label}{MANIFEST}"
        self._manifest = self._lock()
        try:
            self._is_new = self._read_manifest(notes or {})
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

    def _read_manifest(self, notes: Mapping[str, Any]) -> bool:
        """Read the list of parts, and remove an incomplete line. Return whether the run is new."""
        entries, size = _read_entries(self.manifest_path)
        self._manifest.truncate(size)
        self._manifest.seek(size)
        if not entries:
            unknown_part = next(self.directory.glob("part-*"), None) if not self.label else None
            if unknown_part is not None:
                raise OutputError(
                    f"{unknown_part}: this file exists, but there is no manifest; choose another directory"
                )
            self._append({"format": FORMAT, "settings": self.settings, **notes})
            return True
        refuse_other_settings(self.directory, entries[0].get("settings", {}), self.settings)
        for entry in entries[1:]:
            if entry.get("complete"):
                self.complete = True
            else:
                self._add_entry(entry)
        return False

    def _add_entry(self, entry: Mapping[str, Any]) -> None:
        self.parts.append(entry["part"])
        self.last = Mark(*entry["last"])
        self.counts.add_stored(entry)

    def _append(self, entry: Mapping[str, Any]) -> None:
        self._manifest.write(json.dumps(entry).encode() + b"\n")
        self._manifest.flush()
        os.fsync(self._manifest.fileno())

    @property
    def safe_pages(self) -> int:
        """Number of pages that a resumed run does not clean again."""
        return max(self.counts.pages, self.aside.counts.pages if self.aside else 0)

    def finished_parts(self) -> Iterable[Path]:
        """Return all parts in this directory, including those of other runs that are not temporary."""
        manifests = [path for path in sorted(self.directory.glob("*manifest.jsonl")) if not path.name.startswith(".")]
        for manifest in [self.manifest_path] if self.is_temporary else manifests:
            for entry in _read_entries(manifest)[0]:
                if "part" in entry:
                    yield self.directory / entry["part"]

    def write(self, sink: Sink, mark: Mark, record: Record, outcome: Outcome) -> int:
        """Add a record to the current part or to a new part. Return the number of records in this part."""
        if self._part is None:
            folder = self.directory if self.is_temporary else self.directory / sink.folder
            folder.mkdir(exist_ok=True)
            name = f"{self.label}part-{len(self.parts):05d}{sink.suffix}"
            temporary, stack = folder / f".{name}.tmp", ExitStack()
            self._part = _Part(folder / name, temporary, stack, stack.enter_context(sink.part(temporary)), mark)
        part = self._part
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

    def commit(self) -> None:
        """Rename the current part and add it to the manifest."""
        part = self._part
        if part is None:
            return
        part.open.close()
        with part.temporary.open("rb") as file:
            os.fsync(file.fileno())
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        part.temporary.replace(part.path)
        entry = {
            "part": part.path.relative_to(self.directory).as_posix(),
            "sha256": digest,
            "last": list(part.last),
            **part.counts.as_dict(),
            "failures": part.failures,
            "repeats": part.repeats,
        }
        self._append(entry)
        self._part = None
        self._add_entry(entry)

    def finish(self) -> None:
        """Mark the run as complete."""
        self.commit()
        if not self.is_temporary:
            self._write_lists()
        if not self.complete:
            self._append({"complete": True, **self.counts.as_dict()})
            self.complete = True

    def _write_lists(self) -> None:
        """Write failed.jsonl, and replicas.jsonl if there are any, from the manifest."""
        entries = _read_entries(self.manifest_path)[0]
        failures = [json.dumps(record).encode() + b"\n" for entry in entries for record in entry.get("failures", ())]
        repeats = [as_line(record) for entry in entries for record in entry.get("repeats", ())]
        write_atomically(self.directory / f"{self.label}failed.jsonl", b"".join(failures), alone=True)
        if repeats:
            write_atomically(self.directory / f"{self.label}replicas.jsonl", b"".join(repeats), alone=True)

    def close(self) -> None:
        """Unlock the directory. An incomplete run deletes its unfinished part and writes failed.jsonl."""
        self._abandon_part()
        if not self.complete and not self.is_temporary:
            with suppress(OSError):  # on a full disk, the resumed run writes the file
                self._write_lists()
        with suppress(OSError):
            self._manifest.close()

    def discard(self) -> None:
        """Delete the manifest and the parts."""
        for part in self.parts:
            (self.directory / part).unlink(missing_ok=True)
        self.manifest_path.unlink(missing_ok=True)

    def give_back(self) -> None:
        """Undo the start of a run that has written nothing, so that other commands can use the directory."""
        self._abandon_part()
        others = (path for path in self.directory.iterdir() if path != self.manifest_path)
        is_used = any(path.name.startswith(".") or not self.label for path in others) and not self.is_temporary
        if not self._is_new or self.parts or is_used:
            return
        self.complete = True  # so that `close` does not write failed.jsonl
        self.discard()
        if self._made_directory:
            with suppress(OSError):  # not empty
                self.directory.rmdir()

    def _abandon_part(self) -> None:
        if self._part is not None:
            with suppress(Exception):  # a full disk may make this fail too
                self._part.open.close()
            with suppress(OSError):
                self._part.temporary.unlink(missing_ok=True)
            self._part = None


def refuse_other_settings(place: Path | str, previous: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    """Raise if a directory contains the output of a run with other settings."""

    def short(value: object) -> str:
        text = json.dumps(value, ensure_ascii=False)
        return text if len(text) < 60 else f"{text[:50]}..."

    differing = {
        name: f"{name} was {short(previous.get(name))} and is {short(settings.get(name))}"
        for name in {**previous, **settings}
        if previous.get(name) != settings.get(name)
    }
    if "input files" in differing:  # only a digest
        differing["input files"] = "the input files changed"
        if "inputs" in differing:
            del differing["input files"]
    if differing:
        raise OutputError(
            f"{place}: contains the output of another command ({'; '.join(differing.values())}); "
            "give the same command to resume that run, or choose another directory"
        )


def _read_entries(manifest: Path) -> tuple[list[dict[str, Any]], int]:
    """Return the complete lines of a manifest, and their size in bytes."""
    entries: list[dict[str, Any]] = []
    size = 0
    for line in manifest.read_bytes().splitlines(keepends=True):
        try:
            if not line.endswith(b"\n"):
                break
            entries.append(json.loads(line))
        except ValueError:
            break
        size += len(line)
    return entries, size


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
