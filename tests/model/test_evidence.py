"""Evidence: the lexicon, the trees, the context of a block, the cut, and all of them in a model."""

import io
import json
import math
import shutil
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.commands import run_process
from support.tokens import hash_words

from victorpy import Cleaner, ConfigError, Label, ModelError, VictorError, clean, load_config
from victorpy.base.digests import write_directory
from victorpy.cleaner import read_document
from victorpy.columns import Columns
from victorpy.config import read_config
from victorpy.errors import TemplateError, install_command
from victorpy.model.evidence import Keeping, best_cut, cut, expected_f1, fit_evidence, probabilities
from victorpy.model.evidence import context as around
from victorpy.model.evidence.context import COLUMNS as AROUND
from victorpy.model.evidence.context import context
from victorpy.model.evidence.cut import pool_alike, pool_units
from victorpy.model.evidence.inputs import Inputs
from victorpy.model.evidence.lexicon import COLUMNS, KINDS, Lexicon, Poll, Table, Votes, spell
from victorpy.model.evidence.removals import headline_copies, visible_copies
from victorpy.model.evidence.stage import make_lexicon, sample_blocks, training_weights, without_headline
from victorpy.model.evidence.trees import (
    Forest,
    LeafwiseForest,
    ObliviousForest,
    average,
    constant,
    from_lightgbm,
    grow,
    mix,
)
from victorpy.model.evidence.units import find_units
from victorpy.model.labeller import ModelLabeller
from victorpy.model.store import load_model
from victorpy.model.train import load_pages, train
from victorpy.outputs.anno import load_anno
from victorpy.sites.grouping import site_of

ROOT = Path(__file__).parents[2]
ANNOS = sorted((ROOT / "data").glob("**/*.anno"))
SMALL = "include default\nevidence-folds: 2\nevidence-param-iterations: 5\ncrf-param-max_iterations: 10\n"
LEAFWISE = "evidence-learner: lightgbm\nevidence-param-depth:\n"

repeatable = settings(max_examples=150)

BLOCKS = load_config("crf")


def columns(html):
    return Columns(read_document(html, BLOCKS), BLOCKS)


def config_of(directory, text):
    (directory / "mine.conf").write_text(text, encoding="utf-8")
    return read_config(directory / "mine.conf")


# The lexicon.


TEA = '<div class="main"><p>tea</p></div><nav class="menu"><p>home</p></nav>'
"""Two blocks of a word each, of which the first is content: a page of which half is content."""


def poll_of(*votes):
    """The votes of pages: site, markup, and which blocks are content."""
    poll = Poll()
    for site, html, content in votes:
        poll.add(columns(html), np.array(content, dtype=bool), site)
    return poll.votes()


def lexicon_of(sites):
    """A lexicon of one page from each site."""
    return make_lexicon(poll_of(*((site, TEA, [True, False]) for site in sites)))


def assert_same_tables(lexicon, other, tolerance=0.0):
    for ours, theirs in zip(lexicon.tables, other.tables, strict=True):
        assert ours.hashes.tolist() == theirs.hashes.tolist()
        assert ours.odds == pytest.approx(theirs.odds, abs=tolerance, rel=0)


def odds(table, *tokens):
    return table.look_up(hash_words(tokens)).tolist()


YES = pytest.approx(math.log(4), abs=0.001)  # three sites for content, against two that are of two minds: four fifths
NO = pytest.approx(-math.log(4), abs=0.001)


def test_log_odds_of_a_token_follow_from_the_votes_of_sites():
    names, words, _ = lexicon_of("abc").tables
    assert odds(words, "tea", "home", "unknown") == [YES, NO, 0]
    assert odds(names, "main", "menu", "<div", "<nav", "<p", "<body", "nav") == [YES, NO, YES, NO, 0, 0, 0]
    assert_same_tables(lexicon_of("abc"), lexicon_of("aaaaaaaaaabc"))  # a site of many pages has one vote
    assert len(lexicon_of("ab").tables[1].hashes) == 0  # tokens of only two sites are unknown


@pytest.mark.parametrize(
    ("pages_of_c", "share"),
    [([[False, True]], (2 + 1) / 5), ([[True, False], [False, True]], (2.5 + 1) / 5)],
    ids=["disagrees", "half of its pages disagree"],
)
def test_a_site_votes_by_the_share_of_content_among_its_blocks(pages_of_c, share):
    votes = poll_of(("a", TEA, [True, False]), ("b", TEA, [True, False]), *(("c", TEA, flags) for flags in pages_of_c))
    _, words, _ = make_lexicon(votes).tables
    assert odds(words, "tea") == [pytest.approx(math.log(share / (1 - share)), abs=0.001)]


HEADINGS = "<p>before</p><h2>Tea</h2><p>good</p><p>good</p><h2>Related</h2><p>bad</p><p>bad</p>"


def test_heading_words_apply_to_blocks_up_to_the_next_heading():
    votes = poll_of(*((site, HEADINGS, [False, True, True, True, False, False, False]) for site in "abc"))
    _, words, headings = make_lexicon(votes).tables
    tea, related, good = odds(headings, "tea", "related", "good")
    assert tea > 1
    assert related < -1
    assert good == 0
    assert odds(words, "good")[0] > 1


def table_of(**odds_of):
    """A table of tokens with their log-odds."""
    tokens = sorted(odds_of, key=lambda token: int(hash_words([token])[0]))
    return Table(hash_words(tokens), np.array([odds_of[token] for token in tokens]))


def test_lexicon_columns_of_a_page():
    names = table_of(**{"main": 2.0, "<div": -1.0, "side": -3.0})
    lexicon = Lexicon((names, table_of(tea=1.0, hot=3.0, cookie=-2.0), table_of(related=-4.0)))
    page = columns('<div class="main side"><p>tea is hot</p></div><h2>Related</h2><p class="main">cookie, tea</p>')
    found = dict(zip(COLUMNS, lexicon.columns(page).tolist(), strict=True))
    expected = {
        "name0.most": [0, 0, 2],
        **{"name1.least": [-3, 0, 0], "name1.most": [2, 0, 0], "name1.sum": [-2, 0, 0]},
        **{"names.sum": [-2, 0, 2], "names.least": [-3, 0, 0]},
        **{"word.least": [0, 0, -2], "word.most": [3, 0, 1], "word.mean": pytest.approx([4 / 3, 0, -1 / 2])},
        **{"heading.least": [0, -4, -4], "heading.mean": [0, -4, -4], "heading.most": [0, 0, 0]},
    }
    assert {name: found[name] for name in expected} == expected


def test_tokens_with_the_same_hash_prefix_are_found():
    crowded = np.arange(1, 30, dtype=np.uint64) * np.uint64(5)
    hashes = np.append(crowded, np.array([2**64 - 10, 2**64 - 1], dtype=np.uint64))
    table = Table(hashes, np.arange(1.0, len(hashes) + 1))
    assert table.look_up(hashes).tolist() == table.odds.tolist()
    assert not table.look_up(hashes - np.uint64(1)).any()
    assert not table.look_up(np.zeros(1, dtype=np.uint64)).any()


def test_the_lexicon_for_a_site_is_the_one_learned_without_it():
    turned = '<div class="box"><p>home</p></div><nav class="menu"><p>tea</p></nav>'
    pages = [(site, TEA, [True, False]) for site in "abcde"] + [("e", turned, [True, False]), ("f", turned, [0, 1])]
    for site in "aef":
        others = make_lexicon(poll_of(*(page for page in pages if page[0] != site)))
        ours = make_lexicon(poll_of(*pages), without=site)
        for _, html, _ in (page for page in pages if page[0] == site):
            assert ours.columns(columns(html)) == pytest.approx(others.columns(columns(html)), abs=0.0011)


@cache
def votes_of_shipped_pages():
    poll = Poll()
    for path in ANNOS:
        page = load_anno(path, BLOCKS.cuts)
        content = np.array([label.is_content for label in page.labels])
        poll.add(Columns(page.document, BLOCKS), content, site_of(page.document.url))
    return poll.votes()


@pytest.mark.parametrize("kind", range(3), ids=KINDS)
def test_leaving_a_site_out_removes_its_vote(kind):
    votes = votes_of_shipped_pages()[kind]
    sites = sorted(votes.sites, key=lambda site: -len(votes.sites[site].hashes))
    for site in sites[:3] + sites[-2:]:
        others = Votes({name: vote for name, vote in votes.sites.items() if name != site}, votes.base).table()
        tokens = votes.sites[site].hashes
        assert votes.table(without=site).look_up(tokens) == pytest.approx(others.look_up(tokens), abs=0.0011)


def test_only_a_known_site_can_be_left_out():
    votes = votes_of_shipped_pages()[1]
    largest = max(votes.sites, key=lambda site: len(votes.sites[site].hashes))
    assert len(votes.table(without=largest).hashes) < len(votes.table().hashes)
    assert votes.table(without="elsewhere.example").odds.tolist() == votes.table().odds.tolist()


def test_a_lexicon_reads_back_the_same(tmp_path):
    tables = make_lexicon(votes_of_shipped_pages()).tables
    pages = [Columns(load_anno(path, BLOCKS.cuts).document, BLOCKS) for path in ANNOS]
    lexicon = Lexicon(tables, spell(tables, pages))
    lexicon.save(tmp_path / "a.tsv")
    again = Lexicon.load(tmp_path / "a.tsv")
    again.save(tmp_path / "b.tsv")
    assert (tmp_path / "a.tsv").read_bytes() == (tmp_path / "b.tsv").read_bytes()
    assert again.text == lexicon.text
    assert_same_tables(lexicon, again)
    for page in pages[:5]:
        assert (again.columns(page) == lexicon.columns(page)).all()


def test_empty_lexicon_gives_zeros_and_an_empty_page_no_vote(tmp_path):
    lexicon = make_lexicon(Poll().votes())
    lexicon.save(tmp_path / "empty.tsv")
    found = Lexicon.load(tmp_path / "empty.tsv").columns(columns(TEA))
    assert found.shape == (len(COLUMNS), 2)
    assert not found.any()
    votes = poll_of(("a", "", []), *((site, TEA, [True, False]) for site in "bcd"))
    assert "a" not in votes[0].sites
    assert make_lexicon(votes).columns(columns("")).shape == (len(COLUMNS), 0)


# The trees.


