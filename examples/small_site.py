"""Make a small site: a made-up newspaper with the texts of the sample pages in one template.

    python examples/small_site.py DIR
    victor sst show DIR -o tree.html
    victor clean --site DIR -o clean/

Menu, masthead and footer are the same on all pages. The section, the list of most read articles, the teasers and the
links for sharing differ from page to page.
"""

from __future__ import annotations

import html
import random
import sys
from collections.abc import Iterable
from pathlib import Path

DATA = Path(__file__).parents[1] / "data"
NAME = "The Fenwick Observer"
SECTIONS = ("News", "Sport", "Money", "Culture", "Letters", "Weather")
SHARE = ("Facebook", "Reddit", "Email")

PAGE = """<!DOCTYPE html>
<html lang="{language}"><head><meta charset="utf-8"><title>{title} - {name}</title>
<link rel="canonical" href="{address}"></head>
<body class="article section-{section} post-{number}">
<header class="masthead"><a href="/">{name}</a><p class="motto">All that is fit to tell since 1911</p></header>
<nav class="menu"><ul>{menu}</ul></nav>
<div class="content section-{section}">
<article class="story"><h1>{title}</h1><p class="byline">By our {section} desk, {day} March</p>
<ul class="share">{share}</ul>
{paragraphs}
</article>
<aside class="rail"><h2>Most read</h2><ol>{most_read}</ol>
<h2>Newsletter</h2><p>Get the morning's news in your inbox, six days a week.</p>
<div class="teaser"><h3>{teaser}</h3><p>{teaser_text}</p></div></aside>
</div>
<footer><ul class="links"><li>About us</li><li>Advertise</li><li>Privacy</li></ul>
<p>© {name}. No part of this page may be printed without our leave.</p></footer>
</body></html>
"""


def read_texts() -> list[tuple[str, list[str]]]:
    """Return the titles and paragraphs of the sample pages."""
    texts = []
    for path in sorted(DATA.glob("*/*.txt")):
        title, *paragraphs = [line for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]
        texts.append((title, paragraphs))
    return texts


def build(directory: Path) -> Path:
    """Write a page for every text."""
    directory.mkdir(parents=True, exist_ok=True)
    texts = read_texts()
    for number in range(len(texts)):
        (directory / f"{number:03}.html").write_text(make_page(texts, number), encoding="utf-8")
    return directory


def make_page(texts: list[tuple[str, list[str]]], number: int) -> str:
    """Return a page with one of the texts. The number of the page is the random seed for everything else."""
    chance = random.Random(number)
    title, paragraphs = texts[number]
    section = chance.choice(SECTIONS)
    address = f"https://fenwick-observer.example/{section.lower()}/{number}"
    teaser, teaser_paragraphs = chance.choice(texts)
    return PAGE.format(
        language="en",
        name=NAME,
        number=number,
        address=address,
        section=section.lower(),
        title=html.escape(title),
        day=chance.randint(1, 31),
        menu=_items(f'<a href="/{each.lower()}">{each}</a>' for each in SECTIONS),
        share=_items(f'<a href="https://share.example/{each.lower()}?url={address}">{each}</a>' for each in SHARE),
        paragraphs="\n".join(f"<p>{html.escape(paragraph)}</p>" for paragraph in paragraphs),
        most_read=_items(f'<a href="/read/{at}">{html.escape(texts[at][0])}</a>' for at in _most_read(chance, texts)),
        teaser=html.escape(teaser),
        teaser_text=html.escape((teaser_paragraphs or [""])[0][:120]),
    )


def _most_read(chance: random.Random, texts: list[tuple[str, list[str]]]) -> list[int]:
    """Return five of the ten most read articles."""
    return sorted(chance.sample(range(min(10, len(texts))), 5))


def _items(entries: Iterable[str]) -> str:
    return "".join(f"<li>{entry}</li>" for entry in entries)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python examples/small_site.py DIR")
    build(Path(sys.argv[1]))
