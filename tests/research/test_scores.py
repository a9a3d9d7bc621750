"""Measures: hand-worked examples in cases/scores, properties of any texts, naive implementations, and speed."""

import random
import time
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from victorpy.base.words import cleaneval_tokens
from victorpy.document import Label
from victorpy.research.scores import (
    BlockCounts,
    Score,
    cleaneval_edit,
    cleaneval_segments,
    cleaneval_words,
    measure_texts,
    shingle_f1,
    word_f1,
)

CASES = Path(__file__).parents[1] / "cases" / "scores"
TEXT_CASES = sorted(CASES.glob("*.txt"))
BLOCK_CASES = sorted(CASES.glob("blocks/*.txt"))
many = settings(max_examples=150)


def score_texts(output, gold):
    return measure_texts(output, gold)[0]


def name_of(path):
    return path.stem


def read_case(path):
    """Read a case: comments, the output, the gold, and the expected scores as exact fractions."""
    _, output, gold, expected = (
        part.partition("\n")[2] for part in path.read_text(encoding="utf-8").replace("\n==", "\n\0").split("\0")
    )
    lines = [line.rpartition(": ") for line in expected.splitlines()]
    return output, gold, {name: Fraction(value) for name, _, value in lines}


def all_measures(output, gold):
    """Every measure by name, with the precision and recall that score_texts leaves out."""
    plain = [" ".join(cleaneval_tokens(text, tags=False)) for text in (output, gold)]
    scored = {
        "shingle": shingle_f1(*plain),
        "cleaneval_words_tags": cleaneval_words(output, gold, tags=True),
        "cleaneval_segments": cleaneval_segments(output, gold, labelled=True),
        "cleaneval_segments_unlabelled": cleaneval_segments(output, gold, labelled=False),
    }
    parts = {f"{name}_{part}": value for name, score in scored.items() for part, value in score.shares().items()}
    return parts | score_texts(output, gold)


# Hand-worked examples


def test_there_are_cases():
    assert len(TEXT_CASES) >= 10
    assert len(BLOCK_CASES) >= 4


@pytest.mark.parametrize("path", TEXT_CASES, ids=name_of)
def test_texts_score_what_was_worked_out_by_hand(path):
    output, gold, expected = read_case(path)
    measures = all_measures(output, gold)
    assert {name: measures[name] for name in expected} == {
        name: pytest.approx(float(v)) for name, v in expected.items()
    }


@pytest.mark.parametrize("path", BLOCK_CASES, ids=name_of)
def test_blocks_score_what_was_worked_out_by_hand(path):
    output, gold, expected = read_case(path)
    counts = BlockCounts.of([Label(name) for name in output.split()], [Label(name) for name in gold.split()])
    measures = {name: block_measure(counts, name) for name in expected}
    assert measures == {name: pytest.approx(float(value)) for name, value in expected.items()}


def block_measure(counts, name):
    what, *rest = name.split()
    if what == "confusion":
        return counts.confusion.get((Label(rest[0]), Label(rest[1])), 0)
    return getattr(counts.label_score(Label(what)), rest[0]) if rest else getattr(counts, what)


def test_f1_is_the_harmonic_mean_of_precision_and_recall():
    assert tuple(Score(3, 4, 6)) == (3 / 4, 3 / 6, pytest.approx(2 * 0.75 * 0.5 / 1.25))


def test_blocks_of_several_pages_are_pooled():
    one = BlockCounts.of([Label.OTHER] * 3, [Label.OTHER] * 3)
    other = BlockCounts.of([Label.OTHER], [Label.HEADER])
    both = BlockCounts.sum([one, other])
    assert both.total == 4
    assert both.label_accuracy == 3 / 4  # the mean over pages would be 1/2
    assert both.confusion == {(Label.OTHER, Label.OTHER): 3, (Label.HEADER, Label.OTHER): 1}
    with pytest.raises(ValueError, match=r"shorter|longer"):
        BlockCounts.of([Label.OTHER], [Label.OTHER, Label.OTHER])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a\x01b\x1fc\td", ["a", "b", "c", "d"]),
        ("URL: x\nURLs too\n not URL\n", ["not", "URL"]),
        ("url: is a word here", ["url:", "is", "a", "word", "here"]),
        ("one<P>two< p >", ["one", "<p>", "two<", "p", ">"]),
        ("<p><p>", ["<p>", "<p>"]),
        ("<p", ["<p"]),
        ("non\u00a0breaking\u3000space", ["non", "breaking", "space"]),
    ],
)
def test_cleaneval_tokens(text, words):
    assert cleaneval_tokens(text, tags=True) == words
    assert cleaneval_tokens("<h>Tea<p>is<l>hot", tags=False) == ["Tea", "is", "hot"]


