"""Settings of trees: those that a learner refuses are reported by the name of the config's variable."""

import re
from dataclasses import replace

import numpy as np
import pytest

from victorpy import load_config
from victorpy.errors import ConfigError
from victorpy.model.crf.tables import Tables
from victorpy.model.decoder import Decoder
from victorpy.model.evidence import Findings, Keeping
from victorpy.model.evidence.trees import (
    CATBOOST,
    LIGHTGBM,
    average,
    constant,
    from_lightgbm,
    grow,
    learners,
    mix,
    tree_settings,
)

MATRIX = np.random.default_rng(1).random((3, 80)).astype(np.float32)
CONTENT = MATRIX[0] > 0.5


@pytest.mark.parametrize(
    ("learner", "settings", "message"),
    [
        (CATBOOST, {"depth": -1}, "evidence-param-depth: CatBoost rejects the settings: "),
        (CATBOOST, {"loss_function": "Tea"}, "CatBoost rejects the settings: "),
        (LIGHTGBM, {"num_leaves": 1}, "evidence-param-*: LightGBM rejects the settings: "),
    ],
)
def test_rejected_settings_are_reported_on_one_line(learner, settings, message):
    pytest.importorskip(learner)
    with pytest.raises(ConfigError, match=re.escape(message)) as raised:
        grow(MATRIX, CONTENT, np.ones(80), {"learner": learner, "iterations": 2} | settings)
    assert "\n" not in str(raised.value)
    assert not str(raised.value).endswith(": ")


def config_with(**parameters):
    config = load_config("default")
    own = {name: values for name, values in config.values.items() if not name.startswith("evidence-param-")}
    named = {f"evidence-param-{name}": (value,) for name, value in parameters.items()}
    return replace(config, values={**own, "evidence-learner": (CATBOOST,), **named})


@pytest.mark.parametrize(
    ("learner", "parameters", "expected"),
    [
        (CATBOOST, {}, {"learner": CATBOOST, "random_seed": 1}),
        (CATBOOST, {"depth": "8", "l2_leaf_reg": "3"}, {"depth": 8, "l2_leaf_reg": 3.0}),
        (CATBOOST, {"depth": "9"}, "trees are at most 8 levels deep, not 9"),
        (CATBOOST, {"num_leaves": "65", "min_child_samples": "2"}, {"random_seed": 1}),
        (CATBOOST, {"dept": "8"}, "CatBoost has no parameter 'dept' (did you mean 'depth'?)"),
        (
            LIGHTGBM,
            {"num_leaves": "64", "rsm": "0.5", "iterations": "1e2"},
            {"num_leaves": 64, "rsm": 0.5, "iterations": 100},
        ),
        (LIGHTGBM, {"num_leaves": "65"}, "trees have at most 64 leaves, not 65"),
        (LIGHTGBM, {"num_leafs": "6"}, "LightGBM has no parameter 'num_leafs' (did you mean 'num_leaves'?)"),
    ],
)
def test_settings_of_learners(learner, parameters, expected):
    pytest.importorskip(learner)
    config = config_with(**parameters)
    if isinstance(expected, str):
        with pytest.raises(ConfigError, match=re.escape(expected)):
            tree_settings(config, learner=learner)
    else:
        assert expected.items() <= tree_settings(config, learner=learner).items()


def test_names_of_learners_are_joined_by_plus():
    assert learners(config_with()) == [CATBOOST]
    both = replace(config_with(), values={"evidence-learner": ("catboost+lightgbm",)})
    assert learners(both) == [CATBOOST, LIGHTGBM]


@pytest.mark.parametrize("baseline", [None, np.zeros(80)])
@pytest.mark.parametrize(("matrix", "content"), [(MATRIX, CONTENT | True), (MATRIX[:, :1].repeat(80, axis=1), CONTENT)])
def test_nothing_to_learn_gives_a_constant(matrix, content, baseline):
    forest = grow(matrix, content, np.ones(80), {"learner": CATBOOST}, baseline=baseline)
    share = (content.sum() + 1) / 82
    expected = 0.0 if baseline is not None else np.log(share / (1 - share))
    assert forest.log_odds(matrix) == pytest.approx(np.full(80, expected))


def test_forests_are_averaged():
    one, other = constant(np.array([1.0])), constant(np.array([4.0]))
    assert average([one, other]).log_odds(MATRIX).tolist() == [2.5] * 80
    assert sum(forest.log_odds(MATRIX) for forest in mix([one, other])).tolist() == [2.5] * 80


def test_forests_of_lightgbm_give_the_same_log_odds():
    """Covers from_lightgbm and _lightgbm_tree, and _leaf_indices by the Python twin."""
    lightgbm = pytest.importorskip("lightgbm")
    matrix = MATRIX.round(2)  # many values lie on borders
    learner = lightgbm.LGBMClassifier(n_estimators=5, min_child_samples=2, use_missing=False, verbosity=-1)
    learner.fit(matrix.T, CONTENT)
    forest = from_lightgbm(learner.booster_)
    expected = learner.predict(matrix.T, raw_score=True)
    assert forest.log_odds(matrix) == pytest.approx(expected, abs=1e-5)
    leaves = forest._added[0][forest._leaf_indices(matrix)].sum(axis=0)
    assert leaves + forest.bias[0] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_kinds_are_a_weighted_geometric_mean(share):
    """Covers Decoder and its _with_trees."""
    nothing = np.zeros((0, 3))
    tables = Tables(("header", "paragraph", "other"), None, np.zeros(0), nothing, nothing)
    decoder = Decoder(tables, ("header", "paragraph"), "label", Keeping(), share, 0.0)
    by_crf, kinds = np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3]]), np.array([[0.1, 0.9], [0.5, 0.5]])
    findings = Findings(np.zeros(2), np.zeros((0, 2)), kinds=kinds)
    joined = by_crf ** (1 - share) * np.array([[0.1, 0.9, 0], [0.5, 0.5, 0]]) ** share
    found = decoder._with_trees(by_crf, findings)
    assert found == pytest.approx(joined / joined.sum(axis=1, keepdims=True))
    assert decoder._with_trees(by_crf, Findings(np.zeros(2), np.zeros((0, 2)))).tolist() == by_crf.tolist()


def test_trees_learn_probabilities():
    pytest.importorskip(CATBOOST)
    matrix, likely = np.array([CONTENT, ~CONTENT], dtype=np.float32), np.where(CONTENT, 0.9, 0.2)
    settings = {"learner": CATBOOST, "loss_function": "CrossEntropy", "iterations": 60, "learning_rate": 0.5}
    found = grow(matrix, likely, np.ones(80), settings).log_odds(matrix)
    assert found == pytest.approx(np.log(likely / (1 - likely)), abs=0.3)
