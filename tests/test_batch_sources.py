"""Records in: archives, lines and tables, whole and damaged, and what HTTP did to pages."""

from __future__ import annotations

import gzip
import json
import os
import tracemalloc
import zlib
from itertools import islice
from pathlib import Path

import pytest
from batchpages import CrashingName, page, response, url, warc_record, write_warc

from victorpy.batch.guard import Limits, Task
from victorpy.batch.http import codings_of, is_html, split_message, undo_codings
from victorpy.batch.inputs import find_files, read_inputs, survey
from victorpy.batch.reading import Reader, Unit, read_unit, reading_guard
from victorpy.batch.reasons import Kind, ProblemError
from victorpy.batch.sources import ReadOptions, source_of
from victorpy.errors import DataError

OPTIONS = ReadOptions()


def read(path, start=0, **options):
    return list(source_of(path).read(path, ReadOptions(**options), start))


def kinds(records):
    return [record.problem and record.problem.kind for record in records]


# archives

warc = pytest.mark.parametrize("name", ["crawl.warc", "crawl.warc.gz"])
PAGES = [page(number) for number in range(6)]
RECORDS = [response(url(number), content) for number, content in enumerate(PAGES)]


@pytest.fixture(autouse=True)
def _fastwarc():
    pytest.importorskip("fastwarc")


@warc
def test_an_archive_gives_its_pages_with_their_places(tmp_path, name):
    write_warc(tmp_path / name, RECORDS)
    found = read(tmp_path / name)
    assert [(record.url, record.read(), record.origin.position) for record in found] == [
        (url(number), content, number) for number, content in enumerate(PAGES)
    ]
    assert {(record.content_type, record.date) for record in found} == {("text/html", "2024-05-06T07:08:09Z")}


@warc
def test_reading_begins_at_any_record(tmp_path, name):
    write_warc(tmp_path / name, RECORDS)
    whole = read(tmp_path / name)
    for number in range(len(RECORDS)):
        assert read(tmp_path / name, number) == whole[number:]


@warc
def test_only_pages_are_cleaned_and_nothing_is_dropped_silently(tmp_path, name):
    records = [
        warc_record("warcinfo", "x:", b"software: test", "application/warc-fields"),
        warc_record("request", url(0), b"GET / HTTP/1.1\r\n\r\n", "application/http; msgtype=request"),
        RECORDS[0],
        response(url(1), b"\x89PNG", "image/png"),
        warc_record("revisit", url(2), b"HTTP/1.1 200 OK\r\n\r\n", "application/http; msgtype=response"),
        warc_record("resource", url(3), PAGES[3], "text/html"),
        warc_record("metadata", url(3), b"x: y", "application/warc-fields"),
        response(url(4), PAGES[4], "application/xhtml+xml; charset=utf-8"),
        warc_record("response", url(5), b"HTTP/1.0 200 OK\n\n" + PAGES[5], "application/http"),
    ]
    write_warc(tmp_path / name, records)
    found = read(tmp_path / name)
    assert [record.url for record in found] == [url(number) for number in range(6)]
    assert kinds(found) == [None, Kind.NOT_HTML, Kind.NOT_HTML, None, None, None]
    assert [found[number].read() for number in (3, 4, 5)] == [PAGES[3], PAGES[4], PAGES[5]]


@warc
@pytest.mark.parametrize("cut", [10, 200, 900])
def test_of_a_truncated_archive_all_before_the_cut_is_read(tmp_path, name, cut):
    path = tmp_path / name
    offsets = write_warc(path, RECORDS)
    cut = min(cut, offsets[4] - offsets[3] - 30)
    path.write_bytes(path.read_bytes()[: offsets[3] + cut])
    found = read(path)
    assert [record.url for record in found[:3]] == [url(number) for number in range(3)]
    assert kinds(found) == [None, None, None, Kind.DAMAGED]
    assert found[3].origin.position == 3
    assert "damaged at record 3: " in found[3].problem.words


@pytest.mark.parametrize("at", [0, 1, 12, 60, 300, -6, -2])
def test_behind_a_corrupted_member_reading_goes_on(tmp_path, at):
    path = tmp_path / "crawl.warc.gz"
    offsets = write_warc(path, RECORDS)
    content = bytearray(path.read_bytes())
    place = offsets[2] + at if at >= 0 else offsets[3] + at
    content[place : place + 2] = bytes(byte ^ 0x5A for byte in content[place : place + 2])
    path.write_bytes(content)
    found = read(path)
    good = [record.url for record in found if record.problem is None]
    assert [url(number) for number in (0, 1, 3, 4, 5)] == [each for each in good if each != url(2)]
    damage = [record for record in found if record.problem]
    assert len(damage) == 1
    assert 2 <= damage[0].origin.position <= 3
    assert_read_alike_from_everywhere(path)


