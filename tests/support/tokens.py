"""Hash tokens given as text."""

from __future__ import annotations

from collections.abc import Sequence

from victorpy.columns.tokens import Hashes, code_points, hash_tokens


def hash_words(words: Sequence[str]) -> Hashes:
    """Hash words that are already folded, each as one token."""
    codes = code_points("\n".join([*words, ""]))
    inside = codes != ord("\n")
    begins = inside.copy()
    begins[1:] &= ~inside[:-1]
    return hash_tokens(codes, inside, begins)
