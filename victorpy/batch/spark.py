"""More than one machine: the same function over records, as a job of Apache Spark.

Inputs are cut into shards of some files each. A shard is one Spark job, whose result Spark puts in its place whole;
then a marker with its counts is written, and a run that was killed goes on with the shards that have none.
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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F  # noqa: N812  (as everybody calls it)

from victorpy.batch import spark_task
from victorpy.batch.choice import Choice
from victorpy.batch.dedup import Dedup
from victorpy.batch.inputs import is_unread, survey
from victorpy.batch.reading import Unit
from victorpy.batch.reasons import Kind, Status
from victorpy.batch.run import Job
from victorpy.batch.shards import Counts
from victorpy.batch.sources.base import place_of
from victorpy.batch.spark_dedup import SIGNED, decided, replica_lines
from victorpy.batch.spark_store import SparkStore
from victorpy.batch.spark_task import Cleaning
from victorpy.batch.spark_units import find_units
from victorpy.errors import DataError, VictorError
from victorpy.model import find_model
from victorpy.resources import shipped

__all__ = ["Cleaning", "SparkJob", "clean_frame", "clean_sites", "run_spark_job", "session", "with_model"]

KINDS = ("parquet", "jsonl", "jsonl.gz")
"""What the output can be made of."""

_ASIDE = "_pages"
_DONE = "_done"
_CLEANED = "_cleaned"
_REPLICAS = "_replicas"

Say = Callable[[str], None]


@dataclass(frozen=True)
class SparkJob:
    """All that says what a run is to do."""

    inputs: tuple[str, ...]
    output: str
    to: str = "parquet"
    cleaning: Cleaning = field(default_factory=Cleaning)
    by_site: bool = False
    shard_files: int = 64
    """Input files, or stretches of large ones, in a shard."""
    buckets: int = 16
    """Shards that sites are put into."""

    @property
    def lines(self) -> bool:
        """Whether rows are written as lines of JSON."""
        return self.to != "parquet"

    def check(self) -> None:
        """See that the inputs and the method are what they should be, before Spark is started."""
        (self.cleaning.make or self.cleaning.choice.load)()
        if self.cleaning.dedup is not None:
            self.cleaning.dedup.check()
        if not list(find_units(self.inputs, self.cleaning.read)):
            raise DataError("there are no inputs")

    def settings(self) -> dict[str, Any]:
        """What decides about the output."""
        cleaning = self.cleaning
        local = Job(
            self.inputs,
            None,
            to=self.to,
            format=cleaning.format,
            choice=cleaning.choice,
            read=cleaning.read,
            shard_records=0,
            by_site=self.by_site,
            sample=cleaning.sample,
            dedup=cleaning.dedup,
        )
        cut = {"buckets": self.buckets} if self.by_site else {}
        return {**local.settings(survey(self.inputs).digest), "files a shard": self.shard_files, **cut}


def session(master: str | None = None, name: str = "victor spark-clean", **settings: str) -> SparkSession:
    """Start or take a session that suits pages: they are large, so that few go into a batch.

    Without a master, it is that of spark-submit or of Spark's configuration.
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
    """Say what went wrong inside Spark in a line, not in those of all its Java frames."""
    try:
        yield
    except (Py4JError, PySparkException) as error:
        java = getattr(error, "java_exception", None)
        words = str(java.getMessage() or java.toString() if java is not None else error).strip()
        raise VictorError(f"{what}: {words.partition(chr(10))[0]}") from error


_SESSION = {"spark.sql.execution.arrow.maxRecordsPerBatch": "64", "spark.ui.showConsoleProgress": "false"}


# Frames: for whoever has a job of their own.


def clean_frame(frame: DataFrame, cleaning: Cleaning, lines: bool = False) -> DataFrame:
    """Clean the pages of a frame that has them in a column, and perhaps their addresses in another.

    Columns `source` and `position`, where there are any, are given back with the rows.
    """
    return _mapped(_page_columns(frame, cleaning), spark_task.clean_rows, cleaning, lines)


