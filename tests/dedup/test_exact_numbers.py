"""Signatures and keys never change, because indexes store them; and the exact limits of every rule."""

import hashlib

import numpy as np
import pytest

from victorpy.dedup import KEEP, Signature, Signed, find, pages
from victorpy.dedup.base import NO_FRAME, Detector, Frame, as_words, is_in, load_detector, word_hashes
from victorpy.dedup.find import (
    Index,
    digest_of,
    find_replicas,
    frame_of,
    keys_of,
    open_database,
    pairs_of,
    rank_of,
    with_site,
)
from victorpy.dedup.fingerprint import Fingerprint
from victorpy.dedup.pages import Pages, Paragraphs, split_paragraphs

TEA = "Tea is made by pouring hot water over the cured leaves of the tea bush, and drunk all over the world."


def hexed(content):
    return hashlib.sha256(content).hexdigest()[:16]


def words(*numbers):
    return as_words(numbers)


def test_words_are_those_of_every_version():
    assert word_hashes("Hot tea, 1.50") == [210272711, 2391201714, 3756579112]
    assert as_words([7, 3, 7]).tolist() == [3, 7]
    assert len(as_words(range(1_200))) == 1_000
    assert is_in(words(1, 2, 9), words(2, 5)).tolist() == [False, True, False]
    assert is_in(words(1), words()).tolist() == [False]


def test_signatures_are_those_of_every_version():
    found = {
        "pages": hexed(Pages().sign(TEA, "Tea time", "Home. Tea. Imprint")),
        "paragraphs": hexed(Paragraphs().sign(TEA)),
        "empty": Pages().sign(" . ", "Tea", "Tea"),
    }
    assert found == {"pages": "e27f61e8796371bc", "paragraphs": "76c3ce8008378a27", "empty": b""}
    assert Signature.from_bytes(Pages().sign(TEA, "Tea time", "Home. Tea.")).rest.tolist() == word_hashes("home")
    assert [len(signed.signature) for signed in Paragraphs(shortest=2).signed("Hot tea\n\ntea\n")] == [22, 0]
    assert Pages().signed(TEA)[0].length == len(TEA)


def test_keys_are_those_of_every_version():
    signature = Signature.from_bytes(Pages().sign(TEA, "Tea time", "Home. Imprint"))
    assert len(keys_of(Pages(), signature, NO_FRAME)) == 1 + 8 + 12 + 6
    frame = Frame(site=words(*word_hashes("hot water over the"), 5))
    assert len(keys_of(Paragraphs(), signature, NO_FRAME)) == 1 + 12
    assert keys_of(Fingerprint(), signature, NO_FRAME) == [digest_of(signature.as_bytes())]
    found = [keys_of(Pages(), signature, known) for known in (NO_FRAME, frame)]
    assert [hexed(repr(keys).encode()) for keys in found] == ["be1fd7e596fec6db", "575436298b4264af"]
    assert len(keys_of(Pages(), Signature(5, rest=words(1, 2)), NO_FRAME)) == 1 + 6
    assert digest_of(Signature(2**63).as_bytes()) == -(2**63)
    assert digest_of(Signature(2**63 - 1).as_bytes()) == 2**63 - 1


# Frames.


def pages_with(count, total, word=5):
    """Some pages, of which some have a word in the text and in the title."""
    return [
        Signature(n, words(word) if n < count else words(), words(1000 + n, *[word] * (n < count)))
        for n in range(total)
    ]


@pytest.mark.parametrize(
    ("count", "total", "is_common", "is_in_titles", "is_always"),
    [
        (7, 9, False, False, False),  # fewer than eight pages
        (8, 10, True, True, True),  # four fifths
        (8, 11, True, True, False),
        (8, 40, True, False, False),  # a fifth
        (8, 41, False, False, False),
        (9, 41, True, False, False),
        (20, 40, True, True, False),  # half
        (19, 40, True, False, False),
        (32, 40, True, True, True),
        (31, 40, True, True, False),
    ],
)
def test_frame_has_the_words_of_enough_pages(count, total, is_common, is_in_titles, is_always):
    frame = Signature.from_bytes(frame_of(pages_with(count, total)))
    found = [part.tolist() for part in (frame.text, frame.title, frame.rest)]
    assert found == [[5] * is_common, [5] * is_in_titles, [5] * is_always]


def test_frame_of_a_site_is_added_to_that_of_the_crawl():
    crawl = Frame(crawl=words(1), pages=np.array([9]))
    assert with_site(crawl, b"") is crawl
    assert with_site(crawl, None) is crawl
    frame = with_site(crawl, Signature(0, words(2), words(3, 4), words(4)).as_bytes())
    assert [part.tolist() for part in frame] == [[2], [3, 4], [4], [1], [9]]
    assert frame.particular(words(1, 3, 5)).tolist() == [1, 5]


@pytest.mark.parametrize(("count", "rarest"), [(8, 8), (9, 8), (20, 8)])
def test_eight_rarest_words_represent_a_page_without_rare_words(count, rarest):
    frame = Frame(crawl=words(*range(count)), pages=np.full(count, 8))
    assert len(frame.rarest(words(*range(count)))) == rarest
    frame = Frame(crawl=words(*range(count)), pages=np.full(count, 7))
    assert len(frame.rarest(words(*range(count)))) == count


