"""Runs over inputs that have changed: only new and changed files are cleaned, and the output is that of a new run."""

import contextlib
import io
import json
import os
import shutil
from pathlib import Path

import pytest
from support.batchpages import crawl, cut_manifest, failed, page, rows, tree, url
from support.commands import clean, names_in, write_files

from victorpy.batch.local.run import failed_path, run_plan
from victorpy.batch.plan import Dedup, Limits, Plan
from victorpy.batch.store import settings_beside
from victorpy.errors import OutputError
from victorpy.methods import Method

pytest.importorskip("fastwarc")
pytest.importorskip("pyarrow")

PAGES = 11
BAD = bytes(range(256)) * 20  # not a page


def lines(*numbers):
    return "".join(json.dumps({"url": url(number), "html": page(number).decode()}) + "\n" for number in numbers)


def write_table(path, *numbers):
    import pyarrow
    import pyarrow.parquet

    table = {"url": [url(number) for number in numbers], "html": [page(number) for number in numbers]}
    pyarrow.parquet.write_table(pyarrow.table(table), path)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """One input of every kind, with a page and a line that fail."""
    place = tmp_path_factory.mktemp("inputs")
    write_files(place, {"in/b.html": page(1), "in/bad.html": BAD, "in/deep/c.html": page(2)})
    crawl(place / "one.warc.gz", 4)
    (place / "two.jsonl").write_text(lines(10, 11) + "{torn\n" + lines(12))
    return place


@pytest.fixture
def copied(inputs, tmp_path):
    shutil.copytree(inputs, tmp_path, dirs_exist_ok=True)
    return tmp_path


def run(place, to, out="out", force=False, names=("in", "one.warc.gz", "two.jsonl"), **options):
    """Clean all inputs, and return the number of pages that were cleaned, and the messages."""
    stream = io.StringIO()
    with contextlib.chdir(place):
        plan = Plan(tuple(names), Path(out), to, shard_records=4, **{"method": Method("everything"), **options})
        summary = run_plan(plan, stream, guarded=False, force=force)
    return summary["pages-now"], stream.getvalue()


CHANGES = {
    "nothing": (lambda place: None, 0),
    "page": (lambda place: (place / "in" / "b.html").write_bytes(page(7)), 1),
    "new page": (lambda place: (place / "in" / "a.html").write_bytes(page(8)), 1),
    "archive": (lambda place: crawl(place / "one.warc.gz", 6), 6),
    "lines": (lambda place: (place / "two.jsonl").write_text(lines(10, 13)), 2),
    "time": (lambda place: os.utime(place / "two.jsonl", (5, 5)), 4),
    "now bad": (lambda place: (place / "in" / "deep" / "c.html").write_bytes(BAD), 1),
}
KINDS = ("jsonl", "folder", "jsonl.gz", "jsonl.zst", "parquet", "warc")


@pytest.mark.parametrize(
    ("to", "change"), [*(("jsonl", change) for change in CHANGES), *((to, "page") for to in KINDS)]
)
def test_same_command_cleans_what_changed(copied, to, change):
    method = Method() if change == "page" else Method("everything")  # only a model has probabilities
    assert run(copied, to, method=method)[0] == PAGES
    make_change, count = CHANGES[change]
    make_change(copied)
    cleaned, said = run(copied, to, method=method)
    assert cleaned == (PAGES if to == "warc" else count)
    assert "already complete" in said if change == "nothing" else "new or changed input files: 1 of" in said
    run(copied, to, "fresh", method=method)
    assert tree(copied / "out") == tree(copied / "fresh")


def test_changed_table_is_noticed(tmp_path):
    write_table(tmp_path / "a.parquet", 20, 21)
    write_table(tmp_path / "b.parquet", 22)
    run(tmp_path, "jsonl", names=["a.parquet", "b.parquet"])
    write_table(tmp_path / "a.parquet", 20, 25, 26)
    assert run(tmp_path, "jsonl", names=["a.parquet", "b.parquet"])[0] == 3
    assert [row["url"] for row in rows(tmp_path / "out")] == [url(number) for number in (20, 25, 26, 22)]


