"""Tests of the convolutional net beside the trees."""

from __future__ import annotations

import io
from dataclasses import fields, replace

import numpy as np
import pytest

from victorpy.model.evidence import net as module
from victorpy.model.evidence.net import Example, Net, train_net


def make_net(inputs: int = 7, width: int = 5, layers: int = 4, dtype: type = np.float32) -> Net:
    random = np.random.default_rng(3)
    arrays = [0.4 * random.standard_normal(shape) for shape in module._shapes(inputs, width, layers)]
    arrays[1] = 1 + np.abs(arrays[1])
    return Net(*(array.astype(dtype) for array in arrays))


def sequences(count: int, length: int = 30) -> list[Example]:
    """Pages of which a block is content if it lies between two marks, which the block itself does not show."""
    random = np.random.default_rng(1)
    pages = []
    for _ in range(count):
        matrix = random.random((3, length)).astype(np.float32)
        first, stop = sorted(random.choice(np.arange(3, length - 3), 2, replace=False))
        matrix[0] = 0
        matrix[0, [first - 1, stop]] = 5, -5
        content = np.zeros(length, dtype=bool)
        content[first:stop] = True
        pages.append(Example(matrix, content, np.ones(length), np.ones(length)))
    return pages


def test_gradients_are_the_slopes_of_the_loss():
    random = np.random.default_rng(2)
    net = make_net(dtype=np.float64)
    inputs, weight = random.standard_normal((40, 7)), random.random(40) + 0.5
    starts, content = np.array([0, 13, 30]), random.random(40) > 0.5

    def loss(changed: Net) -> float:
        log_odds = changed.run(inputs, weight, starts)
        return float((np.logaddexp(0, log_odds) - content * log_odds).sum())

    tape: list = []
    slope = 1 / (1 + np.exp(-net.run(inputs, weight, starts, tape))) - content
    found = net.gradients(slope, inputs, weight, starts, tape)
    assert set(found) == {field.name for field in fields(Net)} - {"center", "scale"}
    for name, gradient in found.items():
        for place in zip(*(random.integers(size, size=5) for size in gradient.shape), strict=True):
            losses = []
            for step in (1e-5, -1e-5):
                moved = getattr(net, name).copy()
                moved[place] += step
                losses.append(loss(replace(net, **{name: moved})))
            assert gradient[place] == pytest.approx((losses[0] - losses[1]) / 2e-5, rel=1e-4, abs=1e-6), name


def test_pages_of_a_batch_do_not_see_each_other():
    random = np.random.default_rng(4)
    net = make_net()
    inputs, weight = random.standard_normal((300, 7)).astype(np.float32), np.ones(300, dtype=np.float32)
    together = net.run(inputs, weight, np.array([0, 3, 140]))
    parts = [slice(0, 3), slice(3, 140), slice(140, 300)]
    alone = [net.run(inputs[part], weight[part], np.zeros(1, dtype=np.int64)) for part in parts]
    assert together == pytest.approx(np.concatenate(alone), abs=1e-4)


def test_a_block_depends_on_blocks_up_to_the_sum_of_the_distances():
    net = replace(make_net(), page=np.zeros((5, 5), dtype=np.float32), page_bias=np.zeros(5, dtype=np.float32))
    matrix = np.zeros((7, 60), dtype=np.float32)
    changed = matrix.copy()
    changed[:, 30] = 3
    moved = np.flatnonzero(net.log_odds(matrix, np.ones(60)) != net.log_odds(changed, np.ones(60)))
    assert {30} < set(moved.tolist()) <= set(range(15, 46))


def test_a_net_learns_what_only_the_sequence_shows():
    pages, new = sequences(200), sequences(240)[200:]
    net = train_net(pages, 16, slice(1, 1))
    right = [((net.log_odds(page.matrix, page.block_weight) > 0) == page.content).mean() for page in new]
    assert np.mean(right) > 0.9
    again = train_net(pages[:20], 4, slice(1, 1))
    assert again.kernels.tolist() == train_net(pages[:20], 4, slice(1, 1)).kernels.tolist()


