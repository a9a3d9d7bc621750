"""Measure the types and keywords of DocView records, and what a record costs.

    python -m benchmarks.docview --data wcxb:DIR
    python -m benchmarks.docview --data wcxb:DIR dragnet:DIR l3s:DIR cleaneval:DIR --tables keywords

**Types.** Listings and collections are hubs, all other pages topics. The paper's rule is applied to the central area of
the page, to the kept blocks, to the area around them, and to the mean of the last two, which records use. The
thresholds were chosen on every second page (chosen on); the others are held out (kept aside).

**Keywords.** For pages with keywords in a meta tag: the share of those in the content that are among the ten heaviest
terms. Plain term frequency is compared with formula 2, for several shares of a block's force that go to the blocks
around it.

**Cost.** CPU time of a record and of its metadata, relative to cleaning alone.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from statistics import mean

from tqdm import tqdm

from benchmarks.lib.command import make_parser, run
from benchmarks.lib.pages import read_pages
from benchmarks.lib.tables import cpu_seconds, table
from victorpy import Cleaner, CleanPage
from victorpy.base.words import icu_words
from victorpy.description.record import PAGE_HUB, area_of_content, describe, page_type
from victorpy.description.tag_tree import TagTree, Thresholds, Type, content_tree, type_by_shares
from victorpy.description.terms import terms
from victorpy.description.weights import Vector, feature_vector, keywords, normalised
from victorpy.errors import DataError

HUBS = frozenset(["listing", "collection"])
SPREADS = (0.0, 0.1, 0.5, 1.0)
KEYWORDS = 10
_LEAST_KEYWORDS = 3
_MAY_HAVE_KEYWORDS = re.compile(rb"keywords|article:tag|parsely-tags|sailthru\.tags|dc\.subject", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Page:
    """A cleaned page of the gold standard, as trees."""

    data: str
    kind: str
    cleaned: CleanPage
    whole: TagTree
    content: TagTree

    @property
    def language(self) -> str:
        return self.cleaned.metadata.language if self.cleaned.metadata else ""


def read(arguments: argparse.Namespace) -> list[Page]:
    """Clean all pages."""
    cleaner = Cleaner.load(arguments.model)
    pages = []
    needs_all = arguments.tables != ["keywords"]
    for data, gold in tqdm(read_pages(arguments.data, arguments.step), unit=" pages", disable=None):
        if not needs_all and not _MAY_HAVE_KEYWORDS.search(gold.html):
            continue
        cleaned = cleaner.document(gold.html, metadata=True)
        whole = TagTree(cleaned.document)
        content = content_tree(cleaned, whole.page)
        pages.append(Page(data, gold.page_type, cleaned, whole, content))
    if not pages:
        raise DataError("there are no pages in the data")
    return pages


def by_central_area(page: Page) -> Type:
    """Apply the paper's rule."""
    return page.whole.page_type(Thresholds())


def by_content(page: Page) -> Type:
    """Apply the rule to the kept blocks."""
    thresholds = Thresholds()
    shares = page.content.shares(thresholds, [True] * len(page.content.nodes))
    return type_by_shares(shares, PAGE_HUB, thresholds.page_image)


def by_area(page: Page) -> Type:
    """Apply the rule to the area around the kept blocks."""
    shares = page.whole.shares(Thresholds(), area_of_content(page.whole, page.content))
    return type_by_shares(shares, PAGE_HUB, Thresholds().page_image)


def by_both(page: Page) -> Type:
    """Return the type that a record has."""
    return page_type(page.whole, page.content)


RULES: dict[str, Callable[[Page], Type]] = {
    "central area": by_central_area,
    "content": by_content,
    "area around it": by_area,
    "mean of these two": by_both,
}


def type_table(pages: Sequence[Page]) -> str:
    """Return precision, recall and F1 of hubs, and accuracy, by rule and half."""
    known = [page for page in pages if page.kind]
    rows = []
    for name, rule in RULES.items():
        for half, part in (("chosen on", known[::2]), ("kept aside", known[1::2])):
            rows.append([name, half, *_hub_scores([(rule(page) is Type.HUB, page.kind in HUBS) for page in part])])
    return table(["rule", "pages", "precision", "recall", "F1", "accuracy"], rows)


