"""Records in: archives, lines and tables, whole and damaged; HTTP encodings; inputs and retries."""

import base64
import gzip
import hashlib
import io
import json
import random
import struct
import time
import tracemalloc
import zlib
from contextlib import suppress
from pathlib import Path

import pytest
from support.batchpages import page, response, url, warc_record, write_warc
from support.commands import write_files

from victorpy.batch import inputs
from victorpy.batch import record as batch_record
from victorpy.batch.http import _unzip, codings_of, is_html, split_message, undo_codings
from victorpy.batch.inputs import Wanted, find_files, group_files, read_failed, read_files, survey
from victorpy.batch.record import Kind, Origin, ProblemError, Record, broken_record, place_of
from victorpy.batch.sources import ReadOptions, expanding, rows, source_of
from victorpy.batch.sources.expanding import ExpandedGzip, find_bytes
from victorpy.batch.sources.rows import next_cut
from victorpy.errors import ConfigError, DataError

OPTIONS = ReadOptions()
MOST_SECONDS = 5.0  # linear time takes much less, quadratic time several times as much
PAGES = [page(number) for number in range(6)]
URLS = [url(number) for number in range(6)]
RECORDS = [response(*pair) for pair in zip(URLS, PAGES, strict=True)]


@pytest.fixture(autouse=True)
def _fastwarc():
    pytest.importorskip("fastwarc")


def read(path, start=0, **options):
    return list(source_of(path).read(path, ReadOptions(**options), start, 0))


def read_from_everywhere(path):
    """Read a file, and check that positions are unique and that reading from any position gives the same records."""
    records = read(path)
    positions = [record.origin.position for record in records]
    assert positions == sorted(set(positions))
    for number, position in enumerate(positions):
        assert read(path, position) == records[number:]
    return records


def kinds(records):
    return [record.problem and record.problem.kind for record in records]


def good_urls(records):
    return [record.url for record in records if record.problem is None]


def flip(content, at, count=1):
    harmed = bytearray(content)
    harmed[at : at + count] = bytes(byte ^ 0x5A for byte in harmed[at : at + count])
    return bytes(harmed)


# archives

warc = pytest.mark.parametrize("name", ["crawl.warc", "crawl.warc.gz"])


@warc
def test_archive_gives_its_pages_with_record_numbers(tmp_path, name):
    write_warc(tmp_path / name, RECORDS)
    records = read_from_everywhere(tmp_path / name)
    assert [(record.url, record.read(), record.origin) for record in records] == [
        (URLS[number], PAGES[number], (str(tmp_path / name), number, False)) for number in range(6)
    ]
    assert {(record.content_type, record.date) for record in records} == {("text/html", "2024-05-06T07:08:09Z")}


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b"HTTP/1.1 404 Not Found", Kind.HTTP_STATUS),
        (b"HTTP/2 503", Kind.HTTP_STATUS),
        (b"HTTP/1.1 301 Moved", Kind.HTTP_STATUS),
        (b"HTTP/1.1 299 Odd", None),
        (b"HTTP/1.1 4040", None),
        (b"HTTP/1.1", None),
    ],
)
def test_error_pages_and_redirects_are_skipped(tmp_path, line, kind):
    message = line + b"\r\nContent-Type: text/html\r\n\r\n" + PAGES[0]
    write_warc(tmp_path / "crawl.warc", [warc_record("response", url(0), message, "application/http")])
    assert kinds(read_from_everywhere(tmp_path / "crawl.warc")) == [kind]


