"""Parts of commands: values of options, messages, cards of models, and what a retry takes from an earlier run."""

import io
import json
import os
import time
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.commands import clean, only_line

from victorpy import commands, native
from victorpy.batch.plan import Dedup, Filters, Limits, Plan
from victorpy.batch.sources import ReadOptions
from victorpy.cleaner import read_document
from victorpy.commands import Arguments, Parser, _shared, evaluate, learn, model, reason_of
from victorpy.config import load_config
from victorpy.document import Label
from victorpy.errors import AnnotationError, ConfigError, OutputError, VictorError
from victorpy.methods import Method
from victorpy.model.choice import Learned
from victorpy.model.parts import Parts
from victorpy.outputs import CleanPage
from victorpy.outputs.anno import MAGIC


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


@pytest.mark.parametrize(("arguments", "code"), [([], 2), (["--help"], 0)])
def test_main_help_lists_the_commands(capsys, arguments, code):
    with pytest.raises(SystemExit) as ended:
        commands.main(arguments)
    shown = capsys.readouterr()
    text = shown.out + shown.err
    assert (ended.value.code, bool(shown.out)) == (code, code == 0)
    assert text.startswith("usage: victor [options] COMMAND ...\n\nClean web pages: keep the main content, drop menus")
    assert "\ncommands:\n  agree " in text
    assert "\n  spark-clean " in text


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


def test_summary_is_written_into_a_pipe():
    reading, writing = os.pipe()
    _shared.write_summary(typed(summary=Path(f"/dev/fd/{writing}"), quiet=False), {"pages": 1})
    os.close(writing)
    with os.fdopen(reading) as pipe:
        assert pipe.read() == '{\n  "pages": 1\n}\n'


@pytest.mark.parametrize(
    ("is_terminal", "quiet", "shown"),
    [(True, False, "\rtwo"), (True, True, ""), (False, False, "one\ntwo\n"), (False, True, "")],
)
def test_progress_in_one_line(monkeypatch, is_terminal, quiet, shown):
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: is_terminal)
    monkeypatch.setattr("sys.stderr", stream)
    with _shared.one_line(quiet) as show:
        show("one")
        show("two")
        written = stream.getvalue()
    assert (shown in written, bool(written)) == (True, bool(shown))


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (VictorError("no tea"), 2, "list: no tea\n"),
        (OSError(28, "No space left on device", "out"), 2, "list: out: No space left on device\n"),
        (OSError(28, "No space left on device"), 2, "list: No space left on device\n"),
        (RuntimeError("Symlink loop from 'x'"), 2, "list: Symlink loop from 'x'\n"),
        (KeyboardInterrupt(), 130, ""),
        (RuntimeError("a bug"), None, ""),
        (ValueError("a bug"), None, ""),
    ],
)
def test_errors_of_commands(monkeypatch, capsys, error, code, words):
    def run(arguments):
        raise error

    monkeypatch.setattr("victorpy.commands.list.run", run)
    if code is None:
        with pytest.raises(type(error), match="a bug"):
            commands.run("list", ["formats"])
    else:
        assert commands.run("list", ["formats"]) == code
    assert capsys.readouterr().err == words


def test_reader_that_has_gone_ends_a_command_quietly(monkeypatch, capsys):
    def run(arguments):
        raise BrokenPipeError

    copies = []
    monkeypatch.setattr("victorpy.commands.list.run", run)
    monkeypatch.setattr(commands.os, "dup2", lambda *files: copies.append(files))
    monkeypatch.setattr(commands.sys, "stdout", SimpleNamespace(fileno=lambda: 77, flush=lambda: None))
    assert commands.run("list", ["formats"]) == commands.EXIT_PIPE
    ((nowhere, output),) = copies
    assert (os.path.samestat(os.fstat(nowhere), Path(os.devnull).stat()), output) == (True, 77)
    os.close(nowhere)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("is_terminal", "platform", "problem"),
    [
        ((True, False), "linux", "annotate is a full-screen program; start it in a terminal"),
        ((False, True), "linux", "annotate is a full-screen program; start it in a terminal"),
        ((True, True), "win32", "annotate needs Unix file locks; on Windows, start it in WSL"),
    ],
)
def test_annotating_needs_a_terminal_and_locks(monkeypatch, tmp_path, capsys, is_terminal, platform, problem):
    (tmp_path / "a.html").write_text("<p>Tea")
    streams = [SimpleNamespace(isatty=lambda value=value: value) for value in is_terminal]
    system = SimpleNamespace(stdin=streams[0], stdout=streams[1], platform=platform)
    monkeypatch.setattr("victorpy.commands.annotate.sys", system)
    assert commands.run("annotate", [str(tmp_path / "a.html"), "--no-model"]) == 2
    assert capsys.readouterr().err == f"annotate: {problem}\n"


