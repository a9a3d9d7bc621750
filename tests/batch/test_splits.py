"""Inputs cleaned in parts, as several machines do it, and merged."""

import json

import pytest
from support.batchpages import crawl, cut_manifest, failed, page, rows, tree, url
from support.commands import clean, victor, write_files

pytestmark = pytest.mark.processes
pytest.importorskip("fastwarc")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A large archive, and a directory of many archives; one line fails."""
    place = tmp_path_factory.mktemp("in")
    crawl(place / "one.warc.gz", 30)
    lines = [json.dumps({"url": url(n), "html": page(n).decode()}) for n in range(5)]
    write_files(place / "many", {f"{number:03d}.jsonl": "\n".join(lines) for number in range(4)})
    (place / "many" / "003.jsonl").write_text("{torn")
    return place


def clean_parts(inputs, out, count, *options):
    for number in range(1, count + 1):
        command = (inputs, "--part", f"{number}/{count}", "-o", out, "--to", "jsonl.gz", "-j", 1, *options)
        assert clean(*command).returncode in {0, 1}


@pytest.mark.parametrize("name", ["one.warc.gz", "many"])
def test_parts_have_all_records_once(place, tmp_path, monkeypatch, name):
    monkeypatch.setattr("victorpy.batch.inputs.GROUP_FILES", 1)
    clean(place / name, "-o", tmp_path / "whole", "--to", "jsonl.gz", "-j", 1)
    count = 3 if name == "one.warc.gz" else 1
    clean_parts(place / name, tmp_path / "out", count, "--shard-records", 4)
    ended = victor("merge", tmp_path / "out", "--summary", tmp_path / "s.json")
    expected = rows(tmp_path / "whole")
    assert ended.returncode == (1 if name == "many" else 0), ended.stderr
    found = rows(tmp_path / "out", "split-*-")
    assert sorted(found, key=str) == sorted(expected, key=str)
    summary = json.loads((tmp_path / "s.json").read_text())
    assert (summary["pages"], len(summary["runs"])) == (len(expected), count)
    assert summary["cpu"] > 0
    assert failed(tmp_path / "out") == failed(tmp_path / "whole")
    assert not list((tmp_path / "out").glob("split-*manifest*"))
    if name == "one.warc.gz":
        assert {row["position"] // 4 % 3 for row in rows(tmp_path / "out", "split-2-*-")} == {1}
        again = clean(place / name, "-o", tmp_path / "out", "--to", "jsonl.gz", "-j", 1, "--shard-records", 4)
        assert b"the run is already complete" in again.stderr


def test_parts_by_site_have_whole_sites(tmp_path):
    lines = [json.dumps({"url": f"http://{'abcd'[n % 4]}.example/{n}", "html": page(n).decode()}) for n in range(20)]
    (tmp_path / "in.jsonl").write_text("\n".join(lines))
    options = ("--by-site", "--method", "sst")
    clean(tmp_path / "in.jsonl", "-o", tmp_path / "whole", "--to", "jsonl.gz", "-j", 1, *options)
    clean_parts(tmp_path / "in.jsonl", tmp_path / "out", 2, *options)
    sites = [{row["host"] for row in rows(tmp_path / "out", f"split-{number}-*-")} for number in (1, 2)]
    assert sorted(map(len, sites)) in ([1, 3], [2, 2])
    assert not sites[0] & sites[1]
    assert victor("merge", tmp_path / "out").returncode == 0
    assert sorted(rows(tmp_path / "out", "split-*-"), key=str) == sorted(rows(tmp_path / "whole"), key=str)


def test_part_resumes_with_the_same_bytes(place, tmp_path):
    command = (place / "one.warc.gz", "--part", "2/3", "--to", "jsonl", "--shard-records", 4, "-j", 1)
    clean(*command, "-o", tmp_path / "whole")
    clean(*command, "-o", tmp_path / "out")
    cut_manifest(tmp_path / "out", 2, "split-2-of-3-")
    clean(*command, "-o", tmp_path / "out")
    assert tree(tmp_path / "out") == tree(tmp_path / "whole")


def test_merge_names_what_is_missing(place, tmp_path):
    out = tmp_path / "out"
    command = (place / "one.warc.gz", "-o", out, "--to", "jsonl", "-j", 1, "--shard-records", 4)
    clean(*command, "--part", "1/3")
    clean(*command, "--part", "3/3")
    cut_manifest(out, 2, "split-3-of-3-")
    before = tree(out)
    ended = victor("merge", out)
    assert (ended.returncode, b"not complete: --part 2/3, 3/3" in ended.stderr) == (2, True)
    assert tree(out) == before
    for number in (2, 3):
        clean(*command, "--part", f"{number}/3")
    next(out.glob("split-2*part*")).unlink()
    assert b"this file is missing" in victor("merge", out).stderr
    assert b"there are no parts to merge" in victor("merge", tmp_path).stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--part", "4/3"], "expected a part such as 3/100"),
        (["--part", "1/2"], "give -o DIRECTORY"),
        (["--part", "1/2", "-o", "out"], "cannot write a folder of texts"),
        (["--part", "1/2", "-o", "o.jsonl/", "--dedup", "pages"], "leave out --part, or use spark-clean"),
    ],
)
def test_wrong_parts_are_refused(place, tmp_path, options, said):
    ended = clean(place / "one.warc.gz", *options, cwd=tmp_path)
    assert (ended.returncode, said in ended.stderr.decode()) == (2, True), ended.stderr
    assert "Traceback" not in ended.stderr.decode()


def test_parts_of_other_settings_are_not_merged(place, tmp_path):
    command = (place / "one.warc.gz", "-o", tmp_path / "out", "--to", "jsonl", "-j", 1)
    clean(*command, "--part", "1/2")
    clean(*command, "--part", "2/2", "--favor", "recall")
    assert b"favor was" in victor("merge", tmp_path / "out").stderr


def test_parts_and_other_runs_do_not_share_a_directory(place, tmp_path):
    whole, out = tmp_path / "whole", tmp_path / "out"
    command = (place / "one.warc.gz", "--to", "jsonl", "-j", 1)
    clean(*command, "-o", out, "--part", "1/2")
    clean(*command, "-o", whole)
    before = tree(out), tree(whole)
    for options in ([], ["--force"]):
        ended = clean(*command, "-o", out, *options)
        expected = f"clean: {out}: contains parts that are not merged; run victor merge {out}, or choose another"
        assert (ended.returncode, ended.stderr.decode().startswith(expected)) == (2, True), ended.stderr
    ended = clean(*command, "-o", whole, "--part", "1/2")
    assert (ended.returncode, b"contains the output of a run without --part" in ended.stderr) == (2, True)
    assert (tree(out), tree(whole)) == before


def test_merge_that_was_interrupted_is_repeated(place, tmp_path):
    out = tmp_path / "out"
    clean_parts(place / "one.warc.gz", out, 2)
    splits = {path: path.read_bytes() for path in [*out.glob("split-*manifest*"), *out.glob(".split-*")]}
    assert victor("merge", out).returncode == 0
    merged = tree(out)
    for path, content in splits.items():
        path.write_bytes(content)
    cut_manifest(out, 1)
    assert victor("merge", out).returncode == 0
    assert tree(out) == merged
    write_files(out, {**{path.name: content for path, content in splits.items()}})
    clean(place / "one.warc.gz", "-o", tmp_path / "whole", "--to", "jsonl.gz", "-j", 1)
    (tmp_path / "whole" / "manifest.jsonl").replace(out / "manifest.jsonl")
    assert b"contains the output of a run without --part" in victor("merge", out).stderr
