"""`victor compare` and `victor evaluate --method`: which pages are scored, the scores, and the reports."""

import itertools
import json
import re
import shutil
from dataclasses import asdict
from functools import partial

import pytest
from lxml import html as lxml_html
from support.cases import read_cases
from support.commands import JPEG, ROOT, names_in, refused
from support.commands import victor as run_victor
from support.sitepages import SEEN, DropRepeated

from victorpy import load_config
from victorpy.base.parameters import split_name
from victorpy.commands import main
from victorpy.errors import ConfigError, DataError, VictorError
from victorpy.labellers.base import LABELLERS
from victorpy.research.align import Gold
from victorpy.research.compare import (
    Cleaned,
    MethodAtSite,
    Plan,
    Ruler,
    SiteDocuments,
    compare_methods,
    load_methods,
    open_sets,
    page_records,
    summarise_comparison,
    was_trained_on,
)
from victorpy.research.datasets import GoldPage
from victorpy.research.evaluate import evaluate_as_is, load_as_is
from victorpy.research.gold import load_gold
from victorpy.research.report import comparison
from victorpy.research.report.base import to_html, to_markdown
from victorpy.research.report.plots import spread
from victorpy.research.scores import word_f1
from victorpy.research.site_runs import Shares, share_out
from victorpy.research.statistics import compare

victor = partial(run_victor, text=True)
FOOTER = "All rights reserved by the tea company"
TELLS = "tells at length how tea is made and who drinks it"


class Stumbles(DropRepeated):
    """Fails on pages with a certain word, and on sites with another."""

    def fit(self, documents, labels=None):
        pages = list(documents)
        if any("unlearnable" in block.text for page in pages for block in page.blocks):
            raise DataError("this site cannot be learned")
        return super().fit(pages, labels)

    def label(self, document):
        if any("number 2" in block.text for block in document.blocks):
            raise ValueError("two is too many")
        return super().label(document)


@pytest.fixture(scope="module", autouse=True)
def methods():
    """Register the methods of these tests."""
    assert "sst" in LABELLERS  # so that the others are registered
    LABELLERS.add("repeated", DropRepeated)
    LABELLERS.add("stumbles", Stumbles)
    yield
    LABELLERS.remove("repeated")
    LABELLERS.remove("stumbles")


def page_html(site, number, extra=""):
    return (
        f"<ul><li><a href='/'>Home of {site}</a><li><a href='/b'>Buy</a></ul><h1>Tea number {number} of {site}</h1>"
        f"<p>Text number {number} of {site} {TELLS}.</p>{extra}<p>{FOOTER}</p>"
    )


def write_sites(directory, sites, count, extra=""):
    """Write sites in CleanEval's layout, with the pages of all sites in turn."""
    for kind in ("input", "gold"):
        (directory / kind).mkdir(parents=True, exist_ok=True)
    for number in range(count):
        for place, site in enumerate(sites):
            name = f"{number * len(sites) + place}"
            gold = f"<h>Tea number {number} of {site}\n<p>Text number {number} of {site} {TELLS}."
            (directory / "input" / f"{name}.html").write_text(page_html(site, number, extra))
            (directory / "gold" / f"{name}.txt").write_text(f"URL: http://{site}.example/{number}\n{gold}\n")
    return directory


def write_swde(directory, shops, count=3):
    """Write shops of SWDE, whose gold is values."""
    for vertical, shop in shops:
        pages, truth = directory / vertical / f"{vertical}-{shop}", directory / "groundtruth" / vertical
        pages.mkdir(parents=True)
        truth.mkdir(parents=True, exist_ok=True)
        lines = [f"{vertical}\t{shop}\ttitle", "stats"]
        for number in range(count):
            extra = "<img alt='x'>" if number else ""
            (pages / f"{number:04}.htm").write_text(page_html(shop, number, extra))
            lines.append(f"{number:04}\t2\tTea number {number} of {shop}\t{'No such value' if number == 1 else FOOTER}")
        (truth / f"{vertical}-{shop}-title.txt").write_text("\n".join(lines) + "\n")
    return directory


