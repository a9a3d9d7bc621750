"""Read gzip files, including the data after damage."""

from __future__ import annotations

import os
import zlib
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, BinaryIO

_zlib: Any = zlib
with suppress(ImportError):
    from zlib_ng import zlib_ng as _zlib  # takes half the time

GZIP = b"\x1f\x8b\x08"
PADDING = b"\0\r\n\t "

_PIECE = 1 << 16
_BITE = 1 << 14  # compressed bytes at a time
_REMEMBERED_MEMBERS = 1_000
_NEVER = 1 << 62
_MOST_REPEATED, _FREE = 20, 1 << 20


class ExpandedGzip:
    """A file object for the expanded bytes of a gzip file, from the start of a member to the first damage.

    At damage, reading stops as if the file ended, and `damage` describes the problem.
    """

    def __init__(self, file: BinaryIO, start: int) -> None:
        self._file = file
        self._members = deque([(0, start)], _REMEMBERED_MEMBERS)
        """Offsets of the latest members: in the expanded bytes, and in the file."""
        self._careful_from = _NEVER
        """Offset in the file from which damage is expected."""
        self.work = 0
        """Number of expanded bytes, counting repetitions."""
        self.damaged_at = start
        """Offset in the file of the damage."""
        self._restart(0, start)

    def _restart(self, offset: int, member: int) -> None:
        self._at = offset
        self._file.seek(member)
        self._expander: Any = None
        self.member = member
        """Offset in the file of the member that is being read."""
        self.damage = ""

    def tell(self) -> int:
        return self._at

    def close(self) -> None:
        """Do nothing. The caller who opened the file closes it."""

    def member_at(self, offset: int) -> int:
        """Return the offset in the file of the member that begins at an offset in the expanded bytes, or 0."""
        return next((member for at, member in reversed(self._members) if at == offset), 0)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move to an offset in the expanded bytes. Moving back expands a member again."""
        assert whence == os.SEEK_SET
        if offset < self._at:
            while len(self._members) > 1 and self._members[-1][0] > offset:
                self._members.pop()
            self._restart(*self._members[-1])
        while self._at < offset and self.read(min(_PIECE, offset - self._at)):
            pass
        return self._at

    def read(self, size: int = _PIECE) -> bytes:
        """Read up to `size` bytes. Returns an empty value at the end of the file and at damage."""
        while not self.damage and (self._expander is not None or self._begin_member()):
            is_careful = self._file.tell() >= self._careful_from
            bite = self._expander.unconsumed_tail or self._file.read(_BITE)
            before = self._expander.copy() if is_careful else None
            try:
                piece: bytes = self._expander.decompress(bite, size)
            except _zlib.error as error:
                offset = self._file.tell() - len(bite)
                if before is None:
                    # No output of this bite was returned. Expand the member again up to this point.
                    self._careful_from = offset
                    at = self._at
                    self._restart(*self._members[-1])
                    self.seek(at)
                    continue
                sound = _count_sound(before, bite)
                self.damaged_at = self._file.seek(offset + sound)
                if not sound:
                    self.damage = f"damaged compressed data near offset {offset:,}: {error}"
                    break
                self._expander = before
                piece = before.decompress(bite[:sound], size)
            if self._expander.eof:
                self._file.seek(-len(self._expander.unused_data), os.SEEK_CUR)
                self._expander = None
            elif not bite and not piece:
                self.damaged_at = self._file.tell()
                self.damage = f"the file ends, at offset {self.damaged_at:,}, within a compressed member"
            if piece:
                self._at += len(piece)
                self.work += len(piece)
                return piece
        return b""

    def _begin_member(self) -> bool:
        """Skip padding and begin the next member. Returns False at the end of the file."""
        while chunk := self._file.read(_BITE):
            rest = chunk.lstrip(PADDING)
            if rest:
                self.member = self._file.seek(-len(rest), os.SEEK_CUR)
                if self.member > self._members[-1][1]:
                    self._members.append((self._at, self.member))
                self._expander = _zlib.decompressobj(16 + zlib.MAX_WBITS)
                return True
        return False


def expand_gzip(file: BinaryIO, start: int | None = 0) -> Iterator[ExpandedGzip]:
    """Yield the undamaged stretches of a gzip file. Each must be read before the next one is requested."""
    furthest, work = 0, 0
    while start is not None:
        stretch = ExpandedGzip(file, start)
        yield stretch
        if not stretch.damage:
            return
        # A damaged member may appear to include later members, so search from its beginning.
        work += stretch.damaged_at - stretch.member
        furthest = max(furthest, stretch.damaged_at)
        start = find_bytes(file, GZIP, furthest if is_too_much(work, furthest) else stretch.member + 1)


def is_too_much(work: int, reached: int) -> bool:
    """Whether so many bytes have been read repeatedly that the search after damage must only move forwards."""
    return work > _MOST_REPEATED * reached + _FREE


def _count_sound(expander: Any, bite: bytes) -> int:
    """Return how many bytes of a bite can be expanded before the damage."""
    sound, damaged = 0, len(bite)
    while damaged - sound > 1:
        middle = (sound + damaged) // 2
        try:
            expander.copy().decompress(bite[:middle])
            sound = middle
        except _zlib.error:
            damaged = middle
    return sound


def is_padding(file: BinaryIO | ExpandedGzip, start: int) -> bool:
    """Whether there is only padding after an offset."""
    file.seek(start)
    while piece := file.read(_PIECE):
        if piece.strip(PADDING):
            return False
    return True


def find_bytes(file: BinaryIO | ExpandedGzip, wanted: bytes, start: int) -> int | None:
    """Return the offset of the next occurrence of `wanted`, starting at an offset."""
    file.seek(start)
    window = b""
    while piece := file.read(_PIECE):
        window = window[1 - len(wanted) :] + piece
        index = window.find(wanted)
        if index >= 0:
            return file.tell() - len(window) + index
    return None
