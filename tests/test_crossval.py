"""Cross-validation: folds that keep sites together, and models that never see the sites they are tested on."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from victorpy.align import Gold
from victorpy.crossval import crf_maker, cross_validate, keep_everything, make_folds, score_page
from victorpy.datasets import GoldPage
from victorpy.document import Label, Labelling
from victorpy.errors import DataError
from victorpy.evaluate import Settings, evaluate, intervals, means
from victorpy.gold import label_page
from victorpy.labellers.base import Labeller

many = settings(max_examples=150)
groups = st.lists(st.sampled_from([f"site{number}" for number in range(12)]), min_size=1, max_size=60)


class Recorder(Labeller):
    """Keeps everything, and writes down which pages it was fitted on and which it was then asked about."""

    def __init__(self, diary):
        self.diary = diary
        self.fitted = []

    def fit(self, documents, labels=None):
        assert [len(document.blocks) for document in documents] == [len(sequence) for sequence in labels]
        self.fitted = [document.url for document in documents]
        return self

    def label(self, document):
        self.diary.append((tuple(self.fitted), document.url))
        return Labelling(tuple(Label.PARAGRAPH for _ in document.blocks))


def make_page(config, site, number, gold=None):
    """A page with a menu and two paragraphs, of which the gold has the paragraphs."""
    told = f"This is text number {number} of the site {site}, and somebody wrote it for others to read."
    page = f"<ul><li><a href='/'>Home of {site}</a><li><a href='/{number}'>More</a></ul><h1>Tea {number}</h1><p>{told}"
    gold = gold or (Gold(f"Tea {number}", Label.HEADER), Gold(told, Label.PARAGRAPH))
    return label_page(
        GoldPage(f"{site}-{number}", page.encode(), gold, f"http://{site}.example/{number}"), "own", config
    )


@pytest.fixture(scope="module")
def pages(cleaneval_config):
    config = replace(cleaneval_config, values={**cleaneval_config.values, "crf-param-max_iterations": ("5",)})
    sizes = {"tea": 3, "milk": 2, "beer": 1, "wine": 1, "water": 2}
    return config, [make_page(config, site, number) for site, size in sizes.items() for number in range(size)]


# Folds


@many
@given(groups, st.integers(2, 8), st.integers(0, 5))
def test_a_site_is_never_in_two_folds(sites, folds, seed):
    found = make_folds(sites, folds, seed)
    assert len(found) == len(sites)
    assert all(0 <= fold < folds for fold in found)
    assert len(set(zip(sites, found, strict=True))) == len(set(sites))


@many
@given(groups, st.integers(2, 8), st.integers(0, 5))
def test_folds_are_balanced_as_far_as_whole_sites_allow(sites, folds, seed):
    loads = Counter(dict.fromkeys(range(folds), 0))
    loads.update(make_folds(sites, folds, seed))
    biggest = max(Counter(sites).values())
    assert max(loads.values()) - min(loads.values()) <= biggest
    if len(set(sites)) >= folds:
        assert min(loads.values()) > 0


def test_single_pages_are_shared_out_to_the_page():
    loads = Counter(make_folds([f"site{number}" for number in range(62)], 6, seed=1))
    assert sorted(loads.values()) == [10, 10, 10, 10, 11, 11]


def test_a_big_site_stays_alone_while_others_fill_up():
    sites = ["big"] * 10 + [f"small{number}" for number in range(10)]
    found = make_folds(sites, 2, seed=1)
    assert set(found[:10]).isdisjoint(found[10:])


@many
@given(groups, st.integers(2, 8), st.integers(0, 5))
def test_the_same_seed_gives_the_same_folds(sites, folds, seed):
    assert make_folds(sites, folds, seed) == make_folds(list(sites), folds, seed)


def test_another_seed_gives_other_folds():
    sites = [f"site{number}" for number in range(30)]
    partitions = {tuple(make_folds(sites, 3, seed)) for seed in range(5)}
    assert len(partitions) == 5


@many
@given(groups, st.randoms(use_true_random=False))
def test_folds_do_not_depend_on_the_order_of_pages(sites, dice):
    shuffled = list(sites)
    dice.shuffle(shuffled)
    there = dict(zip(sites, make_folds(sites, 3, seed=1), strict=True))
    assert there == dict(zip(shuffled, make_folds(shuffled, 3, seed=1), strict=True))


# No leak


def test_a_labeller_never_sees_a_site_of_its_test_pages(pages):
    diary = []
    _, found = pages
    list(cross_validate(found, partial(Recorder, diary), folds=3))
    assert len(diary) == len(found)
    for fitted, tested in diary:
        assert fitted
        assert tested.split("/")[2] not in {url.split("/")[2] for url in fitted}


def test_every_page_is_tested_once_and_trained_on_in_all_other_folds(pages):
    diary = []
    _, found = pages
    list(cross_validate(found, partial(Recorder, diary), folds=3))
    assert sorted(tested for _, tested in diary) == sorted(page.document.url for page in found)
    for fitted, tested in diary:
        together = [other for same, other in diary if same == fitted]
        assert tested in together
        assert sorted([*fitted, *together]) == sorted(page.document.url for page in found)


def test_every_fold_has_a_new_labeller(pages):
    made = []

    def make():
        made.append(Recorder([]))
        return made[-1]

    list(cross_validate(pages[1], make, folds=4))
    assert len({id(labeller) for labeller in made}) == 4


def test_grouped_by_page_a_site_may_be_on_both_sides_but_a_page_is_not(pages):
    diary = []
    list(cross_validate(pages[1], partial(Recorder, diary), folds=9, group="page"))
    assert all(tested not in fitted for fitted, tested in diary)
    assert any(tested.split("/")[2] in {url.split("/")[2] for url in fitted} for fitted, tested in diary)


def test_results_say_page_site_and_fold(pages):
    _, found = pages
    results = [result for fold in cross_validate(found, partial(Recorder, []), folds=3) for result in fold]
    by_name = {page.name: page for page in found}
    assert {result.name for result in results} == set(by_name)
    assert all((result.site, result.data) == (by_name[result.name].site, "own") for result in results)
    folds_of_sites = {(result.site, result.fold) for result in results}
    assert len(folds_of_sites) == 5
    assert {fold for _, fold in folds_of_sites} == {0, 1, 2}


def test_two_jobs_give_what_one_gives(pages):
    config, found = pages
    one = list(cross_validate(found, crf_maker(config), folds=3, jobs=1))
    two = list(cross_validate(found, crf_maker(config), folds=3, jobs=2))
    assert one == two
    assert [[result.labelling for result in fold] for fold in one] == [[r.labelling for r in fold] for fold in two]


def test_parameters_of_the_maker_override_the_config(pages):
    config, _ = pages
    assert crf_maker(config, c2=3.0, max_iterations=7)().get_params()["c2"] == 3.0
    assert crf_maker(config)().get_params()["c2"] is None


def test_more_folds_than_pages_are_refused_however_pages_are_grouped(pages):
    config, found = pages
    with pytest.raises(DataError, match=r"5 sites do not fill 6 folds"):
        evaluate(found, config, Settings(folds=6), lambda *_: None)
    with pytest.raises(DataError, match=r"9 pages do not fill 10 folds"):
        evaluate(found, config, Settings(folds=10, group="page"), lambda *_: None)


@pytest.mark.parametrize("folds", [1, 0, -2])
def test_fewer_than_two_folds_are_refused(pages, folds):
    config, found = pages
    with pytest.raises(DataError, match="at least 2 folds"):
        evaluate(found, config, Settings(folds=folds), lambda *_: None)


# Sites


class SeesSites(Recorder):
    """Writes down too which pages of a site it had seen when it was asked about one."""

    wants_site = True

    def at_site(self, documents, labels=None):
        assert labels is None
        seen = SeesSites(self.diary)
        seen.fitted = [document.url for document in documents]
        return seen


def test_a_labeller_that_wants_the_site_sees_the_tested_pages_of_it_and_no_others(pages):
    diary = []
    _, found = pages
    results = [result for fold in cross_validate(found, partial(SeesSites, diary), folds=3) for result in fold]
    assert len(diary) == len(results) == len(found)
    for seen, tested in diary:
        assert list(seen) == [page.document.url for page in found if page.document.url.startswith(tested[:-1])]
    for result in results:  # each has its own page's labels
        assert len(result.labelling.labels) == len(result.gold_content)


# Scoring a page


def test_the_labels_of_the_gold_score_1_on_every_measure(pages):
    page = pages[1][0]
    scores = score_page(page, Labelling(page.labels)).scores
    assert scores.pop("empty") == 0
    assert scores == dict.fromkeys(scores, 1)
    assert {"label_accuracy", "cleaneval_markup", "cleaneval_segments_f1"} <= set(scores)


def test_a_page_of_which_nothing_is_kept_is_counted_as_empty(pages):
    page = pages[1][0]
    found = score_page(page, Labelling(tuple(Label.OTHER for _ in page.labels)))
    assert (found.scores["empty"], found.scores["words_f1"], found.scores["cleaneval_total"]) == (1, 0, 0)
    assert found.scores["content_accuracy"] == 2 / 4  # two items of the menu are rightly dropped


def test_keeping_everything_keeps_every_block_as_a_paragraph(pages):
    found = keep_everything(pages[1][0])
    assert set(found.labelling.labels) == {Label.PARAGRAPH}
    assert found.scores["words_recall"] == 1
    # Home of tea, More, Tea 0 and 17 words of text: 23 words, of which 19 are gold.
    assert found.scores["words_precision"] == pytest.approx(19 / 23)
    assert found.scores["content_accuracy"] == 2 / 4
    assert found.scores["label_accuracy"] == 1 / 4


def test_gold_without_tags_says_nothing_of_markup(cleaneval_config):
    page = make_page(cleaneval_config, "tea", 1, gold=(Gold("Tea 1"),))
    scores = score_page(page, Labelling(page.labels)).scores
    assert scores["words_f1"] == scores["cleaneval_words_f1"] == 1
    assert not {"cleaneval_text", "cleaneval_markup", "cleaneval_total", "cleaneval_words_tags_f1"} & set(scores)


@pytest.mark.parametrize("label", [None, Label.PARAGRAPH])
def test_a_text_that_begins_with_the_letters_url_is_text(cleaneval_config, label):
    # CleanEval's scorer drops lines that start with URL; a text is no address line, on either side.
    told = "URL shorteners make long addresses short."
    gold = GoldPage("1", f"<p>Tea is hot.</p><p>{told}</p>".encode(), (Gold(f"Tea is hot.\n{told}", label),))
    page = label_page(gold, "own", cleaneval_config)
    assert all(found.is_content for found in page.labels)
    scores = score_page(page, Labelling(page.labels)).scores
    assert (scores["words_f1"], scores["cleaneval_words_f1"], scores["shingle_f1"]) == (1, 1, 1)


def test_means_have_every_measure_that_any_page_has(cleaneval_config):
    tagged = keep_everything(make_page(cleaneval_config, "tea", 1))
    plain = keep_everything(make_page(cleaneval_config, "milk", 1, gold=(Gold("Tea 1"),)))
    there, back = means([tagged, plain]), means([plain, tagged])
    assert there == back
    assert there["cleaneval_segments_f1"] == tagged.scores["cleaneval_segments_f1"]


def test_an_interval_is_of_the_mean_that_it_stands_beside(cleaneval_config):
    # Accuracies are shares of all blocks, of which one bad page has most; so their intervals must be, too.
    good = [make_page(cleaneval_config, "tea", number) for number in range(9)]
    long = GoldPage("long", b"<p>Tea is hot.</p>" * 300, (Gold("Tea is hot. " * 300, Label.PARAGRAPH),))
    bad = label_page(long, "own", cleaneval_config)
    results = [score_page(page, Labelling(page.labels)) for page in good]
    results.append(score_page(bad, Labelling(tuple(Label.OTHER for _ in bad.labels))))
    for name in ("content_accuracy", "label_accuracy", "words_f1"):
        low, high = intervals(results)[name]
        assert low <= means(results)[name] <= high, name


def test_a_share_of_the_training_pages_leaves_the_tested_ones_alone(cleaneval_config):
    pages = [make_page(cleaneval_config, f"site{number // 2}", number) for number in range(12)]
    sizes = {}
    for share in (0.5, 1.0):
        SEEN.clear()
        folds = list(cross_validate(pages, Watching, folds=3, share=share))
        sizes[share] = [len(seen) for seen in SEEN]
        assert sorted(result.name for fold in folds for result in fold) == sorted(page.name for page in pages)
    assert sum(sizes[0.5]) < sum(sizes[1.0])


SEEN: list[list[str]] = []


class Watching(Labeller):
    """Remembers what it was trained on and keeps everything."""

    def fit(self, documents, labels=None):
        SEEN.append([document.url for document in documents])
        return self

    def label(self, document):
        return Labelling(tuple(Label.PARAGRAPH for _ in document.blocks))
