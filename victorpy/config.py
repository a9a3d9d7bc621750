"""Victor's text format to a Config; what is wrong is said as ``FILE:LINE: ...``.

A line is ``variable: value value ...``; a list given again is appended to, ``variable:`` with nothing
behind it empties it, a single value given again is replaced; ``#`` begins a comment;
``include NAME`` reads another file first; ``{a,b}`` expands in names and values; ``$variable`` stands
for the values of another; quotes keep a value to the letter (regular expressions want them).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from victorpy import resources
from victorpy.document import Label
from victorpy.errors import ConfigError, suggest
from victorpy.textformat import expand, read_lines, strip_comment, tokens
from victorpy.variables import VARIABLES, kind_of

USES = ("decode", "threshold", "favor", "empty-below", "heading-least", "kinds-share", "kinds-content-share")
"""The variables that say how a trained model is used: another config may change them."""


@dataclass(frozen=True, slots=True)
class Cuts:
    """Where a page is cut into blocks, and what is remembered of its elements."""

    every: bool
    """Whether every tag cuts, or only the block-level ones."""
    block_level: frozenset[str]
    attributes: frozenset[str]
    """The names of the attributes that elements keep."""
    breaking: frozenset[str] = frozenset()
    """The block-level tags and the same with a slash, as they are passed; follows from them."""

    def __post_init__(self) -> None:
        passed = frozenset([*self.block_level, *("/" + tag for tag in self.block_level)])
        object.__setattr__(self, "breaking", passed)


@dataclass(frozen=True, slots=True)
class Config:
    """A resolved configuration: every variable with its values, and where each was set."""

    name: str
    values: Mapping[str, tuple[str, ...]]
    places: Mapping[str, str] = field(default_factory=dict)
    """FILE:LINE of each variable, for error messages."""
    directory: Path | None = None
    """Where the file lies, for the files that it names."""

    def get(self, variable: str) -> tuple[str, ...]:
        """Give the values of a variable, none if it is not set."""
        return self.values.get(variable, ())

    def one(self, variable: str, default: str) -> str:
        """Give a variable's only value."""
        return self.values[variable][0] if self.values.get(variable) else default

    def family(self, prefix: str, suffix: str = "") -> dict[str, tuple[str, ...]]:
        """Give all variables of the form PREFIX*SUFFIX, by what stands for the star."""
        return {
            name[len(prefix) : len(name) - len(suffix)]: values
            for name, values in self.values.items()
            if name.startswith(prefix) and name.endswith(suffix) and len(name) > len(prefix) + len(suffix)
        }

    @property
    def labels(self) -> tuple[Label, ...]:
        """The labels that a model tells apart."""
        return tuple(Label(value) for value in self.get("labels")) or tuple(Label)

    @property
    def features(self) -> tuple[str, ...]:
        """The features that are computed, in order."""
        off = self.get("crf-features-off")
        return tuple(name for name in self.get("crf-features") if name not in off)

    @property
    def cuts(self) -> Cuts:
        """Where pages are cut."""
        return _cuts(self.one("split", "every"), self.get("class-block"), self.get("attribute-keep"))

    def differences(self, other: Config) -> list[str]:
        """Name the variables that differ, but for those that only say how a trained model is used or was trained."""
        names = sorted({*self.values, *other.values})
        free = (
            *USES,
            *("crf-param-", "crf-algorithm", "crf-template", "feature-modules"),
            *("evidence-param-", "evidence-folds", "evidence-forests", "evidence-blocks", "evidence-template"),
            *("kinds-param-", "kinds-template"),
            "annotate-key-",
        )
        return [name for name in names if self.get(name) != other.get(name) and not name.startswith(free)]

    def error(self, variable: str, message: str) -> ConfigError:
        """Make an error that says where a variable was set."""
        return ConfigError(f"{self.places.get(variable, self.name)}: {variable}: {message}")

    def text(self) -> str:
        """Write the configuration out, resolved, so that it reads back the same."""
        lines = []
        for name, values in self.values.items():
            lines += [f"{name}: {_quoted(value)}" for value in values] or [f"{name}:"]
        return "\n".join(lines) + "\n"


@lru_cache(maxsize=64)
def _cuts(split: str, block_level: tuple[str, ...], attributes: tuple[str, ...]) -> Cuts:
    return Cuts(split == "every", frozenset(block_level) | {"br"}, frozenset(attributes))


