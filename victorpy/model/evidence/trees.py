"""Boosted trees as arrays: trained by CatBoost, evaluated by numpy.

CatBoost's trees are oblivious: all nodes of a level ask the same question. So a tree of depth d is d comparisons and
one look-up among 2**d leaves, and a few array operations evaluate all trees for all blocks.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np
import numpy.typing as npt

from victorpy import native
from victorpy.columns import Counts, Flags, Floats
from victorpy.config import Config
from victorpy.errors import ConfigError, missing, suggest

EVIDENCE, KINDS = "evidence", "kinds"
"""The stages that have trees: the first finds content, the second the kind of content."""

Matrix = npt.NDArray[np.float32]
"""Inputs of trees, one row per feature and one column per block."""

DEEPEST = 8
"""Maximum depth of a tree. The index of a leaf is a byte."""

# Number of blocks evaluated at a time, so that their answers stay in the processor's cache.
_STRIDE = 512

_native = native.load("trees")


@dataclass(frozen=True)
class Forest:
    """Trees that score blocks. Two classes share one score, the log-odds; more classes have one score each."""

    features: npt.NDArray[np.int32]
    """The feature in each question, one row per tree and one column per level."""
    borders: Matrix
    """The value that each feature is compared with. The answer is yes if the feature is greater."""
    leaves: Matrix
    """What each leaf adds to the scores. Bit b of a leaf's index is the answer at level b."""
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
            matrix = np.ascontiguousarray(matrix, dtype=np.float32)
            sums: Floats = _native.forest_scores(matrix, self.features, self.borders, self._added)
            return sums + self.bias[:, None]
        scores = np.empty((len(self.bias), matrix.shape[1]))
        for start in range(0, matrix.shape[1], _STRIDE):
            leaf = self._leaf_indices(matrix[:, start : start + _STRIDE])
            for row, added in zip(scores, self._added, strict=True):
                row[start : start + _STRIDE] = np.take(added, leaf, mode="clip").sum(axis=0)
        return scores + self.bias[:, None]

    @cached_property
    def _added(self) -> Floats:
        """The leaves of all trees in the precision of the sum, one row per class."""
        return np.ascontiguousarray(self.leaves.reshape(-1, len(self.bias)).T, dtype=np.float64)

    def _leaf_indices(self, matrix: Matrix) -> Counts:
        """Return the leaf of each block, one row per tree. Leaves are numbered across all trees."""
        trees, depth = self.features.shape
        features, borders, question_of = self._distinct_questions
        answers = (np.take(matrix, features, axis=0) > borders).view(np.uint8)
        leaf = np.take(answers, question_of[depth - 1], axis=0)
        for level in reversed(range(depth - 1)):
            leaf += leaf  # moves the bits up, faster than a shift
            leaf += np.take(answers, question_of[level], axis=0)
        return np.arange(0, trees << depth, 1 << depth)[:, None] + leaf

    @cached_property
    def _distinct_questions(self) -> tuple[npt.NDArray[np.int32], Matrix, Counts]:
        """The distinct questions (features and borders), and the question of each level and tree."""
        questions = np.stack([self.features.reshape(-1), self.borders.reshape(-1)])
        distinct, number = np.unique(questions, axis=1, return_inverse=True)
        features, borders = distinct[0].astype(np.int32), distinct[1].astype(np.float32)[:, None]
        return features, borders, np.ascontiguousarray(number.reshape(self.features.shape).T)

    def save(self, file: BinaryIO) -> None:
        for array in (self.features, self.borders, self.leaves, self.bias):
            np.save(file, array, allow_pickle=False)

    @classmethod
    def load(cls, file: BinaryIO, inputs: int) -> Self:
        """Read what `save` wrote. Raises ValueError if the trees are damaged or need more than `inputs` features."""
        try:
            features, borders, leaves, bias = (np.load(file, allow_pickle=False) for _ in range(4))
        except EOFError as error:
            raise ValueError("its trees are truncated") from error
        if features.ndim != 2 or borders.shape != features.shape or features.min(initial=0) < 0:
            raise ValueError("its tree arrays do not match")
        trees, depth = features.shape
        if not 0 < depth <= DEEPEST:
            raise ValueError(f"its trees are {depth} levels deep")
        classes = () if leaves.ndim == 2 and len(bias) == 1 else (len(bias),)
        if leaves.shape != (trees, 2**depth, *classes):
            raise ValueError("its tree arrays do not match")
        if features.max(initial=0) >= inputs:
            raise ValueError(f"its trees need feature {features.max()}, but there are only {inputs}")
        return cls(features, borders, leaves, bias)


