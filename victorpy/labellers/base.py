"""The contract of every labeller: scikit-learn's manners, on pages instead of rows.

``fit(documents, labels)`` learns, ``label(document)`` answers for one page, and ``predict``,
``predict_marginals`` and ``score`` follow from it, so that scikit-learn's cross_val_score and
GridSearchCV take any labeller. scikit-learn itself is not needed to run one.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import islice
from typing import Any, ClassVar, Self

from victorpy.config import Config
from victorpy.document import Document, Label, Labelling
from victorpy.errors import ConfigError, DataError, VictorError, suggest
from victorpy.registry import Registry

LABELLERS: Registry[type[Labeller]] = Registry("labeller", "victorpy.labellers")


class LearnsFrom(StrEnum):
    """What a labeller must have seen before it can label a page."""

    LABELS = "labels"
    """Pages whose blocks have labels: it is trained once."""
    SITE = "site"
    """Other pages of the page's site, without labels."""
    NOTHING = "nothing"
    """The page itself is enough."""


Labels = Sequence[Sequence[str] | None] | None
"""The labels of pages' blocks; a page whose labels are not known has None, and no page's may be known."""


class Labeller(ABC):
    """Gives every block of a page a label. What `__init__` takes are its parameters."""

    learns_from: ClassVar[LearnsFrom] = LearnsFrom.LABELS

    @property
    def wants_site(self) -> bool:
        """Whether it makes use of other pages of a page's site."""
        return self.learns_from is LearnsFrom.SITE

    @property
    def tunes(self) -> bool:
        """Whether labels of a few pages of a site make it better there."""
        return False

    @abstractmethod
    def fit(self, documents: Iterable[Document], labels: Labels = None) -> Self:
        """Learn from pages, and from the labels of their blocks where the method needs them."""

    def at_site(self, documents: Iterable[Document], labels: Labels = None) -> Labeller:
        """The labeller for pages of one site, of which some are given; most methods are the same at every site."""
        return self

    @abstractmethod
    def label(self, document: Document) -> Labelling:
        """Label the blocks of one page."""

    def with_config(self, config: Config) -> Labeller:
        """The same labeller as another config would run it; methods without a config are as they are."""
        return self

    def features(self, document: Document) -> tuple[dict[str, str], ...]:
        """Give the features of every block by name, where the method has any."""
        return ()

    def predict(self, documents: Sequence[Document]) -> list[list[str]]:
        """Label the blocks of pages."""
        return [[str(label) for label in self.label(document).labels] for document in documents]

    def predict_marginals(self, documents: Sequence[Document]) -> list[list[dict[str, float]]]:
        """Give the probability of every label for every block, where the method knows it."""
        raise VictorError(f"{type(self).__name__} gives no probabilities")

    def score(self, documents: Sequence[Document], labels: Sequence[Sequence[str]]) -> float:
        """Compute the share of blocks whose label is right."""
        right = total = 0
        for predicted, gold in zip(self.predict(documents), labels, strict=True):
            right += sum(ours == theirs for ours, theirs in zip(predicted, gold, strict=True))
            total += len(gold)
        return right / max(total, 1)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Give the parameters by name, as scikit-learn's clone wants them."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters by name."""
        known = self.get_params()
        for name, value in parameters.items():
            if name not in known:
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}{suggest(name, known)}")
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn, where it asks, what kind of estimator this is: none whose labels it could stratify."""
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=True), input_tags=InputTags(two_d_array=False))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items() if value is not None)
        return f"{type(self).__name__}({shown})"


class PageLabeller(Labeller):
    """A labeller that needs nothing but the page: there is nothing to learn."""

    learns_from = LearnsFrom.NOTHING

    def fit(self, documents: Iterable[Document], labels: Labels = None) -> Self:
        """Learn nothing."""
        return self


class SiteLabeller(Labeller):
    """A labeller that learns from pages of a site what the site repeats; labels of a few may help it."""

    learns_from = LearnsFrom.SITE

    def at_site(self, documents: Iterable[Document], labels: Labels = None) -> Labeller:
        """A labeller with the same parameters that has learned from these pages."""
        return type(self)(**self.get_params()).fit(documents, labels)


def first_pages(
    documents: Iterable[Document], labels: Labels, count: int | None = None
) -> Iterator[tuple[Document, Sequence[str] | None]]:
    """The first so many pages of a site or all, one at a time, each with its labels where they are known."""
    if count is not None and count < 1:
        raise ConfigError(f"a method that learns from a site needs pages of it: sample must be at least 1, not {count}")
    for number, document in enumerate(islice(documents, count)):
        if labels is not None and number >= len(labels):
            raise DataError(f"there are labels for {len(labels)} pages and more pages: give None for those without")
        known = None if labels is None else labels[number]
        if known is not None:
            _check_labels(document, known)
        yield document, known


def _check_labels(document: Document, labels: Sequence[str]) -> None:
    page = document.url or document.source or "a page"
    if len(labels) != len(document.blocks):
        raise DataError(f"{page} has {len(document.blocks)} blocks and {len(labels)} labels")
    unknown = sorted(set(labels) - set(Label))
    if unknown:
        raise DataError(f"{page}: label {unknown[0]!r} is not one of {', '.join(Label)}")
