"""Random pages with metadata: titles, names and dates in all the places where sites put them, and in wrong ones."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any, TypeVar

T = TypeVar("T")

SITES = ["Daily Leaf", "The Daily Leaf", "Leaf", "Teapots Online", "Big Tea Club", "Tea and Cup of Kent", "本の森"]
HOSTS = ["dailyleaf.example", "leaf.example", "www.teapots-online.example", "btc.example", "theleaf.co.uk", "tea.com"]
TITLES = [
    *(
        "Green tea",
        "How to pour green tea",
        "Tea",
        "お茶の淹れ方",
        "Which kettle?",
        "7 best kettles of 2024",
        "Tea: a walk",
    ),
    *(
        "Untitled Document",
        "Home",
        "index.html",
        "Page 2",
        "Tea - made - well",
        "Green tea in spring and in autumn",
        "News",
    ),
]
SEPARATORS = [" - ", " | ", ": ", " » ", " – ", ", ", " :: ", "|", " / ", ":", " — ", " ~ ", "-"]
PEOPLE = [
    *("Ann Lee", "Jan de Vries", "Zoë Müller", "Jane Q. Doe", "O'Brien, Ann", "tea_lover42", "admin", "J. R. Lee, PhD"),
    *(
        "Center for Tea and Leaves",
        "ANN LEE",
        "Otto",
        "van den Berg",
        "Ann Lee (Kent)",
        "李 明",
        "Staff Writer",
        "Leaf",
    ),
    *("Ann Lee and Otto Normal", "Ann Lee, Otto Normal & Jan Vries", "Ann Lee | Editor", "Ann Lee for Leaf", "ann lee"),
    *(
        "Ann 7",
        "@annlee",
        "ann@leaf.example",
        "https://leaf.example/ann",
        "Ann Bo Cy Di Ed Fay Gil",
        "Daily Leaf",
        "A B",
    ),
]
BYS = [
    "By ",
    "by ",
    "Written by ",
    "Von ",
    "Par ",
    "By: ",
    "Author: ",
    "Photo by ",
    "Reviewed by ",
    "",
    "Posted by ",
    "文：",
]
DATES = [
    *("2024-05-17", "2024-05-17T22:00:00Z", "20240517", "17.5.2024", "5/17/2024", "17/5/2024", "4/5/2021", "4.5.2021"),
    *(
        "May 17, 2024",
        "17 May 2024",
        "17 mai 2024",
        "17. März 2021",
        "3 de enero de 2020",
        "2024年5月17日",
        "1989-12-31",
    ),
    *(
        "1990-01-01",
        "2999-01-01",
        "31 February 2020",
        "Marketing 5, 2020",
        "17th of May 2020",
        "May 2024",
        "soon",
        "2024",
    ),
    *("5 сентября 2019", "12 eylül 2018", "Sept. 3, 2017", "2020/12/31", "1 2 2020"),
]
BEFORE_DATES = ["", "", "Published ", "Updated: ", "Born: ", "Joined ", "Last edited ", "© ", "died ", "On "]
AROUND = [
    *("<div>{}</div>", "<p>{}</p>", "<div class=comments>{}</div>", "<aside>{}</aside>", "<div class=related>{}</div>"),
    *(
        "<footer>{}</footer>",
        "<div id=comment-list><div>{}</div></div>",
        "<article>{}</article>",
        "<section>{}</section>",
    ),
    *("<div class=sidebar><p>{}</p></div>", "<nav>{}</nav>", "<div class=commentary>{}</div>", "<ul><li>{}</li></ul>"),
]
MARKED = [
    *(
        "<span class=author>{}</span>",
        "<a rel=author href=/a>{}</a>",
        "<p class=byline>{}</p>",
        "<b class=username>{}</b>",
    ),
    *(
        "<i itemprop=author>{}</i>",
        "<span class='post-meta'>{}</span>",
        "<span data-testid=writer>{}</span>",
        "<b>{}</b>",
    ),
    *("<a href=/authors/x>{}</a>", "<a href=/people/x/ ><i>{}</i></a>", "<a href=/tea>{}</a>", "<button>{}</button>"),
    *("<p class=dateline>{}</p>", "<time>{}</time>", "<time datetime=2021-03-04>{}</time>", "<p class=bday>{}</p>"),
]
LANGUAGES = [
    "en",
    "de",
    "fr-CA",
    "en_us",
    "zh-hans-cn",
    "und",
    "html",
    "x",
    "",
    " pt-br ",
    "english",
    "EN-GB",
    "ja",
    "es-419",
]
ADDRESSES = [
    "/a.jpg",
    "https://leaf.example/tea",
    "a.png",
    "//x.example/b",
    "http://[x",
    "",
    "javascript:x()",
    "http://q.example",
]
TYPES = [
    *("Article", "NewsArticle", "BlogPosting", "WebSite", "Person", "Organization", "Question", "Recipe", "Product"),
    *(
        "DiscussionForumPosting",
        "ItemList",
        "FAQPage",
        "CollectionPage",
        "https://schema.org/Article",
        "WebPage",
        "Book",
    ),
]
META_NAMES = {
    "titles": "og:title twitter:title citation_title dc.title dcterms.title parsely-title sailthru.title title".split(),
    "sites": "og:site_name application-name apple-mobile-web-app-title al:android:app_name og:site_name".split(),
    "names": "author article:author dc.creator parsely-author byl twitter:data1 twitter:data2 citation_author".split(),
    "dates": "article:published_time datepublished dc.date date pubdate parsely-pub-date created publish-date".split(),
    "texts": "og:description description twitter:description dc.description dcterms.abstract keywords".split(),
    "languages": "content-language og:locale dc.language dcterms.language language".split(),
    "addresses": "og:image og:image:url og:image:secure_url twitter:image twitter:image:src thumbnail og:url".split(),
    "kinds": ["og:type"],
    "labels": ["twitter:label1", "twitter:label2"],
    "keywords": "keywords news_keywords article:tag parsely-tags sailthru.tags dc.subject citation_keywords".split(),
}


class RandomFacts:
    """Makes one page with metadata; equal seeds make equal pages."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._site, self._title, self._host = map(self._pick, (SITES, TITLES, HOSTS))

    def page(self) -> tuple[str, str]:
        """Return the HTML of a page and its address."""
        lines = [self._line() for _ in range(self._chance.randrange(7))]
        place = self._chance.randrange(len(lines) + 1)
        headings = [*self._headings(), self._pick(["", "", f"<h1>{self._title}</h1>"])]
        body = "".join([*lines[:place], *headings, *lines[place:]])
        root = self._pick([f" lang='{self._pick(LANGUAGES)}'", "", f" xml:lang='{self._pick(LANGUAGES)}'"])
        head = f"<title>{self._full_title()}</title>" if self._chance.random() < 0.9 else ""
        head += "".join(self._meta() for _ in range(self._chance.randrange(6)))
        if self._chance.random() < 0.3:
            head += self._json_ld()
        if self._chance.random() < 0.2:
            body = self._microdata(body)
        attributes = self._pick(["", "", " class=comments", " class=related"])
        return f"<html{root}><head>{head}</head><body{attributes}>{body}<p>Tea is hot.</p>", self._address()

    def _pick(self, values: Sequence[T]) -> T:
        return values[self._chance.randrange(len(values))]

    def _address(self) -> str:
        day = f"{self._pick([2019, 1989, 2999])}/{self._pick(['05', '5', '13'])}/{self._pick(['17', '7', '32'])}"
        path = self._pick(["", "/", "/tea", "/tea", "/tea/", f"/{day}/tea", f"/{day.replace('/', '-')}"])
        return self._pick(["", f"https://{self._host}{path}", f"https://{self._host}{path}?page=2", "http://[x"])

    def _full_title(self) -> str:
        pieces = [
            self._title,
            *self._pick([[self._site], [self._site], [], [self._pick(TITLES), self._site], [self._pick(TITLES)]]),
        ]
        self._chance.shuffle(pieces)
        return self._pick(SEPARATORS).join(pieces) + self._pick(
            ["", "", "", " ...", " | Tea, cups, and a lot more of it"]
        )

    def _headings(self) -> list[str]:
        texts = [self._title, self._site, self._pick(TITLES), f"{self._title} today", "Feel the warmth of it", "News"]
        tags = ["h1", "h1", "h2", "h3", "b", "div"]
        return [f"<{(tag := self._pick(tags))}>{self._pick(texts)}</{tag}>" for _ in range(self._chance.randrange(4))]

    def _line(self) -> str:
        """Return a line with names or dates, in a place that may be about something else."""
        name, date = self._pick(BYS) + self._pick(PEOPLE), self._pick(BEFORE_DATES) + self._pick(DATES)
        mark, other_mark = self._pick(MARKED), self._pick(MARKED)
        long = "tea " * self._pick([0, 0, 0, 33, 40])
        line = self._pick([
            *(f"{mark.format(name)} {other_mark.format(date)}", mark.format(name)),
            mark.format(f"{name}, {date}{long}"),
            *(f"{self._pick(BYS)}<b>{self._pick(PEOPLE)}</b>", mark.format(date), f"{date}{long}", name, long + date),
        ])  # fmt: skip
        return self._pick([*AROUND, "<p>{}</p>", "<div>{}</div>"]).format(line)

    def _meta(self) -> str:
        kind = self._pick(list(META_NAMES))
        name = self._pick(META_NAMES[kind])
        values = {
            "titles": [self._title, self._full_title()],
            "sites": [
                self._site,
                "X",
                "x" * 61,
                "https://leaf.example",
                f"@{self._site}",
                f"{self._site} | Tea near you",
            ],
            "names": PEOPLE,
            "dates": DATES,
            "texts": ["All about tea", "", "Tea &amp; more"],
            "languages": LANGUAGES,
            "addresses": ADDRESSES,
            "kinds": ["article", "product", "website", "product.item"],
            "labels": ["Written by", "By", "Reading time"],
            "keywords": ["tea, pots; cups", "tea", ", ,", "茶、水"],
        }[kind]
        key = self._pick(["name", "property", "itemprop", "name", "http-equiv", "id"])
        return f'<meta {key}="{self._pick([name, name.upper()])}" content="{self._pick(values)}">'

    def _thing(self, depth: int = 2) -> dict[str, Any]:
        kind = self._pick(TYPES)
        person = {"@type": "Person", "name": self._pick(PEOPLE)}
        authors = [
            *(self._pick(PEOPLE), person, [person, self._pick(PEOPLE)], {"@id": "#1"}, 7, True, None),
            *({"url": "https://leaf.example/ann"}, {"legalName": "Leaf Ltd"}, {"name": [], "@value": "Ann Lee"}),
            {"givenName": "Ann", "familyName": "Lee"},
        ]  # fmt: skip
        thing: dict[str, Any] = {
            "@type": self._pick([kind, [kind, self._pick(TYPES)]]),
            "@id": self._pick(["#1", "#2"]),
            "name": self._pick([self._title, self._site]),
            "headline": self._pick(TITLES),
            self._pick(["author", "creator", "schema:author"]): self._pick(authors),
            self._pick(["datePublished", "dateCreated", "uploadDate", "dateModified"]): self._pick(DATES),
            "publisher": self._pick([self._site, {"name": self._site}]),
            "description": "From the data",
            "image": self._pick([*ADDRESSES, {"contentUrl": "https://leaf.example/b.jpg"}]),
            "keywords": self._pick(["tea, hot", ["tea", "cup"]]),
            "inLanguage": self._pick(LANGUAGES),
        }  # fmt: skip
        for name in [name for name in thing if self._chance.random() < 0.4]:
            del thing[name]
        if depth and self._chance.random() < 0.5:
            inner = self._thing(depth - 1)
            thing[self._pick(["@graph", "mainEntity", "mainEntityOfPage", "blogPost", "about"])] = self._pick(
                [inner, [inner, inner]]
            )
        return thing

    def _json_ld(self) -> str:
        text = json.dumps(self._pick([self._thing(), [self._thing(), self._thing()]]), ensure_ascii=False)
        text = self._pick([text, text, text + ";", f"<!-- {text} -->", text[:-1] + ",}", text[1:], f"/* a */ {text}"])
        return f'<script type="{self._pick(["application/ld+json"] * 4 + ["text/json"])}">{text}</script>'

    def _microdata(self, body: str) -> str:
        properties = [
            *(
                f"<span itemprop=author>{self._pick(PEOPLE)}</span>",
                f"<meta itemprop=datePublished content={self._pick(DATES)}>",
            ),
            *(
                f"<b itemprop='headline name'>{self._title}</b>",
                "<img itemprop=image src=/a.jpg>",
                "<a itemprop=url href=/b>b</a>",
            ),
            f"<b itemprop=author itemscope itemtype=/Person><i itemprop=name>{self._pick(PEOPLE)}</i></b>",
            *("<data itemprop=keywords value=tea>x</data>", "<object itemprop=image data=/o.jpg></object>"),
            f"<time itemprop=dateModified datetime={self._pick(DATES)}>then</time>",
        ]
        inside = "".join(self._chance.sample(properties, self._chance.randint(1, 5)))
        return f"<div itemscope itemtype='http://schema.org/{self._pick(TYPES)}'>{inside}{body}</div>"
