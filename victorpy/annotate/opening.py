"""A page, its annotation and its journal to a session that stands where it stood."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from victorpy.anno import Annotation, load_annotation
from victorpy.annotate.journal import (
    MOST_MOVES,
    Journal,
    Lock,
    Recorded,
    Store,
    compact,
    digest_of,
    digest_of_file,
    read_journal,
    remove_leftovers,
    set_aside,
    write_atomically,
)
from victorpy.annotate.session import Moved, Prediction, Session
from victorpy.cleaner import read_document
from victorpy.config import Config
from victorpy.document import Document, Label
from victorpy.errors import DataError

Predict = Callable[[Document], Prediction]
"""A model: what it says of a page's blocks."""


@dataclass
class Opened:
    """A page on the table."""

    name: str
    session: Session
    store: Store
    messages: list[str] = field(default_factory=list)
    """What the person should know of it."""


@contextmanager
def without_collector() -> Iterator[None]:
    """Make many objects that stay, and spare Python's garbage collector the search through them, then and later."""
    gc.unfreeze()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def journal_of(anno: Path) -> Path:
    """Where an annotation's journal lies."""
    return anno.with_name(f"{anno.name}.journal")


def lock_of(anno: Path) -> Path:
    """Where an annotation's lock lies."""
    return anno.with_name(f"{anno.name}.lock")


def open_page(
    page: Path | None, anno: Path, config: Config, predict: Predict | None = None, read_only: bool = False
) -> Opened:
    """Open a page to annotate it: from its annotation file, or where there is none from the page itself."""
    name = str(page or anno)
    anno = anno.resolve()  # a link stays a link: the file that it names is written
    with without_collector(), _Opening(anno, read_only) as opening:
        annotation = load_annotation(anno, config.cuts) if anno.exists() else _blank(page, anno, config)
        return opening.open(annotation, config, predict, name)


def open_adjudication(first: Path, second: Path, gold: Path, config: Config, read_only: bool = False) -> Opened:
    """Open two people's annotations of one page, to decide between them."""
    name, gold = str(gold), gold.resolve()
    if gold in {first.resolve(), second.resolve()}:
        raise DataError(f"{gold.name}: what is decided goes into a file of its own, not over one of the two")
    one, other = (load_annotation(path, config.cuts) for path in (first, second))
    _check_same_blocks(one.document, other.document, f"{first} and {second}")
    with _Opening(gold, read_only) as opening:
        agreed = tuple(ours if ours is theirs else None for ours, theirs in zip(one.labels, other.labels, strict=True))
        annotation = Annotation(one.document, agreed, (None,) * len(agreed))
        if gold.exists():
            annotation = load_annotation(gold, config.cuts)
            _check_same_blocks(one.document, annotation.document, f"{first} and {gold}")
        return opening.open(annotation, config, None, name, (one.labels, other.labels))


def _check_same_blocks(one: Document, other: Document, names: str) -> None:
    ours, theirs = ([block.text for block in document.blocks] for document in (one, other))
    if ours == theirs:
        return
    if len(ours) != len(theirs):
        raise DataError(f"{names} are not of the same page: one has {len(ours):,} blocks, the other {len(theirs):,}")
    at = next(number for number, texts in enumerate(zip(ours, theirs, strict=True)) if texts[0] != texts[1])
    raise DataError(f"{names} are not of the same page: block {at + 1} has another text: {theirs[at][:60]!r}")


def _blank(page: Path | None, anno: Path, config: Config) -> Annotation:
    """A page that nobody has labelled."""
    if page is None:
        raise DataError(f"{anno}: cannot be read: No such file or directory")
    document = read_document(read_bytes(page), config, source=page.name)
    nothing = (None,) * len(document.blocks)
    return Annotation(document, nothing, nothing)


def read_bytes(page: Path) -> bytes:
    """Read a page's file."""
    try:
        return page.read_bytes()
    except OSError as error:
        raise DataError(f"{page}: cannot be read: {error.strerror}") from error


