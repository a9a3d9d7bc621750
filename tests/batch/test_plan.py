"""The plan of a run: every process receives it, and its identity contains what determines the output."""

import argparse
import io
import json
import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from victorpy import Cleaner
from victorpy.batch import plan as plan_module
from victorpy.batch.local.run import run_plan
from victorpy.batch.plan import Dedup, Filters, Limits, Plan
from victorpy.batch.sources import ReadOptions
from victorpy.commands import Arguments, Parser, _names_many_pages, clean
from victorpy.commands._shared import plan_of
from victorpy.errors import ConfigError, VictorError
from victorpy.methods import Method, _load_cleaner

SITES = Plan(("a.warc",), "out", "jsonl", method=Method("sst", ("t=0.3",)), by_site=True, dedup=Dedup("fingerprint"))


def test_plan_is_plain_data():
    assert pickle.loads(pickle.dumps(SITES)) == SITES
    assert len({SITES, replace(SITES), replace(SITES, to="parquet")}) == 2
    identity = SITES.identity("digest")
    assert json.loads(json.dumps(identity)) == identity


def test_settings_outside_the_identity_may_change():
    other = replace(SITES, output=Path("elsewhere"), limits=Limits(jobs=8, deadline=60.0, memory=10))
    assert other.identity("digest") == SITES.identity("digest")
    retry = replace(SITES, retry=Path("failed.jsonl"))  # another retry usually raises the limits
    assert retry.identity("digest") != replace(other, retry=retry.retry).identity("digest")


@pytest.mark.parametrize(
    "change",
    [
        {"inputs": ("b.warc",)},
        {"to": "parquet"},
        {"format": "markdown"},
        {"method": Method("sst", ("t=0.4",))},
        {"method": Method("site")},
        {"method": Method("site", favor="recall")},
        {"site_key": "host"},
        {"sample": 3},
        {"by_site": False},
        {"dedup": Dedup("fingerprint", ("interval=2",))},
        {"dedup": None},
        {"read": ReadOptions(html_field="page")},
        {"shard_records": 7},
        {"shard_files": 7},
        {"buckets": 7},
        {"url": "http://tea.example/"},
        {"learned_from": ("crawl/",)},
        {"learned": True},
    ],
)
def test_identity_has_all_settings_that_change_the_output(change):
    assert replace(SITES, **change).identity("digest") != SITES.identity("digest")
    assert SITES.identity("other digest") != SITES.identity("digest")


def test_identity_includes_the_version(monkeypatch):
    before = SITES.identity("digest")
    monkeypatch.setattr(plan_module, "__version__", "99.0")
    assert SITES.identity("digest") != before


def test_model_is_identified_by_its_content():
    names = [Method(), Method("default"), Method(model="default"), Method(config="default")]
    assert len({json.dumps(method.identity()) for method in names}) == 1
    assert Method("site").identity() != Method().identity()


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (Plan(format="txt"), r"no output format 'txt' \(did you mean 'text'\?\)"),
        (Plan(site_key="hots"), r"domain, host, not 'hots' \(did you mean 'host'\?\)"),
        (Plan(method=Method("stt")), r"no method 'stt' \(did you mean 'sst'\?\)"),
        (Plan(method=Method("sst", model="default")), "cannot be combined with `model` or `config`"),
        (Plan(method=Method(parameters=("t=1",))), "`param` t=1 needs a `method`"),
        (Plan(method=Method("sst", favor="recall")), "`favor` needs probabilities, which the method sst"),
        (Plan(dedup=Dedup("pags")), "did you mean 'pages'"),
        (Plan(filters=Filters(languages=("en", "xx"))), "unknown language 'xx'"),
        (Plan(filters=Filters(min_confidence=0.5), method=Method("everything")), "a minimum confidence needs a model"),
    ],
)
def test_mistakes_are_reported_before_the_run(plan, words):
    with pytest.raises((ConfigError, VictorError), match=words):
        plan.check()


def test_filters_that_are_right_are_accepted():
    Plan(filters=Filters(min_words=3, min_confidence=0.5, languages=("en", "de"))).check()


def test_model_is_loaded_once_per_process(monkeypatch):
    _load_cleaner.cache_clear()
    loaded = []
    load = Cleaner.load.__func__
    monkeypatch.setattr(
        Cleaner, "load", classmethod(lambda cls, *names, **more: loaded.append(names) or load(cls, *names, **more))
    )
    Plan().check()
    assert Plan().load() is Plan(format="markdown").load() is Method().load()
    assert len(loaded) == 1


def plan_from(*options):
    """Return the plan that options of `victor clean` ask for."""
    arguments, parser = Arguments(command="clean", program="clean.py", options={}), Parser("clean.py", "")
    clean.configure(parser)
    arguments.options = {action.dest: action.option_strings[-1] for action in parser._actions if action.option_strings}
    return plan_of(parser.parse_args(["a.html", *options], arguments), Method(), jobs=3)


