"""Which annotation file belongs to which page."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from victorpy.batch.record import PAGE_SUFFIXES
from victorpy.outputs.anno import MAGIC
from victorpy.page.markup import unescape

SUFFIX = ".anno"


def annotation_of(page: Path) -> Path:
    """Return the path of a page's annotation: beside the page, under a name that no other page's annotation has."""
    neighbours = [page.with_suffix(suffix) for suffix in PAGE_SUFFIXES]
    return name_annotations({page, *(path for path in neighbours if path.is_file())})[page]


def name_annotations(pages: Iterable[Path]) -> dict[Path, Path]:
    """Name the annotations of pages whose names differ only in their suffix.

    Of ``a.html`` and ``a.htm`` the first gets ``a.anno``, the other ``a.htm.anno``. If ``a.anno`` exists, it belongs to
    the page that it names as its source.
    """
    ranks = {suffix: rank for rank, suffix in enumerate(PAGE_SUFFIXES)}
    ordered = sorted(pages, key=lambda page: (ranks.get(page.suffix, len(ranks)), page.name))
    short = ordered[0].with_suffix(SUFFIX)
    source = _read_source(short) if len(ordered) > 1 else ""
    owner = next((page for page in ordered if page.name == source), ordered[0])
    return {page: short if page == owner else page.with_name(page.name + SUFFIX) for page in ordered}


def is_page(path: Path) -> bool:
    """Whether a file has the name of a page."""
    return path.suffix.lower() in PAGE_SUFFIXES


def _read_source(anno: Path) -> str:
    """Return the name of the page in the header of an annotation file, or nothing."""
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
