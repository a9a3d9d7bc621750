"""Files are read within limits and replaced in one step."""

import errno
import hashlib
import json
import os
import socket
import stat
from pathlib import Path
from unittest import mock

import pytest

from victorpy.base import digests
from victorpy.base.digests import read_meta, verify_directory, write_directory
from victorpy.base.files import (
    keep_copy,
    open_output,
    open_regular,
    read_bounded,
    read_regular,
    remove_leftovers,
    set_aside,
    temporary_of,
    write_atomically,
)
from victorpy.errors import ModelError


def test_only_regular_files_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the name of a socket has a short limit
    os.mkfifo("pipe")
    (tmp_path / "directory").mkdir()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
    for name, advice in (("pipe", "; save its content to a file first"), ("directory", "")):
        with pytest.raises(OSError, match=f"this is a {name}, not a file{advice}'?$|this is a {name}") as caught:
            open_regular(Path(name))
        assert caught.value.strerror == f"this is a {name}, not a file{advice}"
        assert (caught.value.errno, caught.value.filename) == (errno.EINVAL, name)
    with pytest.raises(OSError, match="socket"):
        open_regular(Path("socket"))
    with pytest.raises(OSError, match="this is a device, not a file"):
        open_regular(Path("/dev/null"))
    with pytest.raises(OSError, match="null") as caught:
        open_regular(Path("a\0b"))
    assert caught.value.errno == errno.EINVAL


def test_names_with_a_null_character_name_no_file() -> None:
    with pytest.raises(OSError, match="embedded null") as caught:
        open_regular(Path("a\0b"))
    assert (caught.value.errno, caught.value.filename) == (errno.EINVAL, "a\0b")


def test_files_of_any_size_are_read(tmp_path: Path) -> None:
    (tmp_path / "tea").write_bytes(b"tea" * 100_000)
    assert read_regular(tmp_path / "tea") == b"tea" * 100_000
    assert read_bounded(tmp_path / "tea", 300_000) == b"tea" * 100_000
    with pytest.raises(OSError, match="larger than 299,999 bytes") as caught:
        read_bounded(tmp_path / "tea", 299_999)
    assert caught.value.errno == errno.EINVAL


def test_unused_descriptors_are_closed(tmp_path: Path) -> None:
    first = os.open(tmp_path, os.O_RDONLY)
    os.close(first)
    with pytest.raises(OSError, match="directory"):
        open_regular(tmp_path)
    assert os.open(tmp_path, os.O_RDONLY) == first
    os.close(first)


def test_output_is_utf8_with_the_line_ends_that_are_written(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "tea.txt"
    with open_output(path, pytest.fail) as file:
        file.write("茶\r\n\n")
    assert path.read_bytes() == "茶\r\n\n".encode()
    with open_output(path, pytest.fail, "a") as file:
        file.write("x")
    with open_output(path, pytest.fail, "a") as file:
        file.write("y")
    assert path.read_bytes() == "茶\r\n\nxy".encode()
    with open_output(path, pytest.fail) as file:
        file.write("z")
    assert path.read_bytes() == b"z"


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
@pytest.mark.parametrize("durable", [False, True])
def test_replaced_file_keeps_its_mode(tmp_path: Path, mode: int, durable: bool) -> None:
    path = tmp_path / "tea"
    path.write_bytes(b"cold")
    path.chmod(mode)
    write_atomically(path, b"hot", durable=durable)
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"hot", mode)
    assert list(tmp_path.iterdir()) == [path]


def test_errors_name_the_file_and_not_its_temporary_file(tmp_path):
    path = tmp_path / "gone" / "tea"
    with pytest.raises(FileNotFoundError) as caught:
        write_atomically(path, b"hot")
    assert caught.value.filename == str(path)


def test_new_file_has_the_usual_mode(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    write_atomically(tmp_path / "tea", b"hot")
    assert (tmp_path / "tea").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_failed_write_leaves_the_old_file_alone(tmp_path: Path) -> None:
    (tmp_path / "tea").write_bytes(b"hot")
    with pytest.raises(TypeError):
        write_atomically(tmp_path / "tea", "text")  # type: ignore[arg-type]
    assert [path.name for path in tmp_path.iterdir()] == ["tea"]
    assert (tmp_path / "tea").read_bytes() == b"hot"


def test_other_programs_may_write_the_same_file(tmp_path: Path) -> None:
    temporary = tmp_path / ".tea.tmp"
    temporary.write_bytes(b"of another program")
    write_atomically(tmp_path / "tea", b"hot")
    assert temporary.read_bytes() == b"of another program"
    write_atomically(tmp_path / "tea", b"hot", alone=True)
    assert not temporary.exists()


@pytest.mark.parametrize(("length", "is_whole"), [(220, True), (221, False), (255, False)])
def test_temporary_names_of_long_names_have_at_most_255_bytes(length: int, is_whole: bool) -> None:
    name = "x" * length
    temporary = temporary_of(Path("a") / name)
    assert temporary.parent == Path("a")
    assert temporary.name.startswith(f".{name}." if is_whole else f".{hashlib.sha256(name.encode()).hexdigest()}.")
    assert len(temporary.name) <= 255


def test_copies_need_no_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "hardlink_to", mock.Mock(side_effect=PermissionError))
    (tmp_path / "tea").write_bytes(b"hot")
    assert keep_copy(tmp_path / "tea", "other").read_bytes() == b"hot"


