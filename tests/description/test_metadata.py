"""Metadata of pages: a table of pages in cases/metadata.json, and damaged pages."""

import json
import time
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.cases import read_cases
from support.commands import run_process

from victorpy import Cleaner, Metadata
from victorpy.batch.outcome import PageCleaner
from victorpy.batch.plan import Plan
from victorpy.batch.record import Record
from victorpy.description.metadata import read_metadata
from victorpy.description.metadata.dates import find_date, read_date
from victorpy.description.metadata.page import Page, pieces_of, text_of
from victorpy.description.metadata.structured import DEEPEST, MOST_ITEMS, MOST_THINGS
from victorpy.description.metadata.title import Site, is_host
from victorpy.methods import load_method
from victorpy.outputs.base import OUTPUTS, Output
from victorpy.page.parse import MOST_TITLE, parse_whole

CASES = read_cases("metadata.json")
ANNO = Path(__file__).parents[2] / "data" / "article" / "article-de-wald.anno"

# Valid and broken markup with authors, dates and titles.
SOUP = [
    *("<title>", "</title>", "<h1>", "</h1>", "<time datetime=2024-13-45>", "<time datetime='2020-01-02'>", "</time>"),
    *("<meta name=author content='", "'>", "<meta property=og:title content=Tea>", "<a rel=author>", "</a>", "By "),
    *("<div itemscope itemtype=http://schema.org/Article>", "<b itemprop=author>", "</b>", "</div>", "Jane Doe"),
    *("<script type=application/ld+json>", '{"@type": "Article",', '"author": [', '"datePublished": "', "}", "]", '"'),
    *("</script>", "May 17, 2024", "31 February 2020", "99.99.2010", "1999", "|", " - ", "http://[x"),
    *("<base href='http://[x'>", "<link rel=canonical href='http://[x'>", "\x00", "茶", "'", "<html lang='"),
    *("2024年13月40日", " and ", ", "),
]


def metadata_of(page: str, url: str = "") -> Metadata:
    return read_metadata(parse_whole(page), url)


def is_sound(found: Metadata) -> bool:
    """Check that every field has a valid value and a source."""
    texts = [value for name in Metadata.__dataclass_fields__ if isinstance(value := getattr(found, name), str)]
    filled = {name for name in Metadata.__dataclass_fields__ if getattr(found, name)} - {"sources", "losses"}
    right_day = not found.date or date(1990, 1, 1) <= date.fromisoformat(found.date) <= date.today() + timedelta(days=1)
    return right_day and filled == set(found.sources) and all(text == text.strip() for text in texts)


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_metadata_of_the_table(case):
    metadata = metadata_of(case["page"], case.get("url", ""))
    expected = {name: tuple(value) if isinstance(value, list) else value for name, value in case["expect"].items()}
    assert {name: getattr(metadata, name) for name in expected} == expected
    assert case.get("sources", {}).items() <= metadata.sources.items()
    assert is_sound(metadata)


NAMES = {
    "description": "og:description description twitter:description dc.description dcterms.abstract",
    "language": "content-language og:locale dc.language dcterms.language language",
    "image": "og:image og:image:url og:image:secure_url twitter:image twitter:image:src thumbnail",
    "title": "og:title twitter:title citation_title dc.title dcterms.title parsely-title sailthru.title title",
    "site_name": "application-name apple-mobile-web-app-title al:android:app_name",
    "keywords": "keywords news_keywords article:tag parsely-tags sailthru.tags dc.subject citation_keywords",
}


@pytest.mark.parametrize(("name", "tags"), NAMES.items())
@pytest.mark.parametrize("attribute", ["name", "property"])
def test_names_of_meta_tags(name, tags, attribute):
    """Covers _DESCRIPTIONS, _LANGUAGES, _KEYWORDS, _IMAGES, _TITLES and _APPLICATIONS."""
    value = {"language": "de", "image": "https://tea.example/a.png"}.get(name, "Tea leaves")
    for tag in tags.split():
        found = metadata_of(f"<meta {attribute}={tag} content='{value}'><meta {attribute}={tag}x content=no>")
        assert getattr(found, name) == ((value,) if name == "keywords" else value), tag


