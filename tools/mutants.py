"""Plant random single-line bugs in victorpy, and report how many of them the tests notice.

    python -m tools.mutants --count 300 --seed 1

The first call copies the checkout to build/mutants and records which lines every test reaches. Later calls record only
the test files that changed. Each bug is planted in the copy, and the tests that reach its line run, the fastest first,
until one fails. A bug that no test reaches counts as missed, and a bug that makes a test hang counts as caught.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import islice, zip_longest
from pathlib import Path

import pytest
from coverage import CoverageData
from more_itertools import unique_everseen

ROOT = Path(__file__).parents[1]
WORK = ROOT / "build" / "mutants"
TREE = WORK / "tree"
PACKAGE = TREE / "victorpy"
NO_EFFECT = Path(__file__).with_name("mutants-no-effect.txt")
SECONDS_PER_BUG = 60
"""Tests are chosen until they took this long when they were recorded."""

BOUNDARY = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
COMPARISON = {
    ast.Lt: ast.Gt, ast.LtE: ast.Gt, ast.Gt: ast.Lt, ast.GtE: ast.Lt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
ARITHMETIC = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult}
OPPOSITES = {"min": "max", "max": "min", "any": "all", "all": "any"}
PROSE = {"add_argument", "add_parser", "print", "warn", "warning", "error", "info", "write", "cast", "TypeVar", "join"}
"""Functions whose text arguments are prose or types."""

LIBRARIES = """
    hypothesis lxml.html numpy msgspec sklearn.linear_model sklearn_crfsuite pandas pyarrow.parquet pyspark.sql catboost
    urwid rapidfuzz w3lib.html html5lib datasketch pebble cchardet
""".split()
"""Imported once, because every run of pytest would import them again."""


@dataclass(frozen=True)
class Bug:
    """A change of one line: the columns ``start`` to ``end`` of lines ``line`` to ``last`` become ``text``."""

    path: str
    kind: str
    line: int
    start: int
    last: int
    end: int
    text: str
    reached_at: tuple[int, ...]
    """Lines of the same file whose tests run; empty if the line only runs when the module is imported."""
    names: tuple[str, ...] = ()
    """Names that the line defines on import."""

    def plant(self, source: str) -> str:
        """Return the source with the bug."""
        lines = source.splitlines(keepends=True)
        before, after = lines[self.line - 1].encode()[: self.start], lines[self.last - 1].encode()[self.end :]
        lines[self.line - 1 : self.last] = [before.decode() + self.text + after.decode()]
        return "".join(lines)

    def describe(self, source: str) -> tuple[str, str]:
        """Return the line without and with the bug."""
        number = self.line - 1
        return source.splitlines()[number].strip(), self.plant(source).splitlines()[number].strip()


class Planter(ast.NodeVisitor):
    """Collects the bugs that can be planted in a module."""

    def __init__(self, path: str, source: str) -> None:
        self.path, self.bugs = path, list[Bug]()
        self._statements, self._functions, self._names = list[ast.stmt](), list[ast.AST](), list[str]()
        self.visit(ast.parse(source))

    def visit(self, node: ast.AST) -> None:
        """Collect bugs below a node, except in annotations, docstrings, f-strings, and code for type checkers."""
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            return
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.keyword) and node.arg == "strict"):
            return
        if isinstance(node, ast.stmt):
            self._statements.append(node)
        if self._statements:
            self._plant(node)
        for field, value in ast.iter_fields(node):
            if field in {"annotation", "returns", "decorator_list", "bases"}:
                continue
            inside = field == "body" and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            if inside:
                self._functions.append(node)
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    self.visit(child)
            if inside:
                self._functions.pop()
        if isinstance(node, ast.stmt):
            self._statements.pop()

    def _plant(self, node: ast.AST) -> None:
        if isinstance(node, ast.stmt):
            self._drop(node)
        elif isinstance(node, ast.expr) and node.lineno == node.end_lineno:
            is_default = isinstance(self._statements[-1], ast.FunctionDef)
            for kind, changed in variants(node, self._statements[-1]):
                self._add("default" if is_default else kind, node, changed)

    def _drop(self, node: ast.stmt) -> None:
        call = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
        stored = isinstance(node, ast.Assign) and not isinstance(node.targets[0], ast.Name | ast.Tuple)
        if call or stored or isinstance(node, ast.AugAssign | ast.Continue | ast.Break | ast.Raise):
            self._add("dropped statement", node, "pass")
        elif isinstance(node, ast.If | ast.While) and node.test.lineno == node.test.end_lineno:
            self._add("negated condition", node.test, negated(node.test))

    def _add(self, kind: str, node: ast.expr | ast.stmt, text: str) -> None:
        statement = self._statements[-1]
        reached, names = tuple(dict.fromkeys([node.lineno, statement.lineno])), tuple[str, ...]()
        if isinstance(statement, ast.FunctionDef):  # a default: wherever the function runs
            reached = tuple(inner.lineno for inner in statement.body)
        elif not self._functions:
            named = [node.id for node in ast.walk(statement) if isinstance(node, ast.Name)]
            classes = [outer.name for outer in self._statements if isinstance(outer, ast.ClassDef)]
            reached, names = (), tuple(classes or named[:1])
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        self.bugs.append(
            Bug(
                self.path,
                kind,
                node.lineno,
                node.col_offset,
                node.end_lineno,
                node.end_col_offset,
                text,
                reached,
                names,
            )
        )


def negated(node: ast.expr) -> str:
    """Return the opposite of a condition."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return ast.unparse(node.operand)
    return f"not ({ast.unparse(node)})"


