"""Test the commands: output, errors and exit codes, in real processes where that matters."""

import fcntl
import gzip
import json
import os
import pty
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import termios
import threading
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import pytest
from support.batchpages import page
from support.commands import (
    ENVIRONMENT,
    JPEG,
    ROOT,
    clean,
    clean_process,
    learn,
    learn_process,
    names_in,
    only_line,
    refused,
    victor,
    victor_process,
    wait_until,
    write_files,
)

import victorpy
from victorpy.base.files import open_output
from victorpy.cleaner import Cleaner
from victorpy.commands import Arguments
from victorpy.commands.learn import SEVERAL_SITES, _describe_choice
from victorpy.config import load_config
from victorpy.model import choice
from victorpy.model.choice import ADAPTED, UNCHANGED, Learned
from victorpy.model.store import load_model
from victorpy.model.train import load_pages, train, unused_features
from victorpy.outputs.anno import load_anno, load_progress
from victorpy.outputs.text import render_cleaneval

ARTICLES = sorted((ROOT / "data" / "article").glob("*.anno"))
PAGE = ROOT / "data" / "article" / "courier-bridge.html"
OTHER_PAGE = ROOT / "data" / "article" / "courier-bakery.html"
SWDE = "auto\ttea\tmodel\n1\t1\t1\t1\n0000\t1\tTea Car\n"
UNFINISHED = b"%victor-anno 1\nsplit: block\n\n?\t-\t<p>\t Menu\nend\t-\t</p>\t\n"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    config = load_config("crf")
    config = replace(config, values={**config.values, "crf-param-max_iterations": ("30",)})
    directory = tmp_path_factory.mktemp("models") / "small"
    train(load_pages(ARTICLES, config), config).save(directory)
    return directory


@pytest.fixture(scope="module")
def expected(model):
    """Return a function that cleans a page with the Python API."""
    cleaner = Cleaner.load(model)
    return lambda page, format="text": cleaner.clean(page.read_bytes(), format=format).encode()


# clean: where pages come from


@pytest.mark.parametrize(
    ("arguments", "stdin"), [([PAGE], None), ([], PAGE), (["-"], PAGE)], ids=["file", "none", "dash"]
)
def test_page_is_cleaned_to_standard_output(model, expected, arguments, stdin):
    ended = clean("--model", model, *arguments, input=stdin.read_bytes() if stdin else b"")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, expected(PAGE), b"")
    assert b"replace the bearings" in ended.stdout


@pytest.mark.processes
@pytest.mark.parametrize("option", ["--timeout", "--jobs", "--max-size"])
def test_options_of_batch_runs_do_not_change_the_text_of_a_page(model, expected, tmp_path, option):
    ended = clean("--model", model, option, 9, PAGE)
    assert (ended.returncode, ended.stdout) == (0, expected(PAGE))
    clean("--model", model, option, 9, PAGE, "-f", "tei", "-o", "page.xml", cwd=tmp_path)
    assert (tmp_path / "page.xml").read_text().startswith("<TEI ")


def test_several_pages_are_written_under_their_names(model, expected):
    ended = clean("--model", model, PAGE, OTHER_PAGE)
    assert ended.returncode == 0
    head, second = f"==> {PAGE} <==\n".encode(), f"\n==> {OTHER_PAGE} <==\n".encode()
    assert ended.stdout == head + expected(PAGE) + second + expected(OTHER_PAGE)
    assert ended.stderr == b"clean: 2 pages: 2 kept, 0 empty, 0 failed\n"


def test_output_directory_mirrors_input_directory(model, expected, tmp_path):
    page = PAGE.read_bytes()
    write_files(tmp_path / "site", {"a.html": page, "deep/er/b.HTM": page, "notes.txt": "not a page"})
    assert clean("--model", model, "site", "-o", "out", cwd=tmp_path).returncode == 0
    written = sorted(path for path in (tmp_path / "out").rglob("*.txt") if path.is_file())
    assert [str(path.relative_to(tmp_path / "out")) for path in written] == ["a.txt", "deep/er/b.txt"]
    assert {path.read_bytes() for path in written} == {expected(PAGE)}


def test_pattern_is_expanded_unless_a_file_has_that_name(model, tmp_path):
    names = ["x1.html", "x2.html", "y.html", "a1.html", "a[1].html"]
    write_files(tmp_path, dict.fromkeys(names, PAGE.read_bytes()))
    ended = clean("--model", model, "x*.html", "a[1].html", "-o", "out", cwd=tmp_path)
    assert ended.returncode == 0
    assert names_in(tmp_path / "out") == ["a[1].txt", "x1.txt", "x2.txt"]


# clean: where texts go


@pytest.mark.parametrize(("target", "path"), [("new/clean.txt", "new/clean.txt"), (".", "courier-bridge.txt")])
def test_one_page_is_written_to_a_file_or_an_existing_directory(model, expected, tmp_path, target, path):
    ended = clean("--model", model, PAGE, "-o", target, cwd=tmp_path)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == [tmp_path / path]
    assert (tmp_path / path).read_bytes() == expected(PAGE)


def test_many_pages_are_written_to_one_jsonl_file(model, tmp_path):
    ended = clean("--model", model, PAGE, OTHER_PAGE, "-f", "jsonl", "-o", tmp_path / "pages.jsonl")
    assert ended.returncode == 0
    records = [json.loads(line) for line in (tmp_path / "pages.jsonl").read_text().splitlines()]
    assert [record["source"] for record in records] == [str(PAGE), str(OTHER_PAGE)]


def test_pages_of_the_same_name_do_not_overwrite_each_other(model, expected, tmp_path):
    write_files(tmp_path, {"a/page.html": PAGE.read_bytes(), "b/page.html": OTHER_PAGE.read_bytes()})
    assert clean("--model", model, "a/page.html", "b/page.html", "-o", "out", cwd=tmp_path).returncode == 0
    assert (tmp_path / "out" / "page.txt").read_bytes() == expected(PAGE)
    assert (tmp_path / "out" / "page-2.txt").read_bytes() == expected(OTHER_PAGE)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a directory in which nobody can create files")
def test_file_that_cannot_be_created_is_named(model):
    ended = clean("--model", model, PAGE, "-o", "/proc/tea.txt")
    assert (ended.returncode, ended.stderr) == (2, b"clean: /proc/tea.txt: No such file or directory\n")


@pytest.mark.parametrize("target", ["page.html", "."])
def test_output_never_overwrites_its_input(model, tmp_path, target):
    (tmp_path / "page.html").write_bytes(PAGE.read_bytes())
    ended = clean("--model", model, "page.html", "-f", "html", "-o", target, cwd=tmp_path)
    assert (tmp_path / "page.html").read_bytes() == PAGE.read_bytes()
    assert ended.returncode == 2
    assert names_in(tmp_path) == ["page.html"]


@pytest.mark.parametrize("format", ["text", "markdown", "html", "cleaneval"])
def test_formats_equal_those_of_the_python_api(model, expected, format):
    ended = clean("--model", model, "--format", format, PAGE)
    assert (ended.returncode, ended.stdout) == (0, expected(PAGE, format))


def test_json_names_its_source(model):
    record = json.loads(clean("--model", model, "--format", "jsonl", PAGE).stdout)
    assert record["source"] == str(PAGE)
    assert record["url"] == "https://www.harrowlanecourier.example/news/weir-bridge-closure/"
    assert {"label", "probability", "path", "text"} == set(record["blocks"][0])


