"""Choose and train the model that cleans unseen pages best, given annotated pages.

The candidates are the unchanged model, the model adapted to the pages, and models trained on the pages alone. All
candidates are cross-validated: every page is cleaned by a candidate that was not trained on it. If the pages come from
several sites, the candidate was not trained on any page of the same site.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from victorpy.columns import Columns, Flags, Floats
from victorpy.config import Config, load_config
from victorpy.document import Document
from victorpy.errors import DataError, ModelError
from victorpy.labellers.base import check_labels
from victorpy.model.evidence import Keeping, fit_evidence, probabilities
from victorpy.model.evidence.adaptation import Adaptation, JudgedPage, fit_adaptation
from victorpy.model.evidence.replay import Replay
from victorpy.model.evidence.stage import Findings, Report, Weights
from victorpy.model.labeller import ModelLabeller, Stages, columns_of, sites_of
from victorpy.model.store import Model
from victorpy.model.train import Trained, describe_training, train
from victorpy.outputs import CleanPage
from victorpy.outputs.anno import read_anno, write_anno
from victorpy.sites.grouping import SITE_KEY, make_folds, site_of

FOLDS = 5

SEVERAL_SITES = 3
"""Minimum number of sites for folds by site. With fewer sites, folds are made of single pages."""

FEWEST_CLASSES = 5
"""Minimum number of distinct class names on a page. With fewer, its site cannot be recognised."""

STEPS = (0.25, 0.5, 1.0)
"""Factors for the change of log-odds that an adaptation makes. Cross-validation chooses the best factor."""

CAUTIOUS_STEP = 0.5
"""The largest step of an adaptation that gains nothing in cross-validation. A larger one must lose less."""

USUAL_GAIN = 0.05
"""The usual gain of an adaptation, as a share of the unchanged model's distance to a word F1 of 1."""

GAIN_SPREAD = 0.02
"""The standard deviation of gains in word F1 over kinds of pages."""

USUAL_SPREAD, USUAL_PAGES = 0.05, 3
"""The usual standard deviation of gains over pages of one kind, and its weight as a number of pages."""

NEW_MODEL_GAIN = 0.02
"""Minimum gain of a model or trees from scratch. A smaller gain is not worth it, because they know no other pages."""

MOST_FORGOTTEN = 0.005
"""Largest loss of word F1 on the replay sample by an adaptation.

The trees are trained on the sample but hardly overfit it: other general pages lose about as much.
"""

UNCHANGED, ADAPTED, AVERAGED = "unchanged", "adapted", "adapted and averaged"
TREES, CRF = "trees from scratch", "CRF from scratch"

CONFIGS = {TREES: "default", CRF: "crf"}
"""The configs of models that are trained on the pages alone."""

OLD = (UNCHANGED, ADAPTED, AVERAGED)
"""The candidates that are based on the given model. Others know only the pages that they were trained on."""

FEWEST_TO_AVERAGE = 10
"""Minimum number of pages for an average. With fewer pages, trees from scratch do not improve an adaptation."""

FEWEST_FOR_TREES = 50
"""Minimum number of pages for trees from scratch alone. With fewer, their average with an adaptation is better."""

FEW_PAGES = 200
SMALL = {
    TREES: {
        "evidence-learner": "catboost",
        "evidence-net": "0",
        "evidence-forests": "1",
        "evidence-param-iterations": "100",
        "evidence-param-depth": "5",
        "evidence-param-learning_rate": "0.1",
    },
    CRF: {"crf-param-max_iterations": "60"},
}
"""Settings of models from scratch for fewer than `FEW_PAGES` pages, which are trained in seconds instead of minutes."""

Scores = Sequence[float]
"""The word F1 of each page."""


@dataclass(frozen=True)
class Learned:
    """The result of learning, with the scores of each candidate on unseen pages."""

    trained: Trained
    chosen: str
    """The name of the candidate that was trained on all pages."""
    scores: Mapping[str, Scores]
    """The scores of every candidate, from cross-validation."""
    expected_gain: float
    """The expected gain in word F1 on other pages. For a model from scratch, `NEW_MODEL_GAIN` is subtracted."""
    sites: int
    by_site: bool
    """Whether folds were made of known sites, so that no candidate was trained on the site of a test page."""
    general: tuple[float, float] | None = None
    """Mean word F1 on general pages before and after the adaptation, if there is a replay sample."""


