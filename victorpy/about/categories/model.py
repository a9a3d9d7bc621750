"""A model that tells categories: trained on the user's pages, saved as plain data, verified before it is used.

A model is a directory:

meta.json    the categories, the classifier and how it was trained, digests of the files and of itself
terms.tsv    the terms and how rare each is, the most telling first
arrays.npz   the classifier's numbers

Nothing of it is code: arrays are read without pickle, and scikit-learn, which linear classifiers are trained with, is
not needed to use one.
"""

from __future__ import annotations

import hashlib
import io
import json
import tempfile
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from victorpy.about.categories.classifiers import KNN, Classifier, check_classifier, classifier_of, fit
from victorpy.about.categories.vocabulary import Bag, Vocabulary, select_terms
from victorpy.about.language import language_of
from victorpy.about.terms import terms
from victorpy.document import CleanPage
from victorpy.errors import ConfigError, ModelError
from victorpy.outputs.text import render_text

FORMAT = "victorpy categories 1"
_FILES = ("terms.tsv", "arrays.npz")


@dataclass(frozen=True, slots=True)
class Settings:
    """How a model is trained."""

    classifier: str = KNN
    terms: int = 2000
    """How many terms χ² selects."""
    k: int = 15
    """How many neighbours vote."""
    seed: int = 1

    def __post_init__(self) -> None:
        check_classifier(self.classifier)
        if self.terms < 1 or self.k < 1:
            raise ConfigError(f"a model needs at least one term and one neighbour, not {self.terms} and {self.k}")


@dataclass(frozen=True)
class CategoryModel:
    """Tells of a page which of the user's categories it is of."""

    categories: tuple[str, ...]
    vocabulary: Vocabulary
    classifier: Classifier
    settings: Settings = field(default_factory=Settings)
    method: str = "crf"
    """How the pages were cleaned that it was trained on."""
    training: Mapping[str, Any] = field(default_factory=dict)
    """What is to be told of its training."""

    def category(self, page: CleanPage) -> str:
        """The category of a page; none where the page has no term that the model knows."""
        return self.category_of(bag_of(page))

    def category_of(self, bag: Bag) -> str:
        """The category of a page's terms."""
        vector = self.vocabulary.vector(bag)
        return self.categories[int(np.argmax(self.classifier.scores(vector)))] if vector.any() else ""


def bag_of(page: CleanPage) -> Counter[str]:
    """The terms of a page's clean text."""
    text = render_text(page)
    claimed = page.metadata.language if page.metadata else ""
    return Counter(terms(text, language_of(text, claimed)))


def train_categories(bags: Sequence[Bag], labels: Sequence[str], settings: Settings | None = None) -> CategoryModel:
    """Train a model on the terms of pages and the category of each."""
    chosen = settings or Settings()
    categories = tuple(sorted(set(labels)))
    numbers = [categories.index(label) for label in labels]
    vocabulary = select_terms(bags, numbers, len(categories), chosen.terms)
    if len(categories) < 2 or not vocabulary.terms:
        raise ModelError("categories need at least two folders with pages, and terms that more than one page has")
    count = len(vocabulary.terms)
    pages = vocabulary.vectors(bags)
    classifier = fit(chosen.classifier, pages, numbers, len(categories), count, chosen.k, chosen.seed)
    return CategoryModel(categories, vocabulary, classifier, chosen)


def save_categories(model: CategoryModel, directory: Path) -> None:
    """Write a model; it appears whole or not at all, and replaces only another one of its kind."""
    check_target(directory)
    directory.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=directory.parent, prefix=".saving-") as temporary:
        fresh = Path(temporary) / "model"
        fresh.mkdir()
        contents = {"terms.tsv": _written_terms(model.vocabulary), "arrays.npz": _written_arrays(model.classifier)}
        for name, content in contents.items():
            (fresh / name).write_bytes(content)
        (fresh / "meta.json").write_text(_written_meta(model, contents), encoding="utf-8")
        if directory.exists():
            directory.replace(Path(temporary) / "old")
        fresh.replace(directory)


