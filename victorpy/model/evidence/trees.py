"""Boosted trees as arrays. CatBoost or LightGBM trains them, and numpy evaluates them.

CatBoost's trees are oblivious: all nodes of a level ask the same question. So a tree of depth d needs d comparisons and
one look-up among 2**d leaves, and a few array operations evaluate all trees for all blocks. LightGBM's trees are
leaf-wise: each node has a separate question. numpy descends all trees for all blocks at the same time, one question per
step.
"""

from __future__ import annotations

import inspect
import io
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np
import numpy.typing as npt

from victorpy import native
from victorpy.base.arrays import checked, read_array
from victorpy.columns import Counts, Flags, Floats
from victorpy.config import Config
from victorpy.errors import ConfigError, missing, suggest

EVIDENCE, KINDS = "evidence", "kinds"
"""The stages with trees: the first finds content, and the second finds the kind of content."""

Matrix = npt.NDArray[np.float32]
"""Inputs of trees, one row per feature and one column per block."""

DEEPEST = 8
"""Maximum depth of an oblivious tree. The index of a leaf is a byte."""

CATBOOST, LIGHTGBM = "catboost", "lightgbm"
"""The learners that can grow trees. Their packages have the same names."""
_SHOWN = {CATBOOST: "CatBoost", LIGHTGBM: "LightGBM"}

_LEAFWISE = ("num_leaves", "min_child_samples")
"""Settings of leaf-wise trees. CatBoost accepts them, but its oblivious trees do not use them."""

_LIGHTGBM_NAMES = {
    "iterations": "n_estimators",
    "depth": "max_depth",
    "l2_leaf_reg": "reg_lambda",
    "border_count": "max_bin",
    "rsm": "colsample_bytree",
}
"""LightGBM's names of settings that both learners have. CatBoost's names work for both."""

_WHOLE = frozenset(
    "iterations depth border_count random_seed random_state n_estimators num_leaves max_depth min_child_samples "
    "subsample_freq".split()
)

MOST_LEAVES = 64
"""Maximum number of leaves of a leaf-wise tree."""

MOST_TREES = 20_000
"""Maximum number of trees in a forest."""

# Number of blocks evaluated at a time, so that their answers stay in the processor's cache.
_STRIDE = 512

_native = native.load("trees")


@dataclass(frozen=True)
class Forest(ABC):
    """Trees that score blocks.

    For two classes there is one score, the log-odds. For more classes there is one per class.
    """

    features: npt.NDArray[np.integer[Any]]
    """The feature that each question tests."""
    borders: Matrix
    """The border of each question. The answer is yes if the feature is greater than the border."""
    leaves: Matrix
    """The values that each leaf adds to the scores."""
    bias: Floats
    """The initial scores of every block."""

    def log_odds(self, matrix: Matrix) -> Floats:
        """Return each block's log-odds of being content."""
        return self._scores(matrix)[0]

    def shares(self, matrix: Matrix) -> Floats:
        """Return the probability of each class, one row per block."""
        scores = self._scores(matrix).T
        exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
        return exponentials / exponentials.sum(axis=1, keepdims=True)

    def _scores(self, matrix: Matrix) -> Floats:
        """Return the scores of the blocks, one row per class."""
        if _native:
            return self._native_sums(np.ascontiguousarray(matrix, dtype=np.float32)) + self.bias[:, None]
        scores = np.empty((len(self.bias), matrix.shape[1]))
        for start in range(0, matrix.shape[1], _STRIDE):
            leaf = self._leaf_indices(matrix[:, start : start + _STRIDE])
            for row, added in zip(scores, self._added, strict=True):
                row[start : start + _STRIDE] = np.take(added, leaf, mode="clip").sum(axis=0)
        return scores + self.bias[:, None]

    @cached_property
    def _added(self) -> Floats:
        """The leaf values of all trees in the precision of the sum, one row per class."""
        return np.ascontiguousarray(self.leaves.reshape(-1, len(self.bias)).T, dtype=np.float64)

    @abstractmethod
    def _leaf_indices(self, matrix: Matrix) -> Counts:
        """Return the leaf of each block, one row per tree. Leaves are numbered across all trees."""

    @abstractmethod
    def _native_sums(self, matrix: Matrix) -> Floats:
        """Return the sums of the leaves, one row per class, computed by the native core."""

    @abstractmethod
    def _check(self) -> None:
        """Raise ValueError if the arrays do not match."""

    @classmethod
    @abstractmethod
    def join(cls, forests: Sequence[Self], bias: Floats) -> Self:
        """Return a forest with the trees of all forests."""

    def save(self, file: BinaryIO) -> None:
        for field in fields(self):
            np.save(file, getattr(self, field.name), allow_pickle=False)

    @staticmethod
    def load(file: io.BytesIO, inputs: int) -> Forest:
        """Read trees that `save` wrote. Raises ValueError if they are damaged or need more than `inputs` features."""
        features = read_array(file, "trees")
        kind: type[Forest] = LeafwiseForest if features.ndim == 1 else ObliviousForest
        forest = kind(features, *(read_array(file, "trees") for _ in fields(kind)[1:]))
        if forest.borders.shape != features.shape or forest.bias.ndim != 1 or not len(forest.bias):
            raise ValueError("its tree arrays do not match")
        forest._check()
        feature_type = np.int32 if kind is ObliviousForest else features.dtype
        return replace(
            forest,
            features=checked(features, feature_type, "features of trees", 0, inputs - 1),
            borders=checked(forest.borders, np.float32, "borders of trees", -np.inf, np.inf),
            leaves=checked(forest.leaves, np.float32, "leaves of trees"),
            bias=checked(forest.bias, np.float64, "initial scores of trees"),
        )


