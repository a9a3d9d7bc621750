"""Exact limits and defaults of runs, and the order of work, in this process."""

import errno
import gzip
import io
import json
import os
import signal
import sys
import time
from itertools import count
from pathlib import Path, PurePosixPath

import pytest

from victorpy.batch import http, inputs
from victorpy.batch.inputs import (
    Group,
    InputFile,
    Wanted,
    beside,
    find_files,
    find_records,
    group_files,
    input_warnings,
    is_output,
    is_unread,
    names_one_page,
    read_failed,
    read_file,
    size_before,
    survey,
    unread_record,
)
from victorpy.batch.local import parts, run, signals, stretches
from victorpy.batch.local import pool as pool_module
from victorpy.batch.local.by_site import bucket_of
from victorpy.batch.local.flow import Flow
from victorpy.batch.local.logs import (
    Log,
    Segment,
    Spill,
    Stretch,
    log_length,
    pack,
    piece_checksum,
    read_log,
    read_spilled,
    spilled_page,
    unpack,
)
from victorpy.batch.local.pool import Here, Task, Workers, set_deadline
from victorpy.batch.local.progress import Progress
from victorpy.batch.local.run import failed_path, run_plan, run_settings, stretch_size
from victorpy.batch.local.stretches import Job, is_in_part, run_stretch, start_worker
from victorpy.batch.names import Names
from victorpy.batch.outcome import Counts, Outcome, Tally, clean_record, failure, row, stored_outcome
from victorpy.batch.plan import Dedup, Filters, Limits, Plan
from victorpy.batch.record import (
    Kind,
    Origin,
    Problem,
    ProblemError,
    Record,
    Status,
    file_size,
    page_record,
    size_problem,
)
from victorpy.batch.sinks import Sink, as_line, make_sink, sink_name
from victorpy.batch.sources import SOURCES, ReadOptions, source_of
from victorpy.batch.sources.expanding import ExpandedGzip
from victorpy.batch.store import Store, merge_splits, other_settings, read_head, split_label, summarise
from victorpy.errors import DataError, OutputError, VictorError
from victorpy.methods import Method

# Defaults.


def test_defaults_of_plans_are_those_of_the_manual():
    plan = Plan()
    assert (plan.limits.jobs, plan.limits.deadline, plan.limits.memory) == (1, 10.0, 1_000_000_000)
    assert (plan.sample, plan.buckets, plan.site_key, plan.to, plan.format) == (500, 16, "domain", "folder", "text")
    assert (plan.by_site, plan.learned, plan.plain, plan.has_rows) == (False, False, False, False)
    assert plan.read == ReadOptions("html", "url", False, 32_000_000)
    assert plan.most_bytes == 32_000_000
    assert Plan(plain=True).most_bytes == 500_000_000
    assert plan.filters == Filters(0, 0.0, ())
    assert Dedup("pages") == Dedup("pages", (), "first", False)
    assert str(Dedup("pages")) == "by pages, keeping the first"
    assert Plan(to="jsonl").has_rows
    assert not Plan(to="jsonl", plain=True).has_rows
    assert [Dedup(name).by_paragraph for name in ("pages", "paragraphs")] == [False, True]


@pytest.mark.parametrize(
    ("plan", "wants"),
    [
        (Plan(), False),
        (Plan(to="jsonl"), True),
        (Plan(to="jsonl", plain=True), False),
        (Plan(format="jsonl"), True),
        (Plan(format="docview"), True),
    ],
)
def test_metadata_is_read_for_rows_and_formats(plan, wants):
    assert plan.wants_metadata is wants


IDENTITY = {
    "victorpy", "inputs", "input files", "favor", "model", "format", "to", "url", "content type", "records a part",
    "files a shard", "html field", "url field", "check digests", "largest page", "site", "by site",
}  # fmt: skip


@pytest.mark.parametrize(
    ("plan", "more"),
    [
        (Plan(), {}),
        (Plan(by_site=True), {"site key": "domain", "buckets": 16}),
        (Plan(learned=True), {"sample": 500}),
        (Plan(part=(1, 2)), {"part": [1, 2]}),
        (Plan(filters=Filters(5)), {"filters": {"min_words": 5, "min_confidence": 0.0, "languages": []}}),
        (Plan(dedup=Dedup("pages")), {"dedup": {"method": "pages", "keep": "first", "drop": False}}),
        (Plan(retry=Path("x")), {"retry": "x", "timeout": 10.0, "memory": 1_000_000_000}),
    ],
)
def test_identity_has_names_that_older_runs_used(plan, more):
    identity = plan.identity("d")
    assert identity.keys() == IDENTITY | more.keys()
    assert {name: identity[name] for name in more} == more
    assert (identity["by site"], identity["site"]) == ([500] if plan.by_site else None, None)
    assert plan.notes()["choice"]["allow_code"] is False


# Kinds of records.


@pytest.mark.parametrize(
    ("kind", "name", "status", "may_pass"),
    [
        *((kind, name, "skipped", False) for kind, name in (
            (Kind.NOT_HTML, "not-html"), (Kind.HTTP_STATUS, "http-status"), (Kind.TOO_LARGE, "too-large"),
            (Kind.TOO_SHORT, "too-short"), (Kind.UNSURE, "low-confidence"), (Kind.LANGUAGE, "other-language"),
        )),
        *((kind, name, "failed", True) for kind, name in (
            (Kind.READ, "read"), (Kind.TIMEOUT, "timeout"), (Kind.CRASH, "crash"), (Kind.MEMORY, "memory"),
        )),
        *((kind, name, "failed", False) for kind, name in (
            (Kind.DAMAGED, "damaged"), (Kind.DECODE, "decode"), (Kind.PARSE, "parse"), (Kind.SITE, "site"),
            (Kind.INTERNAL, "internal"),
        )),
    ],
)  # fmt: skip
def test_kinds_of_problems(kind, name, status, may_pass):
    assert (str(kind), str(kind.status), kind.may_pass) == (name, status, may_pass)
    assert failure(Problem(kind, "tea"), "d", 5) == Outcome(Status(status), kind=kind, reason="tea", digest="d", size=5)


def test_counts_add_up():
    tally = Tally()
    record = Record("a", Path("a/b"), url="u", origin=Origin("s", 3, rest=True))
    for outcome in (
        Outcome(Status.KEPT, "x" * 10, size=5),
        failure(Problem(Kind.READ, "gone"), size=2),
        Outcome(Status.REPLICA, "y", repeats={"url": "v"}),
    ):
        tally.add(record, outcome)
    place = {"url": "u", "name": "a", "source": "s", "position": 3}
    failed = {**place, "rest": True, "place": "a/b", "kind": "read", "reason": "gone"}
    assert tally.as_dict() == {
        **{"pages": 3, "kept": 1, "empty": 0, "skipped": 0, "failed": 1, "replica": 1, "bytes": 7},
        **{"kinds": {"read": 1}, "failures": [failed], "repeats": [{**place, "repeats": {"url": "v"}}]},
    }
    assert tally.row_bytes == 3 * 700 + 11
    tally.add_stored(tally.as_dict())
    assert (tally.pages, tally.bytes, len(tally.failures), len(tally.repeats)) == (6, 14, 2, 2)
    assert Counts({"kinds": {}, "bytes": 3, "kept": 2}).as_dict()["kept"] == 2
    runs = [{"pages": 1, "bytes": 2, "seconds": 0.25, "cpu": 1.0}, {"pages": 3, "bytes": 4, "seconds": 0.5, "cpu": 2.0}]
    summary = summarise(Counts(), runs)
    assert {name: value for name, value in summary.items() if "now" in name or name in {"seconds", "cpu"}} == {
        **{"seconds": 0.75, "cpu": 3.0, "pages-now": 3, "bytes-now": 4, "seconds-now": 0.5, "cpu-now": 2.0}
    }


