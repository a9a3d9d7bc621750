"""Compare methods on the same pages: what `victor compare` computes, as plain data."""

from victorpy.methods import Method, load_methods
from victorpy.research.compare.run import DataSet, compare_methods, open_sets
from victorpy.research.compare.summary import summarise_comparison
from victorpy.research.site_runs import Plan

__all__ = ["DataSet", "Method", "Plan", "compare_methods", "load_methods", "open_sets", "summarise_comparison"]
