"""Random tables, notes, images, boxes and styles, in sizes around the limits of formats."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

WORDS = "tea leaf cup water hot green black milk sugar old new people pour <b>red</b> <i>wet</i> 5* a_b [x] #1".split()
SPANS = [
    "",
    "",
    "",
    "",
    " colspan=2",
    " rowspan=2",
    " rowspan=0",
    " colspan=0",
    " colspan=101",
    " rowspan=x",
    " colspan=03",
]
HEADS = ["", "", "<caption>Teas</caption>", "<thead>{}</thead>", "<colgroup><col><col></colgroup>"]
SOURCES = [
    "/a.png",
    "tea.jpg",
    "/tea-pot.png",
    "data:image/png;base64,AA==",
    "http://[x",
    "",
    "/icons/a.png",
    "javascript:x()",
]
SETS = [
    "",
    "",
    " srcset='/b.png 2x, /c.png 3x'",
    " data-src=/d.png",
    " data-srcset='/e.png 9w'",
    " srcset='/f.png 1.2.3x,'",
]
SIDES = ["", "", " width=47", " width=48", " width=48 height=10", " height=11 width=300", " width=10%", " width=48px"]
MARKS = ["{0}", "[{0}]", "*", "†", "note {0}", "abcde", "", "({0})"]
NOTE_NAMES = ["fn{0}", "note{0}", "cite_note-{0}", "x{0}", "ftn{0}", "sn-{0}"]
BOXES = [
    "admonition warning",
    "alert alert-info",
    "callout",
    "note",
    "notice--danger",
    "kg-callout-card",
    "alert",
    "plain",
]
STYLES = [
    "color: red",
    "background: url(a.png)",
    "width: expression(1)",
    "b\\65havior: x",
    "float: left; /* x */ top: 1px",
]
TAGS = ["div", "section", "form", "center", "font", "label", "fieldset", "main", "custom-tag", "details", "span", "u"]
ATTRIBUTES = [
    " id=a",
    " class=b",
    " align=left",
    " bgcolor=#eee",
    " onclick=x()",
    " title='a \"b\"'",
    " dir=rtl",
    " background=/bg.png",
]


class OutputPage:
    """Makes one page; equal seeds make equal pages."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._notes = list[str]()

    def html(self) -> str:
        makers = [
            self._table,
            self._table,
            self._figure,
            self._figure,
            self._noted,
            self._box,
            self._styled,
            self._lines,
        ]
        body = "".join(self._pick(makers)() for _ in range(self._chance.randint(2, 7)))
        holder = self._pick(["<ol>{}</ol>", "<div class=footnotes>{}</div>", "<aside>{}</aside>"])
        head = self._pick(
            ["<link rel=stylesheet href=/s.css media=screen>", "<style>p { color: red }</style>", "", "<base href=/b/>"]
        )
        kind = self._pick(
            ["<!DOCTYPE html>", "", '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://x/y.dtd">']
        )
        notes = holder.format("".join(self._notes))
        return f"{kind}<html lang=en><head>{head}</head><body class=c>{body}{notes}</body></html>"

    def _pick(self, values: Sequence[T]) -> T:
        return values[self._chance.randrange(len(values))]

    def _text(self, most: int = 9) -> str:
        return " ".join(self._pick(WORDS) for _ in range(self._chance.randint(1, most)))

    def _cell(self) -> str:
        kinds = [
            *(self._text(3), self._text(3), self._text(3), "", f"<p>{self._text()}<p>{self._text(3)}"),
            *(f"<b>{self._text(2)}</b>", f"<ul><li>{self._text(2)}<li>{self._text(2)}</ul>"),
            *(f"{self._text(2)}<br>{self._text(2)}", "x" * self._pick([120, 121, 400, 401]), "<h3>Tea</h3>"),
            "<img src=/t.png alt=pot>",
            *(f"<a href=/a>{self._text(2)}</a>", f"{self._text(2)}<sup><a href=#fn1>1</a></sup>"),
        ]  # fmt: skip
        return self._pick([*kinds, *kinds[:4]])

    def _table(self) -> str:
        width = self._chance.randint(1, 4)
        rows = []
        for number in range(self._chance.randint(1, 5)):
            tag = self._pick(["th", "td", "td"]) if not number else "td"
            count = width if self._chance.random() < 0.8 else self._chance.randint(0, 5)
            rows.append("<tr>" + "".join(f"<{tag}{self._pick(SPANS)}>{self._cell()}" for _ in range(count)) + "</tr>")
        head = self._pick(HEADS)
        top = head.format(rows.pop(0)) if "{}" in head else head
        inside = self._pick(
            [top + "".join(rows), f"{top}<tbody>{''.join(rows)}</tbody>", top + "".join(rows) + "between"]
        )
        role = self._pick(["", "", "", " role=presentation", " border=1"])
        return self._pick(
            ["{}", "{}", "<figure>{}<figcaption>A table</figcaption></figure>", "<div><p>See:</p>{}</div>"]
        ).format(f"<table{role}>{inside}</table>")

    def _image(self) -> str:
        alt = self._pick(["", f" alt='{self._pick(['pot', 'a pot of tea', 'tea icon', 'x.png'])}'"])
        name = self._pick(["", "", " class=avatar", " class='x-logo'", " title=T data-embed=video"])
        return f"<img src='{self._pick(SOURCES)}'{self._pick(SETS)}{self._pick(SIDES)}{alt}{name}>"

    def _figure(self) -> str:
        image = self._image()
        link = self._pick(
            ["{}", "<a href='/big/tea-pot.png'>{}</a>", "<a href='/tea'>{}</a>", "<a href='/a.png'>{}</a>"]
        ).format(image)
        caption = self._pick(
            [f"<figcaption>{self._text()}</figcaption>", f"<p class=wp-caption-text>{self._text()}</p>", ""]
        )
        around = self._pick(
            [
                "<figure>{}</figure>",
                "<div><div>{}</div></div>",
                "<p>{}</p>",
                "<span>{}</span>",
                "<table><tr><td>{}</table>",
            ]
        )
        return (
            around.format(self._pick([link + caption, caption + link, link + self._image()]))
            + f"<p>{self._text(15)}</p>"
        )

    def _noted(self) -> str:
        number = len(self._notes) + 1
        name, mark = self._pick(NOTE_NAMES).format(number), self._pick(MARKS).format(number)
        address = self._pick(
            ["#{}", "#{}", "page.html#{}", "https://tea.example/pages/page.html#{}", "/other#{}"]
        ).format(name)
        back = self._pick(
            [
                f"<a href='#r{number}'>↩</a>",
                f"<p><a href='#r{number}' class=backlink>back</a></p>",
                "",
                f"<b>{number}</b>",
            ]
        )
        tag = self._pick(["li", "p", "div", "dd", "span", "li"])
        inside = self._pick(["{0} {1}", "{1} {0}", "<p>{0}<p>{0} {1}", "<div><i>{1}</i>{0}</div>"]).format(
            self._text(), back
        )
        self._notes.append(f"<{tag} id='{name}'>{inside}</{tag}>")
        link = f"<a href='{address}' id=r{number}{self._pick(['', ' class=footnote-ref'])}>{mark}</a>"
        inline = f"<span class=sidenote>{self._text(4)}</span>"
        raised = self._pick(["<sup>{}</sup>", "{}", " <sup>{}</sup>"]).format(self._pick([link, link, link, inline]))
        return f"<p>{self._text()}{raised}.</p>"

    def _box(self) -> str:
        title = self._pick(["", "<p class=admonition-title>Warning:</p>", "<p class=title>Tea</p>", "<h4>Note</h4>"])
        items = self._pick(["", "<ul><li>one<li>two</ul>"])
        return f"<div class='{self._pick(BOXES)}'>{title}<p>{self._text()}</p>{items}</div>"

    def _styled(self) -> str:
        tag, attributes = self._pick(TAGS), "".join(self._chance.sample(ATTRIBUTES, self._chance.randint(0, 3)))
        style = self._pick(["", "", f" style='{self._pick(STYLES)}'"])
        inner = self._pick(
            [self._text(), f"<p>{self._text()}</p><hr>", f"<a name=x href='{self._pick(SOURCES)}'>{self._text(3)}</a>"]
        )
        return f"<{tag}{attributes}{style}>{inner}</{tag}>"

    def _lines(self) -> str:
        start = self._pick(["ul", "ol", "ol start=3", "ol reversed", "ol type=a", "dl"])
        item = "<dt>{}<dd>{}" if start == "dl" else "<li>{} <i>{}</i>"
        items = "".join(item.format(self._text(3), self._text(4)) for _ in range(self._chance.randint(1, 4)))
        pre = self._pick(
            [
                "",
                "<pre>a\n  b `c`\n</pre>",
                "<pre class='brush: js'>x = 1</pre>",
                "<blockquote><p>q<cite>Ann</cite></blockquote>",
            ]
        )
        level = self._pick([1, 2, 3, 6])
        return f"<{start}>{items}</{start.split()[0]}>{pre}<h{level}>{self._text(3)}</h{level}>"