def learn(
    pages: Sequence[CleanPage],
    model: Model,
    weights: Weights | None = None,
    site_key: str = SITE_KEY,
    replay: Replay | None = None,
    adapt: bool = False,
    report: Report = lambda message: None,
) -> Learned:
    """Keep a model, adapt it, or train another one, whichever is best in cross-validation.

    With `adapt`, adapt the model even if another choice is better.
    """
    if len(pages) < 2:
        raise DataError("there is only one page to learn from; give at least 2 pages, better 5 or more")
    report(f"features of {len(pages):,} pages")
    sites, groups, by_site = _group(pages, site_key)
    judged = judge_pages(pages, model, weights, sites, groups)
    folds = make_folds(groups, min(FOLDS, len(set(groups))), seed=1)
    trial = _Trial(judged, folds, sites, Keeping.of(model.config), replay, report)
    unchanged = trial.score([page.findings.log_odds for page in judged])
    adapted = trial.adapt(unchanged)
    scores = {UNCHANGED: unchanged} | {name: its.scores for name, its in adapted.items()}
    gains = {UNCHANGED: 0.0} | {name: its.expected_gain for name, its in adapted.items()}
    for name in () if adapt else CONFIGS:
        from_scratch = trial.from_scratch(name, model.config)
        if from_scratch is not None:
            scores[name] = from_scratch
            gains[name] = expected_gain(from_scratch, unchanged) - NEW_MODEL_GAIN
    chosen = max(adapted if adapt else gains, key=lambda name: gains[name])
    labeller, config = model.labeller, model.config
    if chosen in adapted:
        labeller = copy.copy(labeller)
        adaptation = adapted[chosen].adaptation.spelled(page.columns for page in judged)
        labeller.stages_ = replace(cast(Stages, labeller.stages_), adaptation=adaptation)
    elif chosen != UNCHANGED:
        report("training on all pages")
        config = scratch_config(chosen, len(pages))
        labeller = train(pages, config, None, report, site_key).labeller
    story = describe_training(pages, labeller, weights) | {
        "parent": {"digest": model.meta.get("digest"), "training": model.meta.get("training")},
        "chosen": chosen,
        "word_f1": {name: round(float(np.mean(its_scores)), 4) for name, its_scores in scores.items()},
        "folds": "sites" if by_site else "pages",
    }
    general = adapted[chosen].general if chosen in adapted else None
    if general is not None:
        story["general_word_f1"] = [round(value, 6) for value in general]
    return Learned(Trained(labeller, config, story), chosen, scores, gains[chosen], len(set(sites)), by_site, general)


def compare_new(
    trained: Trained,
    name: str,
    pages: Sequence[CleanPage],
    model: Model,
    weights: Weights | None = None,
    site_key: str = SITE_KEY,
    report: Report = lambda message: None,
) -> Learned | None:
    """Compare a new model with an unchanged one on the pages that the new model was trained on.

    Trees were cross-validated in training. A model without trees is trained again for each fold, or for one fold if
    there are many pages. Returns None if there are too few pages for that.
    """
    factors = weights or [None] * len(pages)
    sites, groups, by_site = _group(pages, site_key)
    kept = _kept_in_training(trained, pages)
    if kept:
        by_site = by_site and len(set(sites)) >= int(trained.config.one("evidence-folds", "4"))
    elif len(set(groups)) > 1:
        report("cross-validation")
        folds = make_folds(groups, min(FOLDS, len(set(groups))), seed=1)
        tested = range(max(folds) + 1 if len(pages) < FEW_PAGES else 1)
        labeller = ModelLabeller(trained.config, site_key=site_key)
        documents, labels = [page.document for page in pages], [page.labels for page in pages]
        with suppress(DataError):  # there is too little to learn from without a fold
            kept = cross_validate(labeller, documents, labels, factors, folds, tested, sites)
    if not kept:
        return None
    tested_pages, tested_factors = [pages[number] for number in kept], [factors[number] for number in kept]
    columns = [Columns(page.document, trained.config) for page in tested_pages]
    ours = _score_all(tested_pages, columns, kept.values(), tested_factors)
    theirs = _unchanged_scores(model, tested_pages, tested_factors, [sites[number] for number in kept])
    gain = expected_gain(ours, theirs) - NEW_MODEL_GAIN
    return Learned(trained, name, {UNCHANGED: theirs, name: ours}, gain, len(set(sites)), by_site)


