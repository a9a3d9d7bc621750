"""Names of output files, progress messages, and single records for other engines."""

import io
import json
import os
import unicodedata
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.batchpages import page, url

import victorpy
from victorpy.batch.local import progress as progress_module
from victorpy.batch.local.progress import Progress, summary_table
from victorpy.batch.names import LONGEST_PART, Names, fold, safe_place
from victorpy.batch.outcome import Counts, Outcome, PageCleaner, failure
from victorpy.batch.plan import Filters, Plan
from victorpy.batch.record import Kind, Problem, Record, Status
from victorpy.cleaner import BUILT_BY_SCRIPTS
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
    ("width", "start"),
    [
        (140, f"{'█' * 20} clean: 12,000 of 12,000 pages (100 %), "),
        (110, f"{'█' * 14} clean: 12,000 of 12,000 pages (100 %), 0:00:00 left, "),
        (100, f"{'█' * 14} clean: 12,000 pages (100 %), 0:00:00 left, "),
        (70, " clean: 12,000 pages (100 %), 0:00:00 left, "),
    ],
)
def test_narrow_bar_leaves_out_the_rate_first(monkeypatch, width, start):
    monkeypatch.setenv("COLUMNS", str(width))
    stream = Terminal()
    progress = Progress(stream, 12_000, interval=30.0)
    progress.advance({"kept": 12_000}, 1, 0)
    progress.close()
    line = stream.getvalue().split("\r")[-2]
    assert (line[: len(start)], len(line)) == (start, width - 1)
    assert ("pages/s" in line) == (width == 140)
    assert line.rstrip().endswith(", 12,000 kept, 0 empty, 0 skipped, 0 failed") == (width > 80)


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


class Clock:
    """A clock that tests set."""

    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(progress_module.time, "monotonic", clock)
    monkeypatch.setattr(progress_module, "TERMINAL_SECONDS", 0.25)  # unlike 0.2, a sum of powers of two
    return clock


def watched_run(stream, clock, total, in_bytes, **options):
    """Count some pages after an earlier run, and some to learn from, with a message and a failure in between."""
    progress = Progress(stream, total, in_bytes, **options)
    progress.skip(Counts({**Counts().as_dict(), "kept": 2}), 2_000_000 if in_bytes else 2)
    progress.start()
    for seconds, status in ((0.125, "kept"), (0.125, "kept"), (1.0, "empty"), (30.0, "skipped")):
        clock.now += seconds
        progress.advance({status: 1}, 500_000, 1_000_000)
    progress.say("a\x1b[31mnote")
    progress.failed(dict.fromkeys(("url", "name", "source", "position", "kind", "reason"), "x"))
    progress.begin("learning", 4)
    clock.now += 40.0
    progress.learned(3)
    progress.found({"pages": 1})  # of a stretch of spilled records
    progress.found(Counts({**Counts().as_dict(), "failed": 1}).as_dict())
    progress.close()
    return progress


def test_bar_has_exact_numbers_and_times(clock):
    stream = Terminal()
    watched_run(stream, clock, 8, False)
    shown = [part.rstrip() for part in stream.getvalue().split("\r") if part.strip()]
    cleaned = "███████████████░░░░░ clean: 6 of 8 pages (75 %), 0.1 pages/s, 0:00:16 left, 4 kept, 1 empty, 1 skipped"
    learning = "░░░░░░░░░░░░░░░░░░░░ learning: 0 of 4 pages (0 %), 0.0 pages/s, 4 kept, 1 empty, 1 skipped, 0 failed"
    assert [line.removesuffix(", 0 failed") for line in shown] == [
        "░░░░░░░░░░░░░░░░░░░░ clean: 0 of 8 pages (0 %), 0.0 pages/s, 0 kept, 0 empty, 0 skipped",
        "██████████░░░░░░░░░░ clean: 4 of 8 pages (50 %), 8.0 pages/s, 0:00:00 left, 4 kept, 0 empty, 0 skipped",
        "████████████░░░░░░░░ clean: 5 of 8 pages (62 %), 2.4 pages/s, 0:00:01 left, 4 kept, 1 empty, 0 skipped",
        *(cleaned, "clean: a⟨U+001B⟩[31mnote", cleaned, "clean: x: failed: x", cleaned),
        *(learning.removesuffix(", 0 failed"), f"{learning}, 3 read to learn sites"),
        "█████░░░░░░░░░░░░░░░ learning: 1 of 4 pages (25 %), 0.0 pages/s, 0:02:00 left, 4 kept, 1 empty, 1 skipped, "
        "1 failed, 3 read to learn sites",
    ]
    assert stream.getvalue().endswith("\r\n")


