"""Errors tell users how to install what is missing."""

import re
import tomllib

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


MODULES = {
    "faust-cchardet": "cchardet",
    "python-crfsuite": "pycrfsuite",
    "scikit-learn": "sklearn",
    "jusText": "justext",
    "readability-lxml": "readability",
}
"""Packages whose modules have another name."""


def test_every_package_that_is_installed_is_imported():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    required = [
        *project["dependencies"],
        *(name for extra, names in extras.items() if extra != "dev" for name in names),
    ]
    folders = (ROOT / name for name in ("victorpy", "benchmarks"))
    sources = "\n".join(path.read_text() for folder in folders for path in folder.rglob("*.py"))
    for name in {requirement.partition(">=")[0] for requirement in required if DISTRIBUTION not in requirement}:
        module = MODULES.get(name, name.replace("-", "_"))
        named = rf"(import|from) {module}\b|[\"']{module}[\"'.]"  # peers are imported by name
        assert re.search(named, sources), name
