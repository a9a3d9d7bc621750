"""Names of output files, progress messages, and single records for other engines."""

import io
import json
import unicodedata
from pathlib import Path

import pytest
from support.batchpages import page, url

import victorpy
from victorpy.batch.local.progress import Progress
from victorpy.batch.names import LONGEST_PART, Names, fold, safe_place
from victorpy.batch.outcome import Counts, Outcome, PageCleaner, failure
from victorpy.batch.plan import Plan
from victorpy.batch.record import Kind, Problem, Record, Status
from victorpy.methods import Method

HOSTILE = [
    "../../escape.html",
    "/etc/passwd",
    "..",
    "a/../../b.html",
    "C:\\windows\\system32\\x.html",
    "nul\0l.html",
    "new\nline.html",
    "x" * 5000 + ".html",
    "ü" * 300 + "/" + "ß" * 300,
    "/".join(["deep"] * 300),
    ".hidden",
    "con.html",
    "\ud800half.html",
    "a.txt/b.html",
    "",
    "_index/part-0000000.jsonl",
    "~root/x",
    "a?b*c|d<e>.html",
    "\u2066a\u2069b\u202e\u200d\u00ad\ufe0f\U000e0041\u3164.html",
    "COM¹/CONIN$ .html",
    "failed.jsonl/x.html",
    "MANIFEST.JSONL",
    "_ınDEX",
    "_INDEX/x",
    "retry-12-failed.jsonl",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_in_the_folder(tmp_path, name):
    place = safe_place(name, ".txt")
    path = (tmp_path / place).resolve()
    assert path.is_relative_to(tmp_path)
    assert all(len(part.encode()) <= LONGEST_PART for part in place.parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("fits")
    assert safe_place(name, ".txt") == place
    assert str(place) == unicodedata.normalize("NFC", str(place))
    assert not any(unicodedata.category(char) in {"Cc", "Cf", "Cs", "Co", "Cn"} for char in str(place))
    own = {"_index", "manifest.jsonl", "failed.jsonl", "replicas.jsonl", "retry-12-failed.jsonl"}
    assert fold(place.parts[0]) not in own
    assert fold(safe_place(name, ".jsonl").parts[0]) not in own
    assert not any(fold(part).startswith(("com1", "conin$", "con.", "nul.")) for part in place.parts)


def test_ordinary_names_do_not_change():
    for name in ("news/Größe der Welt.html", "a b (1).htm", "日本.html", "x'y&z.html"):
        assert str(safe_place(name, ".txt")) == str(Path(name).with_suffix(".txt"))


def test_long_names_stay_different():
    assert safe_place("x" * 400 + "a.html", ".txt") != safe_place("x" * 400 + "b.html", ".txt")


def test_names_of_exactly_the_limits_do_not_change():
    deep, long = "/".join("abcdefghijkl"), "x" * (LONGEST_PART - len(".txt"))
    assert [str(safe_place(f"{name}.html", ".txt")) for name in (deep, long)] == [f"{deep}.txt", f"{long}.txt"]
    folder = "x" * LONGEST_PART
    assert safe_place(f"{folder}/page.html", ".txt").parts == (folder, "page.txt")
    assert len(safe_place(f"{folder}x/page.html", ".txt").parts[0]) == LONGEST_PART
    deeper, longer = safe_place(f"z/{deep}.html", ".txt"), safe_place(f"{long}x.html", ".txt")
    assert (len(deeper.parts), deeper.parts[:3], deeper.name) == (12, ("z", "a", "b"), "l.txt")
    assert (len(longer.name), longer.name[:100]) == (LONGEST_PART, "x" * 100)
    assert len({*deeper.parts, *safe_place(f"z/{deep}".replace("k", "q") + ".html", ".txt").parts}) == 13


def test_names_are_unique():
    names = Names()
    given = [str(names.unique(safe_place(name, ".txt"))) for name in ("a", "a", "A", "a-2", "a", "failed")]
    assert given == ["a.txt", "a-2.txt", "A-3.txt", "a-2-2.txt", "a-4.txt", "failed.txt"]
    assert str(names.unique(safe_place("failed.html", ".jsonl"))) == "_failed.jsonl"
    for pair in (("é", "e\u0301"), ("Straße", "STRASSE"), ("Å", "\u212b"), ("a\u200bb", "a_b")):
        one, other = (names.unique(safe_place(name, ".txt")) for name in pair)
        assert fold(str(one)) != fold(str(other))


def test_many_pages_with_the_same_name_are_fast():
    names = Names()
    assert len({names.unique(safe_place("index", ".txt")) for _ in range(5_000)}) == 5_000


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "140")


def show_progress(terminal, count=40, interval=0.0, **options):
    stream = Terminal() if terminal else io.StringIO()
    progress = Progress(stream, count, interval=interval, **options)
    shown_at_once = stream.getvalue()
    for number in range(count):
        outcome = Outcome(Status.FAILED if number == 3 else Status.KEPT, reason="no tea", size=1_000_000)
        progress.advance({str(outcome.status): 1}, outcome.size, 0)
        progress.report(Record(str(number), Path("x")), outcome)
    progress.close()
    return shown_at_once, stream.getvalue()


def test_progress_is_a_bar_on_a_terminal_and_lines_elsewhere():
    at_once, bar = show_progress(True)
    assert "0 of 40 pages (0 %)" in at_once
    assert bar.count("\r") > 30
    assert "pages/s, 0:00:00 left, 39 kept, 0 empty, 0 skipped, 1 failed" in bar
    _, lines = show_progress(False)
    assert "\r" not in lines
    assert {line[:7] for line in lines.splitlines()} == {"clean: "}
    assert "clean: 40 of 40 pages (100 %), " in lines
    failure = "clean: 3: failed: no tea\n"
    assert show_progress(False, interval=30)[1] == failure  # too short to say more
    assert show_progress(True, quiet=True)[1] == show_progress(False, quiet=True)[1] == failure
    assert show_progress(True, count=1, every_page=True)[1] == ""


@pytest.mark.parametrize(
    ("total", "every_page", "line"),
    [
        (51, True, "clean: reading 51 pages\n"),
        (50, True, ""),
        (2, False, "clean: reading 2 pages\n"),
        (1, False, "clean: reading 1 page\n"),
        (None, False, ""),
    ],
)
def test_start_is_reported_unless_there_are_few_pages(total, every_page, line):
    stream = io.StringIO()
    Progress(stream, total, every_page=every_page).start()
    assert stream.getvalue() == line


def test_progress_in_bytes_includes_earlier_runs():
    stream = Terminal()
    progress = Progress(stream, 9_000_000, in_bytes=True, interval=0.0)
    progress.skip(Counts(), 3_000_000)
    for read in (1_000_000, 1_000_000, 1_500_000):
        progress.advance({"kept": 1}, 0, read)
    progress.close()
    assert "6 of 9 MB (72 %)" in stream.getvalue()


def test_only_the_first_failures_are_reported(tmp_path):
    stream = io.StringIO()
    progress = Progress(stream, quiet=True, log=tmp_path / "log")
    for number in range(30):
        progress.report(Record(str(number), Path("x")), Outcome(Status.FAILED, kind=Kind.READ, reason="gone"))
    progress.close()
    events = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    failed = [(event["name"], event["kind"], event["reason"]) for event in events if event["event"] == "failed"]
    assert failed == [(str(number), "read", "gone") for number in range(30)]
    assert stream.getvalue().count("failed: ") == 20
    assert stream.getvalue().endswith("clean: more pages failed; all of them are in failed.jsonl\n")


@pytest.mark.parametrize(("confidence", "hint"), [(0.98, True), (0.99, False), (None, False)])
def test_empty_page_is_reported_with_a_hint_if_the_model_is_not_sure(confidence, hint):
    stream = io.StringIO()
    progress = Progress(stream, 1, every_page=True)
    progress.report(Record("a", Path("a")), Outcome(Status.EMPTY, confidence=confidence, size=1))
    assert ("--favor recall" in stream.getvalue()) is hint
    assert stream.getvalue().startswith("clean: a: no content was found")


def test_clean_record_returns_a_row():
    row = victorpy.clean_record({"url": url(1), "html": page(1)})
    assert (row["status"], row["url"]) == ("kept", url(1))
    assert row == victorpy.clean_record({"url": url(1), "html": page(1), "name": url(1)})
    assert json.loads(json.dumps(row)) == row
    own_address = "<link rel=canonical href=http://www.tea.example/hot>"
    row = victorpy.clean_record({"html": own_address + page(1).decode()})
    assert (row["url"], row["host"]) == ("http://www.tea.example/hot", "www.tea.example")
    failure = victorpy.clean_record({"html": bytes(range(256)) * 20})
    assert (failure["status"], failure["kind"]) == ("failed", "decode")


@pytest.mark.parametrize(
    ("given", "declared", "written"),
    [(None, "koi8-r", "koi8-r"), ("koi8-r", "cp1251", "koi8-r"), ("koi8-r", "", "koi8-r")],
)
def test_charset_of_the_plan_overrides_that_of_the_record(given, declared, written):
    text = "Чай пьют во многих странах мира по утрам."
    content_type = f"text/html; charset={given}" if given else None
    record = Record(
        *("a", Path("a")), payload=f"<p>{text}</p>".encode(written), content_type=f"text/html; charset={declared}"
    )
    outcome = PageCleaner(Plan(method=Method("everything"), content_type=content_type)).clean(record)
    assert outcome.text.strip() == text


def test_record_that_was_never_read_has_no_size_and_digest():
    outcome = failure(Problem(Kind.READ, "it is gone"))
    assert (outcome.status, outcome.kind, outcome.reason) == (Status.FAILED, Kind.READ, "it is gone")
    assert (outcome.size, outcome.digest) == (0, "")
