"""Clean the pages of every site with every method, and count the remaining words and values.

A method for sites first sees a random sample of the site's pages without labels, as in the SST paper with 500 pages
(section 4.2). The remaining text is immediately converted to counts, so that only one site's documents are in memory.
"""

from __future__ import annotations

import random
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby, pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from victorpy.base.parameters import split_names
from victorpy.base.words import simple_words
from victorpy.cleaner import read_document
from victorpy.config import Config
from victorpy.document import Document, Labelling
from victorpy.errors import DataError, VictorError
from victorpy.methods import Method
from victorpy.outputs.base import CleanPage, KeptBlocks, joint
from victorpy.research.datasets import Warn, parse_data, read_dataset
from victorpy.research.scores import occurring
from victorpy.research.site_runs import cut_key, label_site, map_in_jobs
from victorpy.sites.grouping import SITE_KEY, draw_sample

NONE = "none"
"""Name of the baseline without cleaning, which keeps all text."""

_COUNTS = ("pages", "empty", "values", "present", "survived", "words", "kept")
"""Numbers of a page: whether all words were removed, its values, those in the text before cleaning, those that
survived, and its words before and after. Other values are in attributes, titles or pictures, or are worded differently.
"""

Matrix = Any  # a scipy sparse matrix with a row per page and a column per term


@dataclass(frozen=True, slots=True)
class MinedPage:
    """A page with its site, its vertical (SWDE's kind of page, the papers' class), and the values to keep."""

    name: str
    site: str
    vertical: str
    url: str
    values: tuple[str, ...]
    """Words in lower case, separated by one space. Values without a word are left out."""
    packed: bytes  # the compressed HTML, kept because a site is cleaned as a whole, with all its verticals


def parse_methods(names: str, allow_code: bool = False) -> list[Method]:
    """Parse a list such as ``sst,sst(t=0.3)``. The baseline without cleaning always comes first."""
    methods = [
        Method("everything" if name == NONE else name, tuple(parameters), label=name, allow_code=allow_code)
        for name, parameters in [(NONE, []), *split_names(names)]
    ]
    for method in methods:
        method.load()  # report a wrong name or parameter before the pages are read
    return list(dict.fromkeys(methods))


def read_pages(specs: Iterable[str], limit: int, warn: Warn, site_key: str = SITE_KEY) -> list[MinedPage]:
    """Read data sets, at most `limit` pages per site and vertical (0 for all), and sort the pages by site."""
    counts: Counter[tuple[str, str]] = Counter()
    pages = []
    for spec in specs:
        for page in read_dataset(*parse_data(spec), warn, site_key):
            if not page.page_type:
                raise DataError(
                    f"{spec}: {page.name} has no page type; mining needs page types, such as the verticals of swde"
                )
            counts[page.site, page.page_type] += 1
            if not limit or counts[page.site, page.page_type] <= limit:
                values = tuple(value for segment in page.gold if (value := " ".join(simple_words(segment.text))))
                packed = zlib.compress(page.html, 1)
                pages.append(MinedPage(page.name, page.site, page.page_type, page.url, values, packed))
    return sorted(pages, key=lambda page: (page.site, page.vertical, page.name))


def by_site(pages: Sequence[MinedPage]) -> list[list[MinedPage]]:
    """Group sorted pages by site."""
    return [list(group) for _, group in groupby(pages, key=lambda page: page.site)]


def terms(words: Iterable[str]) -> Counter[str]:
    """Count the terms of a page: words that are not single characters or numbers.

    >>> sorted(terms(["canon", "s", "eos", "7d", "1", "699"]).items())
    [('7d', 1), ('canon', 1), ('eos', 1)]
    """
    return Counter(word for word in words if len(word) > 1 and not word.isdigit())


