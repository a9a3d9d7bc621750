"""Plant random single-line bugs in victorpy, and report how many of them the tests notice.

    python -m tools.mutants --count 300 --seed 1

The first call copies the checkout to build/mutants and records which lines every test reaches, one directory after the
other. Later calls record only the test files that changed, or that an interrupted call did not reach; lines of victorpy
that have moved keep their tests. Each bug is planted in the copy, and the tests that reach its line run, those of its
package first, until one fails or the seconds for a bug are over. A bug that no test reaches counts as missed, and a bug
that makes a test hang counts as caught.
"""

from __future__ import annotations

import argparse
import ast
import copy
import gc
import json
import math
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import groupby, islice, zip_longest
from pathlib import Path
from types import CodeType, FunctionType

import pytest
from more_itertools import bucket, unique_everseen

from tools._reached import Reached, cpu_seconds

ROOT = Path(__file__).parents[1]
WORK = ROOT / "build" / "mutants"
TREE = WORK / "tree"
PACKAGE = TREE / "victorpy"
NO_EFFECT = Path(__file__).with_name("mutants-no-effect.txt")

BOUNDARY = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
COMPARISON = {
    ast.Lt: ast.Gt, ast.LtE: ast.Gt, ast.Gt: ast.Lt, ast.GtE: ast.Lt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
ARITHMETIC = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult}
SYMMETRIC = {"max", "maximum", "min", "minimum", "intersect1d", "union1d"}
"""Functions that do not depend on the order of two arguments."""
OPPOSITES = {"min": "max", "max": "min", "any": "all", "all": "any"}
PROSE = {"add_argument", "add_parser", "print", "warn", "warning", "error", "info", "write", "cast", "TypeVar", "join"}
"""Functions whose text arguments are prose or types."""

TESTS = ["tests", "victorpy", "docs", "README.md"]
PLAIN = ["-q", "-n", "0", "-p", "no:cacheprovider"]
MOST_FILES, MOST_OF_FILE, LONGEST_IMPORTING = 8, 20, 30
"""Limits for bugs that have an effect on import: files, tests per file, and additional seconds.

Their tests need a new process, which is slow."""
PATIENCE, LONGEST_IDLE = 10, 60
"""Tests hang if they take longer than expected by some seconds of CPU time, or use no CPU time for some seconds."""
MISSED = {"missed", "not reached"}


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
    names: tuple[str, ...] = ()  # names that the line defines on import
    function: str = ""  # the function with the line; for its constructor, the class

    def plant(self, source: str) -> str:
        """Return the source with the bug; all other lines keep their numbers."""
        lines = source.splitlines(keepends=True)
        before, after = lines[self.line - 1].encode()[: self.start], lines[self.last - 1].encode()[self.end :]
        lines[self.line - 1 : self.last] = [
            before.decode() + self.text + after.decode(),
            "\n" * (self.last - self.line),
        ]
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
        outer = [each for each in self._statements if isinstance(each, ast.FunctionDef | ast.ClassDef)]
        function = [each.name for each in outer if not each.name.startswith("__")]
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
                "".join(function[-1:]),
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
            if not others and getattr(node.func, "attr", getattr(node.func, "id", "")) in SYMMETRIC:
                return
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


