"""Make a small data set in SWDE's layout: pages of a few sites in two or three verticals, with their values.

All pages of a site share a menu and a footer, which are much longer than the content.

    python examples/small_swde.py DIR
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

SITES = {
    "book": ("shop", "shelf", "paperback", "novelty"),
    "camera": ("shop", "shelf", "shutter", "tripod"),
    "job": ("hire", "career", "wanted", "desk"),
}
TOPICS = {
    "book": "novel author chapter story publisher paperback reader poems history fiction pages hardcover".split(),
    "camera": "lens zoom sensor flash megapixel tripod shutter aperture battery video focus pixel".split(),
    "job": "salary employer position experience manager skills apply degree hiring benefits team office".split(),
}
ATTRIBUTES = ("name", "number")
_LETTERS = "abcdefghijklmnoprstuvwz"


def build(directory: Path, verticals: tuple[str, ...] = ("book", "camera"), pages: int = 8, seed: int = 1) -> Path:
    """Write the pages of every site, and the values that belong to them."""
    for vertical in verticals:
        for site in SITES[vertical]:
            _write_site(directory, vertical, site, pages, seed)
    return directory


def _write_site(directory: Path, vertical: str, site: str, pages: int, seed: int) -> None:
    chance = random.Random(f"{seed} {vertical} {site}")
    frame = random.Random(f"{seed} {site}")  # the frame is the same in all verticals of a site
    menu, footer = (_invented(frame, 60) for _ in range(2))
    folder = directory / vertical / f"{vertical}-{site}({pages})"
    folder.mkdir(parents=True, exist_ok=True)
    values: list[list[str]] = []
    for number in range(pages):
        values.append([" ".join(_invented(chance, 3)).title(), f"{chance.randrange(10**6, 10**7)}"])
        topic = chance.choices(TOPICS[vertical], k=25)
        page = _page(menu, footer, values[-1], " ".join(topic))
        (folder / f"{number:04}.htm").write_text(page, encoding="utf-8")
    _write_values(directory / "groundtruth" / vertical, vertical, site, values)


def _page(menu: list[str], footer: list[str], values: list[str], topic: str) -> str:
    items = "".join(f'<li><a href="/{word}">{word}</a></li>' for word in menu)
    body = f"<h1>{values[0]}</h1><p>No. {values[1]}</p><p>{topic}.</p>"
    return f"<html><body><ul>{items}</ul><div>{body}</div><p>{' '.join(footer)}</p></body></html>"


def _write_values(directory: Path, vertical: str, site: str, values: list[list[str]]) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for at, attribute in enumerate(ATTRIBUTES):
        lines = [f"{vertical}\t{site}\t{attribute}", f"{len(values)}\t{len(values)}\t{len(values)}\t{len(values)}"]
        lines += [f"{number:04}\t1\t{found[at]}" for number, found in enumerate(values)]
        (directory / f"{vertical}-{site}-{attribute}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _invented(chance: random.Random, count: int) -> list[str]:
    return ["".join(chance.choices(_LETTERS, k=7)) for _ in range(count)]


if __name__ == "__main__":
    build(Path(sys.argv[1]))
