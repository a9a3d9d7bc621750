"""Random pages made of what the rules after the cut look for, in sizes around their limits."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

WORDS = "tea leaf cup water hot green black milk sugar morning garden mountain river old new people drink pour".split()
COUNTS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 18, 19, 20, 21, 30]
LINES = [
    *("Close", "Advertisement:", "Read more »", "Contents", "In this article:", "Red (12)", "Blue (1,200)", "Sizes(3)"),
    *("12 (3)", "Share", "▢", "Skip to content", "Back to top", "Copied!", "Copy code", "More about tea:", "$$a_1$$"),
    *(
        "(1)",
        "(1.2)",
        "Teas of Asia:",
        "Hot teas:",
        "Joined: May 2004",
        "Posts: 1,234",
        "Location: Kent",
        "Senior Member",
    ),
    *(
        "Re: Green tea",
        "Last edited by Ann",
        "#12",
        "#5",
        "May 17, 2024",
        "12:30",
        "CODE: SELECT ALL",
        "Offline",
        "Price: £5",
    ),
]
NAMES = [
    *(
        "alert alert-info",
        "admonition",
        "note-box",
        "cookie-banner",
        "consent",
        "share-tools",
        "slick-cloned",
        "d-md-none",
    ),
    *("hidden-xs", "comments", "post", "kg-toggle-card", "callout", "related", "price share-price", "warning", "field"),
]
ADDRESSES = ["/a", "//x/intent/tweet?u=1", "mailto:?body=a", "mailto:a@b.c", "https://wa.me/1", "#top", "/sharer.php?u"]
BOXES = "div section article aside form main nav details figure blockquote li button label td footer header".split()
LEVELS = ["h1", "h2", "h2", "h3", "h3", "h4", "h6"]


class RulePage:
    """Makes one page; equal seeds make equal pages."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._title = self._text(self._chance.randint(1, 4))
        self._copies = [self._text(count) for count in (4, 5, 20, 24)]

    def html(self) -> str:
        title = self._pick([self._title, f"{self._title} - tea", self._text(2)])
        body = "".join(self._part(2) for _ in range(self._chance.randint(1, 12)))
        tag = self._pick(["div", "main", "article", "div"])
        return f"<title>{title}</title><body><{tag}>{body}</{tag}>{self._pick(['', '<p>menu' * 4])}"

    def _pick(self, values: Sequence[T]) -> T:
        return values[self._chance.randrange(len(values))]

    def _text(self, count: int) -> str:
        return " ".join(self._pick(WORDS) for _ in range(count))

    def _some(self) -> str:
        """Return a text that may repeat another one, or be mostly a link."""
        count = self._pick(COUNTS)
        text = self._pick(
            [self._text(count), self._text(count), self._pick(self._copies), self._pick(LINES), self._title]
        )
        linked = f"<a href='{self._pick(ADDRESSES)}'>{text}</a>"
        return self._pick([text, text, text, linked, f"{linked} {self._text(self._pick([1, 2, 9]))}"])

    def _part(self, depth: int) -> str:
        kinds = [self._paragraph, self._paragraph, self._heading, self._line, self._list, self._table, self._facts]
        kinds += [self._thread, self._terms, self._listing, self._field, self._filters]
        if depth and self._chance.random() < 0.4:
            inner = "".join(self._part(depth - 1) for _ in range(self._chance.randint(1, 4)))
            tag, name = (
                self._pick(BOXES),
                self._pick(["", "", f" class='{self._pick(NAMES)}'", " role=dialog", " hidden"]),
            )
            return f"<{tag}{name}>{inner}</{tag}>"
        return self._pick(kinds)()

    def _paragraph(self) -> str:
        name = self._pick(["", "", "", " hidden", f" class='{self._pick(NAMES)}'"])
        text = self._pick(["{}", "{}", "{} We use cookies with your consent for our partners."]).format(self._some())
        return f"<p{name}>{text}</p>"

    def _heading(self) -> str:
        tag = self._pick(LEVELS)
        return f"<{tag}>{self._pick([self._title, self._some(), self._text(2)])}</{tag}>"

    def _line(self) -> str:
        tag = self._pick(["p", "div", "button", "span"])
        return f"<{tag}>{self._pick(LINES)}</{tag}>"

    def _list(self) -> str:
        introduced = self._pick(["", f"<p>{self._text(self._pick([2, 3, 4]))}:</p>", "<p>More on these teas:</p>"])
        return f"{introduced}<ul>{''.join(f'<li>{self._some()}' for _ in range(self._pick(COUNTS[:8])))}</ul>"

    def _table(self) -> str:
        rows, columns = self._pick([1, 2, 3, 4]), self._pick([1, 2, 3])
        cell = self._pick(["<td>{}", "<th>{}"])
        head = self._pick(["", "", "<caption>Teas</caption>"])
        text = "".join("<tr>" + "".join(cell.format(self._some()) for _ in range(columns)) for _ in range(rows))
        long = f"<tr><td>{self._text(self._pick([39, 40, 41, 79, 80, 81]))}" * self._pick([0, 0, 1])
        return self._pick(["<table>{}</table>", "<figure><table>{}</table></figure>"]).format(head + text + long)

    def _facts(self) -> str:
        count = self._pick([4, 5, 6, 7])
        return "".join(f"<b>Field {number}</b>: {self._text(self._pick([1, 5, 6]))}<br>" for number in range(count))

    def _filters(self) -> str:
        return "".join(
            f"<p>{word.title()} ({self._pick([1, 12, 200])})</p>" for word in WORDS[: self._pick([2, 3, 4, 5])]
        )

    def _thread(self) -> str:
        """Return posts, some of them with the profiles of their authors."""
        name = self._pick(["post", "message", "comment", "answer", "entry"])
        between = self._pick(["<time>May 1</time>", "<p>May 17, 2024</p>", "<p>#{}</p>", ""])
        body = f"<div class=text>{{}} {self._text(9)}</div>"
        profile = self._pick(["", "<div>Joined: May 2004</div><div>Posts: 12</div><div>Offline</div>"])
        count = self._pick([1, 2, 3, 4])
        posts = (
            f"<div class={name}>{profile}{body.format(self._some())}</div>{between.format(number)}"
            for number in range(1, count + 1)
        )
        return "".join(posts)

    def _terms(self) -> str:
        pairs = "".join(
            f"<dt>{self._text(2)}<dd>{self._some()} {self._text(self._pick([1, 76, 77, 78]))}" for _ in range(2)
        )
        return f"<dl>{pairs}</dl>"

    def _listing(self) -> str:
        return "<pre>" + "\n".join(self._text(3) for _ in range(self._pick([1, 2, 3]))) + "</pre>"

    def _field(self) -> str:
        return self._pick(
            ["<textarea>{}</textarea>", "<label>{}</label>", "<details><summary>More</summary><p>{}</details>"]
        ).format(self._some())
