"""Read config files. Errors start with ``FILE:LINE``. docs/reference/config.md explains the format."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from victorpy.base import resources
from victorpy.base.textformat import Line, LineReader, expand, tokens
from victorpy.base.variables import VARIABLES, kind_of
from victorpy.document import Label
from victorpy.errors import ConfigError, suggest

USES = ("decode", "threshold", "favor", "empty-below", "heading-least", "kinds-share", "kinds-content-share")
"""Variables that control how a trained model is used. You can change them after training."""

MOST_VALUES = 20_000  # maximum number of values in a config
_LONGEST_QUOTE = 200  # maximum number of characters of a value in an error message

_FREE = (
    *USES,
    *("crf-param-", "crf-algorithm", "crf-template", "feature-modules", "style-files", "annotate-key-"),
    *("evidence-learner", "evidence-param-", "evidence-folds", "evidence-forests", "evidence-blocks"),
    *("evidence-template", "kinds-param-", "kinds-template"),
)

OUTPUT_ATTRIBUTES = frozenset(
    "checked colspan data-embed data-lang data-language data-lazy-src data-lazy-srcset data-original data-src"
    " data-srcset reversed rowspan srcset value".split()
)
"""Attributes that output formats need. They are always kept, even if the config does not list them."""


@dataclass(frozen=True, slots=True)
class Cuts:
    """How pages are cut into blocks, and which attributes elements keep."""

    every: bool  # whether to cut at every tag, not only at block-level tags
    block_level: frozenset[str]
    attributes: frozenset[str]
    breaking: frozenset[str] = frozenset()
    """The opening and closing block-level tags (``p``, ``/p``), derived from `block_level`."""

    def __post_init__(self) -> None:
        closing = {f"/{tag}" for tag in self.block_level}
        object.__setattr__(self, "breaking", self.block_level | closing)


@dataclass(frozen=True, slots=True, repr=False)
class Config:
    """A resolved config: the values of all variables, and where they were set.

    >>> config = load_config("blocks")
    >>> config
    <Config 'blocks', variables=...>
    >>> config.get("split"), config.get("no-such-variable")
    (('block',), ())
    """

    name: str
    values: Mapping[str, tuple[str, ...]]
    places: Mapping[str, str] = field(default_factory=dict)  # FILE:LINE of each variable, for error messages
    directory: Path | None = None  # directory of the config file, where files that it names are looked up first
    digests: Mapping[str, str] | None = None
    """Digests of the files in a model. The config of a model may only name these files. None for other configs."""
    allow_code: bool = True  # whether the feature modules of the config may run

    def __repr__(self) -> str:
        return f"<Config {self.name!r}, variables={len(self.values)}>"

    def get(self, variable: str) -> tuple[str, ...]:
        """Return the values of a variable, or an empty tuple if it is not set."""
        return self.values.get(variable, ())

    def one(self, variable: str, default: str) -> str:
        """Return the single value of a variable, or `default` if it is not set."""
        return self.values[variable][0] if self.values.get(variable) else default

    def family(self, prefix: str, suffix: str = "") -> dict[str, tuple[str, ...]]:
        """Return all variables of the form PREFIX*SUFFIX, keyed by the part between prefix and suffix."""
        return {
            name[len(prefix) : len(name) - len(suffix)]: values
            for name, values in self.values.items()
            if name.startswith(prefix) and name.endswith(suffix) and len(name) > len(prefix) + len(suffix)
        }

    @property
    def labels(self) -> tuple[Label, ...]:
        """The labels that a model assigns."""
        return tuple(Label(value) for value in self.get("labels")) or tuple(Label)

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the features to compute, in order."""
        off = frozenset(self.get("crf-features-off"))
        return tuple(name for name in self.get("crf-features") if name not in off)

    @property
    def cuts(self) -> Cuts:
        """How pages are cut into blocks, and which attributes elements keep."""
        return _cuts(self.one("split", "every"), self.get("class-block"), self.get("attribute-keep"))

    def differences(self, other: Config) -> list[str]:
        """Return the variables that differ, except those that control how a model is trained or used."""
        names = sorted({*self.values, *other.values})
        return [name for name in names if self.get(name) != other.get(name) and not name.startswith(_FREE)]

    def files(self, variable: str) -> list[Path]:
        """Return the paths of the files that a variable names, beside the config or in the current directory."""
        return [self._file(variable, name) for name in self.get(variable)]

    def _file(self, variable: str, name: str) -> Path:
        if self.directory is None or self.digests is None:
            places = [Path(name)] if self.directory is None else [self.directory / name, Path(name)]
            path = next((place for place in places if os.path.isfile(place)), None)  # noqa: PTH113  (never raises)
            if path is None:
                raise self.error(variable, f"no file {name!r} beside the config or in the current directory")
            return path
        if name not in self.digests:
            raise self.error(variable, f"{name!r} is not a file of the model")
        return self.directory / name

    def template(self, variable: str, default: str) -> Path:
        """Return the path of the template that a variable names."""
        name = self.one(variable, default)
        if self.digests is not None:
            return self._file(variable, name)
        path = resources.find(name, "templates", ".tpl", beside=self.directory)
        if path is None:
            shipped = resources.names("templates", ".tpl")
            hint = f"{suggest(name, shipped)}; choose from {', '.join(shipped)}"
            raise self.error(variable, f"no template {name!r}{hint}")
        return path

    def error(self, variable: str, message: str) -> ConfigError:
        """Return an error with the file and line where a variable was set."""
        return ConfigError(f"{self.places.get(variable, self.name)}: {variable}: {message}")

    def text(self) -> str:
        """Return the text of a config file with the same values."""
        lines = []
        for name, values in self.values.items():
            for value in values:
                needs_quotes = not value or re.search(r"[\s#$'\"{}]", value)
                quote = ("'" if '"' in value else '"') if needs_quotes else ""
                lines.append(f"{name}: {quote}{value}{quote}")
            if not values:
                lines.append(f"{name}:")
        return "\n".join(lines) + "\n"


