"""Replicas on Spark are those of the local run, line by line."""

from __future__ import annotations

import io
import os
import shutil
from pathlib import Path

import pytest
from replicapages import page, planted, story, write_lines

pytest.importorskip("pyspark", reason="no PySpark: pip install 'victorpy[spark]'")
pytest.importorskip("pebble")
pytest.importorskip("pyarrow")
pytest.importorskip("datasketch")
pytest.importorskip("icu4py")

if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
    pytest.skip("no Java here, which Spark needs", allow_module_level=True)

from victorpy.batch import spark
from victorpy.batch.choice import Choice
from victorpy.batch.dedup import Dedup
from victorpy.batch.run import Job, run_job


def chained():
    """Stories that go over into each other, so that what is kept hangs on the order: pages of three files."""
    sentences = story(99, 80)
    sliding = [page(sentences[at : at + 30]) for at in range(0, 48, 6)]
    planted_pages, _ = planted(9)
    return [*planted_pages, *sliding, *reversed(sliding), page(["Hot tea."]), "<html></html>"]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    place = tmp_path_factory.mktemp("inputs")
    pages = chained()
    cut = len(pages) // 3
    parts = (pages[:cut], pages[cut : 2 * cut], pages[2 * cut :])
    return tuple(str(write_lines(place / f"{n}.jsonl", part)) for n, part in enumerate(parts))


def local_run(inputs, directory, **options):
    job = Job(inputs, directory, to="jsonl", shard_records=100_000, quiet=True, **options)
    return run_job(job, io.StringIO())


def lines_of(directory):
    return b"".join(path.read_bytes() for path in sorted(directory.glob("*/part-*")))


def quiet(words):
    pass


class BrokenOffError(Exception):
    pass


@pytest.mark.parametrize(
    "dedup",
    [
        Dedup("fingerprint"),
        Dedup("minhash", ("threshold=0.45",), keep="longest"),
    ],
    ids=str,
)
def test_the_lines_are_those_of_the_local_run(session, inputs, dedup, tmp_path):
    summary = local_run(inputs, tmp_path / "local", dedup=dedup)
    job = spark.SparkJob(inputs, str(tmp_path / "out"), "jsonl", spark.Cleaning(dedup=dedup), shard_files=2)
    told = spark.run_spark_job(session, job, quiet)
    assert lines_of(tmp_path / "out") == (tmp_path / "local" / "part-00000.jsonl").read_bytes()
    for name in ("replicas.jsonl", "failed.jsonl"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "local" / name).read_bytes()
    assert told["replica"] == summary["replica"] > 8
    assert told["dedup"] == summary["dedup"]
    assert not list((tmp_path / "out").glob("_cleaned")) + list((tmp_path / "out").glob("_replicas"))


@pytest.mark.parametrize("after", [1, 2])
def test_broken_off_and_gone_on_with_it_is_the_same(session, inputs, after, tmp_path):
    dedup = Dedup("minhash")
    local_run(inputs, tmp_path / "local", dedup=dedup)
    job = spark.SparkJob(inputs, str(tmp_path / "out"), "jsonl", spark.Cleaning(dedup=dedup), shard_files=2)
    said = []

    def stop(words):
        said.append(words)
        if len(said) > after:
            raise BrokenOffError

    with pytest.raises(BrokenOffError):
        spark.run_spark_job(session, job, stop)
    spark.run_spark_job(session, job, quiet)
    assert lines_of(tmp_path / "out") == (tmp_path / "local" / "part-00000.jsonl").read_bytes()


def test_site_by_site_it_is_the_same(session, tmp_path):
    sites = [page(story(number % 9), site) for number in range(12) for site in ("alpha", "beta", "gamma")]
    inputs = (str(write_lines(tmp_path / "pages.jsonl", sites)),)
    content = Path(inputs[0]).read_text().splitlines()
    names = ("alpha", "beta", "gamma")
    moved = [line.replace("news.example", f"{names[n % 3]}.example") for n, line in enumerate(content)]
    Path(inputs[0]).write_text("\n".join(moved) + "\n")
    options = {"choice": Choice("sst"), "dedup": Dedup("minhash")}
    local_run(inputs, tmp_path / "local", by_site=True, **options)
    job = spark.SparkJob(inputs, str(tmp_path / "out"), "jsonl", spark.Cleaning(**options), by_site=True, buckets=2)
    spark.run_spark_job(session, job, quiet)
    expected = (tmp_path / "local" / "part-00000.jsonl").read_bytes().splitlines()
    assert sorted(lines_of(tmp_path / "out").splitlines()) == sorted(expected)
    assert sum(b'"status": "replica"' in line for line in expected) > 20
    assert (tmp_path / "out" / "replicas.jsonl").read_bytes() == (tmp_path / "local" / "replicas.jsonl").read_bytes()