def test_rows_are_read_back():
    record = Record("a", Path("a"), url="http://www.tea.example/1", origin=Origin("s", 2), date=" 2024 ")
    outcome = Outcome(
        Status.KEPT, "tea", None, "", ("lost",), 0.5, "", "T", "en", "A", "2024", "S", "d", 9, {"list": 2}, 0.25
    )
    values = row(record, outcome)
    assert (values["host"], values["crawled"], values["kind"], values["repeats"]) == (
        "www.tea.example",
        "2024",
        "",
        None,
    )
    again = stored_outcome(values, (), "part")
    assert {name: getattr(again, name) for name in ("text", "confidence", "title", "language", "labels", "size")} == {
        **{"text": "tea", "confidence": 0.5, "title": "T", "language": "en", "labels": {"list": 2}, "size": 9}
    }
    assert (again.status, again.kind, again.author, again.date, again.site_name) == ("kept", None, "A", "2024", "S")
    assert stored_outcome({**values, "kind": "read", "status": "failed"}, (), "part").kind is Kind.READ
    with pytest.raises(DataError, match="part: damaged"):
        stored_outcome({**values, "size": "x"}, (), "part")


@pytest.mark.parametrize(
    ("record", "kind", "reason"),
    [
        ({"html": b"\xff\xd8\xff\xe0\x00\x10JFIF\x00" * 40}, "decode", "binary data"),
        ({"html": "x" * 32_000_001}, "too-large", "32,000,001 bytes are more than the limit of 32,000,000"),
        ({"html": 5}, "read", "the field 'html' has the value 5 instead of a page"),
        ({}, "read", "there is no page in the field 'html'; the row has these fields: none"),
        (Record("a", Path("a"), file=Path("nothing.html")), "read", "cannot be read: No such file or directory"),
        (Record("a", Path("a"), payload=b"<p>x", codings=("tea",)), "decode", "unknown content encoding 'tea'"),
    ],
)
def test_pages_that_cannot_be_cleaned(record, kind, reason):
    found = clean_record(record, method="everything")
    assert (found["kind"], found["text"]) == (kind, "")
    assert reason in found["reason"]


def test_position_and_name_of_a_row_of_another_engine():
    for position, expected in (("7", 7), (7, 7), ("-1", 0), (None, 0), ("x", 0)):
        found = clean_record({"html": bytearray(b"<p>Tea"), "position": position, "source": "s"}, method="everything")
        assert (found["position"], found["source"], found["text"]) == (expected, "s", "Tea\n")
    assert clean_record({"html": "<p>Tea", "url": "http://a/"}, method="everything")["name"] == "http://a/"
    assert clean_record({"html": "<p>Tea", "url": "u", "name": "n"}, method="everything")["name"] == "n"
    wrong = Filters(min_words=3)
    found = clean_record({"html": "<p>Hot tea"}, method="everything", filters=wrong)
    assert (found["kind"], found["reason"]) == ("too-short", "2 words are fewer than 3")


def test_pages_of_exactly_the_limit(tmp_path):
    assert size_problem(5, 5) is None
    assert size_problem(6, 5) == Problem(Kind.TOO_LARGE, "6 bytes are more than the limit of 5")
    path = tmp_path / "a.html"
    path.touch()
    os.truncate(path, 500_000_001)
    with pytest.raises(ProblemError, match="500,000,001 bytes are more than the limit of 500,000,000"):
        page_record(path, path, "a").read()
    with pytest.raises(OSError, match="directory"):
        file_size(tmp_path)


# Names of files.


@pytest.mark.parametrize(
    ("name", "suffix"),
    [
        *((f"a{suffix}", None) for suffix in (".html", ".htm", ".xhtml", ".shtml", ".HTML", ".txt", "")),
        *((f"a.warc{suffix}.html", None) for suffix in ("", ".gz")),
        *((f"a{suffix}", suffix) for suffix in (".warc", ".warc.gz", ".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")),
        *((f"A{suffix.upper()}", suffix) for suffix in (".jsonl.zst", ".ndjson.zst", ".parquet", ".warc.gz")),
    ],
)
def test_sources_by_suffix(name, suffix):
    source = source_of(Path(name))
    assert source is (None if suffix is None else SOURCES.get(suffix))
    if source is not None:
        assert source.archive is (".warc" in str(suffix))
        needs = {".warc": "fastwarc", ".warc.gz": "fastwarc", ".parquet": "pyarrow"}
        needed = "zstandard" if str(suffix).endswith(".zst") else needs.get(str(suffix))
        assert (source.needs and source.needs[0]) == needed
        assert (source.cut is not None) is (suffix == ".parquet")


@pytest.mark.parametrize(
    ("target", "kind"),
    [
        ("a.jsonl", "jsonl"), ("a.jsonl.gz/", "jsonl.gz"), ("A.JSONL.ZST", "jsonl.zst"), ("a.parquet//", "parquet"),
        ("a.warc", "warc"), ("a.warc.gz", "warc.gz"), ("jsonl", None), ("a.folder", "folder"), ("a.txt", None),
    ],
)  # fmt: skip
def test_kinds_of_output_by_name(target, kind):
    assert sink_name(target) == kind


def test_lines_of_json_are_utf8():
    assert as_line({"a": "茶\ud800"}) == '{"a": "茶\\ud800"}\n'.encode()
    assert split_label(3, 100) == "split-003-of-100-"
    assert split_label(3, 9) == "split-3-of-9-"
    assert beside(Path("a/b.parquet")) == Path("a/b.parquet.run")


@pytest.mark.parametrize(
    ("number", "size", "groups"), [(64, 1, [64]), (65, 1, [64, 1]), (3, 16_000_000, [2, 1]), (3, 16_000_001, [1] * 3)]
)
def test_groups_of_64_files_and_32_megabytes(tmp_path, number, size, groups):
    for each in range(number):
        (tmp_path / f"{each:02}.html").touch()
        os.truncate(tmp_path / f"{each:02}.html", size)
    found = list(group_files(find_files([str(tmp_path)]), 16))
    assert [len(group.files) for group in found] == groups
    assert [file.number for group in found for file in group.files] == list(range(number))
    assert {group.records for group in found} == {16}


