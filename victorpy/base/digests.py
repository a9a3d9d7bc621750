"""Directories with digests, which are written in one step and verified before use.

meta.json contains the caller's values, the SHA-256 digests of all other files (`files`) and its own (`digest`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from victorpy.errors import ModelError

META = "meta.json"
_ADVICE = "get the model again or train it again"


@contextmanager
def write_directory(directory: Path, meta: Mapping[str, Any]) -> Iterator[Path]:
    """Yield an empty directory for new files, which finally replaces `directory`. After an error nothing changes."""
    import tempfile  # slow to import, and not needed for reading

    directory.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=directory.parent, prefix=".saving-") as temporary:
        fresh = Path(temporary) / "model"
        fresh.mkdir()
        yield fresh
        digests = {path.name: _digest(path.read_bytes()) for path in sorted(fresh.iterdir())}
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
        meta = json.loads(path.read_bytes())
        _ = meta["digest"], dict(meta["files"]), meta["format"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ModelError(f"{path} is damaged: {type(error).__name__}: {error}") from error
    return dict(meta)


def verify_directory(directory: Path, meta: Mapping[str, Any]) -> None:
    """Raise ModelError if meta.json or a file that it lists does not match its digest."""
    if meta["digest"] != _meta_digest(meta):
        raise ModelError(f"{directory / META} is damaged: its content does not match its digest")
    for name, expected in dict(meta["files"]).items():
        path = directory / name
        try:
            content = path.read_bytes()
        except OSError as error:
            raise ModelError(f"{path}: missing or unreadable ({error.strerror}); {_ADVICE}") from error
        if _digest(content) != expected:
            raise ModelError(f"{path} is damaged: it does not match the digest in meta.json; {_ADVICE}")


def _meta_digest(meta: Mapping[str, Any]) -> str:
    rest = {name: value for name, value in meta.items() if name != "digest"}
    return _digest(json.dumps(rest, sort_keys=True).encode())


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
