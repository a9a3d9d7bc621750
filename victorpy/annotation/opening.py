"""Open a page: combine its HTML, its annotation and its journal, and restore the last session."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from victorpy.annotation.journal import Journal, Recording, digest_of_file, read_journal
from victorpy.annotation.learning import Predictor
from victorpy.annotation.session import Choice, Moved, Prediction, Session, read_labels
from victorpy.annotation.store import READ_ONLY, Lock, OpenPage, lock_of
from victorpy.base.files import keep_copy, read_bounded, read_regular, remove_leftovers, set_aside, write_atomically
from victorpy.cleaner import read_document
from victorpy.config import Config
from victorpy.document import Document
from victorpy.errors import DataError, VictorError, plural
from victorpy.outputs.anno import MOST_BYTES, Annotation, load_annotation
from victorpy.page.same_blocks import digest_of, find_difference
from victorpy.research.agreement import short_names

MOST_MOVES = 5_000  # journals with more cursor moves are compacted when they are opened


def journal_of(anno: Path) -> Path:
    """Return the path of an annotation's journal."""
    return anno.with_name(f"{anno.name}.journal")


@contextmanager
def without_collector() -> Iterator[None]:
    """Exempt objects created in this context from garbage collection, because they are many and long-lived."""
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
    """Open a page for annotation."""
    name = str(page or anno)
    anno = anno.resolve()  # if it is a symbolic link, write its target
    html = b"" if page is None else _read_bytes(page)
    with without_collector(), _locked(anno, read_only) as lock:
        return _open(name, anno, load_page(page, anno, config, html), lock, config, model, page, html)


def load_page(page: Path | None, anno: Path, config: Config, html: bytes | None = None) -> Annotation:
    """Read an annotation file. If there is none yet, read the page itself. Pass `html` if it was already read."""
    if anno.exists():
        return load_annotation(anno, config.cuts)
    if page is None:
        raise DataError(f"{anno}: cannot be read: No such file or directory")
    document = read_page(page, config, _read_bytes(page) if html is None else html)
    unlabelled = (None,) * len(document.blocks)
    return Annotation(document, unlabelled, unlabelled)


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
        opened = _open(name, gold, annotation, lock, config, choices=choices)
    for choice in choices:
        pairs_of_block = zip(choice.labels, choice.decided, strict=True)
        count = sum(label is not None and not is_decided for label, is_decided in pairs_of_block)
        if count:
            labels = f"{choice.name}: {count:,} labels"
            opened.messages.append(f"{labels} come from the model and nobody confirmed them (small letters)")
    if is_new:
        opened.save_soon()  # saves the labels on which both annotators agree
    return opened


def read_page(page: Path, config: Config, content: bytes) -> Document:
    """Cut the content of a page's file into blocks."""
    try:
        return read_document(content, config, source=page.name, annotation=page.suffix == ".anno")
    except VictorError as error:
        names_page = str(error).startswith(str(page))
        raise DataError(str(error) if names_page else f"{page}: {error}") from error


def _read_bytes(page: Path) -> bytes:
    try:
        return read_regular(page)
    except OSError as error:
        raise DataError(f"{page}: cannot be read: {error.strerror}") from error


def _check_same_page(one: Document, other: Document, first: Path, second: Path) -> None:
    difference = find_difference(one, other)
    if difference is not None:
        where = difference.describe(str(first), str(second))
        raise DataError(f"{first} and {second} are not annotations of the same page: {where}")


@contextmanager
def _locked(anno: Path, read_only: bool) -> Iterator[Lock | None]:
    """Lock an annotation, and unlock it if opening fails. Yields None if it is opened read-only."""
    if read_only:
        yield None
        return
    if anno.is_dir():
        raise DataError(f"{anno} is a directory, not an annotation file")
    if not anno.parent.is_dir():
        raise DataError(f"{anno.parent} is not a directory, so {anno.name} cannot be written there")
    for path in (anno.parent, anno, journal_of(anno)):
        if path.exists() and not os.access(path, os.W_OK):
            raise DataError(f"no permission to write {path}; `read_only` opens the page without saving anything")
    lock = Lock(lock_of(anno))
    try:
        remove_leftovers(anno)
        yield lock
    except BaseException:
        lock.release()
        raise