@warc
def test_other_records_are_skipped_or_only_counted(tmp_path, name):
    contents = [
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
    write_warc(tmp_path / name, contents)
    records = read_from_everywhere(tmp_path / name)
    assert [(record.url, record.origin.position) for record in records] == list(
        zip(URLS, [2, 3, 4, 5, 7, 8], strict=True)
    )
    assert kinds(records) == [None, Kind.NOT_HTML, Kind.NOT_HTML, None, None, None]
    assert [record.read() for record in records[3:]] == PAGES[3:]


@warc
@pytest.mark.parametrize("cut", [10, 200, 900])
def test_truncated_archive_gives_all_records_before_the_cut(tmp_path, name, cut):
    path = tmp_path / name
    offsets = write_warc(path, RECORDS)
    cut = min(cut, offsets[4] - offsets[3] - 30)
    path.write_bytes(path.read_bytes()[: offsets[3] + cut])
    records = read(path)
    assert good_urls(records) == URLS[:3]
    assert kinds(records) == [None, None, None, Kind.DAMAGED]
    assert records[3].origin.position == 3
    assert "damaged at record 3: " in records[3].problem.words


@pytest.mark.parametrize("at", [0, 1, 12, 60, 300, -6, -2])
def test_corrupted_member_fails_alone(tmp_path, at):
    path = tmp_path / "crawl.warc.gz"
    offsets = write_warc(path, RECORDS)
    path.write_bytes(flip(path.read_bytes(), offsets[2] + at if at >= 0 else offsets[3] + at, 2))
    records = read_from_everywhere(path)
    assert [address for address in good_urls(records) if address != url(2)] == [*URLS[:2], *URLS[3:]]
    (damage,) = [record for record in records if record.problem]
    assert 2 <= damage.origin.position <= 3


@pytest.mark.parametrize(
    "harm",
    [
        lambda record: b"XXXX" + record[4:],
        lambda record: record.replace(b"Content-Length: ", b"Content-Length: 9999"),
        lambda record: record.replace(b"\r\nContent-Length: ", b"\r\nContent-Length: x"),
        lambda record: b"\0" * len(record),
        lambda record: record.replace(PAGES[2], PAGES[2][:-40]),
    ],
    ids=["no magic", "too long", "no length", "zeros", "into the next"],
)
@pytest.mark.parametrize(
    "join",
    [b"".join, lambda records: gzip.compress(b"".join(records)), lambda records: b"".join(map(gzip.compress, records))],
    ids=["plain", "one member", "members"],
)
def test_corrupted_record_fails_alone(tmp_path, harm, join):
    path = tmp_path / "crawl.warc"
    path.write_bytes(join([*RECORDS[:2], harm(RECORDS[2]), *RECORDS[3:]]))
    records = read_from_everywhere(path)
    assert good_urls(records) == [*URLS[:2], *URLS[3:]]
    assert kinds(records) == [None, None, Kind.DAMAGED, None, None, None]


def test_page_may_contain_an_archive(tmp_path):
    page = b"<p>A record begins like this:</p><pre>\r\n\r\nWARC/1.0\r\n</pre>"
    write_warc(tmp_path / "crawl.warc.gz", [response(url(1), page), RECORDS[2], response(url(3), page)])
    records = read(tmp_path / "crawl.warc.gz")
    assert [record.payload for record in records] == [page, PAGES[2], page]


def test_file_that_is_not_an_archive_is_damaged(tmp_path):
    for name, content in {"a.warc.gz": b"not at all", "b.warc": b"\0" * 5000, "c.warc.gz": PAGES[0]}.items():
        (tmp_path / name).write_bytes(content)
        assert kinds(read(tmp_path / name)) == [Kind.DAMAGED]
    (tmp_path / "empty.warc.gz").write_bytes(b"")
    assert read(tmp_path / "empty.warc.gz") == []


@warc
def test_padding_at_the_end_is_ignored(tmp_path, name):
    write_warc(tmp_path / name, RECORDS)
    (tmp_path / name).write_bytes((tmp_path / name).read_bytes() + b"\0" * 3000)
    assert good_urls(read(tmp_path / name)) == URLS
    assert kinds(read(tmp_path / name)) == [None] * 6


# archives whose compressed members are not their records


def in_members(records, size):
    """Compress `size` records together."""
    return b"".join(gzip.compress(b"".join(records[at : at + size]), mtime=0) for at in range(0, len(records), size))


def cut_anywhere(records):
    content = b"".join(records)
    return in_members([content[at : at + 700] for at in range(0, len(content), 700)], 1)


SHAPES = {
    "one member": in_members(RECORDS, 6),
    "not compressed within": gzip.compress(b"".join(RECORDS), 0, mtime=0),
    "two records a member": in_members(RECORDS, 2),
    "members anywhere": cut_anywhere(RECORDS),
    "one member, then records": in_members(RECORDS[:3], 3) + in_members(RECORDS[3:], 1),
    "records, then one member": in_members(RECORDS[:3], 1) + in_members(RECORDS[3:], 3),
    "two records in one member": in_members(RECORDS[:2], 1) + in_members(RECORDS[2:4], 2) + in_members(RECORDS[4:], 1),
    "two records in the last": in_members(RECORDS[:4], 1) + in_members(RECORDS[4:], 2),
}
shapes = pytest.mark.parametrize("shape", SHAPES)


@shapes
def test_records_are_read_from_members_of_any_shape(tmp_path, shape):
    path = tmp_path / "crawl.warc.gz"
    path.write_bytes(SHAPES[shape])
    records = read_from_everywhere(path)
    assert [(record.url, record.read()) for record in records] == list(zip(URLS, PAGES, strict=True))
    assert [record.origin.position for record in records] == list(range(6))


@shapes
def test_truncation_is_always_reported(tmp_path, shape):
    path = tmp_path / "crawl.warc.gz"
    content = SHAPES[shape]
    for twentieth in range(20):
        cut = 1 + (len(content) - 2) * twentieth // 19
        if content[cut:].startswith(b"\x1f\x8b"):
            cut += 1  # a cut between two members cannot be seen
        path.write_bytes(content[:cut])
        *whole, last = read_from_everywhere(path)
        assert [(record.url, record.problem) for record in whole] == [(url(n), None) for n in range(len(whole))]
        assert last.problem.kind is Kind.DAMAGED
        assert f"damaged at record {len(whole)}: " in last.problem.words


@pytest.mark.slow
@shapes
def test_corruption_is_always_reported(tmp_path, shape):
    path = tmp_path / "crawl.warc.gz"
    content = SHAPES[shape]
    for at in range(15, len(content), len(content) // 30):
        path.write_bytes(flip(content, at))
        records = read_from_everywhere(path)
        good = {record.url: record.read() for record in records if record.problem is None}
        assert good == dict(zip(URLS, PAGES, strict=True)) or Kind.DAMAGED in kinds(records)


def test_all_records_before_damage_are_kept(tmp_path):
    path = tmp_path / "crawl.warc.gz"
    content = SHAPES["not compressed within"]  # so that it shows where records end
    end = content.index(RECORDS[4][:200])
    for cut in (end, end + 1, end + 9, end + 400):
        path.write_bytes(content[:cut])
        assert kinds(read(path)) == [None] * 4 + [Kind.DAMAGED]
    path.write_bytes(flip(SHAPES["one member"], -6))  # only its checksum is wrong
    assert kinds(read(path)) == [None] * 6 + [Kind.DAMAGED]


def test_member_after_a_corrupted_member_is_read(tmp_path):
    first, second = in_members(RECORDS[:3], 3), in_members(RECORDS[3:], 3)
    harmed = bytearray(first + second)
    harmed[len(first) // 2 : len(first) // 2 + 8] = b"\xff" * 8
    (tmp_path / "crawl.warc.gz").write_bytes(harmed)
    records = read_from_everywhere(tmp_path / "crawl.warc.gz")
    assert good_urls(records)[-3:] == URLS[3:]
    assert Kind.DAMAGED in kinds(records)


def test_head_that_ends_before_its_length_is_damage(tmp_path):
    for name, compress in {"crawl.warc": bytes, "crawl.warc.gz": gzip.compress}.items():
        head = RECORDS[2].partition(b"Content-Length: ")[0] + b"Content-Length: "
        (tmp_path / name).write_bytes(compress(RECORDS[0] + RECORDS[1] + head))
        assert kinds(read(tmp_path / name)) == [None, None, Kind.DAMAGED]


@pytest.mark.slow
def test_long_records_in_one_member_are_read_with_little_memory(tmp_path):
    flood = response(url(0), b"<p>" + b"tea " * 10_000_000)
    (tmp_path / "bomb.warc.gz").write_bytes(in_members([flood, RECORDS[1], flood], 3))
    tracemalloc.start()
    records = read(tmp_path / "bomb.warc.gz", most_bytes=1_000_000)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert kinds(records) == [Kind.TOO_LARGE, None, Kind.TOO_LARGE]
    assert most < 20_000_000


def test_digests_are_checked_on_request(tmp_path):
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>Tea"
    digest = base64.b32encode(hashlib.sha1(block).digest()).decode()
    right, wrong = (
        warc_record("response", url(0), block, "application/http", more=f"WARC-Block-Digest: sha1:{value}\r\n")
        for value in (digest, digest[::-1])
    )
    write_warc(tmp_path / "a.warc.gz", [right, wrong, RECORDS[0]])
    assert kinds(read(tmp_path / "a.warc.gz")) == [None] * 3
    assert kinds(read(tmp_path / "a.warc.gz", check_digests=True)) == [None, Kind.DAMAGED, None]


def test_bomb_is_skipped_and_other_records_are_read(tmp_path):
    flood = b"<p>" + b"a" * 40_000_000
    contents = [RECORDS[0], response(url(1), flood), RECORDS[2]]
    contents.append(response(url(3), gzip.compress(flood), more="Content-Encoding: gzip\r\n"))
    write_warc(tmp_path / "bomb.warc.gz", contents)
    assert (tmp_path / "bomb.warc.gz").stat().st_size < 200_000
    records = read(tmp_path / "bomb.warc.gz", most_bytes=1_000_000)
    assert kinds(records) == [None, Kind.TOO_LARGE, None, None]
    with pytest.raises(ProblemError, match="expand to more than the limit") as stopped:
        records[3].read(1_000_000)
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
def test_codings_are_undone_even_if_the_header_is_wrong(codings, encode):
    assert undo_codings(encode(PAGES[0]), codings, 1_000_000) == PAGES[0]


@pytest.mark.parametrize("limit", [1_000_000, 1 << 17])  # bodies are read in pieces of 65,536 bytes
@pytest.mark.parametrize("encode", [gzip.compress, zlib.compress, raw_deflate, zstd, brotli])
def test_limit_applies_to_every_coding(encode, limit):
    coding = {gzip.compress: "gzip", zstd: "zstd", brotli: "br"}.get(encode, "deflate")
    assert len(undo_codings(encode(b"a" * limit), (coding,), limit)) == limit
    for size in (limit + 1, 10 * limit):
        with pytest.raises(ProblemError, match="expand to more than the limit"):
            undo_codings(encode(b"a" * size), (coding,), limit)


def test_expanded_gzip_is_read_from_any_offset():
    parts = [b"tea " * 10_000, b"milk" * 30_000, b"pot"]
    members = [gzip.compress(part) for part in parts]
    expanded = b"".join(parts)
    file = ExpandedGzip(io.BytesIO(b"".join(members)), 0)
    for offset in (0, len(expanded), 160_001, 160_000, 159_999, 40_000, 39_999, 1, 160_000, 0):
        assert (file.seek(offset), file.tell()) == (offset, offset)
        assert b"".join(iter(file.read, b"")) == expanded[offset:]
        assert not file.damage
    assert [file.member_at(offset) for offset in (0, 1, 40_000, 160_000)] == [0, 0, len(members[0]), file.member]
    assert find_bytes(file, b"milk", 1) == 40_000
    assert find_bytes(file, b"tea ", 0) == 0
    assert find_bytes(file, b"pot", 160_000) == 160_000
    assert find_bytes(file, b"pot", 160_001) is None


def test_search_after_damage_may_read_twenty_times_as_much_as_the_file():
    for reached in (0, 10):
        most = expanding._MOST_REPEATED * reached + expanding._FREE
        assert [expanding.is_too_much(work, reached) for work in (most, most + 1)] == [False, True]


def test_gzip_members_that_are_forgotten_are_skipped(monkeypatch):
    monkeypatch.setattr(expanding, "_REMEMBERED_MEMBERS", 2)
    file = ExpandedGzip(io.BytesIO(b"".join(gzip.compress(part) for part in (b"tea", b"cup", b"pot"))), 0)
    assert b"".join(iter(file.read, b"")) == b"teacuppot"
    assert [(file.seek(offset), file.read(), file.tell()) for offset in (7, 4, 0)] == [
        (7, b"ot", 9),
        (4, b"up", 6),
        (3, b"cup", 6),
    ]


def test_very_many_gzip_members_take_linear_time():
    started = time.process_time()
    assert undo_codings(gzip.compress(b"x", mtime=0) * 100_000, ("gzip",), 1_000_000) == b"x" * 100_000
    assert time.process_time() - started < MOST_SECONDS


STORED = 65_490  # bytes of a stored block, so that damage is at the end of a bite
OVERLAPPING = gzip.compress(b"", mtime=0)[:10] + b"\0" + struct.pack("<HH", STORED, STORED ^ 0xFFFF)


@pytest.mark.parametrize("name", ["evil.jsonl.gz", "evil.warc.gz"])
def test_damaged_members_that_contain_each_other_take_linear_time(tmp_path, name):
    """Each member begins in a block of the previous one, and ends with the same damage 65 kB later."""
    (tmp_path / name).write_bytes(OVERLAPPING * 10_000)
    started = time.process_time()
    assert set(kinds(read(tmp_path / name))) == {Kind.DAMAGED}
    assert time.process_time() - started < MOST_SECONDS


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize(
    "unit",
    [
        RECORDS[0].replace(b"Content-Length: ", b"Content-Length: 99999999"),
        b"WARC/1.0\r\nbad\r\n\r\n",
        b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 40\r\n\r\nHTTP/1.1 200 OK\r\n\r\n<p>x\r\n\r\n",
    ],
)
def test_very_many_damaged_records_take_linear_time(tmp_path, unit, pack):
    file = tmp_path / ("evil.warc" if pack is bytes else "evil.warc.gz")
    file.write_bytes(pack(RECORDS[1] + unit * (1_000_000 // len(unit))))
    started = time.process_time()
    records = read(file)
    assert good_urls(records)[:1] == URLS[1:2]
    assert Kind.DAMAGED in kinds(records)
    assert time.process_time() - started < MOST_SECONDS


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_records_after_many_damaged_ones_are_read(tmp_path, pack):
    file = tmp_path / ("crawl.warc" if pack is bytes else "crawl.warc.gz")
    bad = RECORDS[0].replace(b"Content-Length: ", b"Content-Length: x", 1)
    file.write_bytes(b"".join(pack(record) for _ in range(200) for record in (bad, RECORDS[1])))
    records = read(file)
    assert good_urls(records) == URLS[1:2] * 200
    assert kinds(records).count(Kind.DAMAGED) == 200


def test_standard_input_is_read_up_to_the_limit_of_a_page(monkeypatch):
    monkeypatch.setattr(batch_record, "MOST_BYTES", 1_000)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"x" * 1_000_000)))
    batch_record._standard_input.cache_clear()
    assert len(batch_record._standard_input()) == 1_001
    batch_record._standard_input.cache_clear()


@pytest.mark.parametrize("size", [b"f" * 16, b"F" * 30, b"0" * 5_000 + b"7" + b"f" * 15, b"f" * 100_000])
def test_chunk_of_an_impossible_size_is_damage(size):
    with pytest.raises(ProblemError, match="cannot decode the chunked"):
        undo_codings(size + b"\r\nTea", ("chunked",), 1_000_000)
    assert undo_codings(b"3\r\nTea\r\n" + size + b"\r\nhot", ("chunked",), 1_000_000) == b"Tea"
    assert undo_codings(b"0" * 5_000 + b"3\r\nTea\r\n0\r\n\r\n", ("chunked",), 1_000_000) == b"Tea"
    assert undo_codings(b"7fffffffffffff\r\nTea", ("chunked",), 1_000_000) == b"Tea"


def test_truncated_body_is_decoded_up_to_the_cut():
    assert PAGES[0].startswith(undo_codings(gzip.compress(PAGES[0])[:-30], ("gzip",), 1_000_000))
    assert undo_codings(chunked(PAGES[0])[:250], ("chunked",), 1_000_000) in PAGES[0]


@pytest.mark.parametrize(
    ("codings", "body"), [(("gzip",), b"\x1f\x8b\x08xx"), (("sdch",), b"x"), (("br",), b"\xff" * 9)]
)
def test_body_that_cannot_be_decoded_is_a_problem(codings, body):
    with pytest.raises(ProblemError) as failed:
        undo_codings(body, codings, 1_000_000)
    assert failed.value.problem.kind is Kind.DECODE


def test_codings_are_listed_outermost_first():
    headers, body = split_message(
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip, br\r\nTransfer-Encoding: chunked\r\n\r\nx"
    )
    assert (codings_of(headers), body) == (("chunked", "br", "gzip"), b"x")


def test_page_without_a_type_is_recognised_by_its_content():
    assert is_html("", b" <!DOCTYPE html><p>")
    assert not is_html("", b"%PDF-1.7 ...")
    assert is_html("text/html;charset=x", b"")
    assert not is_html("text/plain", b"<html>")


# lines

LINES = [{"url": address, "html": content.decode()} for address, content in zip(URLS, PAGES, strict=True)]
PLAIN = b"".join(json.dumps(line).encode() + b"\n" for line in LINES)


def write_lines(path, content=PLAIN):
    compress = {".gz": gzip.compress, ".zst": zstd}.get(path.suffix, bytes)
    path.write_bytes(compress(content))
    return path


lines = pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst"])


@lines
def test_lines_are_read_from_any_record(tmp_path, name):
    records = read_from_everywhere(write_lines(tmp_path / name))
    assert [(record.url, record.read()) for record in records] == [(line["url"], line["html"]) for line in LINES]


def test_fields_have_the_given_names(tmp_path):
    lines = ['{"address": "http://a.example/", "raw": "<p>Tea"}', '{"address": 3}', "[1]", '{"raw": 1}', ""]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    records = read(tmp_path / "a.jsonl", html_field="raw", url_field="address")
    assert (records[0].url, records[0].read()) == ("http://a.example/", "<p>Tea")
    assert kinds(records) == [None, Kind.READ, Kind.READ, Kind.READ]
    assert "no page in the field 'raw'" in records[1].problem.words
    assert records[3].problem.words == "the field 'raw' has the value 1 instead of a page"


@lines
def test_bad_line_fails_alone_and_blank_lines_do_not_count(tmp_path, name):
    bad = PLAIN.replace(b'{"url": "http://courier.example/news/2"', b'{"url": oops', 1) + b'{"url": "cut off'
    records = read_from_everywhere(write_lines(tmp_path / name, b"\n" + bad))
    assert kinds(records) == [None, None, Kind.DAMAGED, None, None, None, Kind.DAMAGED]
    assert [record.origin.position for record in records] == list(range(7))


@lines
def test_truncated_compressed_file_gives_its_whole_lines(tmp_path, name):
    noise = [{"html": "<p>" + random.Random(number).randbytes(3000).hex()} for number in range(40)]
    path = write_lines(tmp_path / name, b"".join(json.dumps(line).encode() + b"\n" for line in noise))
    path.write_bytes(path.read_bytes()[:-5000])
    *whole, last = read_from_everywhere(path)
    assert kinds(whole) == [None] * len(whole)
    assert len(whole) > 20
    words = "not a line of JSON" if name == "a.jsonl" else "within a compressed member"
    assert (last.problem.kind, words in last.problem.words) == (Kind.DAMAGED, True)


def test_lines_after_a_damaged_gzip_member_are_read(tmp_path):
    members = [gzip.compress(line + b"\n", mtime=0) for line in PLAIN.splitlines()]
    members[2] = members[2][:40] + b"\xff\xff\xff\xff" + members[2][44:]
    (tmp_path / "a.jsonl.gz").write_bytes(b"".join(members))
    records = read_from_everywhere(tmp_path / "a.jsonl.gz")
    assert good_urls(records) == [*URLS[:2], *URLS[3:]]
    assert Kind.DAMAGED in kinds(records)


@lines
def test_oversized_line_is_skipped(tmp_path, name):
    flood = json.dumps({"html": "a" * 5_000_000}).encode() + b"\n"
    records = read(write_lines(tmp_path / name, flood + PLAIN + flood), most_bytes=1_000_000)
    assert kinds(records) == [Kind.TOO_LARGE, *[None] * 6, Kind.TOO_LARGE]


@lines
def test_line_of_exactly_the_limit_is_read(tmp_path, name):
    """The limit for a line is twice the limit for a page, and such lines are read in several pieces."""
    longest = 600_000
    page = b"<p>" + b"tea " * 100
    exact, longer = (
        json.dumps({"html": page.decode()}).encode().ljust(size) + b"\n" for size in (longest, longest + 1)
    )
    for content, expected in ((exact + longer + exact, [page, None, page]), (exact[:-1], [page])):
        records = read(write_lines(tmp_path / name, content), most_bytes=longest // 2)
        assert kinds(records) == [None if wanted else Kind.TOO_LARGE for wanted in expected]
        assert [record.read().encode() for record in records if not record.problem] == list(filter(None, expected))


def test_page_of_exactly_the_limit_is_read(tmp_path):
    (tmp_path / "a.html").write_bytes(b"tea")
    for record in (Record("a", Path("a"), payload=b"tea"), Record("a", Path("a"), file=tmp_path / "a.html")):
        assert record.read(3) == b"tea"
        with pytest.raises(ProblemError, match="3 bytes are more than the limit of 2"):
            record.read(2)


def test_first_record_comes_before_the_others_are_read(tmp_path):
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(PLAIN) + b"rubbish that is never read" * 10)
    assert next(source_of("a.jsonl.gz").read(tmp_path / "a.jsonl.gz", OPTIONS, 0, 0)).url == url(0)


# tables


def write_table(path, rows=1, **columns):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table(columns), path, row_group_size=rows, compression="zstd")
    return path


def test_tables_give_pages_by_named_columns(tmp_path):
    path = write_table(tmp_path / "a.parquet", u=URLS, raw=PAGES)
    records = read(path, html_field="raw", url_field="u")
    assert [(record.url, record.read(), record.origin.position) for record in records] == [
        (URLS[number], PAGES[number], number) for number in range(6)
    ]
    assert [record.url for record in read(path, 3, html_field="raw", url_field="u")] == URLS[3:]
    size = path.stat().st_size
    assert [record.reached for record in records] == [size * number // 6 for number in range(6)]
    with pytest.raises(DataError, match="no column 'html'"):
        read(path)
    (tmp_path / "b.parquet").write_bytes(b"PAR1 nothing")
    assert kinds(read(tmp_path / "b.parquet")) == [Kind.DAMAGED]


def test_invalid_text_in_a_table_is_read_as_bytes(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    bad = pyarrow.array([b"<p>caf\xe9", b"<p>tea"]).view(pyarrow.string())
    records = read(write_table(tmp_path / "a.parquet", html=bad, url=[b"http://a.example/\xff", b"http://b.example/"]))
    assert [record.read() for record in records] == [b"<p>caf\xe9", "<p>tea"]
    assert [record.url for record in records] == ["http://a.example/\ufffd", "http://b.example/"]


@pytest.mark.slow
def test_oversized_row_groups_are_skipped(tmp_path):
    bomb, large = b"<p>" + b" " * 80_000_000, b"<p>" + b" " * 40_000_000
    records = read(write_table(tmp_path / "a.parquet", html=[PAGES[0], bomb, large, PAGES[1]], url=URLS[:4]))
    assert kinds(records) == [None, Kind.TOO_LARGE, Kind.TOO_LARGE, None]
    assert "would expand to 80,0" in records[1].problem.words
    assert (records[2].url, records[2].payload) == (url(2), b"")


@pytest.mark.parametrize(
    ("least", "expansion", "is_read"), [(0, 0, True), (-1, 0, False), (-1, 1, True), (-1_000, 1_000, True)]
)
def test_row_group_is_read_up_to_a_size(tmp_path, monkeypatch, least, expansion, is_read):
    """A group may always have some bytes, and more if the file is large too."""
    parquet = pytest.importorskip("pyarrow.parquet")
    path = write_table(tmp_path / "a.parquet", html=[PAGES[0]])
    size = parquet.read_metadata(path).row_group(0).total_byte_size
    assert path.stat().st_size >= size
    monkeypatch.setattr(rows, "_LARGE_GROUP", size + least)
    monkeypatch.setattr(rows, "_MOST_EXPANSION", expansion)
    assert kinds(read(path)) == [None if is_read else Kind.TOO_LARGE]


def with_row_count(path, group, count):
    """Change the number of rows that a row group claims, which is at most 63, in the last column of the footer."""
    parquet = pytest.importorskip("pyarrow.parquet")
    before = [parquet.read_metadata(path).row_group(number).num_rows for number in range(2)]
    wanted = [count if number == group else rows for number, rows in enumerate(before)]
    content = path.read_bytes()
    for place in range(len(content) - 9, 0, -1):
        if content[place] == 2 * before[group]:
            path.write_bytes(content[:place] + bytes([2 * count if count >= 0 else 1]) + content[place + 1 :])
            with suppress(Exception):
                metadata = parquet.read_metadata(path)
                if [metadata.row_group(number).num_rows for number in range(2)] == wanted:
                    return
    raise AssertionError("there is no such number in the file")


def test_table_with_impossible_sizes_is_one_damaged_record(tmp_path):
    path = write_table(tmp_path / "a.parquet", html=PAGES[:3], rows=2)
    with_row_count(path, 0, -1)
    (record,) = read(path)
    assert (record.problem.kind, record.origin.position) == (Kind.DAMAGED, 0)
    assert "negative number of rows" in record.problem.words


def test_rows_that_a_group_claims_but_does_not_contain_are_reported(tmp_path):
    path = write_table(tmp_path / "a.parquet", html=PAGES[:3], rows=2)
    with_row_count(path, 1, 4)
    records = read(path)
    assert [record.origin.position for record in records] == [0, 1, 2, 3]
    assert kinds(records) == [None, None, None, Kind.DAMAGED]
    assert "row group 1 is damaged: 3 of its 4 rows are missing" in records[3].problem.words


def test_damaged_row_group_that_claims_no_rows_takes_no_number(tmp_path):
    """It had the number of the next row, or of the end, which reading from there skipped."""
    parquet = pytest.importorskip("pyarrow.parquet")
    path = write_table(tmp_path / "a.parquet", html=PAGES[:3], rows=2)
    with_row_count(path, 1, 0)
    content = path.read_bytes()
    damaged = 0
    for place in range(len(content) - 9, len(content) // 3, -1):
        path.write_bytes(content[:place] + bytes([content[place] ^ 8]) + content[place + 1 :])
        with suppress(Exception):
            metadata = parquet.read_metadata(path)
            if [metadata.row_group(number).num_rows for number in range(2)] != [2, 0]:
                continue
            try:
                parquet.ParquetFile(path).read_row_group(1, ["html"])
            except Exception:
                damaged += 1
        with suppress(DataError):  # the column has another name
            records = read(path)
            positions = [record.origin.position for record in records]
            assert positions == sorted({*positions} & {0, 1})
            for number, start in enumerate(positions):
                assert read(path, start) == records[number:]
    assert damaged


def test_values_that_are_not_valid_text(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    broken = pyarrow.array([b"<p>tea", b"<p>t\xe9a"], pyarrow.binary()).view(pyarrow.utf8())
    nested = pyarrow.StructArray.from_arrays([broken], ["a"])
    columns = {"text": broken, "dictionary": broken.dictionary_encode(), "nested": nested}
    path = tmp_path / "a.parquet"
    pytest.importorskip("pyarrow.parquet").write_table(pyarrow.table(columns), path)
    for field in ("text", "dictionary"):
        records = [*source_of(path).read(path, ReadOptions(html_field=field), 0, 0)]
        assert [record.read() for record in records] == ["<p>tea", b"<p>t\xe9a"]
    assert kinds(source_of(path).read(path, ReadOptions(html_field="nested"), 0, 0)) == [Kind.READ] * 2


# reading again from the middle


@pytest.mark.parametrize("name", ["a.warc", "a.warc.gz", "a.jsonl"])
def test_reading_from_an_offset_gives_the_same_records(tmp_path, name):
    path = tmp_path / name
    if name == "a.jsonl":
        write_lines(path)
        path.write_text(path.read_text().replace("\n", "\n\n{torn\n", 1))
    else:
        other = warc_record("request", "http://a.example/", b"GET", "application/http")
        write_warc(path, [record for n in range(4) for record in (other, RECORDS[n])])
    records = read(path)
    assert len(records) > 3
    for number, record in enumerate(records):
        assert record.offset > 0 or number == 0
        again = list(source_of(path).read(path, OPTIONS, record.origin.position, record.offset))
        assert [one.origin for one in again] == [one.origin for one in records[number:]]
        assert [one.payload for one in again] == [one.payload for one in records[number:]]


def test_records_of_one_member_have_no_offset(tmp_path):
    path = tmp_path / "a.warc.gz"
    path.write_bytes(gzip.compress(b"".join(RECORDS[:3])))
    assert [record.offset for record in read(path)] == [0, 0, 0]


def test_table_is_cut_between_row_groups(tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    path = write_table(tmp_path / "a.parquet", html=[b"<p>tea"] * 10)
    pq.write_table(pq.read_table(path), path, row_group_size=3)
    assert [next_cut(path, OPTIONS, start, 4) for start in (0, 6, 9)] == [6, None, None]
    assert [next_cut(path, OPTIONS, 3, rows) for rows in (0, 1, 3, 6, 7)] == [3, 6, 6, 9, None]
    assert next_cut(tmp_path / "none.parquet", OPTIONS, 0, 4) is None


def test_row_groups_without_rows_are_skipped(tmp_path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pyarrow.table({"html": ["<p>Tea", "<p>Cup"]})
    with parquet.ParquetWriter(tmp_path / "a.parquet", table.schema) as writer:
        for rows_of_group in (0, 2, 0, 2):
            writer.write_table(table.slice(0, rows_of_group))
    for start in range(5):
        records = read(tmp_path / "a.parquet", start)
        assert [(record.origin.position, record.problem) for record in records] == [(n, None) for n in range(start, 4)]


@pytest.mark.parametrize(("room", "kinds_of_records"), [(0, [None]), (-1, [Kind.TOO_LARGE])])
def test_row_groups_are_read_up_to_a_size(tmp_path, monkeypatch, room, kinds_of_records):
    parquet = pytest.importorskip("pyarrow.parquet")
    path = write_table(tmp_path / "a.parquet", html=[b"<p>Tea"])
    size = parquet.ParquetFile(path).metadata.row_group(0).total_byte_size
    monkeypatch.setattr(rows, "_MOST_EXPANSION", 0)
    monkeypatch.setattr(rows, "_LARGE_GROUP", size + room)
    assert kinds(read(path)) == kinds_of_records


# inputs


def test_inputs_are_files_folders_patterns_and_lists(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("in/b.html", "in/a/z.htm", "in/a.html", "in/c.jsonl", "x1.html", "x2.html", "in/n.txt"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(PAGES[0])
    write_warc(tmp_path / "in" / "w.warc.gz", RECORDS)
    Path("list").write_text("x*.html\n\nin/a.html\n")
    paths = [str(file.path) for file in find_files(["in", "@list", "gone.html"])]
    folder = ["in/a/z.htm", "in/a.html", "in/b.html", "in/w.warc.gz"]
    assert paths == [*folder, "x1.html", "x2.html", "in/a.html", "gone.html"]
    seen = survey(["in"])
    assert (seen.pages, seen.sources, seen.size) == (3, 1, Path("in/w.warc.gz").stat().st_size)
    assert len(list(read_files(find_files(["in"]), OPTIONS))) == 3 + len(RECORDS)
    monkeypatch.setattr(inputs, "GROUP_FILES", 3)
    groups = list(group_files(find_files(["in", "@list"]), 64))
    assert [[file.number for file in group.files] for group in groups] == [[0, 1, 2], [3, 4, 5], [6]]
    Path("tables").mkdir()
    Path("in/c.jsonl").rename("tables/c.jsonl")
    assert [str(file.path) for file in find_files(["tables"])] == ["tables/c.jsonl"]


def test_missing_source_is_one_failed_record(tmp_path):
    path = str(tmp_path / "gone.warc.gz")
    (record,) = read_files(find_files([path]), OPTIONS)
    assert (record.name, record.origin) == (path, (path, 0, True))
    assert record.problem == (Kind.READ, "the file was not read: No such file or directory")


# retries


def wanted_in(directory, *failed):
    """Write a failed.jsonl that names these positions of a file, and read it."""
    described = [{"source": "a.jsonl", "position": at, "rest": rest, "place": "a"} for at, rest in failed]
    (directory / "failed.jsonl").write_text("".join(json.dumps(line) + "\n" for line in described))
    return Wanted(read_failed(directory / "failed.jsonl"))


@pytest.mark.parametrize(
    ("failed", "start", "expected"),
    [
        ([(4, False), (1, False)], 0, [1, 4]),
        ([(4, False), (1, False)], 2, [4]),
        ([(1, False), (4, True)], 0, [1, 4, 5]),
        ([(2, True)], 4, [4, 5]),
        ([(1, False)], 2, []),
    ],
)
def test_retry_reads_the_records_that_failed(tmp_path, monkeypatch, failed, start, expected):
    monkeypatch.chdir(tmp_path)
    write_lines(Path("a.jsonl"))
    wanted = wanted_in(tmp_path, *failed)
    (file,) = wanted.files()
    records = list(wanted.read(file, OPTIONS, start))
    assert good_urls(records) == [url(number) for number in expected]
    assert [record in wanted for record in read(Path("a.jsonl"), start)] == [n in expected for n in range(start, 6)]


def test_retried_records_that_are_gone_fail_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    wanted = wanted_in(tmp_path, (1, False), (7, False), (9, True))
    (file,) = wanted.files()
    lost, later, rest = wanted.read(file, OPTIONS, 0)
    assert [record.origin[1:] for record in (lost, later, rest)] == [(1, False), (7, False), (9, True)]
    assert lost.problem == (Kind.READ, "there is no record 1 any more")
    write_lines(Path("a.jsonl"))
    found, later = wanted.read(file, OPTIONS, 0)
    assert (found.url, later.problem.words) == (url(1), "there is no record 7 any more")


def test_failed_records_of_older_versions_are_refused_if_they_have_offsets(tmp_path):
    path = tmp_path / "failed.jsonl"
    line = {"source": "a.warc.gz", "position": 3, "place": "a"}
    for unit in ("", "row"):
        path.write_text(json.dumps({**line, "unit": unit}))
        assert len(list(read_failed(path))) == 1
    for unit in ("offset", "line", "record", "record after"):
        path.write_text(json.dumps({**line, "unit": unit}))
        with pytest.raises(DataError, match="jsonl:1: an older version wrote this"):
            list(read_failed(path))
    path.write_text("{}")
    with pytest.raises(DataError, match="not a line of a failed"):
        list(read_failed(path))


@pytest.mark.parametrize(
    ("url", "domain", "host"),
    [
        ("http://www.bbc.co.uk/1", "bbc.co.uk", "www.bbc.co.uk"),
        ("https://News.BBC.co.uk:443/", "bbc.co.uk", "news.bbc.co.uk"),
        ("http://bbc.co.uk", "bbc.co.uk", "bbc.co.uk"),
        ("http://tea.blogspot.com/", "tea.blogspot.com", "tea.blogspot.com"),
        ("http://10.2.1.1/", "10.2.1.1", "10.2.1.1"),
        ("http://[2001:db8::1]/", "2001:db8::1", "2001:db8::1"),
        ("http://localhost/", "localhost", "localhost"),
        ("http://[broken/", "folder", "folder"),
        ("", "folder", "folder"),
    ],
)
def test_site_of_a_record(url, domain, host):
    record = Record("x", Path("folder/page.html"), url=url)
    assert (record.site(), record.site("host")) == (domain, host)
    assert Record("x", Path("page.html")).site() == ""
    with pytest.raises(ConfigError, match=r"domain, host, not 'hots' \(did you mean 'host'\?\)"):
        record.site("hots")


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("https://tea.example/green/sencha.php", "tea.example/green/sencha.html"),
        ("http://tea.example", "tea.example/index.html"),
        ("http://tea.example/", "tea.example/index.html"),
        ("http://tea.example/a/", "tea.example/a/index.html"),
        ("http://user@TEA.example:80//a//b.HTML", "tea.example/a/b.html"),
        ("http://tea.example/a.asp?x=1&y", "tea.example/a-x=1&y.html"),
        ("http://tea.example/a.b", "tea.example/a.b.html"),
        ("http://tea.example/%C3%BC", "tea.example/ü.html"),
        ("http://[broken/", "crawl.warc-3.html"),
        ("mailto:tea@tea.example", "crawl.warc-3.html"),
        ("", "crawl.warc-3.html"),
    ],
)
def test_place_of_a_page(url, place):
    assert place_of(url, Origin("in/crawl.warc", 3)).as_posix() == place


def test_broken_record_is_named_after_its_place():
    record = broken_record(Origin("in/a.warc", 3), Kind.DAMAGED, "torn", reached=7)
    assert (record.name, record.place, record.reached) == ("in/a.warc@3", Path("a.warc-3.html"), 7)
    assert (record.problem, record.origin.rest) == ((Kind.DAMAGED, "torn"), False)
    with pytest.raises(ProblemError, match="torn"):
        record.read()


def test_groups_before_the_first_wanted_row_are_not_looked_at(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    path = write_table(tmp_path / "a.parquet", html=PAGES[:2], url=URLS[:2])
    monkeypatch.setattr(rows, "_LARGE_GROUP", 0)
    monkeypatch.setattr(rows, "_MOST_EXPANSION", 0)
    for start in (0, 1, 2):
        assert kinds(source_of(path).read(path, OPTIONS, start, 0)) == [Kind.TOO_LARGE] * (2 - start)


@pytest.mark.parametrize("bits", [15, 31])
def test_bodies_refer_far_back(bits):
    far = random.Random(1).randbytes(30_000)
    packer = zlib.compressobj(wbits=bits)
    assert _unzip(packer.compress(far + far) + packer.flush(), 60_000) == far + far


def test_lines_beside_archives_are_not_read(tmp_path):
    write_files(tmp_path, {"in/a.warc": "", "in/b.jsonl": "{}"})
    warnings = [*inputs.input_warnings([f"{tmp_path}/in"], inputs.survey([f"{tmp_path}/in"]))]
    assert warnings[0].startswith(f"{tmp_path}/in/b.jsonl: not read")


def test_a_file_that_cannot_be_read_has_reached_nothing(tmp_path):
    (record,) = inputs.read_file(inputs.InputFile(tmp_path / "a.jsonl", Path("a.jsonl"), "a.jsonl"), ReadOptions())
    assert (record.reached, record.problem.kind) == (0, Kind.READ)


def test_files_of_an_earlier_run_that_are_named_twice_count_once(tmp_path):
    write_files(tmp_path, {"a.html": "<p>Tea", "b.html": "<p>Tea"})
    once, twice = inputs.Stamps(), inputs.Stamps()
    for stamps, names in ((once, "ab"), (twice, "aa")):
        for name in names:
            path = tmp_path / f"{name}.html"
            stamps.add(path, path.stat())
    assert twice.unchanged_from(once).tolist() == [0, -1]
