"""The keys: one table of actions, from which the help screen and the bottom line are made; a config may change it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from victorpy.config import Config
from victorpy.document import Label
from victorpy.errors import suggest

VARIABLE = "annotate-key-"

LABEL, ALIKE, PLACE = "label-", "all-", "place-"
"""How the actions are named that give a label to a block, to all of its path, to all at its place of a record."""

_NAMES = {
    " ": "space",
    "page up": "PgUp",
    "page down": "PgDn",
    "shift up": "shift-↑",
    "shift down": "shift-↓",
    "up": "↑",
    "down": "↓",
    "home": "Home",
    "end": "End",
    "enter": "Enter",
    "tab": "Tab",
    "shift tab": "shift-Tab",
    "esc": "Esc",
    "delete": "Del",
}
"""Keys whose name is shown otherwise than it is written in a config."""


_MODIFIERS = ("ctrl", "shift", "meta")
_NAMED = frozenset(
    [
        *("up", "down", "left", "right", "page up", "page down", "home", "end", "insert", "delete", "backspace"),
        *("enter", "tab", "esc", *(f"f{number}" for number in range(1, 21))),
    ]
)
"""Keys that have a name, as the screen calls them."""


class Binding(NamedTuple):
    """An action, its keys, and what it does."""

    action: str
    keys: tuple[str, ...]
    help: str


def _label_bindings() -> list[Binding]:
    return [Binding(f"{LABEL}{label}", (label[0],), f"label the block {label} and go on") for label in Label]


def _alike_bindings() -> list[Binding]:
    keys = {label: label[0].upper() for label in Label}
    return [
        Binding(f"{ALIKE}{label}", (keys[label],), f"label all undecided blocks of the same path {label}")
        for label in Label
    ]


def _place_bindings() -> list[Binding]:
    return [
        Binding(
            f"{PLACE}{label}",
            (f"meta {label[0]}",),
            f"label all undecided blocks at this place of each record {label}",
        )
        for label in Label
    ]


GROUPS: dict[str, list[Binding]] = {
    "Label": [
        *_label_bindings(),
        Binding("confirm", (" ",), "confirm the label and go on"),
        Binding("confirm-rest", ("a",), "confirm all labels that nobody has decided on"),
        Binding("repeat", (".",), "do the last action again here"),
        Binding("clear", ("x", "delete"), "take a decision back: the block is undecided again"),
        *_alike_bindings(),
        *_place_bindings(),
    ],
    "Select, then label": [
        Binding("select-range", ("v",), "begin or give up a range: move, then label"),
        Binding("extend-down", ("shift down", "J"), "extend a range downwards"),
        Binding("extend-up", ("shift up", "K"), "extend a range upwards"),
        Binding("select-container", ("r",), "the rest of the element around; again: of the next one outwards"),
        Binding("select-path", ("s",), "all undecided blocks with the same tags and classes around them"),
        Binding("select-place", ("m",), "all undecided blocks at this place of each record: item, row, post"),
        Binding("select-text", ("t",), "all undecided blocks with the same text"),
        Binding("cancel", ("esc",), "select nothing"),
    ],
    "Undo": [
        Binding("undo", ("u",), "take the last change back, and the one before, without end"),
        Binding("redo", ("U", "ctrl r"), "make it again"),
    ],
    "Move": [
        Binding("down", ("down", "j"), "next block"),
        Binding("up", ("up", "k"), "previous block"),
        Binding("page-down", ("page down", "ctrl f"), "a screen down"),
        Binding("page-up", ("page up", "ctrl b"), "a screen up"),
        Binding("first", ("home",), "first block"),
        Binding("last", ("end", "G"), "last block"),
        Binding("jump", ("'",), "show a letter before every block on the screen: type it to go there"),
        Binding("next-uncertain", ("w",), "next block that the model is not sure of"),
        Binding("previous-uncertain", ("W",), "previous one"),
        Binding("next-undecided", ("e",), "next block that nobody has decided on"),
        Binding("previous-undecided", ("E",), "previous one"),
        Binding("next-different", ("d",), "next block where model and person, or two people, differ"),
        Binding("previous-different", ("D",), "previous one"),
        Binding("next-label", ("}",), "next block with another label than this"),
        Binding("previous-label", ("{",), "previous one"),
        Binding("search", ("/",), "search for text"),
        Binding("search-next", ("n",), "next block with the text"),
        Binding("search-previous", ("N",), "previous one"),
        Binding("go-to", ("g",), "go to a block by its number"),
    ],
    "Show": [
        Binding("pane", ("tab",), "beside the blocks: cleaned text, Markdown, CleanEval, facts of the block, nothing"),
        Binding("pane-back", ("shift tab",), "the other way round"),
        Binding("pack", ("b",), "short blocks that the model is sure are noise: several to a line, or each on its own"),
        Binding("facts", ("f",), "facts of the block: where it stands, probabilities, features"),
        Binding("help", ("?", "f1"), "this help"),
        Binding("redraw", ("ctrl l",), "draw the screen anew"),
        Binding("save", ("ctrl s",), "save now; everything is saved as it is typed anyway"),
    ],
    "Two annotations": [
        Binding("take-first", ("1",), "take the label of the first annotation"),
        Binding("take-second", ("2",), "take the label of the second annotation"),
    ],
    "Pages": [
        Binding("open", ("enter",), "open the page of the list"),
        Binding("next-page", (">",), "next page that is not finished"),
        Binding("previous-page", ("<",), "previous page of the list"),
        Binding("order", ("=",), "order the list by name, uncertainty or progress"),
        Binding("retrain", ("R",), "learn from the finished pages now"),
        Binding("quit", ("q",), "leave the page, or the program; all is saved. Ctrl-C leaves at once"),
    ],
}

_BY_ACTION = {binding.action: binding for group in GROUPS.values() for binding in group}


class Keys:
    """Which key does what."""

    def __init__(self, config: Config | None = None) -> None:
        self._keys = {action: binding.keys for action, binding in _BY_ACTION.items()}
        own = config.family(VARIABLE) if config is not None else {}
        if config is not None:
            for action, written in own.items():
                if action not in self._keys:
                    known = f"{suggest(action, self._keys)}; docs/annotation.md lists them"
                    raise config.error(VARIABLE + action, f"there is no action {action!r}{known}")
                self._keys[action] = tuple(self._read(config, action, key) for key in written)
        self.action_of: dict[str, str] = {}
        for action, keys in self._keys.items():
            for key in keys:
                other = self.action_of.setdefault(key, action)
                if other != action and config is not None:
                    at_fault = action if action in own else other
                    raise config.error(
                        VARIABLE + at_fault, f"the key {_show_key(key)!r} is that of {other!r} and of {action!r}"
                    )

    def _read(self, config: Config, action: str, written: str) -> str:
        key = _read_key(written)
        if not _is_key(key):
            known = [name.replace(" ", "-") for name in (*_NAMED, "space")]
            raise config.error(
                VARIABLE + action,
                f"there is no key {written!r}{suggest(written, known)}; keys are a character, a name such as space, "
                "enter, page-down or f5, or one of these behind ctrl-, shift- or alt-",
            )
        return key

    def has(self, action: str) -> bool:
        """Whether there is such an action."""
        return action in self._keys

    def shown(self, action: str) -> str:
        """The keys of an action, as a person reads them."""
        return " ".join(map(_show_key, self._keys[action])) or "no key"

    def first(self, action: str) -> str:
        """The shortest way to say how to do something."""
        return _show_key(self._keys[action][0]) if self._keys[action] else "no key"

    def hints(self, hints: Sequence[tuple[Sequence[str], str]], width: int) -> str:
        """A line of what can be done: actions, and a word for them together; the last fall out where it is narrow."""
        line = ""
        for actions, word in hints:
            longer = f"{line}{'  ' if line else ''}{''.join(map(self.first, actions))} {word}"
            if len(longer) > width:
                break
            line = longer
        return line

    def help(self) -> list[tuple[str, list[tuple[str, str]]]]:
        """All actions by group: keys, and what they do."""
        return [
            (group, [(self.shown(binding.action), binding.help) for binding in bindings])
            for group, bindings in GROUPS.items()
        ]


def _read_key(written: str) -> str:
    """A key as a config has it, ``ctrl-r`` or ``space``, as the screen calls it."""
    if written == "space":
        return " "
    return written if len(written) == 1 else written.replace("-", " ").lower().replace("alt ", "meta ")


def _is_key(key: str) -> bool:
    """Whether a terminal can send such a key."""
    *modifiers, last = [key] if len(key) == 1 else _parts(key)
    if len(set(modifiers)) < len(modifiers):
        return False
    return last in _NAMED or (len(last) == 1 and last.isprintable() and "shift" not in modifiers)


def _parts(key: str) -> list[str]:
    """Modifiers and the key itself; names such as ``page up`` have a space in them too."""
    words = key.split(" ")
    count = next((at for at, word in enumerate(words) if word not in _MODIFIERS), len(words))
    return [*words[:count], " ".join(words[count:])]


def _show_key(key: str) -> str:
    return _NAMES.get(key, key.replace("meta ", "alt-").replace(" ", "-"))
