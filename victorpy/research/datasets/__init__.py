"""Readers of gold standards: each yields pages with what a person said is their content."""

from victorpy.research.datasets.base import DATASETS, GoldPage, read_dataset

__all__ = ["DATASETS", "GoldPage", "read_dataset"]
