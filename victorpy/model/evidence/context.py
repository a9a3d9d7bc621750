"""Compute the inputs of the second trees: the predictions of the first trees around each block.

The first trees see only a block and its surroundings. But whether a teaser in a list is content, for example, depends
on the rest of the page. So the probabilities of the first trees are averaged over windows, ancestors, similar blocks
and the whole page.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from victorpy import native
from victorpy.columns import Columns, Floats
from victorpy.columns.elements import HIGHEST, running_total, windows
from victorpy.model.evidence.cut import WORD_OF_A_BLOCK, best_cut, block_weights, probabilities
from victorpy.model.evidence.inputs import OUTSIDE, shifted

_native = native.load("trees")

REACHES = (1, 3, 8, 20)
SHIFTS = (-2, -1, 1, 2)
SURE = 0.7

COLUMNS = (
    "log-odds",
    *(f"probability[{shift:+d}]" for shift in SHIFTS),
    *(f"window{reach}" for reach in REACHES),
    *(f"ancestor{level}" for level in range(HIGHEST + 1)),
    *("look", "before", "after", "higher", "since-sure", "until-sure"),
    *("page.mean", "page.best", "page.content-words", "page.cut", "page.expected-f1"),
)


def context(page: Columns, log_odds: Floats) -> npt.NDArray[np.float32]:
    """Return the context of each block, one row for each of `COLUMNS`."""
    if not page.count:
        return np.zeros((len(COLUMNS), 0), dtype=np.float32)
    probability = probabilities(log_odds)
    weight = block_weights(page)
    if _native:
        distances = np.array(SHIFTS, dtype=np.int64), np.array(REACHES, dtype=np.int64)
        settings = WORD_OF_A_BLOCK, SURE, OUTSIDE
        arrays = log_odds, probability, weight, page.look, *page.ancestor_blocks
        filled: npt.NDArray[np.float32] = _native.context_rows(*arrays, *distances, *settings)
        return filled
    content, total = running_total(weight * probability), running_total(weight)
    block = np.arange(page.count)
    rows: list[npt.ArrayLike] = [log_odds, *(shifted(probability, shift) for shift in SHIFTS)]
    for first, stop in (windows(page.count, REACHES), page.ancestor_blocks):
        inside = np.take(content, stop) - np.take(content, first)
        rows += list(inside / np.maximum(np.take(total, stop) - np.take(total, first), WORD_OF_A_BLOCK))
    look = page.look
    rows.append((np.bincount(look, weight * probability) / np.bincount(look, weight))[look])
    rows.append(content[:-1] / (total[:-1] + 1))
    rows.append((content[-1] - content[1:]) / (total[-1] - total[1:] + 1))
    # Compute the share of the page's words in more probable blocks, and in earlier blocks of equal probability.
    order = np.argsort(-probability, kind="stable")
    higher = np.empty(page.count)
    higher[order] = running_total(weight[order])[:-1]
    rows.append(higher / float(weight.sum()))
    sure = probability >= SURE
    rows.append(np.minimum(block - np.maximum.accumulate(np.where(sure, block, -99)), 99))
    rows.append(np.minimum(np.minimum.accumulate(np.where(sure, block, page.count + 99)[::-1])[::-1] - block, 99))
    cut, expected = best_cut(probability, weight)
    for value in (content[-1] / total[-1], probability.max(), content[-1], cut, expected):
        rows.append(np.full(page.count, value))
    return np.array(rows, dtype=np.float32)
