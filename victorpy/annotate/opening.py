"""A page, its annotation and its journal to a session that stands where it stood."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from victorpy.anno import Annotation, load_annotation
from victorpy.annotate.events import Choice, Moved, Prediction
from victorpy.annotate.journal import MOST_MOVES, Journal, Recorded, compact, digest_of_file, read_journal
from victorpy.annotate.lock import Lock
from victorpy.annotate.session import Session
from victorpy.annotate.store import Store
from victorpy.annotators import short_names
from victorpy.cleaner import read_document
from victorpy.config import Config
from victorpy.document import Document, Label
from victorpy.errors import DataError, VictorError
from victorpy.files import remove_leftovers, set_aside, write_atomically
from victorpy.same_blocks import digest_of, find_difference


class Model(Protocol):
    """Says what a page's blocks are."""

    @property
    def name(self) -> str:
        """As a person calls it."""
        ...

    @property
    def identity(self) -> str:
        """Differs from that of every other model."""
        ...

    def __call__(self, document: Document) -> Prediction:
        """Label a page's blocks."""
        ...


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
    page: Path | None, anno: Path, config: Config, model: Model | None = None, read_only: bool = False
) -> Opened:
    """Open a page to annotate it: from its annotation file, or where there is none from the page itself."""
    name = str(page or anno)
    anno = anno.resolve()  # a link stays a link: the file that it names is written
    source = None if page is None else _Page(page, config)
    with without_collector(), _Opening(anno, read_only) as opening:
        if anno.exists():
            annotation = load_annotation(anno, config.cuts)
        elif source is not None:
            annotation = source.blank()
        else:
            raise DataError(f"{anno}: cannot be read: No such file or directory")
        return opening.open(annotation, config, model, name, source)


def open_adjudication(first: Path, second: Path, gold: Path, config: Config, read_only: bool = False) -> Opened:
    """Open two annotations of one page, to decide between them."""
    name, gold = str(gold), gold.resolve()
    if gold in {first.resolve(), second.resolve()}:
        raise DataError(f"{gold.name}: what is decided goes into a file of its own, not over one of the two")
    one, other = (load_annotation(path, config.cuts) for path in (first, second))
    _check_same_page(one.document, other.document, first, second)
    names = short_names([first, second])
    choices = tuple(Choice(who, each.labels, each.decided) for who, each in zip(names, (one, other), strict=True))
    with _Opening(gold, read_only) as opening:
        is_new = not gold.exists()
        if is_new:
            pairs = zip(one.decisions, other.decisions, strict=True)
            agreed = tuple(ours if ours is theirs else None for ours, theirs in pairs)
            annotation = Annotation(one.document, agreed, (None,) * len(agreed))
        else:
            annotation = load_annotation(gold, config.cuts)
            _check_same_page(one.document, annotation.document, first, gold)
        opened = opening.open(annotation, config, None, name, choices=choices)
    opened.messages += [told for choice in choices if (told := _models_share(choice))]
    if is_new:
        opened.store.save_soon()  # what both agree on is decided, also if nothing is left to do
    return opened


def _models_share(choice: Choice) -> str:
    """Say how much of an annotation nobody has decided on, if any."""
    count = sum(label is not None and not ours for label, ours in zip(choice.labels, choice.decided, strict=True))
    return f"{choice.name}: {count:,} labels are the model's, confirmed by nobody (small letters)" if count else ""


def _check_same_page(one: Document, other: Document, first: Path, second: Path) -> None:
    difference = find_difference(one, other)
    if difference is not None:
        where = difference.describe(str(first), str(second))
        raise DataError(f"{first} and {second} are not of the same page: {where}")


class _Page:
    """The page itself, read when it is needed."""

    def __init__(self, path: Path, config: Config) -> None:
        self.path = path
        self._config = config
        self._content = read_bytes(path)
        self.digest = digest_of_file(self._content)

    def blank(self) -> Annotation:
        """The page as nobody has labelled it."""
        document = read_page(self.path, self._config, self._content)
        nothing = (None,) * len(document.blocks)
        return Annotation(document, nothing, nothing)

    def check_is_in(self, document: Document, anno: Path) -> None:
        """Refuse an annotation that is of another page; one that was cut otherwise is of this."""
        difference = find_difference(self.blank().document, document)
        if difference is not None and not difference.only_cut:
            where = difference.describe(str(self.path), anno.name)
            raise DataError(
                f"{anno}: is not of {self.path}: {where}; annotate.py {anno.name} goes on with it as it is, "
                f"annotate.py {self.path.name} OTHER.anno begins another"
            )


