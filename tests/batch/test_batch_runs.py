"""Whole runs: parts, resuming after any break, the same bytes whatever happened, and places that cannot be written."""

import gzip
import io
import itertools
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import pytest
from support.batchpages import (
    crawl,
    cut_manifest,
    failed,
    page,
    poisoned_site,
    refused,
    response,
    rows,
    tree,
    url,
    write_warc,
)
from support.commands import (
    ENVIRONMENT,
    ROOT,
    clean,
    clean_process,
    kill_clean_when,
    left_of,
    manifest_has,
    names_in,
    wait_until,
    write_files,
)
from support.sitepages import FOOTER, MENU

from victorpy.batch.local.by_site import Sites
from victorpy.batch.local.pool import Here
from victorpy.batch.local.progress import Progress
from victorpy.batch.local.run import run_plan
from victorpy.batch.local.stretches import start_worker
from victorpy.batch.outcome import Outcome
from victorpy.batch.plan import Limits, Plan
from victorpy.batch.record import Record, Status
from victorpy.batch.sinks import SINKS, Folder
from victorpy.batch.site_model import at_site_bytes, from_bytes
from victorpy.batch.store import Store
from victorpy.cleaner import read_document
from victorpy.errors import DataError, install_command
from victorpy.methods import Method
from victorpy.outputs import find_output

pytestmark = pytest.mark.processes

pytest.importorskip("fastwarc")
pytest.importorskip("zstandard")
pytest.importorskip("pyarrow")

PAGES = 60


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """An archive with good pages, a page that fails, a record that is not a page, and an empty page."""
    path = tmp_path_factory.mktemp("crawl") / "crawl.warc.gz"
    records = [response(url(number), page(number)) for number in range(PAGES)]
    records[7] = response(url(7), bytes(range(256)) * 20)
    records[8] = response(url(8), b"\x89PNG", "image/png")
    records[9] = response(url(9), b"<html></html>")
    write_warc(path, records)
    return path


COMMAND = ("--to", "jsonl.gz", "--shard-records", 7)


@pytest.fixture(scope="module")
def finished(archive, tmp_path_factory):
    """The directory of an unbroken run with one worker, and its summary."""
    out = tmp_path_factory.mktemp("whole") / "out"
    ended = clean(archive, "-o", out, *COMMAND, "-j", 1, "--summary", out.parent / "s.json")
    assert ended.returncode == 1, ended.stderr.decode()
    return out, json.loads((out.parent / "s.json").read_text())


@pytest.fixture(scope="module")
def whole(finished):
    """The output of that run."""
    return tree(finished[0])


@pytest.fixture
def copy(finished, tmp_path):
    """A copy of it."""
    shutil.copytree(finished[0], tmp_path / "copy")
    return tmp_path / "copy"


def test_two_workers_give_the_same_bytes_as_one(archive, whole, tmp_path):
    clean(archive, "-o", tmp_path, *COMMAND, "-j", 2)
    assert tree(tmp_path) == whole


def test_every_record_is_written_and_counted_once(finished):
    out, summary = finished
    found = rows(out)
    assert [row["url"] for row in found] == [url(number) for number in range(PAGES)]
    assert [found[number]["status"] for number in (6, 7, 8, 9)] == ["kept", "failed", "skipped", "empty"]
    assert [(found[number]["kind"]) for number in (7, 8)] == ["decode", "not-html"]
    counted = {"kept": PAGES - 3, "empty": 1, "skipped": 1, "failed": 1, "replica": 0}
    assert {str(status): summary[str(status)] for status in Status} == counted
    assert summary["pages"] == PAGES
    row = found[0]
    assert row["digest"].startswith("sha256:")
    assert row["title"]
    assert sum(row["labels"].values()) > 5
    assert 0 < row["probability"] <= 1
    assert [line["url"] for line in failed(out)] == [url(7)]


def test_finished_parts_are_not_written_again(archive, copy):
    before = {path: path.stat().st_mtime_ns for path in copy.glob("part-*")}
    ended = clean(archive, "-o", copy, *COMMAND, "-j", 2)
    assert ended.returncode == 1
    assert b"the run is already complete" in ended.stderr
    assert f"clean: {url(7)}: failed: " in ended.stderr.decode()
    assert {path: path.stat().st_mtime_ns for path in copy.glob("part-*")} == before


