"""Victor's own labeller: a conditional random field over the sequence of blocks (Marek 2007, 3.5)."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from victorpy.base.variables import FAVORS
from victorpy.columns import Columns, Flags, SiteColumns
from victorpy.config import Config, load_config
from victorpy.document import Document, Label, Labelling
from victorpy.errors import ConfigError, DataError, VictorError, suggest
from victorpy.labellers.base import LABELLERS, Labeller, Labels, first_pages
from victorpy.model.beliefs import Beliefs, SitePages, adjust, believe
from victorpy.model.crf.decoding import Floats, marginals, viterbi
from victorpy.model.crf.tables import Tables
from victorpy.model.crf.training import Progress, train, trainer_parameters
from victorpy.model.encode import Codes, encode, make_encoders, show_features
from victorpy.model.evidence import Evidence, best_cut, block_weights, expected_f1, fit_evidence, probabilities
from victorpy.model.evidence.cut import headings_above, with_whole_tables
from victorpy.model.evidence.inputs import load_numbers_template
from victorpy.model.evidence.kinds import Kinds, fit_kinds
from victorpy.model.evidence.stage import Report
from victorpy.model.evidence.trees import EVIDENCE, KINDS
from victorpy.model.template import load_template
from victorpy.sites.grouping import site_of
from victorpy.sites.statistics import SiteStatistics

# Probabilities are rounded, so that a file that holds them reads back the same.
DIGITS = 6

# The beta of the F-measure for each value of `favor`: how much more recall counts than precision.
BETA = dict(zip(FAVORS, (0.5, 0.9, 2.0), strict=True))

# Shorter pages are not reported as empty just because little of them looks like content.
FEWEST_BLOCKS = 5

# A heading right above kept text is kept from this probability on.
LEAST_PROBABLE_HEADING = "0.1"

# A page whose most probable block is no more probable than this has no content.
LEAST_PROBABLE = 0.01

# Subtracted from the score of a label that is not allowed; much larger than any score.
_NEVER = 200.0

Decoded = tuple[npt.NDArray[np.int64], Floats, Floats]
"""The number of each block's label, the probabilities of all labels (a row per block), and that of content."""


