"""Settings that users do not give, and the numbers of rows that reports show."""

import json
from copy import deepcopy
from dataclasses import asdict
from pathlib import Path

import pytest

from victorpy.description import categories, record, tag_tree
from victorpy.errors import ConfigError, DataError
from victorpy.research import evaluate
from victorpy.research.mining import Settings
from victorpy.research.report import agreement, evaluation
from victorpy.research.site_runs import Plan

CASES = Path(__file__).parents[1] / "cases" / "reports"


def read_scores(name):
    return json.loads((CASES / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (
            Settings(),
            {"sample": 500, "limit": 0, "runs": 800, "dimensions": 100, "cluster_pages": 0, "seed": 1, "jobs": 1},
        ),
        (evaluate.Settings(), {"folds": 6, "group": "site", "seed": 1, "jobs": 1, "site_key": "domain"}),
        (Plan(), {"sample": 500, "tune": 0, "seed": 1}),
        (categories.Settings(), {"classifier": "knn", "terms": 2000, "k": 15, "seed": 1, "weights": "counts"}),
        (
            record.Parameters(),
            {"keywords": 10, "sentences": 15, "theta": 15, "beta": 0.2, "spread": 0.1, "categories": ""},
        ),
        (tag_tree.Thresholds(), {"hub": 0.45, "image": 0.2, "page_hub": 0.25, "page_image": 0.5}),
    ],
)
def test_defaults(settings, expected):
    assert asdict(settings) == expected


@pytest.mark.parametrize(
    ("name", "least"),
    [("sample", 1), ("limit", 0), ("runs", 1), ("dimensions", 0), ("cluster_pages", 0), ("seed", 0), ("jobs", 1)],
)
def test_least_values_of_mining(name, least):
    assert getattr(Settings(**{name: least}), name) == least
    with pytest.raises(DataError, match=f"`{name}` must be at least {least}, not {least - 1}"):
        Settings(**{name: least - 1})


@pytest.mark.parametrize(
    ("settings", "is_right"),
    [
        ({"keywords": 0}, True),
        ({"keywords": -1}, False),
        ({"sentences": 0}, True),
        ({"sentences": -1}, False),
        ({"theta": -1}, False),
        ({"beta": 0.0, "spread": 1.0}, True),
        ({"beta": 1.01}, False),
        ({"beta": -0.01}, False),
        ({"spread": 1.01}, False),
    ],
)
def test_parameters_of_records_are_checked(settings, is_right):
    if is_right:
        record.Parameters(**settings)
        return
    with pytest.raises(ConfigError, match=f"docview: {min(settings)}="):
        record.Parameters(**settings)


def rows_of(report, title):
    return next(section.rows for section in report.sections if section.title == title)


@pytest.mark.parametrize("count", [20, 21])
def test_report_lists_the_twenty_worst_pages(count):
    scores = read_scores("evaluation")
    page = scores["pages"][0]
    scores["pages"] = [
        {**page, "name": f"page {number}", "scores": {**page["scores"], "words_f1": 1 - number / 100}}
        for number in range(count)
    ]
    rows = rows_of(evaluation.report(scores, "Tea", {}), "Worst pages")
    assert [row[0] for row in rows] == [f"page {number}" for number in range(count - 1, count - 21, -1)]


@pytest.mark.parametrize("count", [2, 20, 21])
def test_report_lists_the_twenty_pages_with_the_least_agreement(count):
    scores = read_scores("agreement")
    scores["pages_count"], scores["pages"] = count, [deepcopy(scores["pages"][0]) for _ in range(count)]
    for number, page in enumerate(scores["pages"]):
        page["name"], page["labels"]["fleiss"]["observed"] = f"page {number}", None if number == 1 else number / 100
    section = next(each for each in agreement.report(scores, "Tea", None).sections if each.title == "Pages")
    numbers = [0, *range(2, count), 1][:20]  # a page without agreement comes last
    assert [row[0] for row in section.rows] == [f"page {number}" for number in numbers]
    assert section.note.startswith("The 20 with the least agreement." if count > 20 else "Least agreement first.")


@pytest.mark.parametrize(("annotators", "is_shown"), [(3, True), (4, False)])
def test_terminal_shows_the_confusions_of_up_to_three_pairs(annotators, is_shown):
    scores = read_scores("agreement")
    for grouping in scores["agreement"].values():
        grouping["pairs"] = [grouping["pairs"][0]] * (annotators * (annotators - 1) // 2)
    titles = [section.title for section in agreement.summary(scores, 0).sections]
    assert (len(titles) > 2) == is_shown


def test_long_texts_of_disagreements_are_shortened():
    scores = read_scores("agreement")
    scores["disagreements"] = [{**scores["disagreements"][0], "text": "x" * length} for length in (70, 71, 300, 301)]
    printed = agreement.summary(scores, None).sections[-1].rows
    written = rows_of(agreement.report(scores, "Tea", None), "Disagreements")
    assert [len(row[-1]) for row in printed] == [70, 71, 71, 71]
    assert [len(row[-1]) for row in written] == [70, 71, 300, 301]
    assert [row[-1][-1] for row in printed] == ["x", "…", "…", "…"]
