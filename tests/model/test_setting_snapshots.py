"""Snapshots of the settings of training."""

import json

from support.snapshots import check

from victorpy.model import choice, role_trees
from victorpy.model.evidence import adaptation, net, replay

NUMBERS = [
    *("FOLDS SEVERAL_SITES FEWEST_CLASSES USUAL_GAIN GAIN_SPREAD USUAL_SPREAD USUAL_PAGES NEW_MODEL_GAIN".split()),
    *("MOST_FORGOTTEN FEWEST_TO_AVERAGE FEWEST_FOR_TREES FEW_PAGES SMALL CONFIGS STEPS".split()),
]


def test_settings_were_chosen_by_experiments():
    """They change what models learn, so a change needs new experiments."""
    settings = {name: getattr(choice, name) for name in NUMBERS}
    settings |= {"adaptation": adaptation.SETTINGS, "own trees": adaptation.OWN_SETTINGS, "roles": role_trees.SETTINGS}
    settings |= {"limits": [adaptation.OWN_SHARE, adaptation.LIKE, adaptation.MUCH_LIKE, net.SHARE, replay.WEIGHT]}
    check("settings", "training", {name: json.dumps(value) for name, value in settings.items()})
