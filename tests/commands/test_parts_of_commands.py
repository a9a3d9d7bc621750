"""Parts of commands: values of options, messages, cards of models, and what a retry takes from an earlier run."""

import io
import json
import os
import time
from pathlib import Path

import pytest
from support.commands import clean, only_line

from victorpy import commands, native
from victorpy.batch.plan import Dedup, Filters, Limits, Plan
from victorpy.batch.sources import ReadOptions
from victorpy.commands import Arguments, Parser, _shared, evaluate, model, reason_of
from victorpy.errors import ConfigError, OutputError
from victorpy.methods import Method
from victorpy.model.parts import Parts


def typed(program="victor clean", **values):
    values = {"include": [], **values}
    arguments = Arguments(command="clean", program=program, options={name: f"--{name}" for name in values})
    return Arguments(**{**vars(arguments), **values})


@pytest.mark.parametrize(
    ("output", "name"),
    [
        *((f"x{ending}", name) for ending, name in (
            (".md", "markdown"), (".html", "html"), (".htm", "html"), (".xml", "xml"), (".csv", "csv"),
            (".anno", "anno"), (".vert", "vertical"), (".prevert", "prevertical"), (".HTML", "html"),
        )),
        *((output, "text") for output in ("x.txt", "x", None, "md", "x.md.txt")),
    ],
)  # fmt: skip
def test_ending_of_the_output_chooses_the_format(output, name):
    assert _shared.format_of(typed(output=output, format=None, front_matter=False)) == name
    assert _shared.format_of(typed(output=output, format="xml", front_matter=False)) == "xml"
    if name == "markdown":
        assert _shared.format_of(typed(output=output, format=None, front_matter=True)) == "markdown(front_matter=true)"
    else:
        with pytest.raises(ConfigError, match="--front-matter needs --format markdown"):
            _shared.format_of(typed(output=output, format=None, front_matter=True))


def test_numbers_are_above_0_and_at_most_a_billion():
    for value in (1e-9, 1, 1_000_000_000):
        assert _shared.positive(typed(jobs=value), "jobs", 7) == value
    assert _shared.positive(typed(jobs=None), "jobs", 7) == 7
    for value, bound in ((0, "above 0"), (-1, "above 0"), (1_000_000_001, "at most 1,000,000,000")):
        with pytest.raises(ConfigError, match=f"--jobs must be {bound}, not "):
            _shared.positive(typed(jobs=value), "jobs", 7)


RETRY = {
    "url": None, "charset": None, "format": "text", "html_field": "html", "url_field": "url", "max_size": 32.0,
    "to": "jsonl", "method": "sst", "model": None, "config": None, "favor": None, "param": ["t=0.3"], "site": None,
    "labelled": [], "by_site": False, "sample": None,
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "defaults"),
    [
        ({}, {}),
        ({"url": "http://a/", "content_type": "text/html; charset=x"}, {"url": "http://a/", "charset": "x"}),
        ({"format": "xml", "to": "warc"}, {"format": "xml", "to": "warc"}),
        ({"read": ReadOptions("h", "u", most_bytes=2_500_000)}, {"html_field": "h", "url_field": "u", "max_size": 2.5}),
        ({"by_site": True, "site_key": "host", "sample": 7}, {"by_site": True, "site_key": "host", "sample": 7}),
        ({"learned": True, "learned_from": ("s", "a.anno")}, {"site": "s", "labelled": ["a.anno"], "sample": 500}),
        ({"method": Method(model="default", favor="recall")},
         {"method": None, "model": "default", "favor": "recall", "param": []}),
        ({"filters": Filters(5, 0.5, ("en",))}, {"min_words": 5, "min_confidence": 0.5, "language": ["en"]}),
        ({"filters": Filters(5)}, {"min_words": 5}),
        ({"parts": Parts.of("comments", "links")}, {"include": ["comments"], "exclude": ["links"]}),
        ({"dedup": Dedup("fingerprint", ("interval=2",), "longest", True)},
         {"dedup": "fingerprint", "keep": "longest", "drop_replicas": True,
          "dedup_param": ["percentage=0.4", "interval=2"]}),
    ],
)  # fmt: skip
def test_a_retry_has_the_options_of_the_run(change, defaults):
    plan = Plan(("x",), "out", **{"to": "jsonl", "method": Method("sst", ("t=0.3",)), **change})
    previous = json.loads(json.dumps({**plan.identity(""), **plan.notes()}))
    names = ("method", "model", "config", "include", "exclude", "headline", "dedup")
    arguments = typed(output=None, **dict.fromkeys(names))
    found = _shared.retry_defaults(arguments, previous)
    assert {name: found[name] for name in RETRY} == {
        **RETRY,
        **{name: defaults[name] for name in RETRY if name in defaults},
    }
    assert {name: found.get(name) for name in defaults} == defaults
    chosen = typed(output="x.warc", **{**dict.fromkeys(names, "x")})
    assert (
        not {"to", "param", "site", "by_site", "sample", "include", "dedup", "keep"}
        & _shared.retry_defaults(chosen, previous).keys()
    )


