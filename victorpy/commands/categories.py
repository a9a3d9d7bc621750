"""Train a model that tells categories, on pages in folders, and tell the categories of pages.

examples:
  victor categories train topics/ -o topics.model            one folder per category, with HTML files
  victor categories train topics/ -o topics.model --classifier linear-svm --by-site
  victor categories predict topics.model page.html more/     prints one line per page: name and category
  victor clean --format 'docview(categories=topics.model)' page.html

Pages are cleaned first; --method everything takes them as they are. Training ends with the precision, recall and F1 of
each category in a cross-validation.
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
from victorpy.description.categories import (
    CLASSIFIERS,
    Bag,
    Settings,
    bag_of,
    check_target,
    cross_validate,
    load_categories,
    save_categories,
    score,
    train_categories,
)
from victorpy.description.terms import check_packages
from victorpy.errors import DataError, VictorError
from victorpy.methods import load_method
from victorpy.model.store import DEFAULT
from victorpy.outputs import CleanPage
from victorpy.research.report.base import aligned, percent
from victorpy.sites.grouping import site_of


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    default = Settings()
    parser.add_argument("action", choices=["train", "predict"], help="what to do")
    parser.add_argument("inputs", nargs="+", metavar="PATH", help="a directory of folders, or a model and pages")
    parser.add_argument("-o", "--output", type=Path, metavar="MODEL", help="where the model goes (train)")
    parser.add_argument("-m", "--method", help="what cleans the pages (default: default, or that of the model)")
    parser.add_argument("--classifier", default=default.classifier, metavar="NAME", help=", ".join(CLASSIFIERS))
    parser.add_argument("--terms", type=int, default=default.terms, help=f"terms by χ² (default: {default.terms})")
    parser.add_argument("-k", type=int, default=default.k, help=f"neighbours that vote (default: {default.k})")
    parser.add_argument("--folds", type=int, default=5, help="folds of the cross-validation; 0 for none (default: 5)")
    parser.add_argument("--by-site", action="store_true", help="keep pages of a site or sub-folder in one fold")
    parser.add_argument("--seed", type=int, default=default.seed, help="for the folds (default: 1)")


def run(arguments: Arguments) -> int:
    """Train a model, or predict with one."""
    check_packages()
    return _train(arguments) if arguments.action == "train" else _predict(arguments)


def _train(arguments: Arguments) -> int:
    if arguments.output is None:
        raise DataError("where should the model go? give -o MODEL")
    if len(arguments.inputs) != 1:
        raise DataError("give one directory, with a folder for each category")
    check_target(arguments.output)
    settings = Settings(arguments.classifier, arguments.terms, arguments.k, arguments.seed)
    method = arguments.method or DEFAULT
    bags, labels, groups = _read_folders(arguments, load_method(*split_name(method)))
    predicted = [""] * len(bags)
    if arguments.folds:
        folds = cross_validate(bags, labels, groups, settings, arguments.folds)
        for fold in tqdm(folds, total=arguments.folds, unit="fold", disable=None):
            for number, category in fold:
                predicted[number] = category
    model = train_categories(bags, labels, settings)
    counts = {name: labels.count(name) for name in model.categories}
    save_categories(replace(model, method=method, training={"pages": counts}), arguments.output)
    arguments.say(f"{arguments.output}: {len(bags)} pages, {len(counts)} categories, {len(model.terms)} terms")
    if arguments.folds:
        scores = score(predicted, labels)
        measures = [(name, row.gold, row.precision, row.recall, row.f1) for name, row in scores.items()]
        means = [sum(column) / len(scores) for column in zip(*(row[2:] for row in measures), strict=True)]
        measures.append(("mean", len(labels), means[0], means[1], means[2]))
        rows = [[name, str(pages), *map(percent, values)] for name, pages, *values in measures]
        print(aligned(["category", "pages", "precision", "recall", "F1"], rows))
    return 0


def _read_folders(arguments: Arguments, cleaner: Cleaner) -> tuple[list[Bag], list[str], list[str]]:
    """Return the terms, the category and the group of each page. Pages that cannot be read are reported and skipped."""
    directory = Path(arguments.inputs[0])
    if not directory.is_dir():
        raise DataError(f"{directory}: is no directory; it should have a folder for each category")
    folders = sorted(path for path in directory.iterdir() if path.is_dir() and not path.name.startswith("."))
    if len(folders) < 2:
        raise DataError(f"{directory}: {len(folders)} folders; categories need two at least, one folder each")
    bags: list[Bag] = []
    labels, groups = [], []
    for folder in folders:
        records = tqdm(list(find_records([str(folder)])), desc=folder.name, unit="page", disable=None)
        for record, page in _clean(arguments, records, cleaner):
            if page is None:
                continue
            group = record.name
            if arguments.by_site:  # the page's site; without an address, its sub-folder
                parents = record.place.parent.parts
                sub_folder = f"{folder.name}/{parents[-1]}" if parents else record.name
                group = site_of(page.document.url) or sub_folder
            bags.append(bag_of(page))
            labels.append(folder.name)
            groups.append(group)
    return bags, labels, groups


def _predict(arguments: Arguments) -> int:
    path, *pages = arguments.inputs
    if not pages:
        raise DataError(f"{path}: name the pages to classify after the model")
    model = load_categories(path)
    cleaner = load_method(*split_name(arguments.method or model.method))
    failed = False
    for record, page in _clean(arguments, find_records(pages), cleaner):
        if page is None:
            failed = True
        else:
            print(record.name, model.category(page), sep="\t")
    return EXIT_FAILED if failed else 0


def _clean(
    arguments: Arguments, records: Iterable[Record], cleaner: Cleaner
) -> Iterator[tuple[Record, CleanPage | None]]:
    """Clean pages one by one. Pages that cannot be read are reported, and None."""
    for record in records:
        try:
            yield record, cleaner.document(record.read(), record.url or None, source=record.name, metadata=True)
        except (VictorError, OSError) as error:
            arguments.say(f"{record.name}: left out: {getattr(error, 'strerror', None) or error}")
            yield record, None