def test_lines_elsewhere_have_exact_numbers_and_times(clock, tmp_path):
    stream = io.StringIO()
    progress = watched_run(stream, clock, 9_000_000, True, log=tmp_path / "log")
    assert stream.getvalue().splitlines() == [
        "clean: reading 9,000,000 bytes",
        "clean: 6 of 9 MB (67 %), 0.1 MB/s, 0:00:23 left, 4 kept, 1 empty, 1 skipped, 0 failed",
        "clean: a⟨U+001B⟩[31mnote",
        "clean: x: failed: x",
        "learning: 0 of 4 pages (0 %), 0.0 pages/s, 4 kept, 1 empty, 1 skipped, 0 failed, 3 read to learn sites",
    ]
    assert (progress.seconds, progress.now.bytes, progress.now.pages, progress.counts.pages) == (71.25, 2_000_000, 4, 7)
    events = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    kept = {"pages": 5, "kept": 4, "empty": 1, "skipped": 0, "failed": 0, "replica": 0, "bytes": 1_500_000, "kinds": {}}
    assert [{name: value for name, value in event.items() if name != "time"} for event in events] == [
        {"event": "start", "total": 9_000_000, "unit": "bytes"},
        {"event": "progress", "done": 5_000_000, "total": 9_000_000, "per_second": 2_400_000.0, "percent": 55.56,
         "seconds_left": 1.7, **kept},
        {"event": "progress", "done": 6_000_000, "total": 9_000_000, "per_second": 128_000.0, "percent": 66.67,
         "seconds_left": 23.4, **kept, "pages": 6, "skipped": 1, "bytes": 2_000_000},
        {"event": "message", "text": "a⟨U+001B⟩[31mnote"},
        {"event": "failed", **dict.fromkeys(("url", "name", "source", "position", "kind", "reason"), "x")},
        {"event": "message", "text": "x: failed: x"},
        {"event": "stage", "name": "learning", "total": 4, "unit": "pages"},
        {"event": "progress", "done": 0, "total": 4, "per_second": 0.0, "learned": 3,
         **kept, "pages": 6, "skipped": 1, "bytes": 2_000_000},
    ]  # fmt: skip


def test_bar_is_drawn_five_times_a_second(monkeypatch):
    clock, stream = Clock(), Terminal()
    monkeypatch.setattr(progress_module.time, "monotonic", clock)
    progress = Progress(stream, 9)
    drawn = []
    for seconds in (0.1, 0.05, 0.1, 0.19, 0.05):
        clock.now += seconds
        progress.advance({"kept": 1}, 0, 0)
        drawn.append(stream.getvalue().count("clean: "))
    assert drawn == [1, 1, 2, 2, 3]


def test_bar_is_drawn_in_a_terminal_without_a_size(clock, monkeypatch):
    monkeypatch.setenv("COLUMNS", "90")
    main, other = os.openpty()  # its size is 0
    with os.fdopen(other, "w") as stream:
        progress = Progress(stream, 2)
        progress.skip(Counts(), 2)
        progress.close()
        assert len(os.read(main, 10_000).decode().split("\r")[1]) == 89
    os.close(main)


def test_bar_disappears_if_no_page_was_cleaned(clock):
    stream = Terminal()
    progress = Progress(stream, 2)
    progress.skip(Counts(), 2)
    progress.close()
    assert stream.getvalue().endswith(f"\r{' ' * 139}\r")
    progress.say("too late for a bar")
    assert stream.getvalue().endswith("\rclean: too late for a bar\n")


@pytest.mark.parametrize(
    ("more", "end"),
    [
        ({}, "pages          3     1.5 pages/s, 2.00 MB/s in 2.0 s"),
        ({"runs": [{}]}, "pages          3     1.5 pages/s, 2.00 MB/s in 2.0 s"),
        (
            {"runs": [{}, {}], "pages-now": 1, "seconds-now": 0.5, "bytes-now": 1_000_000},
            "pages          3     2.0 pages/s, 2.00 MB/s in 0.5 s; 2.0 s in 2 runs",
        ),
        (
            {"runs": [{}, {}], "pages-now": 0, "seconds-now": 0, "bytes-now": 0},
            "pages          3     2.0 s in 2 runs",
        ),
    ],
)
def test_summary_has_the_rates_of_this_run(more, end):
    counts = {"pages": 3, "kept": 1, "empty": 0, "skipped": 1, "failed": 0, "replica": 1, "kinds": {"not-html": 1}}
    times = {"seconds": 2.0, "bytes": 4_000_000, "dedup": "by pages", "warnings": ["tea\x07"]}
    lines = summary_table({**counts, **times, **more}).splitlines()
    assert lines == [
        end,
        "kept           1",
        "empty          0",
        "skipped        1     not-html 1",
        "failed         0",
        "replica        1     by pages",
        "warning: tea⟨U+0007⟩",
    ]


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (Outcome(Status.KEPT, losses=("lost", "more")), "clean: a: lost\nclean: a: more\n"),
        (Outcome(Status.SKIPPED, reason="not HTML"), "clean: a: skipped: not HTML\n"),
        (Outcome(Status.EMPTY), "clean: a: the page is empty (0 bytes)\n"),
        (Outcome(Status.EMPTY, losses=(BUILT_BY_SCRIPTS,), confidence=0.1, size=1),
         f"clean: a: {BUILT_BY_SCRIPTS}\n"),
    ],
)  # fmt: skip
def test_warnings_are_shown_if_every_page_is_reported(outcome, words):
    for options in ({"every_page": True}, {"every_page": True, "quiet": True}, {"every_page": False}):
        stream = io.StringIO()
        Progress(stream, 5, **options).report(Record("a", Path("a")), outcome)
        assert stream.getvalue() == (words if options == {"every_page": True} else "")


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


