"""Deduplication methods: the paper's fingerprint step by step, pages, paragraphs, and the index of texts."""

import hashlib
import random
import sqlite3
import sys
from collections import Counter

import numpy as np
import pytest
from support.commands import run_process
from support.replicapages import story

from victorpy.dedup import Signature, Signed, find, find_replicas, load_detector
from victorpy.dedup.base import COMMON_PAGES, MOST_WORDS, NO_FRAME, RAREST, Frame, as_words, word_hashes
from victorpy.dedup.find import Index, open_database, pairs_of, resolve
from victorpy.dedup.fingerprint import Fingerprint
from victorpy.dedup.pages import Pages, Paragraphs, split_paragraphs
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
    pytest.importorskip("icu4py", reason="pip install -e '.[docview]'")
    text = " ".join(story(1))
    turned = " ".join(reversed(text.replace(",", "").replace(".", "").split()))
    method = Fingerprint()
    assert (
        method.sign(text)
        == method.sign(turned)
        == method.sign(f"{text} And so it was with all of them.", language="de")
    )
    assert method.sign(text) != method.sign(" ".join(story(2)))


# Pages.

SHOP = "Our cameras are tested by hand before we ship them. Add to cart. Free delivery on orders over 50 dollars. " * 3


def offer(number, **changes):
    """A page of a shop, with the values of an offer."""
    chance = random.Random(number)
    values = {
        "name": f"Lumo {chance.choice('ABCDE')}{number + 100}",
        "colour": chance.choice(["red", "violet", "black"]),
        "price": f"{chance.randrange(50, 900)}.{chance.randrange(10, 99)}",
        "weight": f"{chance.randrange(90, 999)} g",
        "code": f"{chance.randrange(10**6, 10**7)}",
        "maker": f"number {chance.randrange(10**5)} of {chance.randrange(10**5)}",
    } | changes
    lines = [f"{name}: {value}" for name, value in values.items()]
    return "\n\n".join([SHOP, *lines]), f"{values['name']} {values['colour']} | Lumo Shop"


def replicas(pages, keep="first", detector=None):
    """The number of the page that each page repeats. A page is a text, a title, a site and other text of the page."""
    detector = detector or Pages()
    repeats = [None] * len(pages)
    with open_database() as database:
        index = Index(database, detector, keep)
        signed = (
            (n, Signed(detector.sign(text, title, rest), len(text)), site, str(n))
            for n, (text, title, site, rest) in enumerate(pages)
        )
        index.add(row for row in signed if row[1].signature)
        index.decide()
        for number, other in index.replicas():
            repeats[number] = int(other)
    return repeats


CATALOGUE = [(*offer(number), "shop.example", "Imprint Help") for number in range(60)]


def test_pages_of_one_template_are_distinct():
    assert replicas(CATALOGUE) == [None] * 60


@pytest.mark.parametrize("change", ["colour", "price", "code"])
def test_page_that_differs_in_one_value_is_distinct(change):
    other = {"colour": "green", "price": "77.31", "code": "99887766"}[change]
    assert replicas([*CATALOGUE, (*offer(7, **{change: other}), "shop.example", "")])[60] is None


COMMENT = "I bought this for my brother last summer and he still talks about it every week."


def copies():
    """Copies of the eighth offer."""
    text, title = offer(7)
    lines = text.split("\n\n")
    mixed = [lines[0], *reversed(lines[1:])]
    return {
        "exact": (text, title, "shop.example", ""),
        "other address": (text, title, "mirror.example", ""),
        "other frame": (
            "\n\n".join(["Bargains of the day", *lines[1:], "Tell a friend"]),
            title,
            "deals.example",
            "About",
        ),
        "reordered": ("\n\n".join(mixed), title, "shop.example", ""),
        "truncated": ("\n\n".join(lines[:6]), title, "shop.example", ""),
        "comment": (f"{text}\n\n{COMMENT}", title, "shop.example", ""),
        "other part kept": ("\n\n".join(lines[1:]), title, "shop.example", lines[0]),
    }


@pytest.mark.parametrize("way", copies())
@pytest.mark.parametrize("is_first", [False, True])
def test_copies_are_found(way, is_first):
    copy = copies()[way]
    found = replicas([copy, *CATALOGUE] if is_first else [*CATALOGUE, copy])
    assert found == ([None] * 8 + [0] + [None] * 52 if is_first else [None] * 60 + [7])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Updated on March 5, 2012", "Updated on November 17, 2024"),
        ("2024-05-17T10:00:00Z", "2023-01-01T00:30:00Z"),
        ("17. Mai 2024", "3 de junio de 2023"),
        ("12/24/2010 at 3:15 pm", "1/2/11 at 11:02 am"),
        ("3 hours ago", "2 weeks ago"),
        ("May 2010", "June 2011"),
        ("2024年5月17日", "2023年12月1日"),
    ],
)
def test_dates_do_not_count(one, other):
    text = " ".join(story(1))
    assert find_replicas([f"{text}\n\n{one}", f"{text}\n\n{other}"]) == [None, 0]
    assert word_hashes(f"A {one} B".replace("Updated on", "").replace(" at ", " ")) == word_hashes("A B")


