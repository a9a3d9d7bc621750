"""Methods without training that look at one page or at what the pages of a site share."""

import json
import pickle
import random
import time
from itertools import accumulate
from pathlib import Path

import numpy as np
import pytest
from support.commands import run_process

from victorpy import load_config, read_document
from victorpy.base.hashes import PageCounts, hash_text, min_template_pages, windows
from victorpy.errors import ConfigError
from victorpy.labellers.one_page import LongestRun, SatisfiableSubtree, best_run
from victorpy.labellers.rtdm import Node, Rtdm, TreeMapping
from victorpy.labellers.templates import DomTemplate, Pagelets, TextTemplate, cover, fingerprints
from victorpy.methods import load_method
from victorpy.page.tree import PageTree

HERE = Path(__file__).parents[1]
CASES = HERE / "cases" / "template-methods"
PAGES = sorted((HERE / "cases" / "pages").glob("*/*.html"))
MAPPINGS = json.loads((CASES / "mappings.json").read_text(encoding="utf-8"))

PAGE_METHODS = ["satisfiable-subtree", "longest-run"]
SITE_METHODS = ["pagelets", "dom-template", "text-template", "rtdm"]

MENU = (
    "<ul id=menu><li><a href=/>Home page</a><li><a href=/tea>Tea and leaves</a><li><a href=/pots>Pots and cups</a></ul>"
)
FOOT = "<div id=foot>All rights of the tea house are reserved, since the year 1850.</div>"
NEWS = [
    "Water boils at a hundred degrees, unless one lives on a mountain.",
    "Leaves are picked by hand in spring, before the great heat sets in.",
    "Old pots are prized because every one of them tastes of its past.",
    "Sugar was brought along by sailors who could not do without any.",
    "Milk goes first, say some, and others would not hear of such things.",
    "Nobody drank from saucers once cups had been given their handles.",
]


def read(html, config="blocks"):
    return read_document(html, load_config(config))


def page(text, menu=MENU, foot=FOOT):
    return read(f"<body>{menu}<div><h1>{text.split()[0]}</h1><p>{text}</p></div>{foot}</body>")


def site(count=6):
    return [page(text) for text in NEWS[:count]]


def at_site(method, pages, *settings):
    return load_method(method, settings).at_site(pages).labeller


def kept(labeller, document):
    labels = labeller.label(document).labels
    return [block.text for block, label in zip(document.blocks, labels, strict=True) if label.is_content]


def dropped(labeller, document):
    return {block.text for block in document.blocks} - set(kept(labeller, document))


def names(tree, elements):
    return {tree.elements.attributes[element].get("id", tree.elements.tag[element]) for element in elements}


# A page's tree.


def test_tree_has_texts_and_elements_in_page_order():
    tree = PageTree(read("<body>a <b>b</b> c<br>d <img alt=e><p><i></i>f</p> g"))
    tags = tree.elements.tag
    shown = [
        [tags[item] if item >= 0 else tree.texts[~item].text for item in tree.content[tags.index(tag)]]
        for tag in ("body", "p")
    ]
    assert shown == [["a", "b", "c", "br", "d", "img", "p", "g"], ["i", "f"]]
    assert [text.text for text in tree.texts if not text.shown] == ["e"]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.parent.name)
def test_every_text_is_in_the_range_of_all_its_ancestors(path, config):
    tree = PageTree(read_document(path.read_bytes(), config))
    assert sorted(~each for held in tree.content for each in held if each < 0) == list(range(len(tree.texts)))
    for element, texts in enumerate(tree.text_ranges):
        inside = range(element, tree.elements.stop[element])
        assert list(texts) == [number for number, text in enumerate(tree.texts) if text.element in inside]


def test_link_count_includes_nested_links():
    tree = PageTree(read("<body><p><a href=/x>x</a> <b><a href=/y>y</a></b> <a name=z>z</a></p>"))
    counts = dict(zip(tree.elements.tag, tree.links, strict=True))
    assert (counts["p"], counts["b"]) == (2, 1)
    assert tree.in_link == [True, True, True]


