"""Write directories with digests in one step, and verify them before use.

meta.json contains the caller's values, the SHA-256 digests of all other files (`files`) and its own (`digest`).
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from victorpy.base.files import open_regular, read_bounded
from victorpy.errors import ModelError

META = "meta.json"
MOST_BYTES = 200_000_000  # maximum size of all files in a directory, together
_MOST_FILES = 100
_MOST_META_BYTES = 1_000_000
_ADVICE = "get the model again or train it again"


@contextmanager
def write_directory(directory: Path, meta: Mapping[str, Any]) -> Iterator[Path]:
    """Yield an empty directory for new files. In the end it replaces `directory`, unless an error was raised."""
    import tempfile  # slow to import, and not needed for reading

    directory.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=directory.parent, prefix=".saving-") as temporary:
        fresh = Path(temporary) / "model"
        fresh.mkdir()
        yield fresh
        paths = sorted(fresh.iterdir())
        if sum(path.stat().st_size for path in paths) > MOST_BYTES or len(paths) > _MOST_FILES:
            raise ModelError(f"{directory}: a model has at most {MOST_BYTES:,} bytes in {_MOST_FILES} files")
        digests = {path.name: _digest(path.read_bytes()) for path in paths}
        complete = {**meta, "files": digests}
        complete["digest"] = _meta_digest(complete)
        text = json.dumps(complete, indent=2, sort_keys=True) + "\n"
        (fresh / META).write_text(text, encoding="utf-8")
        if directory.exists():
            directory.replace(Path(temporary) / "old")
        fresh.replace(directory)


def read_meta(directory: Path) -> dict[str, Any]:
    """Read meta.json. The caller checks its format, then calls `verify_directory`."""
    path = directory / META
    try:
        meta = json.loads(read_bounded(path, _MOST_META_BYTES))
        if not isinstance(meta, dict) or not {"digest", "files", "format"} <= meta.keys():
            raise ValueError("it needs digest, files and format")
        if not isinstance(meta["digest"], str) or not meta["digest"].isalnum():
            raise ValueError("its digest is not a digest")
        if not isinstance(meta.get("training", {}), dict):
            raise ValueError("training must be an object")
        if not isinstance(meta["files"], dict) or not all(map(_is_file_name, meta["files"])):
            raise ValueError("files must contain the names of files in this directory")
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise ModelError(f"{path} is damaged: {error}; {_ADVICE}") from error
    return meta


def _is_file_name(name: str) -> bool:
    return (
        name == Path(name).name
        and 0 < len(name) < 256
        and name not in {".", ".."}
        and name.isprintable()
        and "\\" not in name
    )


def verify_directory(directory: Path, meta: Mapping[str, Any]) -> dict[str, str]:
    """Return the digests of the files by name. Raises ModelError if a file is not regular or does not match.

    Symbolic links that lead out of the directory are refused.
    """
    if meta["digest"] != _meta_digest(meta):
        raise ModelError(f"{directory / META} is damaged: its content does not match its digest; {_ADVICE}")
    digests: dict[str, str] = meta["files"]
    if len(digests) > _MOST_FILES:
        raise ModelError(f"{directory / META} is damaged: it lists more than {_MOST_FILES} files; {_ADVICE}")
    home = os.path.realpath(directory)
    bytes_left = MOST_BYTES
    for name, expected in digests.items():
        path = directory / name
        if os.path.dirname(os.path.realpath(path)) != home:  # noqa: PTH120
            raise ModelError(f"{path} is a link to a file outside of the model; {_ADVICE}")
        try:
            with open_regular(path, bytes_left) as file:
                bytes_left -= os.fstat(file.fileno()).st_size
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise ModelError(f"{path}: missing or unreadable ({error.strerror}); {_ADVICE}") from error
        if digest != expected:
            raise ModelError(f"{path} is damaged: it does not match the digest in meta.json; {_ADVICE}")
    return digests


def _meta_digest(meta: Mapping[str, Any]) -> str:
    rest = {name: value for name, value in meta.items() if name != "digest"}
    return _digest(json.dumps(rest, sort_keys=True).encode())


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
