"""Run a plan as Apache Spark jobs.

The inputs are cut into shards of some files each. A shard is one Spark job, whose output Spark renames when it is
complete. Then a marker file with the shard's counts is written. A resumed run writes the shards that have no marker.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
import time
import warnings
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from itertools import compress
from pathlib import Path
from typing import Any

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F  # noqa: N812  (the usual name)
from pyspark.sql.pandas.types import from_arrow_schema

from victorpy.base.digests import META, read_meta, verify_directory
from victorpy.base.plain import to_json
from victorpy.base.resources import shipped
from victorpy.batch.inputs import InputFile, Stamps, survey
from victorpy.batch.outcome import Counts
from victorpy.batch.plan import Dedup, Plan
from victorpy.batch.record import Kind, Status
from victorpy.batch.replicas import dedup_summary
from victorpy.batch.store import INPUT_FILES, SPARK_SETTINGS, refuse_gone_files, refuse_other_settings
from victorpy.dedup.find import Loss
from victorpy.errors import ConfigError, DataError, OutputError, VictorError
from victorpy.model.store import find_model
from victorpy.spark import task
from victorpy.spark.dedup import DECISIONS, find_decisions, find_losses
from victorpy.spark.task import Form, find_units

KINDS = ("parquet", "jsonl", "jsonl.gz")
"""Kinds of output."""

_SESSION = {"spark.sql.execution.arrow.maxRecordsPerBatch": "64", "spark.ui.showConsoleProgress": "false"}
"""Default settings. Pages are large, so a batch contains few of them."""

# Names in the output directory. Readers of tables leave out names that begin with an underscore.
LIST_OF_FAILED = "_failed.jsonl"
_LIST_OF_REPLICAS = "_replicas.jsonl"
_DONE = "_done"
_INPUTS = "_inputs"
_SITES = "_pages"
_CLEANED = "_cleaned"
_REPLICAS = "_replicas"
_REPEATS = "_repeats"
_CUTS = "_cuts.json"

PROGRESS_SECONDS = 30.0
"""Time between two messages about the progress."""

_MOST_SHARDS = 16
"""Maximum number of shards that are written at the same time."""

Say = Callable[[str], None]


def session(master: str | None = None, name: str = "victor spark-clean", **settings: str) -> SparkSession:
    """Return a new session, or the current one. Without `master`, Spark's configuration names the master."""
    if master and master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName(name)
    if master:
        builder = builder.master(master)
    for key, value in {**_SESSION, **settings}.items():
        builder = builder.config(key, value)
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)  # pandas is not used
    with in_one_line("Spark does not start; check that Java is installed and that the master exists"):
        return builder.getOrCreate()


@contextmanager
def in_one_line(what: str) -> Iterator[None]:
    """Report a Spark error in one line, without Java stack frames."""
    try:
        yield
    except (Py4JError, PySparkException) as error:
        java = getattr(error, "java_exception", None)
        words = str(java.getMessage() or java.toString() if java is not None else error).strip()
        raise VictorError(f"{what}: {words.partition(chr(10))[0]}") from error


# Frames, for jobs of your own.


def clean_frame(frame: DataFrame, plan: Plan) -> DataFrame:
    """Clean the pages in a column of a frame. Columns `source` and `position` are copied to the result."""
    plan = replace(plan, to=KINDS[0])
    return _map(_page_columns(frame, plan), task.clean_pages, plan, Form.TABLE)


def clean_sites(frame: DataFrame, plan: Plan) -> DataFrame:
    """Clean the pages of a frame site by site, in the order of `source` and `position`."""
    plan = replace(plan, to=KINDS[0])
    return _clean_grouped(_group(_page_columns(frame, plan), plan), plan, Form.TABLE)


def with_model(spark: SparkSession, plan: Plan) -> Plan:
    """Send a model to all machines, unless it is installed with the package."""
    method = plan.method
    directory = find_model(method.model_name).resolve() if method.model_name else None
    if directory is None or directory.is_relative_to(shipped("models").resolve()):
        return plan
    name = f"victor-{method.identity()['model'].rpartition(':')[2][:16]}"
    if not any(name in sent for sent in spark.sparkContext.listArchives):  # Spark refuses to send a name twice
        packed = Path(tempfile.mkdtemp(prefix="victor-model-"), f"{name}.zip")
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in (META, *verify_directory(directory, read_meta(directory))):  # no other file leaves this machine
                archive.write(directory / file, file)
        spark.sparkContext.addArchive(f"{packed}#{name}")
    return replace(plan, method=replace(method, method=None, model=f"{task.SENT}{name}"))