@pytest.mark.parametrize(("share", "expected"), [(0.75, [True, True, False]), (0.76, [True, False, False])])
def test_block_is_chosen_if_enough_of_its_characters_are(share, expected):
    tree = PageTree(read("<body><p>tea</p><p>tea<b>m</b></p><p><i>m</i></p>"))
    texts = [number for number, text in enumerate(tree.texts) if text.text == "tea"]
    assert tree.blocks_with(texts, share) == expected


def test_numbers_are_the_same_in_every_process():
    command = "from victorpy.base.hashes import hash_text; print(hash_text('tea'))"
    assert int(run_process("-c", command).stdout) == hash_text("tea")


@pytest.mark.parametrize("size", [1, 3, 10])
def test_equal_subsequences_have_equal_windows(size):
    sequence = np.array([random.Random(number).randrange(2) for number in range(60)], dtype=np.uint64)
    hashes = windows(sequence, size)
    spelled = [tuple(sequence[start : start + size]) for start in range(60 - size + 1)]
    assert len(hashes) == len(spelled)
    assert len(set(hashes.tolist())) == len(set(spelled)) == len(set(zip(hashes.tolist(), spelled, strict=True)))


def test_pages_are_counted_instead_of_occurrences():
    counts = PageCounts()
    counts.add(1, np.array([5, 5, 6], dtype=np.uint64))
    counts.add(2, np.array([6, 7], dtype=np.uint64))
    counts.add(2, np.array([6, 7], dtype=np.uint64))
    asked = np.array([5, 6, 7, 8], dtype=np.uint64)
    assert counts.spread(1, asked).tolist() == [1, 2, 1, 1]
    assert counts.spread(9, asked).tolist() == [2, 3, 2, 1]
    assert (len(counts), counts.with_page(1), counts.with_page(9)) == (2, 2, 3)


def test_rare_numbers_are_forgotten_if_there_are_too_many():
    counts = PageCounts(most=10)
    for number in range(5):
        counts.add(number, np.array([1, 2, *range(100 * number + 10, 100 * number + 90)], dtype=np.uint64))
    assert counts.spread(0, np.array([1, 2, 10], dtype=np.uint64)).tolist() == [5, 5, 1]


@pytest.mark.parametrize(
    ("wanted", "pages", "expected"), [(100, 1000, 100), (100, 200, 100), (100, 99, 50), (100, 7, 4), (100, 1, 2)]
)
def test_half_of_the_pages_are_enough_for_a_template_of_a_small_site(wanted, pages, expected):
    assert min_template_pages(wanted, pages) == expected


# Satisfiable sub-trees.


@pytest.fixture(scope="module")
def fragment():
    return read((CASES / "satisfiable-subtree.html").read_text(encoding="utf-8"))


def test_satisfiable_subtrees_of_the_paper(fragment):
    tree, labeller = PageTree(fragment), SatisfiableSubtree(G=2, alpha=13, beta=13, gamma=0.4)
    roots = labeller.satisfiable(tree)
    assert names(tree, [element for element, is_root in enumerate(roots) if is_root]) == {"N1", "N2"}
    assert names(tree, tree.topmost(labeller.satisfiable(tree))) == {"N1"}
    assert kept(labeller, fragment) == ["Paragraph one", "Paragraph two", "Related Info"]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, set()),
        ({"alpha": 13, "beta": 13}, {"N2"}),  # the links of N1 are 12 of 38 characters, more than 0.3
        ({"alpha": 13, "beta": 38, "gamma": 0.4}, {"N1"}),
        ({"alpha": 13, "beta": 39, "gamma": 0.4}, set()),
        ({"alpha": 14, "beta": 13, "gamma": 0.4}, set()),
        ({"alpha": 10, "beta": 13, "gamma": 0.5}, {"body"}),
        ({"G": 1, "alpha": 13, "beta": 13}, {"b", "p"}),
        ({"G": 9, "alpha": 13, "beta": 13, "gamma": 1.0}, {"html"}),
    ],
)
def test_thresholds_of_satisfiable_subtrees(fragment, settings, expected):
    tree = PageTree(fragment)
    assert names(tree, tree.topmost(SatisfiableSubtree(**settings).satisfiable(tree))) == expected