def test_annotation_format_shows_features_and_reads_back(model, tmp_path):
    assert clean("--model", model, "--format", "anno", PAGE, "-o", tmp_path / "a.anno").returncode == 0
    text = (tmp_path / "a.anno").read_text()
    assert "\n# container.p=" in text
    assert "link-share=" in text
    read, cleaned = (
        (page.document, page.labels, page.probabilities)
        for page in (
            load_anno(tmp_path / "a.anno", load_config("default").cuts),
            Cleaner.load(model).document(PAGE.read_bytes(), source=str(PAGE)),
        )
    )
    assert read == cleaned


def test_url_and_charset_options(model):
    page = "<h1>Über Tee</h1><p>Grüner Tee schmeckt <a href='x.html'>vielen Menschen</a> gut, sagt man.</p>"
    given = ("--url", "http://tee.example/a/", "--charset", "windows-1252", "-f", "jsonl")
    record = json.loads(clean("--model", model, *given, input=page.encode("cp1252")).stdout)
    assert record["url"] == "http://tee.example/a/"
    assert record["blocks"][0]["text"] == "Über Tee"


@pytest.mark.slow
def test_output_is_utf8_in_any_locale(model, expected):
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}
    for run in (clean_process, partial(victor_process, "clean")):
        ended = run("--model", model, PAGE, env=ENVIRONMENT | plain)
        assert b"Traceback" not in ended.stderr
        assert ended.stdout == expected(PAGE)


# clean: what goes wrong


def test_missing_file_fails_and_others_are_cleaned(model, expected, tmp_path):
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
        ("photo.html.gz", gzip.compress(JPEG), "photo.html.gz: failed: this is binary data, not a web page\n"),
        ("half.anno", UNFINISHED, "half.anno:4: 1 block has no label yet: finish the annotation first"),
    ],
)
def test_file_that_is_not_a_page_fails(model, tmp_path, name, content, reason):
    ended = clean("--model", model, name, cwd=write_files(tmp_path, {name: content}))
    assert (ended.returncode, ended.stdout) == (1, b"")
    assert reason in only_line(ended.stderr)


def test_quiet_prints_only_failures(model, tmp_path):
    (tmp_path / "empty.html").write_text("")
    ended = clean("--quiet", "--model", model, "gone.html", "empty.html", cwd=tmp_path)
    assert ended.returncode == 1
    assert only_line(ended.stderr).startswith("clean: gone.html: failed")


def test_special_files_and_broken_links_fail_without_being_opened(tmp_path):
    write_files(tmp_path, {"in/good.html": page(1), "linked/x.html": page(2)})
    os.mkfifo(tmp_path / "in" / "pipe.html")
    os.mkfifo(tmp_path / "pipe.warc.gz")
    links = {"loop.html": "loop.html", "none.html": "nowhere", "to-file.html": "good.html", "to-folder": "../linked"}
    for name, target in links.items():
        (tmp_path / "in" / name).symlink_to(target)
    (tmp_path / "in" / "to-folder.html").symlink_to("../linked")
    ended = clean_process("in", "-o", "out", cwd=tmp_path, timeout=60)
    assert ended.returncode == 1
    assert names_in(tmp_path / "out") == ["good.txt", "to-file.txt"]  # linked folders are not read
    assert b"in/pipe.html: failed: cannot be read: this is a pipe, not a file" in ended.stderr
    assert ended.stderr.count(b": failed: ") == 3
    for name, kind in {"pipe.warc.gz": b"pipe", "/dev/zero": b"device", "@pipe.warc.gz": b"pipe"}.items():
        ended = clean_process(name, cwd=tmp_path, timeout=60)
        assert ended.returncode in {1, 2}
        assert b"this is a %s, not a file" % kind in ended.stderr
    other_commands = (["view", "in/pipe.html"], ["view", "in/good.html", "--gold", "in/pipe.html"])
    for arguments in (["clean", "--retry", "in/pipe.html"], *other_commands):
        assert "this is a pipe, not a file" in refused(victor(*arguments, cwd=tmp_path))


