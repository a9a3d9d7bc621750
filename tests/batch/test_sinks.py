"""Exact bytes, rows and messages of the parts that write the output of runs, without a run around them."""

import gzip
import io
import json
import os
from pathlib import Path

import pytest
from support import replicapages
from support.batchpages import page, url

from victorpy.batch import inputs, replicas, sinks
from victorpy.batch.inputs import Stamps, find_files, group_files
from victorpy.batch.local.run import run_plan
from victorpy.batch.outcome import Outcome, PageCleaner
from victorpy.batch.plan import Dedup, Plan
from victorpy.batch.record import Origin, Record, Status
from victorpy.batch.replicas import decide_records, decided, dedup_summary, open_decisions
from victorpy.batch.sinks import SINKS
from victorpy.batch.store import Store, merge_splits, other_settings, split_label
from victorpy.dedup.find import Loss
from victorpy.errors import OutputError
from victorpy.methods import Method
from victorpy.outputs import find_output

TEXT = "Tee aus Frühling.\n"
RECORD = Record(
    *(url(1), Path("tea.html")), url=url(1), origin=Origin("in/a.warc", 3), record_id="<urn:x:1>", date="2024-05-06"
)
OUTCOME = Outcome(Status.KEPT, TEXT, url="http://canonical.example/", language="de", digest="sha256:ab", size=9)

# Archives


def conversions(tmp_path, kind, format, items):
    """Write records, and return the lines of each head and the text of each record."""
    sink = SINKS.get(kind)(kind, tmp_path, find_output(format))
    sink.write(tmp_path / "piece", items)
    sink.join(tmp_path / "part", [tmp_path / "piece"])
    content = (tmp_path / "part").read_bytes()
    content = gzip.decompress(content) if kind == "warc.gz" else content
    parts = [part.partition("\r\n\r\n") for part in content.decode().split("WARC/1.1\r\n")[1:]]
    return [(head.split("\r\n"), text.removesuffix("\r\n\r\n")) for head, _, text in parts]


@pytest.mark.parametrize(
    ("format", "type"),
    [
        ("text", "text/plain"),
        ("html", "text/html"),
        ("markdown", "text/markdown"),
        ("jsonl", "application/json"),
        ("xml", "text/plain"),
    ],
)
def test_archive_has_a_head_and_the_kept_texts(tmp_path, format, type):
    others = [(RECORD, Outcome(status, "lost")) for status in Status if status is not Status.KEPT]
    info, conversion = conversions(tmp_path, "warc.gz", format, [*others, (RECORD, OUTCOME)])
    assert info[1] == f"software: victorpy\r\nformat: WARC File Format 1.1\r\ntext: {format}\r\n"
    assert [line for line in info[0] if "Record-ID" not in line] == [
        "WARC-Type: warcinfo",
        "WARC-Date: 1970-01-01T00:00:00Z",
        "Content-Type: application/warc-fields",
        f"Content-Length: {len(info[1])}",
    ]
    assert conversion[1] == TEXT
    assert [line for line in conversion[0] if "Record-ID" not in line] == [
        "WARC-Type: conversion",
        f"WARC-Target-URI: {url(1)}",
        "WARC-Date: 2024-05-06",
        "WARC-Refers-To: <urn:x:1>",
        "WARC-Identified-Content-Language: de",
        "X-Input-Digest: sha256:ab",
        "X-Input-Place: in/a.warc@3",
        f"Content-Type: {type}",
        f"Content-Length: {len(TEXT.encode())}",
    ]


def test_archive_names_a_page_without_address_and_date(tmp_path):
    local = Record("in/page\r\nX-Evil: 1.html", Path("page.html"), date=" ")
    _, found, named = conversions(
        *(tmp_path, "warc", "text"), [(local, OUTCOME), (local, Outcome(Status.KEPT, "Tea.\n"))]
    )
    assert [line for line in found[0] if line.startswith(("WARC-Target", "WARC-Date", "X-Evil"))] == [
        "WARC-Target-URI: http://canonical.example/",
        "WARC-Date: 1970-01-01T00:00:00Z",
    ]
    assert "WARC-Target-URI: in/page X-Evil: 1.html" in named[0]
    assert not [line for line in named[0] if line.startswith(("WARC-Refers-To", "X-Input-Digest", "WARC-Identified"))]


# Tables


