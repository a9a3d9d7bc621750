"""Site statistics of each block, and the features computed from them."""

import math

import numpy as np
import pytest
from support.sitepages import BLOCKS, document, own_words, site, site_page

from victorpy.columns import Columns, SiteColumns
from victorpy.config import load_config
from victorpy.features import FEATURES, find_feature
from victorpy.sites.importance import Judgement, block_importances
from victorpy.sites.statistics import SiteStatistics
from victorpy.sites.style_tree import StyleTree

PAGES = [
    "<div><p>Home page 1</p></div><ul><li>milk</li></ul>",
    "<div><p>Home page 22</p></div><ul><li>rum</li></ul>",
    "<div><p>Home page 3</p></div><ul><li>milk</li></ul>",
    "<div><p>home PAGE 4</p></div>",
]


def columns_of(pages, page):
    return SiteStatistics(map(document, pages)).columns(document(page))


def test_shares_of_texts_and_places():
    assert columns_of(PAGES, PAGES[0]).text_share.tolist() == pytest.approx([1, 1 / 3])  # digits and case do not count
    assert columns_of(PAGES, PAGES[1]).text_share.tolist() == pytest.approx([1, 0])
    assert columns_of(PAGES, "<h1>never seen</h1>").text_share.tolist() == [0]
    twice = ["<p>tea</p><p>tea</p>", "<p>milk</p>"]  # a page counts once
    assert columns_of(twice, twice[0]).text_share.tolist() == [0, 0]
    assert columns_of(PAGES, PAGES[0]).place_share.tolist() == pytest.approx([1, 3 / 4])
    assert columns_of(PAGES, "<table><td>tea</table>").place_share.tolist() == [0]
    columns = columns_of(PAGES, "")
    assert [
        len(values) for values in (columns.importance, columns.entropy, columns.text_share, columns.place_share)
    ] == [0] * 4


def test_entropy_is_the_mean_over_words_at_their_place():
    entropies = columns_of(PAGES, PAGES[0]).entropy.tolist()
    milk = math.log(2) / math.log(3)  # two of the three pages that have the list
    assert entropies == pytest.approx([(1 + 1 + 0) / 3, milk])
    assert columns_of(PAGES, "<ul><li>...</li></ul><table><td>tea</table>").entropy.tolist() == [0, 0]


def test_importances_come_from_the_style_tree():
    pages = site(6)
    tree = StyleTree()
    for page in pages:
        tree.add(page)
    judgement = Judgement().judge(tree)
    statistics = SiteStatistics(pages)
    for page in [*pages, document(site_page(77, "shop"))]:
        columns = statistics.columns(page)
        assert columns.importance.tolist() == pytest.approx(block_importances(tree, judgement, page))


def test_repeated_and_unique_text_have_different_numbers():
    pages = site(10)
    statistics = SiteStatistics(pages)
    for page in pages:
        columns = statistics.columns(page)
        own = np.array(own_words(page))
        assert columns.text_share[own].max() == 0
        assert columns.text_share[~own].min() == 1
        assert columns.importance[own].min() > columns.importance[~own].max()
        assert columns.entropy[own].max() < columns.entropy[~own].min()


@pytest.mark.parametrize("pages", [[], ["<p>tea</p>"], ["<p>tea</p>", "", "<img src=a.gif>"]])
def test_site_with_fewer_than_two_pages_has_no_numbers(pages):
    assert SiteStatistics(map(document, pages)).columns(document("<p>tea</p>")) is None


def test_numbers_are_updated_when_pages_are_added():
    statistics = SiteStatistics()
    page = document(PAGES[0])
    shares = []
    for number, html in enumerate(PAGES, 1):
        statistics.add(document(html))
        assert statistics.pages == number
        columns = statistics.columns(page)
        shares.append(None if columns is None else (columns.pages, round(float(columns.place_share[1]), 3)))
        if columns is not None:
            assert columns.importance.tolist() == columns_of(PAGES[:number], PAGES[0]).importance.tolist()
    assert shares == [None, (2, 1.0), (3, 1.0), (4, 0.75)]


# Features.

NAMES = ("site.importance", "site.entropy", "site.text-share", "site.place-share")


def column(name, page, known):
    columns = Columns(page, BLOCKS)
    columns.site = known
    feature = find_feature(name)
    return feature.column(columns, name).tolist()


def test_list_of_site_features():
    assert {name for name in FEATURES if FEATURES.get(name).family == "site"} == {*NAMES, "site.pages"}
    assert all(FEATURES.get(name).description for name in (*NAMES, "site.pages"))


def test_known_values_are_passed_on_and_unknown_values_are_minus_one():
    page, values = document("<p>tea</p><p>milk</p>"), [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6], [0.7, 0.8]]
    columns = SiteColumns(7, *map(np.array, values))
    for name, expected in zip(NAMES, values, strict=True):
        assert column(name, page, columns) == expected
        assert column(name, page, None) == [-1, -1]
        assert column(name, document(""), None) == []


def test_page_count_includes_the_page_itself():
    page = document("<p>tea</p><p>milk</p>")
    assert column("site.pages", page, None) == [1, 1]
    assert column("site.pages", page, columns_of(PAGES, "<p>tea</p><p>milk</p>")) == [4, 4]


def test_site_config_is_the_default_with_site_features():
    site_config, default = load_config("site"), load_config("default")
    assert site_config.one("evidence-template", "") == "site"
    assert site_config.features == default.features
    assert site_config.cuts == default.cuts == load_config("blocks").cuts