def _group(pages: Sequence[CleanPage], site_key: str) -> tuple[list[str], list[str], bool]:
    """Return the site and the group of each page, and whether the groups are sites that are certain.

    Pages of a group are in the same fold. With few sites, each page is a group.
    """
    sites = guess_sites([page.document for page in pages], site_key)
    has_several_sites = len(set(sites)) >= SEVERAL_SITES
    by_site = has_several_sites and all(site_of(page.document.url, site_key) for page in pages)
    return sites, sites if has_several_sites else [str(number) for number in range(len(pages))], by_site


def guess_sites(documents: Sequence[Document], site_key: str) -> list[str]:
    """Return the site of each page. Pages without an address form one site if they share most of their classes.

    With `FEW_PAGES` pages or more, each page without an address is a separate site, because comparing all of them takes
    too long.
    """
    sites = sites_of(documents, site_key)
    first_pages: dict[str, set[str]] = {}
    for number, document in enumerate(documents if len(documents) < FEW_PAGES else ()):
        classes = set(document.elements_by("class"))
        if not site_of(document.url, site_key) and len(classes) >= FEWEST_CLASSES:
            alike = (site for site, its in first_pages.items() if len(classes & its) > len(classes | its) / 2)
            sites[number] = next(alike, sites[number])
        first_pages.setdefault(sites[number], classes)
    return sites


def judge_pages(
    pages: Sequence[CleanPage], model: Model, weights: Weights | None, sites: Sequence[str], groups: Sequence[str]
) -> list[JudgedPage]:
    """Run the trees of a model on labelled pages."""
    stages = model.labeller.stages_
    if stages is None or stages.evidence is None:
        raise ModelError("only models with trees can be adapted; train another one with `config`")
    if stages.adaptation is not None:
        raise ModelError("the model is adapted already; adapt the model that it came from to all pages together")
    factors = weights or [None] * len(pages)
    columns = columns_of([page.document for page in pages], sites, model.labeller)
    judged = []
    for page, its_columns, group, factor in zip(pages, columns, groups, factors, strict=True):
        check_labels(page.document, page.labels, model.config.labels)
        content = np.array([label.is_content for label in page.labels], dtype=bool)
        known = np.ones(len(content)) if factor is None else np.asarray(factor, dtype=np.float64)
        judged.append(JudgedPage(its_columns, stages.evidence.judge(its_columns), group, page.labels, content, known))
    known_content = np.concatenate([page.content[page.factor > 0] for page in judged])
    if known_content.all() or not known_content.any():
        raise DataError("nothing can be learned from these pages: they need blocks of content and blocks of noise")
    return judged


def word_f1(words: Floats, content: Flags, kept: Flags) -> float:
    """Return the word F1 of the kept blocks, given the number of words of each block."""
    total = float(words[kept].sum() + words[content].sum())
    return 2 * float(words[kept & content].sum()) / total if total else 1.0