@dataclass(frozen=True)
class ObliviousForest(Forest):
    """Trees whose nodes of one level ask the same question, as CatBoost grows them.

    Questions have one row per tree and one column per level. Leaves have one row per tree and one column per leaf. Bit
    b of a leaf's number is the answer at level b.
    """

    def _leaf_indices(self, matrix: Matrix) -> Counts:
        trees, depth = self.features.shape
        features, borders, question_of = self._distinct_questions
        answers = (np.take(matrix, features, axis=0) > borders).view(np.uint8)
        leaf = np.take(answers, question_of[depth - 1], axis=0)
        for level in reversed(range(depth - 1)):
            leaf += leaf  # moves the bits up; faster than a shift
            leaf += np.take(answers, question_of[level], axis=0)
        return np.arange(0, trees << depth, 1 << depth)[:, None] + leaf

    @cached_property
    def _distinct_questions(self) -> tuple[npt.NDArray[np.int32], Matrix, Counts]:
        """The distinct questions (features and borders), and the question of each level and tree."""
        questions = np.stack([self.features.reshape(-1), self.borders.reshape(-1)])
        distinct, number = np.unique(questions, axis=1, return_inverse=True)
        features, borders = distinct[0].astype(np.int32), distinct[1].astype(np.float32)[:, None]
        return features, borders, np.ascontiguousarray(number.reshape(self.features.shape).T)

    def _native_sums(self, matrix: Matrix) -> Floats:
        sums: Floats = _native.forest_scores(matrix, self.features, self.borders, self._added)
        return sums

    def _check(self) -> None:
        if self.features.ndim != 2:
            raise ValueError("its tree arrays do not match")
        trees, depth = self.features.shape
        if trees > MOST_TREES:
            raise ValueError(f"it has more than {MOST_TREES:,} trees")
        if not 0 < depth <= DEEPEST:
            raise ValueError(f"its trees are {depth} levels deep")
        classes = () if self.leaves.ndim == 2 and len(self.bias) == 1 else (len(self.bias),)
        if self.leaves.shape != (trees, 2**depth, *classes):
            raise ValueError("its tree arrays do not match")

    @classmethod
    def join(cls, forests: Sequence[Self], bias: Floats) -> Self:
        depth = max(forest.features.shape[1] for forest in forests)
        padded = []
        for forest in forests:
            levels = forest.features.shape[1]
            features = np.pad(forest.features, [(0, 0), (0, depth - levels)])
            # No value is above an infinite border, so added levels change nothing.
            borders = np.pad(forest.borders, [(0, 0), (0, depth - levels)], constant_values=np.inf)
            padded.append((features, borders, np.pad(forest.leaves, [(0, 0), (0, 2**depth - 2**levels)])))
        features, borders, leaves = map(np.concatenate, zip(*padded, strict=True))
        return cls(features, borders, leaves, bias)


