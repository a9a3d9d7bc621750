"""Models of sites as files: what a site has added to the model that every worker has loaded anyway."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

from victorpy.cleaner import Cleaner

_DEEPEST = 10_000  # calls of pickle's: the trees of sites are as deep as their pages


def save_at_site(cleaner: Cleaner, base: Cleaner, path: Path) -> None:
    """Write a cleaner that has seen a site, whole or not at all; what it shares with its base is only named."""
    sys.setrecursionlimit(_DEEPEST)
    fresh = path.with_name(f"{path.name}.tmp")
    with fresh.open("wb") as file:
        parts = _parts(base)
        pickler = _Pickler(file, parts) if parts else pickle.Pickler(file, pickle.HIGHEST_PROTOCOL)
        pickler.dump(cleaner)
    fresh.replace(path)


def load_at_site(base: Cleaner, path: Path) -> Cleaner:
    """Read it again, beside the same base."""
    sys.setrecursionlimit(_DEEPEST)
    with path.open("rb") as file:
        cleaner: Cleaner = _Unpickler(file, _parts(base)).load()  # our own file
    return cleaner


def _parts(base: Cleaner) -> dict[str, Any]:
    """What a labeller is made of, by name; numbers and the like are not worth it."""
    return {name: part for name, part in vars(base.labeller).items() if type(part).__module__ != "builtins"}


class _Pickler(pickle.Pickler):
    def __init__(self, file: Any, parts: dict[str, Any]) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._names = {id(part): name for name, part in parts.items()}

    def persistent_id(self, part: Any) -> str | None:
        return self._names.get(id(part))


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: Any, parts: dict[str, Any]) -> None:
        super().__init__(file)
        self._parts = parts

    def persistent_load(self, name: Any) -> Any:
        return self._parts[name]
