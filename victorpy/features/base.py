"""Define features, register them and find them by name."""

from __future__ import annotations

import hashlib
import inspect
import re
import runpy
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from victorpy.base.registry import Registry
from victorpy.base.textformat import expand
from victorpy.columns import Column, Columns
from victorpy.config import Config
from victorpy.document import Block
from victorpy.errors import suggest

_BRACES = re.compile(r"\{[^{}]*\}")


@dataclass(frozen=True, slots=True)
class Feature:
    """A named column: a function of a page's columns. A name that ends in ``*`` stands for many."""

    name: str
    family: str
    description: str
    function: Callable[..., Column]
    argument: str | None = None
    """Second argument of the function. For a name with a star, what the star stands for."""

    def column(self, page: Columns, name: str) -> Column:
        """Compute the feature under one of its names."""
        argument = name[len(self.name) - 1 :] if self.name.endswith("*") else self.argument
        return self.function(page) if argument is None else self.function(page, argument)


FEATURES: Registry[Feature] = Registry("feature", "victorpy.features")

Function = Callable[..., Any]


def feature(name: str, family: str = "") -> Callable[[Function], Function]:
    """Register a function of a page's columns as a feature.

    Its docstring is the description that users see. Its family is the name of its module unless given. A name with
    braces, ``ancestor{1..3}.words``, registers one feature per choice and passes the choice to the function.
    """

    def register(function: Function) -> Function:
        description = " ".join((inspect.getdoc(function) or "").split())
        kind = family or function.__module__.rpartition(".")[2]
        choices = _BRACES.search(name)
        for choice in expand(choices[0]) if choices else [None]:
            full = name if choice is None or choices is None else name.replace(choices[0], choice)
            FEATURES.add(full, Feature(full, kind, description, function, choice))
        return function

    return register


def block_feature(name: str, family: str = "own") -> Callable[[Function], Function]:
    """Register a function of one block as a feature. Simpler to write than `feature`, but slower to run."""

    def register(function: Callable[[Block], float]) -> Function:
        def column(page: Columns) -> Column:
            return np.array([function(block) for block in page.blocks])

        column.__doc__ = function.__doc__
        feature(name, family)(column)
        return function

    return register


def find_feature(name: str) -> Feature | None:
    """Return the feature with a name, or with a starred name that matches it."""
    if name in FEATURES:
        return FEATURES.get(name)
    for pattern in FEATURES:
        if pattern.endswith("*") and name.startswith(pattern[:-1]) and len(name) >= len(pattern):
            return FEATURES.get(pattern)
    return None


def load_modules(config: Config) -> None:
    """Import the feature files that a config names, once per content. A changed file replaces what it registered."""
    for path in find_modules(config):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        if any(loaded.digest == digest for loaded in _LOADED.values()):
            continue  # already loaded, from here or from a copy in a model directory
        previous = _LOADED.pop(path.resolve(), None)
        for name in previous.features if previous else ():
            FEATURES.remove(name)
        other_features = frozenset(FEATURES)
        try:
            runpy.run_path(str(path), run_name=f"own.{path.stem}")
        except Exception as error:  # a user's file may raise anything
            for name in frozenset(FEATURES) - other_features:
                FEATURES.remove(name)
            message = f"{path} cannot be imported: {type(error).__name__}: {error}"
            raise config.error("feature-modules", message) from error
        _LOADED[path.resolve()] = _Loaded(digest, frozenset(FEATURES) - other_features)


def find_modules(config: Config) -> list[Path]:
    """Return the paths of the feature files that a config names, beside it or in the current directory."""
    paths = []
    for name in config.get("feature-modules"):
        places = [Path(name)] if config.directory is None else [config.directory / name, Path(name)]
        path = next((place for place in places if place.is_file()), None)
        if path is None:
            raise config.error("feature-modules", f"no file {name!r} beside the config or in the current directory")
        paths.append(path)
    return paths


class _Loaded(NamedTuple):
    """A user's feature file, as imported."""

    digest: str
    features: frozenset[str]


_LOADED: dict[Path, _Loaded] = {}  # like the registry, shared by the whole process


def check_features(config: Config) -> None:
    """Raise if a config names features that do not exist, or that need variables it does not set."""
    check_settings(config)
    for name in config.get("crf-features"):
        check_feature(config, name, "crf-features")
    if "evidence" in config.features and not config.get("evidence"):
        raise config.error("crf-features", "the feature 'evidence' needs trees: set evidence: trees")
    if config.get("kinds") and not config.get("evidence"):
        raise config.error("kinds", "trees for kinds learn from what trees for content find: set evidence: trees too")


def check_feature(config: Config, name: str, variable: str) -> None:
    """Raise if a feature does not exist, or needs a class or pattern that the config does not set."""
    found = find_feature(name)
    if found is None:
        classes = [variable for variable in config.values if variable.startswith("class-")]
        starred = [pattern[:-1] for pattern in FEATURES if pattern.endswith("*")]
        examples = [start + end for start in starred for end in [*classes, "p", "a", "br", "li"]]
        raise config.error(variable, f"no feature {name!r}{suggest(name, [*FEATURES, *examples])}")
    argument = name[len(found.name) - 1 :] if found.name.endswith("*") else ""
    needed = ""
    if argument.startswith("class-"):
        needed = argument
    elif found.name in {"regexp.*", "name.*"}:
        needed = f"{found.name[:-2]}-{argument}"
    if needed and not config.get(needed):
        raise config.error(variable, f"{name!r} needs the variable {needed!r}, which is not set")


def check_settings(config: Config) -> None:
    """Raise if a config sets bins, scales or switches of features that it does not use."""
    used = config.get("crf-features")
    for ending in ("values", "scale"):
        for name in config.family("feature-", f"-{ending}"):
            if name not in used and find_feature(name) is None:
                variable = f"feature-{name}-{ending}"
                raise config.error(variable, f"there is no feature {name!r}{suggest(name, [*used, *FEATURES])}")
    for name in config.get("crf-features-off"):
        if name not in used:
            raise config.error("crf-features-off", f"{name!r} is not in crf-features{suggest(name, used)}")
