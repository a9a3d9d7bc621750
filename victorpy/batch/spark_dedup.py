"""Replicas on Spark: the same decisions as those of a local run, by grouping on fingerprints or bands.

A local run takes records one after the other and compares each with those kept before. Here all pairs of similar
records are found at once, in groups that share a key; then the driver goes through the pairs in the order in which a
local run would take the records. It holds the list of replicas and nothing else: pairs come to it as a stream.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import combinations
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  (as everybody calls it)

from victorpy.batch.dedup import Dedup, as_replica
from victorpy.batch.outcome import Outcome, place_told
from victorpy.batch.records import Record
from victorpy.batch.sinks.jsonl import as_line
from victorpy.replicas.base import Detector, Keep

SIGNED = "place string, rank string, signature binary, told string, ended binary"
"""Cleaned records as they wait for the decision. Places are in the order of the output, ranks in that of comparing."""
_KEYED = "key binary, rank string, signature binary"
_PAIRS = "late string, early string"
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
    """Which records are replicas (`place`), and what is told of those that they repeat (`repeats`)."""
    signed = frame.where(F.col("signature").isNotNull()).select("place", "rank", "signature", "told")
    first = signed.groupBy("signature").agg(F.min("rank").alias("first"))  # others with the same signature repeat it
    pairs = _repeated(first, dedup.detector())
    kept = first.join(pairs, F.col("first") == F.col("late"), "left")
    kept = kept.select("signature", F.coalesce("early", "first").alias("kept"))
    told = signed.select(F.col("rank").alias("kept"), F.col("told").alias("repeats"))
    found = signed.join(kept, "signature").where(F.col("rank") != F.col("kept"))
    return found.join(told, "kept").select("place", "repeats")


def _repeated(first: DataFrame, detector: Detector) -> DataFrame:
    """Of different signatures, which one each repeats."""
    spark = first.sparkSession
    if not detector.compares:
        return spark.createDataFrame([], _PAIRS)

    def similar(group: pa.Table) -> pa.Table:  # a partial has no annotations, which Spark wants
        return _similar_pairs(detector, group)

    ranked = first.select(F.col("first").alias("rank"), "signature")
    keyed = ranked.mapInArrow(partial(_with_keys, detector), _KEYED)
    shared = keyed.groupBy("key").count().where("count > 1").select("key")
    pairs = keyed.join(shared, "key").groupBy("key").applyInArrow(similar, _PAIRS)
    ordered = pairs.distinct().orderBy("late", "early")
    repeats: dict[str, str] = {}
    for late, early in ordered.toLocalIterator(prefetchPartitions=True):
        if late not in repeats and early not in repeats:
            repeats[late] = early
    return spark.createDataFrame(list(repeats.items()), _PAIRS)


def _with_keys(detector: Detector, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    schema = pa.schema([("key", pa.binary()), ("rank", pa.string()), ("signature", pa.binary())])
    for batch in batches:
        rows = [
            {"key": key, "rank": each["rank"], "signature": each["signature"]}
            for each in batch.to_pylist()
            for key in detector.keys(each["signature"])
        ]
        yield pa.RecordBatch.from_pylist(rows, schema=schema)


def _similar_pairs(detector: Detector, group: pa.Table) -> pa.Table:
    """The pairs of a group that are similar, the one that comes later first."""
    rows = sorted(zip(group["rank"].to_pylist(), group["signature"].to_pylist(), strict=True))
    late, early = [], []
    for (one, signature), (other, another) in combinations(rows, 2):
        if detector.similar(signature, another):
            early.append(one)
            late.append(other)
    return pa.table({"late": pa.array(late, pa.string()), "early": pa.array(early, pa.string())})


def judged(ended: bytes, repeats: str | None) -> tuple[Record, Outcome]:
    """A record with its outcome as it was decided."""
    record, outcome = pickle.loads(ended)  # our own
    return record, outcome if repeats is None else as_replica(outcome, json.loads(repeats))


def replica_lines(signed: DataFrame, replicas: DataFrame) -> Iterator[str]:
    """What replicas.jsonl says, in the order of the output."""
    found = signed.select("place", "told").join(replicas, "place").orderBy("place")
    for row in found.toLocalIterator():
        yield as_line({**json.loads(row["told"]), "repeats": json.loads(row["repeats"])}).decode()