def test_failed_pages_that_may_succeed_are_cleaned_again():
    for kinds, again in (({"read": 1}, True), ({"decode": 3}, False), ({"decode": 1, "timeout": 1}, True), ({}, False)):
        text = _shared.describe_failed({"kinds": kinds}, "f.jsonl", "--retry f.jsonl")
        assert text == f"failed pages are listed in f.jsonl{'; clean them again with --retry f.jsonl' * again}"


def test_files_of_options_can_be_written(tmp_path):
    _shared.check_written("--summary", None)
    _shared.check_written("--summary", tmp_path / "deep" / "s.json")
    assert [path.name for path in tmp_path.iterdir()] == ["deep"]
    _shared.check_written("--summary", Path("/dev/null"))
    (tmp_path / "file").touch()
    for path, reason in (
        (tmp_path, "Is a directory"),
        (tmp_path / "file" / "s.json", "this is a file, not a directory"),
    ):
        with pytest.raises(OutputError, match=f"--summary {path}: cannot be written: {reason}"):
            _shared.check_written("--summary", path)
    _shared.write_summary(typed(summary=tmp_path / "new" / "s.json"), {"pages": 1})
    assert (tmp_path / "new" / "s.json").read_text() == '{\n  "pages": 1\n}\n'


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (FileExistsError(17, "File exists", "x"), "this is a file, not a directory"),
        (OSError(28, "No space left on device"), "No space left on device"),
        (OSError("tea"), "tea"),
    ],
)
def test_reasons_of_errors(error, reason):
    assert reason_of(error) == reason


def test_messages_name_what_was_typed(capsys):
    arguments = typed(quiet=False, read_only=None)
    assert (
        arguments.as_typed("`read_only` and `other`: victor learn, victor list")
        == "--read_only and `other`: victor learn, victor list"
    )
    script = typed("clean.py", quiet=True)
    assert (
        script.as_typed("victor learn, victor clean, victor annotate, victor list")
        == "learn.py, clean.py, annotate.py, victor list"
    )
    arguments.note("tea\x07")
    script.note("not shown")
    script.say("shown")
    assert capsys.readouterr().err == "clean: tea⟨U+0007⟩\nclean: shown\n"
    assert (commands.EXIT_FAILED, commands.EXIT_USAGE, commands.EXIT_PIPE) == (1, 2, 141)


def test_unknown_options_are_suggested(capsys):
    parser = Parser("victor tea", "")
    parser.add_argument("--kettle")
    parser.add_argument("cup")
    parser.shorten_usage()
    for arguments in (["--ket"], ["--kettle=x"], ["--", "--ketle"], ["-x"], ["--a b"]):
        parser.check_options(arguments)
    for arguments in (["--ketle"], ["cup", "--ketle=5"]):
        with pytest.raises(SystemExit) as ended:
            parser.check_options(arguments)
        assert ended.value.code == 2
        assert capsys.readouterr().err == (
            "usage: victor tea [options] cup\n"
            "victor tea: unknown option '--ketle' (did you mean '--kettle'?); see victor tea --help\n"
        )


