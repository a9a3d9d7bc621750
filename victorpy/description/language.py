"""Detect the language of a text."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from victorpy.description.terms import EXTRA, primary
from victorpy.errors import missing

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

ENOUGH = 100
"""From this many characters on, detection is more reliable than the page's claim, often that of its template."""
_SURE = 0.95
_MOST = 4_000  # characters that are examined


def language_of(text: str, claimed: str = "") -> str:
    """Return the code of a text's language: detected if the text is long enough, else as the page claims.

    >>> language_of("Tee ist ein Getränk, das man aus den Blättern des Teestrauchs macht. Er wird heiß getrunken, "
    ...             "und fast überall auf der Welt.", claimed="en-US")
    'de'
    >>> language_of("Home", claimed="en-US")
    'en'
    """
    if len(text) < ENOUGH:
        return primary(claimed)
    detected, probability = _identifier().classify(text[:_MOST])
    return str(detected) if detected and (probability >= _SURE or not claimed) else primary(claimed)


@cache
def _identifier() -> LanguageIdentifier:
    try:
        from py3langid import langid
    except ModuleNotFoundError as error:
        raise missing("py3langid", EXTRA, "telling languages") from error
    return langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)
