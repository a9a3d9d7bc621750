"""Imports point one way: no module imports from a layer above its own."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "victorpy"

# From the bottom up, as docs/ARCHITECTURE.md shows it. A package includes all of its modules; "" is
# victorpy/__init__.py with the public names. A module imports from its own layer and from layers below.
ORDER = (
    *(
        "errors",
        "document",
        "native",
        "base",
        "config",
        "page",
        "columns",
        "features",
        "outputs",
        "sites",
        "description",
    ),
    *("labellers", "model", "cleaner", "peers", "methods", "dedup", "batch", "spark", "", "research", "annotation"),
    *("commands", "__main__"),
)

MODULES = {
    str(path.relative_to(PACKAGE)): ast.parse(path.read_text(encoding="utf-8"), str(path))
    for path in sorted(PACKAGE.rglob("*.py"))
}

# The only packages that use the terminal or read the command line; batch draws a progress bar.
TERMINAL_PACKAGES = {"commands", "annotation"}
TERMINAL_LIBRARIES = {"argparse", "optparse", "getopt", "click", "typer", "tqdm", "curses", "urwid"}


def part_of(module):
    """Return the first step below victorpy: a module's own name or that of its package."""
    first = module.partition("/")[0].removesuffix(".py")
    return "" if first == "__init__" else first


def imported_names(tree):
    """Yield every dotted name that a module imports, lazy imports included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names)


def imported_parts(tree):
    """Yield the parts of victorpy that a module imports; a name that is not a module belongs to victorpy itself."""
    for name in imported_names(tree):
        top, _, rest = name.partition(".")
        if top == "victorpy":
            first = rest.partition(".")[0]
            is_module = (PACKAGE / first).is_dir() or (PACKAGE / f"{first}.py").is_file()
            yield first if is_module else ""


def upward_imports(part, tree):
    return sorted({other for other in imported_parts(tree) if ORDER.index(other) > ORDER.index(part)})


def test_every_module_has_a_place_in_the_order():
    assert {"cleaner.py", "features/base.py", "commands/clean.py"} <= MODULES.keys()
    assert {part_of(module) for module in MODULES} == set(ORDER)


def test_no_module_imports_from_above():
    wrong = {module: upward_imports(part_of(module), tree) for module, tree in MODULES.items()}
    assert {module: parts for module, parts in wrong.items() if parts} == {}
    assert [list(imported_parts(MODULES[name])) for name in ("document.py", "errors.py")] == [[], []]


def test_few_modules_are_outside_packages():
    assert len([module for module in MODULES if "/" not in module]) <= 8


def test_no_relative_imports():
    relative = [(module, name) for module, tree in MODULES.items() for name in imported_names(tree) if name[0] == "."]
    assert relative == []


def test_only_commands_and_the_annotator_use_the_terminal():
    for module, tree in MODULES.items():
        if part_of(module) in TERMINAL_PACKAGES:
            continue
        imported = {name.partition(".")[0] for name in imported_names(tree)}
        assert imported & TERMINAL_LIBRARIES == set(), module
        nodes = list(ast.walk(tree))
        calls = [node.func for node in nodes if isinstance(node, ast.Call)]
        assert [f.lineno for f in calls if isinstance(f, ast.Name) and f.id in {"print", "input"}] == [], module
        assert [node.lineno for node in nodes if isinstance(node, ast.Attribute) and node.attr == "argv"] == [], module


@pytest.mark.parametrize(
    ("part", "source", "expected"),
    [
        ("page", "from victorpy.document import Block", []),
        ("page", "from victorpy.cleaner import clean", ["cleaner"]),
        ("page", "import victorpy.commands.clean", ["commands"]),
        ("page", "from victorpy import model", ["model"]),
        ("page", "from victorpy import clean", [""]),
        ("page", "def f():\n    from victorpy.batch import records", ["batch"]),
        ("commands", "from victorpy import __version__", []),
    ],
)
def test_this_test_sees_imports_of_every_form(part, source, expected):
    assert upward_imports(part, ast.parse(source)) == expected
