"""Measure methods that learn from several pages of a site: their cost, and what more pages are worth.

    python -m benchmarks.sites --data swde:DIR                 cost of the style trees of the largest sites
    python -m benchmarks.sites --data swde:DIR --pages 500     at most 500 pages per tree
    python -m benchmarks.sites --data cleanportaleval:DIR swde:DIR --curve 2 5 10 50 500 --methods default,site,sst
    python -m benchmarks.sites --scores default.json site.json

Times are CPU times. Parsing is lxml's of the same bytes; reading is victorpy's, from bytes to blocks.

`--curve` shows the score by number of pages that a method learns a site from: the mean of the sites' word F1 or, for
pages with values, of the share of values that are kept. The first ten pages of each site are scored. With fewer than
ten pages, they are divided into groups that are cleaned as separate sites. The number of sites is in parentheses.

`--scores` compares two models by site, from files that `python -m tools.bundled --scores` wrote. Its scores come from
trees that were not trained on the page's site.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import lxml.html
import numpy as np

from benchmarks.guesses import score_site
from benchmarks.lib.command import make_parser, run
from benchmarks.lib.pages import read_pages, read_sites
from benchmarks.lib.tables import cpu_seconds, table
from victorpy.cleaner import read_document
from victorpy.errors import DataError, plural
from victorpy.labellers.site_style_tree import SiteStyleTree
from victorpy.methods import load_method
from victorpy.sites.style_tree import StyleTree

SCORED = 10  # number of pages of each site that a curve scores


def milliseconds(function: Callable[[Any], Any], items: Sequence[Any]) -> tuple[float, list[Any]]:
    """Return the CPU milliseconds per item, and the results."""
    seconds, results = cpu_seconds(function, items)
    return 1000 * seconds / len(items), results


def measure(name: str, pages: Sequence[bytes]) -> list[str]:
    """Return one row of the table: a tree of these pages."""
    method = load_method("sst")
    milliseconds(lxml.html.fromstring, pages[:3])
    parse, _ = milliseconds(lxml.html.fromstring, pages)
    read, documents = milliseconds(lambda page: read_document(page, method.config), pages)
    tree = StyleTree()
    add, _ = milliseconds(tree.add, documents)
    judge, (labeller,) = cpu_seconds(SiteStyleTree().with_tree, [tree])
    label, _ = milliseconds(labeller.label, documents)
    nodes = len({id(element) for element in tree.root.walk()})
    build = (read + add) * len(pages) / 1000 + judge
    numbers = [f"{number:.2f}" for number in (parse, read, add, label)]
    ratios = [f"{label / parse:.2f}", f"{(read + label) / parse:.2f}"]
    return [name, f"{len(pages)}", f"{nodes:,}", *numbers, f"{build:.1f}", *ratios]


def measure_costs(data: Sequence[str], step: int, most_pages: int, most_sites: int) -> str:
    """Return the table of the costs of style trees."""
    by_site: dict[str, list[bytes]] = defaultdict(list)
    for _, gold in read_pages(data, step):
        by_site[gold.site].append(gold.html)
    together = [page for pages in by_site.values() for page in pages][:: max(len(by_site) // 5, 1)]
    largest = sorted(by_site, key=lambda site: -sum(map(len, by_site[site])))[:most_sites]
    head = "site,pages,nodes,parse ms,read ms,add ms,label ms,build s,label / parse,clean / parse".split(",")
    rows = [measure(site, by_site[site][:most_pages]) for site in largest]
    return table(head, [*rows, measure("several sites", together[:most_pages])])


def measure_curve(specs: Sequence[str], methods: Sequence[str], counts: Sequence[int]) -> str:
    """Return the table of scores by number of pages."""
    scores: dict[tuple[str, str], dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for data, _, pages in read_sites(specs, SCORED, max(counts)):
        for name in methods:
            method = load_method(name)
            documents = [read_document(page.html, method.config, page.url or None) for page in pages]
            for count in counts:
                if count > len(pages):
                    continue
                groups = []
                for start in range(0, SCORED, count):
                    labeller = method.labeller.at_site(documents[start : start + count])
                    scored = slice(start, min(start + count, SCORED))
                    groups.append(score_site(labeller, pages[scored], documents[scored], data.has_values))
                scores[data.source, name][count].append(float(np.mean(groups)))
    rows = []
    for (source, name), by_count in scores.items():
        cells = [f"{np.mean(by_count[n]):.3f} ({len(by_count[n])})" if by_count[n] else "" for n in counts]
        rows.append([source, f"`{name}`", *cells])
    return table(["data", "method", *(plural(count, "page") for count in counts)], rows)


def compare_scores(first: Path, second: Path) -> str:
    """Return the table of the differences of two models by data set, for sites with two pages and more."""
    by_site: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    try:
        entries = [json.loads(path.read_text(encoding="utf-8")) for path in (first, second)]
        after = {(entry["data"], entry["name"]): entry["word_f1"] for entry in entries[1]}
        for entry in entries[0]:
            by_site[entry["data"], entry["site"]].append((entry["word_f1"], after[entry["data"], entry["name"]]))
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise DataError(
            f"{first}, {second}: these are not scores of the same pages ({error}); "
            "write both files with tools.bundled --scores"
        ) from error
    groups: dict[tuple[str, str], list[list[tuple[float, float]]]] = defaultdict(list)
    for (data, _), pairs in by_site.items():
        if len(pairs) > 1:
            size = "5 and more" if len(pairs) >= 5 else "2 to 4"
            groups[data, size].append(pairs)
            groups["all sets", size].append(pairs)
    rows = []
    for (data, size), sites in sorted(groups.items()):
        scores = np.array([pair for site in sites for pair in site])
        difference = scores[:, 1] - scores[:, 0]
        half_width = 1.96 * difference.std() / len(difference) ** 0.5
        by_mean = [float(np.mean([new - old for old, new in site])) for site in sites]
        better, worse = sum(mean > 5e-4 for mean in by_mean), sum(mean < -5e-4 for mean in by_mean)
        means = [f"{mean:.3f}" for mean in scores.mean(axis=0)]
        cells = [f"{difference.mean():+.3f} ± {half_width:.3f}", len(sites), better, worse, f"{min(by_mean):+.3f}"]
        rows.append([f"{data}, {size}", len(scores), *means, *cells])
    head = f"sites with this many pages,pages,{first.stem},{second.stem},difference,sites,better,worse,worst site"
    return table(head.split(","), rows)


def main() -> None:
    """Print the table."""
    parser = make_parser(__doc__)
    parser.add_argument("--pages", type=int, default=500, help="maximum number of pages of a tree (default: 500)")
    parser.add_argument("--sites", type=int, default=4, help="number of sites to measure (default: 4)")
    parser.add_argument("--curve", type=int, nargs="+", metavar="N", help="numbers of pages to learn from")
    parser.add_argument("--methods", default="default,site,sst", help="methods and models (default: default,site,sst)")
    parser.add_argument("--scores", type=Path, nargs=2, metavar="FILE.json", help="scores of two models to compare")
    arguments = parser.parse_args()
    if arguments.scores:
        print(compare_scores(*arguments.scores))
    elif arguments.curve:
        print(measure_curve(arguments.data, arguments.methods.split(","), arguments.curve))
    else:
        print(measure_costs(arguments.data, arguments.step, arguments.pages, arguments.sites))


if __name__ == "__main__":
    run(main)
