"""Measure how well a few labelled pages of a site choose a style tree's threshold, over many draws of these pages.

    python -m benchmarks.thresholds --data cleanportaleval:DIR dragnet:DIR l3s:DIR wcxb:DIR

For each kind of styles, a tree is built for each site. Labelled pages are drawn, a threshold is chosen on them with and
without its neighbours, and the other pages are scored. The table shows mean word F1 over pages and draws, and the range
of the draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks.lib.command import make_parser, run
from benchmarks.lib.pages import read_sites
from benchmarks.lib.tables import table
from victorpy.cleaner import read_document
from victorpy.config import load_config
from victorpy.document import Document
from victorpy.labellers.site_style_tree import REACH, THRESHOLDS, SiteStyleTree, Trial, best_threshold
from victorpy.methods import CONFIG
from victorpy.research.datasets import GoldPage
from victorpy.research.gold import gold_labels
from victorpy.research.scores import word_f1
from victorpy.research.site_runs import Plan, share_out
from victorpy.sites.page_tree import STYLES

Floats = npt.NDArray[np.float64]


class Site(NamedTuple):
    """A site's pages with their trials and scores for one kind of styles."""

    data: str
    name: str
    trials: list[Trial]
    scores: list[Floats]  # word F1 of each page at every threshold


def scored(document: Document, values: Sequence[float], gold: str) -> Floats:
    """Return the word F1 of a page at every threshold."""
    known: dict[tuple[bool, ...], float] = {}
    found = []
    for threshold in THRESHOLDS:
        kept = tuple(value > threshold for value in values)
        if kept not in known:
            text = "\n".join(block.text for block, keep in zip(document.blocks, kept, strict=True) if keep)
            known[kept] = word_f1(text, gold).f1
        found.append(known[kept])
    return np.array(found)


def learn(data: str, name: str, pages: Sequence[GoldPage], styles: str) -> Site:
    """Build a site's tree and score every page at every threshold."""
    config = load_config(CONFIG)
    documents = [read_document(page.html, config, page.url or None) for page in pages]
    labeller = SiteStyleTree(styles=styles).fit(documents)
    site = Site(data, name, [], [])
    for page, document in zip(pages, documents, strict=True):
        values = labeller.importances(document)
        site.trials.append(Trial(document, values, gold_labels(page, document, config)))
        site.scores.append(scored(document, values, page.text))
    return site


def draw(sites: Sequence[Site], tune: int, seed: int, reach: int) -> list[float]:
    """Return the scores of all pages that were not drawn."""
    found = []
    for site in sites:
        shares = share_out(len(site.trials), Plan(tune=tune, seed=seed), f"{site.data} {site.name}")
        chosen = best_threshold([site.trials[place] for place in shares.tuned], reach=reach)
        found += [float(site.scores[place][THRESHOLDS.index(chosen)]) for place in shares.scored]
    return found


def main() -> None:
    """Print the table."""
    parser = make_parser(__doc__, step=False)
    parser.add_argument("--least", type=int, default=6, help="minimum number of pages of a site (default: 6)")
    parser.add_argument("--tune", type=int, default=3, help="labelled pages per site (default: 3)")
    parser.add_argument("--draws", type=int, default=20, help="number of draws (default: 20)")
    arguments = parser.parse_args()
    read = list(read_sites(arguments.data, arguments.least))
    rows = []
    for styles in STYLES:
        sites = [learn(data.source, name, pages, styles) for data, name, pages in read]
        for data in dict.fromkeys(site.data for site in sites):
            ours = [site for site in sites if site.data == data]
            for reach in (0, REACH):
                means = [np.mean(draw(ours, arguments.tune, seed, reach)) for seed in range(1, arguments.draws + 1)]
                spread = f"{min(means):.3f} to {max(means):.3f}"
                rows.append([data, len(ours), styles, reach, f"{np.mean(means):.3f}", spread])
    print(table(["data", "sites", "styles", "neighbours", "word F1", "draws, lowest to highest"], rows))


if __name__ == "__main__":
    run(main)
