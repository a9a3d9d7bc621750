"""Guarded workers: a poisoned page fails on its own, is reported with a reason, and can be retried."""

import io
import json
import multiprocessing
import os
import signal
import time
from dataclasses import replace
from functools import partial
from multiprocessing import forkserver
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.batchpages import CrashingName, crawl, failed, page, poison_model, response, rows, tree, url, write_warc
from support.commands import clean

from victorpy.batch.local import pool
from victorpy.batch.local.logs import Log, Segment, Stretch, pack, read_log, unpack
from victorpy.batch.local.parts import _Step
from victorpy.batch.local.pool import MOST_RESTARTS, Task, Workers, set_deadline
from victorpy.batch.local.run import run_plan
from victorpy.batch.outcome import Outcome
from victorpy.batch.plan import Limits, Plan
from victorpy.batch.record import Kind, Origin, Problem, Record, Status
from victorpy.batch.sources import ReadOptions
from victorpy.dedup.base import Signed
from victorpy.errors import VictorError
from victorpy.methods import Method

pytestmark = pytest.mark.processes

pytest.importorskip("fastwarc")

KINDS = {"RAISES": "internal", "HANGS": "timeout", "CRASHES": "crash", "EATS": "memory"}
AT = {3: "RAISES", 5: "HANGS", 20: "CRASHES", 37: "EATS"}
PAGES = 40


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return poison_model(tmp_path_factory.mktemp("poison"))


@pytest.fixture(scope="module")
def poisoned(model, tmp_path_factory):
    """A run over an archive with poisoned pages, and two difficult pages that are fine."""
    place = tmp_path_factory.mktemp("run")
    offsets = crawl(place / "crawl.warc.gz", PAGES, AT)
    (place / "wide.html").write_text(f"<p title='{'x' * 10_000_000}'>Tea is a drink of leaves and water.</p>")
    (place / "deep.html").write_text("<div>" * 5_000 + "<p>Tea is a drink of leaves and water.")
    ended = clean(
        *(place / "crawl.warc.gz", place / "wide.html", place / "deep.html", "--model", model, "--allow-code", "-j", 2),
        *("--timeout", 1.5, "--memory", 300, "-o", place / "out", "--to", "jsonl", "--summary", place / "s.json"),
    )
    return place, offsets, ended


def test_bad_page_fails_alone(poisoned):
    place, _, ended = poisoned
    assert ended.returncode == 1, ended.stderr.decode()
    found = rows(place / "out")
    assert [row["url"] for row in found[:PAGES]] == [url(number) for number in range(PAGES)]
    kinds = {number: row["kind"] for number, row in enumerate(found) if row["status"] == "failed"}
    assert kinds == {number: KINDS[poison] for number, poison in AT.items()}
    assert {row["status"] for number, row in enumerate(found[:PAGES]) if number not in AT} == {"kept"}


def test_hard_pages_do_not_fail(poisoned):
    place, _, _ = poisoned
    wide, deep = rows(place / "out")[PAGES:]
    assert [row["status"] in {"kept", "empty"} for row in (wide, deep)] == [True, True]
    assert deep["losses"]


def test_failures_are_reported_with_position_and_reason(poisoned):
    place, _, ended = poisoned
    told = failed(place / "out")
    assert [(line["url"], line["position"], line["kind"]) for line in told] == [
        (url(number), number, KINDS[poison]) for number, poison in AT.items()
    ]
    words = {line["kind"]: line["reason"] for line in told}
    assert "no tea" in words["internal"]
    assert words["timeout"] == "took longer than 1.5 seconds"
    assert "SIGSEGV" in words["crash"]
    assert words["memory"] == "took more than 300 MB of memory"
    for number in AT:
        assert f"clean: {url(number)}: failed: " in ended.stderr.decode()


def test_summary_adds_up(poisoned):
    place, _, ended = poisoned
    summary = json.loads((place / "s.json").read_text())
    assert summary["pages"] == PAGES + 2 == sum(summary[str(status)] for status in Status)
    assert summary["failed"] == len(AT)
    assert summary["bytes"] > 10_000_000
    assert summary["seconds"] > 0
    assert f"failed         {len(AT)}     crash 1, internal 1, memory 1, timeout 1" in ended.stderr.decode()


