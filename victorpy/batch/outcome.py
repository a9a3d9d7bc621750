"""What becomes of a record: the one function that every kind of run maps over records."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from victorpy.batch.reasons import Kind, Problem, ProblemError, Status
from victorpy.batch.records import Record
from victorpy.cleaner import Cleaner
from victorpy.document import CleanPage
from victorpy.errors import AnnotationError, DecodeError, ParseError, VictorError
from victorpy.outputs import OUTPUTS, Output
from victorpy.replicas.base import Detector, Signed

__all__ = ["Outcome", "Status", "clean_record", "failure", "row"]

_DIGITS = 6  # of a probability; more would be noise


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a record ended, with the text that came of it."""

    status: Status
    text: str = ""
    kind: Kind | None = None
    """Why a record was skipped or failed, to count by ..."""
    reason: str = ""
    """... and to read."""
    losses: tuple[str, ...] = ()
    """What of the page was lost or guessed, though it did not fail."""
    confidence: float | None = None
    """The word F1 that may be expected of the text; None where not known."""
    url: str = ""
    title: str = ""
    language: str = ""
    """What the page says of its language."""
    digest: str = ""
    """The page's bytes, by SHA-256."""
    size: int = 0
    """How many bytes the page has."""
    labels: Mapping[str, int] = field(default_factory=dict)
    """How many blocks have each label."""
    probability: float | None = None
    """The mean probability of the blocks' labels; None where not known."""
    columns: Mapping[str, Any] = field(default_factory=dict)
    """What the format knows of the page besides."""
    signed: Signed | None = None
    """What is remembered of the text where replicas are looked for."""
    repeats: Mapping[str, Any] | None = None
    """Of a replica, the record that it repeats."""


def clean_record(
    record: Record,
    cleaner: Cleaner,
    output: Output,
    url: str | None = None,
    content_type: str | None = None,
    most_bytes: int | None = None,
    detector: Detector | None = None,
) -> Outcome:
    """Clean one page; whatever goes wrong becomes its outcome and nobody else's."""
    digest, size = "", 0
    try:
        page = record.read(most_bytes)
        digest, size = _digest(page)
        cleaned = cleaner.document(
            page,
            url or record.url or None,
            content_type or record.content_type or None,
            source=record.name,
            features=output.wants_features,
            metadata=output.wants_metadata,
        )
        return _described(cleaned, output, digest, size, detector)
    except Exception as error:  # a bug of ours must not cost the other pages
        return failure(_problem(error), digest, size)


def failure(problem: Problem, digest: str = "", size: int = 0) -> Outcome:
    """The outcome of a record with a problem."""
    return Outcome(problem.kind.status, kind=problem.kind, reason=problem.words, digest=digest, size=size)


def row(record: Record, outcome: Outcome, columns: Sequence[str] = ()) -> dict[str, Any]:
    """All that is known of a record in the end, as plain data: a line of JSON, a row of a table.

    `columns` are those that the format adds; where a page failed they are None.
    """
    told = outcome.columns
    return {
        **place_told(record, outcome),
        "digest": outcome.digest,
        "language": told.get("language", outcome.language),
        "title": told.get("title", outcome.title),
        "text": told.get("content", outcome.text),
        "labels": dict(outcome.labels),
        "probability": outcome.probability,
        "confidence": outcome.confidence,
        "losses": list(outcome.losses),
        "status": str(outcome.status),
        "kind": str(outcome.kind or ""),
        "reason": outcome.reason,
        "repeats": outcome.repeats,
        **{name: told.get(name) for name in columns},
    }


def place_told(record: Record, outcome: Outcome) -> dict[str, Any]:
    """What names a record to others: the beginning of its row."""
    return {
        "url": record.url or outcome.url,
        "name": record.name,
        "source": record.origin.source,
        "position": record.origin.position,
    }


def _problem(error: Exception) -> Problem:
    """Sort what went wrong."""
    if _is_memory(error):
        return Problem(Kind.MEMORY, "the memory did not suffice")
    match error:
        case ProblemError():
            return error.problem
        case OSError():
            return Problem(Kind.READ, f"cannot be read: {error.strerror or error}")
        case VictorError():
            parsing = isinstance(error, (ParseError, AnnotationError))
            kind = Kind.DECODE if isinstance(error, DecodeError) else Kind.PARSE if parsing else Kind.INTERNAL
            return Problem(kind, str(error))
        case _:
            return Problem(Kind.INTERNAL, f"internal error: {type(error).__name__}: {error}")


def _is_memory(error: BaseException | None) -> bool:
    """Whether memory ran out, whatever was made of it on the way up."""
    while error is not None and not isinstance(error, MemoryError):
        error = error.__cause__ or error.__context__
    return error is not None


def _described(page: CleanPage, output: Output, digest: str, size: int, detector: Detector | None) -> Outcome:
    document = page.document
    text, columns = output.tabulate(page) if output.tabulate else (output.render(page), {})
    counts = Counter(map(str, page.labels))
    return Outcome(
        Status.EMPTY if page.is_empty else Status.KEPT,
        text,
        losses=document.losses,
        confidence=_rounded(page.confidence),
        url=document.url,
        title=document.title,
        language=_language(page),
        digest=digest,
        size=size,
        labels=dict(sorted(counts.items())),
        probability=_rounded(sum(page.probabilities) / len(page.probabilities)) if page.probabilities else None,
        columns=columns,
        signed=_signed(page, detector) if detector and not page.is_empty else None,
    )


def _signed(page: CleanPage, detector: Detector) -> Signed:
    """What is remembered of the page's text: the plain one, whatever format it is written in."""
    return detector.signed(OUTPUTS.get("text").render(page), _language(page))


def _digest(page: bytes | str) -> tuple[str, int]:
    content = page.encode("utf-8", "surrogatepass") if isinstance(page, str) else page
    return f"sha256:{hashlib.sha256(content).hexdigest()}", len(content)


def _language(page: CleanPage) -> str:
    """The language that the root names, cut short: nobody's has forty characters."""
    attributes = page.document.elements.attributes
    named = attributes[0] if attributes else {}
    return (named.get("lang") or named.get("xml:lang") or "").strip()[:40]


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(float(number), _DIGITS)
