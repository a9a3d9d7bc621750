"""The contract of every labeller: scikit-learn's estimator API, on pages instead of rows.

``fit(documents, labels)`` learns, ``label(document)`` labels one page, and ``predict``,
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

from victorpy.base.registry import Registry
from victorpy.config import Config
from victorpy.document import Document, Label, Labelling
from victorpy.errors import ConfigError, DataError, VictorError, suggest
from victorpy.page.markup import begins_segment

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
"""The labels of pages' blocks. A page with unknown labels has None; None in place of the list means all unknown."""

Features = tuple[dict[str, str], ...]
"""The features of every block of a page, by name."""


class Labeller(ABC):
    """Gives every block of a page a label. The arguments of `__init__` are its parameters."""

    learns_from: ClassVar[LearnsFrom] = LearnsFrom.LABELS

    @property
    def wants_site(self) -> bool:
        """Whether it uses other pages of a page's site."""
        return self.learns_from is LearnsFrom.SITE

    @property
    def tunes(self) -> bool:
        """Whether labels of a few pages of a site improve it there."""
        return False

    @abstractmethod
    def fit(self, documents: Iterable[Document], labels: Labels = None) -> Self:
        """Learn from pages, and from the labels of their blocks if the method needs them."""

    def at_site(self, documents: Iterable[Document], labels: Labels = None) -> Labeller:
        """Return the labeller for a site, given some of its pages; most methods are the same at every site."""
        return self

    @abstractmethod
    def label(self, document: Document) -> Labelling:
        """Label the blocks of one page."""

    def with_config(self, config: Config) -> Labeller:
        """Return the same labeller run with another config; methods without a config return themselves."""
        return self

    def features(self, document: Document) -> Features:
        """Return the features of every block, if the method has any."""
        return ()

    def label_with_features(self, document: Document) -> tuple[Labelling, Features]:
        """Label the blocks of one page, and return the features that decided."""
        return self.label(document), self.features(document)

    def predict(self, documents: Sequence[Document]) -> list[list[str]]:
        """Label the blocks of pages."""
        return [[str(label) for label in self.label(document).labels] for document in documents]

    def predict_marginals(self, documents: Sequence[Document]) -> list[list[dict[str, float]]]:
        """Return the probability of every label for every block, if the method knows it."""
        raise VictorError(f"{type(self).__name__} gives no probabilities")

    def score(self, documents: Sequence[Document], labels: Sequence[Sequence[str]]) -> float:
        """Return the share of blocks that are labelled correctly."""
        right = total = 0
        for predicted, gold in zip(self.predict(documents), labels, strict=True):
            right += sum(ours == theirs for ours, theirs in zip(predicted, gold, strict=True))
            total += len(gold)
        return right / max(total, 1)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, as scikit-learn's clone expects them."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters by name."""
        names = self.get_params()
        for name, value in parameters.items():
            if name not in names:
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}{suggest(name, names)}")
            setattr(self, name, value)
        return self

    def clone(self, **changes: Any) -> Self:
        """Return a new labeller with the same parameters, except for the given ones, that has learned nothing."""
        return type(self)(**self.get_params() | changes)

    def __sklearn_is_fitted__(self) -> bool:
        """Tell scikit-learn whether it has learned: then an attribute whose name ends in ``_`` has a value."""
        return any(value for name, value in vars(self).items() if name.endswith("_"))

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that this is neither a classifier, whose labels it would stratify, nor a regressor."""
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=True),
            input_tags=InputTags(two_d_array=False),
            requires_fit=self.learns_from is not LearnsFrom.NOTHING,
        )

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items() if value is not None)
        return f"{type(self).__name__}({shown})"


class PageLabeller(Labeller):
    """A labeller that needs nothing but the page."""

    learns_from = LearnsFrom.NOTHING

    def fit(self, documents: Iterable[Document], labels: Labels = None) -> Self:
        return self


class SiteLabeller(Labeller):
    """A labeller that learns from a site's pages what the site repeats. Labels of a few pages may help."""

    learns_from = LearnsFrom.SITE

    def at_site(self, documents: Iterable[Document], labels: Labels = None) -> Labeller:
        return self.clone().fit(documents, labels)


def first_pages(
    documents: Iterable[Document], labels: Labels, count: int | None = None
) -> Iterator[tuple[Document, Sequence[str] | None]]:
    """Yield the first `count` pages of a site, or all, each with its labels if they are known."""
    if count is not None and count < 1:
        raise ConfigError(f"a method that learns from a site needs pages of it: sample must be at least 1, not {count}")
    for number, document in enumerate(islice(documents, count)):
        if labels is not None and number >= len(labels):
            raise DataError(f"there are labels for {len(labels)} pages and more pages: give None for those without")
        page_labels = None if labels is None else labels[number]
        if page_labels is not None:
            check_labels(document, page_labels)
        yield document, page_labels


def check_labels(document: Document, labels: Sequence[str], allowed: Iterable[str] = Label) -> None:
    """Raise DataError unless there is an allowed label for every block."""
    page = document.url or document.source or "a page"
    if len(labels) != len(document.blocks):
        raise DataError(f"{page} has {len(document.blocks)} blocks and {len(labels)} labels")
    names = tuple(allowed)
    for number, label in enumerate(labels):
        if label not in names:
            raise DataError(f"{page}, block {number}: label {str(label)!r} is not one of {', '.join(names)}")


_HEADERS = frozenset(["h1", "h2", "h3", "h4", "h5", "h6"])
_ITEMS = frozenset(["li", "dt", "dd"])


def label_kept(document: Document, kept: Sequence[bool]) -> Labelling:
    """Label the kept blocks by their markup alone, and the rest as noise."""
    labels: list[Label] = []
    for block, keep in zip(document.blocks, kept, strict=True):
        if not keep:
            labels.append(Label.OTHER)
        elif labels and labels[-1].is_content and not begins_segment(block.distance):
            labels.append(Label.CONTINUATION)
        elif not _HEADERS.isdisjoint(block.containers):
            labels.append(Label.HEADER)
        else:
            labels.append(Label.PARAGRAPH if _ITEMS.isdisjoint(block.containers) else Label.LIST)
    return Labelling(tuple(labels))
