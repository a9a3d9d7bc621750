"""The Site Style Tree as a labeller (Yi, Liu and Li 2003).

Layout and words that the pages of a site repeat are noise. The paper chooses the threshold `t` of a site by eye on
twenty pages (4.2). Here it is chosen from the labels of a few pages or, without labels, from guessed labels: long
blocks whose text is on no other page are content. If no threshold agrees with this guess clearly better than the
cautious one, the cautious threshold is used, which keeps the short facts of the site.

In kept blocks, the paper also deletes locally noisy features, such as "Home" and "Product Guides" in a path (3.6 and
4.2.2). Deleting single words would leave holes in sentences, so `local="parts"` deletes sentences and parts of paths
and titles that consist of such words. `local="words"` deletes every such word, as the paper does for data mining.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, Self

import numpy as np

from victorpy.base.parameters import AUTO, check_range
from victorpy.base.words import simple_words
from victorpy.document import Block, Document, Label, Labelling, Spans
from victorpy.errors import ConfigError, plural, suggest
from victorpy.labellers.base import LABELLERS, Labels, SiteLabeller, first_pages, label_kept, no_pages, not_fitted
from victorpy.labellers.spans import PART_END, SPACE, join_kept, link_cuts, split_text
from victorpy.sites.content import Content
from victorpy.sites.grouping import SAMPLE
from victorpy.sites.importance import EPSILON, GAMMA, Judgement, block_importances, misfit, places_of_blocks
from victorpy.sites.style_tree import FREQ, LAM, StyleTree, merge_alike

THRESHOLDS = tuple(step / 100 for step in range(101))

CAUTIOUS = 0.4  # threshold for sites without running text
GUESS_PAGES = 60  # maximum number of pages whose labels are guessed
GUESS_CHARS = 80  # minimum length of a block that is guessed to be content
GUESS_F1 = 0.75  # minimum word F1 on guessed labels for replacing the cautious threshold
GUESS_GAIN = 0.05  # minimum gain in word F1 on guessed labels for replacing the cautious threshold
GUESS_THRESHOLDS = THRESHOLDS[:91]  # higher thresholds lose facts that consist of common words
REACH = 10  # number of neighbours on either side that a threshold is averaged with

LOCAL = {"parts": PART_END, "words": SPACE}
"""The units that can be deleted in kept blocks, and the pattern that separates them."""

FEWEST_PAGES = FEWEST_WORDS = 3
"""Minimum pages of a place and words of a part.

