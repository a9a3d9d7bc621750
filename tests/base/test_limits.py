"""Exact limits of numbers and names in configs, parameters, files and models."""

import io
import json
import pickle
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.lib import format as npy

from victorpy import config
from victorpy.base import child, digests, textformat
from victorpy.base.arrays import checked, read_array
from victorpy.base.files import open_regular, read_bounded, write_atomically
from victorpy.base.hashes import PageCounts
from victorpy.base.language import language_of
from victorpy.base.memory import trim_memory
from victorpy.base.parameters import check_count, check_range
from victorpy.base.textformat import MOST_EXPANSIONS, expand
from victorpy.base.variables import VARIABLES, kind_of
from victorpy.base.words import is_gibberish
from victorpy.config import read_config
from victorpy.document import Document, Elements
from victorpy.errors import ChildError, ConfigError, ModelError, suggest


@pytest.mark.parametrize(
    ("variable", "valid", "wrong"),
    [
        ("feature-*-scale", ["1", "70"], ["0", "1.5", "-1", "tea"]),
        ("crf-param-*", ["0", "1e9"], ["-0.1", "inf", "nan"]),
        ("evidence-layers", ["1", "5"], ["0", "6"]),
        ("evidence-folds", ["2", "50"], ["1", "51"]),
        ("evidence-forests", ["1", "20"], ["0", "21"]),
        ("evidence-net", ["1", "256"], ["0", "257"]),
        ("evidence-blocks", ["1", "2.5"], ["0.9"]),
        ("evidence-param-*", ["0"], ["-0.1"]),
        ("kinds-param-*", ["0"], ["-0.1"]),
        *((name, ["0", "1"], ["-0.01", "1.01"]) for name in ("kinds-share", "kinds-content-share", "empty-below")),
        *((name, ["0", "1"], ["-0.01", "1.01"]) for name in ("heading-least", "threshold")),
        ("feature-*-values", ["0 1 2.5", "-1"], ["1 0", "1 1", "0 inf", "tea"]),
        ("labels", ["other paragraph"], ["other", "paragraph header", "other other", "other tea"]),
        ("split", ["every", "block"], ["some", "every block"]),
        ("regexp-*", ["a|b"], ["("]),
        ("crf-template", ["a.tpl"], ["a.tpl b.tpl"]),
    ],
)
def test_values_of_a_variable(variable: str, valid: list[str], wrong: list[str]) -> None:
    check = VARIABLES[variable].check
    assert [check(tuple(values.split())) for values in valid] == [""] * len(valid)
    assert all(check(tuple(values.split())) for values in wrong)


@pytest.mark.parametrize(
    ("setting", "replaces"),
    [("split: every\nsplit: block", True), ("threshold: 0.1\nthreshold: 0.2", True), ("class-a: b\nclass-a: c", False)],
)
def test_setting_a_single_value_again_replaces_it(tmp_path: Path, setting: str, replaces: bool) -> None:
    (tmp_path / "my.conf").write_text(setting)
    (values,) = read_config(tmp_path / "my.conf").values.values()
    assert len(values) == (1 if replaces else 2)


def test_star_stands_for_at_least_one_character() -> None:
    names = ("class-a", "class-", "feature-x-values", "feature--values", "feature-values", "class-*", "split")
    kinds = ["class-*", None, "feature-*-values", None, None, None, "split"]
    assert [kind_of(name) for name in names] == kinds


def test_ranges_include_their_ends() -> None:
    check_range("tea", 0, 1, low=0, high=1.0)
    check_count("tea", 2, cups=2)
    for value in (-0.01, 1.01, True, "1", float("nan")):
        with pytest.raises(ConfigError, match="expected a number from 0 to 1"):
            check_range("tea", 0, 1, strength=value)  # type: ignore[arg-type]
    for value in (1, 2.0, True):
        with pytest.raises(ConfigError, match="expected a whole number, 2 or more"):
            check_count("tea", 2, cups=value)  # type: ignore[arg-type]


