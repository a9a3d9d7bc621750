"""Spark runs give the rows of local runs, with bad pages, replicas and resumed runs."""

import gzip
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from support import replicapages
from support.batchpages import crawl, page, poison_model, poisoned_site, response, tree, url, write_warc
from support.spark_cluster import LIMITS, POISON, InterruptedRunError, lines_of, quiet, run_locally, stop_after

from victorpy import clean_record, spark
from victorpy.batch.inputs import find_files, read_file
from victorpy.batch.plan import Dedup, Plan
from victorpy.batch.sinks import table_schema
from victorpy.batch.sources import ReadOptions
from victorpy.errors import DataError, OutputError, VictorError
from victorpy.methods import Method
from victorpy.spark import driver
from victorpy.spark import task as spark_task

pytestmark = pytest.mark.spark

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

KINDS = {"RAISES": "internal", "HANGS": "timeout", "CRASHES": "crash", "EATS": "memory"}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return poison_model(tmp_path_factory.mktemp("poison"))


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Files of every kind, with poisoned pages, difficult pages, records that are not pages, and damage."""
    place = tmp_path_factory.mktemp("inputs")
    crawl(place / "a.warc.gz", 35, POISON)
    crawl(place / "b.warc", 6)
    (place / "b.warc").write_bytes((place / "b.warc").read_bytes()[:-300])
    hard = [
        {"url": url(1), "html": f"<p title='{'x' * 1_000_000}'>Tea is a drink of leaves and water.</p>"},
        {"url": url(2), "html": "<div>" * 5_000 + "<p>Tea is a drink of leaves and water."},
        {"url": url(3)},
        {"url": url(4), "html": "<p>half a \ud800 character is no reason to lose a page about tea</p>"},
    ]
    (place / "c.jsonl").write_text("\n".join([*map(json.dumps, hard), "{no JSON"]))
    with gzip.open(place / "d.jsonl.gz", "wt") as lines:
        lines.writelines(json.dumps({"url": url(n), "html": page(n).decode()}) + "\n" for n in range(40))
    pages = [{"url": url(n), "html": page(n)} for n in range(12)]
    pq.write_table(pa.Table.from_pylist(pages), place / "e.parquet", row_group_size=4)
    together = gzip.compress(b"".join(response(url(n), page(n)) for n in range(9)), mtime=0)
    (place / "f.warc.gz").write_bytes(together[:-200])
    names = ("a.warc.gz", "b.warc", "c.jsonl", "d.jsonl.gz", "e.parquet", "f.warc.gz")
    return tuple(str(place / name) for name in names)


@pytest.fixture(scope="module")
def local(inputs, model, tmp_path_factory):
    """The lines and the summary of the local run."""
    place = tmp_path_factory.mktemp("local")
    return run_locally(inputs, place / "out", method=Method(model=str(model), allow_code=True), limits=LIMITS)


def test_resumed_run_gives_lines_of_the_local_run(session, inputs, model, local, tmp_path):
    method = Method(model=str(model), allow_code=True)
    plan = Plan(inputs, tmp_path / "out", "jsonl", method=method, limits=LIMITS, shard_files=4)
    with pytest.raises(InterruptedRunError):
        spark.run_plan(session, plan, stop_after(0))
    first_shard = tree(tmp_path / "out" / "shard-00000")
    assert not (tmp_path / "out" / "shard-00001").exists()
    (tmp_path / "out" / "shard-00001").mkdir()  # as if killed while it wrote the next shard
    (tmp_path / "out" / "shard-00001" / "part-torn").write_text("half a li")
    messages = []
    summary = spark.run_plan(session, plan, messages.append)
    assert tree(tmp_path / "out" / "shard-00000") == first_shard
    assert [words.split(":")[0] for words in messages] == ["shard-00001 of 2"]

    expected, local_summary = local
    assert lines_of(tmp_path / "out") == expected
    for name in ("pages", "kept", "empty", "skipped", "failed", "bytes", "kinds"):
        assert summary[name] == local_summary[name]
    first, second = summary["runs"]
    assert first["pages"] + second["pages"] == summary["pages"]
    assert min(first["cpu"], second["cpu"]) > 0
    assert summary["seconds"] == pytest.approx(first["seconds"] + second["seconds"])

    rows = [json.loads(line) for line in expected.splitlines()]
    assert {n: row["kind"] for n, row in enumerate(rows[:35]) if row["kind"]} == {
        number: KINDS[poison] for number, poison in POISON.items()
    }
    failed = [json.loads(line) for line in (tmp_path / "out" / "_failed.jsonl").read_text().splitlines()]
    key = ("source", "position", "kind", "reason")
    assert [[line[name] for name in key] for line in failed] == sorted(
        [row[name] for name in key] for row in rows if row["status"] == "failed"
    )
    assert not any(line["rest"] for line in failed)
    run_locally(inputs[-1:], tmp_path / "here")
    failed_here = (tmp_path / "here" / "failed.jsonl").read_text().splitlines()
    assert failed_here == [json.dumps(line) for line in failed if line["source"] == inputs[-1]]
    other = replace(plan, format="markdown")
    with pytest.raises(OutputError, match="format was"):
        spark.run_plan(session, other, quiet)


def test_tables_have_rows_of_the_local_run(session, inputs, model, local, tmp_path):
    method = Method(model=str(model), allow_code=True)
    plan = Plan(inputs[1:], tmp_path / "out", "parquet", method=method, limits=LIMITS)
    spark.run_plan(session, plan, quiet)
    expected = [row for row in map(json.loads, local[0].splitlines()) if row["source"] != inputs[0]]
    table = pq.read_table(tmp_path / "out")
    assert table.schema.names == table_schema().names
    rows = table.to_pylist()
    for row in rows:
        row["labels"] = {label: count for label, count in sorted(row["labels"].items()) if count}
    assert rows == expected
    messages = []
    summary = spark.run_plan(session, plan, messages.append)
    assert (messages, summary["pages-now"]) == ([f"{tmp_path / 'out'}: the run is already complete"], 0)


def test_shards_of_changed_files_are_cleaned_again(session, tmp_path):
    names = [str(tmp_path / name) for name in ("a.warc.gz", "b.warc.gz", "c.warc.gz")]
    for name in names[:2]:
        crawl(Path(name), 3)
    (tmp_path / "list").write_text("\n".join(names[:2]))
    plan = Plan((f"@{tmp_path / 'list'}",), tmp_path / "out", "jsonl", shard_files=1)
    spark.run_plan(session, plan, quiet)
    crawl(Path(names[1]), 5)
    crawl(Path(names[2]), 2)
    (tmp_path / "list").write_text("\n".join(names))
    messages = []
    summary = spark.run_plan(session, plan, messages.append)
    assert [words.split()[0] for words in messages] == ["shard-00001", "shard-00002"]
    assert (summary["pages"], summary["pages-now"]) == (10, 7)
    assert lines_of(tmp_path / "out") == run_locally(plan.inputs, tmp_path / "local")[0]
    Path(names[2]).unlink()
    with pytest.raises(OutputError, match="1 input files of the last run are gone"):
        spark.run_plan(session, plan, quiet)
    (tmp_path / "list").write_text("\n".join(names[:2]))
    assert spark.run_plan(session, plan, quiet, force=True)["pages-now"] == 8
    assert not (tmp_path / "out" / "shard-00002").exists()


def test_output_that_cannot_be_written_is_reported_in_one_line(session, inputs):
    with pytest.raises(VictorError, match=r"/dev/null/out: the run has ended early.*: [^\n]*$"):
        spark.run_plan(session, Plan(inputs[1:2], "/dev/null/out", "parquet"), quiet)


def by_order(lines):
    return sorted(lines.splitlines(), key=lambda line: (json.loads(line)["source"], json.loads(line)["position"]))


def test_sites_are_cleaned_as_in_the_local_run(session, tmp_path):
    poison = {3: "CRASHES", 12: "HANGS"}
    pages = [response(f"http://courier.example/{n}", page(n, poison.get(n, ""))) for n in range(16)]
    others = [response(f"http://{'shop' if n % 3 else 'alone'}.example/{n}", page(n)) for n in range(4)]
    write_warc(tmp_path / "in" / "a.warc.gz", pages[::2] + others[:2])
    write_warc(tmp_path / "in" / "b.warc.gz", pages[1::2] + others[2:])
    inputs = (str(tmp_path / "in"),)
    same = {"method": Method("sst"), "make": poisoned_site, "limits": LIMITS, "sample": 10}
    expected, _ = run_locally(inputs, tmp_path / "local", by_site=True, **same)
    plan = Plan(inputs, tmp_path / "out", "jsonl", by_site=True, buckets=2, **same)
    summary = spark.run_plan(session, plan, quiet)
    assert summary["kinds"] == {"crash": 1, "timeout": 1}
    assert by_order(lines_of(tmp_path / "out")) == by_order(expected)
    assert not (tmp_path / "out" / "_pages").exists()


def test_frames_are_cleaned_page_by_page_and_site_by_site(session):
    columns = ("url", "html", "source", "position")
    pages = [(f"http://{host}.example/{n}", page(n), "f", n) for n in range(6) for host in ("courier", "shop")]
    frame = session.createDataFrame(pages, "url string, html binary, source string, position bigint").coalesce(1)

    expected = {values[0]: clean_record({"url": values[0], "html": values[1]})["text"] for values in pages}
    cleaned = spark.clean_frame(frame, Plan(limits=LIMITS)).select("url", "text", "position").collect()
    assert {row["url"]: row["text"] for row in cleaned} == expected
    assert sorted(row["position"] for row in cleaned) == sorted(position for *_, position in pages)

    format = "docview(keywords=2)"
    records = [clean_record(dict(zip(columns, values, strict=True)), format=format) for values in pages]
    by_url = {record["url"]: record for record in records}
    for row in spark.clean_frame(frame, Plan(format=format, limits=LIMITS)).collect():
        for name in ("type", "title", "keywords", "abstract", "language", "text"):
            assert row[name] == by_url[row["url"]][name]

    sites = spark.clean_frame(frame, Plan(method=Method("sst"), limits=LIMITS, by_site=True)).collect()
    assert sorted(row["url"] for row in sites) == sorted(expected)
    with pytest.raises(DataError, match="no column 'html'"):
        spark.clean_frame(frame.drop("html"), Plan())


def test_own_frame_is_cleaned_with_the_documented_columns(session, model):
    pages = [(url(n), page(n, "RAISES" if n == 2 else "")) for n in range(5)]
    frame = session.createDataFrame(pages, "address string, content binary")
    cleaned = spark.clean(frame, "content", "address", model=str(model), allow_code=True, limits=LIMITS)
    from pyspark.sql.pandas.types import from_arrow_schema

    assert cleaned.schema == from_arrow_schema(table_schema())
    rows = {row["url"]: row for row in cleaned.collect()}
    assert {row["host"] for row in rows.values()} == {"courier.example"}
    assert [rows[url(n)]["status"] for n in range(5)] == ["kept", "kept", "failed", "kept", "kept"]
    assert "no tea" in rows[url(2)]["reason"]
    assert spark.clean(frame, "content", "address", method="sst", by_site=True).count() == 5


def test_large_archive_is_divided_and_progress_is_shown(session, tmp_path, monkeypatch):
    monkeypatch.setattr(driver, "LEAST_PIECE", 2_000)
    monkeypatch.setattr(driver, "PART_BYTES", 5_000)
    monkeypatch.setattr(driver, "PROGRESS_SECONDS", 0.05)
    crawl(tmp_path / "a.warc.gz", 30)
    plan = Plan((str(tmp_path / "a.warc.gz"),), tmp_path / "out", "jsonl", shard_files=3)
    messages = []
    assert spark.run_plan(session, plan, messages.append)["pages"] == 30
    assert messages[0] == "dividing 1 files"
    assert any(re.search(r"\d+ pages are cleaned; \d+ of \d+ tasks", words) for words in messages)
    assert len(list((tmp_path / "out").glob("shard-*"))) > 1
    assert len(list((tmp_path / "out").glob("shard-00000/part-*"))) > 1
    assert {path.suffix for path in (tmp_path / "out").glob("shard-*/part-*")} == {".jsonl"}
    assert lines_of(tmp_path / "out") == run_locally(plan.inputs, tmp_path / "local")[0]


# Replicas.


@pytest.fixture(scope="module")
def planted_inputs(tmp_path_factory):
    """Three files. Some stories overlap with the next, so that what is kept depends on the order."""
    pytest.importorskip("icu4py")
    place = tmp_path_factory.mktemp("inputs")
    sentences = replicapages.story(99, 80)
    sliding = [replicapages.page(sentences[at : at + 30]) for at in range(0, 48, 6)]
    pages = [
        *replicapages.planted(9)[0],
        *sliding,
        *reversed(sliding),
        replicapages.page(["Hot tea."]),
        "<html></html>",
    ]
    cut = len(pages) // 3
    parts = (pages[:cut], pages[cut : 2 * cut], pages[2 * cut :])
    return tuple(str(replicapages.write_lines(place / f"{number}.jsonl", part)) for number, part in enumerate(parts))


@pytest.mark.parametrize(
    ("dedup", "messages"), [(Dedup("fingerprint"), 1), (Dedup("pages", keep="longest", drop=True), 2)]
)
def test_resume_gives_the_replicas_of_the_local_run(session, planted_inputs, dedup, messages, tmp_path):
    expected, local_summary = run_locally(planted_inputs, tmp_path / "local", dedup=dedup)
    plan = Plan(planted_inputs, tmp_path / "out", "jsonl", dedup=dedup, shard_files=2)
    with pytest.raises(InterruptedRunError):
        spark.run_plan(session, plan, stop_after(messages))
    summary = spark.run_plan(session, plan, quiet)
    assert lines_of(tmp_path / "out") == expected
    for name in ("replicas.jsonl", "failed.jsonl"):
        assert (tmp_path / "out" / f"_{name}").read_bytes() == (tmp_path / "local" / name).read_bytes()
    assert summary["replica"] == local_summary["replica"] > 8
    assert summary["dedup"] == local_summary["dedup"]
    assert not [*(tmp_path / "out").glob("_cleaned"), *(tmp_path / "out").glob("_replicas")]


def test_replicas_of_sites_are_those_of_the_local_run(session, tmp_path):
    pytest.importorskip("icu4py")
    names = ("alpha", "beta", "gamma")
    pages = replicapages.write_lines(
        tmp_path / "pages.jsonl",
        [replicapages.page(replicapages.story(n % 9), name) for n in range(12) for name in names],
    )
    lines = pages.read_text().splitlines(keepends=True)
    pages.write_text("".join(line.replace("news.", f"{names[n % 3]}.", 1) for n, line in enumerate(lines)))
    inputs = (str(pages),)
    options = {"method": Method("sst"), "dedup": Dedup("pages")}
    expected, summary = run_locally(inputs, tmp_path / "local", by_site=True, **options)
    plan = Plan(inputs, tmp_path / "out", "jsonl", by_site=True, buckets=2, **options)
    spark.run_plan(session, plan, quiet)
    assert sorted(lines_of(tmp_path / "out").splitlines()) == sorted(expected.splitlines())
    assert summary["replica"] > 20
    assert (tmp_path / "out" / "_replicas.jsonl").read_bytes() == (tmp_path / "local" / "replicas.jsonl").read_bytes()


# Without a session.


def test_cut_files_give_every_record_once(inputs, monkeypatch):
    monkeypatch.setattr(spark_task, "SPLIT_ROWS", 3)
    options = ReadOptions()
    files = list(spark_task.find_units(inputs, options))
    cuts = [spark_task.find_cuts(options, 5_000, file) for file in files]
    units = [unit for file, cut in zip(files, cuts, strict=True) for unit in spark_task.cut_file(file, cut)]
    assert len(units) > len(inputs) + 3
    cut = [record.origin for unit in units for record in read_file(unit, options)]
    assert cut == [record.origin for file in find_files(inputs) for record in read_file(file, options)]
