"""Parquet, a record a row, in row groups."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from victorpy.batch.outcome import Outcome, row
from victorpy.batch.records import Record
from victorpy.batch.sinks.base import SINKS, PartWriter, Sink
from victorpy.document import Label
from victorpy.errors import missing

GROUP_ROWS = 500
_NUMBERS = ("probability", "confidence")


def table_schema(columns: Sequence[str] = ()) -> Any:
    """The columns of a table of rows, with those that a format adds."""
    import pyarrow as pa

    kinds: dict[str, Any] = {"position": pa.int64(), **dict.fromkeys(_NUMBERS, pa.float64())}
    kinds["labels"] = pa.struct([(str(label), pa.int32()) for label in Label])
    place = [("url", pa.string()), ("name", pa.string()), ("source", pa.string()), ("position", pa.int64())]
    kinds["repeats"] = pa.struct(place)
    links = pa.list_(pa.struct([("url", pa.string()), ("text", pa.string())]))
    kinds |= dict.fromkeys(("losses", "keywords"), pa.list_(pa.string()))
    kinds |= dict.fromkeys(("links", "main_links", "images"), links)
    names = row(Record("", Path()), Outcome(status=next(iter(_statuses()))), columns)
    return pa.schema([(name, kinds.get(name, pa.string())) for name in names])


def table_row(record: Record, outcome: Outcome, columns: Sequence[str] = ()) -> dict[str, Any]:
    """A row as tables have it: every label has its count, and strings are UTF-8."""
    described = row(record, outcome, columns)
    described["labels"] = {str(label): described["labels"].get(str(label), 0) for label in Label}
    return {name: _sound(value) for name, value in described.items()}


def _statuses() -> Any:
    from victorpy.batch.reasons import Status

    return Status


class _Table:
    """A part of rows."""

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        import pyarrow.parquet

        self._columns = columns
        self._schema = table_schema(columns)
        self._file = path.open("wb")
        self._writer = pyarrow.parquet.ParquetWriter(self._file, self._schema, compression="zstd")
        self._rows: list[dict[str, Any]] = []

    def write(self, record: Record, outcome: Outcome) -> None:
        self._rows.append(table_row(record, outcome, self._columns))
        if len(self._rows) == GROUP_ROWS:
            self._flush()

    def close(self) -> None:
        if self._rows:
            self._flush()
        self._writer.close()
        self._file.close()

    def _flush(self) -> None:
        import pyarrow as pa

        self._writer.write_table(pa.Table.from_pylist(self._rows, schema=self._schema))
        self._rows = []


def _sound(value: Any) -> Any:
    """A string that is UTF-8, as the format wants it."""
    if isinstance(value, dict):
        return {name: _sound(each) for name, each in value.items()}
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


@SINKS.register("parquet")
class Parquet(Sink):
    """Rows with the same columns as the lines of JSON."""

    suffix = ".parquet"

    def open(self, path: Path) -> PartWriter:
        """Begin a part."""
        try:
            return _Table(path, self.output.columns)
        except ImportError as error:
            raise missing("pyarrow", "parquet", f"writing {path}") from error
