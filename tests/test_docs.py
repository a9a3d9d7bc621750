"""The documentation is complete: links lead somewhere, the index lists every page, and benchmarks can be started."""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "*/README.md", "benchmarks/results/RESULTS.md")
    for path in ROOT.glob(pattern)
    if path.parent.name != "docs" or pattern.startswith("docs")
)
SCRIPTS = sorted(
    f"{folder}.{path.stem}" for folder in ("benchmarks", "tools") for path in (ROOT / folder).glob("[!_]*.py")
)


def prose_of(page):
    """Return the text of a page without code."""
    return re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)


def anchors_of(page):
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


def broken_links(page):
    for link in re.findall(r"\]\(([^)\s]+)\)", prose_of(page)):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if link.startswith("http"):
            continue
        if not target.exists() or (anchor and anchor not in anchors_of(target)):
            yield link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    assert list(broken_links(page)) == []


def test_the_index_lists_every_page():
    index = ROOT / "docs" / "README.md"
    listed = {
        (index.parent / link.partition("#")[0]).resolve() for link in re.findall(r"\]\(([^)]+)\)", prose_of(index))
    }
    assert {page for page in PAGES if page.is_relative_to(ROOT / "docs")} - listed == {index}


def test_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 120


@pytest.mark.parametrize("name", SCRIPTS)
def test_benchmarks_and_tools_can_be_started(name):
    pytest.importorskip("sklearn")
    assert callable(importlib.import_module(name).main)