With fewer, a part is deleted only if all its words are locally noisy.
"""

Example = tuple[Document, Sequence[str]]  # a page and the labels of its blocks


@LABELLERS.register("sst")
@dataclass(eq=False, repr=False)
class SiteStyleTree(SiteLabeller):
    """Drops blocks whose importance in the site's style tree is not above a threshold."""

    t: float | Literal["auto"] = AUTO
    gamma: float = GAMMA
    epsilon: float = EPSILON
    styles: str = "modern"
    virtual_leaves: bool = True
    freq: float = FREQ
    lam: float = LAM
    sample: int = SAMPLE
    local: str = "parts"
    tree_: StyleTree | None = field(default=None, init=False)
    judgement_: Judgement | None = field(default=None, init=False)
    guess_: Guess | None = field(default=None, init=False)
    reason_: str = field(default="", init=False)  # how the threshold was chosen

    @property
    def tunes(self) -> bool:
        return True

    def check(self) -> None:
        """Raise ConfigError if a parameter is out of its range."""
        if self.t != AUTO:
            check_range("sst", -1, 1, t=self.t)  # with t below 0, nothing is noise
        check_range("sst", 0, 1, gamma=self.gamma, epsilon=self.epsilon)
        check_range("sst", 0, freq=self.freq, lam=self.lam)  # above 1 nothing is merged
        if self.local not in LOCAL:
            raise ConfigError(
                f"local must be one of {', '.join(LOCAL)}, not {self.local!r}{suggest(self.local, LOCAL)}"
            )

    def fit(self, documents: Iterable[Document], labels: Labels = None) -> Self:
        """Build the tree from at most `sample` pages. Labelled pages determine the threshold."""
        self.check()
        tree = StyleTree(self.styles, self.virtual_leaves)
        examples, pages = add_pages(tree, documents, labels, self.sample)
        return self.with_tree(tree, examples, pages)

    def with_tree(
        self, tree: StyleTree, examples: Sequence[Example] = (), pages: Sequence[Document] = (), name: str = "the tree"
    ) -> Self:
        """Use an existing tree, and choose the threshold from examples or, if it is `auto`, from pages.

        Raises ConfigError if this labeller's parameters contradict those that the tree was built with.
        """
        self.check()
        for parameter in ("styles", "virtual_leaves"):
            value, built = getattr(self, parameter), getattr(tree, parameter)
            if value not in {getattr(SiteStyleTree, parameter), built}:
                raise ConfigError(
                    f"{name} was built with {parameter}={built}; build another tree to use {parameter}={value}"
                )
        if not tree.page_count:
            raise no_pages("sst")
        if tree.styles == "paper":
            merge_alike(tree, self.freq, self.lam)
        self.tree_ = tree
        self.judgement_ = Judgement(self.gamma, CAUTIOUS, self.epsilon).judge(tree)
        threshold, self.reason_ = self._choose_threshold(tree, examples, pages)
        if threshold != CAUTIOUS:
            self.judgement_ = Judgement(self.gamma, threshold, self.epsilon).judge(tree)
        return self

    def _choose_threshold(
        self, tree: StyleTree, examples: Sequence[Example], pages: Sequence[Document]
    ) -> tuple[float, str]:
        """Return the threshold and how it was chosen."""
        if examples:
            return best_threshold(self._trials(examples)), f"best for {plural(len(examples), 'labelled page')}"
        if self.t != AUTO:
            return self.t, "set by the parameter"
        if not pages:
            return (CAUTIOUS, "default of a tree without pages") if tree.t is None else (tree.t, "saved in the tree")
        trials = self._trials([(page, labels) for page, labels in guess_labels(pages) if Label.PARAGRAPH in labels])
        # F1 is 0 on pages without long texts that are not repeated on other pages.
        f1s = [sum(trial.f1(threshold) for trial in trials) / len(pages) for threshold in GUESS_THRESHOLDS]
        self.guess_ = Guess.of(GUESS_THRESHOLDS, f1s, CAUTIOUS)
        return self.guess_.choose()

    def _trials(self, examples: Sequence[Example]) -> list[Trial]:
        return [Trial(document, self.importances(document), labels) for document, labels in examples]

    def importances(self, document: Document) -> list[float]:
        """Map a page to the tree and return the importance of its blocks."""
        if self.tree_ is None or self.judgement_ is None:
            raise not_fitted(self)
        return block_importances(self.tree_, self.judgement_, document)

    def label(self, document: Document) -> Labelling:
        if self.tree_ is None or self.judgement_ is None:
            raise not_fitted(self)
        places = places_of_blocks(self.tree_, document)
        importances = block_importances(self.tree_, self.judgement_, document, places)
        kept = [importance > self.judgement_.t for importance in importances]
        spans: list[Spans | None] = [None] * len(kept)
        warnings = misfit(document, places)
        if self.judgement_.t < 0:  # nothing is noise, not even text that all pages repeat
            return replace(label_kept(document, kept), warnings=warnings)
        for block, (element, is_leaf) in zip(document.blocks, places, strict=True):
            repeated = self.judgement_.of(element).repeated
            if kept[block.index] and is_leaf and element.content and repeated and not block.preformatted:
                stretches = split_text(block.text, LOCAL[self.local], link_cuts(document, block))
                spans[block.index] = self._informative(block.text, stretches, element.content, repeated)
                kept[block.index] = spans[block.index] != ()
        return replace(label_kept(document, kept, spans), warnings=warnings)

    def _informative(
        self, text: str, stretches: Iterable[tuple[int, int]], content: Content, repeated: frozenset[str]
    ) -> Spans | None:
        """Return the spans of a block's text that are not locally noisy, or None if all of it is kept."""
        with_words, kept = [], []
        for start, stop in stretches:
            words = simple_words(text[start:stop])
            if words:
                is_noise = repeated.issuperset(words)
                if not is_noise and len(words) >= FEWEST_WORDS and content.page_count >= FEWEST_PAGES:
                    # Frequent words also occur in the content, so their counts differ between pages. If half of the
                    # words are locally noisy, it is enough that nearly all pages contain the remaining words.
                    is_noise = 2 * sum(word in repeated for word in words) >= len(words) and all(
                        1 - math.log(content.pages_with(word) or 1) / math.log(content.page_count) < self.epsilon
                        for word in words
                    )
                with_words.append((start, stop))
                kept.append(not is_noise)
        return join_kept(text, with_words, kept)


