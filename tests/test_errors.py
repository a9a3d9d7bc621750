"""Messages: how to install what is missing, and no control characters on terminals and in logs."""

import io
import json
import re
import sys
import tomllib

import pytest
from support.commands import JPEG, ROOT, clean

from victorpy.base.terminal import SafeStream
from victorpy.batch.outcome import clean_record
from victorpy.errors import DISTRIBUTION, VictorError, install_command, missing, visible
from victorpy.outputs.base import MAGIC

CONTROLS = "".join(map(chr, [*range(32), *range(127, 160), *range(0x202A, 0x202F), 0x2028, 0x2066, 0x061C, 0xDC80]))


def test_every_control_character_is_shown():
    assert visible(CONTROLS) == "".join(f"⟨U+{ord(char):04X}⟩" for char in CONTROLS)
    assert visible("a\n\tb\r", keep_lines=True) == "a\n\tb⟨U+000D⟩"
    assert visible("Tea – 茶 \u200d") == "Tea – 茶 \u200d"
    assert str(VictorError(f"no file {CONTROLS}")).isprintable()


def test_safe_stream_keeps_only_what_progress_bars_need():
    written = io.StringIO(newline="")
    stream = SafeStream(written)
    stream.write("\r50 %|█\r")
    print("a\x1b[2J\rb", file=stream)
    assert written.getvalue() == "\r50 %|█\ra⟨U+001B⟩[2J⟨U+000D⟩b\n"


@pytest.mark.parametrize("where", ["file name", "unknown option", "config", "archive", "model"])
def test_text_from_outside_reaches_the_terminal_without_control_characters(tmp_path, where):
    evil = "a\x1b[31m\x9b2J\u202eb\r"
    page, archive, model = tmp_path / f"{evil}.html", tmp_path / "x.jsonl", tmp_path / evil
    page.write_bytes(JPEG)
    archive.write_text("".join(json.dumps({"url": f"http://{evil}/", "html": 5}) + "\n" for _ in range(3)))
    model.mkdir()
    (model / "meta.json").write_text("{}")
    command = {
        "file name": [page, "-o", f"{tmp_path}/out/"],
        "unknown option": [f"--{evil}"],
        "config": ["--config", evil, page],
        "archive": [archive, "-o", f"{tmp_path}/out/"],
        "model": ["--model", model, page],
    }[where]
    ended = clean(*command, text=True)
    assert ended.returncode in {1, 2}
    assert "31m" in ended.stderr or where == "archive"
    assert all(line.isprintable() for line in ended.stderr.split("\n"))


def test_crawled_page_cannot_pretend_to_be_an_annotation_file(tmp_path):
    fake = f"{MAGIC}\nurl: http://bank.example/\n\n<p>Tea is made by pouring hot water over the leaves of the bush."
    assert clean_record({"html": fake, "url": "http://tea.example/x.anno"})["url"] == "http://tea.example/x.anno"
    (tmp_path / "x.html").write_text(fake)
    ended = clean(tmp_path / "x.html", "--method", "everything", text=True)
    assert (ended.returncode, MAGIC in ended.stdout) == (0, True)
    (tmp_path / "x.anno").write_text(fake)
    assert "x.anno:4: expected label" in clean(tmp_path / "x.anno", text=True).stderr


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


def test_modules_import_only_packages_of_a_base_install():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    packages = [requirement.partition(">=")[0] for requirement in project["dependencies"]]
    known = {"victorpy", *sys.stdlib_module_names, *(MODULES.get(name, name.replace("-", "_")) for name in packages)}
    for path in (ROOT / "victorpy").rglob("*.py"):
        source = path.read_text()
        imports = re.findall(r"^(?:import (\w+)|from (\w+)[\w.]* import)", source, re.MULTILINE)
        assert "spark" in path.parts or known.issuperset(map("".join, imports)), path


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
