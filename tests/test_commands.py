"""The commands as users run them: real processes, their output, their errors and their exit codes."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import shutil
import signal
import struct
import subprocess
import sys
import termios
from dataclasses import replace
from pathlib import Path

import pytest

from victorpy.cleaner import Cleaner
from victorpy.config import load_config
from victorpy.model.train import find_unconfirmed, load_pages, train
from victorpy.page.anno import load_anno

ROOT = Path(__file__).parents[1]
ARTICLES = sorted((ROOT / "data" / "article").glob("*.anno"))
PAGE = ROOT / "data" / "article" / "courier-bridge.html"
OTHER_PAGE = ROOT / "data" / "article" / "courier-bakery.html"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
UNFINISHED = b"%victor-anno 1\nsplit: block\n\n?\t-\t<p>\t Menu\nend\t-\t</p>\t\n"
JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00" + bytes(range(256)) * 40


def run(*command, **options):
    options = {"capture_output": True, "timeout": 60, "env": ENVIRONMENT} | options
    return subprocess.run([sys.executable, *map(str, command)], check=False, **options)


def clean(*arguments, **options):
    return run(ROOT / "clean.py", *arguments, **options)


def learn(*arguments, **options):
    return run(ROOT / "learn.py", *arguments, **options)


def victor(*arguments, **options):
    return run("-m", "victorpy", *arguments, **options)


def only_line(stderr):
    """The one line that a user's mistake is worth."""
    text = stderr.decode()
    assert text.count("\n") == 1, text
    return text


def names_in(directory):
    return sorted(path.name for path in directory.iterdir())


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    config = load_config("crf")
    config = replace(config, values={**config.values, "crf-param-max_iterations": ("30",)})
    directory = tmp_path_factory.mktemp("models") / "small"
    train(load_pages(ARTICLES, config), config).save(directory)
    return directory


@pytest.fixture(scope="module")
def expected(model):
    """What the pages are cleaned to, by name of the page and format."""
    cleaner = Cleaner.load(model)
    return lambda page, format="text": cleaner.clean(page.read_bytes(), format=format).encode()


# clean: where pages come from


def test_a_file_is_cleaned_to_standard_output(model, expected):
    ended = clean("--model", model, PAGE)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert ended.stdout == expected(PAGE)
    assert b"replace the bearings" in ended.stdout


@pytest.mark.parametrize("arguments", [[], ["-"]], ids=["nothing", "dash"])
def test_nothing_or_a_dash_reads_standard_input(model, expected, arguments):
    ended = clean("--model", model, *arguments, input=PAGE.read_bytes())
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, expected(PAGE), b"")


def test_several_files_are_written_under_their_names(model, expected):
    ended = clean("--model", model, PAGE, OTHER_PAGE)
    assert ended.returncode == 0
    head, second = f"==> {PAGE} <==\n".encode(), f"\n==> {OTHER_PAGE} <==\n".encode()
    assert ended.stdout == head + expected(PAGE) + second + expected(OTHER_PAGE)
    assert ended.stderr == b"clean: 2 pages: 2 kept, 0 empty, 0 failed\n"