def test_files_of_inputs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in (
        "d/b.html",
        "d/A.HTM",
        "d/c/x.shtml",
        "d/n.jsonl",
        "d/t.txt",
        "e/n.jsonl",
        "e/m.parquet",
        "f/x.txt",
        "one/a.html",
    ):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("x" * len(name))
    Path("d/.victor").mkdir()
    Path("d/.victor/z.html").touch()
    Path("d/out").mkdir()
    Path("d/out/manifest.jsonl").write_text('{"format": 2, "settings": {}}\n')
    Path("d/out/y.html").touch()
    Path("list").write_text("d/b.html\n\n  e \n")
    assert [file.name for file in find_files(["d"])] == ["d/A.HTM", "d/b.html", "d/c/x.shtml"]
    assert [file.name for file in find_files(["e", "@list"])] == [
        "e/m.parquet",
        "e/n.jsonl",
        "d/b.html",
        "e/m.parquet",
        "e/n.jsonl",
    ]
    assert [str(file.place) for file in find_files(["d/c", "d/*.html", "nothing"])] == ["x.shtml", "b.html", "nothing"]
    assert [record.name for record in find_records(["d"])] == ["d/A.HTM", "d/b.html", "d/c/x.shtml"]
    with pytest.raises(
        DataError, match=r"f: no pages \(\*\.html, \*\.htm, \*\.xhtml, \*\.shtml, .*\*\.parquet\) in this directory"
    ):
        list(find_files(["f"]))
    with pytest.raises(DataError, match=r"e: no pages \(\*\.html, \*\.htm, \*\.xhtml, \*\.shtml\) in"):
        list(find_records(["e"]))
    assert [
        names_one_page(names)
        for names in (["d/b.html"], ["-"], ["one"], ["d"], ["d/b.*"], ["@list"], [], ["e/n.jsonl"], ["nothing"])
    ] == [*(True, True, False, False, False, False, False, False, True)]
    assert (is_output(Path("d/out")), is_output(Path("d"))) == (True, False)
    seen = survey(["d", "e", "nothing"])
    assert (seen.pages, seen.sources, seen.size, len(seen.stamps), seen.is_there, seen.empty) == (4, 2, 20, 6, True, [])
    assert not survey(["nothing"]).is_there
    assert [size_before(["e", "d", "e"], number) for number in (0, 1, 2, 5, 6, 7)] == [0, 11, 20, 20, 31, 40]
    assert list(input_warnings(["e"], seen)) == []
    assert list(input_warnings(["d", "e"], seen)) == [
        "d/n.jsonl: not read, as all lines and tables beside pages or archives; to read them, give their names"
    ]
    for name in ("x.jsonl", "y.jsonl", "z.jsonl"):
        Path(name).touch()
    assert list(input_warnings([], survey(["x.jsonl"]))) == ["empty files, which have no pages: x.jsonl"]
    assert list(input_warnings([], survey(["x.jsonl", "y.jsonl", "z.jsonl"]))) == [
        "empty files, which have no pages: x.jsonl, and 2 more"
    ]


@pytest.mark.parametrize(
    ("name", "content", "is_run"),
    [
        ("run/manifest.jsonl", '{"format": 2, "settings": {}}', True),
        ("run/split-1-of-2-manifest.jsonl", '{"format": 2, "settings": {}}', True),  # not merged yet
        ("run.run/split-1-of-2-manifest.jsonl", '{"format": 2, "settings": {}}', True),
        ("run/_settings.json", '{"settings": {}}', True),  # of a Spark run
        ("run/manifest.jsonl", '{"html": "<p>Tea"}', False),
        ("run/manifest.jsonl", "", False),
        ("run/settings.json", '{"settings": {}}', False),
    ],
)
def test_directories_of_runs_are_not_read_as_input(tmp_path, name, content, is_run):
    for each in ("in/pages.jsonl", "in/run/part-0.jsonl", f"in/{name}"):
        (tmp_path / each).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / each).write_text(content)
    found = [str(file.place) for file in find_files([str(tmp_path / "in")])]
    assert ("pages.jsonl" in found, "run/part-0.jsonl" in found) == (True, not is_run)
    assert is_output(tmp_path / "in" / "run") is is_run
    (file,) = find_files([str(tmp_path / "in" / "run" / "part-*")])  # named by the user
    assert file.place == Path("part-0.jsonl")


# Reading and retrying.


