"""Names of output files: safe, unique and inside the output folder."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path, PurePosixPath

LONGEST_PART = 120
"""Maximum bytes in a path component. File systems allow 255, and temporary names are longer."""
MOST_PARTS = 12

_ODD = re.compile(r'[\x00-\x1f\x7f-\x9f<>:"|?*\\\u200b-\u200f\u2028-\u202e\ud800-\udfff]')
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?$", re.IGNORECASE)
_DIGEST_LENGTH = 10


def safe_place(wanted: Path | str, suffix: str) -> PurePosixPath:
    r"""Turn any name into a relative path that stays inside its folder, without special characters or long parts.

    >>> str(safe_place("../../etc/passwd.html", ".txt")), str(safe_place("/abs/a?b.html", ".txt"))
    ('etc/passwd.txt', 'abs/a_b.txt')
    >>> str(safe_place("x.txt/page.html", ".txt"))
    'x.txt_/page.txt'
    """
    parts = [part for part in re.split(r"[/\\]", os.fspath(wanted)) if part not in {"", ".", ".."}] or ["page"]
    if len(parts) > MOST_PARTS:
        parts = [*parts[: MOST_PARTS - 2], _digest("/".join(parts[MOST_PARTS - 2 : -1])), parts[-1]]
    *folders, last = parts
    stem = PurePosixPath(last).stem
    # A folder never has the suffix of a file. Otherwise a page and a folder could have the same name.
    safe = [_safe_part(folder + "_" if folder.lower().endswith(suffix) else folder) for folder in folders]
    return PurePosixPath(*safe, _safe_part(stem, len(suffix)) + suffix)


def _safe_part(part: str, room: int = 0) -> str:
    safe = _ODD.sub("_", part).rstrip(". ") or "_"
    if safe.startswith(".") or _RESERVED.match(safe):
        safe = "_" + safe
    encoded = safe.encode()
    most = LONGEST_PART - room
    if len(encoded) <= most:
        return safe
    return encoded[: most - _DIGEST_LENGTH - 1].decode(errors="ignore") + "-" + _digest(part)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_LENGTH]


class Names:
    """The names in use in a folder, stored as hashes, because there may be millions."""

    def __init__(self, reserved: tuple[str, ...] = ()) -> None:
        self._taken: set[int] = set()
        self._next: dict[int, int] = {}
        """The next number to try for a name that is in use."""
        for name in reserved:
            self.take(PurePosixPath(name))

    def take(self, place: PurePosixPath) -> None:
        self._taken.add(_key(place))

    def unique(self, wanted: PurePosixPath) -> PurePosixPath:
        """Return the wanted name. If it is in use, append the first free number: ``page-2``."""
        place = wanted
        if _key(place) in self._taken:
            number = self._next.get(_key(wanted), 2)
            while _key(place := wanted.with_name(f"{wanted.stem}-{number}{wanted.suffix}")) in self._taken:
                number += 1
            self._next[_key(wanted)] = number + 1
        self.take(place)
        return place


def _key(place: PurePosixPath) -> int:
    """Return a hash of a name. Names that differ only in case have the same hash, as on many file systems."""
    folded = str(place).casefold().encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(folded, digest_size=8).digest())