def random_data(seed, blocks=1500):
    """Feature values of several kinds: real, few distinct values, constant, large."""
    dice = np.random.default_rng(seed)
    matrix = dice.normal(size=(10, blocks)).astype(np.float32)
    matrix[1] = dice.integers(0, 3, blocks)
    matrix[2] = 7
    matrix[3] = dice.integers(0, 5000, blocks)
    matrix[4] = -1
    content = matrix[0] + matrix[1] * matrix[5] + dice.normal(size=blocks) > 0.5
    return SimpleNamespace(matrix=matrix, content=content, weights=dice.random(blocks))


def raw_prediction(data, given, matrix):
    """The predictions of CatBoost itself, trained in the same way."""
    catboost = pytest.importorskip("catboost")
    learner = catboost.CatBoostClassifier(**given, verbose=False, allow_writing_files=False)
    learner.fit(data.matrix.T, data.content.astype(np.int8), sample_weight=data.weights)
    return learner.predict(matrix.T, prediction_type="RawFormulaVal")


def grown(data, **given):
    return grow(data.matrix, data.content, data.weights, {"random_seed": 1, **given})


@pytest.mark.parametrize("depth", [1, 3, 6, 8])
@pytest.mark.parametrize("seed", [1, 2])
def test_trees_predict_the_same_as_catboost(depth, seed):
    given = {"iterations": 10, "depth": depth, "random_seed": 1}
    data, unseen = random_data(seed), random_data(seed + 100).matrix
    forest = grown(data, **given)
    for matrix in (data.matrix, unseen):
        assert forest.log_odds(matrix) == pytest.approx(raw_prediction(data, given, matrix), abs=1e-5)


def test_trees_of_lightgbm_are_trained_with_settings_of_catboost():
    lightgbm = pytest.importorskip("lightgbm")
    data = random_data(1)
    given = {"num_leaves": 15, "learning_rate": 0.2}
    forest = grown(data, learner="lightgbm", iterations=10, border_count=30, rsm=0.5, l2_leaf_reg=2, **given)
    others = {"n_estimators": 10, "max_bin": 30, "colsample_bytree": 0.5, "reg_lambda": 2, "random_state": 1}
    learner = lightgbm.LGBMClassifier(**given, **others, use_missing=False, verbosity=-1)
    learner.fit(data.matrix.T, data.content, sample_weight=data.weights / data.weights.mean())
    expected = learner.predict(data.matrix.T, raw_score=True)
    assert isinstance(forest, LeafwiseForest)
    assert forest.log_odds(data.matrix) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(
    ("learner", "kinds"), [("lightgbm", [LeafwiseForest]), ("catboost+lightgbm", [ObliviousForest, LeafwiseForest])]
)
def test_a_model_with_trees_of_lightgbm_reads_back_the_same(small, tmp_path, learner, kinds):
    pytest.importorskip("lightgbm")
    trained = train(small.pages, config_of(tmp_path, f"{SMALL}evidence-learner: {learner}\n"))
    trained.save(tmp_path / "model")
    document = small.pages[0].document
    again = load_model(tmp_path / "model").labeller
    assert [type(forest) for forest in again.stages_.evidence.layers[1]] == kinds
    assert again.label(document) == trained.labeller.label(document)


def test_shallower_trees_predict_the_same_as_catboost():
    data = random_data(3)
    data.matrix = data.matrix[[1, 2]]  # three values and a constant: two questions are all that can be asked
    given = {"iterations": 6, "depth": 6, "random_seed": 1}
    forest = grown(data, **given)
    assert forest.features.shape[1] < 6
    assert forest.log_odds(data.matrix) == pytest.approx(raw_prediction(data, given, data.matrix), abs=1e-5)


def test_a_value_equal_to_the_border_is_not_above_it():
    forest = ObliviousForest(
        np.array([[0]], dtype=np.int32),
        np.array([[0.5]], dtype=np.float32),
        np.array([[-1.0, 2.0]], dtype=np.float32),
        np.array([0.25]),
    )
    assert forest.log_odds(np.array([[0.4, 0.5, 0.6]], dtype=np.float32)).tolist() == [-0.75, -0.75, 2.25]


def test_a_long_page_is_judged_block_by_block():
    forest, matrix = grown(random_data(4), iterations=5, depth=4), random_data(5, blocks=5000).matrix
    whole = forest.log_odds(matrix)
    assert whole.shape == (5000,)
    assert whole == pytest.approx(np.concatenate([forest.log_odds(part) for part in np.split(matrix, 50, axis=1)]))
    assert forest.log_odds(matrix[:, :0]).shape == (0,)


def saved_bytes(*forests):
    file = io.BytesIO()
    for forest in forests:
        forest.save(file)
    return file.getvalue()


def test_several_forests_in_one_file_read_back_the_same():
    forests = [grown(random_data(6), iterations=5, depth=4), grown(random_data(7), iterations=3, depth=2)]
    file = io.BytesIO(saved_bytes(*forests))
    matrix = random_data(8).matrix
    for forest in forests:
        again = Forest.load(file, len(matrix))
        assert again.log_odds(matrix).tolist() == forest.log_odds(matrix).tolist()
        assert saved_bytes(again) == saved_bytes(forest)


def test_average_forest_gives_the_average_log_odds():
    forests = [
        grown(random_data(10), iterations=5, depth=4),
        grown(random_data(11), iterations=3, depth=2),
        constant(np.array([-0.4])),
    ]
    matrix = random_data(12).matrix
    together = average(forests)
    assert together.features.shape == (8, 4)
    expected = np.mean([forest.log_odds(matrix) for forest in forests], axis=0)
    assert together.log_odds(matrix) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("left", [0, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99])
def test_trees_that_are_cut_short_are_refused(left):
    content = saved_bytes(grown(random_data(9), iterations=4, depth=3))
    with pytest.raises(ValueError):  # noqa: PT011  # numpy's own words
        Forest.load(io.BytesIO(content[: int(left * len(content))]), 6)


def arrays(*given):
    file = io.BytesIO()
    for array in given:
        np.save(file, np.asarray(array))
    file.seek(0)
    return file


@pytest.mark.parametrize(
    ("damaged", "message"),
    [
        (arrays(np.zeros((2, 3), int), np.zeros((2, 2)), np.zeros((2, 8)), [0.0]), "do not match"),
        (arrays(np.zeros((2, 3), int), np.zeros((2, 3)), np.zeros((2, 4)), [0.0]), "do not match"),
        (arrays(np.zeros((2, 3), int), np.zeros((2, 3)), np.zeros((1, 8)), [0.0]), "do not match"),
        (arrays(np.full((2, 3), -1), np.zeros((2, 3)), np.zeros((2, 8)), [0.0]), "not all numbers from 0 to 5"),
        (arrays(np.zeros((1, 2, 3), int), np.zeros((1, 2, 3)), np.zeros(8), [0.0]), "do not match"),
        (arrays(np.zeros((2, 3)), np.zeros((2, 3)), np.zeros((2, 8)), [0.0]), "have the type float64"),
        (arrays(np.zeros((2, 3), int), np.zeros((2, 3)), np.full((2, 8), np.nan), [0.0]), "not all numbers"),
        (arrays(np.array([print], dtype=object)), "not arrays of numbers"),
        (io.BytesIO(b"no trees at all"), "not numpy arrays"),
        (io.BytesIO(b"\x93NUMPY\x01\x00\x03\x00{'("), "not numpy arrays"),
    ],
    ids=[
        "borders",
        "leaves",
        "trees",
        "negative feature",
        "a cube",
        "floats",
        "NaN",
        "objects are never unpickled",
        "no numpy file",
        "header without an end",
    ],
)
def test_trees_that_do_not_fit_together_are_refused(damaged, message):
    damaged.seek(0)
    with pytest.raises(ValueError, match=message):
        Forest.load(damaged, 6)


def boosted(data, **given):
    """A booster of LightGBM."""
    lightgbm = pytest.importorskip("lightgbm")
    settings = {"objective": "binary", "num_threads": 1, "verbose": -1, "seed": 1, "min_data_in_leaf": 2, **given}
    return lightgbm.train(settings, lightgbm.Dataset(data.matrix.T, data.content), 12)


@pytest.mark.parametrize("given", [{"num_leaves": 2}, {"num_leaves": 64}, {"min_data_in_leaf": 1000}])
def test_leafwise_trees_predict_the_same_as_lightgbm(given):
    data, unseen = random_data(1), random_data(101).matrix
    booster = boosted(data, **given)
    forest = from_lightgbm(booster)
    again = Forest.load(io.BytesIO(saved_bytes(forest)), len(unseen))
    for matrix in (data.matrix, unseen):
        assert forest.log_odds(matrix) == pytest.approx(booster.predict(matrix.T, raw_score=True), abs=1e-6)
        assert again.log_odds(matrix).tolist() == forest.log_odds(matrix).tolist()


def test_mixed_forests_add_up_to_the_average():
    matrix = random_data(3).matrix
    forests = [from_lightgbm(boosted(random_data(1))), grown(random_data(2), iterations=5, depth=3)]
    added = sum(forest.log_odds(matrix) for forest in mix(forests))
    assert added == pytest.approx(np.mean([forest.log_odds(matrix) for forest in forests], axis=0), abs=1e-6)


