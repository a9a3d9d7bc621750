"""The labeller that learns from annotated pages. A page passes through these stages:

columns     counts for the page's blocks, and site statistics
evidence    a lexicon and trees: the probability that a block is content
adaptation  more trees, if the model was adapted to pages of your own
kinds       more trees: the probability of each kind of content
beliefs     predictions for similar blocks on other pages of the site
CRF         labels in sequence, from features of blocks and from the evidence (Marek 2007, 3.5)
decoder     the blocks to keep, and the label of each

The config selects the stages: configs/crf.conf has only a CRF, configs/default.conf adds trees.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from victorpy.base.words import is_gibberish
from victorpy.columns import Columns, Floats
from victorpy.config import Config, load_config
from victorpy.document import Document, Label, Labelling
from victorpy.errors import DataError, VictorError
from victorpy.labellers.base import Examined, Features, Labeller, Labels, check_labels, first_pages
from victorpy.model.crf import Progress
from victorpy.model.crf.tables import Tables, marginals
from victorpy.model.decoder import Decoder
from victorpy.model.encode import Codes, Encoder, encode, make_encoders, show_features
from victorpy.model.evidence import Evidence, Findings, block_weights, expected_f1, fit_evidence
from victorpy.model.evidence.adaptation import Adaptation
from victorpy.model.evidence.inputs import load_tree_template
from victorpy.model.evidence.kinds import Kinds, fit_kinds
from victorpy.model.evidence.stage import Report, Weights
from victorpy.model.evidence.trees import EVIDENCE, KINDS
from victorpy.model.role_trees import RoleTrees
from victorpy.model.template import load_template
from victorpy.page.sections import sections
from victorpy.sites.grouping import SITE_KEY, site_of

if TYPE_CHECKING:  # imported only for pages of a site
    from victorpy.model.beliefs import Beliefs
    from victorpy.sites.statistics import SiteStatistics

DIGITS = 6
"""Probabilities are rounded, so that they are the same after writing and reading a file."""

GIBBERISH = 0.5
"""Factor for the confidence of a text that is not natural language, such as random letters."""
SAMPLED_BLOCKS = 50
"""Number of kept blocks that are checked for gibberish."""


@dataclass(frozen=True)
class Stages:
    """The trained stages of a model."""

    crf: Tables
    crfsuite_model: bytes
    """The CRF in crfsuite's file format, for other programs."""
    evidence: Evidence | None = None
    kinds: Kinds | None = None
    adaptation: Adaptation | None = None
    """Additional trees, if the model was adapted to other pages."""
    roles: RoleTrees | None = None
    """Trees for roles. Without them, rules assign roles."""

    def judge(self, page: Columns) -> Findings | None:
        """Run the trees of the model, if there are any, on a page."""
        if self.evidence is None:
            return None
        findings = self.evidence.judge(page)
        if self.adaptation is not None:
            findings = self.adaptation.judge(page, findings)
        return findings if self.kinds is None else self.kinds.judge(page, findings)


