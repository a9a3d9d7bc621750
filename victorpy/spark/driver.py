"""Run a plan as Apache Spark jobs.

The inputs are divided into shards of some files each. One Spark job cleans the pages of a shard into a temporary table.
A second job divides the table into parts, because the size of the output is not known before. When a job is complete,
Spark renames its output, and a marker file with the shard's counts is written. A resumed run writes the shards without
a marker.
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
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
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
from victorpy.batch.store import INPUT_FILES, SPARK_SETTINGS, refuse_gone_files, refuse_other_settings, summarise
from victorpy.dedup.find import Loss
from victorpy.errors import ConfigError, DataError, OutputError, VictorError
from victorpy.model.store import find_model
from victorpy.spark import task
from victorpy.spark.dedup import DECISIONS, find_decisions, find_losses
from victorpy.spark.task import Form, Work, find_units

KINDS = ("parquet", "jsonl", "jsonl.gz")
"""Kinds of output."""

_SESSION = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "64",
    "spark.sql.parquet.enableVectorizedReader": "false",
    "spark.ui.showConsoleProgress": "false",
}
"""Default settings. Because pages are large, batches contain few rows, and tables are read row by row."""
_SMALL_GROUPS = {"compression": "zstd", "parquet.block.size": "16000000"}
"""Options of temporary tables. Row groups are small, because a reader holds one in memory."""

# Names in the output directory. Programs that read tables ignore names that begin with an underscore.
LIST_OF_FAILED = "_failed.jsonl"
_LIST_OF_REPLICAS = "_replicas.jsonl"
_DONE = "_done"
_FAILED = "_failed"
_INPUTS = "_inputs"
_SITES = "_pages"
_CLEANED = "_cleaned"
_REPLICAS = "_replicas"
_REPEATS = "_repeats"
_CUTS = "_cuts.json"
_RUNS = "_runs.json"

PART_BYTES, SIGNED_BYTES = 160_000_000, 320_000_000
"""Compressed size of the cleaned records of a part, without and with signatures for finding replicas.

