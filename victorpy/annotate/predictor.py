"""What a model says of a page, as annotation needs it."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from victorpy.annotate.events import Prediction
from victorpy.cleaner import Cleaner
from victorpy.config import Config
from victorpy.document import Document
from victorpy.model import find_model


@dataclass(frozen=True)
class Predictor:
    """A model, and by what people and files know it."""

    cleaner: Cleaner
    name: str
    """As a person calls it."""
    identity: str
    """Differs from that of any other model, also of one that had this name before."""
    directory: Path

    @classmethod
    def load(cls, model: str | Path, name: str = "") -> Self:
        """Load a model by its name or its directory."""
        directory = find_model(model)
        cleaner = Cleaner.load(directory)
        digest = hashlib.blake2b((directory / "meta.json").read_bytes(), digest_size=6).hexdigest()
        name = name or str(model)
        return cls(cleaner, name, f"{name} {digest}", directory)

    def with_config(self, config: Config) -> Self:
        """The same model, used as a config says."""
        return replace(self, cleaner=self.cleaner.with_config(config))

    def __call__(self, document: Document) -> Prediction:
        """Label a page's blocks."""
        found = self.cleaner.labeller.label(document)
        return Prediction(found.labels, found.probabilities or (None,) * len(found.labels), self.identity)

    def features(self, document: Document) -> Sequence[dict[str, str]]:
        """Give the features of every block by name."""
        return self.cleaner.labeller.features(document)

    def uncertainty(self, document: Document) -> float:
        """How much there is to learn from a page: the mean entropy of what is content, in bits, a word a vote."""
        content = self.cleaner.labeller.label(document).content
        words = [len(block.text.split()) or 1 for block in document.blocks]
        total = sum(count * entropy(chance) for count, chance in zip(words, content, strict=bool(content)))
        return total / max(sum(words), 1)


def entropy(chance: float) -> float:
    """How open a question is of which one answer has this chance, in bits.

    >>> entropy(0.5), entropy(1.0)
    (1.0, 0.0)
    """
    return -sum(share * math.log2(share) for share in (chance, 1 - chance) if share > 0) or 0.0