def clean_sites(frame: DataFrame, cleaning: Cleaning, lines: bool = False) -> DataFrame:
    """Clean the pages of a frame site by site; `source` and `position` should say their order."""
    aside = spark_task.aside_schema()
    laid = _page_columns(frame, cleaning).mapInArrow(partial(spark_task.lay_aside_rows, cleaning), _ddl(aside))
    return _cleaned_sites(laid, cleaning, lines)


def with_model(spark: SparkSession, cleaning: Cleaning) -> Cleaning:
    """Send a model that does not come with the package to all machines, once."""
    choice = cleaning.choice
    directory = _own_model(choice)
    if directory is None:
        return cleaning
    digest = json.loads((directory / "meta.json").read_bytes())["digest"]
    name = f"victor-{digest.rpartition(':')[2][:16]}"
    place = Path(tempfile.mkdtemp(prefix="victor-model-"))
    packed = shutil.make_archive(str(place / name), "zip", directory)
    spark.sparkContext.addArchive(f"{packed}#{name}")
    return replace(cleaning, archive=name)


def _own_model(choice: Choice) -> Path | None:
    named = choice.method if choice.method and (Path(choice.method) / "meta.json").exists() else choice.model
    if not named:
        return None
    directory = find_model(named).resolve()
    return None if directory.is_relative_to(shipped("models").resolve()) else directory


def _page_columns(frame: DataFrame, cleaning: Cleaning) -> DataFrame:
    """Only what is needed: other columns would travel for nothing."""
    options = cleaning.read
    if options.html_field not in frame.columns:
        raise DataError(f"no column {options.html_field!r}; the frame has: {', '.join(frame.columns)}")
    wanted = (options.html_field, options.url_field, "content_type", "source", "position")
    return frame.select(*[name for name in wanted if name in frame.columns])


def _mapped(frame: DataFrame, function: Callable[..., Any], cleaning: Cleaning, lines: bool) -> DataFrame:
    """Apply a function of a task, which is given how to clean and whether to write lines."""
    return frame.mapInArrow(partial(function, cleaning, lines), _ddl(spark_task.result_schema(cleaning, lines)))


