"""Snapshots of the settings of training."""

import json

import numpy as np
import pytest
from support.snapshots import check

from victorpy.model import choice, role_trees
from victorpy.model.evidence import adaptation, lexicon, net, replay, stage
from victorpy.model.role_trees import fit_forest

NUMBERS = [
    *("FOLDS SEVERAL_SITES FEWEST_CLASSES USUAL_GAIN GAIN_SPREAD USUAL_SPREAD USUAL_PAGES NEW_MODEL_GAIN".split()),
    *("MOST_FORGOTTEN FEWEST_TO_AVERAGE FEWEST_FOR_TREES FEW_PAGES SMALL CONFIGS STEPS CAUTIOUS_STEP".split()),
]
NET_NUMBERS = "LAYERS HIGHEST EPOCHS BATCH STEPS LONGEST RATE DECAY WARM_UP DROPPED DROPPED_GROUP".split()


def test_settings_were_chosen_by_experiments():
    """They change what models learn, so a change needs new experiments."""
    settings = {name: getattr(choice, name) for name in NUMBERS}
    settings |= {"adaptation": adaptation.SETTINGS, "own trees": adaptation.OWN_SETTINGS, "roles": role_trees.SETTINGS}
    settings |= {f"net {name}": getattr(net, f"_{name}") for name in NET_NUMBERS}
    settings["weights"] = [lexicon.DOUBT, lexicon.FEWEST_SITES, stage._MOST_WORDS, stage._PAGE_WEIGHT]
    settings |= {"limits": [adaptation.OWN_SHARE, adaptation.LIKE, adaptation.MUCH_LIKE, net.SHARE, replay.WEIGHT]}
    check("settings", "training", {name: json.dumps(value) for name, value in settings.items()})


def test_forests_of_roles_have_sixty_trees_of_up_to_24_leaves():
    pytest.importorskip("lightgbm")
    matrix = np.random.default_rng(1).random((4, 2_000)).astype(np.float32)
    forest = fit_forest(matrix, matrix[0] + matrix[1] * matrix[2] > 0.7, np.ones(2_000))
    assert len(forest.sizes) == role_trees.SETTINGS["iterations"] == 60
    assert forest.sizes.max() == role_trees.SETTINGS["num_leaves"] - 1 == 23
    assert role_trees.SETTINGS["random_seed"] == 1
    right = (forest.log_odds(matrix) > 0) == (matrix[0] + matrix[1] * matrix[2] > 0.7)
    assert right.mean() > 0.95
