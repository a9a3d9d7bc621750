"""Cross-validation: folds that keep sites together, and models that never see the sites they are tested on."""

from collections import Counter
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from victorpy.document import Label, Labelling
from victorpy.errors import DataError
from victorpy.labellers.base import Labeller
from victorpy.model.labeller import ModelLabeller
from victorpy.research.align import Gold
from victorpy.research.datasets import GoldPage
from victorpy.research.evaluate import Settings, cross_validate, evaluate, intervals, keep_everything, means, score_page
from victorpy.research.gold import label_page
from victorpy.sites.grouping import make_folds

many = settings(max_examples=150)
groups = st.lists(st.sampled_from([f"site{number}" for number in range(12)]), min_size=1, max_size=60)
fold_counts, seeds = st.integers(2, 8), st.integers(0, 5)


class Recorder(Labeller):
    """Keeps everything, and records which pages it was fitted on and which it was then asked about."""

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


class SiteRecorder(Recorder):
    """Records which pages of a site it had seen when it was asked about one."""

    wants_site = True

    def at_site(self, documents, labels=None):
        assert labels is None
        at_site = SiteRecorder(self.diary)
        at_site.fitted = [document.url for document in documents]
        return at_site


def run(pages, labeller=Recorder, share=1.0, **options):
    """Cross-validate; returns pairs of fitted pages and tested page, and the results."""
    diary = []
    folds = cross_validate(pages, partial(labeller, diary), Settings(**options), share)
    return diary, [result for fold in folds for result in fold]


def site(url):
    return url.split("/")[2]


def make_page(config, site, number, gold=None):
    """Return a page with a menu and two paragraphs; the paragraphs are the gold."""
    text = f"This is text number {number} of the site {site}, and somebody wrote it for others to read."
    page = f"<ul><li><a href='/'>Home of {site}</a><li><a href='/{number}'>More</a></ul><h1>Tea {number}</h1><p>{text}"
    gold = gold or (Gold(f"Tea {number}", Label.HEADER), Gold(text, Label.PARAGRAPH))
    url = f"http://{site}.example/{number}"
    return label_page(GoldPage(f"{site}-{number}", page.encode(), gold, url), "own", config)


@pytest.fixture(scope="module")
def config(cleaneval_config):
    return replace(cleaneval_config, values={**cleaneval_config.values, "crf-param-max_iterations": ("5",)})


@pytest.fixture(scope="module")
def pages(config):
    sizes = {"tea": 3, "milk": 2, "beer": 1, "wine": 1, "water": 2}
    return [make_page(config, site, number) for site, size in sizes.items() for number in range(size)]


# Folds


@many
@given(groups, fold_counts, seeds)
def test_folds_keep_sites_together_and_are_balanced(sites, folds, seed):
    fold_of = make_folds(sites, folds, seed)
    assert fold_of == make_folds(list(sites), folds, seed)
    assert len(fold_of) == len(sites)
    assert all(0 <= fold < folds for fold in fold_of)
    assert len(set(zip(sites, fold_of, strict=True))) == len(set(sites))
    loads = [fold_of.count(fold) for fold in range(folds)]
    assert max(loads) - min(loads) <= max(Counter(sites).values())
    if len(set(sites)) >= folds:
        assert min(loads) > 0


def test_folds_of_single_pages_of_a_big_site_and_of_other_seeds():
    loads = Counter(make_folds([f"site{number}" for number in range(62)], 6, seed=1))
    assert sorted(loads.values()) == [10, 10, 10, 10, 11, 11]
    fold_of = make_folds(["big"] * 10 + [f"small{number}" for number in range(10)], 2, seed=1)
    assert set(fold_of[:10]).isdisjoint(fold_of[10:])  # the big site stays alone while others fill up
    sites = [f"site{number}" for number in range(30)]
    assert len({tuple(make_folds(sites, 3, seed)) for seed in range(5)}) == 5


