"""Gold text to labels: what aligns, what does not, and what kind of content it is, by the table cases/align.json.

A case's `gold` has texts, or pairs of a text and its label; pages are cut at block-level tags unless `cut` is "every".
"""

import pytest
from support.cases import read_cases

from victorpy.base.words import aligned_words
from victorpy.cleaner import read_document
from victorpy.config import load_config
from victorpy.document import Label
from victorpy.research.align import Gold, align

CASES = read_cases("align.json")
CONFIGS = {"block": load_config("default"), "every": load_config("cleaneval")}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("... — !", []),
        ("Don't stop", ["don", "t", "stop"]),
        ("3.5 km", ["3", "5", "km"]),
        ("喝茶 tea茶", ["喝", "茶", "tea", "茶"]),
        ("お茶です", ["お", "茶", "で", "す"]),
        ("ชา", ["ช", "า"]),
        ("Größe ÉTÉ", ["größe", "été"]),
    ],
)
def test_words_of_a_text(text, expected):
    assert aligned_words(text) == expected


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_labels_from_the_gold(case):
    config = CONFIGS[case.get("cut", "block")]
    segments = [Gold(entry) if isinstance(entry, str) else Gold(entry[0], Label(entry[1])) for entry in case["gold"]]
    labels = align(read_document(case["html"], config), segments, config.cuts.block_level)
    assert " ".join(labels) == case["labels"]
