"""Which data sets a model was trained on: scores there say nothing about new pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from victorpy.model.store import load_model
from victorpy.research.gold import parse_data

TRAINED_ON = {"default": ("wcxb", "dragnet", "l3s", "cleaneval"), "cleaneval": ("cleaneval",)}
"""Kinds of data that bundled models were trained on, if their meta.json does not say so ..."""

KEPT_ASIDE = "test"
"""... except for a directory of this name."""


def set_name(spec: str) -> str:
    """Name a data set without its path on this machine: ``wcxb:/somewhere/wcxb/dev`` is wcxb:dev."""
    kind, directory = parse_data(spec)
    return f"{kind}:{directory.resolve().name}"


def training_sets(model: str, sets: Sequence[str]) -> list[str]:
    """Return the data sets that a model is known to have been trained on."""
    meta = load_model(model).meta
    return [data for data in sets if was_trained_on(model, meta, data)]


def was_trained_on(model: str, meta: Mapping[str, Any], data: str) -> bool | None:
    """Whether a model was trained on a data set; None if its training data is not recorded.

    >>> meta = {"training": {"data": ["wcxb", "cleaneval:dev"]}}
    >>> [was_trained_on("my", meta, data) for data in ("wcxb:dev", "wcxb:test", "cleaneval:final")]
    [True, False, False]
    """
    recorded = meta.get("training", {}).get("data") or TRAINED_ON.get(model)
    if recorded is None:
        return None
    kind, _, name = data.partition(":")
    return data in recorded or (kind in recorded and name != KEPT_ASIDE)
