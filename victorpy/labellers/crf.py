"""Victor's own labeller: a conditional random field over the sequence of blocks (Marek 2007, 3.5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from victorpy.columns import Columns, Flags, SiteColumns
from victorpy.config import Config, load_config
from victorpy.crf.decoding import Floats, marginals, viterbi
from victorpy.crf.tables import Tables
from victorpy.crf.training import Progress, train, trainer_parameters
from victorpy.document import Document, Label, Labelling
from victorpy.encode import Codes, encode, make_encoders, show_features
from victorpy.errors import ConfigError, DataError, VictorError, suggest
from victorpy.evidence import Evidence, best_cut, block_weights, expected_f1, fit_evidence, probabilities
from victorpy.evidence.inputs import load_numbers_template
from victorpy.evidence.kinds import Kinds, fit_kinds
from victorpy.evidence.stage import Report
from victorpy.evidence.together import headings_above, with_whole_tables
from victorpy.evidence.trees import EVIDENCE, KINDS
from victorpy.groups import site_of
from victorpy.labellers.base import LABELLERS, Labeller, Labels, first_pages
from victorpy.labellers.label_shares import content_of, kinds_given_content, noise_of, shared_out
from victorpy.labellers.site_beliefs import Remembered, adjust, believe
from victorpy.sites.beliefs import Beliefs
from victorpy.sites.statistics import SiteStatistics
from victorpy.template import load_template
from victorpy.variables import FAVORS

# Probabilities are rounded to what is worth reading, so that what is written reads back the same.
DIGITS = 6

Numbers = npt.NDArray[np.int64]

# What beta of the F-measure each way to favor is: how much more recall counts than precision.
BETA = dict(zip(FAVORS, (0.5, 0.9, 2.0), strict=True))

# A page of fewer blocks is not said to have no content merely because little of it looks like content.
FEWEST_BLOCKS = 5

# A heading right above text that is kept stays if it is so probable.
LEAST_PROBABLE_HEADING = "0.1"

# A page whose most probable block is no more probable than this has no content.
LEAST_PROBABLE = 0.01


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
        """Leave out what a config means, which is found again: a user's own features do not pickle."""
        return self.__dict__ | {"_prepared": None}

    def fit(
        self,
        documents: Iterable[Document],
        labels: Labels = None,
        progress: Progress | None = None,
        report: Report = lambda said: None,
    ) -> Self:
        """Train on pages and the labels of their blocks, first the stages of evidence, if the config has any."""
        prepared = self.prepare()
        known = [of_page for of_page in labels or () if of_page is not None]
        if labels is None or len(known) < len(labels):
            raise DataError("a CRF learns from labels: give fit() the labels of every page's blocks")
        documents = list(documents)
        settings = self._settings()
        named = [_checked(names, document, prepared.config) for names, document in zip(known, documents, strict=True)]
        if len({label for sequence in named for label in sequence}) < 2:
            raise DataError("nothing can be learned from these pages: their blocks need at least two labels")
        pages = [(document, sequence) for document, sequence in zip(documents, named, strict=True) if sequence]
        sites = [site_of(document.url) or document.source or str(number) for number, (document, _) in enumerate(pages)]
        site_columns = _site_columns([document for document, _ in pages], sites, self.wants_site)
        self.evidence_ = self.kinds_ = None
        found: list[Floats | None] = [None] * len(pages)
        if prepared.config.get("evidence"):
            columns = [
                prepared.columns(document, site=known) for (document, _), known in zip(pages, site_columns, strict=True)
            ]
            fitted = fit_evidence(
                columns, [_is_content(sequence) for _, sequence in pages], sites, prepared.config, report
            )
            self.evidence_, found = fitted.evidence, list(fitted.log_odds)
            self.found_in_training_ = fitted.log_odds
            if prepared.config.get(KINDS):
                for page, log_odds in zip(columns, fitted.log_odds, strict=True):
                    page.evidence = log_odds
                self.kinds_ = fit_kinds(
                    columns, fitted.numbers, [sequence for _, sequence in pages], prepared.config, report
                )
        tables = [
            prepared.encode(prepared.columns(document, log_odds, known))
            for (document, _), log_odds, known in zip(pages, found, site_columns, strict=True)
        ]
        sequences = [sequence for _, sequence in pages]
        trained = train(
            list(zip(tables, sequences, strict=True)), prepared.encoders, prepared.template, settings, progress
        )
        return self.with_tables(trained.tables, trained.crfsuite_model, self.evidence_, self.kinds_)

    def with_tables(
        self,
        tables: Tables,
        crfsuite_model: bytes = b"",
        evidence: Evidence | None = None,
        kinds: Kinds | None = None,
    ) -> Self:
        """Take over what was trained before."""
        self.tables_ = tables
        self.crfsuite_model_ = crfsuite_model
        self.evidence_ = evidence
        self.kinds_ = kinds
        return self

    def with_config(self, config: Config) -> CRFLabeller:
        """The same weights, at the same site if it is at one, run as another config says."""
        trained = self._tables(), self.crfsuite_model_, self.evidence_, self.kinds_
        changed = CRFLabeller(**self.get_params() | {"config": config}).with_tables(*trained)
        changed.site_, changed.beliefs_ = self.site_, self.beliefs_
        return changed

    @property
    def wants_site(self) -> bool:
        """Whether the config asks what the page's site repeats."""
        return self.prepare().wants_site

    @property
    def tunes(self) -> bool:
        """Whether labels of a few pages of a site make it better there."""
        return self.wants_site and bool(self.prepare().config.get("evidence"))

    def at_site(self, documents: Iterable[Document], labels: Labels = None) -> Labeller:
        """The same model, which has seen pages of a site; one that asks nothing of the site is as it is."""
        if not self.wants_site:
            return self
        changed = self.with_config(self.prepare().config)
        site = changed.site_ = SiteStatistics()
        changed.beliefs_ = None
        remembered = Remembered()
        for document, of_page in first_pages(documents, labels):
            site.add(document)
            remembered.add(document, of_page)
        if self.evidence_ is not None and site.pages > 1:
            changed.beliefs_ = believe(remembered.pages, site, changed._columns)
        return changed

    def label(self, document: Document) -> Labelling:
        """Label the blocks of a page, with probabilities."""
        tables = self._tables()
        page = self._columns(document)
        table = self.prepare().encode(page)
        chosen, shares, content = (
            self._decode(tables, table, page) if page.evidence is None else self._decode_evidence(tables, table, page)
        )
        kinds = [Label(label) for label in tables.labels]
        kept = np.array([kind.is_content for kind in kinds], dtype=bool)[chosen]
        return Labelling(
            tuple([kinds[number] for number in chosen.tolist()]),
            _rounded(shares[np.arange(len(chosen)), chosen]),
            _rounded(content),
            round(expected_f1(content, block_weights(page), kept), DIGITS),
        )

    def predict_marginals(self, documents: Sequence[Document]) -> list[list[dict[str, float]]]:
        """Give the probability of every label for every block: what the chain alone says.

        `label` goes on from there: what is content the evidence decides, where there is any, and the trees for kinds
        have a say in the rest.
        """
        tables = self._tables()
        pages = []
        for document in documents:
            states = tables.states(self.prepare().encode(self._columns(document)))
            shares = marginals(states, tables.transitions)
            pages.append([dict(zip(tables.labels, map(float, row), strict=True)) for row in shares])
        return pages

    def features(self, document: Document) -> tuple[dict[str, str], ...]:
        """Give the features of every block by name."""
        page = self._columns(document)
        known = [
            encoder for encoder in self.prepare().encoders if encoder.name != "evidence" or page.evidence is not None
        ]
        return tuple(show_features(page, known))

    def _columns(self, document: Document) -> Columns:
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
        """How labels are chosen."""
        return self.prepare().config.one("decode", "viterbi") if self.threshold is None else "marginal"

    def _decode(self, tables: Tables, table: Codes, page: Columns) -> tuple[Numbers, Floats, Floats]:
        """Choose a label for every block; with it go the probabilities of all labels, and that of content."""
        states = tables.states(table)
        shares = marginals(states, tables.transitions)
        content = content_of(tables, shares)
        if self._way == "viterbi":
            return viterbi(states, tables.transitions), shares, content
        if self._way == "label":
            return shares.argmax(axis=1), shares, content
        noise = noise_of(tables)
        best = np.where(np.arange(len(tables.labels)) == noise, -1.0, shares).argmax(axis=1)
        return np.where(self.kept(content, page), best, noise), shares, content

    def _decode_evidence(self, tables: Tables, table: Codes, page: Columns) -> tuple[Numbers, Floats, Floats]:
        """The same where the evidence says what is content: the chain then says which kind it is."""
        assert page.evidence is not None
        content = probabilities(page.evidence)
        if self._way == "viterbi" or noise_of(tables) < 0:
            chosen, shares, _ = self._decode(tables, table, page)
            return chosen, shares, content
        if self._way == "label":
            content = self._content_by_block(page)
            chain = marginals(tables.states(table), tables.transitions)
            shares = shared_out(tables, self._with_trees(chain, page), content)
            return shares.argmax(axis=1), shares, content
        keep = self.kept(content, page)
        shares = np.zeros((page.count, len(tables.labels)))
        shares[:, noise_of(tables)] = 1 - content
        # Noise that stands between kept blocks cuts the chain, so that only what is beside a kept one matters.
        beside = keep.copy()
        beside[1:] |= keep[:-1]
        beside[:-1] |= keep[1:]
        used = np.flatnonzero(beside)
        kinds = kinds_given_content(tables, tables.states(table, used), keep[used])
        shares[keep] = self._with_trees(kinds[keep[used]], page, keep) * content[keep, None]
        return np.where(keep, shares.argmax(axis=1), noise_of(tables)), shares, content

    def _content_by_block(self, page: Columns) -> Floats:
        """How probable content is where labels count, not words: trees that count by block have a say."""
        assert page.evidence is not None
        if page.block_evidence is None:
            return probabilities(page.evidence)
        share = float(self.prepare().config.one("kinds-content-share", "0"))
        return probabilities((1 - share) * page.evidence + share * page.block_evidence)

    def _with_trees(self, chain: Floats, page: Columns, blocks: Flags | slice = slice(None)) -> Floats:
        """The chain's probabilities of kinds and those of the trees for kinds, if there are any: their weighted mean.

        It is the mean of logarithms, so that a kind which one of them rules out is out.
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
        """Which blocks are kept: those that are probable enough, or that make the page's expected F highest."""
        config = self.prepare().config
        if self._way == "marginal":
            return content >= self._threshold(content)
        favor = config.one("favor", "balanced")
        weight = block_weights(page)
        cut, expected = best_cut(content, weight, BETA[favor])
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

    def _threshold(self, content: Floats) -> float:
        """How probable content must be on this page: so much of what its most probable block is.

        A page unlike those of the training, a very short one say, is thus judged by its own best block.
        """
        best = float(content.max(initial=0.0))
        share = float(self.prepare().config.one("threshold", "0.5")) if self.threshold is None else self.threshold
        return share * best if best > LEAST_PROBABLE else float("inf")

    def _settings(self) -> dict[str, Any]:
        """The trainer's parameters: the config's, as far as they are of the algorithm, and our own."""
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
        """Find what the config means, its features and its template; done once, at the first page at the latest."""
        if self._prepared is None or self._prepared.asked is not self.config:
            self._prepared = _Prepared(self.config)
        return self._prepared

    def _tables(self) -> Tables:
        if self.tables_ is None:
            raise VictorError("this CRFLabeller has not been trained: call fit() or load a model")
        return self.tables_


