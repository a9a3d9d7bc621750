"""Pages and what formats write for them; the cases are in cases.txt."""

import re
from pathlib import Path

import pytest

from victorpy import CleanPage, Label, load_config, read_document

CASES = (Path(__file__).parent / "cases.txt").read_text().split("\n=== ")[1:]


def label_of(block):
    if re.search(r"\bh[1-6]\b", " ".join(block.containers)):
        return Label.HEADER
    return Label.LIST if "li" in block.containers else Label.PARAGRAPH


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.partition("\n")[0])
def test_case(case):
    html, *written = re.split(r"\n--- (\w+)\n", case.partition("\n")[2])
    document = read_document(html, load_config("default"))
    page = CleanPage(document, tuple(map(label_of, document.blocks)), by_method=True)
    for format, expected in zip(written[::2], written[1::2], strict=True):
        assert page.to(format).rstrip("\n") == expected.rstrip("\n")
