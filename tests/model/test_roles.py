"""Roles of blocks: what markup decides, and typical pages."""

import pytest

from victorpy import Cleaner
from victorpy.document import Role

ARTICLE = """<html><head><title>Tea is hot again | Tea Times</title></head><body>
<nav><ul><li><a href="/">Home</a></li><li><a href="/tea">Tea</a></li></ul></nav>
<article><h1>Tea is hot again</h1>
<p class="byline">By Ann Lee, 5 May 2024</p>
<p>Tea is made by pouring hot water over the cured leaves of the tea bush. It is drunk all over the world, and after
water it is the most widely drunk of all drinks.</p>
<figure><img src="a.jpg"><figcaption>A cup of tea on a table</figcaption></figure>
<p>Most of the tea is grown in China and India, where it is picked by hand, dried and packed. The first harvest of the
year is the most expensive one, and it is sold by auction.</p>
<pre>brew(tea, minutes=3)</pre>
<div class="tags"><a href="/t/tea">tea</a> <a href="/t/water">water</a></div></article>
<div id="comments"><div class="comment"><p>I have always liked coffee more than tea, to be honest.</p></div></div>
<footer><p>Copyright 2024 Tea Times. All rights reserved.</p></footer></body></html>"""


@pytest.fixture(scope="module")
def roles():
    page = Cleaner.load().document(ARTICLE, roles=True)
    return dict(zip(page.document.texts, page.roles, strict=True))


@pytest.mark.parametrize(
    ("start", "role"),
    [
        ("Home", Role.NAVIGATION),
        ("Tea is hot", Role.HEADLINE),
        ("By Ann", Role.BYLINE),
        ("Tea is made", Role.BODY),
        ("A cup", Role.CAPTION),
        ("brew", Role.CODE),
        ("tea water", Role.TAGS),
        ("I have always", Role.COMMENT),
        ("Copyright", Role.LEGAL),
    ],
)
def test_an_article(roles, start, role):
    assert next(found for text, found in roles.items() if text.startswith(start)) == role


def test_roles_are_only_assigned_on_request():
    assert Cleaner.load().document(ARTICLE).roles == ()
    assert Cleaner.load().document("", roles=True).roles == ()