@dataclass(frozen=True)
class LeafwiseForest(Forest):
    """Binary trees of any shape, as LightGBM grows them. They have one score.

    One array contains the questions of all trees, tree after tree, and another one the leaves. A tree with n questions
    has n + 1 leaves.
    """

    sizes: npt.NDArray[np.int8]
    """Number of questions of each tree."""
    children: npt.NDArray[np.int8]
    """Where each question leads for no and for yes: the number of a later question of the tree, or ~leaf."""

    def _leaf_indices(self, matrix: Matrix) -> Counts:
        first, children = self._across_trees
        leaf = np.empty((len(first), matrix.shape[1]), dtype=np.int64)
        tree, block = (rows.reshape(-1) for rows in np.indices(leaf.shape))
        question = first[tree]
        while len(question):
            answer = matrix[self.features[question], block] > self.borders[question]
            question = children[question, answer.astype(np.int8)]
            is_leaf = question < 0
            leaf[tree[is_leaf], block[is_leaf]] = ~question[is_leaf]
            tree, block, question = tree[~is_leaf], block[~is_leaf], question[~is_leaf]
        return leaf

    @cached_property
    def _across_trees(self) -> tuple[Counts, Counts]:
        """The first question of each tree, and the children of questions, numbered across all trees."""
        sizes = self.sizes.astype(np.int64)
        first = np.cumsum(sizes) - sizes
        first_leaf = first + np.arange(len(sizes))
        shift = np.where(self.children >= 0, np.repeat(first, sizes)[:, None], -np.repeat(first_leaf, sizes)[:, None])
        return first, self.children.astype(np.int64) + shift

    def _native_sums(self, matrix: Matrix) -> Floats:
        sums: Floats = _native.leafwise_scores(matrix, *self._native_plan, self.sizes, self.children, self._added[0])
        return sums

    @cached_property
    def _native_plan(self) -> tuple[npt.NDArray[Any], ...]:
        """The features that questions ask for, the distinct borders of each, and the border of each question."""
        order = np.lexsort([self.borders, self.features])
        features, borders = self.features[order], self.borders[order]
        is_new_feature = np.diff(features, prepend=-1) != 0
        is_new = is_new_feature | (np.diff(borders, prepend=0) != 0)
        number = np.empty(len(order), dtype=np.int32)
        number[order] = np.cumsum(is_new) - 1
        starts = np.append(np.flatnonzero(is_new_feature[is_new]), is_new.sum())
        used = features[is_new_feature]
        return used.astype(np.int32), starts.astype(np.int32), borders[is_new], number

    def _check(self) -> None:
        sizes, children, questions = self.sizes, self.children, len(self.features)
        shapes = [(sizes.size,), (questions, 2), (questions + sizes.size,), (1,)]
        kinds = [array.dtype for array in (sizes, children, self.leaves, self.borders)]
        if (
            [sizes.shape, children.shape, self.leaves.shape, self.bias.shape] != shapes
            or kinds != [np.int8, np.int8, np.float32, np.float32]
            or sizes.sum(dtype=np.int64) != questions
        ):
            raise ValueError("its tree arrays do not match")
        if sizes.min(initial=1) < 1 or sizes.max(initial=1) >= MOST_LEAVES:
            raise ValueError(f"its trees do not have 2 to {MOST_LEAVES} leaves")
        if len(sizes) > MOST_TREES:
            raise ValueError(f"it has more than {MOST_TREES:,} trees")
        # Except for the first question, every question and leaf of a tree is the child of one earlier question.
        tree = np.repeat(np.arange(len(sizes)), sizes)
        own = np.arange(questions) - np.repeat(np.cumsum(sizes, dtype=np.int64) - sizes, sizes)
        counted = np.bincount((256 * tree[:, None] + 128 + children).reshape(-1), minlength=256 * len(sizes))
        child = np.arange(-128, 128)
        expected = (child >= ~sizes[:, None]) & (child < sizes[:, None]) & (child != 0)
        if (counted.reshape(-1, 256) != expected).any() or ((children >= 0) & (children <= own[:, None])).any():
            raise ValueError("its trees are not connected")

    @classmethod
    def join(cls, forests: Sequence[Self], bias: Floats) -> Self:
        joined = {field.name: [getattr(forest, field.name) for forest in forests] for field in fields(cls)}
        return cls(**{name: np.concatenate(arrays) for name, arrays in joined.items()} | {"bias": bias})


def constant(bias: Floats) -> Forest:
    """Return a forest that gives every block the same scores, for training pages with only one class."""
    shape = (1, 2) if len(bias) == 1 else (1, 2, len(bias))
    no_question = np.zeros((1, 1), dtype=np.int32), np.full((1, 1), np.inf, dtype=np.float32)
    return ObliviousForest(*no_question, np.zeros(shape, dtype=np.float32), bias)