def test_leafwise_forests_are_averaged_too():
    forests = [from_lightgbm(boosted(random_data(seed))) for seed in (1, 2)] + [constant(np.array([0.3]))]
    matrix = random_data(12).matrix
    expected = np.mean([forest.log_odds(matrix) for forest in forests], axis=0)
    assert average(forests).log_odds(matrix) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("given", "damage", "message"),
    [
        ({"num_leaves": 65}, None, "at most 64 leaves"),
        ({"objective": "multiclass", "num_class": 2}, None, "one score"),
        ({"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.5}, None, "random forests"),
        ({}, np.nan, "missing values"),
    ],
    ids=["leaves", "classes", "random forest", "missing"],
)
def test_other_boosters_are_not_converted(given, damage, message):
    data = random_data(1)
    if damage is not None:
        data.matrix[0, ::3] = damage
    booster = boosted(data, **given)
    with pytest.raises(ValueError, match=message):
        from_lightgbm(booster)


def leafwise(**changed):
    """Two trees: one with two questions, one with one question."""
    parts = {
        "features": np.array([3, 0, 5], dtype=np.int16),
        "borders": np.array([0.5, -1, 2], dtype=np.float32),
        "leaves": np.array([1, 2, 4, 8, 16], dtype=np.float32),
        "bias": np.array([0.25]),
        "sizes": np.array([2, 1], dtype=np.int8),
        "children": np.array([[1, ~0], [~1, ~2], [~0, ~1]], dtype=np.int8),
    }
    return LeafwiseForest(**parts | changed)


def chained(trees, questions):
    """Return trees that each ask one feature after the other."""
    chain = [[number + 1, ~number] for number in range(questions - 1)] + [[~(questions - 1), ~questions]]
    return leafwise(
        features=np.zeros(trees * questions, dtype=np.int16),
        borders=np.zeros(trees * questions, dtype=np.float32),
        leaves=np.zeros(trees * (questions + 1), dtype=np.float32),
        sizes=np.full(trees, questions, dtype=np.int8),
        children=np.array(chain * trees, dtype=np.int8),
        bias=np.zeros(1),
    )


def levelled(trees, depth):
    """Return trees whose leaves are all zero."""
    questions = np.zeros((trees, depth), dtype=np.int32)
    return ObliviousForest(questions, np.float32(questions), np.zeros((trees, 2**depth), np.float32), np.zeros(1))


@pytest.mark.parametrize(
    ("largest", "too_large", "message"),
    [
        (levelled(20_000, 1), levelled(20_001, 1), "more than 20,000 trees"),
        (levelled(2, 8), levelled(2, 9), "9 levels deep"),
        (levelled(2, 1), levelled(2, 0), "0 levels deep"),
        (chained(20_000, 1), chained(20_001, 1), "more than 20,000 trees"),
        (chained(2, 63), chained(2, 64), "2 to 64 leaves"),
    ],
)
def test_limits_of_trees(largest, too_large, message):
    assert not Forest.load(io.BytesIO(saved_bytes(largest)), 1).log_odds(np.zeros((1, 2), dtype=np.float32)).any()
    with pytest.raises(ValueError, match=message):
        Forest.load(io.BytesIO(saved_bytes(too_large)), 1)


def test_leafwise_trees_lead_to_the_right_leaf():
    matrix = np.zeros((6, 3), dtype=np.float32)
    matrix[3], matrix[0], matrix[5] = [0.5, 0.4, 0.6], [-1, 0, 0], [2, 3, 2]
    assert leafwise().log_odds(matrix).tolist() == [0.25 + 2 + 8, 0.25 + 4 + 16, 0.25 + 1 + 8]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"features": np.array([3, 0, 6], dtype=np.int16)}, "not all numbers from 0 to 5"),
        ({"features": np.array([3, 0, -1], dtype=np.int16)}, "not all numbers from 0 to 5"),
        ({"borders": np.array([0.5, np.nan, 2], dtype=np.float32)}, "not all numbers from"),
        ({"borders": np.zeros(2, dtype=np.float32)}, "do not match"),
        ({"leaves": np.array([1, 2, 4, np.nan, 8], dtype=np.float32)}, "not all numbers from"),
        ({"leaves": np.zeros(4, dtype=np.float32)}, "do not match"),
        ({"bias": np.array([np.nan])}, "not all numbers from"),
        ({"bias": np.zeros(2)}, "do not match"),
        ({"sizes": np.array([1, 1], dtype=np.int8)}, "do not match"),
        ({"sizes": np.array([3, 0], dtype=np.int8)}, "2 to 64 leaves"),
        ({"sizes": np.array([2, 1])}, "do not match"),
        ({"children": np.zeros((3, 3), dtype=np.int8)}, "do not match"),
        ({"children": np.array([[0, ~0], [~1, ~2], [~0, ~1]], dtype=np.int8)}, "not connected"),
        ({"children": np.array([[~2, ~0], [~1, 1], [~0, ~1]], dtype=np.int8)}, "not connected"),
        ({"children": np.array([[1, ~0], [~1, ~1], [~0, ~1]], dtype=np.int8)}, "not connected"),
        ({"children": np.array([[1, ~0], [~1, ~2], [~0, 100]], dtype=np.int8)}, "not connected"),
        ({"children": np.array([[1, ~0], [~1, ~2], [~0, -128]], dtype=np.int8)}, "not connected"),
    ],
)
def test_damaged_leafwise_trees_are_refused(changed, message):
    Forest.load(io.BytesIO(saved_bytes(leafwise())), 6)
    with pytest.raises(ValueError, match=message):
        Forest.load(io.BytesIO(saved_bytes(leafwise(**changed))), 6)


# The context of a block.


PAGE = '<div class="m"><p>a b c</p><p>d</p></div><p>e</p>'  # blocks that weigh 3.5, 1.5 and 1.5: words and half a word
LOG_ODDS = np.array([math.log(4), 0.0, -math.log(4)])
"""That is, probabilities of .8, .5 and .2: 2.8, .75 and .3 of the words may be content."""
ALL = 3.85 / 6.5


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("log-odds", LOG_ODDS),
        ("probability[-2]", [-1, -1, 0.8]),
        ("probability[-1]", [-1, 0.8, 0.5]),
        ("probability[+1]", [0.5, 0.2, -1]),
        ("probability[+2]", [0.2, -1, -1]),
        ("window1", [3.55 / 5, ALL, 1.05 / 3]),
        ("window3", [ALL, ALL, ALL]),
        ("ancestor0", [0.8, 0.5, 0.2]),
        ("ancestor1", [3.55 / 5, 3.55 / 5, ALL]),
        ("ancestor2", [ALL, ALL, ALL]),
        ("ancestor6", [ALL, ALL, ALL]),
        ("look", [3.55 / 5, 3.55 / 5, 0.2]),
        ("before", [0, 2.8 / 4.5, 3.55 / 6]),
        ("after", [1.05 / 4, 0.3 / 2.5, 0]),
        ("higher", [0, 3.5 / 6.5, 5 / 6.5]),
        ("since-sure", [0, 1, 2]),
        ("until-sure", [0, 99, 99]),
        ("page.mean", [ALL] * 3),
        ("page.best", [0.8] * 3),
        ("page.content-words", [3.85] * 3),
        ("page.cut", [0.5] * 3),
        ("page.expected-f1", [2 * 3.55 / (5 + 3.85)] * 3),
    ],
)
def test_context_of_a_block(name, expected):
    assert around_block(PAGE, LOG_ODDS)[name] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *(("probability[-1]", -1), ("probability[+2]", -1), ("window20", 0.5), ("ancestor6", 0.5), ("look", 0.5)),
        *(("before", 0), ("after", 0), ("higher", 0), ("since-sure", 99), ("until-sure", 99)),
        *(("page.content-words", 1.75), ("page.cut", 0.5), ("page.expected-f1", 2 / 3)),
    ],
)
def test_a_block_alone_on_its_page(name, expected):
    assert around_block("<p>a b c</p>", [0.0])[name] == pytest.approx([expected])


def around_block(html, log_odds):
    return dict(zip(AROUND, context(columns(html), np.asarray(log_odds)).tolist(), strict=True))


def test_the_last_sure_block_may_be_far_away():
    log_odds = np.full(250, -5.0)
    log_odds[120] = 5.0
    found = around_block("<p>a</p>" * 250, log_odds)
    assert [found["since-sure"][at] for at in (0, 119, 120, 121, 218, 219, 249)] == [99, 99, 0, 1, 98, 99, 99]
    assert [found["until-sure"][at] for at in (0, 21, 22, 119, 120, 121)] == [99, 99, 98, 1, 0, 99]


@pytest.mark.parametrize("path", ANNOS[::6], ids=lambda path: path.stem)
def test_shares_around_a_block_are_shares(path):
    page = Columns(load_anno(path, BLOCKS.cuts).document, BLOCKS)
    found = context(page, np.random.default_rng(1).normal(size=page.count) * 4)
    assert np.isfinite(found).all()
    kinds = ("window", "ancestor", "look", "before", "after", "higher", "page.mean", "page.expected")
    for name, row in zip(AROUND, found, strict=True):
        if name.startswith(kinds):
            assert 0 <= row.min() <= row.max() <= 1 + 1e-6, name


def test_context_windows_have_the_size_in_their_names():
    assert [f"window{reach}" for reach in around.REACHES] == [name for name in AROUND if name.startswith("window")]
    assert len(AROUND) == len(set(AROUND)) == len(context(columns(PAGE), LOG_ODDS))
    assert set(map(len, around_block("", []).values())) == {0}


# The cut.


pages = st.lists(st.tuples(st.integers(1, 20), st.integers(1, 40)), min_size=1, max_size=8).map(
    lambda drawn: (np.array([p / 20 for p, _ in drawn]), np.array([w / 2 for _, w in drawn]))
)
betas = st.sampled_from([0.25, 0.5, 0.9, 1.0, 2.0, 4.0])


def f_of(probability, weight, kept, beta):
    right = float((weight * probability)[kept].sum())
    return (1 + beta**2) * right / (weight[kept].sum() + beta**2 * float((weight * probability).sum()))


@pytest.mark.slow
@given(pages, betas)
@repeatable
def test_no_choice_of_blocks_is_better_than_the_cut(page, beta):
    probability, weight = page
    cut, expected = best_cut(probability, weight, beta)
    choices = [np.array(choice, dtype=bool) for choice in product([False, True], repeat=len(weight))]
    assert expected == pytest.approx(max(f_of(probability, weight, choice, beta) for choice in choices))
    assert f_of(probability, weight, probability >= cut, beta) == pytest.approx(expected)
    if beta == 1:
        assert expected_f1(probability, weight, probability >= cut) == pytest.approx(expected)
    assert all(0 <= expected_f1(probability, weight, choice) <= 1 for choice in choices)


@given(pages, betas, betas)
@repeatable
def test_favoring_recall_keeps_at_least_as_much(page, one, other):
    probability, weight = page
    low, high = sorted([one, other])
    assert best_cut(probability, weight, high)[0] <= best_cut(probability, weight, low)[0]


def test_cuts_and_expected_f1_of_examples():
    probability, weight = np.array([0.9, 0.5, 0.3, 0.1]), np.full(4, 10.0)
    assert [best_cut(probability, weight, beta)[0] for beta in (0.25, 1, 3)] == [0.9, 0.5, 0.1]
    probability, weight = np.array([0.9, 0.5, 0.1]), np.array([10.0, 20.0, 30.0])
    assert expected_f1(probability, weight, np.array([True, True, False])) == pytest.approx(2 * 19 / (30 + 22))
    assert expected_f1(probability, weight, np.zeros(3, dtype=bool)) == pytest.approx(0.1)
    empty = np.zeros(0)  # a page without blocks
    assert (best_cut(empty, empty), expected_f1(empty, empty, empty.astype(bool))) == ((1.0, 0.0), 1.0)


# The inputs of the trees.


