"""The Site Style Tree as a labeller (Yi, Liu and Li 2003).

What the pages of a site repeat, in layout and in words, is noise. The threshold `t` is fixed, or chosen from the
labels of a few pages of the site, as the paper does by eye on twenty (4.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Self

from victorpy.document import Document, Labelling
from victorpy.errors import VictorError
from victorpy.labellers.base import LABELLERS, Labels, SiteLabeller
from victorpy.labellers.kinds import label_kept
from victorpy.labellers.tuning import Example, Trial, add_pages, best_threshold
from victorpy.settings import check_range
from victorpy.sites.importance import EPSILON, GAMMA, Judgement
from victorpy.sites.mapping import block_importances
from victorpy.sites.merging import FREQ, LAM, merge_alike
from victorpy.sites.style_tree import StyleTree

SAMPLE = 500
"""The pages of a site that are enough for its tree (4.2)."""


@LABELLERS.register("sst")
class SiteStyleTree(SiteLabeller):
    """Drops what is no more important in its site's style tree than a threshold."""

    @property
    def tunes(self) -> bool:
        """Labels choose its thresholds."""
        return True

    def __init__(
        self,
        t: float = 0.4,
        gamma: float = GAMMA,
        epsilon: float = EPSILON,
        styles: str = "modern",
        virtual_leaves: bool = True,
        freq: float = FREQ,
        lam: float = LAM,
        sample: int = SAMPLE,
    ) -> None:
        self.t = t
        self.gamma = gamma
        self.epsilon = epsilon
        self.styles = styles
        self.virtual_leaves = virtual_leaves
        self.freq = freq
        self.lam = lam
        self.sample = sample
        self.tree_: StyleTree | None = None
        self.judgement_: Judgement | None = None

    def fit(self, documents: Iterable[Document], labels: Labels = None) -> Self:
        """Build the tree from at most `sample` pages, one at a time; those with labels choose the threshold."""
        check_range("sst", -1, 1, t=self.t)  # below 0 nothing is noise
        check_range("sst", 0, 1, gamma=self.gamma, epsilon=self.epsilon)
        check_range("sst", 0, freq=self.freq, lam=self.lam)  # above 1 nothing is merged
        tree = StyleTree(self.styles, self.virtual_leaves)
        return self.with_tree(tree, add_pages(tree, documents, labels, self.sample))

    def with_tree(self, tree: StyleTree, examples: Sequence[Example] = ()) -> Self:
        """Take a tree that was built before, and choose the threshold by examples, if there are any."""
        if not tree.page_count:
            raise VictorError("sst learns from the pages of a site: there are none")
        if tree.styles == "paper":
            merge_alike(tree, self.freq, self.lam)
        self.tree_ = tree
        self.judgement_ = Judgement(self.gamma, self.t, self.epsilon).judge(tree)
        if examples:
            trials = [Trial(document, self.importances(document), known) for document, known in examples]
            self.judgement_ = Judgement(self.gamma, best_threshold(trials), self.epsilon).judge(tree)
        return self

    def importances(self, document: Document) -> list[float]:
        """Map a page to the tree: how important its blocks are."""
        if self.tree_ is None or self.judgement_ is None:
            raise VictorError("this SiteStyleTree has seen no pages of the site: call fit() with some")
        return block_importances(self.tree_, self.judgement_, document)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle without what was found of the nodes, which are others in another process ..."""
        return {**self.__dict__, "judgement_": self.judgement_ and replace(self.judgement_, _found={})}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """... and find it again."""
        self.__dict__.update(state)
        if self.judgement_ is not None and self.tree_ is not None:
            self.judgement_.judge(self.tree_)

    def label(self, document: Document) -> Labelling:
        """Keep what is more important than the threshold."""
        importances = self.importances(document)
        assert self.judgement_ is not None
        return label_kept(document, [importance > self.judgement_.t for importance in importances])
