"""What labelled pages of a site tell of its places, and what a model for sites makes of it."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from sitepages import document, site

from victorpy.document import Document, Label
from victorpy.errors import DataError
from victorpy.methods import load_method
from victorpy.sites.style_tree import StyleTree
from victorpy.sites.told import MOST, PRIOR_WORDS, ToldPlaces

PAGES = [f"<div class=a><p>{word}</p></div><div class=b><p>{word} notes</p></div>" for word in ("tea", "milk", "rum")]


def told_of(content: list[bool], probability: list[float], weight: list[float]) -> tuple[ToldPlaces, list[Document]]:
    pages = [document(html) for html in PAGES]
    tree = StyleTree()
    for page in pages:
        tree.add(page)
    told = ToldPlaces(tree)
    told.add(pages[0], np.array(content), np.array(probability), np.array(weight))
    return told, pages


def test_a_place_goes_where_the_labels_are_as_far_as_they_have_words() -> None:
    told, pages = told_of([True, False], [0.5, 0.5], [PRIOR_WORDS, PRIOR_WORDS / 3])
    found = told.shifts(pages[2])  # another page of the site
    assert found.tolist() == pytest.approx([math.log(0.75 / 0.25), math.log(0.375 / 0.625)])


def test_labels_that_say_what_the_model_thinks_change_nothing() -> None:
    told, pages = told_of([True, False], [0.99, 0.01], [500.0, 500.0])
    before = math.log(0.99 / 0.01)
    assert 0 < told.shifts(pages[1])[0] <= MOST
    assert told.shifts(pages[1])[0] == pytest.approx(-told.shifts(pages[1])[1])
    assert told.shifts(pages[1])[0] == pytest.approx(math.log((500 + 29.7) / 0.3) - before)


def test_no_place_moves_farther_than_it_may_and_others_stay() -> None:
    told, pages = told_of([True, False], [0.001, 0.999], [1e6, 1e6])
    assert told.shifts(pages[1]).tolist() == [MOST, -MOST]
    elsewhere = document("<div class=a><p>tea</p></div><table><td>gin</td></table>")
    assert told.shifts(elsewhere).tolist() == [MOST, 0.0]


def labels_of(page: Document, wanted: str) -> list[str]:
    """The page's sidebar, which no model keeps, is content, or nothing of it is."""
    return [Label.PARAGRAPH if wanted and wanted in block.text else Label.OTHER for block in page.blocks]


@pytest.fixture(scope="module")
def pages() -> list[Document]:
    return site(8)


def sidebar_probability(pages: list[Document], labels: list[list[str] | None] | None) -> float:
    labeller = load_method("hybrid").at_site(pages, labels).labeller
    labelling = pickle.loads(pickle.dumps(labeller)).label(pages[7])  # as another process has it
    ((place, _),) = [(number, block) for number, block in enumerate(pages[7].blocks) if "Subscribe" in block.text]
    return float(labelling.content[place])


def test_labels_of_a_site_move_the_hybrid_at_the_same_place_of_other_pages(pages: list[Document]) -> None:
    none = [None] * 5
    untold = sidebar_probability(pages, None)
    wanted = sidebar_probability(pages, [*(labels_of(page, "Subscribe") for page in pages[:3]), *none])
    unwanted = sidebar_probability(pages, [*(labels_of(page, "") for page in pages[:3]), *none])
    assert unwanted < untold < wanted
    assert sidebar_probability(pages, [None] * 8) == untold


def test_labels_that_do_not_fit_are_refused(pages: list[Document]) -> None:
    with pytest.raises(DataError, match=r"blocks and 1 labels"):
        load_method("hybrid").at_site(pages, [["other"], *[None] * 7])


def test_only_a_model_that_sees_sites_is_tuned_by_labels(pages: list[Document]) -> None:
    assert load_method("hybrid").labeller.tunes
    assert not load_method("crf").labeller.tunes
    crf = load_method("crf")
    assert crf.at_site(pages, [["other"]]).labeller is crf.labeller