@pytest.mark.parametrize("seed", range(20))
def test_satisfiable_subtrees_match_the_definition(seed):
    chance = random.Random(seed)
    parts = [
        chance.choice(["<div>", "</div>", "<a href=/>link</a>", "<b>bold</b>", "word " * chance.randrange(6)])
        for _ in range(60)
    ]
    tree = PageTree(read("<body>" + "".join(parts)))
    labeller = SatisfiableSubtree(G=2, alpha=8, beta=15, gamma=0.4)
    root = tree.elements.tag.index("html")
    for element, is_root in enumerate(labeller.satisfiable(tree)):
        if element != root:
            assert is_root == _satisfies(tree, element)


def _satisfies(tree, element, generations=2, alpha=8, beta=15, gamma=0.4):
    below = [element]
    for _ in range(generations - 1):
        below = [item for held in below for item in tree.content[held] if item >= 0]
    near = [tree.texts[~item].text for held in below for item in tree.content[held] if item < 0]
    inside = [number for number, text in enumerate(tree.texts) if element <= text.element < tree.elements.stop[element]]
    anchors = sum(len(tree.texts[number].text) for number in inside if tree.in_link[number])
    all_text = sum(len(tree.texts[number].text) for number in inside)
    return any(len(text) >= alpha for text in near) and all_text >= beta and anchors <= gamma * all_text


# The longest run.


def test_longest_run_leaves_out_menus():
    document = read(f"<body>{MENU * 3}<p>{' '.join(NEWS[:3])}</p><p>{NEWS[3]} <img alt='A cup'></p>{MENU}")
    assert kept(LongestRun(), document) == [" ".join(NEWS[:3]), NEWS[3]]


def test_longest_run_in_a_script_without_spaces():
    text = "茶是用热水冲泡茶树叶子制成的饮料" * 4
    document = read(f"<body><ul><li><a>茶</a><li><a>水</a></ul><p>{text}</p><ul><li>杯<li>壶</ul>")
    assert kept(LongestRun(), document) == [text]


@pytest.mark.parametrize("seed", range(20))
def test_best_run_equals_exhaustive_search(seed):
    chance = random.Random(seed)
    words, tags = ([chance.randrange(8) for _ in range(25)] for _ in range(2))
    inside, before = [0, *accumulate(words)], [0, *accumulate(tags)]

    def value(start, stop):
        return inside[stop] - inside[start] - (before[stop] - before[start + 1]) if stop > start else 0

    run = best_run(words, tags)
    assert value(run.start, run.stop) == max(value(i, j) for i in range(25) for j in range(i, 26))


# Pagelets.


def test_pagelets_have_no_child_with_three_links():
    tree = PageTree(read((CASES / "pagelets.html").read_text(encoding="utf-8")))
    assert names(tree, Pagelets().pagelets(tree)) == {"menu", "two-links", "article"}
    # One child of the body has three links, and four in all: with k = 4 it is split no further.
    assert names(tree, Pagelets(k=4).pagelets(tree)) == {"menus", "article"}
    assert names(tree, Pagelets(k=99).pagelets(tree)) == {"html"}


def test_repeated_pagelets_are_noise_but_not_the_text_between_them():
    menus = f"<div>Between the menus{MENU}{MENU.replace('tea', 'wine')}</div>"
    pages = [page(text, menu=menus) for text in NEWS[:3]]
    labeller = Pagelets().fit(pages)
    for document, text in zip(pages, NEWS, strict=False):
        assert kept(labeller, document) == ["Between the menus", text.split()[0], text]