# Learning.


@pytest.mark.parametrize(
    ("config", "name", "unseen"),
    [
        (None, "trees from scratch", 0.8333),
        ("default", "new model, config default", 0.8333),
        (None, "trees from scratch", None),
    ],
)
def test_scores_of_a_new_model(monkeypatch, capsys, config, name, unseen):
    pages = [labelled({f"tea {number}": P}) for number in range(5)]
    training = {"scores": {"label_accuracy": 0.98765, "content_accuracy": 0.99}}
    stages = SimpleNamespace(crf=SimpleNamespace(numbers=range(1_234))) if unseen else None
    trained = SimpleNamespace(training=training, labeller=SimpleNamespace(stages_=stages))
    scores = {"unchanged": [0.5] * 3, name: [1.0, 1.0, 0.5]}
    learned = Learned(trained, name, scores, 0.0, 5, by_site=True) if unseen else None
    compared = []
    monkeypatch.setattr(learn, "train", lambda *arguments: trained)
    monkeypatch.setattr(learn, "load_model", lambda name: SimpleNamespace(meta={}))
    monkeypatch.setattr(learn, "_note_seen", lambda *arguments: None)
    monkeypatch.setattr(learn, "compare_new", lambda *arguments: compared.append(arguments[1]) or learned)
    arguments = typed(quiet=False, config=config, site_key="domain")
    result, lines = learn._train_new(arguments, load_config("default"), pages, [None] * 5, print)
    assert (result, compared) == (trained, [name])
    assert lines[:2] == [
        f"{'1,234' if unseen else 0} attributes have weights",
        "on the training pages, 98.77% of labels are right, and 99.00% if only content and noise count",
    ]
    assert training.get("unseen_word_f1") == unseen
    assert lines[2] == (
        "word F1 on pages of unseen sites (cross-validation), with 95 % intervals:"
        if unseen
        else "there are too few pages for cross-validation, so word F1 on unseen pages is unknown"
    )


@pytest.mark.parametrize(("seen", "note"), [(0, ""), (1, "1"), (1_234, "1,234")])
def test_pages_that_a_model_was_trained_on_are_reported(monkeypatch, capsys, seen, note):
    pages = [labelled({"tea": P})]
    calls = []
    monkeypatch.setattr(learn, "count_training_pages", lambda *arguments: calls.append(arguments) or seen)
    learn._note_seen(typed(quiet=False), SimpleNamespace(meta={"a": 1}), "mine", pages)
    assert calls == [({"a": 1}, [pages[0].document])]
    words = f"clean: mine was trained on {note} of these pages, so its score on them is too high\n"
    assert capsys.readouterr().err == (words if seen else "")


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("gone", "gone: cannot be read: No such file or directory"),
        ("page.html", "page.html:1: not an annotation file; annotate the page first, with victor annotate page.html, "
                      "or give gold texts with --data KIND:DIR"),
        ("a.txt", None),
    ],
)  # fmt: skip
def test_only_annotation_files_are_learned_from(tmp_path, monkeypatch, name, problem):
    monkeypatch.chdir(tmp_path)
    Path("page.html").write_text("<p>Tea")
    Path("a.txt").write_text(MAGIC)
    with nullcontext() if problem is None else pytest.raises(AnnotationError) as caught:
        learn._check_annotation(Path(name))
    if problem:
        assert str(caught.value) == problem


FIVE, FOUR = "one two three four five", "one two three four"
P, O = Label.PARAGRAPH, Label.OTHER  # noqa: E741


def labelled(texts, url=""):
    """Return a page with these texts, each with its label."""
    document = read_document("".join(f"<p>{text}</p>" for text in texts), load_config("default"), url)
    return CleanPage(document, tuple(texts.values()))


