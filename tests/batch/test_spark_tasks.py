"""What Spark tasks do, without Spark: plain functions over Arrow batches, which clean in this process."""

import gzip
import json
import time
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from support import replicapages
from support.batchpages import page, response, url, write_warc

from victorpy.base.plain import to_json
from victorpy.batch.inputs import InputFile, read_file
from victorpy.batch.local.pool import Here
from victorpy.batch.plan import Dedup, Limits, Plan
from victorpy.batch.sinks import table_schema
from victorpy.batch.sources import ReadOptions
from victorpy.dedup.base import Frame
from victorpy.errors import DataError
from victorpy.methods import Method

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("fastwarc")
pytest.importorskip("pyspark", reason="no PySpark: pip install -e '.[spark]'")

from victorpy.spark import dedup, task  # noqa: E402
from victorpy.spark.task import Form, Work  # noqa: E402

PLAN = Plan(method=Method("everything"))
ROWS = [{"html": f"<p>Tea {n}".encode(), "url": url(n), "source": "frame", "position": 10 + n} for n in range(3)]


class Counter:
    """Counts like an accumulator."""

    value = 0

    def add(self, number):
        self.value += number


class Child(Here):
    """A child that is not another process."""

    started, stopped = [], []

    def __init__(self, start, limits):
        assert limits.jobs == 1
        super().__init__(partial(start.func, *start.args, is_guarded=False))
        Child.started.append(start.args[0])

    def stop(self):
        Child.stopped.append(self)


@pytest.fixture(autouse=True)
def child(monkeypatch):
    """Let tasks work in this process."""
    monkeypatch.setattr(task, "Workers", Child)
    monkeypatch.setattr(task, "_children", {})
    monkeypatch.setattr(Child, "started", [])
    monkeypatch.setattr(Child, "stopped", [])


def batches(rows, size=2):
    return [pa.RecordBatch.from_pylist(rows[at : at + size]) for at in range(0, len(rows), size)]


def rows_of(found):
    return [row for batch in found for row in batch.to_pylist()]


def units_of(*paths):
    """Return the rows that name files."""
    files = task.find_units([str(path) for path in paths], ReadOptions())
    return batches([{"unit": to_json(file)} for file in files])


@pytest.fixture
def archives(tmp_path):
    """Two archives with three and two pages of two sites."""
    sites = "bab", "ab"
    for name, letters in zip("xy", sites, strict=True):
        records = [response(f"http://{site}.example/{name}{n}", page(n)) for n, site in enumerate(letters)]
        write_warc(tmp_path / f"{name}.warc.gz", records)
    return tmp_path / "x.warc.gz", tmp_path / "y.warc.gz"


@pytest.mark.parametrize("stretch", [1, 2, 64])
def test_pages_in_rows_are_cleaned_in_order(monkeypatch, stretch):
    monkeypatch.setattr(task, "STRETCH_RECORDS", stretch)
    found = rows_of(task.clean_pages(Work(PLAN), batches(ROWS)))
    assert [(row["url"], row["source"], row["position"], row["status"]) for row in found] == [
        (url(n), "frame", 10 + n, "kept") for n in range(3)
    ]
    assert [row["text"].strip() for row in found] == [f"Tea {n}" for n in range(3)]
    assert rows_of(task.clean_pages(Work(PLAN), [])) == []


def test_rows_need_neither_source_nor_position():
    (row,) = rows_of(task.clean_pages(Work(PLAN), batches([{"html": "<p>Tea", "url": None}])))
    assert (row["text"].strip(), row["url"], row["source"], row["position"]) == ("Tea", "", "", 0)
    (row,) = rows_of(task.clean_pages(Work(PLAN), batches([{"html": None, "source": None, "position": None}])))
    assert (row["status"], row["kind"], row["source"], row["position"]) == ("failed", "read", "", 0)


def test_files_are_cleaned_and_counted(archives):
    work, began = Work(PLAN, pages=Counter(), cpu=Counter()), time.process_time()
    found = rows_of(task.clean_pages(work, units_of(*archives)))
    assert [(Path(row["source"]).name[0], row["position"]) for row in found] == [
        *(("x", n) for n in range(3)),
        ("y", 0),
        ("y", 1),
    ]
    assert work.pages.value == 5
    assert 0 < work.cpu.value <= time.process_time() - began


