"""Which data sets a model was trained on: its scores there say nothing of new pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from victorpy.gold import parse_data
from victorpy.model import load_model

TRAINED_ON = {"default": ("wcxb", "dragnet", "l3s", "cleaneval"), "cleaneval": ("cleaneval",)}
"""The kinds of data that bundled models were trained on, where their meta.json does not say it ..."""

KEPT_ASIDE = "test"
"""... except for a directory of this name."""


def set_name(spec: str) -> str:
    """Name a data set without saying where on this machine it lies: ``wcxb:/somewhere/wcxb/dev`` is wcxb:dev."""
    kind, directory = parse_data(spec)
    return f"{kind}:{directory.resolve().name}"


def training_sets(model: str, sets: Sequence[str]) -> list[str]:
    """Find which of the data sets a model was trained on, as far as that is known."""
    named = _named(model, load_model(model).meta)
    return [data for data in sets if is_among(data, named or ())]


def was_trained_on(model: str, meta: Mapping[str, Any], data: str) -> bool | None:
    """Whether a model was trained on a data set; None where nobody wrote down what it was trained on."""
    named = _named(model, meta)
    return None if named is None else is_among(data, named)


def _named(model: str, meta: Mapping[str, Any]) -> Sequence[str] | None:
    """The sets, or kinds of them, that are named as a model's training data."""
    named = meta.get("training", {}).get("data")
    return named or TRAINED_ON.get(model)


def is_among(data: str, named: Sequence[str]) -> bool:
    """Whether a data set is named, or its whole kind is.

    >>> [is_among(data, ["wcxb", "cleaneval:dev"]) for data in ("wcxb:dev", "wcxb:test", "cleaneval:final")]
    [True, False, False]
    """
    kind, _, name = data.partition(":")
    return data in named or (kind in named and name != KEPT_ASIDE)