def test_failed_pages_are_retried_into_the_same_directory(poisoned):
    place, _, _ = poisoned
    before = tree(place / "out")
    again = ("--retry", place / "out" / "failed.jsonl", "-j", 1, "--allow-code")
    assert clean(*again, "--timeout", 2, "--memory", 300).returncode == 1  # without options the same model is used
    assert [line["kind"] for line in failed(place / "out", "retry-1-")] == [KINDS[poison] for poison in AT.values()]
    ended = clean(*again, "--model", "default")
    assert ended.returncode == 0, ended.stderr.decode()
    after = tree(place / "out")
    assert {name: after[name] for name in before} == before
    found = [json.loads(line) for line in after["retry-2-part-0000000.jsonl"].splitlines()]
    assert [row["url"] for row in found] == [url(number) for number in AT]
    assert {row["status"] for row in found} == {"kept"}
    assert after["retry-2-failed.jsonl"] == b""
    assert b"the run is already complete" in clean(*again, "--model", "default").stderr
    assert tree(place / "out") == after


def test_page_above_the_memory_limit_fails_alone(tmp_path):
    large = response(url(1), b"<p>" + b"tea " * 7_000_000)
    write_warc(tmp_path / "a.warc.gz", [response(url(0), page(0)), large, response(url(2), page(2))])
    ended = clean(tmp_path / "a.warc.gz", "-j", 1, "--memory", 20, "-o", tmp_path / "out", "--to", "jsonl")
    assert ended.returncode == 1, ended.stderr
    before, large, behind = (row["kind"] for row in rows(tmp_path / "out"))
    assert (before, behind) == ("", "")
    assert large in {"memory", "parse"}  # libxml2 does not always report that memory ran out
    assert b"Traceback" not in ended.stderr


def test_crash_in_one_file_fails_only_that_file(model, tmp_path):
    for number in range(6):
        (tmp_path / "in" / "deep").mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / "deep" / f"{number}.html").write_bytes(page(number, "CRASHES" if number == 2 else ""))
    ended = clean("in", "--model", model, "--allow-code", "-j", 1, "-o", "out", cwd=tmp_path)
    assert ended.returncode == 1
    texts = sorted(path.name for path in (tmp_path / "out" / "deep").iterdir())
    assert texts == ["0.txt", "1.txt", "3.txt", "4.txt", "5.txt"]
    assert failed(tmp_path / "out")[0]["source"] == "in/deep/2.html"


def clean_alone(archive, out, **options):
    """Clean an archive with one worker, and return the kinds of problems."""
    plan = Plan((str(archive),), out, "jsonl", **options)
    run_plan(plan, io.StringIO(), quiet=True)
    return [row["kind"] for row in rows(out)]


def test_worker_that_exits_is_replaced(model, tmp_path):
    crawl(tmp_path / "a.warc.gz", 4, {1: "LEAVES"})
    method = Method(model=str(model), allow_code=True)
    kinds = clean_alone(tmp_path / "a.warc.gz", tmp_path / "out", method=method, limits=Limits(deadline=3.0))
    assert kinds == ["", "crash", "", ""]


def start_badly(flag: Path, times: int) -> int:
    """Start a worker that fails the first few times."""
    with flag.open("a") as file:
        file.write("x")
    if flag.stat().st_size <= times:
        os._exit(1)
    return 0


def double(number: int, report) -> int:
    report(number)
    return 2 * number


class Double(Task):
    """A task that is tried again if its worker dies."""

    heard_numbers = ()

    def __init__(self, number):
        super().__init__(double, number)

    def heard(self, message):
        self.heard_numbers += (message,)

    def died(self, problem):
        return self


def run_all(workers, tasks):
    """Run tasks, and return their results."""
    waiting = list(tasks)
    while not all(task.is_done for task in tasks):
        assert workers.step(lambda worker: waiting.pop(0) if waiting else None)
    return [task.result for task in tasks]


