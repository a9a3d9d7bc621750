"""Exact limits and numbers of sites: their names, folds, samples, trees and files."""

import gzip
import json
import random
from collections import Counter
from dataclasses import replace

import pytest
from support.sitepages import BLOCKS, document, site
from support.snapshots import check, digest

from victorpy.errors import ConfigError, ModelError
from victorpy.outputs.anno import read_anno
from victorpy.sites.content import Content, link_features
from victorpy.sites.grouping import SITE_KEY, SITE_KEYS, draw_sample, make_folds, site_of
from victorpy.sites.importance import Judgement, Place, block_importances, node_importance, places_of_blocks
from victorpy.sites.page_tree import DISPLAY, page_tree
from victorpy.sites.statistics import SiteStatistics
from victorpy.sites.store import is_tree, load_tree, save_tree
from victorpy.sites.style_tree import ElementNode, StyleNode, StyleTree, merge_alike


def drawn(node, depth=0):
    """A page's tree as lines."""
    lines = [f"{'  ' * depth}{' '.join(node.key).strip()} {node.blocks or ''}{node.images or ''}".rstrip()]
    return lines + [line for child in node.children for line in drawn(child, depth + 1)]


def drawn_tree(element, judgement, depth=0):
    judged = judgement.of(element)
    line = (
        f"{element.tag} {element.display} {element.pages:b} {judged.composite:.6f} {judged.leaf:.6f} {judged.noisy:d}"
    )
    line += f"{judged.meaningful:d} {sorted(judged.repeated)}"
    lines = ["  " * depth + line]
    for style in element.styles.values():
        lines.append("  " * depth + f" style {style.pages:b} {judgement.style_importance(style):.6f}")
        lines += [each for child in style.elements for each in drawn_tree(child, judgement, depth + 1)]
    return lines


BODIES = [
    "<div class='a7 b' id=x role=main>one<p>two</p>three<img src=a.gif></div>"
    "<ul><li>four<li><a href=/x?y#z>five</a></ul>",
    "<div class='b a8' id=x role=main>one<p>2</p>three<img src=b.gif></div><ul><li>six<li><a href=/x>five</a></ul><hr>",
    "<div class='a b c' id=x role=main>one<p align=left>2</p></div><table width=5 bgcolor=red><td>x<br>y</table>tail",
    "text<div class=q><img src=a.gif><span>in<b>ner</b></span></div><p></p><h1>Five five</h1><h1>six</h1>",
    "<div><div><div>deep</div></div>beside</div><p color=red size=2>p<p border=1 face=x>q"
    "<td valign=top height=2 background=u>r",
]


@pytest.mark.parametrize("virtual_leaves", [False, True])
@pytest.mark.parametrize("styles", ["modern", "paper"])
def test_trees_of_pages_and_sites(styles, virtual_leaves):
    documents = [document(html) for html in BODIES]
    found = {f"page {n}": "|".join(drawn(page_tree(page, styles, virtual_leaves))) for n, page in enumerate(documents)}
    tree = StyleTree(styles, virtual_leaves)
    for page in [*documents, *site(4), *site(3, "shop", 9)]:
        assert tree.add(page)
        assert not tree.add(page)
    for t in (0.2, 0.6):
        judgement = Judgement(t=t).judge(tree)
        found[f"judged {t}"] = digest("\n".join(drawn_tree(tree.root, judgement)))
        found[f"importances {t}"] = " ".join(
            f"{value:.4f}" for page in documents for value in block_importances(tree, judgement, page)
        )
    merge_alike(tree, 0.5, 0.5)
    found["merged"] = digest("\n".join(drawn_tree(tree.root, Judgement().judge(tree))))
    found["places"] = " ".join(
        f"{place.element.tag}{'!' * place.is_leaf}" for page in documents for place in places_of_blocks(tree, page)
    )
    check("sites", f"{styles}, {virtual_leaves}", found)


def test_tree_of_an_annotation_file_without_a_body():
    lines = ["other\t-\t\t a", "other\t-\t<div><p>\t b", "other\t-\t</p><p>\t c", "end\t-\t</p></div>\t\n"]
    text = "\n".join(["%victor-anno 1", "split: block", "", *lines])
    tree = page_tree(read_anno(text, BLOCKS.cuts).document, "modern", virtual_leaves=False)
    assert drawn(tree) == ["#root", "  #text [0]", "  div", "    p [1]", "    p [2]"]


def test_statistics_of_blocks():
    documents = [document(html) for html in BODIES] + site(3)
    statistics = SiteStatistics(documents)
    found = {}
    for number, page in enumerate([*documents[:6], document("<p>never seen 5")]):
        columns = statistics.columns(page)
        for name in ("importance", "entropy", "text_share", "place_share"):
            found[f"{number} {name}"] = [float(value) for value in getattr(columns, name)]
    check("sites", "statistics", found, 1e-6)


