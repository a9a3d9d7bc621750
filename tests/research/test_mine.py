"""`victor mine`: which pages train and test, results worked out by hand, and a small data set from end to end."""

import importlib.util
import json
import random
import runpy
import zlib
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from support.cases import read_cases
from support.commands import refused as refused_line
from support.commands import run_process, victor, write_files
from support.sitepages import SEEN, DropRepeated

from victorpy.base.words import simple_words
from victorpy.document import Labelling
from victorpy.errors import DataError, VictorError, install_command
from victorpy.labellers.base import LABELLERS, SiteLabeller, label_kept
from victorpy.methods import Method
from victorpy.research.mining.classification import averages, cells_to_test, classify, training_sites
from victorpy.research.mining.cleaning import (
    Bags,
    MethodPages,
    MinedPage,
    by_site,
    clean_site,
    parse_methods,
    read_pages,
    survival_scores,
    terms,
)
from victorpy.research.mining.clustering import cluster, f_of_clusters, reduced, starting_pages, statistics, tfidf
from victorpy.research.mining.study import Settings, check_order, check_pages, expected_pairs, measure_rises, mine
from victorpy.research.report import mining
from victorpy.research.report.base import to_markdown
from victorpy.research.scores import occurring
from victorpy.sites.grouping import draw_sample

build = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "small_swde.py"))["build"]
NONE = Method("everything", label="none")
NOT_A_PAGE = zlib.compress(b"%PDF-1.4\n" + bytes(range(256)) * 4)


class DropEverything(SiteLabeller):
    def fit(self, documents, labels=None):
        return self

    def label(self, document) -> Labelling:
        return label_kept(document, [False] * len(document.blocks))


class Fails(SiteLabeller):
    def fit(self, documents, labels=None):
        raise VictorError("too few pages")

    def label(self, document) -> Labelling:
        raise NotImplementedError


METHODS = {"unique-text": DropRepeated, "drop-everything": DropEverything, "fails": Fails}


@pytest.fixture(scope="module", autouse=True)
def _methods():
    for name, labeller in METHODS.items():
        LABELLERS.add(name, labeller)
    yield
    for name in METHODS:
        LABELLERS.remove(name)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return build(tmp_path_factory.mktemp("swde"))


@pytest.fixture(scope="module")
def pages(data):
    return read_pages([f"swde:{data}"], 0, warn=pytest.fail)


@pytest.fixture(scope="module")
def scores(pages):
    methods = parse_methods("none,unique-text,drop-everything", allow_code=False)
    return mine(pages, methods, Settings(runs=30, dimensions=10))


def bags_of(*pages):
    bags = Bags()
    for counts in pages:
        bags.add(counts)
    return bags.matrix()


# Words and values


def test_terms_leave_out_numbers_and_single_characters():
    assert terms(["a", "42", "tea", "tea", "7d"]) == {"tea": 2, "7d": 1}


def test_bags_make_a_matrix_with_a_row_per_page():
    assert bags_of({"tea": 2, "cup": 1}, {}, {"cup": 3}).toarray().tolist() == [[2, 1], [0, 0], [0, 3]]
    first, second = Bags(), Bags()
    first.add({"tea": 2})
    second.add({"cup": 1, "tea": 3})
    first.extend(second)
    assert first.matrix().toarray().tolist() == [[2, 0], [3, 1]]
    assert bags_of({}).shape == (1, 1)


@pytest.mark.parametrize(
    ("value", "text", "survives"),
    [
        ("Canon EOS", "The CANON eos-7D", True),
        ("Canon EOS", "Canon, the EOS", False),
        ("EOS Canon", "Canon EOS", False),
        ("Can", "Canon", False),
        ("$1,699.00", "now 1,699.00 only", True),
        ("Müller", "von MÜLLER", True),
        ("tea", "", False),
    ],
)
def test_value_survives_if_its_words_follow_one_another(value, text, survives):
    assert occurring([" ".join(simple_words(value))], simple_words(text)) == (survives,)


