"""The project's own layout: NAME.anno files, with NAME.html beside them where it was kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from victorpy.config import load_config
from victorpy.errors import AnnotationError
from victorpy.outputs.anno import load_anno
from victorpy.outputs.base import segments
from victorpy.page.markup import to_html
from victorpy.research.align import Gold
from victorpy.research.datasets.base import DATASETS, GoldPage, Warn


@DATASETS.register("anno")
def read_annotations(directory: Path, warn: Warn) -> Iterator[GoldPage]:
    """Read NAME.anno with NAME.html, or with the page that is in it; its kind is the name of its directory."""
    cuts = load_config("default").cuts
    for path in sorted(directory.glob("**/*.anno")):
        page = path.with_suffix(".html")
        try:
            annotated = load_anno(path, cuts)
        except AnnotationError as error:
            warn(str(error))
            continue
        gold = tuple(Gold(segment.text, segment.label) for segment in segments(annotated))
        name = str(path.relative_to(directory).with_suffix(""))
        kind = path.parent.name if path.parent != directory else ""
        content = page.read_bytes() if page.is_file() else to_html(annotated.document).encode()
        yield GoldPage(name, content, gold, annotated.document.url, kind)
