"""Train a model that tells categories, on pages in folders, and tell the categories of pages.

examples:
  victor categories train topics/ -o topics.model            a folder a category, each with HTML files
  victor categories train topics/ -o topics.model --classifier linear-svm --by-site
  victor categories predict topics.model page.html more/     a line a page: its name and its category
  clean.py --format 'docview(categories=topics.model)' page.html

Pages are cleaned first; --method everything takes them as they are. Training ends with the precision, recall and F1 of
each category in a cross-validation.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from tqdm import tqdm

from victorpy.about.categories import (
    CLASSIFIERS,
    CategoryScore,
    Settings,
    bag_of,
    check_target,
    cross_validate,
    load_categories,
    save_categories,
    score,
    train_categories,
)
from victorpy.about.categories.vocabulary import Bag
from victorpy.about.packages import check_packages
from victorpy.batch.records import Record, find_records
from victorpy.cleaner import Cleaner
from victorpy.document import CleanPage
from victorpy.errors import DataError, VictorError
from victorpy.groups import site_of
from victorpy.methods import load_method
from victorpy.report.base import aligned, percent
from victorpy.settings import split_name

_EXIT_SOME_FAILED = 1


class Example(NamedTuple):
    """A page of a known category."""

    bag: Bag
    category: str
    group: str
    """The pages that it must not be tested apart from."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments."""
    default = Settings()
    parser.add_argument("action", choices=["train", "predict"], help="what to do")
    parser.add_argument("inputs", nargs="+", metavar="PATH", help="a directory of folders, or a model and pages")
    parser.add_argument("-o", "--output", type=Path, metavar="MODEL", help="where the model goes (train)")
    parser.add_argument("-m", "--method", help="what cleans the pages (default: crf, or that of the model)")
    parser.add_argument("--classifier", default=default.classifier, metavar="NAME", help=", ".join(CLASSIFIERS))
    parser.add_argument("--terms", type=int, default=default.terms, help=f"terms by χ² (default: {default.terms})")
    parser.add_argument("-k", type=int, default=default.k, help=f"neighbours that vote (default: {default.k})")
    parser.add_argument("--folds", type=int, default=5, help="of the cross-validation; 0: none (default: 5)")
    parser.add_argument("--by-site", action="store_true", help="keep pages of a site or sub-folder in one fold")
    parser.add_argument("--seed", type=int, default=default.seed, help="for the folds (default: 1)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Do what is asked."""
    check_packages()
    return {"train": _train, "predict": _predict}[arguments.action](arguments)


def _train(arguments: argparse.Namespace) -> int:
    if arguments.output is None:
        raise DataError("where should the model go? give -o MODEL")
    if len(arguments.inputs) != 1:
        raise DataError("give one directory, with a folder for each category")
    check_target(arguments.output)
    settings = Settings(arguments.classifier, arguments.terms, arguments.k, arguments.seed)
    method = arguments.method or "crf"
    examples = list(_examples(Path(arguments.inputs[0]), _load(method), arguments.by_site))
    scores = _validated(examples, settings, arguments.folds) if arguments.folds else []
    model = train_categories([each.bag for each in examples], [each.category for each in examples], settings)
    counts = {name: sum(each.category == name for each in examples) for name in model.categories}
    save_categories(replace(model, method=method, training={"pages": counts}), arguments.output)
    _say(f"{arguments.output}: {len(examples)} pages, {len(counts)} categories, {len(model.vocabulary.terms)} terms")
    if scores:
        print(_table(scores))
    return 0


def _predict(arguments: argparse.Namespace) -> int:
    path, *pages = arguments.inputs
    if not pages:
        raise DataError(f"which pages are to be told by {path}? name them behind it")
    model = load_categories(path)
    cleaner = _load(arguments.method or model.method)
    failed = False
    for record in find_records(pages):
        page = _cleaned(record, cleaner)
        failed |= page is None
        if page is not None:
            print(record.name, model.category(page), sep="\t")
    return _EXIT_SOME_FAILED if failed else 0


def _examples(directory: Path, cleaner: Cleaner, by_site: bool) -> Iterator[Example]:
    """The pages of all folders; one that cannot be read is told and left out."""
    if not directory.is_dir():
        raise DataError(f"{directory}: is no directory; it should have a folder for each category")
    folders = sorted(path for path in directory.iterdir() if path.is_dir() and not path.name.startswith("."))
    if len(folders) < 2:
        raise DataError(f"{directory}: {len(folders)} folders; categories need two at least, one folder each")
    for folder in folders:
        records = list(find_records([str(folder)]))
        for record in _counted(records, folder.name):
            page = _cleaned(record, cleaner)
            if page is not None:
                group = _group(page, record, folder) if by_site else record.name
                yield Example(bag_of(page), folder.name, group)


def _group(page: CleanPage, record: Record, folder: Path) -> str:
    """The site of a page; of one without an address, the sub-folder that it is in, else the page alone."""
    parents = record.place.parent.parts
    return site_of(page.document.url) or (f"{folder.name}/{parents[-1]}" if parents else record.name)


def _load(method: str) -> Cleaner:
    return load_method(*split_name(method))


def _cleaned(record: Record, cleaner: Cleaner) -> CleanPage | None:
    try:
        return cleaner.document(record.read(), record.url or None, source=record.name, metadata=True)
    except (VictorError, OSError) as error:
        _say(f"{record.name}: left out: {getattr(error, 'strerror', None) or error}")
        return None


def _validated(examples: list[Example], settings: Settings, folds: int) -> list[CategoryScore]:
    labels = [each.category for each in examples]
    found = [""] * len(examples)
    validated = cross_validate(
        [each.bag for each in examples], labels, [each.group for each in examples], settings, folds
    )
    for fold in tqdm(validated, total=folds, unit="fold", disable=None):
        for number, category in fold:
            found[number] = category
    return score(found, labels)


def _table(scores: list[CategoryScore]) -> str:
    """Precision, recall and F1 in percent, and the means of all categories."""
    rows = [
        [each.category, str(each.belonging), *map(percent, (each.precision, each.recall, each.f1))] for each in scores
    ]
    means = [sum(getattr(each, name) for each in scores) / len(scores) for name in ("precision", "recall", "f1")]
    rows.append(["mean", str(sum(each.belonging for each in scores)), *map(percent, means)])
    return aligned(["category", "pages", "precision", "recall", "F1"], rows)


def _counted(records: list[Record], name: str) -> Iterable[Record]:
    progress: Iterable[Record] = tqdm(records, desc=name, unit="page", disable=None)
    return progress


def _say(said: str) -> None:
    tqdm.write(f"categories: {said}", file=sys.stderr)