@pytest.mark.parametrize(
    "harm",
    [
        lambda record: b"XXXX" + record[4:],
        lambda record: record.replace(b"Content-Length: ", b"Content-Length: 9999"),
        lambda record: record.replace(b"\r\nContent-Length: ", b"\r\nContent-Length: x"),
        lambda record: b"\0" * len(record),
    ],
    ids=["no magic", "too long", "no length", "zeros"],
)
def test_behind_a_corrupted_plain_record_reading_goes_on(tmp_path, harm):
    records = [*RECORDS[:2], harm(RECORDS[2]), *RECORDS[3:]]
    write_warc(tmp_path / "crawl.warc", records)
    found = read(tmp_path / "crawl.warc")
    good = {record.url for record in found if record.problem is None}
    assert {url(number) for number in (0, 1, 3, 4, 5)} <= good
    assert Kind.DAMAGED in kinds(found)


def test_what_is_no_archive_is_damage(tmp_path):
    for name, content in {"a.warc.gz": b"not at all", "b.warc": b"\0" * 5000, "c.warc.gz": PAGES[0]}.items():
        (tmp_path / name).write_bytes(content)
        assert kinds(read(tmp_path / name)) == [Kind.DAMAGED]
    (tmp_path / "empty.warc.gz").write_bytes(b"")
    assert read(tmp_path / "empty.warc.gz") == []


# archives whose compressed members are not their records


def whole_member(records):
    return gzip.compress(b"".join(records), mtime=0)


def one_each(records):
    return b"".join(gzip.compress(record, mtime=0) for record in records)


def two_each(records):
    return b"".join(whole_member(records[at : at + 2]) for at in range(0, len(records), 2))


def cut_anywhere(records):
    content = b"".join(records)
    return b"".join(gzip.compress(content[at : at + 700], mtime=0) for at in range(0, len(content), 700))


SHARED = {
    "one member": whole_member(RECORDS),
    "not compressed within": gzip.compress(b"".join(RECORDS), 0, mtime=0),
    "two records a member": two_each(RECORDS),
    "members anywhere": cut_anywhere(RECORDS),
    "one member, then records": whole_member(RECORDS[:3]) + one_each(RECORDS[3:]),
}
MIXED = {
    "records, then one member": one_each(RECORDS[:3]) + whole_member(RECORDS[3:]),
    "two records in one member": one_each(RECORDS[:2]) + whole_member(RECORDS[2:4]) + one_each(RECORDS[4:]),
    "two records in the last": one_each(RECORDS[:4]) + whole_member(RECORDS[4:]),
}
shapes = pytest.mark.parametrize("shape", [*SHARED, *MIXED])


def assert_read_alike_from_everywhere(path):
    found = read(path)
    positions = [record.origin.position for record in found]
    assert positions == sorted(set(positions))
    for number, record in enumerate(found):
        assert read(path, record.origin.position) == found[number:]
    return found


@shapes
def test_whatever_members_hold_each_record_is_read_and_found_again(tmp_path, shape):
    path = tmp_path / "crawl.warc.gz"
    path.write_bytes({**SHARED, **MIXED}[shape])
    found = assert_read_alike_from_everywhere(path)
    assert [(record.url, record.read()) for record in found] == [(url(n), PAGES[n]) for n in range(6)]


@shapes
def test_a_truncated_archive_is_never_taken_for_a_whole_one(tmp_path, shape):
    path = tmp_path / "crawl.warc.gz"
    content = {**SHARED, **MIXED}[shape]
    for twentieth in range(20):
        cut = 1 + (len(content) - 2) * twentieth // 19
        if content[cut:].startswith(b"\x1f\x8b"):
            cut += 1  # between two members nobody can see it
        path.write_bytes(content[:cut])
        *whole, last = assert_read_alike_from_everywhere(path)
        assert [(record.url, record.problem) for record in whole] == [(url(n), None) for n in range(len(whole))]
        assert last.problem.kind is Kind.DAMAGED
        assert f"damaged at record {len(whole)}: " in last.problem.words


