"""Whose annotation files belong together: the same pages by several people, cut into the same blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from victorpy.agreement import SharedPage
from victorpy.anno import load_annotation, load_annotation_anew
from victorpy.config import Config, load_config
from victorpy.document import Document, Label
from victorpy.errors import AnnotationError, DataError
from victorpy.same_blocks import find_difference

_CUT = {"every": "every tag", "block": "block-level tags"}


@dataclass(frozen=True, slots=True)
class Annotators:
    """Who annotated, which pages all of them did, and which could not be used."""

    names: tuple[str, ...]
    pages: tuple[SharedPage, ...]
    unconfirmed: tuple[int, ...] = ()
    """Of how many blocks of these pages each has a label that only a model gave."""
    unpaired: tuple[str, ...] = ()
    """Pages that not everybody has, in words."""
    refused: tuple[str, ...] = ()
    """Pages that cannot be read or do not fit together, in words."""


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    document: Document
    labels: tuple[Label | None, ...]
    """None where nobody gave one that counts."""
    unconfirmed: int
    """Of how many blocks only a model gave the label."""


def read_annotators(paths: Sequence[Path], config: Config | None = None, with_models: bool = False) -> Annotators:
    """Read one file of the same page by each annotator, or one folder: what has the same name in all belongs together.

    Blocks are the lines of the files, as they stand; with a config every page is cut anew by it, and labels follow
    their text. Of folders a page that does not fit together is left out; a single page is an error. Labels that only a
    model gave are nobody's, unless models count as annotators.
    """
    _check_paths(paths)
    names = short_names(paths)
    read = partial(_read_file, config=config, with_models=with_models)
    if not paths[0].is_dir():
        page, unconfirmed = _read_page("", [read(path) for path in paths], cut_anew=config is not None)
        return Annotators(names, (page,), unconfirmed)
    return _read_folders(paths, names, read, cut_anew=config is not None)


def _check_paths(paths: Sequence[Path]) -> None:
    if len(paths) < 2:
        raise DataError("agreement takes at least two annotators: give two files of the same page, or two folders")
    seen: dict[Path, Path] = {}
    for path in paths:
        if not path.exists():
            raise DataError(f"{path}: no such file or folder")
        same = seen.setdefault(path.resolve(), path)
        if same is not path:
            raise DataError(f"{path}: given twice: whoever is compared with himself agrees")
    if len({path.is_dir() for path in paths}) > 1:
        folder, file = (next(path for path in paths if path.is_dir() is kind) for kind in (True, False))
        raise DataError(
            f"{folder} is a folder and {file} a file: give files of one page, or a folder for each annotator"
        )


def short_names(paths: Sequence[Path]) -> tuple[str, ...]:
    """Name the annotators by that part of the paths in which they differ, counted from the end."""
    parts = [path.parts for path in paths]
    while all(len(each) > 1 for each in parts) and len({each[-1] for each in parts}) == 1:
        parts = [each[:-1] for each in parts]
    longest = max(map(len, parts))
    tails = ([each[-length:] for each in parts] for length in range(1, longest + 1))
    chosen = next((tail for tail in tails if len(set(tail)) == len(paths)), parts)
    return tuple(str(Path(*each)) for each in chosen)


def _read_folders(
    folders: Sequence[Path], names: tuple[str, ...], read: Callable[[Path], _File], cut_anew: bool
) -> Annotators:
    found = [
        {str(path.relative_to(folder).with_suffix("")): path for path in folder.glob("**/*.anno") if path.is_file()}
        for folder in folders
    ]
    for folder, files in zip(folders, found, strict=True):
        if not files:
            raise DataError(f"{folder}: there are no annotation files (*.anno) in it")
    pages, unpaired, refused = [], [], []
    unconfirmed = [0] * len(names)
    for name in sorted(set().union(*found)):
        missing = [who for who, files in zip(names, found, strict=True) if name not in files]
        if missing:
            having = [who for who in names if who not in missing]
            unpaired.append(f"{name}: in {', '.join(having)}, not in {', '.join(missing)}")
            continue
        try:
            page, counts = _read_page(name, [read(files[name]) for files in found], cut_anew)
            pages.append(page)
            unconfirmed = [sum(both) for both in zip(unconfirmed, counts, strict=True)]
        except AnnotationError as error:
            refused.append(str(error))
    if not pages:
        why = f"; the first: {refused[0]}" if refused else ": files belong together when they have the same name"
        raise DataError(f"no page can be compared in {', '.join(map(str, folders))}{why}")
    return Annotators(names, tuple(pages), tuple(unconfirmed), tuple(unpaired), tuple(refused))


def _read_page(name: str, files: Sequence[_File], cut_anew: bool) -> tuple[SharedPage, tuple[int, ...]]:
    """One page by every annotator, and how many labels of each only a model gave.

    Without a name it is that of the files, or the one that is in them.
    """
    first, *others = files
    for other in others:
        _check_same_blocks(first, other, in_folders=bool(name), cut_anew=cut_anew)
    same_stem = len({file.path.stem for file in files}) == 1
    name = name or (first.path.stem if same_stem else first.document.source or first.path.name)
    texts = tuple(block.text for block in first.document.blocks)
    page = SharedPage(name, texts, tuple(file.labels for file in files))
    return page, tuple(file.unconfirmed for file in files)


def _read_file(path: Path, config: Config | None, with_models: bool) -> _File:
    if config is not None:
        annotation = load_annotation_anew(path, config.cuts)
    else:
        annotation = load_annotation(path, load_config("default").cuts)
    labels = annotation.labels if with_models else annotation.decisions
    unconfirmed = sum(label is not None for label in annotation.labels) - sum(annotation.decided)
    return _File(path, annotation.document, labels, unconfirmed)


def _check_same_blocks(one: _File, other: _File, in_folders: bool, cut_anew: bool) -> None:
    """Refuse files that are not of the same blocks: say where they part, and what to do about it."""
    difference = find_difference(one.document, other.document)
    if difference is None:
        return
    where = difference.describe(str(one.path), str(other.path))
    counts = "{:,} and {:,} blocks".format(*difference.counts)
    if difference.only_cut and not cut_anew:
        raise AnnotationError(
            f"{other.path}: the page was cut otherwise than in {one.path} ({counts}{_how_cut(one, other)}): {where}; "
            "with --config NAME all are cut anew by that config, and labels follow their text"
        )
    many = "" if in_folders else "; to compare many pages, give a folder for each annotator"
    raise AnnotationError(f"{other.path}: not the same page as {one.path} ({counts}): {where}{many}")


def _how_cut(one: _File, other: _File) -> str:
    ways = [file.document.split for file in (one, other)]
    return f"; cut at {_CUT[ways[1]]}, not at {_CUT[ways[0]]}" if ways[0] != ways[1] else ""