def test_native_core_is_suggested_once(tmp_path, monkeypatch):
    (tmp_path / "a.html").write_text("<p>Tea")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(native, "why_not", lambda: native.NOT_BUILT)
    shown = only_line(clean(tmp_path / "a.html", "--method", "everything").stderr)
    assert shown.startswith("clean: victorpy cleans faster with its native core; install a C++ compiler, then install ")
    assert (tmp_path / "cache" / "victor-clean" / "native-hint").read_bytes() == b""
    assert clean(tmp_path / "a.html", "--method", "everything").stderr == b""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    assert clean(tmp_path / "a.html", "--method", "everything", "-q").stderr == b""
    assert not (tmp_path / "other").exists()


def test_finished_folds_and_the_time_left(monkeypatch, capsys):
    now = iter([100.0, 110.0, 130.0, 150.0])
    monkeypatch.setattr(time, "perf_counter", lambda: next(now))
    show = evaluate._progress()
    for done in (0, 2, 4):
        show("tea", done, 5)
    assert capsys.readouterr().err == "tea: fold 2 of 5 done, 30 s left\ntea: fold 4 of 5 done, 10 s left\n"


def card(tmp_path, training, files=("a.npz",)):
    for name in files:
        (tmp_path / name).write_bytes(b"x" * 1_250_000)
    meta = {"digest": "0123456789abcdef", "files": dict.fromkeys(files, ""), "labels": ["header", "other"],
            "versions": {"victorpy": "0.1"}, "training": {"pages": 1_200, "blocks": 34_000, **training}}  # fmt: skip
    return model.make_card("tea", tmp_path, meta)


def test_card_of_a_model(tmp_path):
    general = {
        "model": "tea (1.2 MB, digest 0123456789ab)",
        "labels": "header, other",
        "pages": "1,200 pages, 34,000 blocks",
    }
    assert card(tmp_path, {}) == {**general, "trained": "date unknown, with victorpy 0.1"}
    found = card(
        tmp_path,
        {"date": "2026", "data": ["a", "b"], "unseen_word_f1": 0.98765, "general_word_f1": [0.5, 0.6]},
        ["a.npz", "b.py"],
    )
    assert found == {
        **general, "model": "tea (2.5 MB, digest 0123456789ab)", "trained": "2026, with victorpy 0.1", "data": "a, b",
        "word F1": "0.988 on unseen pages (cross-validation)",
        "general": "word F1 on general pages 0.500 before, 0.600 after",
        "code": "contains Python code, which runs only with --allow-code: b.py",
    }  # fmt: skip
    parent = {"digest": "fedcba9876543210", "training": {"pages": 5_000}}
    scores = {"unchanged": 0.9, "adapted": 0.95}
    found = card(tmp_path, {"parent": parent, "chosen": "adapted", "word_f1": scores, "folds": "sites"})
    assert found["parent"] == "digest fedcba987654, trained on 5,000 pages"
    assert found["choice"] == "adapted"
    assert found["word F1"] == "adapted 0.950, unchanged 0.900 (cross-validation over sites)"


@pytest.mark.parametrize(
    ("method", "name", "learns"),
    [
        (Method(), "the default model", False),
        (Method("sst"), "--method sst", True),
        (Method("everything"), "--method everything", False),
        (Method(model="site"), "--model site", True),
        (Method(config="default"), "--config default", False),
    ],
)
def test_methods_as_they_were_typed(method, name, learns):
    assert (_shared.name_of(method), _shared.learns_from_site(method)) == (name, learns)


def test_filters_of_options():
    values = {"min_words": None, "min_confidence": None, "language": []}
    assert _shared.filters_of(typed(**values)) == Filters()
    found = _shared.filters_of(
        typed(**{**values, "min_words": 3, "min_confidence": 1.0, "language": ["en, de-AT", ",EN"]})
    )
    assert found == Filters(3, 1.0, ("en", "de"))


def test_closed_streams_are_replaced(monkeypatch):
    import sys

    monkeypatch.setattr(sys, "stdin", None)
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))
    commands._prepare_streams()
    assert sys.stdin.read() == ""
    assert sys.stdin.name == os.devnull
    sys.stdout.write("茶\n\ud800")
    sys.stdout.flush()
    assert written.getvalue() == "茶\n\\ud800".encode()
    sys.stdin.close()


def test_limits_of_workers_have_defaults():
    assert Limits() == Limits(1, 10.0, 1_000_000_000)