@pytest.fixture(scope="module")
def two_sites(tmp_path_factory):
    return write_sites(tmp_path_factory.mktemp("sites") / "two", ["oolong", "assam"], 6)


def run(names, *specs, warn=pytest.fail, **plan):
    SEEN.clear()
    sets, methods, divided = open_sets(specs, warn), load_methods(names), Plan(**plan)
    sites = compare_methods(sets, methods, divided, lambda name: None)
    return sites, summarise_comparison(sets, methods, divided, sites)


def of(scores, method, data=None):
    return next(r for r in scores["results"] if r["method"] == method and data in (None, r["data"]))


# Scores


def test_every_method_has_a_result_on_every_set(two_sites, tmp_path):
    other = write_sites(tmp_path / "other", ["ceylon"], 3)
    _, scores = run("everything,repeated", f"cleaneval:{two_sites}", f"cleaneval:{other}")
    assert [(row["data"], row["pages"], row["method"]) for row in scores["results"]] == [
        (*data, method)
        for data in (("cleaneval:two", 12), ("cleaneval:other", 3))
        for method in ("everything", "repeated")
    ]
    json.dumps(scores, allow_nan=False)
    _, scores = run("everything", f"cleaneval:{two_sites}")  # the only set of its kind is named by the kind
    assert (scores["results"][0]["data"], scores["sets"][0]["source"]) == ("cleaneval", "cleaneval:two")


def test_scores_match_the_texts(two_sites):
    sites, scores = run("everything,repeated", f"cleaneval:{two_sites}")
    everything, repeated = scores["results"]
    assert repeated["words_f1"] == repeated["content_accuracy"] == repeated["label_accuracy"] == 1
    gold = f"Tea number 0 of oolong Text number 0 of oolong {TELLS}"
    expected = word_f1(f"Home of oolong Buy {gold} {FOOTER}", gold)
    assert [everything["words_f1"], everything["words_f1_pooled"]] == pytest.approx([expected.f1] * 2)
    assert everything["words_precision"] == pytest.approx(expected.precision)
    assert everything["words_recall"] == 1
    assert everything["content_accuracy"] == pytest.approx(2 / 5)
    low, high = everything["words_f1_interval"]
    assert low <= everything["words_f1"] <= high
    assert everything["words_removed"] == 0
    assert repeated["words_removed"] == pytest.approx(1 - expected.gold / expected.output)
    records = list(page_records(sites))
    assert (len(records), records[0]["name"], records[0]["methods"]["repeated"]["f1"]) == (12, "input/0", 1)


def test_each_site_is_learned_by_itself_from_all_its_pages(two_sites):
    _, scores = run("everything,repeated", f"cleaneval:{two_sites}")
    assert [labeller.pages_ for labeller in SEEN] == [6, 6]
    assert [any("oolong" in text for text in labeller.repeated_) for labeller in SEEN] == [True, False]
    assert all(labeller.labels_ is None for labeller in SEEN)
    # Learning and cleaning are timed separately.
    assert of(scores, "everything")["site_ms"] is None
    assert of(scores, "repeated")["site_ms"] > 0
    assert all(row["cpu_ms"] > 0 for row in scores["results"])


def test_parameters_reach_the_method_and_name_it(two_sites):
    _, scores = run("repeated,repeated(share=1)", f"cleaneval:{two_sites}")
    assert [row["method"] for row in scores["results"]] == ["repeated", "repeated(share=1)"]
    assert of(scores, "repeated(share=1)")["words_removed"] == 0  # nothing is on more than all pages
    assert [row["run_as"] for row in scores["methods"]] == ["DropRepeated(share=0.5)", "DropRepeated(share=1.0)"]


