"""Assign pages to categories that the user defines (section 7.1 of the paper).

Terms are selected by χ² (Y. Yang and J. O. Pedersen, A Comparative Study on Feature Selection in Text Categorization,
1997). The classifier is either nearest neighbours, as in the paper (Y. Yang and X. Liu, A Re-examination of Text
Categorization Methods, 1999), or a linear model that scikit-learn trains.

Categories may form a hierarchy: ``sport/football`` is a category of the second level, below ``sport``.

A saved model is a directory with digests:

meta.json    the categories, the settings and how the model was trained
terms.tsv    the terms and their inverse document frequencies, the most informative first
arrays.npz   the classifier's arrays, which are read without pickle
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from victorpy.base.arrays import checked, read_array
from victorpy.base.digests import META, read_meta, verify_directory, write_directory
from victorpy.base.files import read_bounded
from victorpy.base.language import language_of
from victorpy.base.score import Score
from victorpy.description.tag_tree import content_tree
from victorpy.description.terms import terms
from victorpy.description.weights import feature_vector
from victorpy.errors import ConfigError, DataError, ModelError, missing, suggest
from victorpy.outputs import CleanPage
from victorpy.outputs.text import render_text
from victorpy.sites.grouping import make_folds

FORMAT = "victorpy categories 1"
CLASSIFIERS = ("knn", "linear-svm", "logistic")
WEIGHTS = ("counts", "blocks")
SEPARATOR = "/"  # separates the levels in the name of a category
_FILES = ("terms.tsv", "arrays.npz")
_KNN_ARRAYS = ("ends", "columns", "weights", "labels", "k")
_MOST_BYTES = 100_000_000  # maximum size of the expanded arrays
_MOST_TERM_BYTES = 20_000_000

Bag = Mapping[str, float]  # count or weight of each term on a page
Floats = npt.NDArray[np.float64]
Arrays = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Settings:
    """Training settings."""

    classifier: str = "knn"
    terms: int = 2000  # number of terms that χ² selects
    k: int = 15  # number of neighbours that vote
    seed: int = 1
    weights: str = "counts"
    """How a term on a page is weighed: by ``counts``, or by the weights of its ``blocks`` (formula 2 of the paper)."""

    def __post_init__(self) -> None:
        for name, choices in (("classifier", CLASSIFIERS), ("weights", WEIGHTS)):
            value = getattr(self, name)
            if value not in choices:
                raise ConfigError(f"no {name} {value!r}{suggest(value, choices)}; choose from {', '.join(choices)}")
        if self.terms < 1 or self.k < 1:
            raise ConfigError(f"a model needs at least one term and one neighbour, not {self.terms} and {self.k}")


@dataclass(frozen=True)
class CategoryModel:
    """Assigns a page to one of the user's categories."""

    categories: tuple[str, ...]
    terms: tuple[str, ...]  # the selected terms, the most informative first
    idf: Floats  # inverse document frequency of each term
    arrays: Arrays
    """A linear model has `weights` (one row per category) and `intercepts`. A nearest-neighbour model has its training
    pages as sparse rows (`ends`, `columns`, `weights`), their `labels` and `k`."""
    settings: Settings = field(default_factory=Settings)
    method: str = "default"  # method that cleaned the training pages
    training: Mapping[str, Any] = field(default_factory=dict)
    """Facts about the training data, such as the number of pages."""

    def category(self, page: CleanPage) -> str:
        """Return the category of a page, or "" if it has no known term."""
        return self.category_of(bag_of(page, self.settings.weights))

    def judge(self, page: CleanPage) -> tuple[str, float]:
        """Return the category of a page and a score from 0 to 1, or "" and 0 if the page has no known term.

        The score is the category's share of the neighbours' votes, or the softmax of a linear model's scores.
        """
        bag = bag_of(page, self.settings.weights)
        category = self.category_of(bag)
        if not category:
            return "", 0.0
        scores = self.scores(self.vector(bag))
        shares = scores if self.settings.classifier == "knn" else np.exp(scores - scores.max())
        return category, float(shares[self.categories.index(category)] / max(shares.sum(), 1e-12))

    def category_of(self, bag: Bag) -> str:
        """Return the category of a page's terms, or "" if no term is known.

        The category is chosen level by level. On each level, the votes for all categories of a branch are added up, and
        the branch with the most votes wins. A linear model has no votes, so the branch with the highest score wins.
        """
        vector = self.vector(bag)
        if not vector.any():
            return ""
        scores = dict(zip(self.categories, self.scores(vector).tolist(), strict=True))
        add_up: Callable[[list[float]], float] = sum if self.settings.classifier == "knn" else max
        level = 0
        while len(scores) > 1:
            level += 1
            branches: dict[str, dict[str, float]] = {}
            for name, value in scores.items():
                branches.setdefault(to_level(name, level), {})[name] = value
            scores = max(branches.values(), key=lambda branch: add_up(list(branch.values())))
        return next(iter(scores))

    def vector(self, bag: Bag) -> Floats:
        """Return a page as a vector of length 1, or of zeros if no term is known.

        The weight of a term is (1 + log count) · idf, or its weight by formula 2.
        """
        weights = np.array([bag.get(term, 0) for term in self.terms], dtype=np.float64)
        if self.settings.weights == "counts":
            weights = np.where(weights > 0, 1 + np.log(np.maximum(weights, 1)), 0) * self.idf
        return weights / (np.sqrt((weights**2).sum()) or 1.0)

    def scores(self, vector: Floats) -> Floats:
        """Return how well a page fits each category.

        Each of the k nearest training pages adds its similarity to the score of its category. Ties go to the first
        pages.
        """
        arrays = self.arrays
        if self.settings.classifier != "knn":
            return np.asarray(arrays["weights"] @ vector + arrays["intercepts"])
        page_of_weight = np.repeat(np.arange(len(arrays["ends"])), np.diff(arrays["ends"], prepend=0))
        products = arrays["weights"] * vector[arrays["columns"]]
        similarities = np.bincount(page_of_weight, products, minlength=len(arrays["ends"]))
        nearest = np.argsort(-similarities, kind="stable")[: int(arrays["k"])]
        votes = np.bincount(arrays["labels"][nearest], similarities[nearest], minlength=len(self.categories))
        return votes.astype(np.float64)


