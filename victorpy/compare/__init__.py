"""Methods beside each other on the same pages: what `victor compare` computes, as plain data.

`methods.py` makes methods ready, `data.py` reads data sets site by site, `sites.py` shares a site's pages out,
`run.py` cleans and times, `measures.py` scores a page, `summary.py` puts it all together, and `provenance.py` knows
which data a model was trained on.
"""

from victorpy.compare.data import DataSet, open_sets
from victorpy.compare.methods import Method, load_methods
from victorpy.compare.run import compare_methods
from victorpy.compare.sites import Plan
from victorpy.compare.summary import summarise_comparison

__all__ = ["DataSet", "Method", "Plan", "compare_methods", "load_methods", "open_sets", "summarise_comparison"]