def test_pipe_as_output_waits_for_a_reader(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    messages = []

    def read(message):
        messages.append(message)
        reader.start()

    received = []
    reader = threading.Thread(target=lambda: received.append((tmp_path / "pipe").read_text()))
    with open_output(tmp_path / "pipe", read) as file:
        file.write("tea")
    reader.join()
    assert messages == [f"{tmp_path}/pipe is a pipe; waiting for a program that reads it"]
    waiting = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    with open_output(tmp_path / "pipe", read) as file:  # a program reads it, so there is no message
        file.write("more")
    assert (received, os.read(waiting, 9), len(messages)) == (["tea"], b"more", 1)
    os.close(waiting)


@pytest.mark.parametrize(
    ("arguments", "note"),
    [
        (["-o", "tea.txt", "-f", "text,markdown"], "several formats are written as one JSON object per page"),
        (["-o", "tea.txt"], ""),
        (["-o", "tea.csv"], ""),
        (["-o", "tea.json", "-f", "text,markdown"], ""),
    ],
    ids=str,
)
def test_format_is_explained_if_the_name_of_the_output_suggests_another(model, tmp_path, arguments, note):
    stderr = clean("--model", model, PAGE, *arguments, cwd=tmp_path, text=True).stderr
    assert note in stderr if note else stderr == ""


@pytest.mark.parametrize(
    ("name", "format"), [("tea.XML", "xml"), ("tea.csv", "csv"), ("tea.htm", "html"), ("tea.prevert", "prevertical")]
)
def test_ending_of_the_output_chooses_the_format(model, tmp_path, name, format):
    for options in (["-o", name], ["-o", "other", "-f", format], ["-f", "text", "-o", f"text-{name}"]):
        assert clean("--model", model, PAGE, *options, cwd=tmp_path).returncode == 0
    written, other, text = [(tmp_path / path).read_bytes() for path in (name, "other", f"text-{name}")]
    assert written == other != text


@pytest.mark.parametrize(("lines", "advice"), [("{", ""), ("{}", "; clean them again with --retry out/failed.jsonl")])
def test_retry_is_suggested_if_a_page_may_succeed(tmp_path, lines, advice):
    write_files(tmp_path, {"tea.jsonl": lines})
    ended = clean("tea.jsonl", "-o", "out", "--to", "jsonl", "--method", "everything", cwd=tmp_path, text=True)
    assert ended.stderr.endswith(f"clean: failed pages are listed in out/failed.jsonl{advice}\n")


@pytest.mark.parametrize(
    ("package", "options"),
    [("fastwarc", ["x.warc"]), ("zstandard", ["x.jsonl.zst"]), ("icu4py", ["x.html", "--dedup", "fingerprint"])],
)
def test_missing_package_is_noticed_before_output_is_created(tmp_path, monkeypatch, package, options):
    write_files(tmp_path, {"x.warc": "WARC", "x.jsonl.zst": "x", "x.html": "<p>tea"})
    monkeypatch.setitem(sys.modules, package, None)
    error = refused(clean(*options, "--method", "everything", "-o", "out.txt", cwd=tmp_path))
    assert f"needs {package}: pip install" in error
    assert not (tmp_path / "out.txt").exists()


def test_gzipped_page_is_read(model, expected, tmp_path):
    write_files(tmp_path, {"tea.html.gz": gzip.compress(PAGE.read_bytes())})
    assert clean("--model", model, "tea.html.gz", cwd=tmp_path).stdout == expected(PAGE)


def test_directory_with_one_page_gives_a_directory(tmp_path):
    write_files(tmp_path, {"in/a.html": page(1), "list": "in/a.html\n"})
    for number, name in enumerate(["in", "in/*.html", "@list"]):
        assert clean(name, "-o", f"out{number}", cwd=tmp_path).returncode == 0
        assert (tmp_path / f"out{number}" / "a.txt").is_file()
    assert clean("in/a.html", "-o", "one", cwd=tmp_path).returncode == 0
    assert (tmp_path / "one").is_file()


def test_address_is_for_one_page(tmp_path):
    write_files(tmp_path, {"in/a.html": page(1), "in/b.html": page(2), "a.jsonl": "{}"})
    for names in (["in"], ["in/a.html", "in/b.html"], ["a.jsonl"], ["in", "-j", 1]):
        error = refused(clean(*names, "--url", "http://tea.example/", "-o", "out/", cwd=tmp_path))
        assert "--url http://tea.example/ is the address of one page" in error
    for options in ([], ["-j", 1]):
        assert clean("in/a.html", "--url", "http://tea.example/", "-o", "o/", *options, cwd=tmp_path).returncode == 0
    assert "curl -sL https://tea.example/" in refused(clean("https://tea.example/"))


@pytest.mark.parametrize("address", ["notaurl", "tea.example/pot", "https://", "//tea.example/"])
def test_address_has_a_scheme_and_a_host(address):
    ended = clean(PAGE, "--url", address)
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert f"expected an address such as https://example.org/page, not {address!r}" in ended.stderr.decode()


@pytest.mark.parametrize("format", ["text", "markdown", "text,html"])
def test_roles_need_a_format_that_writes_them(model, format):
    command = ["--model", model, "--with", "roles", PAGE, "--format"]
    error = refused(clean(*command, format))
    assert f"--with roles needs --format jsonl or anno; {format} has no roles" in error
    for other in ("jsonl", "anno", "jsonl(offsets=yes)", "text,anno"):
        assert b"role" in clean(*command, other).stdout


def test_pages_without_content_are_reported_and_written_empty(model, tmp_path):
    write_files(tmp_path, {"a.html": b"", "b.html": b"  \n", "c.html": b"<html></html>"})
    ended = clean("--model", model, ".", "-o", "out", cwd=tmp_path)
    assert ended.returncode == 0
    reasons = {"a": "the page is empty (0 bytes)", "b": "no content was found", "c": "no content was found"}
    warnings = [f"clean: {name}.html: {reason}" for name, reason in reasons.items()]
    assert ended.stderr.decode().splitlines() == [*warnings, "clean: 3 pages: 0 kept, 3 empty, 0 failed"]
    assert {(tmp_path / "out" / f"{name}.txt").read_bytes() for name in "abc"} == {b""}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--format", "markdwon", PAGE], "(did you mean 'markdown'?)"),
        (["--config", "cleaneva", PAGE], "no config 'cleaneva' (did you mean 'cleaneval'?)"),
        (["--model", "no-such-model", PAGE], "no model 'no-such-model'"),
        (["--model", "defualt", PAGE], "(did you mean 'default'?)"),
        (["--model", ".", PAGE], "not a model directory"),
        (
            ["--model", "{model}", "--config", "cleaneval", PAGE],
            "and the config 'cleaneval' differ in  ... learn.py --config cleaneval",
        ),
        (["nothing*.html"], "clean: nothing*.html: no "),
        (["empty"], "clean: empty: no "),
        ([PAGE, OTHER_PAGE, "--format", "html", "-o", "out.txt"], "is a file; several pages need an output directory"),
        ([PAGE, PAGE, "--format", "html", "-o", "one.html"], "need an output directory, such as one.html/"),
        ([PAGE, "-o", "tea.txt.gz"], "texts are not compressed; choose a name without .gz"),
        ([PAGE, "--part", "1/2", "-o", "out"], "--part cannot write a folder of texts"),
        ([PAGE, "-o", "tea.json"], "tea.json: text is not JSON; add --format jsonl, or choose another name"),
        ([PAGE, "-o", "tea.docx"], "no format writes .docx files; choose another name, such as tea.md"),
        ([PAGE, "-o", "/dev/null/x/y.txt"], "/dev/null"),
        ([PAGE, "-o", "out.txt/y.txt"], "out.txt: this is a file, not a directory"),
    ],
    ids=str,
)
def test_user_error_is_one_helpful_line(model, arguments, message, tmp_path):
    write_files(tmp_path, {"out.txt": "precious", "empty/notes.txt": "not a page"})
    given = [str(argument).format(model=model) for argument in arguments]
    error = refused(clean(*([] if "--model" in given else ["--model", model]), *given, cwd=tmp_path))
    assert all(part in error for part in message.split(" ... "))
    assert (tmp_path / "out.txt").read_text() == "precious"


@pytest.mark.parametrize(("option", "value"), [("--favor", "precison"), ("--charset", "nonsense")])
def test_invalid_option_value_is_in_the_message(model, option, value):
    ended = clean("--model", model, option, value, PAGE)
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert value in ended.stderr.decode()


def test_config_with_the_features_of_the_model_is_accepted(model, expected):
    ended = clean("--model", model, "--config", "crf", PAGE)
    assert (ended.returncode, ended.stdout) == (0, expected(PAGE))


def test_favor_changes_the_amount_of_text(model):
    page = ROOT / "data" / "forum" / "forum-pl-gory.html"
    ended = [clean("--model", model, "--favor", favor, page) for favor in ("precision", "balanced", "recall")]
    assert [(one.returncode, one.stderr) for one in ended] == [(0, b"")] * 3
    precision, balanced, recall = (len(one.stdout) for one in ended)
    assert 0 < precision < balanced < recall


def test_damaged_model_gives_one_line(model, tmp_path):
    write_files(tmp_path, {path.name: path.read_bytes()[:-20] for path in model.iterdir()})
    assert "damaged" in refused(clean("--model", tmp_path, PAGE))


# clean: pipes, terminals and interrupts


def start(script, *arguments, **options):
    command = [sys.executable, str(ROOT / script), *map(str, arguments)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, **{**pipes, "env": ENVIRONMENT, **options})


@pytest.mark.slow
def test_closed_pipe_exits_quietly(model):
    with start("clean.py", "--model", model, "--format", "jsonl", ROOT / "data") as process:
        assert process.stdout.readline().startswith(b'{"url"')
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(120) != 0


def interrupt(process):
    """Interrupt a process, and check its exit code and that it prints no traceback."""
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 130
    assert b"Traceback" not in stderr


@pytest.mark.slow
def test_interrupt_exits_quietly(model):
    with start("clean.py", "--model", model, "--format", "jsonl", ROOT / "data") as process:
        process.stdout.readline()  # it is running, and will wait until more is read
        interrupt(process)


def test_output_file_is_replaced_only_by_cleaned_pages(tmp_path):
    old, link, page = tmp_path / "old.txt", tmp_path / "link.txt", ROOT / "data" / "service" / "service-plumber.html"
    old.write_text("tea")
    old.chmod(0o640)
    link.symlink_to("old.txt")
    for output in ("old.txt", "link.txt", "new.txt"):
        assert victor("clean", "missing.html", "-o", output, cwd=tmp_path).returncode == 1
    assert old.read_text() == "tea"
    assert victor("clean", page, "missing.html", "--format", "tei", "-o", "all.xml", cwd=tmp_path).returncode == 1
    assert victor("clean", page, "-o", "link.txt", cwd=tmp_path).returncode == 0
    assert "Boiler" in old.read_text()
    assert (link.is_symlink(), old.stat().st_mode & 0o777) == (True, 0o640)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["all.xml", "link.txt", "old.txt"]