def test_blocks_without_weight_are_not_learned():
    pages = sequences(8)
    turned = [page._replace(content=~page.content, training_weight=np.zeros(30)) for page in pages]
    others = [page._replace(training_weight=np.zeros(30)) for page in pages]
    nets = [train_net([*pages, *added], 4, slice(0, 0)) for added in (turned, others)]
    assert nets[0].first.tolist() == nets[1].first.tolist()
    nothing = train_net(others, 4, slice(0, 0))
    assert not Net.load(saved(nothing), 3).log_odds(pages[0].matrix, np.ones(30)).any()


def saved(net: Net) -> io.BytesIO:
    file = io.BytesIO()
    net.save(file)
    return io.BytesIO(file.getvalue())


def test_a_saved_net_is_read_again():
    net = make_net()
    again = Net.load(saved(net), 7)
    matrix = np.random.default_rng(5).standard_normal((7, 20)).astype(np.float32)
    assert again.log_odds(matrix, np.ones(20)).tolist() == net.log_odds(matrix, np.ones(20)).tolist()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"first": np.zeros((6, 5), dtype=np.float32)}, "do not match"),
        ({"scale": np.full(7, -1, dtype=np.float32)}, "do not match"),
        ({"last": np.full(5, np.nan, dtype=np.float32)}, "not all numbers"),
        ({"last": np.zeros(5, dtype=np.int64)}, "type int64"),
        ({"kernels": np.zeros((0, 15, 5), dtype=np.float32)}, "no layers"),
        ({"kernels": np.zeros((15, 5), dtype=np.float32)}, "no layers"),
        ({"kernels": np.zeros((11, 15, 5), dtype=np.float32)}, "too many"),
    ],
)
def test_damaged_nets_are_rejected(change, message):
    with pytest.raises(ValueError, match=message):
        Net.load(saved(replace(make_net(), **change)), 7)


@pytest.mark.parametrize(("largest", "too_large"), [((2, 1, 10), (2, 1, 11)), ((1, 256, 1), (1, 257, 1))])
def test_limits_of_nets(largest, too_large):
    Net.load(saved(make_net(*largest)), largest[0])
    with pytest.raises(ValueError, match="too many, or too wide ones"):
        Net.load(saved(make_net(*too_large)), too_large[0])


def test_a_net_for_other_inputs_or_a_short_file_is_rejected():
    with pytest.raises(ValueError, match="do not match"):
        Net.load(saved(make_net()), 8)
    with pytest.raises(ValueError, match="larger than their file"):
        Net.load(io.BytesIO(saved(make_net()).getvalue()[:-3]), 7)


def long_sequence() -> Example:
    """A page of which a training step sees only a part."""
    pages = sequences(30)
    matrix, content, *weights = (np.concatenate(arrays, axis=-1) for arrays in zip(*pages, strict=True))
    return Example(matrix, content, *weights)


def test_training_is_the_same_as_before():
    """Covers train_net, _scales, _batches, _batch_gradients, gradients and run: any change of training shows here."""
    pages = [*sequences(10), long_sequence()]
    weighted = [page._replace(training_weight=np.arange(page.content.size) % 4 + 0.5) for page in pages]
    net = train_net(weighted, 3, slice(1, 2))
    assert net.center.tolist() == pytest.approx([0.00638, 0.38721, 0.39733], abs=1e-4)
    assert net.scale.tolist() == pytest.approx([0.44166, 0.20266, 0.19962], abs=1e-4)
    log_odds = [net.log_odds(page.matrix, page.block_weight) for page in pages[:2]]
    numbers = [*(float(each.mean()) for each in log_odds), *(each.min() for each in log_odds)]
    numbers += [np.abs(getattr(net, name)).mean() for name in ("first", "page", "kernels", "last")]
    expected = [-0.7777, -0.7007, -1.6093, -1.8110, 0.5915, 0.4118, 0.1298, 0.1340]
    assert numbers == pytest.approx(expected, abs=2e-3)
