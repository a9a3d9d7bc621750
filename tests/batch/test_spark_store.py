"""The output directory of a Spark run on a pretended file system of Hadoop, whose files are local."""

import os
import shutil
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote, urlparse

import pytest

from victorpy.batch.inputs import Stamps
from victorpy.batch.plan import Dedup, Plan
from victorpy.errors import OutputError, VictorError
from victorpy.methods import Method

pytest.importorskip("pyarrow")
pytest.importorskip("pyspark", reason="no PySpark: pip install -e '.[spark]'")

from victorpy.spark import driver
from victorpy.spark.driver import _Store


class HadoopPath:
    """A path, as an address or as a directory and a name."""

    def __init__(self, parent, name=""):
        self.address = f"{parent.address}/{name}" if name else parent

    def toString(self):  # noqa: N802
        return self.address

    def getName(self):  # noqa: N802
        return self.address.rpartition("/")[2]

    def getParent(self):  # noqa: N802
        return HadoopPath(self.address.rpartition("/")[0])

    def getFileSystem(self, configuration):  # noqa: N802
        assert configuration == "configuration"
        return Files()


class Stream:
    def __init__(self, file):
        self.file, self.write, self.close = file, file.write, file.close

    def readAllBytes(self):  # noqa: N802
        return self.file.read()


class Files:
    """Local files. As on HDFS, a file is not renamed to the name of another one."""

    refuses = ()

    def local(self, path):
        return Path(unquote(urlparse(path.address).path))

    def exists(self, path):
        return self.local(path).exists()

    def open(self, path):
        return Stream(self.local(path).open("rb"))

    def create(self, path, overwrite):
        assert overwrite
        self.local(path).parent.mkdir(parents=True, exist_ok=True)
        return Stream(self.local(path).open("wb"))

    def rename(self, path, target):
        if self.local(target).exists() or target.getName() in self.refuses:
            return False
        self.local(path).rename(self.local(target))
        return True

    def delete(self, path, recursive):
        local = self.local(path)
        if local.is_dir():
            assert recursive
            shutil.rmtree(local)
        elif local.exists():
            local.unlink()

    def listStatus(self, path):  # noqa: N802
        names = sorted(entry.name for entry in self.local(path).iterdir())
        return [SimpleNamespace(getPath=lambda name=name: HadoopPath(path, name)) for name in names]

    def getContentSummary(self, path):  # noqa: N802
        size = sum(entry.stat().st_size for entry in self.local(path).rglob("*") if entry.is_file())
        return SimpleNamespace(getLength=lambda: size)


def copy_bytes(source, target, size, is_closed):
    assert not is_closed
    shutil.copyfileobj(source.file, target.file, size)


SPARK = SimpleNamespace(
    _jsc=SimpleNamespace(hadoopConfiguration=lambda: "configuration"),
    _jvm=SimpleNamespace(
        org=SimpleNamespace(
            apache=SimpleNamespace(
                hadoop=SimpleNamespace(
                    fs=SimpleNamespace(Path=HadoopPath),
                    io=SimpleNamespace(IOUtils=SimpleNamespace(copyBytes=copy_bytes)),
                )
            )
        )
    ),
)


@pytest.fixture
def out(tmp_path):
    (tmp_path / "out").mkdir()
    return tmp_path / "out"


@pytest.fixture
def store(out):
    return _Store(SPARK, str(out))


def names(out):
    return sorted(str(path.relative_to(out)) for path in out.rglob("*"))


def test_output_is_a_local_directory_or_an_address(out, monkeypatch):
    monkeypatch.chdir(out.parent)
    for output in ("out", str(out), out.as_uri()):
        store = _Store(SPARK, output)
        assert (store.path(""), store.path("a/b")) == (out.as_uri(), f"{out.as_uri()}/a/b")
    assert _Store(SPARK, "hdfs://host/out").path("a") == "hdfs://host/out/a"


def test_files_are_replaced_at_once(out, store, monkeypatch):
    for content in ("tea", "café"):
        store.write("a/b.json", content)
        assert (store.read("a/b.json"), store.exists("a/b.json"), store.size("a")) == (
            content,
            True,
            len(content.encode()),
        )
    assert names(out) == ["a", "a/b.json"]
    store.delete("a")
    assert not store.exists("a")
    monkeypatch.setattr(Files, "refuses", ["b.json"])
    with pytest.raises(OutputError, match=r"/out/b\.json: cannot be written$"):
        store.write("b.json", "tea")


def test_lists_of_shards_are_joined_in_order(out, store):
    for name in ("c", "a"):
        store.write(name, f"{name}\n")
    store.write("all", "old")
    store.concatenate(["c", "b", "a"], "all")
    assert store.read("all") == "c\na\n"
    assert names(out) == ["a", "all", "c"]


