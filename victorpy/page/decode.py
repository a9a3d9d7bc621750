"""Decode a page's bytes. A declared encoding is used only if the bytes agree with it."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import NamedTuple

import cchardet
from w3lib.encoding import html_body_declared_encoding, http_content_type_encoding, read_bom, resolve_encoding

from victorpy import native
from victorpy.errors import DecodeError

_native = native.load("scan")

_MAX_UNDECODABLE = 0.01  # maximum share of characters that a declared encoding fails to decode
_MAX_CONTROLS = 0.05  # maximum share of control characters in text; images and archives have more
_REPLACEMENT = "\ufffd"
_NO_CHARSETS = frozenset(["idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape", "utf-7"])
_MENDABLE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]|[\xc2-\xf4][\x80-\xbf]{0,2}\Z")
_CONTROLS = bytes(set(range(1, 32)) - set(b"\t\n\r\f\x1b"))
_SEVEN_BIT_ESCAPES = re.compile(rb"\x1b[$(]|~\{")  # ISO-2022 and HZ write other scripts in ASCII bytes
_SURROGATES = re.compile("[\ud800-\udfff]")
_CLEANEVAL_ENCODING = re.compile(rb"<text\b[^>]{0,2000}?\bencoding\s*=\s*[\"']?([\w:.-]+)", re.I)
_META_CHARSET = re.compile(rb"<meta\b[^>]{0,500}?charset\s*=\s*[\"']?\s*([\w:.-]+)", re.I)


class Decoded(NamedTuple):
    """The text of a page, and how it was decoded."""

    page: str | bytes
    """The text, or the original bytes if they are valid UTF-8, as for most pages."""
    encoding: str
    source: str
    """Where the encoding comes from: bom, header, meta, cleaneval, utf-8 (valid bytes), detected or fallback."""
    loss: str = ""
    """Describes what could not be decoded."""

    @property
    def text(self) -> str:
        return self.page if isinstance(self.page, str) else self.page.decode()


def decode(page: bytes | str, content_type: str | None = None) -> Decoded:
    r"""Decode a page into text without NUL characters or surrogates.

    >>> decode("größer".encode(), "text/html; charset=iso-8859-1").text
    'größer'
    >>> decode(b"\x93quoted\x94", "text/html; charset=iso-8859-1").encoding
    'cp1252'
    """
    if isinstance(page, str):
        text, surrogates = _SURROGATES.subn(_REPLACEMENT, page)
        return _tidied(text, "unicode", "text", damage=f"{surrogates} lone surrogates" if surrogates else "")
    page = bytes(page)
    for encoding, source in _candidates(page, content_type):
        if source == "utf-8" and not page.startswith(codecs.BOM_UTF8) and _is_utf8(page):
            return Decoded(page, encoding, source)
        decoded = _decode_as(page, encoding, source)
        if decoded:
            return decoded
    guessed = _tidied(page.decode("cp1252", "replace"), "cp1252", "fallback")
    return guessed._replace(loss="the encoding was guessed: cp1252")


def _candidates(page: bytes, content_type: str | None) -> Iterator[tuple[str, str]]:
    """Yield encodings and where they come from, most reliable first. Raises DecodeError for binary data."""
    if page.startswith(b"%PDF-"):
        raise DecodeError("this is a PDF file, not a web page")
    bom, _ = read_bom(page)
    if bom:
        yield bom, "bom"
    utf16 = _utf16_without_bom(page)
    if utf16:
        yield utf16, "detected"
    may_have_escapes = page.isascii() and (b"\x1b" in page or b"~" in page)
    if not (may_have_escapes and _SEVEN_BIT_ESCAPES.search(page)):
        # Text in other encodings is hardly ever valid UTF-8, so valid UTF-8 overrides the header.
        yield "utf-8", "utf-8"
    controls = len(page) - len(page.translate(None, _CONTROLS))
    if controls > _MAX_CONTROLS * len(page):
        raise DecodeError("this is binary data, not a web page")
    if _MENDABLE.search(page):
        yield "utf-8", "mended"
    declared = [(http_content_type_encoding(content_type), "header"), (html_body_declared_encoding(page), "meta")]
    for pattern, source in ((_META_CHARSET, "meta"), (_CLEANEVAL_ENCODING, "cleaneval")):  # anywhere in the page
        match = pattern.search(page)
        declared.append((resolve_encoding(match[1].decode("ascii", "replace")) if match else None, source))
    for encoding, source in declared:
        if encoding:
            yield encoding, source
    detected = cchardet.detect(page)["encoding"]
    if detected:
        yield resolve_encoding(detected) or detected, "detected"


def _is_utf8(page: bytes) -> bool:
    """Return whether a page is valid UTF-8 without NUL characters."""
    if _native:
        return bool(_native.is_utf8(page))
    try:
        page.decode()
    except UnicodeDecodeError:
        return False
    return b"\0" not in page


def _utf16_without_bom(page: bytes) -> str | None:
    """Detect UTF-16 by its NUL bytes. Markup is ASCII, so every other byte in it is NUL."""
    sample = page[:4096]
    if sample.count(0) < max(len(sample) // 10, 1):
        return None
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if odd > 10 * even and sample[1:2] == b"\0":
        return "utf-16-le"
    return "utf-16-be" if even > 10 * odd and sample[:1] == b"\0" else None


def _decode_as(page: bytes, encoding: str, source: str) -> Decoded | None:
    """Decode with a named encoding. Return None if the bytes are invalid in it."""
    if source == "mended":  # UTF-8 except for encoded surrogates and an incomplete last character
        mended, damage = _MENDABLE.subn(_REPLACEMENT.encode(), page)
        try:
            return _tidied(mended.decode(), "utf-8", "utf-8", damage=f"{damage} characters")
        except UnicodeDecodeError:
            return None
    try:
        b"    ".decode(encoding, "ignore")
        if codecs.lookup(encoding).name in _NO_CHARSETS:  # these are not text encodings
            return None
    except (LookupError, UnicodeError):
        return None
    try:
        return _tidied(page.decode(encoding), encoding, source)
    except UnicodeError:
        if source == "utf-8":
            return None
    text = page.decode(encoding, "replace")
    damage = text.count(_REPLACEMENT)
    beyond_ascii = len(text) - len(text.encode("ascii", "ignore"))
    if damage > _MAX_UNDECODABLE * len(text) or damage * 2 > beyond_ascii:
        return None  # only the ASCII characters are valid, as in any encoding
    return _tidied(text, encoding, source, damage=f"{damage} characters")


def _tidied(text: str, encoding: str, source: str, damage: str = "") -> Decoded:
    """Remove NUL characters and the byte order mark."""
    loss = f"not readable as {encoding}: {damage}" if damage else ""
    return Decoded(text.replace("\0", "").removeprefix("\ufeff"), encoding, source, loss)
