"""Clean a record, and return its outcome or a row of plain data. Count outcomes."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from itertools import repeat
from typing import Any

from victorpy.base.plain import checked
from victorpy.base.words import aligned_words
from victorpy.batch.plan import NO_FILTERS, Filters, Plan
from victorpy.batch.record import Kind, Origin, Problem, ProblemError, Record, Status
from victorpy.batch.sources import ReadOptions
from victorpy.cleaner import Cleaner, detect_language
from victorpy.dedup.base import Signed
from victorpy.dedup.pages import split_paragraphs
from victorpy.errors import AnnotationError, DecodeError, ParseError, VictorError
from victorpy.methods import Method, load_method
from victorpy.model.parts import DEFAULT_PARTS, Parts
from victorpy.outputs import OUTPUTS, CleanPage, Output, find_output
from victorpy.outputs.base import segments
from victorpy.sites.grouping import site_of

_DIGITS = 6  # decimal places of a probability

_SMALL_PAGE = """<div itemscope itemtype="http://schema.org/Article"></div><h1>Tea</h1><p>17 May 2024</p>
<p>Tea is made by pouring hot water over the leaves of the tea bush. It is drunk hot or cold, with milk or lemon, in the
morning and in the afternoon, all over the world.</p>"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a record, with its text."""

    status: Status
    text: str = ""
    kind: Kind | None = None
    reason: str = ""
    """A sentence about why a record was skipped or failed."""
    losses: tuple[str, ...] = ()
    """Problems that did not make the page fail, such as lost text or a guessed encoding."""
    confidence: float | None = None
    """Expected word F1 of the text."""
    url: str = ""
    title: str = ""
    language: str = ""
    """The detected language, or the language that the page declares if facts were not requested."""
    author: str = ""
    date: str = ""
    """Date of publication."""
    site_name: str = ""
    digest: str = ""
    size: int = 0
    """Size of the page in bytes."""
    labels: Mapping[str, int] = field(default_factory=dict)
    """Number of blocks by label."""
    probability: float | None = None
    """Mean probability of the labels."""
    columns: Mapping[str, Any] = field(default_factory=dict)
    """Additional columns of the format."""
    signed: tuple[Signed, ...] = ()
    """Signatures of the text or its paragraphs, with `dedup`."""
    repeats: Mapping[str, Any] | None = None
    """The record that a replica repeats."""
    file: str = ""
    """The file in the output folder that already contains the text."""


@cache
def small_page() -> CleanPage:
    """Clean a small page with its metadata, to load everything in advance.

    Some libraries are imported, and some models loaded, on first use. After this call, they do not count towards the
    limits of the first record. Only dateparser is not loaded, since this takes half a second and few pages need it.
    """
    return load_method("everything").document(_SMALL_PAGE, metadata=True)


