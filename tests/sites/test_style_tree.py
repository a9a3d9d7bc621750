"""The Site Style Tree: its equations and figures, merging, marking and mapping, and its file format."""

import gzip
import itertools
import json
import math
from collections import Counter
from contextlib import nullcontext
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.sitepages import BLOCKS, WORDS, document, kept, own_labels, own_words, site, site_page

from victorpy.base.words import simple_words
from victorpy.cleaner import read_document
from victorpy.document import Document, Elements
from victorpy.errors import ConfigError, ModelError, VictorError
from victorpy.labellers.sentence_entropy import SegmentTree, SentenceEntropy
from victorpy.labellers.site_style_tree import CAUTIOUS, SiteStyleTree, Trial, add_pages, best_threshold
from victorpy.outputs import CleanPage
from victorpy.research.report import style_tree as report
from victorpy.research.report.style_tree import as_html, as_text
from victorpy.sites import store
from victorpy.sites.content import Content
from victorpy.sites.importance import Judgement, block_importances, node_importance
from victorpy.sites.page_tree import STYLES, page_tree
from victorpy.sites.store import is_tree, load_tree, save_tree
from victorpy.sites.style_tree import MOST_KNOWN, ElementNode, StyleNode, StyleTree, merge_alike

repeatable = settings(max_examples=60)


def tree_of(*pages, styles="paper", virtual_leaves=False):
    tree = StyleTree(styles, virtual_leaves)
    for html in pages:
        tree.add(document(html))
    return tree


def leaf(*pages, first=0):
    """Make a leaf with the given words on each page."""
    element = ElementNode("p", "")
    element.content = Content()
    for number, words in enumerate(pages, first):
        element.content.add(number, Counter(words.split()))
    element.pages = element.content.pages
    return element


def inner(*styles):
    """Make an element with styles, each given as its page count and its children."""
    element, first = ElementNode("div", ""), 0
    for number, (count, children) in enumerate(styles):
        style = StyleNode(children)
        style.pages = ((1 << count) - 1) << first
        first += count
        element.pages |= style.pages
        element.styles[(("style", str(number)),)] = style
    return element


def judged(root, t=0.4, gamma=0.9):
    tree = StyleTree("paper")
    tree.root = root
    return Judgement(gamma, t).judge(tree)


def only_style(element):
    (style,) = element.styles.values()
    return style


def tags(style):
    return "-".join(element.tag.upper() for element in style.elements)


# Equation 1.


@pytest.mark.parametrize(
    ("styles", "expected"),
    [
        ([100], 0.0),  # the Body of figure 4
        ([35, 25, 25, 15], pytest.approx(0.292, abs=0.0005)),  # its double-lined table
        ([1], 1.0),  # m = 1
        ([1, 1], pytest.approx(1.0)),
        ([1] * 10, pytest.approx(1.0)),
        ([2, 2], pytest.approx(0.5)),
        ([50, 50], pytest.approx(math.log(2) / math.log(100))),
        ([3, 1], pytest.approx(-(0.75 * math.log(0.75, 4) + 0.25 * math.log(0.25, 4)))),
    ],
)
def test_node_importance_is_the_entropy_of_styles(styles, expected):
    assert node_importance(inner(*((count, []) for count in styles))) == expected


def test_leaf_on_some_pages_counts_as_a_style():
    element = inner((2, [leaf("tea", "tea")]))
    element.content = leaf("milk", "milk", first=2).content
    element.pages = 0b1111
    assert node_importance(element) == pytest.approx(0.5)


# Equations 2 and 3.


def test_composite_importance_of_an_inner_node():
    same, different, single = leaf("tea", "tea", "tea"), leaf("milk", "rum", "sugar"), leaf("gin", first=3)
    element = inner((3, [same, different]), (1, [single]))
    judgement = judged(element)
    assert judgement.of(same).composite == pytest.approx(0)
    assert judgement.of(different).composite == judgement.of(single).composite == pytest.approx(1)
    first, second = element.styles.values()
    assert judgement.style_importance(first) == pytest.approx((0 + 1) / 2)
    assert judgement.style_importance(second) == pytest.approx(1)
    node = 0.4056390622  # -3/4 log4 3/4 - 1/4 log4 1/4
    assert judgement.of(element).node == pytest.approx(node)
    assert judgement.of(element).composite == pytest.approx((1 - 0.9**2) * node + 0.9**2 * (3 / 4 * 1 / 2 + 1 / 4 * 1))
    assert judgement.of(element).composite == pytest.approx(0.5833214218)
    assert judged(element, gamma=1.0).of(element).composite == pytest.approx(0.625)  # the children alone
    assert judged(element, gamma=0.0).of(element).composite == pytest.approx(node)


def test_composite_importance_is_computed_from_the_bottom_up():
    below = inner((2, [leaf("milk", "rum")]))
    element = inner((2, [below, leaf("tea", "tea")]))
    judgement = judged(element)
    assert judgement.of(below).composite == pytest.approx(0.9 * 1)
    assert judgement.of(element).composite == pytest.approx(0.9 * (0.9 + 0) / 2)


# Equations 4 and 5.


def test_leaf_importance_is_1_minus_mean_entropy():
    content = leaf("tea tea tea hot", "tea").content
    entropy = -(0.75 * math.log2(0.75) + 0.25 * math.log2(0.25))
    assert content.entropy("tea") == pytest.approx(entropy) == pytest.approx(0.8112781245)
    assert content.entropy("hot") == 0
    assert content.importance() == pytest.approx(1 - (0.8112781245 + 0) / 2)
    content = leaf("tea", "tea", "milk", "rum").content  # the base is the number of pages with the leaf
    assert (content.page_count, content.entropy("tea")) == (4, pytest.approx(math.log(2) / math.log(4)))


@pytest.mark.parametrize(("pages", "expected"), [(["tea tea"], 1), (["", ""], 0)], ids=["one page", "no features"])
def test_leaf_importance_with_nothing_to_compare(pages, expected):
    content = leaf(*pages).content
    assert content.importance() == expected
    assert content.entropy("unknown") == 0


def test_features_are_words_image_files_and_link_targets():
    html = '<div><p>Two Words</p><img src="cup.gif"><p>two <a href="/tea?from=here#top">words</a></p></div>'
    tree = tree_of(html, virtual_leaves=True)
    contents = [node.content for node in tree.root.walk() if node.content]
    assert {feature for content in contents for feature in content.sums} == {
        *("image cup.gif", "link /tea", "two", "words")
    }