@settings(max_examples=150)
@given(st.lists(st.sampled_from(SOUP), max_size=25).map("".join))
@example("<div itemscope itemref=x id=x itemprop=author>")
def test_metadata_of_random_markup_is_valid(page):
    assert is_sound(metadata_of(page, "http://[x"))


@settings(max_examples=80)
@given(st.sampled_from([case["page"] for case in CASES if case["page"]]), st.data())
def test_metadata_of_truncated_pages_is_valid(page, data):
    assert is_sound(metadata_of(page[: data.draw(st.integers(0, len(page)))]))


@settings(max_examples=80)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=10),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(
                    ["@type", "@id", "@graph", "author", "name", "datePublished", "headline", "mainEntity"]
                ),
                inner | st.sampled_from(["Article", "#1", "2020-02-30"]),
                max_size=5,
            )
        ),
        max_leaves=15,
    )
)
@example({"@type": ["", " ", "http://schema.org/"]})
def test_any_json_is_read(value):
    script = json.dumps(value).replace("<", "\\u003c")
    assert is_sound(metadata_of(f"<script type=application/ld+json>{script}</script>"))


@pytest.mark.parametrize(
    "page",
    [
        "<div itemscope itemprop=author>" * MOST_THINGS,
        ("<div itemscope itemprop=author>" * 16 + "</div>" * 16) * 30,
        "<div itemscope><b itemprop=name>x</b></div>" * 20_000,
        "<script type=application/ld+json>" + "[" * 50_000 + "</script>",
        "<script type=application/ld+json>" + '{"@graph": [' * 900 + "]}" * 900 + "</script>",
        "<h1>" + "<b>" * 400 + "Tea",
        "<p class='author byline date'>" + "x " * 20 + "</p><p class=date>" * 5_000,
        f"<title>{'a | ' * 5_000}</title><h1>{'a ' * 5_000}</h1>",
        f"<meta name=author content='{'a, ' * 20_000}'>",
        f"<h1>Tea</h1><p>{'1 a ' * 100_000}",
    ],
    ids=["nested", "nested often", "many", "deep", "deep graph", "deep heading", "marked", "title", "names", "text"],
)
def test_hostile_pages_are_read_quickly(page):
    started = time.process_time()
    assert is_sound(metadata_of(page))
    assert time.process_time() - started < 3


ITEM = "<div itemscope itemtype=http://schema.org/Article>"
AUTHOR = f"{ITEM}<b itemprop=author>Ann Lee</b></div>"


@pytest.mark.parametrize(
    ("make", "most", "loss"),
    [
        (lambda count: AUTHOR + "<i itemprop=x></i>" * (count - 2), MOST_ITEMS, "more than 2,500 properties"),
        (lambda count: f"<title>{'a' * count}</title>{AUTHOR}", MOST_TITLE, "first 1,000 characters of the title"),
    ],
    ids=["properties", "title"],
)
def test_page_reports_what_metadata_ignores_beyond_a_limit(make, most, loss):
    within, beyond = (load_method("everything").document(make(most + more), metadata=True) for more in (0, 1))
    assert (within.metadata.sources["author"], within.document.losses) == ("microdata", ())
    assert ("microdata" in beyond.metadata.sources.values()) == ("title" in loss)
    assert [loss in reported for reported in beyond.document.losses] == [True]


