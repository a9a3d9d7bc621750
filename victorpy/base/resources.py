"""Find the configs, templates and models that victorpy ships."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

from victorpy.errors import visible

_PACKAGE = Path(__file__).parents[1]


def shipped(kind: str) -> Path:
    """Return a directory of shipped files. It is inside the installed package, or beside the package in a checkout."""
    inside = _PACKAGE / "data" / kind
    return inside if inside.is_dir() else _PACKAGE.parent / kind


def find(name: str, kind: str, suffix: str, beside: Path | None = None) -> Path | None:
    """Find a file: the shipped file with this name, or else a path, which may be relative to the directory `beside`.

    For a local file with the name of a shipped file, give a path such as ``./base``.
    """
    places = [Path(name)]
    if beside is not None:
        places = [beside / name, beside / f"{name}{suffix}", *places]
    local = next((place for place in places if os.path.isfile(place)), None)  # noqa: PTH113  (never raises)
    own = shipped(kind) / f"{name}{suffix}"
    if Path(name).name != name or not os.path.isfile(own):  # noqa: PTH113
        return local
    if local is not None and not local.samefile(own):
        message = f"{name!r} is the shipped file {own}; write './{name}' to use {local}"
        warnings.warn(visible(message), stacklevel=2)
    return own


def names(kind: str, suffix: str) -> list[str]:
    """Return the names of the shipped files of a kind."""
    return sorted(path.name.removesuffix(suffix) for path in shipped(kind).glob(f"*{suffix}"))
