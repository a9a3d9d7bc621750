"""Labellers: methods that give every block of a page a label, with one interface."""

from victorpy.labellers.base import LABELLERS, Labeller

__all__ = ["LABELLERS", "Labeller"]
