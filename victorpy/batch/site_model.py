"""A method that has learned from the pages of a site, in this process or as bytes that workers receive."""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from victorpy.batch.record import Record
from victorpy.cleaner import Cleaner, read_document
from victorpy.config import Config
from victorpy.document import Document, Elements
from victorpy.errors import DataError, VictorError
from victorpy.labellers.site_style_tree import SiteStyleTree
from victorpy.methods import Method
from victorpy.outputs.anno import load_anno
from victorpy.sites.grouping import SAMPLE, draw_sample
from victorpy.sites.store import load_tree

_DEEPEST = 10_000  # maximum recursion depth of pickle, because the tree of a site may be as deep as its pages

Warn = Callable[[str], None]


def learn_site(
    cleaner: Cleaner, records: Sequence[Record], labelled: Sequence[Path], sample: int, warn: Warn
) -> Cleaner:
    """Let a method learn from a site: from all annotated pages, and from a random sample of the other pages."""
    examples = [load_anno(path, cleaner.config.cuts) for path in labelled]
    chosen = draw_sample(records, max(sample - len(examples), 0))
    if len(chosen) + len(examples) < 2:
        raise DataError(
            "a method that learns from a site needs at least two of its pages; give more pages, or a `site`"
        )
    documents = chain((example.document for example in examples), documents_of(chosen, cleaner.config, warn))
    labels = [*(example.labels for example in examples), *(None for _ in chosen)]
    return with_sample(cleaner, sample).at_site(documents, labels)


def with_sample(cleaner: Cleaner, sample: int) -> Cleaner:
    """Return the method with a maximum of `sample` pages, unless its parameters set another maximum."""
    if cleaner.labeller.get_params().get("sample") != SAMPLE:
        return cleaner
    return Cleaner(cleaner.labeller.clone(sample=sample), cleaner.config)


def use_tree(cleaner: Cleaner, path: Path, labelled: Sequence[Path]) -> Cleaner:
    """Let the Site Style Tree use a saved tree."""
    if not isinstance(cleaner.labeller, SiteStyleTree):
        raise DataError(f"{path}: only the `method` sst can use a style tree; give a directory of pages")
    examples = [load_anno(name, cleaner.config.cuts) for name in labelled]
    labelled_pages = [(example.document, example.labels) for example in examples]
    labeller = cleaner.labeller.clone().with_tree(load_tree(path), labelled_pages, name=str(path))
    return Cleaner(labeller, cleaner.config)


def documents_of(records: Iterable[Record], config: Config, warn: Warn) -> Iterator[Document]:
    """Read pages. An unreadable page gives a warning and an empty document."""
    for record in records:
        try:
            yield read_document(record.read(), config, source=record.name, annotation=record.is_annotation)
        except (VictorError, OSError) as error:
            reason = (error.strerror if isinstance(error, OSError) else None) or error
            warn(f"{record.name}: not learned from: {reason}")
            yield Document((), Elements())


@dataclass(frozen=True, slots=True)
class SiteModel:
    """A method or model that has learned from a site, in a form that workers can receive."""

    method: Method
    learned: bytes = field(repr=False)

    def load(self) -> Cleaner:
        return from_bytes(self.method.load(), self.learned)


def at_site_bytes(cleaner: Cleaner, base: Cleaner) -> bytes:
    """Pickle a cleaner that has learned from a site, without the parts that it shares with its base."""
    names = {id(part): name for name, part in _shared_parts(base).items()}
    content = io.BytesIO()
    pickler = pickle.Pickler(content, pickle.HIGHEST_PROTOCOL)
    pickler.persistent_id = lambda part: names.get(id(part))  # type: ignore[method-assign]
    with _deep_recursion():
        pickler.dump(cleaner)
    return content.getvalue()


def from_bytes(base: Cleaner, content: bytes) -> Cleaner:
    """Load a cleaner that `at_site_bytes` has pickled, with the same base. Never load untrusted bytes."""
    unpickler = pickle.Unpickler(io.BytesIO(content))
    unpickler.persistent_load = _shared_parts(base).__getitem__  # type: ignore[method-assign]
    with _deep_recursion():
        cleaner: Cleaner = unpickler.load()
    return cleaner


@contextmanager
def _deep_recursion() -> Iterator[None]:
    """Raise the recursion limit, and report pages with even deeper nesting."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(_DEEPEST, limit))
    try:
        yield
    except RecursionError as error:
        raise DataError("the pages of this site are nested too deeply for worker processes") from error
    finally:
        sys.setrecursionlimit(limit)


def _shared_parts(base: Cleaner) -> dict[str, Any]:
    """Return the attributes of a labeller that are not numbers, strings or other builtin values."""
    return {name: part for name, part in vars(base.labeller).items() if type(part).__module__ != "builtins"}
