"""Which annotation file belongs to which page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from victorpy.anno import MAGIC
from victorpy.batch.records import PAGE_SUFFIXES
from victorpy.markup import unescape

SUFFIX = ".anno"


def annotation_of(page: Path) -> Path:
    """Where a page's annotation lies: beside it, under a name that is no other page's."""
    beside = [page.with_suffix(suffix) for suffix in PAGE_SUFFIXES]
    return name_annotations({page, *(path for path in beside if path.is_file())})[page]


def name_annotations(pages: Iterable[Path]) -> dict[Path, Path]:
    """Name the annotations of pages whose names differ in their suffix only: of ``a.htm`` and ``a.html`` one has
    ``a.anno``, the other ``a.htm.anno``. An ``a.anno`` that is there belongs to the page that it names as its source.
    """
    ordered = sorted(pages, key=lambda page: (_rank(page), page.name))
    short = ordered[0].with_suffix(SUFFIX)
    first = ordered[0] if len(ordered) == 1 else _owner(short, ordered)
    return {page: short if page == first else page.with_name(page.name + SUFFIX) for page in ordered}


def is_page(path: Path) -> bool:
    """Whether a file's name is that of a page."""
    return path.suffix.lower() in PAGE_SUFFIXES


def _rank(page: Path) -> int:
    return PAGE_SUFFIXES.index(page.suffix) if page.suffix in PAGE_SUFFIXES else len(PAGE_SUFFIXES)


def _owner(anno: Path, pages: Sequence[Path]) -> Path:
    source = _source_in(anno)
    return next((page for page in pages if page.name == source), pages[0])


def _source_in(anno: Path) -> str:
    """The page that an annotation file says it is of."""
    try:
        with anno.open(encoding="utf-8", errors="replace") as lines:
            if next(lines, "").rstrip() != MAGIC:
                return ""
            for line in lines:
                key, _, value = line.partition(":")
                if key == "source" or not line.strip():
                    return unescape(value.strip())
    except OSError:
        pass
    return ""
