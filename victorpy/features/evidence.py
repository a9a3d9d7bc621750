"""What stages before the CRF have found of a block."""

from __future__ import annotations

from victorpy.columns import Column, Columns
from victorpy.errors import DataError
from victorpy.features.base import feature


@feature("evidence")
def evidence(page: Columns) -> Column:
    """Log-odds that the block is content, by the trees that `evidence: trees` asks for."""
    if page.evidence is None:
        raise DataError("there is no evidence to read: set evidence: trees")
    return page.evidence
