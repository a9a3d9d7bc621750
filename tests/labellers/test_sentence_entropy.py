"""Sentence entropy on the style tree: segments, entropies of sentences, the threshold's direction and its choice."""

import math

import pytest
from support.sitepages import document, kept, own_labels, own_words, site

from victorpy.document import Block
from victorpy.labellers.sentence_entropy import (
    SegmentTree,
    Sentence,
    SentenceEntropy,
    best_threshold,
    merge_segments,
    stop_words,
)
from victorpy.outputs import CleanPage
from victorpy.sites.page_tree import PageNode


def node(tag, *children):
    made = PageNode((tag, ""))
    made.children = list(children)
    return made


def leaf(tag, block, display=""):
    return PageNode((tag, display), [block])


def shape(found):
    """Return the tag of a node, followed by its blocks or the shapes of its children."""
    if found.children:
        return f"{found.key[0]}({' '.join(map(shape, found.children))})"
    return found.key[0] + "".join(map(str, found.blocks))


# Segments (3.1).


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        # siblings that are all leaves with the same tag are one, which is then an only child
        (node("ul", leaf("li", 0), leaf("li", 1), leaf("li", 2)), "ul012"),
        # not if a sibling is not a leaf ...
        (node("ul", leaf("li", 0), node("li", leaf("p", 1), leaf("b", 2))), "ul(li0 li(p1 b2))"),
        # ... or has another tag ...
        (node("div", leaf("p", 0), leaf("h1", 1)), "div(p0 h11)"),
        # ... or other attributes
        (node("div", leaf("p", 0), leaf("p", 1, display="ad")), "div(p0 p1)"),
        # an only child goes into its parent
        (node("div", leaf("p", 0)), "div0"),
        (node("div", node("table", leaf("p", 0), leaf("h1", 1))), "div(p0 h11)"),
        # from the leaves up: a node that became a leaf counts as a leaf for its parent
        (node("tr", *(node("td", leaf("p", at), leaf("p", at + 1)) for at in (0, 2))), "tr0123"),
        (leaf("div", 0), "div0"),
    ],
)
def test_page_is_merged_into_segments(tree, expected):
    merge_segments(tree)
    assert shape(tree) == expected


def test_images_go_with_their_segments():
    first, second = node("p"), node("p")
    first.images, second.images = [3], [5]
    tree = node("div", first, second)
    merge_segments(tree)
    assert (tree.images, tree.children) == ([3, 5], [])


def test_page_root_is_not_a_segment():
    page = document("<div><p>one</p><p>two</p></div>")
    assert shape(SegmentTree().page(page)) == "#root(div01)"
    page = document("<div><p>one</p><p>two</p></div><div><p>three</p></div>")
    assert shape(SegmentTree().page(page)) == "#root(div01 div2)"


# Entropies of features and sentences (equations 2 to 5).

PAGES = [f"<div><p>All rights reserved. {word} here.</p></div>" for word in ("Milk", "Rum", "Gin", "Salt")]


def fitted(pages, **parameters):
    return SentenceEntropy(**parameters).fit([document(html) for html in pages])


def content_of(labeller):
    (content,) = (node.content for node in labeller.tree_.root.walk() if node.content)
    return content


def sentences_of(labeller, page):
    return labeller.sentences(page.blocks[0], content_of(labeller))


def test_sentence_entropy_is_the_mean_over_its_words():
    sentences = sentences_of(fitted(PAGES), document(PAGES[0]))
    assert sentences == [(pytest.approx(1), 3, 0, 20), (pytest.approx((0 + 1) / 2), 2, 21, 31)]


def test_word_entropy_uses_counts_per_page_and_the_number_of_pages_as_base():
    pages = ["<p>tea tea tea</p>", "<p>tea</p>", "<p>milk</p>", "<p>Milk</p>"]
    sentences = sentences_of(fitted(pages), document("<p>Tea. Milk. Rum.</p>"))
    tea = -(0.75 * math.log(0.75, 4) + 0.25 * math.log(0.25, 4))
    assert [sentence.entropy for sentence in sentences] == pytest.approx([tea, 0.5, 0])


@pytest.mark.parametrize(
    ("text", "count"), [("One. Two! Three?", 3), ("One", 1), ("一。二！三？", 3), ("... !", 0), ("एक। दो।", 2), ("", 0)]
)
def test_sentences_end_in_any_script(text, count):
    labeller = fitted(PAGES)
    block = Block(0, text, 0, (), (), False, False, ())
    assert len(labeller.sentences(block, content_of(labeller))) == count


# The threshold: what is above it is redundant.


@pytest.mark.parametrize(
    ("threshold", "text"),
    [(-1.0, ""), (0.0, ""), (0.5, "Milk here."), (0.9, "Milk here."), (1.0, "All rights reserved. Milk here.")],
)
def test_sentences_above_the_threshold_are_dropped(threshold, text):
    labeller, page = fitted(PAGES, T=threshold), document(PAGES[0])
    labelling = labeller.label(page)
    assert CleanPage(page, labelling.labels, spans=labelling.spans).text.strip() == text