# Clustering


@pytest.mark.parametrize(
    ("classes", "clusters", "f"),
    [
        ([0, 0, 1, 1], [0, 0, 1, 1], 1.0),
        ([0, 0, 1, 1], [1, 1, 0, 0], 1.0),
        # one cluster: the class that gets it has p = 1/2 and r = 1, F = 2/3; the other nothing
        ([0, 0, 1, 1], [0, 0, 0, 0], (2 / 3 + 0) / 2),
        # class 0 in cluster 0 with p = 1, r = 1/2: 2/3; class 1 in cluster 1 with p = 2/3, r = 1: 4/5
        ([0, 0, 1, 1], [0, 1, 1, 1], (2 / 3 + 4 / 5) / 2),
        # both classes would like cluster 0 best (F = 6/11 and 8/11): the better sum gives class 0 cluster 1
        ([0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 0, 0, 0, 0], (2 * 1 / 5 + 2 * 4 / 11) / 2),
        ([0, 1, 2], [2, 0, 1], 1.0),
    ],
)
def test_f_of_clusters_uses_the_best_assignment(classes, clusters, f):
    assert f_of_clusters(classes, clusters) == pytest.approx(f)


def test_statistics_match_table_2():
    numbers = statistics([0.3, 0.5, 0.7, 0.85, 1.0])
    assert numbers["mean"] == pytest.approx(0.67)
    assert [numbers[name] for name in ("below_50", "from_70", "from_80", "from_90")] == [0.2, 0.6, 0.4, 0.2]
    assert numbers["bins"] == [0, 0, 0, 1, 0, 1, 0, 1, 1, 1]
    assert numbers["runs"] == [0.3, 0.5, 0.7, 0.85, 1.0]


def two_topics(pages=30, seed=1):
    """Counts of pages with the terms of one topic or of the other."""
    generator = np.random.default_rng(seed)
    chosen = [generator.choice(40, 12) + 40 * (page % 2) for page in range(pages)]
    return tfidf(bags_of(*(Counter(f"word{number}" for number in words) for words in chosen))), np.arange(pages) % 2


def test_k_means_finds_two_clear_topics_the_same_way_with_any_number_of_jobs():
    points, classes = two_topics()
    assert max(cluster(points, classes, 2, 20, 0, seed=1, jobs=1)) == 1.0
    one, again, two_jobs = (cluster(points, classes, 2, 7, 5, seed=1, jobs=jobs) for jobs in (1, 1, 2))
    assert one == again == two_jobs


def test_tfidf_vectors_have_length_one_and_empty_pages_can_be_clustered():
    lengths = np.linalg.norm(tfidf(bags_of({"tea": 2, "cup": 1}, {})).toarray(), axis=1)
    assert lengths == pytest.approx([1, 0])
    scores = cluster(tfidf(bags_of(*[{}] * 6)), np.array([0, 0, 0, 1, 1, 1]), 2, 3, 100, seed=1, jobs=1)
    assert scores == pytest.approx([(2 / 3 + 0) / 2] * 3)


def test_starting_pages_are_distinct_and_depend_on_seed_and_run():
    assert starting_pages(1000, 4, 1, 0).tolist() != starting_pages(1000, 4, 2, 0).tolist()
    assert starting_pages(1000, 4, 1, 0).tolist() != starting_pages(1000, 4, 1, 1).tolist()
    assert all(len(set(starting_pages(4, 4, 1, run))) == 4 for run in range(20))


def test_reduction_that_keeps_almost_all_does_not_change_runs():
    points, classes = two_topics()
    assert reduced(points, 29).shape == (30, 29)
    almost, whole = (cluster(points, classes, 2, 20, dimensions, seed=1, jobs=1) for dimensions in (29, 0))
    assert almost == pytest.approx(whole)
    for dimensions in (0, 30, 1000):
        assert reduced(points, dimensions) is points


# Classification

