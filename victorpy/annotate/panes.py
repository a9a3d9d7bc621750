"""What stands beside the blocks: the cleaned page as it would come out now, and the facts of the cursor's block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from dataclasses import replace
from threading import Thread
from typing import NamedTuple, Protocol

from victorpy.annotate.blocks import Cell, Row
from victorpy.annotate.session import Session
from victorpy.annotate.show import RIGHT_TO_LEFT, cut, visible, width_of, wrap
from victorpy.document import CleanPage, Document, Label
from victorpy.outputs import OUTPUTS

FORMATS = ("text", "markdown", "cleaneval")
# Keeps a terminal that turns right-to-left text around from mixing two panes.
_LEFT_TO_RIGHT = "\u200e"
_AROUND = 150
"""So many blocks before and behind the cursor's are rendered: a page of any length costs the same."""

_PATIENCE = 0.02
"""Seconds that a redraw waits for what is found out in the background: on most pages it is there by then."""

Features = Callable[[Document], Sequence[dict[str, str]]]
"""Gives the features of every block by name."""


class Pane(Protocol):
    """Something beside the blocks."""

    title: str

    def rows(self, width: int, height: int) -> list[Row]:
        """Draw it."""
        ...


class ResultPane:
    """The cleaned page around the cursor."""

    def __init__(self, session: Session, format: str) -> None:
        self.title = f"cleaned: {format}"
        self._session = session
        self._render = OUTPUTS.get(format).render
        self._drawn: tuple[tuple[int, int, int, int], list[Row]] | None = None

    def rows(self, width: int, height: int) -> list[Row]:
        """Draw it anew where a label or the cursor has changed."""
        key = (self._session.version, self._session.cursor, width, height)
        if self._drawn is None or self._drawn[0] != key:
            self._drawn = key, self._draw(width, height)
        return self._drawn[1]

    def _draw(self, width: int, height: int) -> list[Row]:
        cursor = self._session.cursor
        first, stop = max(cursor - _AROUND, 0), min(cursor + _AROUND, len(self._session))
        whole = self._lines(first, stop, width)
        until, before = (len(self._lines(first, end, width)) for end in (cursor + 1, cursor))
        top = max(0, min(until - height // 2, len(whole) - height))
        here = range(min(before, until - 1), until) if self._is_content(cursor) else range(0)
        return [
            [("pane here" if number in here else "pane", line)]
            for number, line in enumerate(whole[top : top + height], top)
        ]

    def _is_content(self, number: int) -> bool:
        label = self._session.label(number) if len(self._session) else None
        return label is not None and label.is_content

    def _lines(self, first: int, stop: int, width: int) -> list[str]:
        document = self._session.document
        blocks = document.blocks[first:stop]
        labels = tuple(self._session.label(block.index) or Label.OTHER for block in blocks)
        text = self._render(CleanPage(replace(document, blocks=blocks), labels)).rstrip("\n")
        found = []
        for line in text.split("\n") if text else []:
            shown = visible(line.expandtabs(4))
            found += [shown[start:end] for start, end in wrap(shown, width - 1)]
        return found


class _OfPage(NamedTuple):
    """What is found out for all blocks of a page at once."""

    paths: Sequence[str]
    features: Sequence[dict[str, str]]


def _in_background(work: Callable[[], _OfPage]) -> Future[_OfPage]:
    """Do something without holding up the person, nor the end of the program."""
    future: Future[_OfPage] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except Exception as error:  # raised again where the result is wanted
            future.set_exception(error)

    Thread(target=run, daemon=True).start()
    return future


class FactsPane:
    """Where the cursor's block stands, what the model says of it, and by which features."""

    title = "this block"

    def __init__(self, session: Session, features: Features | None) -> None:
        self._session = session
        self._find_features = features
        self._found: Future[_OfPage] | None = None
        """What is found out for the whole page, once it was asked for."""

    @property
    def is_waiting(self) -> bool:
        """Whether something is still being found out."""
        return self._found is not None and not self._found.done()

    def rows(self, width: int, height: int) -> list[Row]:
        """Draw it; what a large page takes long for is drawn when it is there."""
        session = self._session
        if not len(session):
            return []
        if self._found is None:
            self._found = _in_background(self._find)
            wait([self._found], _PATIENCE)
        found = self._found.result() if self._found.done() else None
        rows: list[Row] = []
        for name, value in self._facts(session.cursor, found):
            rows += _fact(name, value, width)
        if found is None:
            rows += [[], [("pane", "features: one moment …")]]
        elif found.features:
            rows += [[], [("pane head", "features that are not 0")]]
            rows += _columns(found.features[session.cursor], width)
        return rows[:height]

    def _find(self) -> _OfPage:
        document = self._session.document
        return _OfPage(document.paths(), self._find_features(document) if self._find_features is not None else ())

    def _facts(self, number: int, found: _OfPage | None) -> list[tuple[str, str]]:
        session = self._session
        block = session.document.blocks[number]
        label, theirs = session.label(number), session.predicted.labels[number]
        probability = session.predicted.probabilities[number]
        sure = f" ({probability:.3f})" if probability is not None else ""
        attributes = session.document.elements.attributes[block.element] if block.element >= 0 else {}
        facts = [
            ("label", f"{label or 'none'}, {session.state(number)}"),
            ("model", f"{theirs or 'says nothing'}{sure}"),
            ("length", f"{len(block.text.split()):,} words, {len(block.text):,} characters"),
        ]
        if found is not None:
            facts.append(("path", found.paths[number]))
        facts += [(name, value) for name, value in attributes.items() if value]
        if block.hidden:
            facts.append(("hidden", "nobody sees it on the page"))
        return facts


def _fact(name: str, value: str, width: int) -> list[Row]:
    text = visible(value)
    head: Cell = ("key", cut(f"{visible(name)}: ", width - 1))
    room = max(width - 1 - len(head[1]), 10)
    lines = wrap(text, room)[:4]
    rows: list[Row] = [[head if number == 0 else ("pane", " " * len(head[1]))] for number in range(len(lines))]
    for row, (start, stop) in zip(rows, lines, strict=True):
        row.append(("pane", text[start:stop]))
    return rows


def _columns(features: dict[str, str], width: int) -> list[Row]:
    texts = [visible(f"{name} {value}") for name, value in features.items() if str(value) not in {"0", "0.0"}]
    size = min(max((len(text) for text in texts), default=1) + 2, width - 1)
    count = max((width - 1) // size, 1)
    return [
        [("pane", "".join(cut(text, size - 1).ljust(size) for text in texts[at : at + count]))]
        for at in range(0, len(texts), count)
    ]


def beside(first: list[Row], second: list[Row], width: int, height: int) -> list[Row]:
    """Two panes with a line between them; the first is so wide."""
    return [_joined(_nth(first, number), _nth(second, number), width) for number in range(height)]


def _nth(rows: list[Row], number: int) -> Row:
    return rows[number] if number < len(rows) else []


def _joined(first: Row, second: Row, width: int) -> Row:
    turned = any(RIGHT_TO_LEFT.search(text) for _, text in first)
    return [*_filled(first, width), ("rule", f"{_LEFT_TO_RIGHT if turned else ''}│ "), *second]


def _filled(row: Row, width: int) -> Row:
    """A row with spaces up to a width, cut where it is wider."""
    filled: Row = []
    room = width
    for look, text in row:
        shown = cut(text, room)
        filled.append((look, shown))
        room -= width_of(shown)
    return [*filled, ("content", " " * room)]
