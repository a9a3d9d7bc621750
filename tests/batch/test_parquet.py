"""Readers of tables open the Parquet output of a run as it is, and the writer's memory is bounded."""

import io
import json
from pathlib import Path

import pytest
from support.batchpages import crawl, page, response, tree, write_warc
from support.commands import clean

from victorpy.batch import sinks
from victorpy.batch.local.run import STRETCH_RECORDS, run_plan
from victorpy.batch.outcome import Outcome
from victorpy.batch.plan import Plan
from victorpy.batch.record import Origin, Record, Status
from victorpy.outputs import find_output

pytestmark = pytest.mark.processes
pytest.importorskip("fastwarc")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

PAGES = 30


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    """The output directory of a run in which the last page is damaged."""
    place = tmp_path_factory.mktemp("run")
    pages = [response(f"http://www.Tea.example:80/{number}", page(number)) for number in range(PAGES + 1)]
    archive = place / "in.warc.gz"
    write_warc(archive, pages)
    archive.write_bytes(archive.read_bytes()[:-50])
    clean(archive, "-o", f"{place}/out.parquet/", "--shard-records", 12, "-j", 2)
    return place / "out.parquet"


def read_with(name, directory):
    """Return the addresses that a library reads from a directory."""
    library = pytest.importorskip(name)
    if name == "pandas":
        return list(library.read_parquet(directory)["url"])
    if name == "polars":
        assert library.scan_parquet(directory).select("url").collect().height > 0
        return library.read_parquet(directory)["url"].to_list()
    if name == "duckdb":
        return [url for (url,) in library.sql(f"select url from read_parquet('{directory}/*') order by all").fetchall()]
    return library.dataset(directory).to_table(columns=["url"])["url"].to_pylist()


@pytest.mark.parametrize("name", ["pandas", "polars", "duckdb", "pyarrow.dataset"])
def test_libraries_read_the_directory_as_it_is(output, name):
    assert len(set(read_with(name, output))) == PAGES + 1


def test_side_files_are_beside_the_directory(output):
    assert {Path(name).suffix for name in tree(output)} == {".parquet"}
    side = output.with_name("out.parquet.run")
    assert set(tree(side)) == {"manifest.jsonl", "failed.jsonl", ".inputs"}
    names = [json.loads(line)["part"] for line in (side / "manifest.jsonl").read_text().splitlines()[1:-1]]
    assert sorted(names) == names == sorted(tree(output))


def test_rows_have_host_date_and_size(output):
    row = pq.read_table(output).to_pylist()[0]
    assert (row["host"], row["crawled"]) == ("www.tea.example", "2024-05-06T07:08:09Z")
    assert row["size"] == len(page(0))


def test_retry_without_output_adds_to_the_directory(output):
    failed = output.with_name("out.parquet.run") / "failed.jsonl"
    lines = failed.read_text().splitlines()
    clean("--retry", failed)
    assert pq.read_table(sorted(output.glob("retry-1-*"))).num_rows == len(lines) == 1


def test_output_of_an_older_version_is_refused(tmp_path):
    crawl(tmp_path / "a.warc.gz", 2)
    old = tmp_path / "out.parquet"
    old.mkdir()
    (old / "manifest.jsonl").write_text('{"format": 1, "settings": {"victorpy": "0.1.0"}}\n')
    ended = clean(tmp_path / "a.warc.gz", "-o", old, "--to", "parquet")
    assert ended.returncode == 2
    assert b"older version has written this output; choose another directory" in ended.stderr
    assert set(tree(tmp_path)) == {"a.warc.gz", "out.parquet/manifest.jsonl"}


def write_table(path, texts):
    """Write texts to a part. Return the number of rows of each row group."""
    sink = sinks.SINKS.get("parquet")("parquet", path.parent, find_output("text"))
    records = ((Record("", Path(), origin=Origin("a", number)), text) for number, text in texts)
    items = [(record, Outcome(Status.KEPT, text)) for record, text in records]
    pieces = [path.with_name(f"{number}.piece") for number in range(0, len(items), 10)]
    for number, piece in zip(range(0, len(items), 10), pieces, strict=True):
        sink.write(piece, items[number : number + 10])
    sink.join(path, pieces)
    metadata = pq.read_metadata(path)
    return [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]


def test_row_groups_have_10_000_rows_and_are_zstd(tmp_path):
    texts = [(number, "tea") for number in range(20_300)]
    assert write_table(tmp_path / "a.parquet", texts) == [10_000, 10_000, 300]
    assert pq.read_metadata(tmp_path / "a.parquet").row_group(0).column(0).compression == "ZSTD"


def test_row_groups_of_large_pages_are_smaller(tmp_path, monkeypatch):
    monkeypatch.setattr(sinks, "GROUP_BYTES", 1_000_000)
    monkeypatch.setattr(sinks, "BATCH_CHARACTERS", 100_000)
    texts = [(number, f"tea {number} " * 1_000) for number in range(300)]
    rows = write_table(tmp_path / "a.parquet", texts)
    assert sum(rows) == 300
    assert 50 < max(rows) < 150
    assert pq.read_table(tmp_path / "a.parquet")["position"].to_pylist() == list(range(300))


def test_parts_end_by_size(tmp_path, monkeypatch):
    monkeypatch.setattr(sinks.Parquet, "shard_bytes", 150_000)
    crawl(tmp_path / "a.warc.gz", 200)
    plan = Plan((str(tmp_path / "a.warc.gz"),), tmp_path / "out.parquet", "parquet")
    run_plan(plan, io.StringIO(), quiet=True)
    rows = [pq.read_metadata(path).num_rows for path in sorted((tmp_path / "out.parquet").iterdir())]
    assert len(rows) > 1
    assert sum(rows) == 200
    assert all(count % STRETCH_RECORDS == 0 for count in rows[:-1])
