"""The methods that are compared: victorpy's own, models by their directories, and other people's cleaners."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from victorpy.cleaner import Cleaner
from victorpy.datasets import GoldPage
from victorpy.document import CleanPage
from victorpy.errors import ConfigError, ModelError, VictorError, suggest
from victorpy.labellers.base import LearnsFrom
from victorpy.methods import MODELS, load_method, method_names
from victorpy.model import find_model
from victorpy.outputs import OUTPUTS
from victorpy.peers import PEERS, Extractor, installed_peers, is_peer, load_peer, show_peer
from victorpy.settings import split_names

ALL, ALL_PEERS = "all", "peers"
"""Names that stand for all methods that are there, and for all other cleaners that are installed."""


class Cleaned(NamedTuple):
    """What a method made of a page: a text, and where it labels blocks those."""

    text: str
    page: CleanPage | None = None


@dataclass(frozen=True, slots=True)
class Method:
    """A method that is ready; it has either a cleaner or, as other people's do, a mere function."""

    name: str
    cleaner: Cleaner | None = None
    extract: Extractor | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)
    """A model's story."""
    model: str = ""
    run_as: str = ""
    """How it is run, with all its parameters."""

    @property
    def kind(self) -> str:
        """What it has to be given: labels (a trained model), site, nothing, or peer for another program."""
        if self.cleaner is None:
            return "peer"
        labeller = self.cleaner.labeller
        return str(LearnsFrom.SITE if labeller.wants_site else labeller.learns_from)

    @property
    def is_trained(self) -> bool:
        """Whether it is a model that was trained on labelled pages."""
        return self.cleaner is not None and self.cleaner.labeller.learns_from is LearnsFrom.LABELS

    @property
    def may_learn_sites(self) -> bool:
        """Whether it may be another one at every site."""
        return self.cleaner is not None and self.cleaner.labeller.wants_site

    def runner(self, cleaner: Cleaner | None) -> Callable[[GoldPage], Cleaned]:
        """How a page is cleaned, from bytes to text: by the cleaner of its site, or by the function."""
        if cleaner is not None:
            return lambda page: _clean(cleaner, page)
        extract = self.extract
        if extract is None:
            raise ValueError(f"{self.name}: neither a cleaner nor a function")
        return lambda page: Cleaned(extract(page.html))


def _clean(cleaner: Cleaner, page: GoldPage) -> Cleaned:
    found = cleaner.document(page.html, page.url or None)
    return Cleaned(OUTPUTS.get("text").render(found), found)


def load_methods(names: str) -> list[Method]:
    """Make the methods of a list ready: names between commas, each with its parameters in parentheses.

    >>> [method.name for method in load_methods("everything, crf")]
    ['everything', 'crf']
    """
    methods: dict[str, Method] = {}
    for entry in split_names(names):
        for name, settings in _expanded(*entry):
            method = load(name, settings)
            methods.setdefault(method.name, method)
    return list(methods.values())


def _expanded(name: str, settings: list[str]) -> list[tuple[str, list[str]]]:
    """What a name stands for: itself, or many."""
    if name not in {ALL, ALL_PEERS}:
        return [(name, settings)]
    if settings:
        raise ConfigError(f"{name!r} stands for many methods: give parameters to each by its name")
    own = [method for method in method_names() if _is_there(method)] if name == ALL else []
    peers = installed_peers()
    if name == ALL_PEERS and not peers:
        raise VictorError("no other cleaner is installed: pip install 'victorpy[peers]'")
    return [(method, []) for method in [*own, *peers]]


def _is_there(method: str) -> bool:
    """Whether a method can be used as it is; a model need not have been bundled."""
    try:
        return method not in MODELS or bool(find_model(MODELS[method]))
    except ModelError:
        return False


def load(name: str, settings: Sequence[str] = ()) -> Method:
    """Make one method ready."""
    shown = f"{name}({','.join(settings)})" if settings else name
    if name not in method_names() and is_peer(name):
        return Method(shown, extract=load_peer(name, settings), run_as=show_peer(name, settings))
    if name not in method_names() and not Path(name).exists():
        known = [*method_names(), *PEERS]
        raise VictorError(f"no method {name!r}{suggest(name, known)}; there are: {', '.join(known)}, or a model's path")
    model = MODELS.get(name, name)
    cleaner = load_method(name, settings)
    if cleaner.labeller.learns_from is not LearnsFrom.LABELS:
        return Method(shown, cleaner, run_as=repr(cleaner.labeller))
    meta = json.loads((find_model(model) / "meta.json").read_bytes())
    return Method(shown, cleaner, meta=meta, model=model, run_as=f"the model {Path(model).name}")
