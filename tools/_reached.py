"""A pytest plugin for tools.mutants: record which lines every test reaches, and look up the tests of a line.

MUTANTS_RECORD=DIR pytest -p tools._reached tests    writes DIR/lines (coverage data) and DIR/tests.json
"""

from __future__ import annotations

import ast
import json
import os
import re
import sys
from collections import defaultdict
from collections.abc import Generator, Iterator, Sequence
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from coverage import Coverage, CoverageData
from coverage.exceptions import CoverageException

SETTINGS = """[run]
data_file = {children}/data
source = {package}
parallel = true
sigterm = true
concurrency = multiprocessing,thread
disable_warnings = no-data-collected,module-not-measured,module-not-imported,couldnt-parse,no-sysmon
"""

MOST_SECONDS = 60  # tests of a line are chosen until they took this long when they were recorded


class Recorder:
    """Records the lines, the seconds and the shared fixtures of every test that passes, child processes included."""

    def __init__(self, directory: Path) -> None:
        self._directory, self._children = directory, directory / "children"
        self._children.mkdir(parents=True, exist_ok=True)
        settings = directory / "settings.ini"
        settings.write_text(SETTINGS.format(children=self._children, package=Path.cwd() / "victorpy"))
        os.environ["COVERAGE_PROCESS_START"] = str(settings)
        self._lines = CoverageData(str(directory / "lines"))
        self._lines.read()
        self._here = Coverage(data_file=str(directory / "here"), data_suffix="now", config_file=str(settings))
        self._here.start()
        self._seconds: dict[str, float] = {}
        self._failed = set[str]()
        self._path: Path | None = None
        self._fixtures: dict[str, list[str]] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Attribute lines to the test. Each file starts with empty caches, so that its tests reach the lines again."""
        modules = [module for name, module in sys.modules.items() if name.startswith(("victorpy", "support"))]
        for module in modules if item.path != self._path else ():
            for value in list(vars(module).values()):
                if callable(clear := getattr(value, "cache_clear", None)):
                    clear()
        self._path = item.path
        self._here.switch_context(item.nodeid)
        definitions = getattr(item, "_fixtureinfo", None)
        shared = [each[-1] for each in definitions.name2fixturedefs.values()] if definitions else []
        self._fixtures[item.nodeid] = [context_of(each) for each in shared if each.scope != "function"]
        before = cpu_seconds()
        result = yield
        self._seconds[item.nodeid] = cpu_seconds() - before
        self._take_children(item.nodeid)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: pytest.FixtureRequest) -> Generator[None, object, object]:
        """Attribute the lines of a shared fixture to the fixture, because only its first test runs it."""
        if fixturedef.scope == "function":
            return (yield)
        self._here.switch_context(context_of(fixturedef))
        result = yield
        self._take_children(context_of(fixturedef))
        self._here.switch_context(request.node.nodeid if isinstance(request.node, pytest.Item) else "")
        return result

    def _take_children(self, context: str) -> None:
        """Add the lines of child processes that ended during a test or fixture."""
        for path in self._children.iterdir():
            child = CoverageData(str(path))
            try:
                child.read()
                lines = {name: child.lines(name) or () for name in child.measured_files()}
            except CoverageException:  # still being written, or the process was killed
                continue
            self._lines.set_context(context)
            self._lines.add_lines(lines)
            path.unlink()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note whether a test failed or was skipped."""
        if report.outcome != "passed":
            self._failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        """Write what was recorded, beside what earlier sessions recorded."""
        self._here.stop()
        self._lines.update(self._here.get_data())
        self._lines.write()
        path = self._directory / "tests.json"
        tests = json.loads(path.read_text()) if path.exists() else {}
        for test in self._seconds:
            if test not in self._failed:
                tests[test] = {"seconds": self._seconds[test], "fixtures": self._fixtures[test]}
        path.write_text(json.dumps(tests))


def cpu_seconds() -> float:
    """Return the CPU time of this process and of child processes that have ended, which does not depend on others."""
    return sum(os.times()[:4])


def context_of(fixture: Any) -> str:
    """Return the name under which the lines of a shared fixture are recorded."""
    return f"{fixture.baseid}::{fixture.argname}"


def pytest_configure(config: pytest.Config) -> None:
    """Start what the environment asks for."""
    if directory := os.environ.get("MUTANTS_RECORD"):
        config.pluginmanager.register(Recorder(Path(directory)))