def add_pages(
    tree: StyleTree, documents: Iterable[Document], labels: Labels = None, sample: int | None = None
) -> tuple[list[Example], list[Document]]:
    """Add the first `sample` pages of a site to its tree. Return the labelled pages, and pages to guess labels for."""
    examples: list[Example] = []
    pages: list[Document] = []
    for document, page_labels in first_pages(documents, labels, sample):
        is_new = tree.add(document)
        if is_new and len(pages) < GUESS_PAGES:
            pages.append(document)
        if page_labels is not None:
            examples.append((document, page_labels))
    return examples, pages


def guess_labels(pages: Sequence[Document]) -> list[Example]:
    """Label long blocks whose text is on no other page as content, and all other blocks as noise."""
    pages_with = Counter(text for page in pages for text in {block.text for block in page.blocks})

    def label(block: Block) -> Label:
        is_content = len(block.text) >= GUESS_CHARS and pages_with[block.text] == 1
        return Label.PARAGRAPH if is_content else Label.OTHER

    return [(page, [label(block) for block in page.blocks]) for page in pages]


class Guess(NamedTuple):
    """The threshold with the best word F1 on guessed labels, and the cautious one."""

    best: float
    best_f1: float
    cautious: float
    cautious_f1: float

    @classmethod
    def of(cls, thresholds: Sequence[float], f1s: Sequence[float], cautious: float) -> Guess:
        """Compare thresholds by their F1. If several are equal, the middle one is used."""
        equal = [threshold for threshold, f1 in zip(thresholds, f1s, strict=True) if f1 >= max(f1s) - 1e-9]
        return cls(equal[len(equal) // 2], max(f1s), cautious, f1s[thresholds.index(cautious)])

    def choose(self, least_f1: float = GUESS_F1, least_gain: float = GUESS_GAIN) -> tuple[float, str]:
        """Return the threshold to use, and the reason."""
        best, before = f"{self.best_f1:.2f}", f"{self.cautious_f1:.2f}"
        if self.best_f1 < least_f1:
            return self.cautious, f"cautious, because no threshold separates long unrepeated texts (F1 {best})"
        if self.best_f1 - self.cautious_f1 < least_gain:
            return self.cautious, f"cautious, because no threshold is much better (F1 {before}, at best {best})"
        return self.best, f"best separates long unrepeated texts (F1 {best} instead of {before})"


class Trial:
    """A labelled page with a value per block. A threshold keeps the blocks with higher values."""

    def __init__(self, document: Document, values: Sequence[float], labels: Sequence[str]) -> None:
        self._values = np.asarray(values, dtype=float)
        self._words = np.array([len(block.text.split()) for block in document.blocks], dtype=float)
        self._content = np.array([Label(label).is_content for label in labels], dtype=bool)

    def f1(self, threshold: float) -> float:
        """Return the word F1 of the blocks that a threshold keeps; 1 if it correctly keeps nothing."""
        kept = self._values > threshold
        total = float(self._words[kept].sum() + self._words[self._content].sum())
        return 2 * float(self._words[kept & self._content].sum()) / total if total else 1.0


def best_threshold(trials: Sequence[Trial], thresholds: Sequence[float] = THRESHOLDS, reach: int = REACH) -> float:
    """Return the threshold with the best F1, averaged over its neighbours. The middle of equal ones is preferred.

    Importance differs a little from page to page, so a threshold next to a sharp drop of F1 would lose text on other
    pages. So neighbouring thresholds count too, weighted by their distance.
    """
    means = np.array([sum(trial.f1(threshold) for trial in trials) / len(trials) for threshold in thresholds])
    weights = np.concatenate([np.arange(1, reach + 1), np.arange(reach + 1, 0, -1)])
    around = np.convolve(np.pad(means, reach, mode="edge"), weights, mode="valid")
    best = np.flatnonzero(around >= around.max() - 1e-9)
    return thresholds[int(best[len(best) // 2])]