CELLS = [(0, "a"), (0, "b"), (0, "c"), (1, "b"), (1, "c"), (1, "d")]


@pytest.mark.parametrize(
    ("configuration", "pairs"), [(1, "bb cc"), (2, "ab ac ad bc bd cb cd"), (3, "ab ac ad bc bd cb cd"), (4, "bc cb")]
)
def test_training_sites(configuration, pairs):
    assert training_sites(configuration, list("abc"), list("bcd")) == [tuple(pair) for pair in pairs.split()]


@pytest.mark.parametrize(
    ("configuration", "trained", "tested"),
    [
        (1, "bb", "0a 0c 1c 1d"),
        (2, "ab", "0c 1c 1d"),
        (2, "bc", "0a 1d"),
        (3, "ab", "0b 0c 1c 1d"),
        (3, "bc", "0a 0c 1b 1d"),
        (4, "bc", "0c 1b"),
    ],
)
def test_cells_to_test(configuration, trained, tested):
    cells = [(int(number), site) for number, site in tested.split()]
    assert cells_to_test(configuration, tuple(trained), CELLS) == cells


def classified(rows):
    """Classify pages given as (vertical, site, text)."""
    counts = bags_of(*(Counter(text.split()) for _, _, text in rows))
    return classify(counts, [row[0] for row in rows], [row[1] for row in rows])


def test_naive_bayes_by_hand():
    """The cameras' site b says "novel" on each page, so its classifiers take books for cameras."""
    rows = [
        ("book", "a", "novel story"),
        ("book", "b", "novel tale"),
        ("camera", "b", "novel novel lens lens lens"),
        ("camera", "c", "lens"),
    ]
    cases = classified(rows)["book", "camera"]
    # 1: learned at b (novel 1 of 2, tale 1 of 2; novel 2 and lens 3 of 5; 3 terms), tested on book at a, camera at c.
    # "novel": 2/5 against 3/8, so the book is right; "lens": 1/5 against 4/8, right too.
    assert [(case.first, case.second, case.f, case.accuracy) for case in cases[1]] == [("b", "b", 1.0, 1.0)]
    # 2: (a, b) leaves camera c only, (b, c) leaves book a only: no pages of both are left but for (a, c), at b.
    # (a, c): 2 and 1 terms of 3; "novel" 2/5 against 1/4, so book at b is right; its camera is
    # (2/5)² (1/5)³ = .00128 against (1/4)² (2/4)³ = .0078: right.
    assert [(case.first, case.second, case.accuracy) for case in cases[2]] == [("a", "c", 1.0)]
    assert [(case.first, case.second) for case in cases[3]] == [("a", "b"), ("a", "c"), ("b", "c")]


def test_f_of_a_case_is_the_mean_of_both_classes():
    """Learned from a and c; a page without known words goes to the class with more training pages."""
    rows = [
        *[("book", "a", "novel")] * 2,
        ("camera", "c", "lens"),
        *[("book", "d", "novel")] * 3,
        ("camera", "e", "lens"),
        ("camera", "e", "something"),
    ]
    cases = {(case.first, case.second): case for case in classified(rows)["book", "camera"][2]}
    case = cases["a", "c"]
    # books: p = 3/4, r = 1: F = 6/7; cameras: p = 1, r = 1/2: F = 2/3
    assert case.f == pytest.approx((6 / 7 + 2 / 3) / 2)
    assert case.accuracy == pytest.approx(4 / 5)


def test_classification_agrees_with_scikit_learn():
    from sklearn.naive_bayes import MultinomialNB

    generator = np.random.default_rng(1)
    names = [f"w{number}" for number in range(30)]
    rows = [
        (vertical, site, " ".join(generator.choice(names, 15, p=weights)))
        for vertical, weights in zip(("book", "camera"), generator.dirichlet(np.ones(30) * 2, 2), strict=True)
        for site in "abc"
        for _ in range(4)
    ]
    cases = classified(rows)["book", "camera"][3]
    for case in cases:
        train = [at for at, row in enumerate(rows) if row[:2] in {("book", case.first), ("camera", case.second)}]
        test = [at for at in range(len(rows)) if at not in train]
        vocabulary = sorted({word for at in train for word in rows[at][2].split()})
        matrix = np.array([[row[2].split().count(word) for word in vocabulary] for row in rows])
        kinds = np.array([row[0] for row in rows])
        model = MultinomialNB().fit(matrix[train], kinds[train])
        assert case.accuracy == pytest.approx((model.predict(matrix[test]) == kinds[test]).mean())
    assert len(cases) == 6


