"""A gzip file as the bytes that it expands to, whose members and whose damage can be told."""

from __future__ import annotations

import os
import zlib
from collections import deque
from contextlib import suppress
from typing import Any, BinaryIO, NamedTuple

_zlib: Any = zlib
with suppress(ImportError):
    from zlib_ng import zlib_ng as _zlib  # the same in half the time
_DAMAGE: type[Exception] = _zlib.error

GZIP = b"\x1f\x8b\x08"
PADDING = b"\0\r\n\t "

_BITE = 1 << 14
_MOST_AT_ONCE = 1 << 16  # so that a bomb expands no further than it is read
_KEPT = 1 << 22
_SCANNED = 1 << 20


class Break(NamedTuple):
    """A place at which the bytes cannot be had. It takes one byte, so that what is behind it has offsets of its own."""

    words: str
    member: int
    """Where, in the file itself, the member begins that is damaged."""


class _Chunk(NamedTuple):
    start: int
    content: bytes

    @property
    def end(self) -> int:
        return self.start + len(self.content)


class Expanded:
    """The expanded bytes from a member on, with what of a file's ways reading needs.

    Reading ends at damage as it does at the end of the file; `cross` goes on with the next member behind it. Some
    megabytes are kept, so that going back a little costs nothing; whoever goes back further begins anew.
    """

    def __init__(self, file: BinaryIO, start: int = 0, watch: int = 0) -> None:
        self._file = file
        self._start = start
        self.watch = watch
        self.watched: tuple[int, int] | None = None
        """The first member that begins at or behind the place to watch for: its offset here, and in the file itself."""
        self._at = 0
        self._rewind()

    def _rewind(self) -> None:
        self._chunks: deque[_Chunk] = deque()
        self._kept = 0
        self._end = 0
        """How much has been expanded so far."""
        self.reached = self._start
        """How far the file itself has been read."""
        self._begins: dict[int, int] = {}
        self._breaks: dict[int, Break] = {}
        self._member = self._start
        self._expander: Any = None
        self._bite = b""

    def tell(self) -> int:
        """Where reading goes on."""
        return self._at

    def close(self) -> None:
        """Nothing is to be let go of: the file is its owner's."""

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to an offset, counted from the beginning."""
        if whence != os.SEEK_SET:
            raise ValueError("only offsets from the beginning are known here")
        if offset < (self._chunks[0].start if self._chunks else self._end):
            self._rewind()
        self._at = offset
        return offset

    def read(self, size: int = _MOST_AT_ONCE) -> bytes:
        """Read some bytes, no more than asked for; none at the end and at damage."""
        while self._at not in self._breaks:
            for chunk in reversed(self._chunks):
                if chunk.end <= self._at:
                    break
                if chunk.start <= self._at < chunk.end:
                    begin = self._at - chunk.start
                    part = chunk.content[begin : begin + size]
                    self._at += len(part)
                    return part
            if not self._expand():
                break
        return b""

    def cross(self) -> bool:
        """Go on behind the damage that one stands at, if one does."""
        if self._at in self._breaks:
            self._at += 1
            return True
        return False

    def member_at(self, offset: int) -> int | None:
        """Where, in the file itself, the member begins whose first byte this is; None where it is none's first."""
        return self._begins.get(offset)

    def break_between(self, start: int, end: int) -> int | None:
        """The first damage from one offset to another, of what has been read."""
        return next((offset for offset in self._breaks if start <= offset <= end), None)

    def break_here(self) -> Break | None:
        """The damage that one stands at."""
        return self._breaks.get(self._at)

    def _expand(self) -> bool:
        """Expand some more; False at the end."""
        if self._expander is None and not self._begin_member():
            return False
        assert self._expander is not None
        bite = self._bite or self._more()
        if not bite:
            self._keep(self._expander.flush())
            return self._break(f"the file ends, at offset {self.reached:,}, within a compressed member")
        try:
            part = self._expander.decompress(bite, _MOST_AT_ONCE)
        except _DAMAGE as error:
            self._keep(self._salvaged(bite))
            return self._break(f"damaged compressed data near offset {self.reached - len(bite):,}: {error}")
        self._keep(part)
        self._bite = self._expander.unconsumed_tail
        if self._expander.eof:
            self.reached -= len(self._expander.unused_data)
            self._expander, self._bite = None, b""
        return True

    def _begin_member(self) -> bool:
        """Begin the next member, behind padding if there is any; False where none comes."""
        while chunk := self._more():
            rest = chunk.lstrip(PADDING)
            if rest:
                self.reached -= len(rest)
                self._member = self._begins[self._end] = self.reached
                if self._member >= self.watch:
                    self.watched = self.watched or (self._end, self._member)
                self._expander = _zlib.decompressobj(16 + zlib.MAX_WBITS)
                return True
        return False

    def _more(self) -> bytes:
        self._file.seek(self.reached)
        bite = self._file.read(_BITE)
        self.reached += len(bite)
        return bite

    def _keep(self, part: bytes) -> None:
        if not part:
            return
        self._chunks.append(_Chunk(self._end, part))
        self._end += len(part)
        self._kept += len(part)
        while self._kept > _KEPT and self._chunks[0].end <= self._at:
            self._kept -= len(self._chunks.popleft().content)
        first = self._chunks[0].start
        while (oldest := next(iter(self._begins), first)) < first:
            del self._begins[oldest]

    def _salvaged(self, bite: bytes) -> bytes:
        """What can be expanded of a bite that is damaged somewhere: its member is expanded again, up to the byte."""
        expander = _zlib.decompressobj(16 + zlib.MAX_WBITS)
        self._file.seek(self._member)
        rest = self.reached - len(bite) - self._member
        while rest:
            before = self._file.read(min(rest, _BITE))
            rest -= len(before)
            while before:
                expander.decompress(before, _MOST_AT_ONCE)
                before = expander.unconsumed_tail
        parts = []
        try:
            for at in range(len(bite)):
                parts.append(expander.decompress(bite[at : at + 1]))
        except _DAMAGE:
            pass
        return b"".join(parts)

    def _break(self, words: str) -> bool:
        """Note damage, and look for the next member: behind the beginning of this one, as it may run into others."""
        self._breaks[self._end] = Break(words, self._member)
        self._end += 1
        self._expander, self._bite = None, b""
        found = find_bytes(self._file, GZIP, self._member + 1)
        self.reached = found if found is not None else self._file.seek(0, 2)
        return True


def find_bytes(file: BinaryIO | Expanded, wanted: bytes, start: int) -> int | None:
    """Find where some bytes stand next, behind damage too."""
    file.seek(start)
    before = b""
    size = _BITE  # most often it is near
    while True:
        chunk = file.read(size)
        size = min(2 * size, _SCANNED)
        if not chunk:
            if not (isinstance(file, Expanded) and file.cross()):
                return None
            before = b""
            continue
        window = before + chunk
        found = window.find(wanted)
        if found >= 0:
            return file.tell() - len(window) + found
        before = window[1 - len(wanted) :]