def load_categories(path: str | Path) -> CategoryModel:
    """Verify a model and load it; what is damaged or something else is a `ModelError` that says so."""
    directory = Path(path)
    meta = _read_meta(directory)
    try:
        contents = {name: (directory / name).read_bytes() for name in _FILES}
    except OSError as error:
        raise _damaged(directory, f"{Path(str(error.filename)).name} cannot be read") from error
    for name, content in contents.items():
        if _digest(content) != meta["files"].get(name):
            raise _damaged(directory, f"{name} is not what was saved")
    try:
        vocabulary = _read_terms(contents["terms.tsv"])
        settings = Settings(**meta["settings"])
        with np.load(io.BytesIO(contents["arrays.npz"]), allow_pickle=False) as arrays:
            found = classifier_of(settings.classifier, arrays, len(meta["categories"]), len(vocabulary.terms))
        return CategoryModel(tuple(meta["categories"]), vocabulary, found, settings, meta["method"], meta["training"])
    except (ValueError, LookupError, TypeError, zipfile.BadZipFile, EOFError) as error:
        raise _damaged(directory, str(error) or type(error).__name__) from error


def check_target(directory: Path) -> None:
    """Refuse to save a model where something else is."""
    if directory.exists() and not _is_replaceable(directory):
        raise ModelError(f"{directory}: is no model of categories: choose another place")


def _is_replaceable(directory: Path) -> bool:
    if not directory.is_dir():
        return False
    return not any(directory.iterdir()) or {path.name for path in directory.iterdir()} == {"meta.json", *_FILES}


def _written_terms(vocabulary: Vocabulary) -> bytes:
    pairs = zip(vocabulary.terms, vocabulary.idf.tolist(), strict=True)
    return "".join(f"{json.dumps(term, ensure_ascii=False)}\t{idf!r}\n" for term, idf in pairs).encode()


def _read_terms(content: bytes) -> Vocabulary:
    pairs = [line.rsplit("\t", 1) for line in content.decode().split("\n") if line]
    found = tuple(str(json.loads(term)) for term, _ in pairs)
    return Vocabulary(found, np.array([float(idf) for _, idf in pairs]))


def _written_arrays(classifier: Classifier) -> bytes:
    written = io.BytesIO()
    np.savez_compressed(written, allow_pickle=False, **classifier.arrays())
    return written.getvalue()


def _written_meta(model: CategoryModel, contents: Mapping[str, bytes]) -> str:
    settings = {name: getattr(model.settings, name) for name in Settings.__slots__}
    meta: dict[str, Any] = {
        "format": FORMAT,
        "categories": list(model.categories),
        "settings": settings,
        "method": model.method,
        "training": dict(model.training),
        "files": {name: _digest(content) for name, content in contents.items()},
    }
    meta["digest"] = _meta_digest(meta)
    return json.dumps(meta, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _read_meta(directory: Path) -> dict[str, Any]:
    try:
        meta = json.loads((directory / "meta.json").read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        raise ModelError(f"{directory}: no model of categories: there is no meta.json in it") from None
    except (ValueError, RecursionError) as error:
        raise _damaged(directory, "meta.json is no JSON") from error
    if not isinstance(meta, dict) or not str(meta.get("format", "")).startswith(FORMAT.rpartition(" ")[0]):
        raise ModelError(f"{directory}: is another kind of model; make one with: victor categories train")
    if meta["format"] != FORMAT:
        raise ModelError(f"{directory}: written by another version of victorpy ({meta['format']}): train it again")
    if meta.get("digest") != _meta_digest(meta):
        raise _damaged(directory, "meta.json is not what was saved")
    return meta


def _meta_digest(meta: Mapping[str, Any]) -> str:
    rest = {name: value for name, value in meta.items() if name != "digest"}
    return _digest(json.dumps(rest, sort_keys=True).encode())


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _damaged(directory: Path, what: str) -> ModelError:
    return ModelError(f"{directory}: the model is damaged ({what}): train it again")