@pytest.mark.parametrize(
    ("text", "url", "expected"),
    [
        ("Leaf", "http://leaf.example/", True),
        ("The Leaf", "http://leaf.example/", True),
        ("Leaf", "http://theleaf.example/", True),
        ("leaf.example", "http://www.leaf.example/", True),
        ("www.leaf.example", "http://leaf.example/", True),
        ("Big Tea Club", "http://btc.example/", True),  # initials
        ("Tea Club", "http://tc.example/", False),
        ("Leaf and Cup of Tea", "http://leafs.example/", True),  # up to five words
        ("Leaf and Cup of Green Tea", "http://leafs.example/", False),
        ("Tea Club", "http://tea.example/", False),  # the name of the host is short
        ("Teapot", "http://teapots-online.example/", True),
        ("Teapo", "http://teapots-online.example/", True),  # at least five letters
        ("Teap", "http://teapots-online.example/", False),
        ("", "http://leaf.example/", False),
        ("Leaf", "", False),
    ],
)
def test_text_that_spells_the_host(text, url, expected):
    assert is_host(text, url) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Daily Leaf", True),
        ("The Daily Leaf of Kent", True),  # up to two words more or fewer
        ("The Daily Leaf of all Kent", False),
        ("The Daily", True),
        ("The", False),
        ("TheDailyLeaf", True),
        ("Daily Leaf", False),
    ],
)
def test_name_of_a_site(text, expected):
    assert Site(Page(parse_whole("<meta property=og:site_name content='The Daily Leaf'>"))).is_name(text) is expected


@pytest.mark.parametrize(
    ("headings", "expected"),
    [
        ("<h1>News</h1><h2>Green tea</h2><h2>Green tea from Kent</h2><h1>Tea</h1>", "Green tea from Kent"),
        ("<h2>Tea</h2><h1>Something much longer than the title</h1>", "Tea"),
        ("<h2>Other</h2><h1>News</h1><h1>More</h1>", "News"),
        ("<h2>Other</h2>", None),
        ("<h2>Green tea</h2><h2>from Kent</h2>", "Green tea"),
    ],
)
def test_headline_is_the_longest_heading_in_the_title(headings, expected):
    headline = Page(parse_whole(f"<title>Green tea from Kent | Leaf</title>{headings}")).headline
    assert (headline.text if headline is not None else None) == expected


def json_ld(depth):
    """A page whose JSON-LD names an author inside `depth` graphs."""
    article = {"@type": "Article", "author": "Ann Lee"}
    for _ in range(depth):
        article = {"@graph": article}
    return f"<script type=application/ld+json>{json.dumps(article)}</script>"


def author(name):
    return f"<meta name=author content='{name}'>"


def dated(length):
    """A page with a line of a length and a date below its heading."""
    return f"<h1>Tea</h1><p>{'May 17, 2024'.ljust(length, '.')}</p>"


@pytest.mark.parametrize(
    ("field", "within", "beyond"),
    [
        ("author", json_ld(DEEPEST), json_ld(DEEPEST + 1)),
        ("author", author("Jane " + "D" * 55), author("Jane " + "D" * 56)),  # 60 characters
        ("author", author("Jane Ann Sue Joy Eve Doe"), author("Jane Ann Sue Joy Eve Amy Doe")),  # 6 words
        ("site_name", "<meta property=og:site_name content=XY>", "<meta property=og:site_name content=X>"),
        ("site_name", *(f"<meta property=og:site_name content={'X' * length}>" for length in (60, 61))),
        ("date", *(f"<meta property=article:published_time content={day}>" for day in ("1990-01-01", "1989-12-31"))),
        ("date", dated(150), dated(151)),
        ("date", *(f"<p class=date>{'May 17, 2024'.ljust(length, '.')}</p>" for length in (150, 151))),
    ],
)
def test_values_beyond_a_limit_are_ignored(field, within, beyond):
    assert getattr(metadata_of(within), field)
    assert not getattr(metadata_of(beyond), field)


def test_page_has_at_most_twelve_authors():
    names = [f"Jane {letter}ee" for letter in "ABCDEFGHIJKLM"]
    assert metadata_of(author(" | ".join(names))).author.split("; ") == names[:12]


