"""Methods that label the blocks of pages, with one interface."""

from victorpy.labellers.base import LABELLERS, Labeller

__all__ = ["LABELLERS", "Labeller"]
