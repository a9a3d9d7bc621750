"""Gold text to labels: what aligns, what does not, and what kind of content it is."""

from __future__ import annotations

import pytest

from victorpy.align import Gold, align, words
from victorpy.cleaner import read_document
from victorpy.config import load_config
from victorpy.document import Label

BLOCK = load_config("default")
EVERY = load_config("cleaneval")

PARAGRAPH, HEADER, LIST = Label.PARAGRAPH, Label.HEADER, Label.LIST


def labels_of(html, *gold, config=BLOCK):
    """Align a page; gold is given as texts, or as pairs of a text and its label."""
    segments = [Gold(each) if isinstance(each, str) else Gold(*each) for each in gold]
    document = read_document(html, config)
    return [str(label) for label in align(document, segments, config.cuts.block_level)]


# Words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("... — !", []),
        ("Don't stop", ["don", "t", "stop"]),
        ("3.5 km", ["3", "5", "km"]),
        ("喝茶 tea茶", ["喝", "茶", "tea", "茶"]),
        ("お茶です", ["お", "茶", "で", "す"]),
        ("ชา", ["ช", "า"]),
        ("Größe ÉTÉ", ["größe", "été"]),
    ],
)
def test_text_is_cut_into_words(text, expected):
    assert words(text) == expected


# What is content


def test_blocks_that_are_in_the_gold_are_content_and_the_others_noise():
    html = "<ul><li>Home<li>Contact us</ul><p>Tea is a drink.</p><div>Copyright 2020</div>"
    assert labels_of(html, "Tea is a drink.") == ["other", "other", "paragraph", "other"]


@pytest.mark.parametrize(
    "gold",
    [
        "Tea is  a\n\n drink,\tmade from leaves.",
        "TEA IS A DRINK, MADE FROM LEAVES.",
        "tea is a drink — made from “leaves”!",
        "Tea is a drink made from leaves",
        "Tea is a&nbsp;drink, made from leaves.",
    ],
    ids=["white space", "case", "punctuation", "no punctuation", "entity"],
)
def test_small_differences_do_not_matter(gold):
    html = "<p>Menu</p><p>Tea is a&nbsp;drink, made from leaves.</p><p>Footer</p>"
    assert labels_of(html, gold) == ["other", "paragraph", "other"]


def test_entities_of_the_page_are_read_before_aligning():
    assert labels_of("<p>Caf&eacute; &amp; th&#233;</p><p>Login</p>", "Café & thé") == ["paragraph", "other"]


def test_a_block_with_half_of_its_words_in_the_gold_is_content_and_one_with_less_is_not():
    html = "<p>one two three four</p><p>five six seven eight nine</p>"
    assert labels_of(html, "one two five six") == ["paragraph", "other"]


def test_a_phrase_that_a_menu_repeats_is_content_where_the_text_around_it_is():
    html = "<ul><li>Green tea</ul><h1>Drinks</h1><p>Green tea</p><p>is made of green leaves.</p><div>Green tea</div>"
    gold = "Drinks Green tea is made of green leaves."
    assert labels_of(html, gold) == ["other", "header", "paragraph", "paragraph", "other"]


def test_a_menu_in_other_order_than_the_gold_is_noise():
    html = "<p>c</p><p>b</p><p>Alpha beta gamma delta.</p>"
    assert labels_of(html, "Alpha beta gamma delta. b c")[2] == "paragraph"
    assert labels_of(html, "Alpha beta gamma delta. b c")[:2] == ["other", "other"]


def test_text_that_only_the_gold_has_does_no_harm():
    assert labels_of("<p>Tea</p><p>Ad</p>", "Lost words before", "Tea", "lost words after") == ["paragraph", "other"]


@pytest.mark.parametrize("gold", [(), ("",), ("nothing of the page",)], ids=["none", "empty", "other text"])
def test_without_matching_gold_all_is_noise(gold):
    assert labels_of("<p>Tea</p><p>Coffee</p>", *gold) == ["other", "other"]


