"""Search pages by their whole text, their content and their abstracts, on SWDE (section 7.3 of the DocView paper).

    python -m benchmarks.search swde

Three BM25 indexes are built: of the text of whole pages, of their cleaned content, and of the abstracts in their
records (δ = 15, θ = 15, as in the paper). The tables show

- the number of terms and the size of the saved index, relative to whole pages (table 3 of the paper),
- the number of postings that the queries read, relative to whole pages (figure 6),
- the precision of the first ten results,
- the share of the relevant pages whose text has all words of the query.

A query is a value that SWDE's gold standard gives for at least ten pages: a manufacturer of cameras, a publisher or
author of books, a model of cars, a company, place or title of jobs. A page is relevant if the gold standard gives it a
value with all words of the query. So no person has to judge results.
"""

from __future__ import annotations

import html
import random
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from tqdm import tqdm

from benchmarks.lib.command import make_parser, run
from benchmarks.lib.tables import table
from victorpy.base.words import simple_words
from victorpy.description.record import describe
from victorpy.description.terms import terms
from victorpy.errors import DataError, VictorError, require
from victorpy.methods import load_method

FIELDS = {
    "auto": ["model"],
    "book": ["author", "publisher"],
    "camera": ["manufacturer"],
    "job": ["company", "location", "title"],
}
RESULTS = 10
QUERY_WORDS = range(1, 5)


class Page(NamedTuple):
    """The gold values of a page, and the terms of its texts by the name of the index."""

    values: Mapping[str, set[str]]
    texts: Mapping[str, list[str]]


class Query(NamedTuple):
    """A value of a field, as words."""

    field: str
    words: tuple[str, ...]

    def is_answered_by(self, page: Page) -> bool:
        return set(self.words) <= page.values.get(self.field, set())


def read_pages(directory: Path, limit: int, method: str) -> list[Page]:
    """Clean and describe the first pages of each site."""
    everything, cleaner = load_method("everything"), load_method(method)
    pages = []
    folders = [folder for vertical in FIELDS for folder in sorted((directory / vertical).glob("*"))]
    if not folders:
        raise DataError(f"{directory} has no pages of SWDE; it should contain {', '.join(FIELDS)} and groundtruth")
    for folder in tqdm(folders, unit=" sites", disable=None):
        vertical = folder.parent.name
        gold = {field: read_gold(directory, folder.name, field) for field in FIELDS[vertical]}
        for path in sorted(folder.iterdir())[:limit]:
            try:
                record = describe(cleaner.document(path.read_bytes(), metadata=True))
                whole = everything.document(path.read_bytes()).text
            except VictorError:
                continue
            texts = {"whole pages": whole, "content": record.content, "abstracts": record.abstract}
            values = {f"{vertical} {field}": values.get(path.stem, set()) for field, values in gold.items()}
            pages.append(Page(values, {name: terms(text, "en") for name, text in texts.items()}))
    return pages


def read_gold(directory: Path, site: str, field: str) -> dict[str, set[str]]:
    """Return the words of a field's values for each page of a site, by the name of the page's file."""
    path = directory / "groundtruth" / site.partition("-")[0] / f"{site}-{field}.txt"
    if not path.is_file():
        return {}
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8-sig").splitlines()[2:]]
    values = {row[0]: " ".join(row[2:]) for row in rows if row[2:] != ["<NULL>"]}
    return {page: set(simple_words(html.unescape(value))) for page, value in values.items()}


def choose_queries(directory: Path, pages: Sequence[Page], count: int, seed: int) -> list[Query]:
    """Draw values that at least ten pages have, the same number from each field if possible."""
    chance = random.Random(seed)
    by_field: dict[str, list[Query]] = {}
    for vertical, fields in FIELDS.items():
        for field in fields:
            values = set(_values(directory, vertical, field))
            queries = [Query(f"{vertical} {field}", words) for words in sorted(values) if len(words) in QUERY_WORDS]
            asked = [query for query in queries if sum(map(query.is_answered_by, pages)) >= RESULTS]
            by_field[field] = chance.sample(asked, len(asked))
    chosen: list[Query] = []
    while len(chosen) < count and any(by_field.values()):
        chosen += [queries.pop() for queries in by_field.values() if queries]
    return chosen[:count]