def test_configuration_without_a_case_has_no_average():
    rows = [("book", "a", "novel"), ("book", "b", "novel"), ("camera", "c", "lens"), ("camera", "d", "lens")]
    means = averages(classified(rows))
    assert means["pairs"][0]["1"] is means["average"]["1"] is None
    assert means["average"]["2"] == {"f": 1.0, "accuracy": 1.0, "cases": 4}


def test_averages_are_means_over_pairs():
    words = {"book": "novel", "camera": "lens", "job": "salary"}
    means = averages(classified([(vertical, vertical + site, words[vertical]) for vertical in words for site in "ab"]))
    assert [pair["classes"] for pair in means["pairs"]] == [["book", "camera"], ["book", "job"], ["camera", "job"]]
    assert means["average"]["3"]["cases"] == 12


# The papers' order


def test_order_is_checked_for_the_given_methods():
    assert expected_pairs(["none", "crf"]) == []
    pairs = expected_pairs(["none", "rtdm", "pagelets", "sentence-entropy"])
    after_none, last = ["rtdm", "pagelets", "sentence-entropy"], "sentence-entropy"
    assert pairs == [*(("none", name) for name in after_none), ("rtdm", last), ("pagelets", last)]
    assert expected_pairs(["none", "sst(t=0.3)"]) == [("none", "sst(t=0.3)")]


def test_order_is_checked_by_the_means_of_the_same_runs():
    runs = {"none": [0.5, 0.6], "sst": [0.9, 0.4], "sentence-entropy": [0.9, 0.4]}
    rows = {(row["worse"], row["better"]): row for row in check_order(runs, {}) if row["measure"] == "clustering F"}
    assert rows["none", "sst"]["holds"]
    assert rows["none", "sst"]["difference"] == pytest.approx(0.1)
    assert rows["sst", "sentence-entropy"]["holds"]  # they may be equal
    (equal,) = check_order({"none": [0.5], "sst": [0.5]}, {})
    assert not equal["holds"]  # none must be worse, not equal


def test_rise_of_every_method_over_no_cleaning_has_an_interval(scores):
    (row,) = measure_rises({"none": [0.5, 0.6], "my-model": [0.9, 0.4]}, {})
    assert (row["method"], row["measure"]) == ("my-model", "clustering F")
    assert row["difference"] == pytest.approx(0.1)
    assert row["low"] <= row["difference"] <= row["high"]
    assert measure_rises({"none": [0.5]}, {}) == []
    names = {(row["method"], row["measure"]) for row in scores["rises"]}
    assert {("unique-text", "clustering F"), ("drop-everything", "A4")} <= names
    text = to_markdown(mining.report(scores, "Mining"))
    assert "## Gain over no cleaning" in text
    assert "| method | clustering F | F1 |" in text
    assert "## Classification of the removed text" in text


def test_report_leaves_out_removed_text_if_no_method_removes_any(scores):
    results = [{**row, "removed": None} for row in scores["results"]]
    assert "removed text" not in to_markdown(mining.report({**scores, "results": results}, "Mining"))


