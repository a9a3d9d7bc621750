"""Features: list every feature, its family, what of a config uses it, and what it is.

examples:
  victor features                       all of them, and which the default config uses
  victor features --config cleaneval --used
"""

from __future__ import annotations

import argparse

from victorpy.config import load_config
from victorpy.evidence.inputs import load_numbers_template
from victorpy.evidence.trees import EVIDENCE, KINDS
from victorpy.features import FEATURES, check_features, find_feature, load_modules


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument("-c", "--config", default="default", help="a shipped config or a path (default: default)")
    parser.add_argument("--used", action="store_true", help="only those that the config uses")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the table."""
    config = load_config(arguments.config)
    load_modules(config)
    check_features(config)
    trees = [
        name
        for stage in (EVIDENCE, KINDS)
        if config.get(stage)
        for name in load_numbers_template(config, stage).features
    ]
    used = dict.fromkeys([*config.features, *trees])
    rows = []
    for name in [*used, *(name for name in FEATURES if name not in used)]:
        found = find_feature(name)
        if found and (name in used or not arguments.used):
            users = [user for user, names in (("crf", config.features), ("trees", trees)) if name in names]
            rows.append((name, found.family, "+".join(users) or "-", found.description))
    widths = [max(len(row[column]) for row in [*rows, ("feature", "family", "used")]) for column in range(3)]
    for row in [("feature", "family", "used", "description"), *rows]:
        print("  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]]))
    return 0