def inputs_of(directory, template, more=""):
    (directory / "mine.tpl").write_text(template, encoding="utf-8")
    return Inputs(config_of(directory, f"include crf\nevidence-template: mine\n{more}"))


def names_of(inputs):
    features = inputs.template.features
    return [f"{features[reference.feature]}[{reference.offset}]" for (reference,) in inputs.template.lines]


def test_inputs_are_features_of_the_block_and_its_neighbours(tmp_path):
    inputs = inputs_of(tmp_path, "%x[{-1,0,1,5,-2},words]\n%x[0,link-share] # of the block\n")
    matrix = inputs.matrix(columns("<p>a b</p><p><a href=x>c</a></p>")).tolist()
    rows = dict(zip(names_of(inputs), matrix, strict=True))
    assert rows == {
        "words[-1]": [-1, 2],
        "words[0]": [2, 1],
        "words[1]": [1, -1],
        "words[5]": [-1, -1],
        "words[-2]": [-1, -1],
        "link-share[0]": [0, 1],
    }
    assert inputs.matrix(columns("")).shape == (6, 0)


def test_inputs_of_the_shipped_template_are_finite_on_sample_pages():
    inputs = Inputs(load_config("default"))
    assert len(names_of(inputs)) == len(set(names_of(inputs))) == inputs.count
    for path in ANNOS[::4]:
        assert np.isfinite(inputs.matrix(Columns(load_anno(path, BLOCKS.cuts).document, BLOCKS))).all()


def test_two_references_on_a_line_are_refused_by_file(tmp_path):
    with pytest.raises(TemplateError, match=r"mine\.tpl: .*one %x") as caught:
        inputs_of(tmp_path, "%x[0,words]\n%x[0,words]%x[0,link-share]\n")
    assert str(tmp_path / "mine.tpl") in str(caught.value)


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("%x[0,wrods]\n", "no feature 'wrods' (did you mean 'words'?)"),
        ("%x[0,words]\n%x[-1,window4.words]\n", "no feature 'window4.words' (did you mean "),
        ("%x[0,container.class-nix]\n", "'container.class-nix' needs the variable 'class-nix', which is not set"),
        ("%x[0,name.nix]\n", "'name.nix' needs the variable 'name-nix', which is not set"),
    ],
    ids=["misspelt", "no such window", "class not set", "patterns not set"],
)
def test_an_impossible_feature_is_refused_with_its_variable(tmp_path, template, said):
    with pytest.raises(ConfigError) as caught:
        inputs_of(tmp_path, template)
    assert str(caught.value).startswith(f"{tmp_path / 'mine.conf'}:2: evidence-template: ")
    assert said in str(caught.value)


def test_a_missing_template_is_refused_with_a_suggestion(tmp_path):
    with pytest.raises(ConfigError, match=r"mine\.conf:2: evidence-template: no template 'evidense' \(did you mean"):
        Inputs(config_of(tmp_path, "include default\nevidence-template: evidense\n"))


def test_the_feature_evidence_needs_trees(tmp_path):
    config = config_of(tmp_path, "include base\nsplit: block\ncrf-features: evidence\ncrf-template: mine\n")
    (tmp_path / "mine.tpl").write_text("%x[0,evidence]\n")
    page = load_anno(ANNOS[0], config.cuts)
    with pytest.raises(ConfigError, match=r"mine\.conf:3: crf-features: .*set evidence: trees"):
        ModelLabeller(config).fit([page.document], [page.labels])


# The whole model, trained and run.


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """A model trained on every fourth sample page in a second, and its directory."""
    directory = tmp_path_factory.mktemp("evidence")
    config = config_of(directory, SMALL)
    annotated = load_pages(ANNOS[::4], config)
    said = []
    trained = train(annotated, config, report=said.append)
    trained.save(directory / "model")
    return SimpleNamespace(
        config=config, pages=annotated, trained=trained, said=said, path=directory / "model", directory=directory
    )


def material(small):
    pages = [Columns(page.document, small.config) for page in small.pages]
    content = [np.array([label.is_content for label in page.labels]) for page in small.pages]
    return pages, content, [site_of(page.document.url) for page in small.pages]


def test_training_reports_its_steps_and_learns_something(small):
    steps = ["fold 1 of 2", "fold 2 of 2", "all pages"]
    layers = [f"evidence: layer {layer} of 2, {step}" for layer in (1, 2) for step in steps]
    assert small.said == [f"evidence: features of {len(small.pages)} pages", *layers]
    assert small.trained.training["scores"]["content_accuracy"] > 0.7
    assert (small.path / "lexicon.tsv").stat().st_size > 1000


@pytest.mark.slow
@pytest.mark.parametrize("one_site", [False, True])
def test_each_page_gets_log_odds_for_each_block(small, one_site):
    pages, content, sites = material(small)
    fitted = fit_evidence(pages, content, ["one"] * len(pages) if one_site else sites, small.config)
    assert [len(found.log_odds) for found in fitted.findings] == [len(page.labels) for page in small.pages]
    assert all(np.isfinite(found.log_odds).all() for found in fitted.findings)


@pytest.mark.slow
def test_training_without_findings_gives_the_same_evidence(small):
    said = []
    full = fit_evidence(*material(small), small.config)
    short = fit_evidence(*material(small), small.config, said.append, with_findings=False)
    assert short.findings == []
    assert "evidence: layer 1 of 2, fold 1 of 2" in said
    assert "evidence: layer 2 of 2, fold 1 of 2" not in said
    for page in material(small)[0]:
        assert full.evidence.judge(page).log_odds.tolist() == short.evidence.judge(page).log_odds.tolist()


@pytest.mark.slow
def test_training_log_odds_come_from_trees_trained_on_other_sites(small, tmp_path):
    """Turn a site's labels round: what is found on its own pages stays, and what is found on others changes.

    With two sites no token is known, so that the lexicon tells nothing of one to the other.
    """
    pages, content, sites = material(small)
    config = config_of(tmp_path, f"{SMALL}evidence-layers: 1\n")
    ours = max(sites, key=sites.count)
    its = [site == ours for site in sites]
    assert 1 < sum(its) < len(sites) - 1
    turned = [~flags if own else flags for flags, own in zip(content, its, strict=True)]
    groups = ["ours" if own else "others" for own in its]
    before, after = (fit_evidence(pages, flags, groups, config) for flags in (content, turned))
    for own, found, found_turned in zip(its, before.findings, after.findings, strict=True):
        assert (found.log_odds.tolist() == found_turned.log_odds.tolist()) == own
    assert any(
        before.evidence.judge(page).log_odds.tolist() != after.evidence.judge(page).log_odds.tolist()
        for page, own in zip(pages, its, strict=True)
        if own
    )


@pytest.mark.slow
@pytest.mark.parametrize("layers", [1, 3])
def test_config_sets_the_number_of_layers(small, tmp_path, layers):
    config = config_of(tmp_path, f"{SMALL}evidence-layers: {layers}\n")
    trained = train(small.pages[:6], config)
    trained.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model").labeller
    assert len(loaded.stages_.evidence.layers) == layers
    document = small.pages[7].document
    assert loaded.label(document) == trained.labeller.label(document)


def test_a_net_is_averaged_with_the_trees(small):
    evidence = small.trained.labeller.stages_.evidence
    page = Columns(small.pages[1].document, small.config)
    alone, found = replace(evidence, net=None).judge(page), evidence.judge(page)
    by_net = evidence.net.log_odds(alone.inputs, page.words + 0.5)
    assert found.log_odds == pytest.approx(0.6 * alone.log_odds + 0.4 * by_net)
    assert np.abs(by_net - alone.log_odds).max() > 0.1


def test_a_page_without_blocks_has_no_log_odds(small):
    page = Columns(read_document("", small.config), small.config)
    assert len(small.trained.labeller.stages_.evidence.judge(page).log_odds) == 0


def test_training_weight_of_a_page_does_not_depend_on_its_length():
    short, long = columns("<p>a b</p><p>c</p>"), columns("<p>a b c</p>" * 300)
    assert training_weights(short).sum() == pytest.approx(training_weights(long).sum())
    assert training_weights(short).tolist() == pytest.approx([60, 40])


@pytest.mark.parametrize(("html", "count"), [("<h1>Tea</h1><p>a b</p>", 1), ("<p>a</p><p>b</p>", 2), ("<h1>Tea", 1)])
def test_nothing_is_learned_from_a_headline_unless_it_is_the_whole_page(html, count):
    assert without_headline(columns(html)).sum() == count


def test_weights_of_sampled_blocks_make_up_for_the_others():
    weights = np.array([60.0] + [1.0] * 40)
    random = np.random.default_rng(1)
    drawn = [sample_blocks(weights, 10, random) for _ in range(400)]
    assert all(0 in blocks for blocks, _ in drawn)  # the heavy one always is
    assert np.mean([len(blocks) for blocks, _ in drawn]) == pytest.approx(1 + 40 * 0.1, rel=0.05)
    assert np.mean([of_page.sum() for _, of_page in drawn]) == pytest.approx(100, rel=0.05)
    assert len({tuple(blocks) for blocks, _ in drawn}) > 100
    every, same_weights = sample_blocks(weights[:3], float("inf"), random)  # all blocks of a short page
    assert (every.tolist(), same_weights.tolist()) == ([0, 1, 2], [60, 1, 1])


@pytest.mark.slow
def test_a_layer_is_the_average_of_forests_that_differ(small, tmp_path):
    one = f"{SMALL}evidence-learner: catboost\nevidence-layers: 1\n"
    configs = [config_of(tmp_path, f"{one}evidence-forests: {forests}\n") for forests in (1, 2)]
    ((alone,),), ((together,),) = (fit_evidence(*material(small), config).evidence.layers for config in configs)
    trees = len(alone.leaves)
    assert len(together.leaves) == 2 * trees
    assert (together.leaves[:trees] * 2).tolist() == alone.leaves.tolist()
    assert together.leaves[trees:].tolist() != together.leaves[:trees].tolist()


def test_training_on_a_sample_of_blocks(small, tmp_path):
    config = config_of(tmp_path, f"{SMALL}evidence-layers: 1\nevidence-blocks: 10\n")
    every, some = (fit_evidence(*material(small), its).evidence for its in (small.config, config))
    assert some.layers[0][0].leaves.tolist() != every.layers[0][0].leaves.tolist()


def test_a_saved_model_labels_the_same(small):
    loaded = load_model(small.path).labeller
    for path in ANNOS[1::4]:
        document = load_anno(path, small.config.cuts).document
        assert loaded.label(document) == small.trained.labeller.label(document)
        assert loaded.features(document) == small.trained.labeller.features(document)