def to_level(category: str, level: int) -> str:
    """Return the ancestor of a category on a level, or the category itself if it is above that level.

    >>> to_level("sport/football/clubs", 2), to_level("sport", 2)
    ('sport/football', 'sport')
    """
    return SEPARATOR.join(category.split(SEPARATOR)[:level])


def bag_of(page: CleanPage, weights: str = "counts") -> Bag:
    """Count the terms of a page's clean text, or weigh them by formula 2."""
    text = render_text(page)
    language = language_of(text, page.metadata.language if page.metadata else "")
    if weights == "blocks":
        return feature_vector(content_tree(page), language)
    return Counter(terms(text, language))


def train_categories(bags: Sequence[Bag], labels: Sequence[str], settings: Settings | None = None) -> CategoryModel:
    """Train a model on the terms of pages and the category of each page."""
    settings = settings or Settings()
    categories = tuple(sorted(set(labels)))
    numbers = np.array([categories.index(label) for label in labels], dtype=np.int64)
    selected, idf = select_terms(bags, numbers, len(categories), settings.terms)
    if len(categories) < 2 or not selected:
        raise ModelError("training needs pages of at least two categories, and terms that occur on several pages")
    model = CategoryModel(categories, selected, idf, {}, settings)
    vectors = np.stack([model.vector(bag) for bag in bags])
    if settings.classifier == "knn":
        pages, columns = np.nonzero(vectors)
        arrays = {
            "ends": np.searchsorted(pages, np.arange(len(bags)), side="right").astype(np.int64),
            "columns": columns.astype(np.int32),
            "weights": vectors[pages, columns].astype(np.float32),
            "labels": numbers.astype(np.int32),
            "k": np.array(settings.k),
        }
    else:
        weights, intercepts = _fit_linear(vectors, numbers, settings)
        arrays = {"weights": weights.astype(np.float32), "intercepts": intercepts}
    return CategoryModel(categories, selected, idf, arrays, settings)


def _fit_linear(vectors: Floats, labels: npt.NDArray[np.int64], settings: Settings) -> tuple[Floats, Floats]:
    """Return one row of weights and one intercept per category."""
    try:
        from scipy.sparse import csr_matrix
        from sklearn.linear_model import LogisticRegression
        from sklearn.svm import LinearSVC
    except ModuleNotFoundError as error:
        raise missing("scikit-learn", "research", f"training the classifier {settings.classifier}") from error
    if settings.classifier == "linear-svm":
        estimator = LinearSVC(random_state=settings.seed)
    else:
        estimator = LogisticRegression(C=10, max_iter=1000, random_state=settings.seed)
    estimator.fit(csr_matrix(vectors), labels)
    weights, intercepts = estimator.coef_, estimator.intercept_
    if len(estimator.classes_) == 2:  # scikit-learn keeps one row for two categories
        weights, intercepts = np.vstack([-weights, weights]), np.concatenate([-intercepts, intercepts])
    return weights, intercepts