class Trial:
    """A pytest plugin that plants bugs after collection, and runs the tests of each bug in a copy of the process."""

    def __init__(self, bugs: list[Bug], reached: Reached, seconds: float, control: bool) -> None:
        self.bugs, self.reached, self.seconds, self.control = bugs, reached, seconds, control
        self.ended: list[tuple[Bug, str]] = []

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Try every bug."""
        gc.unfreeze()  # a module of victorpy freezes all objects when it is imported, which hides them
        gc.collect()
        self._functions = [each for each in gc.get_objects() if isinstance(each, FunctionType)]
        self._items = {item.nodeid: item for item in session.items}
        for bug in self.bugs:
            right, wrong = bug.describe((TREE / bug.path).read_text())
            if (bug.path, right, wrong) in without_effect():
                continue
            self.ended.append((bug, self._try(bug)))
            is_missed = self.ended[-1][1] in MISSED
            place = f"\n{bug.path}:{bug.line}: {self.ended[-1][1]}\n- {right}\n+ {wrong}\n"
            print(place if is_missed else ".", end="", flush=True)
        return True

    def _try(self, bug: Bug) -> str:
        """Plant a bug, run the tests that reach it, and return how it ended."""
        place = (bug.path, bug.reached_at, bug.names, bug.function)
        tests = [test for test in self.reached.tests(*place) if test in self._items]
        if not tests:
            return "not reached"
        path = TREE / bug.path
        source = path.read_text()
        for stale in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
            stale.unlink()
        try:
            path.write_text(source if self.control else bug.plant(source))
            slowest = max(map(self.reached.seconds.__getitem__, tests))
            most = self.seconds + 3 * slowest + PATIENCE
            code = in_child(lambda: self._run(bug, source, tests), most)
        finally:
            path.write_text(source)
        return "missed" if code == 0 else "hangs" if code is None else "caught"

    def _run(self, bug: Bug, source: str, tests: list[str]) -> int:
        if not bug.reached_at or not self._plant_here(bug, source):  # the module has to be imported again
            resource.setrlimit(resource.RLIMIT_CPU, (resource.getrlimit(resource.RLIMIT_CPU)[1],) * 2)
            by_file = bucket(tests, key=lambda test: test.partition("::")[0])
            chosen = [test for file in islice(by_file, MOST_FILES) for test in islice(by_file[file], MOST_OF_FILE)]
            command = [sys.executable, "-m", "pytest", "-x", *PLAIN, *chosen]
            return subprocess.run(command, cwd=TREE, check=False).returncode
        items = [self._items[test] for test in tests]
        for item, following in zip(items, [*items[1:], None], strict=True):
            if cpu_seconds() > self.seconds:
                break
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if item.session.testsfailed:
                return 1
        return 0

    def _plant_default(self, bug: Bug, source: str) -> bool:
        """Replace the defaults of a function that is already imported. Return False if there is none."""
        tree = ast.parse(bug.plant(source))
        functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
        node = next(node for node in functions if node.lineno <= bug.line < node.body[0].lineno)
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        place = (str(TREE / bug.path), first, node.name)
        changed = [
            function
            for function in self._functions
            if (function.__code__.co_filename, function.__code__.co_firstlineno, function.__code__.co_name) == place
        ]
        for function in changed:
            values = [eval(ast.unparse(default), function.__globals__) for default in node.args.defaults]
            named = [eval(ast.unparse(default), function.__globals__) for default in node.args.kw_defaults if default]
            function.__defaults__ = tuple(values)
            function.__kwdefaults__ = dict(zip(function.__kwdefaults__ or (), named, strict=True))
        return bool(changed)

    def _plant_here(self, bug: Bug, source: str) -> bool:
        """Replace the code of functions that are already imported. Return False if that is not possible."""
        path = str(TREE / bug.path)
        if not any(getattr(module, "__file__", None) == path for module in sys.modules.values()):
            return True  # the tests will import it
        if self.control or (bug.kind == "default" and self._plant_default(bug, source)):
            return True
        right, wrong = (
            list(codes(compile(text, path, "exec", dont_inherit=True))) for text in (source, bug.plant(source))
        )
        wanted = {old: new for old, new in zip(right, wrong, strict=False) if old != new}
        try:
            changed = [
                each for each in self._functions if each.__code__.co_filename == path and each.__code__ in wanted
            ]
            for function in changed:
                function.__code__ = wanted[function.__code__]
        except ValueError:  # a closure has lost a variable
            return False
        return bool(changed) and len(right) == len(wrong)


def codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object and those in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes(constant)


def in_child(run: Callable[[], int], seconds: float) -> int | None:
    """Run a function in a copy of this process, and return its exit code, or None if it takes too long.

    `seconds` are of CPU time; on a busy machine, they may take ten times as long. A copy that uses no CPU time for a
    while takes too long, too: it waits for something that does not happen.
    """
    child = os.fork()
    if not child:
        os.setsid()
        log = os.open(WORK / "log", os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
        for stream, file in enumerate([os.open(os.devnull, os.O_RDONLY), log, log]):
            os.dup2(file, stream)
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(seconds), math.ceil(seconds) + LONGEST_IMPORTING))
        try:
            os._exit(run())
        finally:
            os._exit(1)
    now = time.monotonic()
    stop, check, idle_since, used, ended, status = now + 120 + 10 * seconds, now, now, 0.0, 0, 0
    while not ended and now < min(stop, idle_since + LONGEST_IDLE):
        time.sleep(0.01)
        ended, status = os.waitpid(child, os.WNOHANG)
        now = time.monotonic()
        if now > check:
            used_before, used, check = used, used_by(child), now + 1
            idle_since = idle_since if used == used_before else now
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # also stops the workers that a test left behind
    if not ended:
        os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) if ended else None


def used_by(session: int) -> float:
    """Return the CPU time of the processes of a session in ticks. Without /proc, return seconds of time."""
    ticks = list[int]()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # the process has ended
            fields = path.read_text().rpartition(")")[2].split()
            ticks += map(int, fields[11:15]) if int(fields[3]) == session else ()
    return sum(ticks) if ticks else time.monotonic()


def prepare(marks: str) -> list[Path]:
    """Copy the checkout, record the lines of the tests that are new, and return the directories of all recordings."""
    listing = ["git", "ls-files", "-co", "--exclude-standard"]
    listed = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    names = {name for name in listed.splitlines() if (ROOT / name).is_file()}
    names |= {str(path.relative_to(ROOT)) for path in ROOT.glob("victorpy/native/*.so")}
    # The compiled core is always copied, because it must be newer than its sources.
    changed = {name for name in names if name.endswith(".so") or not is_same(ROOT / name, TREE / name)}
    noted = WORK / "recorded.json"
    entries = json.loads(noted.read_text()) if noted.exists() else []
    recorded = {(name, mark) for name, mark in entries if name not in changed}
    WORK.mkdir(parents=True, exist_ok=True)
    noted.write_text(json.dumps(sorted(recorded)))  # before the copies: after an interruption, no file looks unchanged
    for name in changed:
        (TREE / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, TREE / name)
    for path in [path for path in TREE.rglob("*.py") if str(path.relative_to(TREE)) not in names]:
        path.unlink()
    tests = {name for name in names if re.search(r"tests/.*test_\w+\.py$", name)} | {*TESTS} - {"tests"}
    missing = sorted(name for name in tests if (name, marks) not in recorded)
    records = sorted(WORK.glob("record-*"))
    if missing:
        records.append(WORK / f"record-{len(records):03}")
        for path in PACKAGE.rglob("*.py"):
            copied = records[-1] / path.relative_to(TREE)
            copied.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, copied)
    for _, together in groupby(missing, lambda name: str(Path(name).parent)):
        files = list(together)
        print(f"recording which lines {len(files)} test files reach; see build/mutants/log", flush=True)
        environment = {**os.environ, "PYTHONPATH": str(TREE), "MUTANTS_RECORD": str(records[-1])}
        command = [sys.executable, "-m", "pytest", *PLAIN, "-p", "tools._reached", "-m", marks, *files]
        with (WORK / "log").open("w") as log:
            code = subprocess.run(command, cwd=TREE, env=environment, stdout=log, check=False).returncode
        if code not in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED}:
            print(f"the recording of {files[0]} and others ended with {code}; the next run repeats it", flush=True)
            continue
        recorded |= {(name, marks) for name in files}
        noted.write_text(json.dumps(sorted(recorded)))
    return [record for record in records if (record / "tests.json").exists()]


def is_same(one: Path, other: Path) -> bool:
    """Tell whether a copy is up to date."""
    return other.exists() and one.read_bytes() == other.read_bytes()


def draw(count: int, seed: int, package: str, only_kind: str) -> list[Bug]:
    """Return random bugs: each kind in turn, and at most one per line."""
    kinds = defaultdict[str, list[Bug]](list)
    for path in sorted(PACKAGE.rglob("*.py")):
        name = str(path.relative_to(TREE))
        if name.startswith(f"victorpy/{package}"):
            for bug in Planter(name, path.read_text()).bugs:
                if only_kind in {"", bug.kind}:
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
        total = groups[group].total()
        caught = total - sum(groups[group][ended] for ended in MISSED)
        lines.append(f"| {group} | {total} | {caught} | {caught / total:.0%} |")
    return "\n".join(lines)


def package_of(path: str) -> str:
    """Return the package of a file; modules at the top belong to victorpy itself."""
    parts = Path(path).parts
    return parts[1] if len(parts) > 2 else "victorpy"


def main() -> None:
    """Draw bugs, try them, report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0], allow_abbrev=False)
    parser.add_argument("--count", type=int, default=300, help="number of bugs (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random choice (default: %(default)s)")
    parser.add_argument("--package", default="", help="plant bugs only in this package or file, such as page/split.py")
    parser.add_argument("--kind", default="", help="plant only bugs of this kind, such as boundary")
    parser.add_argument("--marks", default="not browser and not spark", help="record only tests with these marks")
    parser.add_argument("--seconds", type=float, default=30, help="CPU seconds for the tests of a bug (default: 30)")
    parser.add_argument("--control", action="store_true", help="plant nothing: every test that fails is a false alarm")
    options = parser.parse_args()
    reached = Reached(prepare(options.marks), TREE)
    trial = Trial(
        draw(options.count, options.seed, options.package, options.kind), reached, options.seconds, options.control
    )
    os.chdir(TREE)
    os.environ.update(PYTHONPATH=str(TREE), PYTHONDONTWRITEBYTECODE="1")
    sys.path.insert(0, str(TREE))
    started = time.monotonic()
    pytest.main([*PLAIN, "-s", "--basetemp", str(WORK / "tmp"), *TESTS], plugins=[trial])  # ^C ends the sample early
    minutes = (time.monotonic() - started) / 60
    print(f"\nseed {options.seed}, {len(trial.ended)} bugs with an effect, {minutes:.0f} minutes\n")
    print(table([(package_of(bug.path), ended) for bug, ended in trial.ended], "package"))
    print("\n" + table([(bug.kind, ended) for bug, ended in trial.ended], "kind of bug"))


if __name__ == "__main__":
    main()
