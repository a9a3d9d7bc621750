"""Replicas on Spark: the pass of a local run, over the records that share a key with another.

Which records these are is found by grouping. The driver then takes them in the order in which a local run would. It
holds the list of replicas in memory; signatures come to it as a stream.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  (as everybody calls it)

from victorpy.batch.dedup import Dedup, as_replica
from victorpy.batch.outcome import Outcome, place_told
from victorpy.batch.records import Record
from victorpy.batch.sinks.jsonl import as_line
from victorpy.replicas.base import Detector, Keep
from victorpy.replicas.find import decide
from victorpy.replicas.index import Index, open_database

SIGNED = "place string, rank string, signature binary, told string, ended binary"
"""Cleaned records as they wait for the decision. Places are in the order of the output, ranks in that of comparing."""
_MOST_CHARACTERS = 10**15  # longer than any text


def signed_schema() -> Any:
    """The columns of `SIGNED` for Arrow."""
    strings = [(name, pa.string()) for name in ("place", "rank")]
    return pa.schema([*strings, ("signature", pa.binary()), ("told", pa.string()), ("ended", pa.binary())])


def signed_row(dedup: Dedup, place: str, record: Record, outcome: Outcome) -> dict[str, Any]:
    """A cleaned record as it waits for the decision; one that has no signature is not part of it."""
    signed = outcome.signed
    longest = signed is not None and dedup.keep == Keep.LONGEST
    rank = f"{_MOST_CHARACTERS - signed.length:016d} {place}" if signed and longest else place
    return {
        "place": place,
        "rank": rank,
        "signature": signed.signature if signed and signed.signature else None,
        "told": json.dumps(place_told(record, outcome)),
        "ended": pickle.dumps((record, outcome), pickle.HIGHEST_PROTOCOL),
    }


def decided(frame: DataFrame, dedup: Dedup) -> DataFrame:
    """Return the places of the records that are replicas, and the descriptions of those that they repeat."""
    detector = dedup.detector()
    signed = frame.where(F.col("signature").isNotNull()).select("place", "rank", "signature", "told")
    keyed = signed.mapInArrow(partial(_with_keys, detector), "key binary, rank string")
    shared_keys = keyed.groupBy("key").count().where("count > 1").select("key")
    ranks = keyed.join(shared_keys, "key", "left_semi").select("rank")
    candidates = signed.join(ranks, "rank", "left_semi").orderBy("rank").select("place", "signature", "told")
    rows = ((place, bytes(signature), told) for place, signature, told in candidates.toLocalIterator(True))
    with open_database(None) as database:
        replicas = list(decide(rows, Index(detector, database)))
    return frame.sparkSession.createDataFrame(replicas, "place string, repeats string")


def _with_keys(detector: Detector, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    schema = pa.schema([("key", pa.binary()), ("rank", pa.string())])
    for batch in batches:
        rows = [
            {"key": key, "rank": row["rank"]} for row in batch.to_pylist() for key in detector.keys(row["signature"])
        ]
        yield pa.RecordBatch.from_pylist(rows, schema=schema)


def judged(ended: bytes, repeats: str | None) -> tuple[Record, Outcome]:
    """A record with its outcome as it was decided."""
    record, outcome = pickle.loads(ended)  # our own
    return record, outcome if repeats is None else as_replica(outcome, repeats)


def replica_lines(signed: DataFrame, replicas: DataFrame) -> Iterator[str]:
    """What replicas.jsonl says, in the order of the output."""
    found = signed.select("place", "told").join(replicas, "place").orderBy("place")
    for row in found.toLocalIterator():
        yield as_line({**json.loads(row["told"]), "repeats": json.loads(row["repeats"])}).decode()