# Properties of any texts

tagged = st.lists(
    st.sampled_from([*"<p> <h> <l> <P> a b c Tea tea tea, URL: \n \n URL 茶 -".split(" "), "\t", "\x07"]), max_size=25
).map(" ".join)
texts = st.one_of(tagged, st.text(max_size=60))
SHARED_BOTH_WAYS = ["words_f1", "cleaneval_words_f1", "cleaneval_words_tags_f1", "shingle_f1"]
SHARED_BOTH_WAYS += ["cleaneval_text"]


@many
@given(texts)
@example("")
@example(" \n")
@example("URL: x")
@example("<p>")
@example("...")
@example("<p>Tea")
@example("a")
def test_identical_texts_score_1_on_every_measure(text):
    scores = all_measures(text, text)
    assert scores.pop("empty") == 0
    assert set(scores.values()) == {1.0}


@many
@given(texts, texts)
def test_swapping_output_and_gold_swaps_precision_and_recall(output, gold):
    there, back = score_texts(output, gold), score_texts(gold, output)
    for name in SHARED_BOTH_WAYS:
        assert there[name] == pytest.approx(back[name]), name
    for name in ("words", "cleaneval_words"):
        assert there[f"{name}_precision"] == back[f"{name}_recall"]


@many
@given(texts, texts)
def test_measures_are_within_0_and_1_and_the_total_is_the_mean_of_text_and_markup(output, gold):
    scores = all_measures(output, gold)
    assert all(0 <= value <= 1 for value in scores.values())
    text, markup = cleaneval_edit(output, gold), cleaneval_segments(output, gold, labelled=True).f1
    assert (scores["cleaneval_text"], scores["cleaneval_markup"]) == (text, markup)
    assert scores["cleaneval_total"] == pytest.approx((text + markup) / 2)


def test_markup_score_is_0_if_every_tag_is_wrong_however_long_the_segments_are():
    gold = "\n".join(f"<p> {' '.join(f'w{number}x{word}' for word in range(60))}" for number in range(10))
    scores = score_texts(gold.replace("<p>", "<h>"), gold)
    assert (scores["cleaneval_markup"], scores["cleaneval_text"], scores["cleaneval_total"]) == (0, 1, 0.5)
    assert scores["cleaneval_segments_unlabelled_f1"] == 1


@many
@given(texts)
def test_empty_output_scores_0_if_the_gold_is_not_empty(text):
    scores = all_measures("", f"<p>Tea {text}")
    assert scores.pop("empty") == 1
    assert set(scores.values()) == {0.0}


@many
@given(texts, texts)
def test_unlabelled_segments_agree_where_labels_are_all_the_same(output, gold):
    plain = [text.lower().replace("<h>", "<p>").replace("<l>", "<p>") for text in (output, gold)]
    assert cleaneval_segments(*plain, labelled=True) == cleaneval_segments(*plain, labelled=False)


labels = st.lists(st.tuples(st.sampled_from(list(Label)), st.sampled_from(list(Label))), max_size=30)


