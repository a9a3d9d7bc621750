"""Kinds of output: sinks that write the parts of a run's output. The same outcomes give the same bytes.

Workers write a piece of output for each stretch of records, and a part consists of pieces.
``folder`` writes one file per page, and an index. The other sinks write JSON lines, tables and archives.
"""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar, TypedDict

from victorpy.base.files import write_atomically
from victorpy.base.plain import Inside, checked, from_json
from victorpy.base.registry import Registry
from victorpy.batch.inputs import find_files
from victorpy.batch.names import Names, safe_place
from victorpy.batch.outcome import Outcome, row
from victorpy.batch.plan import Plan
from victorpy.batch.record import PAGE_SUFFIXES, Record, Status
from victorpy.document import Label
from victorpy.errors import DataError, missing
from victorpy.outputs import Output, find_output

INDEX = "_index"
GZIP_LEVEL = 4
"""Compression level. Level 6 takes twice as long for files that are only 5 % smaller."""
BATCH_ROWS, BATCH_CHARACTERS = 500, 4_000_000
"""Maximum number of table rows that exist as Python objects at the same time, and of their characters."""
GROUP_ROWS, GROUP_BYTES = 10_000, 200_000_000
"""Number of rows in a row group, and maximum size, which limits memory if pages are large."""
NO_DATE = "1970-01-01T00:00:00Z"
"""Date for records without a date. It is fixed, so that two runs give the same bytes."""

_TYPES = {"html": "text/html", "markdown": "text/markdown", "jsonl": "application/json"}


Write = Callable[[Record, Outcome], object]
Items = Iterable[tuple[Record, Outcome]]


class Sink:
    """Writes the parts of a run's output."""

    folder: ClassVar[str] = ""
    """Subdirectory for the parts."""
    reusable: ClassVar[bool] = True
    """Whether `rows` can read the parts. Otherwise all pages are cleaned again after a change."""
    beside: ClassVar[bool] = False
    """Whether the manifest and lists are beside the output directory, because readers open every file in it."""
    shard_records: ClassVar[int | None] = None
    """Maximum number of records in a part, if the user does not set it."""
    shard_bytes: ClassVar[int] = 400_000_000
    """Size of the rows of a part before compression, if the number of records is not limited."""

    def __init__(self, kind: str, directory: Path, output: Output) -> None:
        self.suffix = f".{kind}"
        self.directory = directory
        self.output = output

    def head(self) -> bytes:
        """Return the bytes at the beginning of a part."""
        return b""

    def write(self, path: Path, items: Items) -> None:
        """Write a piece of a part."""
        raise NotImplementedError

    def join(self, path: Path, pieces: Iterable[Path]) -> None:
        """Write a part that consists of pieces."""
        with path.open("wb") as part:
            part.write(self.head())
            for piece in pieces:
                part.write(piece.read_bytes())

    def rows(self, part: Path) -> Iterator[dict[str, Any]]:
        """Read the rows of a part."""
        raise NotImplementedError


SINKS: Registry[type[Sink]] = Registry("kind of output", "victorpy.batch.sinks")


def make_sink(plan: Plan) -> Sink:
    """Return the sink of a plan."""
    return SINKS.get(plan.to)(plan.to, Path(plan.output or ""), find_output(plan.format))


def sink_name(target: str) -> str | None:
    """Return the kind of output for a directory name such as ``corpus.jsonl.gz/``."""
    names = [name for name in SINKS if target.rstrip("/").lower().endswith(f".{name}")]
    return max(names, key=len, default=None)


def as_line(content: dict[str, Any]) -> bytes:
    """Return a line of JSON in UTF-8. Lone surrogates are escaped."""
    text = json.dumps(content, ensure_ascii=False) + "\n"
    return text.encode("utf-8", "backslashreplace")


class _IndexRow(TypedDict):
    file: Inside
    source: str


