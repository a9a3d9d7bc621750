"""Runs in this process that are interrupted at any page, and what a resumed, retried or repeated run writes."""

import contextlib
import io
import json
import re
import shutil
from pathlib import Path

import pytest
from support.batchpages import cut_manifest, failed, rows, tree
from support.commands import write_files
from support.snapshots import check, digest

from victorpy.batch.local.logs import Segment
from victorpy.batch.local.progress import Progress
from victorpy.batch.local.run import run_plan
from victorpy.batch.outcome import PageCleaner
from victorpy.batch.plan import Dedup, Filters, Plan
from victorpy.batch.store import Store
from victorpy.errors import DataError, OutputError
from victorpy.methods import Method

SITES = ("tea.example", "cup.example", "pot.example")
WORDS = ("leaves", "water", "milk", "kettle", "garden", "harbour", "winter", "morning")


def html(number):
    """A page of one of three sites. Every fifth page repeats another one, and every seventh is empty."""
    if number % 7 == 6:
        return ""
    own = number - 2 if number % 5 == 4 else number
    text = " ".join(f"{WORDS[(own * step) % 8]} {WORDS[(own + step) % 8]} {own}{step}." for step in range(1, 9))
    return f"<title>Page {own}</title><ul><li>Home<li>News</ul><p>{text}<p>All of this is about tea.<div>Imprint</div>"


def lines(*numbers):
    records = ({"url": f"http://{SITES[number % 3]}/{number}", "html": html(number)} for number in numbers)
    return "".join(json.dumps(record) + "\n" for record in records)


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    broken = '"torn"\n' + json.dumps({"html": 5}) + "\n"
    files = {
        "a.jsonl": lines(*range(11)),
        "b.jsonl": broken + lines(*range(11, 30)),
        "p/c.html": html(31),
        "p/d.html": html(32),
    }
    return write_files(tmp_path, files)


def run(to="jsonl", out="out", force=False, **options):
    """Run a plan, and return its messages."""
    stream = io.StringIO()
    settings = {"inputs": ("a.jsonl", "b.jsonl", "p"), "method": Method("everything"), "shard_records": 4, **options}
    summary = run_plan(Plan(output=out, to=to, **settings), stream, guarded=False, force=force)
    times = {"seconds", "cpu", "runs", "seconds-now", "cpu-now"}
    shown = {name: value for name, value in summary.items() if name not in times}
    return f"{stream.getvalue()}{json.dumps(shown)}"


def output(out="out"):
    """The files of a run, but for hidden ones that the next run needs."""
    return {name: content for name, content in tree(Path(out)).items() if not re.match(r"\.(?!victor)", name)}


def interrupt(monkeypatch, after):
    """Stop the run at a page, as ^C does."""
    cleaned = []
    clean = PageCleaner.clean

    def count(self, *arguments):
        if len(cleaned) == after:
            raise KeyboardInterrupt
        cleaned.append(1)
        return clean(self, *arguments)

    monkeypatch.setattr(PageCleaner, "clean", count)


KINDS = {
    "jsonl": {},
    "folder": {"shard_records": None},
    "dedup": {"to": "jsonl", "dedup": Dedup("pages")},
    "longest": {"to": "jsonl.gz", "dedup": Dedup("pages", keep="longest", drop=True)},
    "sites": {"to": "jsonl", "by_site": True, "method": Method("sst", ("t=0.4",)), "sample": 4},
    "half": {"to": "jsonl", "part": (2, 2)},
    "filters": {"to": "jsonl", "filters": Filters(min_words=30)},
}


@pytest.mark.parametrize("kind", KINDS)
def test_interrupted_runs_are_resumed(place, kind):
    options = {"to": kind, **KINDS[kind]}
    found = {"messages": re.sub(r"\d+\.\d+ s", "N s", run(**options))}
    expected = output()
    found |= {
        name: digest(content.decode("latin-1"))
        for name, content in expected.items()
        if "part" in name and "gz" not in name
    }
    for after in (1, 16):
        with pytest.MonkeyPatch.context() as patch:
            interrupt(patch, after)
            with contextlib.suppress(KeyboardInterrupt):
                run(out="again", **options)
        message = run(out="again", **options)
        found[f"after {after}"] = message.partition("{")[0]
        assert output("again") == expected
        shutil.rmtree("again")
    check("runs", kind, found)