@LABELLERS.register("crf")
class CRFLabeller(Labeller):
    """Labels the blocks of a page by a CRF whose features, template and training a config describes.

    The other parameters override the config's, so that a grid search can vary them.
    """

    def __init__(
        self,
        config: Config | str = "cleaneval",
        algorithm: str | None = None,
        c1: float | None = None,
        c2: float | None = None,
        max_iterations: int | None = None,
        threshold: float | None = None,
    ) -> None:
        self.config = config
        self.algorithm = algorithm
        self.c1 = c1
        self.c2 = c2
        self.max_iterations = max_iterations
        self.threshold = threshold
        self._prepared: _Prepared | None = None
        self.evidence_: Evidence | None = None
        self.kinds_: Kinds | None = None
        self.site_: SiteStatistics | None = None
        self.beliefs_: Beliefs | None = None
        self.found_in_training_: list[Floats] = []
        self.tables_: Tables | None = None
        self.crfsuite_model_ = b""

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is derived from the config: a user's own features cannot be pickled."""
        return self.__dict__ | {"_prepared": None}

    def fit(
        self,
        documents: Iterable[Document],
        labels: Labels = None,
        progress: Progress | None = None,
        report: Report = lambda message: None,
    ) -> Self:
        """Train on pages and the labels of their blocks: first the stages of evidence, if any, then the CRF."""
        prepared = self.prepare()
        if labels is None or any(page_labels is None for page_labels in labels):
            raise DataError("a CRF learns from labels: give fit() the labels of every page's blocks")
        settings = self._settings()
        pages, sequences = _labelled_pages(documents, labels, prepared.config)
        sites = [site_of(page.url) or page.source or str(number) for number, page in enumerate(pages)]
        site_columns = _site_columns(pages, sites) if self.wants_site else [None] * len(pages)
        # Made one at a time: only the stages of evidence need all pages at once.
        columns: Iterable[Columns] = (
            prepared.columns(page, site=site) for page, site in zip(pages, site_columns, strict=True)
        )
        self.evidence_ = self.kinds_ = None
        if prepared.config.get(EVIDENCE):
            columns = list(columns)
            self._fit_evidence(columns, sequences, sites, report)
        examples = []
        for page, sequence in zip(columns, sequences, strict=True):
            examples.append((encode(page, prepared.encoders), sequence))
            page.forget_characters()
        trained = train(examples, prepared.encoders, prepared.template, settings, progress)
        return self.with_tables(trained.tables, trained.crfsuite_model, self.evidence_, self.kinds_)

    def _fit_evidence(self, pages: list[Columns], labels: list[list[str]], sites: list[str], report: Report) -> None:
        """Train the trees for content and for kinds. Set the evidence of pages, from trees that did not see them."""
        config = self.prepare().config
        content = [np.array([Label(label).is_content for label in sequence], dtype=bool) for sequence in labels]
        fitted = fit_evidence(pages, content, sites, config, report)
        self.evidence_, self.found_in_training_ = fitted.evidence, fitted.log_odds
        for page, log_odds in zip(pages, fitted.log_odds, strict=True):
            page.evidence = log_odds
        if config.get(KINDS):
            self.kinds_ = fit_kinds(pages, fitted.numbers, labels, config, report)

    def with_tables(
        self, tables: Tables, crfsuite_model: bytes, evidence: Evidence | None = None, kinds: Kinds | None = None
    ) -> Self:
        """Set what training has learned."""
        self.tables_, self.crfsuite_model_ = tables, crfsuite_model
        self.evidence_, self.kinds_ = evidence, kinds
        return self

    def with_config(self, config: Config) -> CRFLabeller:
        """Return a labeller with the same weights, at the same site, that runs with another config."""
        self._tables()  # raises if there are none
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
        """Return the same model after it has seen pages of a site; without features of sites, return itself."""
        if not self.wants_site:
            return self
        changed = copy.copy(self)
        site = changed.site_ = SiteStatistics()
        changed.beliefs_ = None
        pages = SitePages()
        for document, page_labels in first_pages(documents, labels):
            site.add(document)
            pages.add(document, page_labels)
        if self.evidence_ is not None and site.pages > 1:
            changed.beliefs_ = believe(pages.all, site, changed._columns)
        return changed

    def label(self, document: Document) -> Labelling:
        """Label the blocks of a page, with probabilities."""
        tables = self._tables()
        page = self._columns(document)
        codes = encode(page, self.prepare().encoders)
        decode = self._decode_chain if page.evidence is None else self._decode_evidence
        chosen, shares, content = decode(tables, codes, page)
        names = [Label(label) for label in tables.labels]
        return Labelling(
            tuple([names[number] for number in chosen.tolist()]),
            _rounded(shares[np.arange(len(chosen)), chosen]),
            _rounded(content),
            round(expected_f1(content, block_weights(page), ~tables.is_noise[chosen]), DIGITS),
        )

    def predict_marginals(self, documents: Sequence[Document]) -> list[list[dict[str, float]]]:
        """Return the probability of every label for every block by the chain alone.

        `label` uses more: evidence, if there is any, decides what is content, and trees for kinds have a say in
        which kind of content it is.
        """
        tables = self._tables()
        pages = []
        for document in documents:
            states = tables.states(encode(self._columns(document), self.prepare().encoders))
            shares = marginals(states, tables.transitions)
            pages.append([dict(zip(tables.labels, map(float, row), strict=True)) for row in shares])
        return pages

    def features(self, document: Document) -> tuple[dict[str, str], ...]:
        page = self._columns(document)
        encoders = self.prepare().encoders
        if page.evidence is None:
            encoders = [encoder for encoder in encoders if encoder.name != "evidence"]
        return tuple(show_features(page, encoders))

    def _columns(self, document: Document) -> Columns:
        """Count what features need of a page, and run the stages before the CRF."""
        page = self.prepare().columns(document, site=None if self.site_ is None else self.site_.columns(document))
        if self.evidence_ is not None:
            page.evidence, numbers = self.evidence_.judge(page)
            if self.kinds_ is not None:
                page.kinds, page.block_evidence = self.kinds_.judge(page, numbers)
            if self.beliefs_ is not None and self.site_ is not None:
                adjust(page, document, self.site_, self.beliefs_)
        return page

    @property
    def _way(self) -> str:
        """How labels are chosen: a value of the config's `decode`."""
        return self.prepare().config.one("decode", "viterbi") if self.threshold is None else "marginal"

    def _decode_chain(self, tables: Tables, codes: Codes, page: Columns) -> Decoded:
        """Choose labels by the chain alone."""
        states = tables.states(codes)
        shares = marginals(states, tables.transitions)
        content = shares[:, ~tables.is_noise].sum(axis=1)
        if self._way == "viterbi":
            return viterbi(states, tables.transitions), shares, content
        if self._way == "label":
            return shares.argmax(axis=1), shares, content
        best_kind = np.where(tables.is_noise, -1.0, shares).argmax(axis=1)
        return np.where(self.kept(content, page), best_kind, tables.noise), shares, content

    def _decode_evidence(self, tables: Tables, codes: Codes, page: Columns) -> Decoded:
        """Choose labels when the evidence says how probable content is; the chain and the trees say which kind."""
        assert page.evidence is not None
        content = probabilities(page.evidence)
        if self._way == "viterbi" or tables.noise < 0:
            chosen, shares, _ = self._decode_chain(tables, codes, page)
            return chosen, shares, content
        if self._way == "label":
            return self._decode_each_block(tables, codes, page)
        return self._decode_kept_blocks(tables, codes, page, content)

    def _decode_each_block(self, tables: Tables, codes: Codes, page: Columns) -> Decoded:
        """Choose the most probable label of each block, for the most labels that are right."""
        assert page.evidence is not None
        log_odds = page.evidence
        if page.block_evidence is not None:  # these trees count blocks, not words
            share = float(self.prepare().config.one("kinds-content-share", "0"))
            log_odds = (1 - share) * page.evidence + share * page.block_evidence
        content = probabilities(log_odds)
        chain = marginals(tables.states(codes), tables.transitions)
        # The probabilities of kinds are scaled so that they add up to that of content.
        kinds = np.where(tables.is_noise, 0.0, self._with_trees(chain, page))
        kinds *= (content / np.maximum(kinds.sum(axis=1), 1e-12))[:, None]
        shares = np.where(tables.is_noise, 1 - content[:, None], kinds)
        return shares.argmax(axis=1), shares, content

    def _decode_kept_blocks(self, tables: Tables, codes: Codes, page: Columns, content: Floats) -> Decoded:
        """Choose which blocks to keep, then the most probable kind of each kept block, given that choice."""
        keep = self.kept(content, page)
        # A block of noise cuts the chain, because its label is certain. So only kept blocks and their neighbours
        # have to be scored: of K n n n K the block in the middle is left out.
        is_scored = keep.copy()
        is_scored[1:] |= keep[:-1]
        is_scored[:-1] |= keep[1:]
        scored = np.flatnonzero(is_scored)
        states = tables.states(codes, scored)
        states[np.ix_(keep[scored], tables.is_noise)] -= _NEVER
        states[np.ix_(~keep[scored], ~tables.is_noise)] -= _NEVER
        chain = marginals(states, tables.transitions)[keep[scored]]
        shares = np.zeros((page.count, len(tables.labels)))
        shares[:, tables.noise] = 1 - content
        shares[keep] = self._with_trees(chain, page, keep) * content[keep, None]
        return np.where(keep, shares.argmax(axis=1), tables.noise), shares, content

    def _with_trees(self, chain: Floats, page: Columns, blocks: Flags | slice = slice(None)) -> Floats:
        """Return the weighted mean of the chain's probabilities of kinds and the trees', if there are any.

        It is a mean of logarithms, so that a kind that one of them rules out is out.
        """
        if self.kinds_ is None or page.kinds is None:
            return chain
        tables = self._tables()
        share = float(self.prepare().config.one("kinds-share", "0.5"))
        trees = np.zeros_like(chain)
        trees[:, [tables.labels.index(label) for label in self.kinds_.labels]] = page.kinds[blocks]
        joined = chain ** (1 - share) * trees**share
        return np.asarray(joined / np.maximum(joined.sum(axis=1, keepdims=True), 1e-300))

    def kept(self, content: Floats, page: Columns) -> Flags:
        """Return which blocks are kept: those probable enough, or those that maximise the page's expected F."""
        config = self.prepare().config
        if self._way == "marginal":
            # The threshold is relative to the most probable block, so that a page unlike the training pages,
            # such as a very short one, is judged by its own best block.
            best = float(content.max(initial=0.0))
            share = float(config.one("threshold", "0.5")) if self.threshold is None else self.threshold
            return content >= (share * best if best > LEAST_PROBABLE else float("inf"))
        favor = config.one("favor", "balanced")
        cut, expected = best_cut(content, block_weights(page), BETA[favor])
        least = float(config.one("empty-below", "0"))
        if page.count < FEWEST_BLOCKS:  # too short to be judged by what is around its blocks
            least = min(least, LEAST_PROBABLE)
        if favor != "recall" and expected < least:
            return np.zeros(len(content), dtype=bool)
        kept = content >= cut
        if favor == "precision":
            return kept
        kept = with_whole_tables(kept, page)
        heading_least = float(config.one("heading-least", LEAST_PROBABLE_HEADING))
        return kept | headings_above(kept, content, page, heading_least)

    def _settings(self) -> dict[str, Any]:
        """Return the trainer's parameters: the config's that the algorithm has, overridden by the labeller's."""
        config = self.prepare().config
        algorithm = self.algorithm or config.one("crf-algorithm", "lbfgs")
        known = trainer_parameters(algorithm)
        settings: dict[str, Any] = {"algorithm": algorithm}
        for name, values in config.family("crf-param-").items():
            if name in known and values:
                settings[name] = float(values[0])
            elif self.algorithm is None and values:
                message = (
                    f"crfsuite's {algorithm} has no parameter {name!r}{suggest(name, known)}; it has {', '.join(known)}"
                )
                raise config.error(f"crf-param-{name}", message)
        own = {"c1": self.c1, "c2": self.c2, "max_iterations": self.max_iterations}
        settings |= {name: value for name, value in own.items() if value is not None}
        for name, value in settings.items():
            if name != "algorithm" and not 0 <= value < float("inf"):
                raise ConfigError(f"crfsuite's parameter {name} must be a number from 0, not {value}")
        return settings

    def prepare(self) -> _Prepared:
        """Find the features and the template of the config. Done once, at the first page at the latest."""
        if self._prepared is None or self._prepared.asked is not self.config:
            self._prepared = _Prepared(self.config)
        return self._prepared

    def _tables(self) -> Tables:
        if self.tables_ is None:
            raise VictorError("this CRFLabeller has not been trained: call fit() or load a model")
        return self.tables_