@SINKS.register("folder")
class Folder(Sink):
    """One file per page, and an index.

    The parts are the index: rows with file names. The main process writes them, because a file name depends on all
    previous names.
    """

    folder = INDEX
    shard_records = 1_000

    def __init__(self, kind: str, directory: Path, output: Output) -> None:
        super().__init__("jsonl", directory, output)
        self._names = Names()
        self._inputs: set[Path] = set()
        """Input pages in the output folder, which must not be overwritten."""

    def protect(self, inputs: Sequence[str]) -> None:
        """Never overwrite these pages."""
        if self.output.suffix in PAGE_SUFFIXES:
            root = self.directory.resolve()
            pages = (file.path.resolve() for file in find_files(inputs))
            self._inputs = {page for page in pages if page.is_relative_to(root)}

    def resume(self, parts: Iterable[Path]) -> None:
        """Read the names that earlier parts use."""
        for part in parts:
            with part.open("rb") as lines:
                for line in lines:
                    place = from_json(line, _IndexRow, part)["file"]
                    if place:
                        self._names.take(PurePosixPath(place))

    def write(self, path: Path, items: Items) -> None:
        with path.open("wb") as index:
            for record, outcome in items:
                is_saved = outcome.status in {Status.KEPT, Status.EMPTY}
                values = row(record, outcome, () if self.output.together else self.output.columns)
                del values["text"]
                index.write(as_line({"file": self._save(record, outcome) if is_saved else "", **values}))

    def rows(self, part: Path) -> Iterator[dict[str, Any]]:
        """Read the rows of a part. The text is None if its file has been changed or deleted."""
        with part.open("rb") as lines:
            for line in lines:
                fields = json.loads(line)
                checked(fields, _IndexRow, part)
                text: str | None = ""
                if fields["file"]:
                    path = self.directory / fields["file"]
                    is_ours = self.is_ours(fields["file"], part)
                    text = path.read_text(encoding="utf-8").removeprefix(self.output.header) if is_ours else None
                yield {**fields, "text": text}

    def is_ours(self, file: str, part: Path) -> bool:
        """Whether a file was last written by the run that wrote its row in a part."""
        try:
            return (self.directory / file).stat().st_mtime_ns <= part.stat().st_mtime_ns
        except OSError:
            return False

    def delete_old(self, parts: Iterable[Path], is_replaced: Callable[[str], bool]) -> None:
        """Delete files of an earlier run, unless this run has written them again. `is_replaced` selects sources."""
        for part in parts:
            with part.open("rb") as lines:
                for line in lines:
                    fields = from_json(line, _IndexRow, part)
                    file = fields["file"]
                    is_old = file and not self._names.has(PurePosixPath(file)) and is_replaced(fields["source"])
                    if is_old and self.is_ours(file, part):
                        (self.directory / file).unlink()

    def _save(self, record: Record, outcome: Outcome) -> str:
        """Write a text to a new file, and return the path of the file in the folder."""
        place = self._names.unique(safe_place(record.place, self.output.suffix))
        path = self.directory / place
        if self._inputs and path.resolve() in self._inputs:
            raise DataError(f"{path}: this input page would be overwritten; choose another output directory")
        if outcome.file != str(place):
            content = (self.output.header + outcome.text).encode("utf-8", "backslashreplace")
            try:
                write_atomically(path, content, alone=True)
            except FileNotFoundError:
                for folder in reversed(place.parents):  # do not create the output folder again if it was removed
                    if folder.name:
                        (self.directory / folder).mkdir(exist_ok=True)
                write_atomically(path, content, alone=True)
        return str(place)


@SINKS.register("jsonl")
@SINKS.register("jsonl.gz")
@SINKS.register("jsonl.zst")
class JsonLines(Sink):
    """JSON lines, one per page.

    A gzip file has a member for each piece, and a zstd file is one frame.
    """

    def write(self, path: Path, items: Items) -> None:
        with self._open(path, "wb", self.suffix.replace(".zst", "")) as lines:
            for record, outcome in items:
                lines.write(as_line(row(record, outcome, self.output.columns)))

    def join(self, path: Path, pieces: Iterable[Path]) -> None:
        with self._open(path, "wb", self.suffix.replace(".gz", "")) as part:
            for piece in pieces:
                part.write(piece.read_bytes())

    def rows(self, part: Path) -> Iterator[dict[str, Any]]:
        with self._open(part, "rb", self.suffix) as stream:
            yield from map(json.loads, io.BufferedReader(stream))

    @contextmanager
    def _open(self, path: Path, mode: str, suffix: str) -> Iterator[Any]:
        """Open a file. A gzip file contains neither a name nor a time, so that the same lines give the same bytes."""
        file: Any
        with path.open(mode) as file:
            if suffix.endswith(".gz"):
                with gzip.GzipFile("", mode, GZIP_LEVEL, file, mtime=0) as stream:
                    yield stream
            elif suffix.endswith(".zst"):
                try:
                    import zstandard
                except ImportError as error:
                    raise missing("zstandard", "batch", f"the file {path}") from error
                with zstandard.open(file, mode) as stream:
                    yield stream
            else:
                yield file


