"""Open a page: combine its HTML, its annotation and its journal into a session in the state where it was left."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from victorpy.annotation.events import Moved, Prediction, read_labels
from victorpy.annotation.journal import Journal, Recording, digest_of_file, read_journal
from victorpy.annotation.predictor import Predictor
from victorpy.annotation.session import Choice, Session
from victorpy.annotation.store import READ_ONLY, Lock, OpenPage, lock_of
from victorpy.base.files import keep_copy, remove_leftovers, set_aside, write_atomically
from victorpy.cleaner import read_document
from victorpy.config import Config
from victorpy.document import Document, Label
from victorpy.errors import DataError, VictorError, plural
from victorpy.outputs.anno import Annotation, load_annotation
from victorpy.page.same_blocks import digest_of, find_difference
from victorpy.research.annotators import short_names

MOST_MOVES = 5_000
"""A journal with more cursor moves than this is compacted when it is opened."""


def journal_of(anno: Path) -> Path:
    """Return the path of an annotation's journal."""
    return anno.with_name(f"{anno.name}.journal")


@contextmanager
def without_collector() -> Iterator[None]:
    """Create many long-lived objects without Python's garbage collector searching through them, now and later."""
    gc.unfreeze()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def open_page(
    page: Path | None, anno: Path, config: Config, model: Predictor | None = None, read_only: bool = False
) -> OpenPage:
    """Open a page to annotate it, from its annotation file or, if there is none, from the page itself."""
    name = str(page or anno)
    anno = anno.resolve()  # write the file that a link points to
    html = b"" if page is None else _read_bytes(page)
    with without_collector(), _locked(anno, read_only) as lock:
        if anno.exists():
            annotation = load_annotation(anno, config.cuts)
        elif page is not None:
            document = read_page(page, config, html)
            unlabelled = (None,) * len(document.blocks)
            annotation = Annotation(document, unlabelled, unlabelled)
        else:
            raise DataError(f"{anno}: cannot be read: No such file or directory")
        return _Opening(anno, annotation, lock, config).open(name, model, page, html)


def open_adjudication(first: Path, second: Path, gold: Path, config: Config, read_only: bool = False) -> OpenPage:
    """Open two annotations of one page, to decide between them."""
    name, gold = str(gold), gold.resolve()
    if gold in {first.resolve(), second.resolve()}:
        raise DataError(f"{gold.name}: decisions go into a new file, not into one of the two annotations")
    annotations = [load_annotation(path, config.cuts) for path in (first, second)]
    document = annotations[0].document
    _check_same_page(document, annotations[1].document, first, second)
    choices = tuple(
        Choice(annotator, annotation.labels, annotation.decided)
        for annotator, annotation in zip(short_names([first, second]), annotations, strict=True)
    )
    with _locked(gold, read_only) as lock:
        is_new = not gold.exists()
        if is_new:
            pairs = zip(annotations[0].decisions, annotations[1].decisions, strict=True)
            agreed = tuple(one if one is other else None for one, other in pairs)
            annotation = Annotation(document, agreed, (None,) * len(agreed))
        else:
            annotation = load_annotation(gold, config.cuts)
            _check_same_page(document, annotation.document, first, gold)
        opened = _Opening(gold, annotation, lock, config, choices).open(name)
    for choice in choices:
        pairs_of_block = zip(choice.labels, choice.decided, strict=True)
        count = sum(label is not None and not is_decided for label, is_decided in pairs_of_block)
        if count:
            message = f"{choice.name}: {count:,} labels come from the model and nobody confirmed them (small letters)"
            opened.messages.append(message)
    if is_new:
        opened.save_soon()  # the labels on which both annotators agree are decided
    return opened


def read_page(page: Path, config: Config, content: bytes | None = None) -> Document:
    """Read a page and cut it into blocks. `content` is the page's file if it was read already."""
    try:
        return read_document(_read_bytes(page) if content is None else content, config, source=page.name)
    except VictorError as error:
        names_page = str(error).startswith(str(page))
        raise DataError(str(error) if names_page else f"{page}: {error}") from error


