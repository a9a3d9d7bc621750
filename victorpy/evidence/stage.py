"""The stages of evidence together: run on a page, learned from many, written and read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from victorpy.columns import Columns, Counts, Flags, Floats
from victorpy.config import Config
from victorpy.evidence.context import COLUMNS as CONTEXT_COLUMNS
from victorpy.evidence.context import context
from victorpy.evidence.inputs import Inputs
from victorpy.evidence.lexicon import COLUMNS as LEXICON_COLUMNS
from victorpy.evidence.lexicon import Lexicon, Poll, Votes, spell
from victorpy.evidence.trees import Forest, Matrix, average, check_settings, constant, grow, tree_settings
from victorpy.groups import make_folds

LEXICON_FILE = "lexicon.tsv"
TREES_FILE = "trees.npy"

Report = Callable[[str], None]
"""Told, in words, what is being done."""

# A page weighs the same however long it is; within it a block weighs what its words do, up to so many.
_MOST_WORDS = 200
_PAGE_WEIGHT = 100.0


@dataclass(frozen=True)
class Evidence:
    """A lexicon and layers of trees, each of which sees what the one before has found on the page."""

    inputs: Inputs
    lexicon: Lexicon
    layers: tuple[Forest, ...]

    def log_odds(self, page: Columns) -> Floats:
        """Give each block's log-odds of being content."""
        return self.judge(page)[0]

    def judge(self, page: Columns) -> tuple[Floats, Matrix]:
        """Give each block's log-odds of being content, and the numbers that the last trees decided by."""
        own = numbers = np.vstack([self.inputs.matrix(page), self.lexicon.columns(page)])
        found = self.layers[0].log_odds(own)
        for forest in self.layers[1:]:
            numbers = np.vstack([own, context(page, found)])
            found = forest.log_odds(numbers)
        return found, numbers

    @property
    def rows(self) -> int:
        """How many numbers of a block the last trees decide by."""
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
    """How many numbers of a block the trees of a layer decide by."""
    return len(inputs.names) + len(LEXICON_COLUMNS) + (len(CONTEXT_COLUMNS) if layer else 0)


@dataclass(frozen=True)
class Fitted:
    """What was learned, and what it says of the pages that it was learned from.

    The log-odds of a page come from trees that were not grown on pages of its site, so that what is trained on them
    meets them as it will meet those of new pages.
    """

    evidence: Evidence
    log_odds: list[Floats]
    numbers: list[Matrix]
    """What the last trees decided by, of each page."""


def fit_evidence(
    pages: Sequence[Columns],
    content: Sequence[Flags],
    sites: Sequence[str],
    config: Config,
    report: Report = lambda said: None,
) -> Fitted:
    """Learn from pages whose blocks are known to be content or not."""
    return _Training(pages, content, sites, config, report).run()