def test_report_says_where_the_order_does_not_hold(scores):
    names = ("measure", "worse", "better", "may_be_equal", "holds", "difference", "low", "high")
    holds = ("F1", "none", "sst", False, True, 0.1, 0.0, 0.2)
    fails = ("F2", "sst", "sentence-entropy", True, False, -0.05, -0.07, 0.0)
    order = [dict(zip(names, row, strict=True)) for row in (holds, fails)]
    text = to_markdown(mining.report({**scores, "order": order}, "Mining"))
    assert "sentence-entropy is 0.050 below sst (0.000 to 0.070)" in text
    assert "The papers' order holds by F1 in 1 of 1, F2 in 0 of 1 comparisons" in text
    assert "The papers' order holds in all 1 comparisons of methods." in text
    assert "| F2 | sst ≤ sentence-entropy | no | -0.050 |" in text


# Cleaning


def clean(site, *names, sample=500):
    return clean_site(site, (NONE, *map(Method, names)), sample, seed=1)


def test_pages_of_a_site_are_together_whatever_their_vertical(pages):
    shop = next(site for site in by_site(pages) if site[0].site == "shop.example")
    assert {page.vertical for page in shop} == {"book", "camera"}
    assert len(by_site(pages)) == 6


def test_site_is_learned_from_a_sample_and_cleaned_whole(pages):
    site = by_site(pages)[0]
    cleaned = clean(site, "unique-text", sample=5).methods["unique-text"]
    assert SEEN[-1].pages_ == cleaned.learned == 5
    assert len(cleaned.survival) == len(site) == 8


def test_sample_is_drawn_by_its_seed():
    items = list(range(8))
    samples = [draw_sample(items, 4, random.Random(seed)) for seed in range(5)]
    assert samples[1] == draw_sample(items, 4, random.Random(1)) == sorted(samples[1])
    assert len(set(map(tuple, samples))) > 1
    assert draw_sample(items, 100, random.Random(1)) == items


def test_unreadable_page_is_left_out_and_named(pages):
    broken = MinedPage("shop/x", pages[0].site, "book", "", ("x",), NOT_A_PAGE)
    cleaned = clean([broken, *by_site(pages)[0]])
    assert len(cleaned.pages) == len(cleaned.methods["none"].survival) == 8
    assert cleaned.warnings[0].startswith("shop/x: ")
    cleaned = clean([broken], "fails")  # no page of the site is left, so nothing is learned
    assert {name: method.survival for name, method in cleaned.methods.items()} == {"none": [], "fails": []}
    assert len(cleaned.warnings) == 1
    with pytest.raises(DataError, match=r"fails cannot clean novelty.example: too few pages"):
        clean(by_site(pages)[0], "fails")


def test_limit_takes_the_first_pages_of_each_site_and_vertical(data):
    pages = read_pages([f"swde:{data}"], 3, warn=pytest.fail)
    assert set(Counter((page.site, page.vertical) for page in pages).values()) == {3}
    assert {page.name.rpartition("/")[2] for page in pages} == {"0000", "0001", "0002"}


# From end to end


def test_site_method_removes_the_frame_and_keeps_the_values(scores):
    none, cleaned, nothing = (result["survival"]["all"] for result in scores["results"])
    assert (none["removed_share"], none["survived_share"]) == (0.0, 1.0)
    assert cleaned["removed_share"] > 0.7
    assert cleaned["survived_share"] == 1.0
    assert none["values"] == scores["data"]["values"] == 2 * 64
    assert (nothing["removed_share"], nothing["survived_share"], nothing["empty"]) == (1.0, 0.0, 64)
    for groups in (result["survival"] for result in scores["results"]):
        for name in ("pages", "values", "present", "survived", "words", "kept", "empty"):
            for parts in (groups["sites"], groups["verticals"].values()):
                assert sum(part[name] for part in parts) == groups["all"][name]


