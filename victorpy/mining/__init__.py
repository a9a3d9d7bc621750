"""The papers' own evaluation: is there more to be learned from pages after they were cleaned?

Yi, Liu and Li 2003 (section 4) and the sentence-entropy paper (section 5) cluster and classify the pages of several
sites by what they are about, before cleaning and after it. What a method removes, and which of the values that it
must keep survive, stands beside it: an empty page has no noise either.
"""