A part has at least 128 MB, unless its shard has less.
"""
PIECES_PER_CORE = 4
LEAST_PIECE, MOST_PIECE = 16_000_000, 2_000_000_000
"""Minimum and maximum size of the piece of a file that one task reads. Smaller files are not divided."""
SHARD_FILES, SHARD_BYTES = 64, 4_000_000_000
"""Minimum number and total size of the files of a shard, unless the user sets the number."""

PROGRESS_SECONDS = 30.0
"""Seconds between two messages about the progress."""

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
    except (Py4JError, PySparkException, ConnectionError) as error:
        java = getattr(error, "java_exception", None)
        words = str(java.getMessage() or java.toString() if java is not None else error).strip()
        raise VictorError(f"{what}: {words.partition(chr(10))[0]}") from error


# Data frames, for jobs of your own.


def clean_frame(frame: DataFrame, plan: Plan) -> DataFrame:
    """Clean the pages in a column of a frame. Columns `source` and `position` are copied to the result.

    With `plan.by_site`, the method learns from the pages of a site in the order of `source` and `position`.
    """
    options, work = plan.read, Work(replace(plan, to=KINDS[0]))
    if options.html_field not in frame.columns:
        raise DataError(f"no column {options.html_field!r}; the columns are {', '.join(frame.columns)}")
    wanted = (options.html_field, options.url_field, "content_type", "source", "position")
    pages = frame.select(*[name for name in wanted if name in frame.columns])
    return _clean_grouped(_group(pages, work), work) if plan.by_site else _map(pages, task.clean_pages, work)


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
            for file in (META, *verify_directory(directory, read_meta(directory))):  # no other file is sent
                archive.write(directory / file, file)
        spark.sparkContext.addArchive(f"{packed}#{name}")
    return replace(plan, method=replace(method, method=None, model=f"{task.SENT}{name}"))


def _map(frame: DataFrame, function: Callable[..., Any], work: Work) -> DataFrame:
    return frame.mapInArrow(partial(function, work), from_arrow_schema(task.result_schema(work)))


def _group(frame: DataFrame, work: Work) -> DataFrame:
    return frame.mapInArrow(partial(task.group_pages, work), from_arrow_schema(task.SITE_SCHEMA))


def _clean_grouped(grouped: DataFrame, work: Work) -> DataFrame:
    """Clean records grouped by site.

    Because of the type annotations of `clean`, Spark streams the records of a site.
    """

    def clean(key: tuple[pa.Scalar, ...], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return task.clean_grouped(work, key[0].as_py(), batches)

    return grouped.groupBy("site").applyInArrow(clean, from_arrow_schema(task.result_schema(work)))


# Whole runs.


def check_plan(plan: Plan) -> None:
    """Raise an error if the inputs or the method are wrong, before Spark is started."""
    if plan.to not in KINDS:
        raise ConfigError(f"`to` must be one of {', '.join(KINDS)}, not {plan.to!r}")
    plan.check()
    if not list(find_units(plan.inputs, plan.read)):
        raise DataError("there are no inputs")


def run_plan(spark: SparkSession, plan: Plan, say: Say, force: bool = False) -> dict[str, Any]:
    """Run a plan and return the counts. With `force`, an earlier run into the same directory is deleted first."""
    check_plan(plan)
    with in_one_line(f"{plan.output}: the run has ended early; run the same command to resume"):
        store = _Store(spark, str(plan.output))
        if force and store.exists(SPARK_SETTINGS):
            store.delete("")
        store.open(plan, survey(plan.inputs).stamps)
        run = _Run(spark, with_model(spark, plan), store, say)
        try:
            run.write_shards()
        finally:
            with suppress(Py4JError, ConnectionError):  # if Spark has ended, its own error is more useful
                run.save_times()
    if not run.new_counts.pages:
        say(f"{plan.output}: the run is already complete")
    summary = summarise(run.counts, run.runs)
    return {**summary, **dedup_summary(plan.dedup, run.losses)} if plan.dedup else summary


def piece_size(size: int, cores: int) -> int:
    """Return the size of the piece of a file that one task reads, given the size of all files."""
    return min(max(size // (PIECES_PER_CORE * cores), LEAST_PIECE), MOST_PIECE)


def divide_units(units: Iterable[tuple[InputFile, int]], shard_files: int | None) -> dict[str, list[InputFile]]:
    """Divide units, given with their sizes, into shards.

    Most shards have enough pages for a part of the usual size, unless the user sets the number of files.
    """
    shards: list[list[InputFile]] = [[]]
    size = 0
    for unit, unit_size in units:
        is_large = size >= SHARD_BYTES or shard_files
        if is_large and len(shards[-1]) >= (shard_files or SHARD_FILES):
            shards.append([])
            size = 0
        shards[-1].append(unit)
        size += unit_size
    return {f"shard-{number:05d}": files for number, files in enumerate(shards)}


class _Run:
    def __init__(self, spark: SparkSession, plan: Plan, store: _Store, say: Say) -> None:
        self.spark = spark
        self.plan = plan
        self.store = store
        self.say = say
        self._start, self._began = time.monotonic(), datetime.now(UTC).isoformat()
        self.form = Form.TABLE if plan.to == "parquet" else Form.LINES
        self.pages, self.cpu = spark.sparkContext.accumulator(0), spark.sparkContext.accumulator(0.0)
        self.work = Work(plan, Form.SIGNED, self.pages, self.cpu)
        self.files = divide_units(self._units(), plan.shard_files)
        self.shards = [f"sites-{bucket:05d}" for bucket in range(plan.buckets)] if plan.by_site else list(self.files)
        self.losses: list[Loss] = []
        self.counts = Counts()
        self.new_counts = Counts()
        """Counts of this run, without the earlier runs that it resumes."""
        self.runs: list[dict[str, Any]] = json.loads(store.read(_RUNS)) if store.exists(_RUNS) else []
        """The times and counts of earlier runs, followed by those of this run."""
        self.runs.append({})

    def _units(self) -> Iterator[tuple[InputFile, int]]:
        """Yield units, which are read by one task each, with their sizes: files, or pieces of files so that all cores
        are busy.

        The cuts are stored, because a resumed run must have the same shards.
        """
        files = list(find_units(self.plan.inputs, self.plan.read))
        sizes = [file.path.stat().st_size if file.path.is_file() else 0 for file in files]
        if not self.store.exists(_CUTS):
            piece = piece_size(sum(sizes), self.spark.sparkContext.defaultParallelism)
            large = [file for file, size in zip(files, sizes, strict=True) if size > piece]
            cuts = []
            if large:
                self.say(f"dividing {len(large):,} files")
                find_cuts = partial(task.find_cuts, self.plan.read, piece)
                cuts = self.spark.sparkContext.parallelize(large, len(large)).map(find_cuts).collect()
            self.store.write(_CUTS, json.dumps({str(file.path): cut for file, cut in zip(large, cuts, strict=True)}))
        stored = json.loads(self.store.read(_CUTS))
        for file, size in zip(files, sizes, strict=True):
            cut = stored.get(str(file.path), [(0, 0)])
            for unit in task.cut_file(file, cut):
                yield unit, size // len(cut)

    def save_times(self) -> None:
        """Store the times and counts of this run so far, after those of the runs that it resumes."""
        self.runs[-1] = {
            "began": self._began,
            "seconds": round(time.monotonic() - self._start, 3),
            "cpu": round(self.cpu.value, 3),
            "pages": self.new_counts.pages,
            "bytes": self.new_counts.bytes,
        }
        self.store.write(_RUNS, json.dumps(self.runs))

    def write_shards(self) -> None:
        """Write all missing shards, and then the list of failed records."""
        self.store.delete_shards_except(self.shards)
        with self._telling():
            if not all(self._counts_of(name) for name in self.shards):
                if self.plan.by_site:
                    for name in self._in_parallel(self._group_by_site, list(self.files)):
                        self.say(f"{name}: {len(self.files[name]):,} files sorted by site")
                if self.plan.dedup is not None:
                    self._decide(self.plan.dedup)
            for name in self._in_parallel(self._write_shard, self.shards):
                counts = self._counts_of(name) or Counts().as_dict()
                self.counts.add_stored(counts)
                self.new_counts.add_stored(counts)
                self.save_times()
                failed = self.counts.statuses[str(Status.FAILED)]
                self.say(f"{name} of {len(self.shards):,}: {self.counts.pages:,} pages so far, {failed:,} failed")
            for name in (_SITES, _CLEANED, _REPLICAS, _REPEATS):
                self.store.delete(name)
            self.store.concatenate([f"{_FAILED}/{name}" for name in self.shards], LIST_OF_FAILED)

    def _in_parallel(self, function: Callable[[str], bool], names: list[str]) -> Iterator[str]:
        """Write shards, several at the same time to use the whole cluster. Yields the missing shards in order."""
        tasks = max(map(len, self.files.values()))
        width = min(-(-self.spark.sparkContext.defaultParallelism // tasks), _MOST_SHARDS)
        if width == 1:  # in order, so that an interrupted run has not begun the next shard
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
        """Print regularly how many pages and tasks are done. The pages of a task count when it ends."""
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
                    tasks = f"{done:,} of {total:,} tasks of this step are done, {running:,} are running"
                    self.say(f"{self.pages.value:,} pages are cleaned; {tasks}")

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
        grouped = _group(self._unit_frame(name), self.work).withColumn("bucket", bucket)
        writer = grouped.write.partitionBy("bucket").mode("overwrite").options(**_SMALL_GROUPS)
        writer.parquet(self.store.path(f"{_SITES}/{name}"))
        return True

    def _write_cleaned(self, name: str) -> bool:
        """Clean the records of a shard into a temporary table, unless it exists."""
        if self.store.exists(f"{_CLEANED}/{name}/_SUCCESS"):
            return False
        if self.plan.by_site:
            schema = from_arrow_schema(task.SITE_SCHEMA.append(pa.field("bucket", pa.int32())))
            pages = self.spark.read.schema(schema).parquet(self.store.path(f"{_SITES}/shard-*"))
            grouped = pages.where(F.col("bucket") == self.shards.index(name)).drop("bucket")
            cleaned = _clean_grouped(grouped, self.work)
        else:
            cleaned = _map(self._unit_frame(name), task.clean_pages, self.work)
        cleaned.write.mode("overwrite").options(**_SMALL_GROUPS).parquet(self.store.path(f"{_CLEANED}/{name}"))
        return True

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
        replicas = signed.join(self._decisions(), "place")
        line = """concat(substring(description, 1, length(description) - 1), ', "repeats": ', decision, '}')"""
        self._write_lines(replicas.select("place", F.expr(line).alias("line")), _LIST_OF_REPLICAS)

    def _signed(self, name: str) -> DataFrame:
        schema = from_arrow_schema(task.SIGNED_SCHEMA)
        return self.spark.read.schema(schema).parquet(self.store.path(f"{_CLEANED}/{name}"))

    def _decisions(self) -> DataFrame:
        return self.spark.read.schema(DECISIONS).parquet(self.store.path(_REPLICAS))

    def _final(self, name: str) -> DataFrame:
        """Return the final rows of a shard in order, one partition per part of the output."""
        rows = self._signed(name)
        if self.plan.dedup:
            rows = rows.join(self._decisions(), "place", "left")
        part_size = SIGNED_BYTES if self.plan.dedup else PART_BYTES
        parts = max(self.store.size(f"{_CLEANED}/{name}") // part_size, 1)
        ordered = rows.drop("site", "signed", "description").repartitionByRange(parts, "place")
        finished = replace(self.work, form=self.form)
        return _map(ordered.sortWithinPartitions("place"), task.finish_signed, finished)

    def _digest(self, name: str) -> str:
        """Return a digest of the names, sizes and times of a shard's input files or pieces."""
        stamps = Stamps()
        for unit in self.files.get(name, ()):
            piece = Path(f"{unit.path}@{unit.start}-{unit.end}")
            stamps.add(piece, unit.path.stat() if unit.path.exists() else None)
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
        self._write_cleaned(name)
        observation = Observation(name)
        by_status = (F.count_if(F.col("status") == str(status)).alias(str(status)) for status in Status)
        by_kind = (F.count_if(F.col("kind") == str(kind)).alias(str(kind)) for kind in Kind)
        size = F.coalesce(F.sum("size"), F.lit(0)).alias("bytes")
        frame = self._final(name).observe(observation, *by_status, *by_kind, size)
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
        if counts["failed"]:
            failed = self._signed(name).where("failure is not null").select("place", F.col("failure").alias("line"))
            self._write_lines(failed, f"{_FAILED}/{name}")
        else:
            self.store.delete(f"{_FAILED}/{name}")
        self.store.write(f"{_DONE}/{name}.json", json.dumps({**counts, INPUT_FILES: self._digest(name)}) + "\n")
        if not self.plan.dedup:  # a resumed run needs all records to find replicas
            self.store.delete(f"{_CLEANED}/{name}")
        return True

    def _write_lines(self, frame: DataFrame, name: str) -> None:
        """Let an executor write a file of lines, sorted by position. It sorts large numbers of rows on its disk."""
        lines = frame.repartition(1).sortWithinPartitions("place").select("line")
        lines.write.mode("overwrite").text(self.store.path(f"{name}._tmp"))
        self.store.take_part(f"{name}._tmp", name)