@lru_cache(maxsize=64)
def _cuts(split: str, block_level: tuple[str, ...], attributes: tuple[str, ...]) -> Cuts:
    return Cuts(split == "every", frozenset(block_level) | {"br"}, frozenset(attributes) | OUTPUT_ATTRIBUTES)


def load_config(name: str | Path) -> Config:
    """Read a config, given the path of a file or the name of a shipped config (``victor list configs``).

    Raises ConfigError with the file and line if the config is invalid.

    >>> load_config("blocks").cuts.every
    False
    """
    path = resources.find(str(name), "configs", ".conf")
    if path is None:
        shipped = resources.names("configs", ".conf")
        raise ConfigError(
            f"no config {str(name)!r}{suggest(str(name), shipped)}; give a path or one of {', '.join(shipped)}"
        )
    return read_config(path)


def read_config(path: Path, digests: Mapping[str, str] | None = None, allow_code: bool = True) -> Config:
    """Read a config file and the files that it includes. For the config of a model, give the digests of its files."""
    reader = _Reader()
    for line in LineReader("configs", ".conf", ConfigError, may_include=digests is None).read(path):
        try:
            reader.read(line)
        except ValueError as error:
            raise ConfigError(f"{line.place}: {'not a line of a config' if line.foreign else error}") from None
    values = {name: tuple(values) for name, values in reader.values.items()}
    config = Config(path.name.removesuffix(".conf"), values, reader.places, path.parent, digests, allow_code)
    for name, checked in values.items():
        problem = VARIABLES[kind_of(name) or ""].check(checked) if checked else ""
        if problem:
            raise config.error(name, f"{problem}, not {_quote(checked)}")
    return config


def _quote(values: Sequence[str]) -> str:
    text = " ".join(values)
    return repr(text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]}...")


class _Reader:
    """Reads the lines of a config into one table of variables. Raises ValueError if a line is wrong."""

    def __init__(self) -> None:
        self.values: dict[str, list[str]] = {}
        self.places: dict[str, str] = {}
        self._count = 0

    def read(self, line: Line) -> None:
        name, colon, text = line.text.partition(":")
        if colon:
            for variable in expand(name.strip()):
                self._assign(variable, text, line.place)
        elif line.text:
            raise ValueError(f"expected 'variable: value ...' or 'include NAME', found {_quote([line.text])}")

    def _assign(self, variable: str, text: str, place: str) -> None:
        kind = kind_of(variable)
        if kind is None:
            known = [*VARIABLES, *self.values]
            raise ValueError(f"unknown variable {_quote([variable])}{suggest(variable, known)}")
        definition = VARIABLES[kind]
        try:
            values = self._values(text)
        except ValueError as error:
            raise ValueError(f"{variable}: {error}") from error
        self._count += len(values) + 1
        if self._count > MOST_VALUES:
            raise ValueError(f"the config sets more than {MOST_VALUES:,} values")
        old = [] if definition.single or not values else self.values.get(variable, [])
        # Include the last old value in the check, because numbers must be in order.
        problem = definition.check((*old[-1:], *values)) if values and definition.line_by_line else ""
        if problem:
            raise ValueError(f"{variable}: {problem}, not {_quote([*old, *values])}")
        old.extend(values)
        self.values[variable] = old
        self.places[variable] = place

    def _values(self, text: str) -> list[str]:
        """Return the values in a line, with references replaced by the values of other variables."""
        values: list[str] = []
        for token, is_quoted in tokens(text):
            for value in [token] if is_quoted else expand(token):
                if is_quoted or not value.startswith("$"):
                    values.append(value)
                elif value[1:] in self.values:
                    values += self.values[value[1:]]
                else:
                    raise ValueError(f"{value} is not set above{suggest(value[1:], self.values)}")
                if len(values) > MOST_VALUES:
                    raise ValueError(f"more than {MOST_VALUES:,} values")
        return values