class PageCleaner:
    """The method, format and detector of a plan, loaded in this process. Every kind of run cleans records with it."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.cleaner = plan.load()
        self.output: Output = find_output(plan.format)
        self.detector = plan.dedup.detector() if plan.dedup else None
        self.wants_metadata = plan.wants_metadata
        if self.wants_metadata or plan.filters.languages:
            self.output.render(small_page())
        if self.detector:
            self.detector.sign(_SMALL_PAGE)

    def clean(self, record: Record, cleaner: Cleaner | None = None) -> Outcome:
        """Clean a page, with the cleaner of its site if one is given. Errors become the page's outcome."""
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
                metadata=self.wants_metadata,
                layout=self.output.wants_layout,
                annotation=record.is_annotation,
                parts=self.plan.parts,
            )
            return self._describe(cleaned, digest, size)
        except Exception as error:  # a bug in victorpy must not affect other pages
            return failure(_problem(error), digest, size)

    def _describe(self, page: CleanPage, digest: str, size: int) -> Outcome:
        document, output = page.document, self.output
        tabulate = output.tabulate if self.plan.has_rows or not output.together else None
        text, columns = tabulate(page) if tabulate else (output.render(page), {})
        facts, language = page.metadata, page.language
        if facts is None:
            root = document.elements.attributes[0] if document.elements.attributes else {}
            language = (root.get("lang") or root.get("xml:lang") or "").strip()[:40]
            if self.plan.filters.languages:
                language = detect_language(page, language)
        problem = self._filter(page, language) if self.plan.filters != NO_FILTERS else None
        probability = sum(page.probabilities) / len(page.probabilities) if page.probabilities else None
        status = Status.EMPTY if page.is_empty else Status.KEPT
        return Outcome(
            problem.kind.status if problem else status,
            "" if problem else text,
            kind=problem.kind if problem else None,
            reason=problem.words if problem else "",
            losses=document.losses,
            confidence=_rounded(page.confidence),
            url=document.url,
            title=facts.title if facts else document.title,
            language=language,
            author=facts.author if facts else "",
            date=facts.date if facts else "",
            site_name=facts.site_name if facts else "",
            digest=digest,
            size=size,
            labels=dict(sorted(Counter(map(str, page.labels)).items())),
            probability=_rounded(probability),
            columns=columns,
            signed=() if problem or page.is_empty else self._sign(page, text, language),
        )

    def _filter(self, page: CleanPage, language: str) -> Problem | None:
        """Return why the filters skip a page, or None. Pages without text have neither a language nor a confidence."""
        filters = self.plan.filters
        if filters.min_words:
            kept = zip(page.document.texts, page.labels, strict=True)
            count = sum(len(aligned_words(text)) for text, label in kept if label.is_content)
            if count < filters.min_words:
                return Problem(Kind.TOO_SHORT, f"{count:,} words are fewer than {filters.min_words:,}")
        if page.is_empty:
            return None
        if filters.min_confidence and page.confidence is not None and page.confidence < filters.min_confidence:
            reason = f"the confidence {page.confidence:.3f} is below {filters.min_confidence:g}"
            return Problem(Kind.UNSURE, reason)
        if filters.languages and language not in filters.languages:
            wanted = ", ".join(filters.languages)
            return Problem(Kind.LANGUAGE, f"the language is {language or 'unknown'}, not {wanted}")
        return None

    def _sign(self, page: CleanPage, text: str, language: str) -> tuple[Signed, ...]:
        """Return the signatures of a page or its paragraphs. They always use the plain text."""
        dedup, detector, is_text = self.plan.dedup, self.detector, self.output.name == "text"
        if dedup is None or detector is None:
            return ()
        plain_text = text if is_text or dedup.by_paragraph else OUTPUTS.get("text").render(page)
        dropped: list[str] = []  # the texts that are not, or only partly, in the output
        if detector.uses_page:
            blocks = zip(page.document.texts, page.labels, page.spans or repeat(None), strict=False)
            dropped = [block for block, label, spans in blocks if not label.is_content or spans is not None]
        signed = detector.signed(plain_text, page.document.title, "\n".join(dropped), language)
        if dedup.by_paragraph and is_text and page.document.has_tag("pre"):  # keep listings without fences whole
            listings = [segment.text for segment in segments(page) if segment.preformatted]
            chunks = {chunk for listing in listings for chunk in listing.split("\n\n")}
            pairs = zip(signed, split_paragraphs(text), strict=True)
            signed = [one._replace(signature=b"") if part in chunks else one for one, part in pairs]
        return tuple(signed)


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(float(number), _DIGITS)


def _problem(error: Exception) -> Problem:
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, MemoryError):  # parsers may wrap a MemoryError in another error
        cause = cause.__cause__ or cause.__context__
    if cause is not None:
        return Problem(Kind.MEMORY, "not enough memory")
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


def failure(problem: Problem, digest: str = "", size: int = 0) -> Outcome:
    """Return the outcome of a record with a problem."""
    return Outcome(problem.kind.status, kind=problem.kind, reason=problem.words, digest=digest, size=size)


def clean_record(
    record: Mapping[str, Any] | Record,
    format: str = "text",
    model: str | None = None,
    method: str | None = None,
    favor: str | None = None,
    allow_code: bool = False,
    parts: Parts = DEFAULT_PARTS,
    filters: Filters = NO_FILTERS,
) -> dict[str, Any]:
    """Clean a record and return a row. If the page fails, the row contains the reason, and nothing is raised.

    Raises VictorError if the model, the method or the format does not exist.

    Use this function in engines that map a function over records. A record has `html` (bytes or text) and may have
    `url`, `content_type` and `name`. The row has `text`, `title`, `status` (kept, empty, skipped, failed), `kind`,
    `reason` and other columns. The model is loaded once per process. `allow_code` is as in `Cleaner.load`, and
    `parts` as in `Cleaner.document`. Pages that do not meet `filters` are skipped.

    >>> row = clean_record({"url": "http://tea.example/", "html": "<p>Tea is made by pouring hot water over the cured "
    ...                     "leaves of the tea bush, and it is drunk all over the world.</p>"})
    >>> row["status"], row["url"], row["text"][:11]
    ('kept', 'http://tea.example/', 'Tea is made')
    >>> clean_record({"url": "http://tea.example/"})["reason"]
    "there is no page in the field 'html'; the row has these fields: url"
    """
    chosen = Method(method, model=model, favor=favor, allow_code=allow_code)
    pages = _page_cleaner(Plan(to="jsonl", format=format, parts=parts, filters=filters, method=chosen))
    if not isinstance(record, Record):
        from victorpy.batch.sources.rows import field_record

        fields = {
            name: bytes(value) if isinstance(value, (bytearray, memoryview)) else value
            for name, value in record.items()
        }
        position = str(record.get("position"))
        origin = Origin(str(record.get("source") or ""), int(position) if position.isdecimal() else 0)
        name = str(record.get("name") or record.get("url") or "")
        record = replace(field_record(fields, origin, ReadOptions(), reached=0), name=name)
    return row(record, pages.clean(record), pages.output.columns)