def load_config(name: str | Path) -> Config:
    """Read a configuration by the name of a shipped one or by path."""
    path = resources.find(str(name), "configs", ".conf")
    if path is None:
        known = resources.names("configs", ".conf")
        raise ConfigError(
            f"no config {str(name)!r}{suggest(str(name), known)}; shipped are {', '.join(known)}, or give a path"
        )
    return read_config(path)


def read_config(path: Path) -> Config:
    """Read a configuration file and those that it includes."""
    reader = _Reader()
    reader.read(path)
    config = Config(path.name.removesuffix(".conf"), reader.values, reader.places, path.parent)
    _check(config)
    return config


def _check(config: Config) -> None:
    for name, values in config.values.items():
        wrong = VARIABLES[kind_of(name) or ""].check(values) if values else ""
        if wrong:
            raise config.error(name, f"{wrong}, not {' '.join(values)!r}")


class _Reader:
    """Reads files line by line into one table of variables."""

    def __init__(self) -> None:
        self.values: dict[str, tuple[str, ...]] = {}
        self.places: dict[str, str] = {}
        self._open: list[Path] = []
        self._done: set[Path] = set()

    def read(self, path: Path, place: str = "") -> None:
        """Read a file; `place` is the line that includes it."""
        try:
            lines = read_lines(path)
        except OSError as error:
            raise ConfigError(f"{place or path}: cannot be read: {error}") from error
        except ValueError as error:
            raise ConfigError(str(error)) from error
        self._open.append(path)
        for number, line in enumerate(lines, 1):
            self._line(strip_comment(line), f"{path}:{number}")
        self._open.pop()
        self._done.add(path.resolve())

    def _line(self, line: str, place: str) -> None:
        if not line.strip():
            return
        if re.match(r"\s*include\s+[^\s:]", line):
            self._include(line.split(None, 1)[1].strip(), place)
            return
        name, colon, rest = line.partition(":")
        if not colon:
            raise ConfigError(f"{place}: expected 'variable: value ...' or 'include NAME', found {line.strip()!r}")
        try:
            for variable in expand(name.strip()):
                self._assign(variable, rest, place)
        except ValueError as error:
            raise ConfigError(f"{place}: {error}") from error

    def _include(self, name: str, place: str) -> None:
        path = resources.find(name, "configs", ".conf", beside=self._open[-1].parent)
        if path is None:
            known = resources.names("configs", ".conf")
            raise ConfigError(f"{place}: no config {name!r} to include{suggest(name, known)}")
        if path.resolve() in [opened.resolve() for opened in self._open]:
            raise ConfigError(f"{place}: {name!r} includes itself")
        if path.resolve() not in self._done:  # two files that include the same third one do not double it
            self.read(path, place)

    def _assign(self, variable: str, rest: str, place: str) -> None:
        kind = kind_of(variable)
        if kind is None:
            known = [*VARIABLES, *self.values]
            raise ConfigError(f"{place}: unknown variable {variable!r}{suggest(variable, known)}")
        try:
            found = tokens(rest)
        except ValueError as error:
            raise ConfigError(f"{place}: {variable}: {error}") from error
        values = tuple(value for token, quoted in found for value in self._resolve(token, quoted, place))
        if values and not VARIABLES[kind].single:
            values = (*self.values.get(variable, ()), *values)
        wrong = VARIABLES[kind].check(values) if values and VARIABLES[kind].line_by_line else ""
        if wrong:
            raise ConfigError(f"{place}: {variable}: {wrong}, not {' '.join(values)!r}")
        self.values[variable] = values
        self.places[variable] = place

    def _resolve(self, token: str, quoted: bool, place: str) -> list[str]:
        if quoted:
            return [token]
        resolved = []
        for value in expand(token):
            if not value.startswith("$"):
                resolved.append(value)
            elif value[1:] in self.values:
                resolved += self.values[value[1:]]
            else:
                raise ConfigError(f"{place}: {value} is not set above{suggest(value[1:], self.values)}")
        return resolved


def _quoted(value: str) -> str:
    if value and not re.search(r"[\s#$'\"{}]", value):
        return value
    return f'"{value}"' if '"' not in value else f"'{value}'"
