"""A small convolutional net over the sequence of blocks, trained and evaluated with numpy.

Trees see statistics about the surroundings of a block, while the net sees the surrounding blocks. Each layer combines a
block with the blocks 1, 2, 4 … positions before and after it. Halfway through the layers, the mean of the page is
added. Trees and the net make different mistakes, so on kinds of pages that were not in training, the average of both is
better than either.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, BinaryIO, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from victorpy import native
from victorpy.base.arrays import checked, read_array
from victorpy.columns import Counts, Flags, Floats
from victorpy.model.evidence.trees import Matrix

_native = native.load("net")

SHARE = 0.4
"""The weight of the net when its log-odds and those of the trees are averaged."""

WIDEST = 256
MOST_LAYERS = 10
"""Limits for the arrays of a model."""

_LAYERS = 4
_HIGHEST = 4.0
"""Inputs are clipped at this number of standard deviations."""

_NARROWEST = 1e-3
"""The smallest standard deviation of an input."""

_STRIDE = 128
"""Number of blocks per matrix product.

For larger products, BLAS starts threads, which takes more time than it saves.
"""

# Training
_EPOCHS = 8
_BATCH, _STEPS = 6000, 20
"""Number of blocks per training step, and minimum number of steps per epoch. With few pages, steps are smaller."""
_LONGEST = 600
"""Maximum number of consecutive blocks of a page in a step."""
_RATE, _DECAY, _WARM_UP = 0.004, 0.01, 0.15
_DROPPED = 0.1
"""The share of inputs that are replaced by their mean in each step."""
_DROPPED_GROUP = 0.3
"""The share of pages without lexicon inputs in a step, because words and names of new sites may be unknown."""


Halves = npt.NDArray[np.float16]
"""The inputs of a training page in half precision, to save memory."""


class Example(NamedTuple):
    """A page to train on."""

    matrix: Matrix
    content: Flags
    training_weight: Floats
    block_weight: Floats


@dataclass(frozen=True)
class Net:
    """The arrays of a net. Each block is a row, and `width` is the number of values that the net computes per block."""

    center: Matrix
    scale: Matrix
    """The mean and standard deviation of each input, on a logarithmic scale."""
    first: Matrix
    first_bias: Matrix
    page: Matrix
    page_bias: Matrix
    kernels: Matrix
    """For each layer, the weights of the previous block at the layer's distance, of the block, and of the next one."""
    kernel_biases: Matrix
    last: Matrix
    last_bias: Matrix

    def log_odds(self, matrix: Matrix, block_weight: Floats) -> Floats:
        """Return each block's log-odds of being content.

        `weights` are the weights of blocks in the mean of the page.
        """
        if _native and matrix.size:
            log_odds: Floats = _native.log_odds(matrix, block_weight, *self._arrays, _NARROWEST, _HIGHEST)
            return log_odds
        return self.run(self.prepare(matrix), block_weight.astype(np.float32), np.zeros(1, dtype=np.int64))

    def prepare(self, matrix: Matrix) -> Matrix:
        """Scale the inputs, and return one row per block."""
        inputs = np.log1p(np.abs(matrix))
        np.copysign(inputs, matrix, out=inputs)
        inputs -= self.center[:, None]
        inputs /= np.maximum(self.scale, _NARROWEST)[:, None]
        return np.clip(inputs, -_HIGHEST, _HIGHEST, out=inputs).T

    def run(self, inputs: Matrix, weight: Matrix, starts: Counts, tape: list[Any] | None = None) -> Floats:
        """Return the log-odds of the blocks of several pages, given the first block of each page.

        The tape records the values that the gradients need.
        """
        record = tape.append if tape is not None else lambda step: None
        sizes = np.diff(starts, append=len(inputs))
        values = _positive(_times(inputs, self.first), self.first_bias)
        record(values)
        for layer, kernel in enumerate(self.kernels):
            if layer == self._middle:
                total = np.add.reduceat(weight, starts)[:, None]
                mean = cast(Matrix, np.add.reduceat(values * weight[:, None], starts, axis=0) / total)
                added = _positive(_times(mean, self.page), self.page_bias)
                record((mean, added, total))
                values = values + np.repeat(added, sizes, axis=0)
            around = np.zeros((len(values), kernel.shape[0]), dtype=values.dtype)
            before, here, after = np.split(around, 3, axis=1)
            here[:] = values
            _move(values, 1 << layer, sizes, before)
            _move(values, -1 << layer, sizes, after)
            added = _positive(_times(around, kernel), self.kernel_biases[layer])
            record((around, added))
            values = values + added
        record(values)
        return np.asarray(values @ self.last + self.last_bias, dtype=np.float64)

    def gradients(
        self, slope: Matrix, inputs: Matrix, weight: Matrix, starts: Counts, tape: list[Any]
    ) -> dict[str, Matrix]:
        """Return the gradients of all weights, given the derivative of the loss by the log-odds."""
        found: dict[str, Matrix] = {}
        sizes = np.diff(starts, append=len(slope))
        values = tape.pop()
        found["last"], found["last_bias"] = slope @ values, slope.sum(keepdims=True)
        slopes = slope[:, None] * self.last
        kernels, biases = np.empty_like(self.kernels), np.empty_like(self.kernel_biases)
        for layer in reversed(range(len(self.kernels))):
            around, added = tape.pop()
            inner = slopes * (added > 0)
            kernels[layer], biases[layer] = around.T @ inner, inner.sum(axis=0)
            before, here, after = np.split(_times(inner, self.kernels[layer].T), 3, axis=1)
            # Gradients flow back to the earlier and the later neighbour of each block.
            from_later, from_earlier = np.zeros_like(here), np.zeros_like(here)
            _move(before, -1 << layer, sizes, from_later)
            _move(after, 1 << layer, sizes, from_earlier)
            slopes = slopes + here + from_later + from_earlier
            if layer == self._middle:
                mean, added, total = tape.pop()
                inner = np.add.reduceat(slopes, starts, axis=0) * (added > 0)
                found["page"], found["page_bias"] = mean.T @ inner, inner.sum(axis=0)
                slopes = slopes + np.repeat(inner @ self.page.T / total, sizes, axis=0) * weight[:, None]
        inner = slopes * (tape.pop() > 0)
        found["first"], found["first_bias"] = inputs.T @ inner, inner.sum(axis=0)
        return found | {"kernels": kernels, "kernel_biases": biases}

    @cached_property
    def _middle(self) -> int:
        """The index of the layer before which the mean of the page is added."""
        return len(self.kernels) // 2

    @property
    def _arrays(self) -> list[Matrix]:
        return [getattr(self, field.name) for field in fields(self)]

    def save(self, file: BinaryIO) -> None:
        for array in self._arrays:
            np.save(file, array, allow_pickle=False)

    @classmethod
    def load(cls, file: io.BytesIO, inputs: int) -> Net:
        """Read a net that `save` wrote. Raises ValueError if the arrays are damaged or are for other inputs."""
        arrays = {field.name: checked(read_array(file, "net"), np.float32, "weights") for field in fields(cls)}
        kernels = arrays["kernels"]
        layers, width = kernels.shape[::2] if kernels.ndim == 3 else (0, 0)
        if not (0 < layers <= MOST_LAYERS and 0 < width <= WIDEST):
            raise ValueError("its net has no layers, too many, or too wide ones")
        shapes = [array.shape for array in arrays.values()]
        if shapes != _shapes(inputs, width, layers) or not (arrays["scale"] >= 0).all():
            raise ValueError("the arrays of its net do not match")
        return cls(**arrays)


