"""Beliefs about the places of a site, from predictions on its pages and from labels, and the hybrid model with both."""

import math
import pickle

import numpy as np
import pytest
from support.commands import ENVIRONMENT, run_process
from support.sitepages import site, site_page

from victorpy.cleaner import read_document
from victorpy.document import Label
from victorpy.errors import DataError
from victorpy.methods import load_method
from victorpy.model.beliefs import FARTHEST, MOST_PAGES, OWN_PAGES, PRIOR_WORDS, SHARE, Beliefs, SitePages
from victorpy.model.labeller import ModelLabeller
from victorpy.sites.importance import Place
from victorpy.sites.style_tree import ElementNode

MENU, STORY, OTHER = (Place(ElementNode("div", name), is_leaf=True) for name in ("menu", "story", "other"))


def log_odds(*probabilities):
    return np.array([math.log(each / (1 - each)) for each in probabilities])


def thought_of(*probabilities):
    """Pages 0, 1 ... that have one block each at the story's place."""
    beliefs = Beliefs()
    for number, probability in enumerate(probabilities):
        beliefs.think(str(number), [STORY], log_odds(probability), np.array([10.0]))
    return beliefs


@pytest.mark.parametrize("others", [1, 3])
def test_log_odds_move_towards_those_of_the_same_place_on_other_pages(others):
    found = thought_of(*[0.9] * others).smoothed("new", [STORY, MENU], log_odds(0.5, 0.2), np.array([10.0, 3.0]))
    share = SHARE * others / (others + OWN_PAGES)
    assert found.tolist() == pytest.approx([share * math.log(0.9 / 0.1), math.log(0.2 / 0.8)])


def test_a_page_does_not_influence_itself():
    beliefs = thought_of(0.2, 0.9)
    own = beliefs.smoothed("0", [STORY], log_odds(0.2), np.array([10.0]))
    assert own.tolist() == thought_of(0.9).smoothed("new", [STORY], log_odds(0.2), np.array([10.0])).tolist()
    alone = thought_of(0.2).smoothed("0", [STORY], log_odds(0.2), np.array([10.0]))
    assert alone.tolist() == pytest.approx(log_odds(0.2).tolist())
    empty = np.zeros(0)
    assert beliefs.smoothed("new", [], empty, empty).tolist() == beliefs.corrected([], empty).tolist() == []


def test_the_same_page_counts_once():
    beliefs = thought_of(0.9)
    beliefs.think("0", [STORY], log_odds(0.1), np.array([1000.0]))
    once = thought_of(0.9).smoothed("new", [STORY], log_odds(0.5), np.array([1.0]))
    assert beliefs.smoothed("new", [STORY], log_odds(0.5), np.array([1.0])).tolist() == once.tolist()


def test_log_odds_of_a_place_are_weighted_by_words():
    beliefs = Beliefs()
    beliefs.think("0", [STORY, STORY], log_odds(0.9, 0.1), np.array([30.0, 10.0]))
    found = beliefs.smoothed("new", [STORY], log_odds(0.5), np.array([1.0]))
    assert found[0] == pytest.approx(SHARE / (1 + OWN_PAGES) * math.log(0.7 / 0.3))


def told_of(content, probability, words):
    beliefs = Beliefs()
    beliefs.tell([STORY, MENU], np.array(content), log_odds(*probability), np.array(words))
    return beliefs


def test_labels_with_more_words_move_a_place_farther():
    beliefs = told_of([True, False], [0.5, 0.5], [PRIOR_WORDS, PRIOR_WORDS / 3])
    found = beliefs.corrected([MENU, STORY, OTHER], log_odds(0.5, 0.5, 0.3))
    assert found.tolist() == pytest.approx([math.log(0.375 / 0.625), math.log(0.75 / 0.25), math.log(0.3 / 0.7)])


def test_labels_move_log_odds_by_at_most_the_maximum():
    beliefs = told_of([True, False], [0.01, 0.99], [1e6, 1e6])
    assert beliefs.corrected([STORY, MENU], np.zeros(2)).tolist() == [FARTHEST, -FARTHEST]


# The hybrid.


@pytest.fixture(scope="module")
def pages():
    return site(8)


def labels_of(page, wanted):
    """The blocks that have a word are content, the others are not."""
    return [Label.PARAGRAPH if wanted in block.text else Label.OTHER for block in page.blocks]


def hybrid_at(pages, labels=None):
    labeller = load_method("site").at_site(pages, labels).labeller
    assert isinstance(labeller, ModelLabeller)
    return labeller


