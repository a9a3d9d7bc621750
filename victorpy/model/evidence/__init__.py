"""Estimate the probability that each block is content, before the CRF labels the page.

The CRF models sequences, but its features are binned. Boosted trees use the exact values of many features. A config
adds them with ``evidence: trees``. A lexicon records how often element names and words occur in content. A first layer
of trees estimates the log-odds of each block, and a second layer improves them, given the first predictions for the
whole page. ``evidence-net`` adds a net beside the last layer. The final log-odds decide which blocks are kept, and the
CRF uses them as the feature ``evidence``.
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