def test_pagelet_repeated_within_one_page_is_kept():
    pages = [page(NEWS[0], foot=MENU.replace("Pots", "Sieves") * 2), page(NEWS[1])]
    assert kept(Pagelets().fit(pages), pages[0]).count("Sieves and cups") == 2


def test_pagelets_of_an_unseen_page_are_compared_too():
    assert kept(Pagelets().fit(site(1)), page(NEWS[5])) == [NEWS[5].split()[0], NEWS[5]]


@pytest.mark.parametrize("hashes", [1, 3])
def test_fingerprints_are_equal_with_the_probability_of_resemblance(hashes):
    chance = random.Random(1)
    equal = 0
    for _ in range(400):
        words = np.array([chance.randrange(1 << 60) for _ in range(40)], dtype=np.uint64)
        other = words.copy()
        other[20] += np.uint64(1)  # 4 of 37 runs of four words differ, so both texts have 33 of 41 runs
        ours, theirs = (fingerprints(sequence, [(0, 40)], 4, hashes) for sequence in (words, other))
        equal += ours == theirs
    assert equal / 400 == pytest.approx((33 / 41) ** hashes, abs=0.06)


def test_fingerprints_do_not_depend_on_surrounding_words():
    words = np.arange(30, dtype=np.uint64) % np.uint64(10)
    stretches = [(0, 10), (10, 20), (20, 30), (0, 3), (10, 13), (1, 3), (5, 5)]
    first, second, third, short, again, other, empty = fingerprints(words, stretches, 4, 3)
    assert first == second == third
    assert short == again
    assert len({first, short, other, empty}) == 4


# Templates by nodes and by text.


def test_nodes_on_half_of_the_pages_are_noise():
    parts = [f"<p>On {count} pages of six</p>" for count in range(1, 7)]
    pages = [page(text, foot="".join(parts[place:])) for place, text in enumerate(NEWS)]
    labeller = DomTemplate().fit(iter(pages))
    assert kept(labeller, pages[0])[2:] == ["On 1 pages of six", "On 2 pages of six"]
    strict = DomTemplate(F=2).fit(iter(pages))
    assert kept(strict, pages[0])[2:] == ["On 1 pages of six"]


def test_node_with_other_attributes_differs_but_its_texts_do_not():
    pages = [page(text, foot=f"<p class=c{place}>Same <b id=i{place}>text</b></p>") for place, text in enumerate(NEWS)]
    assert "Same text" in dropped(DomTemplate().fit(pages), pages[0])


@pytest.mark.parametrize("method", SITE_METHODS)
def test_repeated_label_with_a_new_value_is_kept(method):
    pages = [page(text, foot=f"<p><b>Price:</b> {chr(65 + place) * 5}</p>") for place, text in enumerate(NEWS)]
    assert "Price: AAAAA" in kept(at_site(method, pages), pages[0])


def test_text_of_many_pages_is_noise_regardless_of_tags():
    feet = [FOOT, FOOT.replace("div", "p"), FOOT.replace("reserved", "<b>reserved</b>")]
    pages = [page(text, foot=foot) for text, foot in zip(NEWS, feet * 2, strict=True)]
    labeller = TextTemplate().fit(iter(pages))
    assert [kept(labeller, document)[-1] for document in pages] == NEWS


def test_gaps_in_a_template_are_bridged():
    feet = [FOOT.replace("1850", f"<i>{number}</i>") for number in (1234, 5678, 9012, 3456, 7890, 1111)]
    pages = [page(text, foot=f"<p>{foot}") for text, foot in zip(NEWS, feet, strict=True)]
    foot = next(block.text for block in pages[0].blocks if "1234" in block.text)
    assert foot in dropped(TextTemplate(W=10).fit(pages), pages[0])
    every = [read(f"<body>{MENU}<p>{text}</p>{foot}{FOOT}", "cleaneval") for text, foot in zip(NEWS, feet, strict=True)]
    assert "1234" in kept(TextTemplate(W=10).fit(every), every[0])
    assert "1234" in dropped(TextTemplate(W=10, D=6).fit(every), every[0])