def test_braces_have_up_to_ten_thousand_values() -> None:
    assert len(expand(f"{{1..{MOST_EXPANSIONS}}}")) == MOST_EXPANSIONS
    assert expand("{3..1}") == ["3", "2", "1"]
    assert expand("{2..2}") == ["2"]
    assert expand(f"{{{MOST_EXPANSIONS}..{MOST_EXPANSIONS + 1}}}") == [str(MOST_EXPANSIONS), str(MOST_EXPANSIONS + 1)]
    for braces, reason in (
        (f"{{0..{MOST_EXPANSIONS}}}", "braces expand to more than"),
        (f"{{0..{MOST_EXPANSIONS + 1}}}", "a range has more than"),
        ("{0..1000}{0..9}", "braces expand to more than"),
    ):
        with pytest.raises(ValueError, match=reason):
            expand(braces)


@pytest.mark.parametrize(("count", "fits"), [(100, True), (101, False)])
def test_value_has_up_to_a_hundred_braces(count: int, fits: bool) -> None:
    if fits:
        assert expand("{a}" * count) == ["a" * count]
    else:
        with pytest.raises(ValueError, match="more than 100 braces"):
            expand("{a}" * count)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("class-a: 1 2 3 4", ""),
        ("class-a: 1 2\nclass-b: 3", ""),
        ("class-a: 1 2 3 4 5", "the config sets more than 5 values"),
        ("class-a: 1 2\nclass-b: 3 4", "the config sets more than 5 values"),
        ("class-a: 1 2 3 4 5 6", "class-a: more than 5 values"),
    ],
)
def test_config_has_a_number_of_values(tmp_path: Path, monkeypatch, text: str, problem: str) -> None:
    monkeypatch.setattr(config, "MOST_VALUES", 5)
    (tmp_path / "my.conf").write_text(text)
    if problem:
        with pytest.raises(ConfigError, match=problem):
            read_config(tmp_path / "my.conf")
    else:
        assert read_config(tmp_path / "my.conf").get("class-a")[0] == "1"


@pytest.mark.parametrize(("count", "fits"), [(3, True), (4, False)])
def test_config_has_a_number_of_files(tmp_path: Path, monkeypatch, count: int, fits: bool) -> None:
    monkeypatch.setattr(textformat, "MOST_FILES", 3)
    for number in range(count):
        (tmp_path / f"{number}.conf").write_text(f"include ./{number + 1}" if number < count - 1 else "class-a: b")
    if fits:
        assert read_config(tmp_path / "0.conf").get("class-a") == ("b",)
    else:
        with pytest.raises(ConfigError, match="includes at most 3 files"):
            read_config(tmp_path / "0.conf")


@pytest.mark.parametrize(("length", "is_whole"), [(200, True), (201, False)])
def test_errors_quote_up_to_200_characters(tmp_path: Path, length: int, is_whole: bool) -> None:
    (tmp_path / "my.conf").write_text("x" * length)
    with pytest.raises(ConfigError) as caught:
        read_config(tmp_path / "my.conf")
    assert repr("x" * 200 + "..." * (not is_whole)) in str(caught.value)


def test_long_messages_and_names_are_cut() -> None:
    assert str(ConfigError("x" * 4_000)) == "x" * 4_000
    assert str(ConfigError("x" * 4_001)) == f"{'x' * 3_000} ... {'x' * 500}"
    assert suggest("x" * 200, ["x" * 199]) == f" (did you mean {'x' * 199!r}?)"
    assert suggest("x" * 201, ["x" * 200]) == ""
    for length, name in ((80, "x" * 80), (81, "x" * 79 + "…")):
        assert Document((), Elements([], [], [], [], [], []), url="x" * length).name == name


GERMAN = "Tee ist ein heißes Getränk, das man aus den Blättern des Teestrauchs macht und überall gern trinkt. "


@pytest.mark.parametrize(("length", "language"), [(99, "en"), (100, "de")])
def test_language_is_detected_from_100_characters_on(length: int, language: str) -> None:
    assert len(GERMAN) >= 100
    assert language_of(GERMAN[:length], claimed="en-US") == language


@pytest.mark.parametrize(("most", "fits"), [(4, True), (3, False)])
def test_files_are_read_up_to_a_number_of_bytes(tmp_path: Path, most: int, fits: bool) -> None:
    (tmp_path / "tea").write_bytes(b"tea!")
    if fits:
        assert read_bounded(tmp_path / "tea", most) == b"tea!"
    else:
        with pytest.raises(OSError, match="larger than 3 bytes"):
            open_regular(tmp_path / "tea", most)


