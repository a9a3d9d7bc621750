"""The page format: the original layout without noise and without active content, whatever the page contains."""

import re
from dataclasses import replace
from pathlib import Path

import html5lib
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.commands import clean as run_clean

from victorpy import Cleaner, DataError, Label
from victorpy.methods import load_method
from victorpy.outputs import find_output
from victorpy.outputs.layout import _TAGS, safe_css

SAMPLES = Path(__file__).parents[2] / "data"
URL = "https://weir.example/news/tea.html"
STORY = "Tea is a drink. It is made by pouring hot water over the cured leaves of the tea bush, and it is drunk hot."

EVERYTHING = load_method("everything")
FRAME = {"html", "head", "body", "meta", "title", "link", "style"}


def to_page(html, kept=None, url=URL):
    """Write a page, of which only the blocks with one of the `kept` texts are content."""
    page = EVERYTHING.document(html, url, layout=True)
    if kept is None:
        return page.to("page")
    labels = tuple(Label.PARAGRAPH if block.text in kept else Label.OTHER for block in page.document.blocks)
    return type(page)(page.document, labels, layout=page.layout).to("page")


def body(markup):
    return markup.partition("\n<body")[2].partition(">\n")[2].removesuffix("\n</body>\n</html>\n").strip()


def parse(markup):
    """Parse as browsers do."""
    return html5lib.parse(markup, namespaceHTMLElements=False)


def assert_harmless(markup):
    root = parse(markup)
    assert {str(element.tag) for element in root.iter()} <= _TAGS | FRAME
    for element in root.iter():
        if element.tag == "meta":
            assert element.get("http-equiv") in {None, "Content-Security-Policy"}
            continue
        for name, value in element.attrib.items():
            assert not name.lower().startswith("on")
            assert name not in {"srcdoc", "srcset", "action", "formaction", "ping", "xlink:href"}
            plain = re.sub(r"[\0-\x20]+", "", value).lower()
            assert not plain.startswith(("javascript:", "vbscript:", "data:text", "data:application", "file:"))
            if name == "style":
                assert "expression(" not in plain
        if element.tag == "style":
            assert "@import" not in (element.text or "").lower()
            assert "<" not in (element.text or "")


# Layout.


def test_elements_with_kept_text_stay_as_they_were():
    html = (
        f"<html lang=en><body class='story wide'><div id=menu><a href=/>Home</a></div>"
        f"<div id=main style='float: left'><h1>Tea</h1><p class=lead>{STORY}</p></div></body></html>"
    )
    page = to_page(html, {"Tea", STORY})
    assert '<html lang="en">' in page
    assert '<body class="story wide">' in page
    assert body(page) == f'<div id="main" style="float: left"><h1>Tea</h1><p class="lead">{STORY}</p></div>'


def test_cells_keep_their_columns():
    html = "<table><tr><td width=150>Menu<td rowspan=2>Story<tr><td>Advertisement</table>"
    expected = '<table><tr><td width="150"></td><td rowspan="2">Story</td></tr></table>'
    assert body(to_page(html, {"Story"})) == expected


def test_pictures_and_rules_stay_between_kept_texts():
    html = (
        "<div><img src=logo.png></div><p>One</p><div><img src=/a.png alt='A pot'></div><hr>"
        "<div><img src=ad.png>Buy</div><p>Two</p><div><img src=end.png></div>"
    )
    page = body(to_page(html, {"One", "Two"}))
    assert re.findall(r"<(?:img|hr)[^>]*>", page) == ['<img alt="A pot" src="https://weir.example/a.png">', "<hr>"]


def test_pictures_stay_beside_their_captions():
    cards = "".join(f"<div class=card><img src=/{n}.png><p>Garden {n}</p></div>" for n in range(3))
    page = body(to_page(f"<header><img src=/logo.png></header><main>{cards}</main>", {f"Garden {n}" for n in range(3)}))
    assert re.findall(r"/(\w+)\.png", page) == ["0", "1", "2"]


def test_a_picture_whose_alt_text_is_kept_stays():
    assert "a.png" in to_page("<img src=/a.png alt='A pot'>", {"A pot"})


