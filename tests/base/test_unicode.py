"""The table of character classes."""

import sys
import unicodedata

import pytest

from victorpy.base.unicode import DIGIT, END, LETTER, LOWER, PUNCTUATION, SPACE, UNSPACED, UPPER, classify, flags_table

SAMPLES = {
    LETTER | LOWER: "aßж",
    LETTER | UPPER: "ZÉΩǅ",  # the last is in title case
    LETTER: "ªאعअ가\u093f\u0301",  # Korean has spaces; the last two are a Hindi vowel sign and an accent
    LETTER | UNSPACED: "語㐀𠀀ひカーทລកမཀ\u0e49",  # the last is a Thai tone mark
    DIGIT: "0٣５½Ⅷ²",
    PUNCTUATION | END: ".!?…。？؟।",
    PUNCTUATION: ",¿«—、_",
    SPACE: " \t\n\u00a0\u3000",
    0: "+$€©😀\x00\ue000\ufffd\u200b",  # str.split() does not split at the last, a zero-width space
}


@pytest.mark.parametrize(
    ("char", "flags"),
    [pytest.param(char, flags, id=f"U+{ord(char):04X}") for flags in SAMPLES for char in SAMPLES[flags]],
)
def test_flags_of_a_character(char: str, flags: int) -> None:
    assert flags_table()[ord(char)] == classify(char) == flags


def test_table_covers_every_code_point_and_surrogates_are_nothing() -> None:
    assert flags_table().shape == (sys.maxunicode + 1,)
    assert not flags_table()[0xD800:0xE000].any()
    assert not flags_table()[[0xFFFE, 0xFFFF, 0x10FFFF]].any()


def test_table_agrees_with_the_unicode_database() -> None:
    # Only characters of Unicode 3.2: the Python that wrote the table may not know later ones.
    assigned = [code for code in range(sys.maxunicode + 1) if unicodedata.ucd_3_2_0.category(chr(code)) != "Cn"]
    table = flags_table()[assigned].tolist()
    wrong = [f"U+{code:04X}" for code, flags in zip(assigned, table, strict=True) if flags != classify(chr(code))]
    assert len(assigned) > 90_000
    assert wrong == []


def test_spaces_are_what_str_split_cuts_at() -> None:
    spaces = [code for code in range(sys.maxunicode + 1) if chr(code).isspace()]
    assert [code for code, flags in enumerate(flags_table().tolist()) if flags & SPACE] == spaces