class _Store:
    """The output directory, on any file system that Spark can write to."""

    def __init__(self, spark: SparkSession, output: str) -> None:
        java: Any = spark._jvm  # Hadoop's file systems have no public interface
        self._path_of, self._copy = java.org.apache.hadoop.fs.Path, java.org.apache.hadoop.io.IOUtils.copyBytes
        root = self._path_of(output if "://" in output else Path(output).resolve().as_uri())
        self._root = root.toString()
        self._files = root.getFileSystem(spark._jsc.hadoopConfiguration())

    def open(self, plan: Plan, stamps: Stamps) -> None:
        """Start or resume a run. Raises if the directory belongs to a different run.

        If input files have changed, results that depend on all files are deleted, and shards of changed files are
        written again.
        """
        settings = plan.identity(stamps.digest)
        if self.exists(SPARK_SETTINGS):
            earlier = json.loads(self.read(SPARK_SETTINGS))["settings"]
            refuse_other_settings(self._root, earlier, settings)
            if earlier.get(INPUT_FILES) == settings[INPUT_FILES]:
                return
            refuse_gone_files(self._root, Stamps(bytes.fromhex(self.read(_INPUTS))), stamps)
            for name in (_CUTS, _RUNS, _SITES, _CLEANED, _REPLICAS, *((_DONE,) if plan.by_site or plan.dedup else ())):
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
        with closing(self._files.create(self._path_of(self.path(f"{name}._tmp")), True)) as stream:
            stream.write(content.encode())
        self._replace(f"{name}._tmp", name)

    def concatenate(self, names: list[str], target: str) -> None:
        """Write a file with the concatenated contents of the files that exist."""
        with closing(self._files.create(self._path_of(self.path(f"{target}._tmp")), True)) as joined:
            for name in filter(self.exists, names):
                with closing(self._files.open(self._path_of(self.path(name)))) as stream:
                    self._copy(stream, joined, 65_536, False)
        self._replace(f"{target}._tmp", target)

    def _replace(self, temporary: str, name: str) -> None:
        target = self._path_of(self.path(name))
        self._files.delete(target, False)
        if not self._files.rename(self._path_of(self.path(temporary)), target):
            raise OutputError(f"{target.toString()}: cannot be written")

    def _parts(self, name: str) -> list[Any]:
        paths = [status.getPath() for status in self._files.listStatus(self._path_of(self.path(name)))]
        return [path for path in paths if path.getName().startswith("part-")]

    def rename_all(self, name: str, old: str, new: str) -> None:
        """Replace a string in the names of all files of a shard."""
        for path in self._parts(name):
            target = self._path_of(path.getParent(), path.getName().replace(old, new))
            if not self._files.rename(path, target):
                raise OutputError(f"{target.toString()}: cannot be written")

    def take_part(self, name: str, target: str) -> None:
        """Move the single part in a temporary directory to a file."""
        self._files.delete(self._path_of(self.path(target)), False)
        for path in self._parts(name):
            self._files.rename(path, self._path_of(self.path(target)))
        self.delete(name)

    def delete_shards_except(self, names: list[str]) -> None:
        """Delete shards of an earlier run that was divided differently."""
        paths = [status.getPath() for status in self._files.listStatus(self._path_of(self._root))]
        for path in paths:
            if path.getName().startswith(("shard-", "sites-")) and path.getName() not in names:
                self.delete(path.getName())

    def size(self, name: str) -> int:
        """Return the size of a directory in bytes."""
        return int(self._files.getContentSummary(self._path_of(self.path(name))).getLength())

    def delete(self, name: str) -> None:
        self._files.delete(self._path_of(self.path(name)), True)
