"""Errors tell users how to install what is missing."""

from __future__ import annotations

import tomllib
from importlib.util import find_spec
from pathlib import Path

from support.commands import ROOT

from victorpy.errors import DISTRIBUTION, install_command, missing


def test_missing_package_is_installed_by_a_command_for_this_copy(tmp_path):
    package = tmp_path / "victorpy"
    assert install_command("batch", package) == "pip install 'victor-clean[batch]'"
    (tmp_path / "pyproject.toml").touch()
    assert install_command("batch", package) == f"pip install -e '.[batch]' in {tmp_path}"
    assert str(missing("Pebble", "batch", "this")) == f"this needs Pebble: pip install -e '.[batch]' in {ROOT}"


def test_project_has_the_name_and_the_extras_that_messages_give():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    assert project["name"] == DISTRIBUTION
    assert {"batch", "docview", "parquet", "peers", "research", "spark", "train"} <= extras.keys()
    own = [requirement for extra in extras.values() for requirement in extra if requirement.startswith("victor")]
    assert own
    for requirement in own:
        name, _, named = requirement.rstrip("]").partition("[")
        assert name == DISTRIBUTION
        assert set(named.split(",")) <= extras.keys()


def test_every_package_that_is_always_installed_is_imported():
    modules = {"faust-cchardet": "cchardet", "python-crfsuite": "pycrfsuite"}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    sources = "\n".join(path.read_text() for path in Path(ROOT / "victorpy").rglob("*.py"))
    for requirement in project["dependencies"]:
        name = requirement.partition(">=")[0]
        module = modules.get(name, name.replace("-", "_"))
        assert find_spec(module), name
        assert f"import {module}" in sources or f"from {module}" in sources, name
