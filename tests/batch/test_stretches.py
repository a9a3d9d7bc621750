"""Stretches of records, run in this process: what they report, and where the next stretch begins."""

from dataclasses import replace
from functools import partial

import pytest
from support.batchpages import page, response, url, warc_record, write_warc

from victorpy.batch.inputs import find_files, group_files
from victorpy.batch.local import stretches
from victorpy.batch.local.logs import Stretch
from victorpy.batch.local.stretches import Job, run_stretch, spill_stretch, start_worker
from victorpy.batch.outcome import Outcome
from victorpy.batch.plan import Plan
from victorpy.batch.record import Kind, Problem, Record, Status
from victorpy.methods import Method


@pytest.fixture
def job(tmp_path):
    """A function that makes the job of a stretch: two archives with five pages each, three pages per stretch."""
    pytest.importorskip("fastwarc")
    for name in "ab":
        records = [response(url(number), page(number)) for number in range(5)]
        note = warc_record("metadata", url(9), bytes(400_000), "text/plain")  # longer than what is read at once
        write_warc(tmp_path / f"{name}.warc", [*records, note])
    plan = Plan(inputs=(str(tmp_path),), output=tmp_path / "out", to="jsonl", method=Method("everything"))
    start_worker(plan, None, is_guarded=False)
    (group,) = group_files(find_files(plan.inputs), 3)
    return partial(Job, group=group, directory=tmp_path)


@pytest.mark.parametrize("run", [run_stretch, spill_stretch])
def test_reports_of_a_stretch_add_up(tmp_path, monkeypatch, job, run):
    monkeypatch.setattr(stretches, "REPORT_SECONDS", -1.0)  # report after every page
    monkeypatch.setattr(stretches, "_SPILLED_AT_ONCE", 2)
    whole, events = job(stretch=Stretch(0)), []
    run(replace(whole, group=whole.group._replace(records=100)), events.append)
    progress = [event[1:] for event in events if event[0] == "progress"]
    assert sum(read for _, _, read in progress) == sum(path.stat().st_size for path in tmp_path.glob("*.warc"))
    is_cleaned = run is run_stretch
    assert sum(statuses.get("kept", 0) for statuses, _, _ in progress) == 10 * is_cleaned
    assert sum(size for _, size, _ in progress) == 2 * sum(len(page(number)) for number in range(5)) * is_cleaned


@pytest.mark.parametrize("run", [run_stretch, spill_stretch])
def test_stretches_follow_each_other(job, run):
    stretch, places = Stretch(0), []
    while stretch is not None:
        segment = run(job(stretch=stretch), lambda event: None)
        places.append((stretch.number, stretch.file, stretch.start, segment.last))
        stretch = segment.following
    assert places == [(0, 0, 0, (0, 3)), (1, 0, 3, (1, 1)), (2, 1, 1, (1, 4)), (3, 1, 4, (2, 0))]


def test_unwanted_stretch_is_only_read(tmp_path, job):
    events = []
    assert run_stretch(job(stretch=Stretch(0), is_wanted=False), events.append) is None
    assert [event[0] for event in events] == ["following", "progress"]
    assert not list(tmp_path.glob("*.log"))


def test_finished_records_of_a_stretch_are_not_cleaned_again(tmp_path, job):
    whole = run_stretch(job(stretch=Stretch(0)), lambda event: None)
    (log,) = tmp_path.glob("*.log")
    lines = log.read_bytes()
    events = []
    again = run_stretch(job(stretch=Stretch(0)), events.append)
    assert (again.tally, log.read_bytes()) == (whole.tally, lines)
    assert events[-1] == ("progress", {}, 0, events[-1][3])
    found = next(event for event in events if event[0] == "found")
    assert found[1]["pages"] == 3


def test_careful_stretch_reports_every_step_and_leaves_out_what_ended_a_worker(job):
    bad, unread = Problem(Kind.CRASH, "bad"), Problem(Kind.MEMORY, "unread")
    events = []
    segment = run_stretch(job(stretch=Stretch(0), is_careful=True, bad={1: bad}), events.append)
    steps = [event for event in events if event[0] in {"read", "clean", "following"}]
    assert steps == [
        *(("read", 0), ("clean", 0), ("read", 1), ("clean", 1), ("read", 2), ("clean", 2), ("read", 3)),
        ("following", Stretch(0, 1, 0, 3, segment.following.offset)),
    ]
    assert [failure["reason"] for failure in segment.tally["failures"]] == ["bad"]
    segment = run_stretch(job(stretch=Stretch(0, 5), is_careful=True, unread={1: unread}), events.append)
    (lost,) = segment.tally["failures"]
    assert (lost["position"], lost["rest"], lost["kind"]) == (1, True, "memory")
    assert lost["reason"] == "the rest of the file was not read: unread"
    assert (segment.tally["pages"], segment.following.file, segment.following.start) == (3, 1, 1)


