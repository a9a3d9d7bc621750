"""Models of sites as bytes: only what a site adds to the model that every worker has loaded anyway."""

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
from victorpy.files import write_atomically

_DEEPEST = 10_000  # nested calls of pickle: the tree of a site is as deep as its pages


@dataclass(frozen=True, slots=True)
class SiteModel:
    """A method or model that has learned from a site, in a form that workers can receive."""

    choice: Choice
    learned: bytes = field(repr=False)

    def load(self) -> Cleaner:
        return from_bytes(self.choice.load(), self.learned)


def save_at_site(cleaner: Cleaner, base: Cleaner, path: Path) -> None:
    """Write a cleaner that has learned from a site. Parts that it shares with its base are only named."""
    write_atomically(path, at_site_bytes(cleaner, base), alone=True)


def load_at_site(base: Cleaner, path: Path) -> Cleaner:
    """Read what `save_at_site` wrote, given the same base."""
    return from_bytes(base, path.read_bytes())


def at_site_bytes(cleaner: Cleaner, base: Cleaner) -> bytes:
    """Return a cleaner that has learned from a site, without what it shares with its base."""
    content = io.BytesIO()
    with _deep_recursion():
        _Pickler(content, _shared_parts(base)).dump(cleaner)
    return content.getvalue()


def from_bytes(base: Cleaner, content: bytes) -> Cleaner:
    """Load what `at_site_bytes` returned, given the same base. The bytes have to be our own."""
    with _deep_recursion():
        cleaner: Cleaner = _Unpickler(io.BytesIO(content), _shared_parts(base)).load()
    return cleaner


@contextmanager
def _deep_recursion() -> Iterator[None]:
    """Raise the recursion limit; pages that are nested even more deeply are refused."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(_DEEPEST, limit))
    try:
        yield
    except RecursionError as error:
        raise DataError("the pages of this site are nested too deeply to be handed to workers") from error
    finally:
        sys.setrecursionlimit(limit)


def _shared_parts(base: Cleaner) -> dict[str, Any]:
    """Return the parts of a labeller by name, except numbers, strings and other builtin values."""
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