@pytest.fixture
def lines(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text("".join(json.dumps({"html": f"<p>{number}"}) + "\n" for number in range(6)))
    return InputFile(path, Path("x.jsonl"), str(path))


@pytest.mark.parametrize(
    ("file", "start", "positions"),
    [
        ({}, 0, [0, 1, 2, 3, 4, 5]),
        ({}, 4, [4, 5]),
        ({"start": 2}, 0, [2, 3, 4, 5]),
        ({"start": 2, "end": 4}, 0, [2, 3]),
        ({"start": 2, "end": 4}, 3, [3]),
        ({"end": 0}, 0, []),
        ({"start": 5, "end": 9}, 0, [5]),
        ({"start": 3, "offset": 51}, 0, [3, 4, 5]),
        ({"start": 3, "offset": 51}, 5, [5]),
    ],
)
def test_records_of_a_part_of_a_file(lines, file, start, positions):
    found = list(read_file(lines._replace(**file), ReadOptions(), start))
    assert [record.origin.position for record in found] == positions
    assert [record.payload.decode() for record in found] == [f"<p>{position}" for position in positions]


def test_a_page_has_one_record(tmp_path):
    file = InputFile(tmp_path / "a.html", Path("a.html"), "a")
    assert [len(list(read_file(file, ReadOptions(), start))) for start in (0, 1)] == [1, 0]


@pytest.mark.parametrize(
    ("position", "name", "words"),
    [(0, "s", "the file was not read: tea"), (1, "s@1", "the rest of the file was not read: tea")],
)
def test_unread_files(position, name, words):
    record = unread_record(InputFile(Path("s"), Path("s"), "n"), position, Kind.READ, "tea")
    assert (record.name, record.origin, record.problem) == (
        name,
        Origin("s", position, rest=True),
        Problem(Kind.READ, words),
    )
    assert is_unread(record.problem.words)
    assert not is_unread("tea")


def failed(*positions, rest=None):
    records = [Record("", Path("x"), origin=Origin("x.jsonl", position)) for position in positions]
    return [*records, *([Record("", Path("x"), origin=Origin("x.jsonl", rest, rest=True))] if rest is not None else [])]


def test_wanted_records():
    wanted = Wanted(failed(1, 3, rest=5))
    found = [Record("", Path("x"), origin=Origin("x.jsonl", position)) in wanted for position in range(7)]
    assert found == [False, True, False, True, False, True, True]
    assert Record("", Path("x"), origin=Origin("y.jsonl", 1)) not in wanted
    assert [file.name for file in wanted.files()] == ["x.jsonl"]
    assert Wanted([*failed(rest=5), *failed(rest=2), *failed(rest=7)]).rests == {"x.jsonl": 2}


@pytest.mark.parametrize(
    ("positions", "rest", "start", "expected"),
    [
        ((1, 3), None, 0, "1 3"),
        ((1, 3), None, 2, "3"),
        ((5,), None, 0, "5"),
        ((7, 9), None, 0, "7! 9!"),
        ((1,), 4, 0, "1 4 5"),
        ((4, 5), 4, 0, "4 5"),
        ((), 0, 0, "0 1 2 3 4 5"),
        ((), 6, 0, ""),
        ((), 2, 4, "4 5"),
    ],
)
def test_retries_read_what_has_failed(lines, monkeypatch, positions, rest, start, expected):
    monkeypatch.chdir(lines.path.parent)
    file = lines._replace(path=Path("x.jsonl"))
    found = list(Wanted(failed(*positions, rest=rest)).read(file, ReadOptions(), start))
    assert " ".join(f"{record.origin.position}{'!' * bool(record.problem)}" for record in found) == expected
    assert all("there is no record" in record.problem.words for record in found if record.problem)


@pytest.mark.parametrize(
    "line",
    ["{", "[]", '{"source": "a"}', '{"source": "a", "position": "x", "place": "p"}', '{"source": "a", "position": 1}'],
)
def test_lines_that_are_no_failures(tmp_path, line):
    good = '{"source": "a", "position": 1, "place": "p", "url": null}'
    (tmp_path / "failed.jsonl").write_text(f"{good}\n{line}\n")
    with pytest.raises(DataError, match=r"failed\.jsonl:2: not a line of a failed\.jsonl"):
        list(read_failed(tmp_path / "failed.jsonl"))


# HTTP.


@pytest.mark.parametrize(("before", "expected"), [(2046, True), (2047, False)])
def test_the_first_2048_bytes_show_what_a_page_is(before, expected):
    assert http.is_html("", b" " * before + b"<p>") is expected


@pytest.mark.parametrize(
    ("content_type", "expected"),
    [
        *(
            (kind, True)
            for kind in ("text/html", "Text/HTML; charset=x", "application/xhtml+xml", "application/vnd.wap.xhtml+xml")
        ),
        *((kind, False) for kind in ("text/plain", "application/pdf", "image/svg+xml", "x")),
    ],
)
def test_content_types_of_pages(content_type, expected):
    assert http.is_html(content_type, b"<html>") is expected


def test_repeated_headers_are_joined():
    block = b"HTTP/1.1 200 OK\nA: 1\nno colon\nb:\nB: 2\na:  3 \n\nbody\n\n"
    assert http.split_message(block) == ({"a": "1, 3", "b": "2"}, b"body\n\n")
    assert http.split_message(b"HTTP/1.1 200 OK\r\nA: 1") == ({}, b"")
    assert http.split_message(b"<p>") == ({}, b"<p>")
    found = [
        http.error_status(b"HTTP/1.1 " + status) for status in (b"200 OK", b"301 x", b"404", b"599", b"600", b"4040")
    ]
    assert found == ["", "301", "404", "599", "", ""]


# Logs.


def test_records_are_packed_and_spilled(tmp_path):
    records = [
        Record(f"r{n}", Path("p"), payload=b"x\n" * n, url="u", origin=Origin("s", n), is_text=bool(n))
        for n in range(3)
    ]
    assert [unpack(pack(record)) for record in records] == records
    with Spill(tmp_path / "a.spill") as spill:
        places = [spill.add(pack(record)) for record in records]
        segment = spill.end(Segment(Stretch(1, 2), None, (3, 4), 0, {"pages": []}))
    assert [unpack(read_spilled(place)) for place in places] == records
    assert Segment.load(tmp_path / "a.spill") == segment
    for offset in (places[1].offset + 1, (tmp_path / "a.spill").stat().st_size):
        with pytest.raises(DataError, match=f"damaged: there is no record at byte {offset}"):
            read_spilled(spilled_page(tmp_path / "a.spill", offset))
    with pytest.raises(DataError, match="a spilled record: damaged"):
        unpack(b"x tea")
    assert Stretch(12, 3).name == "000000012-0000003"


def test_a_log_that_was_torn_is_continued(tmp_path):
    path, record = tmp_path / "a.log", Record("r", Path("p"), payload=b"tea")
    with Log(path) as log:
        log.add(record, Outcome(Status.KEPT, "one", size=3))
        whole = path.stat().st_size
        log.add(record, Outcome(Status.EMPTY, size=3))
    assert Segment.load(path) is None
    assert log_length(path) == 2
    os.truncate(path, path.stat().st_size - 1)
    assert log_length(path) == 1
    with Log(path) as log:
        assert (log.tally.pages, path.stat().st_size) == (1, whole)
        log.add(record, Outcome(Status.KEPT, "two", size=4))
        log.end(Segment(Stretch(0), None, (1, 0), 5, log.tally.as_dict()))
    assert [(found.payload, outcome.text) for found, outcome in read_log(path)] == [(b"", "one"), (b"", "two")]
    assert (log_length(path), Segment.load(path).tally["bytes"]) == (2, 7)
    assert piece_checksum(path) is None
    (tmp_path / "a.piece").write_bytes(b"tea")
    with Log(path) as log:
        log.end(Segment(Stretch(0), None, (1, 0), 5, log.tally.as_dict(), piece_checksum(path)))
    assert list(read_log(path)) == []  # its records are in the piece
    assert (log_length(path), Segment.load(path).checksum) == (2, piece_checksum(path))
    (tmp_path / "a.piece").write_bytes(b"cup")
    assert Segment.load(path) is None
    assert Segment.load(tmp_path / "nothing.log") is None


# The order of work.


class Pool:
    """Some workers that end their tasks in an order that a test chooses."""

    def __init__(self, jobs, choose):
        self.jobs, self.queue, self._choose, self._running = jobs, [], choose, {}
        self.most = 0

    def step(self, give):
        for worker in range(self.jobs):
            if worker not in self._running:
                task = give(worker)
                if task is not None:
                    self._running[worker] = task
        self.most = max(self.most, len(self._running))
        if not self._running:
            return False
        worker = self._choose(sorted(self._running))
        task = self._running.pop(worker)
        result = task.function(*task.arguments, task.heard)
        task.ended(result)
        return True


def stretch_function(lengths, done):
    """Return a function that pretends to clean stretches: each group has a number of them."""

    def run(job, report):
        stretch = job.stretch
        is_last = stretch.number + 1 == lengths[stretch.group]
        following = None if is_last else Stretch(stretch.group, stretch.number + 1, 0, 5)
        report(("following", following))
        report(("progress", {"kept": 1}, 2, 3))
        done.append((stretch.group, stretch.number))
        return Segment(stretch, following, (0, 0), 1, {"pages": 1}) if job.is_wanted else None

    return run


@pytest.mark.parametrize("jobs", [1, 2, 3])
@pytest.mark.parametrize("choose", [min, max])
def test_segments_are_in_order_whatever_the_order_of_work(tmp_path, jobs, choose):
    lengths, done = [3, 1, 2, 1, 4, 1, 1, 1, 1, 1, 2, 1], []
    pool, progress = Pool(jobs, choose), Progress(io.StringIO(), quiet=True)
    groups = (Group(number, (), 16) for number in range(len(lengths)))
    flow = Flow(pool, groups, tmp_path, ".log", progress, function=stretch_function(lengths, done))
    after = []
    flow.after = lambda group: after.append(group.number)
    found = [(segment.stretch.group, segment.stretch.number) for segment in flow.segments()]
    expected = [(group, number) for group, length in enumerate(lengths) for number in range(length)]
    assert found == sorted(done) == expected
    assert after == list(range(len(lengths)))
    assert (progress.now.pages, progress.now.bytes) == (len(expected), 2 * len(expected))
    assert pool.most == jobs


def test_workers_run_at_most_256_stretches_ahead_and_16_more_per_worker(tmp_path):
    """The first worker does not end its stretch as long as the second one has work."""
    done, progress = [], Progress(io.StringIO(), quiet=True)
    groups = (Group(number, (), 16) for number in range(2))
    flow = Flow(Pool(2, max), groups, tmp_path, ".log", progress, function=stretch_function([300, 300], done))
    assert len(list(flow.segments())) == 600
    assert done.index((0, 0)) == 256 + 16 * 2 + 1


def test_work_begins_with_a_stretch_and_leaves_out_unwanted_ones(tmp_path):
    done, lengths = [], [2, 3, 1]
    groups, progress = (Group(n, (), 16) for n in range(3)), Progress(io.StringIO(), quiet=True)
    function = stretch_function(lengths, done)
    flow = Flow(Pool(1, min), groups, tmp_path, ".log", progress, Stretch(1, 1), function)
    flow.wants = lambda stretch: stretch.group == 2 or stretch.number == 1
    assert [segment.stretch[:2] for segment in flow.segments()] == [(1, 1), (2, 0)]
    assert done == [(1, 1), (1, 2), (2, 0)]


def test_finished_segments_are_used(tmp_path):
    with Log(tmp_path / f"{Stretch(0).name}.log") as log:
        log.end(Segment(Stretch(0), Stretch(0, 1), (0, 0), 1, {**Tally().as_dict(), "pages": 5, "kept": 5}))
    done, progress = [], Progress(io.StringIO(), quiet=True)
    flow = Flow(Pool(1, min), [Group(0, (), 16)], tmp_path, ".log", progress, function=stretch_function([3], done))
    assert [segment.stretch.number for segment in flow.segments()] == [0, 1, 2]
    assert done == [(0, 1), (0, 2)]
    assert (progress.counts.pages, progress.now.pages) == (7, 2)


def test_tasks_of_dead_workers(tmp_path):
    flow = Flow(Pool(1, min), [Group(0, (), 16)], tmp_path, ".log", Progress(io.StringIO(), quiet=True))
    flow._open_chains()
    task, problem = flow.give(0), Problem(Kind.CRASH, "tea")
    assert flow.give(0) is None
    jobs = []
    for message in (("read", 3), ("read", 4), ("clean", 5), ("clean", 6)):
        task.heard(message)
        task = task.died(problem)
        jobs.append(task.arguments[0])
    assert [(job.is_careful, dict(job.bad), dict(job.unread)) for job in jobs] == [
        (True, {}, {}),
        (False, {}, {4: problem}),
        (True, {}, {4: problem}),
        (False, {6: problem}, {4: problem}),
    ]


def test_a_bug_that_leaves_a_stretch_out_ends_the_run(tmp_path):
    flow = Flow(Pool(1, min), [Group(0, (), 16)], tmp_path, ".log", Progress(io.StringIO(), quiet=True))
    flow.give = lambda worker: None
    with pytest.raises(VictorError, match="no worker cleans stretch 0-0; this is a bug"):
        list(flow.segments())


def test_files_that_are_read_from_their_start_keep_their_worker(tmp_path):
    flow = Flow(
        Pool(2, min), (Group(n, (), 16) for n in range(3)), tmp_path, ".log", Progress(io.StringIO(), quiet=True)
    )
    flow._open_chains()
    one, other = flow.give(0), flow.give(1)
    one.heard(("following", Stretch(0, 1, 0, 5)))
    other.heard(("following", Stretch(1, 1, 0, 5, 900)))
    assert [flow.give(1).arguments[0].stretch[:2] for _ in range(3)] == [(1, 1), (2, 0), (0, 1)]
    one.heard(("following", Stretch(0, 1, 0, 5)))  # reported again by a second attempt
    assert flow.give(0) is None


# Workers, without processes.


@pytest.fixture
def workers():
    return Workers(lambda: 0, Limits(jobs=2, deadline=2.5, memory=20_000_000))


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        (86, Problem(Kind.MEMORY, "took more than 20 MB of memory")),
        (-signal.SIGPROF, Problem(Kind.TIMEOUT, "took longer than 2.5 seconds")),
        (-signal.SIGALRM, Problem(Kind.TIMEOUT, "took longer than 2.5 seconds")),
        (-signal.SIGKILL, Problem(Kind.CRASH, "the worker was ended by SIGKILL")),
        (1, Problem(Kind.CRASH, "the worker was ended by exit code 1")),
        (None, Problem(Kind.CRASH, "the worker was ended by exit code None")),
    ],
)
def test_exit_codes_of_workers(workers, code, problem):
    assert workers._problem(code) == problem


