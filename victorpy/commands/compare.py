"""Compare: clean the same pages by several methods, and report which does best, and at what cost.

examples:
  victor compare --methods default,everything,peers --data anno:data -o report/
  victor compare --methods 'default,sst,sst(t=0.4),my-model' --data cleanportaleval:DIR swde:DIR -o report/
  victor compare --methods all --data cleanportaleval:DIR --tune 3 -o report/

A method is one of `victor list methods`, a model's directory, or another program: trafilatura, resiliparse,
readability-lxml, jusText. Parameters follow in parentheses. `all` is every available method, `peers` every
other program that is installed. With -o, scores.json has every number, report.md the tables, report.html tables and
plots, and pages.jsonl the scores of every page.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tqdm import tqdm

from victorpy.commands import Arguments
from victorpy.commands._shared import add_data, add_sample
from victorpy.research.compare import Plan, compare_methods, load_methods, open_sets, summarise_comparison
from victorpy.research.compare.summary import page_records
from victorpy.research.report import comparison
from victorpy.research.report.base import check_directory, to_text, write_report, write_text
from victorpy.research.site_runs import share_out


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("-m", "--methods", required=True, metavar="A,B", help="methods between commas")
    add_data(parser)
    add_sample(parser)
    tune = "tell the labels of N pages of each site to methods that learn from sites; score all on the others"
    parser.add_argument("--tune", type=int, default=0, metavar="N", help=tune)
    parser.add_argument("--seed", type=int, default=1, help="for choosing pages of a site (default: 1)")
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="where to write the report")


def run(arguments: Arguments) -> int:
    """Compare, print the summary, write the report."""
    output = arguments.output
    if output:
        check_directory(output)
    plan = Plan(arguments.sample, arguments.tune, arguments.seed)
    methods = load_methods(arguments.methods)
    warnings: list[str] = []
    sets = open_sets(arguments.data, warnings.append)
    for warning in warnings:
        arguments.say(f"{warning}")
    if output:
        output.mkdir(parents=True, exist_ok=True)
    total = sum(len(share_out(count, plan).scored) for data in sets for count in data.sites.values())
    with tqdm(total=total, unit=" pages", disable=None) as bar:
        sites = compare_methods(sets, methods, plan, lambda _: bar.update())
    scores = summarise_comparison(sets, methods, plan, sites, warnings)
    for failure in scores["failures"]:
        arguments.say(f"{failure['data']} {failure['page']}: {failure['method']}: {failure['error']}")
    print(to_text(comparison.summary(scores)), end="", flush=True)
    if output:
        message = write_report(output, comparison.report(scores), scores, "pages.jsonl")
        records = (json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n" for record in page_records(sites))
        write_text(output / "pages.jsonl", "".join(records))
        print(message, file=sys.stderr)
    return 0
