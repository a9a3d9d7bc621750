"""The cleaners that are compared: victorpy's models, other people's programs, and keeping everything."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from victorpy import Cleaner
from victorpy.methods import load_method
from victorpy.peers import Extractor, installed_peers, load_peer

EVERYTHING = "keep everything"
BASE = "trafilatura"
"""Whose time is 1."""


def find_cleaners(models: Sequence[str], favor: str | None) -> dict[str, Extractor]:
    """Load the models, find the other cleaners that are installed, and end with keeping everything."""
    own = {cleaner_name(model, favor): Cleaner.load(model, favor).clean for model in models}
    return {**own, **find_peers(), EVERYTHING: load_method("everything").clean}


def cleaner_name(model: str, favor: str | None) -> str:
    """What a model is called in tables; the bundled default one is victorpy as such."""
    details = [Path(model).name] if model != "default" else []
    details += [f"favor {favor}"] if favor else []
    return f"victorpy ({', '.join(details)})" if details else "victorpy"


def find_peers() -> dict[str, Extractor]:
    """Find the other cleaners that are installed; trafilatura also told to leave comments out."""
    found: dict[str, Extractor] = {}
    for name in installed_peers():
        found[name] = load_peer(name)
        if name == BASE:
            found[f"{BASE} (no comments)"] = load_peer(name, ["comments=no"])
    return found
