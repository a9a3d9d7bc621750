"""The lexicon and the layers of trees together: run on a page, trained on many, saved and loaded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from victorpy.columns import Columns, Counts, Flags, Floats
from victorpy.config import Config
from victorpy.model.evidence.context import COLUMNS as CONTEXT_COLUMNS
from victorpy.model.evidence.context import context
from victorpy.model.evidence.inputs import Inputs
from victorpy.model.evidence.lexicon import COLUMNS as LEXICON_COLUMNS
from victorpy.model.evidence.lexicon import Lexicon, Poll, Votes, spell
from victorpy.model.evidence.trees import Forest, Matrix, average, check_settings, constant, grow, tree_settings
from victorpy.sites.grouping import make_folds

LEXICON_FILE = "lexicon.tsv"
TREES_FILE = "trees.npy"

Report = Callable[[str], None]
"""Called with a message about each step of training."""

# All pages weigh the same. Within a page a block weighs as much as its words, up to a maximum.
_MOST_WORDS = 200
_PAGE_WEIGHT = 100.0


@dataclass(frozen=True)
class Findings:
    """What the trees have found about the blocks of a page. Each stage hands it to the next."""

    log_odds: Floats
    """The log-odds of being content."""
    numbers: Matrix
    """What the last trees for content decided by. The trees for kinds see it too."""
    kinds: Floats | None = None
    """The probability of each kind of content, if the block is content: a row per block ..."""
    block_log_odds: Floats | None = None
    """... and the log-odds of being content, both by trees that count every block the same."""


@dataclass(frozen=True)
class Evidence:
    """A lexicon and layers of trees; each layer sees what the previous one has found on the page."""

    inputs: Inputs
    lexicon: Lexicon
    layers: tuple[Forest, ...]

    def judge(self, page: Columns) -> Findings:
        """Find each block's log-odds of being content."""
        own = numbers = np.vstack([self.inputs.matrix(page), self.lexicon.columns(page)])
        log_odds = self.layers[0].log_odds(own)
        for forest in self.layers[1:]:
            numbers = np.vstack([own, context(page, log_odds)])
            log_odds = forest.log_odds(numbers)
        return Findings(log_odds, numbers)

    @property
    def rows(self) -> int:
        """How many numbers of a block the last layer decides by."""
        return _rows(self.inputs, len(self.layers) - 1)

    def save(self, directory: Path) -> None:
        """Write the files of a model directory."""
        self.lexicon.save(directory / LEXICON_FILE)
        with (directory / TREES_FILE).open("wb") as file:
            for forest in self.layers:
                forest.save(file)

    @classmethod
    def load(cls, directory: Path, config: Config) -> Evidence:
        """Read what `save` wrote."""
        inputs = Inputs(config)
        lexicon = Lexicon.load(directory / LEXICON_FILE)
        with (directory / TREES_FILE).open("rb") as file:
            layers = tuple(Forest.load(file) for _ in range(layer_count(config)))
        for number, forest in enumerate(layers):
            forest.check(_rows(inputs, number))
        return cls(inputs, lexicon, layers)


def _rows(inputs: Inputs, layer: int) -> int:
    """Return how many numbers of a block the trees of a layer decide by."""
    return len(inputs.names) + len(LEXICON_COLUMNS) + (len(CONTEXT_COLUMNS) if layer else 0)


@dataclass(frozen=True)
class Fitted:
    """The trained evidence, and what it says about the training pages.

    The log-odds of a page come from trees that were not trained on its site, so that the next stage is trained on
    log-odds like those of new pages.
    """

    evidence: Evidence
    findings: list[Findings]


def fit_evidence(
    pages: Sequence[Columns],
    content: Sequence[Flags],
    sites: Sequence[str],
    config: Config,
    report: Report = lambda message: None,
) -> Fitted:
    """Train on pages whose blocks are known to be content or not."""
    return _Training(pages, content, sites, config, report).run()


