"""A pytest plugin for tools.mutants: record which lines every test reaches, or run chosen tests in a given order.

MUTANTS_RECORD=DIR pytest -p tools.reached tests    writes DIR/lines (coverage data) and DIR/tests.json
MUTANTS_TESTS=FILE pytest -p tools.reached tests    runs the tests that FILE lists, one per line
"""

from __future__ import annotations

import json
import os
import sys
from collections import defaultdict
from collections.abc import Generator
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
        self._seconds: dict[str, float] = defaultdict(float)
        self._failed = set[str]()
        self._fixtures: dict[str, list[str]] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Attribute lines to the test, without what an earlier test left in a cache."""
        for name, module in list(sys.modules.items()):
            if name.startswith(("victorpy", "support")):
                for value in list(vars(module).values()):
                    if callable(clear := getattr(value, "cache_clear", None)):
                        clear()
        self._here.switch_context(item.nodeid)
        definitions = getattr(item, "_fixtureinfo", None)
        shared = [each[-1] for each in definitions.name2fixturedefs.values()] if definitions else []
        self._fixtures[item.nodeid] = [context_of(each) for each in shared if each.scope != "function"]
        result = yield
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
        """Note the time of a test, and whether it failed or was skipped."""
        self._seconds[report.nodeid] += report.duration
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


class Chooser:
    """Runs only the listed tests, in the listed order."""

    def __init__(self, listed: list[str]) -> None:
        self._places = {test: place for place, test in enumerate(listed)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Drop and sort tests."""
        items[:] = sorted(
            (item for item in items if item.nodeid in self._places), key=lambda item: self._places[item.nodeid]
        )


def context_of(fixture: Any) -> str:
    """Return the name under which the lines of a shared fixture are recorded."""
    return f"{fixture.baseid}::{fixture.argname}"


def pytest_configure(config: pytest.Config) -> None:
    """Start what the environment asks for."""
    if directory := os.environ.get("MUTANTS_RECORD"):
        config.pluginmanager.register(Recorder(Path(directory)))
    if listed := os.environ.get("MUTANTS_TESTS"):
        config.pluginmanager.register(Chooser(Path(listed).read_text().splitlines()))
