"""Runs that are stopped: by signals, by kills, and because their output directory disappears."""

import contextlib
import io
import json
import os
import pickle
import re
import shutil
import signal
import struct
import subprocess
import sys
import zlib

import pytest
from support.batchpages import crawl, page, poison_model, tree
from support.commands import (
    ENVIRONMENT,
    ROOT,
    clean,
    cpu_seconds,
    left_of,
    manifest_has,
    start_clean,
    wait_until,
    write_files,
)
from support.terminal import Terminal

from victorpy.batch.local.logs import Log, Segment, Stretch, log_length, piece_checksum
from victorpy.batch.local.pool import _worker_environment
from victorpy.batch.local.run import run_plan
from victorpy.batch.local.signals import Stopped, check_signals, stopping_signals, waiting
from victorpy.batch.plan import Dedup, Plan
from victorpy.batch.store import Store
from victorpy.cleaner import Cleaner
from victorpy.config import load_config
from victorpy.document import Label, Labelling
from victorpy.errors import DataError, OutputError, plural
from victorpy.labellers.base import SiteLabeller
from victorpy.methods import Method

pytest.importorskip("fastwarc")
pytest.importorskip("zstandard")
pytest.importorskip("pyarrow")

PAGES = 20


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    path = tmp_path_factory.mktemp("crawl") / "crawl.warc.gz"
    crawl(path, PAGES)
    return path


class Acting(SiteLabeller):
    """A method that keeps everything, and does something before it labels a certain page."""

    act, at, count = None, -1, 0

    def fit(self, documents, labels=None):
        list(documents)
        return self

    def label(self, document):
        Acting.count += 1
        if Acting.count == Acting.at:
            Acting.act()
        return Labelling(tuple(Label.PARAGRAPH for _ in document.blocks))


def acting_cleaner():
    return Cleaner(Acting(), load_config("blocks"))


def run(inputs, out, to, act=None, at=-1, write=None, **options):
    """Clean in this process, and return the messages. Call `act` before cleaning page number `at`."""
    Acting.act, Acting.at, Acting.count = staticmethod(act), at, 0
    plan = Plan((str(inputs),), out, to, method=Method("sst"), make=acting_cleaner, shard_records=8, **options)
    stream = io.StringIO()
    with contextlib.suppress(Stopped):
        run_plan(plan, stream, write, guarded=False)
    return stream.getvalue()


def signal_myself(number=signal.SIGTERM):
    os.kill(os.getpid(), number)


@pytest.mark.parametrize(
    ("left", "is_kept"),
    [("", False), ("part", True), (".segments/1.log", True), (".segments/1.spill", True), (".previous/part", True)],
)
def test_only_a_run_that_has_written_nothing_gives_its_directory_back(tmp_path, left, is_kept):
    store = Store(tmp_path / "out", {})
    store.begin({})
    if left:
        write_files(tmp_path / "out", {left: "x"})
    store.parts += [left] if left == "part" else []
    store.give_back()
    store.close()
    assert (tmp_path / "out").exists() == is_kept


def test_resumed_run_keeps_its_directory(tmp_path):
    for begins in (True, False):
        store = Store(tmp_path / "out", {})
        if begins:
            store.begin({})
        else:
            store.give_back()
        store.close()
    assert (tmp_path / "out" / "manifest.jsonl").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_are_handled_where_the_run_waits(number):
    before = signal.getsignal(number)
    with stopping_signals():
        signal.raise_signal(number)  # nothing happens yet
        with pytest.raises(Stopped) as stopped:
            check_signals()
        assert stopped.value.number == number
        with pytest.raises(Stopped), waiting():
            pass
        assert signal.getsignal(number) is signal.SIG_DFL  # a second signal ends the process
    assert signal.getsignal(number) is before
    for context in (stopping_signals(anywhere=True), stopping_signals()):
        with context:
            check_signals()
            with pytest.raises(Stopped), waiting():
                signal.raise_signal(number)
    with stopping_signals(anywhere=True):
        with stopping_signals(), waiting():
            pass
        with pytest.raises(Stopped):
            signal.raise_signal(number)


@stopping_signals(anywhere=True)
def failing_import(number=None):
    with contextlib.suppress(Stopped):
        if number:
            signal.raise_signal(number)
    raise ImportError("numpy")


