"""Models of sites that are learned in this process, also if a page crashes the worker."""

import io
import json
import sys
from collections import deque
from pathlib import Path

import pytest
from support.commands import JPEG
from support.sitepages import site_page

from victorpy.batch import site_model
from victorpy.batch.inputs import Group
from victorpy.batch.local import by_site
from victorpy.batch.local.by_site import Sites, check, learn
from victorpy.batch.local.logs import Spill, Stretch, pack, spilled_page
from victorpy.batch.local.pool import Here
from victorpy.batch.local.progress import Progress
from victorpy.batch.local.stretches import start_worker
from victorpy.batch.plan import Plan
from victorpy.batch.record import Kind, Origin, Problem, Record
from victorpy.batch.site_model import from_bytes
from victorpy.errors import DataError
from victorpy.methods import Method


class Fragile:
    """Runs tasks in this process. Some pages end the worker."""

    jobs = 1

    def __init__(self, bad):
        self.queue, self._bad, self.done = deque(), bad, []

    def step(self, give):
        task = self.queue.popleft()
        pages = task.arguments[1] if task.function is learn else [task.arguments[0]]
        self.done.append((task.function.__name__, [page.number for page in pages]))
        if self._bad.intersection(page.number for page in pages):
            task.died(Problem(Kind.CRASH, "tea"))
        else:
            task.ended(task.function(*task.arguments, task.heard))
        return True


@pytest.fixture
def pages(tmp_path):
    with Spill(tmp_path / "a.spill") as spill:
        records = [Record(f"p{n}", Path("p"), payload=site_page(n).encode(), origin=Origin("s", n)) for n in range(5)]
        return [spill.add(pack(record))._replace(number=n) for n, record in enumerate(records)]


@pytest.fixture
def lines(tmp_path):
    """Pages of three sites, one after the other."""
    names = [f"{name}.example" for name in ("tea", "cup", "pot", "tea", "cup", "tea")]
    records = ({"url": f"http://{name}/{n}", "html": site_page(n)} for n, name in enumerate(names))
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return names


def sites(tmp_path, bad=(), sample=500, method=("sst", ("t=0.4",))):
    plan = Plan(output=tmp_path / "out", to="jsonl", by_site=True, method=Method(*method), sample=sample)
    start_worker(plan, None, is_guarded=False)
    return Sites(plan, tmp_path, Progress(io.StringIO(), quiet=True), Fragile(set(bad)))


@pytest.mark.parametrize(
    ("bad", "done", "pages_learned"),
    [
        (set(), [("learn", [0, 1, 2, 3, 4])], 5),
        ({2}, [("learn", [0, 1, 2, 3, 4]), *(("check", [n]) for n in range(5)), ("learn", [0, 1, 3, 4])], 4),
    ],
)
def test_pages_that_crash_learning_are_left_out(tmp_path, pages, bad, done, pages_learned):
    found = sites(tmp_path, bad)
    model = found.wait_for_model("tea.example", found.learn("tea.example", pages))
    assert found.pool.done == done
    assert found.progress._learned == pages_learned
    base = found.plan.load()
    assert from_bytes(base, Path(model).read_bytes()).labeller.tree_.page_count == pages_learned


def test_site_whose_pages_all_crash_has_no_model(tmp_path, pages):
    found = sites(tmp_path, {0, 1, 2, 3, 4})
    problem = found.wait_for_model("tea.example", found.learn("tea.example", pages))
    assert problem.kind is Kind.SITE
    assert problem.words.startswith("the model of the site 'tea.example' could not be saved: ")


def test_site_is_learned_from_a_sample_of_its_first_pages(tmp_path, pages):
    found = sites(tmp_path, sample=2)
    task = found.learn("tea.example", pages * 3)
    assert len(task.arguments[1]) == 2
    assert {page.number for page in task.arguments[1]} <= {0, 1, 2, 3, 4}
    again = found.learn("tea.example", (pages * 3)[:8])  # four times the sample
    assert again.arguments == task.arguments
    assert len(list(found.pool.queue)) == 2


