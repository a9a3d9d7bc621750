"""Train a model that assigns pages to categories, or predict the categories of pages.

examples:
  victor categories train topics/ -o topics.model            train on a directory with one folder per category
  victor categories train topics/ -o topics.model --classifier linear-svm --by-site
  victor categories train topics/ -o topics.model --levels 2     folders in folders: sport/football
  victor categories predict topics.model page.html more/     print the name, category and score of each page
  victor clean --format 'docview(categories=topics.model)' page.html

Pages are cleaned first, unless you give --method everything. After training, a table shows the precision, recall and F1
of each category in a cross-validation. With --levels there is one table per level.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from tqdm import tqdm

from victorpy.base.parameters import split_name
from victorpy.batch.inputs import find_records
from victorpy.batch.record import Record
from victorpy.cleaner import Cleaner
from victorpy.commands import EXIT_FAILED, Arguments
from victorpy.commands._shared import add_allow_code, add_number, add_site_key
from victorpy.description import categories
from victorpy.description.terms import check_packages
from victorpy.errors import DataError, VictorError, plural
from victorpy.methods import load_method
from victorpy.model.store import DEFAULT
from victorpy.outputs import CleanPage
from victorpy.research.report.base import aligned, percent
from victorpy.sites.grouping import site_of


def configure(parser: argparse.ArgumentParser) -> None:
    default = categories.Settings()
    add = parser.add_argument
    actions = "train a model, or predict categories with one"
    add("action", choices=["train", "predict"], metavar="train|predict", help=actions)
    add("inputs", nargs="+", metavar="PATH", help="training directory, or a model and pages")
    add("-o", "--output", type=Path, metavar="MODEL", help="model file to write (train)")
    add("-m", "--method", metavar="NAME", help="method that cleans the pages (default: default, or as in training)")
    add_allow_code(add)
    classifiers = f"{', '.join(categories.CLASSIFIERS)} (default: {default.classifier})"
    add("--classifier", default=default.classifier, metavar="NAME", help=classifiers)
    add_number(parser, "--terms", default=default.terms, help="number of terms, selected by χ²")
    weights = f"weight of a term: counts, or blocks for formula 2 of the DocView paper (default: {default.weights})"
    add("--weights", default=default.weights, metavar="NAME", help=weights)
    add_number(parser, "--levels", default=1, help="levels of folders that are categories")
    add_number(parser, "-k", default=default.k, help="number of neighbours that vote, for knn")
    threshold = "predict none if the score is below (default: 0, which gives every page with a known term a category)"
    add("--threshold", type=float, default=0.0, metavar="X", help=threshold)
    add_number(parser, "--folds", default=5, help="folds of the cross-validation; 0 for none")
    add("--by-site", action="store_true", help="keep the pages of a site or sub-folder in one fold")
    add_site_key(parser)
    add_number(parser, "--seed", default=default.seed, help="seed of the folds")


def run(arguments: Arguments) -> int:
    check_packages()
    return _train(arguments) if arguments.action == "train" else _predict(arguments)


def _train(arguments: Arguments) -> int:
    if arguments.output is None:
        raise DataError("train needs an output file; give -o MODEL")
    if len(arguments.inputs) != 1:
        raise DataError("train takes one directory, with one folder per category")
    if arguments.levels < 1:
        raise DataError(f"--levels must be at least 1, not {arguments.levels}")
    categories.check_target(arguments.output)
    settings = categories.Settings(
        arguments.classifier, arguments.terms, arguments.k, arguments.seed, arguments.weights
    )
    method = arguments.method or DEFAULT
    bags, labels, groups = _read_folders(arguments, load_method(*split_name(method), arguments.allow_code))
    predicted = [""] * len(bags)
    if arguments.folds:
        folds = categories.cross_validate(bags, labels, groups, settings, arguments.folds)
        for fold in tqdm(folds, total=arguments.folds, unit="fold", disable=None):
            for number, category in fold:
                predicted[number] = category
    model = categories.train_categories(bags, labels, settings)
    counts = {name: labels.count(name) for name in model.categories}
    categories.save_categories(replace(model, method=method, training={"pages": counts}), arguments.output)
    arguments.say(f"{arguments.output}: {len(bags)} pages, {len(counts)} categories, {len(model.terms)} terms")
    if arguments.folds:
        by_level = categories.score_levels(predicted, labels)
        for level, scores in enumerate(by_level, 1):
            measures = [(name, row.gold, row.precision, row.recall, row.f1) for name, row in scores.items()]
            means = [sum(column) / len(scores) for column in zip(*(row[2:] for row in measures), strict=True)]
            measures.append(("mean", len(labels), means[0], means[1], means[2]))
            rows = [[name, str(pages), *map(percent, values)] for name, pages, *values in measures]
            name = "category" if len(by_level) == 1 else f"level {level}"
            print(aligned([name, "pages", "precision", "recall", "F1"], rows))
    return 0


def _read_folders(arguments: Arguments, cleaner: Cleaner) -> tuple[list[categories.Bag], list[str], list[str]]:
    """Return the terms, category and group of each page. Unreadable pages are reported and skipped."""
    directory = Path(arguments.inputs[0])
    if not directory.is_dir():
        raise DataError(f"{directory} is not a directory; give one with a folder per category")
    folders = sorted(path for path in directory.iterdir() if path.is_dir() and not path.name.startswith("."))
    if len(folders) < 2:
        raise DataError(
            f"{directory} has {plural(len(folders), 'folder')}; training needs at least two, one per category"
        )
    bags: list[categories.Bag] = []
    labels, groups = [], []
    for folder in folders:
        records = tqdm(list(find_records([str(folder)])), desc=folder.name, unit="page", disable=None)
        for record, page in _clean(arguments, records, cleaner, failed=[]):
            path = [folder.name, *record.place.parent.parts]
            category, sub_folders = categories.SEPARATOR.join(path[: arguments.levels]), path[arguments.levels :]
            group = record.name
            if arguments.by_site:  # by sub-folder if the page has no address
                sub_folder = f"{category}/{sub_folders[-1]}" if sub_folders else record.name
                group = site_of(page.document.url, arguments.site_key) or sub_folder
            bags.append(categories.bag_of(page, arguments.weights))
            labels.append(category)
            groups.append(group)
    return bags, labels, groups


def _predict(arguments: Arguments) -> int:
    path, *pages = arguments.inputs
    if not pages:
        raise DataError(f"{path}: name the pages to classify after the model")
    model = categories.load_categories(path)
    cleaner = load_method(*split_name(arguments.method or model.method), arguments.allow_code)
    failed: list[str] = []
    for record, page in _clean(arguments, find_records(pages), cleaner, failed):
        category, score = model.judge(page)
        print(record.name, category if category and score >= arguments.threshold else "none", f"{score:.2f}", sep="\t")
    return EXIT_FAILED if failed else 0


def _clean(
    arguments: Arguments, records: Iterable[Record], cleaner: Cleaner, failed: list[str]
) -> Iterator[tuple[Record, CleanPage]]:
    """Yield each record with its cleaned page. Report unreadable records and add their names to `failed`."""
    for record in records:
        try:
            page, is_annotation = record.read(), record.is_annotation
            url = record.url or None
            yield record, cleaner.document(page, url, source=record.name, metadata=True, annotation=is_annotation)
        except (VictorError, OSError) as error:
            arguments.say(f"{record.name}: left out: {getattr(error, 'strerror', None) or error}")
            failed.append(record.name)
