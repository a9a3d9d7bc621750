"""Replicas: the paper's fingerprint step by step, MinHash, and which records go in a run."""

from __future__ import annotations

import hashlib
import io
import json
import random
import shutil
import sys
from collections import Counter

import pytest
from support.batchpages import cut_manifest, refused, rows, tree
from support.commands import clean, kill_clean_when, run_process
from support.replicapages import page, planted, story, write_lines

pytest.importorskip("icu4py", reason="pip install -e '.[docview]'")
pytest.importorskip("datasketch")

from victorpy.batch.local import run as batch_run
from victorpy.batch.local.run import run_plan
from victorpy.batch.plan import Dedup, Plan
from victorpy.dedup import find_replicas, load_detector
from victorpy.dedup.find import Index, open_database
from victorpy.dedup.fingerprint import Fingerprint
from victorpy.dedup.minhash import MinHash
from victorpy.errors import ConfigError, VictorError

pytestmark = pytest.mark.processes

# The fingerprint.


TEN = {"zeal": 5, "yarn": 4, "xylem": 3, "wax": 3, "bay": 1, "ash": 1, "elm": 2, "dew": 2, "cap": 2, "fig": 1}


@pytest.mark.parametrize(
    ("percentage", "interval", "expected"),
    [
        (0.1, 1, ["zeal"]),
        (0.3, 1, ["wax", "yarn", "zeal"]),  # wax and xylem are as frequent: the alphabet decides
        (0.4, 1, ["wax", "xylem", "yarn", "zeal"]),
        (0.4, 3, ["wax", "xylem", "yarn"]),  # 4 div 3 * 3: the last in the alphabet goes, however frequent
        (0.7, 5, ["cap", "dew", "elm", "wax", "xylem"]),
        (1.0, 10, sorted(TEN)),
        (0.5, 6, []),
        (0.05, 1, []),
    ],
)
def test_fingerprint_selects_words_as_in_the_paper(percentage, interval, expected):
    shuffled = list(Counter(TEN).elements())
    random.Random(1).shuffle(shuffled)
    method = Fingerprint(percentage, interval)
    assert method.selected(shuffled) == expected
    wanted = hashlib.md5("\n".join(expected).encode()).digest() if expected else b""
    assert method.digest(shuffled) == wanted


def test_defaults_and_rounding_are_those_of_the_paper():
    assert Fingerprint().parameters() == {"percentage": 0.4, "interval": 5}
    assert len(Fingerprint(0.29, 1).selected([f"w{number:03d}" for number in range(100)])) == 29


def test_fingerprint_ignores_word_order_and_stop_words():
    text = " ".join(story(1))
    turned = " ".join(reversed(text.replace(",", "").replace(".", "").split()))
    method = Fingerprint()
    assert method.sign(text) == method.sign(turned) == method.sign(f"{text} And so it was with all of them.", "de")
    assert method.sign(text) != method.sign(" ".join(story(2)))


# MinHash.


def jaccard(method, one, other):
    first, second = (method.shingles(text.lower().replace(",", "").replace(".", "").split()) for text in (one, other))
    return len(first & second) / len(first | second)


@pytest.mark.parametrize("shared", [0, 10, 20, 30, 40])
def test_minhash_estimates_share_of_common_runs(shared):
    method = MinHash(num_perm=512)
    one = " ".join(story(1, 40))
    other = " ".join(story(1, 40)[:shared] + story(2, 40 - shared))
    estimated = method.similarity(method.sign(one), method.sign(other))
    assert estimated == pytest.approx(jaccard(method, one, other), abs=0.1)


def test_texts_above_the_threshold_share_a_key():
    method = MinHash()
    signatures = [method.sign(" ".join(story(number, 20)[: 20 - number % 6])) for number in range(6)]
    for number in range(6):
        near = method.sign(" ".join([*story(number, 20)[: 20 - number % 6], "And that was all there was to say."]))
        assert method.similar(signatures[number], near)
        assert set(method.keys(signatures[number])) & set(method.keys(near))


def test_equal_bands_have_different_keys():
    method = MinHash()
    keys = method.keys(bytes(method.num_perm * 4))
    assert len(set(keys)) == method.bands[0] == len(keys)


def test_short_texts_are_replicas_only_if_equal():
    assert find_replicas(["Hot tea.", "hot TEA!", "Hot milk.", "", ""]) == [None, 0, None, None, None]
    assert find_replicas(["Hot tea.", "Hot tea."], "fingerprint") == [None, None]  # too few words to have one


def test_text_without_spaces_is_compared_by_words():
    chinese = "茶是一种用热水冲泡茶树叶子制成的饮料，在世界各地都很受欢迎。许多人每天早上喝茶，也有人在下午喝茶。"
    assert find_replicas([chinese, f"{chinese}谢谢。", chinese[::-1]]) == [None, 0, None]