def test_workers_that_never_start_end_the_run(workers, monkeypatch):
    slept = []
    monkeypatch.setattr(time, "sleep", slept.append)
    for _ in range(5):
        workers._count_restart()
    with pytest.raises(VictorError, match="workers crash repeatedly, whatever their task; check that there is enough"):
        workers._count_restart()
    assert slept == pytest.approx([0, 0.1, 0.2, 0.3, 0.4])


def test_nothing_to_do_starts_no_worker():
    workers = Workers(lambda: 0, Limits(jobs=3), at_once=0)
    assert workers.step(lambda worker: None) is False
    assert (workers.jobs, workers.cpu) == (3, 0.0)
    workers.stop()


def test_tasks_in_this_process():
    started, done = [], []
    with Here(lambda: started.append(1) or 0) as here:
        assert (here.jobs, here.cpu, started) == (1, 0.0, [1])
        first, second = Task(lambda x, report: done.append(x) or x, "first"), Task(lambda report: done.append("second"))
        here.queue.append(second)
        assert here.step(lambda worker: first)
        assert here.step(lambda worker: first if not done[1:] else None)
        assert here.step(lambda worker: None) is False
    assert (done, first.result, first.is_done, second.is_done) == (["second", "first"], "first", True, True)
    problem = Problem(Kind.CRASH, "tea")
    assert second.died(problem) is None
    assert second.result == problem


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")
def test_deadlines_are_timers():
    before = signal.getitimer(signal.ITIMER_REAL)
    set_deadline(100)
    timers = [signal.getitimer(which)[0] for which in (signal.ITIMER_PROF, signal.ITIMER_REAL)]
    set_deadline(0)
    assert timers == [pytest.approx(100, abs=5), pytest.approx(500, abs=20)]
    assert [signal.getitimer(which) for which in (signal.ITIMER_PROF, signal.ITIMER_REAL)] == [(0.0, 0.0)] * 2
    if before[0]:
        signal.setitimer(signal.ITIMER_REAL, *before)


