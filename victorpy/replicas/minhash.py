"""MinHash: how many runs of words two texts share, estimated from short signatures that are found by their bands."""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from victorpy.about.terms import words
from victorpy.errors import ConfigError, missing
from victorpy.replicas.base import DETECTORS, EXTRA, Detector

if TYPE_CHECKING:
    from datasketch import MinHash as Sketch

SCHEME = "affine32"
"""How datasketch permutes hashes; it is named so that signatures stay the same when its default changes."""
WEIGHTS = (0.1, 0.9)
"""Of wrong and of missed candidates where bands are chosen: wrong ones are told by comparing signatures."""
_KEY = 8  # bytes of a band's digest
_DTYPE = np.dtype("<u4")


@DETECTORS.register("minhash")
class MinHash(Detector):
    """Texts are replicas if the share of runs of `shingle` words that they have in common is `threshold` or more."""

    name = "minhash"
    compares = True

    def __init__(self, threshold: float = 0.5, shingle: int = 8, num_perm: int = 128) -> None:
        if not 0 < threshold <= 1:
            raise ConfigError(f"minhash: threshold={threshold:g}: a share above 0 and up to 1 is wanted, as 0.5")
        if shingle < 1:
            raise ConfigError(f"minhash: shingle={shingle}: a number of words of at least 1 is wanted")
        if not 16 <= num_perm <= 4096:
            raise ConfigError(f"minhash: num_perm={num_perm}: a whole number from 16 to 4096 is wanted")
        self.threshold = threshold
        self.shingle = shingle
        self.num_perm = num_perm

    def sign(self, text: str, language: str = "") -> bytes:
        """The smallest hashes of a text's runs of words, 4 bytes each; none where it has no words.

        Stop words stay: runs of words without them are no less common, and no language has to be guessed.
        """
        shingles = self.shingles(words(text))
        if not shingles:
            return b""
        sketch = self._empty.copy()
        sketch.update_batch([shingle.encode() for shingle in shingles])
        return bytes(sketch.hashvalues.astype(_DTYPE).tobytes())

    def shingles(self, found: list[str]) -> set[str]:
        """All runs of so many words; a text with fewer is one run.

        >>> sorted(MinHash(shingle=2).shingles(["hot", "tea", "hot", "tea"]))
        ['hot tea', 'tea hot']
        """
        last = max(len(found) - self.shingle, 0)
        return {" ".join(found[at : at + self.shingle]) for at in range(last + 1)} if found else set()

    def keys(self, signature: bytes) -> list[bytes]:
        """A digest of each band of the signature, and of its number."""
        bands, rows = self.bands
        width = rows * _DTYPE.itemsize
        cut = (signature[band * width : (band + 1) * width] for band in range(bands))
        return [_digest(band, content) for band, content in enumerate(cut)]

    def similar(self, one: bytes, other: bytes) -> bool:
        """Whether the estimated similarity reaches the threshold."""
        return self.similarity(one, other) >= self.threshold

    def similarity(self, one: bytes, other: bytes) -> float:
        """The share of runs of words that two texts have in common, estimated."""
        return float(np.mean(np.frombuffer(one, _DTYPE) == np.frombuffer(other, _DTYPE)))

    def parameters(self) -> dict[str, Any]:
        """All of them."""
        return {"threshold": self.threshold, "shingle": self.shingle, "num_perm": self.num_perm}

    @cached_property
    def bands(self) -> tuple[int, int]:
        """How many bands a signature is cut into, and how many hashes each has."""
        try:
            from datasketch import MinHashLSH
        except ModuleNotFoundError as error:
            raise missing("datasketch", EXTRA, "telling replicas by minhash") from error
        chosen = MinHashLSH(self.threshold, self.num_perm, WEIGHTS)
        return chosen.b, chosen.r

    @cached_property
    def _empty(self) -> Sketch:
        try:
            from datasketch import MinHash as Sketch
        except ModuleNotFoundError as error:
            raise missing("datasketch", EXTRA, "telling replicas by minhash") from error
        return Sketch(self.num_perm, scheme=SCHEME)


def _digest(band: int, content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_KEY, salt=band.to_bytes(2)).digest()