@pytest.mark.parametrize(
    ("inputs", "options", "said"),
    [
        (
            None,
            ["--favor", "recall", "-f", "markdown"],
            "--favor was not given and is recall; --format was text",
        ),
        ("typo.warc.gz", [], "the list of inputs differs"),
    ],
)
def test_another_command_into_the_same_directory_is_refused(archive, copy, whole, inputs, options, said):
    refused(said, inputs or archive, "-o", copy, *COMMAND, "-j", 1, *options)
    assert tree(copy) == whole


def test_second_run_into_a_locked_directory_is_refused(archive, tmp_path):
    (tmp_path / "manifest.jsonl").touch()
    import fcntl

    with (tmp_path / "manifest.jsonl").open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        refused("another run is writing there", archive, "-o", tmp_path, *COMMAND, "-j", 1)


@pytest.mark.parametrize("broken_after", [0, 4])
def test_resume_after_a_torn_manifest_gives_the_same_bytes(archive, whole, tmp_path, broken_after):
    """Simulate a kill after some parts: half a line in the manifest, leftovers, and unlisted parts."""
    for name, content in whole.items():
        (tmp_path / name).write_bytes(content)
    lines = whole["manifest.jsonl"].splitlines(keepends=True)
    (tmp_path / "manifest.jsonl").write_bytes(b"".join(lines[: 1 + broken_after]) + lines[1 + broken_after][:20])
    (tmp_path / "failed.jsonl").write_bytes(whole["failed.jsonl"] + b"half a li")
    (tmp_path / ".segments").mkdir()
    (tmp_path / ".segments" / f"part-{broken_after:07d}.jsonl.gz.tmp").write_bytes(b"torn")
    (tmp_path / ".segments" / f"{0:09d}-{broken_after:07d}.log").write_bytes(b"torn")
    ended = clean(archive, "-o", tmp_path, *COMMAND, "-j", 2)
    assert ended.returncode == 1
    assert tree(tmp_path) == whole


def test_pages_with_the_same_name_keep_their_files_after_resume(tmp_path):
    write_warc(tmp_path / "a.warc.gz", [response(url(0), page(number)) for number in range(4)])
    command = ("a.warc.gz", "-o", "out", "--to", "folder", "--shard-records", 1, "-j", 1)
    clean(*command, cwd=tmp_path)
    whole = tree(tmp_path / "out")
    cut_manifest(tmp_path / "out", 3)
    clean(*command, cwd=tmp_path)
    assert tree(tmp_path / "out") == whole


@pytest.fixture(scope="module")
def in_one_member(archive, tmp_path_factory):
    """The same pages, compressed together, the directory of a run over them, and its command."""
    place = tmp_path_factory.mktemp("member")
    (place / "crawl.warc.gz").write_bytes(gzip.compress(gzip.decompress(archive.read_bytes()), mtime=0))
    command = (place / "crawl.warc.gz", "--to", "jsonl.gz", "--shard-records", 1, "-j", 1)
    assert clean(*command, "-o", place / "out").returncode == 1
    return place / "out", command


def test_pages_compressed_together_are_the_same_pages(in_one_member, finished):
    ours, theirs = rows(in_one_member[0]), rows(finished[0])
    places = {"source", "position"}
    assert [{**row, **dict.fromkeys(places)} for row in ours] == [{**row, **dict.fromkeys(places)} for row in theirs]
    assert [row["position"] for row in ours] == list(range(PAGES))


def test_run_over_pages_compressed_together_resumes_and_retries(in_one_member, tmp_path):
    out, command = in_one_member
    shutil.copytree(out, tmp_path / "copy")
    cut_manifest(tmp_path / "copy", 31)
    assert clean(*command, "-o", tmp_path / "copy").returncode == 1
    assert tree(tmp_path / "copy") == tree(out)
    assert [(line["url"], line["position"], line["rest"]) for line in failed(out)] == [(url(7), 7, False)]
    clean("--retry", "failed.jsonl", "-j", 1, cwd=tmp_path / "copy")
    assert [row["url"] for row in rows(tmp_path / "copy", "retry-1-")] == [url(7)]