@pytest.mark.parametrize(
    ("method", "setting"),
    [
        ("fingerprint", "percentage=0"),
        ("fingerprint", "percentage=1.5"),
        ("fingerprint", "interval=0"),
        ("minhash", "threshold=0"),
        ("minhash", "threshold=1.1"),
        ("minhash", "shingle=0"),
        ("minhash", "num_perm=4"),
        ("minhash", "percentage=0.4"),
        ("minhash", "shingle=three"),
    ],
)
def test_wrong_parameters_are_refused(method, setting):
    with pytest.raises(ConfigError, match=setting.partition("=")[0]):
        load_detector(method, [setting])


def test_unknown_names_are_refused():
    with pytest.raises(VictorError, match="fingerprint, minhash"):
        find_replicas([], "simhash")
    with pytest.raises(ConfigError, match="first, longest"):
        find_replicas([], keep="last")


# Which ones go.


def test_replica_of_a_replica_is_compared_with_kept_texts():
    sentences = story(7, 60)
    one, two, three = (" ".join(sentences[at : at + 30]) for at in (0, 5, 10))  # one and three are not similar
    assert find_replicas([one, two, three], threshold=0.6) == [None, 0, None]
    assert find_replicas([two, one, three], threshold=0.6) == [None, 0, 0]


def test_longest_text_is_kept_or_else_the_first():
    text = " ".join(story(3))
    assert find_replicas([text, f"{text} The end.", text, " ".join(story(4))], keep="longest") == [1, None, 1, None]
    assert find_replicas([text, text], keep="longest") == [None, 0]


def test_index_finds_committed_texts_until_their_run_is_forgotten(tmp_path):
    method = Fingerprint()
    signatures = [method.sign(" ".join(story(number))) for number in range(3)]
    with open_database(tmp_path / "index") as database:
        Index(method, database).add(signatures[0], "first run")
        Index(method, database, "retry").add(signatures[1], "retry")
        database.execute("commit")
    with open_database(tmp_path / "index") as database:
        Index(method, database).add(signatures[2], "not committed")
        assert Index(method, database).find(signatures[2]) == "not committed"
    with open_database(tmp_path / "index") as database:
        index = Index(method, database, "retry")
        assert [index.find(signature) for signature in signatures] == ["first run", "retry", None]
        index.forget_run()
        assert [index.find(signature) for signature in signatures] == ["first run", None, None]


