"""Compare methods on the same pages, as plain data: clean every page with every method, score and time the results.

Cleaning is timed from bytes to text, as CPU time, in one process. The first method changes from page to page.

If the gold is a text, the words of the output and the gold are compared. If the gold is a list of values (SWDE), the
share of kept values is measured. Since keeping everything keeps all values, the share of removed words is measured too.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from victorpy.base.digests import read_meta
from victorpy.base.score import Score
from victorpy.base.words import aligned_words
from victorpy.cleaner import Cleaner, read_document
from victorpy.config import Config, load_config
from victorpy.document import Document, Elements, Label
from victorpy.errors import DataError, VictorError
from victorpy.labellers.base import Labels
from victorpy.methods import CONFIG, Method, load_methods
from victorpy.model.choice import CONFIGS
from victorpy.model.parts import AS_LABELLED
from victorpy.model.store import find_model
from victorpy.outputs import OUTPUTS, CleanPage
from victorpy.peers import cpu_seconds, load_peer, versions
from victorpy.research.datasets import VALUE_KINDS, GoldPage, Warn, parse_data, read_dataset, set_name
from victorpy.research.gold import gold_labels
from victorpy.research.scores import (
    BlockCounts,
    PageResult,
    cleaneval_words,
    mean_of,
    occurring,
    pooled,
    shingle_f1,
    values_of,
    word_f1,
)
from victorpy.research.site_runs import Plan, Shares, cut_key, share_out
from victorpy.research.statistics import compare, interval, mean
from victorpy.sites.grouping import SITE_KEY
from victorpy.sites.style_tree import page_fingerprint

__all__ = ["DataSet", "Method", "Plan", "compare_methods", "load_methods", "open_sets", "summarise_comparison"]

TRAINED_ON = {"cleaneval": ("cleaneval",)}  # training data of bundled models whose meta.json does not record it
HELD_OUT = "test"  # name of directories that models are not trained on
FEW_SITES, PAGES_PER_SITE = 50, 3  # scores by site need at most this many sites, and this many pages per site
MOST_DISPUTED = 20  # number of pages in the list of pages on which methods differ most

Result = TypeVar("Result")
Progress = Callable[[str], object]  # called with the name of each finished page


@dataclass(frozen=True, slots=True)
class DataSet:
    """A data set and the number of pages of each of its sites."""

    name: str  # name in results: the kind, with the directory if several sets have this kind
    source: str  # the kind and the name of the directory
    kind: str
    directory: Path
    sites: dict[str, int]
    site_key: str = SITE_KEY

    @property
    def has_values(self) -> bool:
        """Whether the gold is values instead of texts."""
        return self.kind in VALUE_KINDS

    @property
    def measure(self) -> str:
        """The main measure: word F1, or the share of kept values."""
        return "value_recall" if self.has_values else "words_f1"

    def read_sites(self) -> Iterator[tuple[str, list[GoldPage]]]:
        """Read the pages again. Yield each site as soon as it is complete, so that few pages are in memory."""
        incomplete: dict[str, list[GoldPage]] = {}
        for page in read_dataset(self.kind, self.directory, lambda _: None, self.site_key):
            site = _site_name(self.kind, page)
            pages = incomplete.setdefault(site, [])
            pages.append(page)
            if len(pages) == self.sites.get(site):
                yield site, incomplete.pop(site)


def _site_name(kind: str, page: GoldPage) -> str:
    """Return the site of a page. In SWDE, each vertical of a shop is a separate site, since templates differ."""
    return f"{page.page_type}-{page.site}" if kind in VALUE_KINDS else page.site


def open_sets(specs: Sequence[str], warn: Warn, site_key: str = SITE_KEY) -> list[DataSet]:
    """Read data sets given as ``KIND:DIR``. Warnings about pages are printed here, not when sites are read."""
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
    """The output of a method for a page: the text, and the blocks if the method labels blocks."""

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
    rows: list[PageResult]  # one row per page and method, ordered by page
    ceilings: list[Score]  # for each page with gold values, how many of them occur in its text


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
            if not compared:  # load everything before anything is timed
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


_has_run = set[str]()
"""The methods that have cleaned a page in this process."""


class MethodAtSite:
    """A method that has learned from a site's pages. If learning fails, cleaning fails on all pages of the site."""

    def __init__(self, method: Method, pages: Sequence[GoldPage], shares: Shares) -> None:
        self.name = method.name
        self.learned = LearningCost()
        self.config: Config | None = None  # config that splits pages into blocks; None for other programs
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
        """Clean a page. If the method fails, return an empty text and an error."""
        if self.learned.error:
            return Cleaned(error=f"learning the site failed: {self.learned.error}")
        if self.name not in _has_run:
            _has_run.add(self.name)
            _timed(lambda: self._run(gold))  # the first page takes longer, since much is loaded on first use
        output, seconds, error = _timed(lambda: self._run(gold))
        return (output or Cleaned())._replace(seconds=seconds, error=error)


