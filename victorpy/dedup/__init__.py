"""Find replicas: pages with the same content in another template or at another address.

There are two methods: the fingerprint of Z. Zhang, J. Chen and X. Li, A Preprocessing Framework and Approach for Web
Applications, 2004, and MinHash with locality-sensitive hashing. Every text has a signature. `find.Index` finds the kept
texts with a similar signature, and `find.decide` keeps or drops one text after the other.
"""

from victorpy.dedup.base import DETECTORS, KEEP, Detector, Keep, Signed, load_detector
from victorpy.dedup.find import find_replicas

__all__ = ["DETECTORS", "KEEP", "Detector", "Keep", "Signed", "find_replicas", "load_detector"]
