"""Victor's own labeller: a conditional random field over the sequence of blocks (Marek 2007, 3.5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from victorpy.config import Config, load_config
from victorpy.crf.decoding import Floats, marginals, viterbi
from victorpy.crf.tables import Tables
from victorpy.crf.training import Progress, train, trainer_parameters
from victorpy.document import Document, Label, Labelling
from victorpy.encode import Codes, encode, make_encoders, show_features
from victorpy.errors import ConfigError, DataError, VictorError, suggest
from victorpy.labellers.base import LABELLERS, Labeller
from victorpy.template import load_template

# Probabilities are rounded to what is worth reading, so that what is written reads back the same.
DIGITS = 6

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
        self.tables_: Tables | None = None
        self.crfsuite_model_ = b""

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what a config means, which is found again: a user's own features do not pickle."""
        return self.__dict__ | {"_prepared": None}

    def fit(
        self,
        documents: Sequence[Document],
        labels: Sequence[Sequence[str]] | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Train on pages and the labels of their blocks."""
        prepared = self.prepare()
        if labels is None:
            raise DataError("a CRF learns from labels: give fit() the labels of every page's blocks")
        pages = [
            (prepared.encode(document), _checked(sequence, document, prepared.config))
            for document, sequence in zip(documents, labels, strict=True)
        ]
        pages = [(table, sequence) for table, sequence in pages if sequence]
        if len({label for _, sequence in pages for label in sequence}) < 2:
            raise DataError("nothing can be learned from these pages: their blocks need at least two labels")
        trained = train(pages, prepared.encoders, prepared.template, self._settings(), progress)
        return self.with_tables(trained.tables, trained.crfsuite_model)

    def with_tables(self, tables: Tables, crfsuite_model: bytes = b"") -> Self:
        """Take over weights that were trained before."""
        self.tables_ = tables
        self.crfsuite_model_ = crfsuite_model
        return self

    def with_config(self, config: Config) -> CRFLabeller:
        """The same weights, run as another config says."""
        parameters = self.get_params() | {"config": config}
        return CRFLabeller(**parameters).with_tables(self._tables(), self.crfsuite_model_)

    def label(self, document: Document) -> Labelling:
        """Label the blocks of a page, with probabilities."""
        tables = self._tables()
        states = tables.states(self.prepare().encode(document))
        shares = marginals(states, tables.transitions)
        chosen = self._decode(tables, states, shares)
        labels = tuple(Label(tables.labels[number]) for number in chosen)
        sure = shares[np.arange(len(chosen)), chosen]
        return Labelling(labels, _rounded(sure), _rounded(_content(tables, shares)))

    def predict_marginals(self, documents: Sequence[Document]) -> list[list[dict[str, float]]]:
        """Give the probability of every label for every block."""
        tables = self._tables()
        pages = []
        for document in documents:
            shares = marginals(tables.states(self.prepare().encode(document)), tables.transitions)
            pages.append([dict(zip(tables.labels, map(float, row), strict=True)) for row in shares])
        return pages

    def features(self, document: Document) -> tuple[dict[str, str], ...]:
        """Give the features of every block by name."""
        prepared = self.prepare()
        return tuple(show_features(document, prepared.config, prepared.encoders))

    def _decode(self, tables: Tables, states: Floats, shares: Floats) -> list[int]:
        config = self.prepare().config
        if config.one("decode", "viterbi") == "viterbi" and self.threshold is None:
            return viterbi(states, tables.transitions).tolist()
        noise = tables.labels.index(Label.OTHER) if Label.OTHER in tables.labels else -1
        best = np.where(np.arange(shares.shape[1]) == noise, -1.0, shares).argmax(axis=1)
        content = _content(tables, shares)
        return np.where(content >= self._threshold(content), best, noise).tolist()

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

    def encode(self, document: Document) -> Codes:
        return encode(document, self.config, self.encoders)


def _checked(labels: Sequence[str], document: Document, config: Config) -> list[str]:
    if len(labels) != len(document.blocks):
        raise DataError(f"{document.url or 'a page'} has {len(document.blocks)} blocks and {len(labels)} labels")
    for at, label in enumerate(labels):
        if label not in config.labels:
            known = ", ".join(config.labels)
            raise DataError(f"{document.url or 'a page'}, block {at}: label {label!r} is not one of {known}")
    return [str(label) for label in labels]


def _content(tables: Tables, shares: Floats) -> Floats:
    """The probability that a block is content: all labels but noise."""
    kept = [Label(label).is_content for label in tables.labels]
    return shares[:, kept].sum(axis=1)


def _rounded(values: Floats) -> tuple[float, ...]:
    return tuple(np.round(values, DIGITS).tolist())
