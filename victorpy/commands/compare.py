"""Compare methods on the same pages: which one cleans best, and how long does it take?

examples:
  victor compare --methods default,everything,peers --data anno:data -o report/
  victor compare --methods 'default,sst,sst(t=0.4),my-model' --data cleanportaleval:DIR swde:DIR -o report/
  victor compare --methods all --data cleanportaleval:DIR --tune 3 -o report/

A method is a name from `victor list methods`, a model directory, or another program (trafilatura, resiliparse,
readability-lxml, jusText, mozilla-readability, defuddle). Parameters follow in parentheses. `all` means every method,
`peers` every other program that is installed. With -o, the directory contains scores.json (all numbers), report.md
(tables), report.html (tables and plots) and pages.jsonl (the scores of each page).
exit codes: 0 success, 1 a method failed on every page of a data set, 2 wrong usage
"""

from __future__ import annotations

import argparse
import json
import sys

from tqdm import tqdm

from victorpy.commands import EXIT_FAILED, Arguments
from victorpy.commands._shared import add_allow_code, add_experiment, add_number
from victorpy.research.compare import Plan, compare_methods, load_methods, open_sets, page_records, summarise_comparison
from victorpy.research.report import comparison
from victorpy.research.report.base import check_directory, to_text, write_report, write_text
from victorpy.research.site_runs import share_out


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-m", "--methods", required=True, metavar="A,B", help="methods, separated by commas")
    add_experiment(parser)
    add_allow_code(parser.add_argument)
    tune = "give methods the labels of N pages per site; these pages are not scored"
    add_number(parser, "--tune", default=0, help=tune)


def run(arguments: Arguments) -> int:
    output = arguments.output
    if output:
        check_directory(output)
    plan = Plan(arguments.sample, arguments.tune, arguments.seed)
    methods = load_methods(arguments.methods, arguments.allow_code)
    warnings: list[str] = []
    sets = open_sets(arguments.data, warnings.append, arguments.site_key)
    for warning in warnings:
        arguments.say(warning)
    if output:
        output.mkdir(parents=True, exist_ok=True)
    total = sum(len(share_out(count, plan).scored) for data in sets for count in data.sites.values())
    with tqdm(total=total, unit=" pages", disable=None) as bar:
        sites = compare_methods(sets, methods, plan, lambda _: bar.update())
    scores = summarise_comparison(sets, methods, plan, sites, warnings)
    scores["settings"]["site_key"] = arguments.site_key
    for failure in scores["failures"]:
        arguments.say(f"{failure['data']} {failure['page']}: {failure['method']}: {failure['error']}")
    print(to_text(comparison.summary(scores)), end="", flush=True)
    if output:
        message = write_report(output, comparison.report(scores), scores, "pages.jsonl")
        records = (json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n" for record in page_records(sites))
        write_text(output / "pages.jsonl", "".join(records))
        print(message, file=sys.stderr)
    useless = [row for row in scores["results"] if row["failed"] == row["pages"] > 0]
    for row in useless:
        arguments.say(f"{row['method']} failed on all {row['pages']:,} pages of {row['data']}")
    return EXIT_FAILED if useless else 0