@pytest.mark.parametrize("number", ["4.5", "2,011", "20 doors", "1/200"])
def test_numbers_are_not_dates(number):
    assert len(word_hashes(number)) == len(number.replace("/", " ").split())


def test_two_titles_with_other_words_are_distinct():
    text = " ".join(story(1))
    one, other = ((text, title, "a.example", "") for title in ("The red boat", "The green boat"))
    assert replicas([one, other]) == [None, None]
    assert replicas([one, (*other[:2], "b.example", "The red boat")]) == [None, None]
    assert replicas([one, (text, "The boat", "a.example", "")]) == [None, None]
    assert replicas([one, (text, "The boat", "b.example", "")]) == [None, 0]
    assert replicas([one, (text, "", "a.example", "")]) == [None, 0]


def test_short_part_of_a_long_page_is_distinct():
    words = [f"word{number}" for number in range(100)]
    assert find_replicas([" ".join(words), " ".join(words[:24])]) == [None, None]
    assert find_replicas([" ".join(words), " ".join(words[:25])]) == [None, 0]


def test_text_that_the_other_page_has_only_outside_its_text_is_distinct():
    teaser, around = " ".join(story(1, 4)), "Other words around this teaser here"
    page = (" ".join(f"word{number}" for number in range(60)), "", "a.example", teaser)
    assert replicas([page, (teaser, "", "b.example", around)]) == [None, None]
    assert replicas([(*page[:3], f"{teaser} {around}"), (teaser, "", "b.example", around)]) == [None, 0]


def test_short_texts_are_replicas_only_if_equal():
    assert find_replicas(["Hot tea.", "hot TEA!", "Hot milk.", "", "", "Hot"]) == [None, 0, None, None, None, None]


def test_short_texts_with_other_titles_are_distinct():
    assert replicas([("Hot tea.", title, "a.example", "") for title in ("Assam", "Darjeeling", "Assam")]) == [
        None,
        None,
        0,
    ]


def test_text_without_spaces_is_compared_by_pairs_of_letters():
    chinese = "茶是一种用热水冲泡茶树叶子制成的饮料，在世界各地都很受欢迎。许多人每天早上喝茶，也有人在下午喝茶。"
    assert find_replicas([chinese, f"{chinese}谢谢。", chinese[::-1]]) == [None, 0, None]


