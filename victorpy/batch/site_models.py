"""Models of sites as bytes: what a site has added to the model that every worker has loaded anyway."""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from victorpy.batch.choice import Choice
from victorpy.cleaner import Cleaner
from victorpy.errors import DataError

_DEEPEST = 10_000  # calls of pickle's: the trees of sites are as deep as their pages


@dataclass(frozen=True, slots=True)
class SiteModel:
    """A method or model that has seen a site, as it travels to workers: these load what they know by name."""

    choice: Choice
    learned: bytes = field(repr=False)

    def load(self) -> Cleaner:
        """Have it as it was."""
        return from_bytes(self.choice.load(), self.learned)


def save_at_site(cleaner: Cleaner, base: Cleaner, path: Path) -> None:
    """Write a cleaner that has seen a site, whole or not at all; what it shares with its base is only named."""
    fresh = path.with_name(f"{path.name}.tmp")
    fresh.write_bytes(at_site_bytes(cleaner, base))
    fresh.replace(path)


def load_at_site(base: Cleaner, path: Path) -> Cleaner:
    """Read it again, beside the same base."""
    return from_bytes(base, path.read_bytes())


def at_site_bytes(cleaner: Cleaner, base: Cleaner) -> bytes:
    """A cleaner that has seen a site, without what it shares with its base."""
    written = io.BytesIO()
    with _deep_calls():
        _Pickler(written, _parts(base)).dump(cleaner)
    return written.getvalue()


def from_bytes(base: Cleaner, written: bytes) -> Cleaner:
    """What `at_site_bytes` wrote, our own bytes, beside the same base."""
    with _deep_calls():
        cleaner: Cleaner = _Unpickler(io.BytesIO(written), _parts(base)).load()
    return cleaner


@contextmanager
def _deep_calls() -> Iterator[None]:
    """Let functions call themselves more often than is usual; pages that are deeper still are refused."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(_DEEPEST, before))
    try:
        yield
    except RecursionError as error:
        raise DataError("the pages of this site are nested too deeply to be handed to workers") from error
    finally:
        sys.setrecursionlimit(before)


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