def test_a_directory_is_read_with_all_below_it_and_written_alike(model, expected, tmp_path):
    for place in ("site/a.html", "site/deep/er/b.HTM"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_bytes(PAGE.read_bytes())
    (tmp_path / "site" / "notes.txt").write_text("not a page")
    ended = clean("--model", model, "site", "-o", "out", cwd=tmp_path)
    assert ended.returncode == 0
    written = sorted(path for path in (tmp_path / "out").rglob("*") if path.is_file())
    assert [str(path.relative_to(tmp_path / "out")) for path in written] == ["a.txt", "deep/er/b.txt"]
    assert {path.read_bytes() for path in written} == {expected(PAGE)}


def test_a_pattern_is_expanded_unless_a_file_has_that_name(model, tmp_path):
    for name in ("x1.html", "x2.html", "y.html", "a1.html", "a[1].html"):
        (tmp_path / name).write_bytes(PAGE.read_bytes())
    ended = clean("--model", model, "x*.html", "a[1].html", "-o", "out", cwd=tmp_path)
    assert ended.returncode == 0
    assert names_in(tmp_path / "out") == ["a[1].txt", "x1.txt", "x2.txt"]


@pytest.mark.parametrize("name", ["nothing*.html", "empty"])
def test_a_pattern_or_directory_without_pages_is_wrong_usage(model, tmp_path, name):
    (tmp_path / "empty").mkdir()
    ended = clean("--model", model, name, cwd=tmp_path)
    assert ended.returncode == 2
    assert only_line(ended.stderr).startswith(f"clean: {name}: no ")


# clean: where texts go


@pytest.mark.parametrize(("target", "path"), [("new/clean.txt", "new/clean.txt"), (".", "courier-bridge.txt")])
def test_one_page_goes_into_a_file_or_an_existing_directory(model, expected, tmp_path, target, path):
    ended = clean("--model", model, PAGE, "-o", target, cwd=tmp_path)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == [tmp_path / path]
    assert (tmp_path / path).read_bytes() == expected(PAGE)


def test_many_pages_of_json_lines_go_into_one_file(model, tmp_path):
    ended = clean("--model", model, PAGE, OTHER_PAGE, "-f", "jsonl", "-o", tmp_path / "pages.jsonl")
    assert ended.returncode == 0
    records = [json.loads(line) for line in (tmp_path / "pages.jsonl").read_text().splitlines()]
    assert [record["source"] for record in records] == [str(PAGE), str(OTHER_PAGE)]


def test_pages_of_the_same_name_do_not_overwrite_each_other(model, expected, tmp_path):
    for folder, page in (("a", PAGE), ("b", OTHER_PAGE)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "page.html").write_bytes(page.read_bytes())
    ended = clean("--model", model, "a/page.html", "b/page.html", "-o", "out", cwd=tmp_path)
    assert ended.returncode == 0
    assert (tmp_path / "out" / "page.txt").read_bytes() == expected(PAGE)
    assert (tmp_path / "out" / "page-2.txt").read_bytes() == expected(OTHER_PAGE)


def test_several_pages_do_not_fit_a_file_that_is_there(model, tmp_path):
    (tmp_path / "out.txt").write_text("precious")
    ended = clean("--model", model, PAGE, OTHER_PAGE, "-o", tmp_path / "out.txt")
    assert ended.returncode == 2
    assert "is a file; several pages go into a directory" in only_line(ended.stderr)
    assert (tmp_path / "out.txt").read_text() == "precious"


@pytest.mark.parametrize("target", ["page.html", "."])
def test_a_page_is_never_overwritten_by_its_own_cleaning(model, tmp_path, target):
    (tmp_path / "page.html").write_bytes(PAGE.read_bytes())
    ended = clean("--model", model, "page.html", "-f", "html", "-o", target, cwd=tmp_path)
    assert (tmp_path / "page.html").read_bytes() == PAGE.read_bytes()
    assert ended.returncode == 2
    assert names_in(tmp_path) == ["page.html"]


@pytest.mark.parametrize("format", ["text", "markdown", "html", "cleaneval"])
def test_every_format_is_what_python_gives(model, expected, format):
    ended = clean("--model", model, "--format", format, PAGE)
    assert ended.returncode == 0
    assert ended.stdout == expected(PAGE, format)


def test_json_names_its_source(model):
    ended = clean("--model", model, "--format", "jsonl", PAGE)
    record = json.loads(ended.stdout)
    assert record["source"] == str(PAGE)
    assert record["url"] == "https://www.harrowlanecourier.example/news/weir-bridge-closure/"
    assert {"label", "probability", "path", "text"} == set(record["blocks"][0])


def test_the_annotation_format_shows_features_and_reads_back(model, tmp_path):
    assert clean("--model", model, "--format", "anno", PAGE, "-o", tmp_path / "a.anno").returncode == 0
    text = (tmp_path / "a.anno").read_text()
    assert "\n# container.p=" in text
    assert "link-share=" in text
    page = load_anno(tmp_path / "a.anno", load_config("default").cuts)
    found = Cleaner.load(model).document(PAGE.read_bytes(), source=str(PAGE))
    assert (page.document, page.labels, page.probabilities) == (
        found.document,
        found.labels,
        found.probabilities,
    )


def test_an_address_and_an_encoding_can_be_given(model):
    page = "<h1>Über Tee</h1><p>Grüner Tee schmeckt <a href='x.html'>vielen Menschen</a> gut, sagt man.</p>"
    given = ("--url", "http://tee.example/a/", "--charset", "windows-1252", "-f", "jsonl")
    record = json.loads(clean("--model", model, *given, input=page.encode("cp1252")).stdout)
    assert record["url"] == "http://tee.example/a/"
    assert record["blocks"][0]["text"] == "Über Tee"


def test_output_is_utf8_whatever_the_terminal_speaks(model, expected):
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}
    ended = clean("--model", model, PAGE, env=ENVIRONMENT | plain)
    assert b"Traceback" not in ended.stderr
    assert ended.stdout == expected(PAGE)


