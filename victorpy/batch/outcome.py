"""What becomes of a record: the one function that every kind of run maps over records."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from victorpy.batch.records import Record
from victorpy.cleaner import Cleaner
from victorpy.errors import VictorError
from victorpy.outputs import Output


class Status(StrEnum):
    """How a record ended."""

    KEPT = "kept"
    EMPTY = "empty"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a record ended, with the text that came of it."""

    status: Status
    text: str = ""
    reason: str = ""
    """Why a record failed."""
    losses: tuple[str, ...] = ()
    """What of the page was lost or guessed, though it did not fail."""
    confidence: float | None = None
    """The word F1 that may be expected of the text; None where not known."""


def clean_record(
    record: Record, cleaner: Cleaner, output: Output, url: str | None = None, content_type: str | None = None
) -> Outcome:
    """Clean one page; whatever goes wrong becomes its outcome and nobody else's."""
    try:
        page = cleaner.document(record.read(), url, content_type, source=record.name, features=output.wants_features)
        text = output.render(page)
    except OSError as error:
        return Outcome(Status.FAILED, reason=f"cannot be read: {error.strerror or error}")
    except VictorError as error:
        return Outcome(Status.FAILED, reason=str(error))
    except Exception as error:  # a bug of ours must not cost the other pages
        return Outcome(Status.FAILED, reason=f"internal error: {type(error).__name__}: {error}")
    status = Status.EMPTY if page.is_empty else Status.KEPT
    return Outcome(status, text, losses=page.document.losses, confidence=page.confidence)