def test_every_run_gives_the_same_scores(two_sites):
    first, second = (run("repeated,everything", f"cleaneval:{two_sites}", sample=3, tune=1)[1] for _ in range(2))
    for row in [*first["results"], *second["results"]]:
        assert row.pop("cpu_ms") > 0
        row.pop("site_ms")
    assert first == second


def test_differences_are_to_the_first_and_to_the_best(two_sites):
    sites, scores = run("everything,repeated,repeated(share=1)", f"cleaneval:{two_sites}")
    assert [(row["method"], row["against"]) for row in scores["differences"]] == [
        ("repeated", "everything"),
        ("repeated(share=1)", "everything"),
        ("everything", "repeated"),
        ("repeated(share=1)", "repeated"),
    ]
    ours, theirs = (
        [row.scores["words_f1"] for site in sites for row in site.rows if row.method == name]
        for name in ("repeated", "everything")
    )
    expected = asdict(compare(ours, theirs))
    assert {name: scores["differences"][0][name] for name in expected} == expected
    assert scores["differences"][1]["p_value"] == 1


def test_pages_on_which_methods_differ_most_are_listed(two_sites):
    _, scores = run("everything,repeated,stumbles", f"cleaneval:{two_sites}")
    disputed = scores["disputed"]
    assert [row["page"] for row in disputed[:2]] == ["input/4", "input/5"]  # where one method fails
    assert disputed[0]["scores"]["stumbles"] == 0
    assert disputed[0]["difference"] == max(disputed[0]["scores"].values())
    assert [row["difference"] for row in disputed] == sorted((row["difference"] for row in disputed), reverse=True)
    shown = to_markdown(comparison.report(scores))
    assert "## Pages on which methods differ most, cleaneval:two" in shown
    assert "| input/4 | oolong.example | 100.00 |" in shown
    _, scores = run("everything", f"cleaneval:{two_sites}")
    assert scores["disputed"] == []


def test_few_sites_are_scored_separately(two_sites, tmp_path):
    _, scores = run("everything,repeated", f"cleaneval:{two_sites}")
    assert [(row["site"], row["method"], row["pages"]) for row in scores["by_site"]] == [
        (f"{site}.example", method, 6) for site in ("oolong", "assam") for method in ("everything", "repeated")
    ]
    single = write_sites(tmp_path / "single", [f"s{number}" for number in range(5)], 1)
    _, scores = run("repeated", f"cleaneval:{single}", tune=3)
    assert scores["by_site"] == []
    assert scores["sets"][0]["single_page_sites"] == 5
    # A site of one page keeps it for scoring.
    assert scores["results"][0]["pages"] == 5
    assert scores["sets"][0]["tuned_pages"] == 0


def test_model_labels_and_is_trained():
    _, scores = run("default", "anno:data/forum")
    (result,) = scores["results"]
    assert 0.5 < result["words_f1"] <= 1
    assert 0.5 < result["label_accuracy"] <= result["content_accuracy"]
    assert result["trained_on"] is False
    assert scores["methods"][0]["needs"] == "labels"


