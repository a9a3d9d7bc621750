"""Estimate the probability that each block is content, before the CRF labels the page.

The CRF models sequences, but it sees features as bins. Boosted trees use many features with their exact values. So a
config may add ``evidence: trees``. A lexicon contains how often element names and words occur with content. A first
layer of trees judges each block, and a second layer judges it again, given the first predictions for the whole page.
``evidence-net`` adds a net beside the last layer. The final log-odds decide what is kept, and the CRF uses them as the
feature ``evidence``.
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