def test_interrupted_import_raises_stopped():
    with pytest.raises(Stopped) as stopped:
        failing_import(signal.SIGTERM)
    assert stopped.value.number == signal.SIGTERM
    with pytest.raises(ImportError):
        failing_import()


def test_ctrl_c_while_a_worker_starts_is_handled_afterwards_and_not_by_the_worker():
    code = "import os, signal; os.kill(os.getpid(), signal.SIGINT); print('alive')"
    with stopping_signals():
        with _worker_environment():
            signal_myself(signal.SIGINT)
            worker = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
        with pytest.raises(Stopped):
            check_signals()
    assert worker.stdout == b"alive\n"


@pytest.mark.parametrize("to", ["folder", "jsonl", "jsonl.gz", "jsonl.zst", "parquet", "warc.gz"])
def test_finished_pages_are_written_and_resumed(archive, tmp_path, to):
    run(archive, tmp_path / "whole", to)
    for at, written, kept in ((6, 0, 5), (9, 8, 5), (1, 8, 5)):
        said = run(archive, tmp_path / "out", to, signal_myself, at)
        assert f"written to {tmp_path / 'out'}, and {plural(kept, 'finished page')} kept in " in said
        assert f"stopped: {written} pages are " in said
        assert not list(tmp_path.rglob("*.tmp"))
    run(archive, tmp_path / "out", to)
    assert tree(tmp_path / "out") == tree(tmp_path / "whole")


@pytest.mark.parametrize(
    ("options", "written", "kept"), [({"dedup": Dedup("fingerprint")}, 0, 17), ({"by_site": True}, 16, 1)]
)
def test_other_runs_resume_too(archive, tmp_path, options, written, kept):
    run(archive, tmp_path / "whole", "jsonl", **options)
    said = run(archive, tmp_path / "out", "jsonl", signal_myself, 18, **options)
    assert f"{written} pages are written to {tmp_path / 'out'}, and {plural(kept, 'finished page')} kept in " in said
    run(archive, tmp_path / "out", "jsonl", **options)
    assert tree(tmp_path / "out") == tree(tmp_path / "whole")


@pytest.mark.parametrize("harm", [lambda content: content[:-9], lambda content: content + b"half a page"])
def test_log_that_was_torn_is_continued(archive, tmp_path, harm):
    run(archive, tmp_path / "whole", "jsonl")
    run(archive, tmp_path / "out", "jsonl", signal_myself, 4)
    (log,) = (tmp_path / "out" / ".segments").glob("*.log")
    log.write_bytes(harm(log.read_bytes()))
    assert "resuming after" in run(archive, tmp_path / "out", "jsonl")
    assert tree(tmp_path / "out") == tree(tmp_path / "whole")


class Evil:
    """Does something when it is unpickled."""

    def __reduce__(self):
        return os.abort, ()


def as_frame(content):
    return struct.pack("<II", len(content), zlib.crc32(content)) + content


EVIL = [
    *(pickle.dumps(Evil()), b"end " + pickle.dumps(Evil()), zlib.compress(pickle.dumps(Evil()))),
    *(b"end [1, 2]", b"[" * 100_000, b'{"name": 3}', b"[]", b"", b"end ", b"x", b"\x28\xb5\x2f\xfd"),
]


@pytest.mark.parametrize("content", EVIL, ids=lambda content: repr(content[:12]))
@pytest.mark.parametrize("options", [{}, {"by_site": True}], ids=["pages", "sites"])
def test_run_directory_of_a_stranger_runs_no_code(archive, tmp_path, content, options):
    run(archive, tmp_path / "whole", "jsonl", **options)
    run(archive, tmp_path / "out", "jsonl", signal_myself, 14, **options)
    temporary = [path for path in (tmp_path / "out").rglob(".*/*") if path.suffix in {".log", ".spill", ".model"}]
    assert temporary
    for path in temporary:
        path.write_bytes(as_frame(content) if path.suffix != ".model" else content)
    with contextlib.suppress(DataError):  # what is damaged can also be cleaned again
        run(archive, tmp_path / "out", "jsonl", **options)
        assert tree(tmp_path / "out") == tree(tmp_path / "whole")