def test_forms_of_cleaned_records(archives):
    table, lines, signed = (
        list(task.clean_pages(Work(PLAN, form), units_of(*archives))) for form in (Form.TABLE, Form.LINES, Form.SIGNED)
    )
    assert table[0].schema.names == table_schema().names
    assert task.result_schema(Work(PLAN, Form.TABLE)) == table_schema(())
    texts = [row["text"] for row in rows_of(table)]
    assert [json.loads(row["line"])["text"] for row in rows_of(lines)] == texts
    assert [(row["status"], row["kind"], row["size"]) for row in rows_of(lines)] == [
        ("kept", "", len(page(n))) for n in (0, 1, 2, 0, 1)
    ]
    assert not any(row["line"].endswith("\n") for row in rows_of(lines))
    places = [row["place"] for row in rows_of(signed)]
    assert places == [f"{file:09d} {record:020d}" for file, record in ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1))]
    assert [row["site"] for row in rows_of(signed)] == [f"{site}.example" for site in "babab"]
    assert {row["failure"] for row in rows_of(signed)} == {None}
    for form, expected in ((Form.TABLE, table), (Form.LINES, lines)):
        assert rows_of(task.finish_signed(Work(PLAN, form), signed)) == rows_of(expected)


def test_failed_records_have_a_line_for_the_list_of_failures():
    plan = replace(PLAN, site_key="host")
    rows = [{"html": None, "url": "http://tea.\ud800example/1"}, ROWS[0]]
    (batch,) = task.clean_pages(Work(plan, Form.SIGNED), [pa.RecordBatch.from_pylist(ROWS[:1])])
    assert batch.schema == task.SIGNED_SCHEMA
    failed, kept = rows_of(task.clean_pages(Work(plan, Form.SIGNED), batches([{**rows[0], "url": url(7)}, rows[1]])))
    assert json.loads(failed["failure"])["kind"] == "read"
    assert json.loads(failed["description"]).keys() <= json.loads(failed["failure"]).keys()
    assert (kept["failure"], kept["place"], failed["place"]) == (None, f"{0:09d} {1:020d}", f"{0:09d} {0:020d}")


def test_decisions_about_replicas_change_rows(archives):
    settings = Dedup("fingerprint", drop=True)
    work = Work(replace(PLAN, dedup=settings), Form.SIGNED)
    signed = rows_of(task.clean_pages(work, units_of(*archives)))
    assert all(row["signed"] for row in signed)
    signed[3]["decision"] = json.dumps(json.loads(signed[0]["description"]))
    signed = [{"decision": None, **row} for row in signed]
    found = rows_of(task.finish_signed(replace(work, form=Form.LINES), [pa.RecordBatch.from_pylist(signed)]))
    assert [row["status"] for row in found] == ["kept", "kept", "kept", "replica", "kept"]
    without = rows_of(task.finish_signed(Work(PLAN, Form.LINES), [pa.RecordBatch.from_pylist(signed)]))
    assert {row["status"] for row in without} == {"kept"}


def test_batches_are_limited_by_rows_and_bytes(monkeypatch):
    monkeypatch.setattr(task, "BATCH_BYTES", 10)
    schema = task.make_schema("n", n=pa.int64())
    sizes = [4, 6, 1, 20, 3, 3]
    found = task._in_batches([({"n": n}, size) for n, size in enumerate(sizes)], schema)
    assert [batch["n"].to_pylist() for batch in found] == [[0, 1], [2], [3], [4, 5]]
    found = task._in_batches([({"n": n}, 0) for n in range(130)], schema)
    assert [batch.num_rows for batch in found] == [64, 64, 2]
    doubled = task.map_rows(batches([{"n": n} for n in range(3)]), schema, lambda row: [row] * row["n"])
    assert [batch["n"].to_pylist() for batch in doubled] == [[1], [2, 2]]


# Site by site.