def _values(directory: Path, vertical: str, field: str) -> Iterator[tuple[str, ...]]:
    for path in sorted((directory / "groundtruth" / vertical).glob(f"*-{field}.txt")):
        for line in path.read_text(encoding="utf-8-sig").splitlines()[2:]:
            values = line.split("\t")[2:3]
            yield from (tuple(terms(html.unescape(value), "en")) for value in values if value != "<NULL>")


def measure(pages: Sequence[Page], queries: Sequence[Query], name: str) -> list[float]:
    """Return the terms, the bytes of the index, the postings read, the precision and the coverage of a kind of text."""
    import bm25s

    texts = [page.texts[name] for page in pages]
    index = bm25s.BM25()
    index.index(texts, show_progress=False)
    with tempfile.TemporaryDirectory() as directory:
        index.save(directory)
        size = sum(path.stat().st_size for path in Path(directory).iterdir())
    postings: dict[str, int] = {}
    for text in texts:
        for term in set(text):
            postings[term] = postings.get(term, 0) + 1
    precisions = []
    for query in queries:
        known = [word for word in query.words if word in postings]
        scores = index.get_scores(known) if known else []
        ranked = sorted(range(len(scores)), key=lambda number: -scores[number])[:RESULTS]
        hits = sum(scores[number] > 0 and query.is_answered_by(pages[number]) for number in ranked)
        precisions.append(hits / RESULTS)
    read = sum(postings.get(word, 0) for query in queries for word in query.words)
    relevant = [(query, set(page.texts[name])) for query in queries for page in pages if query.is_answered_by(page)]
    covered = mean(words.issuperset(query.words) for query, words in relevant)
    return [sum(map(len, texts)), size, read, mean(precisions), covered]


def main() -> None:
    """Print the tables."""
    parser = make_parser(__doc__, data=False)
    parser.add_argument("directory", type=Path, help="SWDE: VERTICAL/VERTICAL-SITE/N.htm and groundtruth/")
    parser.add_argument("--method", default="default", help="cleans the pages (default: default)")
    parser.add_argument("--limit", type=int, default=50, help="pages per site (default: 50)")
    parser.add_argument("--queries", type=int, default=50, help="number of queries (default: 50, as in the paper)")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    require(["bm25s"], "research", "searching")
    pages = read_pages(arguments.directory, arguments.limit, arguments.method)
    queries = choose_queries(arguments.directory, pages, arguments.queries, arguments.seed)
    if not queries:
        raise DataError("no value is given for ten pages; use more pages")
    print(f"{len(pages)} pages, {len(queries)} queries\n")
    measured = {name: measure(pages, queries, name) for name in pages[0].texts}
    whole = measured["whole pages"]
    rows = []
    for name, (count, size, read, precision, covered) in measured.items():
        shares = [f"{value / most:.1%}" for value, most in zip((count, size, read), whole, strict=False)]
        sizes = [f"{count:,}", shares[0], f"{size:,}", shares[1], shares[2]]
        rows.append([name, *sizes, f"{precision:.1%}", f"{covered:.1%}"])
    names = ["index", "terms", "of whole", "bytes", "of whole", "postings read", "precision of 10", "with all words"]
    print(table(names, rows))
    fields = sorted({query.field for query in queries})
    by_field = []
    for field in fields:
        asked = [query for query in queries if query.field == field]
        scores = [measure(pages, asked, name)[-2:] for name in measured]
        by_field.append(
            [field, str(len(asked)), *(f"{precision:.1%} ({covered:.1%})" for precision, covered in scores)]
        )
    print("\nPrecision, and the share of relevant pages with all words of the query\n")
    print(table(["field", "queries", *measured], by_field))


if __name__ == "__main__":
    run(main)
