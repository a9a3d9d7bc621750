"""The native core is not used if it is missing, switched off or does not fit lxml. One message says so."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from support.commands import victor_process

from tools.try_wheel import wrong_files
from victorpy import load_config, native
from victorpy.document import Document
from victorpy.page import split as splitting
from victorpy.page.parse import parse

IS_BUILT = native.load("split") is not None
TOP = Path(__file__).parents[2]

# Installs a finder that makes the import of the core's splitter fail.
BROKEN = """
import sys, warnings
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "victorpy.native.split":
            {fail}
sys.meta_path.insert(0, Finder())
from victorpy import clean, native
print(native.engine(), native.load("trees"), clean("<p>Tea is hot and a pleasure to drink.</p>").strip())
"""
# Splits and counts a page in child processes with more and more memory: they exit with 3 after a MemoryError.
LITTLE_MEMORY = """
import os, resource
from victorpy import load_config
from victorpy.columns import Columns
from victorpy.page.parse import parse
from victorpy.page.split import split
config = load_config("default")
tree = parse("".join(f"<p class=c{n}>tea {n} <x{n}>é" for n in range(20_000)) + "<pre>" + "a\\n" * 20_000)
with open("/proc/self/statm") as file:
    size = int(file.read().split()[0]) * resource.getpagesize()
for megabytes in (1, 10, 20, 40, 80, 2_000):
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_AS, (size + megabytes * 1_000_000,) * 2)
        try:
            Columns(split(tree, config.cuts), config)
        except MemoryError:
            os._exit(3)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
LARGER = "lxml.etree._Element size changed, may indicate binary incompatibility. Expected 40 from C header, got 48"


def run_broken(fail: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "VICTOR_ENGINE"}
    environment |= {"PYTHONPATH": str(TOP), **variables}
    return subprocess.run(
        [sys.executable, "-c", BROKEN.format(fail=fail)],
        env=environment, capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("fail", "reason"),
    [
        (f'raise ValueError("{LARGER}")', "size changed"),
        (f'warnings.warn("{LARGER}", RuntimeWarning)', "size changed"),
        ('raise ValueError("compiled with libxml2 21406, running with 3.0.0")', "running with 3.0.0"),
        ('raise ImportError("undefined symbol: xmlFoo")', "undefined symbol"),
        ('raise TypeError("C function lxml.etree.elementFactory has wrong signature")', "wrong signature"),
        ('raise AttributeError("no attribute __pyx_capi__")', "__pyx_capi__"),
    ],
)
def test_core_that_does_not_fit_lxml_is_left_out_with_one_warning(fail, reason):
    ended = run_broken(fail)
    assert ended.stdout == "python None Tea is hot and a pleasure to drink.\n"
    assert ended.stderr.count("the native core does not fit the installed lxml") == 1
    assert reason in ended.stderr


def test_core_that_is_not_built_is_left_out_silently():
    ended = run_broken('raise ModuleNotFoundError("no core")')
    assert (ended.stdout.split()[:2], ended.stderr) == (["python", "None"], "")


def test_core_that_is_switched_off_is_not_imported():
    ended = run_broken('raise ValueError("imported")', VICTOR_ENGINE="python")
    assert (ended.stdout.split()[:2], ended.stderr) == (["python", "None"], "")


def test_unknown_engine_is_ignored_with_a_warning(monkeypatch):
    monkeypatch.setenv("VICTOR_ENGINE", "pyhton")
    native.why_not.cache_clear()
    try:
        with pytest.warns(UserWarning, match="VICTOR_ENGINE='pyhton' is ignored; set it to 'native' or 'python'"):
            native.engine()
    finally:
        native.why_not.cache_clear()


def test_core_that_is_older_than_its_sources_is_outdated(tmp_path):
    source, declarations = tmp_path / "split.pyx", tmp_path / "split.pxd"
    core, other = tmp_path / "split.cpython-311-x86_64-linux-gnu.so", tmp_path / "trees.pyx"
    for number, file in enumerate((source, declarations, core)):
        file.touch()
        os.utime(file, (number, number))
        assert not native.is_outdated(tmp_path)  # without a core, nothing is outdated
    os.utime(declarations, (9, 9))
    assert native.is_outdated(tmp_path)
    os.utime(core, (9, 9))
    assert not native.is_outdated(tmp_path)
    other.touch()
    assert native.is_outdated(tmp_path)  # a module that the core does not have yet
    for file in (source, declarations, other):
        file.unlink()
    assert not native.is_outdated(tmp_path)  # an installed wheel


def test_outdated_core_is_left_out_with_one_warning(monkeypatch):
    monkeypatch.delenv("VICTOR_ENGINE", raising=False)
    monkeypatch.setattr(native, "is_outdated", lambda folder: True)
    native.why_not.cache_clear()
    try:
        with pytest.warns(UserWarning, match="older than its sources") as caught:
            assert (native.load("trees"), native.engine()) == (None, "python")
        assert len(caught) == 1
    finally:
        native.why_not.cache_clear()


