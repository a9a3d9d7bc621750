"""Measure the quality of a config by cross-validation, or of a method or model as it is.

examples:
  victor evaluate --config cleaneval --data cleaneval:cleaneval/dev --folds 6 -o report/
  victor evaluate --data wcxb:wcxb/dev dragnet:dragnet --jobs 2 --learning-curve -o report/
  victor evaluate --config cleaneval --data cleaneval:DIR --ablate family --grid c1=0,1 --grid c2=1,10
  victor evaluate --method default --data anno:data -o report/

Folds are grouped by site, so every page is scored by a model that has not seen its site. A --method is scored on all
pages without folds. With -o, the directory contains scores.json (all numbers), report.md (tables), report.html (tables
and plots) and pages/ (views of the worst pages).
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace

from tqdm import tqdm

from victorpy.base.digests import read_meta
from victorpy.commands import Arguments
from victorpy.commands._shared import add_allow_code, add_experiment, add_number
from victorpy.config import Config, load_config
from victorpy.errors import ConfigError
from victorpy.labellers.base import LearnsFrom
from victorpy.methods import find_method
from victorpy.model.store import find_model
from victorpy.research import evaluate as experiments
from victorpy.research.compare import count_training_pages, training_sets
from victorpy.research.datasets import set_name
from victorpy.research.gold import LabelledPage, load_gold
from victorpy.research.report import evaluation
from victorpy.research.report.base import check_directory, to_text, write_report
from victorpy.research.site_runs import Plan

FOLDS = 6


def configure(parser: argparse.ArgumentParser) -> None:
    add_experiment(parser)
    config = "cross-validate this config: a shipped name or a file (default: default)"
    parser.add_argument("-c", "--config", metavar="NAME", help=config)
    parser.add_argument("--method", metavar="NAME", help="score this method or model instead")
    add_allow_code(parser.add_argument)
    folds = parser.add_argument_group("cross-validation")
    folds.add_argument("--folds", type=int, metavar="N", help=f"number of folds (default: {FOLDS})")
    group = "keep pages of a site in one fold (site, the default), or ignore sites (page)"
    folds.add_argument("--group", choices=["site", "page"], default="site", help=group)
    add_number(folds, "-j", "--jobs", default=1, help="folds to run in parallel")
    folds.add_argument("--learning-curve", action="store_true", help="also train on 10, 25, 50 and 75 %% of the pages")
    ablate = "also train without each family of features, or without each feature"
    folds.add_argument("--ablate", choices=["family", "each"], help=ablate)
    grid = "also train with these values of a training parameter; may be repeated"
    folds.add_argument("--grid", action="append", default=[], metavar="NAME=V,V", help=grid)


def run(arguments: Arguments) -> int:
    if arguments.output:
        check_directory(arguments.output)
    name = arguments.method or load_config(arguments.config or "default").name
    result, pages = _score_method(arguments) if arguments.method else _cross_validate(arguments)
    scores = result.scores()
    scores["settings"]["site_key"] = arguments.site_key
    print("\n" + to_text(evaluation.summary(scores)), end="")
    if arguments.output:
        from victorpy.research.report.views import write_views

        method = str(result.method.get("method", ""))
        views = write_views(result.pages, pages, result.config, arguments.output / "pages", method=method)
        title = f"{name} on {', '.join(arguments.data)}"
        message = write_report(arguments.output, evaluation.report(scores, title, views), scores)
        print(f"\n{message}", file=sys.stderr)
    return 0


def _cross_validate(arguments: Arguments) -> tuple[experiments.Evaluation, list[LabelledPage]]:
    config = load_config(arguments.config or "default")
    grid = experiments.parse_grid(arguments.grid)
    pages, warnings = _load(arguments, config)
    folds = FOLDS if arguments.folds is None else arguments.folds
    settings = experiments.Settings(folds, arguments.group, arguments.seed, arguments.jobs, arguments.site_key)
    result = experiments.evaluate(
        pages, config, settings, _progress(), arguments.learning_curve, arguments.ablate, grid
    )
    return replace(result, warnings=warnings), pages


def _score_method(arguments: Arguments) -> tuple[experiments.Evaluation, list[LabelledPage]]:
    unwanted = ("config", "folds", "learning_curve", "ablate", "grid")
    given = [arguments.options[name] for name in unwanted if getattr(arguments, name) not in (None, False, [])]
    if given:
        raise ConfigError(f"--method cannot be combined with {', '.join(given)}")
    plan = Plan(sample=arguments.sample, seed=arguments.seed)
    cleaner = experiments.load_as_is(arguments.method, arguments.allow_code)
    pages, warnings = _load(arguments, cleaner.config)
    if cleaner.labeller.learns_from is LearnsFrom.LABELS:
        model = find_method(arguments.method, allow_code=arguments.allow_code).model_name
        seen = training_sets(model, [set_name(spec) for spec in arguments.data])
        count = 0 if seen else count_training_pages(read_meta(find_model(model)), [page.document for page in pages])
        if count:
            seen = [f"{count} of these {len(pages)} pages"]
        if seen:
            arguments.say(f"the model {model} was trained on {', '.join(seen)}; expect lower scores on new pages")
    with tqdm(total=len(pages), unit=" pages", disable=None) as bar:
        result = experiments.evaluate_as_is(pages, cleaner, arguments.method, plan, bar.update)
    return replace(result, warnings=warnings), pages


def _load(arguments: Arguments, config: Config) -> tuple[list[LabelledPage], tuple[str, ...]]:
    """Return the gold pages, and warnings about unusable pages."""
    warnings: list[str] = []
    pages = load_gold(arguments.data, config, warnings.append, arguments.site_key)
    for warning in warnings:
        arguments.say(f"left out: {warning}")
    if warnings:
        arguments.say(f"{len(warnings)} pages left out, {len(pages)} used")
    return pages, tuple(warnings)


def _progress() -> experiments.Progress:
    """Return a function that prints finished folds and the remaining time."""
    began = time.perf_counter()

    def show(experiment: str, done: int, total: int) -> None:
        nonlocal began
        if not done:
            began = time.perf_counter()
            return
        left = (time.perf_counter() - began) / done * (total - done)
        print(f"{experiment}: fold {done} of {total} done, {left:.0f} s left", file=sys.stderr, flush=True)

    return show
