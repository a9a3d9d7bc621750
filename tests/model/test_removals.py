"""The exact limits of what is dropped after the cut: copies, buttons, filters and dialogs."""

import numpy as np
import pytest

from victorpy import CleanPage, Label, load_config, read_document
from victorpy.columns import Columns
from victorpy.model.evidence import Keeping
from victorpy.model.evidence.removals import controls, hidden_twins
from victorpy.model.parts import AS_LABELLED, Parts, drop_by_default

TEXT = "Tea is hot, and it is drunk all over the world, with milk or without it."
PRICE = "<p>$5<b aria-hidden=true>/mo.</b><b class=visuallyhidden> per month</b> now"
OTHERS = "<section>menu</section><address>x y</address><h6>z</h6>"


def dropped(html):
    """Return the texts that are dropped although all are most probable."""
    config = load_config("default")
    page = Columns(read_document(html, config), config)
    kept = Keeping().kept(np.full(page.count, 0.99), page)
    return [text for text, is_kept in zip(page.texts, kept, strict=True) if not is_kept]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        # Copies of the headline
        ("<h1>My tea</h1><p>My tea!<p>x", ["My tea!"]),
        ("<h1>My tea</h1><p>My tea<p>My tea!", ["My tea", "My tea!"]),
        ("<h1>My tea</h1>" + "<p>x<p>y<p>z<p>a<p>b" + "<p>My tea", ["My tea"]),
        ("<h1>My tea</h1>" + "<p>x<p>y<p>z<p>a<p>b<p>c" + "<p>My tea", []),  # seven blocks away
        ("<p>My tea" + "<p>x<p>y<p>z<p>a<p>b" + "<h1>My tea</h1>", ["My tea"]),
        ("<p>My tea" + "<p>x<p>y<p>z<p>a<p>b<p>c" + "<h1>My tea</h1>", []),
        # Cloned slides
        ("<p>a b c d e</p><p class=cloned>a b c d e</p>", ["a b c d e"]),
        ("<p>a b c d</p><p class=cloned>a b c d</p>", []),
        (f"<p>{'w ' * 17}</p><div class=clone><p>{'w ' * 17}<p>x y z</div>", ["w " * 16 + "w"]),
        (f"<p>{'w ' * 17}</p><div class=clone><p>{'w ' * 17}<p>x y z a</div>", []),
        # Shares and jumps
        ("<p>tea<div class=share><div><div><a href=/x>Go</a></div></div></div>", ["Go"]),
        ("<p>tea<div class=share><div><div><div><a href=/x>Go</a></div></div></div></div>", []),  # too far up
        ("<p>tea<p><a href='/x?share=1'>Go</a> now", []),
        ("<p>tea<p><a href='/x?share=1'>Go</a>", ["Go"]),
        # Buttons, contents and filters
        ("<p>tea<p>CLOSE…<p>Share »<p>Sharing", ["CLOSE…", "Share »"]),
        ("<p>tea<p>" + "Advertisements:::" + "<p>Advertisements::::", ["Advertisements:::", "Advertisements::::"]),
        ("<p>tea<p>Contents", ["Contents"]),
        ("<p>tea<p>Contents<p>hot", []),
        ("<p>tea<p>A (1)<p>B (12)<p>C (123)<p>D (1,234)", ["A (1)", "B (12)", "C (123)", "D (1,234)"]),
        ("<p>tea<p>A (1)<p>B (12)<p>C (123)<p>D (1234)", []),
        (f"<p>tea<p>A (1)<p>B (12)<p>C (123)<p>{'D' * 40} (1)", ["A (1)", "B (12)", "C (123)", "D" * 40 + " (1)"]),
        (f"<p>tea<p>A (1)<p>B (12)<p>C (123)<p>{'D' * 41} (1)", []),
        # Strays
        ("<p>tea<p>.<p>|<p>—»<p>---<p>?<p>½", [".", "|", "—»"]),
        ("<p>tea<table><tr><td>-<td>.</table><dl><dt>a<dd>-</dl><pre>.</pre><code>|</code>", []),
        ("<p>1<h1>My tea</h1><p>hot", []),
        ("<p>0<h2>My tea</h2><p>hot", []),
        # Dialogs
        (f"<p>{TEXT}<div role=dialog><p>Cookies<p>Privacy</div>", ["Cookies", "Privacy"]),
        (f"<p>{TEXT}<div role=dialog><p>Cookies<p>Cookies</div>", []),
        (f"<p>{TEXT}<div class=cookie-bar><p>Cookies and partners</div>", ["Cookies and partners"]),
        (f"<p>{TEXT}<div class=cookies><p>Cookies and partners</div>", []),
        ("<p>a<div class=consent><p>cookie consent b c</div>", ["cookie consent b c"]),
        ("<p>a<div class=consent><p>cookie consent b c d</div>", []),
    ],
)
def test_what_is_dropped_at_a_limit(html, expected):
    assert dropped(html) == expected


