"""Evaluate a CRF: compute scores from tables, and the best label sequence or label probabilities from scores.

The score of a block is a sum of table rows, found by attribute number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from victorpy import native
from victorpy.base.arrays import checked, open_arrays, read_array
from victorpy.document import Label
from victorpy.errors import TemplateError
from victorpy.model.encode import Codes
from victorpy.model.template import Template, padded

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_native = native.load("crf")

MOST_COMBINATIONS = 1_000_000
"""Maximum number of value combinations of a template line. Each combination needs a table entry."""
MOST_ATTRIBUTES = 20_000_000
"""Maximum number of value combinations of all template lines."""


class Layout:
    """Numbers every attribute that a template can produce, given the number of values of each feature.

    Within a line, attributes are numbered in a mixed-radix system: the code of the first feature, plus the code of the
    second times the number of codes of the first, and so on. The numbers of a line follow those of the previous line.
    """

    def __init__(self, template: Template, sizes: Sequence[int] | Ints) -> None:
        self.template = template
        self.sizes = np.array(sizes, dtype=np.int64)
        # Each feature has codes for positions outside the page, for the values seen in training, and for all others.
        self.radices = 2 * template.reach + self.sizes + 1
        shape = (max(len(line) for line in template.lines), len(template.lines))
        self._features = np.zeros(shape, dtype=np.int64)
        self._offsets = np.zeros(shape, dtype=np.int64)
        self._weights = np.zeros(shape, dtype=np.int64)
        counts = []
        for number, line in enumerate(template.lines):
            combinations = math.prod(int(self.radices[reference.feature]) for reference in line)
            if combinations > MOST_COMBINATIONS:
                names = ", ".join(template.features[reference.feature] for reference in line)
                raise TemplateError(f"the features {names} have {combinations:,} combinations: use fewer bins")
            counts.append(combinations)
            if sum(counts) > MOST_ATTRIBUTES:
                raise TemplateError(
                    f"the template has more than {MOST_ATTRIBUTES:,} attributes: use fewer bins or lines"
                )
            weight = 1
            for depth, reference in enumerate(line):
                self._features[depth, number] = reference.feature
                self._offsets[depth, number] = reference.offset
                self._weights[depth, number] = weight
                weight *= int(self.radices[reference.feature])
        self.bases: Ints = np.concatenate([[0], np.cumsum(counts)])

    @property
    def arrays(self) -> tuple[int, Ints, Ints, Ints, Ints, Ints]:
        """The precomputed values that `numbers` uses."""
        return self.template.reach, self.sizes, self._features, self._offsets, self._weights, self.bases

    def numbers(self, table: Codes, blocks: Ints | None = None) -> Ints:
        """Return the attribute numbers of all or the given blocks, one row per line and one column per block."""
        reach = self.template.reach
        codes = padded(np.minimum(table, self.sizes[:, None]), reach)
        positions = (np.arange(table.shape[1]) if blocks is None else blocks) + reach
        numbers = np.repeat(self.bases[:-1, None], len(positions), axis=1)
        for features, offsets, weights in zip(self._features, self._offsets, self._weights, strict=True):
            used = np.flatnonzero(weights)
            digits = codes[features[used, None], positions + offsets[used, None]]
            numbers[used] += digits * weights[used, None]
        return numbers

    def codes_of(self, line: int, number: int) -> list[int]:
        """Split an attribute number into the codes of the line's references."""
        rest = number - int(self.bases[line])
        codes = []
        for reference in self.template.lines[line]:
            rest, code = divmod(rest, int(self.radices[reference.feature]))
            codes.append(code)
        return codes


