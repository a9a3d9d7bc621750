"""Cleaning on more than one machine: the same function over records, as a job of Apache Spark.

Inputs are cut into shards of some files each. A shard is one Spark job, whose result Spark puts in its place whole.
Then a marker with its counts is written; a run that was killed resumes with the shards that have none.
"""

from __future__ import annotations

import json
import os
import pickle
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F  # noqa: N812  (as everybody calls it)
from pyspark.sql.pandas.types import from_arrow_schema

from victorpy.base.resources import shipped
from victorpy.batch.inputs import InputFile, is_unread, survey
from victorpy.batch.plan import Dedup, Plan
from victorpy.batch.reasons import Kind, Status
from victorpy.batch.sinks import as_line
from victorpy.batch.sources import place_of
from victorpy.batch.spark import task
from victorpy.batch.spark.task import Form, find_units
from victorpy.batch.store import SPARK_SETTINGS, Counts
from victorpy.dedup.base import Keep
from victorpy.dedup.find import Index, decide, open_database
from victorpy.errors import ConfigError, DataError, OutputError, VictorError
from victorpy.model.store import find_model

KINDS = ("parquet", "jsonl", "jsonl.gz")
"""The kinds of output."""

_SESSION = {"spark.sql.execution.arrow.maxRecordsPerBatch": "64", "spark.ui.showConsoleProgress": "false"}

# Names in the output directory.
_DONE = "_done"
_SITES = "_pages"
_CLEANED = "_cleaned"
_REPLICAS = "_replicas"

Say = Callable[[str], None]


def session(master: str | None = None, name: str = "victor spark-clean", **settings: str) -> SparkSession:
    """Start a session, or take the one that is there. Pages are large, so few of them go into a batch.

    Without a master, that of spark-submit or of Spark's configuration is used.
    """
    if master and master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName(name)
    if master:
        builder = builder.master(master)
    for key, value in {**_SESSION, **settings}.items():
        builder = builder.config(key, value)
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)  # none is used here
    with in_one_line("Spark does not start (is there a Java, and such a master?)"):
        return builder.getOrCreate()


@contextmanager
def in_one_line(what: str) -> Iterator[None]:
    """Report an error inside Spark in one line, without its Java frames."""
    try:
        yield
    except (Py4JError, PySparkException) as error:
        java = getattr(error, "java_exception", None)
        words = str(java.getMessage() or java.toString() if java is not None else error).strip()
        raise VictorError(f"{what}: {words.partition(chr(10))[0]}") from error


# Frames, for jobs of your own.


def clean_frame(frame: DataFrame, plan: Plan, lines: bool = False) -> DataFrame:
    """Clean the pages of a frame that has them in a column, and perhaps their addresses in another.

    Columns `source` and `position`, if there are any, are returned with the rows.
    """
    form = Form.LINES if lines else Form.TABLE
    return _map(_page_columns(frame, plan), task.clean_rows, plan, form)


def clean_sites(frame: DataFrame, plan: Plan, lines: bool = False) -> DataFrame:
    """Clean the pages of a frame site by site; `source` and `position` should give their order."""
    group = partial(task.group_rows, plan)
    grouped = _page_columns(frame, plan).mapInArrow(group, from_arrow_schema(task.SITE_SCHEMA))
    return _clean_grouped(grouped, plan, Form.LINES if lines else Form.TABLE)


def with_model(spark: SparkSession, plan: Plan) -> Plan:
    """Send a model that does not come with the package to all machines, once."""
    method = plan.method
    directory = find_model(method.model_name).resolve() if method.model_name else None
    if directory is None or directory.is_relative_to(shipped("models").resolve()):
        return plan
    name = f"victor-{method.identity()['model'].rpartition(':')[2][:16]}"
    place = Path(tempfile.mkdtemp(prefix="victor-model-"))
    packed = shutil.make_archive(str(place / name), "zip", directory)
    spark.sparkContext.addArchive(f"{packed}#{name}")
    return replace(plan, method=replace(method, method=None, model=f"{task.SENT}{name}"))


def _page_columns(frame: DataFrame, plan: Plan) -> DataFrame:
    """Select the columns that are needed: others would travel for nothing."""
    options = plan.read
    if options.html_field not in frame.columns:
        raise DataError(f"no column {options.html_field!r}; the frame has: {', '.join(frame.columns)}")
    wanted = (options.html_field, options.url_field, "content_type", "source", "position")
    return frame.select(*[name for name in wanted if name in frame.columns])