# Which pages are learned from, and which are scored


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 40])
@pytest.mark.parametrize("tune", [0, 1, 3, 10])
@pytest.mark.parametrize("sample", [10, 500])
def test_pages_of_a_site_are_divided(count, tune, sample):
    learned, tuned, scored = share_out(count, Plan(sample, tune), "tea.example")
    assert len(tuned) == min(tune, count // 2)
    assert sorted([*tuned, *scored]) == list(range(count))
    assert set(tuned) <= set(learned)
    assert len(learned) == len(set(learned)) == min(sample, count)
    assert learned == sorted(learned)
    gaps = {second - first for first, second in itertools.pairwise(tuned)}
    assert not gaps or max(gaps) - min(gaps) <= 1
    assert share_out(count, Plan(sample, tune), "tea.example") == (learned, tuned, scored)


@pytest.mark.parametrize(("sample", "tune"), [(0, 0), (-1, 0), (5, -1), (5, 6)])
def test_invalid_plan_is_refused(sample, tune):
    with pytest.raises(ConfigError, match=f"sample {sample}, tune {tune}"):
        Plan(sample, tune)


def test_only_the_sample_is_learned_from_but_all_pages_are_scored(two_sites):
    _, scores = run("repeated", f"cleaneval:{two_sites}", sample=2)
    assert [labeller.pages_ for labeller in SEEN] == [2, 2]
    assert scores["results"][0]["pages"] == 12
    assert len({tuple(share_out(100, Plan(10, seed=seed)).learned) for seed in range(5)}) == 5


def test_tuned_pages_have_gold_labels_and_are_not_scored(two_sites):
    sites, scores = run("repeated,everything", f"cleaneval:{two_sites}", tune=2)
    assert [row["pages"] for row in scores["results"]] == [8, 8]
    assert scores["sets"][0]["tuned_pages"] == 4
    for labeller in SEEN:
        given = [list(map(str, labels)) for labels in labeller.labels_ if labels is not None]
        assert given == 2 * [["other", "other", "header", "paragraph", "other"]]
        assert len(labeller.labels_) == labeller.pages_ == 6
    assert [[row.method for row in site.rows] for site in sites] == 2 * [4 * ["repeated", "everything"]]


def test_scattered_pages_are_grouped_by_site(two_sites):
    (data,) = open_sets([f"cleaneval:{two_sites}"], pytest.fail)
    assert data.sites == {"oolong.example": 6, "assam.example": 6}
    sites = [(site, {page.site for page in pages}, len(pages)) for site, pages in data.read_sites()]
    assert sites == [("oolong.example", {"oolong.example"}, 6), ("assam.example", {"assam.example"}, 6)]


def test_documents_of_a_site_are_read_at_every_iteration():
    pages = [GoldPage("one", b"<p>Tea", ()), GoldPage("picture", JPEG, ()), GoldPage("two", b"<p>Coffee", ())]
    documents = SiteDocuments(pages, load_config("blocks"))
    assert documents.reads == 0
    for _ in range(2):
        assert [[block.text for block in document.blocks] for document in documents] == [["Tea"], [], ["Coffee"]]
    assert documents.reads == 6


# Values instead of texts


def test_swde_is_scored_by_values_kept_and_words_removed(tmp_path):
    data = write_swde(tmp_path / "swde", [("book", "amazon")])
    _, scores = run("everything,repeated", f"swde:{data}")
    everything, repeated = scores["results"]
    assert everything["words_f1"] is repeated["words_f1"] is everything["label_accuracy"] is None
    assert everything["value_recall"] == pytest.approx((1 + 1 / 2 + 1) / 3)  # one value is on no page
    assert repeated["value_recall"] == pytest.approx(1 / 2)  # footers are repeated
    assert everything["words_removed"] == 0 < repeated["words_removed"] < 1
    assert scores["sets"][0]["values"] == 6
    assert scores["sets"][0]["values_in_pages"] == everything["value_recall"]
    assert {row["measure"] for row in scores["differences"]} == {"value_recall"}
    json.dumps(scores, allow_nan=False)


def test_shop_in_two_verticals_is_two_sites(tmp_path):
    data = write_swde(tmp_path / "swde", [("book", "amazon"), ("camera", "amazon")])
    _, scores = run("repeated", f"swde:{data}")
    assert scores["sets"][0]["sites"] == 2
    assert [labeller.pages_ for labeller in SEEN] == [3, 3]
    assert {row["type"] for row in scores["by_type"]} == {"book", "camera"}


@pytest.mark.parametrize(
    ("output", "kept"),
    [("The price: £ 12.50!", 1), ("price 12\n50", 1)]
    + [(output, 0) for output in ("12 and 50", "50 12", "112 50", "12 501", "")],
)
def test_value_is_kept_if_its_words_follow_one_another(output, kept):
    page = GoldPage("p", b"<p>The price is 12.50", (Gold("12.50"), Gold("!?")))
    ruler = Ruler(page, "swde", "shop", has_values=True)
    (method,) = load_methods("everything")
    row = ruler.measure(MethodAtSite(method, [page], Shares([0], [], [0])), Cleaned(output))
    assert (row.counts["values"].shared, row.counts["values"].gold) == (kept, 1)
    assert row.scores["empty"] == (not output)


def test_values_have_no_labels_to_tune_with(tmp_path):
    data = write_swde(tmp_path / "swde", [("book", "amazon")])
    with pytest.raises(DataError, match="swde:swde: the gold lists values, not texts"):
        run("repeated", f"swde:{data}", tune=1)


# Failures, and what models were trained on


def test_method_that_fails_on_a_page_gives_an_empty_text(two_sites):
    _, scores = run("repeated,stumbles", f"cleaneval:{two_sites}")
    assert of(scores, "repeated")["failed"] == 0
    stumbles = of(scores, "stumbles")
    assert (stumbles["failed"], stumbles["empty"]) == (2, 2)
    assert stumbles["words_f1"] == pytest.approx(10 / 12)
    assert [(row["page"], row["method"], row["error"]) for row in scores["failures"]] == [
        ("input/4", "stumbles", "ValueError: two is too many"),
        ("input/5", "stumbles", "ValueError: two is too many"),
    ]


def test_site_that_cannot_be_learned_fails_as_a_whole(tmp_path):
    data = write_sites(tmp_path / "data", ["a"], 3, "<p>unlearnable</p>")
    _, scores = run("stumbles,everything", f"cleaneval:{data}")
    assert of(scores, "stumbles")["failed"] == 3
    assert "learning the site failed: DataError: this site cannot" in scores["failures"][0]["error"]
    assert of(scores, "everything")["failed"] == 0
    ended = victor("compare", "--methods", "stumbles,everything", "--data", f"cleaneval:{data}", text=True)
    assert ended.returncode == 1
    assert ended.stderr.endswith("compare: stumbles failed on all 3 pages of cleaneval\n")


def test_picture_fails_alone(tmp_path):
    data = write_sites(tmp_path / "data", ["a"], 3)
    (data / "input" / "1.html").write_bytes(JPEG)
    _, scores = run("repeated,everything", f"cleaneval:{data}")
    assert [row["failed"] for row in scores["results"]] == [1, 1]
    assert of(scores, "repeated")["pages"] == 3


@pytest.mark.slow
def test_model_is_marked_on_its_training_data(tmp_path):
    for name in ("dev", "unseen"):
        write_sites(tmp_path / name, ["a", "b"], 2)
    _, scores = run("default,everything", f"cleaneval:{tmp_path / 'dev'}", f"cleaneval:{tmp_path / 'unseen'}")
    assert [row["trained_on"] for row in scores["results"]] == [True, False, False, False]
    assert scores["methods"][0]["trained_on"] == {"cleaneval:dev": True, "cleaneval:unseen": False}
    shown = to_markdown(comparison.report(scores))
    assert "| default † |" in shown
    assert "† was trained on these pages" in shown
    assert "default †" in to_html(comparison.report(scores))
    (table,) = comparison.summary(scores).sections
    held_out = table.head.index("held out")
    assert [row[held_out] for row in table.rows] == ["no", "yes", "yes", "yes"]


@pytest.mark.slow
def test_model_knows_the_pages_it_was_trained_on(tmp_path, two_sites):
    (tmp_path / "my.conf").write_text("include cleaneval\ncrf-param-max_iterations: 2\n")
    model = tmp_path / "mine"
    assert victor("learn", "-q", "-c", tmp_path / "my.conf", ROOT / "data" / "forum", "-o", model).returncode == 0
    _, scores = run(str(model), f"cleaneval:{two_sites}", f"anno:{ROOT / 'data' / 'forum'}")
    by_set = {result["data"]: result["trained_on"] for result in scores["results"]}
    assert by_set == {"cleaneval": False, "anno": True}
    scores["results"][0]["trained_on"] = None  # as for a model that does not record its pages
    assert f"{model} ?" in to_markdown(comparison.report(scores))


PARENT = {"training": {"data": ["wcxb:dev"]}}


@pytest.mark.parametrize(
    ("model", "meta", "expected"),
    [
        ("mine", {"training": {"data": ["wcxb:dev"]}}, True),
        ("mine", {"training": {"data": ["wcxb:test"]}}, False),
        ("mine", {"training": {}}, None),
        ("mine", {}, None),
        ("mine", {"training": {"fingerprints": "a b"}}, True),
        ("mine", {"training": {"fingerprints": "a", "data": ["wcxb:test"]}}, False),
        ("mine", {"training": {"fingerprints": "", "chosen": "adapted", "parent": PARENT}}, True),
        ("mine", {"training": {"fingerprints": "", "chosen": "adapted and averaged", "parent": PARENT}}, True),
        ("mine", {"training": {"fingerprints": "", "chosen": "trees from scratch", "parent": PARENT}}, False),
        ("mine", {"training": {"fingerprints": "", "chosen": "adapted", "parent": {}}}, None),
        ("cleaneval", {"training": {}}, False),
    ],
)
def test_known_training_data(model, meta, expected):
    assert was_trained_on(model, meta, "wcxb:dev", ["b", "c"]) is expected


# Names


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("default", ("default", [])),
        ("sst(t=0.4)", ("sst", ["t=0.4"])),
        ("sst( t=0.4 , gamma=1 )", ("sst", ["t=0.4", "gamma=1"])),
        ("models/my model", ("models/my model", [])),
        ("sst()", ("sst", [])),
    ],
)
def test_name_may_have_parameters(entry, expected):
    assert split_name(entry) == expected


