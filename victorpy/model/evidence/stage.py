"""Run, train, save and load the lexicon, the layers of trees and the net."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from victorpy.base.arrays import open_arrays
from victorpy.columns import Columns, Counts, Flags, Floats
from victorpy.config import Config
from victorpy.model.evidence.context import COLUMNS as CONTEXT_COLUMNS
from victorpy.model.evidence.context import context
from victorpy.model.evidence.cut import block_weights
from victorpy.model.evidence.inputs import Inputs
from victorpy.model.evidence.lexicon import COLUMNS as LEXICON_COLUMNS
from victorpy.model.evidence.lexicon import FEWEST_SITES, Lexicon, Poll, Votes, spell
from victorpy.model.evidence.net import SHARE, Example, Net, train_net
from victorpy.model.evidence.trees import Forest, Matrix, average, constant, grow, learners, mix, tree_settings
from victorpy.model.role_patterns import has_headline
from victorpy.sites.grouping import make_folds

LEXICON_FILE = "lexicon.tsv"
TREES_FILE = "trees.npy"
NET_FILE = "net.npy"

Report = Callable[[str], None]
"""Called with a message about each step of training."""

Layer = tuple[Forest, ...]
"""The forests of a layer, one for each learner. Their log-odds are added."""

Weights = Sequence[Sequence[float] | None]
"""For each page, factors for the training weights of its blocks, or None if all factors are 1."""

# All pages have the same weight in training. Within a page, a block's weight is its number of words, up to this.
_MOST_WORDS = 200
_PAGE_WEIGHT = 100.0


@dataclass(frozen=True)
class Findings:
    """The results of the trees so far, above all the log-odds that blocks are content.

    Stages pass it on to the next stage.
    """

    log_odds: Floats
    inputs: Matrix
    """The inputs of the last trees for content. The trees for kinds use them too."""
    kinds: Floats | None = None
    """From the trees for kinds: the probability of each kind, given that the block is content. One row per block."""
    block_log_odds: Floats | None = None
    """From the trees for kinds: the log-odds of being content, trained with equal weights for all blocks."""


@dataclass(frozen=True)
class Evidence:
    """The stage that finds content: a lexicon, layers of trees, and a net beside the last layer.

    Each layer sees the predictions of the previous one for the whole page.
    """

    inputs: Inputs
    lexicon: Lexicon
    layers: tuple[Layer, ...]
    net: Net | None = None

    def judge(self, page: Columns) -> Findings:
        """Compute each block's log-odds of being content."""
        own = _input_count(self.inputs, 0)
        matrix = np.empty((self.input_count, page.count), dtype=np.float32)
        self.inputs.matrix(page, matrix[: self.inputs.count])
        self.lexicon.columns(page, matrix[self.inputs.count : own])
        log_odds = add_log_odds(self.layers[0], matrix[:own])
        for layer in self.layers[1:]:
            matrix[own:] = context(page, log_odds)
            log_odds = add_log_odds(layer, matrix)
        return Findings(average_with(self.net, log_odds, matrix, page), matrix)

    @property
    def input_count(self) -> int:
        """Number of inputs of the last layer."""
        return _input_count(self.inputs, len(self.layers) - 1)

    def save(self, directory: Path) -> None:
        self.lexicon.save(directory / LEXICON_FILE)
        with (directory / TREES_FILE).open("wb") as file:
            for forest in itertools.chain.from_iterable(self.layers):
                forest.save(file)
        if self.net is not None:
            with (directory / NET_FILE).open("wb") as file:
                self.net.save(file)

    @classmethod
    def load(cls, directory: Path, config: Config) -> Evidence:
        inputs = Inputs(config)
        lexicon = Lexicon.load(directory / LEXICON_FILE)
        file = open_arrays(directory / TREES_FILE)
        layers = [
            tuple(Forest.load(file, _input_count(inputs, layer)) for _ in learners(config))
            for layer in range(_layer_count(config))
        ]
        if any(len(forest.bias) != 1 for layer in layers for forest in layer):
            raise ValueError("its trees for content have several classes")
        net = None
        if _net_width(config):
            file = open_arrays(directory / NET_FILE)
            net = Net.load(file, _input_count(inputs, len(layers) - 1))
        return cls(inputs, lexicon, tuple(layers), net)