@pytest.mark.parametrize("breaks", [0, 1, 3])
def test_workers_that_start_badly_are_started_again(tmp_path, breaks):
    tasks = [Double(number) for number in range(5)]
    with Workers(partial(start_badly, tmp_path / "starts", breaks), Limits(jobs=2)) as workers:
        assert run_all(workers, tasks) == [0, 2, 4, 6, 8]
    assert [task.heard_numbers for task in tasks] == [(0,), (1,), (2,), (3,), (4,)]


@pytest.mark.parametrize(("tasks", "starts"), [(4, 2), (5, 3)])
def test_worker_is_replaced_after_many_tasks(tmp_path, monkeypatch, tasks, starts):
    monkeypatch.setattr(pool, "RECYCLE", 2)
    with Workers(partial(start_badly, tmp_path / "starts", 0), Limits(jobs=1)) as workers:
        run_all(workers, [Double(number) for number in range(tasks)])
    assert (tmp_path / "starts").stat().st_size == starts


def test_queued_tasks_run_first(tmp_path):
    with Workers(partial(start_badly, tmp_path / "starts", 0), Limits(jobs=1)) as workers:
        first = Double(7)
        workers.queue.append(first)
        assert run_all(workers, [Double(1)]) == [2]
        assert first.result == 14


@pytest.mark.skipif("forkserver" not in multiprocessing.get_all_start_methods(), reason="there is no fork server")
def test_killed_server_that_starts_workers_is_replaced(tmp_path, monkeypatch):
    monkeypatch.setattr(pool, "RECYCLE", 1)
    with Workers(partial(start_badly, tmp_path / "starts", 0), Limits(jobs=1)) as workers:
        for number in range(3):
            assert run_all(workers, [Double(number)]) == [2 * number]
            os.kill(forkserver._forkserver._forkserver_pid, signal.SIGKILL)


def test_workers_start_before_there_are_tasks_for_them(tmp_path):
    with Workers(partial(start_badly, tmp_path / "starts", 0), Limits(jobs=3), at_once=2) as workers:
        run_all(workers, [Double(1)])
        assert [worker is not None for worker in workers._slots] == [True, True, False]


def test_workers_that_never_start_end_the_run(tmp_path):
    with (
        pytest.raises(VictorError, match="workers crash repeatedly, whatever their task"),
        Workers(partial(start_badly, tmp_path / "starts", 1_000), Limits(jobs=1)) as workers,
    ):
        run_all(workers, [Double(1)])
    assert (tmp_path / "starts").stat().st_size == MOST_RESTARTS + 1


def hang(report):
    while True:
        time.sleep(1)


def test_silent_worker_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(pool, "PATIENCE", 0.5)
    with Workers(partial(start_badly, tmp_path / "starts", 0), Limits(jobs=1, deadline=5.0)) as workers:
        (problem,) = run_all(workers, [Task(hang)])
    assert problem == (Kind.CRASH, "the worker was ended by SIGKILL")


def wait(seconds, report):
    set_deadline(0.2)
    time.sleep(seconds)
    return "done"


def compute(report):
    set_deadline(0.2)
    while True:
        pass


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        (Task(wait, 0.5), "done"),  # as on a busy machine
        (Task(wait, 60), (Kind.TIMEOUT, "took longer than 0.2 seconds")),
        (Task(compute), (Kind.TIMEOUT, "took longer than 0.2 seconds")),
    ],
    ids=["waits", "waits too long", "computes"],
)
def test_deadline_is_cpu_time(tmp_path, task, expected):
    with Workers(partial(start_badly, tmp_path / "starts", 0), Limits(jobs=1, deadline=0.2)) as workers:
        assert run_all(workers, [task]) == [expected]


def fail(report):
    raise OSError(28, "No space left on device")


def test_error_in_a_worker_is_raised_here(tmp_path):
    with (
        pytest.raises(OSError, match="No space left"),
        Workers(partial(start_badly, tmp_path / "starts", 0), Limits(jobs=1)) as workers,
    ):
        run_all(workers, [Task(fail)])