def test_long_texts_are_compared_by_a_sample_of_words():
    words = [f"word{number}" for number in range(3 * MOST_WORDS)]
    signature = Signature.from_bytes(Pages().sign(" ".join(words)))
    assert len(signature.text) == MOST_WORDS
    assert find_replicas([" ".join(words), " ".join([*words[::-1], "more"]), " ".join(words[: MOST_WORDS // 5])]) == [
        None,
        0,
        None,
    ]


def test_common_words_of_a_site_do_not_matter_on_another_site():
    """The copy is on a site with other labels, and its own labels are words of no other page there."""
    copy = copies()["other frame"]
    others = [
        (f"Bargains of the day\n\n{' '.join(story(number))}\n\nTell a friend", "", "deals.example", "About")
        for number in range(20)
    ]
    assert replicas([*CATALOGUE, *others, copy])[80] == 7


def test_signature_survives_bytes():
    signature = Signature(2**64 - 1, as_words([3, 1]), as_words([5]), as_words([]))
    again = Signature.from_bytes(signature.as_bytes())
    assert [again.digest, *map(list, again[1:])] == [2**64 - 1, [1, 3], [5], []]


def test_exactly_enough_rare_words_are_the_rarest():
    """Words in fewer than `COMMON_PAGES` pages are rare. If there are `RAREST` of them, they stay in their order."""
    words = as_words(range(20))
    pages = np.full(20, COMMON_PAGES)
    pages[:RAREST] = COMMON_PAGES - 1 - np.arange(RAREST) % 2
    assert Frame(crawl=words, pages=pages).rarest(words).tolist() == words[:RAREST].tolist()


def test_rarest_words_are_those_of_few_pages():
    words = as_words(range(20))
    frame = Frame(crawl=as_words(range(10)), pages=np.full(10, 50))
    assert list(frame.rarest(words)) == list(range(10, 20))
    frame = Frame(crawl=words, pages=np.arange(20)[::-1] + 10)
    assert sorted(frame.rarest(words)) == list(range(12, 20))
    assert list(NO_FRAME.rarest(words)) == list(range(20))


# Paragraphs.


def test_paragraphs_are_replicas_if_they_share_most_words():
    detector, words = Paragraphs(), [f"word{number}" for number in range(40)]
    text = " ".join(words)
    near, far = " ".join([*words[:38], "one"]), " ".join([*words[:36], "one", "two", "three", "four"])
    rows = [(text, "", "", "") for text in (text, near, far, text.title(), "Too short", "Too short")]
    assert replicas(rows, detector=detector) == [None, 0, None, 0, None, None]
    assert replicas(rows, detector=Paragraphs(share=0.8)) == [None, 0, 0, 0, None, None]
    assert replicas(rows[4:], detector=Paragraphs(shortest=2)) == [None, 0]
    assert [bool(signed.signature) for signed in detector.signed(f"{text}\n\nToo short\n\n{near}\n")] == [
        True,
        False,
        True,
    ]


@pytest.mark.parametrize(("shared", "is_replica"), [(18, True), (17, False)])
def test_exact_share_of_common_words(shared, is_replica):
    words = [f"word{number}" for number in range(20)]
    rows = [(" ".join(words), "", "", ""), (" ".join(words[:shared]), "", "", "")]
    assert replicas(rows, detector=Paragraphs()) == [None, 0 if is_replica else None]  # 18 of 20 words are 90 %
    short = [(" ".join(words[:count]), "", "", "") for count in (10, 10, 9, 9)]
    assert replicas(short, detector=Paragraphs()) == [None, 0, None, None]


def test_listings_are_one_paragraph():
    listing = "```python\na = 1\n\nb = 2\n```"
    assert list(split_paragraphs(f"One.\n\n{listing}\n\nTwo.\n")) == ["One.", listing, "Two."]
    assert list(split_paragraphs("One.\n\n```\na\n\nb")) == ["One.", "```\na\n\nb"]
    nested = "1. Do it:\n\n   ````\n   ```\n\n   x\n   ````"
    assert list(split_paragraphs(f"{nested}\n\n> ```\n> a\n>\n\n> ```\n\nTwo.")) == [
        "1. Do it:",
        nested.partition("\n\n")[2],
        "> ```\n> a\n>\n\n> ```",
        "Two.",
    ]


# Parameters.


@pytest.mark.parametrize(
    ("method", "setting"),
    [
        ("fingerprint", "percentage=0"),
        ("fingerprint", "percentage=1.5"),
        ("fingerprint", "interval=0"),
        ("paragraphs", "share=0"),
        ("paragraphs", "share=1.1"),
        ("paragraphs", "shortest=0"),
        ("paragraphs", "shortest=three"),
        ("pages", "percentage=0.4"),
    ],
)
def test_wrong_parameters_are_refused(method, setting):
    with pytest.raises(ConfigError, match=setting.partition("=")[0]):
        load_detector(method, [setting])


@pytest.mark.parametrize(
    ("method", "settings", "parameters"),
    [
        ("fingerprint", [], {"percentage": 0.4, "interval": 5}),
        ("fingerprint", ["percentage=1", "interval=1"], {"percentage": 1.0, "interval": 1}),
        ("paragraphs", [], {"share": 0.9, "shortest": 10}),
        ("paragraphs", ["share=1", "shortest=1"], {"share": 1.0, "shortest": 1}),
        ("pages", [], {}),
    ],
)
def test_defaults_and_exact_limits_of_parameters(method, settings, parameters):
    assert load_detector(method, settings).parameters() == parameters


def test_unknown_names_are_refused():
    with pytest.raises(VictorError, match="fingerprint, pages, paragraphs"):
        find_replicas([], "simhash")
    with pytest.raises(ConfigError, match="use pages"):
        find_replicas([], "minhash")
    with pytest.raises(ConfigError, match="first, longest"):
        find_replicas([], keep="last")


# Which texts are kept.


def test_longest_text_is_kept_or_else_the_first():
    text = " ".join(story(3))
    assert find_replicas([text, f"{text} The end.", text, " ".join(story(4))], keep="longest") == [1, None, 1, None]
    assert find_replicas([text, text], keep="longest") == [None, 0]


def test_replica_of_a_replica_is_kept_unless_it_is_equal():
    repeats = {1: 0}.get
    assert resolve([(1, False)], repeats, lambda other: True) is None
    assert resolve([(1, True)], repeats, lambda other: False) == 0
    assert resolve([(1, False), (2, False), (3, False)], repeats, lambda other: other == 3) == 3


def test_texts_with_a_key_are_paired_and_many_texts_only_with_the_first():
    assert list(pairs_of("abc")) == [("b", "a", 2), ("c", "a", 2), ("c", "b", 2)]
    assert len(list(pairs_of(range(find.SHARED)))) == find.SHARED * (find.SHARED - 1) // 2
    assert list(pairs_of(range(find.SHARED + 1))) == [(number, 0, 1) for number in range(1, find.SHARED + 1)]


def test_many_copies_of_a_page_are_found_but_a_common_word_is_no_reason_to_compare(monkeypatch):
    page = " ".join(story(3))
    copies = [f"{page} Comment number{number} by reader{number}." for number in range(3 * find.SHARED)]
    assert find_replicas([page, *copies]) == [None, *[0] * len(copies)]
    compared = []
    monkeypatch.setattr(Pages, "is_replica", lambda self, *texts: bool(compared.append(texts)))
    stories = [" ".join(story(number)) for number in range(3 * find.SHARED)]
    find_replicas(stories)
    without_common_word = len(compared)
    find_replicas([f"{text} Marmalade." for text in stories])
    assert len(compared) <= 2 * without_common_word


def signed(number, length=10):
    signature = Pages().sign(" ".join(story(number)))
    return number, Signed(signature, length), "a.example", f"story {number}"


def test_later_run_is_compared_with_kept_texts_of_earlier_runs(tmp_path):
    with open_database(tmp_path / "index", tmp_path / "work") as database:
        index = Index(database, Pages())
        index.add([signed(0), signed(1), (2, *signed(1)[1:])])
        index.decide()
        assert list(index.replicas()) == [(2, "story 1")]
        assert database.execute("pragma user_version").fetchone()[0] < 8  # steps of run 0
    for _ in range(2):  # the same run again forgets its texts
        with open_database(tmp_path / "index") as database:
            database.execute("pragma user_version = 0")
            index = Index(database, Pages(), "longest", run=1)
            index.add([(0, *signed(1, 100)[1:]), (1, *signed(5)[1:])])
            index.decide()
            assert list(index.replicas()) == [(0, "story 1")]
            assert database.execute("select count(*) from text").fetchone() == (4,)


def test_interrupted_run_repeats_no_completed_step(tmp_path, monkeypatch):
    paths = (tmp_path / "index", tmp_path / "work")
    monkeypatch.setattr(find, "resolve", None)
    with open_database(*paths) as database:
        index = Index(database, Pages())
        index.add([signed(0), (1, *signed(0)[1:])])
        with pytest.raises(TypeError):
            index.decide()
    monkeypatch.undo()
    monkeypatch.setattr(find, "keys_of", None)
    monkeypatch.setattr(find, "frame_of", None)
    with open_database(*paths) as database:
        index = Index(database, Pages())
        index.add(iter(lambda: 1 / 0, None))  # not read
        index.decide()
        assert list(index.replicas()) == [(1, "story 0")]


def test_sites_that_lose_many_pages_are_named():
    with open_database() as database:
        index = Index(database, Pages())
        rows = [(number, signed(number % 7)[1], "a.example", "") for number in range(10)]
        rows += [(10 + number, signed(20 + number % 8)[1], "b.example", "") for number in range(11)]
        rows += [(30 + number, signed(40)[1], "c.example", "") for number in range(9)]
        index.add(rows)
        index.decide()
        assert index.losses() == []  # 3 of 10, 3 of 11, and a site of 9 pages
        assert find.LOSS_SHARE == 0.3
    with open_database() as database:
        index = Index(database, Pages())
        index.add((number, signed(number % 6)[1], "a.example", "") for number in range(10))
        index.decide()
        assert index.losses() == [("a.example", 10, 4)]


GROWTH = """
import random, sys
from pathlib import Path
from victorpy.dedup import Signature, Signed, find
from victorpy.dedup.base import as_words
from victorpy.dedup.pages import Pages

find._CACHE_KIB = 256

def memory():
    return next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))

def rows(count):
    for number in range(count):
        words = as_words(random.Random(number).choices(range(2**32), k=120))
        yield number, Signed(Signature(number, text=words).as_bytes(), 1), f"{number % 50}.example", "description"

for count in (5_000, 9_000):
    with find.open_database(Path(sys.argv[1]) / str(count), Path(sys.argv[1]) / f"work-{count}") as database:
        index = find.Index(database, Pages())
        index.add(rows(count))
        index.decide()
        assert not list(index.replicas())
    print(memory())
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_memory_does_not_grow_with_texts(tmp_path):
    ended = run_process("-c", GROWTH, tmp_path)
    assert ended.returncode == 0, ended.stderr
    few, many = map(int, ended.stdout.split())
    assert (tmp_path / "9000").stat().st_size > 2_000_000
    assert many - few < 4_000  # kB, for 4,000 texts whose signatures and keys take 4,000


def test_file_that_is_not_a_database_raises_os_error(tmp_path):
    (tmp_path / "index").write_text("tea leaves, not tables" * 100)
    with pytest.raises(OSError, match="database") as caught, open_database(tmp_path / "index") as database:
        Index(database, Fingerprint())
    assert isinstance(caught.value.__cause__, sqlite3.Error)