# The test of two pages.


def is_replica(one, other, same_site=True, **frame):
    frames = (Frame(**{name: words(*numbers) for name, numbers in frame.items()}),) * 2
    pages = [Signature(n, *(words(*part) for part in page)) for n, page in enumerate((one, other))]
    return Pages().is_replica(*pages, frames, same_site)


@pytest.mark.parametrize(
    ("count", "same_site", "expected"), [(2, True, False), (3, True, True), (4, False, False), (5, False, True)]
)
def test_replicas_have_enough_particular_words(count, same_site, expected):
    numbers = range(1, count + 1)
    assert is_replica([[], numbers], [[], [*numbers, 99]], same_site) is expected
    assert is_replica([[], [*numbers, 50]], [[], [*numbers, 50, 99]], same_site, site=[50]) is expected


@pytest.mark.parametrize(("shared", "rest", "expected"), [(2, 0, True), (1, 0, False), (1, 9, True), (1, 8, False)])
def test_replicas_keep_half_of_the_words_or_have_the_same_page(shared, rest, expected):
    one = [[], [1, 2, 3, 4], range(100, 110)]
    other = [[], [*[1, 2, 3, 4][:shared], 7], [*[1, 2, 3, 4][shared:], *range(100, 100 + rest)]]
    assert is_replica(one, other) is expected
    assert is_replica(other, one) is expected


@pytest.mark.parametrize(("length", "expected"), [(12, True), (13, False)])
def test_replica_has_a_quarter_of_the_words(length, expected):
    assert is_replica([[], [1, 2, 3]], [[], range(1, length + 1)]) is expected


@pytest.mark.parametrize(
    ("one", "other", "same_site", "expected"),
    [
        ([5], [5], True, True),
        ([5], [6], True, False),
        ([5, 6], [5], True, False),  # one has a title of its own
        ([5, 6], [5], False, True),
        ([5, 6], [5, 7], False, False),
        ([5], [], True, True),  # without a title, nothing is known
        ([5, 50], [5], True, True),  # 50 is in all titles
    ],
)
def test_titles_of_replicas(one, other, same_site, expected):
    body = [1, 2, 3, 4, 8]
    assert is_replica([one, body], [other, [*body, 5, 6, 50]], same_site, title=[50]) is expected


def test_words_of_all_pages_of_a_site_do_not_matter_elsewhere():
    one, other = [[], [1, 2, 3, 4, 5, 60]], [[], [1, 2, 3, 4, 5, 7]]
    assert not is_replica(one, other, same_site=False)
    assert is_replica(one, other, same_site=False, always=[60], site=[60])
    assert not is_replica(one, other, same_site=True, always=[60], site=[60])


@pytest.mark.parametrize(
    ("one", "text", "rest", "expected"),
    [
        ((1, 2, 4), (1, 2, 4), (), True),  # the last sampled word is one of three
        ((1, 2, 4, 5), (1, 2, 4), (), True),  # the sample of the other text ends before the fourth
        ((1, 2, 3, 4), (1, 2, 4), (), False),
        ((1, 2, 3, 8), (1, 2, 3), (5, 6, 9), True),  # the shorter of two samples counts
        ((1, 2, 4, 8), (1, 2, 4), (5, 9), True),
        ((1, 2, 4, 8), (1, 4), (2, 5, 9), False),  # the sample of the rest ends after the last word
        ((1, 2, 4, 8), (1, 4), (2, 5, 7), True),
    ],
)
def test_samples_of_words_are_compared_up_to_their_last_word(monkeypatch, one, text, rest, expected):
    monkeypatch.setattr(pages, "MOST_WORDS", 3)
    own_word = words(100)  # so that the other text is not inside this one
    signatures = Signature(1, text=words(*one)), Signature(2, own_word, words(*text), words(*rest))
    assert Pages().is_replica(*signatures, (NO_FRAME, NO_FRAME), True) is expected


def test_sampled_words_are_compared_up_to_the_highest_sampled_word():
    many = range(1_000)
    assert is_replica([[], [*range(500), 5_000]], [[], many])  # 5,000 is beyond the sample
    assert not is_replica([[], [*range(500), 999, 5_000]], [[], [*range(998), 1_000]])
    assert not is_replica([[], [*range(500), 5_000]], [[], range(999)])


# The index.


class Fake(Detector):
    """Texts are numbers. All share a key with the last one."""

    name = "fake"
    compared = 0

    def sign(self, text, title="", rest="", language=""):
        return Signature(int(text)).as_bytes()

    def keys(self, signature, frame):
        last = signature.digest == 100
        return np.array(range(1_000, 1_040) if last else [1_000 + signature.digest], dtype=np.uint64)

    def is_replica(self, one, other, frames, same_site):
        self.compared += 1
        return False