@pytest.mark.slow
@many
@given(groups, st.randoms(use_true_random=False))
def test_folds_do_not_depend_on_the_order_of_pages(sites, dice):
    shuffled = list(sites)
    dice.shuffle(shuffled)
    fold_of_site = dict(zip(sites, make_folds(sites, 3, seed=1), strict=True))
    assert fold_of_site == dict(zip(shuffled, make_folds(shuffled, 3, seed=1), strict=True))


# No leak


def test_every_page_is_tested_once_by_a_labeller_that_never_saw_its_site(pages):
    diary, _ = run(pages, folds=3)
    urls = sorted(page.document.url for page in pages)
    assert sorted(tested for _, tested in diary) == urls
    for fitted, tested in diary:
        assert site(tested) not in map(site, fitted)
        fold = [other for same, other in diary if same == fitted]
        assert sorted([*fitted, *fold]) == urls  # all other folds are trained on
        assert 0 < len(fitted) < len(urls)


def test_every_fold_has_a_new_labeller(pages):
    made = []
    list(cross_validate(pages, lambda: made.append(Recorder([])) or made[-1], Settings(folds=4)))
    assert len({id(labeller) for labeller in made}) == 4


def test_grouped_by_page_a_site_may_be_on_both_sides_but_a_page_is_not(pages):
    diary, _ = run(pages, folds=9, group="page")
    assert all(tested not in fitted for fitted, tested in diary)
    assert any(site(tested) in map(site, fitted) for fitted, tested in diary)


def test_results_name_page_site_and_fold(pages):
    _, results = run(pages, folds=3)
    sites = {page.name: page.site for page in pages}
    assert {result.name: result.site for result in results} == sites
    assert {result.data for result in results} == {"own"}
    folds_of_sites = {(result.site, result.fold) for result in results}
    assert len(folds_of_sites) == 5
    assert {fold for _, fold in folds_of_sites} == {0, 1, 2}


def test_labeller_that_wants_the_site_sees_its_tested_pages_and_no_others(pages):
    diary, results = run(pages, SiteRecorder, folds=3)
    assert len(diary) == len(results) == len(pages)
    for seen, tested in diary:
        assert list(seen) == [page.document.url for page in pages if page.document.url.startswith(tested[:-1])]
    for result in results:  # each has its own page's labels
        assert len(result.labelling.labels) == len(result.gold_content)


def test_share_of_the_training_pages_leaves_the_tested_ones_alone(cleaneval_config):
    pages = [make_page(cleaneval_config, f"site{number // 2}", number) for number in range(12)]
    trained = {}
    for share in (0.5, 1.0):
        diary, results = run(pages, folds=3, share=share)
        trained[share] = sum(len(fitted) for fitted, _ in diary)
        assert sorted(result.name for result in results) == sorted(page.name for page in pages)
    assert trained[0.5] < trained[1.0]


def test_two_jobs_give_the_same_results(config, pages):
    make = partial(ModelLabeller, config)
    one, two = (list(cross_validate(pages, make, Settings(folds=3, jobs=jobs))) for jobs in (1, 2))
    assert one == two
    assert [[result.labelling for result in fold] for fold in one] == [[r.labelling for r in fold] for fold in two]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"folds": 6}, "6 folds need as many sites, not 5"),
        ({"folds": 10, "group": "page"}, "10 folds need as many pages, not 9"),
        *(({"folds": folds}, "at least 2 folds") for folds in (1, 0, -2)),
    ],
)
def test_folds_that_cannot_be_filled_are_refused(config, pages, options, message):
    with pytest.raises(DataError, match=message):
        evaluate(pages, config, Settings(**options), lambda *_: None)


def test_other_experiments_are_run_on_request_only(config, pages):
    quick = replace(config, values={**config.values, "crf-param-max_iterations": ("1",), "evidence": ()})
    steps = []
    found = evaluate(pages, quick, Settings(folds=2), lambda *step: steps.append(step))
    assert found.experiments == {}
    assert steps == [("cross-validation", number, 2) for number in range(3)]
    assert [page.fold for page in found.pages] == sorted(page.fold for page in found.pages)
    assert len(found.pages) == len(found.everything) == len(pages)


