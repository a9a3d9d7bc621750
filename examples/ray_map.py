"""Use victorpy in Ray Data: map_batches cleans the pages in the rows of a dataset.

    pip install . 'ray[data]'
    python examples/ray_map.py pages.parquet clean/        # without arguments it cleans three pages of its own

The rows of the input have `html` and `url`; each gives one row with `status`, `kind` and `reason`. The model is loaded
once in each of Ray's processes. If a page crashes its process, Ray repeats the task, and the page crashes it again. For
untrusted pages use `victor clean` or `victor spark-clean`, which guard every page.
"""

from __future__ import annotations

import sys
from typing import Any

import pyarrow as pa
import ray

from victorpy import clean_record
from victorpy.batch.sinks import table_schema

PAGE = "<ul><li><a href='/'>Home</a></ul><p>Tea is made by pouring hot water over the cured leaves of the tea bush.</p>"
LABELS = [field.name for field in table_schema().field("labels").type]


def clean_batch(table: pa.Table) -> pa.Table:
    """Clean the pages of a table. Every label has a count, so all tables have the same columns."""
    rows = [clean_record(fields) for fields in table.to_pylist()]
    for row in rows:
        row["labels"] = {label: row["labels"].get(label, 0) for label in LABELS}
    return pa.Table.from_pylist(rows, schema=table_schema())


def clean(pages: Any) -> Any:
    """Return the cleaned pages. Batches are small, because pages are large."""
    return pages.map_batches(clean_batch, batch_format="pyarrow", batch_size=64)


def main() -> None:
    if len(sys.argv) > 2:
        clean(ray.data.read_parquet(sys.argv[1], columns=["url", "html"])).write_parquet(sys.argv[2])
        return
    addresses = [f"http://tea.example/{number}" for number in range(3)]
    pages = ray.data.from_items([{"url": address, "html": PAGE.encode()} for address in addresses])
    for row in clean(pages).take_all():
        print(row["url"], row["status"], row["text"])


if __name__ == "__main__":
    main()