def _read_bytes(page: Path) -> bytes:
    try:
        return page.read_bytes()
    except OSError as error:
        raise DataError(f"{page}: cannot be read: {error.strerror}") from error


def _check_same_page(one: Document, other: Document, first: Path, second: Path) -> None:
    difference = find_difference(one, other)
    if difference is not None:
        where = difference.describe(str(first), str(second))
        raise DataError(f"{first} and {second} are not annotations of the same page: {where}")


@contextmanager
def _locked(anno: Path, read_only: bool) -> Iterator[Lock | None]:
    """Lock an annotation that can be written, and unlock it if opening fails. A read-only page has no lock."""
    if read_only:
        yield None
        return
    if anno.is_dir():
        raise DataError(f"{anno}: is a directory, not an annotation file")
    if not anno.parent.is_dir():
        raise DataError(f"{anno.parent}: is not a directory, so {anno.name} cannot be written there")
    for path in (anno.parent, anno, journal_of(anno)):
        if path.exists() and not os.access(path, os.W_OK):
            raise DataError(f"{path}: no permission to write there; `read_only` opens the page without saving anything")
    lock = Lock(lock_of(anno))
    lock.take()
    try:
        remove_leftovers(anno)
        yield lock
    except BaseException:
        lock.release()
        raise


@dataclass
class _Opening:
    """Combines an annotation with its journal."""

    anno: Path
    annotation: Annotation
    lock: Lock | None
    config: Config
    choices: tuple[Choice, ...] = ()
    messages: list[str] = field(default_factory=list)

    def open(self, name: str, model: Predictor | None = None, page: Path | None = None, html: bytes = b"") -> OpenPage:
        annotation = self.annotation
        anno_digest = digest_of_file(self.anno.read_bytes()) if self.anno.exists() else ""
        page_digest = digest_of_file(html) if page is not None else ""
        path = journal_of(self.anno)
        recording, problem = self._read_journal(path)
        if page is not None and anno_digest and (recording is None or recording.header.page != page_digest):
            self._check_page(page, html)
        if problem:
            self._report_problem(path, problem, is_usable=recording is not None)
        if recording is None:
            prediction, given = self._predict(model), annotation.decisions
        else:
            prediction, given = recording.header.predicted, read_labels(recording.header.given)
        session = Session(annotation.document, prediction, given, self.config.cuts.block_level, self.choices)
        for event in recording.events if recording is not None else ():
            session.apply(event)
        journal = None if self.lock is None else self._open_journal(path, session, recording, page_digest)
        opened = OpenPage(self.anno, session, journal, self.lock, annotation.comments, anno_digest, name)
        if recording is not None:
            written = list(annotation.labels), list(annotation.probabilities)
            if anno_digest and self._was_edited(recording, anno_digest):
                self._take_over_edits(session)
            elif (session.labels(), session.probabilities()) != written:
                opened.save_soon()
            if not self.choices:
                self._use_current_model(model, session)
        self.messages += annotation.document.losses
        if self.lock is None:
            self.messages.append(READ_ONLY)
        opened.messages = self.messages
        return opened

    def _check_page(self, page: Path, html: bytes) -> None:
        """Raise an error if the annotation is of another page. The same page may be cut into other blocks."""
        difference = find_difference(read_page(page, self.config, html), self.annotation.document)
        if difference is not None and not difference.only_cut:
            anno, where = self.anno, difference.describe(str(page), self.anno.name)
            raise DataError(
                f"{anno}: is not an annotation of {page}: {where}; open {anno.name} alone to continue it as it is, "
                f"or {page.name} with another annotation file"
            )

    # The journal

    def _read_journal(self, path: Path) -> tuple[Recording | None, str]:
        """Return the journal if it can be used, and what is wrong with it."""
        if not path.exists():
            return None, ""
        try:
            recording = read_journal(path.read_bytes())
        except ValueError as error:
            return None, str(error)
        document = self.annotation.document
        if recording.header.digest != digest_of(document) or len(recording.header.given) != len(document.blocks):
            return None, "it belongs to another page"
        if not self.anno.exists() and recording.was_saved:
            return None, f"{self.anno.name} was deleted, so the page starts from scratch"
        return recording, recording.damage

    def _report_problem(self, path: Path, problem: str, is_usable: bool) -> None:
        """Report a problem with the journal. Keep a copy of the file, since it will be overwritten."""
        copy = ""
        if is_usable and self.lock is not None:
            copy = f"; a copy was kept as {keep_copy(path, 'old').name}"
            write_atomically(path, path.read_bytes(), durable=True)  # the copy may be a link to the same file
        if is_usable:
            self.messages.append(f"{path.name}: {problem}; the lines before it were used{copy}")
        elif self.lock is None:
            self.messages.append(f"{path.name}: ignored: {problem}")
        else:
            self.messages.append(f"{path.name}: {problem}; it was renamed to {set_aside(path).name}")

    def _open_journal(self, path: Path, session: Session, recording: Recording | None, page_digest: str) -> Journal:
        if recording is None:
            return Journal.begin(path, session, page_digest)
        length = recording.length
        if sum(isinstance(event, Moved) for event in recording.events) > MOST_MOVES:
            content = recording.compact(session)
            write_atomically(path, content, durable=True)
            length = len(content)
        return Journal(path, length=length)

    # Labels

    def _predict(self, model: Predictor | None) -> Prediction:
        """Return the predictions in the annotation file, and the model's for blocks without a label.

        A number beside a label means that a model gave it. The current model does not replace such a label: it may
        have been corrected by hand without removing the number.
        """
        annotation = self.annotation
        nothing = Prediction.of([None] * len(annotation.labels))
        current = model(annotation.document) if model is not None else nothing
        labels, probabilities = list(current.labels), list(current.probabilities)
        differing = 0
        for number, (label, is_decided) in enumerate(zip(annotation.labels, annotation.decided, strict=True)):
            if label is not None and not is_decided:
                differing += label is not labels[number]
                labels[number], probabilities[number] = label, annotation.probabilities[number]
        if differing and model is not None:
            labels_there = f"{plural(differing, 'label')} that a model gave in {self.anno.name}"
            self.messages.append(f"{labels_there} differ from those of {model.name}; they are kept")
        return Prediction.of(labels, probabilities, current.model)

    def _was_edited(self, recording: Recording, anno_digest: str) -> bool:
        """Whether another program changed the annotation file."""
        if recording.saves:
            return anno_digest not in recording.saves
        # This program has never written the file. Does it still have the labels that the journal started with?
        given, predicted = read_labels(recording.header.given), recording.header.predicted.labels
        labels = tuple(ours or theirs for ours, theirs in zip(given, predicted, strict=True))
        return labels != self.annotation.labels

    def _take_over_edits(self, session: Session) -> None:
        annotation = self.annotation
        rows = zip(annotation.labels, annotation.probabilities, session.predicted.labels, strict=True)
        labels: list[Label | None] = [
            label if probability is None or label is not predicted else None for label, probability, predicted in rows
        ]
        count = session.set_outside(labels)
        if count:
            self.messages.append(
                f"{plural(count, 'label')} changed in {self.anno.name} outside this program; undo restores the old ones"
            )

    def _use_current_model(self, model: Predictor | None, session: Session) -> None:
        """Give undecided blocks the labels of the current model, if it is not the one of the last session."""
        if (model.identity if model is not None else "") == session.predicted.model:
            return
        count = session.refresh(model(session.document) if model is not None else Prediction.of([None] * len(session)))
        if count:
            now = f"now come from {model.name}" if model is not None else "were removed, since there is no model now"
            self.messages.append(f"The model has changed: {plural(count, 'undecided label')} {now}")
