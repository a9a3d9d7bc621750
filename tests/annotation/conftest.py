"""Pages to annotate."""

import shutil
from pathlib import Path

import pytest
from support.annotation import ARTICLES, CUPS, TEA


@pytest.fixture
def place(tmp_path):
    """The annotation file of a small page, which does not exist yet."""
    (tmp_path / "tea.html").write_text(TEA)
    return tmp_path / "tea.anno"


@pytest.fixture
def page(tmp_path):
    (tmp_path / "tea.html").write_text(CUPS)
    return tmp_path / "tea.html"


@pytest.fixture
def bridge(tmp_path):
    return Path(shutil.copy(ARTICLES / "courier-bridge.html", tmp_path))


@pytest.fixture
def directory(tmp_path):
    """Three small pages, the second of which cannot be opened."""
    for number, name in enumerate(("a", "c", "d")):
        (tmp_path / f"{name}.html").write_text(f"<p>Block one of {name}<p>Block two" + "<p>More" * number)
    (tmp_path / "b.anno").write_text("no annotation")
    return tmp_path


@pytest.fixture
def pages(tmp_path):
    for name in ("courier-bridge", "courier-bakery", "courier-council"):
        shutil.copy(ARTICLES / f"{name}.html", tmp_path)
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "tea.html").write_text(CUPS)
    return tmp_path