def sidebar(labeller, page):
    """The probability that the sidebar text is content."""
    (place,) = [number for number, block in enumerate(page.blocks) if "Subscribe" in block.text]
    return labeller.label(page).content[place]


def test_labels_of_one_page_change_other_pages_of_the_site(pages):
    untold = sidebar(hybrid_at(pages), pages[7])
    told = {
        wanted: sidebar(hybrid_at(pages, [*(labels_of(page, wanted) for page in pages[:3]), *[None] * 5]), pages[7])
        for wanted in ("Subscribe", "nothing of the page")
    }
    assert told["nothing of the page"] < untold < told["Subscribe"]
    assert sidebar(hybrid_at(pages, [None] * 8), pages[7]) == untold


def test_the_site_model_reads_the_fallback_text_of_objects_so_that_labels_reach_it():
    cleaner = load_method("site")
    film = '<div class="film"><object data="a.swf"><div class="text"><p>{text}</p></div></object></div>'
    pages = []
    for number in range(8):
        words = " ".join(f"film{number}word{each}" for each in range(6))
        caption = film.format(text=f"The film shows {words}.")
        pages.append(read_document(site_page(number).replace("</h1>", f"</h1>{caption}"), cleaner.config))
    labels = [labels_of(page, "The film shows") for page in pages[:3]]
    probabilities = []
    for given in (None, [*labels, *[None] * 5]):
        labelling = hybrid_at(pages, given).label(pages[7])
        (block,) = [number for number, block in enumerate(pages[7].blocks) if "The film shows" in block.text]
        probabilities.append(labelling.content[block])
    assert probabilities[0] < probabilities[1] > 0.5
    page = read_document(site_page(1).replace("</h1>", f"</h1>{film}"), load_method("default").config)
    assert not [block for block in page.blocks if "{text}" in block.text]


def test_the_site_model_moves_a_page_towards_the_others(pages):
    drawn = hybrid_at(pages)
    alone = hybrid_at(pages)
    alone.beliefs_ = None
    assert drawn.label(pages[7]).content != alone.label(pages[7]).content
    assert hybrid_at(pages[:1]).beliefs_ is None  # there is no other page


SAY_LABELLING = """
import pickle, sys
labeller, page = pickle.load(sys.stdin.buffer)
sys.stdout.buffer.write(pickle.dumps(labeller.label(page)))
"""


@pytest.mark.slow
def test_beliefs_survive_pickling(pages):
    """In the other process, texts have other hashes and nodes other addresses."""
    labeller = hybrid_at(pages, [labels_of(pages[0], "Subscribe"), *[None] * 7])
    for seed in ("1", "2"):
        sent = pickle.dumps((labeller, pages[7]))
        there = run_process("-c", SAY_LABELLING, input=sent, env={**ENVIRONMENT, "PYTHONHASHSEED": seed})
        assert pickle.loads(there.stdout) == labeller.label(pages[7])


@pytest.mark.slow
def test_the_order_of_a_sites_pages_does_not_matter():
    many = site(MOST_PAGES + 10)
    one, other = (hybrid_at(pages) for pages in (many, many[::-1]))
    for page in many[::7]:
        assert one.label(page) == other.label(page)


def test_a_repeated_page_is_kept_once():
    remembered = SitePages()
    first, *others = site(MOST_PAGES + 1)
    for page in (*[first] * MOST_PAGES, *others):
        remembered.add(page, None)
    remembered.add(first, ["other"])
    assert len({id(page) for page, _ in remembered.all[1:]}) == MOST_PAGES
    assert remembered.all[0] == (first, ["other"])


def test_another_config_keeps_the_site(pages):
    labels = [labels_of(pages[0], "Subscribe"), *[None] * 7]
    html = site_page(3)
    before, after = load_method("site").favoring("recall").at_site(pages, labels), load_method("site")
    found = after.at_site(pages, labels).favoring("recall").document(html)
    assert found.content == before.document(html).content
    assert found.content != after.favoring("recall").document(html).content
    elsewhere = after.at_site(pages, labels).at_site(pages[:1]).labeller
    assert isinstance(elsewhere, ModelLabeller)
    assert elsewhere.beliefs_ is None
    assert elsewhere.site_ is not None
    assert elsewhere.site_.pages == 1


def test_a_wrong_number_of_site_labels_is_refused(pages):
    with pytest.raises(DataError, match=r"blocks and 1 labels"):
        hybrid_at(pages, [["other"], *[None] * 7])


def test_only_a_model_with_site_features_is_tuned_by_labels(pages):
    assert load_method("site").labeller.tunes
    plain = load_method("default")
    assert not plain.labeller.tunes
    assert plain.at_site(pages, [["other"]]).labeller is plain.labeller