_page_cleaner = lru_cache(maxsize=8)(PageCleaner)


def row(record: Record, outcome: Outcome, columns: Sequence[str] = ()) -> dict[str, Any]:
    """Return a record and its outcome as plain data, with the columns that the format adds.

    These columns are None if the page failed.
    """
    own = outcome.columns
    return {
        **describe_place(record, outcome),
        "host": site_of(record.url or outcome.url, "host"),
        "crawled": record.date.strip(),
        "digest": outcome.digest,
        "size": outcome.size,
        "language": own.get("language", outcome.language),
        "title": own.get("title", outcome.title),
        "author": outcome.author,
        "date": outcome.date,
        "site_name": outcome.site_name,
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


def stored_outcome(fields: Mapping[str, Any], columns: Sequence[str], part: object) -> Outcome:
    """Restore an outcome from a row that `row` returned. Raises DataError if the row is damaged."""
    facts = ("title", "author", "date", "site_name", "language")  # some formats have no such columns
    same = ("status", "text", "reason", "confidence", "url", "digest", "size", "labels", "probability", "losses")
    stored = {
        **{name: fields.get(name) for name in same},
        **{name: fields.get(name) or "" for name in facts},
        "kind": fields.get("kind") or None,
        "columns": {name: fields.get(name) for name in columns},
        "repeats": fields.get("repeats"),
        "file": fields.get("file", ""),
    }
    return checked(stored, Outcome, part)


def describe_place(record: Record, outcome: Outcome) -> dict[str, Any]:
    """Return the columns of a row that identify the record."""
    return {
        "url": record.url or outcome.url,
        "name": record.name,
        "source": record.origin.source,
        "position": record.origin.position,
    }


# Counts of records.

ROW_BYTES = 700
"""Average size of a row without its text."""


class Counts:
    """Number of records by status and by kind of problem, and their total size."""

    def __init__(self, entry: Mapping[str, Any] | None = None) -> None:
        self.statuses: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()
        self.bytes = 0
        if entry:
            self.add_stored(entry)

    def count(self, outcome: Outcome) -> None:
        self.statuses[str(outcome.status)] += 1
        self.bytes += outcome.size
        if outcome.kind is not None:
            self.kinds[str(outcome.kind)] += 1

    def add_stored(self, entry: Mapping[str, Any]) -> None:
        """Add counts that `as_dict` returned."""
        self.statuses.update({str(status): int(entry.get(str(status), 0)) for status in Status})
        self.kinds.update(entry["kinds"])
        self.bytes += int(entry["bytes"])

    @property
    def pages(self) -> int:
        return sum(self.statuses.values())

    def as_dict(self) -> dict[str, Any]:
        by_status = {str(status): self.statuses[str(status)] for status in Status}
        return {"pages": self.pages, **by_status, "bytes": self.bytes, "kinds": dict(sorted(self.kinds.items()))}


class Tally(Counts):
    """The summary of some records in a manifest: their counts, failures and replicas."""

    def __init__(self) -> None:
        super().__init__()
        self.failures: list[dict[str, Any]] = []
        self.repeats: list[dict[str, Any]] = []
        self.row_bytes = 0
        """Approximate size of the rows, independent of how they are stored."""

    def add(self, record: Record, outcome: Outcome) -> None:
        self.count(outcome)
        self.row_bytes += ROW_BYTES + len(outcome.text)
        if outcome.status is Status.FAILED:
            self.failures.append(describe_failure(record, outcome))
        if outcome.repeats is not None:
            self.repeats.append({**describe_place(record, outcome), "repeats": outcome.repeats})

    def add_stored(self, entry: Mapping[str, Any]) -> None:
        super().add_stored(entry)
        self.failures += entry["failures"]
        self.repeats += entry["repeats"]

    def as_dict(self) -> dict[str, Any]:
        return {**super().as_dict(), "failures": self.failures, "repeats": self.repeats}


def describe_failure(record: Record, outcome: Outcome) -> dict[str, Any]:
    """Return the line of failed.jsonl for a record, which identifies the record for a retry."""
    return {
        "name": record.name,
        "url": record.url,
        "source": record.origin.source,
        "position": record.origin.position,
        "rest": record.origin.rest,
        "place": record.place.as_posix(),
        "kind": str(outcome.kind or ""),
        "reason": outcome.reason,
    }