class Bags:
    """Term counts of pages, in arrays that are far smaller than the texts."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._columns: list[npt.NDArray[np.int32]] = []
        self._counts: list[npt.NDArray[np.int32]] = []

    def add(self, counts: Mapping[str, int]) -> None:
        self._columns.append(self._number(counts))
        self._counts.append(np.fromiter(counts.values(), dtype=np.int32, count=len(counts)))

    def extend(self, other: Bags) -> None:
        ours = self._number(other._numbers)
        self._columns += [ours[columns] for columns in other._columns]
        self._counts += other._counts

    def _number(self, words: Iterable[str]) -> npt.NDArray[np.int32]:
        return np.array([self._numbers.setdefault(word, len(self._numbers)) for word in words], dtype=np.int32)

    def matrix(self) -> Matrix:
        """Return one sparse matrix, with a row for each page in the order in which pages were added."""
        from scipy.sparse import csr_matrix

        ends = np.cumsum([0, *(len(columns) for columns in self._columns)])
        empty = np.empty(0, dtype=np.int32)  # there may be no page at all
        columns, counts = (np.concatenate([*parts, empty]) for parts in (self._columns, self._counts))
        return csr_matrix((counts, columns, ends), shape=(len(self._columns), max(len(self._numbers), 1)))


def survival_scores(rows: Sequence[Mapping[str, int]]) -> dict[str, Any]:
    """Return the total counts of pages, and the shares of surviving values and removed words. Shares may be None.

    Both shares must be read together: keeping everything keeps all values, and dropping everything removes all noise.
    """
    total = {name: sum(row[name] for row in rows) for name in _COUNTS}
    survived = total["survived"] / total["present"] if total["present"] else None
    removed = 1 - total["kept"] / total["words"] if total["words"] else None
    return total | {"survived_share": survived, "removed_share": removed}


@dataclass(slots=True)
class MethodPages:
    """The words and values that one method keeps, and its CPU seconds."""

    kept: Bags = field(default_factory=Bags)
    removed: Bags = field(default_factory=Bags)
    survival: list[dict[str, int]] = field(default_factory=list)  # the numbers in `_COUNTS` for each page
    learned: int = 0  # number of pages that sites were learned from
    learning: float = 0.0
    labelling: float = 0.0
    reading: float = 0.0

    def add(self, values: Sequence[str], words: list[str], words_kept: list[str]) -> None:
        """Add a page, given its words before and after cleaning."""
        terms_kept = terms(words_kept)
        self.kept.add(terms_kept)
        self.removed.add(terms(words) - terms_kept)
        before, after = occurring(values, words), occurring(values, words_kept)
        survived = sum(first and second for first, second in zip(before, after, strict=True))
        is_empty = bool(words) and not words_kept
        counts = (1, int(is_empty), len(before), sum(before), survived, len(words), len(words_kept))
        self.survival.append(dict(zip(_COUNTS, counts, strict=True)))

    def extend(self, other: MethodPages) -> None:
        self.kept.extend(other.kept)
        self.removed.extend(other.removed)
        for name in ("survival", "learned", "learning", "labelling", "reading"):
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def cost(self) -> dict[str, float]:
        """Return milliseconds per page."""
        pages = max(len(self.survival), 1)
        return {
            "learn_ms": 1000 * self.learning / max(self.learned, 1),
            "clean_ms": 1000 * self.labelling / pages,
            "read_ms": 1000 * self.reading / pages,
        }

    def survival_by_group(self, pages: Sequence[MinedPage]) -> dict[str, Any]:
        """Return the removed words and surviving values: in total, per vertical, and per vertical and site."""
        verticals: dict[str, list[dict[str, int]]] = {}
        sites: dict[tuple[str, str], list[dict[str, int]]] = {}
        for page, row in zip(pages, self.survival, strict=True):
            verticals.setdefault(page.vertical, []).append(row)
            sites.setdefault((page.vertical, page.site), []).append(row)
        return {
            "all": survival_scores(self.survival),
            "verticals": {vertical: survival_scores(rows) for vertical, rows in sorted(verticals.items())},
            "sites": [
                {"vertical": vertical, "site": site, **survival_scores(rows)}
                for (vertical, site), rows in sorted(sites.items())
            ],
        }


class CleanedPages(NamedTuple):
    """The readable pages, the results of each method in the same order, and warnings about other pages."""

    pages: list[MinedPage]
    methods: dict[str, MethodPages]
    warnings: list[str]


def clean_all(
    pages: Sequence[MinedPage],
    methods: Sequence[Method],
    sample: int,
    seed: int,
    jobs: int,
    progress: Callable[[str], None],
) -> CleanedPages:
    """Clean the pages of all sites with all methods, in several processes if `jobs` is greater than 1."""
    run = partial(clean_site, methods=tuple(methods), sample=sample, seed=seed)
    sites = by_site(pages)
    cleaned = CleanedPages([], {method.name: MethodPages() for method in methods}, [])
    for done, site in enumerate(map_in_jobs(run, sites, jobs), 1):
        cleaned.pages.extend(site.pages)
        cleaned.warnings.extend(site.warnings)
        for name, method_pages in site.methods.items():
            cleaned.methods[name].extend(method_pages)
        progress(f"cleaned: site {done} of {len(sites)}")
    return cleaned


def clean_site(pages: list[MinedPage], methods: tuple[Method, ...], sample: int, seed: int) -> CleanedPages:
    """Clean one site's pages with every method. The first method is the baseline without cleaning.

    Pages that cannot be read are left out, with a warning. Methods that split pages in the same way share documents.
    """
    site = CleanedPages([], {method.name: MethodPages() for method in methods}, [])
    config = methods[0].load().config
    documents = []
    start = time.process_time()
    for page in pages:
        try:
            documents.append(_read(page, config))
            site.pages.append(page)
        except VictorError as error:
            site.warnings.append(f"{page.name}: {error}")
    if not documents:
        return site
    read = {cut_key(config): (documents, time.process_time() - start)}
    learned = draw_sample(range(len(documents)), sample, random.Random(f"{seed} {pages[0].site}"))
    words_before: list[list[str]] = []
    for method in methods:
        cleaned, cleaner = site.methods[method.name], method.load()
        cut = cut_key(cleaner.config)
        if cut not in read:
            start = time.process_time()
            documents = [_read(page, cleaner.config) for page in site.pages]
            read[cut] = documents, time.process_time() - start
        documents, cleaned.reading = read[cut]
        try:
            labellings, cleaned.learning, cleaned.labelling = label_site(cleaner.labeller, documents, learned)
        except VictorError as error:
            raise DataError(f"{method.name} cannot clean {pages[0].site}: {error}") from error
        cleaned.learned = len(learned)
        words_kept = [simple_words(_kept_text(*page)) for page in zip(documents, labellings, strict=True)]
        words_before = words_before or words_kept
        for page, before, kept in zip(site.pages, words_before, words_kept, strict=True):
            cleaned.add(page.values, before, kept)
    return site


def _read(page: MinedPage, config: Config) -> Document:
    return read_document(zlib.decompress(page.packed), config, page.url or None, source=page.name)


def _kept_text(document: Document, labelling: Labelling) -> str:
    """Return the text of the kept blocks, joined as in the page."""
    blocks = [block for block, _ in KeptBlocks(CleanPage.of(document, labelling))]
    parts = [blocks[0].text] if blocks else []
    for previous, block in pairwise(blocks):
        parts += [joint(previous, block), block.text]
    return "".join(parts)
