"""Snapshots of the blocks that the rules after the cut keep on random pages, given random probabilities."""

import random

import numpy as np
import pytest
from support.rulepages import RulePage
from support.snapshots import check, digest, runs

from victorpy import load_config, read_document
from victorpy.columns import Columns
from victorpy.model.evidence import Keeping

PAGES = 30
LEVELS = [0.01, 0.03, 0.05, 0.06, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 0.9, 0.95, 0.99]
WAYS = {
    "balanced": Keeping(),
    "precision": Keeping(favor="precision"),
    "recall": Keeping(favor="recall"),
    "threshold": Keeping(threshold=0.5),
    "unsure": Keeping(empty_below=0.8, heading_least=0.3),
}


def probabilities(chance, count):
    """Return probabilities around the limits of rules. Mostly, neighbours are alike."""
    found, level = [], 0.9
    for _ in range(count):
        level = chance.choice(LEVELS) if chance.random() < 0.5 else level
        found.append(level + chance.uniform(0, 0.005))
    return np.array(found)


@pytest.mark.parametrize("number", range(20))
def test_random_pages(number):
    """The rules are additions: headings_above, headline_above, units_between, introduced_lists, facts_between, posts;

    and removals: hidden_copies, visible_copies, headline_copies, buttons, controls, profiles, consents. Before them
    come find_units and data_tables, pool_alike, pool_units, best_cut and in_short_pages.
    """
    config, found = load_config("default"), {name: [] for name in WAYS}
    for seed in range(PAGES * number, PAGES * (number + 1)):
        page = Columns(read_document(RulePage(seed).html(), config), config)
        content = probabilities(random.Random(seed), page.count)
        for name, way in WAYS.items():
            kept = way.kept(content, page)
            found[name].append(runs(np.where(kept, "k", "o"), without="o"))
    check("kept-by-rules", f"pages {number}", {name: digest("; ".join(each)) for name, each in found.items()})
