"""Replicas across pages: the same content again, in another template or at another address.

There are two methods: the fingerprint of Z. Zhang, J. Chen and X. Li, A Preprocessing Framework and Approach for Web
Applications, 2004, and MinHash with locality-sensitive hashing. Texts are signed first; then `find.Index` finds the
candidates that a text may repeat and confirms one of them, and `find.decide` keeps or drops text after text.
"""

from victorpy.dedup.base import DETECTORS, KEEP, Detector, Keep, Signed, load_detector
from victorpy.dedup.find import find_replicas

__all__ = ["DETECTORS", "KEEP", "Detector", "Keep", "Signed", "find_replicas", "load_detector"]
