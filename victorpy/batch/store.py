"""The output directory of a run: complete parts, a manifest of them, and what it takes to resume.

A part is written under a temporary name, renamed, and then named in the manifest, together with the records in it that
failed. Parts that the manifest does not name are written again. Because the same records give the same bytes, an
interruption leaves no trace in the result.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from victorpy.base.files import write_atomically
from victorpy.batch.inputs import Mark
from victorpy.batch.outcome import Outcome, Status, describe_place
from victorpy.batch.record import Record
from victorpy.batch.sinks import Sink, as_line
from victorpy.errors import OutputError

FORMAT = 1
MANIFEST = "manifest.jsonl"
SPARK_SETTINGS = "_settings.json"
"""Where a run on Spark leaves its settings."""


class Counts:
    """How many records ended how, and how many bytes they had."""

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
        """Number of records, however they ended."""
        return sum(self.statuses.values())

    def as_dict(self) -> dict[str, Any]:
        """Return the counts by name."""
        by_status = {str(status): self.statuses[str(status)] for status in Status}
        return {"pages": self.pages, **by_status, "bytes": self.bytes, "kinds": dict(sorted(self.kinds.items()))}


class Store:
    """An output directory with its manifest, locked for one run."""

    def __init__(
        self, directory: Path, settings: Mapping[str, Any], label: str = "", notes: Mapping[str, Any] | None = None
    ) -> None:
        """Start or resume a run. Raises if the directory belongs to a different run.

        The names of all files begin with `label`. The first line of the manifest has `notes` besides the settings;
        they may differ when a run is resumed.
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
        """Where pages are kept that cannot be written yet."""
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

    @property
    def safe_pages(self) -> int:
        """Number of pages that need not be cleaned again."""
        return max(self.counts.pages, self.aside.counts.pages if self.aside else 0)

    def finished_parts(self) -> Iterable[Path]:
        """Return the files of all parts of this and of other runs into the same directory, except temporary ones."""
        manifests = [path for path in sorted(self.directory.glob("*manifest.jsonl")) if not path.name.startswith(".")]
        for manifest in [self.manifest_path] if self.is_temporary else manifests:
            for entry in _read_entries(manifest)[0]:
                if "part" in entry:
                    yield self.directory / entry["part"]

    def write(self, sink: Sink, mark: Mark, record: Record, outcome: Outcome) -> int:
        """Add a record to the current part, or begin a part with it. Return how many records the part has."""
        if self._part is None:
            folder = self.directory if self.is_temporary else self.directory / sink.folder
            folder.mkdir(exist_ok=True)
            self._part = _Part(sink, folder / f"{self.label}part-{len(self.parts):05d}{sink.suffix}")
        self._part.write(mark, record, outcome)
        return self._part.counts.pages

    def commit(self) -> None:
        """Put the current part, if there is one, in its place and name it in the manifest."""
        if self._part is None:
            return
        digest = self._part.finish()
        entry = {
            "part": self._part.path.relative_to(self.directory).as_posix(),
            "sha256": digest,
            "last": list(self._part.last),
            **self._part.counts.as_dict(),
            "failures": self._part.failures,
            "repeats": self._part.repeats,
        }
        self._append(entry)
        self._part = None
        self._add_entry(entry)

    def finish(self) -> None:
        """Mark the run as complete, with the lists of failed records and replicas beside the parts."""
        self.commit()
        if not self.is_temporary:
            self.write_lists()
        if not self.complete:
            self._append({"complete": True, **self.counts.as_dict()})
            self.complete = True

    def write_lists(self) -> None:
        """Write failed.jsonl, and replicas.jsonl if there are any, from the entries of the manifest."""
        entries = _read_entries(self.manifest_path)[0]
        failures = [json.dumps(record).encode() + b"\n" for entry in entries for record in entry.get("failures", ())]
        repeats = [as_line(record) for entry in entries for record in entry.get("repeats", ())]
        write_atomically(self.directory / f"{self.label}failed.jsonl", b"".join(failures), alone=True)
        if repeats:
            write_atomically(self.directory / f"{self.label}replicas.jsonl", b"".join(repeats), alone=True)

    def close(self) -> None:
        """Release the directory. An unfinished part is deleted, and the lists say what failed so far."""
        self._abandon_part()
        if not self.complete and not self.is_temporary:
            with suppress(OSError):  # on a full disk; the run that resumes this one writes them
                self.write_lists()
        with suppress(OSError):
            self._manifest.close()

    def discard(self) -> None:
        """Delete the manifest and the parts, so that only what the sink wrote besides is left."""
        for part in self.parts:
            (self.directory / part).unlink(missing_ok=True)
        self.manifest_path.unlink(missing_ok=True)

    def give_back(self) -> None:
        """Leave the directory to other commands if this run could not begin and nothing else is there."""
        self._abandon_part()
        others = (path for path in self.directory.iterdir() if path != self.manifest_path)
        is_used = any(path.name.startswith(".") or not self.label for path in others) and not self.is_temporary
        if not self._is_new or self.parts or is_used:
            return
        self.complete = True  # so that `close` writes no lists
        self.discard()
        if self._made_directory:
            with suppress(OSError):  # it has texts
                self.directory.rmdir()

    def _abandon_part(self) -> None:
        if self._part is not None:
            self._part.abandon()
            self._part = None

    def _lock(self) -> BinaryIO:
        """Open the manifest for this run alone."""
        file = self.manifest_path.open("r+b" if self.manifest_path.exists() else "w+b")
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:
            pass
        except OSError as error:
            file.close()
            raise OutputError(f"{self.directory}: another run is writing there") from error
        return file

    def _read_manifest(self, notes: Mapping[str, Any]) -> bool:
        """Read which parts are done, and cut off an incomplete line. Return whether the run is new."""
        entries, size = _read_entries(self.manifest_path)
        self._manifest.truncate(size)
        self._manifest.seek(size)
        if not entries:
            unknown_part = next(self.directory.glob("part-*"), None) if not self.label else None
            if unknown_part is not None:
                raise OutputError(
                    f"{unknown_part}: is there already, and no manifest that knows it: choose another directory"
                )
            self._append({"format": FORMAT, "settings": self.settings, **notes})
            return True
        self._refuse_other_settings(entries[0].get("settings", {}))
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

    def _refuse_other_settings(self, previous: Mapping[str, Any]) -> None:
        differing = [name for name in {**previous, **self.settings} if previous.get(name) != self.settings.get(name)]
        if differing:
            shown = "; ".join(
                "the input files changed"  # the settings have only a digest of them
                if name == "input files"
                else f"{name} was {_short(previous.get(name))} and is {_short(self.settings.get(name))}"
                for name in differing
                if name != "input files" or "inputs" not in differing
            )
            raise OutputError(
                f"{self.directory}: holds the output of another command: {shown}; "
                "give the same command to go on with it, or another directory"
            )

    def _append(self, entry: Mapping[str, Any]) -> None:
        self._manifest.write(json.dumps(entry).encode() + b"\n")
        self._manifest.flush()
        os.fsync(self._manifest.fileno())


