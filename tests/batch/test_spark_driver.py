"""The driver of Spark runs without Spark: shards, stored cuts, resumed runs, times and messages."""

import json
import threading
import time
import zipfile
from pathlib import Path

import pytest
from support.commands import wait_until

from victorpy.batch.inputs import InputFile, survey
from victorpy.batch.plan import Dedup, Limits, Plan
from victorpy.batch.sources import ReadOptions
from victorpy.errors import ConfigError, DataError, OutputError, VictorError
from victorpy.methods import Method

pytest.importorskip("pyarrow")
pytest.importorskip("pyspark", reason="no PySpark: pip install -e '.[spark]'")

from py4j.protocol import Py4JError

from victorpy import spark
from victorpy.spark import driver


class Counter:
    def __init__(self, value):
        self.value = value


class Rows(list):
    """Rows of a job that is run here."""

    def map(self, function):
        return Rows(map(function, self))

    def collect(self):
        return list(self)


class Context:
    """What the driver uses of a context."""

    defaultParallelism = 2  # noqa: N815  (the name in Spark)

    def __init__(self):
        self.listArchives, self.sparkContext, self.jobs = [], self, []

    def accumulator(self, value):
        return Counter(value)

    def parallelize(self, rows, count):
        self.jobs.append(count)
        return Rows(rows)

    def statusTracker(self):  # noqa: N802  (the name in Spark)
        return None

    def addArchive(self, path):  # noqa: N802  (the name in Spark)
        self.listArchives.append(path)


class Files(driver._Store):
    """An output directory in memory."""

    def __init__(self, files=()):
        self._root, self.files = "out", dict(files)

    def exists(self, name):
        return any(each == name or each.startswith(f"{name}/") for each in self.files)

    def read(self, name):
        return self.files[name]

    def write(self, name, content):
        self.files[name] = content

    def delete(self, name):
        for each in [each for each in self.files if each == name or each.startswith(f"{name}/") or not name]:
            del self.files[each]

    def delete_shards_except(self, names):
        self.kept = names

    def concatenate(self, names, target):
        self.files[target] = "".join(self.files.get(name, "") for name in names)


@pytest.fixture
def inputs(tmp_path):
    """Three files with 4, 8 and 2 lines of 19 bytes."""
    for name, count in (("a", 4), ("b", 8), ("c", 2)):
        (tmp_path / f"{name}.jsonl").write_text('{"html": "<p>Tea"}\n' * count)
    return tuple(str(tmp_path / f"{name}.jsonl") for name in "abc")


# Shards.


def units_of(sizes):
    return [(InputFile(Path(str(number)), Path(), ""), size) for number, size in enumerate(sizes)]


@pytest.mark.parametrize(
    ("sizes", "shard_files", "lengths"),
    [
        ([], None, [0]),
        ([1] * 64, None, [64]),
        ([62_500_000] * 65, None, [64, 1]),  # 64 files have 4 GB
        ([62_499_999] * 66, None, [65, 1]),
        ([5_000_000_000] * 65, None, [64, 1]),
        ([1] * 200, None, [200]),
        ([1] * 5, 2, [2, 2, 1]),
        ([1] * 3, 1, [1, 1, 1]),
        ([10_000_000_000] * 3, 5, [3]),
    ],
)
def test_shards_have_64_files_and_4_gigabytes_or_the_wanted_number_of_files(sizes, shard_files, lengths):
    shards = driver.divide_units(units_of(sizes), shard_files)
    assert [len(units) for units in shards.values()] == lengths
    assert list(shards) == [f"shard-{number:05d}" for number in range(len(lengths))]
    assert [str(unit.path) for units in shards.values() for unit in units] == [str(n) for n in range(len(sizes))]