def test_environment_of_workers(monkeypatch):
    monkeypatch.setenv("PYTHONWARNINGS", "default")
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    with pool_module._worker_environment():
        inside = dict(os.environ)
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    assert inside["PYTHONWARNINGS"] == "default,ignore:resource_tracker"
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "PYTHONSAFEPATH"):
        assert inside[name] == "1"
    assert signal.SIGINT in blocked
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])
    assert (os.environ["PYTHONWARNINGS"], os.environ["OMP_NUM_THREADS"]) == ("default", "7")
    assert "MKL_NUM_THREADS" not in os.environ


def test_script_of_the_main_process_is_hidden_from_workers():
    script = vars(sys.modules["__main__"])
    before = {name: script.get(name) for name in ("__spec__", "__file__")}
    with pool_module._without_script(os.getpid):
        assert [script.get(name) for name in before] == [None, None]
    assert {name: script.get(name) for name in before} == before


# Sites and parts.


def test_sites_have_fixed_buckets_and_parts():
    sites = ["tea.example", "cup.example", "", "茶.example"]
    assert [bucket_of(site) for site in sites] == [23, 13, 35, 38]
    found = [[is_in_part(site, number, 3) for number in (1, 2, 3)].index(True) for site in sites]
    assert found == [0, 0, 0, 2]


@pytest.mark.parametrize("files", [7, 8])
def test_parts_have_whole_groups_of_files_if_there_are_enough(tmp_path, monkeypatch, files):
    monkeypatch.setattr(inputs, "GROUP_FILES", 1)
    (tmp_path / "in").mkdir()
    for number in range(files):
        (tmp_path / "in" / f"{number}.jsonl").write_text(
            "".join(json.dumps({"html": f"<p>Tea {number} {n}"}) + "\n" for n in range(17))
        )
    found = []
    for part in (1, 2):
        plan = Plan(
            (str(tmp_path / "in"),), tmp_path / f"out-{part}", "jsonl", method=Method("everything"), part=(part, 2)
        )
        run_plan(plan, io.StringIO(), guarded=False)
        lines = [
            json.loads(line) for path in sorted((tmp_path / f"out-{part}").glob("*part-*")) for line in path.open()
        ]
        found.append([line["text"].strip() for line in lines])
    assert sorted(found[0] + found[1]) == sorted(f"Tea {file} {n}" for file in range(files) for n in range(17))
    whole = [{text.split()[1] for text in texts} for texts in found]
    assert (not whole[0] & whole[1]) is (files == 8)


def test_stretches_of_a_single_file_take_turns(tmp_path):
    (tmp_path / "x.jsonl").write_text("".join(f'{{"html": "<p>Tea {n}"}}\n' for n in range(50)))
    found = []
    for part in (1, 2, 3):
        plan = Plan(
            (str(tmp_path / "x.jsonl"),), tmp_path / "out", "jsonl", method=Method("everything"), part=(part, 3)
        )
        run_plan(plan, io.StringIO(), guarded=False)
        lines = b"".join(path.read_bytes() for path in sorted((tmp_path / "out").glob(f"split-{part}-*part-*")))
        found.append([json.loads(line)["position"] for line in lines.splitlines()])
    assert found == [[*range(16), 48, 49], [*range(16, 32)], [*range(32, 48)]]


def test_pages_are_cleaned_in_workers_unless_it_is_asked_otherwise(tmp_path, monkeypatch):
    started = []

    def workers(start, limits, at_once):
        started.append((limits.jobs, at_once))
        return Here(start)

    monkeypatch.setattr(run, "Workers", workers)
    monkeypatch.setattr(run, "start_server", lambda **loaded: started.append(loaded["metadata"]))
    (tmp_path / "x.jsonl").write_text('{"html": "<p>Tea"}\n')
    plan = Plan((str(tmp_path / "x.jsonl"),), tmp_path / "out", "jsonl", method=Method("everything"), limits=Limits(2))
    run_plan(plan, io.StringIO(), guarded=False)
    assert started == []
    monkeypatch.setattr(stretches, "set_deadline", lambda seconds: None)
    run_plan(plan, io.StringIO(), force=True)
    assert started == [True, (2, 1)]


# Settings of runs.


def test_changed_settings_are_described():
    found = other_settings(
        {"a": 1, "url": None, "model": "x", "format": "text"}, {"a": 1, "url": "u", "model": "y", "format": "y" * 60}
    )
    assert found == {"url": "--url was not given and is u", "model": "--model differs", "format": "--format differs"}
    names = {
        "victorpy": "the version of victorpy", "inputs": "the list of inputs", "content type": "--charset",
        "records a part": "--shard-records", "files a shard": "--shard-files", "largest page": "--max-size",
        "parameters": "--param", "parts": "--with, --without or --headline", "filters": "a filter",
        "buckets": "the number of site groups", "html field": "--html-field",
    }  # fmt: skip
    assert other_settings(dict.fromkeys(names, 1), dict.fromkeys(names, 2)) == {
        name: f"{text} differs" for name, text in names.items()
    }
    assert other_settings({"input files": 1, "x": "y" * 59}, {"input files": 2, "x": "z"}) == {
        "x": f"--x was {'y' * 59} and is z"
    }


@pytest.mark.parametrize("content", [None, "", "{", "[1]", "{}", '{"settings": 5}'])
def test_manifests_without_settings(tmp_path, content):
    path = tmp_path / "manifest.jsonl"
    if content is not None:
        path.write_text(content)
    assert read_head(path) == {}


def test_directories_that_are_refused(tmp_path):
    for name, content in (("old", '{"format": 1, "settings": {}}\n'), ("new", '{"format": 2, "settings": {}}\n')):
        (tmp_path / name).mkdir()
        (tmp_path / name / "manifest.jsonl").write_text(content)
    with pytest.raises(OutputError, match="old: an older version has written this output; choose another directory"):
        Store(tmp_path / "old", {})
    store = Store(tmp_path / "new", {})
    with pytest.raises(OutputError, match="new: another run is writing there; wait for it to finish"):
        Store(tmp_path / "new", {})
    store.close()
    Store(tmp_path / "new", {}).close()
    (tmp_path / "part-0000000.jsonl").touch()
    store = Store(tmp_path, {})
    with pytest.raises(OutputError, match=r"part-0000000\.jsonl: this file exists, but there is no manifest; choose"):
        store.begin({})
    store.close()
    store = Store(tmp_path, {}, "split-1-of-2-", shared=True)
    store.begin({})
    store.close()


