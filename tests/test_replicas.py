"""Replicas: the paper's fingerprint step by step, MinHash, and which records go in a run."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import subprocess
import sys
import time
from collections import Counter

import pytest
from batchpages import ENVIRONMENT, ROOT, clean, rows, tree
from replicapages import page, planted, story, write_lines

pytest.importorskip("icu4py", reason="pip install 'victorpy[docview]'")
pytest.importorskip("datasketch")

from victorpy.errors import ConfigError, VictorError
from victorpy.replicas import find_replicas, load_detector
from victorpy.replicas.fingerprint import Fingerprint
from victorpy.replicas.index import Index, open_database
from victorpy.replicas.minhash import MinHash

# The fingerprint.


def words_with(counts):
    return [word for word, count in counts.items() for _ in range(count)]


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
def test_words_are_selected_in_the_papers_steps(percentage, interval, expected):
    shuffled = words_with(TEN)
    random.Random(1).shuffle(shuffled)
    method = Fingerprint(percentage, interval)
    assert method.selected(shuffled) == expected
    wanted = hashlib.md5("\n".join(expected).encode()).digest() if expected else b""
    assert method.digest(shuffled) == wanted


def test_a_share_of_a_hundred_words_is_not_one_less_for_rounding():
    assert len(Fingerprint(0.29, 1).selected([f"w{number:03d}" for number in range(100)])) == 29


def test_the_defaults_are_those_of_the_papers_system():
    assert Fingerprint().parameters() == {"percentage": 0.4, "interval": 5}


def test_texts_too_short_for_a_fingerprint_repeat_nothing():
    assert find_replicas(["Hot tea.", "Hot tea.", "Hot tea."], "fingerprint") == [None, None, None]


def test_a_fingerprint_does_not_hang_on_the_order_of_words_nor_on_stop_words():
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
def test_minhash_estimates_the_share_of_common_runs_of_words(shared):
    method = MinHash(num_perm=512)
    one = " ".join(story(1, 40))
    other = " ".join(story(1, 40)[:shared] + story(2, 40 - shared))
    estimated = method.similarity(method.sign(one), method.sign(other))
    assert estimated == pytest.approx(jaccard(method, one, other), abs=0.1)


def test_texts_over_the_threshold_share_a_band():
    method = MinHash()
    signatures = [method.sign(" ".join(story(number, 20)[: 20 - number % 6])) for number in range(6)]
    for number in range(6):
        near = method.sign(" ".join([*story(number, 20)[: 20 - number % 6], "And that was all there was to say."]))
        assert method.similar(signatures[number], near)
        assert set(method.keys(signatures[number])) & set(method.keys(near))


def test_bands_at_different_places_are_different_keys():
    method = MinHash()
    keys = method.keys(bytes(method.num_perm * 4))
    assert len(set(keys)) == method.bands[0] == len(keys)


def test_short_texts_are_replicas_only_if_they_are_the_same():
    assert find_replicas(["Hot tea.", "hot TEA!", "Hot milk.", "", ""]) == [None, 0, None, None, None]


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
def test_parameters_that_make_no_sense_are_refused(method, setting):
    with pytest.raises(ConfigError, match=setting.partition("=")[0]):
        load_detector(method, [setting])


def test_a_method_that_there_is_not_is_refused():
    with pytest.raises(VictorError, match="fingerprint, minhash"):
        find_replicas([], "simhash")


# Which ones go.


def chain():
    """Three texts, each like the next, the first and the last not alike."""
    sentences = story(7, 60)
    return [" ".join(sentences[at : at + 30]) for at in (0, 5, 10)]


def test_a_replica_of_a_replica_is_compared_with_what_was_kept():
    assert find_replicas(chain(), threshold=0.6) == [None, 0, None]
    one, two, three = chain()
    assert find_replicas([two, one, three], threshold=0.6) == [None, 0, 0]


def test_the_longest_stays_and_of_equally_long_ones_the_first():
    text = " ".join(story(3))
    assert find_replicas([text, f"{text} The end.", text, " ".join(story(4))], keep="longest") == [1, None, 1, None]
    assert find_replicas([text, text], keep="longest") == [None, 0]
    with pytest.raises(ConfigError, match="first, longest"):
        find_replicas([text], keep="last")


def test_rows_that_were_not_committed_or_are_of_a_forgotten_run_are_not_found(tmp_path):
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
from victorpy.replicas import find, index, load_detector

index.CACHE_KIB = 256

def rows():
    for number in range(9_000):
        yield number, os.urandom(512), "description"
        if number % 3_000 == 2_999:
            print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("RssAnon")))

with index.open_database(Path(sys.argv[1])) as database:
    assert not list(find.decide(rows(), index.Index(load_detector("minhash"), database)))
    database.execute("commit")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_memory_does_not_grow_with_the_pages_that_are_kept(tmp_path):
    """With small caches, which are full soon: nothing is kept of a page but what is on disk."""
    done = subprocess.run([sys.executable, "-c", GROWTH, tmp_path / "index"], capture_output=True, cwd=ROOT, check=True)
    first, _, last = map(int, done.stdout.split())
    assert (tmp_path / "index").stat().st_size > 5_000_000
    assert last - first < 2_000  # kB; the signatures of 6,000 pages have 3,000, their keys as much again


def test_a_file_that_is_no_database_raises_an_error_of_a_file(tmp_path):
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
    """What a run has written, without what it keeps for itself."""
    return {name: content for name, content in tree(directory).items() if not name.startswith(".")}


def removed(directory):
    """Which record repeats which, by their numbers."""
    number = {f"http://news.example/{each}": each for each in range(len(PLANTED))}
    return {number[row["url"]]: number[row["repeats"]["url"]] for row in rows(directory) if row["status"] == "replica"}


@pytest.fixture(scope="module", params=[("minhash", "first"), ("minhash", "longest"), ("fingerprint", "first")])
def run(request, lines, tmp_path_factory):
    """A run by one worker, and the arguments of it."""
    method, keep = request.param
    arguments = (lines, "--dedup", method, "--keep", keep, *RUN)
    place = tmp_path_factory.mktemp("run")
    ended = clean(*arguments, "-j", 1, "-o", f"{place}/out.jsonl/", "--summary", place / "summary.json")
    assert ended.returncode == 0, ended.stderr
    return arguments, place, ended.stderr.decode()


def test_exactly_the_planted_ones_go(run):
    arguments, place, said = run
    found = removed(place / "out.jsonl")
    longer = {late: early for late, early in REPEATS.items() if early % 2}
    same = {late: early for late, early in REPEATS.items() if late not in longer}
    if "longest" in arguments:
        assert found == {**same, **{early: late for late, early in longer.items()}}
    elif "minhash" in arguments:
        assert found == REPEATS
    else:  # one more sentence may bring other words to the front
        assert same.items() <= found.items() <= REPEATS.items()
    summary = json.loads((place / "summary.json").read_text())
    counted = Counter(row["status"] for row in rows(place / "out.jsonl"))
    assert summary["pages"] == len(PLANTED) == sum(counted.values())
    assert {name: summary[name] for name in counted} == counted
    assert f"replica {counted['replica']:>8}" in said


def test_rows_of_replicas_have_no_text_and_name_what_they_repeat(run):
    _, place, _ = run
    found = rows(place / "out.jsonl")
    by_place = {(row["source"], row["position"]): row for row in found}
    told = [json.loads(line) for line in (place / "out.jsonl" / "replicas.jsonl").read_bytes().splitlines()]
    replicas = [row for row in found if row["status"] == "replica"]
    assert [{name: row[name] for name in told[0]} for row in replicas] == told
    for row in replicas:
        kept = by_place[row["repeats"]["source"], row["repeats"]["position"]]
        assert (row["text"], kept["status"], bool(kept["text"])) == ("", "kept", True)
        assert row["repeats"]["url"] == kept["url"]
    assert all(row["repeats"] is None for row in found if row["status"] != "replica")


def test_more_workers_change_nothing(run, tmp_path):
    arguments, place, _ = run
    assert clean(*arguments, "-j", 2, "-q", "-o", tmp_path / "out.jsonl").returncode == 0
    assert outputs(tmp_path / "out.jsonl") == outputs(place / "out.jsonl")


def test_killed_again_and_again_it_ends_with_the_same_bytes(run, tmp_path):
    arguments, place, _ = run
    command = [sys.executable, ROOT / "clean.py", *arguments, "-j", 1, "-q", "-o", tmp_path / "out.jsonl"]
    chance = random.Random(5)
    for attempt in range(6):
        process = subprocess.Popen(list(map(str, command)), env=ENVIRONMENT, stderr=subprocess.DEVNULL)
        try:
            process.wait(timeout=chance.uniform(1.2, 2.4) + attempt / 10)
            break
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            time.sleep(0.1)
    assert clean(*arguments, "-j", 1, "-q", "-o", tmp_path / "out.jsonl").returncode == 0
    assert outputs(tmp_path / "out.jsonl") == outputs(place / "out.jsonl")
    assert not list((tmp_path / "out.jsonl").glob(".replicas-aside"))


@pytest.mark.parametrize("has_index", [True, False])
def test_resume_after_any_part_gives_same_bytes(run, tmp_path, has_index):
    """As if the run had been killed after its third part, with or without the index of what was kept."""
    arguments, place, _ = run
    directory = tmp_path / "out.jsonl"
    shutil.copytree(place / "out.jsonl", directory)
    manifest = (directory / "manifest.jsonl").read_bytes().splitlines(keepends=True)
    (directory / "manifest.jsonl").write_bytes(b"".join(manifest[:4]))
    if not has_index:
        (directory / ".replicas.sqlite").unlink()
    ended = clean(*arguments, "-j", 1, "-o", directory)
    assert b"going on after 21 pages" in ended.stderr
    assert outputs(directory) == outputs(place / "out.jsonl")


def test_other_parameters_are_another_run(run, tmp_path):
    arguments, place, _ = run
    ended = clean(*arguments, "--dedup-param", "num_perm=64" if "minhash" in arguments else "interval=3",
                  "-o", f"{place}/out.jsonl/")  # fmt: skip
    assert b"dedup was" in ended.stderr


def test_what_is_tried_again_is_compared_with_what_was_kept(tmp_path):
    pages = [page(story(1)), page(story(2))]
    inputs = write_lines(tmp_path / "pages.jsonl", pages)
    with inputs.open("a") as more:
        more.write('{"url": "http://news.example/2", "html": 5}\n')
    out = tmp_path / "out.jsonl"
    assert clean(inputs, "--dedup", "minhash", "--dedup-param", "threshold=0.6", "-j", 1, "-o", out).returncode == 1
    content = inputs.read_text().splitlines()
    content[2] = json.dumps({"url": "http://news.example/2", "html": page(story(2), "gazette")})
    inputs.write_text("\n".join(content) + "\n")
    ended = clean("--retry", out / "failed.jsonl", "-j", 1)
    assert ended.returncode == 0, ended.stderr
    (again,) = rows(out, "retry-1-")
    assert (again["status"], again["repeats"]["url"]) == ("replica", "http://news.example/1")


def test_replicas_leave_a_stream_of_texts_too(lines):
    ended = clean(lines, "--dedup", "minhash", "-j", 1, "-f", "jsonl")
    assert len(ended.stdout.splitlines()) == len(PLANTED) - len(REPEATS)


def test_a_folder_has_no_files_of_replicas(lines, tmp_path):
    assert clean(lines, "--dedup", "minhash", "-j", 1, "-q", "-o", tmp_path / "out", "-f", "markdown").returncode == 0
    assert len(list((tmp_path / "out").rglob("*.md"))) == len(PLANTED) - len(REPEATS)


def test_tables_have_the_record_that_is_repeated(lines, tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    assert clean(lines, "--dedup", "minhash", "-j", 1, "-q", "-o", tmp_path / "out.parquet").returncode == 0
    table = pq.read_table(tmp_path / "out.parquet" / "part-00000.parquet").to_pylist()
    assert {row["position"]: row["repeats"]["position"] for row in table if row["repeats"]} == {
        table[late]["position"]: table[early]["position"] for late, early in REPEATS.items()
    }


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--keep", "first"), b"--keep says how replicas are dealt with: give --dedup"),
        (("--dedup-param", "interval=2"), b"--dedup-param says how"),
        (("--dedup", "minhsh"), b"did you mean 'minhash'"),
        (("--dedup", "minhash", "--dedup-param", "interval=2"), b"sets no parameter"),
        (("--dedup", "minhash", "--keep", "longest"), b"give -o DIRECTORY"),
    ],
)
def test_wrong_options_are_said_in_a_line(lines, arguments, words):
    ended = clean(lines, *arguments)
    assert (ended.returncode, len(ended.stderr.splitlines())) == (2, 1)
    assert words in ended.stderr