@pytest.mark.parametrize("kind", ["files", "rows"])
def test_records_are_grouped_by_site_and_cleaned_in_the_order_of_the_inputs(archives, kind):
    plan = replace(PLAN, method=Method("sst"), by_site=True)
    work = Work(plan, Form.SIGNED, pages=Counter())
    rows = [
        {"html": page(n), "url": f"http://{site}.example/{n}", "source": source, "position": n}
        for source, sites in (("x", "bab"), ("y", "ab"))
        for n, site in enumerate(sites)
    ]
    grouped = list(task.group_pages(work, units_of(*archives) if kind == "files" else batches(rows)))
    assert {batch.schema for batch in grouped} == {task.SITE_SCHEMA}
    found = rows_of(grouped)
    assert [row["site"][0] for row in found] == [*"babab"]
    numbers = "00011" if kind == "files" else "00000"
    assert [(row["file"][8], row["position"]) for row in found] == [*zip(numbers, [0, 1, 2, 0, 1], strict=True)]
    of_site = [row for row in reversed(found) if row["site"] == "b.example"]
    cleaned = rows_of(task.clean_grouped(work, "b.example", batches(of_site)))
    assert [row["place"][-30:] for row in cleaned] == [f"{0:09d} {n:020d}" for n in range(3)]
    assert {row["place"].rpartition("\0")[0] for row in cleaned} == {"40 b.example"}
    descriptions = [json.loads(row["description"]) for row in cleaned]
    assert [(Path(each["source"]).name[0], each["position"]) for each in descriptions] == [("x", 0), ("x", 2), ("y", 1)]
    assert work.pages.value == 3


# Replicas.


def test_signed_texts_are_sorted_by_rank_and_place():
    detector = Dedup("pages").detector()
    one, other = (detector.sign(" ".join(replicapages.story(number, 40))) for number in (1, 2))
    rows = [
        {"place": "7", "site": "a", "signed": [{"signature": one, "length": 10}, {"signature": b"", "length": 0}]},
        {"place": "8", "site": "b", "signed": [{"signature": one, "length": 11}, {"signature": other, "length": 99}]},
        {"place": "9", "site": "b", "signed": []},
    ]
    found = list(dedup._texts("first", batches(rows)))
    assert found[0].schema == dedup.TEXTS
    assert [(row["id"], row["place"], row["part"], row["site"], row["signature"]) for row in rows_of(found)] == [
        ("000000 7 000000", "7", 0, "a", one),
        ("000000 8 000000", "8", 0, "b", one),
        ("000000 8 000001", "8", 1, "b", other),
    ]
    digests = [row["digest"] for row in rows_of(found)]
    assert digests[0] == digests[1] != digests[2]
    longest = [row["id"].split() for row in rows_of(dedup._texts("longest", batches(rows)))]
    assert [place for _, place, _ in longest] == ["7", "8", "8"]
    ranks = [int(rank) for rank, *_ in longest]
    assert (ranks[0] - ranks[1], ranks[1] - ranks[2]) == (1, 88)


def test_keys_and_confirmed_pairs_of_replicas():
    detector = Dedup("pages").detector()
    sentences = [f"Sentence {n} of the story about tea number {n * n} has word{n}." for n in range(40)]
    texts = [" ".join(sentences), " ".join(sentences[:39]), " ".join(sentences[:6]), " ".join(reversed(sentences))]
    signatures = [detector.sign(text) for text in texts]
    rows = [{"id": str(n), "signature": signature, "frame": b""} for n, signature in enumerate(signatures)]
    keys = list(dedup._keys(detector, Frame(), batches(rows)))
    assert keys[0].schema == dedup.KEYS
    by_text = [{row["key"] for row in rows_of(keys) if row["id"] == str(n)} for n in range(4)]
    assert by_text[0] & by_text[1]

    def confirmed(one, two, **more):
        row = {
            **{"id": f"t{one}", "site": "a", "signature": signatures[one], "frame": b"", "rank": 3, "is_equal": False},
            **{"other_id": f"t{two}", "other_site": "a", "other_signature": signatures[two], "other_frame": b""},
            **more,
        }
        found = list(dedup._confirm(detector, Frame(), batches([row])))
        assert found[0].schema == dedup.CONFIRMED
        return rows_of(found)

    assert confirmed(1, 0) == [{"id": "t1", "other": "t0", "rank": 3, "is_equal": False}]
    assert confirmed(2, 0) == []
    assert confirmed(2, 0, is_equal=True) == [{"id": "t2", "other": "t0", "rank": 3, "is_equal": True}]
    assert confirmed(1, 0, other_site="b")


