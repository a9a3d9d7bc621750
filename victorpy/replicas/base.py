"""What a method that tells replicas is: it makes a short signature of a text, and compares signatures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, ClassVar, NamedTuple

from victorpy.registry import Registry
from victorpy.settings import parse_settings

EXTRA = "docview"
"""The extra that has the packages for it."""


class Keep(StrEnum):
    """Which of several texts that repeat each other stays."""

    FIRST = "first"
    LONGEST = "longest"


KEEP = tuple(map(str, Keep))


class Signed(NamedTuple):
    """What is remembered of a text to tell whether others repeat it."""

    signature: bytes
    """Empty where the text is too short to have one: it repeats nothing, and nothing repeats it."""
    length: int
    """How many characters the text has."""


class Detector(ABC):
    """Tells replicas by their signatures. The same text has the same signature on every machine."""

    name: ClassVar[str]
    compares: ClassVar[bool]
    """Whether sharing a key is not enough, and signatures have to be compared."""

    def signed(self, text: str, language: str = "") -> Signed:
        """What is remembered of a text; the language is what its page says it is."""
        return Signed(self.sign(text, language), len(text))

    @abstractmethod
    def sign(self, text: str, language: str = "") -> bytes:
        """The signature of a text, empty where it is too short to have one."""

    @abstractmethod
    def keys(self, signature: bytes) -> list[bytes]:
        """What to look replicas up by, 8 bytes each: two of them share at least one key."""

    @abstractmethod
    def similar(self, one: bytes, other: bytes) -> bool:
        """Whether texts with these signatures, which share a key, are replicas."""

    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """The parameters by name, all of them."""


DETECTORS: Registry[type[Detector]] = Registry("method to tell replicas", "victorpy.replicas")


def load_detector(method: str, settings: Sequence[str] = (), **parameters: Any) -> Detector:
    """Make a method ready; `settings` are parameters as ``NAME=VALUE``, as commands have them."""
    make = DETECTORS.get(method)
    given: Mapping[str, Any] = {**parse_settings(method, make, settings), **parameters}
    return make(**given)