class Record:
    """The tests of one recording, and the lines that they reached in a copy of victorpy of that time."""

    def __init__(self, directory: Path, tree: Path) -> None:
        self._directory, self._tree = directory, tree
        self._lines = CoverageData(str(directory / "lines"))
        self._lines.read()
        self.tests: dict[str, Any] = json.loads((directory / "tests.json").read_text())
        self._users = defaultdict[str, list[str]](list)
        for test, noted in self.tests.items():
            for fixture in noted["fixtures"]:
                self._users[fixture].append(test)
        self.reaching = cache(self._reaching)

    def _reaching(self, path: str) -> dict[int, set[str]]:
        """Return the tests that reach each line of a file. Lines that have moved since the recording keep their tests.

        A line that is new has the tests of the line before it.
        """
        if not (self._directory / path).exists():
            return {}
        then, now = ((folder / path).read_text().splitlines() for folder in (self._directory, self._tree))
        contexts = self._lines.contexts_by_lineno(str(self._tree / path))
        by_line, previous = dict[int, set[str]](), set[str]()
        for old, new, length in SequenceMatcher(None, then, now, autojunk=False).get_matching_blocks():
            for number in range(max(by_line, default=0) + 1, new + 1):
                by_line[number] = previous
            for step in range(1, length + 1):
                reached = {*contexts.get(old + step, ())} - {""}
                users = (test for context in reached for test in self._users.get(context, ()))
                by_line[new + step] = previous = reached.intersection(self.tests).union(users)
        return by_line


@cache
def functions(path: Path) -> dict[str, str]:
    """Return the source of each function of a module, with its decorators."""
    source = path.read_text() if path.suffix == ".py" else ""
    lines = source.splitlines()
    nodes = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    starts = {node.name: min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) for node in nodes}
    return {node.name: "\n".join(lines[starts[node.name] - 1 : node.end_lineno]) for node in nodes}


class Reached:
    """The tests that reach a line of a tree of files, by recordings of which later ones replace earlier ones."""

    def __init__(self, directories: Sequence[Path], tree: Path) -> None:
        self._tree = tree
        self._records = [Record(directory, tree) for directory in directories]
        self._latest = {test: record for record in self._records for test in record.tests}
        self.seconds = {test: record.tests[test]["seconds"] for test, record in self._latest.items()}

    def tests(self, path: str, lines: Sequence[int], names: Sequence[str], function: str) -> list[str]:
        """Return the tests that reach lines of a file, at most `MOST_SECONDS` of them.

        Tests that mention the changed function come first, then those of the same package and those in a file named
        after the module, and faster tests before slower ones. If no test reaches the lines, they run on import. Then
        return the tests of lines that mention a name.
        """
        mentioned = re.compile(rf"\b({'|'.join(filter(None, [function, *names])) or '$x'})\b")
        reaching = self._reaching(path, lines) or set(self._mentioning(path, names))
        home = str(Path("tests", *Path(path).parts[1:2]).with_suffix("")) + "/"

        def is_unnamed(test: str) -> bool:
            return Path(path).stem not in Path(test.partition("::")[0]).stem.split("_")

        @cache
        def is_other(test: str) -> bool:
            return not test.startswith((home, path)) and is_unnamed(test)

        @cache
        def is_distant(test: str) -> bool:
            return not mentioned.search(self._source(test))

        def distance(test: str) -> tuple[bool, bool, bool, float]:
            return is_distant(test), is_other(test), is_unnamed(test), self.seconds[test]

        chosen, total = list[str](), 0.0
        for test in sorted(reaching, key=distance):
            total += self.seconds[test]
            if total > MOST_SECONDS and chosen:
                break
            chosen.append(test)

        # Tests of one file run together, so that their shared fixtures are made once.
        def order(test: str) -> tuple[bool, bool, bool, bool, bool, str]:
            seconds, file = self.seconds[test], test.partition("::")[0]
            return is_distant(test), is_other(test), seconds > 1, is_unnamed(test), seconds > 0.1, file

        return sorted(chosen, key=order)

    def _source(self, test: str) -> str:
        """Return the source of a test function."""
        file, _, name = test.partition("::")
        return functions(self._tree / file).get(name.partition("[")[0], "")

    def _reaching(self, path: str, lines: Sequence[int]) -> set[str]:
        return {
            test
            for record in self._records
            for line in lines
            for test in record.reaching(path).get(line, ())
            if self._latest[test] is record
        }

    def _mentioning(self, path: str, names: Sequence[str]) -> Iterator[str]:
        pattern = re.compile(rf"\b({'|'.join(names)})\b")
        for file in (self._tree / "victorpy").rglob("*.py"):
            source = file.read_text()
            if names and pattern.search(source):
                numbers = [number for number, line in enumerate(source.splitlines(), 1) if pattern.search(line)]
                yield from self._reaching(str(file.relative_to(self._tree)), numbers)