def _map(frame: DataFrame, function: Callable[..., Any], plan: Plan, form: Form) -> DataFrame:
    schema = from_arrow_schema(task.result_schema(plan, form))
    return frame.mapInArrow(partial(function, plan, form), schema)


def _clean_grouped(grouped: DataFrame, plan: Plan, form: Form) -> DataFrame:
    """Clean records that are grouped by their site; the annotations of `clean` make Spark stream a site."""

    def clean(key: tuple[pa.Scalar, ...], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return task.clean_grouped(plan, form, key[0].as_py(), batches)

    schema = from_arrow_schema(task.result_schema(plan, form))
    return grouped.groupBy("site").applyInArrow(clean, schema)


def find_replicas(signed: DataFrame, dedup: Dedup) -> DataFrame:
    """Return the places of the records that are replicas, and descriptions of those that they repeat.

    Spark finds the records that share a key with another. Only these come to the driver, as a stream in the order of
    the decision, which is that of a local run. The driver holds the list of replicas in memory.
    """
    detector = dedup.detector()
    signed = signed.where(F.length("signature") > 0).drop("ended")
    keyed = signed.mapInArrow(partial(task.add_keys, detector), from_arrow_schema(task.KEY_SCHEMA))
    shared_keys = keyed.groupBy("key").count().where("count > 1").select("key")
    places = keyed.join(shared_keys, "key", "left_semi").select("place")
    candidates = signed.join(places, "place", "left_semi")
    order = [F.desc("length"), "place"] if dedup.keep == Keep.LONGEST else ["place"]
    in_order = candidates.orderBy(*order).select("place", "signature", "description").toLocalIterator()
    rows = ((place, bytes(signature), description) for place, signature, description in in_order)
    with open_database(None) as database:
        replicas = list(decide(rows, Index(detector, database)))
    return signed.sparkSession.createDataFrame(replicas, "place string, repeats string")


# Whole runs.


def check_plan(plan: Plan) -> None:
    """Raise if something is wrong with the inputs or the method, before Spark is started."""
    if plan.to not in KINDS:
        raise ConfigError(f"`to` {plan.to!r}: there are {', '.join(KINDS)}")
    plan.check()
    if not list(find_units(plan.inputs, plan.read)):
        raise DataError("there are no inputs")


def run_plan(spark: SparkSession, plan: Plan, say: Say) -> dict[str, Any]:
    """Run a plan to its end and return the counts."""
    start = time.monotonic()
    check_plan(plan)
    with in_one_line(f"{plan.output}: the run has ended early, and the same command goes on with it"):
        store = _Store(spark, str(plan.output))
        store.open(plan.identity(survey(plan.inputs).digest), plan.notes())
        run = _Run(spark, with_model(spark, plan), store, say)
        run.write_shards()
        store.write("failed.jsonl", "".join(run.failed_lines()))
    if not run.new_counts.pages:
        say(f"{plan.output}: all is done already")
    summary = {**run.counts.as_dict(), "seconds": round(time.monotonic() - start, 3)}
    summary |= {"pages-now": run.new_counts.pages, "bytes-now": run.new_counts.bytes}
    return {**summary, "dedup": str(plan.dedup)} if plan.dedup else summary


class _Run:
    """A run under way."""

    def __init__(self, spark: SparkSession, plan: Plan, store: _Store, say: Say) -> None:
        self._spark = spark
        self._plan = plan
        self._form = Form.TABLE if plan.to == "parquet" else Form.LINES
        self._cleaned_form = Form.SIGNED if plan.dedup else self._form
        self._store = store
        self._say = say
        self._shard_names: list[str] = []
        self.counts = Counts()
        self.new_counts = Counts()
        """What this run has added to earlier ones."""

    def write_shards(self) -> None:
        """Write all shards that are missing, by groups of files or by groups of sites."""
        plan = self._plan
        units = list(find_units(plan.inputs, self._plan.read))
        size = plan.shard_files
        files = {f"shard-{at // size:05d}": units[at : at + size] for at in range(0, len(units), size)}
        shards: dict[str, Callable[[], DataFrame]]
        if plan.by_site:
            shards = {f"sites-{bucket:05d}": partial(self._clean_bucket, bucket) for bucket in range(plan.buckets)}
        else:
            shards = {name: partial(self._clean_files, group) for name, group in files.items()}
        if not all(self._store.exists(f"{_DONE}/{name}.json") for name in shards):
            if plan.by_site:
                self._group_by_site(files)
            if self._plan.dedup is not None:
                self._decide(self._plan.dedup, shards)
        for name, clean in shards.items():
            make = clean if self._plan.dedup is None else partial(self._without_replicas, name)
            self._write_shard(name, len(shards), make)
        self._shard_names = list(shards)
        for name in (_SITES, _CLEANED, _REPLICAS):
            self._store.delete(name)

    def failed_lines(self) -> Iterator[str]:
        """Return the lines of failed.jsonl, which say where to find the records again."""
        columns = ("name", "url", "source", "position", "kind", "reason")
        schema = ", ".join(f"{name} {'bigint' if name == 'position' else 'string'}" for name in (*columns, "status"))
        if not self.counts.statuses[str(Status.FAILED)]:
            return
        paths = [self._store.path(name) for name in self._shard_names]
        reader = self._spark.read.schema(schema)
        rows = reader.parquet(*paths) if self._form is Form.TABLE else reader.json(paths)
        for row in rows.where(F.col("status") == str(Status.FAILED)).orderBy("source", "position").toLocalIterator():
            fields = {name: row[name] for name in columns}
            place = place_of(row["url"], f"{Path(row['source']).name}-{row['position']}")
            yield json.dumps({**fields, "rest": is_unread(row["reason"]), "place": place.as_posix()}) + "\n"

    # The steps of cleaning: by files, or grouped by site and then by buckets of sites.

    def _unit_frame(self, units: Sequence[InputFile]) -> DataFrame:
        """Return a frame with a unit in each partition; repartitioning would put several into one."""
        rows = self._spark.sparkContext.parallelize([(pickle.dumps(unit),) for unit in units], len(units))
        return self._spark.createDataFrame(rows, "unit binary")

    def _clean_files(self, units: Sequence[InputFile]) -> DataFrame:
        return _map(self._unit_frame(units), task.clean_units, self._plan, self._cleaned_form)

    def _group_by_site(self, files: Mapping[str, Sequence[InputFile]]) -> None:
        """Write all records aside, in buckets of sites."""
        group = partial(task.group_units, self._plan)
        bucket = F.pmod(F.xxhash64("site"), F.lit(self._plan.buckets)).cast("int")
        for name, units in files.items():
            if not self._store.exists(f"{_SITES}/{name}/_SUCCESS"):
                grouped = self._unit_frame(units).mapInArrow(group, from_arrow_schema(task.SITE_SCHEMA))
                target = self._store.path(f"{_SITES}/{name}")
                grouped.withColumn("bucket", bucket).write.partitionBy("bucket").mode("overwrite").parquet(target)
                self._say(f"{name}: {len(units):,} files laid aside by site")

    def _clean_bucket(self, bucket: int) -> DataFrame:
        schema = from_arrow_schema(task.SITE_SCHEMA.append(pa.field("bucket", pa.int32())))
        pages = self._spark.read.schema(schema).parquet(self._store.path(f"{_SITES}/shard-*"))
        grouped = pages.where(F.col("bucket") == bucket).drop("bucket")
        return _clean_grouped(grouped, self._plan, self._cleaned_form)

    # The steps of deduplication.

    def _decide(self, dedup: Dedup, shards: Mapping[str, Callable[[], DataFrame]]) -> None:
        """Clean all pages into a directory aside, and decide which of them are replicas."""
        for name, clean in shards.items():
            if not self._store.exists(f"{_CLEANED}/{name}/_SUCCESS"):
                clean().write.mode("overwrite").parquet(self._store.path(f"{_CLEANED}/{name}"))
                self._say(f"{name} of {len(shards):,}: cleaned")
        signed = self._signed("*")
        if not self._store.exists(f"{_REPLICAS}/_SUCCESS"):
            find_replicas(signed, dedup).write.mode("overwrite").parquet(self._store.path(_REPLICAS))
        replicas = signed.select("place", "description").join(self._replicas(), "place").orderBy("place")
        lines = (
            as_line({**json.loads(row["description"]), "repeats": json.loads(row["repeats"])}).decode()
            for row in replicas.toLocalIterator()
        )
        self._store.write("replicas.jsonl", "".join(lines))

    def _without_replicas(self, name: str) -> DataFrame:
        """Return the rows of a shard, in order, without the texts of replicas."""
        signed = self._signed(name)
        decided = signed.join(self._replicas(), "place", "left").select("place", "ended", "repeats")
        partitions = max(signed.rdd.getNumPartitions(), 1)
        ordered = decided.repartitionByRange(partitions, "place").sortWithinPartitions("place")
        return _map(ordered.select("ended", "repeats"), task.finish_signed, self._plan, self._form)

    def _signed(self, name: str) -> DataFrame:
        schema = from_arrow_schema(task.SIGNED_SCHEMA)
        return self._spark.read.schema(schema).parquet(self._store.path(f"{_CLEANED}/{name}"))

    def _replicas(self) -> DataFrame:
        return self._spark.read.schema("place string, repeats string").parquet(self._store.path(_REPLICAS))

    # Output.

    def _write_shard(self, name: str, shard_count: int, make: Callable[[], DataFrame]) -> None:
        """Write a shard, unless it is there; its marker comes last."""
        marker = f"{_DONE}/{name}.json"
        if self._store.exists(marker):
            self.counts.add_stored(json.loads(self._store.read(marker)))
            return
        observation = Observation(name)
        frame = make().observe(observation, *_sums())
        target = self._store.path(name)
        if self._form is Form.TABLE:
            frame.drop("size").write.mode("overwrite").option("compression", "zstd").parquet(target)
        else:
            compression = "gzip" if self._plan.to.endswith(".gz") else "none"
            frame.select("line").write.mode("overwrite").text(target, compression=compression)
        counts = _counts(observation.get)
        self._store.write(marker, json.dumps(counts) + "\n")
        self.counts.add_stored(counts)
        self.new_counts.add_stored(counts)
        failed = self.counts.statuses[str(Status.FAILED)]
        self._say(f"{name} of {shard_count:,}: {self.counts.pages:,} pages so far, {failed:,} failed")


def _sums() -> Iterable[Any]:
    """Return what Spark counts while rows are written."""
    yield from (F.count_if(F.col("status") == str(status)).alias(f"status {status}") for status in Status)
    yield from (F.count_if(F.col("kind") == str(kind)).alias(f"kind {kind}") for kind in Kind)
    yield F.coalesce(F.sum("size"), F.lit(0)).alias("bytes")


def _counts(sums: Mapping[str, Any]) -> dict[str, Any]:
    counts = Counts()
    counts.bytes = int(sums["bytes"])
    counts.statuses.update({str(status): int(sums[f"status {status}"]) for status in Status})
    counts.kinds.update({str(kind): int(sums[f"kind {kind}"]) for kind in Kind if sums[f"kind {kind}"]})
    return counts.as_dict()


class _Store:
    """The output directory, on any file system that Spark can write to: settings, shards and small files."""

    def __init__(self, spark: SparkSession, output: str) -> None:
        java: Any = spark._jvm  # there is no public way to Hadoop's file systems
        self._java = java
        root = java.org.apache.hadoop.fs.Path(output if "://" in output else Path(output).resolve().as_uri())
        self._root = root.toString()
        self._files = root.getFileSystem(spark._jsc.hadoopConfiguration())

    def open(self, settings: dict[str, Any], notes: dict[str, Any]) -> None:
        """Start or resume a run. Raises if the directory belongs to a different one."""
        if self.exists(SPARK_SETTINGS):
            earlier = json.loads(self.read(SPARK_SETTINGS))["settings"]
            differing = [name for name in {**earlier, **settings} if earlier.get(name) != settings.get(name)]
            if differing:
                raise OutputError(
                    f"{self._root}: holds the output of another command, which had another {', '.join(differing)}; "
                    "give the same command to go on with it, or another directory"
                )
        elif self.exists("shard-00000") or self.exists("sites-00000"):
            raise OutputError(f"{self._root}: there are shards and no settings of theirs: choose another directory")
        else:
            self.write(SPARK_SETTINGS, json.dumps({"settings": settings, **notes}) + "\n")

    def path(self, name: str) -> str:
        return f"{self._root}/{name}"

    def exists(self, name: str) -> bool:
        return bool(self._files.exists(self._path(name)))

    def read(self, name: str) -> str:
        stream = self._files.open(self._path(name))
        try:
            return bytes(stream.readAllBytes()).decode()
        finally:
            stream.close()

    def write(self, name: str, content: str) -> None:
        """Write a small file, whole or not at all."""
        temporary, target = self._path(f"{name}._tmp"), self._path(name)
        stream = self._files.create(temporary, True)
        try:
            stream.write(content.encode())
        finally:
            stream.close()
        self._files.delete(target, False)
        if not self._files.rename(temporary, target):
            raise OutputError(f"{target.toString()}: cannot be written")

    def delete(self, name: str) -> None:
        self._files.delete(self._path(name), True)

    def _path(self, name: str) -> Any:
        return self._java.org.apache.hadoop.fs.Path(self.path(name))
