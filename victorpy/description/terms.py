"""Split a text into sentences and terms, which are words that carry meaning.

ICU finds words and sentences by Unicode's rules, with dictionaries for Chinese, Japanese, Thai, Lao, Khmer and
Burmese, which are written without spaces. The stop words come from stopwords-iso.
"""

from __future__ import annotations

import re
from functools import cache

from victorpy.base.language import primary
from victorpy.base.words import icu_pieces, icu_words
from victorpy.errors import missing, require

_EXTRA = "docview"
_PACKAGES = ("dateparser", "icu4py", "stopwordsiso")

_ELIDING = frozenset(["ca", "fr", "it"])  # languages that join an article or pronoun to the next word
_HIRAGANA = re.compile("[ぁ-ゟ]{1,2}")


@cache
def check_packages() -> None:
    """Raise once, before the first page, if a package of the docview extra is not installed."""
    require(_PACKAGES, _EXTRA, "telling what pages are about")


def terms(text: str, language: str = "") -> list[str]:
    """Return the words of a text in lower case, without stop words and single letters of alphabetic scripts.

    The language is a code such as ``en`` or ``pt-BR``. English stop words are used for unknown languages, because they
    occur in texts of all languages on the web.

    >>> terms("Tea is made by pouring hot water over the leaves of the tea bush.", "en")
    ['tea', 'pouring', 'hot', 'water', 'leaves', 'tea', 'bush']
    >>> terms("茶是一种饮料。", "zh"), terms("L’arbre qu’on coupe", "fr"), terms("The baker’s oven", "en")
    (['茶', '饮料'], ['arbre', 'coupe'], ['baker', 'oven'])
    >>> terms("お茶はカップで飲んでください。", "ja")
    ['お茶', 'カップ', '飲']
    """
    code = primary(language)
    stop = stop_words(code)
    kept = []
    for word in icu_words(text):
        if word in stop:
            continue
        term = word
        first, apostrophe, second = word.partition("'")
        if code not in _ELIDING:
            term = word.removesuffix("'s") if len(word) > 3 else word
        elif apostrophe and second and len(first) <= 5:  # l'arbre, dell'albero, qu'on
            term = second
        is_letter = len(term) == 1 and term.upper() != term.lower()
        # Short words in hiragana are endings and particles, which ICU splits off.
        if term not in stop and not is_letter and not _HIRAGANA.fullmatch(term):
            kept.append(term)
    return kept


def sentences(text: str, language: str = "") -> list[str]:
    """Return the sentences of a text.

    >>> sentences("Tea is hot. Is it? 茶很热。是吗？")
    ['Tea is hot.', 'Is it?', '茶很热。', '是吗？']
    """
    pieces = (piece.strip() for piece in icu_pieces("SentenceBreaker", text, primary(language) or "en"))
    return [sentence for sentence in pieces if sentence]


@cache
def stop_words(language: str) -> frozenset[str]:
    """Return the stop words of a language, or English stop words if there is no list."""
    try:
        import stopwordsiso
    except ModuleNotFoundError as error:
        raise missing("stopwordsiso", _EXTRA, "telling keywords from stop words") from error
    listed = language if language in stopwordsiso.langs() else "en"
    return frozenset(map(str.lower, stopwordsiso.stopwords(listed)))
