"""Measure how well categories are predicted from whole pages and from cleaned ones, on SWDE's verticals (figure 5).

    python -m benchmarks.categories swde --methods everything,default --classifiers knn,linear-svm

A page's vertical (auto, book, camera, job) is its category. Folds keep the pages of a site together, in all verticals,
so a model is tested on templates that it has not seen. `--train-sites N` learns from N random sites per vertical,
`--runs` times, and tests on all other pages. "Crossed" uses sites with pages of two verticals: one vertical is learned
from the first site, the other from the second, and the rest of both is tested, where the template suggests the wrong
category. Terms are selected by χ² in each training set.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from benchmarks.lib.command import make_parser, run
from benchmarks.lib.tables import table
from victorpy.base.parameters import split_names
from victorpy.base.score import Score
from victorpy.description.categories import WEIGHTS, Bag, Settings, bag_of, cross_validate, score, train_categories
from victorpy.methods import load_method
from victorpy.research.datasets import read_dataset
from victorpy.sites.grouping import site_of


class Page(NamedTuple):
    """A page's terms, its vertical and its site."""

    bag: Bag
    vertical: str
    site: str


def read_pages(directory: Path, limit: int, method: str, settings: list[str], weights: str) -> list[Page]:
    """Clean the first pages of each site and vertical."""
    cleaner = load_method(method, settings)
    taken: dict[str, int] = {}
    pages = []
    for gold in read_dataset("swde", directory, lambda _: None):
        folder = gold.name.partition("/")[0]
        taken[folder] = taken.get(folder, 0) + 1
        if taken[folder] <= limit:
            bag = bag_of(cleaner.document(gold.html, gold.url), weights)
            pages.append(Page(bag, gold.page_type, site_of(gold.url)))
    print(f"{method}: {len(pages)} pages cleaned", file=sys.stderr, flush=True)
    return pages


def by_folds(pages: list[Page], settings: Settings, folds: int) -> dict[str, Score]:
    """Test every page with a model of the sites of other folds."""
    found = [""] * len(pages)
    bags, gold, sites = ([page[column] for page in pages] for column in range(3))
    for fold in cross_validate(bags, gold, sites, settings, folds):  # type: ignore[arg-type]
        for number, category in fold:
            found[number] = category
    return score(found, gold)  # type: ignore[arg-type]


def by_few_sites(pages: list[Page], settings: Settings, count: int, runs: int) -> dict[str, Score]:
    """Learn from a few sites, test on all others, and count the pages of all runs together."""
    found: list[str] = []
    gold: list[str] = []
    for seen in drawn_sites(pages, count, runs, settings.seed):
        known = [page for page in pages if (page.vertical, page.site) in seen]
        sites = {site for _, site in seen}
        others = [page for page in pages if page.site not in sites]
        model = train_categories([page.bag for page in known], [page.vertical for page in known], settings)
        found += [model.category_of(page.bag) for page in others]
        gold += [page.vertical for page in others]
    return score(found, gold)


def crossed(pages: list[Page], settings: Settings) -> dict[str, Score]:
    """Learn two verticals from one site each, and test on the other vertical of each site."""
    cells: dict[tuple[str, str], list[Page]] = {}
    for page in pages:
        cells.setdefault((page.vertical, page.site), []).append(page)
    found: list[str] = []
    gold: list[str] = []
    for (ours, here), (theirs, there) in permutations(cells, 2):
        tested = cells.get((ours, there), []) + cells.get((theirs, here), [])
        if ours < theirs and here != there and (ours, there) in cells and (theirs, here) in cells:
            known = cells[ours, here] + cells[theirs, there]
            model = train_categories([page.bag for page in known], [page.vertical for page in known], settings)
            found += [model.category_of(page.bag) for page in tested]
            gold += [page.vertical for page in tested]
    return score(found, gold)


def drawn_sites(pages: list[Page], count: int, runs: int, seed: int) -> Iterator[set[tuple[str, str]]]:
    """Draw sites of each vertical; every method gets the same ones."""
    verticals = {page.vertical: sorted({one.site for one in pages if one.vertical == page.vertical}) for page in pages}
    for number in range(runs):
        chance = random.Random(f"{seed} {number}")
        yield {(name, site) for name in sorted(verticals) for site in chance.sample(verticals[name], count)}


def describe(title: str, scored: dict[str, dict[str, Score]]) -> str:
    """Return a table with the F1 of each category by method, and with mean precision, recall and F1."""
    names = next(iter(scored.values()))
    rows = [[name, *(f"{scores[name].f1:.3f}" for scores in scored.values())] for name in names]
    for measure, attribute in (("mean precision", "precision"), ("mean recall", "recall"), ("mean F1", "f1")):
        means = [mean(getattr(score, attribute) for score in scores.values()) for scores in scored.values()]
        rows.append([f"**{measure}**", *(f"{value:.3f}" for value in means)])
    return f"### {title}\n\n{table(['F1', *scored], rows)}\n"


def main() -> None:
    """Print a table for each classifier."""
    parser = make_parser(__doc__, data=False)
    parser.add_argument("directory", type=Path, help="SWDE: VERTICAL/VERTICAL-SITE/N.htm and groundtruth/")
    parser.add_argument(
        "--methods", default="everything,default", help="separated by commas (default: everything,default)"
    )
    parser.add_argument("--classifiers", default="knn", help="separated by commas (default: knn)")
    parser.add_argument("--limit", type=int, default=120, help="pages of a site and vertical (default: 120)")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--train-sites", type=int, nargs="*", default=[1, 2], metavar="N")
    parser.add_argument("--runs", type=int, default=10, help="draws of training sites (default: 10)")
    parser.add_argument("--terms", type=int, default=Settings().terms)
    parser.add_argument("--weights", choices=WEIGHTS, default=WEIGHTS[0], help="of terms (default: counts)")
    arguments = parser.parse_args()
    pages = {
        name: read_pages(arguments.directory, arguments.limit, name, settings, arguments.weights)
        for name, settings in split_names(arguments.methods)
    }
    for classifier in arguments.classifiers.split(","):
        settings = Settings(classifier, arguments.terms, weights=arguments.weights)
        for count in arguments.train_sites:
            few = {name: by_few_sites(each, settings, count, arguments.runs) for name, each in pages.items()}
            print(describe(f"{classifier}, {count} sites a vertical, {arguments.runs} draws", few), flush=True)
        both = {name: crossed(each, settings) for name, each in pages.items()}
        print(describe(f"{classifier}, crossed", both), flush=True)
        folds = {name: by_folds(each, settings, arguments.folds) for name, each in pages.items()}
        print(describe(f"{classifier}, {arguments.folds} folds by site", folds), flush=True)


if __name__ == "__main__":
    run(main)