# clean: what goes wrong


def test_a_missing_file_is_named_and_the_others_are_done(model, expected, tmp_path):
    ended = clean("--model", model, PAGE, "gone.html", OTHER_PAGE, "-o", tmp_path / "out", cwd=tmp_path)
    assert ended.returncode == 1
    assert b"clean: gone.html: failed: cannot be read: No such file or directory\n" in ended.stderr
    assert ended.stderr.endswith(b"clean: 3 pages: 2 kept, 0 empty, 1 failed\n")
    assert (tmp_path / "out" / "courier-bakery.txt").read_bytes() == expected(OTHER_PAGE)
    assert names_in(tmp_path / "out") == ["courier-bakery.txt", "courier-bridge.txt"]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("photo.html", JPEG, "photo.html: failed: this is binary data, not a web page\n"),
        ("half.anno", UNFINISHED, "half.anno:4: 1 block has no label yet: finish it with annotate.py"),
    ],
)
def test_a_file_that_is_no_page_fails(model, tmp_path, name, content, reason):
    (tmp_path / name).write_bytes(content)
    ended = clean("--model", model, name, cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (1, b"")
    assert reason in only_line(ended.stderr)


def test_a_failure_is_named_even_when_quiet_and_nothing_else(model, tmp_path):
    (tmp_path / "empty.html").write_text("")
    ended = clean("--quiet", "--model", model, "gone.html", "empty.html", cwd=tmp_path)
    assert ended.returncode == 1
    assert only_line(ended.stderr).startswith("clean: gone.html: failed")


def test_pages_without_content_are_reported_and_written_empty(model, tmp_path):
    for name, page in {"a.html": b"", "b.html": b"  \n", "c.html": b"<html></html>"}.items():
        (tmp_path / name).write_bytes(page)
    ended = clean("--model", model, ".", "-o", "out", cwd=tmp_path)
    assert ended.returncode == 0
    said = [f"clean: {name}.html: no content was found" for name in "abc"]
    assert ended.stderr.decode().splitlines() == [*said, "clean: 3 pages: 0 kept, 3 empty, 0 failed"]
    assert {(tmp_path / "out" / f"{name}.txt").read_bytes() for name in "abc"} == {b""}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--format", "markdwon"], "(did you mean 'markdown'?)"),
        (["--config", "cleaneva"], "no config 'cleaneva' (did you mean 'cleaneval'?)"),
        (["--model", "no-such-model"], "no model 'no-such-model'"),
        (["--model", "defualt"], "(did you mean 'default'?)"),
        (["--model", "."], "not a model directory"),
    ],
    ids=lambda value: value[1] if isinstance(value, list) else "",
)
def test_an_unknown_name_is_one_line_that_helps(arguments, said, tmp_path):
    ended = clean(*arguments, PAGE, cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert said in only_line(ended.stderr)


def test_a_config_has_to_have_the_features_of_the_model(model, expected):
    ended = clean("--model", model, "--config", "crf", PAGE)
    assert (ended.returncode, ended.stdout) == (0, expected(PAGE))
    ended = clean("--model", model, "--config", "cleaneval", PAGE)
    assert (ended.returncode, ended.stdout) == (2, b"")
    said = only_line(ended.stderr)
    assert "was trained with another " in said
    assert "than 'cleaneval' has" in said
    assert "learn.py --config cleaneval" in said


def test_favor_moves_what_is_kept(model):
    page = ROOT / "data" / "forum" / "forum-pl-gory.html"
    ended = [clean("--model", model, "--favor", favor, page) for favor in ("precision", "balanced", "recall")]
    assert [(one.returncode, one.stderr) for one in ended] == [(0, b"")] * 3
    precision, balanced, recall = (len(one.stdout) for one in ended)
    assert 0 < precision < balanced < recall
    refused = clean("--model", model, "--favor", "precison", PAGE)
    assert (refused.returncode, refused.stdout, b"precison" in refused.stderr) == (2, b"", True)


def test_a_damaged_model_is_one_line(model, tmp_path):
    (tmp_path / "bad").mkdir()
    for path in model.iterdir():
        (tmp_path / "bad" / path.name).write_bytes(path.read_bytes()[:-20])
    ended = clean("--model", tmp_path / "bad", PAGE)
    assert ended.returncode == 2
    assert "damaged" in only_line(ended.stderr)


def test_an_output_that_cannot_be_written_is_one_line(model):
    ended = clean("--model", model, PAGE, "-o", "/dev/null/x/y.txt")
    assert ended.returncode == 2
    assert "/dev/null" in only_line(ended.stderr)


# clean: pipes, terminals and interrupts


def start(*arguments, **options):
    return subprocess.Popen(
        [sys.executable, str(ROOT / "clean.py"), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
        **options,
    )


def test_a_reader_that_goes_away_ends_it_quietly(model):
    with start("--model", model, "--format", "jsonl", ROOT / "data") as process:
        assert process.stdout.readline().startswith(b'{"url"')
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(30) != 0


def test_an_interrupt_ends_it_quietly(model):
    with start("--model", model, "--format", "jsonl", ROOT / "data") as process:
        process.stdout.readline()  # it is under way, and soon waits for us to read on
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=30)
    assert process.returncode == 130
    assert b"Traceback" not in stderr


def stderr_on_a_terminal(*arguments):
    """Run clean.py with a terminal for its standard error, and give what came there."""
    ours, theirs = pty.openpty()
    size = struct.pack("4H", 24, 100, 0, 0)  # a bar needs room
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, size)
    command = [sys.executable, str(ROOT / "clean.py"), *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs, env=ENVIRONMENT)
    os.close(theirs)
    seen = b""
    try:
        while chunk := os.read(ours, 65536):
            seen += chunk
    except OSError:  # how Linux says that the other end was closed
        pass
    os.close(ours)
    assert process.wait(30) == 0
    return seen