def _hub_scores(pairs: Sequence[tuple[bool, bool]]) -> list[str]:
    hits = sum(found and is_hub for found, is_hub in pairs)
    found, hubs = sum(found for found, _ in pairs), sum(is_hub for _, is_hub in pairs)
    right = sum(found == is_hub for found, is_hub in pairs)
    values = hits / max(found, 1), hits / max(hubs, 1), 2 * hits / max(found + hubs, 1), right / max(len(pairs), 1)
    return [f"{value:.3f}" for value in values]


def kinds_table(pages: Sequence[Page]) -> str:
    """Return the share of each type among the pages of each kind."""
    rows = []
    for kind in sorted({page.kind for page in pages if page.kind}):
        found = [by_both(page) for page in pages if page.kind == kind]
        rows.append([kind, str(len(found)), *(f"{found.count(each) / len(found):.2f}" for each in Type)])
    return table(["WCXB's type", "pages", *map(str, Type)], rows)


def keyword_table(pages: Sequence[Page]) -> str:
    """Return the share of the pages' own keywords that are found, by set."""
    with_keywords = [(page, own) for page in pages if len(own := _own_keywords(page)) >= _LEAST_KEYWORDS]
    names = [*dict.fromkeys(page.data for page, _ in with_keywords), "all"]
    counts = Counter(page.data for page, _ in with_keywords) + Counter(all=len(with_keywords))
    vectors: dict[str, Callable[[Page], Vector]] = {"term frequency": _term_frequencies}
    for spread in SPREADS:
        vectors[f"formula 2, spread {spread:g}"] = partial(_formula_2, spread=spread)
    rows = []
    for label, vector in vectors.items():
        shares: dict[str, list[float]] = {name: [] for name in names}
        for page, own in with_keywords:
            share = len(own & set(keywords(vector(page), KEYWORDS))) / min(len(own), KEYWORDS)
            shares[page.data].append(share)
            shares["all"].append(share)
        rows.append([label, *(f"{mean(shares[name]):.3f}" for name in names)])
    return table(["found", *(f"{name} ({counts[name]} pages)" for name in names)], rows)


def _own_keywords(page: Page) -> set[str]:
    metadata = page.cleaned.metadata
    if metadata is None or not metadata.keywords:
        return set()
    content = {word for node in page.content.nodes for word in icu_words(page.content.text(node.texts))}
    return set(terms(" ".join(metadata.keywords), metadata.language)) & content


def _term_frequencies(page: Page) -> Vector:
    nodes = page.content.nodes
    return normalised(Counter(term for node in nodes for term in terms(page.content.text(node.texts), page.language)))


def _formula_2(page: Page, spread: float) -> Vector:
    return feature_vector(page.content, page.language, spread)


def cost_table(arguments: argparse.Namespace, most: int = 150) -> str:
    """Return the CPU time of a record relative to cleaning alone."""
    cleaner = Cleaner.load(arguments.model)
    sources = [gold.html for _, gold in islice(read_pages(arguments.data, arguments.step), most)]
    describe(cleaner.document(sources[0], metadata=True))  # loads what is loaded once
    steps: dict[str, Callable[[bytes | str], object]] = {
        "cleaning": cleaner.document,
        "with metadata": lambda source: cleaner.document(source, metadata=True),
        "whole record": lambda source: describe(cleaner.document(source, metadata=True)),
    }
    seconds = {name: cpu_seconds(step, sources)[0] for name, step in steps.items()}
    rows = [[name, f"{spent / seconds['cleaning']:.2f}"] for name, spent in seconds.items()]
    return table([f"{len(sources)} pages", "CPU time"], rows)


TABLES: dict[str, Callable[[Sequence[Page]], str]] = {
    "types": type_table,
    "kinds": kinds_table,
    "keywords": keyword_table,
}


def main() -> None:
    """Print the tables."""
    parser = make_parser(__doc__)
    parser.add_argument("--model", default="default", help="a model's name or directory")
    parser.add_argument("--tables", nargs="+", choices=[*TABLES, "cost"], default=[*TABLES, "cost"])
    arguments = parser.parse_args()
    pages = read(arguments)
    for name in arguments.tables:
        print(TABLES[name](pages) if name != "cost" else cost_table(arguments), end="\n\n", flush=True)


if __name__ == "__main__":
    run(main)
