"""How a record can end, and why: a short kind to count by, and a sentence to read."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Status(StrEnum):
    """How a record ended."""

    KEPT = "kept"
    EMPTY = "empty"
    SKIPPED = "skipped"
    FAILED = "failed"
    REPLICA = "replica"


class Kind(StrEnum):
    """Why a record was skipped or failed."""

    NOT_HTML = "not-html"
    TOO_LARGE = "too-large"
    READ = "read"
    DAMAGED = "damaged"
    DECODE = "decode"
    PARSE = "parse"
    TIMEOUT = "timeout"
    CRASH = "crash"
    MEMORY = "memory"
    SITE = "site"
    INTERNAL = "internal"

    @property
    def status(self) -> Status:
        return Status.SKIPPED if self in {Kind.NOT_HTML, Kind.TOO_LARGE} else Status.FAILED


class Problem(NamedTuple):
    """Why a record cannot be cleaned."""

    kind: Kind
    words: str


class ProblemError(Exception):
    """Carries a problem from where it was found to the outcome of the record."""

    def __init__(self, kind: Kind, words: str) -> None:
        super().__init__(words)
        self.problem = Problem(kind, words)