def test_unreadable_pages_are_left_out(tmp_path, pages):
    found = sites(tmp_path)
    with Spill(tmp_path / "b.spill") as spill:
        bad = spill.add(pack(Record("x", Path("x"), payload=JPEG)))
    heard = []
    assert learn(str(tmp_path / "m"), [*pages[:3], bad], heard.append) is None
    assert heard == [1] * 4
    assert check(bad, heard.append) is None
    problem = learn(str(tmp_path / "n"), [bad], heard.append)
    assert problem.kind is Kind.SITE
    assert not (tmp_path / "n").exists()
    base = found.plan.load()
    assert from_bytes(base, (tmp_path / "m").read_bytes()).labeller.tree_.page_count == 3


def test_learning_has_the_time_of_a_page_for_fifty_pages(tmp_path, pages, monkeypatch):
    seconds = []
    found = sites(tmp_path)
    monkeypatch.setattr(by_site, "allow_seconds", seconds.append)
    for count in (5, 100):
        learn(str(tmp_path / "m"), (pages * 20)[:count], lambda pages: None)
    check(pages[0], None)
    deadline = found.plan.limits.deadline
    assert seconds == pytest.approx([1.1 * deadline, 3 * deadline, deadline])


def test_order_of_sites_is_that_of_every_version():
    assert [by_site.bucket_of(site) for site in ("", "tea.example", "\ud800")] == [35, 23, 17]


def test_models_of_earlier_sites_are_deleted(tmp_path):
    found = sites(tmp_path)
    models = [tmp_path / f"{name}.model" for name in "ab"]
    for path in models:
        path.touch()
    groups = [Group(n, (), 16, model) for n, model in enumerate((str(models[0]), str(models[0]), str(models[1]), None))]
    left = []
    for group in groups:
        found.forget(group)
        left.append([path.exists() for path in models])
    assert left == [[True, True], [True, True], [False, True], [False, False]]
    found.forget(Group(5, (), 16, Problem(Kind.SITE, "tea")))
    assert found._last is None


@pytest.mark.parametrize(("most", "learned"), [(5, ["cup.example", "tea.example"]), (4, ["tea.example"])])
def test_sites_are_learned_while_pages_are_read_if_there_are_enough(tmp_path, monkeypatch, most, learned):
    """The pages of tea make room for the page of pot and four others."""
    monkeypatch.setattr(by_site, "_MOST_EARLY", most)
    names = ["tea"] * 4 + ["pot"] + ["cup"] * 4
    records = ({"url": f"http://{name}.example/{n}", "html": site_page(n)} for n, name in enumerate(names))
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    plan = Plan((str(tmp_path / "x.jsonl"),), tmp_path / "out", "jsonl", by_site=True, method=Method("sst"), sample=1)
    start_worker(plan, None, is_guarded=False)
    with Here(lambda: 0) as here:
        found = Sites(plan, tmp_path / "spill", Progress(io.StringIO(), quiet=True), here)
        found.spill()
        tasks = dict(found._models)
        models = {site: found.wait_for_model(site, task) for site, task in tasks.items()}
    assert sorted(tasks) == learned
    assert all(len(task.arguments[1]) == 1 for task in tasks.values())  # the sample
    assert all(Path(model).is_file() for model in models.values())


