"""What a chain's probabilities of labels come to: how probable content is, and which kind of it."""

from __future__ import annotations

import numpy as np

from victorpy.columns import Flags
from victorpy.crf.decoding import Floats, marginals
from victorpy.crf.tables import Tables
from victorpy.document import Label

# So much less than any other score of a state: a label that is not allowed.
_NEVER = 200.0


def noise_of(tables: Tables) -> int:
    """The number of the label for noise, -1 where the model has none."""
    return tables.labels.index(Label.OTHER) if Label.OTHER in tables.labels else -1


def kinds_given_content(tables: Tables, states: Floats, keep: Flags) -> Floats:
    """The probabilities of labels, where it is known which blocks are content."""
    is_noise = np.arange(len(tables.labels)) == noise_of(tables)
    allowed = states.copy()
    allowed[np.ix_(keep, is_noise)] -= _NEVER
    allowed[np.ix_(~keep, ~is_noise)] -= _NEVER
    return marginals(allowed, tables.transitions)


def shared_out(tables: Tables, shares: Floats, content: Floats) -> Floats:
    """The chain's probabilities of kinds, brought to the sum that the evidence says content has."""
    is_noise = np.arange(len(tables.labels)) == noise_of(tables)
    kinds = np.where(is_noise, 0.0, shares)
    kinds *= (content / np.maximum(kinds.sum(axis=1), 1e-12))[:, None]
    return np.where(is_noise, 1 - content[:, None], kinds)


def content_of(tables: Tables, shares: Floats) -> Floats:
    """The probability that a block is content: all labels but noise."""
    kept = [Label(label).is_content for label in tables.labels]
    return shares[:, kept].sum(axis=1)