def _page_columns(frame: DataFrame, plan: Plan) -> DataFrame:
    """Select the columns that cleaning needs."""
    options = plan.read
    if options.html_field not in frame.columns:
        raise DataError(f"no column {options.html_field!r}; the columns are {', '.join(frame.columns)}")
    wanted = (options.html_field, options.url_field, "content_type", "source", "position")
    return frame.select(*[name for name in wanted if name in frame.columns])


def _map(frame: DataFrame, function: Callable[..., Any], plan: Plan, form: Form) -> DataFrame:
    return frame.mapInArrow(partial(function, plan, form), from_arrow_schema(task.result_schema(plan, form)))


def _group(frame: DataFrame, plan: Plan) -> DataFrame:
    return frame.mapInArrow(partial(task.group_pages, plan), from_arrow_schema(task.SITE_SCHEMA))


def _clean_grouped(grouped: DataFrame, plan: Plan, form: Form) -> DataFrame:
    """Clean records that have a site. The type annotations of `clean` make Spark stream a site."""

    def clean(key: tuple[pa.Scalar, ...], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return task.clean_grouped(plan, form, key[0].as_py(), batches)

    return grouped.groupBy("site").applyInArrow(clean, from_arrow_schema(task.result_schema(plan, form)))


# Whole runs.


def check_plan(plan: Plan) -> None:
    """Raise if the inputs or the method are wrong, before Spark is started."""
    if plan.to not in KINDS:
        raise ConfigError(f"`to` must be one of {', '.join(KINDS)}, not {plan.to!r}")
    plan.check()
    if not list(find_units(plan.inputs, plan.read)):
        raise DataError("there are no inputs")


def run_plan(spark: SparkSession, plan: Plan, say: Say, force: bool = False) -> dict[str, Any]:
    """Run a plan and return the counts. With `force`, an earlier run into the same directory is deleted first."""
    start = time.monotonic()
    check_plan(plan)
    with in_one_line(f"{plan.output}: the run has ended early; run the same command to resume"):
        store = _Store(spark, str(plan.output))
        run = _Run(spark, with_model(spark, plan), store, say)
        if force and store.exists(SPARK_SETTINGS):
            store.delete("")
        store.open(plan, survey(plan.inputs).stamps)
        run.write_shards()
    if not run.new_counts.pages:
        say(f"{plan.output}: the run is already complete")
    summary = {**run.counts.as_dict(), "seconds": round(time.monotonic() - start, 3)}
    summary |= {"pages-now": run.new_counts.pages, "bytes-now": run.new_counts.bytes}
    return {**summary, **dedup_summary(plan.dedup, run.losses)} if plan.dedup else summary


class _Run:
    def __init__(self, spark: SparkSession, plan: Plan, store: _Store, say: Say) -> None:
        self.spark = spark
        self.plan = plan
        self.store = store
        self.say = say
        self.form = Form.TABLE if plan.to == "parquet" else Form.LINES
        self.cleaned_form = Form.SIGNED if plan.dedup else self.form
        units, size = self._units(), plan.shard_files
        self.files = {f"shard-{at // size:05d}": units[at : at + size] for at in range(0, len(units), size)}
        self.shards = [f"sites-{bucket:05d}" for bucket in range(plan.buckets)] if plan.by_site else list(self.files)
        self.losses: list[Loss] = []
        self.counts = Counts()
        self.new_counts = Counts()
        """Counts of this run, without the earlier runs that it resumes."""

    def _units(self) -> list[InputFile]:
        """Return what one task reads: a file, or a piece of it. Few large files are cut, so that all cores work.

        The cuts are stored, because a resumed run must have the same shards.
        """
        units = list(find_units(self.plan.inputs, self.plan.read))
        context = self.spark.sparkContext
        if not self.store.exists(_CUTS):
            large = [unit for unit in units if unit.path.is_file() and unit.path.stat().st_size > task.SPLIT_BYTES]
            cuts = {}
            if large and len(units) < 2 * context.defaultParallelism:
                self.say(f"dividing {len(large):,} files")
                find_cuts = partial(task.find_cuts, self.plan.read, task.SPLIT_BYTES)
                found = context.parallelize(large, len(large)).map(find_cuts).collect()
                cuts = {str(unit.path): cut for unit, cut in zip(large, found, strict=True)}
            self.store.write(_CUTS, json.dumps(cuts))
        stored = json.loads(self.store.read(_CUTS))
        return [piece for unit in units for piece in task.cut_file(unit, stored.get(str(unit.path), [(0, 0)]))]

    def write_shards(self) -> None:
        """Write all missing shards, and then the list of failed records."""
        with self._telling():
            if not all(self._counts_of(name) for name in self.shards):
                if self.plan.by_site:
                    for name in self._in_parallel(self._group_by_site, list(self.files)):
                        self.say(f"{name}: {len(self.files[name]):,} files sorted by site")
                if self.plan.dedup is not None:
                    self._decide(self.plan.dedup)
            for name in self._in_parallel(self._write_shard, self.shards):
                self._count(name)
            for name in (_SITES, _CLEANED, _REPLICAS, _REPEATS):
                self.store.delete(name)
            self._write_failed()

    def _in_parallel(self, function: Callable[[str], bool], names: list[str]) -> Iterator[str]:
        """Write shards, as many at a time as the cluster needs. Yields those that were missing, in order."""
        width = min(-(-self.spark.sparkContext.defaultParallelism // self.plan.shard_files), _MOST_SHARDS)
        if width == 1:  # an interrupted run has not begun the next shard
            yield from filter(function, names)
            return
        with ThreadPoolExecutor(width) as executor:
            try:
                yield from compress(names, executor.map(function, names))
            except BaseException:
                executor.shutdown(wait=False, cancel_futures=True)
                raise

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Say from time to time how many tasks are done."""
        is_over = threading.Event()

        def tell() -> None:
            tracker = self.spark.sparkContext.statusTracker()
            while not is_over.wait(PROGRESS_SECONDS):
                stages = [info for stage in tracker.getActiveStageIds() if (info := tracker.getStageInfo(stage))]
                done, total = (
                    sum(getattr(info, name) for info in stages) for name in ("numCompletedTasks", "numTasks")
                )
                if total:
                    running = sum(info.numActiveTasks for info in stages)
                    self.say(f"{done:,} of {total:,} tasks of this step are done, {running:,} are running")

        thread = threading.Thread(target=tell, daemon=True)
        thread.start()
        try:
            yield
        finally:
            is_over.set()

    def _unit_frame(self, name: str) -> DataFrame:
        """Return a frame with one unit per partition."""
        units = [(to_json(unit),) for unit in self.files[name]]
        return self.spark.createDataFrame(self.spark.sparkContext.parallelize(units, len(units)), "unit binary")

    def _group_by_site(self, name: str) -> bool:
        """Write the records of a shard to temporary tables, partitioned into buckets of sites."""
        bucket = F.pmod(F.xxhash64("site"), F.lit(self.plan.buckets)).cast("int")
        if self.store.exists(f"{_SITES}/{name}/_SUCCESS"):
            return False
        grouped = _group(self._unit_frame(name), self.plan).withColumn("bucket", bucket)
        grouped.write.partitionBy("bucket").mode("overwrite").parquet(self.store.path(f"{_SITES}/{name}"))
        return True

    def _cleaned(self, name: str) -> DataFrame:
        """Return the cleaned records of a shard."""
        if not self.plan.by_site:
            return _map(self._unit_frame(name), task.clean_pages, self.plan, self.cleaned_form)
        schema = from_arrow_schema(task.SITE_SCHEMA.append(pa.field("bucket", pa.int32())))
        pages = self.spark.read.schema(schema).parquet(self.store.path(f"{_SITES}/shard-*"))
        grouped = pages.where(F.col("bucket") == self.shards.index(name)).drop("bucket")
        return _clean_grouped(grouped, self.plan, self.cleaned_form)

    def _decide(self, dedup: Dedup) -> None:
        """Clean all pages into temporary tables, and find the replicas."""
        for name in self._in_parallel(self._write_cleaned, self.shards):
            self.say(f"{name} of {len(self.shards):,}: cleaned")
        signed = self._signed("*")
        if not self.store.exists(f"{_REPLICAS}/_SUCCESS"):
            decisions = find_decisions(signed, dedup, self.store.path(_REPEATS))
            decisions.write.mode("overwrite").parquet(self.store.path(_REPLICAS))
        if dedup.by_paragraph:
            return
        self.losses = find_losses(signed, self._decisions())
        replicas = signed.select("place", "description").join(self._decisions(), "place")
        self._write_lines(replicas, task.replica_lines, _LIST_OF_REPLICAS, "place")

    def _write_cleaned(self, name: str) -> bool:
        if self.store.exists(f"{_CLEANED}/{name}/_SUCCESS"):
            return False
        self._cleaned(name).write.mode("overwrite").parquet(self.store.path(f"{_CLEANED}/{name}"))
        return True

    def _signed(self, name: str) -> DataFrame:
        schema = from_arrow_schema(task.SIGNED_SCHEMA)
        return self.spark.read.schema(schema).parquet(self.store.path(f"{_CLEANED}/{name}"))

    def _decisions(self) -> DataFrame:
        return self.spark.read.schema(DECISIONS).parquet(self.store.path(_REPLICAS))

    def _without_replicas(self, name: str) -> DataFrame:
        """Return the final rows of a shard in order."""
        signed = self._signed(name)
        decided = signed.join(self._decisions(), "place", "left").select("place", "ended", "decision")
        partitions = max(signed.rdd.getNumPartitions(), 1)
        ordered = decided.repartitionByRange(partitions, "place").sortWithinPartitions("place")
        return _map(ordered.select("ended", "decision"), task.finish_signed, self.plan, self.form)

    def _digest(self, name: str) -> str:
        """Identify the input files of a shard by their names, sizes and times."""
        stamps = Stamps()
        for unit in self.files.get(name, ()):
            stamps.add(unit.path, unit.path.stat() if unit.path.exists() else None)
        return stamps.digest

    def _counts_of(self, name: str) -> dict[str, Any] | None:
        """Return the counts of a shard, or None if it is missing or its input files have changed."""
        marker = f"{_DONE}/{name}.json"
        counts: dict[str, Any] = json.loads(self.store.read(marker)) if self.store.exists(marker) else {}
        return counts if counts.get(INPUT_FILES) == self._digest(name) else None

    def _write_shard(self, name: str) -> bool:
        """Write a shard and then its marker, unless the marker exists."""
        earlier = self._counts_of(name)
        if earlier is not None:
            self.counts.add_stored(earlier)
            return False
        observation = Observation(name)
        by_status = (F.count_if(F.col("status") == str(status)).alias(str(status)) for status in Status)
        by_kind = (F.count_if(F.col("kind") == str(kind)).alias(str(kind)) for kind in Kind)
        size = F.coalesce(F.sum("size"), F.lit(0)).alias("bytes")
        rows = self._without_replicas(name) if self.plan.dedup else self._cleaned(name)
        frame = rows.observe(observation, *by_status, *by_kind, size)
        target = self.store.path(name)
        if self.form is Form.TABLE:
            frame.write.mode("overwrite").option("compression", "zstd").parquet(target)
        else:
            compression = "gzip" if self.plan.to.endswith(".gz") else "none"
            frame.select("line").write.mode("overwrite").text(target, compression=compression)
            self.store.rename_all(name, ".txt", ".jsonl")
        sums = observation.get
        kinds = {str(kind): int(sums[str(kind)]) for kind in Kind if sums[str(kind)]}
        counts = Counts({**sums, "kinds": kinds}).as_dict()
        self.store.write(f"{_DONE}/{name}.json", json.dumps({**counts, INPUT_FILES: self._digest(name)}) + "\n")
        return True

    def _count(self, name: str) -> None:
        """Add the counts of a shard that was just written."""
        counts = self._counts_of(name) or Counts().as_dict()
        self.counts.add_stored(counts)
        self.new_counts.add_stored(counts)
        failed = self.counts.statuses[str(Status.FAILED)]
        self.say(f"{name} of {len(self.shards):,}: {self.counts.pages:,} pages so far, {failed:,} failed")

    def _write_failed(self) -> None:
        columns = ("name", "url", "source", "position", "kind", "reason", "status")
        schema = ", ".join(f"{name} {'bigint' if name == 'position' else 'string'}" for name in columns)
        if not self.counts.statuses[str(Status.FAILED)]:
            self.store.write(LIST_OF_FAILED, "")
            return
        paths = [self.store.path(name) for name in self.shards]
        reader = self.spark.read.schema(schema)
        rows = reader.parquet(*paths) if self.form is Form.TABLE else reader.json(paths)
        failed = rows.where(F.col("status") == str(Status.FAILED))
        self._write_lines(failed, task.failed_lines, LIST_OF_FAILED, "source", "position")

    def _write_lines(self, frame: DataFrame, lines: Callable[..., Any], name: str, *order: str) -> None:
        """Let an executor write a file of lines, in order. Rows are sorted on its disk if there are many."""
        ordered = frame.repartition(1).sortWithinPartitions(*order)
        temporary = f"{name}._tmp"
        ordered.mapInArrow(lines, "line string").write.mode("overwrite").text(self.store.path(temporary))
        self.store.take_part(temporary, name)


class _Store:
    """The output directory, on any file system that Spark can write to."""

    def __init__(self, spark: SparkSession, output: str) -> None:
        java: Any = spark._jvm  # Hadoop's file systems have no public interface
        self._path_of = java.org.apache.hadoop.fs.Path
        root = self._path_of(output if "://" in output else Path(output).resolve().as_uri())
        self._root = root.toString()
        self._files = root.getFileSystem(spark._jsc.hadoopConfiguration())

    def open(self, plan: Plan, stamps: Stamps) -> None:
        """Start or resume a run. Raises if the directory belongs to a different run.

        If input files have changed, what was made of all files is deleted. Shards of changed files are written again.
        """
        settings = plan.identity(stamps.digest)
        if self.exists(SPARK_SETTINGS):
            earlier = json.loads(self.read(SPARK_SETTINGS))["settings"]
            refuse_other_settings(self._root, earlier, settings)
            if earlier.get(INPUT_FILES) == settings[INPUT_FILES]:
                return
            refuse_gone_files(self._root, Stamps(bytes.fromhex(self.read(_INPUTS))), stamps)
            for name in (_SITES, _CLEANED, _REPLICAS, *((_DONE,) if plan.by_site or plan.dedup else ())):
                self.delete(name)
        elif self.exists("shard-00000") or self.exists("sites-00000"):
            raise OutputError(f"{self._root}: contains shards without settings; choose another directory")
        self.write(_INPUTS, stamps.as_bytes().hex())
        self.write(SPARK_SETTINGS, json.dumps({"settings": settings, **plan.notes()}) + "\n")

    def path(self, name: str) -> str:
        return f"{self._root}/{name}" if name else self._root

    def exists(self, name: str) -> bool:
        return bool(self._files.exists(self._path_of(self.path(name))))

    def read(self, name: str) -> str:
        with closing(self._files.open(self._path_of(self.path(name)))) as stream:
            return bytes(stream.readAllBytes()).decode()

    def write(self, name: str, content: str) -> None:
        """Write a small file atomically."""
        temporary, target = self._path_of(self.path(f"{name}._tmp")), self._path_of(self.path(name))
        with closing(self._files.create(temporary, True)) as stream:
            stream.write(content.encode())
        self._files.delete(target, False)
        if not self._files.rename(temporary, target):
            raise OutputError(f"{target.toString()}: cannot be written")

    def _parts(self, name: str) -> list[Any]:
        paths = [status.getPath() for status in self._files.listStatus(self._path_of(self.path(name)))]
        return [path for path in paths if path.getName().startswith("part-")]

    def rename_all(self, name: str, old: str, new: str) -> None:
        """Replace a part of the names of all files of a shard."""
        for path in self._parts(name):
            target = self._path_of(path.getParent(), path.getName().replace(old, new))
            if not self._files.rename(path, target):
                raise OutputError(f"{target.toString()}: cannot be written")

    def take_part(self, name: str, target: str) -> None:
        """Move the only part of a temporary directory to a file."""
        self._files.delete(self._path_of(self.path(target)), False)
        for path in self._parts(name):
            self._files.rename(path, self._path_of(self.path(target)))
        self.delete(name)

    def delete(self, name: str) -> None:
        self._files.delete(self._path_of(self.path(name)), True)
