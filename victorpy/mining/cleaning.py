"""Every method on every page, a site at a time.

A site-level method sees pages of the site first, at most so many and drawn by chance, as the SST paper does with 500
(section 4.2); none of them has labels. What is kept of a page is turned into counts at once, so that no text and no
more than one site's documents are held.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import pairwise

from victorpy.cleaner import Cleaner, read_document
from victorpy.config import Config, Cuts
from victorpy.document import Document, Labelling
from victorpy.errors import DataError, VictorError
from victorpy.methods import load_method
from victorpy.mining.pages import MinedPage
from victorpy.mining.survival import Survival, occurring
from victorpy.mining.words import terms, words_of
from victorpy.outputs.base import joint

NONE = "none"
"""No cleaning: all text of a page."""


@dataclass(frozen=True, slots=True)
class Method:
    """A method by name, with parameters as NAME=VALUE."""

    name: str
    settings: tuple[str, ...] = ()

    def load(self) -> Cleaner:
        """Make it ready."""
        return load_method("everything" if self.name == NONE else self.name, self.settings)


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU seconds: of learning from a site's pages, of labelling pages and of reading them, and how many each were."""

    learning: float = 0.0
    learned: int = 0
    labelling: float = 0.0
    reading: float = 0.0
    pages: int = 0

    def __add__(self, other: Cost) -> Cost:
        pairs = ((getattr(self, name), getattr(other, name)) for name in self.__slots__)
        return Cost(*(ours + theirs for ours, theirs in pairs))

    def scores(self) -> dict[str, float]:
        """Milliseconds a page."""
        learned, pages = max(self.learned, 1), max(self.pages, 1)
        return {
            "learn_ms": 1000 * self.learning / learned,
            "clean_ms": 1000 * self.labelling / pages,
            "read_ms": 1000 * self.reading / pages,
        }


@dataclass(slots=True)
class CleanedSite:
    """What each method left of a site's pages: their terms and their survival, in the pages' order."""

    pages: list[MinedPage]
    terms: dict[str, list[Counter[str]]] = field(default_factory=dict)
    removed: dict[str, list[Counter[str]]] = field(default_factory=dict)
    """The terms that are gone."""
    survival: dict[str, list[Survival]] = field(default_factory=dict)
    cost: dict[str, Cost] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def clean_sites(
    sites: Sequence[list[MinedPage]], methods: Sequence[Method], sample: int, seed: int, jobs: int = 1
) -> Iterator[CleanedSite]:
    """Clean the pages of all sites with all methods, several sites at a time where jobs are allowed."""
    run = partial(clean_site, methods=tuple(methods), sample=sample, seed=seed)
    if jobs == 1:
        yield from map(run, sites)
        return
    with ProcessPoolExecutor(max_workers=jobs) as pool:
        yield from pool.map(run, sites)


def clean_site(pages: list[MinedPage], methods: tuple[Method, ...], sample: int, seed: int) -> CleanedSite:
    """Clean one site's pages with all methods; the first method is no cleaning, which the others are held against."""
    reader = _Reader(pages)
    result = CleanedSite(reader.pages, warnings=reader.warnings)
    chosen = sample_of(result.pages, sample, seed)
    before: list[list[str]] | None = None
    for method in methods:
        cleaner = _loaded(method)
        documents, reading = reader.read(cleaner.config)
        try:
            kept, cost = _clean(documents, chosen, cleaner)
        except VictorError as error:
            raise DataError(f"{method.name} cannot clean {pages[0].site}: {error}") from error
        before = kept if before is None else before
        result.terms[method.name] = [terms(words) for words in kept]
        result.removed[method.name] = [
            terms(words) - left for words, left in zip(before, result.terms[method.name], strict=True)
        ]
        result.survival[method.name] = list(map(_survival, result.pages, before, kept))
        result.cost[method.name] = cost + Cost(reading=reading)
    return result


@cache
def _loaded(method: Method) -> Cleaner:
    """Load a method once in every process."""
    return method.load()


def sample_of(pages: Sequence[MinedPage], sample: int, seed: int) -> list[int]:
    """Which of a site's pages are learned from: drawn by chance, the same ones for every method."""
    if len(pages) <= sample:
        return list(range(len(pages)))
    return sorted(random.Random(f"{seed} {pages[0].site}").sample(range(len(pages)), sample))


class _Reader:
    """A site's pages as documents, read once for all methods that cut pages alike."""

    def __init__(self, pages: list[MinedPage]) -> None:
        self.warnings: list[str] = []
        config = _loaded(Method(NONE)).config
        began = time.process_time()
        pairs = [(page, self._try(page, config)) for page in pages]
        self.pages = [page for page, document in pairs if document is not None]
        documents = [document for _, document in pairs if document is not None]
        self._read = {_way_of_cutting(config): (documents, time.process_time() - began)}

    def _try(self, page: MinedPage, config: Config) -> Document | None:
        """Read a page for the first time; one that cannot be read is left out from then on."""
        try:
            return _document(page, config)
        except VictorError as error:
            self.warnings.append(f"{page.name}: {error}")
            return None

    def read(self, config: Config) -> tuple[list[Document], float]:
        """The documents as a config cuts them, and the CPU seconds that it took."""
        key = _way_of_cutting(config)
        if key not in self._read:
            began = time.process_time()
            documents = [_document(page, config) for page in self.pages]
            self._read[key] = documents, time.process_time() - began
        return self._read[key]


def _way_of_cutting(config: Config) -> tuple[Cuts, tuple[str, ...]]:
    return config.cuts, config.get("tag-delete")


def _document(page: MinedPage, config: Config) -> Document:
    return read_document(page.html, config, page.url or None, source=page.name)


def _clean(documents: list[Document], chosen: list[int], cleaner: Cleaner) -> tuple[list[list[str]], Cost]:
    """Learn from the chosen pages, clean all, and give the words that are kept of each."""
    began = time.process_time()
    at_site = cleaner.at_site([documents[at] for at in chosen])
    learned = time.process_time()
    found = [at_site.labeller.label(document) for document in documents]
    labelled = time.process_time()
    kept = [words_of(kept_text(*pair)) for pair in zip(documents, found, strict=True)]
    return kept, Cost(learned - began, len(chosen), labelled - learned, pages=len(documents))


def kept_text(document: Document, found: Labelling) -> str:
    """The text of the blocks that are kept, joined as they stood in the page."""
    blocks = [block for block, label in zip(document.blocks, found.labels, strict=True) if label.is_content]
    parts = [blocks[0].text] if blocks else []
    for before, block in pairwise(blocks):
        parts += [joint(before, block), block.text]
    return "".join(parts)


def _survival(page: MinedPage, before: list[str], kept: list[str]) -> Survival:
    return Survival.of(occurring(page.values, before), occurring(page.values, kept), len(before), len(kept))
