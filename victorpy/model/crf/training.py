"""Train a CRF with sklearn-crfsuite, and read its weights into tables. Cleaning does not import this module."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from victorpy.config import Config
from victorpy.errors import ConfigError, missing, suggest
from victorpy.model.crf import Progress
from victorpy.model.crf.tables import Layout, Tables
from victorpy.model.encode import Codes, Encoder
from victorpy.model.template import Template, attribute

try:
    import pycrfsuite
    import sklearn_crfsuite
    from sklearn.utils.validation import check_is_fitted
except ImportError as error:
    raise missing("sklearn-crfsuite", "train", "training a model") from error


class CRF(sklearn_crfsuite.CRF):  # type: ignore[misc]
    """`sklearn_crfsuite.CRF` with the same parameters, methods and attributes. Raises NotFittedError before `fit`.

    `X` has a list per page with the attributes of each block, in any form that crfsuite accepts. `y` has the labels.
    """

    def __sklearn_is_fitted__(self) -> bool:
        file = self.modelfile.name  # the file is created when training starts, and filled when it ends
        return file is not None and Path(file).is_file() and Path(file).stat().st_size > 0

    @property
    def tagger_(self) -> Any:
        """The `pycrfsuite.Tagger` of the trained model."""
        check_is_fitted(self)
        return super().tagger_

    @property
    def model_(self) -> bytes:
        """The trained model in crfsuite's file format."""
        check_is_fitted(self)
        return Path(self.modelfile.name).read_bytes()


# Parameters of crfsuite whose names differ in sklearn-crfsuite by more than dots.
_SKLEARN_NAMES = {
    "feature.minfreq": "min_freq",
    "feature.possible_states": "all_possible_states",
    "feature.possible_transitions": "all_possible_transitions",
    "type": "pa_type",
}


def make_crf(config: Config, progress: Progress | None = None, algorithm: str | None = None, **given: Any) -> CRF:
    """Return an untrained CRF with the parameters of a config.

    The given parameters override the config, unless they are None.
    """
    chosen = algorithm or config.one("crf-algorithm", "lbfgs")
    try:
        trainer = pycrfsuite.Trainer(algorithm=chosen, verbose=False)
    except ValueError as error:
        raise ConfigError(f"crfsuite has no algorithm {chosen!r}") from error
    names = sorted(trainer.params())
    settings: dict[str, float] = {}
    for name, values in config.family("crf-param-").items():
        if name in names and values:
            settings[name] = float(values[0])
        elif algorithm is None and values:
            message = f"crfsuite's {chosen} has no parameter {name!r}{suggest(name, names)}; it has {', '.join(names)}"
            raise config.error(f"crf-param-{name}", message)
    settings |= {name: value for name, value in given.items() if value is not None}
    for name, value in settings.items():
        if not 0 <= value < float("inf"):
            raise ConfigError(f"crfsuite's parameter {name} must be at least 0 and finite, not {value}")
        if name not in names:
            raise ConfigError(f"crfsuite's {chosen} has no parameter {name!r}; it has {', '.join(names)}")
    typed = {name: type(trainer.get(name))(value) for name, value in settings.items()}
    parameters = {_SKLEARN_NAMES.get(name, name.replace(".", "_")): value for name, value in typed.items()}
    return CRF(chosen, **parameters, trainer_cls=progress and _trainer_class(progress))


def _trainer_class(progress: Progress) -> type[pycrfsuite.Trainer]:
    """Return a trainer class that calls a function after each iteration and prints nothing."""

    class Trainer(pycrfsuite.Trainer):  # type: ignore[misc]
        def __init__(self, algorithm: str, params: Mapping[str, Any], verbose: bool) -> None:
            super().__init__(algorithm, params, verbose=True)  # crfsuite only reports iterations if it is verbose

        def on_iteration(self, log: str, info: Mapping[str, Any]) -> None:
            progress(info)

        def _print_nothing(self, *_: object) -> None:
            pass

        on_start = on_featgen_progress = on_featgen_end = on_prepared = _print_nothing
        on_prepare_error = on_optimization_end = on_end = _print_nothing

    return Trainer


def train(
    pages: Sequence[tuple[Codes, Sequence[str]]], encoders: Sequence[Encoder], template: Template, crf: CRF
) -> Tables:
    """Fit a CRF to pages, given their encoded features and labels. Return its tables."""
    # The number of values of each feature: its bins or steps, or one more than the largest code.
    largest_codes = np.max([table.max(axis=1, initial=0) for table, _ in pages], axis=0)
    sizes = [
        len(encoder.bins) or encoder.scale or int(largest) + 1
        for encoder, largest in zip(encoders, largest_codes, strict=True)
    ]
    names = AttributeNames(Layout(template, sizes), encoders)
    # Generators, because the attributes of all pages may not fit into memory.
    if template.bigrams:
        crf.fit((names.of(table) for table, _ in pages), (list(labels) for _, labels in pages))
    else:  # without weights for label pairs, every block is a separate sequence
        crf.fit(
            ([block] for table, _ in pages for block in names.of(table)),
            ([label] for _, labels in pages for label in labels),
        )
    return read_tables(crf, names)


class AttributeNames:
    """Caches the names of attributes by number."""

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
        """Return the number of every attribute in the cache."""
        return {name: number for names in self._names for number, name in names.items()}


# A weight in crfsuite's file. `state_features_` and `transition_features_` round weights to six digits, so
# tables made from them would not always agree with the tagger.
_WEIGHT = np.dtype([("kind", "<u4"), ("source", "<u4"), ("target", "<u4"), ("weight", "<f8")])


def read_tables(crf: CRF, names: AttributeNames) -> Tables:
    """Convert the weights of a trained CRF into rows by attribute number."""
    labels, content = tuple(crf.classes_), crf.model_
    header = np.frombuffer(content, dtype="<u4", count=12)
    start = int(header[7])  # offset of the weights section: magic number, size, count, weights
    count = int(np.frombuffer(content, dtype="<u4", count=1, offset=start + 8)[0])
    all_weights = np.frombuffer(content, dtype=_WEIGHT, count=count, offset=start + 12)
    states, pairs = all_weights[all_weights["kind"] == 0], all_weights[all_weights["kind"] == 1]
    numbers_by_name = names.numbers()
    number_of = np.array([numbers_by_name[name] for name in crf.attributes_], dtype=np.int64)
    numbers, row = np.unique(number_of[states["source"]], return_inverse=True)
    weights = np.zeros((len(numbers), len(labels)))
    weights[row, states["target"]] = states["weight"]
    transitions = np.zeros((len(labels), len(labels)))
    transitions[pairs["source"], pairs["target"]] = pairs["weight"]
    return Tables(labels, names.layout, numbers, weights, transitions)
