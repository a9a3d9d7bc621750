"""Bytes to text: what the page says of its encoding is believed as far as the bytes bear it out."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import NamedTuple

import cchardet
from w3lib.encoding import (
    html_body_declared_encoding,
    http_content_type_encoding,
    read_bom,
    resolve_encoding,
)

from victorpy.errors import DecodeError

# A claimed encoding may be wrong about this share of the page (a stray byte, a cut character)
# and still be the best there is; beyond it the claim is a lie.
TOLERATED_DAMAGE = 0.01

# Text never has this share of control characters; images and archives always do.
BINARY_SHARE = 0.05

REPLACEMENT = "\ufffd"
_NO_CHARSETS = frozenset(["idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape", "utf-7"])
_MENDABLE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]|[\xc2-\xf4][\x80-\xbf]{0,2}\Z")
_CONTROLS = bytes(set(range(1, 32)) - set(b"\t\n\r\f\x1b"))
_SEVEN_BIT_ESCAPES = re.compile(rb"\x1b[$(]|~\{")  # ISO-2022 and HZ write other scripts in ASCII bytes
_SURROGATES = re.compile("[\ud800-\udfff]")
_CLEANEVAL_ENCODING = re.compile(rb"<text\b[^>]{0,2000}?\bencoding\s*=\s*[\"']?([\w:.-]+)", re.I)
_META_CHARSET = re.compile(rb"<meta\b[^>]{0,500}?charset\s*=\s*[\"']?\s*([\w:.-]+)", re.I)


class Decoded(NamedTuple):
    """A page's text and how it was found."""

    text: str
    encoding: str
    source: str
    """Who named the encoding: bom, header, meta, cleaneval, utf-8 (the bytes themselves), detected, fallback."""
    loss: str = ""
    """What could not be decoded, in words."""
    utf8: bytes | None = None
    """The same text in UTF-8, where the page came so."""


def decode(page: bytes | str, content_type: str | None = None) -> Decoded:
    r"""Turn a page into text that holds neither NUL bytes nor surrogates.

    >>> decode("größer".encode(), "text/html; charset=iso-8859-1").text
    'größer'
    >>> decode(b"\x93quoted\x94", "text/html; charset=iso-8859-1").encoding
    'cp1252'
    """
    if isinstance(page, str):
        text, surrogates = _SURROGATES.subn(REPLACEMENT, page)
        return _tidied(text, "unicode", "text", damage=f"{surrogates} lone surrogates" if surrogates else "")
    for encoding, source in _candidates(page, content_type):
        decoded = _believe(page, encoding, source)
        if decoded:
            return decoded
    text = page.decode("cp1252", "replace")
    return Decoded(_tidied(text, "cp1252", "fallback").text, "cp1252", "fallback", "the encoding was guessed: cp1252")


def _candidates(page: bytes, content_type: str | None) -> Iterator[tuple[str, str]]:
    """Who names which encoding, in the order in which they are believed."""
    bom, _ = read_bom(page)
    if bom:
        yield bom, "bom"
    wide = _utf16_without_bom(page)
    if wide:
        yield wide, "detected"
    if not (page.isascii() and _SEVEN_BIT_ESCAPES.search(page)):
        # Text in another encoding is never valid UTF-8 by chance, whatever a header says of it.
        yield "utf-8", "utf-8"
    _refuse_binary(page)
    if _MENDABLE.search(page):
        yield "utf-8", "mended"
    for encoding, source in _claims(page, content_type):
        if encoding:
            yield encoding, source
    detected = cchardet.detect(page)["encoding"]
    if detected:
        yield resolve_encoding(detected) or detected, "detected"


def _claims(page: bytes, content_type: str | None) -> Iterator[tuple[str | None, str]]:
    yield http_content_type_encoding(content_type), "header"
    yield html_body_declared_encoding(page), "meta"
    yield _named(_META_CHARSET, page), "meta"  # however late in the page
    yield _named(_CLEANEVAL_ENCODING, page), "cleaneval"


def _named(pattern: re.Pattern[bytes], page: bytes) -> str | None:
    found = pattern.search(page)
    return resolve_encoding(found[1].decode("ascii", "replace")) if found else None


def _believe(page: bytes, encoding: str, source: str) -> Decoded | None:
    """Decode with a named encoding, unless the bytes show that it is not theirs."""
    if not _is_charset(encoding):
        return None
    if source == "mended":
        return _mended(page)
    try:
        return _as_it_came(page, encoding, source) or _tidied(page.decode(encoding), encoding, source)
    except UnicodeError:
        if source == "utf-8":
            return None
    text = page.decode(encoding, "replace")
    damage = text.count(REPLACEMENT)
    beyond_ascii = len(text) - len(text.encode("ascii", "ignore"))
    if damage > TOLERATED_DAMAGE * len(text) or damage * 2 > beyond_ascii:
        return None  # nothing but ASCII fits, and that would fit anything
    return _tidied(text, encoding, source, damage=f"{damage} characters")


def _as_it_came(page: bytes, encoding: str, source: str) -> Decoded | None:
    """Decode UTF-8 in which there is nothing to tidy, as most pages are."""
    if source != "utf-8" or b"\0" in page or page.startswith(codecs.BOM_UTF8):
        return None
    return Decoded(page.decode(encoding), encoding, source, utf8=page)


def _mended(page: bytes) -> Decoded | None:
    """Read UTF-8 that is right but for encoded surrogates or a character that the page's end cuts off."""
    mended, damage = _MENDABLE.subn("\ufffd".encode(), page)
    try:
        return _tidied(mended.decode("utf-8"), "utf-8", "utf-8", damage=f"{damage} characters")
    except UnicodeDecodeError:
        return None


def _is_charset(encoding: str) -> bool:
    """Whether a name means an encoding of text: Python has others, which fail or do harm."""
    try:
        b"    ".decode(encoding, "ignore")
        return codecs.lookup(encoding).name not in _NO_CHARSETS
    except (LookupError, UnicodeError):
        return False


def _refuse_binary(page: bytes) -> None:
    """Tell an image or an archive from a page: text has hardly any control characters."""
    controls = len(page) - len(page.translate(None, _CONTROLS))
    if controls > BINARY_SHARE * len(page):
        raise DecodeError("this is binary data, not a web page")


def _utf16_without_bom(page: bytes) -> str | None:
    """Tell UTF-16 by where its NUL bytes stand: markup is ASCII, so every other byte of much of it is NUL."""
    sample = page[:4096]
    if sample.count(0) < max(len(sample) // 10, 1):
        return None
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if odd > 10 * even and sample[1:2] == b"\0":
        return "utf-16-le"
    return "utf-16-be" if even > 10 * odd and sample[:1] == b"\0" else None


def _tidied(text: str, encoding: str, source: str, damage: str = "") -> Decoded:
    """Take out what no text holds, and say what could not be read."""
    loss = f"not readable as {encoding}: {damage}" if damage else ""
    return Decoded(text.replace("\0", "").removeprefix("\ufeff"), encoding, source, loss)
