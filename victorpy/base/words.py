"""Several ways to split text into words. They are not interchangeable, because scores and hashes depend on them.

- `simple_words`: runs of letters and digits in lower case, for WCXB's F1, style trees and mining.
- `aligned_words`: the same, but single letters in scripts without spaces, for alignment with gold texts and agreement.
- `paired_words`: the same, but pairs of letters in these scripts, and whole decimal numbers, for duplicate detection.
- `words_and_signs`: runs of letters and digits, and runs of symbols, for shingles of the pagelets method.
- `cleaneval_tokens`: everything between white space, with or without tags, for CleanEval's measures.
- `icu_words`: words by Unicode's rules and ICU's dictionaries, for keywords, abstracts and fingerprints.

`victorpy.base.unicode.count_words` only counts words.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Iterable
from itertools import pairwise

from victorpy.errors import missing

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_SIMPLE = re.compile(r"\w+")
_UNSPACED_LETTER = re.compile(f"[{_UNSPACED}]")
_ALIGNED = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")
_PAIRED = re.compile(rf"[{_UNSPACED}]+|[^\W{_UNSPACED}]+(?:[.,]\d+)*")
_WORD_OR_SIGNS = re.compile(r"\w+|[^\w\s]+")
_KATAKANA = re.compile("[ァ-ヺー-ヿ]+")

_URL_LINE = re.compile(r"^[ \t]*URL.*$", re.MULTILINE)
_CONTROL = re.compile(r"[\x00-\x1f]+")
SEGMENT_TAG = re.compile(r"<([phl])>", re.IGNORECASE)  # a tag that starts a segment in CleanEval's format


def simple_words(text: str) -> list[str]:
    """Return the runs of letters and digits in lower case, as WCXB and the papers on sites do.

    >>> simple_words("Canon's EOS-7D: $1,699, 九条命")
    ['canon', 's', 'eos', '7d', '1', '699', '九条命']
    """
    return _SIMPLE.findall(text.lower())


def aligned_words(text: str) -> list[str]:
    """Return simple words.

    Letters of scripts without spaces are words by themselves, so that parts of a sentence can match.

    >>> aligned_words("The Cat's 9 lives: 九条命")
    ['the', 'cat', 's', '9', 'lives', '九', '条', '命']
    """
    return _ALIGNED.findall(text.lower())


def paired_words(text: str) -> list[str]:
    """Return the words and numbers of a text in lower case, and pairs of letters in scripts without spaces.

    >>> paired_words("It costs 22,995.50 in 2024: 九条命")
    ['it', 'costs', '22,995.50', 'in', '2024', '九条', '条命']
    """
    words: list[str] = []
    for word in _PAIRED.findall(text.lower()):
        if len(word) > 2 and _UNSPACED_LETTER.match(word):
            words += map("".join, pairwise(word))
        else:
            words.append(word)
    return words


def words_and_signs(text: str) -> list[str]:
    """Return the case-folded words of a text and the symbols between them, because shingles include symbols.

    >>> words_and_signs("Home » Tea (2)")
    ['home', '»', 'tea', '(', '2', ')']
    """
    return _WORD_OR_SIGNS.findall(text.casefold())


def cleaneval_tokens(text: str, tags: bool) -> list[str]:
    """Split a text in CleanEval's format in the same way as Evert's scorer. Tags are dropped unless `tags` is true.

    >>> cleaneval_tokens("URL: http://x.example/\\n<p>One two\\n<l> three", tags=True)
    ['<p>', 'One', 'two', '<l>', 'three']
    """
    text = _CONTROL.sub(" ", _URL_LINE.sub("", text))
    text = SEGMENT_TAG.sub(lambda tag: f" <{tag[1].lower()}> " if tags else " ", text)
    return text.split()


def icu_words(text: str) -> list[str]:
    """Return the words and numbers of a text in any script, in lower case.

    >>> icu_words("It’s 3.5 °C, हिन्दी में!")
    ["it's", '3.5', 'c', 'हिन्दी', 'में']
    """
    plain = text.lower().replace("’", "'")  # stop word lists contain this apostrophe
    pieces: list[str] = []
    after_katakana = False
    for piece in icu_pieces("WordBreaker", plain):
        is_katakana = _KATAKANA.fullmatch(piece) is not None
        if is_katakana and after_katakana:
            pieces[-1] += piece  # ICU splits foreign words in Japanese
        else:
            pieces.append(piece)
        after_katakana = is_katakana
    return [piece for piece in pieces if piece[0].isalnum()]


def icu_pieces(breaker: str, text: str, language: str = "en") -> Iterable[str]:
    """Split a text with an ICU breaker, `WordBreaker` or `SentenceBreaker`."""
    if text.isascii() and text.isalnum():  # a single word; hostile pages have many one-letter paragraphs
        return [text]
    try:
        from icu4py import breakers
    except ModuleNotFoundError as error:
        raise missing("icu4py", "docview", "finding words") from error
    whole = text.encode("utf-8", "replace").decode()  # a lone surrogate cannot be passed to ICU
    pieces: Iterable[str] = getattr(breakers, breaker)(whole, language)
    return pieces


_SAMPLED = 1_500
_FEWEST_LETTERS, _FEWEST_VOWELS = 100, 0.23


def is_gibberish(text: str) -> bool:
    """Return whether a text in Latin letters has fewer vowels than any natural language.

    >>> is_gibberish("Xkcd qwrt zpfag. " * 20), is_gibberish("Tea is a drink. " * 20), is_gibberish("茶叶 tbd " * 60)
    (True, False, False)
    """
    sample = text[:_SAMPLED].lower() if text.isascii() else unicodedata.normalize("NFD", text[:_SAMPLED]).lower()
    vowels = sum(map(sample.count, "aeiou"))
    if vowels >= _FEWEST_VOWELS * len(sample):
        return False  # a fast answer for most texts
    letters = sum(map(sample.count, string.ascii_lowercase))
    is_latin = letters >= max(_FEWEST_LETTERS, len(sample) / 2)
    return is_latin and vowels < _FEWEST_VOWELS * letters