def test_next_stretch_is_reported_before_pages_are_cleaned_unless_they_are_large(monkeypatch, job):
    for most, is_early in ((32_000_000, True), (1, False)):
        monkeypatch.setattr(stretches, "AHEAD_BYTES", most)
        monkeypatch.setattr(stretches, "REPORT_SECONDS", -1.0)
        events = []
        run_stretch(job(stretch=Stretch(most)), events.append)
        kinds = [event[0] for event in events]
        assert kinds.count("following") == 1
        assert (kinds.index("following") < kinds.index("progress")) is is_early


def test_tables_are_divided_between_groups_of_rows(tmp_path, monkeypatch):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = [{"html": f"<p>Tea {number}"} for number in range(10)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "t.parquet", row_group_size=2)
    plan = Plan((str(tmp_path / "t.parquet"),), tmp_path / "out", "jsonl", method=Method("everything"))
    start_worker(plan, None, is_guarded=False)
    (group,) = group_files(find_files(plan.inputs), 3)
    stretch, found = Stretch(0), []
    while stretch is not None:
        events = []
        segment = run_stretch(Job(stretch, group, tmp_path), events.append)
        assert events[0] == ("following", segment.following)
        found.append((stretch.number, stretch.start, segment.tally["pages"], segment.last))
        stretch = segment.following
    assert found == [(0, 0, 4, (0, 4)), (1, 4, 4, (0, 8)), (2, 8, 2, (1, 0))]


def test_memory_is_limited_while_pages_are_cleaned(tmp_path, monkeypatch, job):
    limits, deadlines = [], []
    monkeypatch.setattr(stretches, "limit_memory", limits.append)
    monkeypatch.setattr(stretches, "set_deadline", deadlines.append)
    run_stretch(job(stretch=Stretch(0)), lambda event: None)
    assert (limits, deadlines) == ([], [])  # in the main process
    stretches.state().is_guarded = True
    run_stretch(job(stretch=Stretch(1)), lambda event: None)
    assert limits == []  # only tables take more memory for reading
    assert (set(deadlines), deadlines[-1]) == ({310.0, 10.0, 0}, 0)
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"html": ["<p>Tea"]}), tmp_path / "t.parquet")
    (group,) = group_files(find_files([str(tmp_path / "t.parquet")]), 3)
    run_stretch(Job(Stretch(0, 7), group, tmp_path), lambda event: None)
    page = stretches.state().memory
    assert page == 1_000_000_000 + 3 * 32_000_000 + 32_000_000
    assert limits == [1 << 60, 4 * page, page, 4 * page]


def test_worker_ends_if_a_page_exhausts_its_memory(tmp_path, monkeypatch, job):
    job(stretch=Stretch(0))
    ended = []
    monkeypatch.setattr(stretches, "set_deadline", lambda seconds: None)
    monkeypatch.setattr("os._exit", ended.append)
    worker, (record,) = stretches.state(), [Record("x", tmp_path)]
    worker.pages.clean = lambda record, cleaner: Outcome(Status.FAILED, kind=Kind.MEMORY)
    stretches.clean_checked(record)
    worker.is_guarded = True
    stretches.clean_checked(replace(record, problem=Problem(Kind.MEMORY, "reading took too much")))
    assert ended == []
    stretches.clean_checked(record)
    assert ended == [86]


@pytest.mark.parametrize(("kind", "calls"), [("parquet", 1), ("jsonl", 0)])
def test_library_for_tables_is_loaded_before_the_memory_is_limited(tmp_path, monkeypatch, kind, calls):
    loaded = []
    monkeypatch.setattr(stretches, "_prepare_arrow", lambda: loaded.append(1))
    start_worker(Plan(output=tmp_path, to=kind, method=Method("everything")), None, is_guarded=False)
    assert len(loaded) == calls
