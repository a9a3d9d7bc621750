"""Minimum quality on the sample pages, which no model is trained on."""

from pathlib import Path

import pytest

from victorpy import Cleaner
from victorpy.research.datasets import read_dataset
from victorpy.research.scores import word_f1

DATA = Path(__file__).parents[1] / "data"

# Measured with the bundled models, less half a point: a change that falls below has cost quality. Raise them when
# a model gets better.
FLOORS = {"default": 0.911, "cleaneval": 0.79}


@pytest.mark.parametrize("model", FLOORS)
def test_a_bundled_model_does_not_fall_below_its_floor(model):
    cleaner = Cleaner.load(model)
    pages = list(read_dataset("anno", DATA, pytest.fail))
    scores = [word_f1(cleaner.clean(page.html), page.text).f1 for page in pages]
    assert len(scores) >= 40
    assert sum(scores) / len(scores) >= FLOORS[model]


def test_no_sample_page_comes_out_empty():
    cleaner = Cleaner.load()
    empty = [page.name for page in read_dataset("anno", DATA, pytest.fail) if not cleaner.clean(page.html).strip()]
    assert empty == []