@pytest.mark.parametrize(
    ("starts", "gap", "expected"),
    [([], 0, "0000000000"), ([0, 1, 7], 0, "1111000111"), ([0, 6], 2, "1110001110"), ([0, 6], 3, "1111111110")],
)
def test_windows_cover_their_positions(starts, gap, expected):
    covered = cover(np.array(starts, dtype=np.int64), 3, gap, 10)
    assert "".join("01"[bool(is_covered)] for is_covered in covered) == expected


@pytest.mark.parametrize(("method", "setting"), [("text-template", "P=3"), ("rtdm", "sample=3")])
def test_only_the_sample_is_read(method, setting):
    pages = iter(site())
    at_site(method, pages, setting)
    assert len(list(pages)) == 3


# Restricted top-down mapping.


def node(tree):
    label, *children = tree
    return Node.of(hash_text(label), [node(child) for child in children])


def unlike(tree):
    """Return a tree as nested labels, for comparison."""
    return tree.label, [unlike(child) for child in tree.children]


@pytest.mark.parametrize("case", MAPPINGS, ids=lambda case: case["name"])
def test_mappings_of_trees(case):
    one, other = node(case["one"]), node(case["other"])
    assert TreeMapping().cost(one, other) == TreeMapping().cost(other, one) == case["cost"]
    assert unlike(TreeMapping().common(one, other)) == unlike(node(case["common"]))


def _plain_cost(one, other):
    """The same distance, computed without any optimisation."""
    if one[0] != other[0]:
        return 1 if len(one) == len(other) == 1 else _size(one) + _size(other)
    return _plain_list_cost(one[1:], other[1:])


def _plain_list_cost(ours, theirs):
    if not ours or not theirs:
        return sum(map(_size, ours + theirs))
    return min(
        _plain_list_cost(ours[1:], theirs) + _size(ours[0]),
        _plain_list_cost(ours, theirs[1:]) + _size(theirs[0]),
        _plain_list_cost(ours[1:], theirs[1:]) + _plain_cost(ours[0], theirs[0]),
    )


def _size(tree):
    return 1 + sum(map(_size, tree[1:]))


def _random_tree(chance, depth):
    count = chance.randrange(4) if depth else 0
    return [chance.choice("ab"), *(_random_tree(chance, depth - 1) for _ in range(count))]


@pytest.mark.parametrize("seed", range(30))
def test_shortcuts_do_not_change_the_distance(seed):
    chance = random.Random(seed)
    one, other = (["root", *(_random_tree(chance, 2) for _ in range(3))] for _ in range(2))
    assert TreeMapping().cost(node(one), node(other)) == _plain_cost(one, other)


def test_too_expensive_mappings_are_skipped():
    one, other = (["a", *([tag] for tag in tags), ["end"]] for tags in ("bcbcb", "cbccb"))
    # Of bcb and cbc nothing is mapped: nine pairs would have to be compared.
    assert unlike(TreeMapping(cells=8).common(node(one), node(other))) == unlike(node(["a", ["c"], ["b"], ["end"]]))
    assert len(TreeMapping(cells=9).common(node(one), node(other)).children) == 5


def test_rtdm_drops_equal_structure_and_with_text_only_equal_texts():
    longer = [f"<p>{NEWS[place]}</p>" * (place > 2) for place in range(6)]
    pages = [page(text, foot=FOOT + more) for text, more in zip(NEWS, longer, strict=True)]
    assert kept(Rtdm(text=False).fit(iter(pages)), pages[0]) == []
    assert kept(Rtdm(text=False).fit(iter(pages)), pages[5]) == [NEWS[5]]
    assert kept(Rtdm().fit(iter(pages)), pages[0]) == [NEWS[0].split()[0], NEWS[0]]