def test_parts_of_changed_inputs_are_not_merged(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"html": "<p>Tea"}\n' * 40)
    for number in (1, 2):
        plan = Plan(
            (str(tmp_path / "x.jsonl"),), tmp_path / "out", "jsonl", method=Method("everything"), part=(number, 2)
        )
        run_plan(plan, io.StringIO(), guarded=False)
        (tmp_path / "x.jsonl").write_text('{"html": "<p>Cup"}\n' * 41)
    with pytest.raises(OutputError, match="the input files have changed between the parts; clean all of them again"):
        merge_splits(tmp_path / "out")


def test_a_full_disk_stops_the_run_which_can_be_resumed(tmp_path, monkeypatch):
    (tmp_path / "x.jsonl").write_text('{"html": "<p>Tea"}\n' * 40)
    out = tmp_path / "out"
    plan = Plan((str(tmp_path / "x.jsonl"),), out, "jsonl", method=Method("everything"), shard_records=16)
    commit = Store.commit

    def fail(store, path, *rest):
        if store.parts:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        commit(store, path, *rest)

    monkeypatch.setattr(Store, "commit", fail)
    with pytest.raises(OutputError) as raised:
        run_plan(plan, io.StringIO(), guarded=False)
    assert str(raised.value) == (
        f"{out}/part-0000001.jsonl: No space left on device; 16 pages are written to {out}, and 16 finished pages "
        f"kept in {out}/.segments; solve the problem and run the same command to resume"
    )
    monkeypatch.setattr(Store, "commit", commit)
    stream = io.StringIO()
    summary = run_plan(plan, stream, guarded=False)
    assert (summary["pages"], summary["pages-now"], len(summary["runs"])) == (40, 8, 2)
    assert f"clean: {out}: resuming after 32 pages\n" in stream.getvalue()


@pytest.mark.parametrize(
    ("place", "words"), [("x.jsonl", "this is a file; give a dir"), ("x.jsonl/out", "cannot be written: Not")]
)
def test_output_that_cannot_be_a_directory(tmp_path, place, words):
    (tmp_path / "x.jsonl").write_text('{"html": "<p>Tea"}\n')
    plan = Plan((str(tmp_path / "x.jsonl"),), tmp_path / place, "jsonl", method=Method("everything"))
    with pytest.raises(OutputError, match=words):
        run_plan(plan, io.StringIO(), guarded=False)


def test_a_log_that_cannot_be_written_does_not_stop_the_run(tmp_path):
    class Full(io.StringIO):
        def flush(self):
            raise OSError(errno.ENOSPC, "No space left on device")

    stream = io.StringIO()
    progress = Progress(stream, 3, quiet=True, log=tmp_path / "log")
    progress._log = Full()
    progress.log("start")
    progress.log("end")
    words = f"{tmp_path / 'log'}: cannot be written: No space left on device; the run continues without this log"
    assert stream.getvalue() == f"clean: {words}\n"


def test_numbers_in_names_skip_names_in_use():
    names, page = Names(), PurePosixPath("a/page.txt")
    for name in ("a/page.txt", "a/PAGE-2.txt", "a/page-3.txt"):
        names.take(PurePosixPath(name))
    assert [str(names.unique(page)) for _ in range(2)] == ["a/page-4.txt", "a/page-5.txt"]
    assert str(names.unique(PurePosixPath("b/page.txt"))) == "b/page.txt"


def test_lists_of_failures_of_retries(tmp_path):
    (tmp_path / "failed.jsonl").write_text("")
    plan = Plan(retry=tmp_path / "failed.jsonl", to="jsonl")
    assert failed_path(plan, tmp_path).name == "retry-1-failed.jsonl"
    assert failed_path(Plan(to="jsonl"), tmp_path) == tmp_path / "failed.jsonl"
    assert failed_path(Plan(to="parquet"), Path("out.parquet")) == Path("out.parquet.run/failed.jsonl")
    (tmp_path / "retry-1-manifest.jsonl").write_text('{"settings": {"x": 1}}\n')
    assert failed_path(plan, tmp_path).name == "retry-2-failed.jsonl"
    (tmp_path / "retry-2-manifest.jsonl").write_text(json.dumps({"settings": run_settings(plan)}))
    assert failed_path(plan, tmp_path).name == "retry-2-failed.jsonl"


def test_parts_have_a_whole_number_of_stretches():
    sizes = {1: 1, 7: 7, 8: 8, 9: 9, 15: 15, 16: 16, 17: 16, 18: 9, 19: 9, 20: 10, 23: 11, 26: 13, 1_000: 10, 1_001: 13}
    assert {most: stretch_size(most) for most in sizes} == sizes


def test_parts_that_are_missing_are_not_merged(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"html": "<p>Tea"}\n' * 40)
    out = tmp_path / "out.jsonl"
    for number in (1, 2):
        plan = Plan((str(tmp_path / "x.jsonl"),), out, "jsonl", method=Method("everything"), part=(number, 2))
        run_plan(plan, io.StringIO(), guarded=False)
    part = min(out.glob("split-1*part-*"))
    part.rename(tmp_path / "moved")
    with pytest.raises(OutputError, match=f"{part.name}: this file is missing"):
        merge_splits(out)
    (tmp_path / "moved").rename(part)
    summary = merge_splits(out)
    assert (summary["pages"], len(summary["runs"])) == (40, 2)
    assert sorted(path.name for path in out.iterdir() if "part" not in path.name) == [
        ".inputs",
        ".runs",
        "failed.jsonl",
        "manifest.jsonl",
    ]


def test_signals_are_handled_between_the_stretches_of_a_folder(tmp_path, monkeypatch):
    """All pages are cleaned before replicas are found. After that, the main process writes without waiting."""
    (tmp_path / "x.jsonl").write_text("".join(f'{{"html": "<p>Tea {n}"}}\n' for n in range(48)))
    plan = Plan((str(tmp_path / "x.jsonl"),), tmp_path / "out", method=Method("everything"), dedup=Dedup("fingerprint"))
    written, write_piece = [], parts.write_piece

    def interrupted(*arguments):
        written.append(1)
        monkeypatch.setattr(signals._State, "received", signal.SIGTERM)
        return write_piece(*arguments)

    monkeypatch.setattr(parts, "write_piece", interrupted)
    with pytest.raises(signals.Stopped):
        run_plan(plan, io.StringIO(), guarded=False)
    assert len(written) == 1
    monkeypatch.setattr(parts, "write_piece", write_piece)
    stream = io.StringIO()
    assert run_plan(plan, stream, guarded=False)["kept"] == 48
    assert "resuming after 48 pages" in stream.getvalue()


def test_progress_and_times_of_a_stream(tmp_path, monkeypatch):
    read = []
    advance = Progress.advance
    monkeypatch.setattr(Progress, "advance", lambda self, *counts: read.append(counts) or advance(self, *counts))
    (tmp_path / "x.jsonl").write_text('{"html": "<p>Tea"}\n' * 3)
    summary = run_plan(Plan((str(tmp_path / "x.jsonl"),), method=Method("everything")), io.StringIO(), guarded=False)
    assert [size for _, size, _ in read] == [6, 6, 6]
    assert sum(number for *_, number in read) == (tmp_path / "x.jsonl").stat().st_size
    assert 0 < summary["cpu-now"] <= time.process_time() + 0.5
    assert summary["cpu"] == summary["cpu-now"]
    assert 0 <= summary["seconds-now"] < 60