def test_cleaning_helps_mining(scores):
    none, cleaned, nothing = scores["results"]
    assert none["clustering"]["mean"] < cleaned["clustering"]["mean"]
    assert nothing["clustering"]["mean"] == pytest.approx((2 / 3 + 0) / 2)
    before, after = none["classification"]["average"], cleaned["classification"]["average"]
    assert before["3"]["accuracy"] < after["3"]["accuracy"] == 1.0
    assert before["4"]["accuracy"] < 0.5  # these pages look like the other class
    assert after["4"]["accuracy"] == 1.0
    # 4 sites in each vertical, two of them in both: 2 pairs with the same site, 14 with two, 2 of these swapped.
    (pair,) = none["classification"]["pairs"]
    assert [pair[number]["cases"] for number in "1234"] == [2, 14, 14, 2]
    # The removed text is classified by itself.
    assert none["removed"] is None
    assert cleaned["removed"]["4"]["accuracy"] < 0.1  # the frame of a site misleads
    assert nothing["removed"] == before


def test_command_writes_a_report(data, tmp_path):
    out = tmp_path / "report"
    arguments = ["mine", "--data", f"swde:{data}", "--methods", "unique-text(share=0.4)"]
    ended = victor(*arguments, "--runs", 5, "--limit", 4, "--jobs", 2, "-o", out, text=True)
    assert ended.returncode == 0
    scores = json.loads((out / "scores.json").read_text(encoding="utf-8"))
    assert scores["methods"] == ["none", "unique-text(share=0.4)"]
    assert scores["parameters"]["unique-text(share=0.4)"] == ["share=0.4"]
    assert len(scores["results"][1]["clustering"]["runs"]) == 5
    assert scores["settings"]["limit"] == 4
    assert "Clustering (table 2)\nmethod                  mean F" in ended.stdout
    assert "F < 0.5, %" in ended.stdout
    assert "|" not in ended.stdout
    markdown, html = ((out / name).read_text(encoding="utf-8") for name in ("report.md", "report.html"))
    titles = ["Removed words and surviving values", "As table 3, F scores: F1", "As table 4, accuracies: A3", "By site"]
    for title in (*titles, "Beyond table 3, F scores: F4"):
        assert f"## {title}" in markdown
        assert f"<h2>{title}</h2>" in html
    assert html.count("<figure>") == 2
    assert "The papers' order cannot be checked" in markdown


@pytest.mark.slow
def test_two_jobs_give_the_same_results(pages):
    methods = parse_methods("unique-text", allow_code=False)
    one, two = (mine(pages, methods, Settings(runs=4, dimensions=5, jobs=jobs)) for jobs in (1, 2))
    for result in (*one["results"], *two["results"]):
        del result["cost"]
    assert one["results"] == two["results"]


def test_fewer_pages_can_be_clustered(pages):
    scores = mine(pages, parse_methods("none", allow_code=False), Settings(runs=3, cluster_pages=10))
    assert "10 randomly sampled pages are clustered" in mining.report(scores, "Mining").lead[1]
    with pytest.raises(DataError, match="1 pages do not make 2 clusters; raise `cluster_pages`"):
        mine(pages, parse_methods("none", allow_code=False), Settings(runs=3, cluster_pages=1))


def test_pair_without_a_common_site_has_a_dash(tmp_path):
    pages = read_pages([f"swde:{build(tmp_path, ('book', 'job'), 3)}"], 0, warn=pytest.fail)
    text = to_markdown(mining.report(mine(pages, parse_methods("none", allow_code=False), Settings(runs=2)), "Mining"))
    assert "| book – job | – | – |" in text
    assert "A dash means that no site has pages of both" in text


# Mistakes


def refused(*arguments):
    return refused_line(victor("mine", *arguments))


@pytest.mark.parametrize(("arguments", "message"), read_cases("mistakes.json", "victor-mine"))
def test_bad_arguments(data, tmp_path, arguments, message):
    (tmp_path / "file").write_text("")
    given = arguments.format(file=tmp_path / "file").split()
    assert message in refused(*([] if "--data" in given else ["--data", f"swde:{data}"]), *given)


