"""Imports point one way: no module takes anything from a layer above its own."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "victorpy"

# From the bottom up, as docs/ARCHITECTURE.md draws it. A package stands for all of its modules; "" is
# victorpy itself, the public names.
LAYERS = [
    {"document", "errors"},
    {"registry", "config", "variables", "textformat", "resources", "unicode", "groups", "settings", "files"},
    {
        *("decode", "parse", "split", "columns", "features", "encode", "template", "crf", "evidence", "sites"),
        *("about",),
        *("labellers", "markup", "anno", "same_blocks", "outputs"),
    },
    {"cleaner", "model", "methods", "peers", "replicas"},
    {
        *("datasets", "gold", "align", "scores", "statistics", "train", "crossval", "evaluate", "compare", "report"),
        *("view", "agreement", "annotators"),
    },
    {"annotate", "batch", "mining", ""},
    {"commands", "__main__"},
]
LAYER_OF = {name: number for number, names in enumerate(LAYERS) for name in names}

MODULES = sorted(PACKAGE.rglob("*.py"))

# The only ones that talk to a terminal and read what was typed there.
TALKATIVE = {"commands", "annotate"}


def part_of(path):
    """The first step below victorpy: a module's own name or that of its package."""
    first = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return "" if first == "__init__" else first


def is_module(name):
    return (PACKAGE / name).is_dir() or (PACKAGE / f"{name}.py").is_file()


def imported_names(tree):
    """Every dotted name that a module imports, wherever in it the import stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names)


def imported_parts(tree):
    """The parts of victorpy that a module imports; a name that is no module is of victorpy itself."""
    for name in imported_names(tree):
        top, _, rest = name.partition(".")
        if top == "victorpy":
            first = rest.partition(".")[0]
            yield first if is_module(first) else ""


def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def module_id(path):
    return str(path.relative_to(PACKAGE))


def wrong_imports(part, tree):
    """The parts from above; one without a layer is another test's matter."""
    return sorted({other for other in imported_parts(tree) if LAYER_OF.get(other, 0) > LAYER_OF.get(part, 0)})


def test_the_modules_are_found():
    assert {"cleaner.py", "features/base.py", "commands/clean.py"} <= {module_id(path) for path in MODULES}


def test_every_module_has_a_layer():
    parts = {part_of(path) for path in MODULES}
    assert parts - LAYER_OF.keys() == set(), "say in LAYERS where these stand"


def test_a_module_stands_in_one_layer():
    assert sum(map(len, LAYERS)) == len(LAYER_OF)


@pytest.mark.parametrize("path", MODULES, ids=module_id)
def test_no_module_imports_from_a_layer_above(path):
    assert wrong_imports(part_of(path), parsed(path)) == []


@pytest.mark.parametrize("path", MODULES, ids=module_id)
def test_no_relative_imports(path):
    assert [name for name in imported_names(parsed(path)) if name.startswith(".")] == []


@pytest.mark.parametrize("name", ["document.py", "errors.py"])
def test_the_bottom_imports_nothing_of_the_package(name):
    assert list(imported_parts(parsed(PACKAGE / name))) == []


@pytest.mark.parametrize("path", [path for path in MODULES if part_of(path) not in TALKATIVE], ids=module_id)
def test_only_commands_and_the_annotator_parse_arguments_or_print(path):
    tree = parsed(path)
    imported = {name.partition(".")[0] for name in imported_names(tree)}
    assert imported & {"argparse", "optparse", "getopt", "click", "typer", "tqdm", "curses", "urwid"} == set()
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    assert [call.lineno for call in calls if isinstance(call, ast.Name) and call.id in {"print", "input"}] == []
    attributes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    assert [node.lineno for node in attributes if node.attr == "argv"] == []


@pytest.mark.parametrize(
    ("part", "source", "expected"),
    [
        ("split", "from victorpy.document import Block", []),
        ("split", "from victorpy.cleaner import clean", ["cleaner"]),
        ("split", "import victorpy.commands.clean", ["commands"]),
        ("split", "from victorpy import train", ["train"]),
        ("split", "from victorpy import clean", [""]),
        ("split", "def f():\n    from victorpy.batch import records", ["batch"]),
        ("commands", "from victorpy import __version__", []),
    ],
)
def test_this_test_sees_imports_of_every_form(part, source, expected):
    assert wrong_imports(part, ast.parse(source)) == expected
