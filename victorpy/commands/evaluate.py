"""Evaluate: cross-validate a config on gold pages, and report.

examples:
  victor evaluate --config cleaneval --data cleaneval:cleaneval/dev --folds 6 -o report/
  victor evaluate --data wcxb:wcxb/dev dragnet:dragnet --jobs 2 --learning-curve -o report/
  victor evaluate --config cleaneval --data cleaneval:DIR --ablate family --grid c1=0,1 --grid c2=1,10

Folds are grouped by site, so that no model is tested on a site that it has seen. With -o, scores.json has every
number, report.md the tables, report.html tables and plots, and pages/ views of the worst pages.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path

from victorpy.config import load_config
from victorpy.evaluate import (
    Evaluation,
    Progress,
    Settings,
    ablation,
    evaluate,
    grid_search,
    learning_curve,
    parse_grid,
)
from victorpy.gold import LabelledPage, load_gold
from victorpy.report import markdown
from victorpy.report.plots import require_matplotlib
from victorpy.report.tables import aligned, evaluation_tables
from victorpy.report.writing import check_directory, write_json, write_text


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    parser.add_argument("-c", "--config", default="default", help="a shipped config or a path (default: default)")
    parser.add_argument("-d", "--data", nargs="+", required=True, metavar="KIND:DIR", help="gold standards")
    parser.add_argument("--folds", type=int, default=6, help="how many folds (default: 6)")
    parser.add_argument("--group", choices=["site", "page"], default="site", help="what is never torn apart")
    parser.add_argument("--seed", type=int, default=1, help="for sharing pages out (default: 1)")
    parser.add_argument("-j", "--jobs", type=int, default=1, help="folds that are run at the same time (default: 1)")
    parser.add_argument("--learning-curve", action="store_true", help="also with growing shares of the pages")
    parser.add_argument("--ablate", choices=["family", "each"], help="also with fewer features")
    parser.add_argument("--grid", action="append", default=[], metavar="NAME=V,V", help="also with other parameters")
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="where to write the report")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the experiments, print the tables, write the report."""
    config = load_config(arguments.config)
    if arguments.output:
        require_matplotlib()
        check_directory(arguments.output)
    grid = parse_grid(arguments.grid)
    warnings: list[str] = []
    pages = load_gold(arguments.data, config, warnings.append)
    for warning in warnings:
        print(f"evaluate: left out: {warning}", file=sys.stderr)
    if warnings:
        print(f"evaluate: {len(warnings)} pages left out, {len(pages)} used", file=sys.stderr)
    settings = Settings(arguments.folds, arguments.group, arguments.seed, arguments.jobs)
    progress = _progress()
    result = replace(evaluate(pages, config, settings, progress), warnings=tuple(warnings))
    if arguments.learning_curve:
        result = replace(result, curve=learning_curve(pages, config, settings, progress))
    if arguments.ablate:
        result = replace(result, ablation=ablation(pages, config, settings, arguments.ablate, result.pages, progress))
    if grid:
        result = replace(result, grid=grid_search(pages, config, settings, grid, progress))
    _show(result)
    if arguments.output:
        _write(result, pages, arguments.output, f"{config.name} on {', '.join(arguments.data)}")
    return 0


def _progress() -> Progress:
    """Say on stderr what is going on and how long it will take."""
    began = time.perf_counter()

    def show(what: str, done: int, total: int) -> None:
        nonlocal began
        if not done:
            began = time.perf_counter()
            return
        left = (time.perf_counter() - began) / done * (total - done)
        print(f"{what}: fold {done} of {total} done, {left:.0f} s left", file=sys.stderr, flush=True)

    return show


def _show(result: Evaluation) -> None:
    for table in evaluation_tables(result.scores()):
        if table.title in {"Scores", "Learning curve", "Ablation", "Grid"}:
            head = [name.replace("CleanEval ", "CE ") for name in table.head]
            print(f"\n{table.title}")
            print(aligned(head, table.rows))


def _write(result: Evaluation, pages: list[LabelledPage], directory: Path, title: str) -> None:
    from victorpy.report import evaluation
    from victorpy.report.views import write_views

    directory.mkdir(parents=True, exist_ok=True)
    scores = result.scores()
    write_json(directory / "scores.json", scores)
    write_text(directory / "report.md", markdown.render(scores, title))
    views = write_views(result.pages, pages, result.config, directory / "pages")
    write_text(directory / "report.html", evaluation.render(scores, title, views))
    print(f"\nwritten: {directory / 'report.html'}, report.md and scores.json", file=sys.stderr)