def select_terms(
    bags: Sequence[Bag], labels: npt.ArrayLike, categories: int, most: int
) -> tuple[tuple[str, ...], Floats]:
    """Return the `most` terms with the highest χ² for any category, and their inverse document frequencies."""
    numbers = np.asarray(labels, dtype=np.int64)
    page_counts: dict[str, Floats] = {}  # for each term, the number of pages of each category that contain it
    for bag, label in zip(bags, numbers, strict=True):
        for term in bag:
            page_counts.setdefault(term, np.zeros(categories))[label] += 1
    candidates = sorted(term for term, counts in page_counts.items() if counts.sum() > 1)
    table = np.array([page_counts[term] for term in candidates]).reshape(len(candidates), categories)
    sizes = np.bincount(numbers, minlength=categories).astype(np.float64)
    best = chi_squared(table, sizes).max(axis=1, initial=0)
    chosen = np.argsort(-best, kind="stable")[:most]
    return tuple(candidates[number] for number in chosen), np.log(len(bags) / table.sum(axis=1)[chosen]) + 1


def chi_squared(page_counts: Floats, sizes: Floats) -> Floats:
    """Return χ² of each term (rows) and category: N(AD - CB)² / ((A + C)(B + D)(A + B)(C + D)).

    A is the number of pages in the category that have the term, and B the number of such pages in other categories.
    C and D count the pages without the term.

    >>> chi_squared(np.array([[4.0, 0.0], [2.0, 2.0]]), np.array([4.0, 4.0])).tolist()
    [[8.0, 8.0], [0.0, 0.0]]
    """
    total = sizes.sum()
    a = page_counts
    b = page_counts.sum(axis=1, keepdims=True) - a
    c = sizes - a
    d = total - sizes - b
    denominator = (a + c) * (b + d) * (a + b) * (c + d)
    numerator = total * (a * d - c * b) ** 2
    return np.asarray(np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0))


def check_target(directory: Path) -> None:
    """Raise if the path exists, unless it is an empty directory or another category model."""
    if not directory.exists():
        return
    names = {path.name for path in directory.iterdir()} if directory.is_dir() else {""}
    if names and names != {META, *_FILES}:
        raise ModelError(f"{directory} is not a category model and would be overwritten; choose another path")


def save_categories(model: CategoryModel, directory: Path) -> None:
    """Write a model. If writing fails, the directory stays as it was. Only a category model can be replaced."""
    check_target(directory)
    meta = {
        "format": FORMAT,
        "categories": list(model.categories),
        "settings": asdict(model.settings),
        "method": model.method,
        "training": dict(model.training),
    }
    with write_directory(directory, meta) as fresh:
        rows = zip(model.terms, model.idf.tolist(), strict=True)
        lines = [f"{json.dumps(term, ensure_ascii=False)}\t{idf!r}\n" for term, idf in rows]
        (fresh / "terms.tsv").write_text("".join(lines), encoding="utf-8", newline="")
        np.savez_compressed(fresh / "arrays.npz", allow_pickle=False, **model.arrays)


def load_categories(path: str | Path) -> CategoryModel:
    """Verify and load a model. Raises ModelError if it is damaged or not a category model."""
    directory = Path(path)
    if not (directory / META).is_file():
        raise ModelError(f"{directory} is not a category model: it has no meta.json")
    meta = read_meta(directory)
    if not str(meta["format"]).startswith(FORMAT.rpartition(" ")[0]):
        raise ModelError(f"{directory} is another kind of model; train one with: victor categories train")
    if meta["format"] != FORMAT:
        raise ModelError(f"{directory} was written by another version of victorpy ({meta['format']}); train it again")
    digests = verify_directory(directory, meta)
    try:
        if not digests.keys() >= set(_FILES):
            raise ValueError(f"meta.json does not list {' and '.join(_FILES)}")
        lines = read_bounded(directory / "terms.tsv", _MOST_TERM_BYTES).decode().split("\n")
        rows = [line.rsplit("\t", 1) for line in lines if line]
        selected = tuple(str(json.loads(term)) for term, _ in rows)
        idf = checked(np.array([float(number) for _, number in rows]), np.float64, "weights of terms")
        settings = Settings(**meta["settings"])
        names, method, training = meta["categories"], meta["method"], meta["training"]
        if not all(isinstance(name, str) for name in (*names, method)) or not isinstance(training, dict):
            raise ValueError("the categories and the method must be text")
        if len(set(names)) < len(names) or not names:
            raise ValueError("the categories must be different")
        arrays = _read_arrays(directory / "arrays.npz", settings, len(names), len(selected))
        return CategoryModel(tuple(names), selected, idf, arrays, settings, method, training)
    except (
        *(OSError, ValueError, LookupError, TypeError, ConfigError, zipfile.BadZipFile, EOFError, zlib.error),
        *(NotImplementedError, RuntimeError),  # unsupported zip versions, and encrypted files
    ) as error:
        problem = str(error) or type(error).__name__
        raise ModelError(f"{directory} is damaged ({problem}); train it again") from error


