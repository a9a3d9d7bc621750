"""The MinHash method: estimate the share of common shingles from short signatures."""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from victorpy.base.words import icu_words
from victorpy.dedup.base import DETECTORS, Detector
from victorpy.errors import ConfigError, missing

if TYPE_CHECKING:
    from datasketch import MinHash as Sketch

SCHEME = "affine32"
"""The way datasketch permutes hashes. It is fixed here, so that signatures do not change with datasketch's default."""
WEIGHTS = (0.1, 0.9)
"""Weights of false and missed candidates. False candidates are cheap, because signatures are compared later."""
_KEY_BYTES = 8
_DTYPE = np.dtype("<u4")


@DETECTORS.register("minhash")
class MinHash(Detector):
    """Texts are replicas if their share of common shingles, runs of `shingle` words, is at least `threshold`."""

    name = "minhash"

    def __init__(self, threshold: float = 0.5, shingle: int = 8, num_perm: int = 128) -> None:
        if not 0 < threshold <= 1:
            raise ConfigError(f"minhash: threshold={threshold:g}: give a number above 0 and up to 1, such as 0.5")
        if shingle < 1:
            raise ConfigError(f"minhash: shingle={shingle}: give a whole number of at least 1")
        if not 16 <= num_perm <= 4096:
            raise ConfigError(f"minhash: num_perm={num_perm}: give a whole number from 16 to 4096")
        self.threshold = threshold
        self.shingle = shingle
        self.num_perm = num_perm

    def sign(self, text: str, language: str = "") -> bytes:
        """Return the smallest hashes of a text's shingles, 4 bytes each. Stop words are kept."""
        shingles = self.shingles(icu_words(text))
        if not shingles:
            return b""
        sketch = self._empty_sketch.copy()
        sketch.update_batch([shingle.encode() for shingle in shingles])
        return bytes(sketch.hashvalues.astype(_DTYPE).tobytes())

    def shingles(self, text_words: list[str]) -> set[str]:
        """Return all runs of `shingle` words. A text with fewer words is one run.

        >>> sorted(MinHash(shingle=2).shingles(["hot", "tea", "hot", "tea"]))
        ['hot tea', 'tea hot']
        """
        last = max(len(text_words) - self.shingle, 0)
        return {" ".join(text_words[at : at + self.shingle]) for at in range(last + 1)} if text_words else set()

    def keys(self, signature: bytes) -> list[bytes]:
        """Return a digest of each band of the signature, salted with the band number."""
        bands, rows = self.bands
        width = rows * _DTYPE.itemsize
        parts = (signature[band * width : (band + 1) * width] for band in range(bands))
        return [
            hashlib.blake2b(part, digest_size=_KEY_BYTES, salt=band.to_bytes(2)).digest()
            for band, part in enumerate(parts)
        ]

    def similar(self, one: bytes, other: bytes) -> bool:
        return self.similarity(one, other) >= self.threshold

    def similarity(self, one: bytes, other: bytes) -> float:
        """Estimate the share of common shingles."""
        return float(np.mean(np.frombuffer(one, _DTYPE) == np.frombuffer(other, _DTYPE)))

    @cached_property
    def bands(self) -> tuple[int, int]:
        """Number of bands per signature, and number of hashes per band."""
        chosen = _datasketch().MinHashLSH(self.threshold, self.num_perm, WEIGHTS)
        return chosen.b, chosen.r

    @cached_property
    def _empty_sketch(self) -> Sketch:
        sketch: Sketch = _datasketch().MinHash(self.num_perm, scheme=SCHEME)
        return sketch


def _datasketch() -> Any:
    try:
        import datasketch
    except ModuleNotFoundError as error:
        raise missing("datasketch", "docview", "finding replicas with minhash") from error
    return datasketch