@pytest.mark.parametrize("styles", STYLES)
def test_images_between_parts_belong_to_neither(styles):
    def page(number, images):
        between = "".join(f'<img src="/photos/{number}-{image}.jpg">' for image in range(images))
        menu = f"<div class=menu><p>Home News</p><p>You are visitor {number} of this site</p></div>"
        story = f"<div class=story><div><h1>{WORDS[number]}</h1></div><div><p>{WORDS[number + 9]}</p></div></div>"
        return document(f"<html><body>{menu}{between}{story}{between}{menu}</body></html>")

    plain, illustrated = ([page(number, images) for number in range(8)] for images in (0, 12))
    importances = [SiteStyleTree(styles=styles).fit(pages).importances(pages[0]) for pages in (plain, illustrated)]
    assert importances[0] == importances[1]


# The stored sums against the equations of the paper.

vocabulary = st.sampled_from(["tea", "milk", "rum", "gin", "sugar"])
counts = st.dictionaries(vocabulary, st.integers(1, 6), max_size=5).map(Counter)


def naive_entropy(pages, feature):
    """Equation 5."""
    total = sum(page[feature] for page in pages)
    shares = [page[feature] / total for page in pages if page[feature]]
    return -sum(share * math.log(share, len(pages)) for share in shares) if len(pages) > 1 else 0.0


def content_of(pages, first=0):
    content = Content()
    for number, page in enumerate(pages, first):
        content.add(number, page)
    return content


@given(st.lists(counts, min_size=2, max_size=7))
@repeatable
def test_entropies_from_sums_match_equation_5(pages):
    content = content_of(pages)
    features = {feature for page in pages for feature in page}
    for feature in features:
        assert content.entropy(feature) == pytest.approx(naive_entropy(pages, feature), abs=1e-9)
    if features:
        mean = sum(naive_entropy(pages, feature) for feature in features) / len(features)
        assert content.importance() == pytest.approx(1 - mean, abs=1e-9)


@given(st.lists(counts, min_size=2, max_size=7), st.integers(0, 7))
@repeatable
def test_merged_content_equals_content_of_all_pages(pages, cut):
    merged = content_of(pages[:cut])
    merged.merge(content_of(pages[cut:], first=cut))
    together = content_of(pages)
    assert merged.pages == together.pages
    assert merged.importance() == pytest.approx(together.importance(), abs=1e-9)
    assert merged.sums.keys() == together.sums.keys()


# Building.

D1 = (
    "<body><table></table><img src=a.gif>"
    "<table width=500><p>one</p><img src=b.gif><p>two</p><a href=x>more</a></table></body>"
)
D2 = "<body><table></table><img src=a.gif><table width=500><p>one</p><br><p>two</p></table></body>"


def test_pages_of_figure_3_merge_into_its_style_tree():
    tree = tree_of(D1, D2)
    assert tags(only_style(tree.root)) == "BODY"
    (body,) = only_style(tree.root).elements
    assert (body.page_count, only_style(body).page_count) == (2, 2)
    assert tags(only_style(body)) == "TABLE-IMG-TABLE"
    first, image, right = only_style(body).elements
    assert (first.display, right.display) == ("", "width=500")
    assert (first.styles, image.styles) == ({}, {})
    shown = {tags(style): style.page_count for style in right.styles.values()}
    assert shown == {"P-BR-P": 1, "P-IMG-P-A": 1}
    assert (node_importance(body), node_importance(right)) == (0, 1)


def test_elements_differ_by_display_attributes_in_paper_and_classes_in_modern():
    wide, narrow = (f'<div><table width={width} class="{name}"><td>a<p>b' for width, name in ((9, "x"), (5, "y z")))
    assert len(only_style(tree_of(wide, wide).root).elements[0].styles) == 1
    (body,) = only_style(tree_of(wide, narrow).root).elements
    (division,) = only_style(body).elements
    assert {keys[0] for keys in division.styles} == {("table", "width=9"), ("table", "width=5")}
    (division,) = only_style(tree_of(wide, narrow, styles="modern").root).elements
    assert {keys[0] for keys in division.styles} == {("table", "x"), ("table", "y z")}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ('class="post-12"', 'class="post-345"'),  # digits do not count
        ('class="post"', 'class="post current"'),  # half of the names in common
        ('id="a b"', 'class="B a"'),  # class, id and role count alike, in any order and case
        ('class="post wide blue"', 'class="news wide red"'),  # the only division on either side
        ("", 'class="post"'),
    ],
)
def test_modern_elements_match_with_varying_names(first, second):
    tree = tree_of(*(f"<div {names}><p>a</p><ul><li>b</ul></div>" for names in (first, second)), styles="modern")
    assert len(list(tree.root.children())) == 1


def test_modern_elements_with_other_names_differ_if_there_are_several():
    pages = ['<div class="post"><p>a</p></div><div class="note"><p>b</p></div>', '<div class="ad"><p>c</p></div>']
    assert len(list(tree_of(*pages, styles="modern").root.children())) == 3  # it could be the post or the note
    one, two = pages[1], pages[1] + '<div class="tip"><p>d</p></div>'
    assert len(list(tree_of(one, two, styles="modern").root.children())) == 2


def test_modern_siblings_with_the_same_name_are_one():
    tree = tree_of("<ul><li>a<li>b<li>c</ul>", "<ul><li>d</ul>", styles="modern")
    (element,) = tree.root.children()
    assert len(element.styles) == 1
    (item,) = element.children()
    assert sorted(item.content.sums) == ["a", "b", "c", "d"]
    assert item.content.page_count == item.page_count == 2


def test_page_with_a_leaf_twice_counts_once():
    tree = tree_of("<ul><li>tea<li>tea</ul>", "<ul><li>tea</ul>", styles="modern")
    content = next(node.content for node in tree.root.walk() if node.content)
    assert content.entropy("tea") == pytest.approx(-(2 / 3 * math.log2(2 / 3) + 1 / 3 * math.log2(1 / 3)))


def test_empty_and_repeated_pages_are_not_counted():
    tree = tree_of("<p>tea</p>", "", "<div></div>", "<img src=a.gif>", "<p>tea</p>")
    assert tree.page_count == tree.root.page_count == 1


@pytest.mark.parametrize(
    ("inside", "tags"),
    [
        ("one<p>two</p>three<p>four</p>", ["#text", "p", "#text", "p"]),
        ("one<br>two <img src=x> three<p></p><a>four</a>", ["#text", "br", "#text", "img", "p", "a"]),
    ],
    ids=["text beside elements", "images, breaks and whole links"],
)
def test_nodes_of_the_basic_algorithm(inside, tags):
    root = page_tree(document(f"<div>{inside}</div>"), "paper", virtual_leaves=False)
    (body,) = root.children
    (division,) = body.children
    assert [child.key[0] for child in division.children] == tags
    if "br" not in tags:
        assert [child.blocks for child in division.children] == [[0], [1], [2], [3]]


nested = st.recursive(
    st.lists(vocabulary, min_size=1, max_size=3).map(" ".join),
    lambda inside: st.tuples(st.sampled_from(["div", "p", "table", 'div class="a"']), st.lists(inside, max_size=3)),
    max_leaves=6,
)
pages_of_site = st.lists(st.lists(nested, min_size=1, max_size=3), min_size=2, max_size=5)