# Scoring a page


def test_scores_of_gold_labels_and_of_nothing(pages):
    result = score_page(pages[0], Labelling(pages[0].labels))
    scores = result.scores
    assert result.fold == scores.pop("empty") == 0
    assert scores == dict.fromkeys(scores, 1)
    assert {"label_accuracy", "cleaneval_markup", "cleaneval_segments_f1"} <= set(scores)
    scores = score_page(pages[0], Labelling(tuple(Label.OTHER for _ in pages[0].labels))).scores
    assert (scores["empty"], scores["words_f1"], scores["cleaneval_total"]) == (1, 0, 0)
    assert scores["content_accuracy"] == 2 / 4  # two items of the menu are rightly dropped


def test_keeping_everything_keeps_every_block_as_a_paragraph(pages):
    result = keep_everything(pages[0])
    assert set(result.labelling.labels) == {Label.PARAGRAPH}
    assert result.scores["words_recall"] == 1
    # Home of tea, More, Tea 0 and 17 words of text: 23 words, of which 19 are gold.
    assert result.scores["words_precision"] == pytest.approx(19 / 23)
    assert result.scores["content_accuracy"] == 2 / 4
    assert result.scores["label_accuracy"] == 1 / 4


def test_gold_without_tags_has_no_markup_scores(cleaneval_config):
    page = make_page(cleaneval_config, "tea", 1, gold=(Gold("Tea 1"),))
    scores = score_page(page, Labelling(page.labels)).scores
    assert scores["words_f1"] == scores["cleaneval_words_f1"] == 1
    assert not {"cleaneval_text", "cleaneval_markup", "cleaneval_total", "cleaneval_words_tags_f1"} & set(scores)


@pytest.mark.parametrize("label", [None, Label.PARAGRAPH])
def test_text_that_begins_with_the_letters_url_is_text(cleaneval_config, label):
    # CleanEval's scorer drops lines that start with URL, but such a text is not an address line on either side.
    text = "URL shorteners make long addresses short."
    gold = GoldPage("1", f"<p>Tea is hot.</p><p>{text}</p>".encode(), (Gold(f"Tea is hot.\n{text}", label),))
    page = label_page(gold, "own", cleaneval_config)
    assert all(label.is_content for label in page.labels)
    scores = score_page(page, Labelling(page.labels)).scores
    assert (scores["words_f1"], scores["cleaneval_words_f1"], scores["shingle_f1"]) == (1, 1, 1)


def test_means_have_every_measure_that_any_page_has(cleaneval_config):
    tagged = keep_everything(make_page(cleaneval_config, "tea", 1))
    plain = keep_everything(make_page(cleaneval_config, "milk", 1, gold=(Gold("Tea 1"),)))
    assert means([tagged, plain]) == means([plain, tagged])
    assert means([tagged, plain])["cleaneval_segments_f1"] == tagged.scores["cleaneval_segments_f1"]


def test_interval_contains_its_mean(cleaneval_config):
    # Accuracies and their intervals are shares of all blocks, most of which are on one bad page.
    good = [make_page(cleaneval_config, "tea", number) for number in range(9)]
    long = GoldPage("long", b"<p>Tea is hot.</p>" * 300, (Gold("Tea is hot. " * 300, Label.PARAGRAPH),))
    bad = label_page(long, "own", cleaneval_config)
    results = [score_page(page, Labelling(page.labels)) for page in good]
    results.append(score_page(bad, Labelling(tuple(Label.OTHER for _ in bad.labels))))
    for name in ("content_accuracy", "label_accuracy", "words_f1"):
        low, high = intervals(results)[name]
        assert low <= means(results)[name] <= high, name
