"""What a site's style tree costs: building it, keeping it, and cleaning a page with it, beside parsing.

    python -m benchmarks.sites --data swde:DIR                 the largest sites of the set
    python -m benchmarks.sites --data swde:DIR --pages 500     so many pages a tree

CPU seconds and milliseconds; parsing is lxml's own of the same bytes, reading is victorpy's from bytes to blocks.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TypeVar

import lxml.html

from benchmarks.lib.pages import add_arguments, read_pages
from victorpy.cleaner import read_document
from victorpy.errors import VictorError
from victorpy.labellers.site_style_tree import SiteStyleTree
from victorpy.methods import load_method
from victorpy.sites.style_tree import StyleTree

Item = TypeVar("Item")
Made = TypeVar("Made")


def timed(function: Callable[[Item], Made], items: Sequence[Item]) -> tuple[float, list[Made]]:
    """Run a function over items: CPU milliseconds an item, and what came of them."""
    began = time.process_time()
    made = [function(item) for item in items]
    return (time.process_time() - began) / len(items) * 1000, made


def measure(name: str, pages: Sequence[bytes]) -> str:
    """One row of the table: a tree of these pages."""
    method = load_method("sst")
    timed(lxml.html.fromstring, pages[:3])
    parse, _ = timed(lxml.html.fromstring, pages)
    read, documents = timed(lambda page: read_document(page, method.config), pages)
    tree = StyleTree()
    add, _ = timed(tree.add, documents)
    began = time.process_time()
    labeller = SiteStyleTree().with_tree(tree)
    judge = time.process_time() - began
    label, _ = timed(labeller.label, documents)
    nodes = len({id(element) for element in tree.root.walk()})
    build = (read + add) * len(pages) / 1000 + judge
    numbers = [f"{len(pages)}", f"{nodes:,}", f"{parse:.2f}", f"{read:.2f}", f"{add:.2f}", f"{label:.2f}"]
    return f"| {name} | {' | '.join(numbers)} | {build:.1f} | {label / parse:.2f} | {(read + label) / parse:.2f} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser)
    parser.add_argument("--pages", type=int, default=500, help="the most pages of a tree (default: 500)")
    parser.add_argument("--sites", type=int, default=4, help="how many sites to measure (default: 4)")
    arguments = parser.parse_args()
    by_site: dict[str, list[bytes]] = defaultdict(list)
    try:
        for _, gold in read_pages(arguments.data, arguments.step):
            by_site[gold.site].append(gold.html)
    except VictorError as error:
        parser.error(str(error))
    together = [page for pages in by_site.values() for page in pages][:: max(len(by_site) // 5, 1)]
    largest = sorted(by_site, key=lambda site: -sum(map(len, by_site[site])))[: arguments.sites]
    print("| site | pages | nodes | parse ms | read ms | add ms | label ms | build s | label / parse | clean / parse |")
    print("|---" + "|---:" * 9 + "|")
    for site in largest:
        print(measure(site, by_site[site][: arguments.pages]))
    print(measure("several sites", together[: arguments.pages]))


if __name__ == "__main__":
    main()
