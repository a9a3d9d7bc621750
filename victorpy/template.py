"""Template text to the attributes of each block.

A line names one or more features of the block or its neighbours, ``%x[OFFSET,NAME]``, and its values
together are one attribute: CRF++'s form, with names for column numbers. ``{a,b}`` and ``{-1..1}``
expand; ``B`` asks for weights of label pairs; ``NAME:`` before the references is allowed and ignored;
``include NAME`` takes in another template.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from victorpy import resources
from victorpy.config import Config
from victorpy.encode import Codes, Encoder
from victorpy.errors import TemplateError, suggest
from victorpy.textformat import expand, read_lines, strip_comment

_REFERENCE = re.compile(r"%x\[\s*([+-]?\d+)\s*,\s*([^\s\]]+)\s*\]")
_LINE = re.compile(rf"(?:[\w.-]+:|U)?\s*({_REFERENCE.pattern}(?:\s*/?\s*{_REFERENCE.pattern})*)\s*")
_INCLUDE = re.compile(r"\s*include\s+([^\s:]+)\s*")

FARTHEST = 100


class Reference(NamedTuple):
    """A feature of a block some places away."""

    offset: int
    feature: int
    """The number of the feature in the config's crf-features."""


Line = tuple[Reference, ...]


@dataclass(frozen=True, slots=True)
class Template:
    """What the attributes of a block are made of."""

    lines: tuple[Line, ...]
    features: tuple[str, ...]
    bigrams: bool
    """Whether neighbouring labels have weights together; without, every block is labelled by itself."""
    text: str = ""

    @property
    def reach(self) -> int:
        """How many blocks the farthest reference is away."""
        return max((abs(reference.offset) for line in self.lines for reference in line), default=0)


def load_template(config: Config) -> Template:
    """Read the template that a config names."""
    path = find_template(config, "crf-template", config.name)
    return without(read_template(path, config.get("crf-features")), config.get("crf-features-off"))


def find_template(config: Config, variable: str, default: str) -> Path:
    """Find the template file that a variable of a config names."""
    name = config.one(variable, default)
    path = resources.find(name, "templates", ".tpl", beside=config.directory)
    if path is None:
        known = resources.names("templates", ".tpl")
        raise config.error(variable, f"no template {name!r}{suggest(name, known)}; shipped are {', '.join(known)}")
    return path


def read_template(path: Path, features: Sequence[str] | None) -> Template:
    """Read a template file whose references name the given features, or, with none given, any in order of mention."""
    written_lines = _read_lines(path, ())
    lines: dict[Line, None] = {}
    bigrams = False
    named: list[str] = []
    for place, written in written_lines:
        line = strip_comment(written).strip()
        if line == "B":
            bigrams = True
        elif line:
            try:
                expanded = expand(line)
            except ValueError as error:
                raise TemplateError(f"{place}: {error}") from error
            if features is None:
                mentioned = (name for one in expanded for _, name in _REFERENCE.findall(one))
                named += dict.fromkeys(name for name in mentioned if name not in named)
            known = named if features is None else features
            lines.update(dict.fromkeys(_parse_line(one, known, place) for one in expanded))
    if not lines:
        raise TemplateError(f"{path}: there is no %x[OFFSET,NAME] line in it")
    return Template(
        tuple(lines),
        tuple(named if features is None else features),
        bigrams,
        "\n".join(written for _, written in written_lines),
    )


def _read_lines(path: Path, around: tuple[Path, ...]) -> list[tuple[str, str]]:
    """The lines of a template and of those that it includes, each with its FILE:LINE."""
    try:
        written_lines = read_lines(path)
    except OSError as error:
        raise TemplateError(f"{path}: cannot be read: {error}") from error
    except ValueError as error:
        raise TemplateError(str(error)) from error
    found = []
    for number, written in enumerate(written_lines, 1):
        included = _INCLUDE.fullmatch(strip_comment(written))
        if included is None:
            found.append((f"{path}:{number}", written))
        else:
            found += _read_lines(_included(included[1], f"{path}:{number}", (*around, path)), (*around, path))
    return found


def _included(name: str, place: str, around: tuple[Path, ...]) -> Path:
    path = resources.find(name, "templates", ".tpl", beside=around[-1].parent)
    if path is None:
        known = resources.names("templates", ".tpl")
        raise TemplateError(f"{place}: no template {name!r} to include{suggest(name, known)}")
    if path.resolve() in [each.resolve() for each in around]:
        raise TemplateError(f"{place}: {name!r} includes itself")
    return path


def without(template: Template, off: Sequence[str]) -> Template:
    """Leave features out, with the lines that refer to them; the others are numbered anew."""
    if not off:
        return template
    kept = [name for name in template.features if name not in off]
    number = {template.features.index(name): at for at, name in enumerate(kept)}
    lines = tuple(
        tuple(Reference(reference.offset, number[reference.feature]) for reference in line)
        for line in template.lines
        if all(reference.feature in number for reference in line)
    )
    if not lines:
        raise TemplateError(f"no line of the template is left without {', '.join(off)}")
    return Template(lines, tuple(kept), template.bigrams, template.text)


def _parse_line(line: str, features: Sequence[str], place: str) -> Line:
    if re.match(r"B\w*:?\s*%x", line):
        raise TemplateError(f"{place}: B takes no %x: crfsuite has no weights of label pairs with a feature")
    if not _LINE.fullmatch(line):
        raise TemplateError(f"{place}: expected %x[OFFSET,NAME] ... or B, found {line!r}")
    return tuple(_reference(int(offset), name, features, place) for offset, name in _REFERENCE.findall(line))


def _reference(offset: int, name: str, features: Sequence[str], place: str) -> Reference:
    if abs(offset) > FARTHEST:
        raise TemplateError(f"{place}: a reference reaches at most {FARTHEST} blocks away, not {offset}")
    if name not in features:
        raise TemplateError(f"{place}: the feature {name!r} is not in crf-features{suggest(name, features)}")
    return Reference(offset, features.index(name))


def padded(table: Codes, reach: int) -> Codes:
    """Give blocks outside the page codes of their own, one for each distance from it; then come the real codes.

    >>> padded(np.array([[0, 1]]), 2)
    array([[1, 0, 4, 5, 2, 3]])
    """
    features = table.shape[0]
    before = np.broadcast_to(np.arange(reach)[::-1], (features, reach))
    after = np.broadcast_to(np.arange(reach, 2 * reach), (features, reach))
    return np.hstack([before, table + 2 * reach, after])


def attribute(line: Line, codes: Sequence[int], encoders: Sequence[Encoder], reach: int) -> str:
    """Write an attribute as crfsuite sees it: ``container.p[-1]=1|position[0]=3``.

    A block before the page reads ``_B-1``, ``_B-2`` ..., one behind it ``_B+1`` ..., as in CRF++.
    """
    return "|".join(
        f"{encoders[reference.feature].name}[{reference.offset}]={_shown(code, encoders[reference.feature], reach)}"
        for reference, code in zip(line, codes, strict=True)
    )


def _shown(code: int, encoder: Encoder, reach: int) -> str:
    if code < reach:
        return f"_B-{code + 1}"
    if code < 2 * reach:
        return f"_B+{code - reach + 1}"
    return encoder.value(code - 2 * reach)