def add_log_odds(layer: Layer, matrix: Matrix) -> Floats:
    """Add up the log-odds of a layer's forests."""
    return np.asarray(sum(forest.log_odds(matrix) for forest in layer))


def average_with(net: Net | None, log_odds: Floats, matrix: Matrix, page: Columns) -> Floats:
    """Average the log-odds of the trees with those of the net, if there is one."""
    if net is None or not page.count:
        return log_odds
    return (1 - SHARE) * log_odds + SHARE * net.log_odds(matrix, block_weights(page))


def _input_count(inputs: Inputs, layer: int) -> int:
    return inputs.count + len(LEXICON_COLUMNS) + (len(CONTEXT_COLUMNS) if layer else 0)


def _layer_count(config: Config) -> int:
    return int(config.one("evidence-layers", "2"))


def _net_width(config: Config) -> int:
    return int(config.one("evidence-net", "0"))


@dataclass(frozen=True)
class Fitted:
    """The trained stage, and its findings on the training pages if they were requested.

    The log-odds of a page come from trees that were not trained on its site, so the next stage is trained on realistic
    log-odds.
    """

    evidence: Evidence
    findings: list[Findings]


def fit_evidence(
    pages: Sequence[Columns],
    content: Sequence[Flags],
    sites: Sequence[str],
    config: Config,
    report: Report = lambda message: None,
    weights: Weights | None = None,
    *,
    with_findings: bool = True,
) -> Fitted:
    """Train layer after layer on pages whose content is known.

    Each layer is trained on predictions from trees of the previous layer that had not seen the page's site. For each
    page, `weights` contains a factor for each block (0 if the label is unknown), or None if all factors are 1. Training
    without findings takes about half the time.
    """
    factors = [np.asarray(1.0 if page is None else page) for page in weights or [None] * len(pages)]
    settings = [tree_settings(config, learner=learner) for learner in learners(config)]
    folds = int(config.one("evidence-folds", "4"))
    groups = sites
    if len(set(sites)) < folds:
        report(f"evidence: only {len(set(sites))} sites, so folds are made of pages, not of sites")
        groups = [str(number) for number in range(len(pages))]
        folds = min(folds, len(pages))
    fold_of = make_folds(groups, folds, seed=1)
    inputs = Inputs(config)
    report(f"evidence: features of {len(pages):,} pages")
    votes, matrices = _first_inputs(pages, content, sites, factors, inputs)
    pairs = zip(pages, factors, strict=True)
    weights_of = [training_weights(page) * factor * without_headline(page) for page, factor in pairs]
    most_blocks = float(config.one("evidence-blocks", "inf"))
    own_rows = _input_count(inputs, layer=0)
    layer_count = _layer_count(config)
    layers: list[Layer] = []
    log_odds: list[Floats] = [np.zeros(0)] * len(pages)

    def grow_on(chosen: Sequence[int], count: int) -> Layer:
        """Train forests of each learner on pages, each with its own seed and sample of blocks, and average them."""
        if not chosen:
            return mix([constant(np.zeros(1))] * len(settings))
        averages = []
        for given in settings:
            forests = []
            for number in range(count):
                seed = int(given["random_seed"]) + number
                random = np.random.default_rng(seed)
                samples = []
                for page in chosen:
                    blocks, weights = sample_blocks(weights_of[page], most_blocks, random)
                    samples.append((matrices[page][:, blocks], content[page][blocks], weights))
                parts, targets, its_weights = zip(*samples, strict=True)
                target, weight = np.concatenate(targets), np.concatenate(its_weights)
                forests.append(grow(np.hstack(parts), target, weight, given | {"random_seed": seed}))
            averages.append(average(forests))
        return mix(averages)

    def train_net_on(chosen: Sequence[int]) -> Net | None:
        """Train the net of the config on pages, if it has one."""
        if not (_net_width(config) and chosen):
            return None
        examples = [
            Example(matrices[page], content[page], weights_of[page], block_weights(pages[page])) for page in chosen
        ]
        return train_net(examples, _net_width(config), slice(inputs.count, own_rows))

    for layer in range(layer_count):
        is_last = layer == layer_count - 1
        name = f"layer {layer + 1} of {layer_count}"
        if layer:
            for number, page in enumerate(pages):
                matrices[number] = np.vstack([matrices[number][:own_rows], context(page, log_odds[number])])
        for fold in range(folds if with_findings or not is_last else 0):
            report(f"evidence: {name}, fold {fold + 1} of {folds}")
            others = [number for number in range(len(pages)) if fold_of[number] != fold]
            forests, net = grow_on(others, 1), train_net_on(others) if is_last else None
            for number, page in enumerate(pages):
                if fold_of[number] == fold:
                    found = add_log_odds(forests, matrices[number])
                    log_odds[number] = average_with(net, found, matrices[number], page)
        report(f"evidence: {name}, all pages")
        layers.append(grow_on(range(len(pages)), int(config.one("evidence-forests", "1")) if is_last else 1))
    tables = make_lexicon(votes).tables
    lexicon = Lexicon(tables, spell(tables, pages))
    evidence = Evidence(inputs, lexicon, tuple(layers), train_net_on(range(len(pages))))
    return Fitted(evidence, list(map(Findings, log_odds, matrices)) if with_findings else [])