def test_what_is_whole_before_a_cut_is_kept_to_the_last_record(tmp_path):
    content = gzip.compress(b"".join(RECORDS), 0, mtime=0)  # not compressed, so that one sees where records end
    end = content.index(RECORDS[4][:60] + RECORDS[4][60:200])
    for cut in (end, end + 1, end + 9, end + 400):
        (tmp_path / "crawl.warc.gz").write_bytes(content[:cut])
        assert kinds(read(tmp_path / "crawl.warc.gz")) == [None] * 4 + [Kind.DAMAGED]


@shapes
def test_of_a_corrupted_archive_nothing_is_lost_in_silence(tmp_path, shape):
    path = tmp_path / "crawl.warc.gz"
    content = {**SHARED, **MIXED}[shape]
    for at in range(15, len(content), len(content) // 30):
        harmed = bytearray(content)
        harmed[at] ^= 0x5A
        path.write_bytes(harmed)
        found = assert_read_alike_from_everywhere(path)
        good = {record.url: record.read() for record in found if record.problem is None}
        if good != {url(n): PAGES[n] for n in range(6)}:
            assert Kind.DAMAGED in kinds(found)


def test_behind_a_corrupted_member_of_many_records_the_next_is_read(tmp_path):
    first, second = whole_member(RECORDS[:3]), whole_member(RECORDS[3:])
    harmed = bytearray(first + second)
    harmed[len(first) // 2 : len(first) // 2 + 8] = b"\xff" * 8
    (tmp_path / "crawl.warc.gz").write_bytes(harmed)
    found = assert_read_alike_from_everywhere(tmp_path / "crawl.warc.gz")
    assert [record.url for record in found if record.problem is None][-3:] == [url(3), url(4), url(5)]
    assert Kind.DAMAGED in kinds(found)


def test_a_record_that_is_damaged_within_a_whole_member_costs_itself(tmp_path):
    too_long = RECORDS[2].replace(b"Content-Length: ", b"Content-Length: 9999")
    (tmp_path / "crawl.warc.gz").write_bytes(whole_member([*RECORDS[:2], too_long, *RECORDS[3:]]))
    found = assert_read_alike_from_everywhere(tmp_path / "crawl.warc.gz")
    assert [record.url for record in found if record.problem is None] == [url(n) for n in (0, 1, 3, 4, 5)]
    assert kinds(found) == [None, None, Kind.DAMAGED, None, None, None]


def test_a_head_that_ends_before_its_length_is_damage(tmp_path):
    for name, compress in {"crawl.warc": bytes, "crawl.warc.gz": gzip.compress}.items():
        head = RECORDS[2].partition(b"Content-Length: ")[0] + b"Content-Length: "
        (tmp_path / name).write_bytes(compress(RECORDS[0] + RECORDS[1] + head))
        assert kinds(read(tmp_path / name)) == [None, None, Kind.DAMAGED]


def test_long_records_in_one_member_are_read_with_little_in_memory(tmp_path):
    flood = response(url(0), b"<p>" + b"tea " * 10_000_000)
    (tmp_path / "bomb.warc.gz").write_bytes(whole_member([flood, RECORDS[1], flood]))
    tracemalloc.start()
    found = read(tmp_path / "bomb.warc.gz", most_bytes=1_000_000)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert kinds(found) == [Kind.TOO_LARGE, None, Kind.TOO_LARGE]
    assert most < 20_000_000


def test_digests_are_checked_if_asked_for(tmp_path):
    import base64
    import hashlib

    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>Tea"
    digest = base64.b32encode(hashlib.sha1(block).digest()).decode()
    right, wrong = (
        warc_record("response", url(0), block, "application/http", more=f"WARC-Block-Digest: sha1:{value}\r\n")
        for value in (digest, digest[::-1])
    )
    write_warc(tmp_path / "a.warc.gz", [right, wrong, RECORDS[0]])
    assert kinds(read(tmp_path / "a.warc.gz")) == [None] * 3
    assert kinds(read(tmp_path / "a.warc.gz", check_digests=True)) == [None, Kind.DAMAGED, None]


def test_a_bomb_is_stopped_by_the_limit_and_its_neighbours_are_read(tmp_path):
    flood = b"<p>" + b"a" * 40_000_000
    records = [RECORDS[0], response(url(1), flood), RECORDS[2]]
    records.append(response(url(3), gzip.compress(flood), more="Content-Encoding: gzip\r\n"))
    write_warc(tmp_path / "bomb.warc.gz", records)
    assert (tmp_path / "bomb.warc.gz").stat().st_size < 200_000
    found = read(tmp_path / "bomb.warc.gz", most_bytes=1_000_000)
    assert kinds(found) == [None, Kind.TOO_LARGE, None, None]
    with pytest.raises(ProblemError, match="expand to more than the limit") as stopped:
        found[3].read(1_000_000)
    assert stopped.value.problem.kind is Kind.TOO_LARGE


# HTTP


def chunked(body, size=100):
    parts = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(b"%x;x=y\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


def zstd(body):
    return pytest.importorskip("zstandard").compress(body)


def raw_deflate(body):
    deflate = zlib.compressobj(wbits=-15)
    return deflate.compress(body) + deflate.flush()


def brotli(body):
    import io

    from fastwarc.stream_io import BrotliWriter

    written = io.BytesIO()
    writer = BrotliWriter(written)
    writer.write(body)
    writer.close()
    return written.getvalue()


@pytest.mark.parametrize(
    ("codings", "encode"),
    [
        (("gzip",), gzip.compress),
        (("x-gzip",), gzip.compress),
        (("deflate",), zlib.compress),
        (("deflate",), raw_deflate),
        (("zstd",), zstd),
        (("br",), brotli),
        (("chunked",), chunked),
        (("chunked", "gzip"), lambda body: chunked(gzip.compress(body))),
        (("gzip",), lambda body: body),
        (("chunked", "gzip"), lambda body: body),
        (("gzip",), lambda body: gzip.compress(body[:300]) + gzip.compress(body[300:])),
        (("gzip",), lambda body: gzip.compress(body) + b"\0\0padding"),
    ],
)
def test_codings_are_undone_and_those_that_are_only_said_are_seen_through(codings, encode):
    body = PAGES[0]
    assert undo_codings(encode(body), codings, 1_000_000) == body


def test_a_cut_coding_gives_what_there_is():
    assert PAGES[0].startswith(undo_codings(gzip.compress(PAGES[0])[:-30], ("gzip",), None))
    assert undo_codings(chunked(PAGES[0])[:250], ("chunked",), None) in PAGES[0]


@pytest.mark.parametrize(
    ("codings", "body"), [(("gzip",), b"\x1f\x8b\x08xx"), (("sdch",), b"x"), (("br",), b"\xff" * 9)]
)
def test_what_cannot_be_decoded_says_so(codings, body):
    with pytest.raises(ProblemError) as failed:
        undo_codings(body, codings, None)
    assert failed.value.problem.kind is Kind.DECODE


def test_codings_stand_around_each_other():
    headers, body = split_message(
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip, br\r\nTransfer-Encoding: chunked\r\n\r\nx"
    )
    assert (codings_of(headers), body) == (("chunked", "br", "gzip"), b"x")


def test_a_page_without_a_type_is_known_by_its_looks():
    assert is_html("", b" <!DOCTYPE html><p>")
    assert not is_html("", b"%PDF-1.7 ...")
    assert is_html("text/html;charset=x", b"")
    assert not is_html("text/plain", b"<html>")


# lines and tables

LINES = [{"url": url(number), "html": content.decode()} for number, content in enumerate(PAGES)]
PLAIN = b"".join(json.dumps(line).encode() + b"\n" for line in LINES)


def write_lines(path, content=PLAIN):
    if path.suffix == ".gz":
        content = gzip.compress(content, mtime=0)
    elif path.suffix == ".zst":
        content = zstd(content)
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst"])
def test_lines_give_pages_and_can_be_taken_up_anywhere(tmp_path, name):
    path = write_lines(tmp_path / name)
    found = read(path)
    assert [(record.url, record.read()) for record in found] == [(line["url"], line["html"]) for line in LINES]
    for number, record in enumerate(found):
        assert [each.url for each in read(path, record.origin.position)] == [each.url for each in found[number:]]


def test_fields_have_the_names_that_are_given(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"address": "http://a.example/", "raw": "<p>Tea"}\n{"address": 3}\n[1]\n')
    found = read(tmp_path / "a.jsonl", html_field="raw", url_field="address")
    assert (found[0].url, found[0].read()) == ("http://a.example/", "<p>Tea")
    assert kinds(found) == [None, Kind.READ, Kind.READ]
    assert "no page in the field 'raw'" in found[1].problem.words


def test_a_bad_line_is_named_by_its_place(tmp_path):
    bad = PLAIN.replace(b'{"url": "http://courier.example/news/2"', b'{"url": oops', 1) + b'{"url": "cut off'
    (tmp_path / "a.jsonl").write_bytes(b"\n" + bad)
    found = read(tmp_path / "a.jsonl")
    assert kinds(found) == [None, None, Kind.DAMAGED, None, None, None, Kind.DAMAGED]
    numbered = read(write_lines(tmp_path / "b.jsonl.gz", bad))
    for records in (found, numbered):
        assert [record.origin.position for record in records] == list(range(7))


def test_a_cut_compressed_file_gives_what_is_whole(tmp_path):
    import random

    noise = [{"html": "<p>" + random.Random(number).randbytes(3000).hex()} for number in range(40)]
    content = b"".join(json.dumps(line).encode() + b"\n" for line in noise)
    for name in ("a.jsonl.gz", "a.jsonl.zst"):
        path = write_lines(tmp_path / name, content)
        path.write_bytes(path.read_bytes()[:-5000])
        found = read(path)
        assert kinds(found)[-1] is Kind.DAMAGED
        assert kinds(found)[:-1] == [None] * (len(found) - 1)
        assert "within a compressed member" in found[-1].problem.words
    assert len(found) > 20


def test_behind_a_damaged_gzip_member_lines_go_on(tmp_path):
    members = [gzip.compress(line + b"\n", mtime=0) for line in PLAIN.splitlines()]
    broken = bytearray(members[2])
    broken[40:44] = b"\xff\xff\xff\xff"
    (tmp_path / "a.jsonl.gz").write_bytes(b"".join([*members[:2], bytes(broken), *members[3:]]))
    found = read(tmp_path / "a.jsonl.gz")
    assert [record.url for record in found if not record.problem] == [url(number) for number in (0, 1, 3, 4, 5)]
    assert kinds(found).count(Kind.DAMAGED) >= 1


def test_a_line_that_is_a_bomb_is_skipped(tmp_path):
    flood = json.dumps({"html": "a" * 30_000_000}).encode() + b"\n"
    for name in ("a.jsonl", "a.jsonl.gz", "a.jsonl.zst"):
        found = read(write_lines(tmp_path / name, flood + PLAIN + flood), most_bytes=1_000_000)
        assert kinds(found) == [Kind.TOO_LARGE, *[None] * 6, Kind.TOO_LARGE]


def test_tables_give_pages_by_named_columns(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    table = pa.table({"u": [line["url"] for line in LINES], "raw": list(PAGES)})
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet", row_group_size=2)
    found = read(tmp_path / "a.parquet", html_field="raw", url_field="u")
    assert [(record.url, record.read(), record.origin.position) for record in found] == [
        (url(number), content, number) for number, content in enumerate(PAGES)
    ]
    again = read(tmp_path / "a.parquet", 3, html_field="raw", url_field="u")
    assert [record.url for record in again] == [url(3), url(4), url(5)]
    with pytest.raises(DataError, match="no column 'html'"):
        read(tmp_path / "a.parquet")
    (tmp_path / "b.parquet").write_bytes(b"PAR1 nothing")
    assert kinds(read(tmp_path / "b.parquet")) == [Kind.DAMAGED]


# which files are meant


def write_table(path, **columns):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table(columns), path, row_group_size=1, compression="zstd")
    return path


def test_a_table_with_text_that_is_none_is_read_as_bytes(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    bad = pyarrow.array([b"<p>caf\xe9", b"<p>tea"]).view(pyarrow.string())
    found = read(write_table(tmp_path / "a.parquet", html=bad, url=[b"http://a.example/\xff", b"http://b.example/"]))
    assert [record.read() for record in found] == [b"<p>caf\xe9", "<p>tea"]
    assert [record.url for record in found] == ["http://a.example/\ufffd", "http://b.example/"]


def test_a_table_that_is_a_bomb_is_stopped_and_its_neighbours_are_read(tmp_path):
    bomb, large = b"<p>" + b" " * 80_000_000, b"<p>" + b" " * 40_000_000
    pages = [PAGES[0], bomb, large, PAGES[1]]
    found = read(write_table(tmp_path / "a.parquet", html=pages, url=[url(number) for number in range(4)]))
    assert kinds(found) == [None, Kind.TOO_LARGE, Kind.TOO_LARGE, None]
    assert "would expand to 80,0" in found[1].problem.words
    assert (found[2].url, found[2].payload) == (url(2), b"")


def test_a_table_is_read_by_a_child_that_may_die(tmp_path):
    pytest.importorskip("pebble")
    path = write_table(tmp_path / "a.parquet", html=[PAGES[0], b"<p>" + b" " * 60_000_000, PAGES[1]])
    reader = Reader(Limits(memory=30_000_000))
    try:
        found = [record for _, record in read_inputs([str(path)], OPTIONS, read=reader.read)]
        with pytest.raises(DataError, match="no column 'raw'"):
            list(read_inputs([str(path)], ReadOptions(html_field="raw"), read=reader.read))
    finally:
        reader.close()
    assert kinds(found) == [None, Kind.MEMORY, None]


def address_space(_):
    return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is limited on Linux alone")
def test_what_a_library_sets_aside_is_not_taken_from_what_reading_may_use(tmp_path):
    pytest.importorskip("pebble")
    path = write_table(tmp_path / "a.parquet", html=PAGES)
    guard = reading_guard(Limits())
    try:
        sizes = []
        for _ in range(2):
            task = Task(address_space, [0])
            guard.submit(task)
            sizes.append(guard.result(task))
            found = list(read_unit(guard, Unit(0, str(path), "a.parquet", "a.parquet"), OPTIONS))
    finally:
        guard.stop()
    assert len(found) == len(PAGES)
    assert sizes[1] - sizes[0] < 100_000_000


def test_where_reading_crashes_the_records_before_are_had_and_the_place_is_said(tmp_path):
    pytest.importorskip("pebble")
    path = write_lines(tmp_path / "a.jsonl")
    guard = reading_guard(Limits())
    try:
        unit = Unit(0, str(path), "a.jsonl", "a.jsonl")
        *before, rest = read_unit(guard, unit, ReadOptions(html_field=CrashingName("html")))
    finally:
        guard.stop()
    assert [record.url for record in before] == [url(0), url(1), url(2)]
    assert rest.origin == (str(path), 3, True)
    assert rest.problem == (Kind.CRASH, "the rest of the file was not read: the worker was ended by SIGSEGV")


def test_inputs_are_files_folders_patterns_and_lists(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("in/b.html", "in/a/z.htm", "in/a.html", "in/c.jsonl", "x1.html", "x2.html", "in/n.txt"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(PAGES[0])
    write_warc(tmp_path / "in" / "w.warc.gz", RECORDS)
    Path("list").write_text("x*.html\n\nin/a.html\n")
    found = [str(file.path) for file in find_files(["in", "@list", "gone.html"])]
    folder = ["in/a/z.htm", "in/a.html", "in/b.html", "in/w.warc.gz"]
    assert found == [*folder, "x1.html", "x2.html", "in/a.html", "gone.html"]
    seen = survey(["in"])
    assert (seen.pages, seen.sources, seen.size) == (3, 1, Path("in/w.warc.gz").stat().st_size)
    marks = [mark for mark, _ in read_inputs(["in"], OPTIONS)]
    for number, mark in enumerate(marks):
        assert [each for each, _ in read_inputs(["in"], OPTIONS, mark)] == marks[number + 1 :]
    Path("tables").mkdir()
    Path("in/c.jsonl").rename("tables/c.jsonl")
    assert [str(file.path) for file in find_files(["tables"])] == ["tables/c.jsonl"]


def test_a_source_that_is_gone_is_a_failed_record(tmp_path):
    ((mark, record),) = read_inputs([str(tmp_path / "gone.warc.gz")], OPTIONS)
    assert (record.name, record.origin.position) == (str(tmp_path / "gone.warc.gz"), 0)
    assert record.problem == (Kind.READ, "the file was not read: No such file or directory")
    assert list(read_inputs([str(tmp_path / "gone.warc.gz")], OPTIONS, mark)) == []


def test_sources_stream(tmp_path):
    """The first record is there before the others are read."""
    with (tmp_path / "a.jsonl.gz").open("wb") as file:
        file.write(gzip.compress(PLAIN))
        file.write(b"rubbish that nobody comes to" * 10)
    records = source_of("a.jsonl.gz").read(tmp_path / "a.jsonl.gz", OPTIONS, 0)
    assert next(islice(records, 1)).url == url(0)
