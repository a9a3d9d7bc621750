"""Read config files. Errors start with ``FILE:LINE``. docs/reference/config.md explains the format."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from victorpy.base import resources
from victorpy.base.textformat import expand, read_lines, strip_comment, tokens
from victorpy.base.variables import VARIABLES, kind_of
from victorpy.document import Label
from victorpy.errors import ConfigError, suggest

USES = ("decode", "threshold", "favor", "empty-below", "heading-least", "kinds-share", "kinds-content-share")
"""Variables that control how a trained model is used. They may be changed after training."""

_FREE = (
    *USES,
    *("crf-param-", "crf-algorithm", "crf-template", "feature-modules", "style-files"),
    *("evidence-param-", "evidence-folds", "evidence-forests", "evidence-blocks", "evidence-template"),
    *("kinds-param-", "kinds-template", "annotate-key-"),
)


@dataclass(frozen=True, slots=True)
class Cuts:
    """How pages are cut into blocks, and which attributes elements keep."""

    every: bool
    """Whether to cut at every tag, not only at block-level tags."""
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
    places: Mapping[str, str] = field(default_factory=dict)
    """FILE:LINE of each variable, for error messages."""
    directory: Path | None = None
    """Directory of the config file, where files that it names are looked up first."""

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
        off = self.get("crf-features-off")
        return tuple(name for name in self.get("crf-features") if name not in off)

    @property
    def cuts(self) -> Cuts:
        """How pages are cut into blocks, and which attributes elements keep."""
        return _cuts(self.one("split", "every"), self.get("class-block"), self.get("attribute-keep"))

    def differences(self, other: Config) -> list[str]:
        """Return the variables that differ, without those that control how a model is trained or used."""
        names = sorted({*self.values, *other.values})
        return [name for name in names if self.get(name) != other.get(name) and not name.startswith(_FREE)]

    def files(self, variable: str) -> list[Path]:
        """Return the paths of the files that a variable names, beside the config or in the current directory."""
        paths = []
        for name in self.get(variable):
            candidates = [Path(name)] if self.directory is None else [self.directory / name, Path(name)]
            path = next((candidate for candidate in candidates if candidate.is_file()), None)
            if path is None:
                raise self.error(variable, f"no file {name!r} beside the config or in the current directory")
            paths.append(path)
        return paths

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
    return Cuts(split == "every", frozenset(block_level) | {"br"}, frozenset(attributes))


def load_config(name: str | Path) -> Config:
    """Read a config, given the path of a file or the name of a shipped config (``victor list configs``).

    Raises ConfigError with the file and line of a mistake.

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


def read_config(path: Path) -> Config:
    """Read a config file and the files that it includes."""
    reader = _Reader()
    reader.read(path)
    config = Config(path.name.removesuffix(".conf"), reader.values, reader.places, path.parent)
    for name, values in config.values.items():
        problem = VARIABLES[kind_of(name) or ""].check(values) if values else ""
        if problem:
            raise config.error(name, f"{problem}, not {' '.join(values)!r}")
    return config


class _Reader:
    """Reads config files line by line into one table of variables."""

    def __init__(self) -> None:
        self.values: dict[str, tuple[str, ...]] = {}
        self.places: dict[str, str] = {}
        self._open: list[Path] = []
        self._done: set[Path] = set()

    def read(self, path: Path, place: str = "") -> None:
        """Read a file. `place` is the line that includes it."""
        try:
            lines = read_lines(path)
        except OSError as error:
            raise ConfigError(f"{place or path}: cannot be read: {error}") from error
        except ValueError as error:
            raise ConfigError(str(error)) from error
        self._open.append(path)
        for number, raw_line in enumerate(lines, 1):
            line, line_place = strip_comment(raw_line).strip(), f"{path}:{number}"
            name, colon, values = line.partition(":")
            if re.match(r"include\s+[^\s:]", line):
                self._include(line.split(None, 1)[1], line_place)
            elif colon:
                try:
                    for variable in expand(name.strip()):
                        self._assign(variable, values, line_place)
                except ValueError as error:
                    raise ConfigError(f"{line_place}: {error}") from error
            elif line:
                raise ConfigError(f"{line_place}: expected 'variable: value ...' or 'include NAME', found {line!r}")
        self._open.pop()
        self._done.add(path.resolve())

    def _include(self, name: str, place: str) -> None:
        path = resources.find(name, "configs", ".conf", beside=self._open[-1].parent)
        if path is None:
            shipped = resources.names("configs", ".conf")
            raise ConfigError(f"{place}: no config {name!r} to include{suggest(name, shipped)}")
        if path.resolve() in [opened.resolve() for opened in self._open]:
            raise ConfigError(f"{place}: {name!r} includes itself")
        if path.resolve() not in self._done:  # read a file once, even if several files include it
            self.read(path, place)

    def _assign(self, variable: str, text: str, place: str) -> None:
        kind = kind_of(variable)
        if kind is None:
            raise ConfigError(f"{place}: unknown variable {variable!r}{suggest(variable, [*VARIABLES, *self.values])}")
        definition = VARIABLES[kind]
        try:
            written = tokens(text)
        except ValueError as error:
            raise ConfigError(f"{place}: {variable}: {error}") from error
        values: tuple[str, ...] = ()
        for token, is_quoted in written:
            for value in [token] if is_quoted else expand(token):
                if is_quoted or not value.startswith("$"):
                    values += (value,)
                elif value[1:] in self.values:
                    values += self.values[value[1:]]
                else:
                    raise ConfigError(f"{place}: {value} is not set above{suggest(value[1:], self.values)}")
        if values and not definition.single:
            values = (*self.values.get(variable, ()), *values)
        problem = definition.check(values) if values and definition.line_by_line else ""
        if problem:
            raise ConfigError(f"{place}: {variable}: {problem}, not {' '.join(values)!r}")
        self.values[variable] = values
        self.places[variable] = place
