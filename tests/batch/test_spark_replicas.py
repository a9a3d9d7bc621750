"""Replicas on Spark are those of the local run, line by line."""

from __future__ import annotations

import pytest
from support.replicapages import page, planted, story, write_lines
from support.spark_cluster import InterruptedRunError, lines_of, quiet, run_locally, stop_after

pytest.importorskip("datasketch")
pytest.importorskip("icu4py")

from victorpy.batch import spark
from victorpy.batch.plan import Dedup, Plan
from victorpy.methods import Method

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Three files. Some stories overlap with the next, so that what is kept depends on the order."""
    place = tmp_path_factory.mktemp("inputs")
    sentences = story(99, 80)
    sliding = [page(sentences[at : at + 30]) for at in range(0, 48, 6)]
    pages = [*planted(9)[0], *sliding, *reversed(sliding), page(["Hot tea."]), "<html></html>"]
    cut = len(pages) // 3
    parts = (pages[:cut], pages[cut : 2 * cut], pages[2 * cut :])
    return tuple(str(write_lines(place / f"{number}.jsonl", part)) for number, part in enumerate(parts))


@pytest.mark.parametrize(
    "dedup", [Dedup("fingerprint"), Dedup("minhash", ("threshold=0.45",), keep="longest")], ids=str
)
def test_lines_are_those_of_the_local_run(session, inputs, dedup, tmp_path):
    expected, local_summary = run_locally(inputs, tmp_path / "local", dedup=dedup)
    plan = Plan(inputs, tmp_path / "out", "jsonl", dedup=dedup, shard_files=2)
    summary = spark.run_plan(session, plan, quiet)
    assert lines_of(tmp_path / "out") == expected
    for name in ("replicas.jsonl", "failed.jsonl"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "local" / name).read_bytes()
    assert summary["replica"] == local_summary["replica"] > 8
    assert summary["dedup"] == local_summary["dedup"]
    assert not list((tmp_path / "out").glob("_cleaned")) + list((tmp_path / "out").glob("_replicas"))


@pytest.mark.parametrize("messages", [1, 2])
def test_resume_gives_same_lines(session, inputs, messages, tmp_path):
    dedup = Dedup("minhash")
    expected, _ = run_locally(inputs, tmp_path / "local", dedup=dedup)
    plan = Plan(inputs, tmp_path / "out", "jsonl", dedup=dedup, shard_files=2)
    with pytest.raises(InterruptedRunError):
        spark.run_plan(session, plan, stop_after(messages))
    spark.run_plan(session, plan, quiet)
    assert lines_of(tmp_path / "out") == expected


def test_site_by_site_rows_are_those_of_the_local_run(session, tmp_path):
    names = ("alpha", "beta", "gamma")
    pages = write_lines(tmp_path / "pages.jsonl", [page(story(n % 9), name) for n in range(12) for name in names])
    lines = pages.read_text().splitlines(keepends=True)
    pages.write_text("".join(line.replace("news.", f"{names[n % 3]}.", 1) for n, line in enumerate(lines)))
    inputs = (str(pages),)
    options = {"method": Method("sst"), "dedup": Dedup("minhash")}
    expected, summary = run_locally(inputs, tmp_path / "local", by_site=True, **options)
    plan = Plan(inputs, tmp_path / "out", "jsonl", by_site=True, buckets=2, **options)
    spark.run_plan(session, plan, quiet)
    assert sorted(lines_of(tmp_path / "out").splitlines()) == sorted(expected.splitlines())
    assert summary["replica"] > 20
    assert (tmp_path / "out" / "replicas.jsonl").read_bytes() == (tmp_path / "local" / "replicas.jsonl").read_bytes()