@pytest.mark.skipif(not Path("/proc/version").exists(), reason="needs a file whose size the system does not know")
def test_files_without_a_size_are_read_up_to_a_number_of_bytes() -> None:
    path = Path("/proc/version")
    content = path.read_bytes()
    assert path.stat().st_size == 0
    assert read_bounded(path, len(content)) == content
    with pytest.raises(OSError, match="larger than"):
        read_bounded(path, len(content) - 1)


@pytest.mark.parametrize("array", [np.zeros(0), np.zeros((0, 3)), np.arange(3.0), np.array(["tea"])])
def test_plain_arrays_that_fill_their_file_are_read(array: np.ndarray) -> None:
    file = io.BytesIO()
    np.save(file, array)
    file.seek(0)
    assert read_array(file, "numbers").tolist() == array.tolist()
    if array.size:
        with pytest.raises(ValueError, match="larger than their file"):
            read_array(io.BytesIO(file.getvalue()[:-1]), "numbers")


@pytest.mark.parametrize(
    "array", [np.array([True]), np.array([object()]), np.zeros(2, dtype="i4,i4"), np.array(b"tea")]
)
def test_other_arrays_are_refused(array: np.ndarray) -> None:
    file = io.BytesIO()
    np.save(file, array)
    file.seek(0)
    with pytest.raises(ValueError, match="not arrays of numbers"):
        read_array(file, "numbers")


def test_arrays_of_items_without_bytes_are_refused() -> None:
    file = io.BytesIO()
    npy.write_array_header_1_0(file, {"descr": "<U0", "fortran_order": False, "shape": (10**12,)})
    file.seek(0)
    with pytest.raises(ValueError, match="not arrays of numbers"):
        read_array(file, "numbers")


def test_checked_arrays_include_the_ends_of_their_range() -> None:
    assert checked(np.array([0, 2]), np.int64, "counts", 0, 2).tolist() == [0, 2]
    for values in ([-1], [3]):
        with pytest.raises(ValueError, match="its counts are not all numbers from 0 to 2"):
            checked(np.array(values), np.int64, "counts", 0, 2)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x" * 100, True),
        ("x" * 99, False),  # too few letters
        ("x" * 100 + "." * 100, True),
        ("x" * 100 + "." * 101, False),  # most characters are no Latin letters
        ("a" * 22 + "x" * 78 + "." * 90, True),
        ("a" * 23 + "x" * 77 + "." * 90, False),  # enough vowels
    ],
)
def test_gibberish_has_a_hundred_letters_and_few_vowels(text: str, expected: bool) -> None:
    assert is_gibberish(text) is expected


def test_page_counts_forget_the_rarest_hashes_above_their_limit() -> None:
    counts = PageCounts(most=3)
    counts.add(1, np.array([1, 2, 3], dtype=np.uint64))
    asked = np.array([1, 2, 3, 4], dtype=np.uint64)
    assert counts.spread(9, asked).tolist() == [2, 2, 2, 1]
    counts.add(2, np.array([1, 2], dtype=np.uint64))
    counts.add(2, np.array([3], dtype=np.uint64))  # the same page again
    counts.add(3, np.array([1, 4], dtype=np.uint64))
    assert counts.spread(9, asked).tolist() == [4, 3, 1, 1]
    assert counts.spread(3, asked).tolist() == [3, 2, 1, 1]
    assert (len(counts), counts.with_page(3), counts.with_page(9)) == (3, 3, 4)


@pytest.mark.parametrize(("files", "size", "fits"), [(2, 5, True), (3, 5, False), (2, 6, False)])
def test_model_has_a_number_of_files_and_bytes(tmp_path: Path, monkeypatch, files: int, size: int, fits: bool) -> None:
    monkeypatch.setattr(digests, "_MOST_FILES", 2)
    monkeypatch.setattr(digests, "MOST_BYTES", 5)
    problem = nullcontext() if fits else pytest.raises(ModelError, match="at most 5 bytes in 2 files")
    with problem, digests.write_directory(tmp_path / "model", {"format": 1}) as directory:
        for number in range(files):
            (directory / str(number)).write_bytes(b"x" * (size if number == 0 else 0))
    assert (tmp_path / "model").exists() is fits
    if fits:
        assert set(digests.verify_directory(tmp_path / "model", digests.read_meta(tmp_path / "model"))) == {"0", "1"}
        monkeypatch.setattr(digests, "_MOST_FILES", 1)
        with pytest.raises(ModelError, match="lists more than 1 files"):
            digests.verify_directory(tmp_path / "model", digests.read_meta(tmp_path / "model"))