def test_pages_that_cannot_be_mined(tmp_path):
    build(tmp_path / "one", ("book",), 2)
    error = refused("--data", f"swde:{tmp_path / 'one'}", "--methods", "none")
    assert "at least two verticals" in error
    assert "only 'book' was found" in error
    unknown = write_files(tmp_path / "two", {"input/1.html": "<p>Tea</p>", "gold/1.txt": "<p> Tea"})
    assert "has no page type; mining needs page types" in refused("--data", f"cleaneval:{unknown}", "--methods", "none")
    pages = [MinedPage(vertical, "a", vertical, "", (), b"") for vertical in ("book", "camera")]
    with pytest.raises(DataError, match="no page has values to keep"):
        check_pages(pages)
    with pytest.raises(DataError, match="no page was found"):
        check_pages([])


def test_missing_scikit_learn_says_what_to_install(data, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == "sklearn" else find(name))
    error = refused("--data", f"swde:{data}", "--methods", "none")
    assert f"mining needs scikit-learn: {install_command('research')}" in error


def test_command_imports_no_heavy_library():
    code = "import sys, victorpy.commands.mine; print({'sklearn', 'scipy', 'matplotlib'} & sys.modules.keys())"
    assert run_process("-c", code).stdout == b"set()\n"


@pytest.mark.parametrize(
    ("pages", "learned", "expected"),
    [(0, 0, (3000, 4000, 5000)), (1, 1, (3000, 4000, 5000)), (2, 2, (1500, 2000, 2500)), (2, 1, (3000, 2000, 2500))],
)
def test_costs_are_milliseconds_per_page(pages, learned, expected):
    method = MethodPages(learned=learned, learning=3.0, labelling=4.0, reading=5.0)
    for _ in range(pages):
        method.add(["green tea"], ["green", "tea", "7"], ["tea"])
    assert tuple(method.cost().values()) == expected
    assert [*method.cost()] == ["learn_ms", "clean_ms", "read_ms"]


def test_survival_counts_words_and_values_of_each_page():
    method = MethodPages()
    method.add(["green tea", "pot", "cup"], "green tea in a pot".split(), "green tea".split())
    method.add(["pot"], ["pot"], [])
    method.add([], [], [])
    method.add(["green tea"], "green hot tea".split(), "green tea".split())  # it was not there before
    assert [tuple(row.values()) for row in method.survival] == [
        (1, 0, 3, 2, 1, 5, 2),
        (1, 1, 1, 1, 0, 1, 0),
        (1, 0, 0, 0, 0, 0, 0),
        (1, 0, 1, 0, 0, 3, 2),
    ]
    total = survival_scores(method.survival)
    assert (total["survived_share"], total["removed_share"]) == (1 / 3, 1 - 4 / 9)
    assert list(total.values())[:7] == [4, 1, 5, 3, 1, 9, 4]
    assert survival_scores([])["survived_share"] is survival_scores([])["removed_share"] is None


@pytest.mark.parametrize(
    ("classes", "clusters", "expected"),
    [
        ([0, 0, 0, 1], [0, 0, 1, 1], (4 / 5 + 2 / 3) / 2),
        ([0, 0, 0, 1], [1, 1, 0, 0], (4 / 5 + 2 / 3) / 2),
        ([0, 0, 1, 1, 2], [2, 2, 0, 0, 0], (1 + 4 / 5 + 0) / 3),
        ([0, 1], [0, 0], (2 / 3 + 0) / 2),
    ],
)
def test_clusters_are_assigned_to_classes(classes, clusters, expected):
    pytest.importorskip("scipy")
    assert f_of_clusters(classes, clusters) == pytest.approx(expected)


def test_statistics_of_runs():
    pytest.importorskip("scipy")
    found = statistics([0.0, 0.05, 0.1, 0.49, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0])
    assert (found["mean"], found["deviation"]) == pytest.approx((0.549, 0.364841), abs=1e-6)
    assert [found[name] for name in ("below_50", "from_70", "from_80", "from_90")] == [0.4, 0.5, 0.4, 0.3]
    assert found["bins"] == [2, 1, 0, 0, 1, 1, 0, 1, 1, 3]
    assert statistics([1 / 3])["runs"] == [0.333333]