def test_links_images_and_words_are_features():
    page = document("<p><a href=/a?x>1</a> <a href='/a#y'>2</a> <a href=/b>3</a> <a>4</a> <a href='?q'>5</a>")
    assert link_features(page, page.blocks[0]) == ["link /a", "link /b"]


def test_contents_of_two_places():
    one, other = Content(), Content()
    one.add(0, Counter(tea=2, milk=1))
    one.add(3, Counter(tea=1))
    other.add(1, Counter(tea=4, rum=1))
    assert (one.page_count, one.pages_with("tea"), one.pages_with("milk"), one.pages_with("rum")) == (2, 2, 1, 0)
    assert (one.entropy("tea"), one.entropy("milk"), one.entropy("rum")) == (pytest.approx(0.9182958), 0.0, 0.0)
    assert one.importance() == pytest.approx(1 - 0.9182958 / 2)
    one.merge(other)
    assert (one.pages, one.pages_with("tea"), one.pages_with("rum")) == (0b1011, 3, 1)
    assert one.entropy("tea") == pytest.approx(0.869915, abs=1e-4)
    assert one.repeated(0.14) == {"tea"}
    assert one.repeated(0.13) == frozenset()
    assert other.repeated(1.1) == frozenset()
    assert (other.entropy("tea"), other.importance(), Content().importance()) == (0.0, 1.0, 0.0)


@pytest.mark.parametrize(
    ("url", "domain", "host"),
    [
        ("http://www.tea.co.uk:80/x", "tea.co.uk", "www.tea.co.uk"),
        ("https://TEA.Example", "tea.example", "tea.example"),
        ("http://127.0.0.1/", "127.0.0.1", "127.0.0.1"),
        ("http://[::1]:8/", "::1", "::1"),
        ("http://co.uk/", "co.uk", "co.uk"),
        ("http://localhost/", "localhost", "localhost"),
        ("tea.example/x", "", ""),
        ("", "", ""),
        ("http://[x/", "", ""),
    ],
)
def test_sites_of_addresses(url, domain, host):
    assert (site_of(url), site_of(url, "host")) == (domain, host)
    assert (SITE_KEYS, SITE_KEY) == (("domain", "host"), "domain")
    with pytest.raises(ConfigError, match=r"a site must be one of domain, host, not 'hots' \(did you mean 'host'\?\)"):
        site_of(url, "hots")


def test_folds_and_samples_are_those_of_every_version():
    chance = random.Random(5)
    groups = [f"site{chance.randrange(12)}" for _ in range(60)]
    labels = [chance.choice(["tea", "pot", "cup"]) for _ in groups]
    check("sites", "folds", {
        **{f"{n} folds": "".join(map(str, make_folds(groups, n, seed))) for n, seed in ((2, 1), (4, 1), (5, 7))},
        **{f"{folds} labelled": "".join(map(str, make_folds(groups, folds, 1, labels))) for folds in (2, 3)},
        "sample": " ".join(map(str, draw_sample(range(50), 12))),
        "other sample": " ".join(map(str, draw_sample(range(50), 5, random.Random(3)))),
    })  # fmt: skip
    assert draw_sample([3, 1, 2], 3) == [3, 1, 2]
    assert len(draw_sample([3, 1, 2], 2)) == 2


# Names of elements.


@pytest.mark.parametrize(
    ("site", "page", "is_found"),
    [
        ("a b", "a b c d", True),  # half of the names
        ("a b", "a b c d e", False),
        ("a b c", "a b d", True),
        ("a b c", "a d e", False),
    ],
)
def test_elements_that_share_half_of_their_names_are_the_same(site, page, is_found):
    tree = StyleTree()
    tree.add(document(f"<div class='{site}'><p>one</p></div><div class=other><p>x</p></div><p>tail"))
    places = places_of_blocks(
        tree, document(f"<div class='{page}'><p>two</p></div><div class=more><p>y</p></div><p>tail")
    )
    assert (places[0].element.tag == "div") is is_found


@pytest.mark.parametrize(("count", "is_found"), [(500, True), (501, False)])
def test_new_names_below_more_than_500_names_are_new_elements(count, is_found):
    names = [f"n{''.join(chr(97 + int(digit)) for digit in str(number))}" for number in range(count - 1)]
    tree = StyleTree()
    tree.add(document("".join(f"<p class={name}>tea" for name in names) + "<div class='a b'>rum</div>"))
    (place,) = places_of_blocks(tree, document("<div class='a b c'>gin</div>"))
    assert (place.element.tag == "div") is is_found


@pytest.mark.parametrize(
    "name", ["align", "valign", "width", "height", "bgcolor", "background", "color", "face", "size", "border"]
)
def test_display_attributes_make_elements_differ(name):
    config = replace(BLOCKS, values={**BLOCKS.values, "attribute-keep": (*DISPLAY, "title")})
    page = document(f"<div><p {name}=1 title=x>tea<p {name}=2>cup<p title=y>pot</div>", config)
    keys = [leaf.key for leaf in page_tree(page, "paper", virtual_leaves=False).leaves()]
    assert keys == [("p", f"{name}=1"), ("p", f"{name}=2"), ("p", "")]