def test_name_of_a_site_without_a_separator_has_up_to_three_words():
    assert metadata_of("<title>Leaf Tea House</title>", "http://leaftea.example/a").site_name == "Leaf Tea House"
    assert metadata_of("<title>Leaf Tea House Kent</title>", "http://leaftea.example/a").site_name == ""


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("31.12.2020", "de", date(2020, 12, 31)),
        ("31/12/2020", "en", date(2020, 12, 31)),
        ("12/11/2020", "en", date(2020, 12, 11)),  # the month comes first
        ("13/11/2020", "en", date(2020, 11, 13)),
        ("05/12/2020", "fr", date(2020, 12, 5)),
        ("05/13/2020", "fr", date(2020, 5, 13)),  # there is no month 13
        ("2020/12/31", "en", date(2020, 12, 31)),
        ("June 5, 2020", "en", date(2020, 6, 5)),
        ("5 Jun 2020", "en", date(2020, 6, 5)),
    ],
)
def test_order_of_numbers_in_a_date(text, language, expected):
    assert read_date(text, language) == expected


def test_date_may_be_today_and_not_tomorrow():
    page = Page(parse_whole("<meta property=article:published_time content=2024-05-17>"))
    assert find_date(page, today=date(2024, 5, 16)) is None
    assert find_date(page, today=date(2024, 5, 17)).value == "2024-05-17"


def test_metadata_only_on_request_and_the_blocks_are_the_same():
    cleaner = Cleaner.load()
    page = CASES[0]["page"] + "<p>Tea is a drink. It is made by pouring hot water over the leaves of the tea bush.</p>"
    plain, full = cleaner.document(page), cleaner.document(page, metadata=True)
    assert plain.metadata is None
    assert full.metadata is not None
    assert full.metadata.author == "Jane Doe; Jan de Vries"
    assert (plain.document, plain.labels) == (full.document, full.labels)


def test_annotation_file_has_title_and_address():
    metadata = Cleaner.load().document(ANNO.read_bytes(), metadata=True, annotation=True).metadata
    assert metadata is not None
    assert metadata.title == "Der Wald, der nicht aufgeräumt wird"
    assert metadata.url == "https://www.lichtung-magazin.example/natur/der-wald-der-nicht-aufgeraeumt-wird"
    assert metadata.author == metadata.date == metadata.language == ""


MICRODATA = (
    "<div itemscope itemtype='https://schema.org/Article'><h1 itemprop=name>Tea</h1><p>May 17, 2024</p>"
    "<p>Tea is made by pouring hot water over the leaves of the tea bush.</p></div>"
)


@pytest.fixture
def titled():
    """An output format that writes only the title."""
    OUTPUTS.add("titled", Output("titled", ".txt", "", lambda page: page.metadata.title, wants_metadata=True))
    yield "titled"
    OUTPUTS.remove("titled")


def test_output_that_wants_metadata_gets_it(titled):
    assert Cleaner.load().clean(CASES[0]["page"], format=titled) == "Tea at noon"
    record = Record("tea.html", Path("tea.html"), payload=CASES[0]["page"].encode(), is_text=True)
    assert PageCleaner(Plan(format=titled)).clean(record).text == "Tea at noon"


@pytest.mark.slow
def test_facts_are_read_without_the_extra():
    page = '<script type="application/ld+json">{"@type": "Article", "author": {"name": "Ann Lee"}}</script>' + MICRODATA
    code = (
        "import sys; sys.modules.update(dict.fromkeys(['dateparser', 'icu4py', 'stopwordsiso']))\n"
        "from victorpy import Cleaner\n"
        f"found = Cleaner.load().document({page!r}, metadata=True).metadata\n"
        "print(found.author, found.date)"
    )
    assert run_process("-c", code, text=True).stdout == "Ann Lee 2024-05-17\n"


def json_ld(content):
    return f'<script type="application/ld+json">{content}</script>'