def test_step_of_a_part_is_tried_once_more():
    ended = []
    step = _Step(SimpleNamespace(go_on=lambda: ended.append(1)), fail)
    problem = Problem(Kind.CRASH, "the worker was ended by SIGTERM")
    assert step.died(problem) is step
    assert (step.is_done, ended) == (False, [])
    assert step.died(problem) is None
    assert (step.result, ended) == (problem, [1])


def test_log_ignores_a_torn_end(tmp_path):
    path = tmp_path / "a.log"
    with Log(path) as log:
        for number in range(3):
            log.add(Record(str(number), Path("a"), payload=b"page"), Outcome(Status.KEPT, "tea"))
    whole = path.read_bytes()
    for torn in (whole[:-1], whole + b"\1\0", whole[:-3] + b"xyz"):
        path.write_bytes(torn)
        count = 3 if torn.startswith(whole) else 2
        assert len(list(read_log(path))) == count
        with Log(path) as log:
            assert log.tally.pages == count
            log.add(Record("new", Path("a")), Outcome(Status.KEPT, "tea"))
        assert [record.name for record, _ in read_log(path)] == [*map(str, range(count)), "new"]


def test_stored_records_are_the_same_again(tmp_path):
    path = tmp_path / "a.log"
    record = Record(
        *("\udcff", Path("a/\udcff"), Path("\udcff.html"), b"", "http://tea.example/\ud800"),
        **{"codings": ("gzip", "br"), "origin": Origin("a", 7, True), "problem": Problem(Kind.READ, "tea")},
        **{"content_type": "text/html", "reached": 9, "is_text": True},
    )
    ended = Outcome(
        *(Status.REPLICA, "tea \U0001d517", Kind.UNSURE, "why", ("lost",), 0.5),
        **{"labels": {"other": 2}, "columns": {"terms": [["tea", 0.25]]}, "repeats": {"url": "b"}},
        signed=(Signed(b"\xff\0", 3),),
    )
    with Log(path) as log:
        log.add(record, ended)
    assert list(read_log(path)) == [(record, ended)]
    page = replace(record, payload="tea\n\ud800\0".encode("utf-8", "surrogatepass"), problem=None, file=None)
    assert unpack(pack(page)) == page
    assert page.read() == "tea\n\ud800\0"


def test_finished_log_ends_with_its_segment(tmp_path):
    path = tmp_path / "a.log"
    segment = Segment(Stretch(0), Stretch(0, 1, 0, 64), (1, 0), 700, {"pages": 2})
    assert Segment.load(path) is None
    with Log(path) as log:
        for number in range(2):
            log.add(Record(str(number), Path("a")), Outcome(Status.KEPT, "tea"))
        assert Segment.load(path) is None
        log.end(segment)
    assert Segment.load(path) == segment
    assert [record.name for record, _ in read_log(path)] == ["0", "1"]
    whole = path.read_bytes()
    for damaged in (whole[:-1], whole[:20] + b"?" + whole[21:]):
        path.write_bytes(damaged)
        assert Segment.load(path) is None


# Reading in workers.


def test_large_page_in_a_table_is_skipped(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    pages = [page(0), b"<p>" + b" " * 60_000_000, page(1)]
    pq.write_table(pa.table({"html": pages}), tmp_path / "a.parquet", row_group_size=1)
    assert clean_alone(tmp_path / "a.parquet", tmp_path / "out") == ["", "too-large", ""]


def test_crash_while_reading_keeps_the_records_before_it(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({"url": url(n), "html": page(n).decode()}) + "\n" for n in range(5)))
    (tmp_path / "b.html").write_bytes(page(9))
    inputs = str(path), str(tmp_path / "b.html")
    plan = Plan(inputs, tmp_path / "out", "jsonl", read=ReadOptions(html_field=CrashingName("html")))
    run_plan(plan, io.StringIO(), quiet=True)
    *before, rest, other = rows(tmp_path / "out")
    assert [row["status"] for row in before] == ["kept"] * len(before)
    assert (rest["kind"], rest["position"]) == ("crash", len(before))
    assert rest["reason"] == "the rest of the file was not read: the worker was ended by SIGSEGV"
    assert other["status"] == "kept"
    (line,) = failed(tmp_path / "out")
    assert line["rest"]