def average(forests: Sequence[Forest]) -> Forest:
    """Return one forest whose log-odds are the average of the given forests, which must be of the same kind."""
    bias = np.mean([forest.bias for forest in forests], axis=0)
    shares = [
        replace(forest, leaves=(forest.leaves / len(forests)).astype(np.float32))
        for forest in forests
        if forest.leaves.any()
    ]
    return type(shares[0]).join(shares, bias) if shares else constant(bias)


def mix(forests: Sequence[Forest]) -> tuple[Forest, ...]:
    """Return forests whose log-odds add up to the average of the given forests, which may be of different kinds."""
    count = len(forests)
    return tuple(
        replace(forest, leaves=forest.leaves / np.float32(count), bias=forest.bias / count) for forest in forests
    )


def from_lightgbm(booster: Any) -> Forest:
    """Convert a booster of LightGBM with one score, numerical features and no missing values."""
    model = booster.dump_model()
    if model["num_tree_per_iteration"] != 1 or model["average_output"]:
        raise ValueError("only boosters with one score can be converted, and no random forests")
    roots = [tree["tree_structure"] for tree in model["tree_info"]]
    bias = np.array([sum((root["leaf_value"] for root in roots if "split_index" not in root), 0.0)])
    trees = [_lightgbm_tree(root) for root in roots if "split_index" in root]
    return LeafwiseForest.join(trees, bias) if trees else constant(bias)


def _lightgbm_tree(root: Mapping[str, Any]) -> LeafwiseForest:
    """Convert a tree of nested nodes."""
    questions, leaves, nodes = {}, {}, [root]
    while nodes:
        node = nodes.pop()
        if "split_index" not in node:
            leaves[node["leaf_index"]] = node["leaf_value"]
            continue
        if node["decision_type"] != "<=" or node["missing_type"] != "None":
            raise ValueError("boosters with categorical features or missing values cannot be converted")
        sides = [node["left_child"], node["right_child"]]
        children = [side["split_index"] if "split_index" in side else ~side["leaf_index"] for side in sides]
        questions[node["split_index"]] = node["split_feature"], node["threshold"], children
        nodes += sides
    if len(leaves) > MOST_LEAVES:
        raise ValueError(f"trees have at most {MOST_LEAVES} leaves, not {len(leaves)}")
    features, exact, pairs = zip(*(questions[number] for number in range(len(questions))), strict=True)
    borders = np.array(exact, dtype=np.float32)
    # Inputs have 32 bits, so borders must be rounded down, not up, to 32 bits.
    borders = np.where(borders > exact, np.nextafter(borders, np.float32(-np.inf)), borders)
    return LeafwiseForest(
        np.array(features, dtype=np.int16),
        borders,
        np.array([leaves[number] for number in range(len(leaves))], dtype=np.float32),
        np.zeros(1),
        np.array([len(questions)], dtype=np.int8),
        np.array(pairs, dtype=np.int8),
    )


def from_catboost(learner: Any) -> Forest:
    """Convert a trained classifier of CatBoost with oblivious trees."""
    import json
    import tempfile

    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "trees.json"
        learner.save_model(str(path), format="json")
        model = json.loads(path.read_text(encoding="utf-8"))
    trees = model["oblivious_trees"]
    scale, bias = model["scale_and_bias"]
    depth = max([1, *(len(tree["splits"] or ()) for tree in trees)])
    features = np.zeros((len(trees), depth), dtype=np.int32)
    borders = np.full((len(trees), depth), np.inf, dtype=np.float32)  # no value is above infinity
    leaves = np.zeros((len(trees), 2**depth, len(bias)), dtype=np.float32)
    for number, tree in enumerate(trees):
        for level, question in enumerate(tree["splits"] or ()):
            features[number, level] = question["float_feature_index"]
            borders[number, level] = question["border"]
        values = np.array(tree["leaf_values"]).reshape(-1, len(bias)) * scale
        leaves[number, : len(values)] = values
    return ObliviousForest(
        features, borders, leaves[:, :, 0] if len(bias) == 1 else leaves, np.array(bias, dtype=np.float64)
    )


def learners(config: Config) -> list[str]:
    """Return the learners of the trees for content, whose forests are averaged."""
    return config.one(f"{EVIDENCE}-learner", CATBOOST).split("+")