@SINKS.register("parquet")
class Parquet(Sink):
    """Parquet tables, one row per page. Readers of tables can open the directory as it is."""

    beside = True

    def __init__(self, kind: str, directory: Path, output: Output) -> None:
        super().__init__(kind, directory, output)
        if find_spec("pyarrow") is None:
            raise missing("pyarrow", "parquet", f"writing {directory}")

    def write(self, path: Path, items: Items) -> None:
        """Write rows in Arrow's stream format, because a row group contains rows of many pieces."""
        import pyarrow as pa

        schema = table_schema(self.output.columns)
        rows: list[dict[str, Any]] = []
        characters = 0
        with path.open("wb") as file, pa.ipc.new_stream(file, schema) as stream:
            for record, outcome in items:
                rows.append(table_row(record, outcome, self.output.columns))
                characters += len(outcome.text)
                if characters >= BATCH_CHARACTERS or len(rows) == BATCH_ROWS:
                    stream.write_batch(pa.RecordBatch.from_pylist(rows, schema=schema))
                    rows, characters = [], 0
            if rows:
                stream.write_batch(pa.RecordBatch.from_pylist(rows, schema=schema))

    def join(self, path: Path, pieces: Iterable[Path]) -> None:
        """Write row groups of `GROUP_ROWS` rows, or about `GROUP_BYTES`."""
        import pyarrow as pa
        import pyarrow.parquet

        schema = table_schema(self.output.columns)
        with path.open("wb") as file, pyarrow.parquet.ParquetWriter(file, schema, compression="zstd") as writer:
            group: list[Any] = []
            rows = size = 0
            for piece in pieces:
                with piece.open("rb") as stream:
                    table = pa.ipc.open_stream(stream).read_all()
                group.append(table)
                rows, size = rows + table.num_rows, size + table.nbytes
                if rows >= GROUP_ROWS or size >= GROUP_BYTES:
                    writer.write_table(pa.concat_tables(group), 2 * GROUP_ROWS)
                    group, rows, size = [], 0, 0
            if rows:
                writer.write_table(pa.concat_tables(group), 2 * GROUP_ROWS)

    def rows(self, part: Path) -> Iterator[dict[str, Any]]:
        import pyarrow.parquet

        with pyarrow.parquet.ParquetFile(part) as file:
            for batch in file.iter_batches(BATCH_ROWS):
                yield from batch.to_pylist()


def table_schema(columns: Sequence[str] = ()) -> Any:
    """Return the schema of an output table, with the columns that a format adds."""
    import pyarrow as pa

    place = [("url", pa.string()), ("name", pa.string()), ("source", pa.string()), ("position", pa.int64())]
    links = pa.list_(pa.struct([("url", pa.string()), ("text", pa.string())]))
    types: dict[str, Any] = {
        **dict.fromkeys(("position", "size"), pa.int64()),
        "probability": pa.float64(),
        "confidence": pa.float64(),
        "labels": pa.struct([(str(label), pa.int32()) for label in Label]),
        "repeats": pa.struct(place),
        **dict.fromkeys(("losses", "keywords"), pa.list_(pa.string())),
        **dict.fromkeys(("links", "main_links", "images"), links),
    }
    names = row(Record("", Path()), Outcome(Status.KEPT), columns)
    return pa.schema([(name, types.get(name, pa.string())) for name in names])


def table_row(record: Record, outcome: Outcome, columns: Sequence[str]) -> dict[str, Any]:
    """Return a table row with a count for every label and valid UTF-8."""
    values = row(record, outcome, columns)
    values["labels"] = {str(label): values["labels"].get(str(label), 0) for label in Label}
    return dict(_valid_utf8(values))


def _valid_utf8(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _valid_utf8(item) for name, item in value.items()}
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


@SINKS.register("warc")
@SINKS.register("warc.gz")
class Warc(Sink):
    """WARC archives of the kept texts.

    In ``.warc.gz`` each record is a separate gzip member.
    """

    reusable = False

    def _record(self, headers: dict[str, str], text: str) -> bytes:
        import uuid

        # A line break in a value would begin another header.
        values = {name: " ".join(value.split()) for name, value in headers.items()}
        lines = _valid_utf8("".join(f"{name}: {value}\r\n" for name, value in values.items() if value))
        identity = uuid.uuid5(uuid.NAMESPACE_URL, lines + text.encode("ascii", "backslashreplace").decode())
        block = text.encode("utf-8", "backslashreplace")
        head = f"WARC/1.1\r\nWARC-Record-ID: <urn:uuid:{identity}>\r\n{lines}Content-Length: {len(block)}\r\n\r\n"
        record = head.encode() + block + b"\r\n\r\n"
        return gzip.compress(record, mtime=0) if self.suffix.endswith(".gz") else record

    def head(self) -> bytes:
        about = f"software: victorpy\r\nformat: WARC File Format 1.1\r\ntext: {self.output.name}\r\n"
        headers = {"WARC-Type": "warcinfo", "WARC-Date": NO_DATE, "Content-Type": "application/warc-fields"}
        return self._record(headers, about)

    def write(self, path: Path, items: Items) -> None:
        with path.open("wb") as file:
            for record, outcome in items:
                if outcome.status is not Status.KEPT:
                    continue
                headers = {
                    "WARC-Type": "conversion",
                    "WARC-Target-URI": record.url or outcome.url or Path(record.name).as_posix(),
                    "WARC-Date": record.date if record.date.strip() else NO_DATE,
                    "WARC-Refers-To": record.record_id,
                    "WARC-Identified-Content-Language": outcome.language,
                    "X-Input-Digest": outcome.digest,
                    "X-Input-Place": record.origin.name,
                    "Content-Type": _TYPES.get(self.output.name, "text/plain"),
                }
                file.write(self._record(headers, outcome.text))