@pytest.fixture
def hidden_core(tmp_path):
    """The environment of a user whose installation has no core."""
    (tmp_path / "sitecustomize.py").write_text(
        BROKEN.partition("from victorpy")[0].format(fail='raise ModuleNotFoundError("no core")')
    )
    (tmp_path / "page.html").write_text("<p>Tea is hot and a pleasure to drink.</p>")
    path = os.pathsep.join([str(tmp_path), str(TOP)])
    return {"PYTHONPATH": path, "XDG_CACHE_HOME": str(tmp_path / "cache"), "page": str(tmp_path / "page.html")}


def clean(environment: dict[str, str], *options: str, **variables: str) -> str:
    page, variables = environment["page"], {**environment, **variables}
    ended = subprocess.run(
        [sys.executable, "-m", "victorpy", "clean", page, *options],
        env={**{name: value for name, value in os.environ.items() if name != "VICTOR_ENGINE"}, **variables},
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    assert ended.stdout.endswith("Tea is hot and a pleasure to drink.\n")
    return ended.stderr


def test_hint_is_shown_once(hidden_core):
    assert clean(hidden_core, "-q") == ""
    assert clean(hidden_core, VICTOR_ENGINE="python") == ""
    assert "install a C++ compiler" in clean(hidden_core)
    assert clean(hidden_core) == ""


def test_command_shows_warnings_as_messages(hidden_core):
    path = Path(hidden_core["PYTHONPATH"].partition(os.pathsep)[0], "sitecustomize.py")
    path.write_text(path.read_text().replace("ModuleNotFoundError", "ValueError"))
    said = clean(hidden_core, "-j", "2")  # workers do not repeat it
    reason = "the native core does not fit the installed lxml, so victorpy is slower: no core"
    assert said.startswith(f"victor: {reason}\n")
    assert said.count(reason) == 1


def test_hint_is_left_out_where_it_cannot_be_remembered(hidden_core):
    assert clean(hidden_core, XDG_CACHE_HOME=hidden_core["page"]) == ""  # a file, not a directory


def test_wheels_with_sources_or_without_the_core_are_refused():
    problems = wrong_files(["victorpy/native/split.pyx", "victorpy/native/split.cpython-311-x86_64-linux-gnu.so"])
    assert "has victorpy/native/split.pyx" in problems
    assert "lacks victorpy/native/trees." in problems
    assert "lacks victorpy/native/split." not in problems


@pytest.mark.skipif(not IS_BUILT, reason="the native core is not built")
class TestChecks:
    def test_pages_with_too_many_tags_are_split_in_python(self, monkeypatch):
        config, page = load_config("default"), "<p>Tea<pre>a\nb\nc\nd</pre><p>pot"
        by_core = splitting.split(parse(page), config.cuts)
        monkeypatch.setattr(splitting, "MOST_TAGS", 6)
        by_python = splitting.split(parse(page), config.cuts)
        assert (by_core.arrays is None, by_python.arrays is None) == (False, True)
        assert by_core == by_python

    @pytest.mark.parametrize("number", [-1, 2, 1 << 30])
    def test_blocks_outside_the_page_are_refused(self, number):
        document: Document = splitting.split(parse("<p>a<p>b"), load_config("default").cuts)
        with pytest.raises(IndexError, match="no block"):
            document.select([number])

    def test_layout_of_another_libxml2_is_refused(self, monkeypatch):
        from lxml import etree

        core = native.load("split")
        core.check_layout()
        monkeypatch.setattr(etree, "LIBXML_VERSION", (3, 0, 0))
        with pytest.raises(ValueError, match=r"running with 3\.0\.0"):
            core.check_layout()

    def test_wrong_roots_are_refused(self):
        from lxml import etree

        core, cuts = native.load("split"), load_config("default").cuts
        for root, error in ((None, TypeError), ("<p>", TypeError), (etree._Element(), ValueError)):
            with pytest.raises(error):
                core.split_tree(root, cuts, (), (), (), (), 9, 9, None, None, None, None)

    def test_lack_of_memory_is_an_error_and_no_crash(self):
        if not sys.platform.startswith("linux"):
            pytest.skip("only Linux limits the address space")
        codes = subprocess.run(
            [sys.executable, "-c", LITTLE_MEMORY],
            env={**os.environ, "PYTHONPATH": str(TOP)}, capture_output=True, text=True, check=True, timeout=120,
        ).stdout.split()  # fmt: skip
        assert set(codes) <= {"0", "3"}
        assert {codes[0], codes[-1]} == {"0", "3"}

    def test_equal_paths_are_one_object(self):
        document = splitting.split(parse("<ul>" + "<li>tea" * 5), load_config("default").cuts)
        assert len({id(block.containers) for block in document.blocks}) == 1


def test_version_shows_the_engine():
    ended = victor_process("--version")
    assert f"{native.engine()} engine" in ended.stdout.decode()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert native.engine() == native.engine()