def _shapes(inputs: int, width: int, layers: int) -> list[tuple[int, ...]]:
    """Return the shapes of the arrays of a net, in the order of its fields."""
    first = [(inputs,), (inputs,), (inputs, width), (width,), (width, width), (width,)]
    return [*first, (layers, 3 * width, width), (layers, width), (width,), (1,)]


def _times(rows: Matrix, weights: Matrix) -> Matrix:
    """Multiply matrices, a few rows at a time."""
    product = np.empty((len(rows), weights.shape[1]), dtype=rows.dtype)
    for start in range(0, len(rows), _STRIDE):
        np.matmul(rows[start : start + _STRIDE], weights, out=product[start : start + _STRIDE])
    return product


def _positive(values: Matrix, bias: Matrix) -> Matrix:
    """Add the bias in place, and replace negative values by zero."""
    values += bias
    return np.maximum(values, 0, out=values)


def _move(values: Matrix, distance: int, sizes: Counts, target: Matrix) -> None:
    """Return the values of each page moved down by a distance, or up if it is negative. Other rows are zero."""
    rows = slice(max(distance, 0), min(distance, 0) or None)
    target[rows] = values[max(-distance, 0) : min(-distance, 0) or None]
    if len(sizes) > 1:
        stop = np.cumsum(sizes)
        first = stop - sizes if distance > 0 else stop + distance
        strange = np.repeat(first, abs(distance)) + np.tile(np.arange(abs(distance)), len(sizes))
        target[strange[(strange >= 0) & (strange < len(values))]] = 0  # these rows belong to another page


