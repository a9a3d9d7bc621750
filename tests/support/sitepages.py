"""Made-up sites for tests: pages in two templates, with unique content inside repeated text."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Self

from victorpy.cleaner import read_document
from victorpy.config import Config, load_config
from victorpy.document import Document, Label, Labelling
from victorpy.labellers.base import Labels, SiteLabeller, label_kept

BLOCKS = load_config("blocks")

WORDS = [
    first + last
    for first in ("tea", "bread", "moss", "river", "lamp", "cedar", "salt", "wool", "glass", "honey", "stone", "rain")
    for last in ("house", "maker", "light", "road", "garden", "keeper", "song", "field", "market", "wharf")
]
"""Words for articles: more than one page needs."""

MENU = ("Home", "News", "Sport", "Weather", "Letters")
MENU_HTML = "".join(f'<li><a href="/{name.lower()}">{name}</a></li>' for name in MENU)
SIDEBAR = "Subscribe to our weekly newsletter"
FOOTER = "Copyright Harrow Lane Courier, all rights reserved"

NEWS = """<!DOCTYPE html><html><head><title>{title}</title></head><body class="page page-{number}">
<div id="header"><a href="/">The Harrow Lane Courier</a></div>
<ul class="menu">{menu}</ul>
<div id="main"><h1>{title}</h1>{paragraphs}</div>
<div class="sidebar"><h2>Newsletter</h2><p>{sidebar}</p></div>
<div class="footer"><p>{footer}</p></div>
</body></html>"""

SHOP = """<html><head><title>{title}</title></head><body>
<table width="100%" bgcolor="#eee"><tr><td>The Harrow Lane Courier</td><td>Basket</td></tr></table>
<table width="600"><tr><td width="120"><ul>{menu}</ul></td><td><h1>{title}</h1>{paragraphs}</td></tr></table>
<table width="100%"><tr><td>{sidebar}</td></tr><tr><td>{footer}</td></tr></table>
</body></html>"""

TEMPLATES = {"news": NEWS, "shop": SHOP}


def site_page(number: int, template: str = "news") -> str:
    """A page whose content depends on its number."""
    chance = random.Random(number)
    title = " ".join(chance.sample(WORDS, 4)).capitalize()
    sentences = [" ".join(chance.sample(WORDS, 8)).capitalize() + "." for _ in range(chance.randint(2, 5))]
    paragraphs = "".join(f"<p>{sentence}</p>" for sentence in sentences)
    return TEMPLATES[template].format(
        number=number, title=title, menu=MENU_HTML, paragraphs=paragraphs, sidebar=SIDEBAR, footer=FOOTER
    )


def document(html: str, config: Config = BLOCKS) -> Document:
    return read_document(html, config)


def site(count: int, template: str = "news", first: int = 0) -> list[Document]:
    """Make `count` pages of a site, starting with the number `first`."""
    return [document(site_page(number, template)) for number in range(first, first + count)]


def own_words(page: Document) -> list[bool]:
    """Whether each block is content of the page, not of the template."""
    return [block.text.split()[0].lower().rstrip(".") in WORDS for block in page.blocks]


def own_labels(page: Document) -> list[str]:
    return [Label.PARAGRAPH if own else Label.OTHER for own in own_words(page)]


def kept(labels: list[str] | tuple[Label, ...]) -> list[bool]:
    return [Label(label).is_content for label in labels]


def write_site(directory: Path, count: int, template: str = "news", first: int = 0) -> Path:
    """Write the pages of a site into a directory."""
    directory.mkdir(parents=True, exist_ok=True)
    for number in range(first, first + count):
        (directory / f"page{number}.html").write_text(site_page(number, template), encoding="utf-8")
    return directory


SEEN: list[DropRepeated] = []  # all DropRepeated labellers that have learned a site


class DropRepeated(SiteLabeller):
    """Drops the blocks whose text is on more than a share of the site's pages."""

    def __init__(self, share: float = 0.5) -> None:
        self.share = share

    def fit(self, documents: Iterable[Document], labels: Labels = None) -> Self:
        texts = [{block.text for block in document.blocks} for document in documents]
        counts = Counter(text for page in texts for text in page)
        self.repeated_ = {text for text, count in counts.items() if count > self.share * len(texts)}
        self.pages_, self.labels_ = len(texts), labels
        if len(texts) > 1:  # one page is what methods are warmed up with
            SEEN.append(self)
        return self

    def label(self, document: Document) -> Labelling:
        return label_kept(document, [block.text not in self.repeated_ for block in document.blocks])