@pytest.mark.parametrize("name", ["x" * 256, "", ".", "..", "a/b", "a\\b", "a\n"])
def test_model_names_only_files_of_its_directory(tmp_path: Path, name: str) -> None:
    (tmp_path / "meta.json").write_text(json.dumps({"format": 1, "digest": "0", "files": {"x" * 255: ""}}))
    assert digests.read_meta(tmp_path)["format"] == 1
    (tmp_path / "meta.json").write_text(json.dumps({"format": 1, "digest": "0", "files": {name: ""}}))
    with pytest.raises(ModelError, match="files must contain the names of files in this directory"):
        digests.read_meta(tmp_path)


def test_temporary_names_differ_unless_one_program_writes_the_file(tmp_path: Path) -> None:
    (tmp_path / ".tea.tmp").mkdir()  # in the way of the fixed name
    write_atomically(tmp_path / "tea", b"hot")
    assert (tmp_path / "tea").read_bytes() == b"hot"
    with pytest.raises(OSError, match="directory"):
        write_atomically(tmp_path / "tea", b"cold", alone=True)
    assert [path.name for path in sorted(tmp_path.iterdir())] == [".tea.tmp", "tea"]


def test_memory_is_limited_beyond_what_is_used(monkeypatch) -> None:
    resource = pytest.importorskip("resource")
    if not Path("/proc/self/statm").exists():
        pytest.skip("only Linux limits memory")
    limits: list[tuple[int, tuple[int, int]]] = []
    monkeypatch.setattr(resource, "setrlimit", lambda kind, limit: limits.append((kind, limit)))
    for hard in (resource.RLIM_INFINITY, 10**15, 10**6):
        monkeypatch.setattr(resource, "getrlimit", lambda kind, hard=hard: (hard, hard))
        child.limit_memory(5 * 10**9)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    soft = [limit[0] for _, limit in limits]
    assert {kind for kind, _ in limits} == {resource.RLIMIT_AS}
    assert soft[:2] == pytest.approx([used + 5e9] * 2, abs=2e8)
    assert soft[2] == 10**6
    assert [limit[1] for _, limit in limits] == [resource.RLIM_INFINITY, 10**15, 10**6]


@pytest.mark.parametrize("error", [None, OSError, AttributeError, TypeError])
def test_memory_is_returned_where_the_system_can_do_this(monkeypatch, error: type[Exception] | None) -> None:
    calls = []

    def load(name: object) -> object:
        if error:
            raise error
        return SimpleNamespace(malloc_trim=lambda kept: calls.append((name, kept)))

    monkeypatch.setattr("ctypes.CDLL", load)
    trim_memory()
    assert calls == ([] if error else [(None, 0)])


def test_answers_of_a_child() -> None:
    for result, succeeded, expected in (("tea", True, "tea"), (KeyError("x"), False, "KeyError")):
        answers = io.BytesIO()
        child._answer(answers, succeeded, result)
        assert pickle.loads(answers.getvalue())[0] is succeeded
        assert expected in repr(pickle.loads(answers.getvalue())[1])
    answers = io.BytesIO()
    child._answer(answers, True, lambda: None)
    succeeded, error = pickle.loads(answers.getvalue())
    assert (succeeded, type(error)) == (False, ChildError)
    assert "<function test_answers_of_a_child" in str(error)


def test_variables_of_workers(monkeypatch) -> None:
    names = {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "PYTHONSAFEPATH"}
    for why, more in (("", {}), ("not built", {"VICTOR_ENGINE": "python"})):
        monkeypatch.setattr(child.native, "why_not", lambda why=why: why)
        assert child.worker_variables() == dict.fromkeys(names, "1") | more
