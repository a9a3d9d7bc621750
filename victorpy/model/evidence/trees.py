"""Boosted trees as arrays: learned by CatBoost, run by numpy.

CatBoost's trees are oblivious: all nodes of a level ask the same question, so that a tree of depth d is d
comparisons and one look-up among 2**d leaves, which a few array operations do for all trees and blocks at once.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np
import numpy.typing as npt

from victorpy.columns import Flags, Floats
from victorpy.config import Config
from victorpy.errors import ConfigError, missing, suggest

EVIDENCE, KINDS = "evidence", "kinds"
"""The stages that have trees: one finds content, the other the kind of content."""

Matrix = npt.NDArray[np.float32]
"""Numbers: a row per feature, a column per block."""

DEEPEST = 8
"""The maximum depth of a tree: a leaf's number is a byte."""

# How many blocks are run at a time, so that their answers stay in the processor's cache.
_STRIDE = 512


@dataclass(frozen=True)
class Questions:
    """The questions that trees ask about a block."""

    features: npt.NDArray[np.int32]
    """The feature that each tree asks for at each level: a row per tree."""
    borders: Matrix
    """The number that the feature is compared with: the answer is yes if it is greater."""

    def leaf_numbers(self, matrix: Matrix) -> npt.NDArray[np.int64]:
        """Return the leaf that each tree has for each block, a row per tree; leaves are numbered across all trees."""
        trees, depth = self.features.shape
        features, borders, question_of = self._different
        answers = (np.take(matrix, features, axis=0) > borders).view(np.uint8)
        leaf = np.take(answers, question_of[depth - 1], axis=0)
        for level in reversed(range(depth - 1)):
            leaf += leaf  # the bits so far move up; faster than a shift
            leaf += np.take(answers, question_of[level], axis=0)
        numbers: npt.NDArray[np.int64] = np.arange(0, trees << depth, 1 << depth)[:, None] + leaf
        return numbers

    @cached_property
    def _different(self) -> tuple[npt.NDArray[np.int32], Matrix, npt.NDArray[np.int64]]:
        """The distinct questions (features and borders), and which of them each tree asks at each level."""
        asked = np.stack([self.features.reshape(-1), self.borders.reshape(-1)])
        different, number = np.unique(asked, axis=1, return_inverse=True)
        features, borders = different[0].astype(np.int32), different[1].astype(np.float32)[:, None]
        return features, borders, np.ascontiguousarray(number.reshape(self.features.shape).T)

    def check(self, rows: int) -> None:
        """Raise ValueError if trees ask for more features than there are."""
        if self.features.max(initial=0) >= rows:
            raise ValueError(f"its trees ask for feature {self.features.max()} of {rows}")


@dataclass(frozen=True)
class Forest(Questions):
    """Trees that give a block the log-odds of being content."""

    leaves: Matrix
    """What each leaf adds to the log-odds. Bit b of a leaf's number is the answer at level b."""
    bias: float

    def log_odds(self, matrix: Matrix) -> Floats:
        """Return each block's log-odds of being content."""
        sums = [np.take(self._added, self.leaf_numbers(part), mode="clip").sum(axis=0) for part in strides(matrix)]
        return np.concatenate(sums) + self.bias if sums else np.zeros(0)

    @cached_property
    def _added(self) -> Floats:
        """What the leaves add, in the precision of the sum."""
        return self.leaves.astype(np.float64)

    def save(self, file: BinaryIO) -> None:
        for array in (self.features, self.borders, self.leaves, np.array([self.bias])):
            np.save(file, array, allow_pickle=False)

    @classmethod
    def load(cls, file: BinaryIO) -> Self:
        features, borders, leaves, bias = read_arrays(file)
        if leaves.shape != (len(features), 2 ** features.shape[1]):
            raise ValueError("its trees do not fit together")
        return cls(features, borders, leaves, float(bias[0]))


def strides(matrix: Matrix) -> Iterator[Matrix]:
    """Split the blocks into parts whose answers stay in the processor's cache."""
    return (matrix[:, at : at + _STRIDE] for at in range(0, matrix.shape[1], _STRIDE))


def read_arrays(file: BinaryIO) -> list[npt.NDArray[Any]]:
    """Read the four arrays of trees: features, borders, leaves and bias."""
    try:
        arrays = [np.load(file, allow_pickle=False) for _ in range(4)]
    except EOFError as error:
        raise ValueError("its trees are cut short") from error
    features, borders = arrays[:2]
    if features.ndim != 2:
        raise ValueError("its trees do not fit together")
    if not 0 < features.shape[1] <= DEEPEST:
        raise ValueError(f"its trees are {features.shape[1]} levels deep")
    if borders.shape != features.shape or features.min(initial=0) < 0:
        raise ValueError("its trees do not fit together")
    return arrays


def check_settings(settings: Mapping[str, Any], config: Config, stage: str = EVIDENCE) -> None:
    """Raise an error if CatBoost is not installed or does not have one of the settings."""
    parameters = inspect.signature(_catboost().CatBoostClassifier.__init__).parameters
    for name in settings:
        if name not in parameters:
            message = f"CatBoost has no parameter {name!r}{suggest(name, parameters)}"
            raise config.error(parameter(stage, name), message)


