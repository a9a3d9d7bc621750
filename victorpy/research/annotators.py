"""Read the annotation files of several annotators, and match files of the same page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from victorpy.config import Config, load_config
from victorpy.errors import AnnotationError, DataError
from victorpy.outputs.anno import load_annotation
from victorpy.page.same_blocks import find_difference
from victorpy.research.agreement import SharedPage

_TAGS = {"every": "every tag", "block": "block-level tags"}  # the tags that pages are split at, by `Document.split`


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
        try:
            page, unconfirmed = _read_page(
                page_name, [files[page_name] for files in files_by_name], config, with_models
            )
            pages.append(page)
            totals = [total + count for total, count in zip(totals, unconfirmed, strict=True)]
        except AnnotationError as error:
            refused.append(str(error))
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
            how = f"; split at {_TAGS[splits[1]]}, not at {_TAGS[splits[0]]}" if splits[0] != splits[1] else ""
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
