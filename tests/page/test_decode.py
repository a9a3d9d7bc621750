"""Bytes to text: a table of pages in cases/decode.json, and what holds for all of them.

A case's page is `base64`, or a recipe: `text` in `encoding` (text as it is without one) behind the bytes of
`bom`, with `pad` characters of ASCII in the place of ``{pad}``, and `cut` bytes taken off the end. Raw bytes
are written as text in latin-1. `expect` names what decode() must answer; its `text` is the recipe's own unless
given, and there is no `loss` unless it says which.
"""

from __future__ import annotations

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
def test_pages_of_the_table(case: dict[str, Any], default_config: Config) -> None:
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
def test_data_that_is_no_page_is_refused(case: dict[str, Any]) -> None:
    with pytest.raises(DataError, match=case["error"]):
        decode(page_of(case["page"]), case.get("header"))


def test_names_of_cases_differ() -> None:
    names = [case["name"] for case in CASES]
    assert len(set(names)) == len(names)


def test_header_that_is_wrong_does_not_win() -> None:
    assert decode("größer".encode(), "text/html; charset=iso-8859-1").text == "größer"


def test_loss_names_the_encoding_and_reaches_the_document(default_config: Config) -> None:
    document = read_document("<p>tea \ud800</p>", default_config)
    assert document.losses == ("not readable as unicode: 1 lone surrogates",)
    assert document.blocks[0].text == "tea \ufffd"
    assert read_document("<p>čaj</p>".encode(), default_config).losses == ()


@pytest.mark.parametrize("share", [0.005, 0.5])
def test_a_claim_is_believed_up_to_a_hundredth_of_damage(share: float) -> None:
    good, bad = "ž čaj ".encode() * 200, b"\xff"
    page = good + bad * int(1200 * share)
    decoded = decode(page, "text/html; charset=utf-8")
    assert (decoded.source == "header" and "characters" in decoded.loss) == (share < 0.01)
