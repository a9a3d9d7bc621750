"""Read templates, which define the attributes of each block.

A line names one or more features of the block or its neighbours, ``%x[OFFSET,NAME]``. Their combined values are one
attribute. This is CRF++'s format with names instead of column numbers. ``{a,b}`` and ``{-1..1}`` expand, ``B`` adds
weights for label pairs, ``NAME:`` before the references is ignored, and ``include NAME`` reads another template.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from victorpy.base.textformat import Line as SourceLine
from victorpy.base.textformat import LineReader, expand
from victorpy.config import Config
from victorpy.errors import TemplateError, suggest
from victorpy.model.encode import Codes, Encoder

_REFERENCE = re.compile(r"%x\[\s*([+-]?\d+)\s*,\s*([^\s\]]+)\s*\]")
_LINE = re.compile(rf"(?:[\w.-]+:|U)?\s*({_REFERENCE.pattern}(?:\s*(?:/\s*)?{_REFERENCE.pattern})*)\s*")

FARTHEST = 100
MOST_LINES = 10_000
"""Maximum number of lines after expansion."""
MOST_REFERENCES = 20
"""Maximum number of references in a line."""


class Reference(NamedTuple):
    """A feature of the block `offset` positions away."""

    offset: int
    feature: int
    """Index of the feature in the config's crf-features."""


Line = tuple[Reference, ...]


@dataclass(frozen=True)
class Template:
    """The attributes of a block, as combinations of features."""

    lines: tuple[Line, ...]
    features: tuple[str, ...]
    bigrams: bool
    """Whether pairs of neighbouring labels have weights. Otherwise every block is labelled independently."""
    text: str = ""

    @cached_property
    def reach(self) -> int:
        """Largest distance of a reference, in blocks."""
        return max((abs(reference.offset) for line in self.lines for reference in line), default=0)


def load_template(config: Config) -> Template:
    """Read the template of a config, without the features in crf-features-off and the lines that refer to them."""
    path = config.template("crf-template", config.name)
    template = read_template(path, config.get("crf-features"), may_include=config.digests is None)
    off = frozenset(config.get("crf-features-off"))
    if not off:
        return template
    kept = [number for number, name in enumerate(template.features) if name not in off]
    features = tuple(template.features[number] for number in kept)
    number = {old: new for new, old in enumerate(kept)}
    lines = tuple(
        tuple(Reference(reference.offset, number[reference.feature]) for reference in line)
        for line in template.lines
        if all(reference.feature in number for reference in line)
    )
    if not lines:
        raise TemplateError(f"{path}: every line refers to a feature in crf-features-off")
    return Template(lines, features, template.bigrams, template.text)


def read_template(path: Path, features: Sequence[str] | None, may_include: bool = True) -> Template:
    """Read a template file.

    If `features` is None, it may name any feature; features are numbered in order of mention.
    """
    numbers: dict[str, int] = {}
    for number, name in enumerate(features or ()):
        numbers.setdefault(name, number)
    lines: dict[Line, None] = {}
    bigrams = False
    raw_lines = []
    for line in LineReader("templates", ".tpl", TemplateError, may_include).read(path):
        raw_lines.append(line.raw)
        if line.text == "B":
            bigrams = True
        elif line.text:
            try:
                lines |= dict.fromkeys(_parse(line, numbers, may_add=features is None))
                if len(lines) > MOST_LINES:
                    raise ValueError(f"the template has more than {MOST_LINES:,} lines")
            except ValueError as error:
                reason = "not a line of a template" if line.foreign else error
                raise TemplateError(f"{line.place}: {reason}") from None
    if not lines:
        raise TemplateError(f"{path}: there is no line with %x[OFFSET,NAME]")
    return Template(tuple(lines), tuple(numbers if features is None else features), bigrams, "\n".join(raw_lines))


def _parse(line: SourceLine, numbers: dict[str, int], may_add: bool) -> Iterator[Line]:
    """Yield the expansions of a line. With `may_add`, new features get the next number."""
    for text in expand(line.text):
        if re.match(r"B\w*:?\s*%x", text):
            raise ValueError("B takes no %x, because crfsuite has no weights for label pairs with a feature")
        if not _LINE.fullmatch(text):
            raise ValueError(f"expected %x[OFFSET,NAME] ... or B, found {text[:200]!r}")
        references = []
        for written_offset, name in _REFERENCE.findall(text):
            offset = int(written_offset)
            if abs(offset) > FARTHEST:
                raise ValueError(f"a reference reaches at most {FARTHEST} blocks away, not {offset}")
            if may_add:
                numbers.setdefault(name, len(numbers))
            elif name not in numbers:
                raise ValueError(f"the feature {name!r} is not in crf-features{suggest(name, numbers)}")
            references.append(Reference(offset, numbers[name]))
        if len(references) > MOST_REFERENCES:
            raise ValueError(f"a line has at most {MOST_REFERENCES} references, not {len(references)}")
        yield tuple(references)


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