def variants(node: ast.expr, statement: ast.stmt) -> Iterator[tuple[str, str]]:
    """Yield every wrong version of an expression with its kind."""

    def changed(**fields: object) -> str:
        wrong = copy.copy(node)
        for name, value in fields.items():
            setattr(wrong, name, value)
        return ast.unparse(wrong)

    match node:
        case ast.Compare(ops=[op, *rest]):
            if type(op) in BOUNDARY:
                yield "boundary", changed(ops=[BOUNDARY[type(op)](), *rest])
            yield "comparison", changed(ops=[COMPARISON[type(op)](), *rest])
        case ast.BoolOp(op=op):
            yield "and/or", "(" + changed(op=ast.Or() if isinstance(op, ast.And) else ast.And()) + ")"
        case ast.UnaryOp(op=ast.Not()):
            yield "negated condition", f"({ast.unparse(node.operand)})"
        case ast.IfExp():
            yield "negated condition", f"({changed(test=ast.UnaryOp(ast.Not(), node.test))})"
        case ast.BinOp(op=op) if type(op) in ARITHMETIC and not _is_text(node):
            yield "arithmetic", f"({changed(op=ARITHMETIC[type(op)]())})"
        case ast.Constant(value=bool() as value):
            yield "constant", str(not value)
        case ast.Constant(value=int() as value):
            yield "constant", str(value + 1)
            yield "constant", str(value - 1) if value else "2"
        case ast.Constant(value=float() as value):
            yield "constant", repr(value * 1.5 or 1.0)
        case ast.Constant(value=str() as value) if value and re.fullmatch(r"[\w.:/#-]+", value):
            if not isinstance(statement, ast.Expr | ast.Raise | ast.FunctionDef) and not _is_prose(statement):
                yield "constant", repr(value + "x")
        case ast.Call(func=ast.Name(id=name)) if name in OPPOSITES:
            yield "arithmetic", changed(func=ast.Name(OPPOSITES[name]))
        case ast.Call(args=[first, second, *others]) if not _is_prose(node) and ast.dump(first) != ast.dump(second):
            if not isinstance(first, ast.Starred) and not isinstance(second, ast.Starred):
                yield "swapped arguments", changed(args=[second, first, *others])


def _is_text(node: ast.AST) -> bool:
    return any(
        isinstance(part, ast.JoinedStr | ast.List) or isinstance(getattr(part, "value", 0), str)
        for part in ast.walk(node)
    )


def _is_prose(node: ast.AST) -> bool:
    names = {
        getattr(part, "attr", getattr(part, "id", ""))
        for part in ast.walk(node)
        if isinstance(part, ast.Attribute | ast.Name)
    }
    return not names.isdisjoint(PROSE)