def node(*counts, leaf=0):
    """An element node with styles that have these numbers of pages."""
    element, page = ElementNode("p", ""), 0
    for number, count in enumerate(counts):
        style = element.styles[(("a", str(number)),)] = StyleNode([])
        style.pages = sum(1 << (page + n) for n in range(count))
        page += count
    if leaf:
        element.content = Content()
        element.content.pages = sum(1 << (page + n) for n in range(leaf))
    element.pages = (1 << (page + leaf)) - 1
    return element


def test_importance_of_nodes():
    assert [node_importance(node(*counts)) for counts in ((1,), (2,), (1, 1), (2, 2))] == [1.0, 0.0, 1.0, 0.5]
    assert node_importance(node(3, leaf=1)) == pytest.approx(node_importance(node(3, 1)))
    assert Place(node(1), is_leaf=False).leaf is None
    assert Judgement() == Judgement(0.9, 0.4, 0.01)


# Files.


def changed(path, **values):
    data = json.loads(gzip.decompress(path.read_bytes()))
    for name, value in values.items():
        data[name] = value
    path.write_bytes(gzip.compress(json.dumps(data).encode()))


@pytest.fixture
def saved(tmp_path):
    tree = StyleTree()
    for page in site(3):
        tree.add(page)
    tree.t = 0.25
    save_tree(tree, tmp_path / "site.sst")
    return tmp_path / "site.sst"


@pytest.mark.parametrize("t", [None, 0, 1, 0.5])
def test_threshold_of_a_saved_tree(saved, t):
    assert load_tree(saved).t == 0.25
    changed(saved, t=t)
    assert load_tree(saved).t == t


@pytest.mark.parametrize(
    "values",
    [
        *({"t": value} for value in (-0.01, 1.01, "x")),
        *({"pages": value} for value in (0, -1, 2, 4, 1_000_001)),
        *({"format": value} for value in ("victorpy style tree 2", None)),
        *({"styles": value} for value in ("x", None)),
        *({"seen": value} for value in (None, 5)),
    ],
)
def test_saved_trees_with_wrong_values(saved, values):
    changed(saved, **values)
    with pytest.raises(ModelError, match=r"site\.sst: .*build (it|the tree) again"):
        load_tree(saved)


@pytest.mark.parametrize(
    ("total", "logs", "is_valid"),
    [
        (1, 0, True),
        (0, 0, False),
        (10**12, 0, True),
        (10**12 + 1, 0, False),
        (1, 1, True),
        (1, 1.01, False),
        (1, -0.01, False),
    ],
)
def test_words_of_a_saved_tree_are_within_limits(saved, total, logs, is_valid):
    data = json.loads(gzip.decompress(saved.read_bytes()))
    entry = next(entry for entry in data["elements"] if entry["content"] and entry["content"][1])
    first = next(iter(entry["content"][1].values()))
    first[1:] = [total, logs]
    saved.write_bytes(gzip.compress(json.dumps(data).encode()))
    if is_valid:
        assert load_tree(saved).page_count == 3
    else:
        with pytest.raises(ModelError, match=r"damaged .ValueError."):
            load_tree(saved)


def test_saved_tree_is_json_with_the_names_of_every_version(saved):
    data = json.loads(gzip.decompress(saved.read_bytes()))
    assert {name: data[name] for name in ("format", "styles", "virtual_leaves", "pages", "t")} == {
        **{"format": "victorpy style tree 3", "styles": "modern", "virtual_leaves": True, "pages": 3, "t": 0.25}
    }
    assert data["elements"][0].keys() == {"tag", "display", "pages", "styles", "known", "content"}
    assert data["elements"][0]["pages"] == "7"
    assert data["seen"] == sorted(data["seen"])
    assert is_tree(saved)
    saved.write_bytes(b"\x1f\x8c")
    assert not is_tree(saved)
    with pytest.raises(ConfigError, match=r"styles must be one of modern, paper, not 'moden' .did you mean 'modern'"):
        StyleTree("moden")


@pytest.mark.parametrize(("levels", "is_valid"), [(300, True), (301, False)])
def test_saved_trees_have_300_levels(saved, levels, is_valid):
    child = {"tag": "p", "display": "", "pages": "1", "styles": [], "known": [], "content": None}
    chain = [{**child, "styles": [[[["p", ""]], "1", [number + 1]]]} for number in range(levels)]
    changed(saved, elements=[*chain, child], pages=1, seen=[])
    if is_valid:
        assert load_tree(saved).page_count == 1
    else:
        with pytest.raises(ModelError, match="damaged"):
            load_tree(saved)