class _Prepared:
    """What a config means: its encoders and its template, found once."""

    def __init__(self, asked: Config | str) -> None:
        self.asked = asked
        self.config = load_config(asked) if isinstance(asked, str) else asked
        self.encoders = make_encoders(self.config)
        self.template = load_template(self.config)

    @cached_property
    def wants_site(self) -> bool:
        named = self.config.features
        for stage in (EVIDENCE, KINDS):
            if self.config.get(stage):
                named = (*named, *load_numbers_template(self.config, stage).features)
        return any(name.startswith("site.") for name in named)

    def columns(self, document: Document, evidence: Floats | None = None, site: SiteColumns | None = None) -> Columns:
        page = Columns(document, self.config)
        page.evidence = evidence
        page.site = site
        return page

    def encode(self, page: Columns) -> Codes:
        return encode(page, self.encoders)


def _is_content(labels: Sequence[str]) -> Flags:
    return np.array([Label(label).is_content for label in labels], dtype=bool)


def _site_columns(documents: Sequence[Document], sites: Sequence[str], wanted: bool) -> list[SiteColumns | None]:
    """What each page's site repeats, as the pages that are at hand show it."""
    if not wanted:
        return [None] * len(documents)
    of_site: dict[str, SiteStatistics] = {}
    for document, site in zip(documents, sites, strict=True):
        of_site.setdefault(site, SiteStatistics()).add(document)
    return [of_site[site].columns(document) for document, site in zip(documents, sites, strict=True)]


def _checked(labels: Sequence[str], document: Document, config: Config) -> list[str]:
    if len(labels) != len(document.blocks):
        raise DataError(f"{document.url or 'a page'} has {len(document.blocks)} blocks and {len(labels)} labels")
    for at, label in enumerate(labels):
        if label not in config.labels:
            known = ", ".join(config.labels)
            raise DataError(f"{document.url or 'a page'}, block {at}: label {label!r} is not one of {known}")
    return [str(label) for label in labels]


def _rounded(values: Floats) -> tuple[float, ...]:
    return tuple(np.round(values, DIGITS).tolist())
