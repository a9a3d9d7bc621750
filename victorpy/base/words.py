"""The definitions of a word, side by side. They differ on purpose, and results depend on which one is used.

- `simple_words`: a run of letters and digits, in lower case. WCXB's F1, style trees and mining.
- `aligned_words`: the same, but a single letter in scripts without spaces. Alignment with gold texts, agreement.
- `words_and_signs`: a run of letters and digits, or of signs, case-folded. Shingles of the pagelets method.
- `cleaneval_tokens`: anything between white space, with or without tags. CleanEval's measures.
- `icu_words`: what Unicode's rules and ICU's dictionaries say. Keywords, abstracts and duplicate detection.

`victorpy.base.unicode.count_words` only counts: it takes two letters of a script without spaces for one word.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from victorpy.errors import missing

if TYPE_CHECKING:
    from icu4py.breakers import BaseBreaker

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_SIMPLE = re.compile(r"\w+")
_ALIGNED = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")
_WORD_OR_SIGNS = re.compile(r"\w+|[^\w\s]+")
_KATAKANA = re.compile("[ァ-ヺー-ヿ]+")

_URL_LINE = re.compile(r"^[ \t]*URL.*$", re.MULTILINE)
_CONTROL = re.compile(r"[\x00-\x1f]+")
SEGMENT_TAG = re.compile(r"<([phl])>", re.IGNORECASE)
"""A tag that starts a segment in CleanEval's format."""


def simple_words(text: str) -> list[str]:
    """Return the runs of letters and digits of a text in lower case: WCXB's words and those of the papers on sites.

    >>> simple_words("Canon's EOS-7D: $1,699, 九条命")
    ['canon', 's', 'eos', '7d', '1', '699', '九条命']
    """
    return _SIMPLE.findall(text.lower())


def aligned_words(text: str) -> list[str]:
    """Return simple words, but split scripts without spaces into letters, so that parts of a sentence can match.

    >>> aligned_words("The Cat's 9 lives: 九条命")
    ['the', 'cat', 's', '9', 'lives', '九', '条', '命']
    """
    return _ALIGNED.findall(text.lower())


def words_and_signs(text: str) -> list[str]:
    """Return the words of a text, case-folded, and the signs between them: shingles must not ignore signs.

    >>> words_and_signs("Home » Tea (2)")
    ['home', '»', 'tea', '(', '2', ')']
    """
    return _WORD_OR_SIGNS.findall(text.casefold())


def cleaneval_tokens(text: str, tags: bool) -> list[str]:
    """Split a text in CleanEval's format as Evert's scorer does. Tags are tokens, or are dropped.

    >>> cleaneval_tokens("URL: http://x.example/\\n<p>One two\\n<l> three", tags=True)
    ['<p>', 'One', 'two', '<l>', 'three']
    """
    text = _CONTROL.sub(" ", _URL_LINE.sub("", text))
    text = SEGMENT_TAG.sub(lambda tag: f" <{tag[1].lower()}> " if tags else " ", text)
    return text.split()


def icu_words(text: str) -> list[str]:
    """Return the words and numbers of a text in lower case, as ICU finds them in any script.

    >>> icu_words("It’s 3.5 °C, हिन्दी में!")
    ["it's", '3.5', 'c', 'हिन्दी', 'में']
    """
    plain = text.lower().replace("’", "'")  # as in the lists of stop words
    pieces: list[str] = []
    after_katakana = False
    for piece in icu_pieces("WordBreaker", plain):
        is_katakana = _KATAKANA.fullmatch(piece) is not None
        if is_katakana and after_katakana:
            pieces[-1] += piece  # ICU's dictionary splits foreign words in Japanese
        else:
            pieces.append(piece)
        after_katakana = is_katakana
    return [piece for piece in pieces if piece[0].isalnum()]


def icu_pieces(breaker: str, text: str, language: str = "en") -> BaseBreaker:
    """Split a text with one of ICU's breakers, `WordBreaker` or `SentenceBreaker`."""
    try:
        from icu4py import breakers
    except ModuleNotFoundError as error:
        raise missing("icu4py", "docview", "finding words") from error
    whole = text.encode("utf-8", "replace").decode()  # a lone surrogate cannot be passed to ICU
    pieces: BaseBreaker = getattr(breakers, breaker)(whole, language)
    return pieces