@pytest.mark.parametrize(
    ("limits", "groups"),
    [
        ({"GROUP_ROWS": 4}, [4, 3]),
        ({"GROUP_ROWS": 3}, [4, 3]),
        ({"GROUP_ROWS": 5}, [6, 1]),
        ({"GROUP_BYTES": 0}, [2, 2, 2, 1]),
        ({"GROUP_BYTES": 1}, [4, 3]),
        ({"BATCH_ROWS": 1}, [7]),
        ({"BATCH_CHARACTERS": len(TEXT)}, [7]),
    ],
)
def test_row_groups_consist_of_whole_pieces(tmp_path, monkeypatch, limits, groups):
    parquet = pytest.importorskip("pyarrow.parquet")
    ipc = pytest.importorskip("pyarrow.ipc")
    sink = SINKS.get("parquet")("parquet", tmp_path, find_output("text"))
    pieces = [tmp_path / f"{number}.piece" for number in range(4)]
    for name, value in limits.items():
        sink.write(pieces[0], [(RECORD, OUTCOME)] * 2)
        size = ipc.open_stream(pieces[0].read_bytes()).read_all().nbytes  # of a piece
        monkeypatch.setattr(sinks, name, size + value if name == "GROUP_BYTES" else value)
    for number, piece in enumerate(pieces):
        sink.write(piece, [(RECORD, OUTCOME)] * (1 if number == 3 else 2))
    sink.join(tmp_path / "part", pieces)
    with parquet.ParquetFile(tmp_path / "part") as file:
        assert [file.metadata.row_group(number).num_rows for number in range(file.num_row_groups)] == groups
    assert [row["text"] for row in sink.rows(tmp_path / "part")] == [TEXT] * 7


# Replicas


@pytest.mark.parametrize(
    ("decision", "status", "text", "loss"),
    [
        ("[1]", Status.KEPT, "a\n\nc\n", "1 paragraph repeats another paragraph of the run"),
        ("[0, 2]", Status.KEPT, "b\n", "2 paragraphs repeat other paragraphs of the run"),
        ("[0, 1, 2]", Status.EMPTY, "", "3 paragraphs repeat other paragraphs of the run"),
    ],
)
def test_repeated_paragraphs_are_removed(decision, status, text, loss):
    outcome = decided(Dedup("paragraphs"), Outcome(Status.KEPT, "a\n\nb\n\nc\n", losses=("x",)), decision)
    assert (outcome.status, outcome.text, outcome.losses) == (status, text, ("x", loss))


@pytest.mark.parametrize(("drop", "text"), [(False, TEXT), (True, "")])
def test_replica_names_what_it_repeats(drop, text):
    outcome = decided(Dedup("pages", drop=drop), OUTCOME, '{"url": "http://tea.example/"}')
    assert (outcome.status, outcome.text, outcome.repeats) == (Status.REPLICA, text, {"url": "http://tea.example/"})


def test_summary_warns_about_sites_that_lose_many_pages():
    losses = [Loss("tea.example", 2_000, 1_500), Loss("", 4, 3)]
    assert dedup_summary(Dedup("pages", keep="longest"), losses) == {
        "dedup": "by pages, keeping the longest",
        "warnings": [
            "tea.example: 1,500 of 2,000 pages are replicas (75%); check them in the list of replicas",
            "pages without an address: 3 of 4 pages are replicas (75%); check them in the list of replicas",
        ],
    }
    assert dedup_summary(Dedup("paragraphs"), losses[:1]) == {
        "dedup": "by paragraphs, keeping the first; dropped 1,500 of 2,000 paragraphs",
        "warnings": [],
    }


def test_paragraphs_after_the_first_ones_of_a_page_are_not_compared(tmp_path, monkeypatch):
    pytest.importorskip("icu4py")
    monkeypatch.setattr(replicas, "PARAGRAPH_BITS", 1)  # two paragraphs per page
    stories = [
        f"Story number {number} tells of tea, milk, sugar, cups, pots and the {name} of a long day in the garden."
        for number, name in enumerate(("morning", "noon", "evening"))
    ]
    dedup = Dedup("paragraphs")
    cleaner = PageCleaner(Plan(to="jsonl", dedup=dedup, method=Method("everything")))
    order = [(0, 1, 2), (2, 0), (1,)]
    pages = [Record(url(n), Path("a"), payload="".join(f"<p>{stories[i]}" for i in some).encode(), url=url(n))
             for n, some in enumerate(order)]  # fmt: skip
    cleaned = [(record, cleaner.clean(record)) for record in pages]
    (loss,) = decide_records(dedup, cleaned, tmp_path, None, "", "domain")
    with open_decisions(dedup, tmp_path) as final:
        texts = [final(number, outcome).text for number, (_, outcome) in enumerate(cleaned)]
    assert texts == ["\n\n".join(stories) + "\n", stories[2] + "\n", ""]
    assert (loss.pages, loss.replicas) == (5, 2)


def test_replicas_are_not_streamed_as_pages(tmp_path):
    pytest.importorskip("icu4py")
    order = (0, 1, 0, 2, 1, 1)
    pages = replicapages.write_lines(
        tmp_path / "in.jsonl", [replicapages.page(replicapages.story(number)) for number in order]
    )
    plan = Plan((str(pages),), dedup=Dedup("pages"), method=Method("everything"))
    seen = []
    summary = run_plan(plan, io.StringIO(), lambda *pair: seen.append(pair), guarded=False)
    assert (summary["pages"], summary["kept"], summary["replica"]) == (6, 3, 3)
    repeated = [outcome.repeats and outcome.repeats["position"] for _, outcome in seen]
    assert repeated == [None, None, 0, None, 1, 1]


# Settings and parts of the inputs


