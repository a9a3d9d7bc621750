"""Snapshots of every format: pages with labels that depend on no model, and pages without each of their parts."""

from dataclasses import replace

import pytest
from support.snapshots import SAMPLES, SMALL, STRUCTURED, check, digest, name_of

from victorpy import Label, Parts
from victorpy.methods import load_method
from victorpy.model.parts import PARTS, choose_parts
from victorpy.model.roles import assign_roles
from victorpy.outputs import OUTPUTS

PAGES = [*SMALL, *STRUCTURED, *SAMPLES[::6]]
MORE = ["docview(keywords=3,sentences=2)", "jsonl(offsets=true)", "markdown(front_matter=true)", "text,html"]
ASIDE = {"nav", "footer", "aside", "form", "button"}


def label_of(block):
    tags = set(block.containers)
    if tags & ASIDE:
        return Label.OTHER
    if tags & {"h1", "h2", "h3", "h4", "h5", "h6"}:
        return Label.HEADER
    return Label.LIST if "li" in tags else Label.PARAGRAPH


@pytest.fixture(scope="module")
def cleaner():
    return load_method("everything")


def read(cleaner, path):
    url = f"https://tea.example/pages/{path.stem}"
    page = cleaner.document(path.read_bytes(), url, metadata=True, layout=True)
    labels = tuple(map(label_of, page.document.blocks))
    return replace(page, labels=labels, roles=assign_roles(page.document, labels))


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_formats(cleaner, path):
    page = read(cleaner, path)
    check("formats", name_of(path), {name: digest(page.to(name)) for name in [*OUTPUTS, *MORE]})


@pytest.mark.parametrize("path", STRUCTURED[::4] + SAMPLES[::12], ids=name_of)
def test_parts(cleaner, path):
    page = read(cleaner, path)
    found = {name: digest(choose_parts(page, Parts.of(exclude=name)).to("markdown")) for name in PARTS}
    check("parts", name_of(path), found)
