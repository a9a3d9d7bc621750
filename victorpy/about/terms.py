"""Texts as sentences, words, and terms: words that say what a text is about.

Unicode's rules find words and sentences (ICU, with its dictionaries for Chinese, Japanese, Thai, Lao, Khmer and
Burmese, which write no spaces), stopwords-iso says which words say nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING

from victorpy.errors import missing

if TYPE_CHECKING:
    from icu4py.breakers import BaseBreaker

EXTRA = "docview"

_ELIDING = frozenset(["ca", "fr", "it"])
"""Languages that write an article or pronoun together with the word behind it."""
_KATAKANA = re.compile("[ァ-ヺー-ヿ]+")
_HIRAGANA = re.compile("[ぁ-ゟ]{1,2}")


def terms(text: str, language: str = "") -> list[str]:
    """The words of a text in lower case, in order, without stop words and single letters of alphabets.

    The language is a code such as ``en`` or ``pt-BR``. Of a language without a list of stop words, or of none, English
    ones are left out, which stand in texts of all languages on the web.

    >>> terms("Tea is made by pouring hot water over the leaves of the tea bush.", "en")
    ['tea', 'pouring', 'hot', 'water', 'leaves', 'tea', 'bush']
    >>> terms("茶是一种饮料。", "zh"), terms("L’arbre qu’on coupe", "fr"), terms("The baker’s oven", "en")
    (['茶', '饮料'], ['arbre', 'coupe'], ['baker', 'oven'])
    >>> terms("お茶はカップで飲んでください。", "ja")
    ['お茶', 'カップ', '飲']
    """
    code = primary(language)
    stop = stop_words(code)
    shorten = _without_article if code in _ELIDING else _without_possessive
    return [term for word in words(text) if word not in stop and (term := shorten(word)) not in stop and _tells(term)]


def words(text: str) -> list[str]:
    """The words and numbers of a text in lower case.

    >>> words("It’s 3.5 °C, हिन्दी में!")
    ["it's", '3.5', 'c', 'हिन्दी', 'में']
    """
    plain = text.lower().replace("’", "'")  # as lists of stop words have it
    return [piece for piece in _whole_loanwords(_pieces("WordBreaker", plain)) if piece[0].isalnum()]


def _whole_loanwords(pieces: Iterable[str]) -> Iterator[str]:
    """Join what ICU's dictionary takes apart in katakana, in which Japanese writes foreign words."""
    whole = ""
    for piece in pieces:
        if _KATAKANA.fullmatch(piece):
            whole += piece
            continue
        if whole:
            yield whole
            whole = ""
        yield piece
    if whole:
        yield whole


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


def _without_possessive(word: str) -> str:
    """Leave out the ending of the English genitive, which other languages on the web have taken over."""
    return word.removesuffix("'s") if len(word) > 3 else word


def _tells(term: str) -> bool:
    """Whether a term can say what a text is about.

    A letter of an alphabet, which has upper and lower case, does not; a sign for a word does. Short words in hiragana
    are endings and particles, which ICU parts from the words before them.
    """
    if len(term) == 1 and term.upper() != term.lower():
        return False
    return not _HIRAGANA.fullmatch(term)


def _pieces(kind: str, text: str, language: str = "en") -> BaseBreaker:
    try:
        from icu4py import breakers
    except ModuleNotFoundError as error:
        raise missing("icu4py", EXTRA, "finding words") from error
    whole = text.encode("utf-8", "replace").decode()  # half a surrogate pair is no text
    breaker: BaseBreaker = getattr(breakers, kind)(whole, language)
    return breaker