class _Prepared:
    """The encoders and the template that a config describes."""

    def __init__(self, asked: Config | str) -> None:
        self.asked = asked
        self.config = load_config(asked) if isinstance(asked, str) else asked
        self.encoders = make_encoders(self.config)
        self.template = load_template(self.config)

    @cached_property
    def wants_site(self) -> bool:
        """Whether any stage has a feature of the page's site."""
        names = self.config.features
        for stage in (EVIDENCE, KINDS):
            if self.config.get(stage):
                names = (*names, *load_numbers_template(self.config, stage).features)
        return any(name.startswith("site.") for name in names)

    def columns(self, document: Document, evidence: Floats | None = None, site: SiteColumns | None = None) -> Columns:
        page = Columns(document, self.config)
        page.evidence = evidence
        page.site = site
        return page


def _labelled_pages(
    documents: Iterable[Document], labels: Sequence[Sequence[str] | None], config: Config
) -> tuple[list[Document], list[list[str]]]:
    """Return the pages that have blocks, and their labels; raise DataError if nothing can be learned from them."""
    pages, sequences = [], []
    for document, page_labels in zip(documents, labels, strict=True):
        sequence = [str(label) for label in page_labels or ()]
        page = document.url or "a page"
        if len(sequence) != len(document.blocks):
            raise DataError(f"{page} has {len(document.blocks)} blocks and {len(sequence)} labels")
        for number, label in enumerate(sequence):
            if label not in config.labels:
                raise DataError(f"{page}, block {number}: label {label!r} is not one of {', '.join(config.labels)}")
        if sequence:
            pages.append(document)
            sequences.append(sequence)
    if len({label for sequence in sequences for label in sequence}) < 2:
        raise DataError("nothing can be learned from these pages: their blocks need at least two labels")
    return pages, sequences


def _site_columns(documents: Sequence[Document], sites: Sequence[str]) -> list[SiteColumns | None]:
    """Count what each page's site repeats on the given pages."""
    statistics: dict[str, SiteStatistics] = {}
    for document, site in zip(documents, sites, strict=True):
        statistics.setdefault(site, SiteStatistics()).add(document)
    return [statistics[site].columns(document) for document, site in zip(documents, sites, strict=True)]


def _rounded(values: Floats) -> tuple[float, ...]:
    return tuple(np.round(values, DIGITS).tolist())
