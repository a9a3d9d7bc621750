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
from functools import partial
from itertools import pairwise

from victorpy.cleaner import Cleaner
from victorpy.document import Document, Labelling
from victorpy.errors import DataError, VictorError
from victorpy.mining.methods import Method
from victorpy.mining.pages import MinedPage
from victorpy.mining.reading import Reader
from victorpy.mining.survival import Survival, occurring
from victorpy.mining.words import terms, words_of
from victorpy.outputs.base import joint


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

    def add(self, method: str, before: list[list[str]], kept: list[list[str]], cost: Cost) -> None:
        """Add what a method kept of the words of each page."""
        self.terms[method] = list(map(terms, kept))
        self.removed[method] = [terms(words) - terms(left) for words, left in zip(before, kept, strict=True)]
        self.survival[method] = list(map(_survival, self.pages, before, kept))
        self.cost[method] = cost


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
    reader = Reader(pages, methods[0].load().config)
    result = CleanedSite(reader.pages, warnings=reader.warnings)
    chosen = sample_of(result.pages, sample, seed)
    before: list[list[str]] = []
    for method in methods:
        documents, reading = reader.read(method.load().config)
        try:
            kept, cost = _clean(documents, chosen, method.load())
        except VictorError as error:
            raise DataError(f"{method.name} cannot clean {pages[0].site}: {error}") from error
        before = before or kept
        result.add(method.name, before, kept, cost + Cost(reading=reading))
    return result


def sample_of(pages: Sequence[MinedPage], sample: int, seed: int) -> list[int]:
    """Which of a site's pages are learned from: drawn by chance, the same ones for every method."""
    if len(pages) <= sample:
        return list(range(len(pages)))
    return sorted(random.Random(f"{seed} {pages[0].site}").sample(range(len(pages)), sample))


def _clean(documents: list[Document], chosen: list[int], cleaner: Cleaner) -> tuple[list[list[str]], Cost]:
    """Learn from the chosen pages, clean all, and give the words that are kept of each."""
    if not documents:
        return [], Cost()
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