class _Opening:
    """Opens what lies beside an annotation; when that fails, the lock is let go."""

    def __init__(self, anno: Path, read_only: bool) -> None:
        self._anno = anno
        self._messages: list[str] = []
        self._lock = None if read_only else Lock(lock_of(anno))

    def __enter__(self) -> _Opening:
        if self._lock is not None:
            _check_writable(self._anno)
            self._lock.take()
            remove_leftovers(self._anno)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and self._lock is not None:
            self._lock.release()

    def open(
        self,
        annotation: Annotation,
        config: Config,
        predict: Predict | None,
        name: str,
        choices: tuple[Sequence[Label | None], ...] = (),
    ) -> Opened:
        """Make the session, and what keeps it."""
        document = annotation.document
        recorded = self._recorded(document)
        prediction, given = (recorded.prediction, recorded.given) if recorded else _first_labels(annotation, predict)
        session = Session(document, prediction, given, config.cuts.block_level, choices)
        if recorded is not None:
            recorded.session(session)
        journal = self._journal(session, recorded)
        store = Store(self._anno, session, journal, self._lock, annotation.comments)
        if recorded is not None:
            self._bring_up_to_date(session, recorded, annotation, store)
        self._messages += document.losses
        if self._lock is None:
            self._messages.append("This is to look at only: no change is kept")
        return Opened(name, session, store, self._messages)

    def _recorded(self, document: Document) -> Recorded | None:
        """What the journal tells, if there is one and it is of this page."""
        path = journal_of(self._anno)
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        try:
            recorded = read_journal(content)
        except ValueError as error:
            self._reject(path, str(error))
            return None
        if recorded.digest != digest_of(document) or len(recorded.given) != len(document.blocks):
            self._reject(path, "it is of another page")
            return None
        if not self._anno.exists() and recorded.was_written:
            self._reject(path, f"{self._anno.name} is gone, so all begins anew")
            return None
        if recorded.damage:
            kept = "" if self._lock is None else f"; a copy is {self._keep_copy(path, content).name}"
            self._messages.append(f"{path.name}: {recorded.damage}; what stands before it was read{kept}")
        return recorded

    def _keep_copy(self, path: Path, content: bytes) -> Path:
        kept = set_aside(path)
        write_atomically(path, content)
        return kept

    def _reject(self, path: Path, reason: str) -> None:
        if self._lock is None:
            self._messages.append(f"{path.name}: not used: {reason}")
        else:
            self._messages.append(f"{path.name}: {reason}; it was renamed to {set_aside(path).name}")

    def _journal(self, session: Session, recorded: Recorded | None) -> Journal | None:
        if self._lock is None:
            return None
        path = journal_of(self._anno)
        if recorded is None:
            return Journal.begin(path, session)
        if sum(isinstance(event, Moved) for event in recorded.events) > MOST_MOVES:
            content = compact(recorded, session)
            write_atomically(path, content)
            recorded.good = len(content)
        return Journal.resume(path, recorded)

    def _bring_up_to_date(self, session: Session, recorded: Recorded, annotation: Annotation, store: Store) -> None:
        """Where the file was changed since by other means, it is right; where it is behind, it will be written."""
        found = digest_of_file(self._anno.read_bytes()) if self._anno.exists() else ""
        ours = found in recorded.saves if recorded.saves else not self._differs_from_start(recorded, annotation)
        if found and not ours:
            self._take_over_edits(session, annotation)
        elif found != (recorded.saves or [""])[-1] or recorded.is_ahead:
            store.save_soon()

    def _take_over_edits(self, session: Session, annotation: Annotation) -> None:
        labels = [
            label if probability is None or label is not predicted else None
            for label, probability, predicted in zip(
                annotation.labels, annotation.probabilities, session.predicted.labels, strict=True
            )
        ]
        count = session.set_outside(labels)
        if count:
            blocks = "1 label" if count == 1 else f"{count:,} labels"
            self._messages.append(f"{blocks} changed in {self._anno.name} since; taken over (undo brings them back)")

    def _differs_from_start(self, recorded: Recorded, annotation: Annotation) -> bool:
        """Whether a file that this program has never written is not the one that the journal began with."""
        labels = [ours or theirs for ours, theirs in zip(recorded.given, recorded.prediction.labels, strict=True)]
        return labels != list(annotation.labels)


def _first_labels(annotation: Annotation, predict: Predict | None) -> tuple[Prediction, tuple[Label | None, ...]]:
    """What an annotation begins with: a number beside a label says that a model gave it, a dash that a person did.

    A label that stands in the file is never replaced by the model's of today: it may have been corrected by hand, with
    the number left as it was.
    """
    rows = list(zip(annotation.labels, annotation.probabilities, strict=True))
    given = tuple(label if probability is None else None for label, probability in rows)
    model = predict(annotation.document) if predict is not None else Prediction.none(len(rows))
    labels, probabilities = [], []
    for (label, probability), theirs, how_sure in zip(rows, model.labels, model.probabilities, strict=True):
        ours = label is not None and probability is not None
        labels.append(label if ours else theirs)
        probabilities.append(probability if ours else how_sure)
    return Prediction(tuple(labels), tuple(probabilities)), given


def _check_writable(anno: Path) -> None:
    """Say before any work is done that it could not be kept."""
    if not anno.parent.is_dir():
        raise DataError(f"{anno.parent}: is no directory, so {anno.name} cannot be written there")
    if anno.is_dir():
        raise DataError(f"{anno}: is a directory, not an annotation file")
    for place in (anno.parent, anno, journal_of(anno)):
        if place.exists() and not os.access(place, os.W_OK):
            raise DataError(
                f"{place}: no permission to write there; --read-only shows the page without keeping anything"
            )
