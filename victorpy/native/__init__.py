"""The native core: compiled twins of a few Python functions, for speed.

Each module here has a twin in Python, which is the specification and is used where the core is not built:

    split.pyx      page/split.py: walks a parsed page and cuts it into blocks
    columns.pyx    columns/: fills the arrays that features are computed from
    trees.pyx      model/evidence/: forests, the lexicon and the cut for expected F1
    crf.pyx        model/crf/decoding.py: forward-backward

Tests check that both twins give the same results. Set VICTOR_ENGINE=python to run without the core.
"""

from __future__ import annotations

import importlib
import os
import warnings
from types import ModuleType
from typing import Any


def load(name: str) -> Any:
    """Return a module of the core, or None if it is not built or does not match the installed lxml."""
    if os.environ.get("VICTOR_ENGINE") == "python":
        return None
    try:
        module: ModuleType = importlib.import_module(f"victorpy.native.{name}")
    except ImportError:
        return None
    except (RuntimeError, ValueError) as error:  # Cython found a different layout of lxml's objects
        warnings.warn(
            f"the native core does not match the installed lxml, so victorpy runs without it: {error}", stacklevel=2
        )
        return None
    return module


def engine() -> str:
    """Return ``native`` if the core is used, else ``python``.

    >>> engine() in {"native", "python"}
    True
    """
    return "python" if load("split") is None else "native"
