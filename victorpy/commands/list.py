"""List the available models, methods, configs, formats, features, data sets and more.

examples:
  victor list                   list everything, with a definition of each kind
  victor list formats           list one kind: one name with its description per line
  victor list --json methods    print JSON
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

from victorpy.base import resources
from victorpy.base.digests import META, read_meta
from victorpy.batch.sinks import SINKS
from victorpy.commands import Arguments
from victorpy.dedup.base import DETECTORS
from victorpy.errors import ModelError
from victorpy.features import FEATURES
from victorpy.labellers.base import LABELLERS
from victorpy.methods import method_names
from victorpy.model.parts import PARTS
from victorpy.model.store import bundled_models, find_model
from victorpy.outputs import OUTPUTS
from victorpy.peers import PEERS, installed_peers
from victorpy.research.datasets import DATASETS

Descriptions = dict[str, str]


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", nargs="?", choices=KINDS, metavar="KIND", help=f"{', '.join(KINDS)} (default: all)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: Arguments) -> int:
    lists = {kind: KINDS[kind]() for kind in ([arguments.kind] if arguments.kind else KINDS)}
    if arguments.json:
        named = {kind: [{"name": name, "description": text} for name, text in lists[kind].items()] for kind in lists}
        print(json.dumps(named, indent=1, ensure_ascii=False))
        return 0
    for kind, descriptions in lists.items():
        width = max(map(len, descriptions))
        lines = [f"{name:<{width}}  {text}" for name, text in descriptions.items()]
        if not arguments.kind:
            definition = arguments.as_typed(KINDS[kind].__doc__ or "")
            lines = [f"{kind}: {definition}", *(f"  {line}" for line in lines), ""]
        print("\n".join(lines))
    return 0


def models() -> Descriptions:
    """A model is the result of training: a bundled name, or a directory that victor learn wrote."""
    own = [str(path.parent) for path in sorted(Path("models").glob(f"*/{META}"))]
    descriptions = {}
    for name in [*bundled_models(), *own]:
        try:
            pages = f"trained on {read_meta(find_model(name))['training']['pages']:,} pages"
            descriptions[name] = pages if name in own else f"{configs()[name]} ({pages})"
        except (ModelError, KeyError, TypeError, ValueError) as error:
            descriptions[name] = f"damaged: {error}"
    return descriptions


def methods() -> Descriptions:
    """A method is any way to clean a page: an untrained method by name, or a model by name or directory."""
    own = {
        name: _first_line(LABELLERS.get(name)) if name in LABELLERS else f"The model {name}; see victor list models."
        for name in method_names()
    }
    return own | {name: f"Another program. {_first_line(PEERS[name].make)}" for name in installed_peers()}


def configs() -> Descriptions:
    """A config is a text file that controls splitting, features and training: a shipped name, or a path."""
    descriptions = {}
    for name in resources.names("configs", ".conf"):
        text = (resources.shipped("configs") / f"{name}.conf").read_text(encoding="utf-8")
        comment = re.match(r"(?:#.*\n)*", text)
        words = " ".join(comment[0].replace("#", " ").split()) if comment else ""
        descriptions[name] = re.split(r"(?<=\.) ", words)[0]
    return descriptions


def formats() -> Descriptions:
    """A format is a way to write a cleaned page (victor clean --format)."""
    return {name: OUTPUTS.get(name).description for name in OUTPUTS}


def parts() -> Descriptions:
    """A part of a page is something that you can keep or drop (victor clean --with, --without)."""
    return PARTS


def containers() -> Descriptions:
    """A container is a kind of file that a batch run writes pages to (victor clean --to)."""
    compressed = {".gz": ", compressed with gzip", ".zst": ", compressed with zstd"}
    return {
        name: f"{_first_line(SINKS.get(name)).rstrip('.')}{compressed.get(Path(name).suffix, '')}." for name in SINKS
    }


def dedup() -> Descriptions:
    """A deduplication method finds pages that nearly repeat other pages (victor clean --dedup)."""
    return {name: _first_line(DETECTORS.get(name)) for name in DETECTORS}


def features() -> Descriptions:
    """A feature is a number computed for each block, for use in configs and templates (victor features)."""
    return {name: FEATURES.get(name).description for name in FEATURES}


def datasets() -> Descriptions:
    """A data set is a directory of pages with gold labels or texts, given as KIND:DIR (victor learn --data)."""
    return {name: _first_line(DATASETS.get(name)) for name in DATASETS}


def _first_line(thing: object) -> str:
    return (thing.__doc__ or "").strip().partition("\n")[0]


KINDS = {
    function.__name__: function
    for function in (models, methods, configs, formats, parts, containers, dedup, features, datasets)
}
"""Functions that return the names and descriptions of all things of one kind. `victor list` prints their docstrings."""