@pytest.mark.slow
def test_interrupted_file_is_kept_beside_the_old_one(tmp_path):
    pages = tmp_path / "pages"
    pages.mkdir()
    for number in range(400):
        shutil.copy(ROOT / "data" / "service" / "service-plumber.html", pages / f"{number}.html")
    corpus = tmp_path / "corpus.xml"
    corpus.write_text("old")
    with start("clean.py", pages, "--format", "tei", "-o", corpus) as process:
        wait_until(lambda: any(path.stat().st_size > 1000 for path in tmp_path.glob(".corpus.xml.*.tmp")))
        process.send_signal(signal.SIGINT)
        stderr = process.communicate(timeout=120)[1].decode()
    written = len(ElementTree.parse(f"{corpus}.partial").getroot()) - 1  # without the header
    assert (process.returncode, corpus.read_text()) == (130, "old")
    assert f"stopped: {written} pages written to {corpus}.partial" in stderr
    assert [*tmp_path.glob(".*")] == []


def small_disk():
    """Limit the size of files, which fails like a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))


@pytest.mark.parametrize(("format", "name"), [("jsonl", "all.jsonl"), ("markdown", "all.md")])
def test_full_disk_leaves_whole_pages_beside_the_output(tmp_path, format, name):
    write_files(tmp_path, {f"in/{number:02}.html": f"<p>{number} " + "tea " * 500 for number in range(20)})
    command = ("--method", "everything", "--without", "facts", "--format", format, "in/*.html", "-o", name)
    ended = clean_process(*command, cwd=tmp_path, preexec_fn=small_disk)
    assert ended.returncode == 2
    pages = int(re.search(rb"stopped: (\d+) pages written to .*partial;", ended.stderr)[1])
    assert clean(*command, cwd=tmp_path).returncode == 0
    partial, whole = (tmp_path / f"{name}.partial").read_text(), (tmp_path / name).read_text()
    assert whole.startswith(partial)
    assert whole[len(partial) :].lstrip().startswith(("{", "==> "))
    assert sum(f"{number} tea tea" in partial for number in range(20)) == pages > 3


def test_full_disk_without_a_temporary_file(tmp_path):
    (tmp_path / "page.html").write_text("<p>" + "Tea is made by pouring hot water over leaves. " * 9)
    command = ("--method", "everything", "page.html", "--format", "jsonl")
    message = refused(clean_process(*command, cwd=tmp_path, preexec_fn=small_disk))
    assert "detecting languages needs a temporary file of 70 MB: File too large; set TMPDIR" in message


def test_stopped_run_does_not_replace_a_directory(tmp_path):
    write_files(tmp_path, {f"{number:02}.html": f"<p>{number} " + "tea " * 500 for number in range(20)})
    (tmp_path / "all.jsonl.partial").mkdir()
    command = ("--method", "everything", "--without", "facts", "--format", "jsonl", "*.html", "-o", "all.jsonl")
    ended = clean_process(*command, cwd=tmp_path, preexec_fn=small_disk, text=True)
    place = Path(re.search(r"written to (.*);", ended.stderr)[1])
    assert place.parent == tmp_path
    assert all(json.loads(line)["text"].startswith(str(number)) for number, line in enumerate(place.open()))


def test_outputs_with_long_names_and_loops_of_links(tmp_path):
    (tmp_path / "page.html").write_text("<p>Tea is hot.")
    name = "a" * 251 + ".txt"
    assert clean("--method", "everything", "page.html", "-o", name, cwd=tmp_path).returncode == 0
    assert (tmp_path / name).read_text() == "Tea is hot.\n"
    (tmp_path / "loop").symlink_to("loop")
    for option in ("-o", "--summary"):
        assert "loop" in refused(clean("--method", "everything", "page.html", option, "loop", cwd=tmp_path))
    assert (tmp_path / "loop").is_symlink()


def test_linked_summary_stays_a_link(tmp_path):
    (tmp_path / "page.html").write_text("<p>Tea is hot.")
    (tmp_path / "link").symlink_to("counts.json")
    assert clean("--method", "everything", "page.html", "--summary", "link", cwd=tmp_path).returncode == 0
    assert (tmp_path / "link").is_symlink()
    assert json.loads((tmp_path / "counts.json").read_text())["kept"] == 1


def stderr_on_a_terminal(*arguments):
    """Run clean.py with a terminal as standard error, and return what it wrote there."""
    ours, theirs = pty.openpty()
    size = struct.pack("4H", 24, 100, 0, 0)  # a bar needs room
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, size)
    process = start("clean.py", *arguments, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    seen = b""
    with suppress(OSError):  # Linux raises it when the other end is closed
        while chunk := os.read(ours, 65536):
            seen += chunk
    os.close(ours)
    assert process.wait(120) == 0
    return seen


@pytest.mark.slow
def test_progress_is_shown_only_on_a_terminal(model):
    seen = stderr_on_a_terminal("--model", model, PAGE, OTHER_PAGE)
    assert all(part in seen for part in (b"2 of 2 pages (100 %)", "██".encode(), b"\r")), seen
    ended = clean_process("--model", model, PAGE, OTHER_PAGE)
    assert not any(part in ended.stderr for part in ("█".encode(), b"\r"))


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [[PAGE], [PAGE, OTHER_PAGE, "--quiet"]], ids=["one page", "quiet"])
def test_no_progress_for_one_page_or_when_quiet(model, arguments):
    assert stderr_on_a_terminal("--model", model, *arguments) == b""


@pytest.mark.slow
def test_ending_of_the_output_decides_how_a_single_page_is_written(tmp_path):
    clean_process(PAGE, "-o", tmp_path / "page.md")
    assert (tmp_path / "page.md").read_text().startswith("# ")
    clean_process(PAGE, "-o", tmp_path / "rows.jsonl.gz")
    (part,) = (tmp_path / "rows.jsonl.gz").glob("part-*.jsonl.gz")
    assert json.loads(gzip.decompress(part.read_bytes()))["status"] == "kept"


# learn


def small_conf(tmp_path, iterations=8):
    path = tmp_path / "small.conf"
    path.write_text(f"include crf\ncrf-param-max_iterations: {iterations}\ncrf-template: crf\n")
    return path


def test_learn_warns_about_one_page_and_about_disputed_labels(tmp_path):
    page = ARTICLES[0].read_text()
    write_files(tmp_path, {"a.anno": page, "b.anno": page.replace("paragraph", "header", 1)})
    ended = learn("--config", small_conf(tmp_path), "a.anno", "-o", "model", cwd=tmp_path, text=True)
    assert "learn: there is only one page to learn from" in ended.stderr
    command = ("--config", small_conf(tmp_path), "a.anno", "b.anno", "-o", "model")
    assert "model contains a model already; choose" in refused(learn(*command, cwd=tmp_path))
    ended = learn(*command, "--force", cwd=tmp_path, text=True)
    assert "left out: copies of other pages: 1; check 1 page whose copies have contradicting labels" in ended.stderr
    assert "(the first: a.anno, b.anno)" in ended.stderr


GAIN = "+0.100 word F1, 95 % interval +0.100 to +0.100"
LOSS = GAIN.replace("+", "-")
MORE = "for a better model, annotate about"
BETTER = "the unchanged model is as good or better, so use it or adapt it (--from default)"
USUAL = "adapting usually gains a little"
OTHER_SITES = " (of other sites, if you want to clean these too)"


@pytest.mark.parametrize(
    ("pages", "gain", "expected_gain", "sites", "sentence"),
    [
        (
            4,
            0.1,
            0.1,
            9,
            f"training probably pays: {GAIN}; {MORE} 1 more page",
        ),
        (5, 0.1, 0.1, 9, f"training pays: {GAIN}; {MORE} 15 more pages"),
        (20, 0.1, 0.1, 1, f"{MORE} 30 more pages{OTHER_SITES}"),
        (83, 0.1, 0.1, SEVERAL_SITES - 1, f"{MORE} 17 more pages{OTHER_SITES}"),
        (42, 0.1, 0.1, SEVERAL_SITES, f"{MORE} 58 more pages"),
        (84, 0.1, 0.1, 1, "for a better model, more pages will help little"),
        (
            5,
            0.00049,
            0.1,
            9,
            f"training may pay: these pages show no difference yet, but {USUAL}; {MORE} 15 more pages",
        ),
        (5, 0.00051, 0.1, 9, f"training pays: +0.001 word F1, 95 % interval +0.001 to +0.001; {MORE} 15 more pages"),
        (5, -0.1, 0.01, 9, f"training may pay: {LOSS}; {MORE} 15 more pages"),
        (
            5,
            -0.1,
            0.0,
            9,
            f"training does not pay: {LOSS}; {MORE} 15 more pages",
        ),
        (5, None, 0.0, 9, "training did not pay, so the saved model is a copy of tea; annotate about 15 more pages"),
    ],
)
def test_learn_says_whether_training_pays(pages, gain, expected_gain, sites, sentence):
    scores = {UNCHANGED: [0.5] * pages, ADAPTED: [0.5 + (gain or 0.0)] * pages, "CRF from scratch": [0.25] * pages}
    chosen = UNCHANGED if gain is None else ADAPTED
    learned = Learned(None, chosen, scores, expected_gain, sites, by_site=sites > 1, general=(0.75, 0.5))
    head, unchanged, adapted, new, general, last = _describe_choice(learned, "tea")
    assert last.endswith(sentence)
    seen = "pages of unseen sites" if sites > 1 else "unseen pages"
    assert head == f"word F1 on {seen} (cross-validation), with 95 % intervals:"
    mark = "  <- saved"
    assert unchanged == f"  {'tea, unchanged':<29} 0.500  0.500 to 0.500{mark * (gain is None)}"
    assert adapted.startswith("  tea, adapted ")
    assert adapted.endswith(mark) == (gain is not None)
    assert new == f"  {'CRF from scratch':<29} 0.250  0.250 to 0.250"
    assert general == "word F1 on general pages: 0.750 before, 0.500 after"


def test_summary_of_learn_does_not_promise_too_much():
    scores = {UNCHANGED: [0.5] * 5, "CRF from scratch": [0.75] * 5}
    for sites, words in ((SEVERAL_SITES, " of unknown sites"), (SEVERAL_SITES - 1, "")):
        learned = Learned(None, "CRF from scratch", scores, 0.2, sites, by_site=False)
        head, *_, warning, last = _describe_choice(learned, "tea")
        assert head == f"word F1 on unseen pages{words} (cross-validation), with 95 % intervals:"
    assert warning == "the saved model knows only pages like these; use it for no others"
    assert last.startswith("training pays: +0.250 word F1")


@pytest.mark.parametrize(
    ("gain", "sentence"),
    [
        (0.1, f"training pays: {GAIN}; {MORE} 15 more pages"),
        (0.0004, f"training does not pay: +0.000 word F1, 95 % interval +0.000 to +0.000; {BETTER}; {MORE} 15 more"),
        (-0.1, f"training does not pay: {LOSS}; {BETTER}; {MORE} 15 more pages"),
    ],
)
def test_summary_compares_a_new_model_with_the_unchanged_one(gain, sentence):
    scores = {UNCHANGED: [0.5] * 5, "new model, config tea": [0.5 + gain] * 5}
    learned = Learned(None, "new model, config tea", scores, gain - 0.02, sites=5, by_site=True)
    _, unchanged, new, warning, last = _describe_choice(learned, "default")
    assert unchanged == f"  {'default, unchanged':<29} 0.500  0.500 to 0.500"
    assert new.startswith("  new model, config tea  ")
    assert new.endswith("  <- saved")
    assert "knows only pages like these" in warning
    assert sentence in last


def test_unchanged_model_has_the_same_scores_beside_every_config():
    default = load_model("default")
    expected = choice.learn(load_pages(ARTICLES[:3], default.config), default).scores[UNCHANGED]
    for name in ("crf", "cleaneval"):  # which cuts pages in another way
        config = load_config(name)
        config = replace(config, values={**config.values, "crf-param-max_iterations": ("5",)})
        pages = load_pages(ARTICLES[:3], config)
        learned = choice.compare_new(train(pages, config), "tea", pages, default)
        assert learned.scores[UNCHANGED] == pytest.approx(expected)
        assert len(set(learned.scores["tea"])) == 3
        assert 0.2 < min(learned.scores["tea"]) < max(learned.scores["tea"]) < 1
        assert (learned.chosen, learned.sites, learned.by_site) == ("tea", 3, True)
    assert choice.compare_new(train(pages[:1], config), "tea", pages[:1], default) is None
    weights = [None, None, [0.0] * len(pages[2].labels)]  # no label of the last page is known
    learned = choice.compare_new(train(pages, config, weights=weights), "tea", pages, default, weights)
    assert learned.scores[UNCHANGED] == pytest.approx([*expected[:2], 1.0])


OWN_FEATURES = '''
from victorpy.features import block_feature, feature

@block_feature("unused-a")
def a(block):
    """A feature that no config uses."""
    return 1.0

@feature("unused-b.*")
def b(page, what):
    """A feature that one config uses."""
    return page.letters > int(what)
'''


@pytest.mark.parametrize(
    ("lines", "template", "unused"),
    [
        ("include crf\ncrf-template: crf\n", "B", ["unused-a", "unused-b.*"]),
        ("include crf\ncrf-template: my\ncrf-features: unused-a\n", "include crf", ["unused-a", "unused-b.*"]),
        ("include crf\ncrf-template: my\ncrf-features: unused-a\n", "%x[0,unused-a]", ["unused-b.*"]),
        ("include default\n", "B", ["unused-a", "unused-b.*"]),
        ("include default\nevidence-template: my\n", "include evidence\n%x[0,unused-b.3]", ["unused-a"]),
        ("include default\nevidence-template: my\n", "%x[0,unused-{a,b.3}]", []),
    ],
)
def test_features_that_a_config_does_not_use_are_found(tmp_path, lines, template, unused):
    write_files(tmp_path, {"unused.py": OWN_FEATURES, "my.tpl": template})
    (tmp_path / "my.conf").write_text(f"{lines}feature-modules: unused.py\n")
    assert unused_features(load_config(str(tmp_path / "my.conf"))) == unused


@pytest.mark.parametrize(
    ("base", "advice"),
    [
        ("crf\ncrf-template: crf\ncrf-param-max_iterations: 1", "crf-features and crf-template\n"),
        ("default", "crf-features and crf-template, or to evidence-template for trees\n"),
    ],
)
def test_learn_warns_about_unused_features_before_training(tmp_path, base, advice):
    write_files(tmp_path, {"unused.py": OWN_FEATURES, "a.anno": ONE_LABEL})
    (tmp_path / "my.conf").write_text(f"include {base}\nfeature-modules: unused.py\n")
    ended = learn("--config", "my.conf", "a.anno", cwd=tmp_path, text=True)
    warning = "learn: the config does not use these features of unused.py: unused-a, unused-b.*; add them to "
    assert ended.returncode == 2  # there is nothing to learn from
    assert f"{warning}{advice}" in ended.stderr
    assert "does not use" not in learn("--config", "my.conf", "a.anno", "--quiet", cwd=tmp_path, text=True).stderr


@pytest.mark.slow
def test_new_model_with_trees_is_scored_on_unseen_pages(tmp_path):
    ended = learn("--from", "none", *ARTICLES[:4], "-o", tmp_path / "model", text=True)
    assert "word F1 on pages of unseen sites (cross-validation), with 95 % intervals:\n" in ended.stdout
    rows = re.findall(r"^  (.+?)  +(\d\.\d{3})  \d\.\d{3} to \d\.\d{3}(.*)$", ended.stdout, flags=re.M)
    assert [(name, mark.strip()) for name, _, mark in rows] == [
        ("default, unchanged", ""),
        ("trees from scratch", "<- saved"),
    ]
    assert float(rows[0][1]) > 0.9
    assert rows[1][1] in victor("model", "show", tmp_path / "model", text=True).stdout
    assert "training does not pay: " in ended.stdout
    assert "so use it or adapt it (--from default); for a better model, annotate about 1 more page" in ended.stdout
    assert b" on unseen pages (cross-validation)" in victor("model", "show", tmp_path / "model").stdout
    config = (tmp_path / "model" / "config.conf").read_text()
    assert "evidence-net: 0\n" in config  # small trees for few pages


@pytest.mark.slow
def test_learn_shows_iterations_and_a_summary_and_clean_uses_the_model(tmp_path):
    ended = learn_process("--config", small_conf(tmp_path), *ARTICLES[:4], cwd=tmp_path)
    assert ended.returncode == 0
    # The first of eight iterations; a terminal shows all of them in one line.
    iteration, folds, warning = ended.stderr.decode().splitlines()
    assert folds == "cross-validation"
    assert iteration.startswith("CRF, iteration 1, loss ")
    assert "only 4 pages" in warning
    for part in (
        *("trained on 4 pages", "attributes have weights", "of labels are right", "models/small"),
        *("unseen sites (cross-validation)", "default, unchanged", "new model, config small", "training does not pay"),
    ):
        assert part in ended.stdout.decode()
    cleaned = clean("--model", "small", PAGE, cwd=tmp_path)
    assert (cleaned.returncode, cleaned.stderr) == (0, b"")
    assert b"Weir Bridge" in cleaned.stdout
    by_config = clean("--config", "small.conf", PAGE, cwd=tmp_path)
    assert (by_config.stdout, by_config.stderr) == (cleaned.stdout, b"clean: using the model models/small\n")
    assert clean("--config", "small.conf", PAGE, "-q", cwd=tmp_path).stderr == b""


@pytest.mark.parametrize(
    ("option", "name"),
    [("--config", "cleaneval"), ("--model", "cleaneval"), ("--method", "cleaneval"), ("--method", "default")],
)
def test_bundled_model_has_priority_and_a_note_says_so(model, expected, tmp_path, option, name):
    bundled = clean(option, name, PAGE, cwd=tmp_path)
    assert (bundled.returncode, bundled.stderr) == (0, b"")
    shutil.copytree(model, tmp_path / "models" / name)
    ended = clean(option, name, PAGE, cwd=tmp_path)
    assert ended.stdout == bundled.stdout
    message = f"clean: using the bundled model {name}; to use your own: --model models/{name}\n"
    assert ended.stderr.decode() == message
    assert clean(option, name, PAGE, "-q", cwd=tmp_path).stderr == b""
    chosen = clean("--model", f"models/{name}", PAGE, cwd=tmp_path)
    assert (chosen.stdout, chosen.stderr) == (expected(PAGE), b"")


def test_config_without_model_explains_training(tmp_path):
    error = refused(victor("clean", "--config", "crf", PAGE, cwd=tmp_path))
    assert error == (
        "clean: no model has been trained with the config 'crf' yet; "
        "train one with: victor learn --config crf FILES.anno\n"
    )


def test_learn_accepts_directories_output_and_quiet(tmp_path):
    conf = small_conf(tmp_path, 2)
    ended = learn("-q", "-c", conf, ROOT / "data" / "article", "-o", tmp_path / "deep" / "model")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")
    assert training_pages(tmp_path / "deep" / "model") == len(ARTICLES)


def training_pages(model):
    return json.loads((model / "meta.json").read_text())["training"]["pages"]


ONE_LABEL = "%victor-anno 1\nsplit: block\n\nother\t-\t<p>\t Menu\nother\t-\t</p><p>\t Home\nend\t-\t</p>\t\n"


@pytest.mark.parametrize(
    ("files", "arguments", "message"),
    [
        ({}, ["."], "no annotation files (*.anno); for pages with gold texts: --data pages:"),
        ({}, ["gone.anno"], "gone.anno: cannot be read"),
        ({"page.html": "<p>Tea"}, ["page.html"], "page.html:1: not an annotation file"),
        ({"page.html": "<p>Tea"}, ["page.html"], "annotate the page first, with annotate.py page.html"),
        ({"page.html": "<p>Tea"}, ["page.html"], "or give gold texts with --data KIND:DIR"),
        ({"bad.anno": ONE_LABEL.replace("other", "othr", 1)}, ["bad.anno"], "bad.anno:4: unknown label 'othr'"),
        ({"one.anno": ONE_LABEL}, ["one.anno"], "give at least 2 pages"),
        ({"one.anno": ONE_LABEL}, ["one.anno", "--from", "none"], "at least two labels"),
        ({"half.anno": ONE_LABEL.replace("other", "?", 1)}, ["half.anno"], "half.anno:4: 1 block has no label yet"),
        ({"a.anno": ONE_LABEL}, ["a.anno", "-c", "defualt"], "no config 'defualt' (did you mean 'default'?)"),
        ({"a.anno": ONE_LABEL, "out": "x"}, ["a.anno", "-o", "out"], "out is a file, but a model is a directory"),
        ({"chapter.txt": "years of work"}, [*ARTICLES[:2], "-o", "."], "is not empty and not a model"),
    ],
)
def test_learn_errors_are_one_line(tmp_path, files, arguments, message):
    assert message in refused(learn(*arguments, cwd=write_files(tmp_path, files)))
    assert names_in(tmp_path) == sorted(files)


@pytest.mark.parametrize(("name", "message"), [(".", "no annotation files"), ("page.html", "annotate the page first")])
def test_missing_annotations_are_noticed_before_missing_packages(tmp_path, monkeypatch, name, message):
    write_files(tmp_path, {"page.html": "<p>Tea", "pages/tea.anno": ONE_LABEL})
    monkeypatch.setitem(sys.modules, "catboost", None)
    command = ["--from", "none", "-o", "model"]
    assert "needs CatBoost: pip install" in refused(learn("pages", *command, cwd=tmp_path))
    (tmp_path / "pages" / "tea.anno").unlink()
    assert message in refused(learn(name, *command, cwd=tmp_path))


@pytest.fixture(scope="module")
def gold_standard(tmp_path_factory):
    """Write four pages in CleanEval's layout. One is not a page, and one has no gold."""
    files = {}
    for number, path in enumerate(ARTICLES[:2], 1):
        files[f"input/{number}.html"] = path.with_suffix(".html").read_bytes()
        files[f"gold/{number}.txt"] = render_cleaneval(load_anno(path, load_config("crf").cuts))
    files |= {"input/3.html": JPEG, "gold/3.txt": "<p>Tea", "input/4.html": "<p>Tea"}
    return write_files(tmp_path_factory.mktemp("gold") / "dev", files)