def as_markup(node):
    if isinstance(node, str):
        return node
    tag, inside = node
    return f"<{tag}>{' '.join(map(as_markup, inside))}</{tag.split()[0]}>"


def documents_from(drawn):
    return [document("<body>" + "".join(map(as_markup, page)) + "</body>") for page in drawn]


def built(documents, styles, virtual_leaves=True):
    tree = StyleTree(styles, virtual_leaves)
    for page in documents:
        tree.add(page)
    return tree


def every_block(node):
    return sorted(block for leaf in node.leaves() for block in leaf.blocks)


@given(pages_of_site, st.sampled_from(["paper", "modern"]), st.booleans())
@repeatable
def test_every_block_of_a_page_is_in_one_leaf(drawn, styles, virtual_leaves):
    for page in documents_from(drawn):
        numbers = list(range(len(page.blocks)))
        assert every_block(page_tree(page, styles, virtual_leaves)) == numbers
        assert every_block(SegmentTree(styles).page(page)) == numbers


def described(element, judgement):
    """An element and everything below it, independent of page numbers."""
    mark = judgement.of(element)
    styles = [
        (keys, style.page_count, [described(child, judgement) for child in style.elements])
        for keys, style in element.styles.items()
    ]
    numbers = [round(value, 9) + 0.0 for value in (mark.node, mark.composite, mark.leaf, mark.highest)]
    features = sorted(element.content.sums) if element.content else []
    return (element.tag, element.page_count, numbers, mark.noisy, mark.meaningful, features, sorted(styles))


@given(pages_of_site, st.randoms(use_true_random=False), st.booleans())
@repeatable
def test_pages_may_be_added_in_any_order(drawn, chance, virtual_leaves):
    documents = documents_from(drawn)
    shuffled = chance.sample(documents, len(documents))
    assert_same(*(built(pages, "paper", virtual_leaves) for pages in (documents, shuffled)), documents)


@given(pages_of_site, st.sampled_from(["paper", "modern"]))
@repeatable
def test_importances_are_from_0_to_1(drawn, styles):
    documents = documents_from(drawn)
    tree = built(documents, styles)
    judgement = Judgement().judge(tree)
    for element in tree.root.walk():
        mark = judgement.of(element)
        assert all(-1e-9 <= value <= 1 + 1e-9 for value in (mark.node, mark.composite, mark.leaf, mark.highest))
    for page in documents:
        assert all(0 <= value <= 1 for value in block_importances(tree, judgement, page))


# Figure 5, and what is meaningful.


def test_noise_and_content_are_marked():
    menu, footer, article = leaf("home", "home"), leaf("contact", "contact"), leaf("milk", "rum")
    noise, mixed = inner((2, [menu, footer])), inner((2, [leaf("ad", "ad"), article]))
    content = inner((2, [leaf("gin", "tea"), leaf("sugar", "salt")]))
    root = inner((2, [noise, mixed, content]))
    judgement = judged(root)
    marks = [judgement.of(element) for element in (noise, menu, mixed, article, content, root)]
    assert [mark.noisy for mark in marks] == [True, True, False, False, False, False]
    assert [mark.meaningful for mark in marks] == [False, False, False, True, True, False]


def test_unimportant_node_over_an_important_one_is_not_noisy():
    element = inner((4, [*(leaf(*["ad"] * 4) for _ in range(9)), leaf("tea", "milk", "rum", "gin")]))
    judgement = judged(element)
    assert judgement.of(element).composite < 0.4
    assert not judgement.of(element).noisy


def test_important_node_over_noise_is_neither_noisy_nor_meaningful():
    styles = [(2, [leaf("", "", first=2 * number)]) for number in range(8)]  # different styles without any text
    element = inner(*styles)
    mark = judged(element).of(element)
    assert mark.composite > 0.4
    assert (mark.noisy, mark.meaningful) == (False, False)


@pytest.mark.parametrize(("t", "noisy"), [(0.5, True), (0.49, False)])
def test_importance_equal_to_the_threshold_is_noise(t, noisy):
    element = leaf("tea", "tea", "milk", "rum")
    element.content.sums = {"tea": element.content.sums["tea"]}
    judgement = judged(element, t)
    assert judgement.of(element).composite == pytest.approx(0.5)
    assert judgement.of(element).noisy is noisy


# Figure 7.

MENU = "<table><tr><td>home</td><td>contact</td></tr></table>"
SITE = [f"<body>{MENU}<div><p>{word} tea</p><p>{word}s</p></div></body>" for word in ("milk", "rum", "gin", "salt")]


def importances(tree, html):
    page = document(html)
    values = block_importances(tree, Judgement().judge(tree), page)
    return {block.text: value for block, value in zip(page.blocks, values, strict=True)}


@pytest.mark.parametrize(
    ("html", "texts"),
    [
        (SITE[0], ["home", "contact", "milk tea", "milks"]),
        (
            f"<body>{MENU.replace('home', 'here')}<div><p>sugar</p><p>cake</p></div></body>",
            ["here", "contact", "sugar", "cake"],
        ),
    ],
    ids=["page of the tree", "new page"],
)
def test_page_in_a_known_style_is_judged_by_its_leaves(html, texts):
    expected = dict(zip(texts, [0, 0, pytest.approx(0.8), 1], strict=True))
    assert importances(tree_of(*SITE), html) == expected


LONGER = MENU.replace("</tr>", "<th>jobs</th></tr>")


@pytest.mark.parametrize(
    ("html", "content", "noise"),
    [
        ("<h1>home</h1><div><p>milk</p></div>", {"home", "milk"}, set()),
        (f"{MENU}<div><p>rum</p><h2>home</h2></div>", {"home", "rum"}, {"contact"}),
        # Figure 7 asks first whether the element is noisy, and only then about its style.
        (f"{LONGER}<div><p>rum</p><p>rums</p></div>", {"rum", "rums"}, {"home", "contact", "jobs"}),
        # An element that was never a leaf is as important as the most important node below.
        ("<table>closed</table><div>open</div>", {"open"}, {"closed"}),
    ],
)
def test_unknown_style_is_kept_unless_it_is_below_noise(html, content, noise):
    values = importances(tree_of(*SITE), f"<body>{html}</body>")
    assert {text for text, value in values.items() if value > 0.4} == content
    assert {text for text, value in values.items() if value == 0} == noise


def mapped(element, node, judgement, tree):
    """MapSST of figure 7, as it is written: the blocks that stay."""
    mark = judgement.of(element)
    if mark.noisy:
        return
    style = element.styles.get(tuple(child.key for child in node.children))
    if not node.children and element.content is not None:  # a leaf, on some pages or on all
        yield from node.blocks if mark.leaf > judgement.t else ()
    elif mark.meaningful or style is None:
        yield from every_block(node)
    else:
        for pair in zip(style.elements, node.children, strict=True):
            yield from mapped(*pair, judgement, tree)


