"""How well categories are told of pages that a model has not seen: precision, recall and F1 (formulas 4 to 6)."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from victorpy.about.categories.model import Settings, train_categories
from victorpy.about.categories.vocabulary import Bag
from victorpy.errors import DataError


@dataclass(frozen=True, slots=True)
class CategoryScore:
    """What became of one category's pages."""

    category: str
    correct: int
    assigned: int
    """How many pages were assigned to it."""
    belonging: int
    """How many belong to it."""

    @property
    def precision(self) -> float:
        """The share of the pages assigned to it that belong to it; 0 where none was."""
        return self.correct / self.assigned if self.assigned else 0.0

    @property
    def recall(self) -> float:
        """The share of its pages that were assigned to it."""
        return self.correct / self.belonging if self.belonging else 0.0

    @property
    def f1(self) -> float:
        """Twice the product of both over their sum."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def score(found: Sequence[str], gold: Sequence[str]) -> list[CategoryScore]:
    """Compare categories that were found with the right ones.

    >>> [(each.category, each.precision, each.recall) for each in score(["a", "a", ""], ["a", "b", "b"])]
    [('a', 0.5, 1.0), ('b', 0.0, 0.0)]
    """
    pairs = list(zip(found, gold, strict=True))
    return [
        CategoryScore(
            category,
            sum(one == other == category for one, other in pairs),
            sum(one == category for one, _ in pairs),
            sum(other == category for _, other in pairs),
        )
        for category in sorted(set(gold))
    ]


def cross_validate(
    bags: Sequence[Bag], labels: Sequence[str], groups: Sequence[str], settings: Settings, folds: int
) -> Iterator[list[tuple[int, str]]]:
    """Tell the category of every page by a model of the other folds; pages of a group are in one fold.

    Terms are selected anew in each fold: what the test pages are about must not help to choose. A fold comes as
    pairs of a page's number and the category that was told.
    """
    if not 2 <= folds <= len(bags):
        raise DataError(f"{len(bags)} pages make 2 to {len(bags)} folds, not {folds}; 0 folds are no validation")
    fold_of = spread(labels, groups, folds, settings.seed)
    for fold in range(folds):
        seen = [number for number, its in enumerate(fold_of) if its != fold]
        model = train_categories([bags[number] for number in seen], [labels[number] for number in seen], settings)
        held = [number for number, its in enumerate(fold_of) if its == fold]
        yield [(number, model.category_of(bags[number])) for number in held]


def spread(labels: Sequence[str], groups: Sequence[str], folds: int, seed: int) -> list[int]:
    """Give each page a fold, so that a group is in one fold only and categories are spread over all of them.

    >>> spread(["tea", "tea", "pot", "pot"], ["1", "2", "1", "3"], 2, seed=1)
    [0, 1, 0, 1]
    """
    sizes: dict[str, Counter[str]] = {}
    for label, group in zip(labels, groups, strict=True):
        sizes.setdefault(group, Counter())[label] += 1
    for category in sorted(set(labels)):
        if sum(category in counts for counts in sizes.values()) < 2:
            raise DataError(
                f"category {category!r} cannot be cross-validated: it needs two pages or sites; 0 folds need none"
            )
    order = sorted(sizes)
    random.Random(seed).shuffle(order)
    order.sort(key=lambda group: -sizes[group].total())
    loads = [Counter[str]() for _ in range(folds)]
    fold_of = {}
    for group in order:
        fold = min(range(folds), key=lambda number: (_shared(loads[number], sizes[group]), loads[number].total()))
        fold_of[group] = fold
        loads[fold] += sizes[group]
    return [fold_of[group] for group in groups]


def _shared(load: Counter[str], group: Counter[str]) -> int:
    """How much a fold has already of the categories that a group is of."""
    return sum(load[category] * count for category, count in group.items())
