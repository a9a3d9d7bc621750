"""Show what a model is and how it was trained.

examples:
  victor model show my-model       print the card of a model
  victor model show default        print the card of a bundled model
  victor model show --json DIR     print the content of its meta.json
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from victorpy.base.digests import read_meta, verify_directory
from victorpy.commands import Arguments
from victorpy.errors import ModelError
from victorpy.model.choice import CONFIGS
from victorpy.model.store import bundled_models, find_model

DIGITS = 12  # number of digits of a digest that are shown


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=["show"], metavar="show", help="print the card of a model")
    parser.add_argument("model", metavar="MODEL", help="name of a bundled model, or a model directory")
    parser.add_argument("--json", action="store_true", help="print the content of meta.json")


def run(arguments: Arguments) -> int:
    directory = find_model(arguments.model)
    meta = read_meta(directory)
    verify_directory(directory, meta)
    if arguments.json:
        print(json.dumps(meta, indent=2))
        return 0
    try:
        card = make_card(arguments.model, directory, meta)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelError(f"{directory} has an unusual meta.json ({error}); print it with --json") from error
    width = max(map(len, card))
    print("\n".join(f"{name:<{width}}  {text}" for name, text in card.items()))
    return 0


def make_card(name: str, directory: Path, meta: Mapping[str, Any]) -> dict[str, str]:
    """Return the facts about a model by name."""
    training: Mapping[str, Any] = meta.get("training", {})
    size = sum((directory / file).stat().st_size for file in meta["files"])
    card = {
        "model": f"{name} ({size / 1e6:.1f} MB, digest {meta['digest'][:DIGITS]})",
        "labels": ", ".join(meta["labels"]),
        "trained": f"{training.get('date', 'date unknown')}, with victorpy {meta['versions']['victorpy']}",
        "pages": f"{training['pages']:,} pages, {training['blocks']:,} blocks",
    }
    if training.get("data"):
        card["data"] = ", ".join(training["data"])
    if "parent" in training:
        parent, pages = training["parent"]["digest"], training["parent"]["training"]["pages"]
        names = [name for name in bundled_models() if read_meta(find_model(name))["digest"] == parent]
        digest = f"digest {parent[:DIGITS]}"
        relation = "compared with" if training["chosen"] in CONFIGS else "parent"
        card[relation] = f"{f'{names[0]} ({digest})' if names else digest}, trained on {pages:,} pages"
        best_first = sorted(training["word_f1"].items(), key=lambda item: -item[1])
        scores = ", ".join(f"{what} {score:.3f}" for what, score in best_first)
        card["choice"] = training["chosen"]
        card["word F1"] = f"{scores} (cross-validation over {training['folds']})"
    if "unseen_word_f1" in training:
        card["word F1"] = f"{training['unseen_word_f1']:.3f} on unseen pages (cross-validation)"
    if "general_word_f1" in training:
        before, after = training["general_word_f1"]
        card["general"] = f"word F1 on general pages {before:.3f} before, {after:.3f} after"
    code = [file for file in meta["files"] if file.endswith(".py")]
    if code:
        card["code"] = f"contains Python code, which runs only with --allow-code: {', '.join(code)}"
    return card