def test_rows_of_unchanged_tables_are_used_once(tmp_path):
    """A stretch ends between two row groups, in the first run and in the update."""
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pyarrow.table({"html": [f"<p>Tea {number}" for number in range(40)]})
    parquet.write_table(table, tmp_path / "a.parquet", row_group_size=2)
    write_table(tmp_path / "b.parquet", 22)
    names = ["b.parquet", "a.parquet"]
    run(tmp_path, "jsonl", names=names)
    write_table(tmp_path / "b.parquet", 25, 26)
    assert run(tmp_path, "jsonl", names=names)[0] == 2
    run(tmp_path, "jsonl", "fresh", names=names)
    assert tree(tmp_path / "out") == tree(tmp_path / "fresh")
    assert [row["position"] for row in rows(tmp_path / "out")] == [0, 1, *range(40)]


def test_inputs_in_another_order_or_named_twice_are_not_lost(copied):
    """Rows are used again only in the order of the inputs."""
    (copied / "list").write_text("one.warc.gz\ntwo.jsonl\nin\n")
    run(copied, "jsonl", names=["@list"])
    for content in (
        "in\ntwo.jsonl\none.warc.gz\n",
        "in\ntwo.jsonl\none.warc.gz\nin\ntwo.jsonl\n",
        "in\ntwo.jsonl\none.warc.gz\nin/b.html\n",
    ):
        (copied / "list").write_text(content)
        run(copied, "jsonl", names=["@list"])
        run(copied, "jsonl", f"fresh{len(content)}", names=["@list"])
        assert tree(copied / "out") == tree(copied / f"fresh{len(content)}")


def test_interrupted_update_continues(copied):
    run(copied, "folder")
    CHANGES["page"][0](copied)
    previous = tree(copied / "out")
    run(copied, "folder", "fresh")
    run(copied, "folder")  # and now as if this update had been killed after its first part
    write_files(copied / "out" / ".previous", {name: previous[name] for name in previous if "_index" in name})
    write_files(
        copied / "out" / ".previous", {"manifest.jsonl": previous["manifest.jsonl"], "inputs": previous[".inputs"]}
    )
    cut_manifest(copied / "out", 2)
    cleaned, said = run(copied, "folder")
    assert "resuming after 4 pages" in said
    assert cleaned == 0  # the changed page is in the first part
    assert tree(copied / "out") == tree(copied / "fresh")
    CHANGES["page"][0](copied)


@pytest.mark.parametrize("moved", ["part", "all parts", "manifest"])
def test_kill_while_parts_are_set_aside_loses_nothing(copied, moved):
    run(copied, "jsonl")
    out, previous = copied / "out", copied / "out" / ".previous"
    previous.mkdir()
    for part in sorted(out.glob("part-*"))[: 1 if moved == "part" else None]:
        part.rename(previous / part.name)
    if moved == "manifest":
        (out / ".inputs").rename(previous / "inputs")
        shutil.copy(out / "manifest.jsonl", previous)
        (out / "manifest.jsonl").write_bytes(b"")
        with pytest.raises(OutputError, match="format was"):
            run(copied, "jsonl", format="markdown")
    assert run(copied, "jsonl")[0] == 0
    run(copied, "jsonl", "fresh")
    assert tree(out) == tree(copied / "fresh")


@pytest.mark.parametrize("more", [0, 9])
def test_unfinished_run_keeps_what_is_unchanged(copied, more):
    crawl(copied / "one.warc.gz", 4 + more)
    run(copied, "jsonl")
    cut_manifest(copied / "out", 3)  # as if killed in the archive
    CHANGES["new page"][0](copied)
    assert run(copied, "jsonl")[0] == PAGES + more + 1 - 8
    run(copied, "jsonl", "fresh")
    assert tree(copied / "out") == tree(copied / "fresh")


