"""Read templates, which define the attributes of each block.

A line names one or more features of the block or its neighbours, ``%x[OFFSET,NAME]``. Their values
together form one attribute. This is CRF++'s format with names instead of column numbers. ``{a,b}`` and
``{-1..1}`` expand, ``B`` adds weights for label pairs, ``NAME:`` before the references is ignored, and
``include NAME`` reads another template.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from victorpy.base import resources
from victorpy.base.textformat import expand, read_lines, strip_comment
from victorpy.config import Config
from victorpy.errors import TemplateError, suggest
from victorpy.model.encode import Codes, Encoder

_REFERENCE = re.compile(r"%x\[\s*([+-]?\d+)\s*,\s*([^\s\]]+)\s*\]")
_LINE = re.compile(rf"(?:[\w.-]+:|U)?\s*({_REFERENCE.pattern}(?:\s*/?\s*{_REFERENCE.pattern})*)\s*")
_INCLUDE = re.compile(r"\s*include\s+([^\s:]+)\s*")

FARTHEST = 100


class Reference(NamedTuple):
    """A feature of the block `offset` positions away."""

    offset: int
    feature: int
    """Index of the feature in the config's crf-features."""


Line = tuple[Reference, ...]


@dataclass(frozen=True, slots=True)
class Template:
    """The attributes of a block, as combinations of features."""

    lines: tuple[Line, ...]
    features: tuple[str, ...]
    bigrams: bool
    """Whether pairs of neighbouring labels have weights. Otherwise every block is labelled by itself."""
    text: str = ""

    @property
    def reach(self) -> int:
        """Largest distance of a reference, in blocks."""
        return max((abs(reference.offset) for line in self.lines for reference in line), default=0)


def load_template(config: Config) -> Template:
    """Read the template of a config, without the features in crf-features-off and the lines that refer to them."""
    path = find_template(config, "crf-template", config.name)
    template = read_template(path, config.get("crf-features"))
    off = config.get("crf-features-off")
    if not off:
        return template
    features = [name for name in template.features if name not in off]
    number = {template.features.index(name): at for at, name in enumerate(features)}
    lines = tuple(
        tuple(Reference(reference.offset, number[reference.feature]) for reference in line)
        for line in template.lines
        if all(reference.feature in number for reference in line)
    )
    if not lines:
        raise TemplateError(f"{path}: every line refers to a feature in crf-features-off: {', '.join(off)}")
    return Template(lines, tuple(features), template.bigrams, template.text)


def find_template(config: Config, variable: str, default: str) -> Path:
    """Find the template file that a config variable names."""
    name = config.one(variable, default)
    path = resources.find(name, "templates", ".tpl", beside=config.directory)
    if path is None:
        shipped = resources.names("templates", ".tpl")
        raise config.error(variable, f"no template {name!r}{suggest(name, shipped)}; choose from {', '.join(shipped)}")
    return path


def read_template(path: Path, features: Sequence[str] | None) -> Template:
    """Read a template file. If `features` is None, any feature may be named, numbered in order of mention."""
    numbered_lines = _read_lines(path, ())
    lines: dict[Line, None] = {}
    bigrams = False
    named: list[str] = []
    for place, raw_line in numbered_lines:
        line = strip_comment(raw_line).strip()
        if line == "B":
            bigrams = True
        elif line:
            try:
                expanded = expand(line)
            except ValueError as error:
                raise TemplateError(f"{place}: {error}") from error
            if features is None:
                mentioned = (name for reference in expanded for _, name in _REFERENCE.findall(reference))
                named += dict.fromkeys(name for name in mentioned if name not in named)
            available = named if features is None else features
            lines.update(dict.fromkeys(_parse_line(text, available, place) for text in expanded))
    if not lines:
        raise TemplateError(f"{path}: there is no line with %x[OFFSET,NAME]")
    return Template(
        tuple(lines),
        tuple(named if features is None else features),
        bigrams,
        "\n".join(raw_line for _, raw_line in numbered_lines),
    )


def _read_lines(path: Path, including: tuple[Path, ...]) -> list[tuple[str, str]]:
    """Return the lines of a template and of the templates it includes, each with its FILE:LINE."""
    try:
        raw_lines = read_lines(path)
    except OSError as error:
        raise TemplateError(f"{path}: cannot be read: {error}") from error
    except ValueError as error:
        raise TemplateError(str(error)) from error
    including = (*including, path)
    numbered_lines = []
    for number, raw_line in enumerate(raw_lines, 1):
        place = f"{path}:{number}"
        include = _INCLUDE.fullmatch(strip_comment(raw_line))
        if include is None:
            numbered_lines.append((place, raw_line))
            continue
        included = resources.find(include[1], "templates", ".tpl", beside=path.parent)
        if included is None:
            suggestion = suggest(include[1], resources.names("templates", ".tpl"))
            raise TemplateError(f"{place}: no template {include[1]!r} to include{suggestion}")
        if included.resolve() in [parent.resolve() for parent in including]:
            raise TemplateError(f"{place}: {include[1]!r} includes itself")
        numbered_lines += _read_lines(included, including)
    return numbered_lines


def _parse_line(line: str, features: Sequence[str], place: str) -> Line:
    if re.match(r"B\w*:?\s*%x", line):
        raise TemplateError(f"{place}: B takes no %x, because crfsuite has no weights for label pairs with a feature")
    if not _LINE.fullmatch(line):
        raise TemplateError(f"{place}: expected %x[OFFSET,NAME] ... or B, found {line!r}")
    references = []
    for written_offset, name in _REFERENCE.findall(line):
        offset = int(written_offset)
        if abs(offset) > FARTHEST:
            raise TemplateError(f"{place}: a reference reaches at most {FARTHEST} blocks away, not {offset}")
        if name not in features:
            raise TemplateError(f"{place}: the feature {name!r} is not in crf-features{suggest(name, features)}")
        references.append(Reference(offset, features.index(name)))
    return tuple(references)


def padded(table: Codes, reach: int) -> Codes:
    """Add columns for positions outside the page, with one code per distance, and move the other codes up.

    >>> padded(np.array([[0, 1]]), 2)
    array([[1, 0, 4, 5, 2, 3]])
    """
    features = table.shape[0]
    before = np.broadcast_to(np.arange(reach)[::-1], (features, reach))
    after = np.broadcast_to(np.arange(reach, 2 * reach), (features, reach))
    return np.hstack([before, table + 2 * reach, after])


def attribute(line: Line, codes: Sequence[int], encoders: Sequence[Encoder], reach: int) -> str:
    """Return an attribute in crfsuite's form: ``container.p[-1]=1|position[0]=3``.

    As in CRF++, positions before the page are ``_B-1``, ``_B-2``, ..., and positions after it ``_B+1``, ...
    """
    parts = []
    for reference, code in zip(line, codes, strict=True):
        encoder = encoders[reference.feature]
        if code < reach:
            value = f"_B-{code + 1}"
        elif code < 2 * reach:
            value = f"_B+{code - reach + 1}"
        else:
            value = encoder.value(code - 2 * reach)
        parts.append(f"{encoder.name}[{reference.offset}]={value}")
    return "|".join(parts)