def tree_settings(config: Config, stage: str = EVIDENCE) -> dict[str, Any]:
    """Return CatBoost's settings for a stage from a config."""
    whole = {"iterations", "depth", "border_count", "random_seed"}
    given = {name: float(values[0]) for name, values in config.family(parameter(stage, "")).items() if values}
    if given.get("depth", 1) > DEEPEST:
        message = f"trees are at most {DEEPEST} levels deep, not {given['depth']:g}"
        raise config.error(parameter(stage, "depth"), message)
    return {"random_seed": 1} | {name: int(value) if name in whole else value for name, value in given.items()}


def parameter(stage: str, name: str) -> str:
    """Return the config variable for a setting of CatBoost."""
    return f"{stage}-param-{name}"


def grow(matrix: Matrix, content: Flags, weights: Floats, settings: Mapping[str, Any], stage: str = EVIDENCE) -> Forest:
    """Train trees that separate content from noise; the settings are CatBoost's."""
    if not content.any() or content.all() or (matrix == matrix[:, :1]).all():
        return constant(content)
    questions, leaves, bias = learn(matrix, content.astype(np.int64), weights, settings, stage)
    return Forest(questions.features, questions.borders, leaves[:, :, 0], float(bias[0]))


def learn(
    matrix: Matrix, target: npt.NDArray[np.int64], weights: Floats, settings: Mapping[str, Any], stage: str
) -> tuple[Questions, Matrix, Floats]:
    """Train trees that separate classes. Return questions, what leaves add to each class, and the classes' bias."""
    import json
    import tempfile

    catboost = _catboost()
    try:
        learner = catboost.CatBoostClassifier(**settings, verbose=False, allow_writing_files=False)
        learner.fit(matrix.T, target, sample_weight=weights)
    except (TypeError, catboost.CatBoostError) as error:
        named = ", ".join(parameter(stage, name) for name in settings if name in str(error))
        given = named or parameter(stage, "*")
        raise ConfigError(f"{given}: CatBoost refuses its settings: {str(error).splitlines()[0]}") from error
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "trees.json"
        learner.save_model(str(path), format="json")
        return _read_catboost(json.loads(path.read_text(encoding="utf-8")))


def _catboost() -> Any:
    try:
        import catboost
    except ImportError as error:
        raise missing("CatBoost", "train", "training evidence trees") from error
    return catboost


def constant(content: Flags) -> Forest:
    """Return a forest that judges every block the same, for pages from which nothing can be learned."""
    share = (float(content.sum()) + 1) / (len(content) + 2)
    nothing = np.zeros((1, 1), dtype=np.int32), np.full((1, 1), np.inf, dtype=np.float32)
    return Forest(*nothing, np.zeros((1, 2), dtype=np.float32), float(np.log(share / (1 - share))))


def average(forests: Sequence[Forest]) -> Forest:
    """Return one forest whose log-odds are the average of these."""
    depth = max(forest.features.shape[1] for forest in forests)
    same_depth = [_deepened(forest, depth) for forest in forests]
    return Forest(
        np.concatenate([forest.features for forest in same_depth]),
        np.concatenate([forest.borders for forest in same_depth]),
        np.concatenate([forest.leaves / len(forests) for forest in same_depth]).astype(np.float32),
        sum(forest.bias for forest in forests) / len(forests),
    )


def _deepened(forest: Forest, depth: int) -> Forest:
    """Return the same forest with `depth` levels; the answer at new levels is always no."""
    levels = forest.features.shape[1]
    missing = [(0, 0), (0, depth - levels)]
    return Forest(
        np.pad(forest.features, missing),
        np.pad(forest.borders, missing, constant_values=np.inf),
        np.pad(forest.leaves, [(0, 0), (0, 2**depth - 2**levels)]),
        forest.bias,
    )


def _read_catboost(model: Mapping[str, Any]) -> tuple[Questions, Matrix, Floats]:
    """Convert CatBoost's JSON; a leaf has a value for each class, or one value if there are two classes."""
    trees = model["oblivious_trees"]
    scale, bias = model["scale_and_bias"]
    depth = max([1, *(len(tree["splits"] or ()) for tree in trees)])
    features = np.zeros((len(trees), depth), dtype=np.int32)
    borders = np.full((len(trees), depth), np.inf, dtype=np.float32)  # at a missing level the answer is always no
    leaves = np.zeros((len(trees), 2**depth, len(bias)), dtype=np.float32)
    for number, tree in enumerate(trees):
        for level, asked in enumerate(tree["splits"] or ()):
            features[number, level] = asked["float_feature_index"]
            borders[number, level] = asked["border"]
        values = np.array(tree["leaf_values"]).reshape(-1, len(bias)) * scale
        leaves[number, : len(values)] = values
    return Questions(features, borders), leaves, np.array(bias, dtype=np.float64)
