"""Detect the language of a text."""

from __future__ import annotations

from functools import cache
from typing import Any

_ENOUGH = 100
"""Minimum number of characters for detection. Shorter texts have the language that the page declares."""
_SURE = 0.95
_ALIASES = {"wuu": "zh"}  # short Chinese texts are often taken for Wu
_FIRST_DETECTED = 400
MOST_DETECTED = 1_000  # characters that are used for detection, unless the language of the first few is sure


def primary(language: str) -> str:
    """Return the language of a language code, without region and script.

    >>> primary("pt-BR"), primary("zh_Hant"), primary("")
    ('pt', 'zh', '')
    """
    return language.strip().replace("_", "-").partition("-")[0].lower()


def language_of(text: str, claimed: str = "") -> str:
    """Return the code of a text's language: detected if the text is long enough, else as declared by the page.

    >>> language_of("Tee ist ein Getränk, das man aus den Blättern des Teestrauchs macht. Er wird heiß getrunken, "
    ...             "und fast überall auf der Welt.", claimed="en-US")
    'de'
    >>> language_of("Home", claimed="en-US")
    'en'
    """
    if len(text) < _ENOUGH:
        return primary(claimed)
    detected, probability = _identifier().classify(text[:_FIRST_DETECTED])
    if probability < _SURE and len(text) > _FIRST_DETECTED:
        detected, probability = _identifier().classify(text[:MOST_DETECTED])
    is_better = detected and (probability >= _SURE or not claimed)
    return _ALIASES.get(detected, str(detected)) if is_better else primary(claimed)


@cache
def known_languages() -> frozenset[str]:
    """Return the codes of all languages that can be detected."""
    return frozenset(_identifier().nb_classes) - _ALIASES.keys()


@cache
def _identifier() -> Any:
    from py3langid import langid  # its model takes half a second to load

    return langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)