class Reached:
    """The tests that reach a line, from what tools.reached recorded."""

    def __init__(self) -> None:
        self._lines = CoverageData(str(WORK / "lines"))
        self._lines.read()
        tests = json.loads((WORK / "tests.json").read_text())
        self.seconds = {test: noted["seconds"] for test, noted in tests.items()}
        self._users = defaultdict[str, list[str]](list)
        for test, noted in tests.items():
            for fixture in noted["fixtures"]:
                self._users[fixture].append(test)

    def by_line(self, path: Path) -> dict[int, list[str]]:
        """Return the tests and shared fixtures that reach each line of a file."""
        return self._lines.contexts_by_lineno(str(path))

    def batches(self, bug: Bug) -> list[list[str]]:
        """Return the tests that reach a bug: the quick ones of its package, then all others, slow ones last."""
        by_line = self.by_line(TREE / bug.path)
        contexts = {context for line in bug.reached_at for context in by_line.get(line, ())}
        if not contexts - {""}:  # runs on import
            contexts = {context for place in self._mentions(bug) for context in place}
        users = (test for context in contexts for test in self._users.get(context, ()))
        reaching = sorted({*contexts.intersection(self.seconds), *users}, key=self.seconds.__getitem__)
        near, far, total = list[str](), list[str](), 0.0
        for test in reaching:
            total += self.seconds[test]
            if total > SECONDS_PER_BUG and (near or far):
                break
            is_near = f"/{package_of(bug.path)}/" in test and self.seconds[test] < 0.5
            (near if is_near else far).append(test)
        # Tests of one file run together, so that their shared fixtures are made once.
        return [near, sorted(far, key=lambda test: (self.seconds[test] > 0.5, test.partition("::")[0]))]

    def _mentions(self, bug: Bug) -> Iterator[list[str]]:
        """Yield the tests of lines that mention what the line defines, or else of all lines of the file."""
        pattern = re.compile(rf"\b({'|'.join(bug.names)})\b") if bug.names else None
        for path in PACKAGE.rglob("*.py"):
            source = path.read_text()
            if path == TREE / bug.path or (pattern and pattern.search(source)):
                by_line = self.by_line(path)
                for number, line in enumerate(source.splitlines(), 1):
                    if pattern is None or pattern.search(line):
                        yield by_line.get(number, [])


def run_tests(arguments: list[str], timeout: float = 7200, **variables: str) -> int | None:
    """Run pytest in a copy of this process, which has no modules of victorpy yet, and return its exit code."""
    child = os.fork()
    if not child:
        os.setsid()
        os.chdir(TREE)
        sys.path.insert(0, str(TREE))
        os.environ.update(variables, PYTHONPATH=str(TREE), PYTHONDONTWRITEBYTECODE="1")
        sys.dont_write_bytecode = True
        log = os.open(WORK / "pytest.log", os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
        for stream in (1, 2):
            os.dup2(log, stream)
        os._exit(pytest.main(["-q", "-n", "0", "-p", "no:cacheprovider", "-p", "tools.reached", *arguments]))
    stop, ended, status = time.monotonic() + timeout, 0, 0
    while not ended and time.monotonic() < stop:
        time.sleep(0.02)
        ended, status = os.waitpid(child, os.WNOHANG)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # also stops the workers that a test left behind
    if not ended:
        os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) if ended else None


