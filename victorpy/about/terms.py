"""Texts as sentences, words, and terms: words that say what a text is about.

Unicode's rules find words and sentences (ICU, with its dictionaries for Chinese, Japanese, Thai, Lao, Khmer and
Burmese, which write no spaces), stopwords-iso says which words say nothing.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from victorpy.errors import missing

if TYPE_CHECKING:
    from icu4py.breakers import BaseBreaker

EXTRA = "docview"

_ELIDING = frozenset(["ca", "fr", "it"])
"""Languages that write an article or pronoun together with the word behind it."""


def terms(text: str, language: str = "") -> list[str]:
    """The words of a text in lower case, in order, without stop words and single letters of alphabets.

    The language is a code such as ``en`` or ``pt-BR``. Of a language without a list of stop words, or of none, English
    ones are left out, which stand in texts of all languages on the web.

    >>> terms("Tea is made by pouring hot water over the leaves of the tea bush.", "en")
    ['tea', 'pouring', 'hot', 'water', 'leaves', 'tea', 'bush']
    >>> terms("茶是一种饮料。", "zh"), terms("L’arbre qu’on coupe", "fr")
    (['茶', '饮料'], ['arbre', 'coupe'])
    """
    code = primary(language)
    stop = stop_words(code)
    found = (_without_article(word) for word in words(text)) if code in _ELIDING else words(text)
    return [word for word in found if word not in stop and (len(word) > 1 or not _is_letter(word))]


def words(text: str) -> list[str]:
    """The words and numbers of a text in lower case.

    >>> words("It’s 3.5 °C, हिन्दी में!")
    ["it's", '3.5', 'c', 'हिन्दी', 'में']
    """
    plain = text.lower().replace("’", "'")  # as lists of stop words have it
    return [piece for piece in _pieces("WordBreaker", plain) if piece[0].isalnum()]


def sentences(text: str, language: str = "") -> list[str]:
    """The sentences of a text.

    >>> sentences("Tea is hot. Is it? 茶很热。是吗？")
    ['Tea is hot.', 'Is it?', '茶很热。', '是吗？']
    """
    found = (piece.strip() for piece in _pieces("SentenceBreaker", text, primary(language) or "en"))
    return [sentence for sentence in found if sentence]


def primary(language: str) -> str:
    """The language itself, of a code that may name a country or script too.

    >>> primary("pt-BR"), primary("zh_Hant"), primary("")
    ('pt', 'zh', '')
    """
    return language.strip().replace("_", "-").partition("-")[0].lower()


@cache
def stop_words(language: str) -> frozenset[str]:
    """The words of a language that say nothing of what a text is about."""
    try:
        import stopwordsiso
    except ModuleNotFoundError as error:
        raise missing("stopwordsiso", EXTRA, "telling keywords from stop words") from error
    known = language if language in stopwordsiso.langs() else "en"
    return frozenset(map(str.lower, stopwordsiso.stopwords(known)))


def _without_article(word: str) -> str:
    """Leave out what stands before an apostrophe, if it is short: ``l'arbre``, ``dell'albero``, ``qu'on``."""
    before, apostrophe, after = word.partition("'")
    return after if apostrophe and after and len(before) <= 5 else word


def _is_letter(char: str) -> bool:
    """Whether a character is a letter of an alphabet: those have upper and lower case. Signs for words have none."""
    return char.upper() != char.lower()


def _pieces(kind: str, text: str, language: str = "en") -> BaseBreaker:
    try:
        from icu4py import breakers
    except ModuleNotFoundError as error:
        raise missing("icu4py", EXTRA, "finding words") from error
    whole = text.encode("utf-8", "replace").decode()  # half a surrogate pair is no text
    breaker: BaseBreaker = getattr(breakers, kind)(whole, language)
    return breaker
