"""Labellers: whatever gives every block of a page a label, behind one contract."""

from victorpy.labellers.base import LABELLERS, Labeller

__all__ = ["LABELLERS", "Labeller"]