COPIES = (
    "cloned slick-cloned tns-slide-cloned clone bx-clone splide__slide--clone swiper-slide-duplicate mobile-only "
    "desktop-only hide-on-mobile hide-for-desktop hidden-xs hidden-sm show-for-small show-md visible-large d-none "
    "d-sm-none d-xl-none md:hidden xl:hidden"
).split()


def test_names_of_copies_for_other_screens():
    """Covers _COPY_NAME and _COPY_HINTS."""
    for name in [*COPIES, "clones", "hidden-side", "visible", "d-md-block", "x-clone", "no-clone"]:
        found = dropped(f"<p>a b c d e</p><p class='{name}'>a b c d e</p>")
        assert found == ["a b c d e"] * (name in COPIES), name


SHARES = (
    "/sharer.php?u=x /sharer?u=x /share?u=x /share/x /sharearticle?u=x /intent/tweet /pin/create/x /x?share=1 "
    "/x?a=1&share=2 mailto:?subject=x whatsapp://send http://wa.me/1 https://wa.me/1 https://api.whatsapp.com/send?x "
    "javascript:window.print()"
).split()


def test_addresses_that_share_a_page():
    """Covers _SHARE_ADDRESS and _SHARE_HINTS."""
    for address in [*SHARES, "/shares/x", "mailto:a@tea.example", "/x?shared=1", "/intent"]:
        assert dropped(f"<p>tea<p><a href='{address}'>Go</a>") == ["Go"] * (address in SHARES), address


@pytest.mark.parametrize("name", "share sharing share-bar social_share shared sharer share-price".split())
def test_names_of_elements_around_links_that_share_a_page(name):
    found = dropped(f"<p>tea<div class='{name}'><a href=/x>Go</a></div>")
    assert found == ["Go"] * (name in {"share", "sharing", "share-bar", "social_share"})


CONTROLS = (
    "close|loading|share|filter|filters|sort by|add to cart|read more|post a comment|sponsored|advertisement|"
    "advertisements|advertising|anzeige|werbung|publicité|publicidad|pubblicità|реклама|広告|广告|廣告|광고|▢|☐|□|×|✕|✖|"
    "contents|table of contents|in this article|on this page|jump to|inhalt|inhaltsverzeichnis|sommaire|"
    "table des matières|contenido|índice|indice|inhoud|spis treści|содержание|оглавление|目录|目錄|目次|목차"
).split("|")


def test_texts_of_controls_and_contents():
    """Covers _CONTROLS and _CONTENTS."""
    for text in [*CONTROLS, "tea", "closed", "contents of tea"]:
        assert dropped(f"<p>Tea is hot<p>{text.title()}:") == [f"{text.title()}:"] * (text in CONTROLS), text


