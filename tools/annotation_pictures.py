"""Make the pictures of docs/guides/annotation.md: type into the real program in a terminal, and draw its screen.

python -m tools.annotation_pictures [-o DIR]
"""

from __future__ import annotations

import argparse
import html
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.terminal import Terminal

ROOT = Path(__file__).parents[1]
COLUMNS, LINES = 104, 30
WIDTH, HEIGHT, BASE = 8.0, 17.0, 12.5  # width and height of a character, and the height of its baseline
SECONDS = 2.5  # how long each frame of the animation is shown

INK, PAPER = "#d8dee4", "#16191d"
_NAMED = {
    **{"black": "#16191d", "red": "#e06c75", "green": "#7fbf6f", "brown": "#d9b34a", "blue": "#5a9bd5"},
    **{"magenta": "#c586d6", "cyan": "#56b6c2", "white": "#d8dee4"},
}
Screen = tuple[tuple[Any, ...], ...]  # the cells of a screen, row by row, as pyte keeps them


def cells_of(terminal: Terminal) -> Screen:
    """Return the cells of the screen."""
    buffer = terminal.screen.buffer
    return tuple(tuple(buffer[row][column] for column in range(COLUMNS)) for row in range(LINES))


class Look(NamedTuple):
    """How a character is drawn."""

    ink: str
    paper: str
    bold: bool
    underlined: bool


def look_of(cell: Any) -> Look:
    """Return the look of a cell. Reversed colours are swapped."""
    ink, paper = _colour(cell.fg, INK), _colour(cell.bg, PAPER)
    if cell.reverse:
        ink, paper = paper, ink
    return Look(ink, paper, cell.bold, cell.underscore)


def _colour(name: str, default: str) -> str:
    if name == "default":
        return default
    return _NAMED.get(name.removeprefix("bright"), f"#{name}" if len(name) == 6 else default)


def draw_rows(screen: Screen) -> Iterator[str]:
    """Draw neighbouring cells with the same look together."""
    for row, cells in enumerate(screen):
        at = 0
        for look, group in groupby(cells, look_of):
            run = list(group)
            text = "".join(cell.data for cell in run)  # an empty cell follows a wide character
            yield from _draw_run(look, text, at * WIDTH, row * HEIGHT, len(run) * WIDTH)
            at += len(run)


def _draw_run(look: Look, text: str, x: float, y: float, width: float) -> Iterator[str]:
    if look.paper != PAPER:
        yield f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{HEIGHT:g}" fill="{look.paper}"/>'
    inner = text.strip()
    if not inner:
        return
    before = len(text) - len(text.lstrip())
    start, length = x + before * WIDTH, width - (len(text) - len(inner)) * WIDTH
    style = (' style="font-weight:bold"' if look.bold else "") + (
        ' text-decoration="underline"' if look.underlined else ""
    )
    place = f'x="{start:g}" y="{y + BASE:g}" textLength="{length:g}" fill="{look.ink}"'
    yield f"<text {place}{style}>{html.escape(inner, quote=False)}</text>"


def picture(frames: Sequence[Screen]) -> str:
    """Return an SVG picture. Several frames are shown one after another in a loop."""
    width, height = COLUMNS * WIDTH + 16, LINES * HEIGHT + 16
    style = "text{font:13.2px 'DejaVu Sans Mono',Menlo,Consolas,monospace;white-space:pre}"
    if len(frames) > 1:
        total = SECONDS * len(frames)
        style += f".f{{opacity:0;animation:show {total:g}s step-end infinite}}"
        style += f"@keyframes show{{0%{{opacity:1}}{100 / len(frames):.3f}%{{opacity:0}}}}"
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" '
        f'viewBox="0 0 {width:g} {height:g}" width="{width:g}">',
        f"<style>{style}</style>",
    ]
    for number, frame in enumerate(frames):
        moving = f' class="f" style="animation-delay:{number * SECONDS:g}s"' if number else ""
        parts.append(f'<g{moving}><rect width="{width:g}" height="{height:g}" rx="7" fill="{PAPER}"/>')
        parts += ['<g transform="translate(8 8)">', *draw_rows(frame), "</g></g>"]
    return "\n".join([*parts, "</svg>", ""])


def start(directory: Path, *arguments: str) -> Terminal:
    """Start the program in a directory, so that the picture contains no path of this machine."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color"}
    environment.pop("NO_COLOR", None)
    return Terminal([sys.executable, str(ROOT / "annotate.py"), *arguments], COLUMNS, LINES, environment, directory)


def record(directory: Path) -> dict[str, list[Screen]]:
    """Work on some pages and record the screens."""
    for name in ("courier-bridge", "courier-bakery", "courier-events"):
        found = next((ROOT / "data").glob(f"*/{name}.html"))
        shutil.copy(found, directory)
    shutil.copy(ROOT / "data" / "listing" / "listing-jobs.html", directory)
    film: list[Screen] = []
    pictures: dict[str, list[Screen]] = {}
    with start(directory, ".", "--order", "uncertainty") as terminal:

        def see(*keys: str) -> Screen:
            terminal.type(*keys)
            terminal.settle(0.8)
            film.append(cells_of(terminal))
            return film[-1]

        terminal.wait_for(lambda here: "pages finished" in here.text and "not looked at" not in here.text, 120)
        pictures["pages"] = [see()]
        while "listing-jobs" not in terminal.text.partition("►")[2].partition("\n")[0]:  # the model decides the order
            see("down")
        see("enter")
        see("/", "Job type", "enter")
        pictures["selection"] = [see("r")]
        see("o")
        see("/", "Scarfell", "enter")
        see("P")
        pictures["result"] = [see("tab", "tab")]
        pictures["facts"] = [see("f")]
        see("f", "u")
        see("U")
        see("a")
        see("q")
    pictures["session"] = film
    pictures["adjudication"] = [record_adjudication(directory)]
    return pictures


def record_adjudication(directory: Path) -> Screen:
    """Two people label a page, a third decides between them."""
    for name, keys in (("anna", ["g", "50", "enter", "h", "o", "a"]), ("ben", ["g", "51", "enter", "p", "h", "a"])):
        with start(directory, "courier-bridge.html", f"{name}.anno") as terminal:
            terminal.wait_for("block 1 of", 60)
            terminal.type(*keys, "q")
            terminal.end()
    with start(directory, "--adjudicate", "anna.anno", "ben.anno", "-o", "gold.anno") as terminal:
        terminal.wait_for("block 1 of", 60)
        terminal.type("e")
        terminal.settle(0.8)
        return cells_of(terminal)


def main() -> None:
    """Write all pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "docs" / "images", metavar="DIR")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name, frames in record(Path(folder)).items():
            path = arguments.output / f"annotation-{name}.svg"
            path.write_text(picture(frames), encoding="utf-8")
            print(f"{path}: {len(frames)} frames, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
