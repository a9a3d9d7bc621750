"""Guarded workers: a poisoned page fails on its own, is reported with a reason, and can be retried."""

import json
import multiprocessing
import os
import signal
from functools import partial
from multiprocessing import forkserver
from pathlib import Path

import pytest
from support.batchpages import crawl, failed, page, poison_model, response, rows, tree, url, write_warc
from support.commands import ENVIRONMENT, ROOT, clean, clean_process

from victorpy.batch.local import guard
from victorpy.batch.local.guard import MOST_RESTARTS, Guard, Task, clean_batch, cleaning_guard
from victorpy.batch.plan import Limits, Plan
from victorpy.batch.record import Kind, Problem, Record, Status
from victorpy.errors import VictorError, install_command
from victorpy.methods import Method

pytestmark = pytest.mark.processes

process = pytest.importorskip("pebble.pool.process")
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
        *("--timeout", 4, "--memory", 300, "-o", place / "out", "--to", "jsonl", "--summary", place / "s.json"),
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
    assert words["timeout"] == "took longer than 4 seconds"
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


def test_worker_that_exits_is_replaced(model):
    records = [Record(str(number), None, payload=page(number, "LEAVES" * (number == 1))) for number in range(3)]
    tasks = [Task(clean_batch, records), Task(clean_batch, records[:1])]
    with cleaning_guard(Plan(method=Method(model=str(model), allow_code=True), limits=Limits(deadline=3.0))) as workers:
        found = [[outcome.kind for outcome in outcomes] for _, outcomes in workers.map(tasks)]
    assert found == [[None, Kind.TIMEOUT, None], [None]]


def start_badly(flag: Path, times: int, _memory: int) -> None:
    """Start a worker that breaks its pool the first few times."""
    with flag.open("a") as file:
        file.write("x")
    if flag.stat().st_size <= times:
        raise RuntimeError("no worker today")


def double(numbers: list[int]) -> list[int]:
    return [2 * number for number in numbers]


@pytest.mark.parametrize("breaks", [1, 3])
def test_unfinished_tasks_run_again_in_a_new_pool(tmp_path, breaks):
    tasks = [Task(double, [number, number + 1]) for number in range(0, 10, 2)]
    with Guard(partial(start_badly, tmp_path / "starts", breaks), Limits(jobs=1)) as workers:
        found = [outcomes for _, outcomes in workers.map(tasks)]
    assert found == [[0, 2], [4, 6], [8, 10], [12, 14], [16, 18]]


def test_a_pool_is_replaced_between_tasks(tmp_path):
    with Guard(partial(start_badly, tmp_path / "starts", 0), Limits(jobs=1)) as workers:
        first, second, third = tasks = [Task(double, [number]) for number in range(3)]
        for task in tasks[:2]:
            workers.submit(task)
        assert workers.result(first) == [0]
        workers.stop()  # as if all workers had died
        workers.submit(third)
        assert [workers.result(second), workers.result(third)] == [[2], [4]]


@pytest.mark.skipif("forkserver" not in multiprocessing.get_all_start_methods(), reason="there is no fork server")
def test_killed_server_that_starts_workers_is_replaced(tmp_path, monkeypatch):
    monkeypatch.setattr(guard, "PATIENCE", 3)
    with Guard(partial(start_badly, tmp_path / "starts", 0), Limits(jobs=1, deadline=3)) as workers:
        for number in range(3):
            task = Task(double, [number])
            workers.submit(task)
            os.kill(forkserver._forkserver._forkserver_pid, signal.SIGKILL)
            assert workers.result(task) == [2 * number]


def test_pool_that_cannot_start_at_once_is_started_again(tmp_path, monkeypatch):
    launch, failures = process.launch_process, [EOFError(), OSError()]

    def launch_later(*arguments):
        if failures:
            raise failures.pop()
        return launch(*arguments)

    monkeypatch.setattr(process, "launch_process", launch_later)
    with Guard(partial(start_badly, tmp_path / "starts", 0), Limits(jobs=1)) as workers:
        assert [outcomes for _, outcomes in workers.map([Task(double, [1])])] == [[2]]


def test_workers_that_never_start_end_the_run(tmp_path):
    with (
        pytest.raises(VictorError, match="workers crash repeatedly, whatever their task"),
        Guard(partial(start_badly, tmp_path / "starts", 1_000), Limits(jobs=1)) as workers,
    ):
        list(workers.map([Task(double, [1])]))
    assert (tmp_path / "starts").stat().st_size == MOST_RESTARTS + 1


def test_without_pebble_only_one_process_cleans_files(model, tmp_path):
    (tmp_path / "pebble.py").write_text("raise ImportError('none here')")
    (tmp_path / "a.html").write_bytes(page(1))
    environment = {**ENVIRONMENT, "PYTHONPATH": f"{tmp_path}:{ROOT}"}
    one = clean_process("a.html", "--summary", "s.json", "-j", 1, "-o", "out/", cwd=tmp_path, env=environment)
    assert one.returncode == 0
    assert b"without guarded" in one.stderr
    assert (tmp_path / "out" / "a.txt").stat().st_size
    (tmp_path / "many").mkdir()
    for number in range(60):
        (tmp_path / "many" / f"{number}.html").write_bytes(page(number))
    many = clean_process("many", "-o", "texts", cwd=tmp_path, env=environment)
    assert (many.returncode, b"without guarded" in many.stderr) == (0, True)
    assert len(list((tmp_path / "texts").glob("*.txt"))) == 60
    two = clean_process("a.html", "-j", 2, "-o", "other/", cwd=tmp_path, env=environment)
    assert two.returncode == 2
    assert f"needs Pebble: {install_command('batch')}".encode() in two.stderr


def test_memory_problem_from_reading_is_kept():
    told = Problem(Kind.MEMORY, "read in vain")
    record = Record("a.jsonl", Path("a.jsonl"), problem=told)
    with cleaning_guard(Plan()) as workers:
        ((_, (outcome,)),) = workers.map([Task(clean_batch, [record])])
    assert (outcome.kind, outcome.reason) == tuple(told)
