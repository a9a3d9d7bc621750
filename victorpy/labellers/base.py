"""The interface of every labeller: scikit-learn's estimator API, with pages instead of rows.

``fit(documents, labels)`` learns, and ``label(document)`` labels one page. ``predict`` and ``score`` use ``label``, so
cross_val_score and GridSearchCV work with any labeller. Running a labeller does not need scikit-learn.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import islice
from typing import Any, ClassVar, NamedTuple, Self

from victorpy.base.registry import Registry
from victorpy.columns import Columns
from victorpy.config import Config
from victorpy.document import HEADINGS, Document, Label, Labelling, Spans
from victorpy.errors import ConfigError, DataError, VictorError, suggest
from victorpy.page.markup import begins_segment

LABELLERS: Registry[type[Labeller]] = Registry("labeller", "victorpy.labellers")


class LearnsFrom(StrEnum):
    """The training data that a labeller needs before it can label pages."""

    LABELS = "labels"  # pages of any site whose blocks have labels
    SITE = "site"  # other pages of the page's site, without labels
    NOTHING = "nothing"


Labels = Sequence[Sequence[str] | None] | None
"""The labels of each page's blocks, or None for a page without labels.

Pass None instead of a list if no page has labels.
"""

Features = tuple[dict[str, str], ...]  # the features of every block by name

NOISE = 0.75
"""A block is noise if at least this share of its characters is in a template.

If the share is smaller, the block may be a label followed by a value.
"""


class Examined(NamedTuple):
    """The labels of a page, with intermediate results."""

    labelling: Labelling
    features: Features = ()
    columns: Columns | None = None
    """The columns of the page. None if the method uses none, or if the page was labelled in sections."""


class Labeller(ABC):
    """Labels the blocks of pages. The arguments of `__init__` are the parameters."""

    learns_from: ClassVar[LearnsFrom] = LearnsFrom.LABELS

    @property
    def wants_site(self) -> bool:
        """Whether the method uses other pages of a page's site."""
        return self.learns_from is LearnsFrom.SITE

    @property
    def tunes(self) -> bool:
        """Whether the method can be tuned to a site by the labels of a few pages."""
        return False

    @abstractmethod
    def fit(self, documents: Iterable[Document], labels: Labels = None) -> Self:
        """Learn from pages, and from the labels of their blocks if there are any."""

    def at_site(self, documents: Iterable[Document], labels: Labels = None) -> Labeller:
        """Return a labeller fitted to the pages of one site, or this labeller if the method does not use sites."""
        return self

    @abstractmethod
    def label(self, document: Document) -> Labelling:
        """Label the blocks of one page."""

    def with_config(self, config: Config) -> Labeller:
        """Return a labeller with another config, or this labeller if the method has no config."""
        return self

    def features(self, document: Document) -> Features:
        """Return the features of every block, or an empty tuple if the method has no features."""
        return ()

    def examine(self, document: Document, features: bool = False) -> Examined:
        """Label the blocks of one page, and return intermediate results. Features are only computed if requested."""
        return Examined(self.label(document), self.features(document) if features else ())

    def predict(self, documents: Sequence[Document]) -> list[list[str]]:
        """Return the labels of each page's blocks."""
        return [[str(label) for label in self.label(document).labels] for document in documents]

    def predict_marginals(self, documents: Sequence[Document]) -> list[list[dict[str, float]]]:
        """Return the probability of every label for every block, if the method estimates it."""
        raise VictorError(f"{type(self).__name__} gives no probabilities")

    def score(self, documents: Sequence[Document], labels: Sequence[Sequence[str]]) -> float:
        """Return the share of blocks that are labelled correctly."""
        right = total = 0
        for predicted, gold in zip(self.predict(documents), labels, strict=True):
            right += sum(ours == theirs for ours, theirs in zip(predicted, gold, strict=True))
            total += len(gold)
        return right / max(total, 1)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **parameters: Any) -> Self:
        names = self.get_params()
        for name, value in parameters.items():
            if name not in names:
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}{suggest(name, names)}")
            setattr(self, name, value)
        return self

    def clone(self, **changes: Any) -> Self:
        """Return an unfitted labeller with the same parameters, except for the given changes."""
        return type(self)(**self.get_params() | changes)

    def __sklearn_is_fitted__(self) -> bool:
        """Whether the labeller is fitted: `fit` sets attributes whose names end in ``_``."""
        return any(value for name, value in vars(self).items() if name.endswith("_"))

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags. They do not declare a classifier, since its labels would be stratified."""
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
    """A labeller that needs only the page."""

    learns_from = LearnsFrom.NOTHING

    def fit(self, documents: Iterable[Document], labels: Labels = None) -> Self:
        return self


class SiteLabeller(Labeller):
    """A labeller that learns what a site repeats from the site's pages."""

    learns_from = LearnsFrom.SITE

    def at_site(self, documents: Iterable[Document], labels: Labels = None) -> Labeller:
        return self.clone().fit(documents, labels)


def not_fitted(labeller: Labeller) -> VictorError:
    """Return the error for a page that is labelled before `fit`."""
    name = type(labeller).__name__
    return VictorError(f"{name} has seen no pages of the site; call fit or at_site first")


def no_pages(name: str) -> DataError:
    """Return the error for a method that was fitted without pages."""
    return DataError(f"{name} learns from pages of a site, but got none")


def first_pages(
    documents: Iterable[Document], labels: Labels, count: int | None = None
) -> Iterator[tuple[Document, Sequence[str] | None]]:
    """Yield up to `count` pages of a site, each with its labels or None."""
    if count is not None and count < 1:
        raise ConfigError(f"sample must be at least 1, not {count}; the method learns from pages of the site")
    for number, document in enumerate(islice(documents, count)):
        if labels is not None and number >= len(labels):
            raise DataError(
                f"there are more pages than entries in labels ({len(labels)}); give None for pages without labels"
            )
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


_ITEMS = frozenset(["li", "dt", "dd"])


def label_kept(document: Document, kept: Sequence[bool], spans: Sequence[Spans | None] = ()) -> Labelling:
    """Label kept blocks by their markup, and all other blocks as noise. `spans` contains the kept parts of blocks."""
    labels: list[Label] = []
    for block, keep in zip(document.blocks, kept, strict=True):
        if not keep:
            labels.append(Label.OTHER)
        elif labels and labels[-1].is_content and not begins_segment(block.distance):
            labels.append(Label.CONTINUATION)
        elif not HEADINGS.isdisjoint(block.containers):
            labels.append(Label.HEADER)
        else:
            labels.append(Label.PARAGRAPH if _ITEMS.isdisjoint(block.containers) else Label.LIST)
    return Labelling(tuple(labels), spans=tuple(spans) if any(spans) else ())