def test_settings_that_differ_are_described():
    def describe(before, now, name="format"):
        return other_settings({name: before}, {name: now, "input files": "x"})

    assert describe("text", "xml") == {"format": "--format was text and is xml"}
    assert describe(None, "x" * 59) == {"format": f"--format was not given and is {'x' * 59}"}
    assert describe(None, "x" * 60) == {"format": "--format differs"}
    assert describe(1, 2, "records a part") == {"records a part": "--shard-records differs"}
    assert describe("a", "b", "model") == {"model": "--model differs"}
    assert describe("a", "b", "content type") == {"content type": "--charset was a and is b"}
    assert describe("a", "a") == {}


@pytest.mark.parametrize(
    ("count", "named"), [(2, "1/2, 2/2"), (10, "10/10"), (11, "10/11 and 1 more"), (1010, "10/1010 and 1,000 more")]
)
def test_merge_names_at_most_ten_missing_parts(tmp_path, count, named):
    store = Store(tmp_path, {"part": [1, count]}, split_label(1, count), shared=True)
    store.begin({})
    store.close()
    with pytest.raises(OutputError, match=f"not complete: --part .*{named}; run them, then merge"):
        merge_splits(tmp_path)


@pytest.mark.parametrize(("files", "is_whole"), [(8, True), (7, False)])
def test_parts_have_whole_files_if_there_are_four_per_part(tmp_path, monkeypatch, files, is_whole):
    monkeypatch.setattr(inputs, "GROUP_FILES", 1)
    for number in range(files):
        lines = [json.dumps({"url": url(n), "html": "<p>Tea"}) for n in range(5)]
        (tmp_path / f"{number}.jsonl").write_text("\n".join(lines))
    found = {}
    for number in (1, 2):
        plan = Plan(
            *((f"{tmp_path}/*.jsonl",), tmp_path / "out", "jsonl"),
            **{"method": Method("everything"), "shard_records": 4, "part": (number, 2)},
        )
        run_plan(plan, io.StringIO(), guarded=False)
        lines = [json.loads(line) for part in (tmp_path / "out").glob(f"split-{number}-*part*") for line in part.open()]
        found[number] = [(line["source"], line["position"]) for line in lines]
    assert len({*found[1], *found[2]}) == len(found[1] + found[2]) == 5 * files
    assert {source for source, _ in found[1]}.isdisjoint(source for source, _ in found[2]) is is_whole


@pytest.mark.parametrize(("size", "groups"), [(20, [2, 2, 1]), (19, [1] * 5), (29, [2, 2, 1]), (30, [3, 2])])
def test_group_of_files_has_at_most_the_size(tmp_path, monkeypatch, size, groups):
    monkeypatch.setattr(inputs, "GROUP_BYTES", size)
    for number in range(5):
        (tmp_path / f"{number}.html").write_text("<p>tea tea")
    found = list(group_files(find_files([str(tmp_path)]), 16))
    assert [len(group.files) for group in found] == groups
    assert [group.number for group in found] == list(range(len(groups)))


@pytest.mark.parametrize(("later", "is_ours"), [(-1, True), (0, True), (1, False)])
def test_texts_that_are_not_newer_than_their_part_are_ours(tmp_path, later, is_ours):
    for name, time in (("part", 10), ("a.txt", 10 + later)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, ns=(time, time))
    sink = sinks.make_sink(Plan(output=tmp_path, to="folder"))
    assert sink.is_ours("a.txt", tmp_path / "part") is is_ours
    assert not sink.is_ours("b.txt", tmp_path / "part")


def test_missing_files_have_no_size_in_a_group(tmp_path, monkeypatch):
    monkeypatch.setattr(inputs, "GROUP_BYTES", 7)
    (tmp_path / "a.html").write_text("<p>tea!")
    missing = [str(tmp_path / f"{number}.html") for number in range(3)]
    (group,) = group_files(find_files([*missing, str(tmp_path / "a.html"), *missing]), 16)
    assert len(group.files) == 7


def test_stamps_find_files_by_name(tmp_path):
    stamps = Stamps()
    for name in "bac":
        (tmp_path / name).write_text(name)
        stamps.add(tmp_path / name, (tmp_path / name).stat())
    stamps.add(tmp_path / "gone", None)
    again = Stamps(stamps.as_bytes() + b"torn")
    assert (len(again), again.digest) == (4, stamps.digest)
    assert [again.number_of(str(tmp_path / name)) for name in ("a", "b", "c", "gone", "d")] == [1, 0, 2, 3, -1]
    assert Stamps().number_of("a") == -1
    assert list(again.unchanged_from(stamps)) == [0, 1, 2, 3]
    assert list(again.unchanged_from(Stamps())) == [-1] * 4
    assert (again.gone_from(stamps), Stamps().gone_from(stamps), stamps.gone_from(Stamps())) == (0, 3, 0)


def test_outcome_of_a_page_has_its_digest_and_rounded_numbers():
    outcome = PageCleaner(Plan()).clean(Record("a", Path("a"), payload=page(1)))
    assert outcome.digest.startswith("sha256:")
    assert outcome.size == len(page(1))
    assert 0.5 < outcome.probability == round(outcome.probability, 6) < 1
    assert sum(outcome.labels.values()) > 3
    assert list(outcome.labels) == sorted(outcome.labels)