def test_cleaned_files_that_are_gone_stop_the_run(copied):
    run(copied, "folder")
    before = tree(copied / "out")
    (copied / "in" / "b.html").unlink()
    with pytest.raises(OutputError, match="1 input files of the last run are gone; bring them back"):
        run(copied, "folder")
    assert tree(copied / "out") == before
    run(copied, "folder", "out", force=True)
    run(copied, "folder", "fresh")
    assert tree(copied / "out") == tree(copied / "fresh")


def test_force_replaces_the_output_of_another_command(copied):
    run(copied, "jsonl")
    run(copied, "folder", "out", force=True)
    assert not list((copied / "out").glob("part-*"))
    run(copied, "folder", "fresh")
    assert tree(copied / "out") == tree(copied / "fresh")
    assert "leave out --force" in clean("--retry", "out/failed.jsonl", "--force", cwd=copied).stderr.decode()


@pytest.mark.processes
def test_update_removes_retried_rows(copied):
    run(copied, "jsonl")
    clean("--retry", "out/failed.jsonl", "-j", 1, cwd=copied)
    assert rows(copied / "out", "retry-1-")
    CHANGES["page"][0](copied)
    run(copied, "jsonl")
    assert not list((copied / "out").glob("retry-*"))
    assert len(failed(copied / "out")) == 2


def retry(place, number="", **options):
    """Clean the failed records again, and return the summary and the messages."""
    stream = io.StringIO()
    with contextlib.chdir(place):
        failures = Path("out", f"{number}failed.jsonl")
        plan = Plan((), Path("out"), "jsonl", retry=failures, **{"method": Method("everything"), **options})
        assert failed_path(plan, Path("out")).parent == Path("out")
        return run_plan(plan, stream, guarded=False), stream.getvalue()


def test_retry_cleans_only_what_failed(copied):
    (copied / "two.jsonl").write_text("{torn\n" + lines(10) + "{torn\n" + lines(12))
    run(copied, "jsonl")
    before = tree(copied / "out")
    assert [(line["source"], line["position"]) for line in failed(copied / "out")] == [
        ("in/bad.html", 0),
        ("two.jsonl", 0),
        ("two.jsonl", 2),
    ]
    (copied / "in" / "bad.html").write_bytes(page(5))
    summary, said = retry(copied)
    assert (summary["pages"], summary["kept"], summary["failed"], summary["pages-now"]) == (3, 1, 2, 3)
    assert said.startswith("clean: two.jsonl@0: failed: not a line of JSON: ")
    assert [row["status"] for row in rows(copied / "out", "retry-1-")] == ["kept", "failed", "failed"]
    assert len(failed(copied / "out", "retry-1-")) == 2
    assert {name: content for name, content in tree(copied / "out").items() if "retry" not in name} == before
    assert "already complete" in retry(copied)[1]
    assert retry(copied, limits=Limits(deadline=99.0))[0]["pages-now"] == 3  # a retry with other limits is another one
    assert retry(copied, "retry-1-")[0]["pages"] == 2
    labels = {path.name.partition("manifest")[0] for path in (copied / "out").glob("*manifest.jsonl")}
    assert labels == {"", "retry-1-", "retry-2-", "retry-3-"}


def test_settings_of_a_run_are_beside_its_failures(copied):
    run(copied, "jsonl", format="markdown")
    retry(copied, format="markdown")
    for name in ("failed.jsonl", "retry-1-failed.jsonl"):
        settings = settings_beside(copied / "out" / name)
        assert (settings["format"], settings["to"], settings["choice"]["method"]) == ("markdown", "jsonl", "everything")
        assert ("retry" in settings) is name.startswith("retry")
    assert settings_beside(copied / "failed.jsonl") == {}


@pytest.mark.parametrize(
    "options", [{"by_site": True, "method": Method("sst")}, {"dedup": Dedup("fingerprint")}], ids=["site", "dedup"]
)
def test_runs_that_compare_pages_clean_all_again(copied, options):
    names = ("one.warc.gz", "two.jsonl")
    run(copied, "jsonl", names=names, **options)
    CHANGES["lines"][0](copied)
    assert "input files: 1 of 2; all pages are cleaned again" in run(copied, "jsonl", names=names, **options)[1]
    assert {row["url"] for row in rows(copied / "out")} == {url(n) for n in (0, 1, 2, 3, 10, 13)}