def test_truncated_archive_fails_at_its_end(in_one_member, tmp_path):
    content = Path(in_one_member[1][0]).read_bytes()
    (tmp_path / "t.warc.gz").write_bytes(content[: len(content) * 3 // 4])
    ended = clean("t.warc.gz", "-o", "out", *COMMAND, "-j", 1, cwd=tmp_path)
    found = rows(tmp_path / "out")
    assert ended.returncode == 1
    assert (found[-1]["status"], found[-1]["kind"], found[-1]["position"]) == ("failed", "damaged", len(found) - 1)
    assert [row["url"] for row in found[:-1]] == [url(number) for number in range(len(found) - 1)]
    assert len(found) > PAGES // 4


def test_empty_files_are_reported(tmp_path):
    for name in ("a.warc.gz", "b.jsonl"):
        (tmp_path / name).touch()
    assert (
        b"empty files, which have no pages: a.warc.gz\n"
        in clean("a.warc.gz", "-o", "one", "--to", "jsonl", "-j", 1, cwd=tmp_path).stderr
    )
    ended = clean("a.warc.gz", "b.jsonl", "-o", "two", "--to", "jsonl", "-j", 1, cwd=tmp_path)
    assert (ended.returncode, b"which have no pages: a.warc.gz, and 1 more\n" in ended.stderr) == (0, True)


def test_run_that_cannot_start_leaves_no_directory(archive, tmp_path):
    command = ("-o", "out", *COMMAND, "-j", 2)
    for output in (command, ("-o", "all.md"), ()):
        ended = clean("typo.warc.gz", *output, cwd=tmp_path)
        assert (ended.returncode, ended.stderr.decode()) == (
            2,
            "clean: typo.warc.gz: cannot be read: No such file or directory\n",
        )
    for package in ("fastwarc",):
        (tmp_path / package).mkdir()
        (tmp_path / package / f"{package}.py").write_text("raise ImportError")
        path = os.pathsep.join([str(tmp_path / package), ENVIRONMENT.get("PYTHONPATH", "")])
        ended = clean_process(archive, *command, cwd=tmp_path, env={**ENVIRONMENT, "PYTHONPATH": path})
        assert (ended.returncode, install_command("batch").encode() in ended.stderr) == (2, True), ended.stderr
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "all.md").exists()
    assert clean(archive, "-o", "out", "--to", "jsonl", "-j", 2, cwd=tmp_path).returncode == 1


@pytest.mark.parametrize("to", ["jsonl.gz", "folder"])
def test_resume_after_kill_gives_the_same_bytes(archive, whole, tmp_path, to):
    options = ("--to", to, "--shard-records", 7, "-j", 2)
    if to == "folder":
        clean(archive, "-o", tmp_path / "whole", *options)
        whole = tree(tmp_path / "whole")
    out = tmp_path / "out"
    sessions = [kill_clean_when(manifest_has(out, lines), archive, "-o", out, *options) for lines in (1, 4)]
    assert clean(archive, "-o", out, *options).returncode == 1
    assert tree(out) == whole
    wait_until(lambda: not left_of(sessions))  # workers do not outlive the run


# what it is written to


def test_folder_has_files_by_name_and_an_index(archive, tmp_path):
    clean(archive, "-o", tmp_path, "--to", "folder", "-f", "markdown", "-j", 1)
    assert (tmp_path / "courier.example" / "news" / "0.md").read_text().startswith("#")
    index = [json.loads(line) for line in (tmp_path / "_index" / "part-0000000.jsonl").read_text().splitlines()]
    assert [row["file"] for row in index[6:11]] == [
        "courier.example/news/6.md",
        "",
        "",
        "courier.example/news/9.md",
        "courier.example/news/10.md",
    ]
    assert "text" not in index[0]


@pytest.mark.parametrize("to", ["jsonl", "jsonl.zst", "parquet"])
def test_lines_and_tables_have_the_same_rows(archive, whole, tmp_path, to):
    expected = [
        json.loads(line)
        for name in sorted(whole)
        if name.startswith("part")
        for line in gzip.decompress(whole[name]).splitlines()
    ]
    out = tmp_path / f"corpus.{to}"
    clean(archive, "-o", f"{out}/", "-j", 1)
    (part,) = out.glob("part-*")
    if to == "parquet":
        import pyarrow.parquet

        found = pyarrow.parquet.read_table(part).to_pylist()
        for row in found:
            row["labels"] = {label: count for label, count in sorted(row["labels"].items()) if count}
    else:
        content = part.read_bytes()
        if to == "jsonl.zst":
            import zstandard

            content = zstandard.ZstdDecompressor().decompressobj().decompress(content)
        found = [json.loads(line) for line in content.splitlines()]
    assert found == expected


@pytest.mark.parametrize("to", ["warc", "warc.gz"])
def test_texts_become_conversion_records(archive, tmp_path, to):
    from fastwarc.warc import ArchiveIterator

    clean(archive, "-o", tmp_path, "--to", to, "-j", 1)
    with (tmp_path / f"part-0000000.{to}").open("rb") as file:
        found = [(each.headers.to_dict(), each.reader.read().decode()) for each in ArchiveIterator(file)]
    assert found[0][0]["WARC-Type"] == "warcinfo"
    assert len(found) == 1 + PAGES - 3
    headers, text = found[1]
    assert headers["WARC-Type"] == "conversion"
    assert (headers["WARC-Target-URI"], headers["WARC-Refers-To"]) == (url(0), f"<urn:test:{url(0)}>")
    assert (headers["WARC-Date"], headers["Content-Type"]) == ("2024-05-06T07:08:09Z", "text/plain")
    assert len(text.split()) > 10
    assert len({headers["WARC-Record-ID"] for headers, _ in found}) == len(found)


def test_archive_is_cleaned_to_standard_output_or_one_file(archive, tmp_path):
    ended = clean(archive, "-q")
    assert ended.returncode == 1
    assert ended.stdout.count(b"==> http") == PAGES - 3
    joined = clean(archive, "-q", "-f", "jsonl", "-o", tmp_path / "pages.jsonl")
    assert joined.returncode == 1
    lines = [json.loads(line) for line in (tmp_path / "pages.jsonl").read_text().splitlines()]
    assert [line["url"] for line in lines[:3]] == [url(0), url(1), url(2)]
    assert len(lines) == PAGES - 2  # with the empty page
    clean(archive, "-q", "-f", "text,markdown", "-o", tmp_path / "both.jsonl")
    both = [json.loads(line) for line in (tmp_path / "both.jsonl").read_text().splitlines()]
    assert [{**line, "markdown": None, "blocks": None} for line in both] == [
        {**line, "markdown": None, "blocks": None} for line in lines
    ]
    assert all(line["markdown"] for line in both if line["text"])


def test_json_lines_are_read_and_written(tmp_path):
    content = "".join(json.dumps({"address": url(n), "raw": page(n).decode()}) + "\n" for n in range(5))
    (tmp_path / "in.jsonl.gz").write_bytes(gzip.compress(content.encode()))
    fields = ("--html-field", "raw", "--url-field", "address")
    ended = clean("in.jsonl.gz", *fields, "-o", "out.jsonl/", "-j", 1, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert [row["url"] for row in rows(tmp_path / "out.jsonl")] == [url(number) for number in range(5)]


def test_directory_named_like_json_lines_has_json_lines(tmp_path):
    write_pages(tmp_path / "in", 2)
    ended = clean("in", "-o", "out.jsonl/", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert len(rows(tmp_path / "out.jsonl")) == 2


def write_pages(directory, count):
    directory.mkdir(exist_ok=True)
    for number in range(count):
        (directory / f"{number}.html").write_bytes(page(number))


def test_batch_output_is_not_overwritten_by_another_command(tmp_path):
    write_pages(tmp_path / "in", 3)
    assert clean("in", "-o", "out", "-j", 1, "-q", cwd=tmp_path).returncode == 0
    written = tree(tmp_path / "out")
    refused("contains the output of another command", "in/0.html", "-o", "out", cwd=tmp_path)
    assert tree(tmp_path / "out") == written


def test_interrupted_plain_run_is_resumed(tmp_path, monkeypatch):
    write_pages(tmp_path / "in", 20)
    out = tmp_path / "out"
    plan = Plan((str(tmp_path / "in"),), out, shard_records=6, plain=True)
    commit = Store.commit

    def commit_two(store, *part):
        if len(store.parts) == 2:
            raise KeyboardInterrupt
        commit(store, *part)

    monkeypatch.setattr(Store, "commit", commit_two)
    with pytest.raises(KeyboardInterrupt):
        run_plan(plan, io.StringIO(), guarded=False)
    monkeypatch.undo()
    stream = io.StringIO()
    summary = run_plan(plan, stream, guarded=False)
    assert summary["pages-now"] <= 8
    assert sum(run["pages"] for run in summary["runs"]) == 20
    assert "resuming after " in stream.getvalue()
    assert names_in(out) == sorted(f"{number}.txt" for number in range(20))


def test_closed_pipe_ends_the_run_quietly(archive):
    archives = f"'{archive}' " * 4  # more text than a pipe holds
    command = f"'{sys.executable}' '{ROOT / 'clean.py'}' {archives} -q | head -1; echo ${{PIPESTATUS[0]}}"
    ended = subprocess.run(["bash", "-c", command], check=False, capture_output=True, env=ENVIRONMENT, timeout=120)
    assert ended.stdout == f"==> {url(0)} <==\n141\n".encode()
    assert b"ipe" not in ended.stderr


def test_closed_standard_streams_do_not_change_the_output(archive, whole, tmp_path):
    ended = clean_process(archive, "-o", tmp_path, *COMMAND, "-j", 1, preexec_fn=lambda: os.closerange(0, 3))
    assert ended.returncode == 1
    assert tree(tmp_path) == whole


# places that cannot be written


def test_unwritable_summary_is_reported_before_cleaning(archive, tmp_path):
    refused("--summary", archive, "-o", tmp_path / "out", *COMMAND, "--summary", tmp_path)
    assert not (tmp_path / "out").exists()


def small_disk(size):
    """Limit the size of files, which fails like a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def test_run_resumes_after_a_full_disk(archive, whole, tmp_path):
    ended = clean_process(archive, "-o", tmp_path, *COMMAND, "-j", 1, preexec_fn=lambda: small_disk(2_000))
    assert ended.returncode == 2
    assert b"File too large" in ended.stderr
    assert b"run the same command to resume" in ended.stderr
    assert b"Traceback" not in ended.stderr
    assert clean(archive, "-o", tmp_path, *COMMAND, "-j", 1).returncode == 1
    assert tree(tmp_path) == whole


@pytest.mark.parametrize("target", ["/dev/null/out", "/proc/out", "file"])
def test_unwritable_output_is_reported_in_one_line(archive, tmp_path, target):
    (tmp_path / "file").write_text("precious")
    refused(target, archive, "-o", target, "--to", "jsonl", "-j", 1, cwd=tmp_path)
    assert (tmp_path / "file").read_text() == "precious"


def test_input_pages_are_never_overwritten(tmp_path):
    write_pages(tmp_path, 3)
    refused("choose another output", ".", "-f", "html", "-o", ".", "-j", 1, "-q", cwd=tmp_path)
    assert [(tmp_path / f"{number}.html").read_bytes() for number in range(3)] == [page(number) for number in range(3)]


def test_page_is_written_beside_input_pages(tmp_path):
    write_files(tmp_path, {"out/in/a.html": page(1)})
    sink = Folder("folder", tmp_path / "out", find_output("html"))
    sink.protect([f"{tmp_path}/out/in"])
    for name, is_refused in (("a.html", False), ("in/a.html", True)):
        items = [(Record(name, Path(name)), Outcome(Status.KEPT, "<p>Tea"))]
        with pytest.raises(DataError, match="would be overwritten") if is_refused else nullcontext():
            sink.write(tmp_path / "index", items)
    assert (tmp_path / "out" / "a.html").read_text().endswith("<p>Tea")


def test_input_files_are_never_overwritten_and_results_never_read(tmp_path):
    crawl(tmp_path / "in" / "a.warc.gz", 3)
    (tmp_path / "lines.jsonl").write_text(json.dumps({"html": page(1).decode()}))
    refused("would be overwritten", "lines.jsonl", "-f", "jsonl", "-o", "lines.jsonl", cwd=tmp_path)
    assert (tmp_path / "lines.jsonl").read_text().startswith('{"html"')
    assert clean("in", "--to", "warc.gz", "-o", "in", "-j", 1, cwd=tmp_path).returncode == 2
    for _ in range(2):
        ended = clean("in", "--to", "warc.gz", "-o", "in/out", "-j", 1, cwd=tmp_path)
        assert ended.returncode == 0, ended.stderr
    assert b"the run is already complete" in ended.stderr


def test_hostile_addresses_are_written_below_the_folder(tmp_path):
    records = [
        response("http://evil.example/../../../etc/x", page(0)),
        response("http://evil.example/a%2f..%2f..%2fb", page(1)),
        response("http://evil.example/same", page(2)),
        response("http://evil.example/same", page(3)),
        response("http://../up", page(4)),
        response("http://evil.example/" + "y" * 3000, page(5)),
        response("http://evil.example/dir", page(6)),
        response("http://evil.example/dir.txt/under", page(7)),
        response("not an address", page(8)),
    ]
    write_warc(tmp_path / "evil.warc.gz", records)
    ended = clean("evil.warc.gz", "-o", "deep/out", "--to", "folder", "-j", 1, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr.decode()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["deep", "evil.warc.gz"]
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["out"]
    assert len([path for path in (tmp_path / "deep" / "out").rglob("*.txt") if path.is_file()]) == len(records)


# site by site


@pytest.fixture(scope="module")
def two_sites(tmp_path_factory):
    path = tmp_path_factory.mktemp("sites") / "sites.warc.gz"
    hosts = ["courier.example", "shop.example"]
    write_warc(path, [response(f"http://{hosts[n % 2]}/{n}", page(n)) for n in range(40)])
    return path


@pytest.mark.parametrize("method", ["sst", "site"])
def test_sites_are_learned_and_cleaned_separately(two_sites, tmp_path, method):
    options = ("--by-site", "--method", method, "--to", "jsonl", "--shard-records", 15)
    ended = clean(two_sites, "-o", tmp_path / "one", *options, "-j", 1)
    assert ended.returncode == 0, ended.stderr.decode()
    found = rows(tmp_path / "one")
    assert sorted(row["url"] for row in found) == sorted(f"http://{h}/{n}" for n, h in enumerate(HOSTS))
    assert [row["url"].split("/")[2] for row in found] in (sorted(HOSTS), sorted(HOSTS, reverse=True))
    assert {row["status"] for row in found} == {"kept"}
    assert not [row for row in found if FOOTER in row["text"] or MENU[0] in row["text"]]
    clean(two_sites, "-o", tmp_path / "two", *options, "-j", 2)
    assert tree(tmp_path / "two") == tree(tmp_path / "one")
    cut_manifest(tmp_path / "two", 2)
    clean(two_sites, "-o", tmp_path / "two", *options, "-j", 1)
    assert tree(tmp_path / "two") == tree(tmp_path / "one")


HOSTS = ["courier.example", "shop.example"] * 20


def spill(inputs, directory, progress):
    plan = Plan((str(inputs),))
    with Here(partial(start_worker, plan, None, is_guarded=False)) as pool:
        Sites(plan, directory, progress, pool).spill()


@pytest.mark.parametrize(("options", "changes"), [((), 10), (("--site-key", "host"), 4)])
def test_site_is_a_domain_or_a_host(tmp_path, options, changes):
    """The pages of a site come in the order of the inputs, which here changes the host with every page."""
    names = ("www.tea.co.uk", "news.tea.co.uk", "tea.co.uk", "www.shop.example")
    write_warc(tmp_path / "a.warc", [response(f"http://{name}/{n}", page(n)) for n in range(3) for name in names])
    command = ("a.warc", "--by-site", "--method", "sst", "--to", "jsonl", "-j", 1, "-o", "out")
    assert clean(*command, *options, cwd=tmp_path).returncode == 0
    hosts = [row["url"].split("/")[2] for row in rows(tmp_path / "out")]
    assert (len(hosts), len(list(itertools.groupby(hosts)))) == (12, changes)
    if not options:
        refused("--site-key was domain and is host", *command, "--site-key", "host", cwd=tmp_path)


def test_bad_page_does_not_fail_its_site(tmp_path):
    poison = {3: "CRASHES", 30: "HANGS"}
    records = [response(f"http://courier.example/{n}", page(n, poison.get(n, ""))) for n in range(35)]
    records.append(response("http://alone.example/", page(9)))
    records.append(response("http://courier.example/png", b"", "image/png"))
    write_warc(tmp_path / "a.warc.gz", records)
    out = tmp_path / "out"
    plan = Plan(
        *((str(tmp_path / "a.warc.gz"),), out, "jsonl"),
        **{"make": poisoned_site, "method": Method("sst"), "by_site": True, "limits": Limits(2, deadline=1.0)},
    )
    summary = run_plan(plan, io.StringIO())
    assert (summary["kept"], summary["skipped"], summary["failed"]) == (33, 1, 3)
    kinds = {row["url"].removeprefix("http://"): (row["kind"], row["reason"]) for row in rows(out) if row["kind"]}
    assert kinds["courier.example/3"][0] == "crash"
    assert kinds["courier.example/30"][0] == "timeout"
    assert kinds["courier.example/png"][0] == "not-html"
    assert "two pages are wanted" in kinds["alone.example/"][1]


@pytest.mark.parametrize("method", ["sst", "site"])
def test_site_model_excludes_shared_parts(method):
    base = Method(method).load()
    documents = [read_document(page(number), base.config) for number in range(6)]
    at_site = base.at_site(documents)
    content = at_site_bytes(at_site, base)
    assert len(content) < 200_000
    loaded = from_bytes(Method(method).load(), content)
    assert loaded.clean(page(7)) == at_site.clean(page(7))


def test_retried_page_is_cleaned_with_its_site(tmp_path):
    """After the page is mended, a retry without options uses the site and the method of the first run."""
    bad = bytes(range(256)) * 9
    harmed = [response(f"http://{HOSTS[n]}/{n}", bad if n == 6 else page(n)) for n in range(20)]
    mended = [*harmed[:6], response(f"http://{HOSTS[6]}/6", page(6).ljust(len(bad))), *harmed[7:]]
    write_warc(tmp_path / "a.warc", harmed)
    out = tmp_path / "out.jsonl"
    ended = clean(tmp_path / "a.warc", "-o", f"{out}/", "--by-site", "--method", "sst", "--param", "t=0.5", "-j", 1)
    assert ended.returncode == 1, ended.stderr
    assert len(rows(out)) == 20
    write_warc(tmp_path / "a.warc", mended)
    ended = clean("--retry", out / "failed.jsonl", "-j", 1)
    assert ended.returncode == 0, ended.stderr
    (found,) = rows(out, "retry-1-")
    assert (found["url"], found["status"]) == (f"http://{HOSTS[6]}/6", "kept")
    assert FOOTER not in found["text"]
    assert MENU[0] not in found["text"]
    assert json.loads((out / "retry-1-manifest.jsonl").read_text().splitlines()[0])["choice"]["parameters"] == ["t=0.5"]
    moved = tmp_path / "failed.jsonl"
    shutil.copy(out / "failed.jsonl", moved)
    refused("needs the run's manifest", "--retry", moved, "--by-site", "-o", tmp_path / "again")


def test_missing_file_is_retried_completely(tmp_path):
    (tmp_path / "c.html").write_bytes(page(7))
    ended = clean("a.warc.gz", "b.jsonl", "c.html", "-o", "out", "--to", "jsonl", "-j", 1, cwd=tmp_path)
    assert (ended.returncode, [row["status"] for row in rows(tmp_path / "out")]) == (1, ["failed", "failed", "kept"])
    crawl(tmp_path / "a.warc.gz", 5)
    (tmp_path / "b.jsonl").write_text("".join(json.dumps({"url": url(n), "html": "<p>tea"}) + "\n" for n in (5, 6)))
    again = ("--retry", "out/failed.jsonl", "--shard-records", 3, "-j", 1)
    clean(*again, cwd=tmp_path)
    assert [row["url"] for row in rows(tmp_path / "out", "retry-1-")] == [url(number) for number in range(7)]
    clean("--retry", "out/failed.jsonl", "-o", "elsewhere", "-j", 1, cwd=tmp_path)  # as what the output was made of
    assert rows(tmp_path / "elsewhere", "retry-1-") == rows(tmp_path / "out", "retry-1-")
    whole = tree(tmp_path / "out")
    cut_manifest(tmp_path / "out", 2, "retry-1-")  # in the middle of a file
    clean(*again, cwd=tmp_path)
    assert tree(tmp_path / "out") == whole


def test_full_disk_for_a_site_model_stops_the_run_without_failures(two_sites, tmp_path):
    options = ("--by-site", "--method", "sst", "--to", "jsonl", "-j", 1)
    progress = Progress(io.StringIO(), quiet=True)
    spill(two_sites, tmp_path / "out" / ".spill", progress)  # the disk had room for this
    ended = clean_process(two_sites, "-o", tmp_path / "out", *options, preexec_fn=lambda: small_disk(5_000))
    assert ended.returncode == 2, ended.stderr
    assert (tmp_path / "out" / ".spill" / "done").exists()
    assert not list((tmp_path / "out" / ".spill").glob("*model*"))
    assert b"run the same command to resume" in ended.stderr
    assert ended.stderr.count(b"\n") == 2
    assert rows(tmp_path / "out") == []
    assert clean(two_sites, "-o", tmp_path / "out", *options).returncode == 0
    assert {row["status"] for row in rows(tmp_path / "out")} == {"kept"}


@pytest.mark.parametrize(
    ("options", "said"),
    [(["--method", "sst"], "add --by-site"), (["--by-site", "--method", "default"], "does not learn from sites")],
)
def test_by_site_needs_a_method_that_learns_from_sites(two_sites, tmp_path, options, said):
    refused(said, two_sites, "-o", tmp_path / "out", *options)


# what it says


def test_sorting_pages_and_learning_sites_show_progress(two_sites, tmp_path):
    stream = io.StringIO()
    plan = Plan((str(two_sites),), method=Method("sst"))
    with Here(partial(start_worker, plan, None, is_guarded=False)) as pool:
        list(Sites(plan, tmp_path / "spill", Progress(stream, interval=0.0), pool).groups(16, None))
    assert "sorting pages by site: 40 pages" in stream.getvalue()
    assert "40 read to learn sites" in stream.getvalue()


def test_unread_lines_beside_pages_are_reported(tmp_path):
    for name in ("in/a.html", "in/b.jsonl", "in/deep/c.parquet"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(page(1))
    ended = clean("in", "-j", 1, "-o", "out", cwd=tmp_path)
    assert b"in/b.jsonl: not read, as all lines and tables beside pages or archives" in ended.stderr
    (tmp_path / "in" / "deep" / "c.parquet").unlink()
    (tmp_path / "in" / "a.html").unlink()
    assert b"not read" not in clean("in", "-j", 1, "-o", "other", "--to", "jsonl", cwd=tmp_path).stderr


def test_help_has_a_group_for_many_pages():
    shown = clean("--help").stdout.decode()
    assert "many pages (docs/guides/batch.md):" in shown
    assert shown.index("--jobs") > shown.index("many pages (")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-", "-j", 2], "a batch run does not read standard input"),
        (["x.warc.gz", "--timeout", 0, "-o", "out"], "--timeout must be above 0, not 0"),
        (["x.warc.gz", "--jobs", -3, "-o", "out"], "--jobs must be above 0, not -3"),
        (["x.html", "--jobs", 0], "--jobs must be above 0, not 0"),
        (["x.html", "--timeout", 0], "--timeout must be above 0, not 0"),
        (["x.warc.gz", "--by-site", "--sample", 0, "-o", "out"], "--sample must be above 0, not 0"),
        (["x.warc.gz", "--to", "parkett", "-o", "out"], "(did you mean 'parquet'?)"),
        (["x.warc.gz", "--retry", "f"], "leave out x.warc.gz"),
        (["x.warc.gz", "--to", "jsonl"], "give -o DIRECTORY"),
    ],
)
def test_wrong_usage_is_reported_in_one_line(tmp_path, arguments, said):
    crawl(tmp_path / "x.warc.gz", 2)
    refused(said, *arguments, cwd=tmp_path)


@pytest.mark.parametrize("kind", ["jsonl", "jsonl.gz", "jsonl.zst"])
def test_part_of_several_pieces_opens_as_one_file(tmp_path, kind):
    sink = SINKS.get(kind)(kind, tmp_path, find_output("text"))
    pieces = [tmp_path / f"{number}.piece" for number in range(3)]
    for number, piece in enumerate(pieces):
        sink.write(piece, [(Record(f"page {number}", Path()), Outcome(Status.KEPT, "Tea."))])
    part = tmp_path / f"part.{kind}"
    sink.join(part, pieces)
    zstandard = pytest.importorskip("zstandard")
    opened = {"jsonl": Path.open, "jsonl.gz": gzip.open, "jsonl.zst": zstandard.open}[kind]
    with opened(part, "rb") as file:
        names = [json.loads(line)["name"] for line in file.read().splitlines()]
    assert names == [row["name"] for row in sink.rows(part)] == ["page 0", "page 1", "page 2"]