def test_a_page_without_blocks_has_no_labels():
    assert labels_of("", "Tea") == []


def test_chinese_text_aligns_by_its_signs():
    html = "<ul><li>首页<li>联系我们</ul><h1>茶的历史</h1><p>茶是一种饮料，<b>起源</b>于中国。</p><div>版权所有</div>"
    gold = "茶的历史\n茶是一种饮料,起源于中国。"
    assert labels_of(html, gold) == ["other", "other", "header", "paragraph", "other"]


# What kind of content: the gold says


def test_tagged_gold_says_what_kind_a_block_is_whatever_the_markup():
    html = "<div>Tea</div><div>A drink.</div><div>green</div><div>black</div>"
    gold = [("Tea", HEADER), ("A drink.", PARAGRAPH), ("green", LIST), ("black", LIST)]
    assert labels_of(html, *gold) == ["header", "paragraph", "list", "list"]


def test_further_blocks_of_a_gold_segment_continue_it():
    html = "<p>Tea is <b>a drink</b> made from leaves.</p><p>It is hot.</p>"
    gold = [("Tea is a drink made from leaves.", PARAGRAPH), ("It is hot.", PARAGRAPH)]
    assert labels_of(html, *gold, config=EVERY) == [*("paragraph", "continuation", "continuation", "paragraph")]


def test_a_segment_goes_on_over_several_elements_and_noise():
    html = "<p>Tea is a drink</p><div>Advertisement</div><p>made from leaves.</p>"
    gold = [("Tea is a drink made from leaves.", PARAGRAPH)]
    assert labels_of(html, *gold) == ["paragraph", "other", "continuation"]


def test_a_lone_sign_between_blocks_of_one_segment_belongs_to_it():
    html = "<p>Tea<b>,</b>coffee</p><p><b>|</b></p><p>Login</p>"
    assert labels_of(html, ("Tea, coffee", PARAGRAPH), config=EVERY) == [
        *("paragraph", "continuation", "continuation", "other", "other")
    ]


def test_a_lone_sign_between_two_segments_is_noise():
    html = "<p>Tea</p><p>*</p><p>Coffee</p>"
    assert labels_of(html, ("Tea", PARAGRAPH), ("Coffee", PARAGRAPH)) == ["paragraph", "other", "paragraph"]


def test_a_block_over_two_segments_belongs_to_the_one_with_more_of_its_words():
    gold = [("Tea", HEADER), ("is a drink made from leaves.", PARAGRAPH)]
    assert labels_of("<p>Tea is a drink made from leaves.</p>", *gold) == ["paragraph"]


# What kind of content: the page's markup says


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<h1>Tea</h1>", ["header"]),
        ("<h6>Tea</h6>", ["header"]),
        ("<ul><li>Tea</ul>", ["list"]),
        ("<dl><dt>Tea<dd>Tea</dl>", ["list", "list"]),
        ("<li><h3>Tea</h3></li>", ["header"]),
        ("<li><p>Tea</p></li>", ["list"]),
        ("<td>Tea</td>", ["paragraph"]),
        ("Tea", ["paragraph"]),
    ],
)
def test_plain_gold_leaves_the_kind_to_the_markup(html, expected):
    assert labels_of(html, "Tea Tea") == expected


@pytest.mark.parametrize(
    ("html", "second"),
    [
        ("<p>Tea is <b>a drink</b></p>", "continuation"),
        ("<p>Tea is<br>a drink</p>", "continuation"),
        ("<p>Tea is<br><br>a drink</p>", "paragraph"),
        ("<p>Tea is</p><p>a drink</p>", "paragraph"),
        ("<div>Tea is<hr>a drink</div>", "paragraph"),
    ],
)
def test_with_plain_gold_a_block_continues_the_line_before_it(html, second):
    assert labels_of(html, "Tea is a drink", config=EVERY) == ["paragraph", second]


def test_with_plain_gold_nothing_continues_noise():
    assert labels_of("<p>Share: <b>Tea is a drink</b></p>", "Tea is a drink", config=EVERY) == [*("other", "paragraph")]
