"""Ways to tell a page's category from its vector: plain arrays, which need nothing but numpy to be asked.

Nearest neighbours as the paper's classifier has them (Y. Yang and X. Liu, A Re-examination of Text Categorization
Methods, 1999): the k training pages that are most similar vote, each with its similarity. The others are linear:
scikit-learn finds a weight of each term for each category.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from victorpy.about.categories.vocabulary import Floats, Numbers, Vectors, summed
from victorpy.errors import ConfigError, missing, suggest

KNN = "knn"
Arrays = Mapping[str, Any]


class Classifier(Protocol):
    """Scores categories."""

    def scores(self, vector: Floats) -> Floats:
        """How well a page fits each category; higher is better."""

    def arrays(self) -> dict[str, Any]:
        """All that it knows, as arrays."""


@dataclass(frozen=True)
class NearestNeighbours:
    """The training pages themselves."""

    pages: Vectors
    labels: Numbers
    categories: int
    k: int

    def scores(self, vector: Floats) -> Floats:
        """The similarities of the nearest pages, added up by category; of equally near ones the first count."""
        similar = self.pages.dot(vector)
        nearest = np.argsort(-similar, kind="stable")[: self.k]
        return summed(self.labels[nearest], similar[nearest], self.categories)

    def arrays(self) -> dict[str, Any]:
        """The pages' vectors and labels; rows stand in order, so that ends are enough."""
        ends = np.searchsorted(self.pages.rows, np.arange(self.pages.height), side="right")
        return {
            "ends": ends.astype(np.int64),
            "columns": self.pages.columns.astype(np.int32),
            "weights": self.pages.weights.astype(np.float32),
            "labels": self.labels.astype(np.int32),
            "k": np.array(self.k),
        }

    @classmethod
    def of_arrays(cls, arrays: Arrays, categories: int, terms: int) -> NearestNeighbours:
        """Take arrays as they were saved; such that do not fit together are a ValueError."""
        ends, columns, labels = (np.asarray(arrays[name], dtype=np.int64) for name in ("ends", "columns", "labels"))
        weights = np.asarray(arrays["weights"], dtype=np.float64)
        lengths = np.diff(ends, prepend=0)
        if not (len(ends) == len(labels) and (lengths >= 0).all() and lengths.sum() == len(columns) == len(weights)):
            raise ValueError("the arrays are not of one length")
        if not (_below(columns, terms) and _below(labels, categories)):
            raise ValueError("the arrays have more terms or categories than the model")
        pages = Vectors(np.repeat(np.arange(len(ends)), lengths), columns, weights, len(ends))
        return cls(pages, labels, categories, int(arrays["k"]))


@dataclass(frozen=True)
class Linear:
    """A weight of each term for each category."""

    weights: Floats
    """A row a category, a column a term."""
    intercepts: Floats

    def scores(self, vector: Floats) -> Floats:
        """The weights of the page's terms, added up."""
        found: Floats = self.weights @ vector + self.intercepts
        return found

    def arrays(self) -> dict[str, Any]:
        """The weights."""
        return {"weights": self.weights.astype(np.float32), "intercepts": self.intercepts}

    @classmethod
    def of_arrays(cls, arrays: Arrays, categories: int, terms: int) -> Linear:
        """Take arrays as they were saved; such that do not fit the model are a ValueError."""
        found = cls(np.asarray(arrays["weights"], dtype=np.float64), np.asarray(arrays["intercepts"], dtype=np.float64))
        if found.weights.shape != (categories, terms) or found.intercepts.shape != (categories,):
            raise ValueError("the arrays have other terms or categories than the model")
        return found


def _below(numbers: Numbers, limit: int) -> bool:
    return not len(numbers) or (int(numbers.min()) >= 0 and int(numbers.max()) < limit)


def _linear_svm(seed: int) -> Any:
    from sklearn.svm import LinearSVC

    return LinearSVC(random_state=seed)


def _logistic(seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=10, max_iter=1000, random_state=seed)


_ESTIMATORS: dict[str, Callable[[int], Any]] = {"linear-svm": _linear_svm, "logistic": _logistic}
CLASSIFIERS = (KNN, *_ESTIMATORS)


def check_classifier(name: str) -> None:
    """Refuse a name that is none."""
    if name not in CLASSIFIERS:
        raise ConfigError(f"no classifier {name!r}{suggest(name, CLASSIFIERS)}; there are: {', '.join(CLASSIFIERS)}")


def fit(name: str, pages: Vectors, labels: Sequence[int], categories: int, terms: int, k: int, seed: int) -> Classifier:
    """Train a classifier on pages; a category may have none of them."""
    check_classifier(name)
    if name == KNN:
        return NearestNeighbours(pages, np.asarray(labels, dtype=np.int64), categories, k)
    try:
        from scipy.sparse import csr_matrix

        estimator = _ESTIMATORS[name](seed)
    except ModuleNotFoundError as error:
        raise missing("scikit-learn", "research", f"training the classifier {name}") from error
    matrix = csr_matrix((pages.weights, (pages.rows, pages.columns)), shape=(pages.height, terms))
    return _as_linear(estimator.fit(matrix, labels), categories)


def _as_linear(estimator: Any, categories: int) -> Linear:
    """The weights that scikit-learn found; of two categories it keeps one row, of missing ones none."""
    weights, intercepts = estimator.coef_, estimator.intercept_
    if len(estimator.classes_) == 2:
        weights, intercepts = np.vstack([-weights, weights]), np.concatenate([-intercepts, intercepts])
    all_weights = np.zeros((categories, weights.shape[1]))
    all_intercepts = np.full(categories, -np.finfo(np.float32).max, dtype=np.float64)
    all_weights[estimator.classes_] = weights
    all_intercepts[estimator.classes_] = intercepts
    return Linear(all_weights, all_intercepts)


def classifier_of(name: str, arrays: Arrays, categories: int, terms: int) -> Classifier:
    """Make a classifier of its arrays."""
    check_classifier(name)
    kind = NearestNeighbours if name == KNN else Linear
    return kind.of_arrays(arrays, categories, terms)
