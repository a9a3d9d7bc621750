"""The output directory of a run: parts that are whole, a manifest of them, and the way to go on after a break.

A part is written under a temporary name, renamed, and then named in the manifest. What the manifest does not name is
done again; because the same records give the same bytes, being broken off leaves no trace in the result.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from victorpy.batch.inputs import Mark
from victorpy.batch.outcome import Outcome, Status, place_told
from victorpy.batch.records import Record
from victorpy.batch.sinks import Sink
from victorpy.batch.sinks.jsonl import as_line
from victorpy.errors import OutputError

FORMAT = 1
MANIFEST = "manifest.jsonl"


class Counts:
    """How many records ended how, and how many bytes they had."""

    def __init__(self) -> None:
        self.statuses: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()
        self.bytes = 0

    def add(self, outcome: Outcome) -> None:
        """Count a record."""
        self.statuses[str(outcome.status)] += 1
        self.bytes += outcome.size
        if outcome.kind is not None:
            self.kinds[str(outcome.kind)] += 1

    def add_stored(self, entry: Mapping[str, Any]) -> None:
        """Count what was counted before."""
        self.statuses.update({str(status): int(entry.get(str(status), 0)) for status in Status})
        self.kinds.update(entry["kinds"])
        self.bytes += int(entry["bytes"])

    @property
    def pages(self) -> int:
        """How many there were in all."""
        return sum(self.statuses.values())

    def as_dict(self) -> dict[str, Any]:
        """The counts by name."""
        counted = {str(status): self.statuses[str(status)] for status in Status}
        return {"pages": self.pages, **counted, "bytes": self.bytes, "kinds": dict(sorted(self.kinds.items()))}


class Store:
    """An output directory with its manifest."""

    def __init__(
        self, directory: Path, settings: Mapping[str, Any], label: str = "", notes: Mapping[str, Any] | None = None
    ) -> None:
        self.directory = directory
        self.label = label
        self.settings = dict(settings)
        self._notes = dict(notes or {})
        """What the manifest's head says besides the settings, and what may differ the next time."""
        self.counts = Counts()
        self.parts: list[str] = []
        self.last: Mark | None = None
        self.complete = False
        self.aside: Store | None = None
        """Where pages are laid aside that cannot be written yet."""
        self._is_new = False
        self._made_directory = not directory.exists()
        directory.mkdir(parents=True, exist_ok=True)
        self.manifest_path = directory / f"{label}{MANIFEST}"
        self._failed = _SideFile(directory / f"{label}failed.jsonl")
        self._replicas = _SideFile(directory / f"{label}replicas.jsonl")
        self._manifest = self._locked()
        try:
            self._read(self.settings)
            self._failed.open()
            if self._replicas.path.exists():
                self._replicas.open()
        except BaseException:
            self._manifest.close()
            raise

    @property
    def safe_pages(self) -> int:
        """How many pages need not be cleaned again."""
        return max(self.counts.pages, self.aside.counts.pages if self.aside else 0)

    def begin(self, sink: Sink) -> Part:
        """Begin the next part."""
        name = f"{self.label}part-{len(self.parts):05d}{sink.suffix}"
        folder = self.directory / sink.folder
        folder.mkdir(exist_ok=True)
        return Part(self, sink, folder / name)

    def finished_parts(self) -> Iterable[Path]:
        """The files of all parts of this and of other runs into the same directory."""
        for manifest in sorted(self.directory.glob("*manifest.jsonl")):
            for entry in _entries(manifest)[0]:
                if "part" in entry:
                    yield self.directory / entry["part"]

    def finish(self) -> None:
        """Say that all is done."""
        if not self.complete:
            self._append({"complete": True, **self.counts.as_dict()})
            self.complete = True

    def close(self) -> None:
        """Let go of the directory."""
        for file in (self._failed, self._replicas, self._manifest):
            with suppress(OSError):  # on a full disk: what was not committed is not needed
                file.close()

    def give_back(self) -> None:
        """Leave the directory to other commands, where this one could not begin and has left nothing else there."""
        own = {self.manifest_path, self._failed.path, self._replicas.path}
        left = (path for path in self.directory.iterdir() if path not in own)
        if not self._is_new or self.parts or any(path.name.startswith(".") or not self.label for path in left):
            return
        self.close()
        for path in own:
            path.unlink(missing_ok=True)
        if self._made_directory:
            self.directory.rmdir()

    def commit(
        self, entry: dict[str, Any], failed: Sequence[bytes], replicas: Sequence[bytes], counts: Counts, last: Mark
    ) -> None:
        """Name a part that is in its place."""
        sizes = {"failed-size": self._failed.append(failed), "replicas-size": self._replicas.append(replicas)}
        whole = {**entry, "last": list(last), **sizes, **counts.as_dict()}
        self._append(whole)
        self._take(whole)

    def _locked(self) -> BinaryIO:
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

    def _read(self, settings: dict[str, Any]) -> None:
        """Read what was done, cut off a line that was being written, and refuse to mix two runs."""
        entries, size = _entries(self.manifest_path)
        self._manifest.truncate(size)
        self._manifest.seek(size)
        if not entries:
            self._refuse_strangers()
            self._append({"format": FORMAT, "settings": settings, **self._notes})
            self._is_new = True
            return
        self._refuse_others(entries[0].get("settings", {}), settings)
        for entry in entries[1:]:
            if entry.get("complete"):
                self.complete = True
            else:
                self._take(entry)

    def _take(self, entry: Mapping[str, Any]) -> None:
        self.parts.append(entry["part"])
        self.last = Mark(*entry["last"])
        self._failed.size = int(entry["failed-size"])
        self._replicas.size = int(entry.get("replicas-size", 0))
        self.counts.add_stored(entry)

    def _refuse_strangers(self) -> None:
        stranger = next(self.directory.glob(f"{self.label}part-*"), None) if not self.label else None
        if stranger is not None:
            raise OutputError(f"{stranger}: is there already, and no manifest that knows it: choose another directory")

    def _refuse_others(self, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
        differing = [name for name in {**before, **now} if before.get(name) != now.get(name)]
        if differing:
            shown = "; ".join(
                "the input files changed"  # of which there is but a digest
                if name == "input files"
                else f"{name} was {_short(before.get(name))} and is {_short(now.get(name))}"
                for name in differing
                if name != "input files" or "inputs" not in differing
            )
            raise OutputError(
                f"{self.directory}: holds the output of another command: {shown}; "
                "give the same command to go on with it, or another directory"
            )

    def _append(self, entry: Mapping[str, Any]) -> None:
        self._manifest.write(json.dumps(entry, ensure_ascii=True).encode() + b"\n")
        self._manifest.flush()
        os.fsync(self._manifest.fileno())


class _SideFile:
    """Lines about some of the records, beside the parts; as long as the manifest says."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0
        self._file: BinaryIO | None = None

    def open(self) -> BinaryIO:
        """Open it, and cut off what was not committed."""
        self._file = self.path.open("ab")
        self._file.truncate(self.size)
        return self._file

    def append(self, lines: Sequence[bytes]) -> int:
        """See that lines are on the disk; give the size that the file has then. Without any it is not begun."""
        if lines:
            file = self._file or self.open()
            file.write(b"".join(lines))
            file.flush()
            os.fsync(file.fileno())
        return self.size + sum(map(len, lines))

    def close(self) -> None:
        """Let go of it."""
        if self._file is not None:
            self._file.close()


class Part:
    """A part under way: it is there when it is committed, and not before."""

    def __init__(self, store: Store, sink: Sink, path: Path) -> None:
        self._store = store
        self._path = path
        self._fresh = path.with_name(f".{path.name}.tmp")
        self._writer = sink.open(self._fresh)
        self._failed: list[bytes] = []
        self._replicas: list[bytes] = []
        self._counts = Counts()
        self._last: Mark | None = None

    def write(self, mark: Mark, record: Record, outcome: Outcome) -> None:
        """Add a record."""
        self._writer.write(record, outcome)
        self._counts.add(outcome)
        self._last = mark
        if outcome.status is Status.FAILED:
            self._failed.append(failed_line(record, outcome))
        if outcome.repeats is not None:
            self._replicas.append(as_line({**place_told(record, outcome), "repeats": outcome.repeats}))

    def commit(self) -> None:
        """Put the part in its place."""
        self._writer.close()
        digest = _sync(self._fresh)
        self._fresh.replace(self._path)
        assert self._last is not None
        entry = {"part": self._path.relative_to(self._store.directory).as_posix(), "sha256": digest}
        self._store.commit(entry, self._failed, self._replicas, self._counts, self._last)

    def abandon(self) -> None:
        """Leave nothing behind."""
        with suppress(Exception):  # whatever stopped us may stop this too, and is said already
            self._writer.close()
        with suppress(OSError):
            self._fresh.unlink(missing_ok=True)


def failed_line(record: Record, outcome: Outcome) -> bytes:
    """What failed.jsonl says of a record: enough to find it again."""
    told = {
        "name": record.name,
        "url": record.url,
        "source": record.origin.source,
        "position": record.origin.position,
        "unit": record.origin.unit,
        "place": record.place.as_posix(),
        "kind": str(outcome.kind or ""),
        "reason": outcome.reason,
    }
    return json.dumps(told, ensure_ascii=True).encode() + b"\n"


def _entries(path: Path) -> tuple[list[dict[str, Any]], int]:
    """The lines of a manifest that are whole, and how long they are together."""
    entries: list[dict[str, Any]] = []
    size = 0
    for line in path.read_bytes().splitlines(keepends=True):
        try:
            if not line.endswith(b"\n"):
                break
            entries.append(json.loads(line))
        except ValueError:
            break
        size += len(line)
    return entries, size


def _sync(path: Path) -> str:
    """See that a file is on the disk, and give its digest."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
        return hashlib.file_digest(file, "sha256").hexdigest()


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) < 60 else f"{text[:50]}..."