def test_a_terminal_sees_progress_over_many_pages(model):
    seen = stderr_on_a_terminal("--model", model, PAGE, OTHER_PAGE)
    assert b"2/2" in seen
    assert b"page" in seen
    assert b"%|" in seen


@pytest.mark.parametrize("arguments", [[PAGE], [PAGE, OTHER_PAGE, "--quiet"]], ids=["one page", "quiet"])
def test_a_terminal_sees_no_progress_over_one_page_or_when_quiet(model, arguments):
    assert stderr_on_a_terminal("--model", model, *arguments) == b""


def test_there_is_no_progress_where_nobody_looks(model):
    ended = clean("--model", model, PAGE, OTHER_PAGE)
    assert b"%|" not in ended.stderr
    assert b"\r" not in ended.stderr


# learn


def small_conf(tmp_path, iterations=8):
    path = tmp_path / "small.conf"
    path.write_text(f"include crf\ncrf-param-max_iterations: {iterations}\ncrf-template: crf\n")
    return path


def test_learn_shows_iterations_and_a_summary_and_clean_uses_what_it_wrote(tmp_path):
    ended = learn("--config", small_conf(tmp_path), *ARTICLES[:4], cwd=tmp_path)
    assert ended.returncode == 0
    iterations = ended.stderr.decode().splitlines()
    assert len(iterations) == 8
    assert all(line.startswith("iteration") and "loss" in line and line.endswith(" s") for line in iterations)
    summary = ended.stdout.decode()
    for said in ("trained on 4 pages", "attributes have weights", "of labels right", "models/small"):
        assert said in summary
    cleaned = clean("--model", "small", PAGE, cwd=tmp_path)
    assert (cleaned.returncode, cleaned.stderr) == (0, b"")
    assert b"Weir Bridge" in cleaned.stdout
    by_config = clean("--config", "small.conf", PAGE, cwd=tmp_path)
    assert by_config.stdout == cleaned.stdout