@pytest.mark.slow
@pytest.mark.parametrize("way", ["loaded", "trained again"])
def test_a_model_is_saved_the_same_byte_for_byte(small, tmp_path, way):
    if way == "loaded":
        loaded = load_model(small.path)
        again = replace(small.trained, labeller=loaded.labeller, config=loaded.config)
    else:
        again = train(small.pages, small.config)
    again.save(tmp_path / "again")
    files = sorted(path.name for path in small.path.iterdir())
    assert sorted(path.name for path in (tmp_path / "again").iterdir()) == files
    assert {"evidence.tpl", "lexicon.tsv", "trees.npy", "net.npy"} < set(files)
    for name in files:
        assert (tmp_path / "again" / name).read_bytes() == (small.path / name).read_bytes(), name


def test_features_show_the_evidence(small):
    document = small.pages[0].document
    shown = load_model(small.path).labeller.features(document)
    assert len({block["evidence"] for block in shown}) > 1
    assert {block["evidence"] for block in shown} <= set(small.config.get("feature-evidence-values"))


@pytest.mark.parametrize("html", ["", "<p></p>", "<p>tea</p>", "<p>--</p>"])
def test_a_page_without_text_is_labelled(small, html):
    page = Cleaner.load(small.path).document(html)
    assert len(page.labels) == len(page.document.blocks)
    assert 0 <= page.confidence <= 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("package", "config", "named"),
    [("catboost", "mine.conf", "CatBoost"), ("sklearn_crfsuite", "crf", "sklearn-crfsuite"), ("sklearn", "crf", "")],
)
def test_learning_without_a_package_tells_how_to_install_it_at_once(small, tmp_path, package, config, named):
    code = (
        f"import sys; sys.modules[{package!r}] = None; from victorpy.commands import main;"
        "sys.exit(main(['learn', '-q', *sys.argv[1:]]))"
    )
    config = small.directory / config if config.endswith(".conf") else config
    ended = run_process("-c", code, "-c", config, "missing.anno", "-o", tmp_path / "model", text=True)
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1
    assert named in ended.stderr
    assert install_command("train") in ended.stderr
    assert not (tmp_path / "model").exists()


@pytest.mark.slow
def test_adapting_without_a_package_tells_how_to_install_it_at_once(tmp_path):
    code = "import sys; sys.modules['catboost'] = None; import victorpy.commands as v; sys.exit(v.main(sys.argv[1:]))"
    ended = run_process("-c", code, "learn", "missing.anno", "-o", tmp_path / "model", text=True)
    assert ended.returncode == 2
    assert ended.stderr == f"learn: training evidence trees needs CatBoost: {install_command('train')}\n"


# Too few pages, or too similar pages.


def fit_small(tmp_path, htmls, labels):
    config = config_of(tmp_path, SMALL)
    documents = [read_document(html, config, url=f"http://{n}.example/") for n, html in enumerate(htmls)]
    return ModelLabeller(config).fit(documents, labels)


HEADER, PARAGRAPH, OTHER = Label.HEADER, Label.PARAGRAPH, Label.OTHER
MENU = "<ul><li><a href=/>Home</a><li><a href=/tea>Tea</a></ul>"
STORY = "<h1>Tea</h1><p>Tea is a drink. It is made by pouring hot water over the leaves of a bush.</p>"


@pytest.mark.parametrize(
    ("htmls", "labels"),
    [
        ([MENU + STORY], [[OTHER, OTHER, HEADER, PARAGRAPH]]),
        ([STORY, STORY, STORY], [[HEADER, PARAGRAPH]] * 3),
        ([STORY, MENU], [[HEADER, PARAGRAPH], [OTHER, OTHER]]),
        (["<p>tea</p>", "<p>tea</p>", "<p>tea</p>"], [[PARAGRAPH], [OTHER], [PARAGRAPH]]),
    ],
    ids=["one page", "content only", "each page of one kind", "nothing to tell them apart"],
)
def test_pages_without_information_for_trees_train_or_raise_a_clear_error(tmp_path, htmls, labels):
    try:
        labeller = fit_small(tmp_path, htmls, labels)
    except VictorError:  # any other error would print a traceback
        return
    document = read_document(MENU + STORY, labeller.config)
    assert len(labeller.label(document).labels) == len(document.blocks)


@pytest.mark.parametrize(
    "line",
    [
        "evidence-param-iteratoins: 5",
        "evidence-param-depth: 40",
        f"{LEAFWISE}evidence-param-num_leaves: 65",
        f"{LEAFWISE}evidence-param-random_strength: 2",
    ],
)
def test_a_parameter_that_a_learner_rejects_gives_a_clear_error(tmp_path, line):
    config = config_of(tmp_path, SMALL + line + "\n")
    loaded = load_pages(ANNOS[:6], config)
    with pytest.raises(VictorError, match=line.splitlines()[-1].partition(":")[0]):
        train(loaded, config)


# Damage.


@pytest.fixture
def copied(small, tmp_path):
    """A copy of the model, to be damaged."""
    return Path(shutil.copytree(small.path, tmp_path / "model"))