def test_learn_on_gold_standard_equals_learn_on_converted_files(gold_standard, tmp_path):
    conf = small_conf(tmp_path, 3)
    ended = victor("learn", "-c", conf, "--data", f"cleaneval:{gold_standard}", "-o", tmp_path / "direct")
    assert ended.returncode == 0
    output, warnings = ended.stdout.decode(), [line for line in ended.stderr.decode().splitlines() if "learn" in line]
    assert "trained on 2 pages" in output
    assert f"from cleaneval:{gold_standard}, " in output
    assert f"to clean with it: victor clean --model {tmp_path / 'direct'} PAGE.html" in output
    few = "learn: there are only 2 pages to learn from, so the scores are very uncertain"
    assert [line.partition(": left out: ")[0] for line in warnings] == ["learn", "learn", few]
    assert ["4.html: no gold file gold/4.txt" in warnings[1], "input/3" in warnings[0]] == [True, True]
    assert json.loads((tmp_path / "direct" / "meta.json").read_text())["training"]["data"] == ["cleaneval:dev"]
    victor("convert", "--from", "cleaneval", gold_standard, tmp_path / "anno", "-c", conf)
    learn("-q", "-c", conf, tmp_path / "anno", "-o", tmp_path / "converted")
    models = [(tmp_path / name / "model.crfsuite").read_bytes() for name in ("direct", "converted")]
    assert models[0] == models[1]