def test_lines_of_listings_and_spaces_stay():
    html = "<p>Tea <a href=/b>is</a> <b>hot</b>.</p><pre>one\n  two\n\nthree</pre>"
    expected = '<p>Tea <a href="https://weir.example/b">is</a> <b>hot</b>.</p><pre>one\n  two\n\nthree</pre>'
    assert body(to_page(html)) == expected
    assert body(to_page("<pre>one\ntwo\nthree</pre>", {"one", "three"})) == "<pre>one\n\nthree</pre>"


@pytest.mark.parametrize("depth", [250, 260])
def test_listings_below_any_number_of_elements_stay_or_go(depth):
    html = f"{'<div>' * depth}<pre>one\ntwo</pre>{'</div>' * depth}<p>tea</p>"
    assert "<pre>one\ntwo</pre>" in to_page(html, {"one", "two", "one two"})
    assert body(to_page(html, {"tea"})) == "<p>tea</p>"


def test_line_breaks_after_a_listing_are_spaces():
    html = "<pre>one</pre><p>hot\ntea</p>"
    assert body(to_page(html, {"one"})) == "<pre>one</pre>"
    assert body(to_page(html, {"hot tea"})) == "<p>hot\ntea</p>"


def test_parts_of_blocks_are_deleted():
    document = EVERYTHING.document("<p>Log in. Tea is <b>hot</b> &amp; <i>good</i>. Bye.</p>", URL, layout=True)
    page = replace(document, spans=(((8, 25),),))
    assert body(page.to("page")) == "<p>Tea is<b> hot</b> &amp;<i> good</i></p>"


def test_pages_of_one_template_stay_alike():
    template = (
        "<body><ul><li><a href=/>Home</a></ul><div class=grid><div class=left>Menu {0}</div><div class=right>"
        "<h1>Tea {0}</h1><p>" + STORY + " {0}</p></div></div><p>Copyright {0}</p></body>"
    )
    pages = [
        body(to_page(template.format(number), {f"Tea {number}", f"{STORY} {number}"})) for number in ("one", "two")
    ]
    skeletons = {re.sub(r">[^<]+<", "><", page) for page in pages}
    assert skeletons == {'<div class="grid"><div class="right"><h1></h1><p></p></div></div>'}


@pytest.mark.parametrize(
    ("doctype", "is_quirky"),
    [
        ("", True),
        ("<!DOCTYPE html>", False),
        ('<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN">', True),
        (
            '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1.dtd">',
            False,
        ),
        ('<!DOCTYPE html PUBLIC "x<script>alert(1)</script>" "y">', False),
    ],
)
def test_old_pages_keep_their_document_type(doctype, is_quirky):
    markup = to_page(f"{doctype}<p>Tea")
    parser = html5lib.HTMLParser()
    parser.parse(markup)
    assert (parser.compatMode == "quirks") == is_quirky
    assert_harmless(markup)


def test_addresses_are_absolute():
    html = (
        "<base href='/teas/'><link rel=stylesheet href=main.css media=screen>"
        "<link rel='alternate stylesheet' href=x.css>"
        "<style>body { background: url('../bg.png') }</style>"
        "<td background=b.png><a href=green.html>Green</a><a href=#end>End</a><a name=end>end</a>"
        "<img data-src=lazy.png src='data:image/gif;base64,R0lGODlhAQABAAAAACw='>"
        "<img srcset='small.png 1x, big.png 2x'> and more"
    )
    page = to_page(f"<table><tr>{html}</table>")
    for address in ("teas/main.css", "bg.png", "teas/b.png", "teas/green.html", "teas/lazy.png", "teas/small.png"):
        assert f'"https://weir.example/{address}"' in page
    assert 'media="screen"' in page
    assert "x.css" not in page
    assert '<a href="#end">End</a><a id="end">end</a>' in page


def test_forms_and_unknown_elements_become_plain_ones():
    fields = "<input name=q><label>Name</label><button>Send</button><tea-cup id=c>Cup</tea-cup>"
    html = f"<form action=/x class=f>{fields}</form>"
    expected = '<div class="f"><div>Name</div><span>Send</span><span id="c">Cup</span></div>'
    assert body(to_page(html)) == expected


@pytest.mark.parametrize(
    "html", ["", "<p>", "\x00", "<!-- -->", "text only", "<html><frameset><frame src=a></frameset>"]
)
def test_empty_and_broken_pages_are_written(html):
    assert_harmless(to_page(html))