@pytest.mark.parametrize(
    ("pages", "disputed"),
    [
        ([({FIVE: P}, "a"), ({FIVE: O}, "a")], [FIVE]),
        ([({FIVE: P}, "a"), ({FIVE: O}, "b")], []),  # two sites may use a text differently
        ([({FOUR: P}, "a"), ({FOUR: O}, "a")], []),
        ([({FIVE: P}, "a"), ({FIVE: P}, "a")], []),
        ([({FIVE: O, FOUR: P}, "a"), ({FIVE: P, FOUR: O}, "a")], [FIVE]),
    ],
)
def test_texts_with_contradicting_labels(pages, disputed):
    pages = [labelled(texts, f"http://{site}.example/") for texts, site in pages]
    assert learn._disputed_texts(pages) == disputed


@pytest.mark.parametrize(
    ("hosts", "site_key", "notes"),
    [
        (["a.example"], "domain", ["there is only one page to learn from; the model will hardly work on others"]),
        (["a.example"] * 2, "domain", ["there are only 2 pages to learn from, so the scores are very uncertain",
                                       "all pages seem to be from a.example; the scores hold for this site only"]),
        (["x.a.example", "y.a.example"] * 2 + ["a.example"], "domain",
         ["all pages seem to be from a.example; the scores hold for this site only"]),
        (["x.a.example", "y.a.example"] * 2 + ["a.example"], "host", []),
        ([""] * 5, "domain", []),
        (["a.example"] * 4 + [""], "domain", []),
    ],
)  # fmt: skip
def test_warnings_about_few_pages_and_one_site(capsys, hosts, site_key, notes):
    pages = [labelled({f"tea {n}": P}, f"http://{host}/" if host else "") for n, host in enumerate(hosts)]
    learn._warn_about(typed(quiet=False, site_key=site_key), pages, [None] * len(pages))
    assert capsys.readouterr().err == "".join(f"clean: {note}\n" for note in notes)


def test_warning_about_contradicting_labels_leaves_out_weighted_pages(capsys):
    pages = [labelled({FIVE: label, f"tea {n}": P}) for n, label in enumerate((P, O, P, P, P))]
    arguments = typed(quiet=False, site_key="domain")
    learn._warn_about(arguments, pages, [None] * 5)
    found = f"texts that are content on one page and noise on another: 1; check the labels of {FIVE!r}"
    assert capsys.readouterr().err == f"clean: {found}\n"
    learn._warn_about(arguments, pages, [None, [1.0, 1.0], None, None, None])
    assert capsys.readouterr().err == ""


def test_first_of_several_copies_is_kept():
    notes = []
    texts = (("tea", P), ("tea", P), ("cup", P), ("cup", O), ("cup", P), ("pot", P))
    rows = [learn.Loaded(labelled(dict([text])), None, "x", name) for name, text in zip("abcdef", texts, strict=True)]
    assert [row.name for row in learn._without_copies(rows, notes.append)] == ["a", "c", "f"]
    assert [row.name for row in learn._without_copies(rows[:2], notes.append)] == ["a"]
    assert [row.name for row in learn._without_copies(rows[4:], notes.append)] == ["e", "f"]
    advice = "; check 1 page whose copies have contradicting labels (the first: c, d, e)"
    assert notes == [f"copies of other pages: 3{advice}", "copies of other pages: 1"]


@pytest.mark.parametrize(
    ("replay", "sample", "notes"),
    [
        (0.5, "sample", ""),
        (0.5, None, "clean: the sample of general pages does not fit this model, so other pages may become worse\n"),
        (0.0, None, ""),
    ],
)
def test_pages_of_the_replay_sample(monkeypatch, capsys, replay, sample, notes):
    calls = []
    learned = Learned("trained", "unchanged", {"unchanged": [0.5] * 5}, 0.0, 5, by_site=True)
    monkeypatch.setattr(learn, "load_replay", lambda meta, weight: calls.append(weight) or sample)
    monkeypatch.setattr(learn, "_note_seen", lambda *arguments: None)
    monkeypatch.setattr(learn, "learn", lambda *arguments: calls.append(arguments) or learned)
    model_stub = SimpleNamespace(meta={})
    for origin in (None, "mine"):
        calls.clear()
        arguments = typed(quiet=False, replay=replay, origin=origin, site_key="host")
        trained, lines = learn._adapt(arguments, model_stub, ["page"], [None], print)
        assert calls == [
            *([replay] if replay else []),
            (["page"], model_stub, [None], "host", sample, bool(origin), print),
        ]
        assert (trained, f"a copy of {origin or 'default'}" in lines[-1]) == ("trained", True)
        assert capsys.readouterr().err == notes
    with pytest.raises(ConfigError, match="--replay must be 0 or more, not -1"):
        learn._adapt(typed(replay=-1.0), model_stub, [], [], print)
