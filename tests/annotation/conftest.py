"""Pages to annotate."""

from __future__ import annotations

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
