"""Statistics of the scores of many pages: means, medians, bootstrap intervals, paired tests."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from victorpy.errors import VictorError
from victorpy.research.statistics import compare, interval, mean, summarise

shares = st.lists(st.floats(0, 1), min_size=1, max_size=40)
many = settings(max_examples=100)


@pytest.mark.parametrize(
    ("values", "mean", "median"),
    [
        ([0.5], 0.5, 0.5),
        ([0.0, 1.0], 0.5, 0.5),
        ([0.1, 0.9, 0.2], 0.4, 0.2),
        ([1.0, 0.0, 0.5, 0.6], 0.525, 0.55),
        ([0, 1, 1, 1], 0.75, 1.0),
    ],
)
def test_mean_median_and_count(values, mean, median):
    summary = summarise(values)
    assert (summary.mean, summary.median, summary.count) == (pytest.approx(mean), pytest.approx(median), len(values))


def test_no_pages_have_no_mean():
    summary = summarise([])
    assert summary.count == 0
    assert all(math.isnan(value) for value in (summary.mean, summary.low, summary.high, summary.median))
    difference = compare([], [])
    assert math.isnan(difference.mean)
    assert difference.p_value == 1


def test_intervals_of_equal_values_other_seeds_and_other_orders():
    summary = summarise([0.7] * 30)
    assert (summary.low, summary.high) == (pytest.approx(0.7), pytest.approx(0.7))
    values = list(np.random.default_rng(5).random(50))
    one, other = summarise(values, seed=1), summarise(values, seed=2)
    assert one.mean == other.mean
    assert summarise(values) == one  # every run gives the same numbers
    assert compare(values, values[::-1]) == compare(values, values[::-1], seed=1)
    assert (one.low, one.high) != (other.low, other.high)
    assert one.low == pytest.approx(other.low, abs=0.02)
    values = [value / 100 for value in range(100)]
    one, other = summarise(values), summarise(values[::-1])
    assert (one.low, one.high) == (pytest.approx(other.low, abs=0.01), pytest.approx(other.high, abs=0.01))


@many
@given(shares)
def test_interval_contains_the_mean_and_lies_within_the_values(values):
    summary = summarise(values, seed=3)
    tiny = 1e-9
    assert min(values) - tiny <= summary.low <= summary.high <= max(values) + tiny
    if len(values) >= 10 and len(set(values)) > len(values) / 2:
        assert summary.low - tiny <= summary.mean <= summary.high + tiny
    assert summary == summarise(values, seed=3)
    assert compare(values, values[::-1], seed=3) == compare(values, values[::-1], seed=3)


def test_interval_covers_the_truth_about_95_times_in_100():
    dice = np.random.default_rng(11)
    summaries = [summarise(dice.beta(4, 2, size=60)) for _ in range(200)]
    # Of 200 intervals that each cover the truth with probability .95, fewer than 178 do in one of a thousand runs.
    assert 178 <= sum(summary.low <= 4 / 6 <= summary.high for summary in summaries) <= 200


def test_interval_is_as_wide_as_theory_says():
    values = np.random.default_rng(3).normal(0.5, 0.1, size=400)
    summary = summarise(values)
    wanted = 2 * 1.96 * values.std() / math.sqrt(400)
    assert summary.high - summary.low == pytest.approx(wanted, rel=0.1)


@many
@given(shares)
def test_cleaner_does_not_differ_from_itself(values):
    summary = compare(values, values)
    assert (summary.mean, summary.low, summary.high, summary.p_value) == (0, 0, 0, 1)


def test_p_value_is_small_for_a_clear_difference_and_large_for_few_pages():
    theirs = [value / 50 for value in range(30)]
    ours = [value + 0.1 + 0.01 * (number % 3) for number, value in enumerate(theirs)]
    summary = compare(ours, theirs)
    assert summary.mean == pytest.approx(0.11)
    assert 0 < summary.low <= summary.mean <= summary.high
    assert 0 < summary.p_value < 0.002
    assert compare([1.0], [0.0]).p_value == 1
    # Of the four ways to swap, two (both or none) are as extreme as the observed difference, so p is a half.
    assert compare([1.0, 1.0], [0.0, 0.0]).p_value == pytest.approx(0.5, abs=0.04)


def test_swapping_the_two_changes_only_the_sign():
    dice = np.random.default_rng(2)
    one, other = dice.random(30), dice.random(30)
    difference, swapped = compare(one, other), compare(other, one)
    assert (difference.mean, difference.p_value) == (pytest.approx(-swapped.mean), swapped.p_value)
    assert (difference.low, difference.high) == (pytest.approx(-swapped.high), pytest.approx(-swapped.low))


def test_comparison_is_paired():
    # Pages differ far more than the two cleaners do; only pairs show that one is always a little better.
    theirs = list(np.random.default_rng(4).random(40))
    ours = [value + 0.01 for value in theirs]
    assert compare(ours, theirs).p_value < 0.002
    assert compare(sorted(ours), sorted(theirs, reverse=True)).p_value > 0.5


def test_without_a_difference_small_p_values_are_rare():
    dice = np.random.default_rng(8)
    small = sum(compare(dice.random(25), dice.random(25)).p_value < 0.05 for _ in range(150))
    # 150 draws of a chance of .05 lie at 18 or below in all but one of a thousand runs.
    assert small <= 18


@pytest.mark.parametrize(("ours", "theirs"), [([0.1, 0.2, 0.3], [0.1]), ([0.1], [0.1, 0.2]), ([0.1, 0.2], [])])
def test_different_numbers_of_pages_cannot_be_paired(ours, theirs):
    with pytest.raises((ValueError, VictorError)):
        compare(ours, theirs)


SCORES = [0.1, 0.5, 0.9, 1.0, 0.3, 0.7, 0.2]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, (0.528571, 0.285714, 0.757143, 0.5, 7)),
        ({"seed": 2}, (0.528571, 0.285714, 0.771429, 0.5, 7)),
        ({"weights": [1, 2, 3, 4, 5, 6, 7]}, (0.532143, 0.305975, 0.788939, 0.5, 7)),
    ],
)
def test_summary_of_a_few_scores(options, expected):
    summary = summarise(SCORES, **options)
    found = (summary.mean, summary.low, summary.high, summary.median, summary.count)
    assert found == pytest.approx(expected, abs=1e-5)
    assert interval(SCORES, options.get("weights")) == pytest.approx(list(expected[1:3]), abs=0.02)


def test_comparison_of_a_few_scores():
    found = compare(SCORES, [0.2, 0.4, 0.7, 0.9, 0.3, 0.5, 0.1])
    assert (found.mean, found.low, found.high) == pytest.approx((0.085714, 0.014286, 0.157143), abs=1e-5)
    assert found.p_value == pytest.approx(307 / 2001)


def test_weights_of_zero_have_a_mean_of_zero():
    assert (summarise([0.5], [0.0]).mean, summarise([0.5], [0.0]).high) == (0, 0)


def test_numbers_of_no_pages():
    assert (mean([]), interval([]), mean([1, 2])) == (None, None, 1.5)
    difference = compare([], [])
    assert all(math.isnan(value) for value in (difference.mean, difference.low, difference.high))