def test_texts_are_those_of_the_page():
    cleaner = Cleaner.load()
    for path in sorted(SAMPLES.rglob("*.html"))[::4]:
        page = cleaner.document(path.read_bytes(), layout=True)
        tags = page.document.elements.tag
        blocks = zip(page.document.blocks, page.labels, strict=True)
        kept = [block.text for block, label in blocks if label.is_content and tags[block.element] != "img"]
        shown = "".join(parse(page.to("page")).find("body").itertext())
        assert "".join(shown.split()) == "".join("".join(kept).split()), path.name


# Hostile pages.

ATTACKS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<p ONCLICK=alert(1) onmouseover='alert(1)'>text",
    "<a href='javascript:alert(1)'>text</a>",
    "<a href=' java\tscript:alert(1)'>text</a>",
    "<a href='&#106;avascript:alert(1)'>text</a>",
    "<a href='\x01javascript:alert(1)'>text</a>",
    "<a href='data:text/html,<script>alert(1)</script>'>text</a>",
    "<a href='vbscript:x'>text</a>",
    "<iframe src='javascript:alert(1)' srcdoc='<script>alert(1)</script>'></iframe>",
    "<object data=x.swf><embed src=x.swf></object><applet code=x></applet>",
    "<form action=https://evil.example><input type=password><button formaction='javascript:x'>go</button></form>",
    "<meta http-equiv=refresh content='0;url=javascript:alert(1)'>",
    "<base href='javascript:alert(1)//'><a href=x>text</a>",
    "<base href='data:text/html,'><img src=x>",
    "<svg onload=alert(1)><script>alert(1)</script><a xlink:href='javascript:alert(1)'><text>text</text></a></svg>",
    "<svg><style><img src=x onerror=alert(1)></style></svg>",
    "<svg></p><style><a id=\"</style><img src=1 onerror=alert(1)>\"></svg>",
    "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=alert(1)&gt;\">",
    "<math><mi//xlink:href='data:x,<script>alert(1)</script>'>text</math>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'></noscript>",
    "<template><img src=x onerror=alert(1)></template>",
    "<textarea><p title='</textarea><img src=x onerror=alert(1)>'></textarea>",
    "<title><p title='</title><img src=x onerror=alert(1)>'></title>",
    "<xmp><p title='</xmp><img src=x onerror=alert(1)>'></xmp>",
    "<plaintext><script>alert(1)</script>",
    "<noembed><p title='</noembed><img src=x onerror=alert(1)>'>",
    "<select><option><script>alert(1)</script></option></select>",
    "<style>@import url('https://evil.example/x.css'); @\\69mport 'x.css';</style>",
    "<style>@\\import 'a.css'; @im@import;port 'b.css'; @im/**/port 'c.css'; @IMPORT url(d.css)</style>",
    "<style>p { background: url('javascript:alert(1)'); behavior: url(x.htc); -moz-binding: url(x) }</style>",
    "<style>p { content: '</style><script>alert(1)</script>' }</style>",
    "<style><!-- --></style><!--</style><img src=x onerror=alert(1)>-->",
    "<p style='width: expression(alert(1)); background: url(javascript:alert(1))'>text",
    "<p style='width: e\\78pression(alert(1))'>text",
    "<p style='width: exp/**/ression(alert(1))'>text",
    "<link rel=stylesheet href='javascript:alert(1)'><link rel=import href=x.html><link rel=prefetch href=/x>",
    "<img srcset='javascript:alert(1) 1x, x.png 2x'>",
    "<picture><source srcset='x.png' onerror=alert(1)><img src='data:image/svg+xml,<svg onload=alert(1)>'></picture>",
    "<video src=x onerror=alert(1)><source onerror=alert(1)></video><audio src=x onerror=alert(1)></audio>",
    "<body background='javascript:alert(1)' onload=alert(1)><table background='javascript:x'><tr><td>text</table>",
    "<p class='\"><script>alert(1)</script>'>text",
    "<p title='`onmouseover=alert(1)'>text",
    "<a href='//evil.example' target=_blank ping=https://evil.example>text</a>",
    "<isindex action='javascript:alert(1)' type=image><keygen autofocus onfocus=alert(1)>",
    "<marquee onstart=alert(1)>text</marquee><details ontoggle=alert(1) open>text</details>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "<p>\u2028<\x00script>alert(1)</script>",
    "<x/onclick=alert(1)>text</x><a/href='javascript:alert(1)'>text</a>",
    "<table><tr><td><p><table><form><b><a href=javascript:alert(1)>text",
]  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_in_the_result_can_act(attack):
    for html in (attack, f"<html><head>{attack}</head><body>{attack}<p>{STORY}</p>{attack}</body></html>"):
        for url in (URL, ""):
            markup = to_page(html, url=url)
            assert_harmless(markup)
            assert_harmless(to_page(markup, url=url))  # the result is a page too


