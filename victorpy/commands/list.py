"""List what exists: models, methods, configs, formats, features and data sets.

examples:
  victor list                   everything, and what a model, a method and a config is
  victor list formats           one kind, a line each: its name and a short description
  victor list --json methods    the same as JSON
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

from victorpy.base import resources
from victorpy.base.digests import META, read_meta
from victorpy.commands import Arguments
from victorpy.errors import ModelError
from victorpy.features import FEATURES
from victorpy.labellers.base import LABELLERS
from victorpy.methods import method_names
from victorpy.model.store import bundled_models, find_model
from victorpy.outputs import OUTPUTS
from victorpy.peers import PEERS, installed_peers
from victorpy.research.datasets import DATASETS

Descriptions = dict[str, str]


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument("kind", nargs="?", choices=KINDS, metavar="KIND", help=f"{', '.join(KINDS)} (default: all)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(arguments: Arguments) -> int:
    """Print the names and descriptions of one kind or of all."""
    lists = {kind: KINDS[kind][1]() for kind in ([arguments.kind] if arguments.kind else KINDS)}
    if arguments.json:
        rows = {
            kind: [{"name": name, "description": text} for name, text in things.items()]
            for kind, things in lists.items()
        }
        print(json.dumps(rows, indent=1, ensure_ascii=False))
        return 0
    for kind, things in lists.items():
        indent = ""
        if not arguments.kind:
            print(f"{kind}: {arguments.as_typed(KINDS[kind][0])}")
            indent = "  "
        width = max(map(len, things))
        print("\n".join(f"{indent}{name:<{width}}  {text}" for name, text in things.items()))
        if not arguments.kind:
            print()
    return 0


def _models() -> Descriptions:
    """Describe the bundled models, and those that were trained in the current directory."""
    own = [str(path.parent) for path in sorted(Path("models").glob(f"*/{META}"))]
    return {name: _describe_model(name) for name in [*bundled_models(), *own]}


def _describe_model(name: str) -> str:
    try:
        pages = f"trained on {read_meta(find_model(name))['training']['pages']:,} pages"
    except (ModelError, KeyError) as error:
        return f"damaged: {error}"
    return f"{_configs()[name]} ({pages})" if name in bundled_models() else pages


def _methods() -> Descriptions:
    """Describe the methods; other programs only if they are installed."""
    own = {
        name: f"the model {name}" if name in bundled_models() else _first_line(LABELLERS.get(name))
        for name in method_names()
    }
    return own | {
        name: f"Another program, in comparisons. {_first_line(PEERS[name].make)}" for name in installed_peers()
    }


def _configs() -> Descriptions:
    """Describe the shipped configs by the first sentence of the comment that they begin with."""
    descriptions = {}
    for name in resources.names("configs", ".conf"):
        text = (resources.shipped("configs") / f"{name}.conf").read_text(encoding="utf-8")
        comment = re.match(r"(?:#.*\n)*", text)
        words = " ".join(comment[0].replace("#", " ").split()) if comment else ""
        descriptions[name] = re.split(r"(?<=\.) ", words)[0]
    return descriptions


def _datasets() -> Descriptions:
    modules = {name: sys.modules[DATASETS.get(name).__module__] for name in DATASETS}
    return {name: _first_line(module) for name, module in modules.items()}


def _first_line(thing: object) -> str:
    return (thing.__doc__ or "").strip().partition("\n")[0]


KINDS: dict[str, tuple[str, Callable[[], Descriptions]]] = {
    "models": ("a model is a trained model: a bundled name, or a directory that victor learn wrote.", _models),
    "methods": (
        "a method is any way to clean a page: a labeller without training, or a model by its name or directory.",
        _methods,
    ),
    "configs": (
        "a config is a text file that says how to cut pages, compute features and train: a shipped name, or a path.",
        _configs,
    ),
    "formats": (
        "how cleaned pages are written (victor clean --format).",
        lambda: {name: OUTPUTS.get(name).description for name in OUTPUTS},
    ),
    "features": (
        "what configs and templates can use of each block; victor features shows those of a config.",
        lambda: {name: FEATURES.get(name).description for name in FEATURES},
    ),
    "datasets": ("layouts of gold standards, given as KIND:DIR (victor learn --data).", _datasets),
}
"""What each kind is, and a function that describes everything of that kind."""