def constant(bias: Floats) -> Forest:
    """Return a forest that gives every block the same scores, for training pages with only one class."""
    shape = (1, 2) if len(bias) == 1 else (1, 2, len(bias))
    no_question = np.zeros((1, 1), dtype=np.int32), np.full((1, 1), np.inf, dtype=np.float32)
    return Forest(*no_question, np.zeros(shape, dtype=np.float32), bias)


def average(forests: Sequence[Forest]) -> Forest:
    """Return one forest whose log-odds are the average log-odds of the given forests."""
    depth = max(forest.features.shape[1] for forest in forests)
    padded = []
    for forest in forests:
        levels = forest.features.shape[1]
        features = np.pad(forest.features, [(0, 0), (0, depth - levels)])
        # At added levels the answer is always no.
        borders = np.pad(forest.borders, [(0, 0), (0, depth - levels)], constant_values=np.inf)
        leaves = np.pad(forest.leaves / len(forests), [(0, 0), (0, 2**depth - 2**levels)])
        padded.append((features, borders, leaves.astype(np.float32), forest.bias))
    all_features, all_borders, all_leaves, biases = zip(*padded, strict=True)
    return Forest(
        np.concatenate(all_features),
        np.concatenate(all_borders),
        np.concatenate(all_leaves),
        np.sum(biases, axis=0) / len(forests),
    )


def tree_settings(config: Config, stage: str = EVIDENCE) -> dict[str, Any]:
    """Return CatBoost's settings for a stage. Raises an error if CatBoost is missing or does not have a setting."""
    parameters = inspect.signature(_catboost().CatBoostClassifier.__init__).parameters
    settings: dict[str, Any] = {"random_seed": 1}
    for name, values in config.family(f"{stage}-param-").items():
        if values and name not in parameters:
            message = f"CatBoost has no parameter {name!r}{suggest(name, parameters)}"
            raise config.error(f"{stage}-param-{name}", message)
        if values:
            is_whole = name in {"iterations", "depth", "border_count", "random_seed"}
            settings[name] = int(float(values[0])) if is_whole else float(values[0])
    if settings.get("depth", 1) > DEEPEST:
        message = f"trees are at most {DEEPEST} levels deep, not {settings['depth']}"
        raise config.error(f"{stage}-param-depth", message)
    return settings


def grow(matrix: Matrix, content: Flags, weights: Floats, settings: Mapping[str, Any], stage: str = EVIDENCE) -> Forest:
    """Train trees that separate content from noise. The settings are CatBoost's."""
    if not content.any() or content.all() or (matrix == matrix[:, :1]).all():
        share = (float(content.sum()) + 1) / (len(content) + 2)
        return constant(np.array([np.log(share / (1 - share))]))
    return train_forest(matrix, content.astype(np.int64), weights, settings, stage)


def train_forest(matrix: Matrix, target: Counts, weights: Floats, settings: Mapping[str, Any], stage: str) -> Forest:
    """Train trees that separate two or more classes."""
    import json
    import tempfile

    catboost = _catboost()
    try:
        learner = catboost.CatBoostClassifier(**settings, verbose=False, allow_writing_files=False)
        learner.fit(matrix.T, target, sample_weight=weights)
    except (TypeError, catboost.CatBoostError) as error:
        named = ", ".join(f"{stage}-param-{name}" for name in settings if name in str(error))
        reason = str(error).splitlines()[0]
        raise ConfigError(f"{named or f'{stage}-param-*'}: CatBoost rejects the settings: {reason}") from error
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "trees.json"
        learner.save_model(str(path), format="json")
        model = json.loads(path.read_text(encoding="utf-8"))
    trees = model["oblivious_trees"]
    scale, bias = model["scale_and_bias"]
    depth = max([1, *(len(tree["splits"] or ()) for tree in trees)])
    features = np.zeros((len(trees), depth), dtype=np.int32)
    borders = np.full((len(trees), depth), np.inf, dtype=np.float32)  # at a missing level the answer is always no
    leaves = np.zeros((len(trees), 2**depth, len(bias)), dtype=np.float32)
    for number, tree in enumerate(trees):
        for level, question in enumerate(tree["splits"] or ()):
            features[number, level] = question["float_feature_index"]
            borders[number, level] = question["border"]
        values = np.array(tree["leaf_values"]).reshape(-1, len(bias)) * scale
        leaves[number, : len(values)] = values
    return Forest(features, borders, leaves[:, :, 0] if len(bias) == 1 else leaves, np.array(bias, dtype=np.float64))


def _catboost() -> Any:
    try:
        import catboost
    except ImportError as error:
        raise missing("CatBoost", "train", "training evidence trees") from error
    return catboost