def _first_inputs(
    pages: Sequence[Columns], content: Sequence[Flags], sites: Sequence[str], factors: Sequence[Floats], inputs: Inputs
) -> tuple[list[Votes], list[Matrix]]:
    """Return the votes for the lexicon, and the inputs of the first layer for every page."""
    poll = Poll()
    matrices: list[Matrix] = []
    pages_of_site: dict[str, list[int]] = {}
    for number, (page, flags, site) in enumerate(zip(pages, content, sites, strict=True)):
        matrices.append(inputs.matrix(page))
        poll.add(page, flags, site, factors[number] > 0)
        pages_of_site.setdefault(site, []).append(number)
        page.forget_characters()
    votes = poll.votes()
    for site, numbers in pages_of_site.items():
        # Leave out the page's own site, because the lexicon will not know the sites of new pages.
        lexicon = make_lexicon(votes, without=site)
        for number in numbers:
            matrices[number] = np.vstack([matrices[number], lexicon.columns(pages[number])])
    return votes, matrices


def sample_blocks(weights: Floats, most: float, random: np.random.Generator) -> tuple[Counts, Floats]:
    """Sample about `most` blocks of a page, preferring heavy ones. Return their indices and weights.

    Weights are increased accordingly, so that the expected weight of a page does not change.
    """
    share = weights / max(float(weights.sum()), 1.0)
    chance = np.minimum(np.where(share > 0, most, 0) * np.maximum(share, 1e-300), 1.0)
    sampled = np.flatnonzero(random.random(len(weights)) < chance)
    return sampled, weights[sampled] / chance[sampled]


def training_weights(page: Columns) -> Floats:
    """Return the weight of each block in training."""
    weights = np.minimum(page.words, _MOST_WORDS) + 1
    return weights / max(float(weights.sum()), 1.0) * _PAGE_WEIGHT


def without_headline(page: Columns) -> Flags:
    """Return all blocks except the headline.

    Gold standards contradict each other about headlines, so they are left out of training. The cut has a rule instead.
    """
    others = np.ones(page.count, dtype=bool)
    if page.count > 1 and has_headline(page):
        others[page.headline] = False
    return others


def make_lexicon(votes: Sequence[Votes], without: str | None = None, fewest: int = FEWEST_SITES) -> Lexicon:
    """Make a lexicon from the votes of all sites. For the pages of one site, leave out the votes of this site."""
    return Lexicon(tuple(kind.table(without, fewest) for kind in votes))