def test_rtdm_with_names_keeps_elements_with_other_names():
    pages = [page(text, foot=FOOT.replace("foot", f"foot{place}")) for place, text in enumerate(NEWS)]
    foot = pages[0].blocks[-1].text
    assert foot in dropped(Rtdm().fit(pages), pages[0])
    assert foot in kept(Rtdm(names=True).fit(pages), pages[0])


# All of them.


@pytest.mark.parametrize("method", SITE_METHODS)
def test_menus_and_footers_are_noise_and_articles_are_not(method):
    labeller = at_site(method, iter(site()))
    again = pickle.loads(pickle.dumps(labeller))
    for document, text in zip(site(), NEWS, strict=True):
        assert kept(labeller, document) == kept(again, document) == [text.split()[0], text]


@pytest.mark.parametrize("method", SITE_METHODS)
@pytest.mark.parametrize("pages", [site(1), site(1) * 5], ids=["one page", "the same page again"])
def test_one_page_has_no_template(method, pages):
    assert len(kept(at_site(method, pages), pages[0])) == len(pages[0].blocks)


@pytest.mark.parametrize("method", PAGE_METHODS + SITE_METHODS)
def test_methods_accept_any_page(method, config):
    pages = [read_document(path.read_bytes(), config) for path in PAGES]
    pages += [read_document(text, config) for text in ("", "x", "<html></html>", "<p>" * 3000 + "deep", "a\ud800b")]
    pages.append(read("#victor 1\n\nother\tTea is hot\n", "cleaneval"))  # without elements
    for documents in (pages, pages[-1:]):
        labels = at_site(method, documents).predict(documents)
        assert list(map(len, labels)) == [len(document.blocks) for document in documents]


@pytest.mark.slow
@pytest.mark.parametrize("method", PAGE_METHODS + SITE_METHODS)
def test_cost_grows_linearly_with_the_page(method):
    def seconds(rows):
        chance = random.Random(1)
        cells = [f"<tr>{'<td><b>x' * chance.randrange(1, 6)}{number}</tr>" for number in range(rows)]
        pages = [read(f"<body>{place}<table>{''.join(cells[place:])}</table>") for place in range(3)]
        began = time.process_time()
        at_site(method, pages).predict(pages)
        return time.process_time() - began

    seconds(100)
    assert seconds(2000) < 10 * seconds(500) + 1


# Mistakes of users.


@pytest.mark.parametrize(
    ("method", "setting", "message"),
    [
        ("satisfiable-subtree", "G=0", "G=0: expected a whole number, 1 or more"),
        ("satisfiable-subtree", "alpha=-1", "alpha=-1: expected a whole number, 0 or more"),
        ("satisfiable-subtree", "gamma=1.5", "gamma=1.5: expected a number from 0 to 1"),
        ("satisfiable-subtree", "gamma=nan", "gamma=nan: expected a number from 0 to 1"),
        ("satisfiable-subtree", "delta=1", "parameters: G=2, alpha=40, beta=100, gamma=0.3"),
        ("longest-run", "k=1", "parameters: none"),
        ("pagelets", "k=0", "k=0: expected a whole number, 1 or more"),
        ("pagelets", "s=many", "s=many: expected a value like 6"),
        ("dom-template", "F=1", "F=1: expected a whole number, 2 or more"),
        ("text-template", "W=0", "W=0: expected a whole number, 1 or more"),
        ("text-template", "D=-1", "D=-1: expected a whole number, 0 or more"),
        ("rtdm", "sample=1", "sample=1: expected a whole number, 2 or more"),
        ("rtdm", "text=perhaps", "text=perhaps: expected yes or no"),
    ],
)
def test_invalid_parameters_are_refused(method, setting, message):
    with pytest.raises(ConfigError) as error:
        load_method(method, [setting])
    assert message in str(error.value)


def test_fractional_count_is_refused_in_code_too():
    with pytest.raises(ConfigError, match=r"k=2\.5: expected a whole number"):
        Pagelets(k=2.5)