class ModelLabeller(Labeller):
    """Labels blocks with a model whose stages, features and training are described by a config.

    The other parameters override the config, so that a grid search can vary them.
    """

    # Set by training, loading and `at_site`.
    stages_: Stages | None = None
    site_: SiteStatistics | None = None
    beliefs_: Beliefs | None = None
    training_log_odds_: Sequence[Floats] = ()
    """The log-odds of each training page, from trees that were not trained on its site."""
    _prepared: _Prepared | None = None

    def __init__(
        self,
        config: Config | str = "cleaneval",
        algorithm: str | None = None,
        c1: float | None = None,
        c2: float | None = None,
        max_iterations: int | None = None,
        threshold: float | None = None,
        site_key: str | None = None,
    ) -> None:
        self.config = config
        self.algorithm = algorithm
        self.c1 = c1
        self.c2 = c2
        self.max_iterations = max_iterations
        self.threshold = threshold
        self.site_key = site_key

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without values derived from the config, because user-defined features cannot be pickled."""
        return self.__dict__ | {"_prepared": None}

    def fit(
        self,
        documents: Iterable[Document],
        labels: Labels = None,
        progress: Progress | None = None,
        report: Report = lambda message: None,
        weights: Weights | None = None,
    ) -> Self:
        """Train the trees, if the config has any, and then the CRF.

        `weights` are those of `fit_evidence`. The CRF learns only from pages without weights, since it needs all labels
        of a sequence.
        """
        from victorpy.model.crf.training import make_crf, train  # only training needs these packages

        prepared = self.prepare()
        if labels is None or any(page_labels is None for page_labels in labels):
            raise DataError("a CRF learns from labels: pass the labels of every page's blocks to fit()")
        given = {"c1": self.c1, "c2": self.c2, "max_iterations": self.max_iterations}
        crf = make_crf(prepared.config, progress, self.algorithm, **given)
        pages, sequences, factors = [], [], []
        for document, page_labels, factor in zip(documents, labels, weights or [None] * len(labels), strict=True):
            sequence = [str(label) for label in page_labels or ()]
            check_labels(document, sequence, prepared.config.labels)
            if sequence:
                pages.append(document)
                sequences.append(sequence)
                factors.append(factor)
        if sequences and None not in factors:
            raise DataError(
                "the CRF learns from pages whose blocks all have labels, but the gold of every page is partial; "
                "add other pages, such as --data wcxb:DIR"
            )
        if len({label for sequence in sequences for label in sequence}) < 2:
            raise DataError("nothing can be learned from these pages: their blocks need at least two labels")
        sites = sites_of(pages, self.site_key or SITE_KEY)
        # A generator, because only trees need all pages at once.
        columns: Iterable[Columns] = columns_of(pages, sites, self)
        evidence, kinds = None, None
        if prepared.config.get(EVIDENCE):
            columns = list(columns)
            content = [np.array([Label(label).is_content for label in sequence]) for sequence in sequences]
            fitted = fit_evidence(columns, content, sites, prepared.config, report, factors)
            evidence, self.training_log_odds_ = fitted.evidence, [findings.log_odds for findings in fitted.findings]
            if prepared.config.get(KINDS):
                known = [number for number, factor in enumerate(factors) if factor is None]
                kinds = fit_kinds(
                    [columns[number] for number in known],
                    [fitted.findings[number] for number in known],
                    [sequences[number] for number in known],
                    prepared.config,
                    report,
                )
            columns = map(Columns.with_evidence, columns, self.training_log_odds_)
        examples = []
        for page, sequence, factor in zip(columns, sequences, factors, strict=True):
            if factor is None:
                examples.append((encode(page, prepared.encoders), sequence))
            page.forget_characters()
        tables = train(examples, prepared.encoders, prepared.template, crf)
        self.stages_ = Stages(tables, crf.model_, evidence, kinds)
        return self

    def with_config(self, config: Config) -> ModelLabeller:
        """Return a copy with the same stages and site but another config."""
        self._trained()  # raises an error if the model is not trained
        changed = copy.copy(self)
        changed.config = config
        return changed

    @property
    def wants_site(self) -> bool:
        return self.prepare().wants_site

    @property
    def tunes(self) -> bool:
        return self.wants_site and bool(self.prepare().config.get(EVIDENCE))

    def at_site(self, documents: Iterable[Document], labels: Labels = None) -> Labeller:
        """Return the model fitted to pages of a site. A model without site features returns itself."""
        if not self.wants_site:
            return self
        from victorpy.model.beliefs import SitePages, believe
        from victorpy.sites.statistics import SiteStatistics

        changed = copy.copy(self)
        site = changed.site_ = SiteStatistics()
        changed.beliefs_ = None
        pages = SitePages()
        for document, page_labels in first_pages(documents, labels):
            site.add(document)
            pages.add(document, page_labels)
        if self.tunes and site.pages > 1:
            changed.beliefs_ = believe(pages.all, site, changed._find)
        return changed

    def label(self, document: Document) -> Labelling:
        return self.examine(document).labelling

    def examine(self, document: Document, features: bool = False) -> Examined:
        """Label a page section by section.

        Most pages have a single section. Features are returned for the first one only.
        """
        shown: Features = ()
        labellings: list[Labelling] = []
        weights = []
        for section in sections(document):
            labelling, codes, page = self._label(section)
            if features and not labellings:
                shown = show_features(codes, self.prepare().encoders)
            labellings.append(labelling)
            weights.append(block_weights(page))
        if len(labellings) == 1:
            return Examined(labelling, shown, page)
        labels, shares, content = (
            tuple(chain.from_iterable(getattr(part, name) for part in labellings))
            for name in ("labels", "probabilities", "content")
        )
        is_kept = np.array([label.is_content for label in labels])
        confidence = expected_f1(np.array(content), np.concatenate(weights), is_kept)
        warnings = labelling.warnings if all(part.warnings for part in labellings) else ()
        return Examined(Labelling(labels, shares, content, round(confidence, DIGITS), warnings=warnings), shown)

    def features(self, document: Document) -> Features:
        encoders: list[Encoder] = self.prepare().encoders
        page, findings = self._find(document)
        if findings is None:
            encoders = [encoder for encoder in encoders if encoder.name != "evidence"]
        return show_features(encode(page, encoders), encoders)

    def predict_marginals(self, documents: Sequence[Document]) -> list[list[dict[str, float]]]:
        """Return the CRF's probability of every label for every block.

        In contrast, `label` also uses the trees, which decide what is content and contribute to its kind.
        """
        crf = self._trained().crf
        pages = []
        for document in documents:
            page, _ = self._find(document)
            shares = marginals(crf.states(encode(page, self.prepare().encoders)), crf.transitions)
            pages.append([dict(zip(crf.labels, map(float, row), strict=True)) for row in shares])
        return pages

    def _label(self, document: Document) -> tuple[Labelling, Codes, Columns]:
        """Pass a page through all stages. Return its labels, the features of the CRF, and its columns."""
        stages, prepared = self._trained(), self.prepare()
        page, findings = self._find(document)
        codes = encode(page, prepared.encoders)
        labels, shares, content = prepared.decoder(stages, self.threshold).choose(page, codes, findings)
        if not np.isfinite(shares.sum() + content.sum()):
            raise DataError("the model's probabilities are not numbers, because its weights are too large")
        is_kept = labels != stages.crf.noise
        confidence = expected_f1(content, block_weights(page), is_kept)
        if is_gibberish(" ".join([page.texts[number] for number in np.flatnonzero(is_kept)[:SAMPLED_BLOCKS].tolist()])):
            confidence *= GIBBERISH
        names = tuple(map(stages.crf.names.__getitem__, labels.tolist()))
        # Rounding both rows at once is faster.
        own, any_content = np.array([shares[np.arange(len(labels)), labels], content]).round(DIGITS).tolist()
        warnings = self.site_.misfit(document) if self.site_ else ()
        labelling = Labelling(names, tuple(own), tuple(any_content), round(confidence, DIGITS), warnings=warnings)
        return labelling, codes, page

    def _find(self, document: Document) -> tuple[Columns, Findings | None]:
        """Run the stages before the CRF. Return the CRF's view of the page, and the findings of the trees."""
        site = None if self.site_ is None else self.site_.columns(document)
        page = Columns(document, self.prepare().config, site)
        findings = None if self.stages_ is None else self.stages_.judge(page)
        if findings is None:
            return page, None
        if self.beliefs_ is not None and self.site_ is not None:
            from victorpy.model.beliefs import adjust

            findings = adjust(findings, page, self.site_, self.beliefs_)
        return page.with_evidence(findings.log_odds), findings

    def prepare(self) -> _Prepared:
        """Return the encoders and the template of the config. The result is cached."""
        if self._prepared is None or self._prepared.asked is not self.config:
            self._prepared = _Prepared(self.config)
        return self._prepared

    def _trained(self) -> Stages:
        if self.stages_ is None:
            raise VictorError(f"this {type(self).__name__} has not been trained: call fit() or load a model")
        return self.stages_


