"""Snapshots of every format: pages with labels that depend on no model, and pages without each of their parts."""

import random
from dataclasses import replace

import pytest
from support.outputpages import OutputPage
from support.randompages import batch, label_of, some_kept
from support.repairpages import RepairPage
from support.rulepages import RulePage
from support.snapshots import SAMPLES, SMALL, STRUCTURED, check, digest, name_of

from victorpy import Label, Parts
from victorpy.methods import load_method
from victorpy.model.parts import PARTS, choose_parts
from victorpy.model.roles import assign_roles
from victorpy.outputs import OUTPUTS

PAGES = [*SMALL, *STRUCTURED, *SAMPLES[::6]]
MORE = ["docview(keywords=3,sentences=2)", "jsonl(offsets=true)", "markdown(front_matter=true)", "text,html"]
RECORDS = {"docview-csv", "docview-markdown", "docview-tei"}


@pytest.fixture(scope="module")
def cleaner():
    return load_method("everything")


def read(cleaner, html, name, dropped=()):
    page = cleaner.document(html, f"https://tea.example/pages/{name}", metadata=True, layout=True)
    labels = [
        Label.OTHER if number in dropped else label_of(block) for number, block in enumerate(page.document.blocks)
    ]
    return replace(page, labels=tuple(labels), roles=assign_roles(page.document, labels))


def read_random(cleaner, number):
    """Return random pages without a sixth of their blocks."""
    for name, html in batch(number).items():
        chance = random.Random(name)
        yield read(cleaner, html, name, {block for block in range(200) if chance.random() < 1 / 6})


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_formats(cleaner, path):
    page = read(cleaner, path.read_bytes(), path.stem)
    check("formats", name_of(path), {name: digest(page.to(name)) for name in [*OUTPUTS, *MORE]})


@pytest.mark.parametrize("path", STRUCTURED[::4] + SAMPLES[::12], ids=name_of)
def test_parts(cleaner, path):
    page = read(cleaner, path.read_bytes(), path.stem)
    found = {name: digest(choose_parts(page, Parts.of(exclude=name)).to("markdown")) for name in PARTS}
    check("parts", name_of(path), found)


@pytest.mark.parametrize("number", range(16))
def test_random_pages(cleaner, number):
    pages = [*read_random(cleaner, number)]
    found = {name: digest("".join(page.to(name) for page in pages)) for name in OUTPUTS if name not in RECORDS}
    for name in PARTS:
        chosen = (choose_parts(page, Parts.of(exclude=name)) for page in pages)
        found[f"markdown without {name}"] = digest("".join(page.to("markdown") for page in chosen))
    check("random-formats", f"pages {number}", found)


MAKERS = {"output": OutputPage, "repair": RepairPage, "rule": RulePage}


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("number", range(4))
def test_random_parts(cleaner, number, maker):
    """Tables, notes, images, boxes, styles, formulas, listings and units between kept and dropped blocks."""
    pages = []
    for seed in range(12 * number, 12 * (number + 1)):
        page = read(cleaner, MAKERS[maker](seed).html(), "page.html")
        labels = some_kept(page.document, str(seed), 0.15)
        pages += [page, replace(page, labels=labels, roles=assign_roles(page.document, labels))]
    found = {name: digest("".join(page.to(name) for page in pages)) for name in [*OUTPUTS, "jsonl(offsets=true)"]}
    check("parts-of-random-formats", f"{maker} {number}", {name: found[name] for name in found if name not in RECORDS})