def test_learn_takes_directories_and_a_place_for_the_model_and_can_be_quiet(tmp_path):
    conf = small_conf(tmp_path, 2)
    ended = learn("-q", "-c", conf, ROOT / "data" / "article", "-o", tmp_path / "deep" / "model")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")
    meta = json.loads((tmp_path / "deep" / "model" / "meta.json").read_text())
    assert meta["training"]["pages"] == len(ARTICLES)


ONE_LABEL = "%victor-anno 1\nsplit: block\n\nother\t-\t<p>\t Menu\nother\t-\t</p><p>\t Home\nend\t-\t</p>\t\n"


@pytest.mark.parametrize(
    ("files", "arguments", "said"),
    [
        ({}, ["."], "no annotation files (*.anno) to learn from"),
        ({}, ["gone.anno"], "gone.anno: cannot be read"),
        ({"page.html": "<p>Tea"}, ["page.html"], "page.html:1: not an annotation file"),
        ({"bad.anno": ONE_LABEL.replace("other", "othr", 1)}, ["bad.anno"], "bad.anno:4: unknown label 'othr'"),
        ({"one.anno": ONE_LABEL}, ["one.anno"], "at least two labels"),
        ({"half.anno": ONE_LABEL.replace("other", "?", 1)}, ["half.anno"], "half.anno:4: 1 block has no label yet"),
        ({"a.anno": ONE_LABEL}, ["a.anno", "-c", "defualt"], "no config 'defualt' (did you mean 'default'?)"),
        ({"a.anno": ONE_LABEL, "out": "x"}, ["a.anno", "-o", "out"], "out: is a file; a model is a directory"),
    ],
    ids=[
        *("no files", "missing", "no annotation", "wrong label", "one label", "no label", "unknown config"),
        "output is a file",
    ],
)
def test_learn_says_in_one_line_what_is_wrong(tmp_path, files, arguments, said):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    ended = learn(*arguments, cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert said in only_line(ended.stderr)
    assert not (tmp_path / "models").exists()


def half_confirmed(tmp_path):
    """Four annotated pages; of one a model gave three labels, one has a block without a label."""
    (tmp_path / "pages").mkdir()
    for path in ARTICLES[:4]:
        shutil.copy(path, tmp_path / "pages")
    first, second = sorted((tmp_path / "pages").iterdir())[:2]
    first.write_text(first.read_text().replace("other\t-\t", "other\t0.9\t", 3))
    return first, second


def test_learn_warns_of_labels_that_nobody_confirmed(tmp_path):
    first, _ = half_confirmed(tmp_path)
    ended = learn("-q", "-c", small_conf(tmp_path), tmp_path / "pages", "-o", tmp_path / "model")
    assert ended.returncode == 0
    blocks = len(load_anno(first, load_config("default").cuts).labels)
    said = only_line(ended.stderr)
    assert "1 of 4 files have blocks that nobody has decided on, 3 in all" in said
    assert f"(the first: {first}, 3 of {blocks})" in said
    assert "--only-confirmed leaves these files out" in said
    assert json.loads((tmp_path / "model" / "meta.json").read_text())["training"]["pages"] == 4


def test_learn_leaves_out_what_nobody_confirmed(tmp_path):
    _, second = half_confirmed(tmp_path)
    second.write_text(second.read_text().replace("other\t-\t", "?\t-\t", 1))
    conf = small_conf(tmp_path)
    ended = learn("--only-confirmed", "-c", conf, tmp_path / "pages", "-o", tmp_path / "model")
    assert ended.returncode == 0
    assert b"learn: left out: 2 of 4 files have blocks that nobody has decided on, 4 in all" in ended.stderr
    assert json.loads((tmp_path / "model" / "meta.json").read_text())["training"]["pages"] == 2
    ended = learn("--only-confirmed", "-c", conf, second, "-o", tmp_path / "other")
    assert ended.returncode == 2
    assert "--only-confirmed leaves nothing to learn from: 1 of 1 files" in only_line(ended.stderr)
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("options", [[], ["--method", "everything"]], ids=["with probabilities", "without"])
def test_what_a_method_says_is_never_taken_for_a_persons(tmp_path, options):
    page = ROOT / "data" / "article" / "courier-bridge.html"
    ended = victor("clean", page, "--format", "anno", *options)
    (tmp_path / "page.anno").write_bytes(ended.stdout)
    (found,) = find_unconfirmed([tmp_path / "page.anno"])
    assert found.blocks == found.of > 100


def test_learn_refuses_a_place_that_is_no_model_before_it_trains(tmp_path):
    (tmp_path / "chapter.txt").write_text("years of work")
    ended = learn("-c", small_conf(tmp_path), *ARTICLES[:2], "-o", tmp_path)
    assert ended.returncode == 2
    assert "is not empty and is no model" in only_line(ended.stderr)


def test_an_emptied_parameter_is_left_to_crfsuite(tmp_path):
    conf = tmp_path / "sgd.conf"  # l2sgd has no c1, so a config for it takes away the one that it includes
    conf.write_text("include crf\ncrf-algorithm: l2sgd\ncrf-param-c1:\ncrf-param-max_iterations: 2\n")
    ended = learn("-q", "-c", conf, ARTICLES[0], "-o", tmp_path / "model")
    assert ended.stderr == b""
    assert ended.returncode == 0


def test_an_interrupted_learn_leaves_nothing_behind(tmp_path):
    conf = small_conf(tmp_path, 1000)
    with conf.open("a") as file:  # so that it would go on for long
        file.write("crf-param-delta: 0\ncrf-param-epsilon: 0\n")
    command = [sys.executable, str(ROOT / "learn.py"), "-c", str(conf), str(ROOT / "data")]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=ENVIRONMENT, cwd=tmp_path, **pipes) as process:
        assert process.stderr.readline().startswith(b"iteration")
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=30)
    assert process.returncode == 130
    assert b"Traceback" not in stderr
    assert names_in(tmp_path) == ["small.conf"]


