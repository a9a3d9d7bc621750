"""Measure how well annotators agree on the labels of the same blocks, beyond chance.

Cohen's kappa compares two annotators, and Fleiss' kappa all of them. Both are computed from one table per pair of
annotators, which counts blocks by the two labels. Because the tables of pages can be added, resampling is fast. Because
rows and columns can be added, several labels can be treated as one class (content against noise, one label against the
rest).

If all annotators give every block the same label, the expected agreement is 1, and kappa (0/0) is None.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from victorpy.config import Config, load_config
from victorpy.document import Label
from victorpy.errors import AnnotationError, DataError
from victorpy.outputs.anno import load_annotation
from victorpy.page.same_blocks import find_difference
from victorpy.research.statistics import RESAMPLES

Floats = npt.NDArray[np.float64]
_CHUNK = 100  # number of resamples at a time, so that many pages fit in memory
_NUMBERS = ("kappa", "observed", "expected")
_ENOUGH = 0.95  # minimum share of resamples with a kappa for an interval
_SPLITS = {"every": "every tag", "block": "block-level tags"}  # the tags that pages are split at, by `Document.split`

_ALL = frozenset(Label)
_CONTENT = frozenset(label for label in Label if label.is_content)
GROUPINGS: Mapping[str, Mapping[str, frozenset[Label]]] = {  # classes of labels
    "labels": {str(label): frozenset([label]) for label in Label},
    "content": {"content": _CONTENT, "noise": _ALL - _CONTENT},
    **{str(label): {str(label): frozenset([label]), "rest": _ALL - {label}} for label in Label},
}


@dataclass(frozen=True, slots=True)
class SharedPage:
    """A page that several annotators have labelled."""

    name: str
    texts: tuple[str, ...]
    labels: tuple[tuple[Label | None, ...], ...]
    """Labels by annotator and block, or None for blocks that the annotator has not labelled."""

    def by_block(self) -> Iterator[tuple[int, str, tuple[Label, ...]]]:
        """Yield number (from 1), text and labels of each block that all annotators have labelled."""
        for number, (text, *given) in enumerate(zip(self.texts, *self.labels, strict=True), 1):
            labels = tuple(label for label in given if label is not None)
            if len(labels) == len(given):
                yield number, text, labels


# Files


@dataclass(frozen=True, slots=True)
class Annotators:
    """The annotators, the pages that all of them annotated, and the pages that could not be used."""

    names: tuple[str, ...]
    pages: tuple[SharedPage, ...]
    unconfirmed: tuple[int, ...] = ()  # by annotator, number of labels that only a model gave
    unpaired: tuple[str, ...] = ()  # messages about pages that are missing for some annotators
    refused: tuple[str, ...] = ()  # messages about pages that cannot be read or do not match


def read_annotators(paths: Sequence[Path], config: Config | None = None, with_models: bool = False) -> Annotators:
    """Read the files of a single page, or one folder per annotator. In folders, files with the same name are compared.

    Blocks are the lines of the files. With a config, every page is split again by it, and labels follow their text. In
    folders, pages that do not match are left out. Single files must match. Labels that only a model gave count only
    with `with_models`.
    """
    _check_paths(paths)
    names = short_names(paths)
    if not paths[0].is_dir():
        page, unconfirmed = _read_page("", paths, config, with_models)
        return Annotators(names, (page,), tuple(unconfirmed))
    files_by_name = [
        {str(path.relative_to(folder).with_suffix("")): path for path in folder.glob("**/*.anno") if path.is_file()}
        for folder in paths
    ]
    for folder, files in zip(paths, files_by_name, strict=True):
        if not files:
            raise DataError(f"{folder}: no annotation files (*.anno) in this folder")
    pages, unpaired, refused = [], [], []
    totals = [0] * len(names)
    for page_name in sorted(set().union(*files_by_name)):
        having = [who for who, files in zip(names, files_by_name, strict=True) if page_name in files]
        missing = [who for who in names if who not in having]
        if missing:
            unpaired.append(f"{page_name}: in {', '.join(having)}, not in {', '.join(missing)}")
            continue
        same_page = [files[page_name] for files in files_by_name]
        try:
            page, unconfirmed = _read_page(page_name, same_page, config, with_models)
        except AnnotationError as error:
            refused.append(str(error))
            continue
        pages.append(page)
        totals = [total + count for total, count in zip(totals, unconfirmed, strict=True)]
    if not pages:
        why = f"; the first: {refused[0]}" if refused else ": files of the same page must have the same name"
        raise DataError(f"no page can be compared in {', '.join(map(str, paths))}{why}")
    return Annotators(names, tuple(pages), tuple(totals), tuple(unpaired), tuple(refused))


def _check_paths(paths: Sequence[Path]) -> None:
    if len(paths) < 2:
        raise DataError("agreement needs at least two annotators; give two files of the same page, or two folders")
    resolved: set[Path] = set()
    for path in paths:
        if not path.exists():
            raise DataError(f"{path}: no such file or folder")
        if path.resolve() in resolved:
            raise DataError(f"{path}: given twice; give another file or folder for each annotator")
        resolved.add(path.resolve())
    folders = [path for path in paths if path.is_dir()]
    files = [path for path in paths if not path.is_dir()]
    if folders and files:
        raise DataError(
            f"{folders[0]} is a folder and {files[0]} a file; give files of one page, or a folder for each annotator"
        )


def short_names(paths: Sequence[Path]) -> tuple[str, ...]:
    """Name annotators after the last parts of their paths that differ.

    >>> short_names([Path("study/anna/tea.anno"), Path("study/ben/tea.anno")])
    ('anna', 'ben')
    """
    parts = [path.parts for path in paths]
    while all(len(steps) > 1 for steps in parts) and len({steps[-1] for steps in parts}) == 1:
        parts = [steps[:-1] for steps in parts]
    for length in range(1, max(map(len, parts)) + 1):
        tails = [steps[-length:] for steps in parts]
        if len(set(tails)) == len(paths):
            parts = tails
            break
    return tuple(str(Path(*steps)) for steps in parts)


def _read_page(
    name: str, paths: Sequence[Path], config: Config | None, with_models: bool
) -> tuple[SharedPage, list[int]]:
    """Read a page of every annotator, and count the labels that only a model gave.

    If no name is given, the page is named after the files or their source.
    """
    cuts = (config or load_config("default")).cuts
    annotations = [load_annotation(path, cuts, recut=config is not None) for path in paths]
    document = annotations[0].document
    for path, annotation in zip(paths[1:], annotations[1:], strict=True):
        difference = find_difference(document, annotation.document)
        if difference is None:
            continue
        where = difference.describe(str(paths[0]), str(path))
        counts = "{:,} and {:,} blocks".format(*difference.counts)
        if difference.only_cut and config is None:
            splits = document.split, annotation.document.split
            how = f"; split at {_SPLITS[splits[1]]}, not at {_SPLITS[splits[0]]}" if splits[0] != splits[1] else ""
            raise AnnotationError(
                f"{path}: the page was split differently from {paths[0]} ({counts}{how}): {where}; "
                "with `config` NAME all pages are split again by that config, and labels follow their text"
            )
        hint = "" if name else "; to compare many pages, give a folder for each annotator"
        raise AnnotationError(f"{path}: not the same page as {paths[0]} ({counts}): {where}{hint}")
    if not name:
        same_stem = len({path.stem for path in paths}) == 1
        name = paths[0].stem if same_stem else document.source or paths[0].name
    labels = tuple(annotation.labels if with_models else annotation.decisions for annotation in annotations)
    unconfirmed = [
        sum(label is not None for label in annotation.labels) - sum(annotation.decided) for annotation in annotations
    ]
    return SharedPage(name, tuple(block.text for block in document.blocks), labels), unconfirmed


# Kappa


def compare_annotators(annotators: Sequence[str], pages: Sequence[SharedPage], seed: int = 1) -> dict[str, Any]:
    """Return the content of scores.json: the agreement on blocks that all annotators labelled."""
    if len(annotators) < 2:
        raise DataError("agreement needs at least two annotators")
    tables = np.array([_tables(page) for page in pages])
    if not tables.any():
        raise DataError("there is no block that all annotators have labelled")
    agreement = _measure(tables, seed)
    for grouping in agreement.values():
        for pair, names in zip(grouping["pairs"], combinations(annotators, 2), strict=True):
            pair["annotators"] = list(names)
    page_scores, disagreements = [], []
    for page, page_tables in zip(pages, tables, strict=True):
        differing = [(number, text, labels) for number, text, labels in page.by_block() if len(set(labels)) > 1]
        count, measured = int(page_tables[0].sum()), _measure(page_tables[None], seed)
        kappas: dict[str, Any] = {}
        for name in ("labels", "content"):
            cohen = [{key: pair[key] for key in pair if key != "confusion"} for pair in measured[name]["pairs"]]
            kappas[name] = {"fleiss": measured[name]["fleiss"], "cohen": cohen}
        page_scores.append(
            {
                "name": page.name,
                "blocks": count,
                "left_out": len(page.texts) - count,
                "disagreements": len(differing),
                **kappas,
            }
        )
        disagreements += [
            {
                "page": page.name,
                "block": number,
                "text": text,
                "labels": [str(label) for label in labels],
                "about_content": len({label.is_content for label in labels}) > 1,
            }
            for number, text, labels in differing
        ]
    return {
        "annotators": list(annotators),
        "pages_count": len(pages),
        "blocks_count": sum(page["blocks"] for page in page_scores),
        "blocks_left_out": sum(page["left_out"] for page in page_scores),
        "resampling": {"resamples": RESAMPLES if len(pages) > 1 else 0, "seed": seed},
        "agreement": agreement,
        "pages": page_scores,
        "disagreements": disagreements,
    }


def _tables(page: SharedPage) -> Floats:
    """Count the blocks of a page for every pair of annotators, by the labels that the two gave."""
    index_of = {label: index for index, label in enumerate(Label)}
    pairs = list(combinations(range(len(page.labels)), 2))
    tables = np.zeros((len(pairs), len(Label), len(Label)))
    for _, _, labels in page.by_block():
        for table, (one, other) in zip(tables, pairs, strict=True):
            table[index_of[labels[one]], index_of[labels[other]]] += 1
    return tables


def _measure(tables: Floats, seed: int) -> dict[str, dict[str, Any]]:
    """Measure the agreement on every grouping, from the tables of every page (axes: page, pair, label, label).

    `observed` is the share of labels that agree. `expected` is the share that would agree if annotators chose labels at
    random with the same frequencies.
    """
    pages = len(tables)
    total = tables.sum(axis=0)
    random = np.random.default_rng(seed)
    resampled = []  # each resample adds as many tables as there are pages
    for _ in range(RESAMPLES // _CHUNK if pages > 1 else 0):
        times_sampled = random.multinomial(pages, np.full(pages, 1 / pages), size=_CHUNK).astype(float)
        resampled.append(np.tensordot(times_sampled, tables, axes=1))
    agreements = {}
    for name, classes in GROUPINGS.items():
        membership = np.array([[label in labels for label in Label] for labels in classes.values()], dtype=float)
        confusion: Floats = membership @ total @ membership.T  # this adds the rows and columns of a class
        intervals: list[list[float] | None] = [None] * (len(confusion) + 1)
        if resampled:
            resampled_kappas = np.concatenate([_kappas(membership @ chunk @ membership.T)[0] for chunk in resampled])
            intervals = list(map(_interval, resampled_kappas.T))
        fleiss, *cohen = [
            {"interval": interval}
            | {key: None if np.isnan(value) else float(value) for key, value in zip(_NUMBERS, numbers, strict=True)}
            for *numbers, interval in zip(*_kappas(confusion), intervals, strict=True)
        ]
        for pair, table in zip(cohen, confusion, strict=True):
            rows = [dict(zip(classes, map(int, row), strict=True)) for row in table]
            pair["confusion"] = dict(zip(classes, rows, strict=True))
        agreements[name] = {"fleiss": fleiss, "pairs": cohen}
    return agreements


def _kappas(tables: Floats) -> list[Floats]:
    """Return kappa, observed and expected agreement, first of all annotators and then of every pair."""
    measures = zip(fleiss_kappa(tables), cohen_kappa(tables), strict=True)
    return [np.concatenate([of_all[..., None], of_pairs], axis=-1) for of_all, of_pairs in measures]


def cohen_kappa(tables: Floats) -> tuple[Floats, Floats, Floats]:
    """Return Cohen's kappa, observed and expected agreement for the table (the last two axes) of each pair.

    >>> kappa, observed, expected = cohen_kappa(np.array([[20.0, 5.0], [10.0, 15.0]]))
    >>> round(float(kappa), 3), float(observed), float(expected)
    (0.4, 0.7, 0.5)
    """
    total = tables.sum(axis=(-1, -2))
    with np.errstate(invalid="ignore", divide="ignore"):  # without blocks, kappa is NaN
        observed = np.trace(tables, axis1=-2, axis2=-1) / total
        expected = (tables.sum(axis=-1) * tables.sum(axis=-2)).sum(axis=-1) / total**2
    return _beyond_chance(observed, expected), observed, expected


def fleiss_kappa(tables: Floats) -> tuple[Floats, Floats, Floats]:
    """Return Fleiss' kappa, observed and expected agreement of all annotators, from the tables of all their pairs.

    The agreement on a block is the share of pairs that agree, so the mean over blocks is the mean over pairs. The
    expected agreement assumes that labels are chosen with the frequencies of all annotators together. With two
    annotators this is Scott's pi.
    """
    given = (tables.sum(axis=-1) + tables.sum(axis=-2)).sum(axis=-2)  # each annotator is in the same number of pairs
    with np.errstate(invalid="ignore", divide="ignore"):
        observed = np.trace(tables, axis1=-2, axis2=-1).sum(axis=-1) / tables.sum(axis=(-1, -2, -3))
        expected = ((given / given.sum(axis=-1, keepdims=True)) ** 2).sum(axis=-1)
    return _beyond_chance(observed, expected), observed, expected


def _beyond_chance(observed: Floats, expected: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        kappa: Floats = np.where(expected < 1, (observed - expected) / (1 - expected), np.nan)
    return kappa


def _interval(kappas: Floats) -> list[float] | None:
    """Return the 95 % interval of resampled kappas, or None if too many resamples have no kappa."""
    defined = kappas[~np.isnan(kappas)]
    if len(defined) < _ENOUGH * len(kappas):
        return None
    low, high = np.quantile(defined, [0.025, 0.975])
    return [float(low), float(high)]
