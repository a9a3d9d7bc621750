"""The table of actions and keys. The help shows it, and a config may change it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from victorpy.config import Config
from victorpy.document import Label
from victorpy.errors import suggest

VARIABLE = "annotate-key-"  # prefix of config variables that change the keys of an action

LABEL, LABEL_PATH, LABEL_PLACE = "label-", "all-", "place-"
"""Prefixes of actions that label one block, all blocks with its path, and all blocks at its place in a record."""

_DISPLAY_NAMES = {"page up": "PgUp", "page down": "PgDn", "up": "↑", "down": "↓", " ": "space", "delete": "Del"}
_DISPLAY_NAMES |= {name: name.capitalize() for name in ("home", "end", "enter", "tab", "esc")}
"""Names of keys as shown on the screen, if they differ from the names in a config."""

_MODIFIERS = ("ctrl", "shift", "meta")
_NAMED_KEYS = {"page up", "page down", *"up down left right home end insert delete backspace enter tab esc".split()}
_NAMED_KEYS |= {f"f{number}" for number in range(1, 21)}
"""urwid's names of keys that are not characters."""


_SAME_PATH = "all undecided blocks with the same path"
_SAME_PLACE = "all undecided blocks at this place in their records"


class Binding(NamedTuple):
    """An action, its keys, and what it does."""

    action: str
    keys: tuple[str, ...]
    help: str


GROUPS: dict[str, list[Binding]] = {
    "Label": [
        *(Binding(f"{LABEL}{label}", (label[0],), f"label the block as {label} and move on") for label in Label),
        Binding("confirm", (" ",), "confirm the label and move on"),
        Binding("confirm-rest", ("a",), "confirm the labels of all undecided blocks"),
        Binding("repeat", (".",), "repeat the last action here"),
        Binding("clear", ("x", "delete"), "clear the decision: the block is undecided again"),
        *(Binding(f"{LABEL_PATH}{label}", (label[0].upper(),), f"label as {label}: {_SAME_PATH}") for label in Label),
        *(
            Binding(f"{LABEL_PLACE}{label}", (f"meta {label[0]}",), f"label as {label}: {_SAME_PLACE}")
            for label in Label
        ),
    ],
    "Select, then label": [
        Binding("select-range", ("v",), "start or cancel a range: move, then label"),
        Binding("extend-down", ("shift down", "J"), "extend the range down"),
        Binding("extend-up", ("shift up", "K"), "extend the range up"),
        Binding("select-container", ("r",), "the rest of the enclosing element; press again for the next one outwards"),
        Binding("select-path", ("s",), "all undecided blocks in elements of the same tags and classes (the same path)"),
        Binding("select-place", ("m",), "all undecided blocks at this place in their records: items, rows, posts"),
        Binding("select-text", ("t",), "all undecided blocks with the same text"),
        Binding("cancel", ("esc",), "clear the selection"),
    ],
    "Undo": [
        Binding("undo", ("u",), "undo the last change; press again to undo earlier ones"),
        Binding("redo", ("U", "ctrl r"), "redo the last undone change"),
    ],
    "Move": [
        Binding("down", ("down", "j"), "next block"),
        Binding("up", ("up", "k"), "previous block"),
        Binding("page-down", ("page down", "ctrl f"), "one screen down"),
        Binding("page-up", ("page up", "ctrl b"), "one screen up"),
        Binding("first", ("home",), "first block"),
        Binding("last", ("end", "G"), "last block"),
        Binding("first-kept", ("[",), "first block that is kept"),
        Binding("last-kept", ("]",), "last block that is kept"),
        Binding("jump", ("'",), "show a letter before every visible block; type it to go there"),
        Binding("next-uncertain", ("w",), "next block that the model is unsure of"),
        Binding("previous-uncertain", ("W",), "previous one"),
        Binding("next-undecided", ("e",), "next undecided block"),
        Binding("previous-undecided", ("E",), "previous one"),
        Binding("next-different", ("d",), "next block where you disagree with the model, or two annotators disagree"),
        Binding("previous-different", ("D",), "previous one"),
        Binding("next-label", ("}",), "next block with a different label"),
        Binding("previous-label", ("{",), "previous one"),
        Binding("search", ("/",), "search for text"),
        Binding("search-next", ("n",), "next block that contains the text"),
        Binding("search-previous", ("N",), "previous one"),
        Binding("go-to", ("g",), "go to a block by its number"),
    ],
    "Show": [
        Binding("pane", ("tab",), "next side pane: cleaned text, Markdown, CleanEval, facts about the block, none"),
        Binding("pane-back", ("shift tab",), "previous side pane"),
        Binding("pack", ("b",), "show short blocks that are surely noise several per line, or one per line"),
        Binding("facts", ("f",), "facts about the block: its place, probabilities and features"),
        Binding("help", ("?", "f1"), "this help"),
        Binding("redraw", ("ctrl l",), "redraw the screen"),
        Binding("save", ("ctrl s",), "save now; every change is saved automatically, too"),
    ],
    "Two annotations": [
        Binding("take-first", ("1",), "take the label of the first annotation"),
        Binding("take-second", ("2",), "take the label of the second annotation"),
    ],
    "Pages": [
        Binding("open", ("enter",), "open the selected page"),
        Binding("next-page", (">",), "next unfinished page"),
        Binding("previous-page", ("<",), "previous page in the list"),
        Binding("order", ("=",), "sort the list by name, uncertainty or progress"),
        Binding("retrain", ("R",), "train a model on the finished pages now"),
        Binding("quit", ("q",), "leave the page or the program; everything is saved. Ctrl-C leaves at once"),
    ],
}