@pytest.mark.slow
@many
@given(labels)
def test_block_scores_are_consistent(pairs):
    counts = BlockCounts.of([ours for ours, _ in pairs], [gold for _, gold in pairs])
    assert counts.total == len(pairs)
    assert 0 <= counts.label_accuracy <= counts.content_accuracy <= 1
    swapped = BlockCounts.of([gold for _, gold in pairs], [ours for ours, _ in pairs])
    assert swapped.label_accuracy == counts.label_accuracy
    for label in Label:
        score, back = counts.label_score(label), swapped.label_score(label)
        assert (score.precision, score.recall, score.f1) == (back.recall, back.precision, back.f1)
    same = BlockCounts.of([gold for _, gold in pairs], [gold for _, gold in pairs])
    assert same.label_accuracy == same.content_accuracy == 1
    assert all(tuple(same.label_score(label)) == (1, 1, 1) for label in Label)


# Naive implementations

words = st.lists(st.sampled_from("tea Tea hot cold is the a b".split()), max_size=25).map(" ".join)


def naive_overlap(ours, theirs):
    left = list(theirs)
    return sum(item in left and left.remove(item) is None for item in ours)


def naive_score(ours, theirs, shared=None):
    if not ours and not theirs:
        return (1, 1, 1)
    shared = naive_overlap(ours, theirs) if shared is None else shared
    precision, recall = (Fraction(shared, len(items)) if items else Fraction(0) for items in (ours, theirs))
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0
    return pytest.approx((float(precision), float(recall), float(f1)))


@many
@given(words, words)
def test_word_and_shingle_f1_equal_the_naive_ones(output, gold):
    ours, theirs = output.lower().split(), gold.lower().split()
    assert tuple(word_f1(output, gold)) == naive_score(ours, theirs)
    assert tuple(shingle_f1(output, gold)) == naive_score(naive_shingles(ours), naive_shingles(theirs))


def naive_shingles(words):
    if len(words) <= 4:
        return [" ".join(words)] if words else []
    return [" ".join(words[start : start + 4]) for start in range(len(words) - 3)]


def naive_tables(ours, theirs):
    """The textbook's dynamic programs: longest common subsequence and edit distance."""
    common = [[0] * (len(theirs) + 1) for _ in range(len(ours) + 1)]
    edits = [[i + j if not i * j else 0 for j in range(len(theirs) + 1)] for i in range(len(ours) + 1)]
    for i, mine in enumerate(ours, 1):
        for j, other in enumerate(theirs, 1):
            same = mine == other
            common[i][j] = common[i - 1][j - 1] + 1 if same else max(common[i - 1][j], common[i][j - 1])
            edits[i][j] = min(edits[i - 1][j - 1] + (not same), edits[i - 1][j] + 1, edits[i][j - 1] + 1)
    return common[-1][-1], edits[-1][-1]


@many
@given(tagged, tagged, st.booleans())
def test_cleaneval_words_and_edits_equal_dynamic_programs(output, gold, tags):
    ours, theirs = cleaneval_tokens(output, tags), cleaneval_tokens(gold, tags)
    common, edits = naive_tables(ours, theirs)
    assert tuple(cleaneval_words(output, gold, tags)) == naive_score(ours, theirs, common)
    longer = max(len(ours), len(theirs))
    if not tags:
        assert cleaneval_edit(output, gold) == pytest.approx(1 - edits / longer if longer else 1)


@many
@given(tagged, tagged)
def test_no_more_segments_match_than_both_sides_have(output, gold):
    tags = [Counter(token for token in cleaneval_tokens(text, True) if token[0] == "<") for text in (output, gold)]
    score = cleaneval_segments(output, gold, labelled=True)
    assert score.precision * tags[0].total() <= (tags[0] & tags[1]).total() + 1e-9 or not tags[0].total()
    assert score.f1 <= cleaneval_segments(gold, gold, labelled=True).f1


# Speed


def test_twenty_thousand_words_are_scored_in_seconds():
    dice = random.Random(7)
    gold = [f"word{int(dice.paretovariate(0.5)) % 5000}" if dice.random() > 0.02 else "<p>" for _ in range(20_000)]
    output = [word if dice.random() > 0.2 else "noise" for word in gold]
    began = time.process_time()  # other processes do not count
    scores = score_texts(" ".join(output), " ".join(gold))
    assert time.process_time() - began < 5
    assert 0.7 < scores["cleaneval_words_f1"] < 0.9