def prepare() -> None:
    """Copy the checkout, and record the lines of the tests that are new: all of them if victorpy changed."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    names = [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]
    names += [str(path.relative_to(ROOT)) for path in ROOT.glob("victorpy/native/*.so")]
    changed = [name for name in names if not same(ROOT / name, TREE / name)]
    if any(name.startswith("victorpy/") for name in changed):
        shutil.rmtree(WORK, ignore_errors=True)
        changed = names
    for name in changed:
        (TREE / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, TREE / name)
    everything = ["tests", "victorpy", "docs", "README.md"]
    tests = [name for name in changed if re.search(r"tests/.*test_\w+\.py$", name)]
    if changed == names or tests:
        print("recording which lines the tests reach", flush=True)
        run_tests(["-m", "not browser", *(everything if changed == names else tests)], MUTANTS_RECORD=str(WORK))
        print((WORK / "pytest.log").read_text().splitlines()[-1], flush=True)


def same(one: Path, other: Path) -> bool:
    """Tell whether a copy is up to date."""
    return other.exists() and one.read_bytes() == other.read_bytes()


def try_bug(bug: Bug, reached: Reached) -> str:
    """Plant a bug, run the tests that reach it, and return how it ended: caught, hangs, missed or not reached."""
    path = TREE / bug.path
    source = path.read_text()
    for stale in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
        stale.unlink()
    ended = "not reached"
    try:
        path.write_text(bug.plant(source))
        for tests in filter(None, reached.batches(bug)):
            (WORK / "chosen.txt").write_text("\n".join(tests))
            files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
            seconds = 60 + 5 * sum(reached.seconds[test] for test in tests)
            code = run_tests(["-x", *files], seconds, MUTANTS_TESTS=str(WORK / "chosen.txt"))
            ended = "missed" if code == 0 else "hangs" if code is None else "caught"
            if ended != "missed":
                break
    finally:
        path.write_text(source)
    return ended


def draw(count: int, seed: int, package: str) -> list[Bug]:
    """Return random bugs: each kind in turn, and at most one per line."""
    kinds = defaultdict[str, list[Bug]](list)
    for path in sorted(PACKAGE.rglob("*.py")):
        name = str(path.relative_to(TREE))
        if name.startswith(f"victorpy/{package}"):
            for bug in Planter(name, path.read_text()).bugs:
                kinds[bug.kind].append(bug)
    choice = random.Random(seed)
    shuffled = [choice.sample(kinds[kind], len(kinds[kind])) for kind in sorted(kinds)]
    in_turn = (bug for row in zip_longest(*shuffled) for bug in row if bug)
    return list(islice(unique_everseen(in_turn, lambda bug: (bug.path, bug.line)), count))


@cache
def without_effect() -> set[tuple[str, str, str]]:
    """Return the reviewed bugs without an effect, as file, right line and wrong line."""
    entries = re.findall(r"^(\S+\.py)\n- (.*)\n\+ (.*)$", NO_EFFECT.read_text(), re.M)
    return {(path, right, wrong) for path, right, wrong in entries}


def table(rows: list[tuple[str, str]], title: str) -> str:
    """Return a Markdown table: the share of caught bugs by group."""
    groups = defaultdict[str, Counter[str]](Counter)
    for group, ended in rows:
        groups[group][ended] += 1
        groups["all"][ended] += 1
    lines = [f"| {title} | bugs | caught | share |", "|---|---:|---:|---:|"]
    for group in sorted(groups, key=lambda group: (group == "all", group)):
        caught, total = groups[group]["caught"] + groups[group]["hangs"], groups[group].total()
        lines.append(f"| {group} | {total} | {caught} | {caught / total:.0%} |")
    return "\n".join(lines)


def package_of(path: str) -> str:
    """Return the package of a file; modules at the top belong to victorpy itself."""
    parts = Path(path).parts
    return parts[1] if len(parts) > 2 else "victorpy"


def main() -> None:
    """Draw bugs, try them, report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--count", type=int, default=300, help="number of bugs (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random choice (default: %(default)s)")
    parser.add_argument("--package", default="", help="plant bugs only in this package or file, such as page/split.py")
    options = parser.parse_args()
    for library in LIBRARIES:
        with suppress(ImportError):
            import_module(library)
    prepare()
    reached = Reached()
    rows, kinds, started = [], [], time.monotonic()
    for bug in draw(options.count, options.seed, options.package):
        right, wrong = bug.describe((TREE / bug.path).read_text())
        if (bug.path, right, wrong) in without_effect():
            continue
        ended = try_bug(bug, reached)
        rows.append((package_of(bug.path), ended))
        kinds.append((bug.kind, ended))
        if ended not in {"caught", "hangs"}:
            print(f"\n{bug.path}:{bug.line}: {ended}\n- {right}\n+ {wrong}", flush=True)
    print(f"\nseed {options.seed}, {(time.monotonic() - started) / 60:.0f} minutes\n")
    print(table(rows, "package"), table(kinds, "kind of bug"), sep="\n\n")


if __name__ == "__main__":
    main()