@pytest.mark.parametrize(
    ("page", "field", "expected"),
    [
        ("<meta name=date content=1990-01-01>", "date", "1990-01-01"),
        ("<meta name=date content=1989-12-31>", "date", ""),
        (f"<h1>Tea</h1><p class=date>{'x' * 136} 1 May 2020 xx</p>", "date", "2020-05-01"),
        (f"<h1>Tea</h1><p class=date>{'x' * 136} 1 May 2020 xxx</p>", "date", ""),
        ("<html lang=de><h1>Tea</h1><p class=date>5.12.2020</p>", "date", "2020-12-05"),
        ("<html lang=en><h1>Tea</h1><p class=date>12/5/2020</p>", "date", "2020-12-05"),
        ("<html lang=en><h1>Tea</h1><p class=date>13/5/2020</p>", "date", "2020-05-13"),
        (json_ld("[" * 9 + '{"@type":"Article","author":"Ann Lee"}' + "]" * 9), "author", "Ann Lee"),
        (json_ld("[" * 10 + '{"@type":"Article","author":"Ann Lee"}' + "]" * 10), "author", ""),
        (f"<meta property=og:site_name content='{'x' * 60}'>", "site_name", "x" * 60),
        (f"<meta property=og:site_name content='{'x' * 61}'>", "site_name", ""),
        ("<meta property=og:site_name content=x>", "site_name", ""),
        (f"<meta name=author content='Ann {'x' * 56}'>", "author", f"Ann {'x' * 56}"),
        (f"<meta name=author content='Ann {'x' * 57}'>", "author", ""),
        ("<meta name=author content='Ann Bo Cy Di Ed Fay'>", "author", "Ann Bo Cy Di Ed Fay"),
        ("<meta name=author content='Ann Bo Cy Di Ed Fay Gil'>", "author", ""),
        (f"<meta name=keywords content='{','.join(map(str, range(50)))}'>", "keywords", tuple(map(str, range(50)))),
        (f"<meta name=keywords content='{','.join(map(str, range(51)))}'>", "keywords", tuple(map(str, range(50)))),
    ],
)
def test_exact_limits(page, field, expected):
    assert getattr(metadata_of(page), field) == expected


def typed(things):
    return json_ld(json.dumps(things))


NOTHING, ANN = {"@type": "Person"}, {"@type": "Article", "author": "Ann Lee"}
DAY = "<time datetime=2024-05-17>then</time>"
GREEN = "<title>Green tea - All Leaf</title>"