def read_page(page: Path, config: Config, content: bytes | None = None) -> Document:
    """Read a page and cut it into blocks."""
    try:
        return read_document(read_bytes(page) if content is None else content, config, source=page.name)
    except VictorError as error:
        known = str(error).startswith(str(page))
        raise DataError(str(error) if known else f"{page}: {error}") from error


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
        self._lock = None
        if not read_only:
            _check_writable(anno)
            self._lock = Lock(lock_of(anno))

    def __enter__(self) -> _Opening:
        if self._lock is not None:
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
        model: Model | None,
        name: str,
        page: _Page | None = None,
        choices: tuple[Choice, ...] = (),
    ) -> Opened:
        """Make the session, and what keeps it."""
        document = annotation.document
        content = _content_of(journal_of(self._anno))
        recorded, wrong = self._read_journal(content, document)
        known = digest_of_file(self._anno.read_bytes()) if self._anno.exists() else ""
        if page is not None and known and (recorded is None or recorded.page != page.digest):
            page.check_is_in(document, self._anno)
        if wrong:
            self._reject(journal_of(self._anno), wrong)
        elif recorded is not None and recorded.damage:
            self._tell_damage(recorded, content or b"")
        prediction, given = self._start(recorded, annotation, model)
        session = Session(document, prediction, given, config.cuts.block_level, choices)
        if recorded is not None:
            recorded.session(session)
        journal = self._journal(session, recorded, page.digest if page is not None else "")
        store = Store(self._anno, session, journal, self._lock, annotation.comments, known)
        if recorded is not None:
            self._bring_up_to_date(session, recorded, annotation, store, known)
            if not choices:
                self._follow(model, session)
        self._messages += document.losses
        if self._lock is None:
            self._messages.append("This is to look at only: no change is kept")
        return Opened(name, session, store, self._messages)

    # The journal

    def _read_journal(self, content: bytes | None, document: Document) -> tuple[Recorded | None, str]:
        """What the journal tells, if there is one and it is of these blocks; else what is wrong with it."""
        if content is None:
            return None, ""
        try:
            recorded = read_journal(content)
        except ValueError as error:
            return None, str(error)
        if recorded.digest != digest_of(document) or len(recorded.given) != len(document.blocks):
            return None, "it is of another page"
        if not self._anno.exists() and recorded.was_written:
            return None, f"{self._anno.name} is gone, so all begins anew"
        return recorded, ""

    def _reject(self, path: Path, reason: str) -> None:
        if self._lock is None:
            self._messages.append(f"{path.name}: not used: {reason}")
        else:
            self._messages.append(f"{path.name}: {reason}; it was renamed to {set_aside(path).name}")

    def _tell_damage(self, recorded: Recorded, content: bytes) -> None:
        path = journal_of(self._anno)
        kept = ""
        if self._lock is not None:
            kept = f"; a copy is {set_aside(path).name}"
            write_atomically(path, content, durable=True)
        self._messages.append(f"{path.name}: {recorded.damage}; what stands before it was read{kept}")

    def _journal(self, session: Session, recorded: Recorded | None, page: str) -> Journal | None:
        if self._lock is None:
            return None
        path = journal_of(self._anno)
        if recorded is None:
            return Journal.begin(path, session, page)
        if sum(isinstance(event, Moved) for event in recorded.events) > MOST_MOVES:
            content = compact(recorded, session)
            write_atomically(path, content, durable=True)
            recorded.good = len(content)
        return Journal.resume(path, recorded)

    # Labels

    def _start(
        self, recorded: Recorded | None, annotation: Annotation, model: Model | None
    ) -> tuple[Prediction, tuple[Label | None, ...]]:
        """What all begins with: a number beside a label says that a model gave it, a dash that a person did.

        A label that stands in a file without a journal is not replaced by the model's of today: it may have been
        corrected by hand, with the number left as it was.
        """
        if recorded is not None:
            return recorded.prediction, recorded.given
        given = annotation.decisions
        theirs = model(annotation.document) if model is not None else Prediction.none(len(given))
        found = [label if not ours else None for label, ours in zip(annotation.labels, annotation.decided, strict=True)]
        differing = sum(
            label is not None and label is not other for label, other in zip(found, theirs.labels, strict=True)
        )
        if differing and model is not None:
            self._messages.append(
                f"{_labels(differing)} that a model gave in {self._anno.name} are not those of {model.name}; they stay"
            )
        sure = zip(found, annotation.probabilities, theirs.probabilities, strict=True)
        return Prediction(
            tuple(label or other for label, other in zip(found, theirs.labels, strict=True)),
            tuple(number if label else other for label, number, other in sure),
            theirs.model,
        ), given

    def _bring_up_to_date(
        self, session: Session, recorded: Recorded, annotation: Annotation, store: Store, known: str
    ) -> None:
        """Where the file was changed since by other means, it is right; where it is behind, it will be written."""
        ours = known in recorded.saves if recorded.saves else not _differs_from_start(recorded, annotation)
        if known and not ours:
            self._take_over_edits(session, annotation)
        elif (session.labels(), session.probabilities()) != (list(annotation.labels), list(annotation.probabilities)):
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
            told = f"{_labels(count)} changed in {self._anno.name} since; taken over (undo brings them back)"
            self._messages.append(told)

    def _follow(self, model: Model | None, session: Session) -> None:
        """Give blocks that nobody has decided on the labels of the model that is in use now."""
        if (model.identity if model is not None else "") == session.predicted.model:
            return
        count = session.refresh(model(session.document) if model is not None else Prediction.none(len(session)))
        if count:
            now = f"those of {model.name}" if model is not None else "gone, as no model is wanted"
            self._messages.append(f"The model is another one: {_labels(count)} that nobody decided on are now {now}")


def _labels(count: int) -> str:
    return "1 label" if count == 1 else f"{count:,} labels"


def _content_of(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _differs_from_start(recorded: Recorded, annotation: Annotation) -> bool:
    """Whether a file that this program has never written is not the one that the journal began with."""
    labels = [ours or theirs for ours, theirs in zip(recorded.given, recorded.prediction.labels, strict=True)]
    return labels != list(annotation.labels)


def _check_writable(anno: Path) -> None:
    """Say before any work is done that it could not be kept."""
    if anno.is_dir():
        raise DataError(f"{anno}: is a directory, not an annotation file")
    if not anno.parent.is_dir():
        raise DataError(f"{anno.parent}: is no directory, so {anno.name} cannot be written there")
    for place in (anno.parent, anno, journal_of(anno)):
        if place.exists() and not os.access(place, os.W_OK):
            raise DataError(
                f"{place}: no permission to write there; --read-only shows the page without keeping anything"
            )
