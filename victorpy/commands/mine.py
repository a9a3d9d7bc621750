"""Mine: cluster and classify the pages of many sites before and after cleaning, and count what survives.

examples:
  victor mine --data swde:swde --methods none,pagelets,sst,sentence-entropy -o report/
  victor mine --data swde:swde --methods 'sst,sst(t=0.3)' --limit 20 --runs 100

Pages need a known kind, as SWDE's verticals. Every method cleans the pages of each site, site-level ones after they
have seen a sample of them. With -o, scores.json has every number, report.md the tables, report.html tables and plots.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from victorpy.commands import Arguments
from victorpy.commands._shared import add_data, add_sample
from victorpy.research.mining import Settings, mine, parse_methods, read_pages
from victorpy.research.mining.study import require_sklearn
from victorpy.research.report import mining
from victorpy.research.report.base import check_directory, to_text, write_report


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_data(parser)
    methods = "methods between commas, as in 'pagelets,sst(t=0.4)'; none is always one"
    parser.add_argument("-m", "--methods", required=True, metavar="LIST", help=methods)
    add_sample(parser)
    parser.add_argument("--limit", type=int, default=0, help="pages of a site and vertical, the first ones; 0: all")
    parser.add_argument("--runs", type=int, default=800, help="runs of k-means (default: 800)")
    parser.add_argument(
        "--dimensions", type=int, default=100, help="dimensions for k-means; 0 for no reduction (default: 100)"
    )
    parser.add_argument("--cluster-pages", type=int, default=0, help="cluster N pages, drawn at random; 0 for all")
    parser.add_argument("--seed", type=int, default=1, help="seed of random choices (default: 1)")
    parser.add_argument("-j", "--jobs", type=int, default=1, help="processes (default: 1)")
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="where to write the report")


def run(arguments: Arguments) -> int:
    """Mine the pages, print the main tables, write the report."""
    require_sklearn()
    names = ("sample", "limit", "runs", "dimensions", "cluster_pages", "seed", "jobs")
    settings = Settings(**{name: getattr(arguments, name) for name in names})
    settings.check()
    if arguments.output:
        check_directory(arguments.output)
    methods = parse_methods(arguments.methods)
    warnings: list[str] = []
    pages = read_pages(arguments.data, arguments.limit, warnings.append)
    scores = mine(pages, methods, settings, lambda what: print(what, file=sys.stderr, flush=True))
    scores["warnings"] = [*warnings, *scores["warnings"]]
    for warning in scores["warnings"]:
        arguments.say(f"left out: {warning}")
    print("\n" + to_text(mining.summary(scores)), end="")
    if arguments.output:
        report = mining.report(scores, f"Mining {', '.join(arguments.data)}")
        print(f"\n{write_report(arguments.output, report, scores)}", file=sys.stderr)
    return 0