@pytest.mark.parametrize("is_after_data", [False, True])
def test_learn_combines_gold_standards_and_annotation_files(gold_standard, tmp_path, is_after_data):
    (tmp_path / "mine").mkdir()
    shutil.copy(ARTICLES[3], tmp_path / "mine")
    data = ["--data", f"cleaneval:{gold_standard}", f"anno:{tmp_path / 'mine'}"]
    arguments = [*data, ARTICLES[2]] if is_after_data else [ARTICLES[2], *data]
    ended = learn("-c", small_conf(tmp_path, 2), "-o", tmp_path / "model", *arguments)
    assert ended.returncode == 0
    assert (
        f"trained on 2 pages from annotation files and 2 pages from cleaneval:{gold_standard}, "
        in ended.stdout.decode()
    )
    assert "to clean with it: clean.py --model" in ended.stdout.decode()
    assert training_pages(tmp_path / "model") == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give annotation files, or gold standards with --data KIND:DIR"),
        (["--data", "cleaneval"], "give a data set as KIND:DIR"),
        (["--data", "cleanevl:gold"], "no data set 'cleanevl' (did you mean 'cleaneval'?)"),
        (["--data", "cleaneval:gone"], "gone: no such directory"),
        (["--data", "wcxb:gold"], "gold: no usable pages in the layout of 'wcxb'"),
        (["--data", "anno:gold"], "no annotation files (*.anno); for pages with gold texts: --data pages:"),
    ],
)
def test_wrong_data_option_gives_one_line(gold_standard, tmp_path, arguments, message):
    shutil.copytree(gold_standard, tmp_path / "gold")
    assert message in refused(learn("-q", *arguments, cwd=tmp_path))
    assert names_in(tmp_path) == ["gold"]