@pytest.mark.parametrize(
    ("inputs", "reading"), [(("p",), "2 pages"), (("p", "b.jsonl"), "4,786 bytes"), (("p/c.html",), "1 page")]
)
def test_runs_report_pages_or_the_bytes_of_larger_files(place, inputs, reading):
    assert run(inputs=inputs).startswith(f"clean: reading {reading}\n")


@pytest.mark.parametrize("kind", ["jsonl", "dedup", "sites"])
def test_runs_that_end_with_a_part_are_resumed_after_it(place, kind):
    options = {"to": kind, **KINDS[kind]}
    run(**options)
    with pytest.MonkeyPatch.context() as patch:
        commit, parts = Store.commit, []

        def commit_two(self, *arguments):
            if len(parts) == 2:
                raise KeyboardInterrupt
            commit(self, *arguments)
            parts.append(1)

        patch.setattr(Store, "commit", commit_two)
        with pytest.raises(KeyboardInterrupt):
            run(out="again", **options)
    run(out="again", **options)
    assert output("again") == output()


def test_damaged_log_of_a_run_that_compares_pages_stops_it(place, monkeypatch):
    monkeypatch.setattr(Segment, "load", lambda log: None)
    with pytest.raises(OutputError, match=r"\.log: the file is damaged; --force cleans all pages again$"):
        run(dedup=Dedup("pages"))


def test_message_of_an_interrupted_run(place, monkeypatch):
    interrupt(monkeypatch, 6)
    stream = io.StringIO()
    with pytest.raises(KeyboardInterrupt):
        run_plan(
            Plan(("a.jsonl",), "out", "jsonl", method=Method("everything"), shard_records=4), stream, guarded=False
        )
    lines = stream.getvalue().splitlines()
    assert lines[0].startswith("clean: reading ")
    assert lines[1:] == [
        "clean: stopped: 4 pages are written to out, and 2 finished pages kept in out/.segments; "
        "run the same command to resume"
    ]
    (*_, last) = (place / "out" / ".runs").read_text().splitlines()
    assert json.loads(last)["pages"] == 4  # progress is reported at the end of a stretch


@pytest.mark.parametrize("force", [False, True])
def test_finished_pages_of_files_that_have_changed_are_cleaned_again(place, force):
    with pytest.MonkeyPatch.context() as patch:
        interrupt(patch, 6)
        with pytest.raises(KeyboardInterrupt):
            run(inputs=("a.jsonl",))
    assert list(Path("out/.segments").iterdir())
    (place / "a.jsonl").write_text(lines(*range(50, 61)))
    run(inputs=("a.jsonl",), force=force)
    run(inputs=("a.jsonl",), out="fresh")
    assert output() == output("fresh")


def test_time_of_an_interrupted_run_counts_even_if_it_has_written_nothing(place, monkeypatch):
    interrupt(monkeypatch, 6)
    with pytest.raises(KeyboardInterrupt):
        run(dedup=Dedup("pages"))
    assert not list(Path("out").glob("part-*"))
    assert [json.loads(line)["pages"] for line in Path("out/.runs").read_text().splitlines()] == [4]


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_killed_runs_are_resumed_after_any_part(place, count):
    run()
    expected = output()
    cut_manifest(place / "out", count)
    message = run()
    assert output() == expected
    assert (f"out: resuming after {4 * (count - 1)} pages" in message) is (count > 1)


