"""Clean a record: bytes in, an outcome out, and an outcome as a row of plain data."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from victorpy.batch.plan import Plan
from victorpy.batch.reasons import Kind, Problem, ProblemError, Status
from victorpy.batch.record import Origin, Record
from victorpy.cleaner import Cleaner
from victorpy.dedup.base import Signed
from victorpy.errors import AnnotationError, DecodeError, ParseError, VictorError
from victorpy.methods import Method, load_method
from victorpy.outputs import OUTPUTS, CleanPage, Output, find_output

__all__ = ["Outcome", "PageCleaner", "Status", "clean_record", "failure", "row"]

_DIGITS = 6  # of a probability; more would be noise

_SMALL_PAGE = """<script type="application/ld+json">{"@type": "Article"}</script><h1>Tea</h1><p>May 17, 2024</p>
<p>Tea is made by pouring hot water over the leaves of the tea bush. It is drunk hot or cold, with milk or lemon, in the
morning and in the afternoon, all over the world.</p>"""


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


class PageCleaner:
    """The method, format and detector of a plan, loaded in this process: what every kind of run maps over records."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.cleaner = plan.load()
        self.output: Output = find_output(plan.format)
        self.detector = plan.dedup.detector() if plan.dedup else None
        # Some libraries are imported when they are first needed. Process a small page now, so that the first record
        # does not pay for the imports: it has a deadline and a memory limit, and a busy machine may take long.
        if self.output.wants_metadata:
            self.output.render(load_method("everything").document(_SMALL_PAGE, metadata=True))
        if self.detector:
            self.detector.sign(_SMALL_PAGE)

    def clean(self, record: Record, cleaner: Cleaner | None = None) -> Outcome:
        """Clean one page, perhaps by the cleaner of its site. Whatever goes wrong becomes its outcome."""
        digest, size = "", 0
        try:
            page = record.read(self.plan.most_bytes)
            content = page.encode("utf-8", "surrogatepass") if isinstance(page, str) else page
            digest, size = f"sha256:{hashlib.sha256(content).hexdigest()}", len(content)
            cleaned = (cleaner or self.cleaner).document(
                page,
                self.plan.url or record.url or None,
                self.plan.content_type or record.content_type or None,
                source=record.name,
                features=self.output.wants_features,
                metadata=self.output.wants_metadata,
                layout=self.output.wants_layout,
            )
            return self._describe(cleaned, digest, size)
        except Exception as error:  # a bug of ours must not cost the other pages
            return failure(_problem(error), digest, size)

    def _describe(self, page: CleanPage, digest: str, size: int) -> Outcome:
        document, output = page.document, self.output
        text, columns = output.tabulate(page) if output.tabulate else (output.render(page), {})
        root = document.elements.attributes[0] if document.elements.attributes else {}
        language = (root.get("lang") or root.get("xml:lang") or "").strip()[:40]
        signed = None
        if self.detector and not page.is_empty:  # the plain text is signed, whatever the format
            plain_text = text if output.name == "text" else OUTPUTS.get("text").render(page)
            signed = self.detector.signed(plain_text, language)
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


def clean_record(
    record: Mapping[str, Any] | Record,
    format: str = "text",
    model: str | None = None,
    method: str | None = None,
    favor: str | None = None,
) -> dict[str, Any]:
    """Clean a record and return a row. Errors of the page are in the row; nothing is raised for them.

    Use it in engines that map a function over records themselves. A record has `html` (bytes or text) and may have
    `url`, `content_type` and `name`; the row has among others `text`, `title`, `status` (kept, empty, skipped,
    failed), `kind` and `reason`. The model is loaded once per process.

    >>> row = clean_record({"url": "http://tea.example/", "html": "<p>Tea is made by pouring hot water over the cured "
    ...                     "leaves of the tea bush, and it is drunk all over the world.</p>"})
    >>> row["status"], row["url"], row["text"][:11]
    ('kept', 'http://tea.example/', 'Tea is made')
    >>> clean_record({"url": "http://tea.example/"})["reason"]
    "the record has no 'html'"
    """
    pages = _page_cleaner(Plan(format=format, method=Method(method, model=model, favor=favor)))
    page = record if isinstance(record, Record) else _as_record(record)
    return row(page, pages.clean(page), pages.output.columns)


_page_cleaner = lru_cache(maxsize=8)(PageCleaner)


def _as_record(fields: Mapping[str, Any]) -> Record:
    page, url = fields.get("html"), str(fields.get("url") or "")
    name = str(fields.get("name") or url)
    origin = Origin(str(fields.get("source") or ""), int(fields.get("position") or 0))
    if isinstance(page, (bytearray, memoryview)):
        page = bytes(page)
    if not isinstance(page, (bytes, str)):
        return Record(name, Path(name), url=url, origin=origin, problem=Problem(Kind.READ, "the record has no 'html'"))
    content_type = str(fields.get("content_type") or "")
    return Record(name, Path(name), payload=page, url=url, content_type=content_type, origin=origin)


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


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(float(number), _DIGITS)
