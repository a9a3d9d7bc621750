"""Test how much cleaning helps text mining: cluster and classify the pages of many sites, cleaned and uncleaned.

examples:
  victor mine --data swde:swde --methods none,pagelets,sst,sentence-entropy -o report/
  victor mine --data swde:swde --methods 'sst,sst(t=0.3)' --limit 20 --runs 100

The data set must give each page a type, such as SWDE's verticals (book, camera ...). The report also counts how many
gold values survive cleaning. With -o, the directory contains scores.json (all numbers), report.md (tables) and
report.html (tables and plots).
"""

from __future__ import annotations

import argparse
import sys

from victorpy.commands import Arguments
from victorpy.commands._shared import add_allow_code, add_experiment, add_number, one_line
from victorpy.research.mining import Settings, mine, parse_methods, read_pages
from victorpy.research.mining.study import require_sklearn
from victorpy.research.report import mining
from victorpy.research.report.base import check_directory, to_text, write_report


def configure(parser: argparse.ArgumentParser) -> None:
    methods = "methods, separated by commas, such as 'pagelets,sst(t=0.4)'; none is always added"
    parser.add_argument("-m", "--methods", required=True, metavar="A,B", help=methods)
    add_experiment(parser)
    add_allow_code(parser.add_argument)
    add_number(parser, "--limit", default=0, help="use only the first N pages of each site and type; 0 for all")
    add_number(parser, "-j", "--jobs", default=1, help="processes")
    clustering = parser.add_argument_group("clustering")
    add_number(clustering, "--runs", default=800, help="runs of k-means")
    add_number(clustering, "--dimensions", default=100, help="dimensions to reduce pages to; 0 for no reduction")
    add_number(clustering, "--cluster-pages", default=0, help="cluster a random sample of N pages; 0 for all")


def run(arguments: Arguments) -> int:
    require_sklearn()
    names = ("sample", "limit", "runs", "dimensions", "cluster_pages", "seed", "jobs")
    settings = Settings(**{name: getattr(arguments, name) for name in names})
    if arguments.output:
        check_directory(arguments.output)
    methods = parse_methods(arguments.methods, arguments.allow_code)
    warnings: list[str] = []
    pages = read_pages(arguments.data, arguments.limit, warnings.append, arguments.site_key)
    with one_line(quiet=False) as show:
        scores = mine(pages, methods, settings, show)
    scores["settings"]["site_key"] = arguments.site_key
    scores["warnings"] = [*warnings, *scores["warnings"]]
    for warning in scores["warnings"]:
        arguments.say(f"left out: {warning}")
    print("\n" + to_text(mining.summary(scores)), end="")
    if arguments.output:
        report = mining.report(scores, f"Mining {', '.join(arguments.data)}")
        print(f"\n{write_report(arguments.output, report, scores)}", file=sys.stderr)
    return 0