@pytest.mark.parametrize("name", ["trees.npy", "net.npy", "lexicon.tsv", "evidence.tpl"])
@pytest.mark.parametrize("damage", [lambda old: old[: len(old) // 2], lambda old: old + b"\n", lambda old: b"", None])
def test_a_damaged_or_missing_file_is_a_model_error(copied, name, damage):
    if damage is None:
        (copied / name).unlink()
    else:
        (copied / name).write_bytes(damage((copied / name).read_bytes()))
    with pytest.raises(ModelError, match=f"{name}{' is damaged' if damage else ': missing'}"):
        load_model(copied)


def rewrite(directory, name, content):
    """Change a file and its digest, as someone who edits a model by hand would."""
    meta = json.loads((directory / "meta.json").read_text())
    with write_directory(directory, {key: meta[key] for key in meta if key not in ("files", "digest")}) as fresh:
        shutil.copytree(directory, fresh, ignore=shutil.ignore_patterns("meta.json"), dirs_exist_ok=True)
        (fresh / name).write_bytes(content)


def test_a_rewritten_model_is_read(copied):
    rewrite(copied, "lexicon.tsv", "".join(["word\ttea\t1.5\n", "name\t<p\t0.5\n"]).encode())
    tables = load_model(copied).labeller.stages_.evidence.lexicon.tables
    found = [(table.hashes.tolist(), table.odds.tolist()) for table in tables]
    assert found == [(hash_words(["<p"]).tolist(), [0.5]), (hash_words(["tea"]).tolist(), [1.5]), ([], [])]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("trees.npy", b""),
        ("trees.npy", b"no trees at all"),
        ("net.npy", b"no net"),
        ("lexicon.tsv", b"word\ttea\n"),
        ("lexicon.tsv", b"sign\ttea\t1.0\n"),
        ("lexicon.tsv", b"word\ttea\tmuch\n"),
        ("lexicon.tsv", b"word\ttea\t\n"),
        ("lexicon.tsv", b"word\t\t1.0\n"),
        ("lexicon.tsv", b"\ttea\t1.0\n"),
        ("lexicon.tsv", b"word\t\xff\t1.0\n"),
        ("evidence.tpl", b"%x[0,wrods]\n"),
        ("evidence.tpl", b"%x[0,words]%x[0,words]\n"),
    ],
    ids=[
        "empty trees",
        "no trees",
        "no net",
        "two columns",
        "unknown kind",
        "no number",
        "no log-odds",
        "no token",
        "no kind",
        "no UTF-8",
        "feature",
        "pair",
    ],
)
def test_unreadable_files_with_valid_digests_are_a_model_error(copied, name, content):
    rewrite(copied, name, content)
    with pytest.raises(ModelError, match="cannot be loaded"):
        load_model(copied)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("word\ttea\n", "not kind, token and log-odds"),
        ("word\ttea\t1.0", "not kind, token and log-odds"),
        ("word\ttea\t\n", "not kind, token and log-odds"),
        ("word\t\t1.0\n", "not kind, token and log-odds"),
        ("\ttea\t1.0\n", "not kind, token and log-odds"),
        ("word\ttea\t1.0\t2.0\nword\tcup\n", "not kind, token and log-odds"),
        ("word\ttea\t5\u0660\n", "is not a number"),
        ("word\ttea\t1 2\n", "is not a number"),
        ("word\ttea\tnan\n", "log-odds are not all numbers"),
        ("sign\ttea\t1.0\n", "token kinds other than name, word, heading"),
    ],
)
def test_damaged_lines_of_a_lexicon(tmp_path, lines, message):
    (tmp_path / "lexicon.tsv").write_text(f"name\t<p\t0.5\n{lines}", encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        Lexicon.load(tmp_path / "lexicon.tsv")


def test_lexicon_with_too_many_similar_hashes_is_refused(tmp_path, monkeypatch):
    (tmp_path / "lexicon.tsv").write_text("word\ttea\t0.5\n", encoding="utf-8")
    monkeypatch.setattr("victorpy.model.evidence.lexicon.FULLEST_SLOT", 1)
    assert [len(table.hashes) for table in Lexicon.load(tmp_path / "lexicon.tsv").tables] == [0, 1, 0]
    monkeypatch.setattr("victorpy.model.evidence.lexicon.FULLEST_SLOT", 0)
    with pytest.raises(ValueError, match="similar hashes"):
        Lexicon.load(tmp_path / "lexicon.tsv")


def test_a_model_with_the_first_trees_only_is_refused(copied):
    file = io.BytesIO((copied / "trees.npy").read_bytes())
    Forest.load(file, 1000)
    rewrite(copied, "trees.npy", file.getvalue()[: file.tell()])
    with pytest.raises(ModelError, match="cannot be loaded"):
        load_model(copied)


def test_trees_with_more_inputs_than_the_template_are_refused(copied):
    lines = (copied / "evidence.tpl").read_bytes().split(b"\n")
    rewrite(copied, "evidence.tpl", b"\n".join(lines[: len(lines) // 2]) + b"\n")
    with pytest.raises(ModelError):
        load_model(copied)


# The kept blocks, and the confidence.


@pytest.fixture(scope="session")
def bundled():
    """The bundled model, and the shipped pages as it cuts them."""
    model = load_model()
    return SimpleNamespace(model=model, pages=[load_anno(path, model.config.cuts).document for path in ANNOS])


@pytest.fixture(scope="session")
def html():
    return ANNOS[0].with_suffix(".html").read_bytes()


@pytest.fixture(scope="session")
def cleaner(bundled):
    return Cleaner(bundled.model.labeller, bundled.model.config)


def labeller_with(model, **values):
    given = {name.replace("_", "-"): (value,) for name, value in values.items()}
    return model.labeller.with_config(replace(model.config, values={**model.config.values, **given}))


def kept_with(model, document, **values):
    labels = labeller_with(model, **values).label(document).labels
    return {at for at, label in enumerate(labels) if label.is_content}


@pytest.mark.slow
def test_favoring_precision_keeps_less_and_favoring_recall_more(bundled):
    total = [0, 0, 0]
    for document in bundled.pages:
        precision, balanced, recall = kept = [
            kept_with(bundled.model, document, decode="expected", favor=favor)
            for favor in ("precision", "balanced", "recall")
        ]
        assert precision <= balanced <= recall, document.source
        assert recall
        total = [count + len(blocks) for count, blocks in zip(total, kept, strict=True)]
    assert total[0] < total[1] < total[2]


@pytest.mark.slow
def test_headings_stay_with_the_text_below_them(bundled):
    headings = {"h1", "h2", "h3", "h4", "h5", "h6"}
    added = 0
    for document in bundled.pages:
        without, usual = (kept_with(bundled.model, document, heading_least=least) for least in ("1", "0.1"))
        for at in usual - without:
            assert headings & {*document.blocks[at].containers}
            assert without & {*range(at + 1, at + 21)} or any(
                headings & {*document.blocks[later].containers} for later in usual if later > at
            )
        assert without <= usual == kept_with(bundled.model, document)
        added += len(usual - without)
    assert added > 10


ROWS = "".join(f"<tr><th>{name}<td>{value}<td>{unit}" for name, value, unit in zip("abcd", "1234", "wxyz", strict=True))


BARE_ROWS = ROWS.replace("th", "td")


@pytest.mark.parametrize(
    ("page", "units"),
    [
        (f"<p>tea<table>{ROWS}</table><p>tea", [(1, 13)]),
        (f"<table>{BARE_ROWS}</table>", [(0, 12)]),
        (f"<table>{BARE_ROWS}<tr><td>{'long ' * 41}</table>", []),  # may be a layout table
        (f"<table><tr><td>{ROWS}<table>{ROWS}</table></table>", [(12, 24)]),  # only the inner table
        (f"<table>{ROWS}<tr><td>{'long ' * 81}</table>", []),
        ("<table><tr><th>a<td>b<td>c<td>d</table>", []),  # one row
        ("<p>tea<figure><p>A cup<figcaption>Tea in a cup</figcaption></figure>", [(1, 3)]),
        (f"<figure><p>{'long ' * 120}<figcaption>Tea</figcaption></figure>", []),
        ("<dl><dt>Tea<dd>hot<dd>green<dt>Milk<dd>cold</dl><p>more", [(3, 5), (0, 3)]),
        (f"<dl><dt>Tea<dd>{'long ' * 80}</dl>", []),
        ("<dl><dt>Tea</dl><p>more", []),
        ("<ul><li><b>Tea</b><p>It is hot.<li><p>Milk<p>It is cold.</ul>", [(0, 2), (2, 4)]),
        ("<ul><li><p>Tea is hot and black or green or even white<p>so it is</ul>", []),  # no label
        ("<ul><li><p>Tea<p><a href=/>leads elsewhere</a></ul>", []),
        ("<ul><li><p>Tea<ul><li><p>Green<p>It is not as hot.</ul></ul>", [(1, 3), (0, 3)]),
        ("<pre>a\nb</pre><figure><pre>c\nd</pre><p>e</figure>", [(0, 2), (2, 4), (2, 5)]),
        # The exact limits.
        (f"<figure><p>{'long ' * 119}<figcaption>Tea</figcaption></figure>", [(0, 2)]),
        (f"<table>{ROWS}<tr><td>{'long ' * 80}</table>", [(0, 13)]),
        (f"<table>{BARE_ROWS}<tr><td>{'long ' * 40}</table>", [(0, 13)]),
        ("<table><tr><th>a<td>b<tr><td>c<td>d</table>", [(0, 4)]),
        ("<table><tr><th>a<td>b<tr><td>c</table>", []),  # fewer than four blocks
        ("<table><tr><td>a<td>b<tr><td>c<td>d</table>", []),  # two rows without a header
        ("<table><tr><td>a<td>b<tr><td>c<td>d<tr><td>e<td>f</table>", [(0, 6)]),
        ("<table><tr><td>a<td>b<tr><td>c<td>d<tr><td>e</table>", []),  # fewer than two cells per row
        (f"<dl><dt>Tea<dd>{'long ' * 79}</dl>", [(0, 2)]),
        ("<ul><li><p>Tea<p>a b<p>c d<p>e f</ul>", [(0, 4)]),
        ("<ul><li><p>Tea<p>a b<p>c d<p>e f<p>g h</ul>", []),  # more than four blocks
        ("<ul><li><p>a b c d e f g h<p>a b c d e f g h</ul>", [(0, 2)]),
        ("<ul><li><p>a b c d e f g h<p>a b c d e f g</ul>", []),  # the label is longer than the rest
        ("<ul><li><p>a b c d e f g h i<p>a b c d e f g h i</ul>", []),
        (f"<ul><li><p>Tea<p>{'long ' * 79}</ul>", [(0, 2)]),
        (f"<ul><li><p>Tea<p>{'long ' * 80}</ul>", []),
        ("<ul><li><p>Tea<p><a href=/>hot</a> water</ul>", [(0, 2)]),
        ("<ul><li><p>Tea<p><a href=/>hot</a></ul>", []),  # half of the words are links
        ("<ul><li><p>Tea<p>It is hot.<button>Buy</button></ul>", []),
        ("<ul><li><button>Tea</button><p>It is hot.</ul>", [(0, 2)]),
    ],
)
def test_units_are_kept_or_dropped_as_a_whole(page, units):
    config = load_config("default")
    columns = Columns(read_document(page, config), config)
    assert list(zip(*(numbers.tolist() for numbers in find_units(columns)), strict=True)) == units
    content = np.linspace(0.1, 0.9, columns.count)
    pooled = pool_units(content, columns, find_units(columns))
    inside = np.zeros(columns.count, dtype=bool)
    for first, stop in units:
        assert pooled[first:stop].min() == pooled[first:stop].max()
        inside[first:stop] = True
    assert (pooled == content)[~inside].all()
    kept = Keeping().kept(content, columns)
    assert all(kept[first:stop].all() or not kept[first:stop].any() for first, stop in units)


def test_blocks_that_look_alike_share_their_evidence():
    config = load_config("default")
    columns = Columns(read_document("<p>a<p>b<ul><li>c<li>d<li>e</ul><h1>f", config), config)
    pooled = pool_alike(probabilities(np.array([1.0, 3.0, -2.0, -2.0, -2.0, 5.0])), columns)
    assert np.log(pooled / (1 - pooled)) == pytest.approx([1.5, 2.5, -2, -2, -2, 5])  # a variance of 1 halves distances
    assert np.isfinite(pool_alike(np.array([0.0, 1.0, 0.0, 1.0, 0.5, 1.0]), columns)).all()
    records = Columns(
        read_document("<div><p>a</div>" * 2 + "<h1>Tea</h1>" + "<ul><li>c d e f</ul>" * 5, config), config
    )
    content = np.array([0.1, 0.1, 0.9, 0.7, 0.3, 0.7, 0.7, 0.3])
    assert np.flatnonzero(Keeping().kept(content, records)).tolist() == [2, 3, 4, 5, 6, 7]


DETAILS = "<details><summary>Contents</summary><h2>Tea</h2><p><a href='#x'>Hot</a></details>"
WORDS = "Tea is made of leaves and hot water, and people have enjoyed it for ages in many places of the world"


@pytest.mark.parametrize(
    ("page", "probabilities", "expected"),
    [
        ("<p>tea<pre>a\nb\nc d e\n</pre><p>tea", [0.9, 0.9, 0.1, 0.9, 0.1], [0, 1, 2, 3]),
        ("<p>tea<pre>a\nb\nc d e\n</pre><p>tea", [0.9, 0.9, 0.9, 0.01, 0.9], [0, 4]),
        ("<p>tea<p>hot<p>old", [0.9, 0.06, 0.04], [0, 1]),  # very few blocks
        ("<main><p>tea<p>hot<p>old</main>" + "<p>menu" * 5, [0.9, 0.06, 0.04, *[0.06] * 5], [0, 1]),
        ("<main><p>tea<p>hot</main>" + f"<p>{WORDS}" * 4, [0.9, 0.06, *[0.01] * 4], [0]),
        ("<title>Tea</title><h2>Tea</h2><p>by me<p>tea is hot<p>x<p>y", [0.03, 0.01, 0.9, 0.01, 0.01], [0, 2]),
        ("<title>Tea</title><h1>Tea</h1><p>by me<p>tea is hot<p>x<p>y", [0.029, 0.01, 0.9, 0.01, 0.01], [2]),
        ("<title>Pot</title><h1>Tea</h1><p>by me<p>tea is hot<p>x<p>y", [0.03, 0.01, 0.9, 0.01, 0.01], [0, 2]),
        ("<title>Pot</title><h2>Tea</h2><p>by me<p>tea is hot<p>x<p>y", [0.03, 0.01, 0.9, 0.01, 0.01], [2]),
        ("<title>Tea</title><p>tea is hot<p>x<p>y<p>z<h1>Tea", [0.9, 0.01, 0.01, 0.01, 0.06], [0]),
        (f"<p>{WORDS}<p hidden>{WORDS}" + "<p>menu" * 3, [0.9, 0.9, 0.01, 0.01, 0.01], [0]),
        (f"<p>Menu<p hidden>{WORDS}" + "<p>menu" * 3, [0.01, 0.9, 0.01, 0.01, 0.01], [1]),  # the only copy
        ("<p>tea<p><a>Skip to content</a><p><a>Jump to search</a> now", [0.9, 0.9, 0.9], [0, 2]),
        ("<p>tea<ul class=share-tools><li><a>X</a><li>tea</ul><p class=shared><a>tea</a>", [0.9] * 4, [0, 2, 3]),
        ("<p>tea<p><a href='//x/intent/tweet?u=1'>X</a><p><a href='mailto:?body=a'>X</a>", [0.9] * 3, [0]),
        ("<pre>tea</pre><button>Copy</button><p><button>Copied!</button><p><button>Copy tea?", [0.9] * 4, [0, 3]),
        ("<p>tea<form><textarea>embed tea</textarea></form><p>tea", [0.9] * 3, [0, 2]),
        ("<form><textarea>tea</textarea></form><p>menu", [0.9, 0.01], [0]),
        ("<p>tea<p><a href='mailto:a@b.c'>Send</a><p><a href='//x/share-price'>X</a>", [0.9] * 3, [0, 1, 2]),
        ("<p>tea<p>Close<p>Advertisement:<h2>Close</h2><p>Close the box<p>▢", [0.9] * 6, [0, 3, 4]),
        (f"<p>tea<table>{'<tr><td>Close<td>Red (1)' * 4}</table>", [0.9] * 9, [*range(9)]),
        ("<p>tea" + "<p>Red (1,200)" * 3 + "<p>Sizes(3)<p>12 (3)<p>Call f (1999)", [0.9] * 7, [0, 5, 6]),
        ("<p>tea<h2>Contents</h2><ul><li>Hot<li>Old</ul><p>tea", [0.9, 0.9, 0.01, 0.01, 0.9], [0, 4]),
        ("<p>tea<h2>Contents</h2><ul><li>Hot<li>Old</ul><p>tea", [0.9] * 5, [*range(5)]),
        ("<p>tea<p>Contents<p>hot<p>Contents<p>old", [0.9, 0.9, 0.01, 0.9, 0.01], [0, 1, 3]),  # repeated
        (f"<p>tea{DETAILS}<p>hot{DETAILS}", [0.9, 0.9, 0.9, 0.01] * 2, [0, 4]),
        (f"<p>tea{DETAILS}", [0.9] * 4, [*range(4)]),
        ("<p>tea<details><summary>Contents</summary><h2>Tea</h2></details>", [0.9] * 3, [*range(3)]),
        ("<p>tea" + "<p>Red (12)" * 3, [0.9] * 4, [0, 1, 2, 3]),  # few enough to be something else
        (f"<p>{WORDS}<div id=cookie-banner><p>Cookies<p>Your consent</div>", [0.9] * 3, [0]),
        (f"<p>{WORDS}<div role=dialog><p>Privacy<p>Our partners</div>", [0.9] * 3, [0]),
        (f"<p>{WORDS}<div role=dialog><p>Privacy<p>Your privacy</div>", [0.9] * 3, [0, 1, 2]),
        ("<p>tea<div class=consent><p>Cookies are<p>Your consent</div>", [0.9] * 3, [0]),
        ("<p>tea<div class=consent><p>Cookies are<p>Your consent is</div>", [0.9] * 3, [0, 1, 2]),  # most of the page
        # The exact limits.
        ("<p>tea<p>hot<p>old<p>red", [0.9, 0.05, 0.04, 0.06], [0, 1, 3]),
        ("<p>tea<p>hot<p>old<p>red<p>new", [0.9, 0.05, 0.04, 0.06, 0.06], [0]),  # five blocks
        (f"<main><p>tea<p>hot</main>{('<p>' + 'w ' * 19) * 3}", [0.9, 0.06, *[0.01] * 3], [0, 1]),
        (f"<main><p>tea<p>hot</main>{('<p>' + 'w ' * 19) * 3}a", [0.9, 0.06, *[0.01] * 3], [0]),  # sixty words
        ("<p>tea<p><a href=/>hot</a> tea<p>old", [0.9, 0.06, 0.04], [0, 1]),
        ("<p>tea<p><a href=/>very hot</a> tea<p>old", [0.9, 0.06, 0.04], [0]),  # most words are links
        (f"<p>{WORDS}<p hidden>{' '.join(WORDS.split()[:20])}" + "<p>menu" * 3, [0.9, 0.9, *[0.01] * 3], [0]),
        (f"<p>{WORDS}<p hidden>{' '.join(WORDS.split()[:19])}" + "<p>menu" * 3, [0.9, 0.9, *[0.01] * 3], [0, 1]),
        (f"<p>{WORDS}<p hidden>{' '.join(WORDS.split()[:18])} a b c" + "<p>menu" * 3, [0.9, 0.9, *[0.01] * 3], [0]),
        (
            f"<p>{WORDS}<p hidden>{' '.join(WORDS.split()[:17])} a b c d" + "<p>menu" * 3,
            [0.9, 0.9, *[0.01] * 3],
            [0, 1],
        ),
        ("<p>tea<p><a>Skip to a b c d e f g h i j</a>", [0.9] * 2, [0]),
        ("<p>tea<p><a>Skip to a b c d e f g h i j k</a>", [0.9] * 2, [0, 1]),  # too long for a button
        ("<title>Tea pot</title><h2>Tea cup</h2><p>by me<p>tea is hot<p>x<p>y", [0.03, 0.01, 0.9, 0.01, 0.01], [2]),
    ],
)
def test_listings_short_pages_headlines_and_hidden_copies(page, probabilities, expected, monkeypatch):
    """Covers in_short_pages, find_units, headline_above, hidden_copies, buttons, controls and consents."""
    monkeypatch.setattr(cut, "pool_alike", lambda content, page: content)  # most blocks of these pages look alike
    config = load_config("default")
    kept = Keeping.of(config).kept(np.array(probabilities), Columns(read_document(page, config), config))
    assert np.flatnonzero(kept).tolist() == expected


TABLE = "<table><tr><th>a<th>b<tr><td>c<td>d</table>"


@pytest.mark.parametrize(
    ("unit", "probabilities", "expected"),
    [
        ("<div>$$a_1$$</div><div>(1)</div>", [0.06, 0.06], [0, 1, 2, 3]),
        ("<div>$$a_1$$</div><div>(1)</div>", [0.04, 0.06], [0, 3]),  # strong evidence
        ("<p>Some tea costs</p><p>(1)</p>", [0.06, 0.06], [0, 3]),
        (f"<figure>{TABLE}<figcaption>tea</figcaption></figure>", [0.06] * 5, [0, 1, 2, 3, 4, 5, 6]),
        (f"<form>{TABLE}</form>", [0.06] * 4, [0, 5]),
        (TABLE.replace("<td>", "<td><a href=/>tea and "), [0.06] * 4, [0, 5]),  # teasers
        ("<div class='alert alert-info'><p>Note<p>Hot.</div>", [0.06] * 2, [0, 1, 2, 3]),
        ("<div class='alert-bar'><p>Note<p>Hot.</div>", [0.06] * 2, [0, 3]),
        ("<details><summary>More</summary><p>Hot.<p><a href=/>Links of a menu</a></details>", [0.06] * 3, [0, 1, 2, 4]),
        (f"<p>{WORDS}<div class=admonition>Hot.</div>", [0.06] * 2, [0, 3]),  # other text is missing here
        ("<p>a b c d e f g h<div class=admonition>Hot.</div>", [0.06] * 2, [0, 2, 3]),
        ("<p>a b c d e f g h i<div class=admonition>Hot.</div>", [0.06] * 2, [0, 3]),
        ("<div>$$a_1$$</div><div>(1)</div>", [0.05, 0.05], [0, 1, 2, 3]),
        (TABLE.replace("<td>", "<td><a href=/>"), [0.06] * 4, [0, 1, 2, 3, 4, 5]),  # half of the words are links
        (f"<details>{'<p>x' * 30}</details>", [0.06] * 30, [*range(32)]),
        (f"<details>{'<p>x' * 31}</details>", [0.06] * 31, [0, 32]),  # too long a gap
    ],
)
def test_units_between_kept_blocks_are_kept(unit, probabilities, expected):
    """Covers units_between."""
    config = load_config("default")
    columns = Columns(read_document(f"<p>{WORDS}{unit}<p>{WORDS}{'<p>menu' * 3}", config), config)
    content = np.array([0.9, *probabilities, 0.9, 0.01, 0.01, 0.01])
    assert np.flatnonzero(Keeping.of(config).kept(content, columns)).tolist() == expected
    precise = Keeping(favor="precision").kept(content, columns)
    assert np.flatnonzero(precise).tolist() == [0, len(probabilities) + 1]


ROWS = "<table><tr><th>a<th>b<tr><td>c"
FACTS = [f"<b>Field {number}</b>: {number}{number}<br>" for number in range(6)]


@pytest.mark.parametrize(
    ("facts", "probability", "others", "expected"),
    [
        (FACTS, 0.1, 0.5, [*range(8)]),
        (FACTS, 0.09, 0.5, [0, 7]),
        (FACTS[:5], 0.1, 0.5, [0, 6]),  # too few
        ([*FACTS[:5], "a b c d e f<br>"], 0.1, 0.5, [*range(8)]),
        ([*FACTS[:5], "a b c d e f g<br>"], 0.1, 0.5, [0, 7]),  # too long for a fact
        ([*FACTS[:5], "<a href=/>a</a> b<br>"], 0.1, 0.5, [*range(8)]),
        ([*FACTS[:5], "<a href=/>a b</a> c<br>"], 0.1, 0.5, [0, 7]),  # mostly a link
        (["<nav>", *FACTS, "</nav>"], 0.1, 0.5, [0, 7]),
        (["<pre>", *[f"line {number}\n" for number in range(6)], "</pre>"], 0.1, 0.5, [0, 7]),
        ([*FACTS, ROWS + "<td>1 2 3 4 5 6 7</table>"], 0.11, 0.5, [*range(12)]),  # three of four cells are facts
        ([*FACTS, ROWS + "<td>1 2 3 4 5 6 7<tr><td>1 2 3 4 5 6 7<td>f</table>"], 0.11, 0.5, [*range(7), 13]),
        ([f"<label>Field {number}</label>" for number in range(6)], 0.3, 0.5, [*range(8)]),
        ([f"<label>Field {number}</label>" for number in range(6)], 0.29, 0.5, [0, 7]),  # of a form
        (FACTS, 0.3, 0.99, [*range(8)]),  # the model is sure
        (FACTS, 0.29, 0.99, [0, 7]),
    ],
)
def test_short_facts_between_kept_blocks_are_kept(facts, probability, others, expected, monkeypatch):
    """Covers facts_between."""
    monkeypatch.setattr(cut, "pool_alike", lambda content, page: content)
    config = load_config("default")
    page = f"<p>{WORDS}</p><div>{''.join(facts)}</div><p>{WORDS}{'<p>Menu 1' * 6}"
    columns = Columns(read_document(page, config), config)
    count = columns.count - 8
    content = np.array([others, *[probability] * count, others, *[0.01] * 6])
    assert np.flatnonzero(Keeping().kept(content, columns)).tolist() == expected
    assert np.flatnonzero(Keeping(favor="precision").kept(content, columns)).tolist() == [0, count + 1]


@pytest.mark.parametrize(
    ("introduction", "probability", "expected"),
    [
        ("<p>Teas of Asia:", 0.1, [0, 1, 2, 3]),
        ("<p>亚洲 茶叶 如下：", 0.1, [0, 1, 2, 3]),
        ("<p>Teas of Asia:", 0.09, [0, 3]),
        ("<p>Teas of Asia", 0.1, [0, 3]),
        ("<p>Asian teas:", 0.1, [0, 3]),
        ("<p>More about tea:", 0.1, [0, 3]),
        ("<p>Teas you might like:", 0.1, [0, 3]),
        ("<ul><li>Teas of Asia:</ul>", 0.1, [0, 3]),
    ],
)
def test_lists_of_links_after_a_colon_are_kept(introduction, probability, expected, monkeypatch):
    """Covers introduced_lists."""
    monkeypatch.setattr(cut, "pool_alike", lambda content, page: content)
    config = load_config("default")
    page = f"{introduction}<ul><li><a href=/g>Green tea</a><li><a href=/b>Black tea</a></ul><p>{WORDS}<p>Menu"
    content = np.array([0.9, probability, 0.2, 0.9, 0.01])
    columns = Columns(read_document(page, config), config)
    assert np.flatnonzero(Keeping().kept(content, columns)).tolist() == expected
    assert np.flatnonzero(Keeping(favor="precision").kept(content, columns)).tolist() == [0, 3]


def test_names_and_dates_of_posts_are_no_facts(monkeypatch):
    monkeypatch.setattr(cut, "pool_alike", lambda content, page: content)
    config = load_config("default")
    post = f"<div class=post><div>Ann</div><div>{WORDS}</div></div>"
    columns = Columns(read_document(post + "<div>Bob</div>" * 6 + post, config), config)
    content = np.array([0.1, 0.5, *[0.1] * 7, 0.5])
    assert np.flatnonzero(Keeping().kept(content, columns)).tolist() == [1, 9]


def test_favoring_precision_keeps_the_headline():
    config = load_config("default")
    page = "<title>Tea</title><h1>Tea<p>by me<p>tea is hot<h2>Hot</h2><p>tea is old<p>y"
    columns = Columns(read_document(page, config), config)
    kept = Keeping(favor="precision").kept(np.array([0.06, 0.01, 0.9, 0.2, 0.9, 0.01]), columns)
    assert np.flatnonzero(kept).tolist() == [0, 2, 4]


@pytest.mark.parametrize(
    ("page", "dropped"),
    [
        ("<div class='slick-slide slick-cloned'><p>{0}</div><div class=slick-slide><p>{0}</div>", [0]),
        ("<div class='d-md-none x'><p>{0}</div><div class='d-none d-md-block'><p>{0}</div>", [1]),
        ("<div class=d-md-none><p>{0}<p>And a text that is only here</div><p>{0}", []),
        ("<p>{0}<p>{0}", []),  # repeated for some other reason
        ("<p>tea<p class=hidden-xs>tea", []),  # too short
    ],
)
def test_copies_of_slides_and_for_other_screens_are_dropped(page, dropped):
    config = load_config("default")
    columns = Columns(read_document(page.format("Tea is hot, and it is old"), config), config)
    assert visible_copies(np.ones(columns.count, dtype=bool), columns) == dropped


def test_copies_of_the_headline_are_dropped():
    config = load_config("default")
    page = "<p>My tea<h1>My tea</h1><p><a>My tea!</a><p>My tea<br>x<table><tr><td>My tea</table><p>My tea<p>My tea 5"
    columns = Columns(read_document(page, config), config)
    is_kept = np.ones(columns.count, dtype=bool)
    assert headline_copies(is_kept, columns) == [0, 2, 6]
    is_kept[1] = False
    assert not headline_copies(is_kept, columns)


def test_the_heading_of_a_section_stays_above_its_subsections():
    """Covers headings_above."""
    config = load_config("default")
    page = "<h2>Milk</h2><p>x<h2>Tea</h2><p>x<h3>Hot</h3><p>tea is hot<h3>Old</h3><p>tea is old<h2>Sugar</h2><p>x"
    columns = Columns(read_document(page, config), config)
    kept = Keeping().kept(np.array([0.2, 0.01, 0.2, 0.01, 0.2, 0.9, 0.2, 0.9, 0.2, 0.01]), columns)
    assert np.flatnonzero(kept).tolist() == [2, 4, 5, 6, 7]


@pytest.mark.parametrize(
    ("section", "added"),
    [
        ("<h2>Tea {}</h2><p>Buy<p>{}", True),
        ("<div><h2>Tea {}</h2><p>Buy<p>{}</div>", True),
        ("<div><h2>Tea {0}</h2><p>Buy</div><p>{1}", False),  # the box of the heading has no kept text
        ("<div><h2>Tea {0}</h2><p>Buy</div><p>{1}<div><h2>Cups {0}</h2><p>Buy</div><p>{1}", True),  # as others have
        ("<h3>Tea {}</h3><p>Buy<p>{}", False),  # no other heading of this level
        ("<h2>Tea {}</h2><p>Buy<h2>Other</h2><p>{}", False),  # no text in the section
        ("<h2>Tea {}</h2><p>Buy " + "now " * 30 + "<p>{}", False),  # most of it is dropped
    ],
)
def test_sections_keep_their_headings(section, added, monkeypatch):
    """Covers headings_above."""
    monkeypatch.setattr(cut, "pool_alike", lambda content, page: content)  # the headings look alike
    config = load_config("default")
    text = "Tea is hot, and it is old, and it is drunk all over the world, with milk or without it, day after day"
    sections = "".join(section.format(number, text) for number in range(3))
    columns = Columns(read_document(f"<h1>Teas</h1><p>{text}<h2>Kinds</h2><p>{text}{sections}", config), config)
    is_tea = [len(shown) == 5 and shown[-1].isdigit() for shown in columns.texts]
    content = np.array([0.01 if shown.startswith(("Buy", "Other")) else 0.9 for shown in columns.texts])
    content[is_tea] = 0.05
    assert {*Keeping().kept(content, columns)[is_tea].tolist()} == {added}
    content[is_tea] = 0.049
    assert not Keeping().kept(content, columns)[is_tea].any()
    assert not Keeping(heading_least=1).kept(np.where(is_tea, 0.5, content), columns)[is_tea].any()


def test_favoring_precision_adds_no_headings(bundled):
    for document in bundled.pages[::6]:
        for least in ("0", "1"):
            kept = kept_with(bundled.model, document, favor="precision", heading_least=least)
            assert kept == kept_with(bundled.model, document, favor="precision")


def test_each_block_may_have_its_most_probable_label(bundled):
    labeller = labeller_with(bundled.model, decode="label")
    for document in bundled.pages[::6]:
        found = labeller.label(document)
        noise = [label is Label.OTHER for label in found.labels]
        for is_noise, share, content in zip(noise, found.probabilities, found.content, strict=True):
            assert share == pytest.approx(1 - content, abs=1e-5) if is_noise else 1 - content <= share + 1e-5
            assert share <= content + 1e-5 or is_noise


def test_a_crf_without_evidence_gives_each_block_its_most_probable_label():
    model = load_model("cleaneval")
    document = load_anno(ANNOS[0], model.config.cuts).document
    (shares,) = model.labeller.predict_marginals([document])
    found = labeller_with(model, decode="label").label(document)
    assert [str(label) for label in found.labels] == [max(block, key=block.__getitem__) for block in shares]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["default", "cleaneval"])
def test_a_confidence_is_a_share(name):
    model = load_model(name)
    found = [model.labeller.label(load_anno(path, model.config.cuts).document) for path in ANNOS]
    assert all(0 <= labelling.confidence <= 1 for labelling in found)
    assert len({labelling.confidence for labelling in found}) > 10
    for labelling in found:
        assert all(0 <= share <= 1 for share in (*labelling.probabilities, *labelling.content))


def test_the_confidence_is_the_expected_f1_of_what_is_kept(bundled):
    for document in bundled.pages[::5]:
        found = bundled.model.labeller.label(document)
        kept = np.array([label.is_content for label in found.labels])
        weight = Columns(document, bundled.model.config).words + 0.5
        assert found.confidence == pytest.approx(expected_f1(np.array(found.content), weight, kept), abs=1e-5)


def test_a_cleaned_page_has_its_confidence(bundled, cleaner, html):
    page = cleaner.document(html)
    assert page.confidence == bundled.model.labeller.label(page.document).confidence
    assert json.loads(cleaner.clean(html, format="jsonl"))["confidence"] == page.confidence


def test_a_page_with_low_expected_f1_is_empty(bundled):
    for document in bundled.pages[::6]:
        assert kept_with(bundled.model, document, decode="expected", empty_below="1") == set()
        assert kept_with(bundled.model, document, decode="expected", empty_below="0")
        assert kept_with(bundled.model, document, decode="expected", empty_below="1", favor="recall")
    found = labeller_with(bundled.model, decode="expected", empty_below="1").label(bundled.pages[0])
    assert found.confidence == pytest.approx(1 - max(found.content), abs=1e-5)  # as sure as no block is content


@pytest.mark.parametrize("favor", ["precision", "balanced", "recall"])
def test_cleaner_accepts_favor(bundled, cleaner, html, favor):
    kept = kept_with(bundled.model, cleaner.document(html).document, decode="expected", favor=favor)
    for favoring in (cleaner.favoring(favor), Cleaner.load(favor=favor)):
        labels = favoring.document(html).labels
        assert {at for at, label in enumerate(labels) if label.is_content} == kept
    assert clean(html, favor=favor) == cleaner.favoring(favor).clean(html)


def test_cleaner_refuses_an_unknown_favor():
    with pytest.raises(ConfigError, match=r"favor must be one of .*, not 'recal' \(did you mean 'recall'\?\)"):
        Cleaner.load(favor="recal")


def test_favoring_changes_no_other_cleaner(bundled, cleaner, html):
    text = cleaner.clean(html)
    cleaner.favoring("precision").clean(html)
    assert cleaner.clean(html) == text
    assert cleaner.config == bundled.model.config


def test_without_evidence_the_crf_gives_the_expected_f1():
    model = load_model("cleaneval")
    for path in ANNOS[::8]:
        document = load_anno(path, model.config.cuts).document
        precision, recall = (
            kept_with(model, document, decode="expected", favor=way) for way in ("precision", "recall")
        )
        assert precision
        assert precision <= recall
