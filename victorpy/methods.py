"""Methods by name: whatever cleans a page, trained or not, ready to run.

``crf`` is the bundled model and ``hybrid`` the one for several pages of a site; a model may also be named by its
directory. Every other name is that of a labeller that needs no training.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from victorpy.cleaner import Cleaner
from victorpy.config import load_config
from victorpy.errors import ConfigError, VictorError, suggest
from victorpy.labellers.base import LABELLERS, LearnsFrom
from victorpy.model import DEFAULT
from victorpy.settings import parse_settings

MODELS = {"crf": DEFAULT, "hybrid": "site"}
"""Methods that are bundled models."""

CONFIG = "blocks"
"""How pages are cut for methods that have no config of their own."""


def method_names() -> list[str]:
    """The names of all methods that need no directory."""
    untrained = [name for name in LABELLERS if LABELLERS.get(name).learns_from is not LearnsFrom.LABELS]
    return sorted([*MODELS, *untrained])


def load_method(name: str, settings: Sequence[str] = ()) -> Cleaner:
    """Make a method ready; `settings` are its parameters, each as ``NAME=VALUE``."""
    if name not in MODELS and name in LABELLERS:
        labeller = LABELLERS.get(name)
        return Cleaner(labeller(**parse_settings(name, labeller, settings)), load_config(CONFIG))
    if name not in MODELS and not (Path(name) / "meta.json").exists():
        known = method_names()
        raise VictorError(f"no method {name!r}{suggest(name, known)}; there are: {', '.join(known)}, or a model's path")
    if settings:
        raise ConfigError(f"the method {name!r} is a trained model and has no parameters to set: {' '.join(settings)}")
    return Cleaner.load(MODELS.get(name, name))
