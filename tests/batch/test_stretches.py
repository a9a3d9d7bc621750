"""Stretches of records, run in this process: what they report, and where the next stretch begins."""

from dataclasses import replace
from functools import partial

import pytest
from support.batchpages import page, response, url, warc_record, write_warc

from victorpy.batch.inputs import find_files, group_files
from victorpy.batch.local import stretches
from victorpy.batch.local.logs import Stretch
from victorpy.batch.local.stretches import Job, run_stretch, spill_stretch, start_worker
from victorpy.batch.plan import Plan
from victorpy.methods import Method


@pytest.fixture
def job(tmp_path):
    """A function that makes the job of a stretch: two archives with five pages each, three pages per stretch."""
    pytest.importorskip("fastwarc")
    for name in "ab":
        records = [response(url(number), page(number)) for number in range(5)]
        note = warc_record("metadata", url(9), bytes(400_000), "text/plain")  # longer than what is read at once
        write_warc(tmp_path / f"{name}.warc", [*records, note])
    plan = Plan(inputs=(str(tmp_path),), output=tmp_path / "out", to="jsonl", method=Method("everything"))
    start_worker(plan, None, is_guarded=False)
    (group,) = group_files(find_files(plan.inputs), 3)
    return partial(Job, group=group, directory=tmp_path)


@pytest.mark.parametrize("run", [run_stretch, spill_stretch])
def test_reports_of_a_stretch_add_up(tmp_path, monkeypatch, job, run):
    monkeypatch.setattr(stretches, "REPORT_SECONDS", -1.0)  # report after every page
    monkeypatch.setattr(stretches, "_SPILLED_AT_ONCE", 2)
    whole, events = job(stretch=Stretch(0)), []
    run(replace(whole, group=whole.group._replace(records=100)), events.append)
    progress = [event[1:] for event in events if event[0] == "progress"]
    assert sum(read for _, _, read in progress) == sum(path.stat().st_size for path in tmp_path.glob("*.warc"))
    is_cleaned = run is run_stretch
    assert sum(statuses.get("kept", 0) for statuses, _, _ in progress) == 10 * is_cleaned
    assert sum(size for _, size, _ in progress) == 2 * sum(len(page(number)) for number in range(5)) * is_cleaned


@pytest.mark.parametrize("run", [run_stretch, spill_stretch])
def test_stretches_follow_each_other(job, run):
    stretch, places = Stretch(0), []
    while stretch is not None:
        segment = run(job(stretch=stretch), lambda event: None)
        places.append((stretch.number, stretch.file, stretch.start, segment.last))
        stretch = segment.following
    assert places == [(0, 0, 0, (0, 3)), (1, 0, 3, (1, 1)), (2, 1, 1, (1, 4)), (3, 1, 4, (2, 0))]


def test_unwanted_stretch_is_only_read(tmp_path, job):
    events = []
    assert run_stretch(job(stretch=Stretch(0), is_wanted=False), events.append) is None
    assert [event[0] for event in events] == ["following", "progress"]
    assert not list(tmp_path.glob("*.log"))


def test_finished_records_of_a_stretch_are_not_cleaned_again(tmp_path, job):
    whole = run_stretch(job(stretch=Stretch(0)), lambda event: None)
    (log,) = tmp_path.glob("*.log")
    lines = log.read_bytes()
    events = []
    again = run_stretch(job(stretch=Stretch(0)), events.append)
    assert (again.tally, log.read_bytes()) == (whole.tally, lines)
    assert events[-1] == ("progress", {}, 0, events[-1][3])
    found = next(event for event in events if event[0] == "found")
    assert found[1]["pages"] == 3