def train_net(pages: Sequence[Example], width: int, group: slice) -> Net:
    """Train a net with Adam. `group` contains the lexicon inputs, which are often left out together."""
    random = np.random.default_rng(1)
    inputs = len(pages[0].matrix)
    known = [page for page in pages if page.training_weight.any()]
    if not known:
        return Net(*(np.zeros(shape, dtype=np.float32) for shape in _shapes(inputs, width, _LAYERS)))
    pages = known
    center, scale = _scales(pages, random)
    spreads = [inputs, 0, width, 0, 12 * width, 0, width, 0]  # 1 / variance of the initial weights; 0: all zero
    arrays = [
        random.standard_normal(shape).astype(np.float32) * (spread and np.float32(spread**-0.5))
        for shape, spread in zip(_shapes(inputs, width, _LAYERS)[2:], spreads, strict=True)
    ]
    net = Net(center, scale, *arrays)
    names = [field.name for field in fields(Net)[2:]]
    speed, power = ({name: np.zeros_like(getattr(net, name)) for name in names} for _ in range(2))
    prepared = [net.prepare(page.matrix).astype(np.float16) for page in pages]
    total = sum(min(len(rows), _LONGEST) for rows in prepared)
    size = min(_BATCH, -(-total // _STEPS))
    steps = _EPOCHS * total // size
    step = 0
    for _ in range(_EPOCHS):
        for batch in _batches(prepared, size, random):
            step += 1
            done = min(step / steps, 1.0)
            rate = _RATE * min(done / _WARM_UP, 0.5 + 0.5 * np.cos(np.pi * max(done - _WARM_UP, 0) / (1 - _WARM_UP)))
            found = _batch_gradients(net, pages, prepared, batch, group, random)
            norm = np.sqrt(sum(float(np.square(gradient).sum()) for gradient in found.values()))
            for name in names:
                gradient, weights = found[name] / max(norm, 1), getattr(net, name)
                speed[name] += 0.1 * (gradient - speed[name])
                power[name] += 0.001 * (np.square(gradient) - power[name])
                deviation = np.sqrt(power[name] / (1 - 0.999**step)) + 1e-8
                weights -= rate * (speed[name] / (1 - 0.9**step) / deviation + _DECAY * weights)
    return net


def _scales(pages: Sequence[Example], random: np.random.Generator) -> tuple[Matrix, Matrix]:
    """Return the mean and standard deviation of the inputs on a logarithmic scale, from some blocks of each page."""
    samples = []
    for page in pages:
        chance = page.training_weight / max(float(page.training_weight.sum()), 1e-9)
        samples.append(page.matrix[:, random.random(len(chance)) < 40 * chance])
    sample = np.hstack(samples).astype(np.float64)
    sample = np.copysign(np.log1p(np.abs(sample)), sample)
    count = max(sample.shape[1], 1)
    center = sample.sum(axis=1) / count
    scale = np.sqrt(np.square(sample - center[:, None]).sum(axis=1) / count) + _NARROWEST
    return center.astype(np.float32), scale.astype(np.float32)


def _batches(prepared: Sequence[Halves], least: int, random: np.random.Generator) -> Iterator[list[tuple[int, slice]]]:
    """Yield batches of pages in random order, with at least `least` blocks, and the range of blocks of each page."""
    batch: list[tuple[int, slice]] = []
    total = 0
    for number in random.permutation(len(prepared)).tolist():
        count = len(prepared[number])
        size = min(count, _LONGEST)
        start = int(random.integers(count - size + 1))
        batch.append((number, slice(start, start + size)))
        total += size
        if total >= least:
            yield batch
            batch, total = [], 0
    if batch:
        yield batch


def _batch_gradients(
    net: Net,
    pages: Sequence[Example],
    prepared: Sequence[Halves],
    batch: Sequence[tuple[int, slice]],
    group: slice,
    random: np.random.Generator,
) -> dict[str, Matrix]:
    """Return the gradients of the weighted log loss of some pages, with some of their inputs left out."""
    sizes = [part.stop - part.start for _, part in batch]
    starts = np.cumsum([0, *sizes[:-1]])
    inputs = np.vstack([prepared[number][part] for number, part in batch]).astype(np.float32)
    inputs *= (random.random(inputs.shape, dtype=np.float32) >= _DROPPED) / np.float32(1 - _DROPPED)
    inputs[np.repeat(random.random(len(batch)) < _DROPPED_GROUP, sizes), group] = 0

    def joined(field: str) -> Matrix:
        return np.concatenate([getattr(pages[number], field)[part] for number, part in batch]).astype(np.float32)

    weight, tape = joined("block_weight"), list[Any]()
    log_odds = net.run(inputs, weight, starts, tape)
    error = 1 / (1 + np.exp(-log_odds)) - joined("content")
    weights = joined("training_weight")
    slope = error * weights / max(float(weights.sum()), 1e-9)
    return net.gradients(slope.astype(np.float32), inputs, weight, starts, tape)