@pytest.mark.parametrize("to", ["jsonl", "folder"])
def test_retry_cleans_what_has_failed(place, to):
    run(to)
    failures = [(row["source"], row["position"], row["kind"]) for row in failed(place / "out")]
    assert [failure[:2] for failure in failures] == [("b.jsonl", 0), ("b.jsonl", 1)]
    (place / "b.jsonl").write_text(lines(40, 42))
    message = run(to, retry=place / "out" / "failed.jsonl", inputs=())
    assert '"kept": 2' in message
    names = sorted(name for name in output() if "retry-1-" in name)
    assert [name.rpartition("/")[2] for name in names if "part" in name] == ["retry-1-part-0000000.jsonl"]
    if to == "jsonl":
        assert [row["url"] for row in rows(place / "out", "retry-1-")] == [
            f"http://{SITES[n % 3]}/{n}" for n in (40, 42)
        ]


def test_changed_inputs_are_cleaned_again_and_others_are_not(place):
    run()
    (place / "a.jsonl").write_text(lines(50, 51))
    messages = run()
    assert "new or changed input files: 1 of 4; only their pages are cleaned again" in messages
    updated = output()
    shutil.rmtree("out")
    run()
    assert output() == updated
    (place / "p" / "d.html").unlink()
    with pytest.raises(
        OutputError, match="out: 1 input files of the last run are gone; bring them back, or use --force"
    ):
        run()
    assert '"pages": 24' in run(force=True)


def test_plain_runs_over_pages(place):
    def plain(**options):
        return run("folder", inputs=("p",), plain=True, shard_records=None, **options).partition("{")[0]

    assert plain() == ""
    assert plain() == "clean: all 2 pages are unchanged since the last run; --force cleans them again\n"
    assert plain(force=True) == ""
    (place / "p" / "c.html").write_text(html(33))
    assert plain() == "clean: new or changed input files: 1 of 2; only their pages are cleaned again\n"
    assert sorted(path.name for path in (place / "out").glob("*.txt")) == ["c.txt", "d.txt"]
    assert plain(format="markdown") == "clean: the texts of the last run (text) are replaced\n"
    assert sorted(path.name for path in (place / "out").glob("*.*")) == [".victor", "c.md", "d.md"]


def test_stream_of_pages(place):
    found = []
    for options in ({}, {"dedup": Dedup("pages")}):
        stream = io.StringIO()
        plan = Plan(("a.jsonl",), method=Method("everything"), **options)
        summary = run_plan(
            plan,
            stream,
            lambda record, outcome: found.append((record.origin.position, str(outcome.status))),
            guarded=False,
        )
        found.append({name: summary[name] for name in ("pages", "kept", "empty", "replica")})
    kept = [(n, "empty" if n == 6 else "kept") for n in range(11)]
    assert found[:12] == [*kept, {"pages": 11, "kept": 10, "empty": 1, "replica": 0}]
    replicas = [(n, "replica" if n in {4, 9} else status) for n, status in kept]
    assert found[12:] == [*replicas, {"pages": 11, "kept": 8, "empty": 1, "replica": 2}]


def test_nothing_to_read(place):
    with pytest.raises(DataError, match=r"nothing.jsonl: cannot be read: No such file or directory"):
        run(inputs=("nothing.jsonl",))
    with pytest.raises(OutputError, match=r"a.jsonl: this is a file; give a directory for many pages"):
        run(out="a.jsonl")
    assert not (place / "out").exists()


def test_progress_of_a_resumed_run(place, monkeypatch):
    run()
    cut_manifest(place / "out", 4)
    skipped = []
    skip = Progress.skip
    monkeypatch.setattr(
        Progress, "skip", lambda self, counts, count: skipped.append((counts.pages, count)) or skip(self, counts, count)
    )
    run()
    assert skipped == [(12, (place / "a.jsonl").stat().st_size)]


def test_texts_of_a_folder_are_written_before_their_part(place, monkeypatch):
    interrupt(monkeypatch, 25)
    stream = io.StringIO()
    with pytest.raises(KeyboardInterrupt):
        run_plan(Plan(("a.jsonl", "b.jsonl"), "out", method=Method("everything")), stream, guarded=False)
    assert stream.getvalue().splitlines()[-1] == (
        "clean: stopped: 20 pages are written to out, and 5 finished pages kept in out/.segments; "
        "run the same command to resume"
    )
    assert len(list((place / "out").rglob("*.txt"))) == 18
