"""HTTP messages in archives: split headers from bodies, and decode bodies within a size limit."""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Callable
from functools import partial

from victorpy.batch.record import Kind, ProblemError

_HEAD_END = re.compile(rb"\r?\n\r?\n")
_CHUNK_HEAD = re.compile(rb"\s*0*([0-9a-fA-F]{1,15})(?![0-9a-fA-F])[^\n]*\n")
_HTML_TYPES = ("text/html", "application/xhtml", "application/vnd.wap.xhtml")
_LOOKS_LIKE_HTML = re.compile(rb"<(!doctype\s+html|html|head|body|title|meta|div|p|h1|table|script)\b", re.IGNORECASE)
_SNIFFED = 2048
_PIECE = 1 << 13
_NO_PAGE = re.compile(rb"HTTP/[\d.]+ +([345]\d\d)\b")


def split_message(block: bytes) -> tuple[dict[str, str], bytes]:
    """Return the headers of an HTTP response, with names in lower case, and its body.

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
        field, colon, value = line.decode("latin-1").partition(":")
        if colon:
            name = field.strip().lower()
            headers[name] = f"{headers[name]}, {value.strip()}" if headers.get(name) else value.strip()
    return headers, block[end.end() :]


def error_status(block: bytes) -> str:
    """Return the status of an HTTP response if it is an error or a redirect, or else an empty string.

    >>> error_status(b"HTTP/1.1 404 Not Found\\r\\n\\r\\n<p>Gone"), error_status(b"HTTP/1.1 200 OK\\r\\n\\r\\n<p>Tea")
    ('404', '')
    """
    status = _NO_PAGE.match(block)
    return status[1].decode() if status else ""


def codings_of(headers: dict[str, str]) -> tuple[str, ...]:
    """Return the encodings of a body, outermost first: transfer encodings, then content encodings.

    >>> codings_of({"content-encoding": "gzip", "transfer-encoding": "chunked"})
    ('chunked', 'gzip')
    """
    codings: list[str] = []
    for header in ("transfer-encoding", "content-encoding"):
        names = [name.strip().lower() for name in headers.get(header, "").split(",")]
        codings += [name for name in reversed(names) if name not in {"", "identity", "none", "utf-8"}]
    return tuple(codings)


def is_html(content_type: str, body: bytes) -> bool:
    """Whether a body is HTML, judged by its content type. Without a content type, its first bytes decide."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind:
        return kind.startswith(_HTML_TYPES)
    return _LOOKS_LIKE_HTML.search(body[:_SNIFFED]) is not None


def undo_codings(body: bytes, codings: tuple[str, ...], limit: int) -> bytes:
    """Decode a body. Raises ProblemError as soon as a page is larger than the limit."""
    for coding in codings:
        undo = _UNDO.get(coding)
        if undo is None:
            raise ProblemError(Kind.DECODE, f"unknown content encoding {coding!r}")
        size = len(body)
        try:
            body = undo(body, limit)
        except (zlib.error, OSError, EOFError, ValueError) as error:
            if body.lstrip()[:1] == b"<":
                continue  # some crawlers store decoded pages with the original headers
            raise ProblemError(Kind.DECODE, f"cannot decode the {coding} content encoding: {error}") from error
        if len(body) > limit:
            raise ProblemError(
                Kind.TOO_LARGE, f"{size:,} bytes of {coding} expand to more than the limit of {limit:,} bytes"
            )
    return body


def _unzip(body: bytes, limit: int, window: int = 32 + zlib.MAX_WBITS) -> bytes:
    """Expand all members of a gzip or zlib body. If a member is truncated, the bytes before the cut are returned."""
    parts: list[bytes] = []
    room, offset, complete = limit + 1, 0, 0
    inflate = zlib.decompressobj(window)
    while offset < len(body) and room > 0:
        piece = body[offset : offset + _PIECE]  # zlib copies the data after each member, which may be very long
        try:
            part = inflate.decompress(piece, room)
        except zlib.error:
            if complete:
                return b"".join(parts[:complete])  # some servers add padding
            raise
        parts.append(part)
        room -= len(part)
        offset += len(piece) - len(inflate.unused_data)
        if inflate.eof:
            inflate, complete = zlib.decompressobj(window), len(parts)
    return b"".join(parts)


def _inflate(body: bytes, limit: int) -> bytes:
    """Expand ``deflate``. Some servers send the zlib format, others the raw format."""
    try:
        return _unzip(body, limit)
    except zlib.error:
        return _unzip(body, limit, -zlib.MAX_WBITS)


def _unchunk(body: bytes, limit: int) -> bytes:
    """Join the chunks of a body. The last chunk may be truncated."""
    parts: list[bytes] = []
    offset = 0
    while head := _CHUNK_HEAD.match(body, offset):
        size = int(head[1], 16)
        if size == 0:
            return b"".join(parts)
        offset = head.end() + size
        parts.append(body[head.end() : offset])
    if not parts:
        raise ValueError("the body does not begin with a chunk length")
    return b"".join(parts)


def _by_fastwarc(reader_name: str, body: bytes, limit: int) -> bytes:
    from fastwarc import stream_io

    reader = getattr(stream_io, reader_name)(io.BytesIO(body))
    expanded = bytearray()
    while len(expanded) <= limit and (part := reader.read(1 << 16)):
        expanded += part
    return bytes(expanded)


_UNDO: dict[str, Callable[[bytes, int], bytes]] = {
    "chunked": _unchunk,
    "gzip": _unzip,
    "x-gzip": _unzip,
    "deflate": _inflate,
    "br": partial(_by_fastwarc, "BrotliReader"),
    "zstd": partial(_by_fastwarc, "ZstdReader"),
}