@pytest.mark.parametrize(
    ("file", "harm"),
    [
        ("manifest.jsonl", lambda text: text.replace('"_index/part-0000000.jsonl"', '"../victim"')),
        ("manifest.jsonl", lambda text: text.replace('"_index/part-0000000.jsonl"', f'"{os.sep}victim"')),
        ("manifest.jsonl", lambda text: text.replace('"last"', '"first"')),
        ("manifest.jsonl", lambda text: text.replace('"part"', '"parts"')),
        ("_index/part-0000000.jsonl", lambda text: re.sub('"file": "[^"]+"', '"file": "../victim"', text, count=1)),
        ("_index/part-0000000.jsonl", lambda text: re.sub('"position": [0-9]', '"position": null', text, count=1)),
        ("_index/part-0000000.jsonl", lambda text: text.replace('"kind": ""', '"kind": "tea"')),
        ("_index/part-0000000.jsonl", lambda text: text[:-9]),
    ],
)
def test_damaged_list_of_a_run_is_refused(tmp_path, file, harm):
    pages = [tmp_path / "in" / f"{number}.html" for number in range(4)]
    write_files(tmp_path / "in", {path.name: page(number) for number, path in enumerate(pages)})
    plan = Plan((str(tmp_path / "in"),), tmp_path / "out", "folder", method=Method("everything"))
    run_plan(plan, io.StringIO(), guarded=False)
    (tmp_path / "victim").write_text("tea")
    os.utime(tmp_path / "victim", (0, 0))  # older than the run, as its own files are
    listing = tmp_path / "out" / file
    whole = listing.read_text()
    listing.write_text(harm(whole))
    assert listing.read_text() != whole
    pages[3].write_text("<p>Another page.")
    with pytest.raises((DataError, OutputError), match="damaged: "):
        run_plan(plan, io.StringIO(), guarded=False)
    assert (tmp_path / "victim").read_text() == "tea"


def test_piece_that_was_damaged_is_not_used(tmp_path):
    log, piece = tmp_path / "a.log", tmp_path / "a.piece"
    piece.write_bytes(b"Tea.")
    segment = Segment(Stretch(0), Stretch(0, 1), (0, 16), 4, {"pages": 16}, piece_checksum(log))
    with Log(log) as file:
        file.end(segment)
    assert (Segment.load(log), log_length(log)) == (segment, 16)
    piece.write_bytes(b"Te")
    assert (Segment.load(log), log_length(log)) == (None, 0)
    piece.unlink()
    assert Segment.load(log) is None


def test_stream_gets_the_finished_pages(archive):
    got = []
    run(archive, None, "folder", lambda: signal_myself(signal.SIGINT), 6, lambda record, outcome: got.append(record))
    assert len(got) == 5


@pytest.mark.parametrize("to", ["folder", "jsonl", "parquet"])
@pytest.mark.parametrize("plain", [False, True])
def test_vanished_directory_is_an_error(tmp_path, to, plain):
    write_files(tmp_path / "in", {f"{number}/{number}.html": page(number) for number in range(12)})
    for act in (lambda: shutil.rmtree(tmp_path / "out"), lambda: (tmp_path / "out").rename(tmp_path / "moved")):
        with pytest.raises(OutputError, match="the directory was removed or replaced during the run"):
            run(tmp_path / "in", tmp_path / "out", to, act, 6, plain=plain)
        assert not (tmp_path / "out").exists()
        shutil.rmtree(tmp_path / "out.run", ignore_errors=True)  # the manifest of a table


# Real processes.


@pytest.mark.processes
def test_script_that_starts_a_run_needs_no_guard(archive, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\nfrom victorpy.batch.local.run import run_plan\nfrom victorpy.batch.plan import Plan\n"
        f"print(run_plan(Plan(({str(archive)!r},), {str(tmp_path / 'out')!r}, 'jsonl'), sys.stderr)['pages'])\n"
    )
    command = [sys.executable, str(script)]
    ended = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, check=False)
    assert (ended.stdout, ended.returncode) == (f"{PAGES}\n", 0), ended.stderr