@pytest.mark.parametrize(
    ("page", "field", "expected"),
    [
        # Elements near the headline
        (f"<h1>Tea</h1>{'<i></i>' * 58}<p>17 May 2024</p>", "date", "2024-05-17"),
        (f"<h1>Tea</h1>{'<i></i>' * 59}<p>17 May 2024</p>", "date", ""),
        (f"<p>17 May 2024</p>{'<i></i>' * 39}<h1>Tea</h1>", "date", "2024-05-17"),
        (f"<p>17 May 2024</p>{'<i></i>' * 40}<h1>Tea</h1>", "date", ""),
        # Levels and pieces of a text
        (f"<h1>{'<b>' * 50}Tea", "title", "Tea"),
        (f"<h1>{'<b>' * 51}Tea", "title", ""),
        (f"<h1>{'<b></b>' * 99}<b><i>Tea</i></b></h1>", "title", "Tea"),
        (f"<h1>{'<b></b>' * 100}<b><i>Tea</i></b></h1>", "title", ""),
        (f"<h1><b>{'<i></i>' * 99}<i>Tea</i></b></h1>", "title", "Tea"),
        (f"<h1><b>{'<i></i>' * 100}<i>Tea</i></b></h1>", "title", ""),
        (f"<h1>{'x' * 10_001}</h1>", "title", "x" * 10_000),
        (f"<h1><b></b>{'x' * 10_001}</h1>", "title", "x" * 10_000),
        ("<h1>Tea<button>Buy</button> pot<script>x</script>¶# § </h1>", "title", "Tea pot"),
        # Titles that contain the page
        (f"<title>{'ab ' * 99}c&lt;b</title>", "title", f"{'ab ' * 99}c<b"),
        (f"<title>{'ab ' * 99}cd&lt;b</title>", "title", f"{'ab ' * 99}cd"),
        # Things and values of structured data
        (typed([NOTHING] * 499 + [ANN]), "author", "Ann Lee"),
        (typed([NOTHING] * 500 + [ANN]), "author", ""),
        (typed({**ANN, "author": ["admin"] * 99 + ["Ann Lee"]}), "author", "Ann Lee"),
        (typed({**ANN, "author": ["admin"] * 100 + ["Ann Lee"]}), "author", ""),
        (f"{ITEM}{'<b itemprop=creator>admin</b>' * 99}<b itemprop=creator>Ann Lee</b></div>", "author", "Ann Lee"),
        (f"{ITEM}{'<b itemprop=creator>admin</b>' * 100}<b itemprop=creator>Ann Lee</b></div>", "author", ""),
        (f"{ITEM}<p itemprop=description><i>{'x' * 10_000}</i>y</p></div>", "description", "x" * 10_000 + "y"),
        (f"{ITEM}<p itemprop=description><i>{'x' * 10_001}</i>y</p></div>", "description", "x" * 10_001),
        (f"{ITEM}<p itemprop=description>{'<i>x</i>' * 1_002}</p></div>", "description", "x" * 1_001),
        (typed({"@type": "WebPage", "blogPost": [ANN]}), "author", "Ann Lee"),
        (typed({"@type": "WebPage", "blogPost": [ANN, ANN]}), "author", ""),
        (typed({"@type": "FAQPage", "mainEntity": ANN}), "author", ""),
        (typed({**ANN, "author": [{"name": "Ann Lee"}, {"name": "Otto Vries"}]}), "author", "Ann Lee; Otto Vries"),
        (typed({"@type": "Question", "author": ["Ann Lee", "Otto Vries"]}), "author", "Ann Lee"),
        # Names
        (f"<meta name=author content='{'author | ' * 5}{'admin | ' * 56}Ann Lee'>", "author", "Ann Lee"),
        (f"<meta name=author content='{'author | ' * 6}{'admin | ' * 55}Ann Lee'>", "author", "Ann Le"),
        (f"<h1>Tea</h1><p class=byline>By Ann Lee {'x' * 139}</p>", "author", ""),
        (f"<p class=byline><b>Ann Lee</b><i>{'-' * 143}</i></p>", "author", "Ann Lee"),
        (f"<p class=byline><b>Ann Lee</b><i>{'-' * 144}</i></p>", "author", ""),
        ("<meta name=twitter:label2 content=By><meta name=twitter:data2 content='Ann Lee'>", "author", "Ann Lee"),
        ("<meta name=twitter:label3 content=By><meta name=twitter:data3 content='Ann Lee'>", "author", ""),
        ("<p class=username>abc</p>", "author", "abc"),
        ("<p class=username>ab</p>", "author", ""),
        (f"<p class=username>{'a' * 30}</p>", "author", "a" * 30),
        (f"<p class=username>{'a' * 31}</p>", "author", ""),
        # Dates
        (f"{'<meta name=date content=soon>' * 99}<meta name=date content=2024-05-17>", "date", "2024-05-17"),
        (f"{'<meta name=date content=soon>' * 100}<meta name=date content=2024-05-17>", "date", ""),
        (f"<meta name=date content='{'31 February 2020, ' * 4}17 May 2024'>", "date", "2024-05-17"),
        (f"<meta name=date content='{'31 February 2020, ' * 5}17 May 2024'>", "date", ""),
        (f"<p>born <b><i>{DAY}", "date", ""),
        (f"<p>born <u><b><i>{DAY}", "date", "2024-05-17"),
        (f"<p>born{'-' * 26}{DAY}", "date", ""),
        (f"<p>born{'-' * 27}{DAY}", "date", "2024-05-17"),
        (f"<p><i>born{'-' * 26}</i>{DAY}", "date", ""),
        (f"<p><i>born{'-' * 27}</i>{DAY}", "date", "2024-05-17"),
        (f"<p><i></i>born{'-' * 26}{DAY}", "date", ""),
        (f"<p><i></i>born{'-' * 27}{DAY}", "date", "2024-05-17"),
        (f"<h1>Tea</h1><p>born{'-' * 26}</p><p>17 May 2024</p>", "date", ""),
        (f"<h1>Tea</h1><p>born{'-' * 27}</p><p>17 May 2024</p>", "date", "2024-05-17"),
        (f"<p><time datetime=2024-05-17>{'x' * 145} born</time>", "date", ""),
        (f"<p><time datetime=2024-05-17>{'x' * 146} born</time>", "date", "2024-05-17"),
        (f"{DAY}<time datetime=2023-01-02>then</time>", "date", "2024-05-17"),
        ("<h1>Tea</h1><p>Born 3 May 1994</p><p>1994-05-03</p><p>17 May 2024</p>", "date", "2024-05-17"),
        # Names of the site, and titles
        (f"{GREEN}{'<meta property=og:site_name content=Other>' * 19}<meta property=og:site_name content='All Leaf'>",
         "title", "Green tea"),
        (f"{GREEN}{'<meta property=og:site_name content=Other>' * 20}<meta property=og:site_name content='All Leaf'>",
         "title", "Green tea - All Leaf"),
        ("<title>Tea pot</title><h1>Tea by Ann</h1>", "title", "Tea by Ann"),
        ("<title>Tea pot</title><h1>Tea by Ann Lee</h1>", "title", "Tea pot"),
        ("<title>Tea pot</title><meta property=og:type content=article><h1>More for you</h1>", "title", "More for you"),
        ("<title>Tea pot</title><meta property=og:type content=article><h1>More news</h1>", "title", "Tea pot"),
        ("<title>Hot tea cups - Old Ur</title><b>Hot tea cups</b><b>Old Ur</b>", "title", "Hot tea cups - Old Ur"),
        ("<title>Hot red tea cups - Old Ur</title><b>Hot red tea cups</b><b>Old Ur</b>", "title", "Hot red tea cups"),
        ("<title>Tea cups - Kent town</title><b>Tea cups</b>", "title", "Tea cups - Kent town"),
        ("<title>Hot tea cups - Kent town</title><b>Hot tea cups</b>", "title", "Hot tea cups"),
    ],
)  # fmt: skip
def test_values_at_a_limit(page, field, expected):
    assert getattr(metadata_of(page), field) == expected


