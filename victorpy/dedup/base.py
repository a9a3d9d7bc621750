"""The interface of a deduplication method, which signs texts and compares signatures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from enum import StrEnum
from inspect import signature
from typing import Any, ClassVar, NamedTuple

from victorpy.base.parameters import parse_settings
from victorpy.base.registry import Registry


class Keep(StrEnum):
    """Which of several replicas to keep."""

    FIRST = "first"
    LONGEST = "longest"


KEEP = tuple(map(str, Keep))


class Signed(NamedTuple):
    """The signature and length of a text. A text that is too short has an empty signature and no replicas."""

    signature: bytes
    length: int


class Detector(ABC):
    """A deduplication method. A text has the same signature on every machine."""

    name: ClassVar[str]

    def signed(self, text: str, language: str = "") -> Signed:
        """Sign a text. `language` is the language that its page declares."""
        return Signed(self.sign(text, language), len(text))

    @abstractmethod
    def sign(self, text: str, language: str = "") -> bytes:
        """Return the signature of a text. It is empty if the text is too short."""

    @abstractmethod
    def keys(self, signature: bytes) -> list[bytes]:
        """Return keys of 8 bytes each. Only texts that share a key are compared."""

    @abstractmethod
    def similar(self, one: bytes, other: bytes) -> bool:
        """Whether two texts that share a key are replicas."""

    def parameters(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in signature(type(self)).parameters}


DETECTORS: Registry[type[Detector]] = Registry("deduplication method", "victorpy.dedup")


def load_detector(method: str, settings: Sequence[str] = (), **parameters: Any) -> Detector:
    """Create a method. `settings` are parameters in the form ``NAME=VALUE``, as on the command line."""
    detector_class = DETECTORS.get(method)
    return detector_class(**{**parse_settings(method, detector_class, settings), **parameters})