def test_leftovers_of_a_killed_program_are_removed(tmp_path: Path) -> None:
    names = {".tea[1].77.tmp", ".tea[1].x.tmp", ".tea[1].tmp", ".tea1.77.tmp", "tea[1].77.tmp", ".tea[1].77.tmpx"}
    for name in names:
        (tmp_path / name).touch()
    remove_leftovers(tmp_path / "tea[1]")
    assert {path.name for path in tmp_path.iterdir()} == names - {".tea[1].77.tmp", ".tea[1].x.tmp"}


def test_files_are_set_aside_and_copied_under_free_names(tmp_path: Path) -> None:
    path = tmp_path / "tea"
    for number in (1, 2, 3):
        path.write_text(str(number))
        assert keep_copy(path, "other").name == f"tea.other-{number}"
        assert path.exists()
        assert set_aside(path).name == f"tea.old-{number}"
        assert not path.exists()
    assert [(tmp_path / f"tea.{mark}-2").read_text() for mark in ("other", "old")] == ["2", "2"]


# Directories with digests.


def written(directory: Path, **files: str) -> Path:
    with write_directory(directory, {"format": 3, "b": 1, "a": [2]}) as fresh:
        for name, content in files.items():
            (fresh / name).write_text(content)
    return directory


def test_directory_is_replaced_as_a_whole(tmp_path: Path) -> None:
    directory = written(tmp_path / "deep" / "model", tea="hot", cup="blue")
    assert list(verify_directory(directory, read_meta(directory))) == ["cup", "tea"]
    written(directory, tea="cold")
    assert sorted(path.name for path in directory.iterdir()) == ["meta.json", "tea"]
    assert [path.name for path in directory.parent.iterdir()] == ["model"]
    with pytest.raises(ZeroDivisionError), write_directory(directory, {}) as fresh:
        (fresh / "tea").write_text(str(1 / 0))
    assert (directory / "tea").read_text() == "cold"
    text = (directory / "meta.json").read_text()
    assert text.startswith('{\n  "a": [\n    2\n  ],\n  "b": 1,\n  "digest": "')
    assert text.endswith('\n  "format": 3\n}\n')
    meta = read_meta(directory)
    assert meta["files"] == {"tea": hashlib.sha256(b"cold").hexdigest()}
    assert meta["a"] == [2]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"digest": 5}, "its digest is not a digest"),
        ({"digest": "a b"}, "its digest is not a digest"),
        ({"digest": None}, "it needs digest, files and format"),
        ({"files": None}, "it needs digest, files and format"),
        ({"format": None}, "it needs digest, files and format"),
        ({"training": [1]}, "training must be an object"),
        ({"files": ["tea"]}, "files must contain the names"),
        ({"format": 4}, "does not match its digest"),
    ],
)
def test_changed_meta_is_refused(tmp_path: Path, change: dict[str, object], problem: str) -> None:
    directory = written(tmp_path / "model", tea="hot")
    meta = json.loads((directory / "meta.json").read_bytes()) | change
    meta = {name: value for name, value in meta.items() if value is not None}
    (directory / "meta.json").write_text(json.dumps(meta))
    with pytest.raises(ModelError, match=f"meta.json is damaged: .*{problem}.*; get the model again or train it again"):
        verify_directory(directory, read_meta(directory))


def test_changed_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = written(tmp_path / "model", tea="hot", cup="blue")
    meta = read_meta(directory)
    monkeypatch.setattr(digests, "MOST_BYTES", 7)
    verify_directory(directory, meta)
    monkeypatch.setattr(digests, "MOST_BYTES", 6)
    with pytest.raises(ModelError, match=r"tea: missing or unreadable .larger than 2 bytes"):
        verify_directory(directory, meta)
    (directory / "tea").write_text("cold")
    monkeypatch.undo()
    with pytest.raises(ModelError, match="tea is damaged: it does not match the digest"):
        verify_directory(directory, meta)
    (directory / "tea").unlink()
    with pytest.raises(ModelError, match=r"tea: missing or unreadable .No such file"):
        verify_directory(directory, meta)
    (tmp_path / "tea").write_text("hot")
    (directory / "tea").symlink_to(tmp_path / "tea")
    with pytest.raises(ModelError, match="tea is a link to a file outside"):
        verify_directory(directory, meta)


def test_meta_has_at_most_a_megabyte(tmp_path: Path) -> None:
    directory = written(tmp_path / "model")
    text = (directory / "meta.json").read_text()
    (directory / "meta.json").write_text(text + " " * (1_000_000 - len(text)))
    assert read_meta(directory)["format"] == 3
    (directory / "meta.json").write_text(text + " " * (1_000_001 - len(text)))
    with pytest.raises(ModelError, match="larger than 1,000,000 bytes"):
        read_meta(directory)


def test_model_has_up_to_a_hundred_files_and_200_megabytes(tmp_path: Path) -> None:
    written(tmp_path / "model", **{f"f{number}": "" for number in range(100)})
    with pytest.raises(ModelError, match="at most 200,000,000 bytes in 100 files"):
        written(tmp_path / "other", **{f"f{number}": "" for number in range(101)})
    with pytest.raises(ModelError, match="at most"), write_directory(tmp_path / "other", {}) as fresh:
        (fresh / "tea").open("wb").truncate(200_000_001)
    assert not (tmp_path / "other").exists()
