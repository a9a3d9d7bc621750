"""Repeat the evaluation in the papers on site templates: does mining work better on cleaned pages?

Yi, Liu and Li 2003 (section 4) and the sentence-entropy paper (section 5) cluster and classify the pages of several
sites by topic, before and after cleaning. This evaluation also measures removed text and surviving values, because
removing everything also removes all noise.
"""

from victorpy.research.mining.cleaning import parse_methods, read_pages
from victorpy.research.mining.study import Settings, mine

__all__ = ["Settings", "mine", "parse_methods", "read_pages"]
