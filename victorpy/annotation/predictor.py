"""A model as the annotation tool needs it."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from victorpy.annotation.events import Prediction
from victorpy.cleaner import Cleaner
from victorpy.config import Config
from victorpy.document import Document
from victorpy.model.store import find_model


@dataclass(frozen=True)
class Predictor:
    """A model with its name and identity."""

    cleaner: Cleaner
    name: str
    identity: str
    """Differs from that of any other model, even one that had the same name."""
    directory: Path

    @classmethod
    def load(cls, model: str | Path, name: str = "") -> Self:
        """Load a model by its name or its directory."""
        directory = find_model(model)
        digest = hashlib.blake2b((directory / "meta.json").read_bytes(), digest_size=6).hexdigest()
        name = name or str(model)
        return cls(Cleaner.load(directory), name, f"{name} {digest}", directory)

    def with_config(self, config: Config) -> Self:
        return replace(self, cleaner=self.cleaner.with_config(config))

    def __call__(self, document: Document) -> Prediction:
        """Label the blocks of a page."""
        labelling = self.cleaner.labeller.label(document)
        return Prediction.of(labelling.labels, labelling.probabilities, self.identity)

    def features(self, document: Document) -> Sequence[dict[str, str]]:
        """Return the features of every block by name."""
        return self.cleaner.labeller.features(document)

    def uncertainty(self, document: Document) -> float:
        """Return the mean entropy per word of whether blocks are content, in bits: how much a page could teach."""
        content = self.cleaner.labeller.label(document).content
        words = [len(block.text.split()) or 1 for block in document.blocks]
        total = sum(count * entropy(chance) for count, chance in zip(words, content, strict=bool(content)))
        return total / max(sum(words), 1)


def entropy(chance: float) -> float:
    """Return the entropy of a yes-or-no question in bits.

    >>> entropy(0.5), entropy(1.0)
    (1.0, 0.0)
    """
    return -sum(share * math.log2(share) for share in (chance, 1 - chance) if share > 0) or 0.0
