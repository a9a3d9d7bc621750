"""Parquet, one record per row, with the same columns as the JSON lines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from victorpy.batch.outcome import Outcome, row
from victorpy.batch.reasons import Status
from victorpy.batch.record import Record
from victorpy.batch.sinks.base import SINKS, Sink
from victorpy.document import Label
from victorpy.errors import missing

GROUP_ROWS = 500


def table_schema(columns: Sequence[str] = ()) -> Any:
    """Return the schema of a table of rows, with the columns that a format adds."""
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
    """Return a row for a table: every label has a count, and strings are valid UTF-8."""
    values = row(record, outcome, columns)
    values["labels"] = {str(label): values["labels"].get(str(label), 0) for label in Label}
    return {name: _valid_utf8(value) for name, value in values.items()}


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
