"""Replica detectors: the paper's fingerprint step by step, MinHash, the index, and which texts are removed."""

import hashlib
import random
import sys
from collections import Counter

import pytest
from support.commands import run_process
from support.replicapages import story

pytest.importorskip("icu4py", reason="pip install -e '.[docview]'")
pytest.importorskip("datasketch")

from victorpy.dedup import find_replicas, load_detector
from victorpy.dedup.find import Index, open_database
from victorpy.dedup.fingerprint import Fingerprint
from victorpy.dedup.minhash import MinHash
from victorpy.errors import ConfigError, VictorError

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


# Which texts are removed.


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


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_memory_does_not_grow_with_kept_pages(tmp_path):
    """The caches are small and full soon, so everything else about a page must be on disk."""
    ended = run_process("-c", GROWTH, tmp_path / "index")
    assert ended.returncode == 0, ended.stderr
    first, _, last = map(int, ended.stdout.split())
    assert (tmp_path / "index").stat().st_size > 5_000_000
    assert last - first < 2_000  # kB; the signatures of 6,000 pages have 3,000, their keys as much again


def test_file_that_is_not_a_database_raises_os_error(tmp_path):
    (tmp_path / "index").write_text("tea leaves, not tables" * 100)
    with pytest.raises(OSError, match="database"), open_database(tmp_path / "index") as database:
        Index(Fingerprint(), database)
