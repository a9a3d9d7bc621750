"""Measure the cost of a site's style tree: building it, and cleaning a page with it, compared with parsing.

    python -m benchmarks.sites --data swde:DIR                 the largest sites of the set
    python -m benchmarks.sites --data swde:DIR --pages 500     at most 500 pages per tree

Times are CPU times. Parsing is lxml's of the same bytes; reading is victorpy's, from bytes to blocks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import lxml.html

from benchmarks.lib.command import make_parser, run
from benchmarks.lib.pages import read_pages
from benchmarks.lib.tables import cpu_seconds, table
from victorpy.cleaner import read_document
from victorpy.labellers.site_style_tree import SiteStyleTree
from victorpy.methods import load_method
from victorpy.sites.style_tree import StyleTree


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


def main() -> None:
    """Print the table."""
    parser = make_parser(__doc__)
    parser.add_argument("--pages", type=int, default=500, help="maximum number of pages of a tree (default: 500)")
    parser.add_argument("--sites", type=int, default=4, help="number of sites to measure (default: 4)")
    arguments = parser.parse_args()
    by_site: dict[str, list[bytes]] = defaultdict(list)
    for _, gold in read_pages(arguments.data, arguments.step):
        by_site[gold.site].append(gold.html)
    together = [page for pages in by_site.values() for page in pages][:: max(len(by_site) // 5, 1)]
    largest = sorted(by_site, key=lambda site: -sum(map(len, by_site[site])))[: arguments.sites]
    head = "site,pages,nodes,parse ms,read ms,add ms,label ms,build s,label / parse,clean / parse".split(",")
    rows = [measure(site, by_site[site][: arguments.pages]) for site in largest]
    print(table(head, [*rows, measure("several sites", together[: arguments.pages])]))


if __name__ == "__main__":
    run(main)
