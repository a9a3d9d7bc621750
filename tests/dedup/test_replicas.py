"""Runs with deduplication: which records are removed, and the same bytes after a kill at any time."""

import io
import json
import shutil
from collections import Counter

import pytest
from support.batchpages import cut_manifest, refused, rows, tree
from support.commands import clean, kill_clean_when
from support.replicapages import page, planted, story, write_lines

pytest.importorskip("icu4py", reason="pip install -e '.[docview]'")

from victorpy.batch.local.flow import Flow
from victorpy.batch.local.run import run_plan
from victorpy.batch.plan import Dedup, Plan
from victorpy.batch.store import Store

pytestmark = pytest.mark.processes

PLANTED, REPEATS = planted(24)
RUN = ("--shard-records", 7)


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    return write_lines(tmp_path_factory.mktemp("planted") / "pages.jsonl", PLANTED)


def outputs(directory):
    """The output files of a run."""
    return {name: content for name, content in tree(directory).items() if not name.startswith(".")}


def removed(directory):
    """Map the number of each replica to the record that it repeats."""
    replicas = [row for row in rows(directory) if row["status"] == "replica"]
    return {number_of(row["url"]): number_of(row["repeats"]["url"]) for row in replicas}


def number_of(url):
    return int(url.rpartition("/")[2])


LONGEST = ("pages", "longest")


@pytest.fixture(scope="module", params=[("pages", "first"), LONGEST, ("fingerprint", "first")], ids=" ".join)
def run(request, lines, tmp_path_factory):
    """A run with one worker, and its arguments."""
    method, keep = request.param
    arguments = (lines, "--dedup", method, "--keep", keep, *RUN)
    place = tmp_path_factory.mktemp("run")
    ended = clean(*arguments, "-j", 1, "-o", f"{place}/out.jsonl/", "--summary", place / "summary.json")
    assert ended.returncode == 0, ended.stderr
    return arguments, place, ended.stderr.decode()


def test_exactly_the_planted_replicas_are_removed(run):
    arguments, place, messages = run
    replicas = removed(place / "out.jsonl")
    longer = {late: early for late, early in REPEATS.items() if early % 2}
    same = {late: early for late, early in REPEATS.items() if late not in longer}
    if "longest" in arguments:
        assert replicas == {**same, **{early: late for late, early in longer.items()}}
    elif "pages" in arguments:
        assert replicas == REPEATS
    else:  # one more sentence may change which words are the most frequent
        assert same.items() <= replicas.items() <= REPEATS.items()
    summary = json.loads((place / "summary.json").read_text())
    counted = Counter(row["status"] for row in rows(place / "out.jsonl"))
    assert summary["pages"] == len(PLANTED) == sum(counted.values())
    assert {name: summary[name] for name in counted} == counted
    assert f"replica {counted['replica']:>8}" in messages


def test_replica_rows_name_the_repeated_record_and_keep_their_text(run):
    _, place, _ = run
    all_rows = rows(place / "out.jsonl")
    by_place = {(row["source"], row["position"]): row for row in all_rows}
    listed = [json.loads(line) for line in (place / "out.jsonl" / "replicas.jsonl").read_bytes().splitlines()]
    replicas = [row for row in all_rows if row["status"] == "replica"]
    assert [{name: row[name] for name in listed[0]} for row in replicas] == listed
    for row in replicas:
        kept = by_place[row["repeats"]["source"], row["repeats"]["position"]]
        assert (bool(row["text"]), kept["status"], bool(kept["text"])) == (True, "kept", True)
        assert row["repeats"]["url"] == kept["url"]
    assert all(row["repeats"] is None for row in all_rows if row["status"] != "replica")


def test_more_workers_give_same_bytes(run, tmp_path):
    arguments, place, _ = run
    assert clean(*arguments, "-j", 2, "-q", "-o", tmp_path / "out.jsonl").returncode == 0
    assert outputs(tmp_path / "out.jsonl") == outputs(place / "out.jsonl")