# victor


@pytest.mark.parametrize(
    "command",
    [[ROOT / "clean.py"], [ROOT / "learn.py"], ["-m", "victorpy", "features"], ["-m", "victorpy", "convert"]],
    ids=["clean.py", "learn.py", "features", "convert"],
)
def test_help_has_examples(command):
    ended = run(*command, "--help")
    assert ended.returncode == 0
    assert b"examples:" in ended.stdout
    assert ended.stderr == b""


def test_victor_lists_its_commands():
    ended = victor("--help")
    assert ended.returncode == 0
    for name in (b"clean", b"learn", b"features", b"convert"):
        assert name in ended.stdout


def test_victor_tells_its_version():
    import victorpy

    ended = victor("--version")
    assert (ended.returncode, ended.stdout.decode()) == (0, f"victorpy {victorpy.__version__}\n")


@pytest.mark.parametrize("arguments", [[], ["claen"]], ids=["no command", "unknown command"])
def test_victor_without_a_command_it_knows_is_wrong_usage(arguments):
    ended = victor(*arguments)
    assert ended.returncode == 2
    assert b"Traceback" not in ended.stderr


def test_victor_clean_is_clean_py(model, expected):
    assert victor("clean", "--model", model, PAGE).stdout == expected(PAGE)


def test_features_lists_those_of_the_thesis():
    ended = victor("features", "--config", "cleaneval", "--used")
    lines = ended.stdout.decode().splitlines()
    assert ended.returncode == 0
    assert lines[0].split() == ["feature", "family", "used", "description"]
    assert len(lines) == 1 + 46
    for line in lines[1:]:
        name, family, used, *description = line.split()
        assert family in {"markup", "content", "document"}, name
        assert used == "crf"
        assert len(description) > 2, name