def cross_validate(
    labeller: ModelLabeller,
    documents: Sequence[Document],
    labels: Sequence[Sequence[str]],
    factors: Weights,
    folds: Sequence[int],
    tested: Iterable[int],
    sites: Sequence[str],
) -> dict[int, Flags]:
    """Return the blocks of each page in the tested folds that the labeller keeps after training on the other folds."""
    kept = {}
    for fold in tested:
        seen = [number for number, its_fold in enumerate(folds) if its_fold != fold]
        fitted = copy.copy(labeller).fit(
            [documents[number] for number in seen],
            [labels[number] for number in seen],
            weights=[factors[number] for number in seen],
        )
        unseen = sorted(set(range(len(documents))).difference(seen))
        for site in dict.fromkeys(sites[number] for number in unseen):
            its_pages = [number for number in unseen if sites[number] == site]
            at_site = fitted.at_site([documents[number] for number in its_pages])
            for number in its_pages:
                found = at_site.label(documents[number]).labels
                kept[number] = np.array([label.is_content for label in found], dtype=bool)
    return dict(sorted(kept.items()))


def _kept_in_training(trained: Trained, pages: Sequence[CleanPage]) -> dict[int, Flags]:
    """Return the blocks that a new model keeps on each training page, by trees that have not seen its site.

    Models without trees, or trained on pages without blocks, have no such blocks.
    """
    log_odds, keeping = trained.labeller.training_log_odds_, Keeping.of(trained.config)
    pairs = zip(pages, log_odds, strict=True) if len(log_odds) == len(pages) else ()
    return {
        number: keeping.kept(probabilities(found), Columns(page.document, trained.config))
        for number, (page, found) in enumerate(pairs)
    }


def _unchanged_scores(model: Model, pages: Sequence[CleanPage], factors: Weights, sites: Sequence[str]) -> Scores:
    """Score an unchanged model on labelled pages, after cutting them into blocks as the model does."""
    stages, keeping = cast(Stages, model.labeller.stages_), Keeping.of(model.config)
    split = "every" if model.config.cuts.every else "block"
    recut = [
        page if page.document.split == split or factor is not None else read_anno(write_anno(page), model.config.cuts)
        for page, factor in zip(pages, factors, strict=True)
    ]
    columns = list(columns_of([page.document for page in recut], sites, model.labeller))
    findings = (cast(Findings, stages.judge(its_columns)) for its_columns in columns)
    kept = (keeping.kept(probabilities(its.log_odds), page) for its, page in zip(findings, columns, strict=True))
    return _score_all(recut, columns, kept, factors)


def _score_all(
    pages: Sequence[CleanPage], columns: Sequence[Columns], kept: Iterable[Flags], factors: Weights
) -> Scores:
    """Return the word F1 of each page. Blocks whose factor is 0 do not count."""
    scores = []
    for page, its_columns, its_kept, factor in zip(pages, columns, kept, factors, strict=True):
        content = np.array([label.is_content for label in page.labels], dtype=bool)
        words = its_columns.words if factor is None else np.where(np.asarray(factor) > 0, its_columns.words, 0.0)
        scores.append(word_f1(words, content, its_kept))
    return scores


def expected_gain(ours: Scores, theirs: Scores, usual: float = 0.0) -> float:
    """Return the expected gain on other pages: the mean difference of scores, shrunk towards the usual gain.

    It is closer to the usual gain if there are few pages, or if the differences vary a lot.
    """
    difference = np.subtract(ours, theirs)
    mean, count = float(difference.mean()), len(difference)
    squares = USUAL_PAGES * USUAL_SPREAD**2 + float(((difference - mean) ** 2).sum())
    error = squares / (USUAL_PAGES + count - 1) / count
    return usual + (mean - usual) * GAIN_SPREAD**2 / (GAIN_SPREAD**2 + error)


@dataclass(frozen=True)
class _Adapted:
    """An adaptation to all pages with its best step, and the scores of this step from cross-validation."""

    adaptation: Adaptation
    expected_gain: float
    """Negative if general pages lose too much."""
    scores: Scores
    general: tuple[float, float] | None
    """Mean word F1 on general pages before and after."""