def test_parts_of_a_shard_are_named_and_moved(out, store, monkeypatch):
    for name in ("shard-00000/part-0.txt", "shard-00000/part-1.txt", "shard-00000/_SUCCESS.txt", "list/part-0.txt"):
        store.write(name, name)
    store.rename_all("shard-00000", ".txt", ".jsonl")
    store.write("failed", "old")
    store.take_part("list", "failed")
    assert store.read("failed") == "list/part-0.txt"
    assert names(out) == ["failed", "shard-00000", *(
        f"shard-00000/{name}" for name in ("_SUCCESS.txt", "part-0.jsonl", "part-1.jsonl")
    )]  # fmt: skip
    monkeypatch.setattr(Files, "refuses", ["part-0.csv"])
    with pytest.raises(OutputError, match=r"part-0\.csv: cannot be written$"):
        store.rename_all("shard-00000", ".jsonl", ".csv")


def test_shards_that_are_not_wanted_are_deleted(out, store):
    for name in ("shard-00000/a", "shard-00001/a", "sites-00000/a", "other/shard-00002"):
        store.write(name, "")
    store.delete_shards_except(["shard-00001"])
    assert names(out) == ["other", "other/shard-00002", "shard-00001", "shard-00001/a"]


def stamps_of(place, *contents):
    stamps = Stamps()
    for number, content in enumerate(contents):
        path = place / f"{number}.html"
        path.write_text(content)
        stamps.add(path, path.stat())
    return stamps


@pytest.mark.parametrize("options", [{}, {"by_site": True, "method": Method("sst")}, {"dedup": Dedup("pages")}])
def test_results_of_all_files_are_deleted_when_a_file_has_changed(out, store, options):
    plan = Plan(("x",), out, "jsonl", **{"method": Method("everything"), **options})
    first = stamps_of(out.parent, "tea", "cup")
    store.open(plan, first)
    kept = names(out)
    for name in ("_cuts.json", "_runs.json", "_done/a", "_pages/a", "_cleaned/a", "_replicas/a", "shard-00000/a"):
        store.write(name, "")
    before = names(out)
    store.open(plan, first)
    assert names(out) == before
    store.open(plan, stamps_of(out.parent, "tea", "cups"))
    left = ["shard-00000", "shard-00000/a"] if options else ["_done", "_done/a", "shard-00000", "shard-00000/a"]
    assert [name for name in names(out) if name not in kept] == left
    with pytest.raises(VictorError):
        store.open(Plan(("x",), out, "jsonl.gz", method=Method("everything")), first)


@pytest.mark.parametrize("shard", ["shard-00000", "sites-00000"])
def test_shards_of_an_unknown_run_are_not_touched(out, store, shard):
    store.write(f"{shard}/a", "")
    with pytest.raises(OutputError, match="contains shards without settings; choose another directory"):
        store.open(Plan(("x",), out, "jsonl", method=Method("everything")), Stamps())
    assert names(out) == [shard, f"{shard}/a"]


class Builder:
    """Notes the settings of a session."""

    def __init__(self):
        self.calls = []

    def __getattr__(self, name):
        return lambda *arguments: self.calls.append((name, *arguments)) or self

    def getOrCreate(self):  # noqa: N802
        return self


@pytest.mark.parametrize(
    ("master", "variables"),
    [("local[2]", {"SPARK_LOCAL_IP", "PYSPARK_PYTHON"}), ("spark://host", set()), (None, set())],
)
def test_sessions_on_this_machine_use_its_python(monkeypatch, master, variables):
    names = ("SPARK_LOCAL_IP", "PYSPARK_PYTHON")
    environment = {name: value for name, value in os.environ.items() if name not in names}
    monkeypatch.setattr(driver.os, "environ", environment)
    monkeypatch.setattr(driver.SparkSession, "builder", Builder())
    with warnings.catch_warnings():
        calls = {call[0]: call[1] for call in driver.session(master, **{"spark.tea": "hot"}).calls[:2]}
        settings = [call[1:] for call in driver.SparkSession.builder.calls if call[0] == "config"]
    assert calls["appName"] == "victor spark-clean"
    assert calls.get("master") == master
    assert settings == [*driver._SESSION.items(), ("spark.tea", "hot")]
    assert {name for name in names if name in environment} == variables
    if variables:
        assert (environment["SPARK_LOCAL_IP"], environment["PYSPARK_PYTHON"]) == ("127.0.0.1", sys.executable)
        monkeypatch.setitem(environment, "SPARK_LOCAL_IP", "10.0.0.1")
        driver.session(master)
        assert environment["SPARK_LOCAL_IP"] == "10.0.0.1"  # of the user
