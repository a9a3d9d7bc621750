"""`victor evaluate` run as a user runs it: its numbers, its reports, hostile names, and mistakes."""

import base64
import hashlib
import importlib.util
import json
import os
import re
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

import pytest
from lxml import etree
from lxml import html as lxml_html
from support.cases import read_cases
from support.commands import JPEG, ROOT, Ended, refused, victor_process, write_files
from support.commands import victor as run_victor

from victorpy.cleaner import read_document
from victorpy.commands import main
from victorpy.config import load_config
from victorpy.document import Label
from victorpy.errors import ConfigError
from victorpy.outputs import CleanPage
from victorpy.outputs.anno import write_anno
from victorpy.research import evaluate as experiments
from victorpy.research.evaluate import parse_grid

SHORT = "include cleaneval\ncrf-param-max_iterations: 15\n"
SHORTEST = "include cleaneval\ncrf-param-max_iterations: 3\n"
NAMES = ["label_accuracy", "content_accuracy", "words_f1", "cleaneval_words_f1", "cleaneval_text", "cleaneval_markup"]
NAMES += ["cleaneval_total", "cleaneval_segments_unlabelled_f1", "shingle_f1", "empty"]
SCRIPT = "</script><script>alert(1)</script>"
HOSTILE_NAME = "quo\"te' <img src=x onerror=alert(3)> & 100%"
HOSTILE_SITE = '"><svg onload=alert(2)>.example'