@dataclass(frozen=True)
class _Trial:
    """The cross-validation of all candidates."""

    pages: Sequence[JudgedPage]
    folds: Sequence[int]
    sites: Sequence[str]
    keeping: Keeping
    replay: Replay | None
    report: Report

    def score(self, log_odds: Sequence[Floats]) -> Scores:
        """Score the blocks that log-odds keep, page by page."""
        pairs = zip(self.pages, log_odds, strict=True)
        kept = ((page, self.keeping.kept(probabilities(found), page.columns)) for page, found in pairs)
        return [word_f1(page.known_words, page.content, its_kept) for page, its_kept in kept]

    def adapt(self, unchanged: Scores) -> Mapping[str, _Adapted]:
        """Find the steps with the highest expected gain that do not hurt general pages too much.

        Return a result for the adaptation and, with enough pages, one for its average with trees from scratch.
        """
        fitted = self._fit_folds()
        self.report("adapting to all pages")
        adaptation = fit_adaptation(self.pages, self.replay)
        usual_gain = USUAL_GAIN * (1 - float(np.mean(unchanged)))
        best: dict[str, _Adapted] = {}
        names = (ADAPTED, AVERAGED) if len(self.pages) >= FEWEST_TO_AVERAGE else (ADAPTED,)
        for name, step in itertools.product(names, STEPS):
            is_averaged = name == AVERAGED
            variants = [its.variant(step, is_averaged) for its in fitted]
            pairs = zip(self.pages, self.folds, strict=True)
            scores = self.score([variants[fold].judge(page.columns, page.findings).log_odds for page, fold in pairs])
            largest = 1.0 if float(np.mean(scores)) > float(np.mean(unchanged)) else CAUTIOUS_STEP
            gain = expected_gain(scores, unchanged, usual_gain * (1.0 if is_averaged else min(step, largest)))
            variant, general = adaptation.variant(step, is_averaged), None
            if self.replay is not None:
                general = self.replay.score(0.0), self.replay.score(variant.general_change(self.replay))
            forgotten = general[0] - general[1] if general else 0.0
            if forgotten > MOST_FORGOTTEN or (is_averaged and gain < NEW_MODEL_GAIN):
                gain = -step - is_averaged
            if name not in best or gain > best[name].expected_gain:
                best[name] = _Adapted(variant, gain, scores, general)
        return best

    def _fit_folds(self) -> list[Adaptation]:
        """Return, for each fold, the adaptation to the other folds."""
        fitted, count = [], max(self.folds) + 1
        for fold in range(count):
            self.report(f"adapting, fold {fold + 1} of {count}")
            seen = [page for page, its_fold in zip(self.pages, self.folds, strict=True) if its_fold != fold]
            fitted.append(fit_adaptation(seen, self.replay))
        return fitted

    def from_scratch(self, name: str, model_config: Config) -> Scores | None:
        """Return the scores of a model that is trained on the pages alone, or None if such a model cannot win here."""
        config = scratch_config(name, len(self.pages))
        may_win = len(set(self.sites)) == 1 if name == CRF else len(self.pages) >= FEWEST_FOR_TREES
        is_partial = any((page.factor != 1).any() for page in self.pages)
        if not may_win or is_partial or config.cuts.every != model_config.cuts.every:
            return None
        self.report(f"comparing with {name}")
        documents = [page.columns.document for page in self.pages]
        if name == TREES:  # the training of trees includes a cross-validation
            columns = list(columns_of(documents, self.sites, ModelLabeller(config)))
            content, groups = [page.content for page in self.pages], [page.group for page in self.pages]
            fitted = fit_evidence(columns, content, groups, config)
            return self.score([findings.log_odds for findings in fitted.findings])
        labels = [page.labels for page in self.pages]
        every_fold = range(max(self.folds) + 1)
        nothing = [None] * len(documents)
        kept = cross_validate(ModelLabeller(config), documents, labels, nothing, self.folds, every_fold, self.sites)
        return [word_f1(page.known_words, page.content, kept[number]) for number, page in enumerate(self.pages)]


def scratch_config(name: str, pages: int) -> Config:
    """Return the config of a model from scratch for a number of pages."""
    config = load_config(CONFIGS[name])
    if pages >= FEW_PAGES:
        return config
    return replace(config, values={**config.values, **{key: (value,) for key, value in SMALL[name].items()}})
