"""Clean every page with every method in one process, time learning and cleaning, and score the results.

Cleaning is timed from bytes to text, in CPU time. Methods take turns in going first.

If the gold is a text, the words of the output and the gold are compared. If the gold is a list of values (SWDE), the
share of kept values is measured. Keeping everything keeps all values, so the share of removed words is always measured
too.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar

from victorpy.base.score import Score
from victorpy.base.words import aligned_words
from victorpy.cleaner import Cleaner, read_document
from victorpy.config import Config, load_config
from victorpy.document import Document, Elements, Label
from victorpy.errors import DataError, VictorError
from victorpy.labellers.base import Labels
from victorpy.methods import CONFIG, Method
from victorpy.model.parts import AS_LABELLED
from victorpy.outputs import OUTPUTS, CleanPage
from victorpy.peers import load_peer
from victorpy.research.datasets import VALUE_KINDS, GoldPage, Warn, parse_data, read_dataset, set_name
from victorpy.research.gold import gold_labels
from victorpy.research.scores import BlockCounts, PageResult, cleaneval_words, occurring, shingle_f1, word_f1
from victorpy.research.site_runs import Plan, Shares, cut_key, share_out
from victorpy.sites.grouping import SITE_KEYS

Result = TypeVar("Result")
Progress = Callable[[str], object]  # called with the name of every finished page


@dataclass(frozen=True, slots=True)
class DataSet:
    """A data set and the number of pages of each of its sites."""

    name: str  # name in results: the kind, with the directory if several sets have this kind
    source: str  # the kind and the name of the directory
    kind: str
    directory: Path
    sites: dict[str, int]
    site_key: str = SITE_KEYS[0]

    @property
    def has_values(self) -> bool:
        """Whether the gold is values instead of texts."""
        return self.kind in VALUE_KINDS

    @property
    def measure(self) -> str:
        """The main measure: word F1, or the share of values kept."""
        return "value_recall" if self.has_values else "words_f1"

    def read_sites(self) -> Iterator[tuple[str, list[GoldPage]]]:
        """Read the pages again and yield each site as soon as it is complete, so that few pages are in memory."""
        incomplete: dict[str, list[GoldPage]] = {}
        for page in read_dataset(self.kind, self.directory, lambda _: None, self.site_key):
            site = _site_name(self.kind, page)
            pages = incomplete.setdefault(site, [])
            pages.append(page)
            if len(pages) == self.sites.get(site):
                yield site, incomplete.pop(site)


def _site_name(kind: str, page: GoldPage) -> str:
    """Return the site of a page. A shop of SWDE is one site per vertical, since its templates differ."""
    return f"{page.page_type}-{page.site}" if kind in VALUE_KINDS else page.site


def open_sets(specs: Sequence[str], warn: Warn, site_key: str = SITE_KEYS[0]) -> list[DataSet]:
    """Read data sets given as ``KIND:DIR``. Warnings about pages are given here, and not when sites are read."""
    sources = [set_name(spec) for spec in specs]
    repeated = [source for source, times in Counter(sources).items() if times > 1]
    if repeated:
        raise DataError(f"two data sets have the same name, {', '.join(repeated)}; compare them one after the other")
    parsed = [parse_data(spec) for spec in specs]
    kinds = Counter(kind for kind, _ in parsed)
    sets = []
    for source, (kind, directory) in zip(sources, parsed, strict=True):
        sites = Counter(_site_name(kind, page) for page in read_dataset(kind, directory, warn, site_key))
        sets.append(DataSet(kind if kinds[kind] == 1 else source, source, kind, directory, dict(sites), site_key))
    return sets


class Cleaned(NamedTuple):
    """The output of a method for a page: its text, and its blocks if the method labels blocks."""

    text: str = ""
    page: CleanPage | None = None
    seconds: float = 0.0
    error: str = ""


class LearningCost(NamedTuple):
    """The cost of learning a site."""

    pages: int = 0  # number of pages that the method read; 0 if it does not learn from sites
    seconds: float = 0.0
    error: str = ""


class ComparedSite(NamedTuple):
    """The results of all methods on the pages of a site."""

    data: str
    site: str
    tuned: int
    learned: dict[str, LearningCost]
    rows: list[PageResult]  # one row per page and method, page by page
    ceilings: list[Score]  # the number of gold values that occur in the page text, for each page with values as gold


def compare_methods(
    sets: Sequence[DataSet], methods: Sequence[Method], plan: Plan, progress: Progress
) -> list[ComparedSite]:
    """Compare methods on data sets, one site at a time."""
    valued = [data.source for data in sets if data.has_values]
    if plan.tune and valued:
        raise DataError(f"{', '.join(valued)}: the gold lists values, not texts, so there are no labels to tune with")
    compared: list[ComparedSite] = []
    turns = itertools.count()
    for data in sets:
        for site, pages in data.read_sites():
            if not compared:  # trigger all lazy loading before anything is timed
                for method in methods:
                    MethodAtSite(method, pages[:1], Shares([0], [], [0])).clean(pages[0])
            shares = share_out(len(pages), plan, f"{data.source} {site}")
            at_site = [MethodAtSite(method, pages, shares) for method in methods]
            learned = {method.name: method.learned for method in at_site}
            result = ComparedSite(data.name, site, len(shares.tuned), learned, [], [])
            for index in shares.scored:
                first = next(turns) % len(methods)
                outputs = {method.name: method.clean(pages[index]) for method in at_site[first:] + at_site[:first]}
                ruler = Ruler(pages[index], data.name, site, data.has_values)
                result.rows.extend(ruler.measure(method, outputs[method.name]) for method in at_site)
                result.ceilings.extend([ruler.ceiling] if ruler.ceiling else [])
                progress(pages[index].name)
            compared.append(result)
    return compared


class MethodAtSite:
    """A method that has learned from a site's pages. If learning fails, cleaning fails on all pages of the site."""

    def __init__(self, method: Method, pages: Sequence[GoldPage], shares: Shares) -> None:
        self.name = method.name
        self.learned = LearningCost()
        self.config: Config | None = None  # config that splits pages into blocks; other programs have none
        if method.is_peer:
            extract = load_peer(str(method.method), method.parameters)
            self._run: Callable[[GoldPage], Cleaned] = lambda gold: Cleaned(extract(gold.html))
            return
        cleaner = method.load()
        self.config = config = cleaner.config
        if cleaner.labeller.wants_site:
            documents = SiteDocuments([pages[index] for index in shares.learned], config)
            labels: Labels = None
            if shares.tuned:
                tuned = {index: _read_document(pages[index], config) for index in shares.tuned}
                labels_of = {index: gold_labels(pages[index], document, config) for index, document in tuned.items()}
                labels = [labels_of.get(index) or None for index in shares.learned]
            labeller, seconds, error = _timed(lambda: method.load().labeller.at_site(documents, labels))
            self.learned = LearningCost(min(documents.reads, len(shares.learned)), seconds, error)
            if labeller:
                cleaner = Cleaner(labeller, config)

        def run(gold: GoldPage) -> Cleaned:
            page = cleaner.document(gold.html, gold.url or None, parts=AS_LABELLED)
            return Cleaned(OUTPUTS.get("text").render(page), page)

        self._run = run

    def clean(self, gold: GoldPage) -> Cleaned:
        """Clean a page. A method that fails gives an empty text and an error."""
        if self.learned.error:
            return Cleaned(error=f"learning the site failed: {self.learned.error}")
        output, seconds, error = _timed(lambda: self._run(gold))
        return (output or Cleaned())._replace(seconds=seconds, error=error)