def test_sizes_of_pieces():
    sizes = {1: 16, 8_000: 1_000, 16: 16, 1_000_000: 2_000}  # in MB, for two cores
    assert {size: driver.piece_size(size * 1_000_000, 2) // 1_000_000 for size in sizes} == sizes
    assert driver.piece_size(128_000_008, 2) == 16_000_001
    assert driver.piece_size(128_000_008, 1) == 32_000_002


def run_of(inputs, store, say=lambda words: None, **settings):
    return driver._Run(Context(), Plan(inputs, "out", "jsonl", **settings), store, say)


def test_large_files_are_divided_once(inputs, monkeypatch):
    monkeypatch.setattr(driver, "LEAST_PIECE", 4 * 19)
    store, messages = Files(), []
    run = run_of(inputs, store, messages.append, shard_files=2)
    assert (messages, run.spark.jobs) == (["dividing 1 files"], [1])
    assert [[(unit.path.name[0], unit.start, unit.end) for unit in units] for units in run.files.values()] == [
        [("a", 0, None), ("b", 0, 4)],
        [("b", 4, None), ("c", 0, None)],
    ]
    monkeypatch.setattr(driver, "LEAST_PIECE", 19)
    again = run_of(inputs, store, messages.append, shard_files=2)
    assert (again.files, again.spark.jobs) == (run.files, [])
    assert again.shards == ["shard-00000", "shard-00001"]
    sites = run_of(inputs, store, by_site=True, method=Method("sst"), buckets=3)
    assert sites.shards == ["sites-00000", "sites-00001", "sites-00002"]


def test_small_and_missing_files_are_whole(inputs):
    store = Files()
    run = run_of((*inputs, "gone.jsonl"), store)
    assert [len(units) for units in run.files.values()] == [4]
    assert (json.loads(store.files["_cuts.json"]), run.spark.jobs) == ({}, [])


# Resumed runs.


def opened(store, inputs, **settings):
    plan = Plan(inputs, "out", "jsonl", **settings)
    store.open(plan, survey(inputs).stamps)
    return json.loads(store.files["_settings.json"])


LEFT = (
    *("_cuts.json", "_runs.json", "_pages/x", "_cleaned/x", "_replicas/x"),
    *("_done/shard-00000.json", "shard-00000/part-0"),
)


def test_a_run_is_resumed_with_the_same_inputs_and_settings(inputs):
    store = Files()
    stored = opened(store, inputs)
    assert (stored["settings"]["to"], stored["choice"]["model"]) == ("jsonl", None)
    assert bytes.fromhex(store.files["_inputs"]) == survey(inputs).stamps.as_bytes()
    store.files |= dict.fromkeys(LEFT, "")
    opened(store, inputs)
    assert {*LEFT} <= {*store.files}
    with pytest.raises(OutputError, match=r"out: contains the output of another command .*format was text and is xml"):
        opened(store, inputs, format="xml")


@pytest.mark.parametrize(
    ("settings", "deleted"),
    [
        ({}, LEFT[:5]),
        ({"dedup": Dedup("fingerprint")}, LEFT[:6]),
        ({"by_site": True, "method": Method("sst")}, LEFT[:6]),
    ],
)
def test_results_that_depend_on_all_files_are_deleted_if_a_file_has_changed(inputs, settings, deleted):
    store = Files()
    before = opened(store, inputs, **settings)
    store.files |= dict.fromkeys(LEFT, "")
    Path(inputs[1]).write_text("changed")
    after = opened(store, inputs, **settings)
    assert {*LEFT} - {*store.files} == {*deleted}
    assert before["settings"]["input files"] != after["settings"]["input files"] == survey(inputs).stamps.digest
    assert bytes.fromhex(store.files["_inputs"]) == survey(inputs).stamps.as_bytes()
    Path(inputs[1]).unlink()
    with pytest.raises(OutputError, match="1 input files of the last run are gone"):
        opened(store, inputs, **settings)


@pytest.mark.parametrize("name", ["shard-00000", "sites-00000"])
def test_shards_without_settings_are_not_touched(inputs, name):
    with pytest.raises(OutputError, match="contains shards without settings"):
        opened(Files({f"{name}/part-0": ""}), inputs)


def test_finished_shards_are_counted_and_missing_ones_are_written(inputs, monkeypatch):
    store, messages, written = Files(), [], []

    def write_shard(run, name):
        if run._counts_of(name) is not None:
            run.counts.add_stored(run._counts_of(name))
            return False
        written.append(name)
        counts = {"pages": 2, "kept": 1, "failed": 1, "bytes": 30, "kinds": {"read": 1}}
        store.write(f"_done/{name}.json", json.dumps({**counts, "input files": run._digest(name)}))
        store.write(f"_failed/{name}", f"{name}\n")
        return True

    monkeypatch.setattr(driver._Run, "_write_shard", write_shard)
    names = ["shard-00000", "shard-00001", "shard-00002"]
    monkeypatch.setattr(Context, "defaultParallelism", 1)  # one shard after the other
    run = run_of(inputs, store, messages.append, shard_files=1)
    store.files |= dict.fromkeys(LEFT[2:5], "")
    run.write_shards()
    assert (written, store.kept) == (names, names)
    assert messages == [f"{name} of 3: {2 * n} pages so far, {n} failed" for n, name in enumerate(names, 1)]
    assert store.files["_failed.jsonl"] == "".join(f"{name}\n" for name in names)
    assert not {*LEFT[2:5]} & {*store.files}
    (stored,) = json.loads(store.files["_runs.json"])
    assert (stored["pages"], stored["bytes"], stored["cpu"], set(stored)) == (
        *(6, 90, 0.0),
        {"began", "seconds", "cpu", "pages", "bytes"},
    )
    assert 0 <= stored["seconds"] < 60

    Path(inputs[1]).write_text("changed")  # the digest of the second shard differs
    again = run_of(inputs, store, messages.append, shard_files=1)
    assert again._digest("shard-00000") == run._digest("shard-00000")
    again.write_shards()
    assert written[3:] == ["shard-00001"]
    assert messages[3:] == ["shard-00001 of 3: 4 pages so far, 2 failed"]
    assert (again.counts.pages, again.new_counts.pages) == (6, 2)
    assert [each["pages"] for each in json.loads(store.files["_runs.json"])] == [6, 2]


@pytest.mark.parametrize("done", [0, 1, 3])
def test_sites_and_replicas_are_found_unless_all_shards_are_written(inputs, monkeypatch, done):
    settings = {"by_site": True, "method": Method("sst"), "buckets": 3, "dedup": Dedup("fingerprint")}
    store, calls = Files(), []
    run = run_of(inputs, store, calls.append, shard_files=2, **settings)
    monkeypatch.setattr(run, "_group_by_site", lambda name: name == "shard-00001")
    monkeypatch.setattr(run, "_decide", lambda dedup: calls.append(dedup.method))
    monkeypatch.setattr(run, "_write_shard", lambda name: False)
    for name in run.shards[:done]:
        store.write(f"_done/{name}.json", json.dumps({"input files": run._digest(name)}))
    run.write_shards()
    assert calls == ([] if done == 3 else ["shard-00001: 1 files sorted by site", "fingerprint"])


@pytest.mark.parametrize("files", [1, 3])
def test_shards_are_written_at_the_same_time_if_one_would_not_use_all_cores(inputs, files):
    run = run_of(inputs, Files(), shard_files=files)
    run.spark.defaultParallelism = 3
    together, busy, most = threading.Barrier(3 // files), [], [0]

    def write(name):
        busy.append(name)
        most[0] = max(most[0], len(busy))
        together.wait(60)
        busy.remove(name)
        return name != "b"

    assert list(run._in_parallel(write, ["a", "b", "c"])) == ["a", "c"]
    assert most[0] == 3 // files


def test_shard_that_fails_cancels_those_that_are_waiting(inputs):
    run = run_of(inputs, Files(), shard_files=1)
    run.spark.defaultParallelism = 2
    begun, has_failed = [], threading.Event()

    def write(name):
        begun.append(name)
        if name == "a":
            has_failed.set()
            raise KeyError(name)
        has_failed.wait(60)
        time.sleep(0.05)
        return True

    with pytest.raises(KeyError):
        list(run._in_parallel(write, [*"abcdefghijklmnop"]))
    assert len(begun) < 10


def test_progress_is_printed_while_tasks_run(inputs, monkeypatch):
    monkeypatch.setattr(driver, "PROGRESS_SECONDS", 0.001)

    class Stage:
        numTasks, numCompletedTasks, numActiveTasks = 3_000, 1_000, 2  # noqa: N815  (the names in Spark)

    class Tracker:
        def getActiveStageIds(self):  # noqa: N802
            return [1, 2, 3]

        def getStageInfo(self, stage):  # noqa: N802
            return Stage if stage < 3 else None

    messages = []
    run = run_of(inputs, Files(), messages.append)
    run.spark.statusTracker = Tracker
    run.pages.value = 1_234
    with run._telling():
        wait_until(lambda: messages)
    words = "1,234 pages are cleaned; 2,000 of 6,000 tasks of this step are done, 4 are running"
    assert set(messages) == {words}
    Tracker.getActiveStageIds = lambda self: []
    messages.clear()
    with run._telling():
        time.sleep(0.02)
    assert not messages


# Whole runs and frames.


@pytest.fixture
def run_plan(monkeypatch):
    """A function that runs a plan without writing anything."""

    def run(inputs, store, messages, pages=0, error=None, force=False):
        def write_shards(run):
            if error:
                raise error
            run.counts.add_stored({"kept": 3, "bytes": 9, "kinds": {}})
            run.new_counts.add_stored({"kept": pages, "bytes": 9, "kinds": {}})

        monkeypatch.setattr(driver, "_Store", lambda session, output: store)
        monkeypatch.setattr(driver._Run, "write_shards", write_shards)
        options = {"force": True} if force else {}
        return driver.run_plan(Context(), Plan(inputs, "out", "jsonl"), messages.append, **options)

    return run


def test_a_complete_run_is_named(inputs, run_plan):
    store, messages = Files(), []
    summary = run_plan(inputs, store, messages, pages=3)
    assert (summary["pages"], summary["pages-now"], messages, len(summary["runs"])) == (3, 3, [], 1)
    assert "dedup" not in summary
    summary = run_plan(inputs, store, messages)
    assert (summary["pages"], summary["pages-now"], messages) == (3, 0, ["out: the run is already complete"])
    store.files["old"] = ""
    run_plan(inputs, store, [], pages=3)
    assert "old" in store.files
    run_plan(inputs, store, [], pages=3, force=True)
    assert "old" not in store.files
    store = Files({"somebody's": ""})
    run_plan(inputs, store, [], pages=3, force=True)
    assert "somebody's" in store.files


def test_errors_of_spark_are_one_line(inputs, run_plan):
    store = Files()
    with pytest.raises(VictorError) as raised:
        run_plan(inputs, store, [], error=ConnectionError("no tea\nat java"))
    assert str(raised.value) == "out: the run has ended early; run the same command to resume: no tea"
    assert [each["pages"] for each in json.loads(store.files["_runs.json"])] == [0]
    error = Py4JError("long")
    error.java_exception = type("Java", (), {"getMessage": lambda self: None, "toString": lambda self: "java.Tea\nx"})()
    with pytest.raises(VictorError, match=r"^it stops: java\.Tea$"), driver.in_one_line("it stops"):
        raise error


def test_wrong_plans_are_refused_before_spark_starts(tmp_path):
    with pytest.raises(ConfigError, match=r"`to` must be one of parquet, jsonl, jsonl\.gz, not 'folder'"):
        driver.check_plan(Plan(("x.jsonl",), "out", "folder"))
    (tmp_path / "list").touch()
    with pytest.raises(DataError, match="there are no inputs"):
        driver.check_plan(Plan((f"@{tmp_path / 'list'}",), "out", "jsonl"))
    with pytest.raises(VictorError, match="no output format 'tea'"):
        driver.check_plan(Plan(("x.jsonl",), "out", "jsonl", format="tea"))


def test_frames_are_cleaned_with_the_documented_defaults(monkeypatch):
    class Frame:
        columns = ("html", "url", "more", "position")
        sparkSession = Context()  # noqa: N815  (the name in Spark)

        def select(self, *names):
            return names

    calls = []
    monkeypatch.setattr(driver, "_map", lambda pages, function, work: calls.append((pages, function, work)))
    monkeypatch.setattr(driver, "_group", lambda pages, work: calls.append(pages) or pages)
    monkeypatch.setattr(driver, "_clean_grouped", lambda pages, work: calls.append((pages, work)))
    spark.clean(Frame())
    ((pages, function, work),) = calls
    assert (pages, function.__name__, work.plan) == (("html", "url", "position"), "clean_pages", Plan(to="parquet"))
    assert (work.form, work.pages, work.cpu) == (driver.Form.TABLE, None, None)
    calls.clear()
    limits = Limits(2, 3.0)
    spark.clean(Frame(), "more", "html", "xml", method="sst", by_site=True, limits=limits)
    assert calls[0] == ("more", "html", "position")
    method, reading = Method("sst"), ReadOptions("more", "html")
    expected = Plan(to="parquet", format="xml", method=method, by_site=True, read=reading, limits=limits)
    assert calls[1][1].plan == expected
    with pytest.raises(DataError, match="no column 'page'; the columns are html, url, more, position"):
        spark.clean(Frame(), "page")


def test_models_of_the_user_are_sent_once(tmp_path, monkeypatch):
    plan = Plan(method=Method(model="default"))
    context = Context()
    assert driver.with_model(context, plan) is plan
    assert driver.with_model(context, Plan(method=Method("sst"))).method == Method("sst")
    assert context.listArchives == []
    directory = driver.find_model("default")
    monkeypatch.setattr(driver, "shipped", lambda name: tmp_path)
    for _ in range(2):
        sent = driver.with_model(context, Plan(method=Method(model=str(directory), favor="recall")))
    (archive,) = context.listArchives
    path, _, name = archive.partition("#")
    assert (sent.method.model, sent.method.favor, len(name)) == (f"sent:{name}", "recall", len("victor-") + 16)
    with zipfile.ZipFile(path) as files:
        names = set(files.namelist())
        assert names == {"meta.json", *driver.read_meta(directory)["files"]}
        assert files.read("meta.json") == (directory / "meta.json").read_bytes()
