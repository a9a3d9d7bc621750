"""Random pages for snapshots: parts of articles, threads and lists whose sizes lie around the limits of rules."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from victorpy import Block, Document, Label

T = TypeVar("T")

WORDS = (
    "tea leaf cup water hot green black milk sugar morning garden mountain river old new many people drink make pour "
    "wait serve taste share cook reply print photo John Mary 1850 12 l'eau qu'on Zürich half-cup e.g. 茶 No."
).split()
LENGTHS = [*range(1, 13), 14, 15, 16, 19, 20, 21, 25, 29, 30, 31, 39, 40, 41, 59, 60, 61, 69, 70, 71, 80, 81, 120]
NAMES = (
    "byline author meta date caption credit note footnotes references comment comments reply-form related teaser tags "
    "nav menu share legal copyright infobox price post message topic question answer subtitle summary content ad hidden"
).split()
VOCABULARY = (Path(__file__).parents[1] / "cases" / "vocabulary.txt").read_text(encoding="utf-8").split()
"""Names, tags and words that rules may look for."""

PEOPLE = "Ann Lee O'Brien van Berg Šárka J. R. de Müller Smith PhD Dr. Tea Staff".split()

VOCABULARIES = [WORDS] * 5 + [VOCABULARY]


def batch(number: int, size: int = 8) -> dict[str, str]:
    """Return some random pages by name; another number gives others."""
    return {f"page {seed}": RandomPage(seed).html() for seed in range(size * number, size * (number + 1))}


def site(number: int, size: int = 7) -> list[str]:
    """Return pages of a site: some parts are only on one page, others on several."""
    maker, chance = RandomPage(number), random.Random(number)
    pool = [maker.part() for _ in range(8)]
    pages = []
    for _ in range(size):
        repeated = "".join(part for part in pool if chance.random() < 0.6)
        own = "".join(maker.part() for _ in range(chance.randrange(5)))
        pages.append(f"<body>{pool[0]}<div id=main>{own}</div><div class=side>{repeated}</div></body>")
    return pages


ASIDE = {"nav", "footer", "aside", "form", "button"}


def label_of(block: Block) -> Label:
    """Return a label that depends only on the tags around a block."""
    tags = set(block.containers)
    if tags & ASIDE:
        return Label.OTHER
    if tags & {"h1", "h2", "h3", "h4", "h5", "h6"}:
        return Label.HEADER
    return Label.LIST if "li" in tags else Label.PARAGRAPH


def some_kept(document: Document, name: str, chance_to_change: float = 0.3) -> tuple[Label, ...]:
    """Return labels that depend on tags and chance: stretches of blocks are kept or dropped."""
    chance, labels, is_kept = random.Random(name), list[Label](), True
    for block in document.blocks:
        is_kept ^= chance.random() < chance_to_change
        labels.append(label_of(block) if is_kept else Label.OTHER)
    return tuple(labels)


class RandomPage:
    """Makes one page; equal seeds make equal pages."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._notes = 0
        self._title = self._text(self._chance.randint(1, 9)).capitalize()
        self._site = self._text(self._chance.randint(1, 4)).title()

    def html(self) -> str:
        pieces = [self._title, *self._pick([[self._site], [], [self._text(self._some(6)), self._site]])]
        title = self._pick([" - ", " | ", ": ", " » ", " – ", ", "]).join(self._pick([pieces, pieces[::-1]]))
        head = f"<title>{title}</title>"
        texts = (self._pick([self._title, self._site, self._name(), self._text(self._some(6))]) for _ in HEAD)
        head += "".join(self._pick(["", tag.format(text, self._date())]) for tag, text in zip(HEAD, texts, strict=True))
        body = "".join(self._parts(self._some(12) + 2))
        notes = "".join(self._note(number) for number in range(self._notes + self._pick([0, 0, 1])))
        menu = "".join(f"<li>{self._link(self._some(3))}" for _ in range(self._some(9)))
        return (
            f"<html lang={self._pick(['en', 'de', 'fr-CA'])}><head>{head}</head><body><ul class=menu>{menu}</ul>"
            f"<{self._pick(['div', 'main', 'article'])}>{body}<ol class=footnotes>{notes}</ol></div>"
            f"<footer><p>© 2024 {self._pick([self._site, self._text(self._some(9))])}</footer></body></html>"
        )

    def part(self) -> str:
        return self._parts(1)[0]

    def _parts(self, count: int) -> list[str]:
        kinds: list[Callable[[], str]] = [
            *(self._paragraph, self._paragraph, self._paragraph, self._heading, self._byline, self._list, self._table),
            *(self._figure, self._comments, self._listing, self._quotation, self._terms, self._box, self._details),
        ]
        return [self._pick(kinds)() for _ in range(count)]

    def _pick(self, values: Sequence[T]) -> T:
        return values[self._chance.randrange(len(values))]

    def _some(self, most: int) -> int:
        """Return a number from 1, small ones more often."""
        return min(self._chance.randint(1, most), self._chance.randint(1, most))

    def _text(self, count: int) -> str:
        return " ".join(self._pick(self._pick(VOCABULARIES)) for _ in range(count))

    def _link(self, count: int) -> str:
        address = self._pick(
            ["/tea", "#", "#note1", "https://tea.example/a b", "javascript:x()", "?page=2", "//x.example"]
        )
        return f'<a href="{address}">{self._text(count)}</a>'

    def _inside(self) -> str:
        """Return text with links, styles and marks of notes."""
        count = self._pick(LENGTHS)
        linked = self._pick([0, 0, 0, 1, count // 2, count])
        pieces = [self._text(count - linked)] if linked < count else []
        if linked:
            pieces.insert(self._pick([0, len(pieces)]), self._link(linked))
        if self._pick([0, 0, 1]):
            tag = self._pick(["b", "i", "code", "sup", "q", "mark", "span", "em", self._pick(VOCABULARY)])
            pieces.append(f"<{tag}>{self._text(self._some(4))}</{tag}>")
        if self._pick([0, 0, 0, 0, 1]):
            self._notes += 1
            pieces.append(f'<sup id=ref{self._notes}><a href="#note{self._notes}">[{self._notes}]</a></sup>')
        return " ".join(pieces) + self._pick([".", ".", "", ":", "?"])

    def _named(self) -> str:
        known = self._pick(VOCABULARY)
        named = [f" class={self._pick(NAMES)}", f' id="{self._pick(NAMES)}-{self._some(3)}"', f" class={known}"]
        return self._pick(
            ["", "", *named, f" {known}={self._pick(VOCABULARY)}", f' class="{known}-{self._pick(NAMES)}"']
        )

    def _paragraph(self) -> str:
        return f"<p{self._named()}>{self._inside()}{self._pick(['', '', '<br>' + self._text(5), '<br><br>x'])}</p>"

    def _heading(self) -> str:
        text = self._pick(
            [self._title, self._site, self._text(self._some(8)), "See also", f"{self._some(4)} comments", "Notes"]
        )
        mark = self._pick(["", "", '<a class=headerlink href="#x">¶</a>'])
        return f"<h{(level := self._some(6))}{self._named()}>{text}{mark}</h{level}>"

    def _name(self) -> str:
        first, second = (" ".join(self._pick(PEOPLE) for _ in range(self._pick([1, 2, 2, 3, 5]))) for _ in range(2))
        forms = [
            "{0}",
            "By {0}",
            "by {0} and {1}",
            "{0}, {1}",
            "{0} for {1}",
            "Von {0} | {1}",
            "{0} (editor)",
            "@{0}",
            "{0} 7",
        ]
        return self._pick(forms).format(first, second)

    def _date(self) -> str:
        day, month = (self._pick([1, 2, 5, 12, 13, 30, 31, 32]) for _ in range(2))
        year = self._pick([1, 5, 12, 19, 24, 99])
        name = self._pick("May mai Sept. März enero Dec December juin 5月 Tea".split())
        forms = [
            *(
                f"20{year:02}-{month:02}-{day:02}",
                f"{day}.{month}.2024",
                f"{month}/{day}/20{year:02}",
                f"{name} {day}, 2024",
            ),
            *(
                f"{day} {name} 20{year:02}",
                f"2024年{month}月{day}日",
                f"{day}/{month}/{year:02}",
                "1949-12-31",
                "1-2-3",
                "2024",
            ),
            *(f"2024-05-{day:02}T{month:02}:00:00Z", f"Updated {day} {name} 2024, 18:{month:02}", "vor langer Zeit"),
        ]
        return self._pick(forms)

    def _byline(self) -> str:
        who = self._pick([self._name(), self._name(), "Posted by admin", self._text(self._some(21))])
        when = self._pick(["<time>{}</time>", "<time datetime={}>then</time>", "{}", "<span class=date>{}</span>"])
        return f"<div class={self._pick(['byline', 'meta', 'date', 'author'])}>{who} {when.format(self._date())}</div>"

    def _list(self) -> str:
        tag = self._pick(["ul", "ol", "ol start=0", "ol start=999999999", "ol start=1000000000", "ol reversed"])
        items = [f"<li{self._named()}>{self._inside()}" for _ in range(self._some(8))]
        if self._pick([0, 0, 1]):
            items.append(f"<ul><li>{self._text(2)}<li><p>{self._text(3)}<p>{self._text(4)}</ul>")
        return f"<{tag}>{'</li>'.join(items)}</{tag.split()[0]}>"

    def _table(self) -> str:
        columns, cell = self._some(5), self._pick(["td", "td", "th"])
        lengths = self._pick([[1, 2, 3], [7, 8, 9], LENGTHS])
        rows = [[f"<{cell}>{self._text(self._pick(lengths))}" for _ in range(columns)]]
        rows += [
            [
                f"<td{self._pick(['', '', '', ' colspan=2', ' rowspan=3'])}>{self._text(self._pick(lengths))}"
                for _ in row
            ]
            for row in rows * self._some(7)
        ]
        caption = self._pick(["", f"<caption>{self._inside()}</caption>"])
        return f"<table{self._named()}>{caption}{''.join('<tr>' + ''.join(row) for row in rows)}</table>"

    def _figure(self) -> str:
        side = self._pick([0, 1, 9, 10, 11, 47, 48, 49, 300])
        name = "x" * self._pick([1, 4, 5, 6, 30])
        alt = self._pick(["", f"{name}.jpg", self._text(self._some(8)), self._text(1)])
        image = f'<img src="/{name}.jpg" width={side} height={self._pick([side, 10, 48, 200])} alt="{alt}">'
        caption = f"<figcaption{self._named()}>{self._inside()}</figcaption>"
        return self._pick(
            [f"<figure>{image}{caption}</figure>", image, f"<p>{image} {self._text(12)}", f"<a href=/b>{image}</a>"]
        )

    def _comments(self) -> str:
        comments = "".join(
            f"<div class=comment><span class=comment-author>{self._text(2)}</span> <time>{self._date()}</time>"
            f"<p>{self._inside()}</p><a href=#>Reply</a></div>"
            for _ in range(self._some(6))
        )
        return f"<section class={self._pick(['comments', 'posts', 'thread'])}>{comments}</section>"

    def _listing(self) -> str:
        lines = [f"{'  ' * self._some(3)}x = {self._text(self._some(4))}" for _ in range(self._some(5))]
        return self._pick(["<pre>{}</pre>", "<pre><code class=language-python>{}</code></pre>"]).format(
            "\n".join(lines)
        )

    def _quotation(self) -> str:
        cite = self._pick(["", f"<cite>{self._text(2)}</cite>"])
        return f"<blockquote{self._named()}>{self._paragraph()}{cite}</blockquote>"

    def _terms(self) -> str:
        pairs = [f"<dt>{self._text(self._some(9))}<dd>{self._inside()}" for _ in range(self._some(7))]
        return f"<dl>{''.join(pairs)}</dl>"

    def _box(self) -> str:
        fields = f"<input value=a> <label>{self._text(3)}</label><button>{self._text(2)}</button>"
        inside = self._pick([fields, "".join(self._link(3) + "<br>" for _ in range(self._some(5))), self._inside()])
        return f"<{(tag := self._pick(['div', 'aside', 'form', 'section', 'nav']))}{self._named()}>{inside}</{tag}>"

    def _details(self) -> str:
        return f"<details{self._pick(['', ' open'])}><summary>{self._text(3)}</summary>{self._paragraph()}</details>"

    def _note(self, number: int) -> str:
        back = self._pick(["", f'<a href="#ref{number + 1}">↩</a>', '<a class=backlink href="#x">back</a>'])
        return f"<li id=note{number + 1}>{self._text(self._some(40))} {back}</li>"


HEAD = [
    '<meta name=author content="{0}">',
    '<meta property="article:published_time" content="{1}">',
    '<meta property="og:title" content="{0}">',
    '<meta property="og:site_name" content="{0}">',
    '<meta name=description content="{0}">',
    '<script type="application/ld+json">{{"@type": "Article", "author": "{0}", "datePublished": "{1}"}}</script>',
]
