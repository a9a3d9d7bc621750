"""Bytes to text: a table of pages in cases/decode.json, and properties of all of them.

A case has its page in `base64` or as a recipe: `bom` bytes, then `text` in `encoding`, with `pad` ASCII characters
at ``{pad}``, and without the last `cut` bytes. Raw bytes are written as latin-1 text. `expect` has the expected
result of decode(). Its `text` defaults to the text of the recipe, and its `loss` to none.
"""

import base64
from typing import Any

import pytest
from support.cases import read_cases

from victorpy import Config, DataError, read_document
from victorpy.page.decode import decode

CASES = read_cases("decode.json")
FILLER = "leaves and water, "


def written(recipe: dict[str, Any]) -> str:
    pad = recipe.get("pad", 0)
    return recipe["text"].replace("{pad}", (FILLER * (pad // len(FILLER) + 1))[:pad])


def page_of(recipe: dict[str, Any]) -> bytes | str:
    if "base64" in recipe:
        return base64.b64decode(recipe["base64"])
    text = written(recipe)
    if "encoding" not in recipe:
        return text
    page = bytes.fromhex(recipe.get("bom", "")) + text.encode(recipe["encoding"])
    return page[: len(page) - recipe.get("cut", 0)]


def named(cases: list[dict[str, Any]]) -> list[Any]:
    return [pytest.param(case, id=case["name"].replace(" ", "-")) for case in cases]


@pytest.mark.parametrize("case", named([case for case in CASES if "expect" in case]))
def test_page_of_the_case_table(case: dict[str, Any], default_config: Config) -> None:
    page, header, expected = page_of(case["page"]), case.get("header"), case["expect"]
    decoded = decode(page, header)
    decoded.text.encode("utf-8")  # raises where a surrogate is left
    assert decoded.text == (expected["text"] if "text" in expected else written(case["page"]))
    for field in ("encoding", "source"):
        assert getattr(decoded, field) == expected.get(field, getattr(decoded, field)), field
    assert expected.get("loss", "") in decoded.loss
    assert bool(decoded.loss) == ("loss" in expected)
    assert read_document(page, default_config, content_type=header).encoding == decoded.encoding


@pytest.mark.parametrize("case", named([case for case in CASES if "error" in case]))
def test_binary_data_is_refused(case: dict[str, Any]) -> None:
    with pytest.raises(DataError, match=case["error"]):
        decode(page_of(case["page"]), case.get("header"))


def test_wrong_header_is_ignored() -> None:
    assert decode("größer".encode(), "text/html; charset=iso-8859-1").text == "größer"


def test_loss_names_the_encoding_and_reaches_the_document(default_config: Config) -> None:
    document = read_document("<p>tea \ud800</p>", default_config)
    assert document.losses == ("not readable as unicode: 1 lone surrogates",)
    assert document.blocks[0].text == "tea \ufffd"
    assert read_document("<p>čaj</p>".encode(), default_config).losses == ()


@pytest.mark.parametrize(("bad", "source"), [(12, "header"), (13, "fallback")])
def test_declared_encoding_is_accepted_with_up_to_one_percent_damage(bad: int, source: str) -> None:
    decoded = decode("ž čaj ".encode() * 198 + b"\xff" * bad, "text/html; charset=utf-8")
    assert (decoded.source == "header") == (source == "header")
    assert ("characters" in decoded.loss) == (source == "header")


@pytest.mark.parametrize(("korean", "is_accepted"), [(b"\xc7\xd1", True), (b"", False)])
def test_declared_encoding_must_explain_half_of_the_other_characters(korean: bytes, is_accepted: bool) -> None:
    decoded = decode(b"tea " * 100 + korean + b" \xff ", "text/html; charset=euc-kr")
    assert (decoded.source == "header") is is_accepted


def test_one_control_character_in_twenty_is_allowed() -> None:
    assert decode(b"\x01" * 5 + b"\xe9" + b"t" * 94).text.endswith("t")
    with pytest.raises(DataError, match="this is binary data"):
        decode(b"\x01" * 6 + b"\xe9" + b"t" * 93)


@pytest.mark.parametrize("order", ["le", "be"])
@pytest.mark.parametrize(
    ("text", "is_utf16"),
    [
        ("<p" + "茶" * 8, True),  # one byte in ten is NUL
        ("<" + "茶" * 9, False),
        ("<" * 11 + "Ā", True),  # more than ten times as many NUL bytes in one half
        ("<" * 10 + "Ā", False),
        ("茶" + "<" * 9, False),  # the first character is not ASCII
    ],
)
def test_utf16_without_a_mark_is_recognised_by_its_nul_bytes(text: str, is_utf16: bool, order: str) -> None:
    assert (decode(text.encode(f"utf-16-{order}")).encoding == f"utf-16-{order}") is is_utf16


@pytest.mark.parametrize(("last", "is_utf16"), [(4_095, True), (4_097, False)])
def test_utf16_is_detected_in_the_first_4096_bytes(last, is_utf16):
    page = bytearray(b"a\0" * 408 + b"xx" * 2_000)
    page[last] = 0  # with it, a tenth of the bytes are NUL
    assert (decode(bytes(page)).encoding == "utf-16-le") is is_utf16
