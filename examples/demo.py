"""Clean three sample pages with the bundled model, and show what was dropped (``make demo``)."""

from __future__ import annotations

import shutil
import textwrap
from pathlib import Path

import victorpy
from victorpy.outputs import OUTPUTS

PAGES = ["service/service-plumber.html", "documentation/doc-fr-bibliotheque.html", "forum/forum-pl-gory.html"]
DATA = Path(__file__).parents[1] / "data"


def show(page: victorpy.CleanPage, name: str, width: int) -> None:
    kept = [block for block, label in zip(page.document.blocks, page.labels, strict=True) if label.is_content]
    dropped = [block for block, label in zip(page.document.blocks, page.labels, strict=True) if not label.is_content]
    print(f"{'=' * width}\n{name}: {len(page.document.blocks)} blocks, {len(kept)} kept\n{'=' * width}")
    lines = OUTPUTS.get("markdown").render(page).splitlines()
    for line in lines[:14]:
        print(textwrap.shorten(line, width, placeholder=" ..."))
    print(f"... and {max(len(lines) - 14, 0)} more lines")
    noise = " | ".join(block.text for block in dropped)
    print(f"\ndropped: {textwrap.shorten(noise, 2 * width, placeholder=' ...')}\n")


def main() -> None:
    width = min(shutil.get_terminal_size().columns, 100)
    cleaner = victorpy.Cleaner.load()
    for name in PAGES:
        show(cleaner.document((DATA / name).read_bytes()), name, width)
    every = sorted(DATA.glob("*/*.html"))
    empty = [page.name for page in every if cleaner.document(page.read_bytes()).is_empty]
    print(f"{len(every)} sample pages cleaned, {len(empty)} left empty.")
    print("Clean a page of yours: .venv/bin/victor clean PAGE.html")


if __name__ == "__main__":
    main()