@pytest.mark.parametrize(
    ("options", "change"),
    [
        (["--timeout", "2.5"], {"limits": Limits(3, deadline=2.5)}),
        (["--memory", "20"], {"limits": Limits(3, memory=20_000_000)}),
        (["--html-field", "page"], {"read": ReadOptions(html_field="page")}),
        (["--url-field", "link"], {"read": ReadOptions(url_field="link")}),
        (["--max-size", "2"], {"read": ReadOptions(most_bytes=2_000_000)}),
        (["--check-digests"], {"read": ReadOptions(check_digests=True)}),
        (["--format", "markdown"], {"format": "markdown"}),
        (["--by-site"], {"by_site": True}),
        (["--site-key", "host"], {"site_key": "host"}),
        (["--sample", "7"], {"sample": 7}),
        (["--dedup", "pages"], {"dedup": Dedup("pages")}),
        (["--dedup", "pages", "--keep", "longest"], {"dedup": Dedup("pages", keep="longest")}),
        (["--dedup", "pages", "--drop-replicas"], {"dedup": Dedup("pages", drop=True)}),
        (["--dedup", "fingerprint", "--dedup-param", "interval=2"], {"dedup": Dedup("fingerprint", ("interval=2",))}),
        (["--min-words", "1"], {"filters": Filters(min_words=1)}),
        (["--min-confidence", "1"], {"filters": Filters(min_confidence=1.0)}),
        (["--min-confidence", "0"], {}),
        (["--language", "en, de-AT", "--language", "en"], {"filters": Filters(languages=("en", "de"))}),
        (["--timeout", "0.001"], {"limits": Limits(3, deadline=0.001)}),
        (["--sample", "1"], {"sample": 1}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_each_option_changes_one_setting(options, change):
    usual = plan_from()
    assert usual == Plan(format=None, limits=Limits(3))  # `run` sets the default format
    assert plan_from(*options) == replace(usual, **change)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--timeout", "0"], "--timeout must be above 0, not 0"),
        (["--timeout", "nan"], "--timeout must be above 0, not nan"),
        (["--memory", "-1"], "--memory must be above 0, not -1"),
        (["--max-size", "0"], "--max-size must be above 0, not 0"),
        (["--max-size", "inf"], "--max-size must be at most 1,000,000,000, not inf"),
        (["--timeout", "2e9"], "--timeout must be at most 1,000,000,000, not 2e.09"),
        (["--sample", "0"], "--sample must be above 0, not 0"),
        (["--min-words", "0"], "--min-words must be above 0, not 0"),
        (["--min-confidence", "1.01"], "--min-confidence must be from 0 to 1, not 1.01"),
        (["--min-confidence", "-0.01"], "--min-confidence must be from 0 to 1, not -0.01"),
        (["--keep", "longest"], "--keep needs --dedup "),
        (["--drop-replicas"], "--drop-replicas needs --dedup "),
        (["--dedup-param", "share=1"], "--dedup-param needs --dedup "),
        (["--dedup", "fingerprint", "--dedup-param", "intervall=2"], "did you mean 'interval'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_values_are_refused(options, words):
    with pytest.raises(ConfigError, match=words):
        plan_from(*options)


@pytest.mark.parametrize(("value", "part"), [("1/1", (1, 1)), ("1/3", (1, 3)), ("3/3", (3, 3)), ("07/10", (7, 10))])
def test_part_is_a_number_and_a_count(value, part):
    assert clean._part(value) == part
    for wrong in ("0/3", "4/3", "3", "a/b", "/3", "1/", "-1/3", "1/2/3", "1/0"):
        with pytest.raises(argparse.ArgumentTypeError, match=f"expected a part such as 3/100, not '{wrong}'"):
            clean._part(wrong)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("crawl.warc.gz -o clean/", True),
        ("pages/ -o corpus.jsonl.gz/", True),
        ("-j 2 crawl.jsonl.zst", True),
        ("page.html -f jsonl -o page.jsonl", False),
        ("crawl.warc.gz -o corpus.parquet/ --without facts", False),
        ("crawl.warc.gz --help", False),
        ("parquet/page.html", False),
    ],
)
def test_server_of_workers_starts_early_for_many_pages(arguments, expected):
    assert _names_many_pages(arguments.split()) is expected


@pytest.mark.parametrize(("most", "sizes"), [(6, [6, 3]), (5, [3, 3, 3]), (3, [3, 3, 3]), (9, [9])])
def test_part_has_as_many_whole_groups_as_fit(tmp_path, monkeypatch, most, sizes):
    monkeypatch.setattr("victorpy.batch.inputs.GROUP_FILES", 3)
    for number in range(9):
        (tmp_path / f"{number}.html").write_text(f"<p>Tea {number}")
    plan = Plan((str(tmp_path),), tmp_path / "out", "jsonl", method=Method("everything"), shard_records=most)
    summary = run_plan(plan, io.StringIO(), guarded=False)
    parts = [path.read_text().splitlines() for path in sorted((tmp_path / "out").glob("*.jsonl")) if "-" in path.name]
    assert [len(lines) for lines in parts] == sizes
    assert [json.loads(line)["text"] for lines in parts for line in lines] == [f"Tea {number}\n" for number in range(9)]
    assert summary["pages"] == 9
