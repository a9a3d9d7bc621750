"""The colours: labels stand out by their background, text keeps the terminal's own colours, so that light and dark
terminals show it alike; without colours there are bold, underlined and reversed text, and every label has its letter.
"""

from __future__ import annotations

from victorpy.document import Label

Entry = tuple[str, str, str, str, str, str]
"""A name, then text and background of 8 colours, the look without any, text and background of 256 colours."""

_LABELS = {
    Label.HEADER: ("dark magenta", "#d7f", "#808"),
    Label.PARAGRAPH: ("dark green", "#8d8", "#060"),
    Label.LIST: ("dark cyan", "#6dd", "#066"),
    Label.CONTINUATION: ("dark blue", "#8af", "#048"),
    Label.OTHER: ("dark red", "#f88", "#a33"),
}

_PLAIN = "default"
HIT = "hit"
"""The look of what was searched for, whatever it stands in."""


def palette() -> list[Entry]:
    """All looks by name."""
    entries: list[Entry] = [
        ("bar", "white", "dark blue", "standout", "#fff", "#035"),
        ("message", "black", "brown", "standout", "#000", "#fd8"),
        ("error", "white", "dark red", "standout,bold", "#fff,bold", "#a00"),
        ("rule", _PLAIN, _PLAIN, _PLAIN, "g50", _PLAIN),
        ("gutter", _PLAIN, _PLAIN, _PLAIN, "g50", _PLAIN),
        ("gutter current", "black,bold", "brown", "standout,bold", "#000,bold", "#fc6"),
        ("gutter selected", "black", "dark cyan", "standout", "#000", "#6cf"),
        ("uncertain", "dark red,bold", _PLAIN, "bold", "#d60,bold", _PLAIN),
        ("hit", "black", "brown", "standout", "#000", "#fd8"),
        ("changed", "dark magenta,bold", _PLAIN, "bold", "#c5f,bold", _PLAIN),
        ("confirmed", "dark green,bold", _PLAIN, "bold", "#2a2,bold", _PLAIN),
        ("pane", _PLAIN, _PLAIN, _PLAIN, _PLAIN, _PLAIN),
        ("pane head", _PLAIN + ",bold,underline", _PLAIN, "bold,underline", _PLAIN + ",bold,underline", _PLAIN),
        ("pane here", _PLAIN + ",bold", _PLAIN, "bold", _PLAIN + ",bold", _PLAIN),
        ("key", _PLAIN + ",bold", _PLAIN, "bold", _PLAIN + ",bold", _PLAIN),
        ("label none", "black", "light gray", "standout", "#000", "g70"),
        ("prompt", _PLAIN + ",bold", _PLAIN, "bold", _PLAIN + ",bold", _PLAIN),
    ]
    for label, (basic, _, background) in _LABELS.items():
        entries.append((f"label {label}", "white", basic, "standout", "#fff,bold", background))
    for kind, colour in (("content", _PLAIN), ("noise", "g50")):
        basic = _PLAIN
        entries += [
            (kind, basic, _PLAIN, _PLAIN, colour, _PLAIN),
            (f"{kind} link", basic + ",underline", _PLAIN, "underline", colour + ",underline", _PLAIN),
            (f"{kind} heading", basic + ",bold", _PLAIN, "bold", colour + ",bold", _PLAIN),
            (f"{kind} mark", basic, _PLAIN, _PLAIN, "g50", _PLAIN),
        ]
    return entries


def label_look(label: Label | None) -> str:
    """The look of a label's letter."""
    return "label none" if label is None else f"label {label}"


def text_look(label: Label | None, look: str) -> str:
    """The look of a block's text: noise is paler where the terminal can."""
    if look == HIT:
        return HIT
    kind = "noise" if label is Label.OTHER else "content"
    return f"{kind} {look}" if look else kind
