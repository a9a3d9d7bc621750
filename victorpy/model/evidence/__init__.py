"""Evidence: how probable it is that a block is content, found before the CRF labels the page.

The CRF knows sequences but sees features as bins; boosted trees take numbers as they are, and many of them. So a
config may ask for ``evidence: trees``. A lexicon says how often the names around a block and its words mean content.
Trees judge each block, and more trees judge it again, given what the first found on the whole page. The log-odds of the
last trees are a feature of the CRF, ``evidence``, and decide what is kept.
"""

from victorpy.model.evidence.cut import Keeping, best_cut, block_weights, expected_f1, probabilities
from victorpy.model.evidence.stage import Evidence, Findings, Fitted, fit_evidence

__all__ = [
    "Evidence",
    "Findings",
    "Fitted",
    "Keeping",
    "best_cut",
    "block_weights",
    "expected_f1",
    "fit_evidence",
    "probabilities",
]
