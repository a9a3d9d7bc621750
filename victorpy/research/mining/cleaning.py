"""Every method on every page, one site at a time.

A method for sites first sees a random sample of the site's pages without labels, as in the SST paper with 500 pages
(section 4.2). What is kept of a page is turned into counts at once, so that no text and no more than one site's
documents are held.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

from victorpy.cleaner import read_document
from victorpy.config import Config
from victorpy.document import Document, Labelling
from victorpy.errors import DataError, VictorError
from victorpy.methods import Method
from victorpy.outputs.base import joint
from victorpy.research.mining.pages import MinedPage, by_site
from victorpy.research.mining.words import Bags, Survival, occurring, terms, words_of
from victorpy.research.site_runs import cut_key, label_site, map_in_jobs, timed
from victorpy.sites.grouping import draw_sample


@dataclass(slots=True)
class Cleaned:
    """What one method left of pages, and the CPU seconds of learning sites, of labelling and of reading pages."""

    kept: Bags = field(default_factory=Bags)
    removed: Bags = field(default_factory=Bags)
    survival: list[Survival] = field(default_factory=list)
    learned: int = 0
    """Number of pages that sites were learned from."""
    learning: float = 0.0
    labelling: float = 0.0
    reading: float = 0.0

    def add(self, values: Sequence[str], words: list[str], words_kept: list[str]) -> None:
        """Add a page, given its words before and after cleaning."""
        terms_kept = terms(words_kept)
        self.kept.add(terms_kept)
        self.removed.add(terms(words) - terms_kept)
        before, after = occurring(values, words), occurring(values, words_kept)
        self.survival.append(Survival.of(before, after, len(words), len(words_kept)))

    def extend(self, other: Cleaned) -> None:
        """Add more pages."""
        self.kept.extend(other.kept)
        self.removed.extend(other.removed)
        self.survival += other.survival
        self.learned += other.learned
        self.learning += other.learning
        self.labelling += other.labelling
        self.reading += other.reading

    def cost(self) -> dict[str, float]:
        """Return milliseconds per page."""
        pages = max(len(self.survival), 1)
        return {
            "learn_ms": 1000 * self.learning / max(self.learned, 1),
            "clean_ms": 1000 * self.labelling / pages,
            "read_ms": 1000 * self.reading / pages,
        }

    def survival_scores(self, pages: Sequence[MinedPage]) -> dict[str, Any]:
        """Return what is removed and what survives: in total, per vertical, and per vertical and site."""
        verticals: dict[str, list[Survival]] = {}
        cells: dict[tuple[str, str], list[Survival]] = {}
        for page, survival in zip(pages, self.survival, strict=True):
            verticals.setdefault(page.vertical, []).append(survival)
            cells.setdefault((page.vertical, page.site), []).append(survival)
        return {
            "all": Survival.sum(self.survival).scores(),
            "verticals": {name: Survival.sum(counts).scores() for name, counts in sorted(verticals.items())},
            "sites": [
                {"vertical": vertical, "site": site, **Survival.sum(counts).scores()}
                for (vertical, site), counts in sorted(cells.items())
            ],
        }


class CleanedPages(NamedTuple):
    """The pages that could be read, what each method left of them in the same order, and warnings about others."""

    pages: list[MinedPage]
    methods: dict[str, Cleaned]
    warnings: list[str]


def clean_all(
    pages: Sequence[MinedPage],
    methods: Sequence[Method],
    sample: int,
    seed: int,
    jobs: int = 1,
    progress: Callable[[str], None] = lambda _: None,
) -> CleanedPages:
    """Clean the pages of all sites with all methods, in several processes if `jobs` is greater than 1."""
    run = partial(clean_site, methods=tuple(methods), sample=sample, seed=seed)
    sites = by_site(pages)
    cleaned = CleanedPages([], {method.name: Cleaned() for method in methods}, [])
    for done, site in enumerate(map_in_jobs(run, sites, jobs), 1):
        cleaned.pages.extend(site.pages)
        cleaned.warnings.extend(site.warnings)
        for name, method_pages in site.methods.items():
            cleaned.methods[name].extend(method_pages)
        progress(f"cleaned: site {done} of {len(sites)}")
    return cleaned


def clean_site(pages: list[MinedPage], methods: tuple[Method, ...], sample: int, seed: int) -> CleanedPages:
    """Clean one site's pages with every method. The first method is no cleaning; the others are compared with it."""
    reader = SiteReader(pages, methods[0].load().config)
    site = CleanedPages(reader.pages, {}, reader.warnings)
    learned = draw_sample(range(len(site.pages)), sample, random.Random(f"{seed} {pages[0].site}"))
    words_before: list[list[str]] = []
    for method in methods:
        cleaned = site.methods[method.name] = Cleaned()
        if not site.pages:
            continue
        cleaner = method.load()
        documents, cleaned.reading = reader.read(cleaner.config)
        try:
            labelled = label_site(cleaner.labeller, documents, learned)
        except VictorError as error:
            raise DataError(f"{method.name} cannot clean {pages[0].site}: {error}") from error
        cleaned.learned, cleaned.learning, cleaned.labelling = len(learned), labelled.learning, labelled.labelling
        words_kept = [words_of(kept_text(*page)) for page in zip(documents, labelled.pages, strict=True)]
        words_before = words_before or words_kept
        for page, before, kept in zip(site.pages, words_before, words_kept, strict=True):
            cleaned.add(page.values, before, kept)
    return site


class SiteReader:
    """A site's pages as documents, read once for all methods that cut pages alike.

    Pages that cannot be read are left out, with a warning.
    """

    def __init__(self, pages: Sequence[MinedPage], config: Config) -> None:
        self.warnings: list[str] = []
        self.pages: list[MinedPage] = []
        documents = []
        seconds = 0.0
        for page in pages:
            result = timed(partial(_read, page, config))
            seconds += result.seconds
            try:
                documents.append(result.get())
            except VictorError as error:
                self.warnings.append(f"{page.name}: {error}")
            else:
                self.pages.append(page)
        self._read = {cut_key(config): (documents, seconds)}

    def read(self, config: Config) -> tuple[list[Document], float]:
        """Return the documents as a config cuts them, and the CPU seconds of reading them."""
        key = cut_key(config)
        if key not in self._read:
            result = timed(lambda: [_read(page, config) for page in self.pages])
            self._read[key] = result.get(), result.seconds
        return self._read[key]


def _read(page: MinedPage, config: Config) -> Document:
    return read_document(page.html, config, page.url or None, source=page.name)


def kept_text(document: Document, labelling: Labelling) -> str:
    """Return the text of the kept blocks, joined as in the page."""
    blocks = [block for block, label in zip(document.blocks, labelling.labels, strict=True) if label.is_content]
    parts = [blocks[0].text] if blocks else []
    for previous, block in pairwise(blocks):
        parts += [joint(previous, block), block.text]
    return "".join(parts)
