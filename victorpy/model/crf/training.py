"""Training a CRF with crfsuite, and reading its weights back into tables."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pycrfsuite

from victorpy.errors import ConfigError
from victorpy.model.crf.tables import Layout, Tables
from victorpy.model.encode import Codes, Encoder
from victorpy.model.template import Template, attribute

Progress = Callable[[Mapping[str, Any]], None]
"""Called after each iteration with what crfsuite reports: num, loss, time ..."""


@dataclass(frozen=True)
class Trained:
    """The result of training: the tables to run, and crfsuite's own model for other programs."""

    tables: Tables
    crfsuite_model: bytes


def train(
    pages: Sequence[tuple[Codes, Sequence[str]]],
    encoders: Sequence[Encoder],
    template: Template,
    settings: Mapping[str, Any],
    progress: Progress | None = None,
) -> Trained:
    """Train on pages given as feature tables and labels; settings are the algorithm and crfsuite's parameters."""
    # How many values each feature has: its bins or steps, or one more than the largest code.
    largest_codes = np.max([table.max(axis=1, initial=0) for table, _ in pages], axis=0)
    sizes = [
        len(encoder.bins) or encoder.scale or int(largest) + 1
        for encoder, largest in zip(encoders, largest_codes, strict=True)
    ]
    names = _AttributeNames(Layout(template, sizes), encoders)
    trainer = _make_trainer(settings, progress)
    for table, labels in pages:
        attributes = names.of(table)
        if template.bigrams:
            trainer.append(attributes, list(labels))
        else:  # labels have no weights together: every block is a sequence of its own
            for block, label in zip(attributes, labels, strict=True):
                trainer.append([block], [label])
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "model.crfsuite"
        trainer.train(str(path))
        return Trained(_read_tables(path, names), path.read_bytes())


class _AttributeNames:
    """The names of attributes by number, each made once."""

    def __init__(self, layout: Layout, encoders: Sequence[Encoder]) -> None:
        self.layout = layout
        self._encoders = encoders
        self._names: list[dict[int, str]] = [{} for _ in layout.template.lines]

    def of(self, table: Codes) -> list[list[str]]:
        """Return the names of each block's attributes."""
        template = self.layout.template
        rows = []
        for line, (numbers, names) in enumerate(zip(self.layout.numbers(table).tolist(), self._names, strict=True)):
            for number in set(numbers) - names.keys():
                codes = self.layout.codes_of(line, number)
                names[number] = attribute(template.lines[line], codes, self._encoders, template.reach)
            rows.append([names[number] for number in numbers])
        return [list(block) for block in zip(*rows, strict=True)]

    def numbers(self) -> dict[str, int]:
        """Return the number of every attribute that was named."""
        return {name: number for names in self._names for number, name in names.items()}


class _Trainer(pycrfsuite.Trainer):  # type: ignore[misc]
    """crfsuite's trainer; it calls a function instead of printing."""

    progress: Progress | None = None

    def on_iteration(self, log: str, info: Mapping[str, Any]) -> None:
        if self.progress is not None:
            self.progress(info)

    def _quiet(self, *_: object) -> None:
        pass

    on_start = on_featgen_progress = on_featgen_end = on_prepared = _quiet
    on_prepare_error = on_optimization_end = on_end = _quiet


def _make_trainer(settings: Mapping[str, Any], progress: Progress | None) -> _Trainer:
    settings = dict(settings)
    trainer = _Trainer(verbose=progress is not None)
    trainer.progress = progress
    trainer.select(settings.pop("algorithm", "lbfgs"), "crf1d")
    parameters = trainer.params()
    for name, value in settings.items():
        if name not in parameters:
            raise ConfigError(f"crfsuite's algorithm has no parameter {name!r}; it has {', '.join(sorted(parameters))}")
        trainer.set(name, type(trainer.get(name))(value))
    return trainer


# A weight in crfsuite's file. The weights are read from there because its dump rounds them to six digits, and then
# the tables would not always agree with the tagger.
_WEIGHT = np.dtype([("kind", "<u4"), ("source", "<u4"), ("target", "<u4"), ("weight", "<f8")])


def _read_tables(path: Path, names: _AttributeNames) -> Tables:
    """Convert crfsuite's weights into rows by attribute number."""
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    info = tagger.info()
    tagger.close()
    labels = tuple(sorted(info.labels, key=lambda label: int(info.labels[label])))
    content = path.read_bytes()
    header = np.frombuffer(content, dtype="<u4", count=12)
    start = int(header[7])  # of the weights, which follow a mark, a size and a count
    count = int(np.frombuffer(content, dtype="<u4", count=1, offset=start + 8)[0])
    all_weights = np.frombuffer(content, dtype=_WEIGHT, count=count, offset=start + 12)
    states, pairs = all_weights[all_weights["kind"] == 0], all_weights[all_weights["kind"] == 1]
    numbers_by_name = names.numbers()
    number_of = np.zeros(len(info.attributes), dtype=np.int64)
    for name, identity in info.attributes.items():
        number_of[int(identity)] = numbers_by_name[name]
    numbers, row = np.unique(number_of[states["source"]], return_inverse=True)
    weights = np.zeros((len(numbers), len(labels)))
    weights[row, states["target"]] = states["weight"]
    transitions = np.zeros((len(labels), len(labels)))
    transitions[pairs["source"], pairs["target"]] = pairs["weight"]
    return Tables(labels, names.layout, numbers, weights, transitions)


def trainer_parameters(algorithm: str) -> list[str]:
    """Return the names of the parameters that an algorithm of crfsuite has."""
    try:
        trainer = pycrfsuite.Trainer(algorithm=algorithm, verbose=False)
    except ValueError as error:
        raise ConfigError(f"crfsuite has no algorithm {algorithm!r}") from error
    return sorted(trainer.params())
