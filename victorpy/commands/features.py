"""List all features with their family, and whether the CRF or the trees of a config use them.

examples:
  victor features                       all features, and which of them the default config uses
  victor features --config cleaneval --used
"""

from __future__ import annotations

import argparse

from victorpy.commands import Arguments
from victorpy.config import load_config
from victorpy.features import FEATURES, check_features, find_feature, load_modules
from victorpy.model.evidence.inputs import load_tree_template
from victorpy.model.evidence.trees import EVIDENCE, KINDS
from victorpy.research.report.base import aligned


def configure(parser: argparse.ArgumentParser) -> None:
    config = "a shipped config or a file (default: default)"
    parser.add_argument("-c", "--config", metavar="NAME", default="default", help=config)
    parser.add_argument("--used", action="store_true", help="show only the features that the config uses")


def run(arguments: Arguments) -> int:
    config = load_config(arguments.config)
    load_modules(config)
    check_features(config)
    stages = [stage for stage in (EVIDENCE, KINDS) if config.get(stage)]
    in_trees = [name for stage in stages for name in load_tree_template(config, stage).features]
    used = dict.fromkeys([*config.features, *in_trees])
    names = used if arguments.used else used | dict.fromkeys(FEATURES)
    rows = []
    for name in names:
        feature = find_feature(name)
        if feature:
            users = ["crf"] * (name in config.features) + ["trees"] * (name in in_trees)
            rows.append((name, feature.family, "+".join(users) or "-", feature.description))
    print(aligned(["feature", "family", "used", "description"], rows, all_left=True))
    return 0
