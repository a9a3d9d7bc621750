"""The help: every key and what it does."""

from __future__ import annotations

from victorpy.annotate.blocks import Row
from victorpy.annotate.desk import COMFORT, Desk, View
from victorpy.annotate.show import wrap

_KEYS = 18
"""Columns for the keys, before what they do."""
_FAR = 100_000
"""More lines than there are."""
_SIGNS = (
    "Before a block stand its number and its label, then ✓ where a person confirmed it, * where a person changed it, "
    "or a number where nobody has decided: 97 says that the model is sure by 97 of 100.",
    "A digit, or a letter that stands for nothing else, stands before the blocks on the screen that the model is least "
    "sure of: type it to go there.",
    "Short blocks that the model is sure are noise, such as the entries of a menu, share lines: O Home ┊ O News. A "
    "corner instead of the line between them, ┌ or └, is where a list begins or ends.",
    "A record is what repeats: an item of a list, a row of a table, a post, a product. Blocks at the same place of "
    "their records have paths that differ in one number; their classes do not matter.",
    "A selection that the program makes (the rest of an element, the same path, the same text, all the rest) "
    "leaves out what somebody has decided on, but for the block under the cursor; a range that you mark is taken "
    "whole.",
    "The mouse works too: click on a block, turn the wheel. What is pasted is not taken for keys.",
    "Ctrl-C leaves at once, and all is saved then too.",
)


class HelpView(View):
    """Every key and what it does."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._at = 0
        self._page = COMFORT[1]

    def top(self, width: int) -> str:
        """The line above."""
        return " All keys"

    def hints(self, width: int) -> str:
        """The line below."""
        return "↑↓ PgUp PgDn Home End   any other key goes back" if width > _KEYS * 3 else "↑↓ PgDn, or goes back"

    def body(self, width: int, height: int) -> list[Row]:
        """As much as fits, from where it was scrolled to."""
        lines = self._lines(width)
        self._page = height
        self._at = max(0, min(self._at, len(lines) - height))
        return lines[self._at : self._at + height]

    def _lines(self, width: int) -> list[Row]:
        lines: list[Row] = []
        for group, bindings in self.desk.keys.help():
            lines.append([("pane head", f" {group}")])
            for keys, does in bindings:
                lines += _wrapped(f"  {keys:<{_KEYS - 2}}", does, width)
            lines.append([])
        lines.append([("pane head", " What else there is to know")])
        for told in _SIGNS:
            lines += _wrapped("  ", told, width)
        return lines

    def act(self, action: str) -> bool:
        """Scroll, or go back."""
        steps = {"down": 1, "up": -1, "page-down": self._page, "page-up": -self._page, "first": -_FAR, "last": _FAR}
        if action in steps:
            self._at = max(0, self._at + steps[action])
        else:
            self.desk.close_view()
        return True


def _wrapped(before: str, text: str, width: int) -> list[Row]:
    """A text in as many lines as it takes, behind something that stands before the first only."""
    lines = [text[start:stop] for start, stop in wrap(text, width - len(before) - 2)]
    return [
        [("key", before if number == 0 else " " * len(before)), ("pane", f" {line}")]
        for number, line in enumerate(lines)
    ]