GROWTH = """
import os, sys
from pathlib import Path
from victorpy.dedup import find, load_detector

find.CACHE_KIB = 256

def rows():
    for number in range(9_000):
        yield number, os.urandom(512), "description"
        if number % 3_000 == 2_999:
            print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("RssAnon")))

with find.open_database(Path(sys.argv[1])) as database:
    assert not list(find.decide(rows(), find.Index(load_detector("minhash"), database)))
    database.execute("commit")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_memory_does_not_grow_with_kept_pages(tmp_path):
    """With small caches, which are full soon: nothing is kept of a page but what is on disk."""
    ended = run_process("-c", GROWTH, tmp_path / "index")
    assert ended.returncode == 0, ended.stderr
    first, _, last = map(int, ended.stdout.split())
    assert (tmp_path / "index").stat().st_size > 5_000_000
    assert last - first < 2_000  # kB; the signatures of 6,000 pages have 3,000, their keys as much again


def test_file_that_is_not_a_database_raises_os_error(tmp_path):
    (tmp_path / "index").write_text("tea leaves, not tables" * 100)
    with pytest.raises(OSError, match="database"), open_database(tmp_path / "index") as database:
        Index(Fingerprint(), database)


# Runs.

PLANTED, REPEATS = planted(24)
RUN = ("--shard-records", 7)


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    return write_lines(tmp_path_factory.mktemp("planted") / "pages.jsonl", PLANTED)


def outputs(directory):
    """The files that a run has written for others."""
    return {name: content for name, content in tree(directory).items() if not name.startswith(".")}


def removed(directory):
    """Which record repeats which, by their numbers."""
    replicas = [row for row in rows(directory) if row["status"] == "replica"]
    return {number_of(row["url"]): number_of(row["repeats"]["url"]) for row in replicas}


def number_of(url):
    return int(url.rpartition("/")[2])


@pytest.fixture(scope="module", params=[("minhash", "first"), ("minhash", "longest"), ("fingerprint", "first")])
def run(request, lines, tmp_path_factory):
    """A run by one worker, and the arguments of it."""
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
    elif "minhash" in arguments:
        assert replicas == REPEATS
    else:  # one more sentence may bring other words to the front
        assert same.items() <= replicas.items() <= REPEATS.items()
    summary = json.loads((place / "summary.json").read_text())
    counted = Counter(row["status"] for row in rows(place / "out.jsonl"))
    assert summary["pages"] == len(PLANTED) == sum(counted.values())
    assert {name: summary[name] for name in counted} == counted
    assert f"replica {counted['replica']:>8}" in messages


def test_replica_rows_name_the_repeated_record_and_have_no_text(run):
    _, place, _ = run
    all_rows = rows(place / "out.jsonl")
    by_place = {(row["source"], row["position"]): row for row in all_rows}
    listed = [json.loads(line) for line in (place / "out.jsonl" / "replicas.jsonl").read_bytes().splitlines()]
    replicas = [row for row in all_rows if row["status"] == "replica"]
    assert [{name: row[name] for name in listed[0]} for row in replicas] == listed
    for row in replicas:
        kept = by_place[row["repeats"]["source"], row["repeats"]["position"]]
        assert (row["text"], kept["status"], bool(kept["text"])) == ("", "kept", True)
        assert row["repeats"]["url"] == kept["url"]
    assert all(row["repeats"] is None for row in all_rows if row["status"] != "replica")


def test_more_workers_give_same_bytes(run, tmp_path):
    arguments, place, _ = run
    assert clean(*arguments, "-j", 2, "-q", "-o", tmp_path / "out.jsonl").returncode == 0
    assert outputs(tmp_path / "out.jsonl") == outputs(place / "out.jsonl")


def test_resume_after_kills_gives_same_bytes(run, tmp_path):
    """Kill the run while it cleans pages, while it looks for replicas and while it writes parts."""
    arguments, place, _ = run
    out = tmp_path / "out.jsonl"
    command = (*arguments, "-j", 1, "-q", "-o", out)
    for event in (".replicas-aside/part-*", ".replicas-aside/decisions.sqlite", "part-*"):
        kill_clean_when(lambda event=event: any(out.glob(event)), *command)
    assert clean(*command).returncode == 0
    assert outputs(out) == outputs(place / "out.jsonl")
    assert not (out / ".replicas-aside").exists()


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
    plan = Plan((str(lines),), tmp_path, to="jsonl", shard_records=7, dedup=Dedup("minhash"))
    with monkeypatch.context() as patch:
        patch.setattr(batch_run, "remove_aside", lambda store: None)
        run_plan(plan, io.StringIO(), quiet=True)
    expected = outputs(tmp_path)
    cut_manifest(tmp_path, 4)
    if not is_decided:
        (tmp_path / ".replicas-aside" / "decisions.sqlite").unlink()
    monkeypatch.setattr(batch_run._Run, "clean_into", None)
    run_plan(plan, io.StringIO(), quiet=True)
    assert outputs(tmp_path) == expected
    assert not (tmp_path / ".replicas-aside").exists()


def test_other_parameters_are_refused_as_another_run(run, tmp_path):
    arguments, place, _ = run
    parameter = "num_perm=64" if "minhash" in arguments else "interval=3"
    refused("dedup was", *arguments, "--dedup-param", parameter, "-o", f"{place}/out.jsonl/")


def test_retried_pages_are_compared_with_kept_pages(tmp_path):
    inputs = write_lines(tmp_path / "pages.jsonl", [page(story(1)), page(story(2)), 5])
    out = tmp_path / "out.jsonl"
    assert clean(inputs, "--dedup", "minhash", "--dedup-param", "threshold=0.6", "-j", 1, "-o", out).returncode == 1
    write_lines(inputs, [page(story(1)), page(story(2)), page(story(2), "gazette")])
    ended = clean("--retry", out / "failed.jsonl", "-j", 1)
    assert ended.returncode == 0, ended.stderr
    (again,) = rows(out, "retry-1-")
    assert (again["status"], again["repeats"]["url"]) == ("replica", "http://news.example/1")


def test_stream_and_folder_have_no_replicas(lines, tmp_path):
    ended = clean(lines, "--dedup", "minhash", "-j", 1, "-f", "jsonl")
    assert len(ended.stdout.splitlines()) == len(PLANTED) - len(REPEATS)
    assert clean(lines, "--dedup", "minhash", "-j", 1, "-q", "-o", tmp_path / "out", "-f", "markdown").returncode == 0
    assert len(list((tmp_path / "out").rglob("*.md"))) == len(PLANTED) - len(REPEATS)


def test_tables_name_the_repeated_record(lines, tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    assert clean(lines, "--dedup", "minhash", "-j", 1, "-q", "-o", tmp_path / "out.parquet").returncode == 0
    table = pq.read_table(tmp_path / "out.parquet" / "part-00000.parquet").to_pylist()
    assert {row["position"]: row["repeats"]["position"] for row in table if row["repeats"]} == {
        table[late]["position"]: table[early]["position"] for late, early in REPEATS.items()
    }


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--keep", "first"), "--keep needs --dedup"),
        (("--dedup-param", "interval=2"), "--dedup-param needs --dedup"),
        (("--dedup", "minhsh"), "did you mean 'minhash'"),
        (("--dedup", "minhash", "--dedup-param", "interval=2"), "is not a parameter"),
        (("--dedup", "minhash", "--keep", "longest"), "give -o DIRECTORY"),
    ],
)
def test_wrong_options_are_reported_in_one_line(lines, arguments, words):
    refused(words, lines, *arguments)