def _read_arrays(path: Path, settings: Settings, categories: int, terms: int) -> Arrays:
    """Read a classifier's arrays. Raises ValueError unless they match each other and the model."""
    arrays = {}
    with zipfile.ZipFile(io.BytesIO(read_bounded(path, _MOST_BYTES))) as stored:
        if sum(entry.file_size for entry in stored.infolist()) > _MOST_BYTES:
            raise ValueError(f"the arrays have more than {_MOST_BYTES:,} bytes")
        for name in ("weights", "intercepts") if settings.classifier != "knn" else _KNN_ARRAYS:
            arrays[name] = read_array(io.BytesIO(stored.read(f"{name}.npy")), name)
    arrays["weights"] = checked(arrays["weights"], np.float32, "weights")
    if settings.classifier != "knn":
        arrays["intercepts"] = checked(arrays["intercepts"], np.float64, "intercepts")
        if arrays["weights"].shape != (categories, terms) or arrays["intercepts"].shape != (categories,):
            raise ValueError("the shape of the arrays does not fit the terms and categories")
        return arrays
    highest = {"ends": len(arrays["columns"]), "columns": terms - 1, "labels": categories - 1, "k": _MOST_BYTES}
    for name, limit in highest.items():
        arrays[name] = checked(arrays[name], np.int32 if name in {"columns", "labels"} else np.int64, name, 0, limit)
    one = arrays["columns"].ndim == arrays["ends"].ndim == 1 and arrays["k"].ndim == 0
    if not one or arrays["weights"].shape != arrays["columns"].shape or arrays["ends"].shape != arrays["labels"].shape:
        raise ValueError("the arrays differ in length")
    lengths = np.diff(arrays["ends"], prepend=0)
    if (lengths < 0).any() or lengths.sum() != len(arrays["columns"]):
        raise ValueError("the arrays differ in length")
    return arrays


def score(predicted: Sequence[str], gold: Sequence[str]) -> dict[str, Score]:
    """Compare predicted categories with the gold categories, one category at a time (formulas 4 to 6).

    >>> {name: tuple(row) for name, row in score(["a", "a", ""], ["a", "b", "b"]).items()}
    {'a': (0.5, 1.0, 0.6666666666666666), 'b': (0.0, 0.0, 0.0)}
    """
    correct = Counter(label for guess, label in zip(predicted, gold, strict=True) if guess == label)
    assigned, belonging = Counter(predicted), Counter(gold)
    return {name: Score(correct[name], assigned[name], belonging[name]) for name in sorted(belonging)}


def score_levels(predicted: Sequence[str], gold: Sequence[str]) -> list[dict[str, Score]]:
    """Compare predicted and gold categories on each level, from the top.

    >>> first, second = score_levels(["sport/chess"], ["sport/tennis"])
    >>> first["sport"].f1, second["sport/tennis"].f1
    (1.0, 0.0)
    """
    depth = max(name.count(SEPARATOR) + 1 for name in gold)
    levels = range(1, depth + 1)
    return [score([to_level(name, n) for name in predicted], [to_level(name, n) for name in gold]) for n in levels]


def cross_validate(
    bags: Sequence[Bag], labels: Sequence[str], groups: Sequence[str], settings: Settings, folds: int
) -> Iterator[list[tuple[int, str]]]:
    """Predict the category of every page with a model trained on the other folds. All pages of a group are in one fold.

    Yields one list per fold with the number and the predicted category of each page. Terms are selected again for each
    fold, so that test pages do not influence them.
    """
    if not 2 <= folds <= len(bags):
        raise DataError(f"{len(bags)} pages allow 2 to {len(bags)} folds, not {folds}; 0 folds skip the validation")
    fold_of = assign_folds(labels, groups, folds, settings.seed)
    for fold in range(folds):
        training = [number for number, own in enumerate(fold_of) if own != fold]
        model = train_categories([bags[page] for page in training], [labels[page] for page in training], settings)
        yield [(number, model.category_of(bags[number])) for number, own in enumerate(fold_of) if own == fold]


def assign_folds(labels: Sequence[str], groups: Sequence[str], folds: int, seed: int) -> list[int]:
    """Assign each page to a fold, keeping groups together and spreading categories over all folds.

    >>> assign_folds(["tea", "tea", "pot", "pot"], ["1", "2", "1", "3"], 2, seed=1)
    [0, 1, 0, 1]
    """
    group_labels = set(zip(groups, labels, strict=True))
    for category in sorted(set(labels)):
        if sum(label == category for _, label in group_labels) < 2:
            reason = "it needs two pages or sites; 0 folds skip the validation"
            raise DataError(f"category {category!r} cannot be cross-validated: {reason}")
    return make_folds(groups, folds, seed, labels)
