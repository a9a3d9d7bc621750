"""The result of the trees, as a feature of the CRF."""

from __future__ import annotations

from victorpy.columns import Column, Columns
from victorpy.errors import DataError
from victorpy.features.base import feature


@feature("evidence")
def evidence(page: Columns) -> Column:
    """Log-odds that the block is content, from the trees that evidence: trees adds."""
    if page.evidence is None:
        raise DataError("the feature 'evidence' needs trees: set evidence: trees")
    return page.evidence
