"""Pages whose labels are known, among those of a site, and a threshold chosen by them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from victorpy.document import Document, Label
from victorpy.labellers.base import Labels, first_pages
from victorpy.sites.style_tree import StyleTree

Example = tuple[Document, Sequence[str]]
"""A page and the labels of its blocks."""

THRESHOLDS = tuple(step / 100 for step in range(101))

REACH = 10
"""So many thresholds on either side say how good one is."""


def add_pages(tree: StyleTree, documents: Iterable[Document], labels: Labels, sample: int) -> list[Example]:
    """Add the first pages of a site to its tree, one at a time; those whose labels are known are the examples."""
    examples = []
    for document, known in first_pages(documents, labels, sample):
        tree.add(document)
        if known is not None:
            examples.append((document, known))
    return examples


class Trial:
    """A page of which it is known what should be kept, with a value for each block: what is above a threshold is."""

    def __init__(self, document: Document, values: Sequence[float], labels: Sequence[str]) -> None:
        self._values = np.asarray(values, dtype=float)
        self._words = np.array([len(block.text.split()) for block in document.blocks], dtype=float)
        self._wanted = np.array([Label(label).is_content for label in labels], dtype=bool)

    def f1(self, threshold: float) -> float:
        """The F1 by words of what a threshold keeps; keeping nothing where nothing is wanted is right."""
        kept = self._values > threshold
        total = float(self._words[kept].sum() + self._words[self._wanted].sum())
        return 2 * float(self._words[kept & self._wanted].sum()) / total if total else 1.0


def best_threshold(trials: Sequence[Trial], thresholds: Sequence[float] = THRESHOLDS, reach: int = REACH) -> float:
    """The threshold with the best mean F1 of the thresholds around it; of several that are as good, the middle one.

    On other pages what is content is a little more or less important than on the few whose labels are known, and a
    threshold just beside a fall would lose their text. So one counts with its neighbours, the nearer the more.
    """
    means = np.array([sum(trial.f1(threshold) for trial in trials) / len(trials) for threshold in thresholds])
    weights = np.concatenate([np.arange(1, reach + 1), np.arange(reach + 1, 0, -1)]) / (reach + 1) ** 2
    around = np.convolve(np.pad(means, reach, mode="edge"), weights, mode="valid")
    best = np.flatnonzero(around >= around.max() - 1e-9)
    return thresholds[int(best[len(best) // 2])]
