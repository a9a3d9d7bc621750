"""Compare methods on the same pages: what `victor compare` computes, as plain data.

`data.py` reads data sets site by site, `run.py` cleans, times and scores pages, `summary.py` builds scores.json.
"""

from victorpy.methods import Method, load_methods
from victorpy.research.compare.data import DataSet, open_sets
from victorpy.research.compare.run import compare_methods
from victorpy.research.compare.summary import summarise_comparison
from victorpy.research.site_runs import Plan

__all__ = ["DataSet", "Method", "Plan", "compare_methods", "load_methods", "open_sets", "summarise_comparison"]