def test_replicas_are_resolved_in_order_and_written_in_pieces(tmp_path, monkeypatch):
    """Text 2 repeats 1, so 3 is compared with 1 if it equals 2; 4 keeps its text, because 2 is a replica."""
    rows = [("2", "1", False), ("3", "2", True), ("4", "2", False), ("5", "4", False), ("6", "1", False)]
    written = []

    class Frames:
        """The frames and the session of one result."""

        @property
        def sparkSession(self):  # noqa: N802  (the names in Spark)
            return self

        write = read = property(lambda self: self)

        def orderBy(self, *names):  # noqa: N802
            assert names == ("id", "rank")
            return self

        def toLocalIterator(self):  # noqa: N802
            return iter([dict(zip(("id", "other", "is_equal"), row, strict=True)) for row in rows])

        def createDataFrame(self, piece, schema):  # noqa: N802
            written.append(list(piece))
            return self

        def mode(self, name):
            written[-1].append(name)
            return self

        def schema(self, schema):
            return self

        def parquet(self, path):
            assert path == "repeats"

    monkeypatch.setattr(dedup, "PIECE", 2)
    dedup._resolve(Frames(), "repeats")
    assert written == [
        ["overwrite"],
        [("2", "1"), ("3", "1"), "append"],
        [("5", "4"), ("6", "1"), "append"],
    ]


# The child.


def test_a_child_is_used_again_for_the_same_plan():
    plan = replace(PLAN, limits=Limits(jobs=4))
    for each in (plan, plan, replace(plan, format="markdown"), plan):
        list(task.clean_pages(Work(each), batches(ROWS)))
    assert [(each.format, each.limits.jobs) for each in Child.started] == [("text", 1), ("markdown", 1), ("text", 1)]
    assert len(Child.stopped) == 2
    assert len(task._children) == 1


def test_an_interrupted_child_is_not_used_again():
    work = Work(PLAN, cpu=Counter())
    with suppress(ZeroDivisionError), task._child(work):
        1 / 0  # noqa: B018
    assert (len(Child.stopped), task._children, work.cpu.value) == (1, {}, 0)


# Pieces of files.


def test_units_are_all_files_with_their_place(archives, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = list(task.find_units([path.name for path in archives], ReadOptions()))
    assert [(str(unit.path), unit.number, unit.base) for unit in found] == [
        ("x.warc.gz", 0, str(tmp_path)),
        ("y.warc.gz", 1, str(tmp_path)),
    ]


def test_single_pages_and_tables_without_pages_are_refused(tmp_path):
    (tmp_path / "page.html").write_text("<p>tea")
    pq.write_table(pa.table({"content": ["<p>tea"]}), tmp_path / "t.parquet")
    for name, words in {"page.html": "single page files", "t.parquet": "no column 'html'"}.items():
        with pytest.raises(DataError, match=words):
            list(task.find_units([str(tmp_path / name)], ReadOptions()))
    assert len(list(task.find_units([str(tmp_path / "gone.parquet")], ReadOptions()))) == 1  # fails when it is read


def test_lines_are_cut_at_records(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"html": "<p>Tea"}\n' * 6)  # 19 bytes per line
    file = InputFile(Path("x.jsonl"), Path("x"), "x", base=str(tmp_path))
    cuts = {size: task.find_cuts(ReadOptions(), size, file) for size in (19, 20, 38, 39, 200)}
    assert cuts == {
        19: [(n, 19 * n) for n in range(6)],
        20: [(0, 0), (2, 38), (4, 76)],
        38: [(0, 0), (2, 38), (4, 76)],
        39: [(0, 0), (3, 57)],
        200: [(0, 0)],
    }
    whole = file._replace(path=tmp_path / "x.jsonl")
    units = list(task.cut_file(whole, cuts[38]))
    assert [(unit.start, unit.end, unit.offset) for unit in units] == [(0, 2, 0), (2, 4, 38), (4, None, 76)]
    read = [record.origin.position for unit in units for record in read_file(unit, ReadOptions())]
    assert read == list(range(6))
    (tmp_path / "x.jsonl.gz").write_bytes(gzip.compress((tmp_path / "x.jsonl").read_bytes()))
    assert task.find_cuts(ReadOptions(), 1, file._replace(path=Path("x.jsonl.gz"))) == [(0, 0)]


def test_tables_are_cut_between_groups_of_rows(tmp_path, monkeypatch):
    pq.write_table(pa.table({"html": ["<p>Tea"] * 10}), tmp_path / "t.parquet", row_group_size=2)
    file = InputFile(tmp_path / "t.parquet", Path("t"), "t")
    assert task.find_cuts(ReadOptions(), 1, file) == [(0, 0)]
    monkeypatch.setattr(task, "SPLIT_ROWS", 3)
    cuts = task.find_cuts(ReadOptions(), 1, file)
    assert cuts == [(0, 0), (4, 0), (8, 0)]
    read = [record.origin.position for unit in task.cut_file(file, cuts) for record in read_file(unit, ReadOptions())]
    assert read == list(range(10))