@pytest.fixture(scope="module")
def hanging(tmp_path_factory):
    """Options of a run that hangs at its 101st page, and the output of a run in which this page timed out."""
    place = tmp_path_factory.mktemp("hanging")
    crawl(place / "crawl.warc.gz", 130, {100: "HANGS"})
    options = (
        place / "crawl.warc.gz",
        "--model",
        poison_model(place),
        "--allow-code",
        "--to",
        "jsonl.gz",
        "--shard-records",
        40,
    )
    assert clean(*options, "-j", 2, "--timeout", 1, "-o", place / "whole").returncode == 1
    return options, place / "whole"


def start_hanging(options, out):
    """Start a run, and wait until all pages before the one that hangs are finished."""
    process = start_clean(*options, "-j", 2, "--timeout", 100, "-o", out, stderr=subprocess.PIPE)
    wait_until(manifest_has(out, 3))
    used = cpu_seconds(process.pid)
    # Seconds by the clock would be too short on a busy machine.
    wait_until(lambda: cpu_seconds(process.pid) > used + 1.5)
    return process


def ended(process):
    """Return the exit code and the messages of all processes of a run."""
    stderr = process.communicate(timeout=30)[1].decode()
    wait_until(lambda: not left_of([process.pid]), 10)
    assert not {"Traceback", "resource_tracker", "semaphore"} & set(stderr.replace(":", " ").split()), stderr
    return process.returncode, stderr


@pytest.mark.processes
@pytest.mark.parametrize(("number", "to_all"), [(signal.SIGINT, True), (signal.SIGTERM, False), (signal.SIGTERM, True)])
def test_signals_stop_a_run_with_workers(hanging, tmp_path, number, to_all):
    options, whole = hanging
    process = start_hanging(options, tmp_path)
    (os.killpg if to_all else os.kill)(process.pid, number)
    code, stderr = ended(process)
    assert code == 128 + number
    where = f"80 pages are written to {tmp_path}, and 40 finished pages kept in {tmp_path}/.segments"
    assert stderr.splitlines()[-1].endswith(f"{where}; run the same command to resume")
    assert clean(*options, "-j", 2, "--timeout", 1, "-o", tmp_path).returncode == 1
    assert tree(tmp_path) == tree(whole)


@pytest.mark.processes
def test_workers_of_a_killed_run_end_quietly(hanging, tmp_path):
    options, whole = hanging
    process = start_hanging(options, tmp_path)
    process.kill()
    code, stderr = ended(process)  # although a worker hangs
    assert (code, len(stderr.splitlines())) == (-signal.SIGKILL, 1), stderr  # the line at the start
    assert clean(*options, "-j", 2, "--timeout", 1, "-o", tmp_path).returncode == 1
    assert tree(tmp_path) == tree(whole)


@pytest.mark.processes
def test_terminal_shows_a_bar_at_once(tmp_path):
    write_files(tmp_path / "in", {f"{number}.html": page(number) for number in range(60)})
    command = [sys.executable, str(ROOT / "clean.py"), "in", "-o", "out", "-j", "1", "--log-json", "log"]
    with Terminal(command, 130, 10, ENVIRONMENT, tmp_path) as terminal:
        terminal.wait_for(lambda shown: "0 of 60 pages (0 %)" in shown.text)
        terminal.wait_for(lambda shown: "60 of 60 pages (100 %)" in shown.text)
        assert "60 kept, 0 empty, 0 skipped, 0 failed" in terminal.text
        assert terminal.end() == 0
    events = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert {"event", "time", "total", "unit"} == events[0].keys()
    assert (events[0]["event"], events[-1]["event"], events[-1]["kept"]) == ("start", "end", 60)


def test_log_has_failures_messages_and_the_end(tmp_path):
    write_files(tmp_path, {"in/a.html": page(1), "in/b.html": bytes(range(256)) * 20, "in/c.html": page(3)})
    for _ in range(2):
        clean("in", "-o", "out", "-q", "--log-json", "new/log", cwd=tmp_path)
    clean("in", "-o", "in/a.html/", "--log-json", "new/log", cwd=tmp_path)
    events = [json.loads(line) for line in (tmp_path / "new" / "log").read_text().splitlines()]
    kinds = [event["event"] for event in events]
    assert kinds == ["start", "failed", "message", "end"] * 2 + ["error"]
    assert events[1].items() >= {"source": "in/b.html", "position": 0, "kind": "decode"}.items()
