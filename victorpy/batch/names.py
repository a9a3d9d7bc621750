"""Names of output files: safe, unique and inside the output folder, on every file system."""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from pathlib import Path, PurePosixPath

from victorpy.base.hashes import hash_text

LONGEST_PART = 120
"""Maximum number of bytes in a path component. File systems allow 255, but temporary names are longer."""
MOST_PARTS = 12

_ODD = re.compile(r'[\x00-\x1f\x7f<>:"|?*\\]')
_ODD_CATEGORIES = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}
"""Control, bidirectional, private, unassigned and surrogate characters, and line separators."""
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")
_RESERVED = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|clock\$|com\d|lpt\d) *(\..*)?$")
"""Names of Windows devices, after `fold`."""
_OWN = re.compile(r"(_index|(retry-\d+-)?(manifest|failed|replicas)\.jsonl)$")
"""Files and folders of a run in its output folder, after `fold`."""
_DIGEST_LENGTH = 10


def safe_place(wanted: Path | str, suffix: str) -> PurePosixPath:
    r"""Turn any name into a relative path that stays inside its folder, without special characters or long parts.

    >>> str(safe_place("../../etc/passwd.html", ".txt")), str(safe_place("/abs/a?b.html", ".txt"))
    ('etc/passwd.txt', 'abs/a_b.txt')
    >>> str(safe_place("x.txt/page.html", ".txt")), str(safe_place("failed.jsonl/COM¹.html", ".txt"))
    ('x.txt_/page.txt', '_failed.jsonl/_COM¹.txt')
    """
    parts = [part for part in re.split(r"[/\\]", os.fspath(wanted)) if part not in {"", ".", ".."}] or ["page"]
    if len(parts) > MOST_PARTS:
        parts = [*parts[: MOST_PARTS - 2], _digest("/".join(parts[MOST_PARTS - 2 : -1])), parts[-1]]
    *folders, last = parts
    stem = PurePosixPath(last).stem
    # A folder must not have the suffix of a file, so that a page and a folder never have the same name.
    safe = [_safe_part(folder + "_" if fold(folder).endswith(suffix) else folder) for folder in folders]
    safe.append(_safe_part(stem, len(suffix)) + suffix)
    if _OWN.match(fold(safe[0])):
        safe[0] = f"_{safe[0]}"
    return PurePosixPath(*safe)


def fold(name: str) -> str:
    """Return a form that is equal for names that some file system treats as the same name (case, normal form)."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold())


def _safe_part(part: str, room: int = 0) -> str:
    safe = _ODD.sub("_", part)
    if not safe.isascii():
        safe = "".join("_" if _is_odd(char) else char for char in unicodedata.normalize("NFC", safe))
    safe = safe.rstrip(". ") or "_"
    if safe.startswith(".") or _RESERVED.match(fold(safe)):
        safe = "_" + safe
    encoded = safe.encode()
    most = LONGEST_PART - room
    if len(encoded) <= most:
        return safe
    return encoded[: most - _DIGEST_LENGTH - 1].decode(errors="ignore") + "-" + _digest(part)


def _is_odd(char: str) -> bool:
    is_selector = "\ufe00" <= char <= "\ufe0f" or char >= "\U000e0000"
    return is_selector or char in _INVISIBLE or unicodedata.category(char) in _ODD_CATEGORIES


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_LENGTH]


class Names:
    """The names in use in a folder, stored as hashes, because there may be millions."""

    def __init__(self) -> None:
        self._taken: set[int] = set()
        self._next: dict[int, int] = {}
        """The next number to try for a name that is in use."""

    def take(self, place: PurePosixPath) -> None:
        self._taken.add(_key(place))

    def has(self, place: PurePosixPath) -> bool:
        return _key(place) in self._taken

    def unique(self, wanted: PurePosixPath) -> PurePosixPath:
        """Return the wanted name. If it is in use, append the first free number: ``page-2``."""
        place = wanted
        if self.has(place):
            number = self._next.get(_key(wanted), 2)
            while _key(place := wanted.with_name(f"{wanted.stem}-{number}{wanted.suffix}")) in self._taken:
                number += 1
            self._next[_key(wanted)] = number + 1
        self.take(place)
        return place


def _key(place: PurePosixPath) -> int:
    return hash_text(fold(str(place)))