@dataclass(frozen=True)
class Tables:
    """The weights of a trained CRF."""

    labels: tuple[str, ...]
    layout: Layout
    numbers: Ints
    """The attributes with weights, in ascending order."""
    weights: Floats
    """One row per attribute and one column per label."""
    transitions: Floats

    @cached_property
    def names(self) -> list[Label]:
        return [Label(label) for label in self.labels]

    @cached_property
    def noise(self) -> int:
        """Index of the noise label, or -1 if the model has none."""
        return self.labels.index(Label.OTHER) if Label.OTHER in self.labels else -1

    @cached_property
    def is_noise(self) -> npt.NDArray[np.bool_]:
        return np.arange(len(self.labels)) == self.noise

    @cached_property
    def _rows(self) -> npt.NDArray[np.int32]:
        """The row of each attribute's weights. Row 0 is all zeros."""
        rows = np.zeros(int(self.layout.bases[-1]), dtype=np.int32)
        rows[self.numbers] = np.arange(1, len(self.numbers) + 1)
        return rows

    @cached_property
    def _weights_or_none(self) -> Floats:
        return np.vstack([np.zeros((1, len(self.labels))), self.weights])

    def states(self, table: Codes, blocks: Ints | None = None) -> Floats:
        """Return the score of every label for all or the given blocks of a page."""
        if _native:
            positions = np.arange(table.shape[1]) if blocks is None else blocks
            scores: Floats = _native.states(table, positions, *self.layout.arrays, self._rows, self._weights_or_none)
            return scores
        rows = self._rows[self.layout.numbers(table, blocks)]
        return self._weights_or_none[rows].sum(axis=0)

    def save(self, path: Path) -> None:
        with path.open("wb") as file:
            for array in (self.numbers, self.weights, self.transitions, self.layout.sizes):
                np.save(file, array, allow_pickle=False)

    @classmethod
    def load(cls, path: Path, labels: tuple[str, ...], template: Template) -> Tables:
        """Read the tables that `save` wrote.

        Raises ValueError if they do not match each other or have impossible values.
        """
        file = open_arrays(path)
        numbers, weights, transitions, sizes = (read_array(file, "tables") for _ in range(4))
        one_per_feature, square = (len(template.features),), (len(labels), len(labels))
        fits = numbers.ndim == 1 and weights.shape == (*numbers.shape, len(labels))
        if not fits or transitions.shape != square or sizes.shape != one_per_feature:
            raise ValueError("its tables do not match its labels and features")
        layout = Layout(template, checked(sizes, np.int64, "sizes of features", 0, MOST_COMBINATIONS))
        numbers = checked(numbers, np.int64, "attributes", 0, int(layout.bases[-1]) - 1)
        if (np.diff(numbers) <= 0).any():
            raise ValueError("its attributes are not in ascending order")
        return cls(
            labels,
            layout,
            numbers,
            checked(weights, np.float64, "weights"),
            checked(transitions, np.float64, "weights of label pairs"),
        )


def viterbi(states: Floats, transitions: Floats) -> Ints:
    """Return the label sequence with the highest score. Ties are resolved as in crfsuite: the first label wins."""
    count = len(states)
    if not count:
        return np.zeros(0, dtype=np.int64)
    came_from = np.zeros(states.shape, dtype=np.int64)
    best = states[0]
    labels = np.arange(states.shape[1])
    for at in range(1, count):
        scores = best[:, None] + transitions
        came_from[at] = scores.argmax(axis=0)
        best = scores[came_from[at], labels] + states[at]
    path = np.zeros(count, dtype=np.int64)
    path[-1] = best.argmax()
    for at in range(count - 1, 0, -1):
        path[at - 1] = came_from[at, path[at]]
    return path


def marginals(states: Floats, transitions: Floats) -> Floats:
    """Return the probability of each label for each block, by the forward-backward algorithm.

    A step of the algorithm multiplies a vector of label weights by a small matrix. `_running_products` takes many
    steps at once: a page of n blocks needs about 4 * sqrt(n) array operations instead of 4 * n.
    """
    count, labels = states.shape
    if not count:
        return np.zeros((0, labels))
    local = np.exp(states - states.max(axis=1, keepdims=True))
    if _native:
        result: Floats = _native.marginals(local, np.exp(transitions - transitions.max()))
        return result
    steps = np.exp(transitions - transitions.max())[None] * local[1:, None, :]  # from t to t + 1
    # The chain is cut into sqrt(n) parts of about sqrt(n) steps. Identity matrices fill the last part.
    parts = max(int(np.sqrt(count)), 1)
    length = -(-max(count - 1, 1) // parts)
    padding = np.broadcast_to(np.eye(labels), (parts * length - (count - 1), labels, labels))
    chain = np.concatenate([steps, padding]).reshape(parts, length, labels, labels)
    forward = _running_products(local[0], chain).reshape(-1, labels)
    ones = np.ones(labels)
    backward = _running_products(ones, chain[::-1, ::-1].swapaxes(2, 3)).reshape(-1, labels)[::-1]
    alpha = np.concatenate([local[:1], forward])[:count]
    beta = np.concatenate([backward, ones[None]])[:count]
    joint = alpha * beta
    return joint / joint.sum(axis=1, keepdims=True)


def _running_products(start: Floats, chain: Floats) -> Floats:
    """Multiply a row vector by each matrix of a chain in turn. Return the vector after each step.

    Example: a chain has two parts, A B C and D E F. First the products within both parts are computed at the same
    time: A, AB, ABC and D, DE, DEF. The vector before the first part is the start s, before the second it is s ABC.
    These vectors times the products of their parts are the result: s A, s AB, s ABC, (s ABC) D, (s ABC) DE,
    (s ABC) DEF. Vectors and products may be rescaled, because only the proportions within a vector matter.
    """
    parts, length, labels, _ = chain.shape
    products = np.empty_like(chain)
    product = products[:, 0] = chain[:, 0]
    for step in range(1, length):
        product = product @ chain[:, step]
        product /= product.max(axis=(1, 2), keepdims=True)
        products[:, step] = product
    vector = start
    vectors = np.empty((parts, 1, 1, labels))  # the vector that each part starts with
    for part in range(parts):
        vectors[part, 0, 0] = vector
        vector = vector @ products[part, -1]
        vector = vector / vector.sum()
    return (vectors @ products)[:, :, 0, :]
