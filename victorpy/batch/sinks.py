"""Kinds of output: sinks that write the parts of a run's output. The same outcomes give the same bytes.

``folder`` writes one file per page, and an index. The other sinks write JSON lines, tables and archives.
"""

from __future__ import annotations

import gzip
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import IO, Any, ClassVar

from victorpy.base.files import write_atomically
from victorpy.base.registry import Registry
from victorpy.batch.inputs import find_files
from victorpy.batch.names import Names, safe_place
from victorpy.batch.outcome import Outcome, row
from victorpy.batch.record import PAGE_SUFFIXES, Record, Status
from victorpy.document import Label
from victorpy.errors import DataError, missing
from victorpy.outputs import Output

INDEX = "_index"
GZIP_LEVEL = 4
"""The main process compresses for all workers. Level 6 takes twice as long, and the files are only 5 % smaller."""
ZSTD_LEVEL = 3
GROUP_ROWS = 500
NO_DATE = "1970-01-01T00:00:00Z"
"""Date of pages without a date. With the current time, two runs would give different bytes."""

_TYPES = {"html": "text/html", "markdown": "text/markdown", "jsonl": "application/json"}


class Sink(ABC):
    """Writes parts one after the other: `open`, then `write` for each record, then `close`."""

    folder: ClassVar[str] = ""
    """Subdirectory for the parts."""

    def __init__(self, kind: str, directory: Path, output: Output, inputs: Sequence[str] = ()) -> None:
        self.suffix = f".{kind}"
        self.directory = directory
        self.output = output

    @abstractmethod
    def open(self, path: Path) -> None:
        """Begin a part."""

    @abstractmethod
    def write(self, record: Record, outcome: Outcome) -> None:
        """Add a record to the part."""

    @abstractmethod
    def close(self) -> None:
        """Complete the part."""

    def resume(self, parts: Iterable[Path]) -> None:  # noqa: B027  (most sinks keep no state between parts)
        """Restore the state that later parts depend on from earlier parts."""


SINKS: Registry[type[Sink]] = Registry("kind of output", "victorpy.batch.sinks")


def sink_name(target: str) -> str | None:
    """Return the kind of output for a directory name such as ``corpus.jsonl.gz/``."""
    names = [name for name in SINKS if target.rstrip("/").lower().endswith(f".{name}")]
    return max(names, key=len, default=None)


def as_line(content: dict[str, Any]) -> bytes:
    """Return a line of JSON in UTF-8. Lone surrogates are escaped."""
    text = json.dumps(content, ensure_ascii=False) + "\n"
    return text.encode("utf-8", "backslashreplace")


@SINKS.register("folder")
class Folder(Sink):
    """One file per text. The parts are the index: rows with the name of the file."""

    folder = INDEX

    def __init__(self, kind: str, directory: Path, output: Output, inputs: Sequence[str] = ()) -> None:
        super().__init__("jsonl", directory, output)
        self.names = Names(("manifest.jsonl", "failed.jsonl", "replicas.jsonl", INDEX))
        self._inputs: set[Path] = set()
        """Input pages in the output folder, which must not be overwritten."""
        if output.suffix in PAGE_SUFFIXES:
            root = directory.resolve()
            pages = (file.path.resolve() for file in find_files(inputs))
            self._inputs = {page for page in pages if page.is_relative_to(root)}

    def resume(self, parts: Iterable[Path]) -> None:
        for part in parts:
            with part.open("rb") as lines:
                for line in lines:
                    place = json.loads(line)["file"]
                    if place:
                        self.names.take(PurePosixPath(place))

    def open(self, path: Path) -> None:
        self._index = path.open("wb")

    def write(self, record: Record, outcome: Outcome) -> None:
        is_saved = outcome.status in {Status.KEPT, Status.EMPTY}
        place = str(self.save(record, outcome.text)) if is_saved else ""
        values = row(record, outcome, self.output.columns)
        del values["text"]
        self._index.write(as_line({"file": place, **values}))

    def close(self) -> None:
        self._index.close()

    def save(self, record: Record, text: str) -> PurePosixPath:
        """Write a text to a new file, and return the path of the file in the folder."""
        wanted = safe_place(record.place, self.output.suffix)
        if wanted.parts[0].casefold() == INDEX or (len(wanted.parts) == 1 and wanted.name.startswith("retry-")):
            wanted = PurePosixPath(f"_{wanted}")  # these names are reserved
        place = self.names.unique(wanted)
        path = self.directory / place
        if self._inputs and path.resolve() in self._inputs:
            raise DataError(f"{path}: this input page would be overwritten; choose another output directory")
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, (self.output.header + text).encode("utf-8", "backslashreplace"), alone=True)
        return place