class _Prepared:
    """The encoders and the template of a config."""

    def __init__(self, asked: Config | str) -> None:
        self.asked = asked
        self.config = load_config(asked) if isinstance(asked, str) else asked
        self.encoders = make_encoders(self.config)
        self.template = load_template(self.config)
        self._decoder: tuple[Stages, float | None, Decoder] | None = None

    def decoder(self, stages: Stages, threshold: float | None) -> Decoder:
        """Return the decoder for trained stages. The last result is cached."""
        if self._decoder is None or self._decoder[0] is not stages or self._decoder[1] != threshold:
            kinds = stages.kinds.labels if stages.kinds else ()
            self._decoder = stages, threshold, Decoder.of(self.config, stages.crf, kinds, threshold)
        return self._decoder[2]

    @cached_property
    def wants_site(self) -> bool:
        """Whether any stage uses site features."""
        names = self.config.features
        for stage in (EVIDENCE, KINDS):
            if self.config.get(stage):
                names = (*names, *load_tree_template(self.config, stage).features)
        return any(name.startswith("site.") for name in names)


def role_trees_of(labeller: Labeller) -> RoleTrees | None:
    """Return the trees for roles if the model has any, or else None."""
    stages = labeller.stages_ if isinstance(labeller, ModelLabeller) else None
    return stages.roles if stages else None


def sites_of(documents: Sequence[Document], site_key: str) -> list[str]:
    """Return the site of each page. A page without an address is a separate site."""
    return [site_of(page.url, site_key) or page.source or str(number) for number, page in enumerate(documents)]


def columns_of(documents: Sequence[Document], sites: Sequence[str], labeller: ModelLabeller) -> Iterator[Columns]:
    """Yield the columns of each page.

    If the labeller uses them, they include statistics of the given pages of its site.
    """
    from victorpy.sites.statistics import SiteStatistics

    statistics: dict[str, SiteStatistics] = {}
    if labeller.wants_site:
        for document, site in zip(documents, sites, strict=True):
            statistics.setdefault(site, SiteStatistics()).add(document)
    for document, site in zip(documents, sites, strict=True):
        at_site = statistics[site].columns(document) if statistics else None
        yield Columns(document, labeller.prepare().config, at_site)