def _timed(function: Callable[[], Result]) -> tuple[Result | None, float, str]:
    """Return the result of a function, its CPU seconds, and a description of the exception that it raised."""
    result, error = None, ""
    start = time.process_time()
    try:
        result = function()
    except Exception as exception:  # other programs may raise anything
        error = f"{type(exception).__name__}: {exception}"
    return result, time.process_time() - start, error


class SiteDocuments:
    """The pages of a site as documents. Every iteration reads them again, so that none is held in memory."""

    def __init__(self, pages: Sequence[GoldPage], config: Config) -> None:
        self._pages = pages
        self._config = config
        self.reads = 0  # number of documents that were read; 0 for a method that does not learn from sites

    def __iter__(self) -> Iterator[Document]:
        for page in self._pages:
            self.reads += 1
            yield _read_document(page, self._config)


def _read_document(page: GoldPage, config: Config) -> Document:
    try:
        return read_document(page.html, config, page.url or None, source=page.name)
    except VictorError:  # not a page, for example a picture
        return Document((), Elements())


class Ruler:
    """Scores the outputs of all methods for one page. Values that all methods need are computed once."""

    def __init__(self, gold: GoldPage, data: str, site: str, has_values: bool) -> None:
        self._gold = gold
        self._page = (gold.name, data, site, gold.page_type)
        self._values: list[str] | None = None
        if has_values:  # a value without words cannot be searched for
            self._values = [" ".join(value) for segment in gold.gold if (value := aligned_words(segment.text))]
        document = _read_document(gold, load_config(CONFIG))
        page_words = aligned_words("\n".join(block.text for block in document.blocks))
        self._word_count = len(page_words)
        self._labels: dict[object, tuple[Label, ...]] = {}
        self.ceiling = self._count_values(page_words)
        """Score of keeping every word of the page: some values may not be in its text."""

    def measure(self, method: MethodAtSite, output: Cleaned) -> PageResult:
        """Score the output of a method."""
        kept = aligned_words(output.text)
        scores = {"words_removed": 1 - min(len(kept) / max(self._word_count, 1), 1.0), "cpu_ms": 1000 * output.seconds}
        values, blocks = self._count_values(kept), None
        if values is not None:
            counts = {"values": values}
            scores |= {"value_recall": values.recall, "empty": float(not kept and values.gold > 0)}
        else:
            gold = self._gold.text
            words = word_f1(output.text, gold)
            counts = {"words": words}
            scores |= {f"words_{name}": value for name, value in words.shares().items()}
            scores["cleaneval_words_f1"] = cleaneval_words(output.text, gold).f1
            scores["shingle_f1"] = shingle_f1(output.text, gold).f1
            scores["empty"] = float(not words.output and words.gold > 0)
            if output.page and method.config:  # methods that split pages in the same way share gold labels
                cut = cut_key(method.config)
                if cut not in self._labels:
                    self._labels[cut] = gold_labels(self._gold, output.page.document, method.config)
                blocks = BlockCounts.of(output.page.labels, self._labels[cut])
        return PageResult(*self._page, scores, counts, blocks, method.name, error=output.error)

    def _count_values(self, kept: list[str]) -> Score | None:
        if self._values is None:
            return None
        count = sum(occurring(self._values, kept))
        return Score(count, count, len(self._values))