def _timed(function: Callable[[], Result]) -> tuple[Result | None, float, str]:
    """Return the result of a function, its CPU seconds, and a description of the exception that it raised."""
    result, error = None, ""
    start = cpu_seconds()
    try:
        result = function()
    except Exception as exception:  # other programs may raise anything
        error = f"{type(exception).__name__}: {exception}"
    return result, cpu_seconds() - start, error


class SiteDocuments:
    """The pages of a site as documents. Each iteration reads them again, so that they are not held in memory."""

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
        """Score of keeping every word. It may be below 1, because some values are not in the text of the page."""

    def measure(self, method: MethodAtSite, output: Cleaned) -> PageResult:
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
            if output.page and method.config:  # gold labels are shared by methods that split pages in the same way
                cut = cut_key(method.config)
                if cut not in self._labels:
                    self._labels[cut] = gold_labels(self._gold, output.page.document, method.config)
                blocks = BlockCounts.of(output.page.labels, self._labels[cut])
        fingerprint = page_fingerprint(output.page.document) if output.page else ""
        return PageResult(*self._page, scores, counts, blocks, method.name, error=output.error, fingerprint=fingerprint)

    def _count_values(self, kept: list[str]) -> Score | None:
        if self._values is None:
            return None
        count = sum(occurring(self._values, kept))
        return Score(count, count, len(self._values))


# Summaries for scores.json and pages.jsonl


def training_sets(model: str, sets: Sequence[str]) -> list[str]:
    """Return the data sets that a model is known to have been trained on."""
    meta = read_meta(find_model(model))
    return [data for data in sets if was_trained_on(model, meta, data)]


def count_training_pages(meta: Mapping[str, Any], pages: Iterable[Document]) -> int:
    """Return how many of the pages, or copies of them, a model is known to have been trained on."""
    known = {name for training in _trainings(meta) for name in str(training.get("fingerprints", "")).split()}
    return sum(page_fingerprint(page) in known for page in pages)


def was_trained_on(model: str, meta: Mapping[str, Any], data: str, pages: Iterable[str] = ()) -> bool | None:
    """Whether a model was trained on a data set or on some of its pages; None if its training data is not recorded.

    `pages` are fingerprints.

    >>> meta = {"training": {"data": ["wcxb", "cleaneval:dev"]}}
    >>> sets = ("wcxb:dev", "wcxb:test", "cleaneval:final", "wcxb:wcxb", "l3s:l3s")
    >>> [was_trained_on("my", meta, data) for data in sets]
    [True, False, False, True, False]
    """
    kind, _, name = data.partition(":")
    answer: bool | None = False
    for number, training in enumerate(_trainings(meta)):
        recorded, fingerprints = training.get("data"), training.get("fingerprints")
        if isinstance(fingerprints, str) and not set(pages).isdisjoint(fingerprints.split()):
            return True
        if not recorded or not isinstance(recorded, list):
            recorded = [] if isinstance(fingerprints, str) else TRAINED_ON.get(model if number == 0 else "")
        if recorded is None:
            answer = None
        elif name == kind:  # the directory contains the part of the set that was recorded
            if any(entry.partition(":")[0] == kind for entry in map(str, recorded)):
                return True
        elif data in recorded or (kind in recorded and name != HELD_OUT):
            return True
    return answer