class Run(NamedTuple):
    """A finished evaluation."""

    ended: Ended
    directory: Path

    @property
    def scores(self):
        return json.loads((self.directory / "scores.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)

    @property
    def report(self):
        return (self.directory / "report.html").read_text(encoding="utf-8")

    @property
    def tables(self):
        return read_tables((self.directory / "report.md").read_text(encoding="utf-8"))


victor = partial(run_victor, cwd=ROOT, text=True)


def evaluate(directory, *arguments, config=SHORTEST, run=victor):
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "my.conf").write_text(config)
    ended = run("evaluate", "--config", directory / "my.conf", *arguments, "-o", directory / "report")
    assert ended.returncode == 0, ended.stderr
    return Run(ended, directory / "report")


def read_tables(text):
    """Parse the tables of a Markdown report by heading: rows of cells, the header first."""
    tables = {}
    for part in text.split("\n## ")[1:]:
        title, _, body = part.partition("\n")
        rows = [line for line in body.splitlines() if line.startswith("|") and not line.startswith("|---")]
        tables[title] = [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows]
    return tables


def percent(value):
    return "–" if value is None else f"{100 * value:.2f}"


def write_page(directory, name, url, title="Tea", number=0, more=""):
    """A page that is annotated: a menu, a headline, a paragraph, a footer."""
    text = f"Text number {number} tells us at length of tea, of how it is made, and of who drinks it, and when."
    page = (
        f"<title>{title.replace('<', '&lt;')}</title><ul><li><a href='/'>Home {number}</a><li><a href='/b'>Buy</a></ul>"
        f"<h1>Tea number {number}</h1><p>{text}</p><p>Contact <a href='/c'>us</a></p>{more}"
    )
    document = read_document(page, load_config("default"), url=url)
    kinds = {f"Tea number {number}": Label.HEADER, text: Label.PARAGRAPH}
    labels = tuple(kinds.get(block.text, Label.OTHER) for block in document.blocks)
    path = directory / f"{name}.anno"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(write_anno(CleanPage(document, labels)), encoding="utf-8")
    path.with_name(f"{name.rpartition('/')[2]}.html").write_text(page, encoding="utf-8")


def write_pages(directory, count, sites=None, name="site", more=""):
    for number in range(count):
        url = f"http://{name}{number % (sites or count)}.example/{number}"
        write_page(directory, f"p{number}", url, number=number, more=more)
    return directory


@pytest.fixture(scope="module")
def shipped(tmp_path_factory):
    """The pages that the project ships, in three folds."""
    return evaluate(tmp_path_factory.mktemp("shipped"), "--data", "anno:data", "--folds", 3, config=SHORT)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """Pages with hostile titles, names, types, sites and folders, with all experiments, two jobs and broken pages."""
    directory = tmp_path_factory.mktemp("hostile")
    data = directory / '<u>set "one" & two'
    write_page(data, "article/titled", "http://a.example/1", SCRIPT, 1)
    write_page(data, f"article/{HOSTILE_NAME}", "http://b.example/2", number=2)
    write_page(data, "article/sited", f"http://{HOSTILE_SITE}/3", number=3)
    write_page(data, "<i>kind|of/plain", "http://c.example/4", number=4)
    write_page(data, "article/last", "http://d.example/5", number=5)
    write_page(data, "article/picture", "http://e.example/6", number=6)
    broken = {"lonely.anno": "%victor-anno 1\n", "damaged.anno": "no annotation", "damaged.html": "<p>Tea"}
    write_files(data / "article", {**broken, "picture.html": JPEG})
    options = ["--folds", 2, "--jobs", 2, "--ablate", "family", "--grid", "c2=1,10", "--grid", "c1=0"]
    return evaluate(directory, "--data", f"anno:{data}", *options, "--learning-curve")


# scores.json


def mean(values):
    numbers = list(values)
    return sum(numbers) / len(numbers)


def test_scores_have_all_measures_for_mean_folds_and_pages(shipped):
    scores = shipped.scores
    pages = [page["scores"] for page in scores["pages"]]
    assert len(scores["folds"]) == 3
    assert len(pages) == scores["pages_count"] == len(list(ROOT.glob("data/*/*.anno")))
    assert all(set(NAMES) <= set(values) for values in (scores["mean"], *scores["folds"], *pages))
    for values in (scores["mean"], scores["keep_everything"], scores["pooled"], *scores["folds"], *pages):
        assert all(0 <= value <= 1 for value in values.values())
    for name in NAMES:
        low, high = scores["interval"][name]
        assert 0 <= low <= scores["mean"][name] <= high <= 1, name
    assert scores["settings"] == {"folds": 3, "group": "site", "seed": 1, "site_key": "domain"}
    assert scores["config"] == "my"
    # Something was learned.
    assert scores["mean"]["words_f1"] > scores["keep_everything"]["words_f1"]
    assert scores["mean"]["content_accuracy"] > 0.7
    # No site is in two folds, and some sites have several pages.
    sites = {page["site"] for page in scores["pages"]}
    assert len({(page["site"], page["fold"]) for page in scores["pages"]}) == len(sites) < len(pages)


def test_means_are_means_of_pages(shipped):
    scores = shipped.scores
    for name in set(NAMES) - {"label_accuracy", "content_accuracy"}:
        assert scores["mean"][name] == pytest.approx(mean(page["scores"][name] for page in scores["pages"]))
        for number, fold in enumerate(scores["folds"]):
            own = (page["scores"][name] for page in scores["pages"] if page["fold"] == number)
            assert fold[name] == pytest.approx(mean(own))
    forum = [page["scores"]["words_f1"] for page in scores["pages"] if page["type"] == "forum"]
    assert scores["by_type"]["forum"]["words_f1"] == pytest.approx(mean(forum))


def test_accuracies_match_the_confusion(shipped):
    scores = shipped.scores
    confusion = scores["confusion"]
    total = sum(sum(row.values()) for row in confusion.values())
    right = sum(confusion[label][label] for label in Label)
    rightly = sum(count for g, row in confusion.items() for o, count in row.items() if (g == "other") == (o == "other"))
    assert total == scores["blocks_count"]
    assert scores["mean"]["label_accuracy"] == pytest.approx(right / total)
    assert scores["mean"]["content_accuracy"] == pytest.approx(rightly / total)
    for label in Label:
        ours, gold = sum(row[label] for row in confusion.values()), sum(confusion[label].values())
        assert scores["labels"][label]["f1"] == pytest.approx(2 * confusion[label][label] / (ours + gold))


def test_calibration_has_ten_equal_bins():
    """A probability of 1 belongs to the last bin."""
    content, gold = (0.0, 0.05, 0.1, 0.95, 1.0), (False, True, True, False, True)
    page = SimpleNamespace(labelling=SimpleNamespace(content=content), gold_content=gold)
    rows = experiments._calibration([page])
    assert [(round(row["predicted"], 3), row["observed"], row["blocks"]) for row in rows] == [
        (0.025, 0.5, 2),
        (0.1, 1.0, 1),
        (0.975, 0.5, 2),
    ]


def test_calibration_counts_every_block_once(shipped):
    rows = shipped.scores["calibration"]
    assert sum(row["blocks"] for row in rows) == shipped.scores["blocks_count"]
    assert all(0 <= row["predicted"] <= 1 and 0 <= row["observed"] <= 1 for row in rows)
    assert [row["predicted"] for row in rows] == sorted(row["predicted"] for row in rows)


def test_terminal_shows_progress_and_the_table_of_scores(shipped):
    lines = [line for line in shipped.ended.stderr.splitlines() if line.startswith("cross-validation")]
    assert [re.sub(r"\d+ s", "N s", line) for line in lines] == [
        f"cross-validation: fold {number} of 3 done, N s left" for number in (1, 2, 3)
    ]
    (line,) = [line for line in shipped.ended.stdout.splitlines() if line.startswith("words F1")]
    assert line.split()[2] == percent(shipped.scores["mean"]["words_f1"])


@pytest.mark.slow
def test_same_command_gives_the_same_bytes(tmp_path):
    options = "--data", f"anno:{write_pages(tmp_path / 'data', 4)}", "--folds", 2
    process = partial(victor_process, cwd=ROOT, text=True)  # the order of sets differs from process to process
    first, second = (evaluate(tmp_path / name, *options, run=process) for name in ("one", "two"))
    for name in ("scores.json", "report.md", "report.html"):
        assert (first.directory / name).read_bytes() == (second.directory / name).read_bytes()


def test_gold_without_tags_makes_a_valid_report(tmp_path):
    for number in range(3):
        text = f"Text number {number} tells us at length of tea, and of who drinks it."
        page = f"<ul><li>Menu {number}</ul><p>{text}"
        write_files(tmp_path, {f"HTML/{number}.html": page, f"Corrected/{number}.html.corrected.txt": text})
    run = evaluate(tmp_path, "--data", f"dragnet:{tmp_path}", "--folds", 3)
    assert run.scores["mean"]["cleaneval_markup"] is None
    assert run.scores["mean"]["words_f1"] is not None
    assert {row[0]: row[1] for row in run.tables["Scores"]}["CleanEval markup-only"] == "–"


def test_folders_with_pages_of_the_same_names_do_not_mix(tmp_path):
    one = write_pages(tmp_path / "one", 2)
    two = write_pages(tmp_path / "two", 2, name="other", more="<p>One</p><p>block more</p>")
    run = evaluate(tmp_path, "--data", f"anno:{one}", f"anno:{two}", "--folds", 2)
    assert run.scores["pages_count"] == 4
    assert len(set(links(run.report))) == 4


# report.md


def test_tables_agree_with_scores_json(shipped):
    scores, tables = shipped.scores, shipped.tables
    head, *rows = tables["Scores"]
    assert head == ["measure", "mean", "95 % interval", "lowest and highest fold", "keep everything"]
    assert len(rows) == len(NAMES)
    for name, row in zip(NAMES, rows, strict=True):
        spread = [fold[name] for fold in scores["folds"]]
        assert row[1] == percent(scores["mean"][name])
        assert row[2] == " to ".join(map(percent, scores["interval"][name]))
        assert row[3] == f"{percent(min(spread))} to {percent(max(spread))}"
        assert row[4] == percent(scores["keep_everything"][name])
    for number, (fold, row) in enumerate(zip(scores["folds"], tables["Folds"][1:], strict=False), 1):
        assert row == [f"fold {number}", *(percent(fold[name]) for name in NAMES)]
    for row in tables["Labels"][1:]:
        assert row[1:] == [percent(scores["labels"][row[0]][part]) for part in ("precision", "recall", "f1")]
    for row in tables["Confusion"][1:]:
        assert row[1:] == [f"{scores['confusion'][row[0]][label]:,}" for label in Label]
    assert len(tables["Labels"]) == len(tables["Confusion"]) == 6
    for kind, count, *shown in tables["Page types"][1:]:
        assert shown == [percent(scores["by_type"][kind][name]) for name in NAMES]
        assert int(count) == sum(page["type"] == kind for page in scores["pages"])


@pytest.mark.slow
def test_tables_of_experiments_agree_with_scores_json(hostile):
    scores, tables = hostile.scores, hostile.tables
    for title, key, column in (("Ablation", "ablation", "variant"), ("Learning curve", "learning_curve", "pages")):
        rows = tables[title][1:]
        assert [row[0] for row in rows] == [str(row[column]) for row in scores[key]]
        shown = [[percent(row["mean"][name]) for name in NAMES] for row in scores[key]]
        assert [row[1 : len(NAMES) + 1] for row in rows] == shown
    assert [row[0] for row in tables["Grid"][1:]] == ["c2=1 c1=0", "c2=10 c1=0"]
    assert [row["parameters"] for row in scores["grid"]] == [{"c2": 1, "c1": 0}, {"c2": 10, "c1": 0}]


@pytest.mark.slow
def test_ablation_uses_each_family_alone_and_without_it(hostile):
    rows = {row["variant"]: row["features"] for row in hostile.scores["ablation"]}
    families = sorted(name.removeprefix("only ") for name in rows if name.startswith("only "))
    assert {"content", "markup"} <= set(families)
    everything = len(load_config("cleaneval").features)
    for family in families:
        assert 0 < rows[f"only {family}"] < everything
        assert rows[f"only {family}"] + rows[f"without {family}"] == everything


# report.html and the views, as a browser would read them


def links(report):
    return [unquote(link.get("href")) for link in lxml_html.fromstring(report).iter("a")]


def policy_of(page):
    (meta,) = page.xpath("//meta[@http-equiv='Content-Security-Policy']")
    return {name: sources for name, *sources in (part.split() for part in meta.get("content").split(";"))}


def digest(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def html_files(run):
    return [run.directory / "report.html", *sorted((run.directory / "pages").glob("*.html"))]


def html_pages(run):
    return [lxml_html.fromstring(path.read_text(encoding="utf-8")) for path in html_files(run)]


@pytest.fixture(params=["shipped", pytest.param("hostile", marks=pytest.mark.slow)])
def any_run(request):
    return request.getfixturevalue(request.param)


@pytest.mark.slow
def test_report_parses_and_has_its_sections(shipped, hostile):
    page = lxml_html.fromstring(shipped.report)
    titles = [heading.text_content() for heading in page.iter("h2")]
    assert titles == ["Scores", "Folds", "Labels", "Confusion", "Page types", "Calibration", "Worst pages"]
    assert shipped.report.startswith("<!DOCTYPE html>")
    assert page.get("lang") == "en"
    assert page.xpath("//meta[@charset='utf-8']")
    more_titles = {heading.text_content() for heading in lxml_html.fromstring(hostile.report).iter("h2")}
    assert {"Learning curve", "Ablation", "Grid"} <= more_titles


def test_policy_allows_only_the_style_and_script_of_the_page(any_run):
    for page in html_pages(any_run):
        policy = policy_of(page)
        assert policy["default-src"] == policy["base-uri"] == policy["form-action"] == ["'none'"]
        assert policy["img-src"] == ["data:"]
        sources = [source for values in policy.values() for source in values]
        assert all(source in {"'none'", "data:"} or source.startswith("'sha256-") for source in sources)
        assert [digest(style.text) for style in page.iter("style")] == policy["style-src"]
        assert [digest(script.text) for script in page.iter("script")] == policy.get("script-src", [])


def test_report_has_no_script_and_a_view_only_its_own(any_run):
    report, *views = html_pages(any_run)
    assert not list(report.iter("script"))
    assert all(len(list(view.iter("script"))) == 1 for view in views)
    assert len({next(view.iter("script")).text for view in views}) == 1
    for page in (report, *views):
        assert not [name for element in page.iter(etree.Element) for name in element.attrib if name.startswith("on")]
        assert not page.xpath("//iframe | //object | //embed | //link | //base | //form | //svg | //u | //i")


def test_nothing_is_loaded_from_anywhere(any_run):
    for page in html_pages(any_run):
        for element in page.iter(etree.Element):
            assert element.get("src", "data:").startswith("data:image/svg+xml;base64,") or "src" not in element.attrib
            href = urlsplit(element.get("href", ""))
            assert (href.scheme, href.netloc) == ("", "")
            assert not {"srcset", "background", "poster", "action", "style"} & set(element.attrib)
        assert not re.search(r"url\(|@import", "".join(style.text for style in page.iter("style")))


def test_every_picture_has_an_alternative_text_and_is_self_contained(any_run):
    pictures = list(lxml_html.fromstring(any_run.report).iter("img"))
    assert len(pictures) >= 4
    for picture in pictures:
        assert len(picture.get("alt")) > 10
        drawing = etree.fromstring(base64.b64decode(picture.get("src").partition(",")[2]))
        assert etree.QName(drawing).localname == "svg"
        assert not drawing.xpath("//*[local-name()='script' or local-name()='foreignObject']")
        assert all(
            link.startswith(("#", "data:image/png;base64,")) for link in drawing.xpath("//@*[local-name()='href']")
        )
    assert len({picture.get("alt") for picture in pictures}) == len(pictures)


def test_worst_pages_come_first_and_link_to_their_views(any_run):
    addresses = links(any_run.report)
    assert len(addresses) == min(20, any_run.scores["pages_count"])
    assert len(set(addresses)) == len(addresses)
    assert all((any_run.directory / link).is_file() for link in addresses)
    table = lxml_html.fromstring(any_run.report).xpath("//table")[-1]
    shown = [row.xpath("td")[3].text_content() for row in table.xpath("tbody/tr")]
    worst = sorted(page["scores"]["words_f1"] for page in any_run.scores["pages"])[:20]
    assert shown == [percent(value) for value in worst]


@pytest.mark.slow
def test_hostile_names_sites_and_titles_are_shown_as_text(hostile):
    page, *views = html_pages(hostile)
    rows = [[cell.text_content() for cell in row.xpath("td")] for row in page.xpath("//table")[-1].xpath("tbody/tr")]
    assert f"article/{HOSTILE_NAME}" in [row[0] for row in rows]
    assert HOSTILE_SITE in [row[1] for row in rows]
    assert "<i>kind|of" in [row[2] for row in rows]
    for tag in ("h1", "title"):
        assert '<u>set "one" & two' in page.xpath(f"//{tag}")[0].text_content()
    paths = html_files(hostile)[1:]
    assert not any(SCRIPT in path.read_text(encoding="utf-8") for path in paths)
    assert SCRIPT in [view.xpath("//title")[0].text_content() for view in views]
    assert all(re.fullmatch(r"\d\d-[\w.-]+\.html", path.name) for path in paths)
    types = hostile.tables["Page types"]
    assert len({len(row) for row in types}) == 1  # a bar in a name does not break the table
    assert "&lt;i>kind\\|of" in [row[0] for row in types]


@pytest.mark.slow
def test_pages_left_out_are_reported_one_by_one(hostile):
    warnings = [line for line in hostile.ended.stderr.splitlines() if line.startswith("evaluate: left out: ")]
    assert len(warnings) == len(hostile.scores["warnings"]) == 2
    named = sorted(re.findall(r"damaged\.anno:1|lonely\.anno|picture", "\n".join(warnings)))
    assert named == ["damaged.anno:1", "lonely.anno"]
    assert hostile.scores["pages_count"] == 6  # the annotation beside a picture contains the page


@pytest.mark.slow
def test_two_jobs_score_like_one(hostile, tmp_path):
    data = next(path for path in hostile.directory.parent.iterdir() if path.name.startswith("<u>"))
    run = evaluate(tmp_path, "--data", f"anno:{data}", "--folds", 2)
    assert run.scores["pages"] == hostile.scores["pages"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="names of files are any bytes on Linux alone")
def test_file_name_that_is_not_text_does_not_lose_the_report(tmp_path):
    data = write_pages(tmp_path / "data", 3)
    for suffix in (".anno", ".html"):
        (data / f"p1{suffix}").rename(data / (os.fsdecode(b"p\xff1") + suffix))
    run = evaluate(tmp_path, "--data", f"anno:{data}", "--folds", 2)
    assert run.scores["pages_count"] == 3
    assert all((run.directory / link).is_file() for link in links(run.report))


# Mistakes


@pytest.fixture(scope="module")
def five(tmp_path_factory):
    return write_pages(tmp_path_factory.mktemp("five"), 5, sites=3)


@pytest.mark.parametrize(("arguments", "message"), read_cases("mistakes.json", "victor-evaluate"))
def test_mistakes_are_one_line_and_exit_2(tmp_path, five, arguments, message):
    defaults = {"--config": "cleaneval", "--data": "anno:{five}"}
    filled = [*arguments.split(), *(part for item in defaults.items() if item[0] not in arguments for part in item)]
    ended = victor("evaluate", *(part.format(five=five) for part in filled), "-o", tmp_path / "report", cwd=tmp_path)
    lines = [line for line in ended.stderr.splitlines() if not re.match(r"cross-validation: fold|usage:|  ", line)]
    assert ended.returncode == 2
    assert len(lines) == 1, ended.stderr
    assert "Traceback" not in ended.stderr
    assert message in lines[0]
    assert not (tmp_path / "report").exists()


@pytest.mark.parametrize("spec", ["", "=1", "c2", "c2=", "c2=,", "c3=1", "c2=1,x", "c2=nan", "c2=inf", "c1=-0.5"])
def test_invalid_grid_is_refused(spec):
    with pytest.raises(ConfigError, match=re.escape(f"{spec!r}")):
        parse_grid([spec])
    assert parse_grid(["c2=1,10", "c1=0,.5"]) == {"c2": [1, 10], "c1": [0, 0.5]}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "required: -d/--data"),
        (["--data", "anno:x", "--ablate", "some"], "invalid choice: 'some'"),
        (["--data", "anno:x", "--group", "day"], "invalid choice: 'day'"),
        (["--data", "anno:x", "--folds", "many"], "invalid int value: 'many'"),
    ],
)
def test_wrong_usage_exits_2_with_the_usage(arguments, message):
    ended = victor("evaluate", *arguments)
    assert ended.returncode == 2
    assert message in ended.stderr
    assert ended.stderr.startswith("usage:")


def test_pages_with_one_label_are_an_error(tmp_path):
    for path in write_pages(tmp_path, 3).glob("*.anno"):
        path.write_text(re.sub(r"(?m)^(header|paragraph)\t", "other\t", path.read_text(encoding="utf-8")))
    error = refused(victor("evaluate", "--config", "cleaneval", "--data", f"anno:{tmp_path}", "--folds", 3))
    assert error == "evaluate: nothing can be learned from these pages: their blocks need at least two labels\n"


@pytest.mark.slow
def test_report_without_matplotlib_has_tables_and_a_note(tmp_path, capsys, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == "matplotlib" else find(name))
    arguments = ["--method", "everything", "--data", f"anno:{ROOT / 'data'}", "-o", str(tmp_path / "out")]
    assert main(["evaluate", *arguments]) == 0
    note = "without plots: drawing them needs matplotlib: pip install"
    assert note in capsys.readouterr().err
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert note in page
    assert "<h2>Labels</h2>" in page
    assert "<figure>" not in page
    assert "matplotlib" not in (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
