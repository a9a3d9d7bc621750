"""What becomes of a record: the function that every kind of run maps over records."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from victorpy.batch.reasons import Kind, Problem, ProblemError, Status
from victorpy.batch.record import Record
from victorpy.cleaner import Cleaner
from victorpy.dedup.base import Detector, Signed
from victorpy.errors import AnnotationError, DecodeError, ParseError, VictorError
from victorpy.outputs import OUTPUTS, CleanPage, Output

__all__ = ["Outcome", "Status", "clean_record", "failure", "row"]

_DIGITS = 6  # of a probability; more would be noise


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a record ended, with the text that came of it."""

    status: Status
    text: str = ""
    kind: Kind | None = None
    """Why a record was skipped or failed."""
    reason: str = ""
    """The same as a sentence."""
    losses: tuple[str, ...] = ()
    """Parts of the page that were lost or guessed, though it did not fail."""
    confidence: float | None = None
    """Expected word F1 of the text; None if unknown."""
    url: str = ""
    title: str = ""
    language: str = ""
    """The language that the page declares."""
    digest: str = ""
    """SHA-256 of the page's bytes."""
    size: int = 0
    """Number of bytes of the page."""
    labels: Mapping[str, int] = field(default_factory=dict)
    """Number of blocks by label."""
    probability: float | None = None
    """Mean probability of the blocks' labels; None if unknown."""
    columns: Mapping[str, Any] = field(default_factory=dict)
    """Columns that the format adds."""
    signed: Signed | None = None
    """Signature of the text, if replicas are to be found."""
    repeats: Mapping[str, Any] | None = None
    """The record that a replica repeats."""


def clean_record(
    record: Record,
    cleaner: Cleaner,
    output: Output,
    url: str | None = None,
    content_type: str | None = None,
    most_bytes: int | None = None,
    detector: Detector | None = None,
) -> Outcome:
    """Clean one page. Whatever goes wrong becomes its outcome; nothing is raised."""
    digest, size = "", 0
    try:
        page = record.read(most_bytes)
        content = page.encode("utf-8", "surrogatepass") if isinstance(page, str) else page
        digest, size = f"sha256:{hashlib.sha256(content).hexdigest()}", len(content)
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
    """Return the outcome of a record with a problem."""
    return Outcome(problem.kind.status, kind=problem.kind, reason=problem.words, digest=digest, size=size)


def row(record: Record, outcome: Outcome, columns: Sequence[str] = ()) -> dict[str, Any]:
    """Return all that is known of a record, as plain data: a line of JSON, a row of a table.

    `columns` are those that the format adds; they are None if the page failed.
    """
    own = outcome.columns
    return {
        **describe_place(record, outcome),
        "digest": outcome.digest,
        "language": own.get("language", outcome.language),
        "title": own.get("title", outcome.title),
        "text": own.get("content", outcome.text),
        "labels": dict(outcome.labels),
        "probability": outcome.probability,
        "confidence": outcome.confidence,
        "losses": list(outcome.losses),
        "status": str(outcome.status),
        "kind": str(outcome.kind or ""),
        "reason": outcome.reason,
        "repeats": outcome.repeats,
        **{name: own.get(name) for name in columns},
    }


def describe_place(record: Record, outcome: Outcome) -> dict[str, Any]:
    """Return what identifies a record: the first columns of its row."""
    return {
        "url": record.url or outcome.url,
        "name": record.name,
        "source": record.origin.source,
        "position": record.origin.position,
    }


def _problem(error: Exception) -> Problem:
    """Find the kind of an error."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, MemoryError):  # parsers may hide it in another error
        cause = cause.__cause__ or cause.__context__
    if cause is not None:
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


def _described(page: CleanPage, output: Output, digest: str, size: int, detector: Detector | None) -> Outcome:
    document = page.document
    text, columns = output.tabulate(page) if output.tabulate else (output.render(page), {})
    root = document.elements.attributes[0] if document.elements.attributes else {}
    language = (root.get("lang") or root.get("xml:lang") or "").strip()[:40]
    signed = None
    if detector and not page.is_empty:
        signed = detector.signed(OUTPUTS.get("text").render(page), language)  # of plain text, whatever the format
    probability = sum(page.probabilities) / len(page.probabilities) if page.probabilities else None
    return Outcome(
        Status.EMPTY if page.is_empty else Status.KEPT,
        text,
        losses=document.losses,
        confidence=_rounded(page.confidence),
        url=document.url,
        title=document.title,
        language=language,
        digest=digest,
        size=size,
        labels=dict(sorted(Counter(map(str, page.labels)).items())),
        probability=_rounded(probability),
        columns=columns,
        signed=signed,
    )


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(float(number), _DIGITS)
