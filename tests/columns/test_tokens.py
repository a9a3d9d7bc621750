"""Tokens: words of any script and the names of elements, hashed a whole page at a time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.cases import read_cases
from support.tokens import hash_words

from victorpy.cleaner import read_document
from victorpy.columns import Columns
from victorpy.columns.tokens import Tokens, tokens_of_names, tokens_of_words
from victorpy.config import load_config

CONFIG = load_config("crf")

repeatable = settings(max_examples=150)


def spelled(tokens: Tokens) -> list[str]:
    return [tokens.spell(number) for number in range(len(tokens.starts))]


def words(text: str) -> list[str]:
    return spelled(tokens_of_words(text))


def names(*of_elements: str) -> list[str]:
    return spelled(tokens_of_names(list(of_elements)))


def columns(html: str) -> Columns:
    return Columns(read_document(html, CONFIG), CONFIG)


# Words.


@pytest.mark.parametrize(("text", "expected"), read_cases("tokens.json", "words"))
def test_words_are_runs_of_letters_and_digits_in_any_script(text, expected):
    assert words(text) == expected.split()


def test_letter_whose_lower_case_is_two_characters_stays_one():
    text = "İZMİR Tea"
    assert len(tokens_of_words(text).codes) == len(text)
    assert [len(word) for word in words(text)] == [5, 3]
    assert words("ΟΔΟΣ ΤΣΑΙ İ")[:2] == words("ΟΔΟΣ ΤΣΑΙ")  # such a letter changes no other word


def test_hashes_of_words():
    hashes = [tokens_of_words(text).hashes.tolist() for text in ("Tea 1999", "TEA 2007", "tea 1234")]
    assert hashes[0] == hashes[1] == hashes[2]  # case and digits do not count
    tea = tokens_of_words("tea").hashes.tolist()
    for other in ("aet", "ate", "te", "teaa", "tea s", "téa"):
        assert tokens_of_words(other).hashes.tolist() != tea
    long = tokens_of_words("tea" * 1000)
    assert long.lengths.tolist() == [3000]
    assert long.hashes.tolist() != tokens_of_words("tea" * 999).hashes.tolist()
    assert (hash_words([]).tolist(), hash_words([]).dtype) == ([], np.uint64)


# Names.


@pytest.mark.parametrize(("name", "expected"), read_cases("tokens.json", "names"))
def test_names_are_split_at_capitals_hyphens_and_digits(name, expected):
    assert names(name) == expected.split()


def test_names_of_several_elements_do_not_run_together():
    assert names("p", "div side", "p bar") == ["<p", "<div", "side", "<p", "bar"]
    assert names() == []
    tag, word_of_class = tokens_of_names(["div div"]).hashes.tolist()
    assert tag != word_of_class


# Hashes of words that were written down.


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


@given(texts)
@repeatable
def test_hash_of_a_spelled_token_is_the_same(text):
    for tokens in (tokens_of_words(text), tokens_of_names(text.split("\n"))):
        assert hash_words(spelled(tokens)).tolist() == tokens.hashes.tolist()


@given(texts, st.text("tea 1茶.", max_size=20))
@repeatable
def test_preceding_text_does_not_change_the_hash_of_a_word(text, more):
    tail = tokens_of_words(more).hashes.tolist()
    together = tokens_of_words(f"{text}\n{more}").hashes.tolist()
    assert together[len(together) - len(tail) :] == tail


# Pages.


def test_each_word_of_a_page_has_its_block():
    page = columns("<p>Green tea</p><p>--</p><p>茶 © tea</p>")
    hashes, block = page.word_tokens
    assert hashes.tolist() == hash_words(["green", "tea", "茶", "©", "tea"]).tolist()
    assert block.tolist() == [0, 0, 2, 2, 2]


def test_each_token_of_a_name_has_its_name():
    page = columns('<div class="mainContent" id="a-b"><p role="note" itemprop="text" title="no">tea</p></div>')
    different, name_of_element = page.near_names
    hashes, name = page.near_name_tokens
    expected = [["<html"], ["<body"], ["<div", "main", "content", "a", "b"], ["<p", "note", "text"]]
    assert [different[number].split()[0] for number in name_of_element] == page.document.elements.tag
    for element, tokens in zip(name_of_element, expected, strict=True):
        assert hashes[name == element].tolist() == hash_words(tokens).tolist()


@pytest.mark.parametrize("gap", ["\n", "\r\n", "\t", "&#10;", "\u2028", "\x0b", "\x85"])
def test_a_line_break_in_a_class_is_a_space(gap):
    page = columns(f'<div class="main{gap}text"><p class="next">tea</p></div>')
    hashes, name = page.near_name_tokens
    by_name = {number: hashes[name == number].tolist() for number in page.near_names[1].tolist()}
    div, p = (page.near_names[1][page.document.elements.tag.index(tag)] for tag in ("div", "p"))
    assert by_name[div] == hash_words(["<div", "main", "text"]).tolist()
    assert by_name[p] == hash_words(["<p", "next"]).tolist()


@pytest.mark.parametrize("html", ["", "<p></p>", "<div class=x></div>"])
def test_a_page_without_text_has_no_words(html):
    page = columns(html)
    assert [len(part) for part in page.word_tokens] == [0, 0]
    assert page.title_share.tolist() == page.look.tolist() == []
    assert page.headline == 0
    assert {len(column) for column in page.trunk.values()} == {0}
    assert all(len(hashes) == len(name) for hashes, name in [page.near_name_tokens])


def test_a_page_of_symbols_has_blocks_without_words():
    page = columns("<p>--</p><p>...</p>")
    assert page.count == 2
    assert [len(part) for part in page.word_tokens] == [0, 0]
    assert page.title_share.tolist() == [0, 0]


def test_lone_surrogates_reach_no_token():
    page = columns('<title>Tea \ud800</title><div class="a\udfff b"><p>tea \ud83d pot</p></div>')
    for tokens in page.spelled_tokens():
        for token in spelled(tokens):
            token.encode("utf-8")
    assert len(page.title_share) == page.count == 1


@pytest.mark.parametrize("char", [chr(code) for code in (0, 1, 0x1C, 0x7F, 0x85, 0xAD, 0x200B, 0x2028, 0xFEFF, 0xFFFF)])
def test_no_token_contains_a_tab_or_line_break(char):
    for token in [*words(f"tea{char}pot"), *names(f"div tea{char}pot")]:
        assert not set(token) & set("\t\n")
        assert token


def test_tokens_are_the_same_after_forget_characters():
    page = columns("<p>Green tea</p><p>is hot</p>")
    before = page.word_tokens[0].tolist()
    page.forget_characters()
    names_of_page, words_of_page = page.spelled_tokens()
    assert words_of_page.hashes.tolist() == before
    assert spelled(names_of_page)[0] == "<html"
