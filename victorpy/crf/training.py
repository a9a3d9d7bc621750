"""Training a CRF with crfsuite, and reading its weights back into tables."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pycrfsuite

from victorpy.crf.tables import Layout, Tables
from victorpy.encode import Codes, Encoder
from victorpy.errors import ConfigError
from victorpy.template import Template, attribute

Progress = Callable[[Mapping[str, Any]], None]
"""Called after each iteration with what crfsuite says of it: num, loss, time ..."""


@dataclass(frozen=True)
class Trained:
    """What training gives: the tables to run, and crfsuite's own model, for whoever wants to read that."""

    tables: Tables
    crfsuite_model: bytes


def train(
    pages: Sequence[tuple[Codes, Sequence[str]]],
    encoders: Sequence[Encoder],
    template: Template,
    settings: Mapping[str, Any],
    progress: Progress | None = None,
) -> Trained:
    """Train on pages given as their feature tables and labels; settings are crfsuite's, with its algorithm."""
    layout = Layout(template, _sizes([table for table, _ in pages], encoders))
    names = _AttributeNames(layout, encoders)
    trainer = _make_trainer(settings, progress)
    for table, labels in pages:
        for attributes, sequence in _sequences(names.of(table), labels, template.bigrams):
            trainer.append(attributes, sequence)
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "model.crfsuite"
        trainer.train(str(path))
        return Trained(_read_tables(path, names), path.read_bytes())


def _sizes(tables: Sequence[Codes], encoders: Sequence[Encoder]) -> list[int]:
    """How many values each feature has: its bins or steps, else one more than the largest seen."""
    seen = np.max([table.max(axis=1, initial=0) for table in tables], axis=0)
    return [
        len(encoder.bins) or encoder.scale or int(largest) + 1 for encoder, largest in zip(encoders, seen, strict=True)
    ]


def _sequences(
    attributes: list[list[str]], labels: Sequence[str], bigrams: bool
) -> Iterator[tuple[list[list[str]], list[str]]]:
    """A page is a sequence; where labels have no weights together, every block is one of its own."""
    if bigrams:
        yield attributes, list(labels)
        return
    for block, label in zip(attributes, labels, strict=True):
        yield [block], [label]


class _AttributeNames:
    """The names of attributes by their numbers, each written once."""

    def __init__(self, layout: Layout, encoders: Sequence[Encoder]) -> None:
        self.layout = layout
        self._encoders = encoders
        self._names: list[dict[int, str]] = [{} for _ in layout.template.lines]

    def of(self, table: Codes) -> list[list[str]]:
        """Give the names of each block's attributes."""
        lines = [self._line(line, row.tolist()) for line, row in enumerate(self.layout.numbers(table))]
        return [list(block) for block in zip(*lines, strict=True)]

    def _line(self, line: int, numbers: list[int]) -> list[str]:
        names = self._names[line]
        for number in set(numbers) - names.keys():
            codes = self.layout.codes_of(line, number)
            template = self.layout.template
            names[number] = attribute(template.lines[line], codes, self._encoders, template.reach)
        return [names[number] for number in numbers]

    def numbers(self) -> dict[str, int]:
        """Give the number of every attribute that was named."""
        return {name: number for names in self._names for number, name in names.items()}


class _Trainer(pycrfsuite.Trainer):  # type: ignore[misc]
    """crfsuite's trainer; what it would print goes to a function instead."""

    progress: Progress | None = None

    def on_iteration(self, log: str, info: Mapping[str, Any]) -> None:
        if self.progress is not None:
            self.progress(info)

    def _quiet(self, *_: object) -> None:
        """Say nothing."""

    on_start = on_featgen_progress = on_featgen_end = on_prepared = _quiet
    on_prepare_error = on_optimization_end = on_end = _quiet


def _make_trainer(settings: Mapping[str, Any], progress: Progress | None) -> _Trainer:
    settings = dict(settings)
    trainer = _Trainer(verbose=progress is not None)
    trainer.progress = progress
    trainer.select(settings.pop("algorithm", "lbfgs"), "crf1d")
    known = trainer.params()
    for name, value in settings.items():
        if name not in known:
            raise ConfigError(f"crfsuite's algorithm has no parameter {name!r}; it has {', '.join(sorted(known))}")
        trainer.set(name, type(trainer.get(name))(value))
    return trainer


# The part of crfsuite's file that holds the weights, after a header of twelve numbers. Its own dump
# rounds them to six digits, and then the tables would not always agree with the tagger.
_WEIGHT = np.dtype([("kind", "<u4"), ("source", "<u4"), ("target", "<u4"), ("weight", "<f8")])


def _read_tables(path: Path, names: _AttributeNames) -> Tables:
    """Turn crfsuite's weights into rows by attribute number."""
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    info = tagger.info()
    tagger.close()
    labels = tuple(sorted(info.labels, key=lambda label: int(info.labels[label])))
    found = _read_weights(path)
    states, pairs = found[found["kind"] == 0], found[found["kind"] == 1]
    known = names.numbers()
    number_of = np.zeros(len(info.attributes), dtype=np.int64)
    for name, identity in info.attributes.items():
        number_of[int(identity)] = known[name]
    numbers, row = np.unique(number_of[states["source"]], return_inverse=True)
    weights = np.zeros((len(numbers), len(labels)))
    weights[row, states["target"]] = states["weight"]
    transitions = np.zeros((len(labels), len(labels)))
    transitions[pairs["source"], pairs["target"]] = pairs["weight"]
    return Tables(labels, names.layout, numbers, weights, transitions)


def trainer_parameters(algorithm: str) -> list[str]:
    """Name the parameters that an algorithm of crfsuite has."""
    try:
        trainer = pycrfsuite.Trainer(algorithm=algorithm, verbose=False)
    except ValueError as error:
        raise ConfigError(f"crfsuite has no algorithm {algorithm!r}") from error
    return sorted(trainer.params())


def _read_weights(path: Path) -> npt.NDArray[Any]:
    content = path.read_bytes()
    header = np.frombuffer(content, dtype="<u4", count=12)
    at = int(header[7])  # where the weights are: a mark, a size and a count come first
    count = int(np.frombuffer(content, dtype="<u4", count=1, offset=at + 8)[0])
    return np.frombuffer(content, dtype=_WEIGHT, count=count, offset=at + 12)