@pytest.mark.parametrize(("others", "is_found"), [(59, True), (60, False)])
def test_headline_is_one_of_the_first_sixty_headings(others, is_found):
    page = Page(parse_whole(f"<title>Green tea</title>{'<h2>x</h2>' * others}<h2>Green tea</h2>"))
    assert (page.headline is not None) == is_found


def test_text_that_a_page_shows_has_at_most_300_characters():
    page = Page(parse_whole(f"<b>{'a' * 300}</b><i>{'b' * 301}</i>"))
    assert page.shows("a" * 300)
    assert not page.shows("b" * 301)


@pytest.mark.parametrize(
    ("tag", "is_shown"),
    [
        *((tag, True) for tag in ("b", "p", "h2", "textarea")),
        *((tag, False) for tag in ("title", "option", "button", "script", "style", "noscript", "svg", "template")),
    ],
)
def test_text_of_some_elements_is_not_shown(tag, is_shown):
    page = Page(parse_whole(f"<body><div><{tag}>Green tea</{tag}></div>"))
    assert page.shows("green tea!") is is_shown


@pytest.mark.parametrize(
    ("tag", "is_text"),
    [("b", True), ("title", True), ("button", False), ("script", False), ("noscript", False), ("svg", False)],
)
def test_texts_of_an_element_are_those_that_a_reader_sees(tag, is_text):
    (heading,) = parse_whole(f"<h1>Hot <{tag}>green </{tag}>tea</h1>").root.iter("h1")
    assert pieces_of(heading) == (["Hot", "green", "tea"] if is_text else ["Hot", "tea"])
    assert text_of(heading) == " ".join(pieces_of(heading))