class _Training:
    """The training pages and the numbers of their blocks."""

    def __init__(
        self,
        pages: Sequence[Columns],
        content: Sequence[Flags],
        sites: Sequence[str],
        config: Config,
        report: Report,
    ) -> None:
        self._report = report
        self._settings = tree_settings(config)
        check_settings(self._settings, config)
        self._folds = int(config.one("evidence-folds", "4"))
        self._layers = layer_count(config)
        self._forests = int(config.one("evidence-forests", "1"))
        self._most_blocks = float(config.one("evidence-blocks", "inf"))
        self._inputs = Inputs(config)
        self._pages = pages
        self._content = content
        self._sites = sites
        if len(set(sites)) < self._folds:
            report(
                f"evidence: the pages are of {len(set(sites))} sites only; they are judged page by page, not by site"
            )
        report(f"evidence: features of {len(pages):,} pages")
        poll = Poll()
        self._numbers: list[Matrix] = []
        pages_of_site: dict[str, list[int]] = {}
        for number, (page, flags, site) in enumerate(zip(pages, content, sites, strict=True)):
            self._numbers.append(self._inputs.matrix(page))
            poll.add(page, flags, site)
            pages_of_site.setdefault(site, []).append(number)
            page.forget_characters()
        self._votes = poll.votes()
        for site, numbers in pages_of_site.items():
            # The lexicon must not know the page's own site, as it does not know that of a new page.
            lexicon = make_lexicon(self._votes, without=site)
            for number in numbers:
                self._numbers[number] = np.vstack([self._numbers[number], lexicon.columns(pages[number])])

    def run(self) -> Fitted:
        """Train layer after layer; each sees what the previous one finds on sites that it was not trained on."""
        log_odds: list[Floats] = []
        layers = []
        for layer in range(1, self._layers + 1):
            if log_odds:
                own_rows = _rows(self._inputs, layer=0)
                for number, page in enumerate(self._pages):
                    own = self._numbers[number][:own_rows]
                    self._numbers[number] = np.vstack([own, context(page, log_odds[number])])
            log_odds = self._judge_by_folds(f"layer {layer} of {self._layers}")
            self._report(f"evidence: layer {layer} of {self._layers}, all pages")
            layers.append(self._grow_on(range(len(self._pages))))
        tables = make_lexicon(self._votes).tables
        lexicon = Lexicon(tables, spell(tables, self._pages))
        findings = [Findings(*page) for page in zip(log_odds, self._numbers, strict=True)]
        return Fitted(Evidence(self._inputs, lexicon, tuple(layers)), findings)

    def _judge_by_folds(self, layer: str) -> list[Floats]:
        """Return the log-odds of each page by trees that were trained on the other folds of sites."""
        count = len(self._pages)
        groups = self._sites if len(set(self._sites)) >= self._folds else [str(number) for number in range(count)]
        folds = min(self._folds, count)
        fold_of = make_folds(groups, folds, seed=1)
        log_odds: list[Floats] = [np.zeros(0)] * count
        for fold in range(folds):
            self._report(f"evidence: {layer}, fold {fold + 1} of {folds}")
            forest = self._grow_on([number for number in range(count) if fold_of[number] != fold])
            for number in range(count):
                if fold_of[number] == fold:
                    log_odds[number] = forest.log_odds(self._numbers[number])
        return log_odds

    def _grow_on(self, pages: Sequence[int]) -> Forest:
        """Train forests on pages, each with its own seed and its own draw of blocks, and average them."""
        if not pages:
            return constant(np.zeros(0, dtype=bool))
        first = int(self._settings["random_seed"])
        forests = []
        for seed in range(first, first + self._forests):
            random = np.random.default_rng(seed)
            matrices, content, weights = [], [], []
            for page in pages:
                blocks, block_weights = draw_blocks(training_weights(self._pages[page]), self._most_blocks, random)
                matrices.append(self._numbers[page][:, blocks])
                content.append(self._content[page][blocks])
                weights.append(block_weights)
            settings = self._settings | {"random_seed": seed}
            forests.append(grow(np.hstack(matrices), np.concatenate(content), np.concatenate(weights), settings))
        return average(forests)


def draw_blocks(weights: Floats, most: float, random: np.random.Generator) -> tuple[Counts, Floats]:
    """Draw about `most` blocks of a page at most, rather heavy than light ones. Return their numbers and weights.

    A drawn block also weighs for those that were not drawn, so that a page weighs the same on average.
    """
    chance = np.minimum(most * weights / max(float(weights.sum()), 1.0), 1.0)
    drawn = np.flatnonzero(random.random(len(weights)) < chance)
    return drawn, weights[drawn] / chance[drawn]


def training_weights(page: Columns) -> Floats:
    """Return how much each block counts in training."""
    weights = np.minimum(page.words, _MOST_WORDS) + 1
    return weights / max(float(weights.sum()), 1.0) * _PAGE_WEIGHT


def make_lexicon(votes: Sequence[Votes], without: str | None = None) -> Lexicon:
    """Make a lexicon from the votes of all sites, except for one."""
    return Lexicon(tuple(kind.table(without) for kind in votes))


def layer_count(config: Config) -> int:
    """Return how many layers of trees a config asks for."""
    return int(config.one("evidence-layers", "2"))