@pytest.mark.parametrize(
    "name", "sr-only screen-reader-text screenreader visually-hidden visuallyHidden a-offscreen".split()
)
def test_names_of_texts_for_screen_readers(name):
    """Covers _SPOKEN_NAME and _SPOKEN_HINTS."""
    config = load_config("default")
    page = Columns(read_document(PRICE.replace("visuallyhidden", name), config), config)
    assert [page.texts[number] for number in hidden_twins(np.ones(page.count, dtype=bool), page)] == ["/mo."]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>1<b class=sr-only> hour</b> <b aria-hidden=true>Hour</b> tea", ["Hour"]),
        (PRICE, ["/mo."]),
        ("<p><b><i class=a-offscreen>$1.99</i></b><b aria-hidden=true>$1<sup>99</sup></b> tea", ["$199"]),
        ("<p>1<b class=sr-only> hour</b> <b aria-hidden=true>min</b> tea", []),
        ("<p>1<b class=sr-only> 12</b> <b aria-hidden=true>1</b> tea", []),
        ("<p>1<b class=sr-only> hour</b> <b aria-hidden=true>★</b> tea", []),
        ("<p>1<b class=not-sr-only> hour</b> <b aria-hidden=true>hour</b> tea", []),
        ("<p>1<b class=sr-only> hour</b><i>x</i> <b aria-hidden=true>hour</b> tea", []),
        ("<p><b class=sr-only>a b c d e f</b><b aria-hidden=true>a b c d e f</b> tea", ["a b c d e f"]),
        ("<p><b class=sr-only>a b c d e f g</b><b aria-hidden=true>a b c d e f g</b> tea", []),
    ],
)
def test_twins_of_texts_for_screen_readers(html, expected):
    config = load_config("default")
    page = Columns(read_document(html, config), config)
    twins = hidden_twins(np.ones(page.count, dtype=bool), page)
    assert [page.texts[number] for number in twins] == expected


def test_the_line_around_a_dropped_twin_stays_whole():
    document = read_document(PRICE, load_config("default"))
    page = CleanPage(document, (Label.PARAGRAPH, *[Label.CONTINUATION] * (len(document.texts) - 1)))
    assert drop_by_default(page, Parts()).text == "$5 per month now\n"
    assert drop_by_default(page, AS_LABELLED).text == "$5/mo. per month now\n"


LIST = "<ul><li>a<li>b</ul>"


@pytest.mark.parametrize(
    ("html", "kept", "expected"),
    [
        ("<p>x<p>Contents<p>y", "x,Contents,y", ""),
        ("<p>x<p>Contents<p>y", "x,Contents", "Contents"),  # what follows is dropped
        ("<p>x<p>Contents<p>y<p>z", "x,Contents,z", "Contents"),
        ("<p>x<p>Contents", "x,Contents", "Contents"),
        ("<p>x<p>Contents<p>Contents", "x,Contents", ""),  # several tables
        (f"<details><summary>Contents</summary><h4>T</h4>{LIST}</details><p>x", "Contents,T,x", "Contents,T"),
        (f"<details><summary>Contents</summary><h4>T</h4>{LIST}</details><p>x", "Contents,T,b,x", ""),
        (f"<h4>S</h4><details><summary>Contents</summary><h4>T</h4>{LIST}</details>", "S,Contents,T", "Contents,T"),
        (f"<details><summary>Steps</summary><h4>T</h4>{LIST}</details><p>x", "Steps,T,x", ""),
        ("<details><summary>Contents</summary><h4>T</h4></details><p>x", "Contents,T,x", ""),  # there never was a list
        (f"<summary>Contents</summary><h4>T</h4>{LIST}<p>x", "Contents,T,x", ""),
    ],
)
def test_contents_without_their_list_are_dropped(html, kept, expected):
    config = load_config("default")
    page = Columns(read_document(html, config), config)
    is_kept = np.array([text in kept.split(",") for text in page.texts])
    found = sorted(controls(is_kept, page))
    assert ",".join(page.texts[number] for number in found if is_kept[number]) == expected