@pytest.mark.parametrize("retried", [None, [0, 4], [0, "rest"]])
def test_sites_are_cleaned_in_a_fixed_order(tmp_path, lines, retried):
    retry = None
    if retried:
        retry = tmp_path / "failed.jsonl"
        source = str(tmp_path / "x.jsonl")
        failed = [
            {"source": source, "position": 5 if n == "rest" else n, "rest": n == "rest", "place": "p",
             "url": None if n == "rest" else f"http://{lines[n]}/{n}"} for n in retried
        ]  # fmt: skip
        retry.write_text("".join(json.dumps(line) + "\n" for line in failed))
    plan = Plan(
        (str(tmp_path / "x.jsonl"),), tmp_path / "out", "jsonl", by_site=True, method=Method("sst"), retry=retry
    )
    start_worker(plan, None, is_guarded=False)
    with Here(lambda: 0) as here:
        found = Sites(plan, tmp_path / "spill", Progress(io.StringIO(), quiet=True), here)
        groups = list(found.groups(2, None))
    shown = [(group.number, len(group.files), group.records) for group in groups]
    kinds = {None: [(0, 2, 2), (1, 1, 2), (2, 2, 2), (3, 1, 2)]}
    kinds |= {"04": [(0, 1, 2), (1, 1, 2)], "0rest": [(0, 2, 2)]}
    assert shown == kinds["".join(map(str, retried)) if retried else None]
    assert (
        len({group.model for group in groups})
        == {None: 3, "04": 2, "0rest": 1}["".join(map(str, retried)) if retried else None]
    )
    assert found.progress.total == sum(files for _, files, _ in shown)
    listed = [json.loads(line)[0] for path in (tmp_path / "spill").glob("*.list") for line in path.open()]
    assert len(listed) == {None: 6, "04": 5, "0rest": 6}["".join(map(str, retried)) if retried else None]
    again = Sites(plan, tmp_path / "spill", Progress(io.StringIO(), quiet=True), Fragile(set()))
    assert [(site, len(pages), len(wanted)) for site, pages, wanted in again._sites()] == [
        (site, len(pages), len(wanted)) for site, pages, wanted in found._sites()
    ]
    assert spilled_page(tmp_path / "x", 5).offset == 5
    assert len(list((tmp_path / "spill").glob("*.list"))) == by_site.BUCKETS


@pytest.mark.parametrize(
    ("total", "in_bytes", "line"), [(6, False, "6 of 6 pages (100 %)"), (6_000_000, True, "0 of 6 MB (0 %)")]
)
def test_progress_of_sorting_counts_pages_or_bytes(tmp_path, total, in_bytes, line):
    (tmp_path / "in").mkdir()
    for number in range(6):
        (tmp_path / "in" / f"{number}.html").write_text(site_page(number))
    plan = Plan((str(tmp_path / "in"),), tmp_path / "out", "jsonl", by_site=True, method=Method("sst"))
    start_worker(plan, None, is_guarded=False)
    stream = io.StringIO()
    with Here(lambda: 0) as here:
        Sites(plan, tmp_path / "spill", Progress(stream, total, in_bytes, interval=0.0), here).spill()
    lines = [each for each in stream.getvalue().splitlines() if each.startswith("sorting pages by site: ")]
    assert lines[-1].startswith(f"sorting pages by site: {line}, ")


@pytest.mark.parametrize(("done", "learned"), [(0, 3), (1, 2), (2, 1), (3, 1), (4, 0)])
def test_resumed_run_learns_no_models_of_sites_that_are_done(tmp_path, lines, done, learned):
    plan = Plan((str(tmp_path / "x.jsonl"),), tmp_path / "out", "jsonl", by_site=True, method=Method("sst"))
    start_worker(plan, None, is_guarded=False)
    with Here(lambda: 0) as here:
        groups = list(Sites(plan, tmp_path / "spill", Progress(io.StringIO(), quiet=True), here).groups(2, None))
        assert len(groups) == 4  # the last site has two groups
        again = Sites(plan, tmp_path / "spill", Progress(io.StringIO(), quiet=True), here)
        models = [group.model for group in again.groups(2, Stretch(done))]
    assert len({*models} - {None}) == learned
    assert models == [group.model if model else None for group, model in zip(groups, models, strict=True)]
    assert None not in models[done:]


def test_pages_that_are_nested_too_deeply_are_an_error_that_leaves_no_trace(monkeypatch):
    limits, before = [], sys.getrecursionlimit()
    monkeypatch.setattr(site_model, "_DEEPEST", before + 7)
    problem = pytest.raises(DataError, match="the pages of this site are nested too deeply for worker processes")
    with problem, site_model._deep_recursion():
        limits.append(sys.getrecursionlimit())
        raise RecursionError
    monkeypatch.setattr(site_model, "_DEEPEST", before - 7)
    with site_model._deep_recursion():
        limits.append(sys.getrecursionlimit())
    assert (limits, sys.getrecursionlimit()) == ([before + 7, before], before)