@pytest.mark.parametrize(("count", "compared"), [(15, 15), (16, 16), (17, 16)])
def test_a_text_is_compared_with_sixteen_partners(count, compared):
    detector = Fake()
    with open_database() as database:
        index = Index(database, detector)
        numbers = [*range(count), 100]
        index.add((place, Signed(detector.sign(str(n)), 1), f"{n}.example", "") for place, n in enumerate(numbers))
        index.decide()
        assert list(index.replicas()) == []
    assert detector.compared == compared


@pytest.mark.parametrize(("count", "weights"), [(16, {2}), (17, {1})])
def test_sixteen_texts_may_share_a_key(count, weights):
    pairs = list(pairs_of(range(count)))
    assert {weight for *_, weight in pairs} == weights
    assert len(pairs) == (120 if count == 16 else 16)


def test_frames_come_from_samples(monkeypatch):
    sampled, of_crawl = [], []
    monkeypatch.setattr(find, "frame_of", lambda pages: sampled.append(len(pages)) or b"")
    monkeypatch.setattr(Fake, "uses_sites", True)
    common = find.common_words
    monkeypatch.setattr(find, "common_words", lambda pages, least: common(of_crawl.extend([*pages]) or [], least))
    with open_database() as database:
        index = Index(database, Fake())
        rows = [(n, Signed(Signature(n, text=words(n)).as_bytes(), 1), f"{n % 66}.example", "") for n in range(4_097)]
        index.add([*rows, *[(9_000 + n, rows[0][1], "0.example", "") for n in range(5)]])
        index._find_frames()
    assert sorted({*sampled}) == [62, 63]
    assert len(of_crawl) == 4_096


@pytest.mark.parametrize(("count", "sampled"), [(64, 64), (65, 64)])
def test_frame_of_a_site_comes_from_64_pages(monkeypatch, count, sampled):
    found = []
    monkeypatch.setattr(find, "frame_of", lambda pages: found.append(len(pages)) or b"")
    texts = [(f"{TEA} Number {'x' * n}.", "a.example") for n in range(count)]
    find_replicas(texts)
    assert found == [sampled]


def test_texts_are_decided_by_length_or_in_order():
    assert [rank_of(Signed(b"", length), "first") for length in (0, 5)] == [0, 0]
    ranks = [rank_of(Signed(b"", length), "longest") for length in (0, 5, 131_070, 131_071, 131_072)]
    assert ranks == [131_071, 131_066, 1, 0, 0]
    assert KEEP == ("first", "longest")


@pytest.mark.parametrize(("run", "other"), [(14, 15), (15, 16), (15, 40)])
def test_runs_after_the_fifteenth_count_as_the_fifteenth(run, other):
    rows = [(n, Signed(Pages().sign(TEA), 1), "a.example", str(n)) for n in range(2)]
    with open_database() as database:
        for number in (run, other):
            index = Index(database, Pages(), run=number)
            index.add(rows[:1])
            index.decide()
            assert index.all_losses() == ("", 1, int(min(number, 15) > run))


def test_numbers_of_texts_have_42_bits():
    rows = [(n, Signed(Pages().sign(TEA), 9), "a.example", str(n)) for n in (0, 2**41, 2**42 - 1)]
    with open_database() as database:
        index = Index(database, Pages(), "longest", run=2)
        index.add(rows)
        index.decide()
        assert list(index.replicas()) == [(2**41, "0"), (2**42 - 1, "0")]
        assert index.all_losses() == ("", 3, 2)
        assert index.losses() == []


def test_defaults_of_find_replicas():
    texts = [TEA, f"{TEA} Have a cup!", "Milk."]
    assert find_replicas(texts) == find_replicas(texts, "pages", "first") == [None, 0, None]
    assert find_replicas(texts, keep="longest") == [1, None, None]
    assert find_replicas([(text, "a.example") for text in texts]) == [None, 0, None]
    assert load_detector("pages").uses_sites
    assert load_detector("pages").uses_page
    assert not load_detector("paragraphs").uses_sites
    assert not load_detector("fingerprint").uses_page
    assert [load_detector(name).name for name in ("pages", "paragraphs", "fingerprint")] == [
        "pages",
        "paragraphs",
        "fingerprint",
    ]


@pytest.mark.parametrize(
    ("text", "paragraphs"),
    [
        ("", [""]),
        ("a\n\n\nb", ["a", "\nb"]),
        ("\n\na\n", ["a"]),
        ("```\na\n\nb\n```\n\nc", ["```\na\n\nb\n```", "c"]),
        ("```\na\n\n```x\n\nb", ["```\na\n\n```x\n\nb"]),  # not the end of the listing
        ("````\n\n```\n\n````\n\nb", ["````\n\n```\n\n````", "b"]),
        ("```\n\n````\n\nb", ["```\n\n````", "b"]),
        ("a ``` b\n\nc", ["a ``` b", "c"]),
        ("- ```\n\n  ```\n\nc", ["- ```\n\n  ```", "c"]),
        ("12) ```\n\n   ```\n\nc", ["12) ```\n\n   ```", "c"]),
    ],
)
def test_paragraphs_and_listings(text, paragraphs):
    assert list(split_paragraphs(text)) == paragraphs