def test_learn_rejects_data_without_complete_pages(tmp_path):
    files = {"input/1.html": "<br>", "gold/1.txt": "<p>Tea"}
    ended = learn("-q", "--data", f"cleaneval:{write_files(tmp_path / 'set', files)}", cwd=tmp_path)
    first, last = ended.stderr.decode().splitlines()
    assert first == f"learn: left out: cleaneval:{tmp_path / 'set'}: input/1: the page has no text"
    assert last == f"learn: cleaneval:{tmp_path / 'set'}: no usable page"
    files = {"auto/auto-tea(1)/0000.htm": "<h1>Tea Car</h1><p>Menu", "groundtruth/auto/auto-tea-model.txt": SWDE}
    ended = learn("-q", "-c", "crf", "--data", f"swde:{write_files(tmp_path / 'swde', files)}", cwd=tmp_path)
    assert ended.returncode == 2
    assert "the gold of every page is partial" in only_line(ended.stderr)


def half_confirmed(tmp_path):
    """Write four annotated pages, one with three unconfirmed labels. Return the first two."""
    (tmp_path / "pages").mkdir()
    for path in ARTICLES[:4]:
        shutil.copy(path, tmp_path / "pages")
    first, second = sorted((tmp_path / "pages").iterdir())[:2]
    first.write_text(first.read_text().replace("other\t-\t", "other\t0.9\t", 3))
    return first, second


def test_learn_warns_about_unconfirmed_labels(tmp_path):
    first, _ = half_confirmed(tmp_path)
    ended = learn("-q", "-c", small_conf(tmp_path), tmp_path / "pages", "-o", tmp_path / "model")
    assert ended.returncode == 0
    blocks = len(load_anno(first, load_config("default").cuts).labels)
    warning = only_line(ended.stderr)
    assert "1 of 4 files have unconfirmed labels, 3 in all" in warning
    assert f"(the first: {first}, 3 of {blocks})" in warning
    assert "skip these files with --only-confirmed" in warning
    assert training_pages(tmp_path / "model") == 4


def test_only_confirmed_leaves_out_unconfirmed_files(tmp_path):
    _, second = half_confirmed(tmp_path)
    second.write_text(second.read_text().replace("other\t-\t", "?\t-\t", 1))
    conf = small_conf(tmp_path)
    ended = learn("--only-confirmed", "-c", conf, tmp_path / "pages", "-o", tmp_path / "model")
    assert ended.returncode == 0
    assert b"learn: left out: 2 of 4 files have unconfirmed labels, 4 in all" in ended.stderr
    assert training_pages(tmp_path / "model") == 2
    error = refused(learn("--only-confirmed", "-c", conf, second, "-o", tmp_path / "other"))
    assert "--only-confirmed leaves nothing to learn from: 1 of 1 files" in error
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("options", [[], ["--method", "everything"]], ids=["with probabilities", "without"])
def test_predicted_labels_are_unconfirmed(tmp_path, options):
    clean(PAGE, "--format", "anno", *options, "-o", tmp_path / "page.anno")
    decided, blocks = load_progress(tmp_path / "page.anno")
    assert (decided, blocks > 100) == (0, True)


def test_empty_parameter_uses_crfsuite_default(tmp_path):
    conf = tmp_path / "sgd.conf"  # l2sgd has no c1, so the config removes the included value
    conf.write_text("include crf\ncrf-algorithm: l2sgd\ncrf-param-c1:\ncrf-param-max_iterations: 2\n")
    ended = learn("-q", "-c", conf, ARTICLES[0], "-o", tmp_path / "model")
    assert (ended.returncode, ended.stderr) == (0, b"")