class _Training:
    """The pages of a training and what is known of them so far."""

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
        self._content = content
        self._sites = sites
        if len(set(sites)) < self._folds:
            report(
                f"evidence: the pages are of {len(set(sites))} sites only; they are judged page by page, not by site"
            )
        report(f"evidence: features of {len(pages):,} pages")
        poll = Poll()
        self._pages = pages
        self._numbers: list[Matrix] = []
        for page, flags, site in zip(pages, content, sites, strict=True):
            self._numbers.append(self._inputs.matrix(page))
            poll.add(page, flags, site)
            page.forget_characters()
        self._votes = poll.votes()
        self._add_lexicon()
        self._own_rows = len(self._inputs.names) + len(LEXICON_COLUMNS)

    def _add_lexicon(self) -> None:
        """Let the lexicon say of each page what it would say if it did not know the page's site."""
        by_site: dict[str, list[int]] = {}
        for number, site in enumerate(self._sites):
            by_site.setdefault(site, []).append(number)
        for site, numbers in by_site.items():
            lexicon = make_lexicon(self._votes, without=site)
            for number in numbers:
                rows = lexicon.columns(self._pages[number])
                self._numbers[number] = np.vstack([self._numbers[number], rows])

    def run(self) -> Fitted:
        """Grow layer after layer; what one finds on a page without having seen its site, the next one learns from."""
        found: list[Floats] = []
        layers = []
        for layer in range(1, self._layers + 1):
            if found:
                self._add_context(found)
            found = self._find_by_folds(f"layer {layer} of {self._layers}")
            self._report(f"evidence: layer {layer} of {self._layers}, all pages")
            layers.append(self._grow_on(range(len(self._pages))))
        tables = make_lexicon(self._votes).tables
        lexicon = Lexicon(tables, spell(tables, self._pages))
        return Fitted(Evidence(self._inputs, lexicon, tuple(layers)), found, self._numbers)

    def _add_context(self, found: list[Floats]) -> None:
        for number, page in enumerate(self._pages):
            rows = self._numbers[number][: self._own_rows]
            self._numbers[number] = np.vstack([rows, context(page, found[number])])

    def _find_by_folds(self, layer: str) -> list[Floats]:
        """Say what trees find on each page that were grown on the other folds of sites."""
        count = len(self._pages)
        groups = self._sites if len(set(self._sites)) >= self._folds else [str(number) for number in range(count)]
        folds = min(self._folds, count)
        fold_of = make_folds(groups, folds, seed=1)
        found: list[Floats] = [np.zeros(0)] * count
        for fold in range(folds):
            self._report(f"evidence: {layer}, fold {fold + 1} of {folds}")
            forest = self._grow_on([number for number in range(count) if fold_of[number] != fold])
            for number in range(count):
                if fold_of[number] == fold:
                    found[number] = forest.log_odds(self._numbers[number])
        return found

    def _grow_on(self, numbers: Sequence[int]) -> Forest:
        if not numbers:
            return constant(np.zeros(0, dtype=bool))
        first = int(self._settings["random_seed"])
        return average([self._grow(numbers, seed) for seed in range(first, first + self._forests)])

    def _grow(self, numbers: Sequence[int], seed: int) -> Forest:
        """Grow one forest: its seed decides which blocks it learns from, and how."""
        random = np.random.default_rng(seed)
        drawn = [draw_blocks(training_weights(self._pages[number]), self._most_blocks, random) for number in numbers]
        matrix = np.hstack(
            [self._numbers[number][:, blocks] for number, (blocks, _) in zip(numbers, drawn, strict=True)]
        )
        content = np.concatenate(
            [self._content[number][blocks] for number, (blocks, _) in zip(numbers, drawn, strict=True)]
        )
        weights = np.concatenate([of_page for _, of_page in drawn])
        return grow(matrix, content, weights, self._settings | {"random_seed": seed})


def draw_blocks(weights: Floats, most: float, random: np.random.Generator) -> tuple[Counts, Floats]:
    """Draw about so many blocks of a page at most, heavy ones rather than light ones: their numbers and weights.

    A drawn block also weighs for those like it that were not drawn, so that a page weighs the same on average.
    """
    chance = np.minimum(most * weights / max(float(weights.sum()), 1.0), 1.0)
    drawn = np.flatnonzero(random.random(len(weights)) < chance)
    return drawn, weights[drawn] / chance[drawn]


def training_weights(page: Columns) -> Floats:
    """How much each block counts in training."""
    weights = np.minimum(page.words, _MOST_WORDS) + 1
    return weights / max(float(weights.sum()), 1.0) * _PAGE_WEIGHT


def make_lexicon(votes: Sequence[Votes], without: str | None = None) -> Lexicon:
    """Make a lexicon of the votes of all sites but one."""
    return Lexicon(tuple(kind.table(without) for kind in votes))


def layer_count(config: Config) -> int:
    """How many layers of trees a config asks for."""
    return int(config.one("evidence-layers", "2"))
