"""Models of sites that are learned in this process, also if a page crashes the worker."""

import io
import json
from collections import deque
from pathlib import Path

import pytest
from support.commands import JPEG
from support.sitepages import site_page

from victorpy.batch.inputs import Group
from victorpy.batch.local import by_site
from victorpy.batch.local.by_site import Sites, check, learn
from victorpy.batch.local.logs import Spill, pack, spilled_page
from victorpy.batch.local.pool import Here
from victorpy.batch.local.progress import Progress
from victorpy.batch.local.stretches import start_worker
from victorpy.batch.plan import Plan
from victorpy.batch.record import Kind, Origin, Problem, Record
from victorpy.batch.site_model import from_bytes
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


@pytest.mark.parametrize("retried", [None, [0, 4], [0, "rest"]])
def test_sites_are_cleaned_in_a_fixed_order(tmp_path, retried):
    names = [f"{name}.example" for name in ("tea", "cup", "pot", "tea", "cup", "tea")]
    records = ({"url": f"http://{name}/{n}", "html": site_page(n)} for n, name in enumerate(names))
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    retry = None
    if retried:
        retry = tmp_path / "failed.jsonl"
        source = str(tmp_path / "x.jsonl")
        lines = [
            {"source": source, "position": 5 if n == "rest" else n, "rest": n == "rest", "place": "p",
             "url": None if n == "rest" else f"http://{names[n]}/{n}"} for n in retried
        ]  # fmt: skip
        retry.write_text("".join(json.dumps(line) + "\n" for line in lines))
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
    again = Sites(plan, tmp_path / "spill", Progress(io.StringIO(), quiet=True), Fragile(set()))
    assert [(site, len(pages), len(wanted)) for site, pages, wanted in again._sites()] == [
        (site, len(pages), len(wanted)) for site, pages, wanted in found._sites()
    ]
    assert spilled_page(tmp_path / "x", 5).offset == 5
    assert len(list((tmp_path / "spill").glob("*.list"))) == by_site.BUCKETS
