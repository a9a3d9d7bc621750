"""Snapshots of what becomes of random formulas, listings, media, quotes and style sheets."""

import pytest
from lxml import etree
from support.repairpages import RepairPage
from support.snapshots import check, digest

from victorpy import load_config, read_document
from victorpy.methods import load_method
from victorpy.page.formulas import mathml_to_tex
from victorpy.page.parse import parse_whole
from victorpy.page.styles import inline_styles

# Latin-1, Greek, letters and signs of formulas, arrows, operators, technical signs, brackets and more arrows.
SIGNS = [
    *range(0xA0, 0x100),
    *range(0x386, 0x400),
    *range(0x2010, 0x2060),
    *range(0x2100, 0x2320),
    *range(0x27C0, 0x2800),
]
SIGNS += [
    *range(0x20D0, 0x20E0),
    *range(0x1D6FC, 0x1D750),
    *map(ord, "{}%&#$_^~'-*()|"),
    *range(0x2C5, 0x2E0),
    0x23DE,
    0x23DF,
]


@pytest.mark.parametrize("tag", ["mi", "mo", "mn", "mtext"])
def test_signs_of_formulas(tag):
    written = [mathml_to_tex(etree.fromstring(f"<{tag}>&#{sign};</{tag}>")) for sign in SIGNS]
    check("repairs", f"signs in {tag}", {"tex": digest("\n".join(written))})


def test_accents_of_formulas():
    accents = [f"<mover><mi>x</mi><mo>&#{sign};</mo></mover>" for sign in SIGNS]
    written = [
        mathml_to_tex(etree.fromstring(text))
        for text in [*accents, *(text.replace("mover", "munder") for text in accents)]
    ]
    check("repairs", "accents", {"tex": digest("\n".join(written))})


@pytest.mark.parametrize("number", range(4))
def test_random_formulas(number):
    makers = [RepairPage(seed) for seed in range(100 * number, 100 * (number + 1))]
    written = [mathml_to_tex(etree.fromstring(f"<math>{maker.mathml(4)}</math>")) for maker in makers]
    check("repairs", f"formulas {number}", {"tex": digest("\n".join(written)), "first": written[0]})


@pytest.fixture(scope="module")
def cleaner():
    return load_method("everything")


@pytest.mark.parametrize("number", range(16))
def test_random_pages(cleaner, number):
    pages = [cleaner.document(RepairPage(seed).html()) for seed in range(30 * number, 30 * (number + 1))]
    documents = [page.document for page in pages]
    found = {
        "texts": [document.texts for document in documents],
        "tags": [document.elements.tag for document in documents],
        "markdown": [page.to("markdown") for page in pages],
        "addresses": [(document.url, document.base, document.title) for document in documents],
    }
    check("repairs", f"pages {number}", {name: digest(str(values)) for name, values in found.items()})


@pytest.mark.parametrize("number", range(4))
def test_random_style_sheets(number):
    written = []
    for seed in range(100 * number, 100 * (number + 1)):
        root = parse_whole(RepairPage(seed).styled()).root
        inline_styles(root, ["p { float: right } .b { display: inline }"] * (seed % 2))
        written.append([element.get("style") for element in root.iter("div", "p")])
    check("repairs", f"styles {number}", {"styles": digest(str(written))})


def test_hidden_elements_by_style_sheets():
    config = load_config("blocks")
    texts = [
        read_document(f"<p style='{style}'>tea", config).blocks[0].hidden
        for style in ("display: none", "display:NONE", "x")
    ]
    assert texts == [True, True, False]
