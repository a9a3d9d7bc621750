"""Measure thresholds that are chosen without labels, on whole sites.

    python -m benchmarks.guesses --data cleanportaleval:DIR dragnet:DIR l3s:DIR wcxb:DIR swde:DIR

The first table has the mean score of the sites for each method: word F1 or, for pages with values, the share of the
values that are kept. The second table shows how often a method is below keeping everything, and on which site most.
In the third, the two constants of the rule are chosen on four fifths of the sites, by the sum of mean word F1 and mean
share of values kept, and the other sites are scored. It has the mean of ten such divisions.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from benchmarks.lib.command import make_parser, run
from benchmarks.lib.pages import read_sites
from benchmarks.lib.tables import table
from victorpy.base.words import simple_words
from victorpy.cleaner import read_document
from victorpy.document import Document
from victorpy.labellers.base import Labeller
from victorpy.labellers.sentence_entropy import SentenceEntropy
from victorpy.labellers.site_style_tree import Guess, SiteStyleTree
from victorpy.methods import load_method
from victorpy.outputs import CleanPage
from victorpy.research.compare import DataSet
from victorpy.research.datasets import GoldPage
from victorpy.research.scores import occurring, word_f1
from victorpy.research.site_runs import map_in_jobs

FIXED = {"sst": "t", "sst(styles=paper)": "t", "sentence-entropy": "T"}  # methods with a threshold, and its parameter

METHODS = [
    ("everything", []),
    ("sst", ["t=0.4"]),
    ("sst", ["t=0.8"]),
    ("sst", []),
    ("sst", ["styles=paper", "t=0.4"]),
    ("sst", ["styles=paper"]),
    ("sentence-entropy", ["T=0.9"]),
    ("sentence-entropy", []),
    ("rtdm", ["text=no"]),
    ("rtdm", []),
]
GRID = list(product((0.7, 0.75, 0.8, 0.85), (0.0, 0.03, 0.05, 0.08, 0.1)))
FOLDS = 5
DIVISIONS = 10


class Guessed(NamedTuple):
    """A site's guess by one method, and the site's score with the best and the cautious threshold."""

    guess: Guess
    best: float
    cautious: float


class Site(NamedTuple):
    """The scores of a site by method, and its guesses."""

    data: str
    name: str
    has_values: bool
    scores: dict[str, float]
    guesses: dict[str, Guessed]


def score_site(labeller: Labeller, pages: Sequence[GoldPage], documents: Sequence[Document], has_values: bool) -> float:
    """Return the mean word F1 of a site's pages, or the share of values that are kept."""
    present, kept, f1s = 0, 0, []
    for page, document in zip(pages, documents, strict=True):
        text = CleanPage.of(document, labeller.label(document)).text
        if not has_values:
            f1s.append(word_f1(text, page.text).f1)
            continue
        values = [value for segment in page.gold if (value := " ".join(simple_words(segment.text)))]
        whole = simple_words("\n".join(block.text for block in document.blocks))
        before, after = occurring(values, whole), occurring(values, simple_words(text))
        present += sum(before)
        kept += sum(first and second for first, second in zip(before, after, strict=True))
    return kept / max(present, 1) if has_values else float(np.mean(f1s))


def measure(given: tuple[DataSet, str, Sequence[GoldPage]]) -> Site:
    """Run all methods on a site."""
    data, name, pages = given
    has_values = data.has_values
    site = Site(data.source, name, has_values, {}, {})
    config = load_method("sst").config
    documents = [read_document(page.html, config, page.url or None) for page in pages]
    for method, settings in METHODS:
        labeller = load_method(method, settings).labeller.at_site(documents)
        full_name = f"{method}({', '.join(settings)})" if settings else method
        site.scores[full_name] = score_site(labeller, pages, documents, has_values)
        if full_name in FIXED:
            assert isinstance(labeller, SiteStyleTree | SentenceEntropy)
            guess = labeller.guess_
            assert guess is not None
            score = site.scores[full_name]
            by_threshold = {guess.choose()[0]: score}
            for threshold in {guess.best, guess.cautious} - by_threshold.keys():
                fixed = labeller.clone(**{FIXED[full_name]: threshold}).fit(documents)
                by_threshold[threshold] = score_site(fixed, pages, documents, has_values)
            site.guesses[full_name] = Guessed(guess, by_threshold[guess.best], by_threshold[guess.cautious])
    return site


def left_out(sites: Sequence[Site], method: str) -> tuple[dict[str, float], Counter[tuple[float, float]]]:
    """Return the mean score by data set of sites that were left out, and how often constants were chosen."""

    def score(site: Site, constants: tuple[float, float]) -> float:
        guess, best, cautious = site.guesses[method]
        return best if guess.choose(*constants)[0] == guess.best else cautious

    def goal(some: Sequence[Site], constants: tuple[float, float]) -> float:
        kinds = defaultdict(list)
        for site in some:
            kinds[site.has_values].append(score(site, constants))
        return sum(float(np.mean(scores)) for scores in kinds.values())

    scores, chosen = defaultdict(list), Counter[tuple[float, float]]()
    for division in range(DIVISIONS):
        shuffled = random.Random(division).sample(sites, len(sites))
        for fold in range(FOLDS):
            others = [site for place, site in enumerate(shuffled) if place % FOLDS != fold]
            constants = max(GRID, key=lambda pair: goal(others, pair))
            chosen[constants] += 1
            for site in shuffled[fold::FOLDS]:
                scores[site.data].append(score(site, constants))
    return {data: float(np.mean(some)) for data, some in scores.items()}, chosen


def main() -> None:
    """Print the tables."""
    parser = make_parser(__doc__, step=False)
    parser.add_argument("--least", type=int, default=5, help="minimum number of pages of a site (default: 5)")
    parser.add_argument("--most", type=int, default=60, help="maximum number of pages of a site (default: 60)")
    parser.add_argument("--jobs", type=int, default=1, help="number of processes (default: 1)")
    arguments = parser.parse_args()
    sites = list(map_in_jobs(measure, read_sites(arguments.data, arguments.least, arguments.most), arguments.jobs))
    names = list(dict.fromkeys(site.data for site in sites))
    head = ["method", *(f"{name}, {sum(site.data == name for site in sites)} sites" for name in names)]

    def cells(scores: dict[str, float]) -> list[str]:
        return [f"{scores[name]:.3f}" for name in names]

    rows, below = [], []
    for method in sites[0].scores:
        means = {name: float(np.mean([s.scores[method] for s in sites if s.data == name])) for name in names}
        rows.append([f"`{method}`", *cells(means)])
        losses = [(s.scores[method] - s.scores["everything"], s.name) for s in sites if not s.has_values]
        worst = min(losses)
        below.append([f"`{method}`", sum(loss < 0 for loss, _ in losses), f"{worst[0]:+.3f}", worst[1]])
    print(table(head, rows), end="\n\n")
    print(table(["method", "sites below keeping everything", "worst difference", "site"], below), end="\n\n")
    rows = []
    for method in FIXED:
        scores, chosen = left_out(sites, method)
        often = ", ".join(f"{f1:g} and {gain:g} ({count})" for (f1, gain), count in chosen.most_common(2))
        rows.append([f"`{method}`", *cells(scores), often])
    print(table([*head, "constants chosen most often"], rows))


if __name__ == "__main__":
    run(main)
