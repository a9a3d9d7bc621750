"""Compute the inputs of trees: features of a block and its neighbours, named by a template."""

from __future__ import annotations

import numpy as np

from victorpy import native
from victorpy.columns import Column, Columns
from victorpy.config import Config
from victorpy.errors import TemplateError
from victorpy.features import check_feature, load_modules
from victorpy.features.table import FeatureTable
from victorpy.model.encode import Encoder
from victorpy.model.evidence.trees import EVIDENCE, Matrix
from victorpy.model.template import Template, read_template

_native = native.load("trees")

OUTSIDE = -1.0
"""Value of every feature before the first block and after the last."""


class Inputs:
    """Computes the features that a template names, one row per reference and one column per block."""

    def __init__(self, config: Config, stage: str = EVIDENCE) -> None:
        load_modules(config)
        self.template = load_tree_template(config, stage)
        self.count = len(self.template.lines)
        self._encoders = [
            Encoder(name, check_feature(config, name, f"{stage}-template")) for name in self.template.features
        ]
        self._table = FeatureTable([(encoder.name, encoder.feature) for encoder in self._encoders], config)
        self._shifts = []
        """For each offset, the rows of the matrix and their features."""
        references = [line[0] for line in self.template.lines]
        pairs = [(reference.feature, reference.offset) for reference in references]
        self._references = np.array(pairs, dtype=np.int64).reshape(-1, 2).T.copy()
        for offset in {reference.offset for reference in references}:
            rows = [row for row, reference in enumerate(references) if reference.offset == offset]
            self._shifts.append((offset, rows, [references[row].feature for row in rows]))

    def matrix(self, page: Columns, matrix: Matrix | None = None) -> Matrix:
        """Compute the inputs of a page, and write them into a matrix if there is one."""
        try:
            table = self._table.compute(page)
        except Exception:  # a user's feature may raise or return anything
            self._check_each(page)
            raise
        if matrix is None:
            matrix = np.empty((self.count, page.count), dtype=np.float32)
        if _native and _native.fill_rows(matrix, table, *self._references, OUTSIDE):
            return matrix
        if not np.isfinite(table.astype(np.float32)).all():
            self._check_each(page)
        for offset, rows, features in self._shifts:
            matrix[rows] = shifted(table[features], offset)
        return matrix

    def _check_each(self, page: Columns) -> None:
        """Compute the features one by one, so that the error names the feature."""
        for encoder in self._encoders:
            encoder.raw(page)


def shifted(table: Column, offset: int) -> Column:
    """Return, for each block, the values of the block `offset` positions later.

    >>> shifted(np.array([1, 2, 3]), -1)
    array([-1,  1,  2])
    """
    shared = max(table.shape[-1] - abs(offset), 0)
    target, source = max(-offset, 0), max(offset, 0)
    result = np.full_like(table, OUTSIDE)
    result[..., target : target + shared] = table[..., source : source + shared]
    return result


def load_tree_template(config: Config, stage: str = EVIDENCE) -> Template:
    """Read the template with the inputs of a stage, `evidence` or `kinds`."""
    path = config.template(f"{stage}-template", stage)
    template = read_template(path, None, may_include=config.digests is None)
    if template.bigrams or any(len(line) > 1 for line in template.lines):
        raise TemplateError(
            f"{path}: a template for trees has one %x[OFFSET,NAME] per line and no B, since trees combine features"
        )
    if "evidence" in template.features:
        raise TemplateError(f"{path}: the feature 'evidence' is the result of the trees and cannot be their input")
    return template
