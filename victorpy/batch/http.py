"""HTTP messages as archives hold them: headers, and the codings that a page was sent in, undone within a limit."""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Callable

from victorpy.batch.reasons import Kind, ProblemError

_HEAD_END = re.compile(rb"\r?\n\r?\n")
_CHUNK_HEAD = re.compile(rb"\s*([0-9a-fA-F]+)[^\n]*\n")
_HTML_TYPES = ("text/html", "application/xhtml", "application/vnd.wap.xhtml")
_LOOKS_LIKE_HTML = re.compile(rb"<(!doctype\s+html|html|head|body|title|meta|div|p|h1|table|script)\b", re.IGNORECASE)
_SNIFFED = 2048
_NO_LIMIT = 1 << 62


def split_message(block: bytes) -> tuple[dict[str, str], bytes]:
    """Take an HTTP response apart: headers by name in lower case, and the body.

    >>> split_message(b"HTTP/1.1 200 OK\\r\\nContent-Type: text/html\\r\\n\\r\\n<p>Tea")
    ({'content-type': 'text/html'}, b'<p>Tea')
    """
    if not block.startswith(b"HTTP/"):
        return {}, block
    end = _HEAD_END.search(block)
    if end is None:
        return {}, b""
    headers: dict[str, str] = {}
    for line in block[: end.start()].split(b"\n")[1:]:
        name, colon, value = line.decode("latin-1").partition(":")
        if colon:
            known = headers.get(name.strip().lower())
            headers[name.strip().lower()] = f"{known}, {value.strip()}" if known else value.strip()
    return headers, block[end.end() :]


def codings_of(headers: dict[str, str]) -> tuple[str, ...]:
    """The codings of a body, outermost first: those of the transfer are around those of the content.

    >>> codings_of({"content-encoding": "gzip", "transfer-encoding": "chunked"})
    ('chunked', 'gzip')
    """
    found: list[str] = []
    for header in ("transfer-encoding", "content-encoding"):
        names = [name.strip().lower() for name in headers.get(header, "").split(",")]
        found += [name for name in reversed(names) if name not in {"", "identity", "none", "utf-8"}]
    return tuple(found)


def is_html(content_type: str, body: bytes) -> bool:
    """Whether a body is a page, by the type that it was sent with, or by its looks where it has none."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind:
        return kind.startswith(_HTML_TYPES)
    return _LOOKS_LIKE_HTML.search(body[:_SNIFFED]) is not None


def undo_codings(body: bytes, codings: tuple[str, ...], most_bytes: int | None) -> bytes:
    """Give the page as it was before it was sent; a bomb is stopped when it is larger than the limit."""
    limit = _NO_LIMIT if most_bytes is None else most_bytes
    for coding in codings:
        undo = _UNDO.get(coding)
        if undo is None:
            raise ProblemError(Kind.DECODE, f"the content encoding {coding!r} is not known")
        size = len(body)
        try:
            body = undo(body, limit)
        except (zlib.error, OSError, EOFError, ValueError) as error:
            if body.lstrip()[:1] == b"<":
                continue  # crawlers store pages decoded, and the header as it came
            raise ProblemError(Kind.DECODE, f"the page was sent as {coding}, and cannot be decoded: {error}") from error
        if len(body) > limit:
            raise ProblemError(
                Kind.TOO_LARGE, f"{size:,} bytes of {coding} expand to more than the limit of {limit:,} bytes"
            )
    return body


def _unzip(body: bytes, limit: int, window: int = 32 + zlib.MAX_WBITS) -> bytes:
    """Inflate gzip or zlib, members one after the other; a cut one as far as it goes."""
    parts: list[bytes] = []
    room = limit + 1
    while body and room > 0:
        inflate = zlib.decompressobj(window)
        try:
            part = inflate.decompress(body, room)
        except zlib.error:
            if parts:
                break  # what follows the first member is no other: servers pad
            raise
        parts.append(part)
        room -= len(part)
        body = inflate.unused_data
    return b"".join(parts)


def _inflate(body: bytes, limit: int) -> bytes:
    """Undo ``deflate``, which some servers take for zlib's format and some for the bare one."""
    try:
        return _unzip(body, limit)
    except zlib.error:
        return _unzip(body, limit, -zlib.MAX_WBITS)


def _unchunk(body: bytes, limit: int) -> bytes:
    """Join the chunks of a body; what is cut off is as long as it is."""
    parts: list[bytes] = []
    at = 0
    while found := _CHUNK_HEAD.match(body, at):
        size = int(found[1], 16)
        if size == 0:
            return b"".join(parts)
        parts.append(body[found.end() : found.end() + size])
        at = found.end() + size
    if not parts:
        raise ValueError("there is no chunk's length at its beginning")
    return b"".join(parts)


def _by_fastwarc(reader_name: str) -> Callable[[bytes, int], bytes]:
    def undo(body: bytes, limit: int) -> bytes:
        from fastwarc import stream_io

        reader = getattr(stream_io, reader_name)(io.BytesIO(body))
        parts: list[bytes] = []
        size = 0
        while size <= limit and (part := reader.read(1 << 16)):
            parts.append(part)
            size += len(part)
        return b"".join(parts)

    return undo


_UNDO: dict[str, Callable[[bytes, int], bytes]] = {
    "chunked": _unchunk,
    "gzip": _unzip,
    "x-gzip": _unzip,
    "deflate": _inflate,
    "br": _by_fastwarc("BrotliReader"),
    "zstd": _by_fastwarc("ZstdReader"),
}
