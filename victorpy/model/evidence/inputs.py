"""The numbers that trees decide by: features of a block and of its neighbours, as a template names them."""

from __future__ import annotations

import numpy as np

from victorpy.columns import Columns
from victorpy.columns.text import OUTSIDE
from victorpy.config import Config
from victorpy.errors import TemplateError
from victorpy.features import check_feature, find_feature, load_modules
from victorpy.model.encode import Encoder
from victorpy.model.evidence.trees import EVIDENCE, Matrix
from victorpy.model.template import Template, find_template, read_template


class Inputs:
    """Computes the numbers of a page's blocks: a row for each reference of the template."""

    def __init__(self, config: Config, stage: str = EVIDENCE) -> None:
        load_modules(config)
        variable = f"{stage}-template"
        self.template = load_numbers_template(config, stage)
        self._encoders = []
        for name in self.template.features:
            check_feature(config, name, variable)
            feature = find_feature(name)
            assert feature is not None  # check_feature has seen to it
            self._encoders.append(Encoder(name, feature))
        self._references = [line[0] for line in self.template.lines]
        self._shifts = []
        """For each offset its rows, and the features that these rows show."""
        for offset in {reference.offset for reference in self._references}:
            rows = [row for row, reference in enumerate(self._references) if reference.offset == offset]
            self._shifts.append((offset, rows, [self._references[row].feature for row in rows]))

    @property
    def names(self) -> list[str]:
        """The names of the rows."""
        features = self.template.features
        return [f"{features[reference.feature]}[{reference.offset}]" for reference in self._references]

    def matrix(self, page: Columns) -> Matrix:
        """Compute the numbers: a row per reference, a column per block."""
        rows = np.full((len(self._references), page.count), OUTSIDE, dtype=np.float32)
        try:
            with np.errstate(all="ignore"):
                columns = [encoder.feature.column(page, encoder.name) for encoder in self._encoders]
                table = np.array(columns, dtype=np.float32)
        except Exception:  # whatever a user's own feature may raise or return
            self._find_culprit(page)
            raise
        if not np.isfinite(table).all():
            self._find_culprit(page)
        for offset, rows_with_offset, features in self._shifts:
            here, there = _overlap(page.count, offset)
            rows[rows_with_offset, here] = table[features, there]
        return rows

    def _find_culprit(self, page: Columns) -> None:
        """Compute and check the features one by one, so that the error names the feature."""
        for encoder in self._encoders:
            encoder.raw(page)


def _overlap(count: int, offset: int) -> tuple[slice, slice]:
    """Return the blocks that have a neighbour at this offset, and these neighbours.

    >>> _overlap(10, -1)
    (slice(1, 10, None), slice(0, 9, None))
    """
    shared = max(count - abs(offset), 0)
    here, there = max(-offset, 0), max(offset, 0)
    return slice(here, here + shared), slice(there, there + shared)


def load_numbers_template(config: Config, stage: str = EVIDENCE) -> Template:
    """Read the template that names the numbers of a stage, `evidence` or `kinds`."""
    path = find_template(config, f"{stage}-template", stage)
    template = read_template(path, None)
    if template.bigrams or any(len(line) > 1 for line in template.lines):
        raise TemplateError(
            f"{path}: a template of {stage} has one %x[OFFSET,NAME] a line and no B: trees join features themselves"
        )
    if "evidence" in template.features:
        raise TemplateError(f"{path}: the feature 'evidence' is what the trees find: they cannot decide by it")
    return template
