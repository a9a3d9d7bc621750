"""Register features and find them by name."""

from __future__ import annotations

import hashlib
import inspect
import re
import runpy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from victorpy.base.files import read_bounded
from victorpy.base.registry import Registry
from victorpy.base.textformat import expand
from victorpy.columns import Column, Columns
from victorpy.config import Config
from victorpy.document import Block
from victorpy.errors import ModelError, suggest

_MOST_BYTES = 1_000_000  # maximum size of a feature file

_BRACES = re.compile(r"\{[^{}]*\}")


@dataclass(frozen=True, slots=True)
class Feature:
    """A named function from a page's columns to one value per block. ``*`` at the end of a name matches anything."""

    name: str
    family: str
    description: str
    function: Callable[..., Column]
    argument: str | None = None
    """Second argument of the function. For a name with a star, the part that the star matches."""

    def column(self, page: Columns, name: str) -> Column:
        argument = name[len(self.name) - 1 :] if self.name.endswith("*") else self.argument
        return self.function(page) if argument is None else self.function(page, argument)


FEATURES: Registry[Feature] = Registry("feature", "victorpy.features")

Function = Callable[..., Any]


def feature(name: str, family: str = "") -> Callable[[Function], Function]:
    """Register a function of a page's columns as a feature.

    Its docstring is the description in ``victor list features``. Its family is the module name by default. A name
    with braces, ``ancestor{1..3}.words``, registers one feature per choice and passes the choice to the function.
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


def column_features(family: str, columns: Mapping[str, str]) -> None:
    """Register columns of a page as features, given feature names.

    The docstrings of the columns describe the features.
    """
    for name, column in columns.items():
        description = " ".join((inspect.getdoc(getattr(Columns, column)) or "").split())
        FEATURES.add(name, Feature(name, family, description, attrgetter(column)))


def block_feature(name: str, family: str = "") -> Callable[[Function], Function]:
    """Register a function of one block as a feature. Simpler to write than `feature`, but slower to run."""

    def register(function: Callable[[Block], float]) -> Function:
        def column(page: Columns) -> Column:
            return np.array([function(block) for block in page.blocks])

        column.__doc__, column.__module__ = function.__doc__, function.__module__
        feature(name, family)(column)
        return function

    return register


def find_feature(name: str) -> Feature | None:
    """Return the feature with a name, or a feature whose name has a star and matches."""
    if name in FEATURES:
        return FEATURES.get(name)
    for pattern in FEATURES:
        if pattern.endswith("*") and name.startswith(pattern[:-1]) and len(name) >= len(pattern):
            return FEATURES.get(pattern)
    return None


def load_modules(config: Config) -> None:
    """Run the feature files of a config, once per content. A changed file replaces its previous features.

    Raises ModelError if the config belongs to a model and its code is not allowed to run.
    """
    for path in config.files("feature-modules"):
        try:
            digest = hashlib.sha256(read_bounded(path, _MOST_BYTES)).hexdigest()
        except OSError as error:
            raise config.error("feature-modules", f"{path} cannot be read: {error.strerror}") from error
        if config.digests is not None and digest != config.digests[path.name]:
            raise ModelError(f"{path} does not match the digest in meta.json; get the model again")
        if any(loaded_digest == digest for loaded_digest, _ in _LOADED.values()):
            continue  # already loaded, from here or from a copy in a model directory
        if not config.allow_code:
            raise ModelError(
                f"the model contains Python code ({', '.join(config.get('feature-modules'))}), which has not been run; "
                f"read {path}, and if you trust it, allow it with --allow-code, or allow_code=True in Python"
            )
        _, previous = _LOADED.pop(path.resolve(), ("", frozenset[str]()))
        for name in previous:
            FEATURES.remove(name)
        other_features = frozenset(FEATURES)
        try:
            runpy.run_path(str(path), run_name=f"own.{path.stem}")
        except Exception as error:  # a user's file may raise any exception
            for name in frozenset(FEATURES) - other_features:
                FEATURES.remove(name)
            message = f"{path} cannot be imported: {type(error).__name__}: {error}"
            raise config.error("feature-modules", message) from error
        _LOADED[path.resolve()] = digest, frozenset(FEATURES) - other_features


def module_features(config: Config) -> list[str]:
    """Return the names of the features in the feature files of a config, which `load_modules` has run."""
    digests = {hashlib.sha256(read_bounded(path, _MOST_BYTES)).hexdigest() for path in config.files("feature-modules")}
    return sorted(name for digest, names in _LOADED.values() if digest in digests for name in names)


# The digest and the features of each loaded file. Like the registry, it is shared by the whole process.
_LOADED: dict[Path, tuple[str, frozenset[str]]] = {}


def check_features(config: Config) -> None:
    """Raise ConfigError if a config's features or their settings do not exist or contradict each other."""
    used = config.get("crf-features")
    for ending in ("values", "scale"):
        for name in config.family("feature-", f"-{ending}"):
            if name not in used and find_feature(name) is None:
                variable = f"feature-{name}-{ending}"
                raise config.error(variable, f"there is no feature {name!r}{suggest(name, [*used, *FEATURES])}")
    for name in dict.fromkeys(config.get("crf-features-off")):
        if name not in used:
            raise config.error("crf-features-off", f"{name!r} is not in crf-features{suggest(name, used)}")
    for name in used:
        check_feature(config, name, "crf-features")
    config.files("style-files")  # raises an error if a file is missing
    if "evidence" in config.features and not config.get("evidence"):
        raise config.error("crf-features", "the feature 'evidence' needs trees: set evidence: trees")
    if config.get("kinds") and not config.get("evidence"):
        raise config.error("kinds", "trees for kinds need trees for content: set evidence: trees too")


def check_feature(config: Config, name: str, variable: str) -> Feature:
    """Find a feature. Raises ConfigError if it does not exist or needs a variable that the config does not set."""
    feature = find_feature(name)
    if feature is None:
        classes = [variable for variable in config.values if variable.startswith("class-")]
        starred = [pattern[:-1] for pattern in FEATURES if pattern.endswith("*")]
        examples = [start + end for start in starred for end in [*classes, "p", "a", "br", "li"]]
        raise config.error(variable, f"no feature {name!r}{suggest(name, [*FEATURES, *examples])}")
    argument = name[len(feature.name) - 1 :] if feature.name.endswith("*") else ""
    needed = argument if argument.startswith("class-") else ""
    if feature.name in {"regexp.*", "name.*"}:
        needed = f"{feature.name[:-2]}-{argument}"
    if needed and not config.get(needed):
        raise config.error(variable, f"{name!r} needs the variable {needed!r}, which is not set")
    return feature
