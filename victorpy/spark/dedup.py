"""Find replicas with Spark, in the same steps as `victorpy.dedup.find.Index`.

The driver receives confirmed pairs only, one after the other, and keeps its decisions in a database on its disk.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain, groupby
from typing import Any

import pyarrow as pa
from more_itertools import chunked
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812  (the usual name)
from pyspark.sql.pandas.types import from_arrow_schema

from victorpy.batch.plan import Dedup
from victorpy.dedup import find
from victorpy.dedup.base import Detector, Frame, Signature, Signed
from victorpy.spark.task import make_schema, map_rows

TEXTS = make_schema(
    *("id", "place", "part", "site", "digest", "signature"), part=pa.int32(), digest=pa.int64(), signature=pa.binary()
)
"""Schema of signed texts. Texts are decided in the order of `id`."""
KEYS = make_schema("key", "id", key=pa.int64())
CONFIRMED = make_schema("id", "other", "rank", "is_equal", rank=pa.int32(), is_equal=pa.bool_())
DECISIONS = "place string, decision string"
PIECE = 100_000
"""Number of decisions that the driver holds in memory."""

Batches = Iterable[pa.RecordBatch]


def find_decisions(signed: DataFrame, dedup: Dedup, work: str) -> DataFrame:
    """Return the positions and decisions of changed records, as in `batch/replicas.py`. `work` is a temporary path."""
    detector = dedup.detector()
    texts = (
        signed.select("place", "site", "signed")
        .mapInArrow(partial(_texts, dedup.keep), from_arrow_schema(TEXTS))
        .cache()
    )
    framed, crawl = _with_frames(texts, detector)
    keyed = framed.mapInArrow(partial(_keys, detector, crawl), from_arrow_schema(KEYS))
    same_key = Window.partitionBy("key")
    numbered = keyed.withColumns(
        {"number": F.row_number().over(same_key.orderBy("id")), "texts": F.count("*").over(same_key)}
    ).where("texts > 1")
    are_few = F.col("texts") <= find.SHARED
    others = numbered.where(are_few | (F.col("number") == 1)).select(
        "key", F.col("id").alias("other"), F.col("number").alias("n"), F.when(are_few, 2).otherwise(1).alias("weight")
    )
    paired = numbered.join(others, "key").where(F.col("n") < F.col("number"))
    pairs = paired.groupBy("id", "other").agg(F.sum("weight").alias("weight"))
    columns = ("id", "site", "digest", "signature", "frame")
    one, two = framed.select(*columns), framed.select(*(F.col(name).alias(f"other_{name}") for name in columns))
    digests = framed.select("id", "digest")
    other_digests = framed.select(F.col("id").alias("other"), F.col("digest").alias("other_digest"))
    same = F.col("digest") == F.col("other_digest")
    best = Window.partitionBy("id").orderBy(F.desc("is_equal"), F.desc("weight"), "other")
    candidates = (
        pairs.join(digests, "id")
        .join(other_digests, "other")
        .withColumn("is_equal", same)
        .where(F.col("is_equal") | (F.col("weight") > 1))
        .withColumn("rank", F.row_number().over(best))
        .where(F.col("rank") <= find.CANDIDATES)
        .select("id", F.col("other").alias("other_id"), "rank", "is_equal")
    )
    compared = candidates.join(one, "id").join(two, "other_id")
    confirmed = compared.mapInArrow(partial(_confirm, detector, crawl), from_arrow_schema(CONFIRMED))
    found = _resolve(confirmed, work).join(texts, "id")
    if dedup.by_paragraph:
        parts = found.groupBy("place").agg(F.sort_array(F.collect_list("part")).alias("parts"))
        return parts.select("place", F.to_json("parts").alias("decision"))
    kept = texts.select(F.col("id").alias("other"), F.col("place").alias("kept_place"))
    descriptions = signed.select(F.col("place").alias("kept_place"), F.col("description").alias("decision"))
    return found.join(kept, "other").join(descriptions, "kept_place").select("place", "decision")


def find_losses(signed: DataFrame, decisions: DataFrame) -> list[find.Loss]:
    """Return the sites that lose many of their pages."""
    marked = signed.where(F.size("signed") > 0).join(decisions, "place", "left")
    by_site = marked.groupBy("site").agg(F.count("*").alias("pages"), F.count("decision").alias("replicas"))
    large = (F.col("pages") >= find.LOSS_PAGES) & (F.col("replicas") > find.LOSS_SHARE * F.col("pages"))
    return [find.Loss(*row) for row in by_site.where(large).orderBy(F.desc("replicas"), "site").collect()]


def _resolve(confirmed: DataFrame, path: str) -> DataFrame:
    """Find the replicas and the kept texts that they repeat. They are written in pieces."""
    spark, schema = confirmed.sparkSession, "id string, other string"
    with find.open_database() as database:
        database.execute("create table replica (id text primary key, other text) without rowid")

        def repeats(text_id: str) -> str | None:
            found = database.execute("select other from replica where id = ?", (text_id,)).fetchone()
            return found[0] if found else None

        def replicas() -> Iterator[tuple[str, str]]:
            rows = confirmed.orderBy("id", "rank").toLocalIterator()
            for text_id, partners in groupby(rows, key=lambda row: row["id"]):
                pairs = ((row["other"], row["is_equal"]) for row in partners)
                repeated = find.resolve(pairs, repeats, lambda _: True)
                if repeated is not None:
                    database.execute("insert into replica values (?, ?)", (text_id, repeated))
                    yield text_id, repeated

        for number, piece in enumerate(chain([[]], chunked(replicas(), PIECE))):
            frame = spark.createDataFrame(piece, schema)
            frame.write.mode("append" if number else "overwrite").parquet(path)
    return spark.read.schema(schema).parquet(path)


def _with_frames(texts: DataFrame, detector: Detector) -> tuple[DataFrame, Frame]:
    """Add the frame of its site to each text. Also return the common words of the crawl."""
    if not detector.uses_sites:
        return texts.withColumn("frame", F.lit(b"")), Frame()
    first = Window.partitionBy("site", "digest").orderBy("id")
    by_digest = Window.partitionBy("site").orderBy("digest")
    different = texts.withColumn("copy", F.row_number().over(first)).where("copy = 1")
    sample = different.withColumn("number", F.row_number().over(by_digest)).where(F.col("number") <= find.SAMPLE)
    frames = sample.select("site", "signature").groupBy("site").applyInArrow(_frame, "site string, frame binary")
    in_crawl = Window.partitionBy("digest").orderBy("id")
    ones = texts.withColumn("copy", F.row_number().over(in_crawl)).where("copy = 1")
    rows = ones.orderBy("digest").limit(find.CRAWL_SAMPLE).select("signature").toLocalIterator()
    sampled = (find.all_words(Signature.from_bytes(bytes(row[0]))) for row in rows)
    words, pages = find.common_words(sampled, 2)
    return texts.join(frames, "site", "left"), Frame(crawl=words, pages=pages)


# The functions that Spark tasks call.


def _texts(keep: str, batches: Batches) -> Iterator[pa.RecordBatch]:
    def texts(fields: dict[str, Any]) -> Iterator[dict[str, Any]]:
        for part, signed in enumerate(fields["signed"]):
            if signed["signature"]:
                rank = find.rank_of(Signed(**signed), keep)
                yield {
                    "id": f"{rank:06d} {fields['place']} {part:06d}",
                    "place": fields["place"],
                    "part": part,
                    "site": fields["site"],
                    "digest": find.digest_of(signed["signature"]),
                    "signature": signed["signature"],
                }

    return map_rows(batches, TEXTS, texts)


def _frame(table: pa.Table) -> pa.Table:
    pages = [Signature.from_bytes(content) for content in table["signature"].to_pylist()]
    return pa.table({"site": table["site"][:1], "frame": [find.frame_of(pages)]})


def _keys(detector: Detector, crawl: Frame, batches: Batches) -> Iterator[pa.RecordBatch]:
    def keys(fields: dict[str, Any]) -> Iterator[dict[str, Any]]:
        signature, frame = Signature.from_bytes(fields["signature"]), find.with_site(crawl, fields["frame"])
        return ({"key": key, "id": fields["id"]} for key in find.keys_of(detector, signature, frame))

    return map_rows(batches, KEYS, keys)


def _confirm(detector: Detector, crawl: Frame, batches: Batches) -> Iterator[pa.RecordBatch]:
    def confirmed(fields: dict[str, Any]) -> Iterator[dict[str, Any]]:
        one, other = (Signature.from_bytes(fields[name]) for name in ("signature", "other_signature"))
        frames = (find.with_site(crawl, fields["frame"]), find.with_site(crawl, fields["other_frame"]))
        is_same_site = fields["site"] == fields["other_site"]
        if fields["is_equal"] or detector.is_replica(one, other, frames, is_same_site):
            yield {**{name: fields[name] for name in ("id", "rank", "is_equal")}, "other": fields["other_id"]}

    return map_rows(batches, CONFIRMED, confirmed)