def tree_settings(config: Config, stage: str = EVIDENCE, learner: str = CATBOOST) -> dict[str, Any]:
    """Return the settings of a learner. Raises an error if the learner is not installed or lacks a setting.

    If both learners are used, depth limits CatBoost's trees, and the number of leaves limits LightGBM's trees.
    """
    package = _import_learner(learner)
    classifier = package.CatBoostClassifier if learner == CATBOOST else package.LGBMClassifier
    parameters = {*inspect.signature(classifier.__init__).parameters, *(_LIGHTGBM_NAMES if learner == LIGHTGBM else ())}
    settings: dict[str, Any] = {"learner": learner, "random_seed": 1}
    others = _LEAFWISE if learner == CATBOOST else ("depth",) if len(learners(config)) > 1 else ()
    for name, values in config.family(f"{stage}-param-").items():
        if not values or name in others:
            continue
        if name not in parameters:
            message = f"{_SHOWN[learner]} has no parameter {name!r}{suggest(name, parameters)}"
            raise config.error(f"{stage}-param-{name}", message)
        settings[name] = int(float(values[0])) if name in _WHOLE else float(values[0])
    if learner == CATBOOST and settings.get("depth", 1) > DEEPEST:
        message = f"trees are at most {DEEPEST} levels deep, not {settings['depth']}"
        raise config.error(f"{stage}-param-depth", message)
    if settings.get("num_leaves", 31) > MOST_LEAVES:
        message = f"trees have at most {MOST_LEAVES} leaves, not {settings['num_leaves']}"
        raise config.error(f"{stage}-param-num_leaves", message)
    return settings


def grow(
    matrix: Matrix,
    content: Flags | Floats,
    weights: Floats,
    settings: Mapping[str, Any],
    stage: str = EVIDENCE,
    baseline: Floats | None = None,
) -> Forest:
    """Train trees that separate content from noise. The settings are those of `tree_settings`.

    With a baseline, boosting continues from these log-odds, and the result is a correction to them. `content` may be
    probabilities if the settings have a loss function for them.
    """
    if len(np.unique(content)) < 2 or (matrix == matrix[:, :1]).all():
        if baseline is not None:
            return constant(np.zeros(1))
        share = (float(content.sum()) + 1) / (len(content) + 2)
        return constant(np.array([np.log(share / (1 - share))]))
    target = content.astype(np.float64) if content.dtype == np.float64 else content.astype(np.int64)
    return train_forest(matrix, target, weights, settings, stage, baseline)


def train_forest(
    matrix: Matrix,
    target: Counts | Floats,
    weights: Floats,
    settings: Mapping[str, Any],
    stage: str,
    baseline: Floats | None = None,
) -> Forest:
    """Train trees that separate two or more classes; LightGBM separates only two."""
    given = {name: value for name, value in settings.items() if name != "learner"}
    if settings.get("learner") == LIGHTGBM:
        lightgbm = _import_learner(LIGHTGBM)
        named = {_LIGHTGBM_NAMES.get(name, name): value for name, value in given.items()}
        # Without missing values, a question is a plain comparison. Results do not depend on the number of threads.
        fixed = {"use_missing": False, "deterministic": True, "force_row_wise": True, "verbosity": -1}
        try:
            learner = lightgbm.LGBMClassifier(**named, **fixed)
            # Scale the weights, because the settings assume a mean of 1.
            learner.fit(matrix.T, target, sample_weight=weights / weights.mean(), init_score=baseline)
        except (TypeError, ValueError, lightgbm.basic.LightGBMError) as error:
            reason = str(error).splitlines()[0]
            raise ConfigError(f"{stage}-param-*: LightGBM rejects the settings: {reason}") from error
        return from_lightgbm(learner.booster_)
    catboost = _import_learner(CATBOOST)
    try:
        learner = catboost.CatBoostClassifier(**given, verbose=False, allow_writing_files=False)
        learner.fit(matrix.T, target, sample_weight=weights, baseline=baseline)
    except (TypeError, catboost.CatBoostError) as error:
        rejected = ", ".join(f"{stage}-param-{name}" for name in given if name in str(error))
        reason = str(error).splitlines()[0]
        raise ConfigError(f"{rejected or f'{stage}-param-*'}: CatBoost rejects the settings: {reason}") from error
    return from_catboost(learner)


def _import_learner(learner: str) -> Any:
    try:
        return import_module(learner)
    except ImportError as error:
        raise missing(_SHOWN[learner], "train", "training evidence trees") from error