class _Part:
    """The part that is being written."""

    def __init__(self, sink: Sink, path: Path) -> None:
        self.path = path
        self.counts = Counts()
        self.failures: list[dict[str, Any]] = []
        self.repeats: list[dict[str, Any]] = []
        self.last = Mark(0, 0)
        self._sink = sink
        self._temporary = path.with_name(f".{path.name}.tmp")
        sink.open(self._temporary)

    def write(self, mark: Mark, record: Record, outcome: Outcome) -> None:
        self._sink.write(record, outcome)
        self.counts.add(outcome)
        self.last = mark
        if outcome.status is Status.FAILED:
            self.failures.append(describe_failure(record, outcome))
        if outcome.repeats is not None:
            self.repeats.append({**describe_place(record, outcome), "repeats": outcome.repeats})

    def finish(self) -> str:
        """Put the part in its place, see that it is on the disk, and return its digest."""
        self._sink.close()
        with self._temporary.open("rb") as file:
            os.fsync(file.fileno())
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        self._temporary.replace(self.path)
        return digest

    def abandon(self) -> None:
        """Delete the part."""
        with suppress(Exception):  # the reason for stopping, such as a full disk, may make this fail too
            self._sink.close()
        with suppress(OSError):
            self._temporary.unlink(missing_ok=True)


def describe_failure(record: Record, outcome: Outcome) -> dict[str, Any]:
    """Return a line of failed.jsonl: enough to find the record again."""
    return {
        "name": record.name,
        "url": record.url,
        "source": record.origin.source,
        "position": record.origin.position,
        "rest": record.origin.rest,
        "place": record.place.as_posix(),
        "kind": str(outcome.kind or ""),
        "reason": outcome.reason,
    }


def _read_entries(manifest: Path) -> tuple[list[dict[str, Any]], int]:
    """Read the complete lines of a manifest. Return them and their size in bytes."""
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


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) < 60 else f"{text[:50]}..."


def settings_beside(retry: Path) -> dict[str, Any]:
    """Return the settings of the run that wrote a failed.jsonl; nothing if it has been moved."""
    manifest = retry.with_name(retry.name.replace("failed.jsonl", "manifest.jsonl"))
    head = _head(manifest) or _head(retry.with_name(SPARK_SETTINGS))
    return {**head.get("settings", {}), "choice": head.get("choice", {})} if head else {}


def head_settings(manifest: Path) -> dict[str, Any]:
    """Return the settings at the beginning of a manifest; nothing if there are none."""
    return dict(_head(manifest).get("settings", {}))


def _head(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as lines:
            head = json.loads(lines.readline())
    except (OSError, ValueError):
        return {}
    return head if isinstance(head, dict) and isinstance(head.get("settings"), dict) else {}
