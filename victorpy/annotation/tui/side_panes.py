"""Panes beside the blocks: the cleaned page as it would be written now, and facts about the cursor's block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from dataclasses import replace
from threading import Thread

from more_itertools import chunked

from victorpy.annotation.session import Session
from victorpy.annotation.tui.text import RIGHT_TO_LEFT, Row, cut, text_of, visible, width_of, wrap, wrap_after
from victorpy.document import Document, Label
from victorpy.errors import plural
from victorpy.outputs import OUTPUTS, CleanPage

FORMATS = ("text", "markdown", "cleaneval")
_LEFT_TO_RIGHT = "\u200e"
"""Keeps a terminal that reverses right-to-left text from mixing two panes."""
_AROUND = 150
"""Blocks before and after the cursor's that are rendered, so that the cost does not depend on the page's length."""
_PATIENCE = 0.02
"""Seconds that a redraw waits for work in the background. On most pages that is enough."""
_MOST_LINES = 4
"""Maximum number of lines of a fact."""

Features = Callable[[Document], Sequence[dict[str, str]]]
"""Returns the features of every block by name."""


class ResultPane:
    """The cleaned page around the cursor."""

    def __init__(self, session: Session, format: str) -> None:
        self.title = f"cleaned: {format}"
        self._session = session
        self._render = OUTPUTS.get(format).render
        self._rows: list[Row] = []
        self._made_for: tuple[int, ...] = ()

    def rows(self, width: int, height: int) -> list[Row]:
        """Draw the pane, if a label or the cursor has changed."""
        session, cursor = self._session, self._session.cursor
        state = (session.version, cursor, width, height)
        if self._made_for == state:
            return self._rows
        self._made_for = state
        first, stop = max(cursor - _AROUND, 0), min(cursor + _AROUND, len(session))
        lines = self._lines(first, stop, width)
        start, end = (len(self._lines(first, last, width)) for last in (cursor, cursor + 1))
        top = max(0, min(end - height // 2, len(lines) - height))
        label = session.label(cursor) if len(session) else None
        highlighted = range(min(start, end - 1), end) if label is not None and label.is_content else range(0)
        self._rows = [
            [("pane here" if number in highlighted else "pane", line)]
            for number, line in enumerate(lines[top : top + height], top)
        ]
        return self._rows

    def _lines(self, first: int, stop: int, width: int) -> list[str]:
        """Render some blocks and cut the result into lines."""
        document = self._session.document
        blocks = document.blocks[first:stop]
        labels = tuple(self._session.label(block.index) or Label.OTHER for block in blocks)
        text = self._render(CleanPage(replace(document, blocks=blocks), labels)).rstrip("\n")
        lines = []
        for line in text.split("\n") if text else []:
            shown = visible(line.expandtabs(4))
            lines += [shown[start:end] for start, end in wrap(shown, width - 1)]
        return lines


class FactsPane:
    """Where the cursor's block is on the page, what the model predicts for it, and its features."""

    title = "this block"

    def __init__(self, session: Session, features: Features | None) -> None:
        self._session = session
        self._find_features = features
        self._work: Future[tuple[Sequence[str], Sequence[dict[str, str]]]] | None = None
        """Paths and features of all blocks, computed in the background when the pane is first shown."""

    @property
    def is_ready(self) -> bool:
        """Whether the work in the background is done, so that the whole pane can be drawn."""
        return self._work is not None and self._work.done()

    def rows(self, width: int, height: int) -> list[Row]:
        """Draw the pane. What takes long on a large page is left out until it is ready."""
        if not len(self._session):
            return []
        if self._work is None:
            self._work = Future()
            # a daemon thread does not hold up the end of the program
            Thread(target=self._find_paths_and_features, args=[self._work], daemon=True).start()
            wait([self._work], _PATIENCE)
        cursor = self._session.cursor
        is_ready = self._work.done()
        paths, features = self._work.result() if is_ready else ((), ())
        rows: list[Row] = []
        for name, value in self._facts(cursor, paths[cursor] if paths else None):
            head = cut(f"{visible(name)}: ", width - 1)
            rows += wrap_after(("key", head), visible(value), width)[:_MOST_LINES]
        if not is_ready:
            rows += [[], [("pane", "features: loading …")]]
        elif features:
            rows += [[], [("pane head", "features other than 0")]]
            rows += _in_columns(features[cursor], width)
        return rows[:height]

    def _find_paths_and_features(self, work: Future[tuple[Sequence[str], Sequence[dict[str, str]]]]) -> None:
        document = self._session.document
        try:
            work.set_result((document.paths(), self._find_features(document) if self._find_features else ()))
        except Exception as error:  # raised again when the result is read
            work.set_exception(error)

    def _facts(self, number: int, path: str | None) -> list[tuple[str, str]]:
        session = self._session
        block = session.document.blocks[number]
        probability = session.predicted.probabilities[number]
        probability_text = f" ({probability:.3f})" if probability is not None else ""
        attributes = session.document.elements.attributes[block.element] if block.element >= 0 else {}
        facts = [
            ("label", f"{session.label(number) or 'none'}, {session.state(number)}"),
            ("model", f"{session.predicted.labels[number] or 'no prediction'}{probability_text}"),
            ("length", f"{plural(len(block.text.split()), 'word')}, {plural(len(block.text), 'character')}"),
            ("path", path or ""),
            *attributes.items(),
            ("hidden", "not visible on the page" if block.hidden else ""),
        ]
        return [(name, value) for name, value in facts if value]


Pane = ResultPane | FactsPane


def _in_columns(features: dict[str, str], width: int) -> list[Row]:
    texts = [visible(f"{name} {value}") for name, value in features.items() if str(value) not in {"0", "0.0"}]
    size = min(max((len(text) for text in texts), default=1) + 2, width - 1)
    per_row = max((width - 1) // size, 1)
    return [[("pane", "".join(cut(text, size - 1).ljust(size) for text in row))] for row in chunked(texts, per_row)]


def join_panes(left: list[Row], right: list[Row], left_width: int, height: int) -> list[Row]:
    """Put two panes beside each other, with a line between them."""
    joined: list[Row] = []
    for index in range(height):
        left_row = left[index] if index < len(left) else []
        right_row = right[index] if index < len(right) else []
        row: Row = []
        room = left_width
        for look, text in left_row:
            shown = cut(text, room)
            row.append((look, shown))
            room -= width_of(shown)
        is_reversed = RIGHT_TO_LEFT.search(text_of(left_row))
        line = f"{_LEFT_TO_RIGHT if is_reversed else ''}│ "
        joined.append([*row, ("content", " " * room), ("rule", line), *right_row])
    return joined