@pytest.mark.parametrize("run", [LONGEST], indirect=True, ids=" ".join)
def test_resume_after_kills_gives_same_bytes(run, tmp_path):
    """Kill the run while it cleans pages, while it looks for replicas and while it writes parts."""
    arguments, place, _ = run
    out = tmp_path / "out.jsonl"
    command = (*arguments, "-j", 1, "-q", "-o", out)
    for event in (".segments/*.log", ".segments/decisions.sqlite", "part-*"):
        kill_clean_when(lambda event=event: any(out.glob(event)), *command)
    assert clean(*command).returncode == 0
    assert outputs(out) == outputs(place / "out.jsonl")
    assert not (out / ".segments").exists()


@pytest.mark.parametrize("has_index", [True, False])
def test_resume_after_any_part_gives_same_bytes(run, tmp_path, has_index):
    arguments, place, _ = run
    directory = tmp_path / "out.jsonl"
    shutil.copytree(place / "out.jsonl", directory)
    cut_manifest(directory, 4)
    if not has_index:
        (directory / ".replicas.sqlite").unlink()
    ended = clean(*arguments, "-j", 1, "-o", directory)
    assert b"resuming after 21 pages" in ended.stderr
    assert outputs(directory) == outputs(place / "out.jsonl")


@pytest.mark.parametrize("is_decided", [True, False])
def test_resume_after_cleaning_cleans_nothing_again(lines, tmp_path, monkeypatch, is_decided):
    plan = Plan((str(lines),), tmp_path, to="jsonl", shard_records=7, dedup=Dedup("pages"))
    with monkeypatch.context() as patch:
        patch.setattr(Store, "delete_temporary", lambda store: None)
        run_plan(plan, io.StringIO(), quiet=True)
    expected = outputs(tmp_path)
    cut_manifest(tmp_path, 4)
    if not is_decided:
        (tmp_path / ".segments" / "decisions.sqlite").unlink()
    monkeypatch.setattr(Flow, "give", lambda flow, worker: None)
    run_plan(plan, io.StringIO(), quiet=True)
    assert outputs(tmp_path) == expected
    assert not (tmp_path / ".segments").exists()


def test_other_parameters_are_refused_as_another_run(run, tmp_path):
    arguments, place, _ = run
    other = ("--dedup-param", "interval=3") if "fingerprint" in arguments else ("--drop-replicas",)
    refused("--dedup differs", *arguments, *other, "-o", f"{place}/out.jsonl/")


def test_retried_pages_are_compared_with_kept_pages(tmp_path):
    inputs = write_lines(tmp_path / "pages.jsonl", [page(story(1)), page(story(2)), 5])
    out = tmp_path / "out.jsonl"
    assert clean(inputs, "--dedup", "pages", "--drop-replicas", "-j", 1, "-o", out).returncode == 1
    write_lines(inputs, [page(story(1)), page(story(2)), page(story(2), "gazette")])
    ended = clean("--retry", out / "failed.jsonl", "-j", 1)
    assert ended.returncode == 0, ended.stderr
    (again,) = rows(out, "retry-1-")
    assert (again["status"], again["text"]) == ("replica", "")
    assert again["repeats"]["url"] == "http://news.example/1"


def test_stream_and_folder_have_no_replicas(lines, tmp_path):
    ended = clean(lines, "--dedup", "pages", "-j", 1, "-f", "jsonl")
    assert len(ended.stdout.splitlines()) == len(PLANTED) - len(REPEATS)
    assert clean(lines, "--dedup", "pages", "-j", 1, "-q", "-o", tmp_path / "out", "-f", "markdown").returncode == 0
    assert len(list((tmp_path / "out").rglob("*.md"))) == len(PLANTED) - len(REPEATS)