def _cleaned_sites(laid: DataFrame, cleaning: Cleaning, lines: bool) -> DataFrame:
    """Clean records that are laid aside; the annotations choose the form that streams a site."""

    def clean(key: tuple[pa.Scalar, ...], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return spark_task.clean_laid_aside(cleaning, lines, key[0].as_py(), batches)

    return laid.groupBy("site").applyInArrow(clean, _ddl(spark_task.result_schema(cleaning, lines)))


def _signed_sites(laid: DataFrame, cleaning: Cleaning) -> DataFrame:
    """The same, to be compared before they are written."""

    def sign(key: tuple[pa.Scalar, ...], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return spark_task.sign_laid_aside(cleaning, key[0].as_py(), batches)

    return laid.groupBy("site").applyInArrow(sign, SIGNED)


def _ddl(schema: Any) -> str:
    return ", ".join(f"`{column.name}` {_ddl_type(column.type)}" for column in schema)


def _ddl_type(kind: Any) -> str:
    """Spark's name for a type."""
    if pa.types.is_struct(kind):
        return f"struct<{', '.join(f'`{each.name}`: {_ddl_type(each.type)}' for each in kind)}>"
    if pa.types.is_list(kind):
        return f"array<{_ddl_type(kind.value_type)}>"
    return {"string": "string", "int64": "bigint", "int32": "int", "double": "double", "binary": "binary"}[str(kind)]


# Whole runs.


def run_spark_job(spark: SparkSession, job: SparkJob, say: Say) -> dict[str, Any]:
    """Run a job to its end and give the counts."""
    begun = time.monotonic()
    job.check()
    with in_one_line(f"{job.output}: the run has ended early, and the same command goes on with it"):
        store = SparkStore(spark, job.output)
        store.open(job.settings(), asdict(job.cleaning.choice))
        run = _Run(spark, replace(job, cleaning=with_model(spark, job.cleaning)), store, say)
        counts = run.by_site() if job.by_site else run.single_pages()
        store.write("failed.jsonl", "".join(run.failed_lines()))
    if not run.now.pages:
        say(f"{job.output}: all is done already")
    now = {"pages-now": run.now.pages, "bytes-now": run.now.bytes}
    told = {"dedup": str(job.cleaning.dedup)} if job.cleaning.dedup else {}
    return {**counts.as_dict(), "seconds": round(time.monotonic() - begun, 3), **now, **told}


class _Run:
    """A run under way."""

    def __init__(self, spark: SparkSession, job: SparkJob, store: SparkStore, say: Say) -> None:
        self._spark = spark
        self._job = job
        self._store = store
        self._say = say
        self._counts = Counts()
        self.now = Counts()
        """What this run has added to what was there."""

    def single_pages(self) -> Counts:
        """Clean shard after shard."""
        self._clean_all({name: partial(self._units_cleaned, units) for name, units in self._shards()})
        return self._counts

    def _units_cleaned(self, units: Sequence[Unit]) -> DataFrame:
        cleaning, lines = self._job.cleaning, self._job.lines
        if cleaning.dedup is not None:
            return self._frame(units).mapInArrow(partial(spark_task.sign_units, cleaning), SIGNED)
        return _mapped(self._frame(units), spark_task.clean_units, cleaning, lines)

    def by_site(self) -> Counts:
        """Lay all records aside by their site, in shards; then clean bucket after bucket of sites."""
        names = [f"sites-{number:05d}" for number in range(self._job.buckets)]
        if not all(map(self._is_done, names)):
            self._lay_aside()
        self._clean_all({name: partial(self._bucket, number) for number, name in enumerate(names)})
        self._store.delete(_ASIDE)
        return self._counts

    def failed_lines(self) -> Iterator[str]:
        """What failed.jsonl says: enough to find the records again."""
        columns = ("name", "url", "source", "position", "kind", "reason")
        kinds = ", ".join(f"{name} {'bigint' if name == 'position' else 'string'}" for name in (*columns, "status"))
        shown = [self._store.path(name) for name in self._store.shards()]
        if not self._counts.statuses[str(Status.FAILED)]:
            return
        read = self._spark.read.schema(kinds)
        rows = read.json(shown) if self._job.lines else read.parquet(*shown)
        for row in rows.where(F.col("status") == str(Status.FAILED)).orderBy("source", "position").toLocalIterator():
            told = {name: row[name] for name in columns}
            place = place_of(row["url"], f"{Path(row['source']).name}-{row['position']}")
            yield json.dumps({**told, "rest": is_unread(row["reason"]), "place": place.as_posix()}) + "\n"

    def _shards(self) -> list[tuple[str, list[Unit]]]:
        units = list(find_units(self._job.inputs, self._job.cleaning.read))
        size = self._job.shard_files
        return [(f"shard-{at // size:05d}", units[at : at + size]) for at in range(0, len(units), size)]

    def _frame(self, units: Sequence[Unit]) -> DataFrame:
        """A unit in each partition: repartitioning would put several into one, and none into others."""
        rows = self._spark.sparkContext.parallelize([(pickle.dumps(unit),) for unit in units], len(units))
        return self._spark.createDataFrame(rows, "unit binary")

    def _lay_aside(self) -> None:
        job = self._job
        schema = _ddl(spark_task.aside_schema())
        for name, units in self._shards():
            if self._store.exists(f"{_ASIDE}/{name}/_SUCCESS"):
                continue
            laid = self._frame(units).mapInArrow(partial(spark_task.lay_aside_units, job.cleaning), schema)
            bucket = F.pmod(F.xxhash64("site"), F.lit(job.buckets)).cast("int")
            target = self._store.path(f"{_ASIDE}/{name}")
            laid.withColumn("bucket", bucket).write.partitionBy("bucket").mode("overwrite").parquet(target)
            self._say(f"{name}: {len(units):,} files laid aside by site")

    def _bucket(self, number: int) -> DataFrame:
        schema = f"{_ddl(spark_task.aside_schema())}, bucket int"
        pages = self._spark.read.schema(schema).parquet(self._store.path(f"{_ASIDE}/shard-*"))
        chosen = pages.where(F.col("bucket") == number).drop("bucket")
        cleaning = self._job.cleaning
        return _signed_sites(chosen, cleaning) if cleaning.dedup else _cleaned_sites(chosen, cleaning, self._job.lines)

    def _clean_all(self, shards: Mapping[str, Callable[[], DataFrame]]) -> None:
        """Clean shard after shard; where replicas go, all are cleaned before the first is written."""
        dedup = self._job.cleaning.dedup
        if dedup is not None and not all(self._is_done(name) for name in shards):
            self._decide(dedup, shards)
        for name, make in shards.items():
            self._clean(name, len(shards), partial(self._judged, name) if dedup else make)
        self._store.delete(_CLEANED)
        self._store.delete(_REPLICAS)

    def _decide(self, dedup: Dedup, shards: Mapping[str, Callable[[], DataFrame]]) -> None:
        """Clean all pages into a directory aside, and find out which of them are replicas."""
        for name, make in shards.items():
            if not self._store.exists(f"{_CLEANED}/{name}/_SUCCESS"):
                make().write.mode("overwrite").parquet(self._store.path(f"{_CLEANED}/{name}"))
                self._say(f"{name} of {len(shards):,}: cleaned")
        if not self._store.exists(f"{_REPLICAS}/_SUCCESS"):
            decided(self._signed("*"), dedup).write.mode("overwrite").parquet(self._store.path(_REPLICAS))
        self._store.write("replicas.jsonl", "".join(replica_lines(self._signed("*"), self._replicas())))

    def _judged(self, name: str) -> DataFrame:
        """The rows of a shard, in order, with what was decided of them."""
        signed = self._signed(name)
        told = signed.join(self._replicas(), "place", "left").select("place", "ended", "repeats")
        ordered = told.repartitionByRange(max(signed.rdd.getNumPartitions(), 1), "place").sortWithinPartitions("place")
        rows = ordered.select("ended", "repeats")
        return _mapped(rows, spark_task.judge_rows, self._job.cleaning, self._job.lines)

    def _signed(self, name: str) -> DataFrame:
        return self._spark.read.schema(SIGNED).parquet(self._store.path(f"{_CLEANED}/{name}"))

    def _replicas(self) -> DataFrame:
        return self._spark.read.schema("place string, repeats string").parquet(self._store.path(_REPLICAS))

    def _is_done(self, name: str) -> bool:
        return self._store.exists(f"{_DONE}/{name}.json")

    def _clean(self, name: str, of: int, make: Callable[[], DataFrame]) -> None:
        """Have a shard cleaned and written, unless it is there; its marker comes last."""
        marker = f"{_DONE}/{name}.json"
        if self._store.exists(marker):
            self._counts.add_stored(json.loads(self._store.read(marker)))
            return
        seen = Observation(name)
        self._write(make().observe(seen, *_sums()), self._store.path(name))
        counts = _counts(seen.get)
        self._store.write(marker, json.dumps(counts.as_dict()) + "\n")
        self._counts.add_stored(counts.as_dict())
        self.now.add_stored(counts.as_dict())
        failed = self._counts.statuses[str(Status.FAILED)]
        self._say(f"{name} of {of:,}: {self._counts.pages:,} pages so far, {failed:,} failed")

    def _write(self, frame: DataFrame, target: str) -> None:
        if not self._job.lines:
            frame.drop("size").write.mode("overwrite").option("compression", "zstd").parquet(target)
            return
        compression = "gzip" if self._job.to.endswith(".gz") else "none"
        frame.select("line").write.mode("overwrite").text(target, compression=compression)


def _sums() -> list[Any]:
    """What is counted while rows are written."""
    statuses = [F.count_if(F.col("status") == str(status)).alias(f"status {status}") for status in Status]
    kinds = [F.count_if(F.col("kind") == str(kind)).alias(f"kind {kind}") for kind in Kind]
    return [*statuses, *kinds, F.coalesce(F.sum("size"), F.lit(0)).alias("bytes")]


def _counts(seen: dict[str, Any]) -> Counts:
    counts = Counts()
    counts.bytes = int(seen["bytes"])
    counts.statuses.update({str(status): int(seen[f"status {status}"]) for status in Status})
    counts.kinds.update({str(kind): int(seen[f"kind {kind}"]) for kind in Kind if seen[f"kind {kind}"]})
    return counts