@pytest.mark.parametrize(
    ("filters", "confidence", "kind", "reason"),
    [
        (Filters(min_confidence=0.5), 0.5, None, ""),
        (Filters(min_confidence=0.5), 0.4999, Kind.UNSURE, "the confidence 0.500 is below 0.5"),
        (Filters(min_confidence=0.5), None, None, ""),
        (Filters(min_words=3), None, None, ""),
        (Filters(min_words=4), None, Kind.TOO_SHORT, "3 words are fewer than 4"),
        (Filters(languages=("de", "en")), None, None, ""),
        (Filters(languages=("de",)), None, Kind.LANGUAGE, "the language is en, not de"),
    ],
)
def test_pages_at_the_limit_of_a_filter_are_kept(filters, confidence, kind, reason):
    pages = PageCleaner(Plan(method=Method("everything"), filters=filters))
    cleaned = pages.cleaner.document("<html lang=en><p>Tea and milk")
    pages.cleaner = SimpleNamespace(document=lambda *args, **kwargs: replace(cleaned, confidence=confidence))
    outcome = pages.clean(Record("a", Path("a"), payload=b"<p>Tea"))
    assert (outcome.kind, outcome.reason) == (kind, reason)
    assert outcome.status is (Status.KEPT if kind is None else Status.SKIPPED)


@pytest.mark.parametrize("cause", [None, ValueError("tea")])
def test_page_without_enough_memory_fails(cause):
    def fail(*arguments, **options):
        try:
            raise MemoryError
        except MemoryError:
            if cause is None:
                raise
            raise cause  # noqa: B904  (parsers do this)

    pages = PageCleaner(Plan(method=Method("everything")))
    pages.cleaner = SimpleNamespace(document=fail)
    outcome = pages.clean(Record("a", Path("a"), payload=b"<p>Tea"))
    assert (outcome.status, outcome.kind, outcome.reason) == (Status.FAILED, Kind.MEMORY, "not enough memory")
    assert outcome.size == 6


def test_record_that_was_never_read_has_no_size_and_digest():
    outcome = failure(Problem(Kind.READ, "it is gone"))
    assert (outcome.status, outcome.kind, outcome.reason) == (Status.FAILED, Kind.READ, "it is gone")
    assert (outcome.size, outcome.digest) == (0, "")


@pytest.mark.parametrize("char", ["\ufe00", "\ufe0f", "\U000e0000", "\U000e0100"])
def test_selectors_of_variants_are_replaced(char):
    assert str(safe_place(f"a{char}b", ".txt")) == "a_b.txt"


@pytest.mark.parametrize("char", ["\ufdff", "\ufe20", "\U000dffff"])
def test_characters_beside_selectors(char):
    assert ("_" in str(safe_place(f"a{char}b", ".txt"))) is (char == "\U000dffff")


@pytest.mark.parametrize(
    ("planned", "recorded", "text"),
    [
        ("", "", "ą"),  # as the page declares
        ("text/html; charset=windows-1252", "", "±"),
        ("", "text/html; charset=windows-1252", "±"),
        ("text/html; charset=koi8-r", "text/html; charset=windows-1252", "╠"),
    ],
)
def test_encoding_of_the_plan_or_the_record(planned, recorded, text):
    pages = PageCleaner(Plan(method=Method("everything"), content_type=planned or None))
    page = b'<meta charset="iso-8859-2"><p>Tea \xb1'
    assert pages.clean(Record("x", Path("x"), payload=page, content_type=recorded)).text.split() == ["Tea", text]


def test_pages_are_counted_without_a_total(tmp_path):
    progress = Progress(io.StringIO(), None, quiet=True)
    for _ in range(2):
        progress.advance({"kept": 2, "empty": 1}, 30, 0)
    assert (progress._measures()["done"], progress._measures()["total"]) == (6, None)
