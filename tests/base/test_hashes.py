"""Hashes are stored in models and indexes, so they never change."""

from inspect import signature

import numpy as np
import pytest

from victorpy.base import hashes
from victorpy.base.hashes import PageCounts, hash_text, hash_texts, min_template_pages, mix, windows


def as_hashes(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.uint64)


def test_hashes_of_texts_are_those_of_every_version() -> None:
    assert hash_text("tea") == 10431608578837538234
    assert hash_text("茶\ud800") == 2115269323866680695
    assert hash_texts(["tea", "cup", "tea"]) == [hash_text("tea"), hash_text("cup"), hash_text("tea")]


def test_hashes_of_numbers_are_those_of_every_version() -> None:
    assert mix(as_hashes(1, 2, 3)).tolist() == [12994781566227106604, 4233148493373801447, 815575690806614222]


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (1, [3386738095288643496, 12429009353647802892, 11795199801056159899]),
        (2, [2178053630596565671, 16690168122761875069]),
        (3, [8972148489989823473]),
        (4, [8972148489989823473]),  # a shorter sequence is one window
    ],
)
def test_hashes_of_windows_are_those_of_every_version(size: int, expected: list[int]) -> None:
    assert windows(as_hashes(1, 2, 3), size).tolist() == expected
    assert windows(as_hashes(), size).tolist() == []


def test_order_of_members_changes_a_window_and_its_place_does_not() -> None:
    one, two, three, four = windows(as_hashes(7, 8, 0, 0, 7, 8, 7), 2)[[0, 4, 5, 2]]
    assert one == two
    assert len({one, three, four}) == 3


def test_template_text_is_on_half_of_a_small_site() -> None:
    assert [min_template_pages(5, pages) for pages in range(14)] == [2, 2, 2, 2, 2, 3, 3, 4, 4, 5, 5, 5, 5, 5]


def test_counts_of_a_new_site() -> None:
    counts = PageCounts()
    assert (len(counts), counts.with_page(1), counts.spread(1, as_hashes(5, 6)).tolist()) == (0, 1, [1, 1])
    counts.add(1, as_hashes(5, 5, 7))  # a page counts once
    assert counts.spread(1, as_hashes(4, 5, 6, 7, 8)).tolist() == [1, 1, 1, 1, 1]
    assert counts.spread(2, as_hashes(4, 5, 6, 7, 8)).tolist() == [1, 2, 1, 2, 1]
    assert (len(counts), counts.with_page(1), counts.with_page(2)) == (1, 1, 2)


def test_two_million_hashes_of_a_site_are_counted() -> None:
    assert signature(PageCounts).parameters["most"].default == 2_000_000


@pytest.mark.parametrize(("most", "pending"), [(4, [2, 4]), (3, [2, 0]), (1, [0, 0])])
def test_hashes_of_several_pages_are_merged_together(monkeypatch, most: int, pending: list[int]) -> None:
    monkeypatch.setattr(hashes, "_MAX_PENDING", most)
    counts = PageCounts()
    waiting = []
    for page, numbers in enumerate([(1, 2), (2, 3)]):
        counts.add(page, as_hashes(*numbers))
        waiting.append(sum(map(len, counts._pending)))
    assert waiting == pending
    assert counts.spread(9, as_hashes(1, 2, 3, 4)).tolist() == [2, 3, 2, 1]


def test_hashes_of_equally_few_pages_are_forgotten_together() -> None:
    counts = PageCounts(most=2)
    for page, numbers in enumerate([(1, 2, 3), (1, 2, 3), (1, 2, 4), (1, 5)]):
        counts.add(page, as_hashes(*numbers))
    assert counts.spread(9, as_hashes(1, 2, 3, 4, 5)).tolist() == [5, 4, 1, 1, 1]
