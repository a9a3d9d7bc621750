"""The colours of the annotation tool.

Labels stand out by their background. Text keeps the terminal's own colours, for light and dark terminals alike.
Without colours there is bold, underlined and reversed text, and every label has its letter.
"""

from __future__ import annotations

from victorpy.document import Label

_PLAIN = "default"
_LABEL_BACKGROUNDS = {
    Label.HEADER: ("dark magenta", "#808"),
    Label.PARAGRAPH: ("dark green", "#060"),
    Label.LIST: ("dark cyan", "#066"),
    Label.CONTINUATION: ("dark blue", "#048"),
    Label.OTHER: ("dark red", "#a33"),
}
"""The background of each label, of 8 and of 256 colours."""
_BOLD = ("default,bold", _PLAIN, "bold", "default,bold", _PLAIN)
_GREY = (_PLAIN, _PLAIN, _PLAIN, "g50", _PLAIN)
HIT = "hit"
"""The look of search hits, in every kind of text."""


def palette() -> list[tuple[str, str, str, str, str, str]]:
    """Return all looks for urwid.

    Each has a name, text and background of 8 colours, the look without colours, text and background of 256 colours.
    """
    looks = {
        "bar": ("white", "dark blue", "standout", "#fff", "#035"),
        "message": ("black", "brown", "standout", "#000", "#fd8"),
        "error": ("white", "dark red", "standout,bold", "#fff,bold", "#a00"),
        "rule": _GREY,
        "gutter": _GREY,
        "gutter current": ("black,bold", "brown", "standout,bold", "#000,bold", "#fc6"),
        "gutter selected": ("black", "dark cyan", "standout", "#000", "#6cf"),
        "uncertain": ("dark red,bold", _PLAIN, "bold", "#d60,bold", _PLAIN),
        HIT: ("black", "brown", "standout", "#000", "#fd8"),
        "changed": ("dark magenta,bold", _PLAIN, "bold", "#c5f,bold", _PLAIN),
        "confirmed": ("dark green,bold", _PLAIN, "bold", "#2a2,bold", _PLAIN),
        "pane": (_PLAIN,) * 5,
        "pane head": ("default,bold,underline", _PLAIN, "bold,underline", "default,bold,underline", _PLAIN),
        "pane here": _BOLD,
        "key": _BOLD,
        "prompt": _BOLD,
        "label none": ("black", "light gray", "standout", "#000", "g70"),
    }
    for label, (basic, background) in _LABEL_BACKGROUNDS.items():
        looks[f"label {label}"] = ("white", basic, "standout", "#fff,bold", background)
    for kind, colour in (("content", _PLAIN), ("noise", "g50")):
        looks[kind] = (_PLAIN, _PLAIN, _PLAIN, colour, _PLAIN)
        looks[f"{kind} link"] = ("default,underline", _PLAIN, "underline", f"{colour},underline", _PLAIN)
        looks[f"{kind} heading"] = ("default,bold", _PLAIN, "bold", f"{colour},bold", _PLAIN)
        looks[f"{kind} mark"] = _GREY
    return [(name, *look) for name, look in looks.items()]


def label_look(label: Label | None) -> str:
    """Return the look of a label's letter."""
    return "label none" if label is None else f"label {label}"


def text_look(label: Label | None, look: str) -> str:
    """Return the look of a block's text. Noise is paler if the terminal can show that."""
    if look == HIT:
        return HIT
    kind = "noise" if label is Label.OTHER else "content"
    return f"{kind} {look}" if look else kind
