"""Find replicas: pages with the same content in another template or at another address, and repeated paragraphs.

`base` defines signatures and the interface of a method. The methods are `pages` and `paragraphs`, which compare words,
and the `fingerprint` of Z. Zhang, J. Chen and X. Li, A Preprocessing Framework and Approach for Web Applications, 2004.
`find` decides which of many signed texts are replicas.
"""

from victorpy.dedup.base import DETECTORS, KEEP, Detector, Keep, Signature, Signed, load_detector
from victorpy.dedup.find import find_replicas

__all__ = ["DETECTORS", "KEEP", "Detector", "Keep", "Signature", "Signed", "find_replicas", "load_detector"]