@pytest.mark.slow
@given(pages_of_site, pages_of_site, st.sampled_from([0.0, 0.2, 0.4, 0.7, 0.95]))
@repeatable
def test_kept_blocks_match_figure_7(seen, new, t):
    documents = documents_from(seen)
    tree = built(documents, "paper")
    judgement = Judgement(t=t, epsilon=0).judge(tree)
    for page in [*documents, *documents_from(new)]:
        expected = set(mapped(tree.root, tree.page(page), judgement, tree))
        values = block_importances(tree, judgement, page)
        assert {block for block, value in enumerate(values) if value > t} == expected


# `victor sst show` and `victor clean`.


def shown_marks(tree, judgement, monkeypatch):
    """The marks that `victor sst show --full` prints, by element, and those of text beside elements."""
    monkeypatch.setattr(report, "_name", lambda element: f"<{id(element)}>")
    monkeypatch.setattr(report, "MOST_CHILDREN", 10_000)
    marks, text_marks, parents = {}, {}, []
    for line in as_text(tree, judgement, full=True).splitlines():
        indent, name = len(line[14:]) - len(line[14:].lstrip()), line[14:].split()[0]
        del parents[indent // 2 :]
        if name == "#text":
            text_marks[parents[-1]] = line[0]
            parents.append(name)
        else:
            parents.append(int(name.strip("<>")))
            marks[parents[-1]] = line[0]
    return marks, text_marks


def kept_by_marks(tree, page, marks, text_marks):
    """The blocks that a reader of the tree would keep: from the root down, the first mark decides."""
    kept_blocks = set()
    open_nodes = [(tree.root, tree.page(page))]
    while open_nodes:
        element, node = open_nodes.pop()
        mark = marks[id(element)]
        keys = [child.key for child in node.children]
        style = element.styles.get(tuple(keys))
        matches = tree.find(element, keys) if tree.aligned else style.elements if style else [None] * len(keys)
        if mark == " " and not node.children and id(element) in text_marks:
            mark = text_marks[id(element)]
        for match, child in zip(matches, node.children, strict=True) if mark == " " else ():
            if match is None:  # a style that no other page has
                kept_blocks.update(every_block(child))
            else:
                open_nodes.append((match, child))
        if mark == "+" or (mark == " " and not node.children):
            kept_blocks.update(every_block(node))
    return kept_blocks


def assert_show_and_clean_agree(documents, others, monkeypatch, **parameters):
    labeller = SiteStyleTree(epsilon=0, **parameters).fit(documents)
    tree = labeller.tree_
    marks, text_marks = shown_marks(tree, labeller.judgement_, monkeypatch)
    assert marks.keys() == {id(node) for node in tree.root.walk()}
    assert text_marks.keys() == {id(node) for node in tree.root.walk() if node.styles and node.content}
    for page in [*documents, *others]:
        labels = labeller.label(page).labels
        expected = kept_by_marks(tree, page, marks, text_marks)
        assert {block for block, keep in enumerate(kept(labels)) if keep} == expected


@pytest.mark.parametrize("t", [0.0, 0.2, 0.4, 0.6, 0.9])
@pytest.mark.parametrize("virtual_leaves", [True, False])
@pytest.mark.parametrize("styles", STYLES)
def test_show_and_clean_agree_on_sites(styles, virtual_leaves, t, monkeypatch):
    pages = [*site(8, "news"), *site(8, "shop", first=8)]
    assert_show_and_clean_agree(pages[:14], pages[14:], monkeypatch, styles=styles, virtual_leaves=virtual_leaves, t=t)


@pytest.mark.slow
@given(pages_of_site, pages_of_site, st.sampled_from(STYLES), st.booleans(), st.sampled_from([0.0, 0.3, 0.5, 0.8]))
@repeatable
def test_show_and_clean_agree_on_every_node(seen, new, styles, virtual_leaves, t):
    with pytest.MonkeyPatch.context() as patch:
        documents = documents_from(seen)
        assert_show_and_clean_agree(
            documents, documents_from(new), patch, styles=styles, virtual_leaves=virtual_leaves, t=t
        )


def test_leaf_of_some_pages_is_judged_by_its_content():
    own = [f"<body><div>{word} {word}s</div><hr></body>" for word in ("milk", "rum", "gin", "salt")]
    menu = ["<body><div><p>home</p></div><hr></body>", "<body><div><p>home</p></div><hr><b>x</b></body>"]
    tree = tree_of(*own, menu[0], menu[1])
    (division,) = (node for node in tree.root.walk() if node.content and node.styles)
    mark = Judgement(t=0.9).judge(tree).of(division)
    assert mark.composite < 0.9 < mark.leaf == mark.highest == 1
    assert (mark.noisy, mark.meaningful) == (False, True)
    assert block_importances(tree, Judgement(t=0.9).judge(tree), document(own[0])) == [1]


def test_empty_leaf_of_one_page_has_importance_1():
    assert leaf("").content.importance() == 1
    assert leaf("", "").content.importance() == 0
    tree = tree_of("<body><p>tea</p><hr></body>", "<body><p>milk</p></body>")
    judgement = Judgement().judge(tree)
    (rule,) = (node for node in tree.root.walk() if node.tag == "hr")
    assert judgement.of(rule).composite == 1


def test_inline_tags_are_no_leaves_in_the_basic_algorithm():
    plain, marked = (
        tree_of(*(f"<div><p>{text.format(word)}</p></div>" for word in OWN))
        for text in ("{0} is {0}ish", "{0} <b>is</b> <a href=/{0}><i>{0}ish</i></a>")
    )
    for tree in (plain, marked):
        (paragraph,) = (node for node in tree.root.walk() if node.tag == "p")
        assert (paragraph.styles, paragraph.content.page_count) == ({}, 5)
    judged_paragraph = Judgement().judge(plain)
    (paragraph,) = (node for node in plain.root.walk() if node.tag == "p")
    assert judged_paragraph.of(paragraph).composite == pytest.approx(1 - 1 / 11)  # "is" is the only repeated word


# The enhancements of 3.6, each by a case that fails without it.

ONE, TWO = "<body><div><p>Home News</p></div>", "<div><p>{0} {0}s</p></div></body>"
OWN = ("milk", "rum", "gin", "salt", "wine")
TWO_STYLES = [ONE + TWO.format(word) for word in OWN[:4]] + [f"{ONE}<h2>Today</h2>{TWO.format(OWN[4])}"]


def kept_texts(labeller, pages, page):
    labeller.fit([document(html) for html in pages])
    read = document(page)
    labels = labeller.label(read).labels
    return [block.text for block, keep in zip(read.blocks, kept(labels), strict=True) if keep]


def test_same_element_in_another_style_is_merged():
    assert kept_texts(SiteStyleTree(styles="paper"), TWO_STYLES, TWO_STYLES[4]) == ["Today", "wine wines"]
    unmerged = SiteStyleTree(styles="paper", lam=1.1)
    assert kept_texts(unmerged, TWO_STYLES, TWO_STYLES[4]) == ["Home News", "Today", "wine wines"]


def merged_nodes(tag, *pages):
    """The distinct element nodes with a tag after merging."""
    tree = tree_of(*pages)
    merge_alike(tree)
    return list({id(node): node for node in tree.root.walk() if node.tag == tag}.values())


@pytest.mark.parametrize(
    ("first", "second", "merged"),
    [
        ("<p>tea milk</p>", "<p>tea milk</p>", True),
        ("<p>tea milk</p>", "<p>tea rum</p>", False),
        ("<p>a b c d e f g</p>", "<p>a b c d e f g h</p>", True),  # 7 of 8
        ("<p>a b c d e f</p>", "<p>a b c d e f g h</p>", False),  # 6 of 8
        ("<p></p>", "<p></p>", False),  # nothing characteristic
        ("<p align=left>tea</p>", "<p align=right>tea</p>", False),
    ],
)
def test_elements_are_merged_by_their_characteristic_features(first, second, merged):
    nodes = merged_nodes("p", f"<div>{first}<i>x</i></div>", f"<div>{second}<b>y</b></div>")
    assert len(nodes) == (1 if merged else 2)


def test_features_of_few_pages_are_not_characteristic():
    pages = [f"<div><p>home {word}</p></div>" for word in OWN] + ["<div><p>home</p><hr></div>"]
    (merged,) = merged_nodes("p", *pages)
    assert merged.content.page_count == merged.page_count == 6
    assert merged.content.entropy("home") == pytest.approx(1)


def test_siblings_of_one_style_are_not_merged():
    (division,) = merged_nodes("div", "<div><p>tea</p><p>tea</p></div>", "<div><p>tea</p><p>tea</p><hr></div>")
    assert len([child for child in division.children() if child.tag == "p"]) == 2
    for style in division.styles.values():
        first, second = style.elements[:2]
        assert first is not second
        assert first.page_count == second.page_count == 2


def test_merging_continues_below_merged_elements():
    table = "<table><tr><td>tea</td></tr></table>"
    (cell,) = merged_nodes("td", f"<div>{table}</div>", f"<div>{table}<hr></div>")
    assert cell.content.page_count == 2


MENUS = ["<p>home</p><p>news</p>"] * 4 + ["<p>home</p><p>news</p><p>home</p>"]
FRAGMENTED = [
    f"<body><div>{menu}</div><table><td><p>{word}<p>{word}s</table></body>"
    for menu, word in zip(MENUS, OWN, strict=True)
]


def test_virtual_leaves_are_parents_of_leaves():
    whole = SiteStyleTree(styles="paper", lam=1.1)
    assert kept_texts(whole, FRAGMENTED, FRAGMENTED[4]) == ["wine", "wines"]
    fragmented = SiteStyleTree(styles="paper", lam=1.1, virtual_leaves=False)
    assert kept_texts(fragmented, FRAGMENTED, FRAGMENTED[4]) == ["home", "news", "home", "wine", "wines"]


def test_paper_style_has_no_leaves_for_tags_without_text():
    plain = "<div><p>tea</p><table><tr><td>milk</td></tr></table></div>"
    marked = "<div><p><b>tea</b></p><br><img src=cup.gif><table><tr><td>milk</td></tr></table></div>"
    tree = tree_of(plain, marked, virtual_leaves=True)
    assert all(len(node.styles) <= 1 for node in tree.root.walk())
    assert {node.tag for node in tree.root.walk()} == {"#root", "body", "div", "p", "table", "tr"}


PATHS = [f"<body><div><p>Home</p><p>{word} with {word}ish {word}s</p></div><hr></body>" for word in OWN]


def test_repeated_features_of_a_meaningful_leaf_are_locally_noisy():
    assert kept_texts(SiteStyleTree(styles="paper"), PATHS, PATHS[0]) == ["milk with milkish milks"]
    without = SiteStyleTree(styles="paper", epsilon=0)
    assert kept_texts(without, PATHS, PATHS[0]) == ["Home", "milk with milkish milks"]


def test_features_of_all_pages_are_repeated():
    content, single = leaf("home milk tea tea", "home rum tea").content, leaf("home").content
    assert content.repeated(0.01) == {"home"}
    assert content.repeated(0.1) == {"home", "tea"}
    assert content.repeated(0) == single.repeated(0.01) == frozenset()


def test_block_with_only_repeated_words_is_locally_noisy():
    rows = "<p>Home</p><p>Home {0}</p><p><a href=/{0}>Home</a></p><p><a href=/x>Home</a></p><p>{0} {0}s {0}ly</p>"
    pages = [f"<body><div>{rows.format(word)}</div><hr></body>" for word in OWN]
    tree = tree_of(*pages, virtual_leaves=True)
    page = document(pages[0])
    values = block_importances(tree, Judgement().judge(tree), page)
    assert [value > 0.4 for value in values] == [False, True, False, False, True]  # whatever the link's target is


GUIDES = ["Printers > Samsung ML-1430", "Cameras > Canon EOS 7D", "Notebooks > Lenovo X1", "Phones > Nokia 3310"]
TESTS = [
    "The laser printer makes fourteen pages per minute in our test.",
    "Its sensor records eighteen million points of light.",
    "The keyboard remains excellent even after years of typing.",
    "Batteries last for a week if nobody calls.",
]


def cleaned(pages, **parameters):
    """The text of each page, cleaned with the tree of all of them."""
    documents = [document(html) for html in pages]
    labeller = SiteStyleTree(**parameters).fit(documents)
    labellings = [labeller.label(page) for page in documents]
    return [
        CleanPage(page, labelling.labels, spans=labelling.spans).text.strip()
        for page, labelling in zip(documents, labellings, strict=True)
    ]


@pytest.mark.parametrize("local", ["parts", "words"])
@pytest.mark.parametrize("styles", STYLES)
@pytest.mark.parametrize(
    "start", ["Home &gt; Product Guides &gt; ", "<a href=/>Home</a> &gt; <a href=/g>Product Guides</a> &gt; "]
)
def test_repeated_parts_of_a_path_are_deleted(start, styles, local):
    pages = [f"<body><div>{start}{guide}</div><hr></body>" for guide in GUIDES]
    assert cleaned(pages, styles=styles, local=local) == GUIDES
    assert cleaned(pages, styles=styles, local=local, epsilon=0)[0] == f"Home > Product Guides > {GUIDES[0]}"


def test_show_puts_deleted_words_of_kept_leaves_in_brackets():
    documents = [document(f"<div>Home &gt; Product Guides &gt; {guide}</div><p>Copyright Us</p>") for guide in GUIDES]
    labeller = SiteStyleTree().fit(documents)
    for shown in (
        as_text(labeller.tree_, labeller.judgement_, full=False),
        as_html(labeller.tree_, labeller.judgement_, "", full=False),
    ):
        assert "[home product guides] printers" in shown
        assert "copyright us" in shown  # a noisy leaf has no brackets
    without = SiteStyleTree(epsilon=0).fit(documents)
    assert "[" not in as_text(without.tree_, without.judgement_, full=False)


@pytest.mark.parametrize(("t", "shown"), [(0.75, "tea pot cup milk"), (0.749, "[tea] pot cup milk")])
def test_leaf_at_the_threshold_is_noise_and_has_no_brackets(t, shown):
    only = leaf("tea pot", "tea cup", "tea milk")
    tree = tree_of()
    tree.root = inner((3, [only]))
    judgement = Judgement(0.9, t).judge(tree)
    assert judgement.of(only).leaf == 0.75
    for full in (False, True):
        assert as_text(tree, judgement, full).splitlines()[-1].endswith(f"  {shown}")


def test_repeated_links_of_a_path_without_separators_are_deleted():
    path = "<div><a href=/>Home</a> <a href=/g>Product Guides</a> <a href=/x><b>{0}</b></a> {1}</div><hr>"
    pages = [path.format(*guide.split(" > ")) for guide in GUIDES]
    assert cleaned(pages) == [guide.replace(" > ", " ") for guide in GUIDES]


def test_repeated_links_inside_sentences_are_kept():
    sentence = "<p>{0} is hot, see <a href=/a>tea</a> <a href=/b>shop</a> for {0} and {0}s of all {0} kinds.</p><hr>"
    pages = [sentence.format(word) for word in ("Rum", "Gin", "Ale", "Cha")]
    assert cleaned(pages, t=0.1)[0] == "Rum is hot, see tea shop for Rum and Rums of all Rum kinds."


@pytest.mark.parametrize("count", [2, 3, 4])
def test_repeated_sentence_before_the_text_of_each_page_is_deleted(count):
    pages = [f"<p>Log in to our newsletter today. {test}</p>" for test in TESTS[:count]]
    log_in = "Log in to our newsletter today. " if count == 2 else ""  # "our" is twice on the first page
    assert cleaned(pages) == [log_in + test for test in TESTS[:count]]


def test_deleting_words_leaves_words_that_also_occur_elsewhere():
    pages = [f"<p>Log in to our newsletter today. {test}</p>" for test in TESTS]
    assert cleaned(pages, local="words") == ["in our " + TESTS[0], *("in our " + test for test in TESTS[1:])]


def test_words_of_all_pages_stay_in_sentences():
    pages = [
        f"<p>{word} is a drink of {word}land, and it is hot {word}ish.</p>" for word in ("Tea", "Rum", "Gin", "Ale")
    ]
    assert cleaned(pages)[0] == "Tea is a drink of Tealand, and it is hot Teaish."
    assert cleaned(pages, local="words")[0] == "Tea Tealand, Teaish."


def test_block_of_repeated_parts_is_noise():
    pages = [f"<div><p>Home &gt; Guides</p><p>{test}</p></div><hr>" for test in TESTS]
    assert cleaned(pages) == TESTS


# As a labeller.


LABELLERS = [SiteStyleTree, SentenceEntropy]


@pytest.mark.parametrize("kind", LABELLERS)
@pytest.mark.parametrize("template", ["news", "shop"])
def test_site_is_separated_into_template_and_content(template, kind):
    pages = site(12, template)
    labeller = kind().fit(pages[:10])
    for page in pages:  # the last two were not seen before
        assert kept(labeller.label(page).labels) == own_words(page)


def test_paper_styles_keep_unique_content():
    pages = site(10, "shop")
    labeller = SiteStyleTree(styles="paper").fit(pages)
    for page in pages:
        kept_blocks = kept(labeller.label(page).labels)
        assert all(keep for keep, own in zip(kept_blocks, own_words(page), strict=True) if own)
        assert kept_blocks.count(True) < len(kept_blocks)


def test_two_templates_of_one_site_are_separated():
    pages = [*site(8, "news"), *site(8, "shop", first=8)]
    labeller = SiteStyleTree().fit(pages)
    assert all(kept(labeller.label(page).labels) == own_words(page) for page in pages)


def test_labels_of_a_few_pages_choose_the_threshold():
    pages = site(8)

    def fitted(labels, **parameters):
        return SiteStyleTree(**parameters).fit(pages, [*labels, *[None] * 6])

    strict, lax = (fitted([[label] * len(page.blocks) for page in pages[:2]]) for label in ("other", "paragraph"))
    assert strict.judgement_.t > lax.judgement_.t
    right = fitted([own_labels(page) for page in pages[:2]], t=1.0)
    assert kept(right.label(pages[7]).labels) == own_words(pages[7])
    assert right.get_params()["t"] == 1.0  # a parameter stays what it was


ARTICLE = """<ul class=menu><li>Home<li>Tea</ul><div class=story><p>{0}</p></div>
<p class=more>{2}</p>"""
FACT = "<ul class=menu><li>Home<li>Tea</ul><table><tr><td class=price>Price: {1} pounds<td class=size>Size: {1}</table>"


def made_site(html, count=6):
    """Pages with a long text and a number of their own, and a short text that two pages share."""
    texts = [" ".join(f"{word}{number}" for word in WORDS[:12]) for number in range(count)]
    teasers = [" ".join(WORDS[8 * number + 20 : 8 * number + 28])[:75] for number in range(count // 2)]
    return [document(html.format(text, number + 10, teasers[number // 2])) for number, text in enumerate(texts)]


def test_threshold_separates_long_texts_of_a_site_of_articles():
    pages = made_site(ARTICLE)
    labeller = SiteStyleTree().fit(pages)
    story, more = (importance for importance in labeller.importances(pages[0]) if importance)
    assert more < labeller.judgement_.t < story
    assert labeller.reason_.startswith("best separates long unrepeated texts (F1 1.00 instead of 0.")
    assert labeller.get_params()["t"] == "auto"


def test_threshold_of_a_site_of_facts_is_cautious():
    pages = made_site(FACT)
    labeller = SiteStyleTree().fit(pages)
    assert labeller.judgement_.t == CAUTIOUS
    assert labeller.reason_.startswith("cautious, because no threshold separates long unrepeated texts (F1 0.00)")
    labels = SiteStyleTree(t=CAUTIOUS).fit(pages).label(pages[0]).labels
    assert labeller.label(pages[0]).labels == labels


def test_one_page_alone_is_kept_with_any_threshold():
    page = document(ARTICLE.format("tea " * 30, 1, "milk"))
    labeller = SiteStyleTree().fit([page, page])
    assert all(kept(labeller.label(page).labels))


def test_sentence_threshold_is_chosen_by_the_same_guess():
    pages = made_site(ARTICLE)
    labeller = SentenceEntropy().fit(pages)
    assert labeller.threshold_ < 0.9
    assert labeller.reason_.startswith("best separates long unrepeated texts (F1 ")
    assert [block.text for block in pages[0].blocks if labeller.label(pages[0]).labels[block.index] != "other"] == [
        pages[0].blocks[2].text
    ]
    facts = SentenceEntropy().fit(made_site(FACT))
    assert (facts.threshold_, facts.reason_[:8]) == (0.9, "cautious")
    labelled = SentenceEntropy().fit(pages, [["other"] * len(pages[0].blocks), *[None] * 5])
    assert (labelled.threshold_, labelled.reason_) == (0.9, "cautious at places without labels")
    assert SentenceEntropy(T=0.2).fit(pages).threshold_ == 0.2


def test_labels_and_set_thresholds_come_before_guesses():
    pages = made_site(ARTICLE)
    examples = [["paragraph"] * len(pages[0].blocks)]
    labelled = SiteStyleTree().fit(pages, [*examples, *[None] * 5])
    assert labelled.reason_ == "best for 1 labelled page"
    assert labelled.judgement_.t < SiteStyleTree().fit(pages).judgement_.t
    fixed = SiteStyleTree(t=0.1).fit(pages)
    assert (fixed.judgement_.t, fixed.reason_) == (0.1, "set by the parameter")


def test_saved_tree_remembers_its_threshold(tmp_path):
    tree = StyleTree()
    for page in made_site(ARTICLE):
        tree.add(page)
    assert SiteStyleTree().with_tree(tree).judgement_.t == CAUTIOUS
    tree.t = 0.7
    save_tree(tree, tmp_path / "site.sst")
    loaded = SiteStyleTree().with_tree(load_tree(tmp_path / "site.sst"))
    assert (loaded.judgement_.t, loaded.reason_) == (0.7, "saved in the tree")
    data = json.loads(gzip.decompress((tmp_path / "site.sst").read_bytes()))
    del data["t"]  # as in trees of version 0.1
    (tmp_path / "old.sst").write_bytes(gzip.compress(json.dumps(data).encode()))
    assert load_tree(tmp_path / "old.sst").t is None


def test_threshold_is_the_middle_of_the_best():
    page = document("<p>one two</p><p>three</p>")
    trial = Trial(page, [0.2, 0.8], ["other", "paragraph"])
    assert [trial.f1(threshold) for threshold in (0.1, 0.5, 0.9)] == [pytest.approx(2 * 1 / (3 + 1)), 1, 0]
    assert best_threshold([trial], [0.1, 0.3, 0.5, 0.7, 0.9], reach=0) == best_threshold([trial]) == 0.5
    assert Trial(page, [0.2, 0.8], ["other", "other"]).f1(0.9) == 1


def test_threshold_keeps_away_from_a_sharp_drop():
    page = document(f"<p>{'word ' * 50}</p><p>noise</p>")
    trial = Trial(page, [0.6, 0.55], ["paragraph", "other"])
    assert 0.55 <= best_threshold([trial], reach=0) < 0.6
    careful = best_threshold([trial])
    assert careful < 0.55
    assert trial.f1(careful) == pytest.approx(2 * 50 / (51 + 50))


def test_only_a_sample_is_read_and_one_page_at_a_time():
    endless = (document(site_page(number)) for number in itertools.count())
    labeller = SiteStyleTree(sample=5).fit(endless)
    assert labeller.tree_.page_count == 5


@pytest.mark.parametrize("kind", LABELLERS)
@pytest.mark.parametrize("pages", [[], [""], ["<img src=a.gif>", "<div></div>"]])
def test_pages_without_text_are_refused(pages, kind):
    with pytest.raises(VictorError, match="got none"):
        kind().fit([document(html) for html in pages])


WRONG_PARAMETERS = [
    ({"sample": 0}, "sample must be at least 1, not 0"),
    ({"sample": -1}, "sample must be at least 1, not -1"),
    ({"styles": "papier"}, r"styles must be one of modern, paper, not 'papier' \(did you mean 'paper'\?\)"),
]
WRONG_LOCAL = r"local must be one of parts, words, not 'part' \(did you mean 'parts'\?\)"


@pytest.mark.parametrize(
    ("kind", "parameters", "message"),
    [
        *((kind, *wrong) for kind in LABELLERS for wrong in WRONG_PARAMETERS),
        (SiteStyleTree, {"local": "part"}, WRONG_LOCAL),
        *(
            (SiteStyleTree, {"t": threshold}, "sst: t=.*: expected a number from -1 to 1")
            for threshold in ("automatic", 2, -1.5, math.nan, True, None)
        ),
        (SentenceEntropy, {"T": "high"}, "T=high: expected a number from -1 to 1"),
    ],
)
def test_wrong_parameters_are_refused(kind, parameters, message):
    with pytest.raises(ConfigError, match=message):
        kind(**parameters).fit(site(3))


def test_page_without_blocks_gets_no_labels():
    labeller = SiteStyleTree().fit(site(3))
    assert labeller.label(Document((), Elements())).labels == ()
    assert labeller.label(document("")).labels == ()


# In a file.


def assert_same(tree, other, pages=()):
    judgements = [Judgement().judge(site_tree) for site_tree in (tree, other)]
    assert described(tree.root, judgements[0]) == described(other.root, judgements[1])
    for page in pages:
        ours, theirs = (block_importances(*pair, page) for pair in zip((tree, other), judgements, strict=True))
        assert ours == pytest.approx(theirs)


@pytest.mark.parametrize("styles", ["modern", "paper"])
@pytest.mark.parametrize("template", ["news", "shop"])
def test_loaded_tree_is_extended_like_the_one_that_was_saved(tmp_path, styles, template):
    pages = site(8, template)
    tree = built(pages[:5], styles)
    save_tree(tree, tmp_path / "new" / "site.sst")
    loaded = load_tree(tmp_path / "new" / "site.sst")
    for page in pages[5:]:
        tree.add(page)
        loaded.add(page)
    assert (loaded.page_count, loaded.styles, loaded.virtual_leaves) == (8, styles, True)
    assert_same(tree, loaded, pages)


def test_merged_tree_is_saved_with_elements_of_several_styles(tmp_path):
    tree = tree_of(*TWO_STYLES, virtual_leaves=True)
    merge_alike(tree)
    save_tree(tree, tmp_path / "site.sst")
    loaded = load_tree(tmp_path / "site.sst")
    assert_same(tree, loaded)
    assert len(list(loaded.root.walk())) == len(list(tree.root.walk()))


def test_saving_is_deterministic_and_leaves_no_other_file(tmp_path):
    for name in ("a.sst", "b.sst", "a.sst"):
        save_tree(built(site(3), "modern"), tmp_path / name)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.sst", "b.sst"]
    assert (tmp_path / "a.sst").read_bytes() == (tmp_path / "b.sst").read_bytes()
    assert is_tree(tmp_path / "a.sst")


def test_other_files_are_not_trees(tmp_path):
    (tmp_path / "page.html").write_text("<p>tea</p>")
    assert not any(is_tree(tmp_path / name) for name in ("page.html", ".", "nothing"))
    with pytest.raises(ModelError, match="not a site's style tree"):
        load_tree(tmp_path)
    with pytest.raises(FileNotFoundError):
        load_tree(tmp_path / "nothing.sst")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("tree") / "site.sst"
    save_tree(built(site(3), "modern"), path)
    return path.read_bytes()


def assert_refused(path, content):
    path.write_bytes(content)
    with pytest.raises(ModelError, match=r"site\.sst: .*again"):
        load_tree(path)


def test_damaged_file_is_refused(tmp_path, saved):
    for length in range(0, len(saved) - 1, 97):
        assert_refused(tmp_path / "site.sst", saved[:length])
    for place in range(10, len(saved), 131):
        assert_refused(tmp_path / "site.sst", saved[:place] + bytes([saved[place] ^ 0x55]) + saved[place + 1 :])


def changed(saved, *steps, value):
    """Return the saved tree with one value replaced."""
    written = inside = json.loads(gzip.decompress(saved))
    for step in steps[:-1]:
        inside = inside[step]
    inside[steps[-1]] = value
    return gzip.compress(json.dumps(written).encode())


@pytest.mark.parametrize(
    "path",
    [
        ("format", "victorpy style tree 0"),
        ("styles", "gothic"),
        ("pages", "many"),
        ("pages", 7),  # not those that the root has
        ("elements", []),
        ("elements", {}),
        ("elements", None),
        ("elements", 0, None),
        ("elements", 0, "pages", "xyz"),
        ("elements", 0, "pages", 7),
        ("elements", 0, "styles", 0, 2, 0, 0),  # its own child
        ("elements", 0, "styles", 0, 2, 0, -1),
        ("elements", 0, "styles", 0, 2, 0, 100_000),
        ("elements", 0, "styles", 0, 2, []),
        ("elements", 0, "styles", 0, None),
        ("elements", 0, "known", 0, 2, 0),
        ("elements", 0, "known", [["p"]]),
        ("elements", -1, "content", ["1"]),
        ("elements", -1, "content", 1, {"tea": 1}),
    ],
    ids=str,
)
def test_file_with_a_wrong_value_is_refused(tmp_path, saved, path):
    assert_refused(tmp_path / "site.sst", changed(saved, *path[:-1], value=path[-1]))


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"<p>tea</p>", b"\x1f\x8b", b"\x1f\x8b junk"),
        *map(gzip.compress, (b"", b"tea", b"[]", b"{}", b"\xff\xfe", b"[" * 100_000)),
    ],
    ids=range(10),
)
def test_file_of_something_else_is_refused(tmp_path, content):
    assert_refused(tmp_path / "site.sst", content)


# Pages that are too deep, too broad or too varied.


def whole_way(html, tree, path):
    """Build, merge, judge, map, save, load and draw. Return the seconds without reading."""
    documents = [read_document(page, BLOCKS) for page in html]
    start = process_time()
    for page in documents:
        tree.add(page)
    merge_alike(tree)
    judgement = Judgement().judge(tree)
    assert len(block_importances(tree, judgement, documents[-1])) == len(documents[-1].blocks)
    save_tree(tree, path)
    assert load_tree(path).page_count == len(html)
    for full in (False, True):
        assert as_text(tree, judgement, full)
        assert as_html(tree, judgement, "tree", full)
    return process_time() - start


def letters(number):
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))


DEEP = ["<div>" * 5000 + "tea" + "</div>" * 5000, "<div>milk" * 5000, '<div class="a"><p>rum</p>' * 1500]


@pytest.mark.slow
@pytest.mark.parametrize("kind", [StyleTree, SegmentTree])
@pytest.mark.parametrize("styles", ["modern", "paper"])
def test_deep_pages_are_labelled(tmp_path, kind, styles):
    assert whole_way(DEEP, kind(styles), tmp_path / "deep.sst") < 5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("styles", "sibling", "count"),
    [
        ("paper", "<p>tea {0}</p>", 5_000),
        ("modern", "<p>tea {0}</p>", 8_000),
        ("modern", '<p class="{0}">tea</p>', 20_000),
        ("modern", "<x-{0}>tea</x-{0}>", 5_000),
    ],
)
def test_thousands_of_siblings_take_seconds(tmp_path, styles, sibling, count):
    siblings = [sibling.format(letters(number)) for number in range(count)]
    pages = ["<div>" + "".join(siblings[:end]) + "</div><hr>" for end in (count, count - 1)]
    assert whole_way(pages, StyleTree(styles, virtual_leaves=False), tmp_path / "broad.sst") < 15


def test_new_name_below_many_names_is_a_new_element():
    page = "".join(f'<p class="{letters(number)}">tea</p>' for number in range(MOST_KNOWN + 2))
    tree = tree_of(page, page + '<p class="b zz">tea</p>', styles="modern", virtual_leaves=True)
    assert len(list(tree.root.children())) == MOST_KNOWN + 3


def test_words_of_any_script():
    assert simple_words("Tea, 茶 и чай 3!") == ["tea", "茶", "и", "чай", "3"]


def test_unseen_page_with_its_own_names_is_located():
    page = '<div class="wrap {name}"><ul class="menu"><li>Home</li><li>News</li></ul><p>{text}</p><hr></div>'
    seen = [page.format(name=name, text=f"{name} alone") for name in ("sport", "money", "letters")]
    other = page.format(name="weather", text="rain")
    assert kept_texts(SiteStyleTree(), seen, other) == ["rain"]


@pytest.mark.parametrize("room", [0, -1])
def test_trees_have_a_maximum_size(tmp_path, monkeypatch, room):
    tree, path = StyleTree(), tmp_path / "tree"
    for page in site(3):
        tree.add(page)
    save_tree(tree, path)
    size = len(gzip.decompress(path.read_bytes()))
    monkeypatch.setattr(store, "MOST_BYTES", size + room)
    with pytest.raises(ModelError, match="tree") if room else nullcontext():
        save_tree(tree, path)
    with pytest.raises(ModelError, match="damaged") if room else nullcontext():
        assert load_tree(path).page_count == 3


def test_sixty_different_pages_are_enough_to_guess_labels():
    pages = [read_document(f"<p>{number}", BLOCKS, f"https://tea.example/{number}") for number in range(61)]
    labels = [own_labels(page) if number in {3, 60} else None for number, page in enumerate(pages)]
    tree = StyleTree()
    examples, guessed = add_pages(tree, pages, labels, sample=100)
    assert [page.url for page in guessed] == [page.url for page in pages[:60]]
    assert [page.url for page, _ in examples] == [pages[3].url, pages[60].url]
    assert add_pages(tree, pages[:2], None, sample=100) == ([], [])  # the tree knows these pages
