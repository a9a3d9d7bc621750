"""Methods by name: everything that cleans a page, trained or not.

``crf`` is the bundled model and ``hybrid`` the one for several pages of a site. A model can also be named by its
directory. Every other name is that of a labeller without training or, in a comparison, of another program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from victorpy.base.parameters import parse_settings, split_names
from victorpy.cleaner import Cleaner
from victorpy.config import load_config
from victorpy.errors import ConfigError, ModelError, VictorError, install_command, suggest
from victorpy.labellers.base import LABELLERS, LearnsFrom
from victorpy.model.store import DEFAULT, find_model
from victorpy.peers import PEERS, installed_peers, is_peer, load_peer, show_peer

MODELS = {"crf": DEFAULT, "hybrid": "site"}
"""Methods that are bundled models."""

CONFIG = "blocks"
"""How pages are cut for methods that have no config of their own."""

ALL, ALL_PEERS = "all", "peers"
"""Names for every available method, and for every other program that is installed."""


def method_names() -> list[str]:
    """Return the names of all methods that need no directory."""
    untrained = [name for name in LABELLERS if LABELLERS.get(name).learns_from is not LearnsFrom.LABELS]
    return sorted([*MODELS, *untrained])


def load_method(name: str, settings: Sequence[str] = ()) -> Cleaner:
    """Load a method; `settings` are its parameters, each as ``NAME=VALUE``."""
    if name not in MODELS and name in LABELLERS:
        labeller = LABELLERS.get(name)
        return Cleaner(labeller(**parse_settings(name, labeller, settings)), load_config(CONFIG))
    if name not in MODELS and not (Path(name) / "meta.json").exists():
        raise _unknown_method(name, method_names())
    if settings:
        raise ConfigError(f"the method {name!r} is a trained model and has no parameters to set: {' '.join(settings)}")
    return Cleaner.load(MODELS.get(name, name))


def _unknown_method(name: str, names: Sequence[str]) -> VictorError:
    return VictorError(f"no method {name!r}{suggest(name, names)}; there are: {', '.join(names)}, or a model's path")


@dataclass(frozen=True, slots=True)
class Method:
    """A method by name, with its parameters as NAME=VALUE: plain values that every process can load for itself."""

    base: str
    parameters: tuple[str, ...] = ()
    label: str = ""
    """Name to show instead of `base`."""

    @property
    def name(self) -> str:
        """Name in tables, with the parameters: ``sst(t=0.3)``."""
        shown = self.label or self.base
        return f"{shown}({','.join(self.parameters)})" if self.parameters else shown

    @property
    def is_peer(self) -> bool:
        """Whether it is another program, which returns a text and no labels."""
        return self.base not in method_names() and is_peer(self.base)

    @property
    def is_trained(self) -> bool:
        """Whether it is a model that was trained on labelled pages."""
        return not self.is_peer and self.load().labeller.learns_from is LearnsFrom.LABELS

    @property
    def model(self) -> str:
        """Name or directory of the model, if it is one."""
        return MODELS.get(self.base, self.base)

    @property
    def kind(self) -> str:
        """What it has to be given: labels (a trained model), site, nothing, or peer for another program."""
        if self.is_peer:
            return "peer"
        labeller = self.load().labeller
        return str(LearnsFrom.SITE if labeller.wants_site else labeller.learns_from)

    @property
    def run_as(self) -> str:
        """How it is run, with all its parameters."""
        if self.is_peer:
            return show_peer(self.base, self.parameters)
        return f"the model {Path(self.model).name}" if self.is_trained else repr(self.load().labeller)

    def load(self) -> Cleaner:
        """Return the cleaner, which is loaded once per process."""
        return _load_cleaner(self)


@cache
def _load_cleaner(method: Method) -> Cleaner:
    return load_method(method.base, method.parameters)


def find_method(name: str, parameters: Sequence[str] = ()) -> Method:
    """Return a method of any kind, and load it: a wrong name or parameter raises here."""
    method = Method(name, tuple(parameters))
    if method.is_peer:
        load_peer(name, parameters)
    elif name not in method_names() and not Path(name).exists():
        raise _unknown_method(name, [*method_names(), *PEERS])
    else:
        method.load()
    return method


def load_methods(names: str) -> list[Method]:
    """Load the methods of a list: names between commas, each with its parameters in parentheses.

    >>> [method.name for method in load_methods("everything, crf")]
    ['everything', 'crf']
    """
    methods: list[Method] = []
    for name, parameters in split_names(names):
        if name not in {ALL, ALL_PEERS}:
            methods.append(find_method(name, parameters))
            continue
        if parameters:
            raise ConfigError(f"{name!r} stands for many methods: give parameters to each by its name")
        peers = installed_peers()
        if name == ALL_PEERS and not peers:
            raise VictorError(f"no other cleaner is installed: {install_command('peers')}")
        own = [method for method in method_names() if _is_available(method)] if name == ALL else []
        methods += [find_method(method) for method in [*own, *peers]]
    return list(dict.fromkeys(methods))


def _is_available(name: str) -> bool:
    """Whether a method can be loaded; a bundled model may be missing."""
    try:
        return name not in MODELS or bool(find_model(MODELS[name]))
    except ModelError:
        return False