def test_features_lists_the_unused_too():
    every = victor("features", "--config", "cleaneval").stdout.decode().splitlines()
    marks = {line.split()[2] for line in every[1:]}
    assert marks == {"crf", "-"}
    both = victor("features").stdout.decode().splitlines()
    assert {line.split()[2] for line in both[1:]} == {"crf", "trees", "crf+trees", "-"}


def test_features_of_a_config_with_an_unknown_feature_is_wrong_usage(tmp_path):
    (tmp_path / "my.conf").write_text("include default\ncrf-features: positoin\n")
    ended = victor("features", "--config", tmp_path / "my.conf")
    assert ended.returncode == 2
    said = only_line(ended.stderr)
    assert f"{tmp_path / 'my.conf'}:2:" in said
    assert "did you mean 'position'?" in said


def test_convert_makes_annotations_that_learn_takes(tmp_path):
    gold = tmp_path / "gold" / "1.txt"
    for place in ("input", "gold"):
        (tmp_path / place).mkdir()
    (tmp_path / "input" / "1.html").write_text(
        '<text id="http://tea.example/"><ul><li>Home</ul><h1>Tea</h1><p>A drink of leaves.</p></text>'
    )
    (tmp_path / "input" / "2.html").write_text("<p>No gold")
    gold.write_text("URL: http://tea.example/\n<h>Tea\n<p>A drink of leaves.\n")
    ended = victor("convert", "--from", "cleaneval", tmp_path, tmp_path / "out")
    assert ended.returncode == 0
    assert b"2.html: no gold 2.txt" in ended.stderr
    assert ended.stderr.endswith(f"1 pages written to {tmp_path / 'out'}, 1 left out\n".encode())
    page = load_anno(tmp_path / "out" / "input" / "1.anno", load_config("default").cuts)
    assert [str(label) for label in page.labels] == ["other", "header", "paragraph"]
    assert find_unconfirmed([tmp_path / "out" / "input" / "1.anno"]) == []  # a gold standard is a person's
    assert page.document.url == "http://tea.example/"
    assert learn("-q", "-c", "crf", tmp_path / "out", "-o", tmp_path / "model").returncode == 0


def test_convert_of_a_directory_without_such_pages_is_wrong_usage(tmp_path):
    ended = victor("convert", "--from", "wcxb", tmp_path, tmp_path / "out")
    assert ended.returncode == 2
    assert "no pages in the layout of 'wcxb'" in only_line(ended.stderr)


# start-up


def test_importing_victorpy_is_light():
    script = (
        "import sys, victorpy; print(*[name for name in"
        " ('sklearn', 'sklearn_crfsuite', 'matplotlib', 'urwid', 'pandas', 'scipy') if name in sys.modules])"
    )
    ended = run("-c", script)
    assert (ended.returncode, ended.stdout) == (0, b"\n")


def test_the_bundled_model_cleans_without_any_set_up(tmp_path):
    if not (ROOT / "victorpy" / "data" / "models" / "default").exists():
        pytest.skip("no bundled model yet")
    ended = clean(PAGE, cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert b"while engineers replace the bearings that hold up its middle span.\n" in ended.stdout
    assert b"Public notices" not in ended.stdout
