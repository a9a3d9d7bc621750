"""Models of sites as bytes: only what a site adds to the model that every worker has loaded anyway."""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from victorpy.batch.choice import Choice
from victorpy.cleaner import Cleaner
from victorpy.errors import DataError

_DEEPEST = 10_000  # nested calls of pickle: the tree of a site is as deep as its pages


@dataclass(frozen=True, slots=True)
class SiteModel:
    """A method or model that has learned from a site, in a form that workers can receive."""

    choice: Choice
    learned: bytes = field(repr=False)

    def load(self) -> Cleaner:
        return from_bytes(self.choice.load(), self.learned)


def at_site_bytes(cleaner: Cleaner, base: Cleaner) -> bytes:
    """Return a cleaner that has learned from a site. Parts that it shares with its base are only named."""
    names = {id(part): name for name, part in _shared_parts(base).items()}
    content = io.BytesIO()
    pickler = pickle.Pickler(content, pickle.HIGHEST_PROTOCOL)
    pickler.persistent_id = lambda part: names.get(id(part))  # type: ignore[method-assign]
    with _deep_recursion():
        pickler.dump(cleaner)
    return content.getvalue()


def from_bytes(base: Cleaner, content: bytes) -> Cleaner:
    """Load what `at_site_bytes` returned, given the same base. The bytes have to be our own."""
    unpickler = pickle.Unpickler(io.BytesIO(content))
    unpickler.persistent_load = _shared_parts(base).__getitem__  # type: ignore[method-assign]
    with _deep_recursion():
        cleaner: Cleaner = unpickler.load()
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
