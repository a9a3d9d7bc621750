"""`python -m benchmarks.thesis`: the experiments of table 6.1, and the printed table."""

import sys

import pytest
from support.commands import write_files

from benchmarks import thesis
from victorpy import load_config
from victorpy.errors import DataError


def test_experiments_disable_the_features_that_the_thesis_names():
    configs = thesis.experiments(load_config("cleaneval"))
    assert list(configs) == list(thesis.THESIS)
    everything = set(configs["Exp-1"].features)
    assert len(everything) == 46
    disabled = {name: everything - set(config.features) for name, config in configs.items()}
    counts = {"token.num-abs", "token.mix-abs", "token.other-abs"}  # numeric, mixed and non-word tokens
    assert disabled["Exp-2"] == {"div-group.word-ratio", "td-group.word-ratio"} | counts
    assert disabled["Exp-3"] - disabled["Exp-2"] == {"regexp.url", "document.word-count"}
    assert not set(configs["markup features only"].features) & set(configs["content features only"].features)
    assert {config.get("decode") for config in configs.values()} == {("viterbi",)}


def test_total_of_the_thesis_is_the_mean_of_markup_and_text():
    for figures in list(thesis.THESIS.values())[:3]:
        assert figures[4] == pytest.approx((figures[2] + figures[3]) / 2, abs=0.011)


def page(number):
    text = f"This is text number {number}, and somebody wrote all of it for other people to read."
    html = f"<ul><li><a href='/'>Home</a><li><a href='/{number}'>More</a></ul><h1>Tea {number}</h1><p>{text}"
    return {
        f"input/{number}.html": html,
        f"gold/{number}.txt": f"URL: http://{number}.example/\n<h>Tea {number}\n<p>{text}",
    }


def run(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["thesis", *map(str, arguments)])
    thesis.main()


def test_table_has_two_rows_per_experiment_with_intervals(tmp_path, monkeypatch, capsys):
    data = write_files(tmp_path, page(1) | page(2) | page(3) | page(4))
    run(monkeypatch, "--data", f"cleaneval:{data}", "--folds", "2")
    written = capsys.readouterr().out
    assert written.startswith("4 pages, 16 blocks, 2 folds by page, in percent\n")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in written.splitlines() if "Exp-1," in line]
    assert rows[0] == ["Exp-1, thesis", "74.45", "82.60", "66.71", "81.11", "73.92", "–", "–"]
    assert rows[1][0] == "**Exp-1, here**"
    assert all(" to " in cell for cell in rows[1][1:])
    assert written.count(", here**") == written.count(", thesis |") == 5
    assert "| Exp-3 | " in written.partition("total minus that of Exp-1")[2]


def test_too_few_pages_are_refused(tmp_path, monkeypatch):
    data = write_files(tmp_path, page(1) | page(2))
    with pytest.raises(DataError, match="6 folds need as many pages, not 2"):
        run(monkeypatch, "--data", f"cleaneval:{data}")


def test_gold_without_tags_is_refused(tmp_path, monkeypatch):
    article = "Tea is a drink that is made by pouring hot water over leaves."
    data = write_files(tmp_path, {"HTML/1.html": f"<p>{article}", "Corrected/1.html.corrected.txt": article})
    with pytest.raises(DataError, match="the gold has no segment tags"):
        run(monkeypatch, "--data", f"dragnet:{data}")