@given(
    st.lists(st.sampled_from([*ATTACKS, *"<>\"'/=`", "</style>", "</p>", "--", "text", "<pre>\n", "]]>"]), max_size=8)
)
@settings(max_examples=80, deadline=None)
def test_no_mixture_of_attacks_can_act(pieces):
    assert_harmless(to_page("".join(pieces)))


def test_policy_allows_pictures_and_styles_only():
    assert "default-src 'none'; img-src http: https: data:; style-src" in to_page("<p>text")


@pytest.mark.slow
@pytest.mark.parametrize(
    "css", ["url(" * 10_000, "@import " * 50_000, "/*" * 50_000, "\\" * 90_000, "expression" * 9_000]
)
def test_long_styles_take_no_longer_than_others(css):
    assert len(safe_css(css)) < 600_000


# Commands.


def test_any_method_writes_pages(tmp_path):
    (tmp_path / "tea.html").write_text(f"<body onload=x()><ul><li><a href=/>Home</a></ul><h1>Tea</h1><p>{STORY}</p>")
    for method in ("docview", "default"):
        run = run_clean(tmp_path / "tea.html", "--method", method, "--format", "page", "-o", f"{tmp_path}/{method}/")
        assert run.returncode == 0, run.stderr
        assert f"<p>{STORY}</p>" in (tmp_path / method / "tea.html").read_text(encoding="utf-8")


def test_annotation_file_has_no_layout(tmp_path):
    anno = sorted(SAMPLES.rglob("*.anno"))[0]
    with pytest.raises(DataError, match="has no layout"):
        find_output("page").render(Cleaner.load().document(anno.read_bytes(), layout=True, annotation=True))
    run = run_clean(anno, "--format", "page")
    assert run.returncode == 1
    assert b"use the format html instead" in run.stderr


@pytest.mark.parametrize(
    ("address", "base", "written"),
    [
        ("a.png", "https://tea.example/", '"https://tea.example/a.png"'),
        ("a.png", "", '"a.png"'),
        ("a/b:c.png", "", '"a/b:c.png"'),
        ("//milk.example/a", "https://tea.example/", '"https://milk.example/a"'),
        ("data:image/png;base64,AA", "", '"data:image/png;base64,AA"'),
        ("JavaScript:x", "", '""'),
        ("mailto:x", "", '""'),
        ("ftp://tea.example/a.png", "", '""'),
        ("a" * 9_999, "", f'"{"a" * 9_999}"'),
        ("a" * 10_000, "https://tea.example/", "a" * 10_000),  # too long to be looked at
    ],
    ids=lambda value: value[:20],
)
def test_addresses_in_style_rules(address, base, written):
    assert safe_css(f"p {{background: url({address})}}", base) == f"p {{background: url({written})}}"


@pytest.mark.parametrize(
    ("tag", "written"),
    [
        *((tag, "div") for tag in ("form", "fieldset", "legend", "object", "dialog", "search", "label")),
        *(
            (tag, tag)
            for tag in ("div", "section", "center", "tt", "samp", "details", "figcaption", "nav", "time", "u")
        ),
        *((tag, "span") for tag in ("button", "custom-tag", "output", "span", "data", "blink")),
    ],
)
def test_unknown_tags_become_divs_or_spans(tag, written):
    opened = ' open="open"' if tag == "details" else ""
    assert body(to_page(f"<div><{tag}>tea</{tag}></div>")) == f"<div><{written}{opened}>tea</{written}></div>"