def test_lists_are_split_at_commas_outside_parentheses():
    names = "repeated(share=0.3), everything,repeated , everything"
    assert [method.name for method in load_methods(names)] == ["repeated(share=0.3)", "everything", "repeated"]


def test_all_is_every_available_method():
    names = [method.name for method in load_methods("all")]
    assert {"default", "everything", "repeated", "stumbles"} <= set(names)
    assert len(names) == len(set(names))
    peers = {"trafilatura", "resiliparse", "readability-lxml", "jusText"}
    assert [name for name in names if name in peers] == names[len(names) - len(peers & set(names)) :]


@pytest.mark.parametrize(("names", "message"), read_cases("mistakes.json", "lists-of-methods"))
def test_wrong_names_are_refused(names, message, monkeypatch):
    monkeypatch.chdir(ROOT)
    with pytest.raises(VictorError, match=re.escape(message)):
        load_methods(names)


# The command and its reports


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A comparison on sites and on values, with hostile names."""
    directory = tmp_path_factory.mktemp("report")
    sites = write_sites(directory / "<i>two & three", ["oolong", "assam"], 4)
    (sites / "gold" / "0.txt").write_text("")
    values = write_swde(directory / "swde", [("book", "amazon"), ("camera", "amazon")])
    names = "everything,repeated,repeated(share=0.9),default"
    data = [f"cleaneval:{sites}", f"swde:{values}"]
    ended = victor("compare", "--methods", names, "--data", *data, "-o", directory / "new" / "out")
    assert ended.returncode == 0, ended.stderr
    return ended, directory / "new" / "out"


@pytest.fixture(scope="module")
def report_page(report):
    return lxml_html.parse(str(report[1] / "report.html")).getroot()


def test_summary_is_one_table_on_stdout(report):
    ended, directory = report
    *lines, legend = ended.stdout.splitlines()
    assert legend.startswith("† was trained on these pages")
    assert len(lines) == 1 + 4 * 2
    assert lines[0].split()[:4] == ["method", "data", "pages", "held"]
    assert re.match(r"repeated +cleaneval +7 +yes +100\.00 ", lines[2])
    assert re.match(r"repeated +swde +6 +yes +– +– +", lines[6])
    assert "left out" not in ended.stdout
    assert "0.txt: the gold is empty" in ended.stderr
    assert f"written: {directory / 'report.html'}" in ended.stderr


def test_all_files_are_written(report):
    _, directory = report
    assert names_in(directory) == ["pages.jsonl", "report.html", "report.md", "scores.json"]
    scores = json.loads((directory / "scores.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)
    assert len(scores["results"]) == 8
    assert {"method", "data", "pages", "words_f1", "cpu_ms"} <= set(scores["results"][0])
    assert len((directory / "pages.jsonl").read_text(encoding="utf-8").splitlines()) == 7 + 6
    assert len(scores["warnings"]) == 1


def test_markdown_and_html_have_the_same_tables(report, report_page):
    markdown = (report[1] / "report.md").read_text(encoding="utf-8")
    titles = [heading.text_content() for heading in report_page.xpath("//h2")]
    assert titles == [line[3:].replace("&lt;", "<") for line in markdown.splitlines() if line.startswith("## ")]
    assert titles[0] == "All data sets"
    assert {"swde: 6 pages of 2 sites", "Words removed by type on swde", "What the columns mean"} <= set(titles)
    rows = [line for line in markdown.splitlines() if line.startswith("|") and not line.startswith("|---")]
    assert len(rows) == len(report_page.xpath("//tr"))


def test_every_column_is_explained(report_page):
    tables = report_page.xpath("//table")
    explained = {row[0].text_content() for row in tables[-1].xpath("tbody/tr")}
    assert {cell.text_content() for cell in tables[1].xpath("thead//th")} - {"method"} <= explained


def test_html_report_loads_nothing_and_runs_nothing(report_page):
    assert "default-src 'none'" in report_page.xpath("//meta[@http-equiv]/@content")[0]
    assert all(source.startswith("data:image/svg+xml;base64,") for source in report_page.xpath("//img/@src"))
    assert len(report_page.xpath("//img")) == 2 + 3  # values have one more: kept against removed
    assert report_page.xpath("//script | //link | //i") == []
    assert "<i>two & three" in report_page.xpath("//h1")[0].text_content()


def test_best_method_comes_first(report_page):
    table = report_page.xpath("//h2[contains(., '7 pages')]/following::table")[0]
    assert table.xpath("tbody/tr[1]/td[1]")[0].text_content() == "repeated"
    differences = report_page.xpath("//h2[contains(., 'Differences')]/following::table")[0]
    head = [cell.text_content() for cell in differences.xpath("thead//th")]
    assert head == ["method", "minus everything", "p", "minus repeated", "p"]


def test_report_names_the_tuned_pages(two_sites, tmp_path):
    names, data = "everything,repeated", f"cleaneval:{two_sites}"
    out = tmp_path / "out"
    assert main(["compare", "-m", names, "-d", data, "--tune", "1", "-o", str(out)]) == 0
    sentence = "Methods that learn from sites were given the labels of 2 further pages (1 per site, at most half of it)"
    assert f"{sentence}; no method is scored on them." in (out / "report.md").read_text(encoding="utf-8")
    assert sentence in (out / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(("arguments", "message"), read_cases("mistakes.json", "victor-compare-and-evaluate-method"))
def test_mistakes_are_one_line_and_exit_2(tmp_path, two_sites, arguments, message):
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()
    places = {"data": two_sites, "file": tmp_path / "file", "empty": tmp_path / "empty"}
    command, *given = arguments.format(**places).split()
    method = "-m" if command == "compare" else "--method"
    for option, default in ((method, "everything"), ("-d", f"cleaneval:{two_sites}"), ("-o", tmp_path / "out")):
        given += [] if option in given else [option, default]
    error = refused(victor(command, *given, cwd=tmp_path))
    assert error.startswith(f"{command}: ")
    assert message in error
    assert names_in(tmp_path) == ["empty", "file"]


def test_labels_of_plots_move_no_more_than_needed():
    assert spread([], 0.1) == []
    assert spread([0.2, 0.8], 0.1) == [0.2, 0.8]
    placed = spread([0.5, 0.51, 0.52, 0.9], 0.1)
    assert placed == pytest.approx([0.41, 0.51, 0.61, 0.9])


# victor evaluate --method


def test_untrained_method_is_evaluated_on_all_pages_without_folds(two_sites, tmp_path, capsys):
    arguments = ["--method", "repeated(share=0.9)", "--data", f"cleaneval:{two_sites}", "-o", str(tmp_path / "out")]
    assert main(["evaluate", *arguments]) == 0
    scores = json.loads((tmp_path / "out" / "scores.json").read_text(encoding="utf-8"))
    assert scores["pages_count"] == 12
    assert scores["folds"] == []
    assert scores["mean"]["words_f1"] == 1 > scores["keep_everything"]["words_f1"]
    assert scores["settings"]["method"] == "repeated(share=0.9)"
    note = (
        "repeated(share=0.9) is not trained: there are no folds, and all pages are scored. It learned from the pages of"
    )
    for name in ("report.md", "report.html"):
        assert note in (tmp_path / "out" / name).read_text(encoding="utf-8")
    assert "fold" not in capsys.readouterr().out
    views = list((tmp_path / "out" / "pages").glob("*.html"))
    assert len(views) == 12
    assert "repeated(share=0.9)" in views[0].read_text(encoding="utf-8")


def test_model_is_evaluated_as_it_is(two_sites, tmp_path, capsys):
    shutil.copytree(two_sites, tmp_path / "dev")
    command = ["evaluate", "--data", f"cleaneval:{tmp_path / 'dev'}", "--method"]
    assert main([*command, "default", "-o", str(tmp_path / "out")]) == 0
    ended = capsys.readouterr()
    assert "evaluate: the model default was trained on cleaneval:dev; expect lower scores" in ended.err
    assert "default is a trained model, scored as it is" in (tmp_path / "out" / "report.md").read_text(encoding="utf-8")


def test_single_training_pages_are_recognised(two_sites, tmp_path, capsys):
    seen, other = tmp_path / "seen", tmp_path / "other"
    for directory in (seen, other):
        shutil.copytree(two_sites, directory)
    for page in sorted((seen / "input").iterdir())[3:]:
        page.unlink()
    model = str(tmp_path / "model")
    assert main(["learn", "--config", "crf", "--data", f"cleaneval:{seen}", "-o", model, "-q"]) == 0
    capsys.readouterr()
    assert main(["evaluate", "--data", f"cleaneval:{other}", "--method", model]) == 0
    count = len(list((other / "input").iterdir()))
    assert f"was trained on 3 of these {count} pages; expect lower scores on new pages" in capsys.readouterr().err


def test_evaluation_and_comparison_agree(two_sites):
    cleaner = load_as_is("repeated", allow_code=False)
    pages = load_gold([f"cleaneval:{two_sites}"], cleaner.config, pytest.fail)
    result = evaluate_as_is(pages, cleaner, "repeated", Plan(), lambda count: None).scores()
    _, scores = run("repeated", f"cleaneval:{two_sites}")
    for name in ("words_f1", "label_accuracy", "content_accuracy", "cleaneval_words_f1", "shingle_f1"):
        assert result["mean"][name] == pytest.approx(scores["results"][0][name])
    assert [page["name"] for page in result["pages"]] == [page.name for page in pages]