class Keys:
    """The keys of every action."""

    def __init__(self, config: Config | None = None) -> None:
        self._keys = {binding.action: binding.keys for group in GROUPS.values() for binding in group}
        self.action_of: dict[str, str] = {}
        changed: set[str] = set()
        if config is not None:
            for action, names in config.family(VARIABLE).items():
                if action not in self._keys:
                    hint = f"{suggest(action, self._keys)}; docs/reference/keys.md lists them"
                    raise config.error(VARIABLE + action, f"there is no action {action!r}{hint}")
                self._keys[action] = tuple(_read_key(name, action, config) for name in names)
                changed.add(action)
        for action, keys in self._keys.items():
            for key in keys:
                other = self.action_of.setdefault(key, action)
                if other != action and config is not None:
                    problem = f"the key {_show_key(key)!r} is used for both {other!r} and {action!r}"
                    raise config.error(VARIABLE + (action if action in changed else other), problem)

    def shown(self, action: str) -> str:
        """Return the keys of an action, as the screen shows them."""
        return " ".join(map(_show_key, self._keys[action])) or "no key"

    def first(self, action: str) -> str:
        """Return the first key of an action, as the screen shows it."""
        return _show_key(self._keys[action][0]) if self._keys[action] else "no key"

    def hints(self, hints: Sequence[tuple[Sequence[str], str]], width: int) -> str:
        """Return as many hints as fit on a line: keys, and a word for what they do."""
        line = ""
        for actions, word in hints:
            longer = f"{line}{'  ' if line else ''}{''.join(map(self.first, actions))} {word}"
            if len(longer) > width:
                break
            line = longer
        return line


def _read_key(name: str, action: str, config: Config) -> str:
    """Return urwid's name of a key that a config calls ``ctrl-r`` or ``space``.

    Raises if no terminal can send the key.
    """
    key = " " if name == "space" else name
    if len(key) > 1:
        key = key.replace("-", " ").lower().replace("alt ", "meta ")
    modifiers, base = _split_key(key)
    is_character = len(base) == 1 and base.isprintable() and "shift" not in modifiers
    if len(set(modifiers)) < len(modifiers) or not (base in _NAMED_KEYS or is_character):
        valid_names = [valid.replace(" ", "-") for valid in (*_NAMED_KEYS, "space")]
        raise config.error(
            VARIABLE + action,
            f"there is no key {name!r}{suggest(name, valid_names)}; a key is a character, a name such as space, "
            "enter, page-down or f5, or one of these after ctrl-, shift- or alt-",
        )
    return key


def _show_key(key: str) -> str:
    modifiers, base = _split_key(key)
    return "-".join([*modifiers, _DISPLAY_NAMES.get(base, base)]).replace("meta", "alt")


def _split_key(key: str) -> tuple[list[str], str]:
    """Split urwid's name of a key into modifiers and the key itself, such as ``page up``."""
    words = key.split(" ")
    modifiers = list(takewhile(_MODIFIERS.__contains__, words))
    return modifiers, " ".join(words[len(modifiers) :])