def _trainings(meta: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield how a model was trained and, for an adapted model, how the models that it comes from were trained."""
    training = meta.get("training", {})
    while isinstance(training, dict):
        yield training
        parent = None if training.get("chosen") in CONFIGS else training.get("parent")
        training = (parent.get("training") or {}) if isinstance(parent, dict) else None


def summarise_comparison(
    sets: Sequence[DataSet],
    methods: Sequence[Method],
    plan: Plan,
    compared: Sequence[ComparedSite],
    warnings: Sequence[str] = (),
) -> dict[str, Any]:
    """Return all results by name. Shares are from 0 to 1, and results that do not apply are None."""
    summary: dict[str, Any] = {
        "settings": {"sample": plan.sample, "tune": plan.tune, "seed": plan.seed},
        "versions": versions("lxml", "numpy"),
        **{name: [] for name in ("sets", "methods", "results", "differences", "by_type", "by_site")},
        **{"failures": [], "disputed": [], "warnings": list(warnings)},
    }
    trained_on: dict[str, dict[str, bool | None] | None] = {}  # None for methods that are not trained
    for method in methods:
        trained_on[method.name] = None
        if method.is_trained:
            meta = read_meta(find_model(method.model_name))
            rows = [row for site in compared for row in site.rows if row.method == method.name]
            trained_on[method.name] = {
                data.name: was_trained_on(
                    method.model_name, meta, data.source, [row.fingerprint for row in rows if row.data == data.name]
                )
                for data in sets
            }
        row = {"method": method.name, "needs": method.kind, "run_as": method.run_as}
        summary["methods"].append(row | {"trained_on": trained_on[method.name]})
    for data in sets:
        sites = [site for site in compared if site.data == data.name]
        rows = [row for site in sites for row in site.rows]
        by_method = {method.name: [row for row in rows if row.method == method.name] for method in methods}
        pages = by_method[methods[0].name]
        ceilings = [ceiling for site in sites for ceiling in site.ceilings]
        summary["sets"].append(
            {
                "data": data.name,
                "source": data.source,
                "measure": data.measure,
                "pages": len(pages),
                "sites": len(sites),
                "single_page_sites": sum(count == 1 for count in data.sites.values()),
                "tuned_pages": sum(site.tuned for site in sites),
                "values": sum(score.gold for score in ceilings) if data.has_values else None,
                "values_in_pages": mean([score.recall for score in ceilings]),
            }
        )
        for name, method_rows in by_method.items():
            head = {"method": name, "data": data.name, "pages": len(pages)}
            scores = _scores(method_rows, [site.learned[name] for site in sites])
            by_set = trained_on[name]
            summary["results"].append(head | scores | {"trained_on": by_set[data.name] if by_set else False})
        deciding = {name: [row.scores[data.measure] for row in method_rows] for name, method_rows in by_method.items()}
        summary["differences"] += _differences(data, deciding)
        summary["disputed"] += _disputed(data, deciding, pages)
        types = sorted({page.page_type for page in pages if page.page_type})
        if len(types) > 1:
            summary["by_type"] += _by_group(data, by_method, "type", "page_type", types)
        names = list(dict.fromkeys(row.site for row in rows))
        if 1 < len(names) <= FEW_SITES and len(pages) >= PAGES_PER_SITE * len(names):
            summary["by_site"] += _by_group(data, by_method, "site", "site", names)
        summary["failures"] += [
            {"data": data.name, "page": row.name, "method": row.method, "error": row.error} for row in rows if row.error
        ]
    return summary


def page_records(compared: Iterable[ComparedSite]) -> Iterator[dict[str, Any]]:
    """Yield one record per page, with the scores of every method."""
    names = {"words_precision": "precision", "words_recall": "recall", "words_f1": "f1"}
    names |= {name: name for name in ("value_recall", "words_removed", "cpu_ms")}
    for site in compared:
        for page, rows in itertools.groupby(site.rows, key=lambda row: (row.name, row.page_type)):
            scores = {
                row.method: {short: row.scores[name] for name, short in names.items() if name in row.scores}
                | {"error": row.error}
                for row in rows
            }
            yield {"data": site.data, "site": site.site, "name": page[0], "type": page[1], "methods": scores}


def _scores(rows: Sequence[PageResult], learned: Sequence[LearningCost]) -> dict[str, Any]:
    labelled = [row.blocks for row in rows if row.blocks]  # empty for pages on which the method failed
    blocks = BlockCounts.sum(labelled)
    learned_pages = sum(cost.pages for cost in learned)
    main = _main_scores(rows)
    other_means = ("words_precision", "words_recall", "cleaneval_words_f1", "shingle_f1", "cpu_ms")
    return {
        **main,
        **{name: mean_of(rows, name) for name in other_means},
        "words_f1_pooled": None if main["words_f1"] is None else pooled(rows, "words").f1,
        "label_accuracy": blocks.label_accuracy if labelled else None,
        "content_accuracy": blocks.content_accuracy if labelled else None,
        "empty": sum(row.scores["empty"] > 0 for row in rows),
        "failed": sum(bool(row.error) for row in rows),
        "site_ms": 1000 * sum(cost.seconds for cost in learned) / learned_pages if learned_pages else None,
    }


def _main_scores(rows: Sequence[PageResult]) -> dict[str, Any]:
    scores: dict[str, Any] = {}
    for name in ("words_f1", "value_recall"):
        scores |= {name: mean_of(rows, name), f"{name}_interval": interval(values_of(rows, name))}
    return scores | {"words_removed": mean_of(rows, "words_removed")}


def _differences(data: DataSet, deciding: Mapping[str, Sequence[float]]) -> Iterator[dict[str, Any]]:
    """Yield the difference of every method from the first and from the best method, on the same pages."""
    best = max(deciding, key=lambda name: sum(deciding[name]))
    for against in dict.fromkeys([next(iter(deciding)), best]):
        for name, values in deciding.items():
            if name != against:
                row = {"data": data.name, "method": name, "against": against, "measure": data.measure}
                yield row | asdict(compare(values, deciding[against]))


def _disputed(
    data: DataSet, deciding: Mapping[str, Sequence[float]], pages: Sequence[PageResult]
) -> list[dict[str, Any]]:
    records = []
    for page, scores in zip(pages, zip(*deciding.values(), strict=True), strict=True):
        row = {"data": data.name, "page": page.name, "site": page.site, "difference": max(scores) - min(scores)}
        records.append(row | {"scores": dict(zip(deciding, scores, strict=True))})
    records.sort(key=lambda record: -record["difference"])
    return [record for record in records[:MOST_DISPUTED] if record["difference"] > 0]


def _by_group(
    data: DataSet, by_method: Mapping[str, Sequence[PageResult]], column: str, field: str, groups: Sequence[str]
) -> Iterator[dict[str, Any]]:
    for group in groups:
        for name, rows in by_method.items():
            in_group = [row for row in rows if getattr(row, field) == group]
            head: dict[str, Any] = {"data": data.name, column: group, "method": name, "pages": len(in_group)}
            yield head | _main_scores(in_group)