@SINKS.register("jsonl")
@SINKS.register("jsonl.gz")
@SINKS.register("jsonl.zst")
class JsonLines(Sink):
    """JSON lines. A compressed part is one gzip member without a timestamp, or one zstd frame."""

    def open(self, path: Path) -> None:
        zstandard: Any = None
        if self.suffix.endswith(".zst"):
            try:
                import zstandard
            except ImportError as error:
                raise missing("zstandard", "batch", f"writing {path}") from error
        self._file: IO[bytes] = path.open("wb")
        self._stream: Any = self._file
        if zstandard:
            compressor = zstandard.ZstdCompressor(level=ZSTD_LEVEL, threads=0)
            self._stream = compressor.stream_writer(self._file, closefd=False)
        elif self.suffix.endswith(".gz"):
            self._stream = gzip.GzipFile("", "wb", GZIP_LEVEL, self._file, mtime=0)

    def write(self, record: Record, outcome: Outcome) -> None:
        self._stream.write(as_line(row(record, outcome, self.output.columns)))

    def close(self) -> None:
        self._stream.close()
        self._file.close()


def table_schema(columns: Sequence[str] = ()) -> Any:
    """Return the schema of an output table, with the columns that a format adds."""
    import pyarrow as pa

    place = [("url", pa.string()), ("name", pa.string()), ("source", pa.string()), ("position", pa.int64())]
    links = pa.list_(pa.struct([("url", pa.string()), ("text", pa.string())]))
    types: dict[str, Any] = {
        "position": pa.int64(),
        "probability": pa.float64(),
        "confidence": pa.float64(),
        "labels": pa.struct([(str(label), pa.int32()) for label in Label]),
        "repeats": pa.struct(place),
        **dict.fromkeys(("losses", "keywords"), pa.list_(pa.string())),
        **dict.fromkeys(("links", "main_links", "images"), links),
    }
    names = row(Record("", Path()), Outcome(Status.KEPT), columns)
    return pa.schema([(name, types.get(name, pa.string())) for name in names])


def table_row(record: Record, outcome: Outcome, columns: Sequence[str] = ()) -> dict[str, Any]:
    """Return a row for a table, with a count for every label, and with valid UTF-8."""
    values = row(record, outcome, columns)
    values["labels"] = {str(label): values["labels"].get(str(label), 0) for label in Label}
    return dict(_valid_utf8(values))


def _valid_utf8(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _valid_utf8(item) for name, item in value.items()}
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


@SINKS.register("parquet")
class Parquet(Sink):
    """Tables in row groups of `GROUP_ROWS` rows."""

    def open(self, path: Path) -> None:
        try:
            import pyarrow.parquet
        except ImportError as error:
            raise missing("pyarrow", "parquet", f"writing {path}") from error
        self._schema = table_schema(self.output.columns)
        self._file = path.open("wb")
        self._writer = pyarrow.parquet.ParquetWriter(self._file, self._schema, compression="zstd")
        self._rows: list[dict[str, Any]] = []

    def write(self, record: Record, outcome: Outcome) -> None:
        self._rows.append(table_row(record, outcome, self.output.columns))
        if len(self._rows) == GROUP_ROWS:
            self._write_group()

    def close(self) -> None:
        if self._rows:
            self._write_group()
        self._writer.close()
        self._file.close()

    def _write_group(self) -> None:
        import pyarrow as pa

        self._writer.write_table(pa.Table.from_pylist(self._rows, schema=self._schema))
        self._rows = []


@SINKS.register("warc")
@SINKS.register("warc.gz")
class Warc(Sink):
    """An archive of the kept texts. In ``.warc.gz`` each record is a separate gzip member."""

    def open(self, path: Path) -> None:
        self._file = path.open("wb")
        about = f"software: victorpy\r\nformat: WARC File Format 1.1\r\ntext: {self.output.name}\r\n"
        headers = {"WARC-Type": "warcinfo", "WARC-Date": NO_DATE, "Content-Type": "application/warc-fields"}
        self._add(headers, about)

    def write(self, record: Record, outcome: Outcome) -> None:
        if outcome.status is not Status.KEPT:
            return
        headers = {
            "WARC-Type": "conversion",
            "WARC-Target-URI": _one_line(record.url or outcome.url or Path(record.name).as_posix()),
            "WARC-Date": _one_line(record.date) or NO_DATE,
            "WARC-Refers-To": _one_line(record.record_id),
            "WARC-Identified-Content-Language": _one_line(outcome.language),
            "X-Input-Digest": outcome.digest,
            "X-Input-Place": _one_line(f"{record.origin.source}@{record.origin.position}"),
            "Content-Type": _TYPES.get(self.output.name, "text/plain"),
        }
        self._add(headers, outcome.text)

    def close(self) -> None:
        self._file.close()

    def _add(self, headers: dict[str, str], text: str) -> None:
        block = text.encode("utf-8", "backslashreplace")
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items() if value)
        import uuid

        identity = uuid.uuid5(uuid.NAMESPACE_URL, lines + text.encode("ascii", "backslashreplace").decode())
        head = f"WARC/1.1\r\nWARC-Record-ID: <urn:uuid:{identity}>\r\n{lines}Content-Length: {len(block)}\r\n\r\n"
        record = head.encode("utf-8", "backslashreplace") + block + b"\r\n\r\n"
        self._file.write(gzip.compress(record, mtime=0) if self.suffix.endswith(".gz") else record)


def _one_line(value: str) -> str:
    """Return a header value without line breaks, which would begin another header."""
    return " ".join(value.split()).encode("utf-8", "backslashreplace").decode()
