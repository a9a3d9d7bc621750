"""The native core: compiled versions ("twins") of a few Python functions, for speed.

Each module here has a twin in Python. The twin is the specification, and is used if the core is not built:

    split.pyx      page/split.py: walks a parsed page and cuts it into blocks; marked elements for description/metadata/
    scan.pyx       page/parse.py and decode.py: checks a page before parsing, and skips what nobody reads
    columns.pyx    columns/: fills the arrays that features are computed from
    features.pyx   features/: features that only pick or divide columns, and their codes for the CRF
    trees.pyx      model/evidence/: inputs, forests, the lexicon and the context of blocks
    net.pyx        model/evidence/net.py: the net beside the forests
    crf.pyx        model/crf/tables.py: the scores of blocks and forward-backward
    text.pyx       outputs/text.py: the text outside data tables

Tests check that both twins give the same results. Set VICTOR_ENGINE=python to run without the core.
docs/guides/native.md explains how to build and extend it.
"""

from __future__ import annotations

import importlib
import os
import warnings
from functools import cache
from pathlib import Path
from typing import Any

NOT_BUILT = "not built"
"""Why the core is not used if it was not compiled. Only then does installing again help."""


def load(name: str) -> Any:
    """Return a module of the core, or None if the core is not used."""
    return None if why_not() else importlib.import_module(f"victorpy.native.{name}")


def engine() -> str:
    """Return ``native`` if the core is used, else ``python``.

    >>> engine() in {"native", "python"}
    True
    """
    return "python" if why_not() else "native"


@cache
def why_not() -> str:
    """Return why the core is not used, or an empty string.

    Warns if the core is outdated or does not fit lxml, or if VICTOR_ENGINE has an unknown value.
    """
    chosen = os.environ.get("VICTOR_ENGINE", "")
    if chosen == "python":
        return "switched off"
    if chosen not in {"", "native"}:
        warnings.warn(f"VICTOR_ENGINE={chosen!r} is ignored; set it to 'native' or 'python'", stacklevel=3)
    if is_outdated(Path(__file__).parent):
        advice = "compile it again with: pip install -e ."
        warnings.warn(f"the native core is older than its sources, so victorpy is slower; {advice}", stacklevel=3)
        return "outdated"
    with warnings.catch_warnings():
        warnings.filterwarnings("error", ".*size changed", RuntimeWarning)  # Cython only warns if a type has grown
        try:
            importlib.import_module("victorpy.native.split")
        except ModuleNotFoundError:
            return NOT_BUILT
        except (AttributeError, ImportError, RuntimeError, RuntimeWarning, TypeError, ValueError) as error:
            reason = str(error)  # raised by Cython and `check_layout` if the types of lxml or libxml2 are different
        else:
            return ""
    warnings.warn(f"the native core does not fit the installed lxml, so victorpy is slower: {reason}", stacklevel=3)
    return "does not fit lxml"


def is_outdated(folder: Path) -> bool:
    """Return whether a source has changed since the core was compiled, as after ``git pull`` in a checkout.

    Installed wheels have no sources, so they are never outdated.
    """
    files = {file.name: file for file in os.scandir(folder)}
    built = {name.partition(".")[0]: file for name, file in files.items() if name.endswith((".so", ".pyd"))}
    sources = [file for name, file in files.items() if name.endswith((".pyx", ".pxd"))]
    return bool(built) and any(
        (stem := source.name.partition(".")[0]) not in built or source.stat().st_mtime > built[stem].stat().st_mtime
        for source in sources
    )