def test_tables_name_the_repeated_record(lines, tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    assert clean(lines, "--dedup", "pages", "-j", 1, "-q", "-o", tmp_path / "out.parquet").returncode == 0
    table = pq.read_table(tmp_path / "out.parquet" / "part-0000000.parquet").to_pylist()
    assert {row["position"]: row["repeats"]["position"] for row in table if row["repeats"]} == {
        table[late]["position"]: table[early]["position"] for late, early in REPEATS.items()
    }


def test_repeated_paragraphs_are_removed(tmp_path):
    notice = "This story was first told by the old sailors of the harbour, who know 4711 more, and tell one each night."
    near = notice.replace("4711", "4712")
    texts = [[*story(1, 6), notice], [*story(2, 6), near], [near]]
    pages = [page(["", *text]).replace("<p> ", "<p>").replace(". This", ".</p><p>This") for text in texts]
    inputs = write_lines(tmp_path / "pages.jsonl", pages)
    options = ("--dedup", "paragraphs", "-f", "markdown", "--method", "everything", "-j", 1)
    ended = clean(inputs, *options, "-o", tmp_path / "out.jsonl")
    assert ended.returncode == 0, ended.stderr
    first, second, third = rows(tmp_path / "out.jsonl")
    assert notice in first["text"]
    assert not first["losses"]
    assert "This story" not in second["text"]
    assert story(2, 6)[-1] in second["text"]
    assert "This story" not in third["text"]
    assert all("of the run" in row["losses"][-1] for row in (second, third))  # the notice, and menus of all pages
    dropped = sum(int(row["losses"][-1].split()[0]) for row in (second, third))
    assert f"by paragraphs, keeping the first; dropped {dropped} of 17 paragraphs" in ended.stderr.decode()
    assert not (tmp_path / "out.jsonl" / "replicas.jsonl").exists()


@pytest.mark.parametrize("format", ["text", "markdown"])
def test_repeated_paragraphs_of_listings_stay(tmp_path, format):
    lines = "open the door of the harbour and let all the old sailors in"
    pages = [f"<h1>Story {n}</h1><p>{story(n)[0]}<pre>run {n}\n\n{lines}\n\nend {n}</pre>" for n in (1, 2)]
    inputs = write_lines(tmp_path / "pages.jsonl", pages)
    options = ("--dedup", "paragraphs", "-f", format, "--method", "everything", "-j", 1)
    assert clean(inputs, *options, "-o", tmp_path / "out.jsonl").returncode == 0
    for number, row in enumerate(rows(tmp_path / "out.jsonl"), 1):
        assert f"run {number}\n\n{lines}\n\nend {number}" in row["text"]


def test_summary_warns_of_sites_that_lose_many_pages(tmp_path):
    inputs = write_lines(tmp_path / "pages.jsonl", [page(story(number % 6)) for number in range(10)])
    ended = clean(inputs, "--dedup", "pages", "-j", 1, "-o", tmp_path / "out.jsonl", "--summary", tmp_path / "summary")
    warning = "news.example: 4 of 10 pages are replicas (40%); check them in the list of replicas"
    assert f"warning: {warning}" in ended.stderr.decode()
    assert json.loads((tmp_path / "summary").read_text())["warnings"] == [warning]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--keep", "first"), "--keep needs --dedup"),
        (("--dedup-param", "interval=2"), "--dedup-param needs --dedup"),
        (("--dedup", "pags"), "did you mean 'pages'"),
        (("--dedup", "pages", "--dedup-param", "interval=2"), "is not a parameter"),
        (("--dedup", "minhash"), "was removed"),
        (("--dedup", "paragraphs", "-f", "html"), "works with the formats text and markdown"),
        (("--drop-replicas",), "--drop-replicas needs --dedup"),
        (("--dedup", "pages", "--keep", "longest"), "give -o DIRECTORY"),
    ],
)
def test_wrong_options_are_reported_in_one_line(lines, arguments, words):
    refused(words, lines, *arguments)


@pytest.mark.parametrize("to", [None, "folder", "jsonl"])
def test_failure_is_reported_once(tmp_path, to):
    (tmp_path / "a.jsonl").write_text(json.dumps({"html": page(story(1, 6))}) + "\n{torn\n")
    plan = Plan((str(tmp_path / "a.jsonl"),), to and tmp_path / "out", to or "folder", dedup=Dedup("pages"))
    stream = io.StringIO()
    summary = run_plan(plan, stream, guarded=False)
    assert (summary["kept"], summary["failed"]) == (1, 1)
    assert stream.getvalue().count(": failed: ") == 1
