"""Find and load cleaning methods by name.

A method is an untrained labeller (``sst``, ``longest-run``) or a model, given by the name of a bundled model or a
directory. In comparisons, other programs are methods too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from victorpy.base.digests import read_meta
from victorpy.base.parameters import parse_settings, split_names
from victorpy.cleaner import Cleaner
from victorpy.config import load_config
from victorpy.errors import ConfigError, ModelError, VictorError, install_command, suggest
from victorpy.labellers.base import LABELLERS, LearnsFrom
from victorpy.model.store import DEFAULT, bundled_models, find_model
from victorpy.peers import PEERS, installed_peers, is_peer, load_peer, show_peer

CONFIG = "blocks"  # config that splits pages into blocks for methods without a config
ALL, ALL_PEERS = "all", "peers"  # special names: all available methods, and all other programs that are installed


def method_names() -> list[str]:
    """Return the names of all methods. Model directories are not included."""
    return sorted([*bundled_models(), *LABELLERS])


def load_method(name: str, settings: Sequence[str] = (), allow_code: bool = False) -> Cleaner:
    """Load a method; `settings` are its parameters, each as ``NAME=VALUE``. `allow_code` is as in `Cleaner.load`."""
    if name in LABELLERS:
        labeller = LABELLERS.get(name)
        return Cleaner(labeller(**parse_settings(name, labeller, settings)), load_config(CONFIG))
    if not _is_model(name):
        raise _unknown_method(name, method_names())
    if settings:
        raise ConfigError(f"the method {name!r} is a trained model and has no parameters to set: {' '.join(settings)}")
    return Cleaner.load(name, allow_code=allow_code)


def _is_model(name: str) -> bool:
    """Whether a model with this name exists. Bundled models may be missing in a checkout."""
    try:
        return bool(find_model(name))
    except ModelError:
        return False


def _unknown_method(name: str, names: Sequence[str]) -> VictorError:
    return VictorError(
        f"no method {name!r}{suggest(name, names)}; choose from {', '.join(names)}, or give a model path"
    )


@dataclass(frozen=True, slots=True)
class Method:
    """A method by name, or a model. Holds plain values only, so that each process loads the method itself.

    Without any values this is the default model.
    """

    method: str | None = None
    parameters: tuple[str, ...] = ()  # parameters of the method, as ``NAME=VALUE``
    model: str | None = None  # name or directory of a model
    config: str | None = None
    """Config to run the model with. If `model` is not set, the model with the name of the config is used."""
    favor: str | None = None  # precision, recall or balanced; moves the cut between content and noise
    label: str = ""  # name to show in tables
    allow_code: bool = False  # whether the Python code in a model may run

    @property
    def name(self) -> str:
        """Name in tables, with the parameters: ``sst(t=0.3)``."""
        shown = self.label or self.method or self.model_name
        return f"{shown}({','.join(self.parameters)})" if self.parameters else shown

    @property
    def is_peer(self) -> bool:
        """Whether the method is another program, which returns a text and no labels."""
        return self.method is not None and self.method not in method_names() and is_peer(self.method)

    @property
    def is_trained(self) -> bool:
        """Whether the method is a model that was trained on labelled pages."""
        return not self.is_peer and self.load().labeller.learns_from is LearnsFrom.LABELS

    @property
    def model_name(self) -> str:
        """Name or directory of the model; empty for methods without a model."""
        if self.method:
            return "" if self.method in LABELLERS else self.method
        return self.model or (load_config(self.config).name if self.config else DEFAULT)

    @property
    def kind(self) -> str:
        """What the method learns from: ``labels`` (a trained model), ``site`` or ``nothing``.

        For another program, ``peer``.
        """
        if self.is_peer:
            return "peer"
        labeller = self.load().labeller
        return str(LearnsFrom.SITE if labeller.wants_site else labeller.learns_from)

    @property
    def run_as(self) -> str:
        """Name of the method with all its parameters."""
        if self.is_peer:
            return show_peer(str(self.method), self.parameters)
        return f"the model {Path(self.model_name).name}" if self.is_trained else repr(self.load().labeller)

    def load(self) -> Cleaner:
        """Return the cleaner. Each process loads it once."""
        return _load_cleaner(self)

    def identity(self) -> dict[str, Any]:
        """Return the values that determine a page's labels: the digest of a model rather than its name."""
        if not self.model_name:
            return {"favor": self.favor, "method": self.method, "parameters": list(self.parameters)}
        return {"favor": self.favor, "model": read_meta(find_model(self.model_name))["digest"]}


@lru_cache(maxsize=64)
def _load_cleaner(method: Method) -> Cleaner:
    name = method.method
    if name and (method.model or method.config):
        raise ConfigError("`method` cannot be combined with `model` or `config`; give only one of them")
    if method.parameters and not name:
        raise ConfigError(f"`param` {method.parameters[0]} needs a `method`; the settings of a model are in its config")
    cleaner = load_method(name, method.parameters, method.allow_code) if name else _load_model(method)
    if method.favor and cleaner.labeller.learns_from is not LearnsFrom.LABELS:
        raise ConfigError(f"`favor` needs probabilities, which the method {name} does not estimate")
    return cleaner.favoring(method.favor) if method.favor else cleaner


def _load_model(method: Method) -> Cleaner:
    """Load a model and run it with another config, which must have the same features."""
    cleaner = Cleaner.load(method.model_name, allow_code=method.allow_code)
    if method.config is None:
        return cleaner
    config = load_config(method.config)
    differing = cleaner.config.differences(config)
    if differing:
        differing = differing[:3] + ([f"{len(differing) - 3} more"] if len(differing) > 3 else [])
        raise ConfigError(
            f"the model {method.model_name!r} and the config {method.config!r} differ in {', '.join(differing)}; "
            f"train a model with: victor learn --config {method.config} FILES.anno"
        )
    return cleaner.with_config(config)


def find_method(name: str, parameters: Sequence[str] = (), allow_code: bool = False) -> Method:
    """Return a method of any kind. It is loaded once, so that wrong names and parameters raise an error here."""
    method = Method(name, tuple(parameters), allow_code=allow_code)
    if method.is_peer:
        load_peer(name, parameters)
    elif name not in method_names() and not _is_model(name):
        raise _unknown_method(name, [*method_names(), *PEERS])
    else:
        method.load()
    return method


def load_methods(names: str, allow_code: bool = False) -> list[Method]:
    """Load a comma-separated list of methods, each with optional parameters in parentheses.

    >>> [method.name for method in load_methods("everything, default")]
    ['everything', 'default']
    """
    methods: list[Method] = []
    for name, parameters in split_names(names):
        if name not in {ALL, ALL_PEERS}:
            methods.append(find_method(name, parameters, allow_code))
            continue
        if parameters:
            raise ConfigError(f"{name!r} means several methods; give parameters to a single method")
        peers = installed_peers()
        if name == ALL_PEERS and not peers:
            raise VictorError(f"no other cleaner is installed: {install_command('peers')}")
        own = method_names() if name == ALL else []
        methods += [find_method(method) for method in [*own, *peers]]
    return list(dict.fromkeys(methods))
