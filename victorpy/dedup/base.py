"""The interface of a method that finds replicas: it makes a short signature of a text, and compares signatures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from enum import StrEnum
from inspect import signature
from typing import Any, ClassVar, NamedTuple

from victorpy.base.parameters import parse_settings
from victorpy.base.registry import Registry

EXTRA = "docview"
"""The extra that installs the packages it needs."""


class Keep(StrEnum):
    """Which of several texts that repeat each other stays."""

    FIRST = "first"
    LONGEST = "longest"


KEEP = tuple(map(str, Keep))


class Signed(NamedTuple):
    """The data about a text that is needed to find its replicas."""

    signature: bytes
    """Empty if the text is too short to have one: it repeats nothing, and nothing repeats it."""
    length: int
    """Number of characters of the text."""


class Detector(ABC):
    """Finds replicas by their signatures. The same text has the same signature on every machine."""

    name: ClassVar[str]

    def signed(self, text: str, language: str = "") -> Signed:
        """Sign a text; `language` is the one that its page declares."""
        return Signed(self.sign(text, language), len(text))

    @abstractmethod
    def sign(self, text: str, language: str = "") -> bytes:
        """Return the signature of a text, empty if the text is too short to have one."""

    @abstractmethod
    def keys(self, signature: bytes) -> list[bytes]:
        """Return keys of 8 bytes each. Texts are compared only if they share at least one."""

    @abstractmethod
    def similar(self, one: bytes, other: bytes) -> bool:
        """Whether texts with these signatures, which share a key, are replicas."""

    def parameters(self) -> dict[str, Any]:
        """Return all parameters by name."""
        return {name: getattr(self, name) for name in signature(type(self)).parameters}


DETECTORS: Registry[type[Detector]] = Registry("method to tell replicas", "victorpy.dedup")


def load_detector(method: str, settings: Sequence[str] = (), **parameters: Any) -> Detector:
    """Create a method by name; `settings` are parameters as ``NAME=VALUE``, as on the command line."""
    detector_class = DETECTORS.get(method)
    return detector_class(**{**parse_settings(method, detector_class, settings), **parameters})
