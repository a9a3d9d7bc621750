"""Detect the language of a text."""

from __future__ import annotations

import unicodedata
from collections import Counter
from functools import cache
from typing import Any

_ENOUGH = 100
"""Minimum number of characters for detection. For shorter texts, the declared language of the page is used."""
_SURE = 0.95
_ALIASES = {"wuu": "zh"}  # short Chinese texts are often taken for Wu
_SCRIPTS = {
    script: {*codes.split()}
    for scripts, codes in {
        "CJK IDEOGRAPHIC": "zh yue ja",
        "HIRAGANA KATAKANA KATAKANA-HIRAGANA HALFWIDTH": "ja",
        "HANGUL": "ko",
        "CYRILLIC": "ab av az ba be bg bs ce crh cu cv kk kv ky mk mn os ro ru sh sr tg tk tt ug uk uz",
        "ARABIC": "ar ary arz az bal ckb fa ha kk ks ku ky ms pa ps sd sdh tk ug ur uz uzs",
        "HEBREW": "he hbo yi",
        "GREEK": "el grc",
        "DEVANAGARI": "bho gom hi kok mai mr ne sa sd",
        "BENGALI": "as bn",
        "GURMUKHI": "pa",
        "GUJARATI": "gu",
        "ORIYA": "or",
        "TAMIL": "ta",
        "TELUGU": "te",
        "KANNADA": "gom kn",
        "MALAYALAM": "ml",
        "SINHALA": "si",
        "THAI": "th",
        "LAO": "lo",
        "TIBETAN": "bo dz",
        "MYANMAR": "my",
        "KHMER": "km",
        "ETHIOPIC": "am ti",
        "ARMENIAN": "hy",
        "GEORGIAN": "ka",
    }.items()
    for script in scripts.split()
}
"""Languages by the first words of the names of their letters. Latin letters fit every language."""
_FIRST_DETECTED = 400
MOST_DETECTED = 1_000  # maximum number of characters that are used for detection


def primary(language: str) -> str:
    """Return the language of a language code, without region and script.

    >>> primary("pt-BR"), primary("zh_Hant"), primary("")
    ('pt', 'zh', '')
    """
    return language.strip().replace("_", "-").partition("-")[0].lower()


def language_of(text: str, claimed: str = "") -> str:
    """Return the language code of a text: detected if the text is long enough, or else as declared by the page.

    The code is empty if most letters belong to scripts that neither language uses.

    >>> language_of("Tee ist ein Getränk, das man aus den Blättern des Teestrauchs macht. Er wird heiß getrunken, "
    ...             "und fast überall auf der Welt.", claimed="en-US")
    'de'
    >>> language_of("Home", claimed="en-US")
    'en'
    >>> language_of("茶 (Tea) 是一种热饮", claimed="en-US")
    ''
    """
    candidates = [primary(claimed)]
    if len(text) >= _ENOUGH:
        detected, probability = _identifier().classify(text[:_FIRST_DETECTED])
        if probability < _SURE:
            detected, probability = _identifier().classify(text[:MOST_DETECTED])
        is_better = detected and (probability >= _SURE or not claimed)
        candidates.insert(0 if is_better else 1, _ALIASES.get(detected, str(detected)))
    return next((language for language in candidates if _fits(language, text[:MOST_DETECTED])), "")


def _fits(language: str, text: str) -> bool:
    """Whether at most half of the letters of a text belong to scripts that a language does not use."""
    if text.isascii():
        return True
    scripts = Counter[str]()
    for letter, count in Counter(filter(str.isalpha, text)).items():
        scripts[unicodedata.name(letter, "").partition(" ")[0]] += count
    foreign = (count for script, count in scripts.items() if language not in _SCRIPTS.get(script, {language}))
    return 2 * sum(foreign) <= scripts.total()


@cache
def known_languages() -> frozenset[str]:
    """Return the codes of all languages that can be detected."""
    return frozenset(_identifier().nb_classes) - _ALIASES.keys()


@cache
def _identifier() -> Any:
    from py3langid import langid  # loading its model takes half a second

    try:
        return langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)
    except OSError as error:
        reason = error.strerror or error
        words = f"detecting languages needs a temporary file of 70 MB: {reason}; set TMPDIR to a directory with space"
        raise OSError(error.errno, words) from error