@pytest.mark.parametrize(
    ("markup", "written"),
    [
        ("<p id=a class=b title=c lang=d dir=rtl>tea</p>", '<p id="a" class="b" title="c" lang="d" dir="rtl">tea</p>'),
        ("<p onclick=a() data-x=b itemprop=c hidden>tea</p>", "<p>tea</p>"),
        ("<p background=a.png>tea</p>", '<p background="https://weir.example/news/a.png">tea</p>'),
        ("<p background='javascript:x()'>tea</p>", "<p>tea</p>"),
        ("<a href=/b name=n>tea</a>", '<a href="https://weir.example/b" id="n">tea</a>'),
        ("<a href=' #top' id=i name=n>tea</a>", '<a id="i" href="#top">tea</a>'),
        ("<a href='javascript:x()'>tea</a>", "<a>tea</a>"),
        (
            "<p>tea <img src=a.png width=5> cup</p>",
            '<p>tea <img width="5" src="https://weir.example/news/a.png"> cup</p>',
        ),
        ("<p>tea <img data-src=b.png src=a.png> cup</p>", '<p>tea <img src="https://weir.example/news/b.png"> cup</p>'),
        ("<p>tea <img data-original=b.png> cup</p>", '<p>tea <img src="https://weir.example/news/b.png"> cup</p>'),
        ("<p>tea <img data-lazy-src=b.png> cup</p>", '<p>tea <img src="https://weir.example/news/b.png"> cup</p>'),
        (
            "<p>tea <img srcset=' c.png 2x, d.png 3x'> cup</p>",
            '<p>tea <img src="https://weir.example/news/c.png"> cup</p>',
        ),
        (
            "<p>tea <img src='data:image/png;base64,AA=='> cup</p>",
            '<p>tea <img src="data:image/png;base64,AA=="> cup</p>',
        ),
        ("<p>tea <img src='data:text/html,x'> cup</p>", "<p>tea <img> cup</p>"),
        ("<p>a<br>b<hr>c</p>", "<p>a<br>b</p><hr>c"),
        ("<p>a<keygen>b</p>", "<p>ab</p>"),
    ],
)
def test_attributes_of_a_layout(markup, written):
    assert body(to_page(markup)) == written


@pytest.mark.parametrize(
    ("head", "kept"),
    [
        ("<link rel=stylesheet href=/s.css media=print>",
         '<link rel="stylesheet" href="https://weir.example/s.css" media="print">'),
        ("<link rel='alternate stylesheet' href=/s.css>", ""),
        ("<link rel=icon href=/s.css>", ""),
        ("<link rel='Stylesheet x' href=/s.css>", '<link rel="stylesheet" href="https://weir.example/s.css">'),
        ("<link rel=stylesheet href='javascript:x'>", ""),
        ("<style media=screen>p { top: 1px }</style>", '<style media="screen">p { top: 1px }</style>'),
        ("<base href=https://tea.example/x/><link rel=stylesheet href=s.css>",
         '<link rel="stylesheet" href="https://tea.example/x/s.css">'),
        ("<base href=ftp://tea.example/><link rel=stylesheet href=s.css>",
         '<link rel="stylesheet" href="https://weir.example/news/s.css">'),
    ],
)  # fmt: skip
def test_style_sheets_of_a_layout(head, kept):
    page = to_page(f"<html><head>{head}</head><body><p>tea")
    assert page.partition("</title>\n")[2].partition("</head>")[0].strip() == kept


@pytest.mark.parametrize(
    ("doctype", "written"),
    [
        ("", '<!DOCTYPE html PUBLIC "-//W3C//DTD HTML 4.0 Transitional//EN" "http://www.w3.org/TR/REC-html40/loose.dtd">'),
        ("<!DOCTYPE html>", "<!DOCTYPE html>"),
        ('<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN">', '<!DOCTYPE html PUBLIC "-//W3C//DTD HTML 4.01//EN">'),
        ('<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0//EN" "http://x/y.dtd">',
         '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0//EN" "http://x/y.dtd">'),
        ('<!DOCTYPE html PUBLIC "a<b">', "<!DOCTYPE html>"),
    ],
)  # fmt: skip
def test_document_types_decide_about_quirks_mode(doctype, written):
    assert to_page(f"{doctype}<html><body><p>tea").partition("\n<html")[0] == written