# Plain runs, which write texts only.


@pytest.mark.parametrize("count", [3, pytest.param(60, marks=pytest.mark.processes)])
def test_plain_run_cleans_what_changed_for_few_and_many_pages(tmp_path, count):
    write_files(tmp_path / "in", {f"{number:02d}.html": page(number) for number in range(count)})
    clean("in", "-o", "out", cwd=tmp_path)
    times = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("*.txt")}
    assert len(times) == count
    (tmp_path / "in" / "01.html").write_bytes(page(99))
    (tmp_path / "in" / "new.html").write_bytes(page(98))
    ended = clean("in", "-o", "out", cwd=tmp_path)
    assert f"new or changed input files: 2 of {count + 1}; only their pages".encode() in ended.stderr
    clean("in", "-o", "fresh", cwd=tmp_path)
    assert tree_of_texts(tmp_path / "out") == tree_of_texts(tmp_path / "fresh")
    now = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("*.txt")}
    assert {name for name in times if times[name] != now[name]} == {"01.txt"}


def tree_of_texts(directory):
    return {name: content for name, content in tree(directory).items() if not name.startswith(".victor")}


def test_plain_run_mends_its_texts(tmp_path):
    write_files(tmp_path / "in", {f"{name}.html": page(number) for number, name in enumerate("abAc")})
    command = ("in", "-o", "out")
    clean(*command, cwd=tmp_path)
    texts = tree_of_texts(tmp_path / "out")
    assert set(texts) == {"A.txt", "a-2.txt", "b.txt", "c.txt"}
    (tmp_path / "out" / "b.txt").unlink()
    (tmp_path / "out" / "c.txt").write_text("changed by hand")
    (tmp_path / "out" / "mine.txt").write_text("not ours")
    assert b"all 4 pages are unchanged" in clean(*command, cwd=tmp_path).stderr
    assert tree_of_texts(tmp_path / "out") == {**texts, "mine.txt": b"not ours"}
    (tmp_path / "in" / "b.html").write_bytes(BAD)
    for _ in range(2):  # a page that failed is tried again each time
        assert clean(*command, cwd=tmp_path).returncode == 1
    del texts["b.txt"]  # the text of the old page does not stay
    (tmp_path / "in" / "A.html").unlink()
    (tmp_path / "in" / "b.html").unlink()
    clean(*command, cwd=tmp_path)
    assert tree_of_texts(tmp_path / "out").keys() == {"A.txt", "a.txt", "c.txt", "mine.txt"}  # A.html is gone
    assert clean(*command, "--force", cwd=tmp_path).returncode == 0
    ended = clean(*command, "--favor", "recall", cwd=tmp_path)
    assert b"unchanged" not in ended.stderr  # other settings
    assert names_in(tmp_path / "out" / ".victor")[0].startswith(".")
    (tmp_path / "out" / "c.txt").write_text("changed by hand")
    ended = clean(*command, "--format", "markdown", cwd=tmp_path)
    assert b"the texts of the last run (text) are replaced" in ended.stderr
    assert tree_of_texts(tmp_path / "out").keys() == {"A.txt", "a.md", "c.txt", "c.md", "mine.txt"}
    clean(tmp_path / "in" / "c.html", "-o", "one/", cwd=tmp_path)
    assert names_in(tmp_path / "one") == ["c.txt"]  # a single page leaves no record


def test_records_of_plain_runs_are_not_read_as_inputs(tmp_path):
    write_files(tmp_path, {"in/a.html": page(1), "in/b.html": page(2)})
    clean("in", "-o", "out", cwd=tmp_path)
    assert list((tmp_path / "out" / ".victor").glob("*part*.jsonl"))
    assert "no pages" in clean("out", "-o", "again", cwd=tmp_path).stderr.decode()