def test_rows_of_tables(tmp_path):
    pytest.importorskip("pyarrow")
    import pyarrow
    import pyarrow.parquet

    path = tmp_path / "x.parquet"
    columns = {"html": [f"<p>{n}" for n in range(5)], "url": ["http://a/b"] * 5, "content_type": ["text/html"] * 5}
    pyarrow.parquet.write_table(pyarrow.table(columns), path, row_group_size=2)
    for start in range(6):
        records = list(SOURCES.get(".parquet").read(path, ReadOptions(), start, 0))
        assert [record.origin.position for record in records] == list(range(start, 5))
        assert [record.payload for record in records] == [f"<p>{n}".encode() for n in range(start, 5)]
        assert {(record.url, record.content_type, record.is_text) for record in records} <= {
            ("http://a/b", "text/html", True)
        }
    cuts = [
        SOURCES.get(".parquet").cut(path, ReadOptions(), start, rows)
        for start, rows in ((0, 1), (0, 2), (0, 3), (2, 2), (2, 3), (4, 1))
    ]
    assert cuts == [2, 2, 4, 4, None, None]
    with pytest.raises(DataError, match="no column 'page'"):
        list(SOURCES.get(".parquet").read(path, ReadOptions("page"), 0, 0))


def test_fields_of_rows(tmp_path):
    path = tmp_path / "x.jsonl"
    fields = {"page": "<p>ä", "link": "http://a/b", "content_type": "text/html; charset=x"}
    path.write_text(f"{json.dumps(fields)}\n\n[]\n")
    options = ReadOptions("page", "link")
    first, second = SOURCES.get(".jsonl").read(path, options, 0, 0)
    assert (first.name, first.url, first.content_type, first.is_text) == (
        "http://a/b",
        "http://a/b",
        "text/html; charset=x",
        True,
    )
    assert (first.payload, first.place, first.reached) == ("<p>ä".encode(), Path("a/b.html"), path.stat().st_size)
    assert second.problem == Problem(Kind.READ, "there is no page in the field 'page'; the row has these fields: none")


@pytest.mark.parametrize(("more", "parts"), [(0, 3), (1, 2)])
def test_parts_end_at_the_size_of_their_rows(tmp_path, monkeypatch, more, parts):
    """A stretch has 16 rows of 700 characters and a text of four characters."""
    monkeypatch.setattr(Sink, "shard_bytes", 16 * 704 + more)
    (tmp_path / "x.jsonl").write_text('{"html": "<p>Tea"}\n' * 48)
    plan = Plan((str(tmp_path / "x.jsonl"),), tmp_path / "out", "jsonl", method=Method("everything"))
    run_plan(plan, io.StringIO(), guarded=False)
    lengths = [path.read_bytes().count(b"\n") for path in sorted((tmp_path / "out").glob("part-*"))]
    assert lengths == ([16, 16, 16] if parts == 3 else [32, 16])


def test_progress_of_a_stretch_is_reported_five_times_a_second(tmp_path, monkeypatch):
    (tmp_path / "x.jsonl").write_text('{"html": "<p>Tea"}\n' * 4)
    plan = Plan((str(tmp_path / "x.jsonl"),), tmp_path / "out", "jsonl", method=Method("everything"))
    start_worker(plan, None, is_guarded=False)
    (group,) = group_files(find_files(plan.inputs), 16)
    for step, reports in ((0.25, 5), (0.15, 3)):
        events, now = [], count(0, step)
        with monkeypatch.context() as patch:
            patch.setattr(stretches.time, "monotonic", lambda now=now: next(now))
            run_stretch(Job(Stretch(int(100 * step)), group, tmp_path), events.append)
        assert sum(event[0] == "progress" for event in events) == reports


def test_compressed_lines_have_the_level_of_every_version(tmp_path):
    outcome = Outcome(Status.KEPT, " ".join(f"{n * n % 97} {n % 13} tea" for n in range(3_000)))
    record = Record("a", Path("a"))
    line = as_line(row(record, outcome))
    for kind in ("jsonl", "jsonl.gz"):
        sink = make_sink(Plan(output=tmp_path, to=kind))
        sink.write(tmp_path / "piece", [(record, outcome)])
        sink.join(tmp_path / "part", [tmp_path / "piece", tmp_path / "piece"])
        expected = io.BytesIO()
        with gzip.GzipFile("", "wb", 4, expected, mtime=0) as file:
            file.write(line)
        once = line if kind == "jsonl" else expected.getvalue()
        assert (tmp_path / "part").read_bytes() == once * 2
        assert [found["text"] for found in sink.rows(tmp_path / "part")] == [outcome.text] * 2


def test_patience_with_workers(workers):
    assert workers._patience == 305.0


def test_only_plain_lines_have_offsets(tmp_path):
    lines = b'{"html": "<p>Tea"}\n' * 3
    (tmp_path / "x.jsonl").write_bytes(lines)
    (tmp_path / "x.jsonl.gz").write_bytes(gzip.compress(lines))
    for name, offsets in (("x.jsonl", [0, 19, 38]), ("x.jsonl.gz", [0, 0, 0])):
        records = read_file(InputFile(tmp_path / name, Path(name), name), ReadOptions())
        assert [record.offset for record in records] == offsets


def test_moving_back_in_a_gzip_file_expands_one_member_again():
    members = [bytes([65 + number]) * 1_000 for number in range(4)]
    stream = ExpandedGzip(io.BytesIO(b"".join(gzip.compress(member, mtime=0) for member in members)), 0)
    assert b"".join(iter(stream.read, b"")) == b"".join(members)
    for offset, more in ((3_000, 1_000), (3_500, 1_000), (2_999, 2_000), (0, 4_000)):
        before = stream.work
        stream.seek(offset)
        assert b"".join(iter(stream.read, b"")) == b"".join(members)[offset:]
        assert stream.work - before == more
    assert [stream.member_at(offset) > 0 for offset in (0, 1_000, 1_001, 3_000)] == [False, True, False, True]


@pytest.mark.parametrize(
    ("suffix", "module", "package", "extra"),
    [
        (".warc.gz", "fastwarc.warc", "FastWARC", "batch"),
        (".jsonl.zst", "zstandard", "zstandard", "batch"),
        (".parquet", "pyarrow", "pyarrow", "parquet"),
    ],
)
def test_packages_that_are_missing_are_named(tmp_path, monkeypatch, suffix, module, package, extra):
    path = tmp_path / f"x{suffix}"
    path.write_bytes(b"x")
    monkeypatch.setitem(sys.modules, module, None)
    words = rf"x{suffix} needs {package}: pip install .*\[{extra}\]"
    with pytest.raises(VictorError, match=words):
        list(SOURCES.get(suffix).read(path, ReadOptions(), 0, 0))
    if suffix != ".warc.gz":
        with pytest.raises(VictorError, match=words):
            make_sink(Plan(output=path, to=suffix[1:])).join(path, [])
