"""The Site Style Tree as a labeller (Yi, Liu and Li 2003).

Layout and words that the pages of a site repeat are noise. The threshold `t` is fixed, or chosen from the labels of a
few pages of the site; the paper does this by eye on twenty pages (4.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from victorpy.base.parameters import check_range
from victorpy.document import Document, Label, Labelling
from victorpy.labellers.base import LABELLERS, Labels, SiteLabeller, first_pages, label_kept, no_pages, not_fitted
from victorpy.sites.grouping import SAMPLE
from victorpy.sites.importance import EPSILON, GAMMA, Judgement, block_importances
from victorpy.sites.style_tree import FREQ, LAM, StyleTree, merge_alike

THRESHOLDS = tuple(step / 100 for step in range(101))

REACH = 10
"""Number of neighbours on either side that a threshold is averaged with."""

Example = tuple[Document, Sequence[str]]
"""A page and the labels of its blocks."""


@LABELLERS.register("sst")
@dataclass(eq=False, repr=False)
class SiteStyleTree(SiteLabeller):
    """Drops blocks whose importance in the site's style tree is not above a threshold."""

    t: float = 0.4
    gamma: float = GAMMA
    epsilon: float = EPSILON
    styles: str = "modern"
    virtual_leaves: bool = True
    freq: float = FREQ
    lam: float = LAM
    sample: int = SAMPLE
    tree_: StyleTree | None = field(default=None, init=False)
    judgement_: Judgement | None = field(default=None, init=False)

    @property
    def tunes(self) -> bool:
        return True

    def fit(self, documents: Iterable[Document], labels: Labels = None) -> Self:
        """Build the tree from at most `sample` pages; those with labels choose the threshold."""
        check_range("sst", -1, 1, t=self.t)  # below 0 nothing is noise
        check_range("sst", 0, 1, gamma=self.gamma, epsilon=self.epsilon)
        check_range("sst", 0, freq=self.freq, lam=self.lam)  # above 1 nothing is merged
        tree = StyleTree(self.styles, self.virtual_leaves)
        return self.with_tree(tree, add_pages(tree, documents, labels, self.sample))

    def with_tree(self, tree: StyleTree, examples: Sequence[Example] = ()) -> Self:
        """Use an existing tree, and choose the threshold from examples, if there are any."""
        if not tree.page_count:
            raise no_pages("sst")
        if tree.styles == "paper":
            merge_alike(tree, self.freq, self.lam)
        self.tree_ = tree
        self.judgement_ = Judgement(self.gamma, self.t, self.epsilon).judge(tree)
        if examples:
            trials = [Trial(document, self.importances(document), labels) for document, labels in examples]
            self.judgement_ = Judgement(self.gamma, best_threshold(trials), self.epsilon).judge(tree)
        return self

    def importances(self, document: Document) -> list[float]:
        """Map a page to the tree and return the importance of its blocks."""
        if self.tree_ is None or self.judgement_ is None:
            raise not_fitted(self)
        return block_importances(self.tree_, self.judgement_, document)

    def label(self, document: Document) -> Labelling:
        importances = self.importances(document)
        assert self.judgement_ is not None
        return label_kept(document, [importance > self.judgement_.t for importance in importances])


def add_pages(tree: StyleTree, documents: Iterable[Document], labels: Labels, sample: int) -> list[Example]:
    """Add the first `sample` pages of a site to its tree. Return those with labels."""
    examples = []
    for document, page_labels in first_pages(documents, labels, sample):
        tree.add(document)
        if page_labels is not None:
            examples.append((document, page_labels))
    return examples


class Trial:
    """A labelled page with a value for each block: a threshold keeps the blocks with higher values."""

    def __init__(self, document: Document, values: Sequence[float], labels: Sequence[str]) -> None:
        self._values = np.asarray(values, dtype=float)
        self._words = np.array([len(block.text.split()) for block in document.blocks], dtype=float)
        self._content = np.array([Label(label).is_content for label in labels], dtype=bool)

    def f1(self, threshold: float) -> float:
        """Return the F1 by words of the blocks that a threshold keeps; 1 if it correctly keeps nothing."""
        kept = self._values > threshold
        total = float(self._words[kept].sum() + self._words[self._content].sum())
        return 2 * float(self._words[kept & self._content].sum()) / total if total else 1.0


def best_threshold(trials: Sequence[Trial], thresholds: Sequence[float] = THRESHOLDS, reach: int = REACH) -> float:
    """Return the threshold with the best mean F1 around it; of several equal ones, the middle one.

    On other pages content is a little more or less important than on the few labelled ones, so a threshold next to a
    sharp drop would lose text there. So neighbours count too, nearer ones more.
    """
    means = np.array([sum(trial.f1(threshold) for trial in trials) / len(trials) for threshold in thresholds])
    weights = np.concatenate([np.arange(1, reach + 1), np.arange(reach + 1, 0, -1)]) / (reach + 1) ** 2
    around = np.convolve(np.pad(means, reach, mode="edge"), weights, mode="valid")
    best = np.flatnonzero(around >= around.max() - 1e-9)
    return thresholds[int(best[len(best) // 2])]