def _open(
    name: str,
    anno: Path,
    annotation: Annotation,
    lock: Lock | None,
    config: Config,
    model: Predictor | None = None,
    page: Path | None = None,
    html: bytes = b"",
    choices: tuple[Choice, ...] = (),
) -> OpenPage:
    """Combine an annotation with its journal."""
    path = journal_of(anno)
    messages: list[str] = []
    anno_digest = digest_of_file(anno.read_bytes()) if anno.exists() else ""
    page_digest = digest_of_file(html) if page is not None else ""
    recording, problem = _read_journal(path, anno, annotation.document)
    if page is not None and anno_digest and (recording is None or recording.header.page != page_digest):
        difference = find_difference(read_page(page, config, html), annotation.document)
        if difference is not None and not difference.only_cut:
            raise DataError(
                f"{anno} is not an annotation of {page}: {difference.describe(str(page), anno.name)}; "
                f"open {anno.name} alone to continue it as it is, or {page.name} with another annotation file"
            )
    if problem:
        if recording is not None:
            copy = f"; a copy was kept as {keep_copy(path, 'old').name}" if lock is not None else ""
            consequence = f"the lines before it were used{copy}"
        else:
            consequence = f"it was renamed to {set_aside(path).name}" if lock is not None else "it is ignored"
        messages.append(f"{path.name}: {problem}; {consequence}")

    if recording is None:
        prediction, given = _predict(annotation, model, anno.name, messages), annotation.decisions
    else:
        prediction, given = recording.header.predicted, read_labels(recording.header.given)
    session = Session(annotation.document, prediction, given, config.cuts.block_level, choices)
    for event in recording.events if recording is not None else ():
        session.apply(event)
    journal = None
    if lock is not None and recording is None:
        journal = Journal.begin(path, session, page_digest)
    elif lock is not None and recording is not None:
        length = recording.length
        if problem or sum(isinstance(event, Moved) for event in recording.events) > MOST_MOVES:
            content = recording.compact(session)
            write_atomically(path, content, durable=True)
            length = len(content)
        journal = Journal(path, length)
    opened = OpenPage(anno, session, journal, lock, annotation.comments, anno_digest, name, messages)

    if recording is not None:
        _take_over_edits(opened, annotation, anno_digest, recording)
        if not choices:
            _use_model(opened, model)
    messages += annotation.document.losses
    if lock is None:
        messages.append(READ_ONLY)
    return opened


def _read_journal(path: Path, anno: Path, document: Document) -> tuple[Recording | None, str]:
    """Return the journal, or None if it cannot be used, and a description of the problem."""
    if not path.exists():
        return None, ""
    try:
        recording = read_journal(read_bounded(path, MOST_BYTES))
    except ValueError as error:
        return None, str(error)
    if recording.header.digest != digest_of(document) or len(recording.header.given) != len(document.blocks):
        return None, "it belongs to another page"
    if not anno.exists() and recording.was_saved:
        return None, f"{anno.name} was deleted, so the page starts from scratch"
    return recording, recording.damage


def _predict(annotation: Annotation, model: Predictor | None, name: str, messages: list[str]) -> Prediction:
    """Return the predictions in an annotation file. The model predicts the missing labels.

    A probability beside a label means that a model gave it. The current model does not replace such a label, because
    somebody may have corrected it without removing the probability.
    """
    nothing = Prediction.of([None] * len(annotation.labels))
    current = model(annotation.document) if model is not None else nothing
    labels, probabilities = list(current.labels), list(current.probabilities)
    differing = 0
    for number, (label, is_decided) in enumerate(zip(annotation.labels, annotation.decided, strict=True)):
        if label is not None and not is_decided:
            differing += label is not labels[number]
            labels[number], probabilities[number] = label, annotation.probabilities[number]
    if differing and model is not None:
        count = f"{plural(differing, 'label')} that a model gave in {name}"
        messages.append(f"{count} differ from the labels of {model.name}; they are kept")
    return Prediction.of(labels, probabilities, current.model)


def _take_over_edits(opened: OpenPage, annotation: Annotation, digest: str, recording: Recording) -> None:
    """Load labels that another program changed in the annotation file, or save the file if it is out of date."""
    session = opened.session
    is_edited = False
    if digest and recording.saves:
        is_edited = digest not in recording.saves
    elif digest:  # not written by this program yet, so compare with the labels at the start of the journal
        pairs = zip(read_labels(recording.header.given), recording.header.predicted.labels, strict=True)
        is_edited = annotation.labels != tuple(given or predicted for given, predicted in pairs)
    if is_edited:
        rows = zip(annotation.labels, annotation.probabilities, session.predicted.labels, strict=True)
        given = [None if probability is not None and label is old else label for label, probability, old in rows]
        count = session.relabel(dict(enumerate(given)), session.cursor, None)
        if count:
            labels = f"{plural(count, 'label')} changed in {opened.anno.name} outside this program"
            opened.messages.append(f"{labels}; undo restores the old ones")
    elif (session.labels(), session.probabilities()) != (list(annotation.labels), list(annotation.probabilities)):
        opened.save_soon()


def _use_model(opened: OpenPage, model: Predictor | None) -> None:
    """Use the model's labels for undecided blocks, if the last session had another model."""
    session = opened.session
    if session.predicted.model == (model.identity if model is not None else ""):
        return
    nothing = Prediction.of([None] * len(session))
    count = session.refresh(model(session.document) if model is not None else nothing)
    if count:
        now = f"now come from {model.name}" if model is not None else "were removed, since there is no model now"
        opened.messages.append(f"The model has changed: {plural(count, 'undecided label')} {now}")
