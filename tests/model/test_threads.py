"""The exact limits of threads: how many posts, dates and fields of profiles there must be."""

import numpy as np
import pytest

from victorpy import load_config, read_document
from victorpy.columns import Columns
from victorpy.model.evidence.threads import has_posts, posts, profiles

TEXT = "says that tea is hot and wet, and that milk is neither of them"
DATE = "<time>5 May 2024</time>"


def columns_of(page):
    config = load_config("default")
    return Columns(read_document(page, config), config)


def post(number, between=DATE, name="post", extra=""):
    return f"<div class={name}><div class=text>Post {number} {TEXT}.{extra}</div></div>{between}"


def found(page, kept):
    """Return the texts of the posts that are added if blocks that begin with some texts are kept."""
    is_kept = np.array([text.startswith(tuple(kept)) for text in page.texts])
    return [page.texts[number] for number in np.flatnonzero(posts(is_kept, page, ~is_kept))]


@pytest.mark.parametrize(
    ("html", "kept", "added"),
    [
        (post(0) + post(1) + post(2), ["Post 0", "Post 1"], 1),
        (post(0) + post(1), ["Post 0"], 0),  # two posts are no thread
        (post(0) + post(1) + post(2), ["Post 0"], 0),  # and at least two of them are kept
        (post(0) + post(1) + post(2) + post(3), ["Post 0", "Post 1"], 2),
        (
            post(0) + post(1) + post(2) + "<div class=post></div>" * 5,
            ["Post 0", "Post 1"],
            1,
        ),  # empty ones do not count
        # Posts whose ids differ only in their numbers
        *(
            (
                "".join(f"<div id={name}{n}>Post {n} {TEXT}.</div>{DATE}" for n in range(count)),
                ["Post 0", "Post 1"],
                more,
            )
            for name, count, more in (("post", 3, 1), ("post", 2, 0), ("x", 3, 0))
        ),
        # Half of the gaps have a date or the number of a post
        (post(0) + post(1, "") + post(2, ""), ["Post 0", "Post 1"], 1),
        (post(0) + post(1, "") + post(2, "") + post(3), ["Post 0", "Post 1"], 0),
        (post(0, "") + post(1, "") + post(2, ""), ["Post 0", "Post 1"], 0),
        (post(0, "<p>#1</p>") + post(1, "<p>#12345</p>") + post(2), ["Post 0", "Post 1"], 1),
        (post(0, "<p>#123456</p>") + post(1, "<p>x #1</p>") + post(2), ["Post 0", "Post 1"], 0),
        (post(0, "<p>x" * 39 + "<p>" + DATE) + post(1, "") + post(2), ["Post 0", "Post 1"], 1),
        (post(0, "<p>x" * 40 + "<p>" + DATE) + post(1, "") + post(2), ["Post 0", "Post 1"], 0),  # too far away
        # Half of the kept words are in posts
        (post(0) + post(1) + post(2) + f"<p>Other {'tea ' * 31}</p>", ["Post 0", "Post 1", "Other"], 1),
        (post(0) + post(1) + post(2) + f"<p>Other {'tea ' * 32}</p>", ["Post 0", "Post 1", "Other"], 0),
        # Quotations of other posts, asides and buttons are left out
        (post(0) + post(1) + post(2, extra=f"<blockquote>Quoted {TEXT}.</blockquote>"), ["Post 0", "Post 1"], 1),
        (post(0) + post(1) + post(2, extra=f"<aside>Aside {TEXT}.</aside>"), ["Post 0", "Post 1"], 1),
        (post(0) + post(1) + post(2, extra="<p>Reply"), ["Post 0", "Post 1"], 2),
        (post(0, extra="<p>Reply") + post(1, extra="<p>Reply") + post(2, extra="<p>Reply"), ["Post 0", "Post 1"], 1),
        (post(0, extra="<p>Reply") + post(1) + post(2, extra="<p>Reply"), ["Post 0", "Post 1"], 3),
        (post(0) + post(1) + post(1) + post(2), ["Post 0"], 0),
        # Elements that are only a part of a post
        *(
            ("".join(f"<{tag} class=post>Post {n} {TEXT}.</{tag}>{DATE}" for n in range(3)), ["Post 0", "Post 1"], more)
            for tag, more in (("p", 0), ("li", 0), ("section", 1), ("article", 1))
        ),
    ],
)
def test_posts_at_a_limit(html, kept, added):
    assert len(found(columns_of(html), kept)) == added


FIELDS = ["<p>Joined: May 2004", "<p>Posts: 1,234", "<p>Reputation 12"]


@pytest.mark.parametrize(
    ("html", "dropped"),
    [
        ("".join(FIELDS), [0, 1, 2]),
        ("".join(FIELDS[:2]), []),  # too few fields
        ("".join(FIELDS) + "<p>Senior Member", [0, 1, 2, 3]),
        ("".join(FIELDS) + "<p>x" * 2 + "<p>Location: Kent", [0, 1, 2, 5]),
        ("".join(FIELDS) + "<p>x" * 3 + "<p>Location: Kent", [0, 1, 2]),  # four blocks away
        ("<p>Offline" + "<p>x" * 2 + "".join(FIELDS), [0, 3, 4, 5]),
        ("<p>Offline" + "<p>x" * 3 + "".join(FIELDS), [4, 5, 6]),
        ("<p>Re: Green tea" * 3, [0, 1, 2]),
        ("<p>Re: Green tea" * 2, []),
        ("<p>Last edited by Ann<p>Code: Select all<p>last edited: yesterday", [0, 1, 2]),
        ("<p>Last edited by Ann<p>Code: Select all", []),
        (f"<p>{'Re: ' + 'a ' * 19}" * 3, [0, 1, 2]),
        (f"<p>{'Re: ' + 'a ' * 20}" * 3, []),  # 21 words
        ("<p>Posts: 1<p>Posts: 2<p>Posts: none", []),
        ("<p>Likes 4k<p>Karma: 5K<p>Points: 3<p>Posts: 3-", [0, 1, 2]),
    ],
)
def test_fields_of_profiles_at_a_limit(html, dropped):
    page = columns_of(html)
    assert sorted(profiles(np.ones(page.count, dtype=bool), page)) == dropped


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (post(0, name="box") + post(1, name="box"), False),
        (post(0) + post(1, name="box"), False),
        (post(0) + post(1), True),
        (f"<div class=comment><div class=comment-body><p>{TEXT}</div></div>{post(1, name='box')}", False),
    ],
)
def test_elements_with_the_name_of_a_post_around_kept_text(html, expected):
    page = columns_of(html)
    assert has_posts(np.ones(page.count, dtype=bool), page) is expected