@pytest.mark.slow
def test_interrupted_learn_leaves_no_files(tmp_path):
    conf = small_conf(tmp_path, 1000)
    with conf.open("a") as file:  # make training slow
        file.write("crf-param-delta: 0\ncrf-param-epsilon: 0\n")
    with start("learn.py", "-c", conf, ROOT / "data", cwd=tmp_path) as process:
        assert process.stderr.readline().startswith(b"CRF, iteration 1")
        interrupt(process)
    assert names_in(tmp_path) == ["small.conf"]


# victor


@pytest.mark.parametrize("command", [clean, learn, partial(victor, "features"), partial(victor, "convert")])
def test_help_has_examples(command):
    ended = command("--help")
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert b"examples:" in ended.stdout


@pytest.mark.parametrize(("program", "other"), [("victor clean", "victor learn"), ("clean.py", "learn.py")])
def test_messages_use_the_typed_program_and_options(program, other):
    arguments = Arguments(command="clean", program=program, options={"max_size": "--max-size"})
    assert arguments.as_typed("raise `max_size`, or use victor learn") == f"raise --max-size, or use {other}"
    assert arguments.as_typed("`unknown`: victor compare") == "`unknown`: victor compare"
    shown = clean("--help") if program == "clean.py" else victor("clean", "--help")
    assert f"  {program} --favor recall page.html" in shown.stdout.decode()


def test_victor_lists_its_commands_and_shows_its_version():
    ended = victor("--help")
    assert ended.returncode == 0
    assert all(name in ended.stdout for name in (b"clean", b"learn", b"features", b"convert"))
    ended = victor("--version")
    about = rf"victor {re.escape(victorpy.__version__)} \(distribution victor-clean, \w+ engine\)\n"
    assert (ended.returncode, bool(re.fullmatch(about, ended.stdout.decode()))) == (0, True)
    for arguments, words in (
        ([], b"commands:\n  agree "),
        (["claen"], b"no command 'claen' (did you mean 'clean'?)"),
        (["clean", "--favor", "recal", "x.html"], b"(did you mean 'recall'?)"),
        (["clean", "--formt", "html", "x.html"], b"unknown option '--formt' (did you mean '--format'?)"),
        (["evaluate"], b"the following arguments are required: -d/--data"),
        (["sst"], b"the following arguments are required: build|add|show, FILE"),
        (["sst", "biuld", "x"], b"invalid choice: 'biuld' (did you mean 'build'?); choose from build, add, show;"),
        (["categories"], b"the following arguments are required: train|predict, PATH"),
        (["spark-clean", "--formt=html"], b"unknown option '--formt' (did you mean '--format'?)"),
    ):
        ended = victor(*arguments)
        assert ended.returncode == 2
        assert words in ended.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["clean", ""], "victor clean: empty argument (is a shell variable empty?)"),
        (["clean", PAGE, ""], "empty argument (is"),
        (["clean", "--", ""], "empty argument (is"),
        (["clean", PAGE, "-o", ""], "empty argument after -o (is"),
        (["clean", PAGE, "--output="], "empty argument after --output (is"),
        (["clean", PAGE, "--url", ""], "empty argument after --url (is"),
        (["learn", ""], "victor learn: empty argument (is"),
        (["annotate", ""], "victor annotate: empty argument (is"),
        (["view", ""], "victor view: empty argument (is"),
        (["sst", "build", "", "-o", "tree"], "victor sst: empty argument (is"),
        (["merge", ""], "victor merge: empty argument (is"),
        (["convert", "--from", "anno", "", "out"], "empty argument"),
    ],
)
def test_empty_argument_is_wrong_usage(tmp_path, arguments, message):
    write_files(tmp_path, {"here.html": "<p>Tea"})
    ended = victor(*arguments, cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert message in ended.stderr.decode()
    assert names_in(tmp_path) == ["here.html"]


def test_parameter_without_a_value_is_not_an_empty_argument(model):
    error = refused(clean("--method", "sst", "--param=t=", "--site", PAGE.parent, PAGE))
    assert "sst: t=: expected auto or a number" in error


def test_features_are_listed_with_family_and_use():
    ended = victor("features", "--config", "cleaneval", "--used")
    lines = ended.stdout.decode().splitlines()
    assert ended.returncode == 0
    assert lines[0].split() == ["feature", "family", "used", "description"]
    assert len(lines) == 1 + 46  # the features of the thesis
    for line in lines[1:]:
        name, family, used, *description = line.split()
        assert family in {"markup", "content", "document"}, name
        assert used == "crf"
        assert len(description) > 2, name
    for options, marks in ((["--config", "cleaneval"], {"crf", "-"}), ([], {"crf", "trees", "crf+trees", "-"})):
        every = victor("features", *options).stdout.decode().splitlines()
        assert {line.split()[2] for line in every[1:]} == marks


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("models", {"default", "site", "cleaneval"}),
        ("methods", {"default", "site", "cleaneval", "sst", "longest-run"}),
        ("configs", {"default", "site", "cleaneval", "crf", "blocks"}),
        ("formats", {"text", "markdown", "jsonl", "docview"}),
        ("containers", {"folder", "jsonl.gz", "parquet"}),
        ("dedup", {"fingerprint", "pages", "paragraphs"}),
        ("features", {"position", "container.*"}),
        ("datasets", {"anno", "cleaneval", "swde"}),
    ],
)
def test_list_shows_what_exists(kind, names):
    lines = victor("list", kind, text=True).stdout.splitlines()
    rows = {line.split()[0]: line.partition(" ")[2].strip() for line in lines}
    assert names <= rows.keys()
    assert all(rows[name] for name in names)  # other tests register features without a description
    listed = json.loads(victor("list", "--json", kind).stdout)[kind]
    assert {row["name"]: row["description"] for row in listed} == rows
    whole = victor("list", text=True).stdout
    assert all(f"  {line}\n" in whole for line in lines)


def test_list_defines_model_method_and_config(model, tmp_path):
    whole = victor("list", text=True).stdout
    for definition in (
        "A model is the result of training",
        "A method is any way to clean a page",
        "A config is a text file",
    ):
        assert definition in whole
    shutil.copytree(model, tmp_path / "models" / "mine")
    write_files(tmp_path / "models" / "broken", {"meta.json": "{"})
    lines = victor("list", "models", cwd=tmp_path, text=True).stdout.splitlines()
    assert lines[-1].split(None, 1) == ["models/mine", f"trained on {len(ARTICLES)} pages"]
    assert lines[-2].split(None, 2)[:2] == ["models/broken", "damaged:"]
    assert victor("list", "modles").returncode == 2


@pytest.mark.parametrize("command", [["clean", PAGE], ["view", PAGE]])
def test_bundled_models_are_accepted_as_methods(command, expected):
    default = victor(*command, "--model", "default").stdout
    if command[0] == "clean":
        assert victor(*command, "--method", "default").stdout == default
    else:
        assert victor(*command, "--against", "default").returncode == 0
        assert "learns from several pages" in refused(victor(*command, "--against", "sst"))


def test_unknown_feature_in_config_gives_one_line(tmp_path):
    (tmp_path / "my.conf").write_text("include default\ncrf-features: positoin\n")
    error = refused(victor("features", "--config", tmp_path / "my.conf"))
    assert f"{tmp_path / 'my.conf'}:2:" in error
    assert "did you mean 'position'?" in error


# start-up


def test_bundled_model_cleans_without_setup(tmp_path):
    ended = clean_process(PAGE, cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert b"while engineers replace the bearings that hold up its middle span.\n" in ended.stdout
    assert b"Public notices" not in ended.stdout
