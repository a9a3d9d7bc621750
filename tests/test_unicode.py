"""The table of what each character is."""

from __future__ import annotations

import sys
import unicodedata

import pytest

from victorpy.unicode import (
    DIGIT,
    END,
    LETTER,
    LOWER,
    PUNCTUATION,
    SPACE,
    UNSPACED,
    UPPER,
    classify,
    flags_table,
)

SAMPLES = {
    "a": LETTER | LOWER,
    "Z": LETTER | UPPER,
    "ß": LETTER | LOWER,
    "É": LETTER | UPPER,
    "ǅ": LETTER | UPPER,  # a title-case letter of its own
    "ж": LETTER | LOWER,
    "Ω": LETTER | UPPER,
    "ª": LETTER,
    "א": LETTER,
    "ع": LETTER,
    "अ": LETTER,
    "ि": LETTER,  # a vowel sign of Hindi
    "\u0301": LETTER,  # a combining accent
    "가": LETTER,  # Korean has spaces
    "語": LETTER | UNSPACED,
    "㐀": LETTER | UNSPACED,
    "𠀀": LETTER | UNSPACED,
    "ひ": LETTER | UNSPACED,
    "カ": LETTER | UNSPACED,
    "ー": LETTER | UNSPACED,
    "ท": LETTER | UNSPACED,
    "\u0e49": LETTER | UNSPACED,  # a tone mark of Thai
    "ລ": LETTER | UNSPACED,
    "ក": LETTER | UNSPACED,
    "မ": LETTER | UNSPACED,
    "ཀ": LETTER | UNSPACED,
    "0": DIGIT,
    "٣": DIGIT,
    "５": DIGIT,
    "½": DIGIT,
    "Ⅷ": DIGIT,
    "²": DIGIT,
    ".": PUNCTUATION | END,
    "!": PUNCTUATION | END,
    "?": PUNCTUATION | END,
    "…": PUNCTUATION | END,
    "。": PUNCTUATION | END,
    "？": PUNCTUATION | END,
    "؟": PUNCTUATION | END,
    "।": PUNCTUATION | END,
    ",": PUNCTUATION,
    "¿": PUNCTUATION,
    "«": PUNCTUATION,
    "—": PUNCTUATION,
    "、": PUNCTUATION,
    "_": PUNCTUATION,
    " ": SPACE,
    "\t": SPACE,
    "\n": SPACE,
    "\u00a0": SPACE,
    "\u3000": SPACE,
    "+": 0,
    "$": 0,
    "€": 0,
    "©": 0,
    "😀": 0,
    "\u200b": 0,  # a space of no width separates nothing that str.split() would separate
    "\x00": 0,
    "\ue000": 0,
    "\ufffd": 0,
}


@pytest.mark.parametrize("char", SAMPLES, ids=lambda char: f"U+{ord(char):04X}")
def test_a_character_is_what_it_is(char: str) -> None:
    assert flags_table()[ord(char)] == classify(char) == SAMPLES[char]


def test_the_table_has_a_row_for_every_code_point() -> None:
    assert flags_table().shape == (sys.maxunicode + 1,)


def test_the_table_agrees_with_this_pythons_database() -> None:
    # Those that Unicode 3.2 knew: later ones may be unknown to the Python that wrote the table.
    known = [code for code in range(sys.maxunicode + 1) if unicodedata.ucd_3_2_0.category(chr(code)) != "Cn"]
    table = flags_table()[known].tolist()
    wrong = [f"U+{code:04X}" for code, flags in zip(known, table, strict=True) if flags != classify(chr(code))]
    assert len(known) > 90_000
    assert wrong == []


def test_spaces_are_what_str_split_cuts_at() -> None:
    spaces = [code for code in range(sys.maxunicode + 1) if chr(code).isspace()]
    assert [code for code, flags in enumerate(flags_table().tolist()) if flags & SPACE] == spaces


def test_surrogates_and_unassigned_code_points_are_nothing() -> None:
    assert not flags_table()[0xD800:0xE000].any()
    assert not flags_table()[[0xFFFE, 0xFFFF, 0x10FFFF]].any()