def test_kept_sentences_are_spans_of_their_blocks():
    pages = [f"<p>Log in. {word} is hot! Log in. {word}s too.</p><p>{word}ly</p>" for word in ("Milk", "Rum", "Gin")]
    labelling = fitted(pages).label(document(pages[0]))
    assert kept(labelling.labels) == [True, True]
    assert labelling.spans == (((8, 20), (29, 39)), None)


@pytest.mark.parametrize(
    ("html", "parameters", "expected"),
    [
        ("<div><h1>Home</h1><p>{0} is hot.</p></div>", {}, [False, True]),
        ("<p>{0}</p><hr><p>* * *</p>", {}, [True, True]),  # blocks without words are kept
        # A line of code is kept whole if one of its sentences is: "milk" has 0, "x = milk" has 0.5.
        ("<pre>return all. {0}\nx = {0}</pre><p>{0}</p>", {"T": 0.4}, [True, False, True]),
    ],
)
def test_whole_blocks_have_no_spans(html, parameters, expected):
    pages = [html.format(word) for word in ("milk", "rum", "gin")]
    labelling = fitted(pages, **parameters).label(document(pages[0]))
    assert (kept(labelling.labels), labelling.spans) == (expected, ())


def test_text_of_every_page_is_dropped_and_a_higher_threshold_keeps_more():
    pages = site(10)
    counts = []
    for threshold in (-1.0, 0.0, 0.5, 0.9, 1.0):
        labeller = SentenceEntropy(T=threshold).fit(pages)
        counts.append(sum(kept(labeller.label(pages[0]).labels)))
    assert counts == sorted(counts)
    assert counts[0] == 0
    assert counts[-1] == len(pages[0].blocks)


def test_blocks_in_a_unique_style_are_kept():
    labeller = SentenceEntropy().fit(site(5))
    assert kept(labeller.label(document("<table><td>Home<td>News</table>")).labels) == [True, True]


# Thresholds from labels (4.4).


@pytest.mark.parametrize(
    ("sentences", "expected"),
    [
        ([(0.25, True), (0.75, False)], 0.7),  # the highest of equally good ones
        ([(0.25, True), (0.35, False)], 0.3),
        ([(0.25, True), (0.75, True)], 1.0),
        ([(0.05, True), (0.1, False)], 1.0),  # no threshold separates them: keep too much rather than nothing
        ([(0.5, False)], None),  # no sentence is content
        ([], None),
    ],
)
def test_threshold_with_the_highest_f_is_chosen(sentences, expected):
    assert best_threshold([(Sentence(entropy, 5), wanted) for entropy, wanted in sentences]) == expected


# Pages repeat the headings of both divisions, but only the first heading is content.
REPEATED = [
    f"<div class=motto><h1>Tea is hot</h1><p>{word}ly</p></div><div class=menu><h2>Home is here</h2><p>{word}</p></div>"
    for word in ("milk", "rum", "gin", "salt")
]
WANTED = ["header", "paragraph", "other", "paragraph"]


def test_nodes_with_labels_get_their_own_threshold():
    pages = [document(html) for html in REPEATED]
    fixed = SentenceEntropy().fit(pages)
    assert fixed.thresholds_ == {}
    assert kept(fixed.label(pages[3]).labels) == [False, True, False, True]
    labelled = SentenceEntropy().fit(pages, [WANTED, WANTED, None, None])
    assert kept(labelled.label(pages[3]).labels) == [True, True, False, True]
    assert sorted(labelled.thresholds_.values(), key=str) == [1.0, 1.0, 1.0, None]


def test_nodes_without_labels_keep_the_fixed_threshold():
    pages = [document(html) for html in REPEATED]
    other, again = (document(f"<ul><li>Home</li></ul><ol><li>{word}</li></ol>") for word in ("Milk", "MILK"))
    labeller = SentenceEntropy().fit([*pages, other, again], [WANTED, *(None for _ in range(5))])
    assert len(labeller.thresholds_) == 4
    assert kept(labeller.label(other).labels) == [False, False]


def test_labels_of_a_site_choose_its_thresholds():
    pages = site(8)
    labeller = SentenceEntropy(T=1.0).fit(pages, [*(own_labels(page) for page in pages[:3]), *[None] * 5])
    for page in pages:
        assert kept(labeller.label(page).labels) == own_words(page)


# Stop words.


def test_words_in_many_places_are_stop_words():
    cells = "".join(f"<h{level}>the {word}</h{level}><p>x{level}</p>" for level, word in enumerate("abcdef", 1))
    tree = SegmentTree()
    tree.add(document(f"<div>{cells}</div>"))
    assert stop_words(tree, 0.2) == {"the"}
    assert stop_words(tree, 1.1) == frozenset()


def test_sentence_of_stop_words_only_is_judged_by_them():
    labeller = fitted(PAGES)
    labeller.stop_words_ = frozenset(["all", "rights", "reserved", "here"])
    sentences = sentences_of(labeller, document(PAGES[0]))
    assert [sentence.entropy for sentence in sentences] == [pytest.approx(1), pytest.approx(0)]
